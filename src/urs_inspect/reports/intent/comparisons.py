"""Scores of models on the same questions -> their order, their common questions, and which differences are significant.

A score may be missing because of the answer: a judge may fail on the worst answers of one model. So means, ranks and
tests are over the questions for which every ranked model has a score, and a difference is significant only if it is so
in the worst case too, over all questions that were asked.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from urs_inspect.errors import InputError
from urs_inspect.rating import (
    Estimate,
    MeanColumn,
    MeanDifference,
    all_pairs,
    bootstrap_means,
    difference_column,
    mean_differences,
    mean_estimates,
    raking,
    worst_p_values,
)
from urs_inspect.rating.bootstrap import Floats, Integers
from urs_inspect.rating.mean_columns import Reweight
from urs_inspect.reports.intent.question_table import ALL, QuestionTable
from urs_inspect.reports.intent.traffic import TrafficMix
from urs_inspect.rubrics import HIGHEST, LOWEST

_DIGITS = 9
"""Means that agree to so many decimals are equal; beyond is noise of summing."""
_SHARE = 2
"""A model with scores for fewer than half as many questions as the model that has most is not ranked: it would decide
over which questions all others are ranked."""
_SCALE = (float(LOWEST), float(HIGHEST))
_WIDEST = _SCALE[1] - _SCALE[0]


@dataclass(frozen=True)
class Weights:
    """Weights of some questions.

    Attributes:
        reweight: As for `bootstrap_means`; None if all weigh the same.
        values: Weight of each question, shape (Q,).
    """

    reweight: Reweight | None
    values: Floats

    def means(self, scores: Floats) -> Floats:
        """Mean of each column over the questions that have a value there; NaN without any, shape (K,)."""
        there = ~np.isnan(scores)
        total = self.values @ there
        sums = self.values @ np.where(there, scores, 0.0)
        return np.asarray(np.divide(sums, total, out=np.full(total.shape, np.nan), where=total > 0), dtype=np.float64)


@dataclass(frozen=True)
class OrderedScores:
    """Models in order.

    Attributes:
        table: All questions that were asked; the best model first, those that are not ranked last.
        ranked: Number of models that are ranked.
        common: Numbers of the questions for which all of these have a score.
        weights: Weights of all questions.
        common_weights: Weights of the common ones.
    """

    table: QuestionTable
    ranked: int
    common: Integers
    weights: Weights
    common_weights: Weights

    @property
    def comparable(self) -> Floats:
        """Final scores on the common questions; NaN for models that are not ranked."""
        return np.where(np.arange(len(self.table.models)) < self.ranked, self.table.finals[self.common], np.nan)


def order_models(table: QuestionTable, mix: TrafficMix | None = None) -> OrderedScores:
    """Order models by their means over common questions.

    Args:
        table: All questions that were asked, of kinds that have a share.
        mix: Shares by which questions are weighted; None if all weigh the same.

    Raises:
        InputError: If the shares cannot be had from these questions.
    """
    scored = np.count_nonzero(~np.isnan(table.finals), axis=0)
    counts = (scored > 0) & (_SHARE * scored >= scored.max(initial=0))
    common = np.flatnonzero(~np.isnan(table.finals[:, counts]).any(axis=1) & counts.any())
    weights, common_weights = _weights(table, mix), _weights_of_common(table, common, mix)
    means = np.round(common_weights.means(table.finals[common]), _DIGITS)
    keys = [-math.inf if math.isnan(mean) or not kept else mean for mean, kept in zip(means, counts, strict=True)]
    order = sorted(range(len(keys)), key=lambda model: (not counts[model], -keys[model], table.models[model]))
    ordered = table.of(np.arange(len(table.finals)), order)
    return OrderedScores(ordered, int(counts.sum()), common, weights, common_weights)


def compare_models(
    scores: OrderedScores,
    columns: Mapping[str, Integers],
    *,
    rounds: int,
    level: float,
    seed: int,
    others: Sequence[MeanColumn] = (),
) -> tuple[dict[str, tuple[MeanDifference, ...]], list[tuple[Estimate, ...]]]:
    """Test models against each other, over all questions and in columns.

    Args:
        scores: The models, with their scores.
        columns: Key of a column -> numbers of its questions in the table. In the column `all` every two models are
            compared; in each other one the ranked model with the highest mean there with each other ranked one.
        rounds: Rounds of the bootstrap.
        level: Confidence level.
        seed: Seed of the bootstrap.
        others: Further columns over the common questions, which are numbered from 0; their means are taken over the
            same rounds.

    Returns:
        Key of a column -> its comparisons, the model with the higher mean as first; and the means of the others.
    """
    finals = scores.comparable
    kept = {key: np.flatnonzero(np.isin(scores.common, chosen)) for key, chosen in columns.items()}
    pairs = {key: _pairs(scores, finals, key, there) for key, there in kept.items()}
    wanted = [difference_column(finals[there], pairs[key], questions=there) for key, there in kept.items()]
    reweight = scores.common_weights.reweight
    draws = bootstrap_means([*others, *wanted], len(finals), reweight=reweight, rounds=rounds, seed=seed)
    worst = _worst(scores, columns, pairs, rounds, seed)
    tested = {
        key: mean_differences(
            found,
            pairs[key],
            level,
            worst=worst[key],
            selection=1 if key == ALL else (len(pairs[key]) + 1) / 2,
            scale=(-_WIDEST, _WIDEST),
        )
        for key, found in zip(columns, draws[len(others) :], strict=True)
    }
    return tested, [mean_estimates(found, level, _SCALE) for found in draws[: len(others)]]


def _pairs(scores: OrderedScores, finals: Floats, key: str, questions: Integers) -> list[tuple[int, int]]:
    if key == ALL:
        return all_pairs(len(scores.table.models))
    weights = Weights(None, scores.common_weights.values[questions])
    means = np.round(weights.means(finals[questions]), _DIGITS)
    if np.isnan(means).all():
        return []
    best = int(np.nanargmax(means))
    return [(best, other) for other in range(scores.ranked) if other != best]


def _worst(
    scores: OrderedScores,
    columns: Mapping[str, Integers],
    pairs: Mapping[str, Sequence[tuple[int, int]]],
    rounds: int,
    seed: int,
) -> dict[str, Floats]:
    """Key of a column -> p-values of its pairs in the worst case over all its questions; NaN if all are common.

    Pairs that lack no score are tested as well: which questions are common may depend on the answers of a third model.
    """
    table = scores.table
    lowest, highest = table.filled(LOWEST), table.filled(HIGHEST)
    found = {key: np.full(len(several), np.nan) for key, several in pairs.items()}
    wanted: dict[str, MeanColumn] = {}
    for key, several in pairs.items():
        chosen = columns[key]
        if several and table.unscored[chosen, : scores.ranked].any():
            wanted[key] = difference_column(lowest[chosen], several, highest[chosen], chosen)
    if wanted:
        draws = bootstrap_means(
            list(wanted.values()),
            len(table.finals),
            reweight=scores.weights.reweight,
            rounds=rounds,
            seed=seed,
        )
        found |= {key: worst_p_values(drawn) for key, drawn in zip(wanted, draws, strict=True)}
    return found


def _weights(table: QuestionTable, mix: TrafficMix | None) -> Weights:
    if mix is None:
        return Weights(None, np.ones(len(table.finals)))
    reweight = raking(mix.margins(table.facts))
    weights = reweight(np.ones((1, len(table.finals))))[0]
    if np.isnan(weights).any() or not weights.any():
        raise InputError(
            f"{mix.source}: no weights of the questions give all of these shares together: {', '.join(mix.shares)}; "
            "too few questions are of several of the kinds at once"
        )
    return Weights(reweight, weights)


def _weights_of_common(table: QuestionTable, common: Integers, mix: TrafficMix | None) -> Weights:
    if not len(common):
        return Weights(None, np.ones(0))
    kept = replace(table, facts=table.facts.iloc[common], finals=table.finals[common]) if mix else table
    try:
        return _weights(kept, mix) if mix else Weights(None, np.ones(len(common)))
    except InputError as error:
        if len(common) == len(table.finals):
            raise
        raise InputError(
            f"{error.message}; only the {len(common):,} of {len(table.finals):,} questions count for which all ranked "
            "models have a score: leave out the log of a model that lacks many"
        ) from error
