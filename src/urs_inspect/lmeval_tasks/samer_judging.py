"""Judges answers with a SaMer model."""

from collections.abc import Mapping, Sequence
from typing import Any

from urs_inspect.judging import Answer, CircuitBreaker
from urs_inspect.lmeval_tasks.interrupts import interruptible
from urs_inspect.lmeval_tasks.model_judging import Progress, run_async
from urs_inspect.lmeval_tasks.record import Record, call_failed, of_values
from urs_inspect.lmeval_tasks.settings import JudgeSettings
from urs_inspect.samer.engines import EngineFailure, QueryResponse, load_engine
from urs_inspect.samer.explanation import explain_judgement
from urs_inspect.samer.judgement import Judgement, engine_facts, judge, judgement_facts, score_values

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


def _record(answer: Answer, judgement: Judgement | EngineFailure, judge_name: str, facts: Mapping[str, Any]) -> Record:
    response = answer.text or ""
    if isinstance(judgement, EngineFailure):
        return Record(response, None, judge_name, f"unscored_{judgement.mode}", judgement.detail, dict(facts))
    outcome = "no_response" if judgement.no_response else "judged"
    explanation, scores = explain_judgement(judgement), of_values(score_values(judgement))
    return Record(response, scores, judge_name, outcome, explanation, {**facts, **judgement_facts(judgement)})
