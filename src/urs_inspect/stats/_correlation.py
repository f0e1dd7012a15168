"""Correlations with intervals, of items clustered by prompt."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import (
    Clusters,
    Estimate,
    Floats,
    Integers,
    Resampling,
    ResamplingOptions,
    bootstrap_counts,
    bootstrap_statistic,
    estimates,
    known_items,
    number_clusters,
    ratio,
    single_product,
    undefined,
)

CORRELATIONS = (-1.0, 1.0)
"""Lowest and highest correlation."""

_ITEMS_AT_ONCE = 512
"""Rows of the table of all pairs of items that are held at a time."""
_REPEATED = 2
"""Items are counted by their values where each combination of values occurs this often on
average.
"""


@dataclass(frozen=True)
class Correlations:
    """Three correlations, or their differences between two judges.

    Their intervals are clustered by prompt.

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

    The p-values are of the percentile bootstrap: twice the share of rounds in which the difference
    does not have the sign that it mostly has, one round being added so that none is 0. They agree
    with the intervals: below 0.05 where a 95% interval leaves out 0, except for rounding.

    Attributes:
        pearson: Difference in Pearson's r, the first judge's less the second's, -2 to 2.
        spearman: The same for Spearman's rho.
        kendall: The same for Kendall's tau-b.
        unread: Items left out because a rating of either judge is missing.
        p_pearson: Two-sided p-value of no difference in Pearson's r, 0 to 1; NaN where there is no
            interval.
        p_spearman: The same for Spearman's rho.
        p_kendall: The same for Kendall's tau-b.
    """

    p_pearson: float
    p_spearman: float
    p_kendall: float


def correlate(
    labels: npt.ArrayLike,
    ratings: npt.ArrayLike,
    clusters: Clusters,
    **options: Unpack[ResamplingOptions],
) -> Correlations:
    """Correlate ratings with labels (SaMer paper, Table 2).

    Args:
        labels: Labels, where an item has several their mean, shape (N,).
        ratings: The judge's ratings on any scale, NaN where it gave none, shape (N,).
        clusters: Id of each item's prompt, shape (N,).
        options: Rounds, level and seed of the bootstrap; see `Resampling`.

    Returns:
        Correlations between -1 and 1; NaN where labels or ratings are all equal.

    Raises:
        ValueError: If the arrays have different lengths, a label is not finite, a rating is
            infinite, or rounds, level or seed are out of range.

    Examples:
        >>> from urs_inspect.stats import correlate
        >>> found = correlate([1, 2, 3, 4], [2, 3, 5, 9], ["p", "q", "r", "s"], rounds=50)
        >>> round(found.pearson.value, 3), found.spearman.value
        (0.959, 1.0)
    """
    how = Resampling(**options)
    values, names, unread = _read(labels, [ratings], clusters)

    estimated, _ = _bootstrapped(values, names, _correlations, how)
    return Correlations(*estimated, unread)


def correlation_difference(
    labels: npt.ArrayLike,
    ratings: npt.ArrayLike,
    other_ratings: npt.ArrayLike,
    clusters: Clusters,
    **options: Unpack[ResamplingOptions],
) -> CorrelationDifferences:
    """How much better one judge's ratings correlate with the labels than another's.

    Both judges are resampled together (a paired bootstrap), so that prompts that are hard for both
    cancel out.

    Args:
        labels: Labels, shape (N,).
        ratings: Ratings of the first judge, NaN where it gave none, shape (N,).
        other_ratings: Ratings of the second judge, on any scale, NaN where it gave none, shape
            (N,).
        clusters: Id of each item's prompt, shape (N,).
        options: Rounds, level and seed of the bootstrap; see `Resampling`.

    Returns:
        First less second, between -2 and 2, over the items that both have rated.

    Raises:
        ValueError: If the arrays have different lengths, a label is not finite, a rating is
            infinite, or rounds, level or seed are out of range.
    """
    how = Resampling(**options)
    values, names, unread = _read(labels, [ratings, other_ratings], clusters)

    def difference(points: Floats, weights: Floats) -> Floats:
        label, rating, other_rating = points
        first = _correlations((label, rating), weights)
        second = _correlations((label, other_rating), weights)
        return first - second

    estimated, draws = _bootstrapped(values, names, difference, how)
    p_values = map(_p_value, estimated, draws.T)
    return CorrelationDifferences(*estimated, unread, *p_values)


def _read(
    labels: npt.ArrayLike, ratings: Sequence[npt.ArrayLike], clusters: Clusters
) -> tuple[Floats, list[Any], int]:
    """Labels and ratings of the items that all judges have rated, and their clusters.

    Also how many other items there are.
    """
    known_labels = np.asarray(labels, np.float64)
    is_finite = np.isfinite(known_labels).all()
    arrays = (np.asarray(given) for given in ratings)
    has_infinite = any(np.isinf(array).any() for array in arrays)
    if not is_finite or has_infinite:
        raise ValueError("labels must be finite, and ratings finite or NaN")
    values, names = known_items(clusters, labels, *ratings)
    unread = len(clusters) - len(names)
    return values, names, unread


def _bootstrapped(
    values: Floats,
    clusters: list[Any],
    function: Callable[[Floats, Floats], Floats],
    how: Resampling,
) -> tuple[tuple[Estimate, Estimate, Estimate], Floats]:
    """Estimates of the three correlations, and their values in each round, shape (R, 3)."""
    n = len(clusters)
    if n:
        found = function(values, np.ones((1, n)))[0]
        draws = _draws(values, clusters, function, how)
    else:
        found = np.full(3, np.nan)
        draws = np.full((how.rounds, 3), np.nan)
    size = len(set(clusters))
    items = [n] * 3
    groups = [size] * 3
    pearson, spearman, kendall = estimates(found, draws, items, groups, how)
    return (pearson, spearman, kendall), draws


def _p_value(estimate: Estimate, draws: Floats) -> float:
    if math.isnan(estimate.low):
        return math.nan
    known = np.count_nonzero(~np.isnan(draws))
    not_above = np.count_nonzero(draws <= 0)
    not_below = np.count_nonzero(draws >= 0)
    fewest = min(not_above, not_below)
    share = 2 * (fewest + 1) / (known + 1)
    return float(min(1.0, share))


def _draws(
    values: Floats,
    clusters: list[Any],
    function: Callable[[Floats, Floats], Floats],
    how: Resampling,
) -> Floats:
    """The correlations of each round, shape (R, 3).

    From how often each combination was drawn if there are few.
    """
    points, place = np.unique(values, axis=1, return_inverse=True)
    combinations = points.shape[1]
    if _REPEATED * combinations > len(clusters):
        return bootstrap_statistic(clusters, partial(function, values), how.rounds, how.seed)
    numbers = number_clusters(clusters)
    counts = np.zeros((int(numbers.max()) + 1, combinations))
    np.add.at(counts, (numbers, place.ravel()), 1)
    return function(points, bootstrap_counts(counts, how.rounds, how.seed))


def _correlations(points: Iterable[Floats], weights: Floats) -> Floats:
    """Pearson, Spearman and Kendall of items that occur `weights` times, shape (B, N) -> (B, 3).

    `points` are both values of each item.
    """
    x, y = points
    of_x = _Levels.of(x)
    of_y = _Levels.of(y)
    pearson = _pearson(x[None], y[None], weights)
    spearman = _spearman(of_x, of_y, weights)
    kendall = _kendall(x, y, (of_x, of_y), weights)
    return np.stack([pearson, spearman, kendall], axis=1)


def _pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    total = weights.sum(axis=1, keepdims=True)
    mean_x = (weights * x).sum(axis=1, keepdims=True) / total
    mean_y = (weights * y).sum(axis=1, keepdims=True) / total
    dx = x - mean_x
    dy = y - mean_y
    xx = (weights * (dx * dx)).sum(axis=1)
    yy = (weights * (dy * dy)).sum(axis=1)
    xy = (weights * (dx * dy)).sum(axis=1)
    # Values that are all equal differ from their mean by rounding alone, some 1e-16 of their size.
    size_of_x = (weights * x * x).sum(axis=1)
    size_of_y = (weights * y * y).sum(axis=1)
    x_varies = xx > 1e-24 * size_of_x
    y_varies = yy > 1e-24 * size_of_y
    scale = np.sqrt(xx) * np.sqrt(yy)
    r = np.clip(ratio(xy, scale), -1, 1)
    return np.where(x_varies & y_varies, r, np.nan)


def _kendall(x: Floats, y: Floats, sides: "tuple[_Levels, _Levels]", weights: Floats) -> Floats:
    """Tau-b (Kendall 1945): concordant less discordant pairs, over the mean of untied ones."""
    balance = np.zeros(len(weights))
    for start in range(0, len(x), _ITEMS_AT_ONCE):
        rows = slice(start, start + _ITEMS_AT_ONCE)
        x_signs = np.sign(x[:, None] - x[None, rows])
        y_signs = np.sign(y[:, None] - y[None, rows])
        products = single_product(weights, x_signs * y_signs)
        balance += (products * weights[:, rows]).sum(axis=1) / 2
    of_x, of_y = sides
    pairs = _pairs_among(weights.sum(axis=1))
    tied_x = _pairs_among(of_x.sizes(weights)).sum(axis=1)
    tied_y = _pairs_among(of_y.sizes(weights)).sum(axis=1)
    untied_x = pairs - tied_x
    untied_y = pairs - tied_y
    untied = np.sqrt(untied_x) * np.sqrt(untied_y)
    return ratio(balance, untied)


def _spearman(x: "_Levels", y: "_Levels", weights: Floats) -> Floats:
    """Spearman's rho: Pearson's r of ranks, ties sharing their mean rank.

    Ranks of n items add up to n (n + 1) / 2, the squares of their deviations to (n^3 - sum t^3) /
    12 over levels of t items: no mean and no variance is computed item by item.
    """
    centred_x, xx = x.centred_ranks(weights)
    centred_y, yy = y.centred_ranks(weights)
    xy = np.einsum("bn,bn,bn->b", weights, centred_x, centred_y)
    scale = np.sqrt(xx * yy)
    return np.clip(ratio(xy, scale), -1, 1)


def _pairs_among(sizes: Floats) -> Floats:
    """How many pairs so many items have."""
    pairs = sizes * (sizes - 1) / 2
    return np.asarray(pairs, dtype=np.float64)


@dataclass(frozen=True)
class _Levels:
    """Values as levels, from the lowest."""

    starts: Integers  # where each level starts in `order`
    order: Integers  # items by level, shape (N,)
    level: Integers  # of each item, shape (N,)

    @classmethod
    def of(cls, values: Floats) -> "_Levels":
        _, places = np.unique(values, return_inverse=True)
        level = places.astype(np.int64)
        order = np.argsort(level, kind="stable")
        steps = np.diff(level[order], prepend=-1)
        starts = np.flatnonzero(steps)
        return cls(starts, order, level)

    def sizes(self, weights: Floats) -> Floats:
        """How many items each level has, by `weights` of items, shape (B, N) -> (B, L)."""
        in_order = weights[:, self.order]
        sums = np.add.reduceat(in_order, self.starts, axis=1)
        return np.asarray(sums)

    def centred_ranks(self, weights: Floats) -> tuple[Floats, Floats]:
        """Each item's mean rank less the mean of all, shape (B, N), and the sum of their squares.

        Shape (B,).
        """
        sizes = self.sizes(weights)
        total = sizes.sum(axis=1, keepdims=True)
        middle = np.cumsum(sizes, axis=1) - sizes / 2 - total / 2
        of_all = total[:, 0] ** 3
        of_ties = (sizes**3).sum(axis=1)
        squares = (of_all - of_ties) / 12
        return middle[:, self.level], squares


def rank_correlation(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: Clusters,
    **options: Unpack[ResamplingOptions],
) -> Estimate:
    """Spearman's rho of two values of each item, with its interval clustered by prompt.

    NaN stands where there is no value.

    Over items with both values, ties sharing their mean rank; -1 to 1, NaN where either side is all
    equal.
    """
    how = Resampling(**options)
    (x, y), names = known_items(clusters, first, second)
    if not names:
        return undefined(0, 0, how)
    rho = partial(_spearman, _Levels.of(x), _Levels.of(y))
    value = rho(np.ones((1, len(x))))
    draws = bootstrap_statistic(names, rho, how.rounds, how.seed)
    column = draws[:, None]
    items = len(x)
    groups = len(set(names))
    [estimate] = estimates(value, column, [items], [groups], how)
    return estimate


def derived_seed(seed: int, *parts: int) -> int:
    """A seed for one part of an analysis, so that parts are resampled independently.

    Zeros at the end change nothing: the parts `(1,)` and `(1, 0)` have one seed, so that an
    analysis may not have both.
    """
    sequence = np.random.SeedSequence([seed, *parts])
    [state] = sequence.generate_state(1)
    return int(state)
