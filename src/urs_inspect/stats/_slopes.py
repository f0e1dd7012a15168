"""A slope through the origin with its interval, for pairs that were made to differ in one thing."""

import math

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import LEVEL, Clusters, Estimate, fewest_clusters, number_clusters


def slope_through_origin(
    x: npt.ArrayLike, y: npt.ArrayLike, clusters: Clusters, level: float = LEVEL
) -> Estimate:
    """What each unit of x adds to y, by least squares through the origin.

    The interval is Student's with C - 1 degrees of freedom over C clusters and the clustered
    standard error with the factor C / (C - 1) (CR1; Cameron and Miller, "A Practitioner's Guide to
    Cluster-Robust Inference", 2015, section 2.2).

    Args:
        x: What was changed, one number per pair.
        y: What followed.
        clusters: Id of each pair's cluster, such as its question.
        level: Confidence level.

    Returns:
        The slope; NaN if all of x are 0, without bounds over too few clusters for an interval.
    """
    from scipy.special import stdtrit

    given = np.asarray(x, dtype=float)
    followed = np.asarray(y, dtype=float)
    square = float(given @ given)
    numbers = number_clusters(clusters)
    groups = len(set(clusters))
    slope = math.nan
    if square:
        slope = float(given @ followed) / square
    if math.isnan(slope) or groups < fewest_clusters(level):
        return Estimate(slope, math.nan, math.nan, len(given), groups, level)
    residuals = followed - slope * given
    sums = np.bincount(numbers, weights=given * residuals, minlength=groups)
    sum_of_squares = float(sums @ sums)
    error = math.sqrt(sum_of_squares * groups / (groups - 1)) / square
    quantile = float(stdtrit(groups - 1, 0.5 + level / 2))
    half = quantile * error
    return Estimate(slope, slope - half, slope + half, len(given), groups, level)


def error_of(estimate: Estimate) -> float:
    """The standard error of a slope, from its bounds."""
    from scipy.special import stdtrit

    half = (estimate.high - estimate.low) / 2
    freedom = estimate.clusters - 1
    quantile = float(stdtrit(freedom, 0.5 + estimate.level / 2))
    return half / quantile
