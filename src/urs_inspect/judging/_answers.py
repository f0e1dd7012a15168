"""Judging an answer by the criteria of its intent, by one judge or a panel."""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from urs_inspect._util import InputError, is_blank, naming
from urs_inspect.datasets._conversations import NOT_SHOWN, Conversation
from urs_inspect.judging._ask import UNKNOWN, Call, Message, Reply, Temperature, ask
from urs_inspect.judging._failures import (
    ANSWER_CUT_OFF,
    PARTIAL_PANEL,
    STOPPED_AT_LIMIT,
    FailureMode,
    JudgeFailure,
    ScoreRecord,
)
from urs_inspect.judging._frames import JudgePrompt, Schema
from urs_inspect.judging._prompts import PromptBuilder
from urs_inspect.judging._reply_counts import BY_JUDGE, REPLY_COUNTS, counts_of
from urs_inspect.judging._score_reply import explain, read_reply
from urs_inspect.rubrics import FINAL, LOWEST, load_rubric

CUT_OFF_NOTE = "**The answer was cut off at the token limit** and was judged as it is."
BETWEEN_JUDGES = "\n\n---\n\n"
"""Stands in an explanation between what two judges said."""
OTHER_CRITERIA = "Criteria without a score"
"""How the sentence begins that says why there are some."""
OF_PROMPT = ("rubric", "prompt", "judge_language")
"""Arguments of `AnswerJudging`, and of a run, on which its prompts depend."""
Reason = Literal["scoring_failed", "grader_failed", "no_response"]


@dataclass(frozen=True)
class Answer:
    """An answer and what it answers.

    Attributes:
        intent: Label of the intent.
        language: Label of the language.
        question: The question, or the conversation that the answer replies to; None if the case has
            none.
        reference: The reference answer.
        text: The answer; None if the model gave none at all.
        stop_reason: Why it ended.
        error: Why there is none, if that is known.
        parts: The answer where some of it is no text, such as an image; else None.
    """

    intent: str
    language: str
    question: str | Conversation | None
    reference: str
    text: str | None
    stop_reason: str = "unknown"
    error: str = ""
    parts: Conversation | None = None


@dataclass(frozen=True)
class Judge:
    """A judge.

    Attributes:
        name: Its name.
        call: Sends messages to it.
        temperature: The temperature of these calls; None for the provider's default.
        self_judged: Whether it is the model under test.
        call_by_schema: As `call`, with a schema of the reply if the judge takes one; None for a
            judge that is always called without.
    """

    name: str
    call: Call
    temperature: float | None
    self_judged: bool
    call_by_schema: Callable[[Schema, Sequence[Message]], Awaitable[Reply]] | None = None


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
        unkeyed: Whether the last reply had a record without the key, whether it counted or not.
        temperature_sent: The temperature in the request to the provider, which may lack it.
        structured: Whether the request had a schema of the reply.
        asked_again: Whether the judge was asked again, because a reply could not be read or lacked
            the key.
        near_key: Whether the key of the record is misspelled.
        several_records: Whether the reply had an earlier record with the key and another final
            score.
    """

    judge: str
    result: ScoreRecord | JudgeFailure
    reply: str
    calls: int
    temperature: float | None
    self_judged: bool
    unkeyed: bool = False
    temperature_sent: Temperature = UNKNOWN
    structured: bool = False
    asked_again: bool = False
    near_key: bool = False
    several_records: bool = False

    @property
    def final(self) -> int | None:
        """The final score, 1 to 10; None if there is none."""
        if isinstance(self.result, ScoreRecord):
            return self.result.final
        return None

    def to_metadata(self) -> dict[str, Any]:
        """Everything about the judgement that a log keeps."""
        facts: dict[str, Any] = {
            "judge": self.judge,
            "temperature_requested": self.temperature,
            "temperature_sent": self.temperature_sent,
            "self_judged": self.self_judged,
            "calls": self.calls,
            "structured": self.structured,
            **{name: getattr(self, name) for name in REPLY_COUNTS},
        }
        if isinstance(self.result, JudgeFailure):
            facts["failure_mode"] = self.result.mode
            facts["failure_detail"] = self.result.detail
            facts["reply"] = self.reply
            return facts
        facts["final"] = self.result.final
        facts["criteria"] = self.result.criteria
        if self.result.missing:
            facts["criteria_missing"] = list(self.result.missing)
        return facts


@dataclass(frozen=True)
class Judged:
    """An answer after judging.

    Attributes:
        value: `final` and every criterion of the rubric, 1 to 10, NaN for those of other intents or
            not given; None if the answer could not be scored.
        reason: Why it could not, or why no judge was called; None for an answer that was judged.
        explanation: For people, as Markdown.
        metadata: Outcome, judges, prompt and length of the answer.
    """

    value: dict[str, float] | None
    reason: Reason | None
    explanation: str
    metadata: Mapping[str, Any]


Collect = Callable[[Sequence[Awaitable[Judgement]]], Awaitable[Sequence[Judgement]]]
"""Awaits several at once; results in order."""


@dataclass(frozen=True)
class _Case:
    """An answer that can be judged: id of its intent, language of the prompt, and the prompt."""

    answer: Answer
    intent: str
    language: str
    prompt: JudgePrompt

    def metadata(self) -> dict[str, Any]:
        not_shown: Counter[str] = Counter()
        for part in (self.answer.question, self.answer.parts):
            if isinstance(part, Conversation):
                not_shown.update(part.not_shown)
        facts: dict[str, Any] = {}
        if not_shown:
            facts[NOT_SHOWN] = dict(not_shown)
        return {
            **facts,
            "answer_length": len(self.answer.text or ""),
            "answer_stop_reason": self.answer.stop_reason,
            "prompt_version": self.prompt.version,
            "prompt_sha256": self.prompt.sha256,
            "judge_language": self.language,
        }


class AnswerJudging:
    """Has answers judged.

    An empty answer gets the lowest score without a call. A judgement that fails leaves the answer
    unscored, with a reason.

    Args:
        rubric: Path of a rubric of the user's own, laid over the URS rubric.
        prompt: Path of a frame.
        judge_language: Language of the prompt for all cases; None for each case's own.
        attempts: How often a judge is asked at most.

    Raises:
        InputError: If an argument cannot be used.
    """

    def __init__(
        self, rubric: str | None, prompt: str | None, judge_language: str | None, attempts: int
    ) -> None:
        self.rubric = load_rubric(rubric, prompt)
        self._builder = PromptBuilder(self.rubric)
        self._language: str | None = None
        if judge_language is not None:
            with naming("judge_language"):
                self._language = self.rubric.language_code(str(judge_language))
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise InputError(
                f"judge attempts: must be a whole number of at least 1, got {attempts!r}"
            )
        self._attempts = attempts

    async def judge(
        self, answer: Answer, judges: Callable[[], Sequence[Judge]], collect: Collect
    ) -> Judged:
        """Judge an answer.

        Args:
            answer: The answer.
            judges: Gives the judges; none of them is called for an empty answer, but its record
                names them.
            collect: Awaits the calls of a panel at once.

        Returns:
            The result; never an exception for what a judge or its endpoint does.
        """
        case = self._case(answer)
        if isinstance(case, _Case) and answer.text is None:
            case = JudgeFailure(
                "no_answer",
                answer.error or "The model gave no answer at all: a limit, or an error.",
            )
        if isinstance(case, JudgeFailure):
            outcome = f"unscored_{case.mode}"
            length = len(answer.text or "")
            metadata = {"outcome": outcome, "failure_mode": case.mode, "answer_length": length}
            return Judged(None, "scoring_failed", case.detail, metadata)
        panel = judges()
        if is_blank(answer.text or "") and answer.parts is None:
            return self._no_response(case, [judge.name for judge in panel])
        calls = [self._ask(judge, case) for judge in panel]
        if len(calls) == 1:  # spared what asking a panel at once costs
            return self._combine(case, [await calls[0]])
        return self._combine(case, await collect(calls))

    def prompt(self, answer: Answer) -> JudgePrompt | JudgeFailure:
        """The prompt about an answer, or why it cannot be judged.

        Args:
            answer: The answer; an empty one has a prompt as well, although no judge gets it.

        Returns:
            The prompt, or the failure with its mode: `unknown_intent`, `unknown_language` or
            `prompt_failed`.
        """
        case = self._case(answer)
        if isinstance(case, JudgeFailure):
            return case
        return case.prompt

    def _case(self, answer: Answer) -> _Case | JudgeFailure:
        """The case of an answer, which may come from a log of any task."""
        mode: FailureMode = "unknown_intent"
        try:
            intent = self.rubric.intent_id(answer.intent)
            mode = "unknown_language"
            language = self._language or self.rubric.language_code(answer.language)
        except InputError as error:
            return JudgeFailure(mode, f"Sample metadata '{mode.removeprefix('unknown_')}': {error}")
        if answer.question is None:
            return JudgeFailure("prompt_failed", "The case has no question in words.")
        question = answer.question
        text = answer.text or ""
        try:
            if isinstance(question, Conversation):
                question = question.text(language)
            if answer.parts is not None:
                text = answer.parts.text(language)
            prompt = self._builder.build(
                intent,
                language,
                question=question,
                reference=answer.reference,
                answer=text,
            )
        except Exception as error:  # whatever a text did to it, the answer must not be lost
            return JudgeFailure(
                "prompt_failed", f"The prompt could not be built: {type(error).__name__}: {error}"
            )
        return _Case(answer, intent, language, prompt)

    async def _ask(self, judge: Judge, case: _Case) -> Judgement:
        call = judge.call
        schema = case.prompt.schema
        if judge.call_by_schema is not None and schema is not None:
            call = partial(judge.call_by_schema, schema)
        criteria = self.rubric.intents[case.intent].criteria
        asked = await ask(
            call,
            case.prompt,
            partial(read_reply, rubric=self.rubric, criteria=criteria),
            self.rubric.languages[case.language].ask_again,
            attempts=self._attempts,
        )
        return Judgement(
            judge=judge.name,
            result=asked.read.result,
            reply=asked.reply,
            calls=asked.calls,
            temperature=judge.temperature,
            self_judged=judge.self_judged,
            temperature_sent=asked.temperature_sent,
            structured=asked.structured,
            asked_again=asked.asked_again,
            **asked.read.marks,
        )

    def _combine(self, case: _Case, judgements: Sequence[Judgement]) -> Judged:
        """One result from one or several judgements; the mean of those that succeeded."""
        records = [j.result for j in judgements if isinstance(j.result, ScoreRecord)]
        cut_off = case.answer.stop_reason in STOPPED_AT_LIMIT
        metadata = {
            "outcome": ANSWER_CUT_OFF if cut_off else "judged",
            **_judge_facts(judgements),
            "criteria_missing": sum(len(record.missing) for record in records),
            **case.metadata(),
        }
        if len(records) < len(judgements):
            metadata["outcome"] = PARTIAL_PANEL
        explained = BETWEEN_JUDGES.join(self._explained(j, case) for j in judgements)
        explanation = f"{self._about_others(case)}\n\n{explained}"
        if cut_off and records:
            explanation = f"{CUT_OFF_NOTE}\n\n{explanation}"
        if not records:
            mode = _most_common_failure(judgements)
            failed = {**metadata, "outcome": f"unscored_{mode}", "failure_mode": mode}
            return Judged(None, "grader_failed", explanation, failed)
        finals = [record.final for record in records]
        scores: dict[str, list[int]] = {FINAL: finals}
        for criterion in self.rubric.intents[case.intent].criteria:
            given = (record.criteria[criterion] for record in records)
            scores[criterion] = [score for score in given if score is not None]
        return Judged(self._value(scores), None, explanation, metadata)

    def _no_response(self, case: _Case, judges: Sequence[str]) -> Judged:
        """Give an empty answer the lowest score, without a judge; `judges` are those of the run."""
        criteria = self.rubric.intents[case.intent].criteria
        scores = {key: [LOWEST] for key in (FINAL, *criteria)}
        stop_reason = case.answer.stop_reason
        outcome = "no_response"
        if stop_reason in STOPPED_AT_LIMIT:
            outcome = "no_response_cut_off"
        metadata = {
            "outcome": "no_response_withheld" if stop_reason == "content_filter" else outcome,
            "self_judged": False,
            "judges": [],
            "judge_finals": [],
            "judges_not_asked": list(judges),
            **case.metadata(),
        }
        explanation = (
            f"The answer is empty (stop reason: {stop_reason}): the lowest score, and no judge was"
            f" called.\n\n{self._about_others(case)}"
        )
        return Judged(self._value(scores), "no_response", explanation, metadata)

    def _value(self, scores: Mapping[str, Sequence[int]]) -> dict[str, float]:
        """The full set of keys.

        A key that a later sample lacks would end a run after all was paid for.
        """
        values = dict.fromkeys(self.rubric.score_keys, math.nan)
        for key, given in scores.items():
            if given:
                values[key] = sum(given) / len(given)
        return values

    def _about_others(self, case: _Case) -> str:
        """Why the criteria of other intents have no score."""
        label = self.rubric.intents[case.intent].label
        return f"{OTHER_CRITERIA}: answers to {label} are not judged by them."

    def _explained(self, judgement: Judgement, case: _Case) -> str:
        head = f"Judge: `{judgement.judge}`"
        if judgement.self_judged:
            head += " — **self-judged**"
        reply = judgement.reply
        result = judgement.result
        if isinstance(result, ScoreRecord):
            explained = explain(reply, result, self.rubric, case.language, case.prompt.key)
            return f"{head}\n\n{explained}"
        body = f"**No score: {result.mode}.** {result.detail}"
        if reply:
            body += f"\n\nThe reply was:\n\n{reply}"
        return f"{head}\n\n{body}"


def _judge_facts(judgements: Sequence[Judgement]) -> dict[str, Any]:
    return {
        "self_judged": any(judgement.self_judged for judgement in judgements),
        "judges": [judgement.to_metadata() for judgement in judgements],
        # Repeated in short: summaries of logs leave out what is longer than 1,000 characters, as
        # panels easily are.
        "judge_finals": [[judgement.judge, judgement.final] for judgement in judgements],
        **{
            name: sum(getattr(judgement, name) for judgement in judgements) for name in REPLY_COUNTS
        },
        BY_JUDGE: _reply_counts(judgements),
        "structured": sum(judgement.structured for judgement in judgements),
    }


def _most_common_failure(judgements: Sequence[Judgement]) -> str:
    failures = [j.result for j in judgements if isinstance(j.result, JudgeFailure)]
    modes = Counter(failure.mode for failure in failures)
    [(mode, _)] = modes.most_common(1)
    return mode


def _reply_counts(judgements: Sequence[Judgement]) -> dict[str, dict[str, int]]:
    """The counts of the replies that came, by judge."""
    replies: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        if not isinstance(judgement.result, JudgeFailure) or judgement.result.mode != "call_failed":
            replies.setdefault(judgement.judge, []).append(judgement)
    counts: dict[str, dict[str, int]] = {}
    for judge, given in replies.items():
        counts |= counts_of(judge, given)
    return counts
