"""Judging many answers at once, by models or by SaMer, until done, interrupted or stopped by failures."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from logging import getLogger
from types import FrameType
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
from urs_inspect.lmeval_tasks.record import Record, call_failed, of_values
from urs_inspect.lmeval_tasks.settings import JudgeSettings
from urs_inspect.samer.engines import EngineFailure, QueryResponse, load_engine
from urs_inspect.samer.judgement import Judgement as JudgementJudgement
from urs_inspect.samer.judgement import engine_facts, explain_judgement, judge, judgement_facts, score_values

logger = getLogger(__name__)

_SAID = "Interrupted: judging ends with what is judged; once more to end everything and lose the answers"


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """While this lasts, the first interrupt calls `stop` and the second one ends the program as ever.

    In another thread than the main one, and where somebody else deals with interrupts or they are ignored, nothing is
    changed.

    Args:
        stop: Called between two steps of whatever runs.
    """
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    interrupts = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            signal.signal(signal.SIGINT, usual)
            raise KeyboardInterrupt
        stop()
        logger.warning(_SAID)

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is handle:
            signal.signal(signal.SIGINT, usual)
    if interrupts > 1:  # what was being ended may have swallowed it, in cleaning up
        raise KeyboardInterrupt


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


_BATCH = 256


def judge_all_with_samer(answers: Sequence[Answer], settings: JudgeSettings, progress: Progress) -> list[Record]:
    """Evaluate answers with SaMer (SaMer paper, section 4).

    Args:
        answers: The answers.
        settings: Which model, and what runs it.
        progress: Told of answers that are evaluated.

    Returns:
        One record an answer, in order; an evaluation that failed is one, without scores. After an interrupt no further
        batch is begun.

    Raises:
        InputError: If there is no such model.
    """
    breaker, name = CircuitBreaker(give_up=0), settings.judge_name

    async def run() -> list[Record]:
        options = {} if settings.samer_folder is None else {"folder": settings.samer_folder}
        engine = load_engine(str(settings.samer), engine=settings.samer_engine, **options)
        facts = {"samer": engine_facts(engine)}
        found: list[Record] = []
        try:
            while len(found) < len(answers) and not breaker.stopped:
                batch = answers[len(found) : len(found) + _BATCH]
                items = [QueryResponse(answer.question or "", answer.text or "") for answer in batch]
                judgements = await judge(engine, items)
                found += [
                    _record(one, judgement, name, facts) for one, judgement in zip(batch, judgements, strict=True)
                ]
                progress(len(batch))
        finally:
            await engine.close()
        left = [call_failed(one.text or "", name, breaker.stopped, not_asked=True) for one in answers[len(found) :]]
        return found + left

    with interruptible(breaker.interrupt):
        return run_async(run())


def _record(
    answer: Answer, judgement: JudgementJudgement | EngineFailure, judge_name: str, facts: Mapping[str, Any]
) -> Record:
    response = answer.text or ""
    if isinstance(judgement, EngineFailure):
        return Record(response, None, judge_name, f"unscored_{judgement.mode}", judgement.detail, dict(facts))
    outcome = "no_response" if judgement.no_response else "judged"
    explanation, scores = explain_judgement(judgement), of_values(score_values(judgement))
    return Record(response, scores, judge_name, outcome, explanation, {**facts, **judgement_facts(judgement)})
