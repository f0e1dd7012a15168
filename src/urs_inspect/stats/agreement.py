"""Agreement among raters: kappa, Krippendorff's alpha, and the score interval of a share."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Unpack

import numpy as np
import numpy.typing as npt

from urs_inspect.stats.bootstrap import (
    LEVEL,
    Clusters,
    Estimate,
    Flags,
    Floats,
    Resampling,
    ResamplingOptions,
    check_level,
    cluster_counts,
    counted_estimate,
    undefined,
)

_FEWEST_UNITS = 2


def interval_alpha(ratings: Sequence[Sequence[float]]) -> float:
    """Krippendorff's alpha with the interval distance (squared difference).

    Args:
        ratings: One row per rater, one column per unit, shape (raters, units); NaN where a rater gave no rating.

    Returns:
        1 for perfect agreement, 0 for agreement by chance, below 0 for systematic disagreement; NaN if fewer
        than two units have two ratings. When all ratings are equal, alpha is 1 by convention.
    """
    pairable = [
        values
        for column in zip(*ratings, strict=True)
        if len(values := [value for value in column if not math.isnan(value)]) >= 2
    ]
    if len(pairable) < _FEWEST_UNITS:
        return math.nan
    if len({value for values in pairable for value in values}) == 1:
        return 1.0
    import evalica
    import pandas as pd

    return float(evalica.alpha(pd.DataFrame(ratings), distance="interval").alpha)


def nominal_alpha(tables: Floats) -> Floats:
    """Krippendorff's alpha with the nominal distance, of two raters without gaps, for many tables at once.

    `tables` has how often the raters gave each pair of classes, shape (R, K, K) -> (R,). With 2N values, of which n_c
    are of class c, alpha is `1 - (2N - 1) * (values that disagree) / ((2N)^2 - sum of n_c^2)` (Krippendorff, "Computing
    Krippendorff's Alpha-Reliability", 2011); NaN with fewer than two units, 1 by convention for a single class.
    """
    classes = tables.sum(axis=1) + tables.sum(axis=2)
    values = classes.sum(axis=1)
    disagreeing = values - 2 * np.trace(tables, axis1=1, axis2=2)
    chance = values**2 - (classes**2).sum(axis=1)
    alpha = 1 - np.divide((values - 1) * disagreeing, chance, out=np.zeros(len(tables)), where=chance > 0)
    return np.where(values >= 4, alpha, np.nan)


def clustered_interval_alpha(
    ratings: npt.ArrayLike, clusters: Clusters, **options: Unpack[ResamplingOptions]
) -> Estimate:
    """`interval_alpha` with its bootstrap interval clustered by question; `clusters` has the question of each unit.

    With n values in units that have at least two, alpha is `1 - (n - 1) * sum over units of the squared differences
    within, each divided by the unit's number of values less one, / squared differences of all values` (Krippendorff,
    2011, as above). Each sum is one over units, so that all rounds are one matrix product.
    """
    how = Resampling(**options)
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(clusters):
        raise ValueError(f"need one column per cluster id: ratings of shape {table.shape}, {len(clusters)} clusters")
    known = ~np.isnan(table)
    paired = known.sum(axis=0) >= 2
    names = [name for name, kept in zip(clusters, paired, strict=True) if kept]
    if len(names) < _FEWEST_UNITS:
        return undefined(len(names), len(set(names)), how)
    sums = cluster_counts(names, _moments(table[:, paired], known[:, paired]))
    return counted_estimate(_alpha, sums, len(names), how)


def _moments(table: Floats, known: Flags) -> Floats:
    """Of each unit the number, sum and sum of squares of its values, and its differences, shape (units, 4)."""
    values = np.where(known, table - np.nanmean(table), 0.0)  # alpha does not depend on the origin, rounding does
    number, total, squares = known.sum(axis=0), values.sum(axis=0), (values**2).sum(axis=0)
    return np.stack([number, total, squares, 2 * (number * squares - total**2) / (number - 1)], axis=1)


def _alpha(sums: Floats) -> Floats:
    number, total, squares, within = sums.T
    every = 2 * (number * squares - total**2)
    varies = every > 1e-12 * np.maximum(1.0, number * squares)
    return np.asarray(
        1 - np.divide((number - 1) * within, every, out=np.zeros(len(sums)), where=varies), dtype=np.float64
    )


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa of two raters (Cohen, "A Coefficient of Agreement for Nominal Scales", 1960).

    `(p_o - p_e) / (1 - p_e)` with the share of agreement `p_o` and that expected by chance from each rater's own shares
    `p_e`: 1 for perfect agreement, 0 for agreement by chance. NaN without units, and where both raters only ever name
    the same one class.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} classes by one rater, {len(second)} by the other")
    n = len(first)
    counts, other_counts = Counter(first), Counter(second)
    chance = sum(counts[name] * other_counts[name] for name in counts)
    if n == 0 or chance == n * n:
        return math.nan
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    return (agreed * n - chance) / (n * n - chance)


def wilson_interval(share: float, n: int, level: float = LEVEL) -> Estimate:
    """A share (0 to 1) of n independent trials, and its two-sided score interval (Wilson, "Probable Inference", 1927).

    It has a width at 0 and 1 too; NaN without trials. For several trials per question, `share` is the mean of the
    questions' shares and `n` their number: the interval is then no narrower than it should be, because a share within a
    question varies less than a single trial.
    """
    check_level(level)
    if n < 0 or (n and not 0 <= share <= 1):
        raise ValueError(f"a share lies from 0 to 1 over at least 0 trials, got {share} over {n}")
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0, level, rounds=0)
    from scipy.special import ndtri

    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    margin = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    # The share lies within by algebra; rounding may put it outside at 0 and 1.
    low, high = max(0.0, min(share, centre - margin)), min(1.0, max(share, centre + margin))
    return Estimate(share, low, high, n, n, level, rounds=0)
