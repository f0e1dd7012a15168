"""Puts an answer to judges by the criteria of its intent (URS paper, section 4.1), whichever harness has it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from urs_inspect.errors import InputError
from urs_inspect.judging.asking import Call, ask
from urs_inspect.judging.frames import JudgePrompt
from urs_inspect.judging.judgement import Judged, Judgement, combine, no_response, not_judged
from urs_inspect.judging.outcomes import JudgeFailure
from urs_inspect.judging.prompt import PromptBuilder
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.texts import is_blank


@dataclass(frozen=True)
class Answer:
    """An answer and what it answers.

    Attributes:
        intent: Label of the intent.
        language: Label of the language.
        question: The question; None if the case has none.
        reference: The reference answer.
        text: The answer; None if the model gave none at all.
        stop_reason: Why it ended.
        error: Why there is none, if that is known.
    """

    intent: str
    language: str
    question: str | None
    reference: str
    text: str | None
    stop_reason: str = "unknown"
    error: str = ""


@dataclass(frozen=True)
class Judge:
    """A judge.

    Attributes:
        name: Its name.
        call: Sends messages to it.
        temperature: The temperature of these calls; None for the provider's default.
        self_judged: Whether it is the model under test.
    """

    name: str
    call: Call
    temperature: float | None
    self_judged: bool


Collect = Callable[[Sequence[Awaitable[Judgement]]], Awaitable[Sequence[Judgement]]]
"""Awaits several at once; results in order."""


class AnswerJudging:
    """Has answers judged.

    An empty answer gets the lowest score without a call. A judgement that fails leaves the answer unscored, with a
    reason.

    Args:
        rubric: Path of a rubric of the user's own, laid over the URS rubric.
        prompt: Path of a frame.
        judge_language: Language of the prompt for all cases; None for each case's own.
        attempts: How often a judge is asked at most.

    Raises:
        InputError: If an argument cannot be used.
    """

    def __init__(self, rubric: str | None, prompt: str | None, judge_language: str | None, attempts: int) -> None:
        self.rubric = load_rubric(rubric, prompt)
        self._builder = PromptBuilder(self.rubric)
        self._language = _judge_language(self.rubric, judge_language)
        self._attempts = _whole(attempts, "judge attempts")

    async def judge(self, answer: Answer, judges: Callable[[], Sequence[Judge]], collect: Collect) -> Judged:
        """Judge an answer.

        Args:
            answer: The answer.
            judges: Gives the judges; an empty answer is put to none of them, but its record names them.
            collect: Awaits the calls of a panel at once.

        Returns:
            What became of it; never an exception for what a judge or its endpoint does.
        """
        case = self._case(answer)
        if isinstance(case, JudgeFailure):
            return not_judged(case, answer.text or "")
        intent, language, prompt = case
        if answer.text is None:
            reason = answer.error or "The model gave no answer at all: a limit, or an error."
            return not_judged(JudgeFailure("no_answer", reason), "")
        panel = judges()
        if is_blank(answer.text):
            names = [judge.name for judge in panel]
            return no_response(self.rubric, intent, language, prompt, answer.text, answer.stop_reason, names)
        asked = [self._ask(judge, prompt, intent, language) for judge in panel]
        # A panel is asked at once; a single judge is spared what that costs.
        judgements = await collect(asked) if len(asked) > 1 else [await asked[0]]
        return combine(self.rubric, intent, language, prompt, judgements, answer.text, answer.stop_reason)

    def prompt(self, answer: Answer) -> JudgePrompt | JudgeFailure:
        """What a judge is sent about an answer, or why it cannot be put to one."""
        case = self._case(answer)
        return case if isinstance(case, JudgeFailure) else case[2]

    async def _ask(self, judge: Judge, prompt: JudgePrompt, intent: str, language: str) -> Judgement:
        asked = await ask(judge.call, prompt, self.rubric, intent=intent, language=language, attempts=self._attempts)
        return Judgement(
            judge.name,
            asked.result,
            asked.reply,
            asked.calls,
            judge.temperature,
            judge.self_judged,
            unkeyed=asked.unkeyed,
            temperature_sent=asked.temperature_sent,
        )

    def _case(self, answer: Answer) -> tuple[str, str, JudgePrompt] | JudgeFailure:
        """Intent, judge language and prompt of an answer, which may come from a log of any task."""
        try:
            intent = self.rubric.intent_id(answer.intent)
        except InputError as error:
            return JudgeFailure("unknown_intent", f"Sample metadata 'intent': {error}")
        try:
            language = self._language or self.rubric.language_code(answer.language)
        except InputError as error:
            return JudgeFailure("unknown_language", f"Sample metadata 'language': {error}")
        if answer.question is None:
            return JudgeFailure("prompt_failed", "The case has no question in words.")
        try:
            prompt = self._builder.build(
                intent, language, question=answer.question, reference=answer.reference, answer=answer.text or ""
            )
        except Exception as error:  # whatever a text did to it, the answer must not be lost
            return JudgeFailure("prompt_failed", f"The prompt could not be built: {type(error).__name__}: {error}")
        return intent, language, prompt


def check_temperature(value: object) -> float | None:
    """A judge's temperature.

    Raises:
        InputError: If it is neither None nor a number from 0 to 2.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 2:
        raise InputError(
            f"judge temperature: must be a number from 0 to 2, or null for the provider's default; got {value!r}"
        )
    return float(value)


def _judge_language(rubric: Rubric, value: object) -> str | None:
    try:
        return None if value is None else rubric.language_code(str(value))
    except InputError as error:
        raise InputError(f"judge_language: {error}") from error


def _whole(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name}: must be a whole number of at least 1, got {value!r}")
    return value
