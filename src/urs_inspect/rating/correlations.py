"""Correlation of a judge's ratings with labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED, Estimate, Floats, bootstrap_statistic, estimates

_ITEMS_AT_ONCE = 512
"""Rows of the table of all pairs of items that are held at a time."""


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
    x, [y], names, unread = _read(labels, [ratings], clusters)
    return _bootstrapped(names, lambda weights: _correlations(x, y, weights), unread, rounds, level, seed)


def correlation_difference(
    labels: npt.ArrayLike,
    ratings: npt.ArrayLike,
    other_ratings: npt.ArrayLike,
    clusters: Sequence[Any] | npt.NDArray[Any],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> Correlations:
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
    x, [y, z], names, unread = _read(labels, [ratings, other_ratings], clusters)

    def difference(weights: Floats) -> Floats:
        return _correlations(x, y, weights) - _correlations(x, z, weights)

    return _bootstrapped(names, difference, unread, rounds, level, seed)


def _read(
    labels: npt.ArrayLike, ratings: Sequence[npt.ArrayLike], clusters: Sequence[Any] | npt.NDArray[Any]
) -> tuple[Floats, list[Floats], list[Any], int]:
    """Keep the items that all judges have rated."""
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
    return x[read], [values[read] for values in judged], names, int(len(x) - read.sum())


def _bootstrapped(
    clusters: list[Any], function: Callable[[Floats], Floats], unread: int, rounds: int, level: float, seed: int
) -> Correlations:
    n = len(clusters)
    if n:
        values = function(np.ones((1, n)))[0]
        draws = bootstrap_statistic(clusters, function, rounds, seed)
    else:
        values, draws = np.full(3, np.nan), np.full((rounds, 3), np.nan)
    pearson, spearman, kendall = estimates(
        values, draws, n=[n] * 3, clusters=[len(set(clusters))] * 3, level=level, seed=seed
    )
    return Correlations(pearson, spearman, kendall, unread)


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
        balance += ((weights @ signs) * weights[:, rows]).sum(axis=1) / 2
    total = weights.sum(axis=1)
    pairs = total * (total - 1) / 2
    untied_x, untied_y = (
        pairs - (sizes * (sizes - 1) / 2).sum(axis=1) for sizes in (_levels(x, weights)[1], _levels(y, weights)[1])
    )
    return _divide(balance, np.sqrt(untied_x) * np.sqrt(untied_y))


def _divide(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0), dtype=np.float64)
