"""Means over items that come in clusters."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED, Estimate, bootstrap_counts, cluster_counts, estimates


def clustered_mean(
    values: npt.ArrayLike,
    clusters: Sequence[Any] | npt.NDArray[Any],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> Estimate:
    """Mean of the values that are there, with its bootstrap interval clustered by prompt.

    Args:
        values: Values, NaN where an item has none, shape (N,).
        clusters: Id of each item's prompt, shape (N,).
        rounds: Rounds of the bootstrap.
        level: Confidence level of the interval.
        seed: Seed of the bootstrap.

    Returns:
        The mean in the unit of the values; NaN if there are none.
    """
    given = np.asarray(values, dtype=np.float64)
    if given.shape != (len(clusters),):
        raise ValueError(f"need one value a cluster id: got {given.shape} and {len(clusters)}")
    there = ~np.isnan(given)
    names = [name for name, kept in zip(clusters, there, strict=True) if kept]
    if not names:
        return Estimate(np.nan, np.nan, np.nan, 0, 0, level, rounds, seed)
    sums = cluster_counts(names, np.stack([given[there], np.ones(len(names))], axis=1))
    draws = bootstrap_counts(sums, rounds, seed)
    total, n = sums.sum(axis=0)
    [found] = estimates(
        [total / n], draws[:, :1] / draws[:, 1:], n=[len(names)], clusters=[len(sums)], level=level, seed=seed
    )
    return found
