"""Scores of models on the same questions: their order, and which differences are significant."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from urs_inspect._util import InputError
from urs_inspect.reports.answers import CRITERION
from urs_inspect.reports.traffic import TrafficMix
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric
from urs_inspect.stats import Estimate, MeanColumn, MeanDifference, bootstrap_means, mean_estimates, raking
from urs_inspect.stats.bootstrap import Floats, Integers, Resampling, Scale, number_clusters
from urs_inspect.stats.means import Reweight, p_values
from urs_inspect.stats.paired import (
    all_pairs,
    clustered_means,
    difference_column,
    mean_differences,
    paired_p_values,
    worst_p_values,
)

ALL = "all"
"""Key of the column of all questions."""
DIGITS = 9
"""Decimals used to compare means; beyond that, differences are rounding errors."""
_SHARE = 2
"""A model with scores for fewer than half as many questions as the model with the most is not ranked: it would decide
over which questions all others are ranked."""
_SCALE: Scale = (float(LOWEST), float(HIGHEST))
_FACTS = ("intent", "group", "language", "country")


@dataclass(frozen=True)
class ScoreTable:
    """Scores of models on the same questions; epochs of a question are averaged first. Arrays are (questions, models).

    `finals` is NaN where a model has no score, and the mean of the other epochs where some have none.
    """

    facts: pd.DataFrame  # one row per question (index), with intent, group, language and country, or as given
    models: tuple[str, ...]
    finals: Floats
    criteria: dict[str, Floats]
    asked: Integers  # number of answers
    unscored: Integers  # number of answers without a score
    scale: Scale = _SCALE  # lowest and highest possible score

    @property
    def clusters(self) -> Integers | None:
        """Number of each question's cluster, shape (questions,); None if each is one of its own."""
        if "cluster" not in self.facts or self.facts["cluster"].is_unique:
            return None
        return number_clusters(self.facts["cluster"].tolist())

    def filled(self, score: float) -> Floats:
        """Final scores in which each answer without a score has this one; NaN where a model was not asked."""
        known = (self.asked - self.unscored) * np.nan_to_num(self.finals)
        total = known + self.unscored * score
        return np.asarray(np.divide(total, self.asked, out=np.full(total.shape, np.nan), where=self.asked > 0))

    def of(self, chosen: Integers, models: Sequence[int]) -> "ScoreTable":
        """Some questions and models, by their numbers and in their order."""
        return ScoreTable(
            self.facts.iloc[chosen],
            tuple(self.models[number] for number in models),
            self.finals[chosen][:, list(models)],
            {name: values[chosen][:, list(models)] for name, values in self.criteria.items()},
            self.asked[chosen][:, list(models)],
            self.unscored[chosen][:, list(models)],
            self.scale,
        )


def score_table(
    answers: pd.DataFrame, models: Sequence[str], kept: Sequence[str] = _FACTS, scale: Scale = _SCALE
) -> ScoreTable:
    """Average the epochs of rows of the table of answers, questions in the order of their ids.

    The order of logs therefore changes no interval. `kept` are the columns that become facts of questions.
    """
    facts = answers.groupby("question", sort=True)[list(kept)].first()
    criteria = [name for name in answers.columns if str(name).startswith(CRITERION)]
    cells = answers.groupby(["question", "model"], sort=True)
    means, asked, known = cells[[FINAL, *criteria]].mean(), cells.size(), cells[FINAL].count()

    def values(column: "pd.Series[float]") -> Floats:
        wide = column.unstack("model")
        return wide.reindex(index=facts.index, columns=list(models)).to_numpy(dtype=np.float64)

    def counts(column: "pd.Series[int]") -> Integers:
        return np.nan_to_num(values(column.astype(float))).astype(np.int64)

    scored = {name: values(means[name]) for name in criteria}
    return ScoreTable(
        facts,
        tuple(models),
        values(means[FINAL]),
        {name.removeprefix(CRITERION): given for name, given in scored.items() if not np.isnan(given).all()},
        counts(asked),
        counts(asked - known),
        scale,
    )


@dataclass(frozen=True)
class Columns:
    """Keys of the columns of a ranking, in order, and the questions of each.

    Keys of `questions` are `all`, a group, part, language or country, and `<group>/<language>`.
    """

    groups: tuple[str, ...]  # reported intents
    parts: tuple[str, ...]  # `<group>: <intent>`, where several intents share a group, as API does in URS
    languages: tuple[str, ...]
    cells: tuple[str, ...]  # `<group>/<language>`, where there are such questions
    countries: tuple[str, ...]  # the most frequent first; the rest together as the last
    questions: dict[str, Integers]  # key -> numbers of its questions


def columns_of(facts: pd.DataFrame, rubric: Rubric, countries: int | None = None) -> Columns:
    """The columns of some questions, as in `ScoreTable.facts`.

    Intents and languages stand in the order of the rubric, those that it does not know last. At most `countries`
    countries have a column of their own.
    """
    groups = in_order(facts["group"], [intent.group for intent in rubric.intents.values()])
    languages = in_order(facts["language"], rubric.languages)
    intents = in_order(facts["intent"], rubric.intents)
    pairs = set(zip(facts["group"], facts["intent"], strict=True))
    parts = {
        f"{group}: {intent}": (facts["group"] == group) & (facts["intent"] == intent)
        for group in groups
        if sum(first == group for first, _ in pairs) > 1
        for intent in intents
        if (group, intent) in pairs
    }
    masks = {ALL: facts["group"].notna()}
    masks |= {group: facts["group"] == group for group in groups}
    masks |= parts
    masks |= {language: facts["language"] == language for language in languages}
    cells = {f"{g}/{c}": masks[g] & masks[c] for g in groups for c in languages if (masks[g] & masks[c]).any()}
    masks |= cells
    shown = {
        f"{name} (country)" if name in masks else name: members
        for name, members in _countries(facts["country"], countries).items()
    }
    masks |= {name: facts["country"].isin(members) for name, members in shown.items()}
    return Columns(
        groups=tuple(groups),
        parts=tuple(parts),
        languages=tuple(languages),
        cells=tuple(cells),
        countries=tuple(shown),
        questions={key: np.flatnonzero(mask.to_numpy()) for key, mask in masks.items()},
    )


def in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """The different names: those of an order as there, the others after them by the alphabet."""
    there = set(names)
    known = [name for name in dict.fromkeys(order) if name in there]
    return known + sorted(there - set(known))


def _countries(values: "pd.Series[str]", most: int | None) -> dict[str, list[str]]:
    """Name of a column -> countries in it."""
    counts = values[values != ""].value_counts()
    names = sorted(counts.index, key=lambda name: (-counts[name], name))
    if most is None or len(names) <= most:
        return {name: [name] for name in names}
    rest = names[most:]
    pooled = rest[0] if len(rest) == 1 else f"{len(rest)} other countries"  # one country alone needs no pool
    return {**{name: [name] for name in names[:most]}, pooled: rest}


# --- order ---


@dataclass(frozen=True)
class Weights:
    """Weights of questions, shape (questions,); `reweight` as for `bootstrap_means`, None if all weigh the same."""

    reweight: Reweight | None
    values: Floats

    def means(self, scores: Floats) -> Floats:
        """Mean of each model over the questions for which it has a score; NaN without any, shape (models,)."""
        there = ~np.isnan(scores)
        total = self.values @ there
        sums = self.values @ np.where(there, scores, 0.0)
        return np.asarray(np.divide(sums, total, out=np.full(total.shape, np.nan), where=total > 0), dtype=np.float64)


@dataclass(frozen=True)
class OrderedScores:
    """Models in order."""

    table: ScoreTable  # all questions that were asked; the best model first, those that are not ranked last
    ranked: int  # number of models that are ranked
    common: Integers  # numbers of the questions for which all of these have a score
    weights: Weights  # of all questions
    common_weights: Weights

    @property
    def comparable(self) -> Floats:
        """Final scores on the common questions; NaN for models that are not ranked."""
        return np.where(np.arange(len(self.table.models)) < self.ranked, self.table.finals[self.common], np.nan)


def order_models(table: ScoreTable, mix: TrafficMix | None = None) -> OrderedScores:
    """Order models by their means over common questions, weighted by the shares of a mix, which must be possible."""
    scored = np.count_nonzero(~np.isnan(table.finals), axis=0)
    counts = (scored > 0) & (_SHARE * scored >= scored.max(initial=0))
    common = np.flatnonzero(~np.isnan(table.finals[:, counts]).any(axis=1) & counts.any())
    weights = _weights(table.facts, mix)
    try:
        common_weights = _weights(table.facts.iloc[common], mix if len(common) else None)
    except InputError as error:
        if len(common) == len(table.finals):
            raise
        raise InputError(
            f"{error.message}; only the {len(common):,} of {len(table.finals):,} questions count for which all ranked "
            "models have a score: leave out the log of a model that lacks many"
        ) from error
    means = np.round(common_weights.means(table.finals[common]), DIGITS)
    keys = [-math.inf if math.isnan(mean) or not kept else mean for mean, kept in zip(means, counts, strict=True)]
    order = sorted(range(len(keys)), key=lambda model: (not counts[model], -keys[model], table.models[model]))
    ordered = table.of(np.arange(len(table.finals)), order)
    return OrderedScores(ordered, int(counts.sum()), common, weights, common_weights)


def _weights(facts: pd.DataFrame, mix: TrafficMix | None) -> Weights:
    if mix is None:
        return Weights(None, np.ones(len(facts)))
    reweight = raking(mix.margins(facts))
    weights = reweight(np.ones((1, len(facts))))[0]
    if np.isnan(weights).any() or not weights.any():
        raise InputError(
            f"{mix.source}: no weights of the questions give all of these shares together: {', '.join(mix.shares)}; "
            "too few questions are of several of the kinds at once"
        )
    return Weights(reweight, weights)


# --- comparisons ---


def compare_models(
    scores: OrderedScores,
    columns: Mapping[str, Integers],
    resampling: Resampling,
    others: Sequence[MeanColumn] = (),
    *,
    baseline: int | None = None,
    families: int = 1,
) -> tuple[dict[str, tuple[MeanDifference, ...]], list[tuple[Estimate, ...]]]:
    """Test models against each other, over all questions and in columns.

    p-values are those of `paired_p_values`; where questions are weighted, those of the bootstrap. In the column `all`
    every two models are compared, or each with the `baseline` alone; in each other one the ranked model with the
    highest mean there with each other ranked one, where p-values are corrected together over `families` columns.
    `others` are further columns over the common questions, whose means are taken over the same rounds.

    Returns:
        Key of a column -> its comparisons, the model with the higher mean as first; and the means of the others.
    """
    finals, rounds, seed = scores.comparable, resampling.rounds, resampling.seed
    kept = {key: np.flatnonzero(np.isin(scores.common, chosen)) for key, chosen in columns.items()}
    pairs = {key: _pairs(scores, finals, key, there, baseline) for key, there in kept.items()}
    wanted = [difference_column(finals[there], pairs[key], questions=there) for key, there in kept.items()]
    reweight, clusters = scores.common_weights.reweight, scores.table.clusters
    drawn_by = None if clusters is None else number_clusters(clusters[scores.common])
    draws = bootstrap_means(
        [*others, *wanted], len(finals), reweight=reweight, clusters=drawn_by, rounds=rounds, seed=seed
    )
    worst = _worst(scores, columns, pairs, resampling)
    # In each other column the best of M models is chosen by the same data; a baseline is not.
    chosen = {key: 1.0 if baseline is not None else (len(compared) + 1) / 2 for key, compared in pairs.items()}
    selections = {key: 1.0 if key == ALL else families * max(1.0, chosen[key]) for key in pairs}
    widest = scores.table.scale[1] - scores.table.scale[0]
    tested = {
        key: mean_differences(
            drawn,
            pairs[key],
            resampling.level,
            p=None if reweight else paired_p_values(column.values, _part(drawn_by, column.questions)),
            worst=worst[key],
            errors=None if reweight else clustered_means(column.values, _part(drawn_by, column.questions)).errors,
            selection=selections[key],
            scale=(-widest, widest),
        )
        for key, column, drawn in zip(columns, wanted, draws[len(others) :], strict=True)
    }
    return tested, [mean_estimates(drawn, resampling.level, scores.table.scale) for drawn in draws[: len(others)]]


def _part(clusters: Integers | None, chosen: Integers) -> Integers | None:
    return None if clusters is None else clusters[chosen]


def _pairs(
    scores: OrderedScores, finals: Floats, key: str, questions: Integers, baseline: int | None
) -> list[tuple[int, int]]:
    if key == ALL and baseline is None:
        return all_pairs(len(scores.table.models))
    weights = Weights(None, scores.common_weights.values[questions])
    means = np.round(weights.means(finals[questions]), DIGITS)
    if np.isnan(means).all():
        return []
    best = int(np.nanargmax(means)) if baseline is None else baseline
    others = [other for other in range(scores.ranked) if other != best]
    return [(best, other) if means[best] >= means[other] else (other, best) for other in others]


def _worst(
    scores: OrderedScores,
    columns: Mapping[str, Integers],
    pairs: Mapping[str, Sequence[tuple[int, int]]],
    resampling: Resampling,
) -> dict[str, Floats]:
    """Key of a column -> p-values of its pairs in the worst case over all its questions; NaN if all are common."""
    table, reweight = scores.table, scores.weights.reweight
    lowest, highest = (table.filled(score) for score in table.scale)
    p = {key: np.full(len(compared), np.nan) for key, compared in pairs.items()}
    for key, compared in pairs.items():
        chosen = columns[key]
        # A third model's missing scores count as well: they decide which questions are common.
        if not compared or not table.unscored[chosen, : scores.ranked].any():
            continue
        column = difference_column(lowest[chosen], compared, highest[chosen], chosen)
        if reweight:
            rounds, seed = resampling.rounds, resampling.seed
            [drawn] = bootstrap_means([column], len(table.finals), reweight=reweight, rounds=rounds, seed=seed)
            values, plain = drawn.values, p_values(drawn)
        else:
            clusters = _part(table.clusters, chosen)
            values, plain = clustered_means(column.values, clusters).values, paired_p_values(column.values, clusters)
        p[key] = worst_p_values(values, plain)
    return p


def columns_of_means(scores: OrderedScores, columns: Mapping[str, Integers]) -> dict[str, MeanColumn]:
    """Key of a column, or `criterion/<id>` -> its scores on the common questions, as for `bootstrap_means`."""
    finals, ranked = scores.comparable, np.arange(len(scores.table.models)) < scores.ranked
    wanted = {key: (finals, np.isin(scores.common, chosen)) for key, chosen in columns.items()}
    for name, values in scores.table.criteria.items():
        given = np.where(ranked, values[scores.common], np.nan)
        judged = ~np.isnan(given).all(axis=0)
        wanted[CRITERION + name] = given, np.logical_and(~np.isnan(given[:, judged]).any(axis=1), judged.any())
    return {key: MeanColumn(np.flatnonzero(chosen), given[chosen]) for key, (given, chosen) in wanted.items()}


def with_shares(table: ScoreTable, mix: TrafficMix | None, notes: list[str]) -> ScoreTable:
    """Keep the questions that have a share; `notes` gets a sentence about the others."""
    if mix is None:
        return table
    used = np.all([margin.category >= 0 for margin in mix.margins(table.facts)], axis=0)
    if not used.all():
        notes.append(
            f"{int((~used).sum()):,} of {len(used):,} questions are of kinds without a share in {mix.source} and do "
            "not count."
        )
    return table.of(np.flatnonzero(used), range(len(table.models)))
