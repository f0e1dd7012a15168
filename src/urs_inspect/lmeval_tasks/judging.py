"""Judges many answers at once."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from urs_inspect.judging import Answer, AnswerJudging, Judge, Judged, Judgement, Message
from urs_inspect.lmeval_tasks.judges import ReplyCache, open_call
from urs_inspect.lmeval_tasks.settings import JudgeSettings

_Result = TypeVar("_Result")
Progress = Callable[[int], object]
"""Told how many more answers are judged."""


@dataclass(frozen=True)
class Record:
    """What the log of samples keeps of a judged answer.

    Attributes:
        response: The answer.
        value: `final` and criteria, 1 to 10, or for SaMer `overall` and dimensions; None if it could not be scored.
        judge: Who judged.
        outcome: How the judging ended.
        explanation: Reasons, or what went wrong.
        facts: Everything else.
    """

    response: str
    value: dict[str, float] | None
    judge: str
    outcome: str
    explanation: str
    facts: dict[str, Any]

    def to_json(self) -> str:
        """As a text, which lm-eval keeps as it is."""
        return json.dumps(
            {
                "response": self.response,
                "scores": None if self.value is None else {k: v for k, v in self.value.items() if v == v},
                "judge": self.judge,
                "outcome": self.outcome,
                "explanation": self.explanation,
                **self.facts,
            },
            ensure_ascii=False,
        )


def judging_of(settings: JudgeSettings) -> AnswerJudging:
    """The judging of answers by these settings.

    Raises:
        InputError: If rubric, frame or language cannot be used.
    """
    return AnswerJudging(settings.judge_rubric, settings.judge_prompt, settings.judge_language, settings.judge_attempts)


def judge_all(
    answers: Sequence[Answer], settings: JudgeSettings, judging: AnswerJudging, progress: Progress
) -> list[Record]:
    """Judge answers with a model.

    Args:
        answers: The answers.
        settings: Which judge, and how it is asked.
        judging: As from `judging_of`.
        progress: Told of each answer that is judged.

    Returns:
        One record an answer, in order; a judgement that failed is one, without a value.

    Raises:
        InputError: If there is no judge, or no key.
    """

    async def run() -> list[Record]:
        cache = ReplyCache(settings.cache_file)
        try:
            async with open_call(settings, cache) as call:
                judge = Judge(settings.judge_name, call, settings.judge_temperature, self_judged=False)

                async def one(answer: Answer) -> Record:
                    judged = await judging.judge(answer, lambda: [judge], _collect)
                    progress(1)
                    return _record(answer, judged, settings.judge_name)

                return await asyncio.gather(*[one(answer) for answer in answers])
        finally:
            cache.close()

    return run_async(run())


def try_judge(settings: JudgeSettings) -> str:
    """Ask the judge for one short reply, to know before anything is paid for that it can be had.

    Returns:
        Why it cannot; empty if it can.

    Raises:
        InputError: If there is no judge, or no key.
    """

    async def run() -> str:
        async with open_call(settings.model_copy(update={"judge_max_tokens": 16}), ReplyCache(None)) as call:
            try:
                reply = await call([Message("user", "Reply with the word: ready")])
            except Exception as error:  # whatever an endpoint does, the reason is what is wanted
                return f"{type(error).__name__}: {error}"
            return reply.error

    return run_async(run())


def run_async(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Run to the end, in a thread of its own where a loop is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: list[_Result] = []
    fault: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(asyncio.run(coroutine))
        except BaseException as error:  # handed over to the caller's thread
            fault.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if fault:
        raise fault[0]
    return outcome[0]


async def _collect(judgements: Sequence[Awaitable[Judgement]]) -> Sequence[Judgement]:
    return await asyncio.gather(*judgements)


def _record(answer: Answer, judged: Judged, judge: str) -> Record:
    facts = {key: value for key, value in judged.metadata.items() if key not in ("outcome", "judge_finals")}
    return Record(answer.text or "", judged.value, judge, str(judged.metadata["outcome"]), judged.explanation, facts)
