"""Judgements of one answer become one score."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from urs_inspect.judging import JudgeFailure, JudgePrompt, ScoreRecord, explain
from urs_inspect.rubrics import FINAL, LOWEST, Rubric
from urs_inspect.scorers.judges import Judgement


def not_judged(failure: JudgeFailure, answer: str) -> Score:
    """Leave a sample unscored that could not be put to a judge."""
    return Score.unscored(
        reason="scoring_failed",
        answer=answer,
        explanation=failure.detail,
        metadata={"outcome": f"unscored_{failure.mode}", "failure_mode": failure.mode},
    )


def combine(
    rubric: Rubric,
    intent: str,
    language: str,
    prompt: JudgePrompt,
    judgements: Sequence[Judgement],
    answer: str,
) -> Score:
    """One score from one or several judgements; the mean of those that succeeded."""
    records = [j.result for j in judgements if isinstance(j.result, ScoreRecord)]
    metadata = {
        "outcome": "judged" if len(records) == len(judgements) else "partial_panel",
        "self_judged": any(j.self_judged for j in judgements),
        "judges": [j.to_metadata() for j in judgements],
        **_prompt_facts(prompt, language),
    }
    explanation = "\n\n---\n\n".join(_explained(j, rubric, language) for j in judgements)
    if not records:
        modes = Counter(j.result.mode for j in judgements if isinstance(j.result, JudgeFailure))
        mode = modes.most_common(1)[0][0]
        return Score.unscored(
            reason="grader_failed",
            answer=answer,
            explanation=explanation,
            metadata={**metadata, "outcome": f"unscored_{mode}", "failure_mode": mode},
        )
    scores: dict[str, list[int]] = {FINAL: [record.final for record in records]}
    for criterion in rubric.intents[intent].criteria:
        scores[criterion] = [s for record in records if (s := record.criteria[criterion]) is not None]
    return Score(value=_value(rubric, scores), answer=answer, explanation=explanation, metadata=metadata)


def no_response(rubric: Rubric, intent: str, prompt: JudgePrompt, state: TaskState, language: str) -> Score:
    """Give an empty answer the lowest score, without a judge."""
    scores = {key: [LOWEST] for key in (FINAL, *rubric.intents[intent].criteria)}
    stop_reason = state.output.stop_reason if state.output.choices else "unknown"
    return Score(
        value=_value(rubric, scores),
        reason="no_response",
        answer=state.output.completion,
        explanation=f"The answer is empty (stop reason: {stop_reason}): the lowest score, and no judge was asked.",
        metadata={
            "outcome": "no_response",
            "self_judged": False,
            "judges": [],
            "stop_reason": stop_reason,
            **_prompt_facts(prompt, language),
        },
    )


def _value(rubric: Rubric, scores: dict[str, list[int]]) -> dict[str, float]:
    """The full set of keys: a key that a later sample lacks would end the run after all was paid for."""
    return {key: sum(given) / len(given) if (given := scores.get(key)) else math.nan for key in rubric.score_keys}


def _prompt_facts(prompt: JudgePrompt, language: str) -> dict[str, Any]:
    return {
        "prompt_version": prompt.version,
        "prompt_sha256": prompt.sha256,
        "judge_language": language,
    }


def _explained(judgement: Judgement, rubric: Rubric, language: str) -> str:
    head = f"Judge: `{judgement.judge}`" + (" — **self-judged**" if judgement.self_judged else "")
    if isinstance(judgement.result, JudgeFailure):
        body = f"**No score: {judgement.result.mode}.** {judgement.result.detail}"
        return f"{head}\n\n{body}" + (f"\n\nThe reply was:\n\n{judgement.reply}" if judgement.reply else "")
    return f"{head}\n\n{explain(judgement.reply, judgement.result, rubric, language)}"
