"""Statistics of a cross-validation.

Order of models, rating bias (URS paper, Equation 1), self-preference.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import (
    Estimate,
    Flags,
    Floats,
    Integers,
    Resampling,
    ResamplingOptions,
    number_clusters,
    ratio,
)
from urs_inspect.stats._means import bootstrap_table, contrast, mean_estimates, p_values
from urs_inspect.stats._paired import MeanDifference, compare_means


@dataclass(frozen=True)
class Order:
    """An order of models by their means over the cases on which all of them have a score."""

    # columns, the best first; equal means in the order of the columns
    models: tuple[int, ...]
    means: tuple[float, ...]  # in that order
    # of the resamples that give this order, 0 to 1; NaN over fewer than two cases or clusters
    share: float
    cases: int
    gaps: tuple[MeanDifference, ...]  # every two models, by their places in that order


def order_of(
    scores: npt.ArrayLike, *, clusters: Integers | None = None, **options: Unpack[ResamplingOptions]
) -> Order:
    """Order models by their means over cases.

    `scores` has a row per case and a column per model, NaN for none.

    The means are NaN without a case on which all models have a score. `clusters` has the number of
    each case's cluster, such as its user; by default each case is one.
    """
    how = Resampling(**options)
    table = np.asarray(scores, dtype=np.float64)
    kept = ~np.isnan(table).any(axis=1)
    complete = table[kept]
    cases, models = complete.shape
    drawn = None
    units = cases
    if clusters is not None:
        drawn = number_clusters(clusters[kept])
        units = len(np.unique(drawn))
    means = bootstrap_table(complete, clusters=drawn, rounds=how.rounds, seed=how.seed)
    order = np.arange(models)
    if cases:
        order = np.argsort(-means.values, kind="stable")
    share = math.nan
    if units > 1:
        ordered = means.draws[:, order]
        in_order = (ordered[:, :-1] >= ordered[:, 1:]).all(axis=1)
        share = float(in_order.mean())
    return Order(
        models=tuple(order.tolist()),
        means=tuple(means.values[order].tolist()),
        share=share,
        cases=cases,
        gaps=tuple(compare_means(complete[:, order], clusters=drawn, **options)),
    )


REFERENCE_SCORE = 8
"""The score that a reference answer is worth (URS paper, section 4.1)."""


@dataclass(frozen=True)
class RatingBias:
    """Rating bias of one judge: mean rating less the score of the reference.

    Positive for one that rates too high.
    """

    bias: Estimate  # mean over models
    by_model: tuple[Estimate, ...]  # NaN where the judge rated none of its answers


def bias_of_means(means: Sequence[float], reference_score: float = REFERENCE_SCORE) -> float:
    """Equation 1 of the URS paper from means alone; NaN without means.

    `means` has the mean rating of each model B that has one, with the references by B.
    """
    if not means:
        return math.nan
    return math.fsum(means) / len(means) - reference_score


def rating_bias(
    ratings: npt.ArrayLike,
    reference_score: float = REFERENCE_SCORE,
    *,
    clusters: Integers | None = None,
    **options: Unpack[ResamplingOptions],
) -> RatingBias:
    """Rating bias of one judge, in points, with intervals over cases.

    Source: URS paper, Appendix D.4, Equation 1.

    The answer and the reference are two outputs of one model B, so that a judge that is calibrated
    gives the score of the reference on average. Each model weighs the same, however many of its
    answers could be rated.

    `ratings` are those of the answer of model B with a reference by B, a row per case and a column
    per model, NaN where there is none, shape (N, B). `clusters` has the number of each case's
    cluster, from 0 without gaps, shape (N,).
    """
    how = Resampling(**options)
    table = np.asarray(ratings, dtype=np.float64) - reference_score
    if table.ndim != 2:
        raise ValueError(f"need a row per case and a column per model, got shape {table.shape}")
    means = bootstrap_table(table, clusters=clusters, rounds=how.rounds, seed=how.seed)
    rated = ~np.isnan(means.values)
    weights = rated / max(1, np.count_nonzero(rated))
    mean = contrast(means, weights[:, None])
    [bias] = mean_estimates(mean, how.level)
    return RatingBias(bias, by_model=mean_estimates(means, how.level))


@dataclass(frozen=True)
class SelfPreference:
    """How one judge rates its own answers, in points of the scale."""

    preference: Estimate
    """Its rating of its own answers less that of the other judges of the same answers, mean over
    these.
    """
    leniency: Estimate
    """The same difference over the answers of models that are neither of the two judges; NaN
    without such answers.
    """
    beyond: Estimate
    """`preference` less `leniency`, over the other judges for whom both are known: what is left
    when the mildness of a judge towards every model is taken off.
    """
    own_mean: float
    """Its mean rating of its own answers."""
    others_mean: float
    """Mean rating of these answers by the other judges."""
    p: float
    """Two-sided p-value of `preference` being 0, 0 to 1."""
    p_beyond: float
    """The same for `beyond`."""


def self_preference(
    scores: npt.ArrayLike,
    judge: int,
    own: int,
    judges_as_models: Sequence[int | None],
    *,
    clusters: Integers | None = None,
    **options: Unpack[ResamplingOptions],
) -> SelfPreference:
    """Self-preference of one judge, paired by case.

    The judge is compared with each other judge over the cases that both have rated, so that a
    judgement that failed takes nothing from the others. Other judges weigh the same, and so do
    settings, such as sources of references.

    `scores` are ratings by case, setting, judge and model whose answer it is; NaN where there is
    none, shape (N, S, J, M). All judges rate the same answer of a model, in every setting. `own` is
    which model the judge is, and `judges_as_models` which model each judge is, None for one whose
    answers were not rated. `clusters` has the number of each case's cluster, from 0 without gaps,
    shape (N,). NaN where nothing can be compared, as with a single judge.
    """
    how = Resampling(**options)
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 4 or table.shape[2] != len(judges_as_models):
        raise ValueError(
            f"need case, setting, judge and model, and a model per judge; got shape {table.shape}"
        )
    differences, mine, theirs = _against_others(table, judge, judges_as_models)
    columns = differences.reshape(len(table), -1)
    means = bootstrap_table(columns, clusters=clusters, rounds=how.rounds, seed=how.seed)
    known = ~np.isnan(means.values.reshape(differences.shape[1:]))
    weights = _weights(known, own)
    sums = contrast(means, weights)
    preference, leniency, beyond = mean_estimates(sums, how.level)
    p, _, p_beyond = p_values(sums).tolist()
    return SelfPreference(
        preference=preference,
        leniency=leniency,
        beyond=beyond,
        own_mean=_weighted_mean(mine, weights[:, 0]),
        others_mean=_weighted_mean(theirs, weights[:, 0]),
        p=p,
        p_beyond=p_beyond,
    )


def _against_others(
    table: Floats, judge: int, judges_as_models: Sequence[int | None]
) -> tuple[Floats, Floats, Floats]:
    """Differences to each other judge, and both sides of them, shape (N, S, J - 1, M) each.

    NaN where one lacks.
    """
    others = [other for other in range(len(judges_as_models)) if other != judge]
    theirs = table[:, :, others, :].copy()
    for place, other in enumerate(others):
        itself = judges_as_models[other]
        if itself is not None:
            theirs[:, :, place, itself] = np.nan
    of_judge = table[:, :, [judge], :]
    mine = np.broadcast_to(of_judge, theirs.shape)
    known = ~np.isnan(mine) & ~np.isnan(theirs)
    mine = np.where(known, mine, np.nan)
    theirs = np.where(known, theirs, np.nan)
    return mine - theirs, mine, theirs


def _weights(known: Flags, own: int) -> Floats:
    """Weights of all differences in preference, leniency and beyond, shape (S (J - 1) M, 3)."""
    is_own = np.arange(known.shape[2]) == own
    to_itself = known & is_own
    to_models = known & ~is_own
    any_itself = to_itself.any(axis=2, keepdims=True)
    any_models = to_models.any(axis=2, keepdims=True)
    both = any_itself & any_models
    preference = _even(to_itself)
    leniency = _even(to_models)
    beyond = _even(to_itself & both) - _even(to_models & both)
    return np.stack([preference, leniency, beyond], axis=1)


def _weighted_mean(ratings: Floats, weights: Floats) -> float:
    """Mean over cases, then over the columns that have a weight; NaN without one."""
    if not weights.any():
        return math.nan
    counts = np.count_nonzero(~np.isnan(ratings), axis=0)
    means = ratio(np.nansum(ratings, axis=0), counts)
    return float(np.nansum(means.ravel() * weights))


def _even(part: Flags) -> Floats:
    """Weights of differences, shape (S (J - 1) M,).

    They are the same for each other judge and setting that has any.
    """
    models = part.sum(axis=2, keepdims=True)
    inner = part / np.maximum(1, models)
    judgings = np.count_nonzero(part.any(axis=2))
    weights = inner / max(1, judgings)
    return np.asarray(weights, dtype=np.float64).ravel()
