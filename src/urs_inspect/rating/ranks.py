"""Ranks of rated models, and how far they reach."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import Floats, percentile_bounds

Flags = npt.NDArray[np.bool_]

DIGITS = 6
"""Ratings that agree to so many decimals share a rank; a fit is exact to about 9."""


@dataclass(frozen=True)
class Rank:
    """The place of a model.

    Attributes:
        rank: One more than the number of models rated higher.
        low: Best rank within the interval of the resamples, if the model is better than all those that the battles
            cannot order it against; 1 where no interval exists.
        high: Worst rank within it, if the model is worse than all those and than all that are rated equal in a
            resample; the number of models where no interval exists.
    """

    rank: int
    low: int
    high: int


def ranks_of(points: Floats, draws: Floats, known: Flags, comparable: Flags, level: float) -> tuple[Rank, ...]:
    """Rank models by their ratings.

    Args:
        points: Ratings, shape (P,).
        draws: Ratings in the resamples, shape (R, P).
        known: Whether a model has an interval, shape (P,).
        comparable: Whether the battles order two models, shape (P, P).
        level: Confidence level of the intervals.

    Returns:
        The rank of each model.
    """
    by_prior = _higher_by_prior(draws, comparable)
    lows = percentile_bounds(_places(draws) - by_prior, level)[0]
    highs = percentile_bounds(_places(draws) + _equals(draws, comparable) - by_prior, level)[1]
    highs = highs + (~comparable).sum(axis=1)
    return tuple(
        Rank(int(place), math.floor(low) if sure else 1, math.ceil(high) if sure else len(points))
        for place, low, high, sure in zip(_places(points[None, :])[0], lows, highs, known, strict=True)
    )


def _places(ratings: Floats) -> Floats:
    """Rank of each player in each round, shape (R, P)."""
    rounded = np.round(ratings, DIGITS)
    ascending = np.sort(rounded, axis=1)
    higher = [
        len(row) - np.searchsorted(row, values, side="right") for row, values in zip(ascending, rounded, strict=True)
    ]
    return np.asarray(higher, dtype=np.float64) + 1


def _higher_by_prior(ratings: Floats, comparable: Flags) -> Floats:
    """How many are rated higher than each player without the battles having a say in it, by round, shape (R, P)."""
    rounded = np.round(ratings, DIGITS)
    counts = np.zeros_like(rounded)
    for place in np.flatnonzero(~comparable.all(axis=1)):
        counts[:, place] = (rounded[:, ~comparable[place]] > rounded[:, [place]]).sum(axis=1)
    return counts


def _equals(ratings: Floats, comparable: Flags) -> Floats:
    """How many that the battles compare with each player are rated equal to it, by round, shape (R, P)."""
    rounded = np.round(ratings, DIGITS)
    equal = [(rounded[:, linked] == rounded[:, [place]]).sum(axis=1) - 1 for place, linked in enumerate(comparable)]
    return np.stack(equal, axis=1).astype(np.float64)
