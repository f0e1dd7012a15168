"""Krippendorff's alpha of ratings, with an interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import (
    LEVEL,
    ROUNDS,
    SEED,
    Estimate,
    Floats,
    bootstrap_counts,
    cluster_counts,
    estimates,
)

_FEWEST_UNITS = 2


def clustered_interval_alpha(
    ratings: npt.ArrayLike,
    clusters: Sequence[Any] | npt.NDArray[Any],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> Estimate:
    """Krippendorff's alpha with the interval distance, and its bootstrap interval clustered by question.

    With n values in units that have at least two, alpha is `1 - (n - 1) * sum over units of the squared differences
    within, each divided by the unit's number of values less one, / squared differences of all values` (Krippendorff,
    "Computing Krippendorff's Alpha-Reliability", 2011). Each sum is one over units, so that all rounds are one matrix
    product.

    Args:
        ratings: One row a rater, one column a unit, shape (raters, units); NaN where a rater gave no rating.
        clusters: Id of each unit's question, shape (units,).
        rounds: Rounds of the bootstrap.
        level: Confidence level of the interval.
        seed: Seed of the bootstrap.

    Returns:
        1 for perfect agreement, 0 for agreement by chance, below 0 for systematic disagreement, over `n` units; NaN if
        fewer than two units have two ratings. When all ratings are equal, alpha is 1 by convention.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(clusters):
        raise ValueError(f"need one column a cluster id: ratings of shape {table.shape}, {len(clusters)} clusters")
    there = ~np.isnan(table)
    paired = there.sum(axis=0) >= _FEWEST_UNITS
    names = [name for name, kept in zip(clusters, paired, strict=True) if kept]
    if len(names) < _FEWEST_UNITS:
        return Estimate(np.nan, np.nan, np.nan, len(names), len(set(names)), level, rounds, seed)
    sums = cluster_counts(names, _moments(table[:, paired], there[:, paired]))
    draws = bootstrap_counts(sums, rounds, seed)
    [found] = estimates(
        _alpha(sums.sum(axis=0)[None, :]),
        _alpha(draws)[:, None],
        n=[len(names)],
        clusters=[len(sums)],
        level=level,
        seed=seed,
    )
    return found


def _moments(table: Floats, there: npt.NDArray[np.bool_]) -> Floats:
    """Of each unit the number, sum and sum of squares of its values, and its differences, shape (units, 4)."""
    values = np.where(there, table - np.nanmean(table), 0.0)  # alpha does not depend on the origin, rounding does
    number, total, squares = there.sum(axis=0), values.sum(axis=0), (values**2).sum(axis=0)
    return np.stack([number, total, squares, 2 * (number * squares - total**2) / (number - 1)], axis=1)


def _alpha(sums: Floats) -> Floats:
    number, total, squares, within = sums.T
    every = 2 * (number * squares - total**2)
    varies = every > 1e-12 * np.maximum(1.0, number * squares)
    return np.asarray(
        1 - np.divide((number - 1) * within, every, out=np.zeros(len(sums)), where=varies), dtype=np.float64
    )
