"""Judges of pairs that are no models of the harness: they evaluate each response by itself.

Satellites offer them by name (`LOCAL_JUDGE_POINT`), so that core runs without any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from inspect_ai.solver import TaskState

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, choices
from urs_inspect.judging._pair_reply import First, PairReply

LOCAL_JUDGE_POINT = "judges of pairs"
"""What a satellite offers such judges under: the name of a judge -> the address of a function that
makes a `LocalJudge` from its options.
"""
EVALUATIONS = "samer_evaluations"
"""Key of a sample's store under which the evaluations of both responses are kept."""


class LocalPair(Protocol):
    """Two responses after their evaluation: the larger number is the better one."""

    @property
    def kept(self) -> list[dict[str, Any]]:
        """What the log keeps of each response; `samer` says how the engine was set up."""

    def verdict(self, name: str) -> str:
        """`a`, `b` or `tie` on a dimension, or `overall`."""

    def table(self, names: Sequence[str]) -> str:
        """The verdicts with their numbers, as a list in Markdown."""

    def explained(self, names: tuple[str, str]) -> str:
        """Both evaluations as Markdown, under the names of the responses."""


@dataclass(frozen=True)
class LocalFailure:
    """Why there is no evaluation."""

    mode: str
    detail: str


class LocalJudge(Protocol):
    """Evaluates responses, each by itself, in this process or by a server."""

    dimensions: bool
    """Whether it gives verdicts on dimensions, and not overall only."""

    async def compare(
        self, query: str, response_a: str, response_b: str
    ) -> LocalPair | LocalFailure:
        """Evaluate two responses; never raises for what an engine does."""


def local_judges() -> tuple[str, ...]:
    """Names of the judges that satellites offer."""
    return tuple(offered(LOCAL_JUDGE_POINT))


def local_judge(name: str, options: Mapping[str, Any] | None) -> LocalJudge | None:
    """The judge of that name, checked; None if another judge was chosen."""
    if name not in local_judges():
        if options is not None:
            raise InputError(
                f"samer: only with judge={choices(local_judges())}, not with judge={name}"
            )
        return None
    if options is None:
        raise InputError(
            f"judge={name} needs samer: the folder of a checkpoint, or the address of a server"
        )
    judge: LocalJudge = at(offered(LOCAL_JUDGE_POINT)[name])(options)
    return judge


async def local_pair(
    state: TaskState, judge: LocalJudge, query: str, response_a: str, response_b: str
) -> LocalPair | LocalFailure:
    """Evaluate two responses and keep both evaluations in the sample's store."""
    pair = await judge.compare(query, response_a, response_b)
    if not isinstance(pair, LocalFailure):
        state.store.set(EVALUATIONS, pair.kept)
    return pair


def local_replies(
    pair: LocalPair | LocalFailure, names: Sequence[str], firsts: Sequence[First], text: str = ""
) -> list[PairReply]:
    """Verdicts as replies, one per order with the same verdicts.

    `text` is the explanation, which is kept with the first order.
    """
    asked = tuple(names)
    if isinstance(pair, LocalFailure):
        failed = partial(
            PairReply, asked=asked, stop_reason="error", error=pair.detail, failure=pair.mode
        )
        return [failed(first) for first in firsts]
    verdicts = {name: pair.verdict(name) for name in asked}
    return [
        PairReply(first, asked, reply="" if place else text, verdicts=verdicts)
        for place, first in enumerate(firsts)
    ]


def pair_facts(kept: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Metadata of a score of compared responses from what is kept under `EVALUATIONS`; empty if
    nothing is.

    `weights` of each response that has any, and under `samer` how the engine was set up.
    """
    if not kept:
        return {}
    return {
        "weights": [facts["weights"] for facts in kept if facts.get("weights")],
        "samer": kept[0]["samer"],
    }
