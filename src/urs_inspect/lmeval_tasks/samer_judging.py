"""Judges answers with a SaMer model."""

from collections.abc import Sequence

from urs_inspect.judging import Answer
from urs_inspect.lmeval_tasks.judging import Progress, Record, run_async
from urs_inspect.lmeval_tasks.settings import JudgeSettings
from urs_inspect.samer.engines import EngineFailure, QueryResponse, load_engine
from urs_inspect.samer.explanation import explain_judgement
from urs_inspect.samer.judgement import engine_facts, judge, judgement_facts, score_values

_BATCH = 256


def judge_all_with_samer(answers: Sequence[Answer], settings: JudgeSettings, progress: Progress) -> list[Record]:
    """Evaluate answers with SaMer (SaMer paper, section 4).

    Args:
        answers: The answers.
        settings: Which model, and what runs it.
        progress: Told of answers that are evaluated.

    Returns:
        One record an answer, in order; an evaluation that failed is one, without a value.

    Raises:
        InputError: If there is no such model.
    """

    async def run() -> list[Record]:
        options = {} if settings.samer_folder is None else {"folder": settings.samer_folder}
        engine = load_engine(str(settings.samer), engine=settings.samer_engine, **options)
        facts = {"samer": engine_facts(engine)}
        found: list[Record] = []
        try:
            for start in range(0, len(answers), _BATCH):
                batch = answers[start : start + _BATCH]
                items = [QueryResponse(answer.question or "", answer.text or "") for answer in batch]
                for answer, judgement in zip(batch, await judge(engine, items), strict=True):
                    if isinstance(judgement, EngineFailure):
                        outcome, text = f"unscored_{judgement.mode}", judgement.detail
                        found.append(Record(answer.text or "", None, settings.judge_name, outcome, text, facts))
                        continue
                    outcome = "no_response" if judgement.no_response else "judged"
                    kept = {**facts, **judgement_facts(judgement)}
                    text = explain_judgement(judgement)
                    values = score_values(judgement)
                    found.append(Record(answer.text or "", values, settings.judge_name, outcome, text, kept))
                progress(len(batch))
        finally:
            await engine.close()
        return found

    return run_async(run())
