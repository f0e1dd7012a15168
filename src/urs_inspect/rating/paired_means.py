"""Differences of models on the same questions: which are significant, and what that means for ranks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED, Estimate, Floats, Integers
from urs_inspect.rating.mean_columns import MeanColumn, MeanDraws, Reweight, bootstrap_means, mean_estimates, p_values
from urs_inspect.rating.paired import holm

Pair = tuple[int, int]
"""Numbers of two models."""


@dataclass(frozen=True)
class MeanDifference:
    """Two models on the questions that both have a score for.

    Attributes:
        first: Number of the first model.
        second: Number of the second.
        difference: Mean of first less second, with its interval.
        p: Two-sided bootstrap p-value of no difference, 0 to 1; NaN with fewer than two common questions.
        p_holm: The same after Holm's correction over all pairs.
        p_worst: The same for the claim that the first is better, if each missing score of the first were the lowest
            possible one and each of the second the highest, over all questions; `p_holm` where no score is missing.
        significant: Whether `p_worst` is below 1 less the level.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    p_holm: float
    p_worst: float
    significant: bool


def all_pairs(models: int) -> list[Pair]:
    """Every two of some models, in order."""
    return list(combinations(range(models), 2))


def difference_column(
    values: npt.ArrayLike,
    pairs: Sequence[Pair],
    less: npt.ArrayLike | None = None,
    questions: Integers | None = None,
) -> MeanColumn:
    """Differences of pairs of models, question by question, for `bootstrap_means`.

    Args:
        values: One column a model, NaN where there is no score, shape (Q, M).
        pairs: Numbers of the first and second model of each of P pairs.
        less: What is subtracted, of the same shape; by default `values`. For the worst case of the claim that the
            first is better, `values` has the lowest score in place of each missing one, and `less` the highest.
        questions: Numbers of the questions, shape (Q,); by default 0 to Q - 1.

    Returns:
        First less second, shape (Q, P).
    """
    table = np.asarray(values, dtype=np.float64)
    other = table if less is None else np.asarray(less, dtype=np.float64)
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return MeanColumn(np.arange(len(table)) if questions is None else questions, table[:, first] - other[:, second])


def mean_differences(
    found: MeanDraws,
    pairs: Sequence[Pair],
    level: float = LEVEL,
    *,
    worst: Floats | None = None,
    selection: float = 1.0,
    scale: tuple[float, float] | None = None,
) -> tuple[MeanDifference, ...]:
    """Test pairs of models.

    A difference is significant only if it survives the worst case of the missing scores (Manski, "Partial
    Identification of Probability Distributions", 2003), whatever made them missing: the p-value behind the claim is the
    larger one of that over the scores that exist and that of the worst case, corrected by Holm.

    Args:
        found: What `bootstrap_means` made of the `difference_column` of the pairs.
        pairs: The pairs.
        level: Confidence level of the intervals; a difference is significant where the corrected p-value is below 1
            less this.
        worst: p-value of each claim in the worst case of the missing scores, as from `worst_p_values`; NaN where none
            is missing. By default none is.
        selection: What corrected p-values are multiplied with because the pairs were chosen by the same data. For the
            comparisons of M models with the one whose mean is highest it is M / 2: each of the M models could have been
            that one, and a claim has one direction only.
        scale: Lowest and highest possible difference.

    Returns:
        One result a pair.
    """
    p = p_values(found)
    claim = p if worst is None else np.fmax(p, np.where(np.isnan(p), np.nan, worst))
    corrected, survived = (np.minimum(1.0, selection * np.array(holm(one.tolist()))) for one in (p, claim))
    return tuple(
        MeanDifference(first, second, estimate, raw, adjusted, last, last < 1 - level)
        for (first, second), estimate, raw, adjusted, last in zip(
            pairs,
            mean_estimates(found, level, scale),
            p.tolist(),
            corrected.tolist(),
            survived.tolist(),
            strict=True,
        )
    )


def worst_p_values(found: MeanDraws) -> Floats:
    """p-values of the claims that the first of each pair is better, in the worst case of the missing scores.

    Args:
        found: What `bootstrap_means` made of the `difference_column` of lowest and highest scores.

    Returns:
        Two-sided p-values; 1 where the worst case has the other sign, which no claim survives.
    """
    return np.where(found.values > 0, p_values(found), 1.0)


def compare_means(
    values: npt.ArrayLike,
    *,
    reweight: Reweight | None = None,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> tuple[MeanDifference, ...]:
    """Compare the means of all pairs of models, each over the questions that both have a value for.

    Args:
        values: One row per question, one column per model, shape (Q, M); NaN where there is no value, for reasons that
            must have nothing to do with it.
        reweight: As for `bootstrap_means`.
        rounds: Rounds of the bootstrap, in which whole questions are drawn.
        level: Confidence level.
        seed: Seed of the bootstrap.

    Returns:
        All pairs, in the order of `all_pairs`.
    """
    table = np.asarray(values, dtype=np.float64)
    pairs = all_pairs(table.shape[1])
    column = difference_column(table, pairs)
    [found] = bootstrap_means([column], len(table), reweight=reweight, rounds=rounds, seed=seed)
    return mean_differences(found, pairs, level)


def rank_intervals(models: int, better: Iterable[Pair]) -> tuple[Pair, ...]:
    """Ranks that models may have, given which differences are significant.

    Args:
        models: Number of models M.
        better: For each significant difference the better model, then the worse one.

    Returns:
        For each model the ranks from 1 + the number of models that are significantly better to M - the number of those
        that are significantly worse.
    """
    first, last = [1] * models, [models] * models
    for winner, loser in better:
        first[loser] += 1
        last[winner] -= 1
    return tuple(zip(first, last, strict=True))
