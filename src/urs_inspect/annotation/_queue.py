"""Which ballot each person gets next, where an allocation decides it after every vote."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import Any, Self

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.annotation._agreement import majorities
from urs_inspect.annotation._votes import Vote
from urs_inspect.discrepancy._allocation import (
    CONFIDENCE,
    Allocator,
    Prior,
    Stop,
    laplace,
    prior_type,
)
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.discrepancy._vectors import Pair
from urs_inspect.stats._battles import Battle, Battles, battles_of

VOTING_KEY = "voting"
"""Key of a log's metadata that holds the `VotingPlan`."""

_HELD = 900.0
"""Seconds after which a ballot in view without a vote may go to another person as well."""


@dataclass(frozen=True)
class VotingPlan:
    """How a task has said that people's votes are to be allocated."""

    allocation: str  # name of the rule
    budget: int | None = None  # ballots to vote on at most, by everybody together; None for all
    confidence: float | None = CONFIDENCE  # of the order of neighbours, at which voting ends early
    seed: int = 0
    prior: Prior | None = None

    def to_dict(self) -> dict[str, Any]:
        """The plan as a JSON object, for the metadata of a log."""
        prior = None if self.prior is None else self.prior.to_dict()
        return {**vars(self), "prior": prior}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: str) -> Self:
        """Read what `to_dict` returned, else InputError naming the place."""
        try:
            prior = None
            if values["prior"] is not None:
                prior = prior_type().from_dict(values["prior"])
            return cls(**{**values, "prior": prior})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{place}: metadata.{VOTING_KEY} cannot be read: {error!r}") from None


@dataclass(frozen=True)
class VotingState:
    """How far the voting is."""

    done: int  # ballots with a vote, of everybody together
    budget: int  # ballots to vote on at most
    sure: int  # neighbours in the ranking whose order is as sure as the confidence asks
    neighbours: int
    stopped: Stop | None  # why no more ballots are served; None as long as some are
    weight: float = math.nan  # of the prior, 0 to 1; NaN without one


class BallotQueue:
    """Serves the ballots of a log to people in the order that an allocation asks for.

    The next ballot is the first one without a vote of the pair that is worth most, given all votes.
    One that somebody has in view counts as under way, and is served to nobody else unless no vote
    comes for 15 minutes.
    """

    def __init__(
        self, ballots: Sequence[Ballot], plan: VotingPlan, votes: Iterable[Vote] = ()
    ) -> None:
        self._ballots = {ballot.id: ballot for ballot in ballots}
        counts = self._count(self._ballots)
        players = sorted(set(chain.from_iterable(counts)))
        no_ballots = dict.fromkeys(combinations(players, 2), 0)
        budget = plan.budget or len(ballots)
        self._allocator = Allocator(
            players,
            rule=plan.allocation,
            budget=min(budget, len(ballots)),
            confidence=plan.confidence,
            items=no_ballots | counts,
            seed=plan.seed,
            belief=laplace if plan.prior is None else plan.prior.belief_about(players),
        )
        self._votes = {}
        for vote in votes:
            if vote.ballot in self._ballots:
                self._votes[vote.ballot, vote.annotator] = vote
        # annotator -> the ballot in view, and since when
        self._views: dict[str, tuple[str, float]] = {}
        self._mutex = threading.Lock()
        # called after each vote or undo
        self.on_change: Callable[[BallotQueue], None] = lambda queue: None

    def next(self, annotator: str, wanted: str | None = None) -> Ballot | None:
        """The ballot for a person: the one in view, the `wanted` one, or the next.

        None if there is none for now.
        """
        with self._mutex:
            held, since = self._views.get(annotator, ("", time.monotonic()))
            served = wanted or held
            if served not in self._ballots or (served, annotator) in self._votes:
                self._views.pop(annotator, None)
                served = self._choose()
                since = time.monotonic()
            if not served:
                return None
            self._views[annotator] = (served, since)
            return self._ballots[served]

    def cast(self, vote: Vote) -> None:
        """Count a vote; an earlier one of the same person about the ballot no longer counts."""
        with self._mutex:
            self._votes[vote.ballot, vote.annotator] = vote
            self._views.pop(vote.annotator, None)
        self.on_change(self)

    def undo(self, ballot: str, annotator: str) -> None:
        """Take a vote back."""
        with self._mutex:
            self._votes.pop((ballot, annotator), None)
            self._views.pop(annotator, None)
        self.on_change(self)

    def state(self) -> VotingState:
        """How far the voting is."""
        with self._mutex:
            voted = {ballot for ballot, _ in self._votes}
            allocator = self._allocator
            posterior, stopped = allocator.standing(self._battles(), self._count(voted))
            neighbours = list(pairwise(posterior.order().tolist()))
            sure = posterior.certainty(np.array(neighbours))
            return VotingState(
                done=len(voted),
                budget=allocator.budget,
                sure=int((sure >= (allocator.confidence or CONFIDENCE)).sum()),
                neighbours=len(sure),
                stopped=stopped,
                weight=posterior.weight,
            )

    def _choose(self) -> str:
        """The id of the ballot to serve next; empty if there is none."""
        since = time.monotonic() - _HELD
        voted = {ballot for ballot, _ in self._votes}
        viewed = {ballot for ballot, begun in self._views.values() if begun >= since} - voted
        taken = voted | viewed
        pending = [self._pair(ballot) for ballot in sorted(viewed)]
        battles = self._battles()
        count = self._count(taken)
        chosen = self._allocator.ask(battles, count, pending).pairs
        return next(
            (
                ballot
                for ballot in self._ballots
                if ballot not in taken and self._pair(ballot) in chosen
            ),
            "",
        )

    def _pair(self, ballot: str) -> Pair:
        return self._ballots[ballot].model_a, self._ballots[ballot].model_b

    def _count(self, ballots: Iterable[str]) -> Counter[Pair]:
        return Counter(map(self._pair, ballots))

    def _battles(self) -> Battles | None:
        battles = [
            Battle(
                *self._pair(majority.ballot),
                majority.outcome,
                self._ballots[majority.ballot].instruction,
            )
            for majority in majorities(self._votes.values())
            if not math.isnan(majority.outcome)
        ]
        if battles:
            return battles_of(battles, self._allocator.players)
        return None
