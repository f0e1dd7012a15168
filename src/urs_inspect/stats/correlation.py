"""Correlations with intervals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.stats.bootstrap import (
    LEVEL,
    ROUNDS,
    SEED,
    Estimate,
    Floats,
    Integers,
    bootstrap_statistic,
    estimates,
    number_clusters,
    resample,
    single_product,
)

_ITEMS_AT_ONCE = 512
"""Rows of the table of all pairs of items that are held at a time."""
_REPEATED = 2
"""Items are counted by their values where each combination of values occurs this often on average."""


@dataclass(frozen=True)
class Correlations:
    """Three correlations, or their differences between two judges, with intervals clustered by prompt.

    Attributes:
        pearson: Pearson's r, linear.
        spearman: Spearman's rho, by ranks, ties sharing their mean rank.
        kendall: Kendall's tau-b, by pairs, corrected for ties on either side.
        unread: Items left out because a rating is missing.
    """

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    unread: int


@dataclass(frozen=True)
class CorrelationDifferences(Correlations):
    """How much better one judge's ratings correlate with the labels than another's.

    The p-values are of the percentile bootstrap: twice the share of rounds in which the difference does not have the
    sign that it mostly has, one round being added so that none is 0. They agree with the intervals: below 0.05 where a
    95% interval leaves out 0, but for rounding.

    Attributes:
        p_pearson: Two-sided p-value of no difference in Pearson's r, 0 to 1; NaN where there is no interval.
        p_spearman: The same for Spearman's rho.
        p_kendall: The same for Kendall's tau-b.
    """

    p_pearson: float
    p_spearman: float
    p_kendall: float


def correlate(
    labels: npt.ArrayLike,
    ratings: npt.ArrayLike,
    clusters: Sequence[Any] | npt.NDArray[Any],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> Correlations:
    """Correlate ratings with labels (SaMer paper, Table 2).

    Args:
        labels: Labels, where an item has several their mean, shape (N,).
        ratings: The judge's ratings on any scale, NaN where it gave none, shape (N,).
        clusters: Id of each item's prompt, shape (N,).
        rounds: Rounds of the bootstrap.
        level: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        Correlations between -1 and 1; NaN where labels or ratings are all equal.
    """
    values, names, unread = _read(labels, [ratings], clusters)

    def correlations(points: Floats, weights: Floats) -> Floats:
        return _correlations(points[0], points[1], weights)

    estimated, _ = _bootstrapped(values, names, correlations, rounds, level, seed)
    return Correlations(*estimated, unread)


def correlation_difference(
    labels: npt.ArrayLike,
    ratings: npt.ArrayLike,
    other_ratings: npt.ArrayLike,
    clusters: Sequence[Any] | npt.NDArray[Any],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> CorrelationDifferences:
    """How much better one judge's ratings correlate with the labels than another's.

    Both judges are resampled together (a paired bootstrap), so that prompts that are hard for both cancel out.

    Args:
        labels: Labels, shape (N,).
        ratings: Ratings of the first judge, NaN where it gave none, shape (N,).
        other_ratings: Ratings of the second judge, likewise, on any scale.
        clusters: Id of each item's prompt, shape (N,).
        rounds: Rounds of the bootstrap.
        level: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        First less second, between -2 and 2, over the items that both have rated.
    """
    values, names, unread = _read(labels, [ratings, other_ratings], clusters)

    def difference(points: Floats, weights: Floats) -> Floats:
        return _correlations(points[0], points[1], weights) - _correlations(points[0], points[2], weights)

    estimated, draws = _bootstrapped(values, names, difference, rounds, level, seed)
    pearson, spearman, kendall = (_p_value(one, column) for one, column in zip(estimated, draws.T, strict=True))
    return CorrelationDifferences(*estimated, unread, pearson, spearman, kendall)


def _read(
    labels: npt.ArrayLike, ratings: Sequence[npt.ArrayLike], clusters: Sequence[Any] | npt.NDArray[Any]
) -> tuple[Floats, list[Any], int]:
    """Keep the items that all judges have rated: labels and ratings, shape (1 + judges, N), and their clusters."""
    x = np.asarray(labels, dtype=np.float64)
    judged = [np.asarray(given, dtype=np.float64) for given in ratings]
    if any(values.shape != (len(clusters),) for values in (x, *judged)):
        raise ValueError(
            f"need one label, rating and cluster an item: "
            f"got {', '.join(str(values.shape) for values in (x, *judged))} and {len(clusters)} clusters"
        )
    if not np.isfinite(x).all() or any(np.isinf(values).any() for values in judged):
        raise ValueError("labels must be finite, and ratings finite or NaN")
    read = ~np.any([np.isnan(values) for values in judged], axis=0)
    names = [name for name, kept in zip(clusters, read, strict=True) if kept]
    return np.stack([x, *judged])[:, read], names, int(len(x) - read.sum())


def _bootstrapped(
    values: Floats,
    clusters: list[Any],
    function: Callable[[Floats, Floats], Floats],
    rounds: int,
    level: float,
    seed: int,
) -> tuple[tuple[Estimate, Estimate, Estimate], Floats]:
    """Estimates of the three correlations, and their values in each round, shape (R, 3)."""
    n = len(clusters)
    if n:
        found = function(values, np.ones((1, n)))[0]
        draws = _draws(values, clusters, function, rounds, seed)
    else:
        found, draws = np.full(3, np.nan), np.full((rounds, 3), np.nan)
    size = len(set(clusters))
    pearson, spearman, kendall = estimates(found, draws, n=[n] * 3, clusters=[size] * 3, level=level, seed=seed)
    return (pearson, spearman, kendall), draws


def _p_value(estimate: Estimate, draws: Floats) -> float:
    if math.isnan(estimate.low):
        return math.nan
    known = draws[~np.isnan(draws)]
    fewest = min(np.count_nonzero(known <= 0), np.count_nonzero(known >= 0))
    return min(1.0, 2 * float(fewest + 1) / (len(known) + 1))


def _draws(
    values: Floats, clusters: list[Any], function: Callable[[Floats, Floats], Floats], rounds: int, seed: int
) -> Floats:
    """The correlations of each round, shape (R, 3).

    Labels and ratings are few numbers, so many items have the same. A round is then computed from how often each
    combination was drawn, which comes to the same and takes a fraction of the time.
    """
    points, place = np.unique(values, axis=1, return_inverse=True)
    if _REPEATED * points.shape[1] > len(clusters):
        return bootstrap_statistic(clusters, lambda weights: function(values, weights), rounds, seed)
    numbers = number_clusters(clusters)
    counts = np.zeros((int(numbers.max()) + 1, points.shape[1]))
    np.add.at(counts, (numbers, place.ravel()), 1)
    drawn = resample(len(counts), rounds, seed)
    return np.concatenate([function(points, single_product(weights, counts)) for weights in drawn])


def _correlations(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson, Spearman and Kendall of items that occur `weights` times, shape (B, N) -> (B, 3)."""
    ranks = _pearson(_ranks(x, weights), _ranks(y, weights), weights)
    return np.stack([_pearson(x[None], y[None], weights), ranks, _kendall(x, y, weights)], axis=1)


def _pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    total = weights.sum(axis=1, keepdims=True)
    dx = x - (weights * x).sum(axis=1, keepdims=True) / total
    dy = y - (weights * y).sum(axis=1, keepdims=True) / total
    xx, yy, xy = ((weights * product).sum(axis=1) for product in (dx * dx, dy * dy, dx * dy))
    # Values that are all equal differ from their mean by rounding alone, some 1e-16 of their size.
    varies = (xx > 1e-24 * (weights * x * x).sum(axis=1)) & (yy > 1e-24 * (weights * y * y).sum(axis=1))
    return np.where(varies, np.clip(_divide(xy, np.sqrt(xx) * np.sqrt(yy)), -1, 1), np.nan)


def _ranks(x: Floats, weights: Floats) -> Floats:
    """Mean rank of each item among items that occur `weights` times, shape (B, N)."""
    levels, sizes = _levels(x, weights)
    return (np.cumsum(sizes, axis=1) - (sizes - 1) / 2)[:, levels]


def _levels(x: Floats, weights: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Number of each item's level, and how many items each level has in each round, shape (N,) and (B, L)."""
    levels = np.unique(x, return_inverse=True)[1].astype(np.int64)
    order = np.argsort(levels, kind="stable")
    starts = np.flatnonzero(np.diff(levels[order], prepend=-1))
    return levels, np.add.reduceat(weights[:, order], starts, axis=1)


def _kendall(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Tau-b: concordant less discordant pairs, over the mean number of untied pairs (Kendall 1945)."""
    balance = np.zeros(len(weights))
    for start in range(0, len(x), _ITEMS_AT_ONCE):
        rows = slice(start, start + _ITEMS_AT_ONCE)
        signs = np.sign(x[:, None] - x[None, rows]) * np.sign(y[:, None] - y[None, rows])
        balance += (single_product(weights, signs) * weights[:, rows]).sum(axis=1) / 2
    total = weights.sum(axis=1)
    pairs = total * (total - 1) / 2
    untied_x, untied_y = (
        pairs - (sizes * (sizes - 1) / 2).sum(axis=1) for sizes in (_levels(x, weights)[1], _levels(y, weights)[1])
    )
    return _divide(balance, np.sqrt(untied_x) * np.sqrt(untied_y))


def _divide(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0), dtype=np.float64)


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
