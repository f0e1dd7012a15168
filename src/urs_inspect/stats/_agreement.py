"""Agreement among raters.

Krippendorff's alpha and the score interval of a share.
"""

import math
from collections.abc import Sequence
from itertools import compress
from typing import Unpack

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import (
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

    1 less the observed by the expected disagreement: the squared differences within units, each
    unit weighted by its number of ratings, by those of all pairs of ratings (Krippendorff,
    "Computing Krippendorff's Alpha-Reliability", 2011, interval metric).

    Args:
        ratings: One row per rater, one column per unit, shape (raters, units); NaN where a rater
            gave no rating.

    Returns:
        1 for perfect agreement, 0 for agreement by chance, below 0 for systematic disagreement; NaN
        if fewer than two units have two ratings. When all ratings are equal, alpha is 1 by
        convention.

    Examples:
        >>> from urs_inspect.stats import interval_alpha
        >>> interval_alpha([[1, 2, 3], [1, 2, 3]])
        1.0
    """
    units = list(zip(*ratings, strict=True))
    table = np.array(units, dtype=np.float64).reshape(len(units), len(ratings)).T
    return clustered_interval_alpha(table, range(len(units)), rounds=0).value


def nominal_alpha(tables: Floats) -> Floats:
    """Krippendorff's alpha with the nominal distance, for many tables at once.

    Each table is of two raters without gaps.

    `tables` has how often the raters gave each pair of classes, shape (R, K, K) -> (R,). With 2N
    values, of which n_c are of class c, alpha is `1 - (2N - 1) * (values that disagree) / ((2N)^2 -
    sum of n_c^2)` (Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011); NaN with
    fewer than two units, 1 by convention for a single class.
    """
    classes = tables.sum(axis=1) + tables.sum(axis=2)
    values = classes.sum(axis=1)
    agreeing = 2 * np.trace(tables, axis1=1, axis2=2)
    observed = (values - 1) * (values - agreeing)
    chance = values**2 - (classes**2).sum(axis=1)
    none = np.zeros(len(tables))
    share = np.divide(observed, chance, out=none, where=chance > 0)
    alpha = 1 - share
    return np.where(values >= 4, alpha, np.nan)


def clustered_interval_alpha(
    ratings: npt.ArrayLike, clusters: Clusters, **options: Unpack[ResamplingOptions]
) -> Estimate:
    """`interval_alpha` with its bootstrap interval clustered by question.

    `clusters` has the question of each unit.

    With n values in units that have at least two, alpha is `1 - (n - 1) * sum over units of the
    squared differences within, each divided by the unit's number of values less one, / squared
    differences of all values` (Krippendorff, 2011, as above). Each sum is one over units, so that
    all rounds are one matrix product.
    """
    how = Resampling(**options)
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(clusters):
        raise ValueError(
            f"need one column per cluster id: ratings of shape {table.shape}, {len(clusters)}"
            " clusters"
        )
    known = ~np.isnan(table)
    paired = known.sum(axis=0) >= 2
    names = list(compress(clusters, paired))
    if len(names) < _FEWEST_UNITS:
        return undefined(len(names), len(set(names)), how)
    moments = _moments(table[:, paired], known[:, paired])
    sums = cluster_counts(names, moments)
    return counted_estimate(_alpha, sums, len(names), how)


def _moments(table: Floats, known: Flags) -> Floats:
    """Number, sum, sum of squares and differences of each unit's values, shape (units, 4)."""
    # Alpha does not depend on the origin, rounding does.
    centred = table - np.nanmean(table)
    values = np.where(known, centred, 0.0)
    number = known.sum(axis=0)
    total = values.sum(axis=0)
    squares = (values**2).sum(axis=0)
    differences = 2 * (number * squares - total**2)
    within = differences / (number - 1)
    return np.stack([number, total, squares, within], axis=1)


def _alpha(sums: Floats) -> Floats:
    number, total, squares, within = sums.T
    every = 2 * (number * squares - total**2)
    size = np.maximum(1.0, number * squares)
    varies = every > 1e-12 * size
    none = np.zeros(len(sums))
    observed = (number - 1) * within
    shares = np.divide(observed, every, out=none, where=varies)
    return np.asarray(1 - shares, dtype=np.float64)


def wilson_interval(share: float, n: int, level: float = LEVEL) -> Estimate:
    """A share (0 to 1) of n independent trials, and its two-sided score interval.

    Source: Wilson, "Probable Inference", 1927.

    It has a width at 0 and 1 too; NaN without trials. For several trials per question, `share` is
    the mean of the questions' shares and `n` their number: the interval is then no narrower than it
    should be, because a share within a question varies less than a single trial.
    """
    check_level(level)
    if n < 0 or (n and not 0 <= share <= 1):
        raise ValueError(f"a share lies from 0 to 1 over at least 0 trials, got {share} over {n}")
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0, level, rounds=0)
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    z2 = z**2
    whole = 1 + z2 / n
    variance = share * (1 - share) / n
    centre = (share + z2 / (2 * n)) / whole
    wider = variance + z2 / (4 * n**2)
    margin = math.sqrt(z2 * wider) / whole
    # The share lies within by algebra; rounding may put it outside at 0 and 1.
    low = max(0.0, min(share, centre - margin))
    high = min(1.0, max(share, centre + margin))
    return Estimate(share, low, high, n, n, level, rounds=0)
