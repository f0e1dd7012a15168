"""What a comparison could have shown: the smallest difference that would be seen, and the questions needed for one."""

import math

POWER = 0.8
"""How often a difference of the smallest size that is said to be seen would have been significant."""


def smallest_difference(
    error: float, clusters: int, *, tests: int = 1, power: float = POWER, level: float = 0.95
) -> float:
    """The difference of two means that would have been significant with this power.

    `(t(1 - alpha / 2) + t(power)) * error` with C - 1 degrees of freedom (Cohen, "Statistical Power Analysis for the
    Behavioral Sciences", 1988, chapter 2; the normal tail of the power taken as Student's), alpha divided by the
    number of tests, as Holm's first step does.

    Args:
        error: Clustered standard error of the difference, as from `clustered_means`.
        clusters: Number of clusters C behind it.
        tests: Number of comparisons over which p-values are corrected.
        power: How often it would be significant, 0 to 1.
        level: Confidence level, 0 to 1; alpha is 1 less this.

    Returns:
        In the unit of the scores; NaN with fewer than two clusters, or without a spread.
    """
    from scipy.special import stdtrit

    if clusters < 2 or not error > 0:
        return math.nan
    alpha, freedom = (1 - level) / tests, clusters - 1
    return float(stdtrit(freedom, 1 - alpha / 2) + stdtrit(freedom, power)) * error


def questions_needed(
    difference: float, error: float, n: int, clusters: int, *, tests: int = 1, power: float = POWER, level: float = 0.95
) -> int | None:
    """Questions, of clusters as large as now, for which a difference would be significant with this power.

    Args:
        difference: The difference to be seen, above 0.
        error: Clustered standard error of the difference over the questions there are.
        n: Number of these questions.
        clusters: Number of their clusters.
        tests: As for `smallest_difference`.
        power: As for `smallest_difference`.
        level: As for `smallest_difference`.

    Returns:
        The number of questions; None where the spread is not known.
    """
    from scipy.special import ndtri

    if clusters < 2 or not error > 0:
        return None
    deviation = error * math.sqrt(clusters)  # of independent clusters
    quantiles = float(ndtri(1 - (1 - level) / tests / 2) + ndtri(power))
    needed = max(2, math.ceil((quantiles * deviation / difference) ** 2))  # too few, as Student's t is wider
    while (
        smallest_difference(deviation / math.sqrt(needed), needed, tests=tests, power=power, level=level) > difference
    ):
        needed += 1
    return math.ceil(needed * n / clusters)
