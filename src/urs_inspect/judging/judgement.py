"""Judgements of one answer become one result, the same for every harness."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from urs_inspect.judging.asking import UNKNOWN, Temperature
from urs_inspect.judging.explain import explain
from urs_inspect.judging.frames import JudgePrompt
from urs_inspect.judging.outcomes import ANSWER_CUT_OFF, STOPPED_AT_LIMIT, JudgeFailure, ScoreRecord
from urs_inspect.rubrics import FINAL, LOWEST, Rubric

_CUT_OFF = "**The answer was cut off at the token limit** and was judged as it is."
Reason = Literal["scoring_failed", "grader_failed", "no_response"]


@dataclass(frozen=True)
class Judgement:
    """Result of asking one judge about one answer.

    Attributes:
        judge: Name of the model.
        result: The scores, or why there are none.
        reply: The last reply as it came.
        calls: How often the judge was asked.
        temperature: The temperature that was requested; None for the provider's default.
        self_judged: Whether the judge is the model under test.
        unkeyed: Whether the scores come from a record without a key.
        temperature_sent: The temperature in the request to the provider, which may lack it.
    """

    judge: str
    result: ScoreRecord | JudgeFailure
    reply: str
    calls: int
    temperature: float | None
    self_judged: bool
    unkeyed: bool = False
    temperature_sent: Temperature = UNKNOWN

    @property
    def final(self) -> int | None:
        """The final score, 1 to 10; None if there is none."""
        return self.result.final if isinstance(self.result, ScoreRecord) else None

    def to_metadata(self) -> dict[str, Any]:
        """Everything about the judgement that a log keeps."""
        facts: dict[str, Any] = {
            "judge": self.judge,
            "temperature_requested": self.temperature,
            "temperature_sent": self.temperature_sent,
            "self_judged": self.self_judged,
            "calls": self.calls,
        }
        if isinstance(self.result, ScoreRecord):
            missing = {"criteria_missing": list(self.result.missing)} if self.result.missing else {}
            return {
                **facts,
                "final": self.result.final,
                "criteria": self.result.criteria,
                "unkeyed": self.unkeyed,
                **missing,
            }
        return {
            **facts,
            "failure_mode": self.result.mode,
            "failure_detail": self.result.detail,
            "reply": self.reply,
        }


@dataclass(frozen=True)
class Judged:
    """What became of an answer.

    Attributes:
        value: `final` and every criterion of the rubric, 1 to 10, NaN for those of other intents or not given; None
            if the answer could not be scored.
        reason: Why it could not, or why no judge was asked; None for an answer that was judged.
        explanation: For people, as Markdown.
        metadata: Outcome, judges, prompt and length of the answer.
    """

    value: dict[str, float] | None
    reason: Reason | None
    explanation: str
    metadata: Mapping[str, Any]


def not_judged(failure: JudgeFailure, answer: str) -> Judged:
    """Leave an answer unscored that could not be put to a judge."""
    metadata = {"outcome": f"unscored_{failure.mode}", "failure_mode": failure.mode, "answer_length": len(answer)}
    return Judged(None, "scoring_failed", failure.detail, metadata)


def combine(
    rubric: Rubric,
    intent: str,
    language: str,
    prompt: JudgePrompt,
    judgements: Sequence[Judgement],
    answer: str,
    stop_reason: str,
) -> Judged:
    """One result from one or several judgements; the mean of those that succeeded."""
    records = [j.result for j in judgements if isinstance(j.result, ScoreRecord)]
    cut_off = stop_reason in STOPPED_AT_LIMIT
    metadata = {
        "outcome": "partial_panel" if len(records) < len(judgements) else ANSWER_CUT_OFF if cut_off else "judged",
        "self_judged": any(j.self_judged for j in judgements),
        "judges": [j.to_metadata() for j in judgements],
        # Once more in short: summaries of logs leave out what is longer than 1,000 characters, as a panel easily is.
        "judge_finals": [[j.judge, j.final] for j in judgements],
        "unkeyed": sum(j.unkeyed for j in judgements),
        "criteria_missing": sum(len(record.missing) for record in records),
        "answer_length": len(answer),
        "answer_stop_reason": stop_reason,
        **_prompt_facts(prompt, language),
    }
    explanation = "\n\n---\n\n".join(_explained(j, rubric, language, prompt.key) for j in judgements)
    if cut_off:
        explanation = f"{_CUT_OFF}\n\n{explanation}"
    if not records:
        modes = Counter(j.result.mode for j in judgements if isinstance(j.result, JudgeFailure))
        mode = modes.most_common(1)[0][0]
        failed = {**metadata, "outcome": f"unscored_{mode}", "failure_mode": mode}
        return Judged(None, "grader_failed", explanation, failed)
    scores: dict[str, list[int]] = {FINAL: [record.final for record in records]}
    for criterion in rubric.intents[intent].criteria:
        scores[criterion] = [s for record in records if (s := record.criteria[criterion]) is not None]
    return Judged(_value(rubric, scores), None, explanation, metadata)


def no_response(
    rubric: Rubric,
    intent: str,
    language: str,
    prompt: JudgePrompt,
    answer: str,
    stop_reason: str,
    judges: Sequence[str],
) -> Judged:
    """Give an empty answer the lowest score, without a judge; `judges` are those of the run."""
    scores = {key: [LOWEST] for key in (FINAL, *rubric.intents[intent].criteria)}
    return Judged(
        _value(rubric, scores),
        "no_response",
        f"The answer is empty (stop reason: {stop_reason}): the lowest score, and no judge was asked.",
        {
            "outcome": _empty_outcome(stop_reason),
            "self_judged": False,
            "judges": [],
            "judge_finals": [],
            "judges_not_asked": list(judges),
            "answer_length": len(answer),
            "answer_stop_reason": stop_reason,
            **_prompt_facts(prompt, language),
        },
    )


def _empty_outcome(stop_reason: str) -> str:
    if stop_reason in STOPPED_AT_LIMIT:
        return "no_response_cut_off"
    return "no_response_withheld" if stop_reason == "content_filter" else "no_response"


def _value(rubric: Rubric, scores: dict[str, list[int]]) -> dict[str, float]:
    """The full set of keys: a key that a later sample lacks would end a run after all was paid for."""
    return {key: sum(given) / len(given) if (given := scores.get(key)) else math.nan for key in rubric.score_keys}


def _prompt_facts(prompt: JudgePrompt, language: str) -> dict[str, Any]:
    return {
        "prompt_version": prompt.version,
        "prompt_sha256": prompt.sha256,
        "judge_language": language,
    }


def _explained(judgement: Judgement, rubric: Rubric, language: str, key: str) -> str:
    head = f"Judge: `{judgement.judge}`" + (" — **self-judged**" if judgement.self_judged else "")
    if isinstance(judgement.result, JudgeFailure):
        body = f"**No score: {judgement.result.mode}.** {judgement.result.detail}"
        return f"{head}\n\n{body}" + (f"\n\nThe reply was:\n\n{judgement.reply}" if judgement.reply else "")
    return f"{head}\n\n{explain(judgement.reply, judgement.result, rubric, language, key)}"
