"""Sums and differences of means, over the resamples in which the means were taken."""

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.mean_columns import MeanDraws


def contrast(found: MeanDraws, weights: npt.ArrayLike) -> MeanDraws:
    """Weighted sums of means, round by round.

    Args:
        found: K means and their rounds.
        weights: Weights of the means in each of J sums, shape (K, J). A mean with weight 0 takes no part, even where it
            is not defined.

    Returns:
        The J sums and their rounds; NaN where no mean, or one that is not defined, takes part. The number of questions
        behind a sum is the smallest of those behind its means.
    """
    table = np.asarray(weights, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(found.values):
        raise ValueError(f"need one row of weights a mean: {len(found.values)} means, weights of shape {table.shape}")
    sums = [_sum(found, column) for column in table.T]
    rounds = len(found.draws)
    return MeanDraws(
        np.array([value for value, _, _ in sums], dtype=np.float64),
        np.stack([draws for _, draws, _ in sums], axis=1) if sums else np.empty((rounds, 0)),
        np.array([n for _, _, n in sums], dtype=np.int64),
        found.seed,
    )


def _sum(found: MeanDraws, weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64], int]:
    part = np.flatnonzero(weights)
    if not len(part):
        return np.nan, np.full(len(found.draws), np.nan), 0
    return (
        float(found.values[part] @ weights[part]),
        found.draws[:, part] @ weights[part],
        int(found.n[part].min()),
    )
