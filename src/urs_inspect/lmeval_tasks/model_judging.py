"""Has a model judge many answers at once."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import closing
from typing import Any, TypeVar

from urs_inspect.judging import (
    TINY_REQUEST,
    Answer,
    AnswerJudging,
    CircuitBreaker,
    Judge,
    Judgement,
    Message,
    describe_error,
)
from urs_inspect.lmeval_tasks.clients import Conversation, Endpoint, ReplyCache, open_endpoint
from urs_inspect.lmeval_tasks.interrupts import interruptible
from urs_inspect.lmeval_tasks.record import Record, call_failed, of_values
from urs_inspect.lmeval_tasks.settings import JudgeSettings

_Result = TypeVar("_Result")
Progress = Callable[[int], object]
"""Told how many more answers are judged."""


def judging_of(settings: JudgeSettings) -> AnswerJudging:
    """The judging of answers by these settings.

    Raises:
        InputError: If rubric, frame or language cannot be used.
    """
    return AnswerJudging(settings.judge_rubric, settings.judge_prompt, settings.judge_language, settings.judge_attempts)


def judge_all(
    answers: Sequence[Answer], settings: JudgeSettings, judging: AnswerJudging, progress: Progress
) -> list[Record]:
    """Judge answers with a model, `judge_concurrency` at a time.

    Args:
        answers: The answers.
        settings: Which judge, and how it is asked.
        judging: As from `judging_of`.
        progress: Told of each answer that is judged.

    Returns:
        One record an answer, in order; a judgement that failed is one, without scores. A judge that failed
        `judge_give_up` answers in a row is not asked about the rest, nor is any judge after an interrupt.

    Raises:
        InputError: If there is no judge, or no key, or the cache cannot be used.
    """
    breaker = CircuitBreaker(settings.judge_give_up)

    async def run() -> list[Record]:
        found: dict[int, Record] = {}
        waiting = iter(enumerate(answers))
        with closing(ReplyCache(settings.cache_file)) as cache:
            async with open_endpoint(settings) as endpoint:

                async def work() -> None:
                    for place, answer in waiting:
                        conversation = Conversation(endpoint, cache, breaker)
                        found[place] = await _judged(answer, conversation, endpoint, settings, judging)
                        if conversation.asked and not found[place].not_asked:
                            breaker.note(found[place].call_failed, found[place].why)
                        progress(1)

                await asyncio.gather(*[work() for _ in range(settings.judge_concurrency)])
        return [found[place] for place in range(len(answers))]

    with interruptible(breaker.interrupt):
        return run_async(run())


def try_judge(settings: JudgeSettings) -> str:
    """Ask the judge for one short reply with the settings of all calls, to know in time whether it can be had.

    Returns:
        Why it cannot; empty if it can.

    Raises:
        InputError: If there is no judge, or no key.
    """

    async def run() -> str:
        async with open_endpoint(settings) as endpoint:
            try:
                reply = await endpoint.send([Message("user", TINY_REQUEST)])
            except ValueError as error:  # no JSON
                return describe_error(error)
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


async def _judged(
    answer: Answer, conversation: Conversation, endpoint: Endpoint, settings: JudgeSettings, judging: AnswerJudging
) -> Record:
    name, response = settings.judge_name, answer.text or ""
    judge = Judge(name, conversation.call, settings.judge_temperature, self_judged=False)
    judged = await judging.judge(answer, lambda: [judge], _collect)
    conversation.end(scored=judged.value is not None)
    asked_with = {"judge_call": endpoint.parameters}
    if conversation.not_asked:
        return call_failed(response, name, conversation.not_asked, not_asked=True, **asked_with)
    facts = {key: value for key, value in judged.metadata.items() if key not in ("outcome", "judge_finals")}
    outcome = str(judged.metadata["outcome"])
    return Record(response, of_values(judged.value), name, outcome, judged.explanation, {**facts, **asked_with})


async def _collect(judgements: Sequence[Awaitable[Judgement]]) -> Sequence[Judgement]:
    return await asyncio.gather(*judgements)
