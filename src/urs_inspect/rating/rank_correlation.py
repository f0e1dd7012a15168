"""Rank correlation alone, where Kendall's would take too long."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import (
    LEVEL,
    ROUNDS,
    SEED,
    Estimate,
    Floats,
    Integers,
    bootstrap_statistic,
    estimates,
)


def rank_correlation(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: Sequence[Any] | npt.NDArray[Any],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> Estimate:
    """Spearman's rho of two values of each item, with its interval clustered by prompt.

    Args:
        first: Values, NaN where there is none, shape (N,).
        second: Other values of the same items, likewise.
        clusters: Id of each item's prompt, shape (N,).
        rounds: Rounds of the bootstrap.
        level: Confidence level of the interval.
        seed: Seed of the bootstrap.

    Returns:
        The correlation of ranks, ties sharing their mean rank, over items with both values; -1 to 1, NaN where
        either side is all equal.
    """
    x, y = (np.asarray(given, dtype=np.float64) for given in (first, second))
    if x.shape != y.shape or x.shape != (len(clusters),):
        raise ValueError(f"need two values a cluster id: got {x.shape}, {y.shape} and {len(clusters)}")
    there = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[there], y[there]
    names = [name for name, kept in zip(clusters, there, strict=True) if kept]
    if not names:
        return Estimate(np.nan, np.nan, np.nan, 0, 0, level, rounds, seed)

    sides = _Levels.of(x), _Levels.of(y)

    def rho(weights: Floats) -> Floats:
        return _rho(*sides, weights)

    value = rho(np.ones((1, len(x))))
    draws = bootstrap_statistic(names, rho, rounds, seed)
    [found] = estimates(value, draws[:, None], n=[len(x)], clusters=[len(set(names))], level=level, seed=seed)
    return found


@dataclass(frozen=True)
class _Levels:
    """Values as levels: which items stand first in each, items in order, and each item's level, shape (N,)."""

    starts: Integers
    order: Integers
    level: Integers

    @classmethod
    def of(cls, values: Floats) -> "_Levels":
        level = np.unique(values, return_inverse=True)[1].astype(np.int64)
        order = np.argsort(level, kind="stable")
        return cls(np.flatnonzero(np.diff(level[order], prepend=-1)), order, level)

    def ranks(self, weights: Floats) -> tuple[Floats, Floats]:
        """Each item's mean rank less the mean of all, shape (B, N), and the sum of their squares, shape (B,)."""
        sizes = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        total = sizes.sum(axis=1, keepdims=True)
        middle = np.cumsum(sizes, axis=1) - sizes / 2 - total / 2
        return middle[:, self.level], ((total[:, 0] ** 3) - (sizes**3).sum(axis=1)) / 12


def _rho(x: _Levels, y: _Levels, weights: Floats) -> Floats:
    """Pearson's r of ranks of items that occur `weights` times, shape (B, N) -> (B,).

    Ranks of n items add up to n (n + 1) / 2; the squares of their deviations to (n^3 - sum t^3) / 12 over levels of t.
    """
    (first, xx), (second, yy) = x.ranks(weights), y.ranks(weights)
    shared = np.einsum("bn,bn,bn->b", weights, first, second)
    size = np.sqrt(xx * yy)
    return np.asarray(np.divide(shared, size, out=np.full(len(size), np.nan), where=size > 0), dtype=np.float64)
