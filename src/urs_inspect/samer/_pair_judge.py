"""SaMer and reward models as judges of pairs: each response is evaluated by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.util import concurrency

from urs_inspect._arguments import check
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.samer._engines import EngineFailure, QueryResponse
from urs_inspect.samer._engines.shared import check_engine
from urs_inspect.samer._judgement import (
    Judgement,
    engine_facts,
    explain_judgements,
    judge,
    judgement_facts,
)
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._reward import Kind
from urs_inspect.samer._scorer import engine_of_run
from urs_inspect.solvers._local_judges import LocalFailure


@dataclass(frozen=True)
class SamerPair:
    """Judgements of responses a and b: the larger number is the better one."""

    a: Judgement
    b: Judgement
    engine: Mapping[str, Any] = field(default_factory=dict)  # how the engine was set up

    @property
    def kept(self) -> list[dict[str, Any]]:
        """What the log keeps of each response."""
        kept = []
        for judgement in (self.a, self.b):
            facts = judgement_facts(judgement)
            facts["samer"] = dict(self.engine)
            kept.append(facts)
        return kept

    def numbers(self, name: str) -> tuple[float, float]:
        """The numbers that are compared: the overall scores, or those on a dimension, selected or
        not, 0 to 1.
        """
        return _number(self.a, name), _number(self.b, name)

    def verdict(self, name: str) -> str:
        """`a`, `b`, or `tie` where both numbers are equal."""
        a, b = self.numbers(name)
        if a == b:
            return "tie"
        if a > b:
            return "a"
        return "b"

    def table(self, names: Sequence[str]) -> str:
        """The verdicts with their numbers, as a list in Markdown."""
        return "\n".join(
            f"- **{name}: {self.verdict(name)}.** "
            + "{:.3f} against {:.3f}".format(*self.numbers(name))
            for name in names
        )

    def explained(self, names: tuple[str, str]) -> str:
        """Both judgements as Markdown, under the names of the responses."""
        return explain_judgements(dict(zip(names, (self.a, self.b), strict=True)))


def _number(judgement: Judgement, name: str) -> float:
    if name == OVERALL:
        return judgement.evaluation.overall
    return float(judgement.evaluation.scores[judgement.names.index(name)])


class PairJudge:
    """Judges pairs by an engine, which is checked at once and opened when it is first needed."""

    def __init__(self, options: Mapping[str, Any], kind: Kind) -> None:
        """Take the fields of `SamerOptions`; `InputError` if they could only fail in a run."""
        self.dimensions = kind == "samer"
        self._choice = check("samer", options, SamerOptions)
        check_engine(self._choice, concurrency, kind)

    async def compare(
        self, query: str, response_a: str, response_b: str
    ) -> SamerPair | LocalFailure:
        """Evaluate two responses; never raises for what an engine does."""
        engine = await engine_of_run(self._choice)
        if isinstance(engine, EngineFailure):
            return LocalFailure(engine.mode, engine.detail)
        results = await judge(
            engine, [QueryResponse(query, response_a), QueryResponse(query, response_b)]
        )
        judgements: list[Judgement] = []
        for response, result in zip("ab", results, strict=True):
            if isinstance(result, EngineFailure):
                return LocalFailure(result.mode, f"response {response}: {result.detail}")
            judgements.append(result)
        judged_a, judged_b = judgements
        return SamerPair(judged_a, judged_b, engine_facts(engine))


def samer_judge(options: Mapping[str, Any]) -> PairJudge:
    """SaMer as the judge of pairs."""
    return PairJudge(options, "samer")


def reward_judge(options: Mapping[str, Any]) -> PairJudge:
    """A reward model as the judge of pairs."""
    return PairJudge(options, "reward_model")
