"""Means with intervals.

Of clustered items, of many columns over the same resamples, with weights, weighted sums.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Unpack

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import (
    LEVEL,
    ROUNDS,
    SEED,
    Clusters,
    Estimate,
    Floats,
    Integers,
    Resampling,
    ResamplingOptions,
    Scale,
    cluster_counts,
    counted_estimate,
    known_items,
    ratio,
    reported,
    resample_members,
)


def clustered_mean(
    values: npt.ArrayLike, clusters: Clusters, **options: Unpack[ResamplingOptions]
) -> Estimate:
    """Mean of the values that are not NaN, with its bootstrap interval clustered by prompt.

    Args:
        values: Values, NaN where an item has none, shape (N,).
        clusters: Id of each item's prompt, shape (N,).
        options: Rounds, level and seed of the bootstrap; see `Resampling`.

    Returns:
        The mean in the unit of the values; NaN if there are none.

    Raises:
        ValueError: If values and clusters have different lengths, or rounds, level or seed are out
            of range.

    Examples:
        >>> from urs_inspect.stats import clustered_mean
        >>> round(clustered_mean([1.0, 0.0, 1.0], ["p", "p", "q"]).value, 3)
        0.667
    """
    how = Resampling(**options)
    [known], names = known_items(clusters, values)
    ones = np.ones(len(names))
    columns = np.stack([known, ones], axis=1)
    sums = cluster_counts(names, columns)
    return counted_estimate(lambda counts: ratio(*counts.T), sums, len(names), how)


Reweight = Callable[[Floats], Floats]
"""How often each question was drawn -> its weight, shape (B, Q) both."""


@dataclass(frozen=True)
class MeanColumn:
    """Means over one set of questions.

    Attributes:
        questions: Numbers of the questions, each once, shape (N,).
        values: K values per question, NaN where there is none, shape (N, K).
    """

    questions: Integers
    values: Floats


@dataclass(frozen=True)
class MeanDraws:
    """Means and their values in each round.

    Attributes:
        values: The K means, shape (K,); NaN where there is no value, or none with a weight.
        draws: Their values in each round, NaN where not defined, shape (R, K).
        n: Number of questions behind each, shape (K,).
        seed: Seed of the resampling.
        clusters: Number of clusters of questions behind each, which were drawn, shape (K,).
    """

    values: Floats
    draws: Floats
    n: Integers
    seed: int
    clusters: Integers


def bootstrap_means(
    columns: Sequence[MeanColumn],
    questions: int,
    *,
    reweight: Reweight | None = None,
    clusters: Integers | None = None,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> list[MeanDraws]:
    """Means of columns, with their values in rounds of the bootstrap.

    In each round all questions are drawn with replacement.

    Args:
        columns: The columns.
        questions: Number of questions Q from which each round draws Q.
        reweight: Turns how often questions were drawn into weights, shape (B, Q) both, for B rounds
            at once; by default each counts as often as it was drawn.
        clusters: Number of each question's cluster, from 0 without gaps, shape (Q,): whole clusters
            are drawn. By default each question is one.
        rounds: Number of rounds R.
        seed: Seed of the resampling; the same seed gives the same rounds.

    Returns:
        One result per column. A weighted mean is the sum of weight times value over the sum of the
        weights, over the questions that have a value.
    """
    if clusters is None:
        clusters = np.arange(questions)
    drawn: Iterable[Floats] = [np.zeros((rounds, 0))]
    if questions:
        drawn = resample_members(clusters, rounds, seed)
    once = np.ones((1, questions))
    means: list[list[Floats]] = [[] for _ in columns]
    for counts in chain([once], drawn):
        weights = counts if reweight is None else reweight(counts)
        for column, of_column in zip(columns, means, strict=True):
            of_column.append(_weighted_means(weights[:, column.questions], column.values))
    found = []
    for column, of_column in zip(columns, means, strict=True):
        known = ~np.isnan(column.values)
        by_cluster = cluster_counts(clusters[column.questions], known)
        point, *draws = of_column
        found.append(
            MeanDraws(
                values=point[0],
                draws=np.concatenate(draws),
                n=np.count_nonzero(known, axis=0),
                seed=seed,
                clusters=np.count_nonzero(by_cluster, axis=0),
            )
        )
    return found


def _weighted_means(weights: Floats, values: Floats) -> Floats:
    """Means of the values that are known, shape (B, N) and (N, K) -> (B, K)."""
    known = ~np.isnan(values)
    sums = weights @ np.where(known, values, 0.0)
    return ratio(sums, weights @ known)


def bootstrap_table(
    table: Floats,
    *,
    clusters: Integers | None = None,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> MeanDraws:
    """`bootstrap_means` of one table with a row per question, shape (N, K)."""
    questions = len(table)
    column = MeanColumn(np.arange(questions), table)
    [means] = bootstrap_means([column], questions, clusters=clusters, rounds=rounds, seed=seed)
    return means


def mean_estimates(
    found: MeanDraws, level: float = LEVEL, scale: Scale | None = None
) -> tuple[Estimate, ...]:
    """Means with the intervals that `reported_bounds` allows.

    The interval is the expanded percentile interval of `percentile_bounds`.

    Args:
        found: Means and their rounds.
        level: Confidence level, between 0 and 1.
        scale: Lowest and highest possible value of the means; None if they have no limits.

    Returns:
        One estimate per mean.
    """
    how = Resampling(len(found.draws), level, found.seed)
    return reported(found.values, found.draws, found.n, found.clusters, how, scale)


def p_values(found: MeanDraws) -> Floats:
    """Two-sided bootstrap p-values of each mean being 0, shape (K,).

    NaN over fewer than two questions.

    Twice the share of rounds in which the mean does not have the sign that it mostly has, one round
    being added. Where no round crosses 0, the share shows only that p is small; the normal tail at
    the mean over the standard deviation of the rounds then stands for it, if it is smaller. The
    p-value is expanded as the intervals are, so that it is below 0.05 where the 95% interval leaves
    out 0, except for rounding and for very few questions: it is never below that of the exact
    sign-flip test, 2 / 2^n at the least.
    """
    from scipy.special import ndtr, ndtri, stdtr

    draws = found.draws
    n = np.asarray(found.clusters, dtype=np.float64)
    below = np.count_nonzero(draws <= 0, axis=0)
    above = np.count_nonzero(draws >= 0, axis=0)
    fewest = np.minimum(below, above)
    known = np.count_nonzero(~np.isnan(draws), axis=0)
    both_tails = 2 * (fewest + 1) / (known + 1)
    shares = np.minimum(1.0, both_tails)
    # All rounds equal are left to the share and to the sign-flip bound; their spread is noise of
    # rounding.
    spread = _spread(draws)
    varies = spread > 1e-12 * np.abs(found.values)
    none = np.zeros_like(spread)
    ratios = np.divide(found.values, spread, out=none, where=varies)
    size = np.abs(ratios)
    in_tail = (fewest == 0) & (size > 0)
    normal = 2 * ndtr(-size)
    tails = np.where(in_tail, np.minimum(shares, normal), shares)
    freedom = np.maximum(n - 1, 1)
    narrower = np.sqrt(freedom / np.maximum(n, 2))
    quantiles = ndtri(tails / 2) * narrower
    expanded = 2 * stdtr(freedom, quantiles)
    least = np.exp2(1 - np.minimum(n, 1000))
    p = np.clip(np.maximum(expanded, least), 0, 1)
    unknown = np.isnan(found.values) | (n < 2)
    return np.where(unknown, np.nan, p)


def standard_errors(found: MeanDraws) -> Floats:
    """Standard errors of means by their rounds, shape (K,).

    They are made wider by C / (C - 1) as of C drawn clusters.
    """
    clusters = np.asarray(found.clusters, dtype=np.float64)
    wider = np.sqrt(ratio(clusters, clusters - 1))
    return np.asarray(_spread(found.draws) * wider, dtype=np.float64)


def _spread(draws: Floats) -> Floats:
    """Standard deviation of the rounds in which a mean is defined, shape (K,)."""
    known = ~np.isnan(draws)
    rounds = np.maximum(known.sum(axis=0), 1)
    centre = np.where(known, draws, 0.0).sum(axis=0) / rounds
    deviations = np.where(known, draws - centre, 0.0)
    variance = (deviations**2).sum(axis=0) / rounds
    return np.asarray(np.sqrt(variance), dtype=np.float64)


def contrast(found: MeanDraws, weights: npt.ArrayLike) -> MeanDraws:
    """J weighted sums of K means, round by round, by weights of shape (K, J).

    A mean with weight 0 takes no part, even where it is not defined. NaN where no mean, or one that
    is not defined, takes part. The number of questions behind a sum is the smallest of those behind
    its means.
    """
    table = np.asarray(weights, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(found.values):
        raise ValueError(
            f"need one row of weights per mean: {len(found.values)} means, weights of shape"
            f" {table.shape}"
        )
    sums = table.shape[1]
    values = np.full(sums, np.nan)
    draws = np.full((len(found.draws), sums), np.nan)
    n = np.zeros(sums, np.int64)
    clusters = np.zeros(sums, np.int64)
    for place, column in enumerate(table.T):
        part = np.flatnonzero(column)
        if not len(part):
            continue
        used = column[part]
        values[place] = found.values[part] @ used
        draws[:, place] = found.draws[:, part] @ used
        n[place] = found.n[part].min()
        clusters[place] = found.clusters[part].min()
    return MeanDraws(values, draws, n, found.seed, clusters)


_RAKING_STEPS = 200
_CLOSE = 1e-8
"""Largest deviation of a share from what it should be."""


@dataclass(frozen=True)
class Margin:
    """Wanted shares of the categories of one kind, such as intents.

    Attributes:
        category: Number of each question's category, -1 for none, shape (Q,).
        shares: Wanted share of each category, adding up to 1, shape (C,).
    """

    category: Integers
    shares: Floats


def raking(margins: Sequence[Margin]) -> Reweight:
    """Make a function that gives weights with the wanted shares.

    It takes how often questions were drawn.

    Iterative proportional fitting (Deming and Stephan, "On a Least Squares Adjustment of a Sampled
    Frequency Table When the Expected Marginal Totals are Known", 1940), for all rounds of a
    bootstrap at once. Each round is raked by itself, as the sample was, so that intervals reflect
    that the shares are given and not drawn.

    Args:
        margins: One per kind, at least one; a question without a category in one of them has no
            weight.

    Returns:
        Function from counts to weights that add up to 1, shape (B, Q) both; rows in which the
        shares are impossible, because no question of a wanted category was drawn, are NaN.
    """
    categories = np.stack([margin.category for margin in margins])
    used = (categories >= 0).all(axis=0)
    # A cell is a combination of categories that occurs, such as an intent in a language.
    of_used = categories[:, used]
    cells, inverse = np.unique(of_used, axis=1, return_inverse=True)
    cell_of = inverse.ravel()
    questions = np.flatnonzero(used)
    shape = (categories.shape[1], cells.shape[1])
    member = np.zeros(shape)
    member[questions, cell_of] = 1
    shares = [margin.shares for margin in margins]
    by_margin = zip(cells, shares, strict=True)
    places = [np.eye(len(wanted))[of] for of, wanted in by_margin]

    def weights(counts: Floats) -> Floats:
        drawn = counts @ member
        fitted = _fitted(drawn, places, shares)
        none = np.where(np.isnan(fitted), np.nan, 0.0)
        factors = np.divide(fitted, drawn, out=none, where=drawn > 0)
        weighted = np.zeros_like(counts)
        weighted[:, used] = counts[:, used] * factors[:, cell_of]
        return weighted

    return weights


def _fitted(drawn: Floats, places: Sequence[Floats], shares: Sequence[Floats]) -> Floats:
    """Share of each cell in each round, shape (B, cells).

    NaN in rounds that cannot have the wanted shares.
    """
    table = drawn.copy()
    off = np.full(len(table), np.inf)
    for _ in range(_RAKING_STEPS):
        for member, wanted in zip(places, shares, strict=True):
            margin = table @ member
            none = np.zeros_like(margin)
            factors = np.divide(wanted, margin, out=none, where=margin > 0)
            table *= factors @ member.T
        off = np.zeros(len(table))
        for member, wanted in zip(places, shares, strict=True):
            deviations = np.abs(table @ member - wanted)
            off = np.maximum(off, deviations.max(axis=1))
        if (off < _CLOSE).all():
            break
    table[off >= np.sqrt(_CLOSE)] = np.nan
    return table


def effective_number(weights: Floats) -> float:
    """Kish's effective number of questions, `sum(w)^2 / sum(w^2)`.

    How many of equal weight carry as much information.

    Kish 1965, section 11.7. 1 to Q for weights of shape (Q,), at least 0; 0 if all are 0.
    """
    squares = float((weights**2).sum())
    if not squares:
        return 0.0
    return float(weights.sum()) ** 2 / squares
