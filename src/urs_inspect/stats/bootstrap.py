"""Intervals by the percentile bootstrap, drawn over clusters of items that belong together.

Verdicts on one prompt are not independent, so whole prompts are drawn with replacement (the pairs cluster bootstrap of
Cameron, Gelbach and Miller, "Bootstrap-Based Improvements for Inference with Clustered Errors", 2008). A round is a
vector of weights: how often each cluster was drawn. Whatever can be computed from sums over items is then one matrix
product for all rounds at once.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

_NO_WIDTH = 1e-9
"""Bounds that differ by less are equal but for rounding errors."""


@dataclass(frozen=True)
class MeanInterval:
    """A mean with its confidence interval.

    Attributes:
        mean: The mean; NaN without values.
        low: Lower bound; NaN if there is no interval.
        high: Upper bound; NaN if there is no interval.
        n: Number of values.
        level: Confidence level.
    """

    mean: float
    low: float
    high: float
    n: int
    level: float


def mean_interval(
    values: Sequence[float], level: float = 0.95, *, scale: tuple[float, float] | None = None
) -> MeanInterval:
    """Mean of independent values, with the interval that logs, tables and pages report.

    Args:
        values: One value for each question, so that they are independent.
        level: Confidence level, between 0 and 1.
        scale: Lowest and highest possible value; None if there are no limits.

    Returns:
        The interval of `student_interval`, by the rule of `reported_bounds`.

    Raises:
        ValueError: If `level` is not between 0 and 1.
    """
    found = student_interval(values, level)
    low, high = reported_bounds(found.low, found.high, found.n, level=level, scale=scale)
    return replace(found, low=float(low), high=float(high))


def student_interval(values: Sequence[float], level: float = 0.95) -> MeanInterval:
    """Mean and two-sided Student-t interval of independent values, however few they are.

    Args:
        values: One value for each question, so that they are independent.
        level: Confidence level, between 0 and 1.

    Returns:
        `mean ± t(n - 1) * s / sqrt(n)` with the sample standard deviation `s`.

    Raises:
        ValueError: If `level` is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    n = len(values)
    if n == 0:
        return MeanInterval(math.nan, math.nan, math.nan, 0, level)
    mean = math.fsum(values) / n
    if n == 1:
        return MeanInterval(mean, math.nan, math.nan, 1, level)
    from scipy.special import stdtrit

    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    margin = float(stdtrit(n - 1, (1 + level) / 2)) * deviation / math.sqrt(n)
    return MeanInterval(mean, mean - margin, mean + margin, n, level)


def fewest_clusters(level: float) -> int:
    """Smallest number of questions, or of other independent clusters, for which an interval is reported.

    With fewer, even a two-sided sign test over values that all agree would not be significant.

    Args:
        level: Confidence level, between 0 and 1.

    Returns:
        The smallest n with `2 / 2**n <= 1 - level`; 6 for 95%.
    """
    return math.ceil(round(math.log2(2 / (1 - level)), 9))


def reported_bounds(
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    level: float = 0.95,
    scale: tuple[float, float] | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Apply the one rule about which intervals are reported, in logs, tables and pages alike.

    No interval is reported for fewer clusters than `fewest_clusters`, for values without spread (an interval of no
    width claims a certainty that a handful of equal values does not give), or where it covers the whole scale. Bounds
    beyond the scale are cut to it.

    Args:
        lows: Lower bounds as computed, any shape.
        highs: Upper bounds, the same shape.
        clusters: Number of questions, or of other independent clusters, behind each; broadcast to that shape.
        level: Confidence level, between 0 and 1.
        scale: Lowest and highest possible value of the statistic; None if it has no limits.

    Returns:
        Lower and upper bounds; both NaN where no interval is reported.
    """
    low, high = np.asarray(lows, dtype=np.float64), np.asarray(highs, dtype=np.float64)
    if scale is not None:
        low, high = np.maximum(low, scale[0]), np.minimum(high, scale[1])
    none = (np.asarray(clusters) < fewest_clusters(level)) | np.isnan(low) | np.isnan(high) | (high - low <= _NO_WIDTH)
    if scale is not None:
        none |= (low <= scale[0]) & (high >= scale[1])
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def pooled_deviation(groups: Sequence[Sequence[float]]) -> float:
    """Standard deviation within groups, pooled over groups.

    Args:
        groups: Repeated values of the same thing; groups of one value say nothing and do not count.

    Returns:
        `sqrt(sum of squared deviations from the group means / sum of (group size - 1))`; NaN if no group has two
        values.
    """
    squares, freedom = 0.0, 0
    for group in groups:
        if len(group) < 2:
            continue
        mean = math.fsum(group) / len(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
        freedom += len(group) - 1
    return math.sqrt(squares / freedom) if freedom else math.nan


Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ROUNDS = 2000
"""Rounds of resampling: the noise of a 95% bound is then about 1.5% of the width of the interval."""
SEED = 0
LEVEL = 0.95

_BLOCK = 1 << 22
"""Most weights held at a time, 32 MB."""
_SINGLE = 1 << 18
"""Most multiplications of one matrix product. OpenBLAS keeps that many on one thread; beyond, waking the others and
letting them spin takes ten times as long as these small products themselves."""
_FEWEST_ROWS = 8
"""Fewest rows of a part; larger matrices are worth all threads."""


@dataclass(frozen=True)
class Estimate:
    """A statistic with its bootstrap interval.

    The percentile interval knows only what was seen: where all clusters agree, as in ten right verdicts out of ten, it
    has no width. Beside Student's t, it is about 6% too narrow over 30 clusters and 18% over 10.

    Attributes:
        value: The statistic of the items themselves; NaN where it is not defined.
        low: Lower bound; NaN with fewer than two clusters, where no interval exists.
        high: Upper bound; NaN likewise.
        n: Number of items that the statistic is about.
        clusters: Number of clusters that these items come from.
        level: Confidence level, between 0 and 1.
        rounds: Rounds of resampling.
        seed: Seed of the resampling.
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int
    level: float = LEVEL
    rounds: int = ROUNDS
    seed: int = SEED

    def reported(self, scale: tuple[float, float] | None = None) -> "Estimate":
        """The same with the bounds that logs, tables and pages report, by the rule of `reported_bounds`.

        Args:
            scale: Lowest and highest possible value; None if there are no limits.
        """
        low, high = reported_bounds(self.low, self.high, self.clusters, level=self.level, scale=scale)
        return replace(self, low=float(low), high=float(high))


def number_clusters(clusters: Sequence[Any] | npt.NDArray[Any]) -> Integers:
    """Number clusters by the rank of their ids, so that the order of the items does not change the resampling.

    Args:
        clusters: Id of each item's cluster, such as its prompt; all text or all numbers, shape (N,).

    Returns:
        Numbers from 0 without gaps, shape (N,).
    """
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iu":
        return np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    names: list[Hashable] = list(clusters)
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}  # type: ignore[type-var]
    return np.array([numbers[name] for name in names], dtype=np.int64)


def cluster_counts(clusters: Sequence[Any] | npt.NDArray[Any], counts: npt.ArrayLike) -> Floats:
    """Sum the counts of the items of each cluster.

    Args:
        clusters: Id of each item's cluster, shape (N,).
        counts: M counts an item, shape (N, M).

    Returns:
        Sums in the order of the ids, shape (C, M).
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(clusters):
        raise ValueError(f"need one row of counts an item: {len(clusters)} clusters, counts of shape {table.shape}")
    if not len(table):
        return table
    numbers = number_clusters(clusters)
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    return np.add.reduceat(table[order], starts, axis=0)


def resample(clusters: int, rounds: int = ROUNDS, seed: int = SEED) -> Iterator[Floats]:
    """Draw clusters with replacement.

    Args:
        clusters: Number of clusters C, at least 1; each round draws as many.
        rounds: Number of rounds, at least 1.
        seed: Seed; the same seed gives the same draws.

    Yields:
        How often each cluster was drawn, in blocks of shape (rounds of the block, C); rows add up to C.
    """
    if clusters < 1 or rounds < 1:
        raise ValueError(f"need at least one cluster and one round, got {clusters} and {rounds}")
    generator = np.random.default_rng(seed)
    block = max(1, _BLOCK // clusters)
    for start in range(0, rounds, block):
        size = min(block, rounds - start)
        drawn = generator.integers(clusters, size=(size, clusters)) + np.arange(size)[:, None] * clusters
        yield np.bincount(drawn.ravel(), minlength=size * clusters).reshape(size, clusters).astype(np.float64)


def bootstrap_counts(cluster_sums: npt.ArrayLike, rounds: int = ROUNDS, seed: int = SEED) -> Floats:
    """Counts of each round, for statistics that are functions of summed counts.

    Args:
        cluster_sums: As from `cluster_counts`, shape (C, M).
        rounds: Number of rounds R.
        seed: Seed of the resampling.

    Returns:
        Summed counts, shape (R, M).
    """
    sums = np.asarray(cluster_sums, dtype=np.float64)
    return np.concatenate([single_product(weights, sums) for weights in resample(len(sums), rounds, seed)])


def single_product(rows: Floats, matrix: Floats) -> Floats:
    """Product of rows with a matrix, shape (R, C) times (C, M); with a small one in parts that stay on one thread."""
    size = _SINGLE // max(1, matrix.size)
    if size < _FEWEST_ROWS:
        return rows @ matrix
    return np.concatenate([rows[start : start + size] @ matrix for start in range(0, max(1, len(rows)), size)])


def bootstrap_statistic(
    clusters: Sequence[Any] | npt.NDArray[Any],
    function: Callable[[Floats], Floats],
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Floats:
    """Any statistic of each round, for those that are no functions of counts.

    Args:
        clusters: Id of each item's cluster, shape (N,).
        function: Takes how often each item was drawn, shape (B, N), and gives the statistics of these B rounds,
            shape (B,) or (B, K).
        rounds: Number of rounds R.
        seed: Seed of the resampling. With the same clusters and seed the rounds are the same, so that the statistics
            of two judges may be subtracted round by round.

    Returns:
        Shape (R,) or (R, K).
    """
    numbers = number_clusters(clusters)
    block = max(1, _BLOCK // max(1, len(numbers)))
    return np.concatenate(
        [
            function(weights[start : start + block][:, numbers])
            for weights in resample(int(numbers.max(initial=-1)) + 1, rounds, seed)
            for start in range(0, len(weights), block)
        ]
    )


def percentile_bounds(draws: npt.ArrayLike, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Percentiles of the rounds in which a statistic is defined.

    Args:
        draws: The statistics of each round, NaN where not defined, shape (R, K).
        level: Confidence level, between 0 and 1.

    Returns:
        Lower and upper bounds, shape (K,) each, interpolated linearly; NaN if no round defines a statistic.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    return tail_bounds(draws, (1 - level) / 2)


def tail_bounds(draws: npt.ArrayLike, tails: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Quantiles of the rounds in which a statistic is defined.

    Args:
        draws: The statistics of each round, NaN where not defined, shape (R, K).
        tails: Share of the rounds below the lower bound and above the upper one, 0 to 0.5, one for all or shape (K,).

    Returns:
        Lower and upper bounds, shape (K,) each, interpolated linearly; NaN if no round defines a statistic.
    """
    ordered = np.sort(np.ascontiguousarray(np.asarray(draws, dtype=np.float64).T), axis=1)
    last = np.count_nonzero(~np.isnan(ordered), axis=1) - 1
    if not ordered.shape[1]:
        return np.full(len(ordered), np.nan), np.full(len(ordered), np.nan)
    rows = np.arange(len(ordered))
    share = np.asarray(tails, dtype=np.float64)

    def at(share: Floats) -> Floats:
        place = share * np.maximum(last, 0)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(last, 0))
        low, high = ordered[rows, below], ordered[rows, above]
        return np.asarray(low + (place - below) * (high - low), dtype=np.float64)

    return at(share), at(1 - share)


def estimates(
    values: npt.ArrayLike,
    draws: npt.ArrayLike,
    *,
    n: Sequence[int] | Integers,
    clusters: Sequence[int] | Integers,
    level: float = LEVEL,
    seed: int = SEED,
) -> tuple[Estimate, ...]:
    """Put statistics and their rounds together.

    Args:
        values: The K statistics of the items themselves, shape (K,).
        draws: Their values in each round, shape (R, K).
        n: Number of items behind each, shape (K,).
        clusters: Number of clusters behind each, shape (K,).
        level: Confidence level.
        seed: Seed of the resampling.

    Returns:
        One estimate a statistic.
    """
    point, table = np.asarray(values, dtype=np.float64), np.asarray(draws, dtype=np.float64)
    unknown = np.isnan(point) | (np.asarray(clusters) < 2)
    lows, highs = (np.where(unknown, np.nan, bounds) for bounds in percentile_bounds(table, level))
    return tuple(
        Estimate(float(value), float(low), float(high), int(items), int(groups), level, len(table), seed)
        for value, low, high, items, groups in zip(point, lows, highs, n, clusters, strict=True)
    )
