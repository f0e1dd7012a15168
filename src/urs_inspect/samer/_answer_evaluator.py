"""SaMer as an evaluator of answers outside inspect-ai."""

from collections.abc import Sequence

from urs_inspect.judging._answer_evaluators import AnswerEvaluation
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.samer._engines import Engine, EngineFailure, QueryResponse, load_engine
from urs_inspect.samer._engines.shared import EngineChoice, check_engine
from urs_inspect.samer._judgement import (
    engine_facts,
    explain_judgement,
    judge,
    judgement_facts,
    score_values,
)


class SamerEvaluator:
    """Evaluates answers with SaMer (SaMer paper, section 4)."""

    def __init__(self, model: str, engine: str = "auto", folder: str | None = None) -> None:
        """Take a checkpoint's folder or a server's address, and how it is run."""
        self.dimensions = load_taxonomy().dimensions
        self._choice = EngineChoice(model, engine, folder=folder)
        self._engine: Engine | None = None

    def check(self) -> None:
        """Raise `InputError` if the engine could only fail in a run."""
        check_engine(self._choice)

    async def evaluate(self, pairs: Sequence[tuple[str, str]]) -> list[AnswerEvaluation]:
        """Evaluate answers, given as pairs of query and response."""
        if self._engine is None:
            folder = self._choice.folder
            options = {} if folder is None else {"folder": folder}
            self._engine = load_engine(self._choice.model, engine=self._choice.engine, **options)
        facts = {"samer": engine_facts(self._engine)}
        evaluations: list[AnswerEvaluation] = []
        for judgement in await judge(self._engine, [QueryResponse(*pair) for pair in pairs]):
            if isinstance(judgement, EngineFailure):
                evaluation = AnswerEvaluation(
                    None, f"unscored_{judgement.mode}", judgement.detail, facts
                )
            else:
                evaluation = AnswerEvaluation(
                    score_values(judgement),
                    "no_response" if judgement.no_response else "judged",
                    explain_judgement(judgement),
                    {**facts, **judgement_facts(judgement)},
                )
            evaluations.append(evaluation)
        return evaluations

    async def close(self) -> None:
        """Close the engine."""
        if self._engine is not None:
            await self._engine.close()
