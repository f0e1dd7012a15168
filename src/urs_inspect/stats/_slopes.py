"""A slope through the origin with its interval, for pairs that were made to differ in one thing."""

import math

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import (
    LEVEL,
    Clusters,
    Estimate,
    fewest_clusters,
    number_clusters,
    student_estimate,
)


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
    given = np.asarray(x, dtype=float)
    followed = np.asarray(y, dtype=float)
    square = float(given @ given)
    groups = len(set(clusters))
    slope = math.nan
    if square:
        slope = float(given @ followed) / square
    error = math.nan
    if square and groups >= fewest_clusters(level):
        residuals = followed - slope * given
        numbers = number_clusters(clusters)
        sums = np.bincount(numbers, weights=given * residuals)
        spread = float(sums @ sums)
        error = math.sqrt(spread * groups / (groups - 1)) / square
    return student_estimate(slope, error, len(given), groups, level)
