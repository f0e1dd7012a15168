"""Differences of models on the same questions, and which of them can be told apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED, Estimate
from urs_inspect.rating.mean_columns import MeanColumn, MeanDraws, Reweight, bootstrap_means, mean_estimates, p_values
from urs_inspect.rating.paired import holm


@dataclass(frozen=True)
class MeanDifference:
    """Two columns on the questions that both have a value for.

    Attributes:
        first: Number of the first column.
        second: Number of the second.
        difference: Mean of first less second, with its interval.
        p: Two-sided bootstrap p-value of no difference, 0 to 1; NaN with fewer than two common questions.
        p_holm: The same after Holm's correction over all pairs.
        apart: Whether `p_holm` is below 1 less the level.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    p_holm: float
    apart: bool


def difference_column(values: npt.ArrayLike) -> MeanColumn:
    """Differences of each two columns, question by question, for `bootstrap_means`.

    Args:
        values: One column a model, NaN where there is no value, shape (Q, M).

    Returns:
        First less second for all pairs in the order of `itertools.combinations`, shape (Q, M * (M - 1) / 2).
    """
    table = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(table.shape[1], 1)
    return MeanColumn(np.arange(len(table)), table[:, first] - table[:, second])


def mean_differences(found: MeanDraws, models: int, level: float = LEVEL) -> tuple[MeanDifference, ...]:
    """Test all pairs of models.

    Args:
        found: What `bootstrap_means` made of the `difference_column` of all models.
        models: Number of models M.
        level: Confidence level of the intervals; pairs are apart where the corrected p-value is below 1 less this.

    Returns:
        All pairs, in the order of `itertools.combinations`.
    """
    p = p_values(found).tolist()
    corrected = holm(p)
    return tuple(
        MeanDifference(first, second, estimate, raw, adjusted, adjusted < 1 - level)
        for (first, second), estimate, raw, adjusted in zip(
            combinations(range(models), 2), mean_estimates(found, level), p, corrected, strict=True
        )
    )


def compare_means(
    values: npt.ArrayLike,
    *,
    reweight: Reweight | None = None,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> tuple[MeanDifference, ...]:
    """Compare the means of all pairs of models on the same questions.

    Args:
        values: One row a question, one column a model, NaN where there is no value, shape (Q, M).
        reweight: As for `bootstrap_means`.
        rounds: Rounds of the bootstrap, in which whole questions are drawn.
        level: Confidence level.
        seed: Seed of the bootstrap.

    Returns:
        All pairs, in the order of `itertools.combinations`.
    """
    table = np.asarray(values, dtype=np.float64)
    [found] = bootstrap_means([difference_column(table)], len(table), reweight=reweight, rounds=rounds, seed=seed)
    return mean_differences(found, table.shape[1], level)


def tiers_of(models: int, differences: Sequence[MeanDifference]) -> tuple[int, ...]:
    """Divide models into tiers no two members of which can be told apart.

    Args:
        models: Number of models, the best first.
        differences: Their differences, by these numbers.

    Returns:
        The tier of each model, from 1. A new one begins at the first model that can be told apart from a member of the
        current one; neighbours across the border of two tiers need not be apart.
    """
    apart = {frozenset((one.first, one.second)) for one in differences if one.apart}
    tiers: list[int] = []
    current: list[int] = []
    for model in range(models):
        if any(frozenset((model, other)) in apart for other in current):
            current = []
        tiers.append(tiers[-1] + (not current) if tiers else 1)
        current.append(model)
    return tuple(tiers)
