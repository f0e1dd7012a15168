"""SaMer as the judge of two responses: each is evaluated by itself, and the larger number is the better one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

from urs_inspect._util import InputError
from urs_inspect.judging import OVERALL
from urs_inspect.judging.prompts import First, PairReply
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer.engines import EngineFailure, QueryResponse
from urs_inspect.samer.engines.shared import EngineChoice, check_engine, shared_engine
from urs_inspect.samer.judgement import EVALUATIONS, Judgement, engine_facts, explain_judgements, judge, judgement_facts
from urs_inspect.solvers.role_models import SAMER_JUDGE

_Number = tuple[float, float]


@dataclass(frozen=True)
class SamerPair:
    """Both judgements of a pair.

    Attributes:
        a: Of the first response of the data.
        b: Of the second.
    """

    a: Judgement
    b: Judgement

    def numbers(self, name: str) -> _Number:
        """What is compared: the overall scores, or the scores on a dimension, selected or not, 0 to 1."""
        if name == OVERALL:
            return self.a.evaluation.overall, self.b.evaluation.overall
        at = load_taxonomy().dimensions.index(name)
        return float(self.a.evaluation.scores[at]), float(self.b.evaluation.scores[at])

    def verdict(self, name: str) -> str:
        """`a`, `b`, or `tie` where both numbers are equal."""
        one, other = self.numbers(name)
        return "tie" if one == other else "a" if one > other else "b"

    def record(self, names: Sequence[str]) -> str:
        """The verdicts with their numbers, in the form in which a judge model writes them."""
        entries = {
            name: {"comparison": "{:.3f} against {:.3f}".format(*self.numbers(name)), "winner": self.verdict(name)}
            for name in names
        }
        return json.dumps(entries, ensure_ascii=False)

    def explained(self, names: tuple[str, str]) -> str:
        """Both judgements as Markdown, under the names of the responses."""
        return explain_judgements(dict(zip(names, (self.a, self.b), strict=True)))


def samer_choice(judge_name: str, options: Mapping[str, Any] | None) -> EngineChoice | None:
    """The engine of a judge, checked.

    Args:
        judge_name: Who judges.
        options: `model` and the other fields of `EngineChoice`, if SaMer judges.

    Returns:
        The engine; None if somebody else judges.

    Raises:
        InputError: If SaMer judges without a model or the other way round, or the engine cannot be used.
    """
    if judge_name != SAMER_JUDGE:
        if options is not None:
            raise InputError(f"samer: only with judge={SAMER_JUDGE}, not with judge={judge_name}")
        return None
    if options is None:
        raise InputError(f"judge={SAMER_JUDGE} needs samer: the folder of a checkpoint, or the address of a server")
    choice = EngineChoice(**options)
    check_engine(choice, concurrency)
    return choice


async def samer_pair(
    state: TaskState, choice: EngineChoice, query: str, response_a: str, response_b: str
) -> SamerPair | EngineFailure:
    """Evaluate two responses and keep both evaluations in the sample's store.

    Returns:
        Both judgements, or why there are none; never raises for what an engine does.
    """
    engine = await shared_engine(choice, concurrency)
    if isinstance(engine, EngineFailure):
        return engine
    one, other = await judge(engine, [QueryResponse(query, response_a), QueryResponse(query, response_b)])
    for response, result in (("a", one), ("b", other)):
        if isinstance(result, EngineFailure):
            return EngineFailure(result.mode, f"response {response}: {result.detail}")
    assert isinstance(one, Judgement) and isinstance(other, Judgement)  # noqa: S101 - narrows the types
    facts = engine_facts(engine)
    state.store.set(EVALUATIONS, [{**judgement_facts(result), "samer": facts} for result in (one, other)])
    return SamerPair(one, other)


def samer_replies(
    found: SamerPair | EngineFailure, names: Sequence[str], firsts: Sequence[First], text: str = ""
) -> list[PairReply]:
    """Verdicts as replies. SaMer sees one response at a time, so that the order makes no difference.

    Args:
        found: What SaMer said.
        names: Verdicts asked for.
        firsts: In which orders the pair is shown; the words are kept with the first of them.
        text: The words.
    """
    asked = tuple(names)
    if isinstance(found, EngineFailure):
        return [
            PairReply(first, asked, stop_reason="error", error=found.detail, failure=found.mode) for first in firsts
        ]
    verdicts = {name: found.verdict(name) for name in asked}
    return [
        PairReply(first, asked, reply="" if place else text, verdicts=verdicts) for place, first in enumerate(firsts)
    ]
