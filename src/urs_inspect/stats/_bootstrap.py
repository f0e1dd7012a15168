"""Estimates with intervals.

Student's t for independent values, the percentile bootstrap for clusters of items.

Verdicts on one prompt are not independent, so whole prompts are drawn with replacement (the pairs
cluster bootstrap of Cameron, Gelbach and Miller, "Bootstrap-Based Improvements for Inference with
Clustered Errors", 2008). A round is a vector of weights: how often each cluster was drawn. Whatever
can be computed from sums over items is then one matrix product for all rounds at once.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Clusters = Sequence[Any] | npt.NDArray[Any]
"""Id of each item's cluster, such as its prompt; all text or all numbers, shape (N,)."""
Scale = tuple[float, float]
"""Lowest and highest possible value of a statistic."""

ROUNDS = 2000
"""Rounds of resampling: the noise of a 95% bound is then about 1.5% of the width of the
interval.
"""
SEED = 0
LEVEL = 0.95

_NO_WIDTH = 1e-9
"""Bounds that differ by less are equal except for rounding errors."""
_BLOCK = 1 << 22
"""Most weights held at a time, 32 MB."""
_SINGLE = 1 << 18
"""Most multiplications of one matrix product.

OpenBLAS keeps that many on one thread; beyond, waking the others and letting them spin takes ten
times as long as these small products themselves.
"""
_FEWEST_ROWS = 8
"""Fewest rows of a part; larger matrices are worth all threads."""


class ResamplingOptions(TypedDict, total=False):
    """Keyword arguments of every function that resamples; see `Resampling`."""

    rounds: int
    level: float
    seed: int


@dataclass(frozen=True)
class Resampling:
    """Settings of a bootstrap; `compare_means(values, **how.options)` passes them on.

    Attributes:
        rounds: Rounds, in which whole clusters are drawn.
        level: Confidence level of the intervals, between 0 and 1.
        seed: Seed of the resampling.
    """

    rounds: int = ROUNDS
    level: float = LEVEL
    seed: int = SEED

    @property
    def options(self) -> ResamplingOptions:
        """The settings as keyword arguments."""
        return {"rounds": self.rounds, "level": self.level, "seed": self.seed}


@dataclass(frozen=True)
class Estimate:
    """A statistic with its interval.

    A bootstrap interval reflects only the data seen: where all clusters agree, as in ten right
    verdicts out of ten, it has no width.

    Attributes:
        value: The statistic of the items themselves; NaN where it is not defined.
        low: Lower bound; NaN where no interval exists, as with fewer than two clusters.
        high: Upper bound; NaN where `low` is.
        n: Number of items that the statistic is about.
        clusters: Number of clusters that these items come from; `n` for independent items.
        level: Confidence level, between 0 and 1.
        rounds: Rounds of resampling; 0 where the interval comes from a formula.
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

    def __neg__(self) -> "Estimate":
        """The estimate of the negative statistic."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)

    def reported(self, scale: Scale | None = None) -> "Estimate":
        """The same with the bounds that logs, tables and pages report.

        They follow the rule of `reported_bounds`.

        Args:
            scale: Lowest and highest possible value; None if there are no limits.

        Returns:
            The estimate; its bounds are NaN where the rule allows no interval.
        """
        bounds = reported_bounds(self.low, self.high, self.clusters, level=self.level, scale=scale)
        low, high = map(float, bounds)
        # The one NaN of `math` makes equal estimates compare equal.
        if math.isnan(low):
            low = math.nan
            high = math.nan
        return replace(self, low=low, high=high)


def check_level(level: float) -> None:
    """Raise ValueError unless a confidence level lies between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")


def mean_interval(
    values: Sequence[float],
    level: float = LEVEL,
    *,
    scale: Scale | None = None,
    clusters: Clusters | None = None,
) -> Estimate:
    """Mean of values, with the interval that logs, tables and pages report.

    Args:
        values: The values, such as one per question, shape (N,).
        level: Confidence level, between 0 and 1.
        scale: Lowest and highest possible value; None if there are no limits.
        clusters: Id of each value's cluster, such as the user who asked, shape (N,); by default all
            values are independent.

    Returns:
        The interval of `student_interval`, by the rule of `reported_bounds`.

    Raises:
        ValueError: If `level` is not between 0 and 1.

    Examples:
        >>> from urs_inspect.stats import mean_interval
        >>> mean = mean_interval([5.0, 6.0, 7.0, 8.0])
        >>> round(mean.value, 2), mean.n
        (6.5, 4)
    """
    return student_interval(values, level, clusters=clusters).reported(scale)


def student_interval(
    values: Sequence[float], level: float = LEVEL, *, clusters: Clusters | None = None
) -> Estimate:
    """Mean of values, however few, and its two-sided interval `mean ± t(n - 1) * s / sqrt(n)`.

    `s` is the sample standard deviation. NaN without values; no bounds for a single one. Of values
    in C clusters it is `mean ± t(C - 1) * e`, where `e` is the clustered standard error (CR1, as of
    `clustered_means`).
    """
    check_level(level)
    n = len(values)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0, level, rounds=0)
    mean = math.fsum(values) / n
    groups = n if clusters is None else len(set(clusters))
    error = math.nan
    if groups > 1:
        error = standard_error(values, clusters)
    return student_estimate(mean, error, n, groups, level)


def student_estimate(
    value: float, error: float, n: int, clusters: int, level: float = LEVEL
) -> Estimate:
    """A statistic with the interval `value ± t(clusters - 1) * error`."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(clusters - 1, (1 + level) / 2))
    margin = quantile * error
    low = value - margin
    high = value + margin
    return Estimate(value, low, high, n, clusters, level, rounds=0)


def error_of(estimate: Estimate) -> float:
    """The standard error of a `student_estimate`, from its bounds."""
    from scipy.special import stdtrit

    freedom = estimate.clusters - 1
    below = (1 + estimate.level) / 2
    quantile = float(stdtrit(freedom, below))
    return (estimate.high - estimate.low) / 2 / quantile


def standard_error(values: Sequence[float], clusters: Clusters | None = None) -> float:
    """Standard error of the mean of two values or more, in two clusters or more.

    All independent by default.
    """
    n = len(values)
    mean = math.fsum(values) / n
    deviations = [value - mean for value in values]
    if clusters is None or len(set(clusters)) == n:
        squares = math.fsum(deviation**2 for deviation in deviations)
        variance = squares / (n - 1)
        return math.sqrt(variance) / math.sqrt(n)
    sums: dict[Hashable, float] = defaultdict(float)
    for deviation, cluster in zip(deviations, clusters, strict=True):
        sums[cluster] += deviation
    squares = math.fsum(total**2 for total in sums.values())
    correction = len(sums) / (len(sums) - 1)
    return math.sqrt(correction * squares) / n


def pooled_deviation(groups: Sequence[Sequence[float]]) -> float:
    """Standard deviation within groups of repeated values.

    `sqrt(sum of squares / sum of (group size - 1))`.

    Squares are of deviations from the group's mean. Groups of one value do not count; NaN if no
    group has two.
    """
    squares = 0.0
    freedom = 0
    for group in groups:
        if len(group) < 2:
            continue
        mean = math.fsum(group) / len(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
        freedom += len(group) - 1
    if not freedom:
        return math.nan
    return math.sqrt(squares / freedom)


def fewest_clusters(level: float) -> int:
    """Fewest questions (or other clusters) for which an interval is reported.

    The smallest n with 2 / 2^n <= 1 - level.

    With fewer (6 for 95%), even a two-sided sign test over values that all agree would not be
    significant.
    """
    halvings = math.log2(2 / (1 - level))
    return math.ceil(round(halvings, 9))


def reported_bounds(
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    level: float = LEVEL,
    scale: Scale | None = None,
) -> tuple[Floats, Floats]:
    """Apply the one rule about which intervals are reported, in logs, tables and pages alike.

    No interval is reported (both bounds are NaN) for fewer clusters than `fewest_clusters`, for
    values without spread (an interval of no width claims a certainty that a handful of equal values
    does not give), or where it covers the whole scale. Bounds beyond the scale are cut to it.
    Bounds have any shape; `clusters` is broadcast to it.
    """
    low = np.asarray(lows, dtype=np.float64)
    high = np.asarray(highs, dtype=np.float64)
    if scale is not None:
        low = np.maximum(low, scale[0])
        high = np.minimum(high, scale[1])
    too_few = np.asarray(clusters) < fewest_clusters(level)
    unknown = np.isnan(low) | np.isnan(high)
    narrow = high - low <= _NO_WIDTH
    none = too_few | unknown | narrow
    if scale is not None:
        none |= (low <= scale[0]) & (high >= scale[1])
    reported_low = np.where(none, np.nan, low)
    reported_high = np.where(none, np.nan, high)
    return reported_low, reported_high


def ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """Quotients, any shape; NaN where the divisor is not above 0."""
    above = np.asarray(above)
    below = np.asarray(below)
    unknown = np.full(above.shape, np.nan)
    quotients = np.divide(above, below, out=unknown, where=below > 0)
    return np.asarray(quotients, dtype=np.float64)


def number_clusters(clusters: Clusters) -> Integers:
    """Number clusters from 0 without gaps, by the rank of their ids; shape (N,).

    By rank, so that the order of the items does not change the resampling.
    """
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iu":
        _, ranks = np.unique(clusters, return_inverse=True)
        return ranks.astype(np.int64)
    numbered = enumerate(sorted(set(clusters)))
    numbers = {name: number for number, name in numbered}
    of_items = [numbers[name] for name in clusters]
    return np.array(of_items, dtype=np.int64)


def cluster_counts(clusters: Clusters, counts: npt.ArrayLike) -> Floats:
    """Sum the M counts of each item over clusters.

    Shape (N, M) -> (C, M), in the order of the clusters' ids.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(clusters):
        raise ValueError(
            f"need one row of counts per item: {len(clusters)} clusters, counts of shape"
            f" {table.shape}"
        )
    if not len(table):
        return table
    numbers = number_clusters(clusters)
    order = np.argsort(numbers, kind="stable")
    steps = np.diff(numbers[order], prepend=-1)
    starts = np.flatnonzero(steps)
    return np.add.reduceat(table[order], starts, axis=0)


def known_items(clusters: Clusters, *columns: npt.ArrayLike) -> tuple[Floats, list[Any]]:
    """Values and cluster ids of the n items that all of K columns have.

    Columns have the shape (N,), values (K, n); NaN stands for a missing value.
    """
    given = [np.asarray(column, dtype=np.float64) for column in columns]
    if any(values.shape != (len(clusters),) for values in given):
        shapes = ", ".join(str(values.shape) for values in given)
        raise ValueError(
            f"need one value per cluster id: got values of shape {shapes} and {len(clusters)}"
            " clusters"
        )
    table = np.stack(given)
    known: Flags = ~np.any(np.isnan(table), axis=0)
    return table[:, known], list(compress(clusters, known))


def resample(clusters: int, rounds: int = ROUNDS, seed: int = SEED) -> Iterator[Floats]:
    """Draw C clusters with replacement, in each of some rounds.

    Yields how often each cluster was drawn, in blocks of shape (rounds of the block, C); rows add
    up to C.
    """
    if clusters < 1 or rounds < 1:
        raise ValueError(f"need at least one cluster and one round, got {clusters} and {rounds}")
    generator = np.random.default_rng(seed)
    block = max(1, _BLOCK // clusters)
    for start in range(0, rounds, block):
        size = min(block, rounds - start)
        drawn = generator.integers(clusters, size=(size, clusters))
        # Each round has cells of its own, so that all are counted at once.
        cells = drawn + clusters * np.arange(size)[:, None]
        counts = np.bincount(cells.ravel(), minlength=size * clusters)
        yield counts.reshape(size, clusters).astype(np.float64)


def bootstrap_counts(cluster_sums: npt.ArrayLike, rounds: int = ROUNDS, seed: int = SEED) -> Floats:
    """Summed counts of each round, shape (C, M) as from `cluster_counts` -> (R, M).

    0 without clusters.

    For statistics that are functions of summed counts.
    """
    sums = np.asarray(cluster_sums, dtype=np.float64)
    if not len(sums) or not rounds:
        return np.zeros((rounds, sums.shape[1]))
    drawn = resample(len(sums), rounds, seed)
    return np.concatenate([single_product(weights, sums) for weights in drawn])


def single_product(rows: Floats, matrix: Floats) -> Floats:
    """Product of rows with a matrix, shape (R, C) times (C, M).

    With a small one in parts that stay on one thread.
    """
    size = _SINGLE // max(1, matrix.size)
    if size < _FEWEST_ROWS:
        return rows @ matrix
    starts = range(0, max(1, len(rows)), size)
    blocks = [rows[start : start + size] @ matrix for start in starts]
    return np.concatenate(blocks)


def resample_members(clusters: Integers, rounds: int, seed: int) -> Iterator[Floats]:
    """How often each item was drawn, with its whole cluster, in blocks of rounds, shape (B, N).

    `clusters` has the number of each item's cluster, from 0 without gaps, shape (N,).
    """
    block = max(1, _BLOCK // max(1, len(clusters)))
    number = int(clusters.max(initial=-1)) + 1
    for counts in resample(number, rounds, seed):
        for start in range(0, len(counts), block):
            yield counts[start : start + block][:, clusters]


def bootstrap_statistic(
    clusters: Clusters,
    function: Callable[[Floats], Floats],
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Floats:
    """Any statistic of each round, shape (R,) or (R, K).

    It serves those that are not functions of counts.

    `function` takes how often each item was drawn, shape (B, N), and returns the statistics of
    these B rounds, shape (B,) or (B, K). The same clusters and seed give the same rounds, so that
    the statistics of two judges may be subtracted round by round.
    """
    drawn = resample_members(number_clusters(clusters), rounds, seed)
    return np.concatenate([function(by_item) for by_item in drawn])


def percentile_bounds(
    draws: npt.ArrayLike,
    level: float = LEVEL,
    clusters: Sequence[int] | Integers | None = None,
) -> tuple[Floats, Floats]:
    """Percentile interval of each of K statistics, from its values in R rounds; see `tail_bounds`.

    With the numbers of `clusters` that were drawn, shape (K,), it is the expanded percentile
    interval (Hesterberg, "What Teachers Should Know About the Bootstrap", 2015, section 5.2): the
    percentiles are moved out so far that, for a mean of normal values, it is as wide as Student's.
    Over 1,800 clusters that changes nothing; percentiles alone would be 6% too narrow over 30 and
    18% over 10.
    """
    check_level(level)
    if clusters is None:
        return tail_bounds(draws, (1 - level) / 2)
    from scipy.special import ndtr, stdtrit

    size = np.maximum(clusters, 2).astype(np.float64)
    freedom = size - 1
    t = stdtrit(freedom, (1 + level) / 2)
    moved_out = t * np.sqrt(size / freedom)
    tails = ndtr(-moved_out)
    return tail_bounds(draws, tails)


def tail_bounds(draws: npt.ArrayLike, tails: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Lower and upper quantiles of the rounds in which a statistic is defined (not NaN).

    Shape (R, K) -> (K,) each.

    `tails` is the share of the rounds below the lower bound and above the upper one, 0 to 0.5, one
    for all or shape (K,). Bounds are interpolated linearly; NaN if no round defines a statistic.
    """
    table = np.asarray(draws, dtype=np.float64)
    lows = np.full(table.shape[1], np.nan)
    highs = lows.copy()
    for place, tail in enumerate(np.broadcast_to(tails, lows.shape)):
        column = table[:, place]
        defined = column[~np.isnan(column)]
        if len(defined):
            lows[place], highs[place] = np.quantile(defined, [tail, 1 - tail])
    return lows, highs


def estimates(
    values: npt.ArrayLike,
    draws: npt.ArrayLike,
    n: Sequence[int] | Integers,
    clusters: Sequence[int] | Integers,
    how: Resampling,
    expanded: bool = True,
) -> tuple[Estimate, ...]:
    """Combine K statistics with their values in each round into estimates.

    Shapes (K,) and (R, K).

    `n` and `clusters` are the numbers of items and clusters behind each; with fewer than two
    clusters, or where the statistic is NaN, there are no bounds. Percentiles are expanded for few
    clusters unless the draws allow for them.
    """
    point = np.asarray(values, dtype=np.float64)
    table = np.asarray(draws, dtype=np.float64)
    drawn = np.asarray(clusters)
    lows, highs = percentile_bounds(table, how.level, drawn if expanded else None)
    unknown = np.isnan(point) | (drawn < 2)
    lows[unknown] = np.nan
    highs[unknown] = np.nan
    rows = zip(point, lows, highs, n, clusters, strict=True)
    return tuple(
        Estimate(float(value), float(low), float(high), int(items), int(groups), **how.options)
        for value, low, high, items, groups in rows
    )


def reported(
    values: npt.ArrayLike,
    draws: npt.ArrayLike,
    n: Sequence[int] | Integers,
    clusters: Sequence[int] | Integers,
    how: Resampling,
    scale: Scale | None = None,
    expanded: bool = True,
) -> tuple[Estimate, ...]:
    """`estimates` with the bounds that are reported."""
    raw = estimates(values, draws, n, clusters, how, expanded)
    return tuple(estimate.reported(scale) for estimate in raw)


def undefined(n: int, clusters: int, how: Resampling) -> Estimate:
    """The estimate of a statistic that is not defined."""
    return Estimate(math.nan, math.nan, math.nan, n, clusters, **how.options)


def counted_estimate(
    statistic: Callable[[Floats], Floats], sums: Floats, n: int, how: Resampling
) -> Estimate:
    """Estimate of one statistic of summed counts, (R, M) -> (R,).

    `sums` as from `cluster_counts`, NaN without rows.
    """
    if not len(sums):
        return undefined(0, 0, how)
    draws = statistic(bootstrap_counts(sums, how.rounds, how.seed))
    values = statistic(sums.sum(axis=0, keepdims=True))
    column = draws[:, None]
    clusters = len(sums)
    [estimate] = estimates(values, column, [n], [clusters], how)
    return estimate
