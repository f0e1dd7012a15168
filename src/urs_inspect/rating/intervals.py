"""Means with intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MeanInterval:
    """A mean with its confidence interval.

    Attributes:
        mean: The mean; NaN without values.
        low: Lower bound; NaN with fewer than two values, where no interval exists.
        high: Upper bound; NaN likewise.
        n: Number of values.
        level: Confidence level.
    """

    mean: float
    low: float
    high: float
    n: int
    level: float


def mean_interval(values: Sequence[float], level: float = 0.95) -> MeanInterval:
    """Mean and two-sided Student-t interval of independent values.

    Args:
        values: One value a question, so that they are independent.
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
