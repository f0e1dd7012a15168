"""Judging of many answers at once, by a model or by SaMer, and what is kept of each."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from logging import getLogger
from types import FrameType
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from urs_inspect.judging import Answer, Judge, Message
from urs_inspect.judging._answer_evaluators import (
    AnswerEvaluation,
    AnswerEvaluator,
    answer_evaluator,
)
from urs_inspect.judging._ask import TINY_REQUEST
from urs_inspect.judging._failures import NO_RESPONSE, describe_error
from urs_inspect.lmeval_tasks._clients import (
    Conversation,
    Endpoint,
    InterruptibleBreaker,
    ReplyCache,
    open_endpoint,
)
from urs_inspect.lmeval_tasks._settings import JudgeSettings

logger = getLogger(__name__)

_BATCH = 256  # answers that SaMer evaluates between two looks at interrupts
_INTERRUPTED = (
    "Interrupted: judging ends with what is judged; once more to end everything and lose the"
    " answers"
)
_CALL_FAILED = "call_failed"
JUDGEMENT = "judgement"
"""Key of a saved sample's document that holds the judgement of its answer."""


class Record(BaseModel):
    """A judged answer, as the document of a saved sample holds it under `JUDGEMENT`."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    response: str
    # `final` and criteria, 1 to 10, or SaMer's `overall` and dimensions, 0 to 1
    scores: dict[str, int | float] | None
    judge: str
    outcome: str
    explanation: str  # reasons, or what went wrong

    @property
    def facts(self) -> dict[str, Any]:
        """Everything else."""
        return self.model_extra or {}

    @property
    def is_empty(self) -> bool:
        """Whether the answer was empty, for whatever reason."""
        return self.outcome in NO_RESPONSE

    @property
    def call_failed(self) -> bool:
        """Whether no reply of the judge came at all."""
        return self.outcome == f"unscored_{_CALL_FAILED}"

    @property
    def not_asked(self) -> bool:
        """Whether the judge was no longer asked."""
        return bool(self.facts.get("not_asked"))

    @property
    def why(self) -> str:
        """What went wrong, in one line without markup."""
        judges = self.facts.get("judges") or [{}]
        failure = judges[-1].get("failure_detail") or self.explanation
        return " ".join(str(failure).split())


def read_record(judgement: object) -> Record | None:
    """Read a record in a saved sample.

    None for anything else, as in samples of a run that did not judge.
    """
    try:
        return Record.model_validate(judgement)
    except ValidationError:
        return None


def of_values(values: Mapping[str, float] | None) -> dict[str, float] | None:
    """Scores without those that are NaN, which are of other intents or were not given."""
    if values is None:
        return None
    return {key: value for key, value in values.items() if value == value}


def call_failed(response: str, judge: str, why: str, **facts: Any) -> Record:
    """The record of an answer about which no reply of the judge came."""
    return Record(
        response=response,
        scores=None,
        judge=judge,
        outcome=f"unscored_{_CALL_FAILED}",
        explanation=why,
        failure_mode=_CALL_FAILED,
        **facts,
    )


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """While this lasts, the first interrupt calls `stop`.

    The second one ends the program as usual.

    In another thread than the main one, and where interrupts are handled otherwise or ignored,
    nothing is changed.
    """
    usual = signal.default_int_handler
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not usual
    ):
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
        logger.warning(_INTERRUPTED)

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
"""Called with the number of further answers that are judged."""


def judge_answers(
    answers: Sequence[Answer], settings: JudgeSettings, progress: Progress
) -> list[Record]:
    """One record per answer, in order; a judgement that failed is one, without scores.

    A model judges `judge_concurrency` of them at a time. One that failed `judge_give_up` answers in
    a row is not asked about the rest, nor is any judge after an interrupt.
    """
    if settings.judge == "samer":
        return _judge_with_samer(answers, settings, progress)
    breaker = InterruptibleBreaker(settings.judge_give_up)

    async def run() -> list[Record]:
        records: dict[int, Record] = {}
        waiting = iter(enumerate(answers))
        with closing(ReplyCache(settings.cache_file)) as cache:
            async with open_endpoint(settings) as endpoint:

                async def work() -> None:
                    for place, answer in waiting:
                        conversation = Conversation(endpoint, cache, breaker)
                        records[place] = await _judged(answer, conversation, endpoint, settings)
                        if conversation.asked and not records[place].not_asked:
                            breaker.note(records[place].call_failed, records[place].why)
                        progress(1)

                await asyncio.gather(*[work() for _ in range(settings.judge_concurrency)])
        return [records[place] for place in range(len(answers))]

    with interruptible(breaker.interrupt):
        return run_async(run())


def try_judge(settings: JudgeSettings) -> str:
    """Ask the judge for one short reply with the settings of all calls.

    Returns why that failed, or nothing.
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
    thread = ThreadPoolExecutor(1)
    outcome = thread.submit(asyncio.run, coroutine)
    thread.shutdown(wait=False)  # an interrupt of the caller does not wait for the thread
    return outcome.result()


async def _judged(
    answer: Answer,
    conversation: Conversation,
    endpoint: Endpoint,
    settings: JudgeSettings,
) -> Record:
    name = settings.judge_name
    response = answer.text or ""
    judge = Judge(name, conversation.call, settings.judge_temperature, self_judged=False)
    judged = await settings.judging.judge(
        answer, lambda: [judge], lambda judgements: asyncio.gather(*judgements)
    )
    conversation.end(scored=judged.value is not None)
    asked_with = {"judge_call": endpoint.parameters}
    if conversation.not_asked:
        return call_failed(response, name, conversation.not_asked, not_asked=True, **asked_with)
    facts = {**judged.metadata, **asked_with}
    outcome = str(facts.pop("outcome"))
    facts.pop("judge_finals", None)
    return Record(
        response=response,
        scores=of_values(judged.value),
        judge=name,
        outcome=outcome,
        explanation=judged.explanation,
        **facts,
    )


def _judge_with_samer(
    answers: Sequence[Answer], settings: JudgeSettings, progress: Progress
) -> list[Record]:
    """Evaluate answers with SaMer (SaMer paper, section 4)."""
    breaker = InterruptibleBreaker(give_up=0)
    name = settings.judge_name

    async def run() -> list[Record]:
        evaluator = samer_evaluator(settings)
        records: list[Record] = []
        try:
            while len(records) < len(answers) and not breaker.stopped:
                batch = answers[len(records) : len(records) + _BATCH]
                pairs = [(_query(answer), answer.text or "") for answer in batch]
                evaluations = await evaluator.evaluate(pairs)
                for answer, evaluation in zip(batch, evaluations, strict=True):
                    records.append(_evaluation_record(answer, evaluation, name))
                progress(len(batch))
        finally:
            await evaluator.close()
        rest = answers[len(records) :]
        return records + [
            call_failed(answer.text or "", name, breaker.stopped, not_asked=True) for answer in rest
        ]

    with interruptible(breaker.interrupt):
        return run_async(run())


def _query(answer: Answer) -> str:
    """What SaMer reads of the question: of a conversation the last message of the user."""
    question = answer.question
    if isinstance(question, str):
        return question
    if question is None:
        return ""
    return question.query


def samer_evaluator(settings: JudgeSettings) -> AnswerEvaluator:
    """SaMer as the settings say."""
    return answer_evaluator(
        "samer",
        model=str(settings.samer),
        engine=settings.samer_engine,
        folder=settings.samer_folder,
    )


def _evaluation_record(answer: Answer, evaluation: AnswerEvaluation, judge_name: str) -> Record:
    scores = of_values(evaluation.scores)
    facts = dict(evaluation.facts)
    if scores is not None and answer.question is not None and not isinstance(answer.question, str):
        facts |= answer.question.not_in_query
    return Record(
        response=answer.text or "",
        scores=scores,
        judge=judge_name,
        outcome=evaluation.outcome,
        explanation=evaluation.explanation,
        **facts,
    )
