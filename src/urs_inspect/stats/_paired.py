"""Paired tests and differences of means on the same questions."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Unpack

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import (
    LEVEL,
    Clusters,
    Estimate,
    Floats,
    Integers,
    Resampling,
    ResamplingOptions,
    Scale,
    cluster_counts,
    number_clusters,
    ratio,
)
from urs_inspect.stats._means import (
    MeanColumn,
    MeanDraws,
    Reweight,
    bootstrap_means,
    mean_estimates,
    p_values,
    standard_errors,
)


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p-value of McNemar's test.

    It takes how many items only the first and only the second has right.

    How likely a fair coin divides the items on which two differ at least as unevenly; 1 if they
    differ on none.
    """
    from scipy.stats import binomtest

    discordant = only_first + only_second
    if not discordant:
        return 1.0
    return float(binomtest(only_first, discordant).pvalue)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values of several comparisons.

    Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.

    Args:
        p_values: One per comparison, 0 to 1; NaN where there was nothing to compare, which does not
            count as one.

    Returns:
        Adjusted p-values in the same order, 0 to 1. Calling those below 0.05 real keeps the chance
        of even one false claim below 5%.

    Examples:
        >>> from urs_inspect.stats import holm
        >>> holm([0.01, 0.04, 0.03])
        (0.03, 0.06, 0.06)
    """
    p = np.array(p_values, dtype=np.float64)
    from_low_to_high = np.argsort(p)  # NaN last
    known = np.count_nonzero(~np.isnan(p))
    remaining = known - np.arange(len(p))
    raised = np.maximum.accumulate(remaining * p[from_low_to_high])
    p[from_low_to_high] = np.minimum(1.0, raised)
    return tuple(p.tolist())


@dataclass(frozen=True)
class ClusteredMeans:
    """Means of P columns with their standard errors, shape (P,) each.

    The errors are clustered (CR1: the sandwich times C / (C - 1)). For clusters of one value they
    are those of the mean of independent values, `s / sqrt(n)`.
    """

    values: Floats  # means of the known values; NaN without any
    errors: Floats  # NaN with fewer than two clusters
    n: Integers  # numbers of known values
    clusters: Integers  # numbers of clusters C that these come from


def clustered_means(values: npt.ArrayLike, clusters: Integers | None = None) -> ClusteredMeans:
    """Mean and clustered standard error of columns.

    `values` has a row per question, NaN where there is no value, shape (N, P); `clusters` the
    number of each question's cluster, shape (N,). By default each question is one of its own.
    """
    sums, counts = cluster_sums(values, clusters)
    n = counts.sum(axis=0)
    there = np.count_nonzero(counts, axis=0)
    means = ratio(sums.sum(axis=0), n)
    residuals = sums - means * counts
    squares = (residuals**2).sum(axis=0)
    variances = ratio(there * squares, (there - 1) * n**2)
    return ClusteredMeans(
        values=means,
        errors=np.sqrt(variances),
        n=n.astype(np.int64),
        clusters=there,
    )


def cluster_sums(values: npt.ArrayLike, clusters: Integers | None) -> tuple[Floats, Floats]:
    """Sum and number of the known values of each cluster, shape (C, P) each."""
    table = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(table)
    sums = np.where(known, table, 0.0)
    counts = known.astype(np.float64)
    if clusters is None:
        return sums, counts
    return cluster_counts(clusters, sums), cluster_counts(clusters, counts)


FEW = 12
"""Up to so many clusters all 2^C ways to set the signs are tried."""


def paired_p_values(
    differences: npt.ArrayLike,
    clusters: Integers | None = None,
    means: ClusteredMeans | None = None,
) -> Floats:
    """Two-sided p-values of no difference, from differences as for `clustered_means`.

    NaN over fewer than two clusters.

    The exact sign-flip test over clusters where all differences that are not 0 are of one size and
    clusters are single questions, which for scores of two values is McNemar's exact test, and where
    there are at most `FEW` clusters; Student's t of the clustered mean, with C - 1 degrees of
    freedom, elsewhere. For single questions that is the paired t-test. `means` are the clustered
    means of the differences, where they are known already.
    """
    from scipy.special import stdtr

    sums, counts = cluster_sums(differences, clusters)
    if means is None:
        means = clustered_means(differences, clusters)
    is_spread = means.errors > 1e-12 * np.abs(means.values)
    errors = np.where(is_spread, means.errors, 0.0)
    t = np.abs(ratio(means.values, errors))
    freedom = np.maximum(means.clusters - 1, 1)
    p = 2 * stdtr(freedom, -t)
    for column, there in enumerate(means.clusters):
        known = counts[:, column] > 0
        given = sums[known, column]
        better = given > 1e-9
        worse = given < -1e-9
        sizes = np.abs(given[better | worse])
        is_one_size = not len(sizes) or np.ptp(sizes) <= 1e-9 * sizes[0]
        is_single = there == means.n[column]
        if there < 2:
            p[column] = np.nan
        elif is_single and is_one_size:
            wins = int(better.sum())
            losses = int(worse.sum())
            p[column] = mcnemar(wins, losses)
        elif there <= FEW:
            p[column] = _sign_flip(sizes, given.sum())
    return p


def _sign_flip(sizes: Floats, total: float) -> float:
    """Share of all ways to set the signs of some sizes whose sum is at least as large."""
    ways = np.arange(2 ** len(sizes))
    places = np.arange(len(sizes))
    is_negative = (ways[:, None] >> places) & 1
    signs = 1 - 2 * is_negative
    sums = np.abs(signs @ sizes)
    as_large = sums >= np.abs(total) - 1e-9
    return float(np.mean(as_large))


Pair = tuple[int, int]
"""Numbers of two models."""


@dataclass(frozen=True)
class MeanDifference:
    """Two models on the questions that both have a score for.

    Attributes:
        first: Number of the first model.
        second: Number of the second.
        difference: Mean of first less second, with its interval.
        p: Two-sided p-value of no difference, 0 to 1; NaN with fewer than two common questions.
        p_holm: The same after Holm's correction over all pairs.
        p_worst: The same for the claim that the first is better, if each missing score of the first
            were the lowest possible one and each of the second the highest, over all questions;
            `p_holm` where no score is missing.
        significant: Whether `p_worst` is below 1 less the level.
        error: Standard error of the difference.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    p_holm: float
    p_worst: float
    significant: bool
    error: float = math.nan


def all_pairs(models: int) -> list[Pair]:
    """Every two of some models, in order."""
    return list(combinations(range(models), 2))


def difference_column(
    values: npt.ArrayLike,
    pairs: Sequence[Pair],
    less: npt.ArrayLike | None = None,
    questions: Integers | None = None,
) -> MeanColumn:
    """Differences of P pairs of models, for `bootstrap_means`, shape (Q, P).

    They are first less second, question by question.

    `values` has a column per model, NaN where there is no score, shape (Q, M); `less`, by default
    the same, is what is subtracted. For the worst case of the claim that the first is better,
    `values` has the lowest score in place of each missing one, and `less` the highest. The
    questions are numbered from 0 by default.
    """
    table = np.asarray(values, dtype=np.float64)
    other = table
    if less is not None:
        other = np.asarray(less, dtype=np.float64)
    if questions is None:
        questions = np.arange(len(table))
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    first, second = places.T
    differences = table[:, first] - other[:, second]
    return MeanColumn(questions, differences)


def mean_differences(
    found: MeanDraws,
    pairs: Sequence[Pair],
    level: float = LEVEL,
    *,
    p: Floats | None = None,
    errors: Floats | None = None,
    worst: Floats | None = None,
    selection: float = 1.0,
    scale: Scale | None = None,
) -> tuple[MeanDifference, ...]:
    """Test pairs of models, from what `bootstrap_means` made of their `difference_column`.

    A difference is significant only if it survives the worst case of the missing scores (Manski,
    "Partial Identification of Probability Distributions", 2003), for any cause: the p-value behind
    the claim is the larger one of that over the scores that exist and that of the worst case,
    corrected by Holm.

    `p` and `errors` are as from `paired_p_values` and `clustered_means`; by default those of the
    rounds, which hold for weighted means as well. `worst` is as from `worst_p_values`, NaN where no
    score is missing, as by default none is. Corrected p-values are multiplied with `selection`,
    because the pairs were chosen by the same data. For the comparisons of M models with the one
    whose mean is highest it is M / 2: each of the M models could have been that one, and a claim
    has one direction only. `scale` has the lowest and highest possible difference.
    """
    if p is None:
        p = p_values(found)
    if errors is None:
        errors = standard_errors(found)
    claim = p
    if worst is not None:
        known_worst = np.where(np.isnan(p), np.nan, worst)
        claim = np.fmax(p, known_worst)
    corrected = _corrected(p, selection)
    survived = _corrected(claim, selection)
    differences = []
    for place, estimate in enumerate(mean_estimates(found, level, scale)):
        first, second = pairs[place]
        p_worst = survived[place]
        difference = MeanDifference(
            first=first,
            second=second,
            difference=estimate,
            p=float(p[place]),
            p_holm=corrected[place],
            p_worst=p_worst,
            significant=p_worst < 1 - level,
            error=float(errors[place]),
        )
        differences.append(difference)
    return tuple(differences)


def _corrected(p: Floats, selection: float) -> list[float]:
    """p-values by Holm, multiplied with `selection`."""
    adjusted = np.array(holm(p.tolist()))
    corrected: list[float] = np.minimum(1.0, selection * adjusted).tolist()
    return corrected


def worst_p_values(values: Floats, p: Floats) -> Floats:
    """p-values of the claims that the first of each pair is better, in the worst case.

    That is the worst case of the missing scores.

    Two-sided, of the differences and p-values of the `difference_column` of lowest and highest
    scores; 1 where the worst case has the other sign, which no claim survives.
    """
    return np.where(values > 0, p, 1.0)


def compare_means(
    values: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    reweight: Reweight | None = None,
    **options: Unpack[ResamplingOptions],
) -> tuple[MeanDifference, ...]:
    """Compare the means of all pairs of models, or judges.

    Each comparison is over the questions that both have a value for.

    Args:
        values: One row per question, one column per model, shape (Q, M); NaN where there is no
            value, for reasons that must have nothing to do with it.
        clusters: Id of each question's cluster, such as the prompt of a pair, shape (Q,); by
            default each is one of its own.
        reweight: Turns how often questions were drawn into weights, shape (B, Q) both, for B rounds
            at once, as for `bootstrap_means`.
        options: Rounds, level and seed of the bootstrap; see `Resampling`.

    Returns:
        All pairs of columns, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Raises:
        ValueError: If there is not one cluster id per question, or rounds, level or seed are out of
            range.

    Examples:
        >>> from urs_inspect.stats import compare_means
        >>> [difference] = compare_means([[1, 0]] * 8 + [[1, 1]] * 2, rounds=50)
        >>> difference.difference.value, difference.significant
        (0.8, True)
    """
    how = Resampling(**options)
    table = np.asarray(values, dtype=np.float64)
    if clusters is not None and len(clusters) != len(table):
        raise ValueError(
            f"need one cluster id per question: {len(clusters)} ids, {len(table)} questions"
        )
    pairs = all_pairs(table.shape[1])
    column = difference_column(table, pairs)
    drawn = None if clusters is None else number_clusters(clusters)
    [means] = bootstrap_means(
        [column],
        len(table),
        reweight=reweight,
        clusters=drawn,
        rounds=how.rounds,
        seed=how.seed,
    )
    p = None
    if not reweight:
        p = paired_p_values(column.values, drawn)
    return mean_differences(means, pairs, how.level, p=p)


def rank_intervals(models: int, better: Iterable[Pair]) -> tuple[Pair, ...]:
    """Ranks that models may have, given which differences are significant.

    Args:
        models: Number of models M.
        better: For each significant difference the better model, then the worse one.

    Returns:
        For each model the ranks from 1 + the number of models that are significantly better to M -
        the number of those that are significantly worse.
    """
    first = [1] * models
    last = [models] * models
    for winner, loser in better:
        first[loser] += 1
        last[winner] -= 1
    return tuple(zip(first, last, strict=True))
