"""Bounds for a gate, for one look or for all, the decision that they make, and its power."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import Floats, Integers
from urs_inspect.stats._paired import cluster_sums, clustered_means
from urs_inspect.stats._power import FEWEST, POWER, fewest_questions


@dataclass(frozen=True)
class MeanBounds:
    """Means of P columns of differences with one-sided bounds, shape (P,) each."""

    values: Floats  # means of the known differences
    errors: Floats  # their clustered standard errors
    low: Floats  # NaN over fewer than `FEWEST` clusters, or than a confidence sequence needs
    high: Floats
    halves: Floats  # what the bounds lie from the mean where differences are symmetric
    n: Integers  # known differences
    clusters: Integers
    unseen: Floats  # part of `halves` that is for differences too rare to have been drawn


_MIXTURE = 12.5
"""Weight of the prior, in clusters.

Bounds are narrowest, beside those for one look, near 100 clusters.
"""


def mean_bounds(
    differences: npt.ArrayLike,
    clusters: Integers | None = None,
    *,
    reach: float,
    level: float = 0.95,
    sequential: bool = False,
) -> MeanBounds:
    """One-sided bounds of means of paired differences.

    They hold also where large differences are rare.

    Student's t of the clustered mean with two changes. The bounds move by `skew * (1 + 2 t^2) / 6 *
    error / sqrt(C)` (Hall, "On the Removal of Skewness by Transformation", 1992, the first term).
    The half-width is `hypot(t * error, log(1 / alpha) * reach / C * sqrt(1 - f))`: the second part
    is the rule of three (Hanley and Lippman-Hand, "If Nothing Goes Wrong, Is Everything All
    Right?", 1983) for differences that were not drawn, which may be as large as the scale allows. f
    is the mean square of the clusters' sums over that of the largest possible ones: for scores of
    two values the share of samples that changed.

    With `sequential`, t is that of Lai's confidence sequence with a normal mixture (Wang and
    Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
    variance", 2023), exact for normal differences: the bounds hold at all looks together, however
    many there are and whatever ends them. They move only outwards.

    Differences and clusters are as for `clustered_means`; `reach` is the largest possible
    difference. Alpha is 1 less the level of one bound, which is from 0.5 to 1.
    """
    means = clustered_means(differences, clusters)
    sums, counts = cluster_sums(differences, clusters)
    there = np.maximum(means.clusters, 2)
    n = np.maximum(means.n, 1)
    chances, quantiles = _chances_and_quantiles(there, level, sequential)

    mean_square = (sums**2).sum(axis=0) / there
    largest = reach * n / there
    share_reached = mean_square / largest**2
    share_unseen = np.maximum(0.0, 1 - share_reached)
    unseen = -np.log(chances) * reach / there * np.sqrt(share_unseen)
    has_too_few = means.clusters < FEWEST
    unseen = np.where(has_too_few, np.nan, unseen)

    is_rounding = means.errors <= 1e-12 * np.abs(means.values)  # the differences are equal
    errors = np.where(is_rounding, 0.0, means.errors)
    spread = errors > 0
    margins = np.where(spread, quantiles, 0.0) * np.nan_to_num(errors)
    halves = np.hypot(margins, unseen)

    residuals = sums - np.nan_to_num(means.values) * counts
    squares = (residuals**2).sum(axis=0)
    cubes = (residuals**3).sum(axis=0)
    skew = cubes / np.where(spread, squares, np.inf)
    shift = skew * (1 + 2 * quantiles**2) / 6 / n
    down = shift
    up = shift
    if sequential:
        down = np.minimum(shift, 0)
        up = np.maximum(shift, 0)
    return MeanBounds(
        values=means.values,
        errors=errors,
        low=means.values + down - halves,
        high=means.values + up + halves,
        halves=halves,
        n=means.n,
        clusters=means.clusters,
        unseen=unseen,
    )


def _chances_and_quantiles(
    clusters: Integers,
    level: float,
    sequential: bool,
) -> tuple[Floats, Floats]:
    """Alpha, and standard errors of a bound from the mean, for each number of clusters."""
    from scipy.special import stdtrit

    freedom = clusters - 1
    if not sequential:
        alpha = np.full(clusters.shape, 1 - level)
        return alpha, np.asarray(stdtrit(freedom, level), dtype=np.float64)
    with_prior = clusters + _MIXTURE
    alpha = (1 - level) * np.sqrt(_MIXTURE / with_prior)
    exponent = 2 * np.log(2 * alpha) / clusters
    share = -np.expm1(exponent) * with_prior / clusters  # of the sum of squares
    left = np.maximum(1 - share, 1e-9)
    quantiles = np.sqrt(freedom * share / left)
    return alpha, np.where(share < 1, quantiles, np.nan)


def verdicts(
    low: Floats,
    high: Floats,
    margin: float,
    different: npt.NDArray[np.bool_] | None = None,
) -> Integers:
    """Verdicts on whether new is worse than base, of any shape.

    0 if it is shown to be not worse by more than the margin, else 1 if it is shown to be worse,
    else 2.

    `low` and `high` are one-sided bounds of new less base. For equivalence, `different` says where
    the two-sided interval leaves out 0: then 0 takes both bounds inside the margin, which is two
    one-sided tests (Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the Power
    Approach", 1987), and 1 says that the two differ.
    """
    passes = low > -margin
    fails = high < 0
    if different is not None:
        passes = passes & (high < margin)
        fails = different
    if_not_passed = np.where(fails, 1, 2)
    return np.where(passes, 0, if_not_passed)


def pass_power(
    margin: float, half: float, error: float, clusters: int, *, equivalent: bool = False
) -> float:
    """How often so many samples pass a margin if the two are equal, by Student's t, 0 to 1.

    NaN without a spread.
    """
    from scipy.special import stdtr

    if not error > 0 or math.isnan(half):
        return math.nan
    freedom = clusters - 1
    room_in_errors = (margin - half) / error
    chance = float(stdtr(freedom, room_in_errors))
    if equivalent:
        return max(0.0, 2 * chance - 1)
    return chance


def passing_margin(half: float, error: float, clusters: int, *, equivalent: bool = False) -> float:
    """The margin that equals pass with power `POWER`, the inverse of `pass_power`."""
    from scipy.special import stdtrit

    chance = POWER
    if equivalent:
        chance = (1 + POWER) / 2
    quantile = float(stdtrit(clusters - 1, chance))
    return half + quantile * error


def questions_to_pass(
    margin: float,
    error: float,
    n: int,
    clusters: int,
    *,
    unseen: float,
    level: float,
    sequential: bool,
    equivalent: bool = False,
) -> int | None:
    """Samples, in clusters as large as now, with which equals pass with power `POWER`.

    None where none suffice.

    `error` and `unseen` are those of `MeanBounds` over the n samples there are.
    """
    if not error > 0:
        return None
    alpha_now, _ = _chances_and_quantiles(np.array(clusters), level, sequential)
    log_now = math.log(float(alpha_now))

    def passing(there: int) -> float:
        if there < FEWEST:
            return math.nan
        alpha, quantile = _chances_and_quantiles(np.array(there), level, sequential)
        log_there = math.log(float(alpha))
        error_there = error * math.sqrt(clusters / there)
        unseen_there = unseen * clusters / there * log_there / log_now
        half = math.hypot(float(quantile) * error_there, unseen_there)
        return passing_margin(half, error_there, there, equivalent=equivalent)

    return fewest_questions(margin, passing, n, clusters)


def score_slope(base: Floats, new: Floats, clusters: Integers) -> tuple[float, float]:
    """Whether the shift from base to new depends on the score (Bland and Altman, 1986).

    Slope and two-sided p-value.

    The slope of new less base on the mean of both, which is 0 where both spread alike, tested by
    its clustered error and t with C - 1 degrees of freedom. NaN over fewer than `FEWEST` clusters,
    or where no slope is defined.
    """
    from scipy.special import stdtr

    known = ~np.isnan(base + new)
    shifts = (new - base)[known]
    levels = ((base + new) / 2)[known]
    there = len(np.unique(clusters[known]))
    if there < FEWEST or np.ptp(levels) < 1e-9:
        return math.nan, math.nan
    levels = levels - levels.mean()
    square = float(levels @ levels)
    slope = float(levels @ shifts) / square
    residuals = shifts - shifts.mean() - slope * levels
    scores = levels * residuals
    sums, _ = cluster_sums(scores[:, None], clusters[known])
    squares = float((sums**2).sum())
    error = math.sqrt(there / (there - 1) * squares) / square
    if error > 1e-12:
        tail = float(stdtr(there - 1, -abs(slope) / error))
        return slope, 2 * tail
    return slope, float(abs(slope) < 1e-9)
