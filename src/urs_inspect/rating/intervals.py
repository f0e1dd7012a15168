"""Means with intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
