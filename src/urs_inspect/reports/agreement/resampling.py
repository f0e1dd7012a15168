"""How the intervals of a report come about."""

import math
from dataclasses import dataclass, replace
from typing import TypedDict

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED, Estimate
from urs_inspect.rating.intervals import reported_bounds

CORRELATIONS = (-1.0, 1.0)
"""Lowest and highest correlation."""


class Options(TypedDict):
    """Arguments of the functions of `rating`."""

    rounds: int
    level: float
    seed: int


@dataclass(frozen=True)
class Resampling:
    """Parameters of the bootstrap.

    Attributes:
        rounds: Rounds.
        level: Confidence level, between 0 and 1.
        seed: Seed.
    """

    rounds: int = ROUNDS
    level: float = LEVEL
    seed: int = SEED

    @property
    def options(self) -> Options:
        """As arguments."""
        return Options(rounds=self.rounds, level=self.level, seed=self.seed)


def reported(found: Estimate, scale: tuple[float, float], clusters: int | None = None) -> Estimate:
    """A number with its interval where one is reported; by fewest questions or people behind it, if they are given."""
    behind = found.clusters if clusters is None else clusters
    low, high = reported_bounds(found.low, found.high, behind, level=found.level, scale=scale)
    if math.isnan(low):
        return replace(found, low=math.nan, high=math.nan)
    return replace(found, low=float(low), high=float(high))
