"""How far a judge's rating of a model is from the score of a reference by the same model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED, Estimate
from urs_inspect.rating.mean_columns import MeanColumn, bootstrap_means, mean_estimates
from urs_inspect.rating.mean_contrasts import contrast

REFERENCE_SCORE = 8
"""The score that a reference answer is worth (URS paper, section 4.1)."""


@dataclass(frozen=True)
class RatingBias:
    """Rating bias of one judge.

    Attributes:
        bias: Mean over models of the mean rating less the score of the reference; positive for a judge that rates too
            high.
        by_model: The same for each model by itself, NaN where the judge rated none of its answers.
    """

    bias: Estimate
    by_model: tuple[Estimate, ...]


def bias_of_means(means: Sequence[float], reference_score: float = REFERENCE_SCORE) -> float:
    """Equation 1 of the URS paper from means alone.

    Args:
        means: Mean rating of each model B that has one, with the references by B.
        reference_score: What a reference is worth.

    Returns:
        Mean of the means, less the score of the reference; NaN without means.
    """
    return math.fsum(means) / len(means) - reference_score if means else math.nan


def rating_bias(
    ratings: npt.ArrayLike,
    reference_score: float = REFERENCE_SCORE,
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> RatingBias:
    """Rating bias of one judge (URS paper, Appendix D.4, Equation 1), with intervals over cases.

    The answer and the reference are two outputs of one model B, so that a judge that is calibrated gives the score of
    the reference on average. Each model weighs the same, however many of its answers could be rated.

    Args:
        ratings: Ratings of the answer of model B with a reference by B, a row a case and a column a model, NaN where
            there is none, shape (N, B).
        reference_score: What a reference is worth.
        rounds: Rounds of the bootstrap over cases.
        level: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        The bias, in points of the scale; NaN throughout without ratings.
    """
    table = np.asarray(ratings, dtype=np.float64) - reference_score
    if table.ndim != 2:
        raise ValueError(f"need a row a case and a column a model, got shape {table.shape}")
    [found] = bootstrap_means([MeanColumn(np.arange(len(table)), table)], len(table), rounds=rounds, seed=seed)
    rated = ~np.isnan(found.values)
    weights = rated / max(1, np.count_nonzero(rated))
    [bias] = mean_estimates(contrast(found, weights[:, None]), level)
    return RatingBias(bias, mean_estimates(found, level))
