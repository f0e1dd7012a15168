"""Scores of models on the same questions: their order, and which differences are significant."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from urs_inspect._util import InputError
from urs_inspect.reports.numbers._answers import CRITERION, judge_scores
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric
from urs_inspect.scorers._metrics import CLUSTER
from urs_inspect.stats import (
    Estimate,
    MeanColumn,
    MeanDifference,
    bootstrap_means,
    mean_estimates,
    raking,
)
from urs_inspect.stats._bootstrap import (
    Flags,
    Floats,
    Integers,
    Resampling,
    Scale,
    number_clusters,
    ratio,
)
from urs_inspect.stats._means import Reweight, p_values
from urs_inspect.stats._paired import (
    ClusteredMeans,
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
"""A model with scores for fewer than half as many questions as the model with the most is not
ranked: it would decide over which questions all others are ranked.
"""
_SCALE: Scale = (float(LOWEST), float(HIGHEST))
_FACTS = ("intent", "group", "language", "country", CLUSTER)


@dataclass(frozen=True)
class PanelScores:
    """What each judge of a panel gave, where some of them failed on answers that others scored.

    Arrays are (questions, models, judges); judges that scored no answer at all are no part of the
    panel.
    """

    judges: tuple[str, ...]
    finals: Floats  # mean over epochs; NaN where the judge scored none
    scored: Integers  # number of answers that the judge scored
    # how far each judge is above the others on the same answers, shape (judges,); adds up to 0
    effects: Floats
    # number of answers that only a part of the panel scored, shape (questions, models)
    partial: Integers

    def means(self, kept: Flags | bool = True) -> Floats:
        """Mean over the judges that are kept, less what their leniency adds: shape (questions,
        models).
        """
        used = kept & ~np.isnan(self.finals)
        without_leniency = self.finals - self.effects
        return ratio(np.nansum(without_leniency, axis=2, where=used), used.sum(axis=2))

    def filled(self, asked: Integers, score: float) -> Floats:
        """Mean over all judges, with this score for each one that was not given; NaN where a model
        was not asked.
        """
        given = self.scored * np.nan_to_num(self.finals)
        missing = asked[:, :, None] - self.scored
        return ratio((given + missing * score).mean(axis=2), asked)


@dataclass(frozen=True)
class ScoreTable:
    """Scores of models on the same questions; epochs of a question are averaged first.

    Arrays are (questions, models).

    `finals` is NaN where a model has no score, and the mean of the other epochs where some have
    none. Where a part of a panel failed, it is the mean of the other judges, less how far these are
    above the panel on the whole.
    """

    facts: (
        pd.DataFrame
    )  # one row per question (index), with intent, group, language and country, or as given
    models: tuple[str, ...]
    finals: Floats
    criteria: dict[str, Floats]
    asked: Integers  # number of answers
    unscored: Integers  # number of answers without a score
    scale: Scale = _SCALE  # lowest and highest possible score
    panel: PanelScores | None = None  # None where every score is by all judges

    @property
    def missing(self) -> Floats:
        """Number of answers without a score.

        One that a part of a panel scored counts by the share of the others.
        """
        if self.panel is None:
            return self.unscored.astype(np.float64)
        scored = self.panel.scored.mean(axis=2)
        return np.asarray(self.asked - scored, dtype=np.float64)

    @property
    def incomplete(self) -> Integers:
        """Number of answers that no judge, or only a part of the panel, scored."""
        if self.panel is None:
            return self.unscored
        return self.unscored + self.panel.partial

    @property
    def clusters(self) -> Integers | None:
        """Number of each question's cluster, shape (questions,); None if each is one of its own."""
        if CLUSTER not in self.facts or self.facts[CLUSTER].is_unique:
            return None
        return number_clusters(self.facts[CLUSTER].tolist())

    def filled(self, score: float) -> Floats:
        """Final scores in which each answer without a score has this one; NaN where a model was not
        asked.

        A judge of a panel that failed has given this score as well.
        """
        if self.panel is not None:
            return self.panel.filled(self.asked, score)
        known = (self.asked - self.unscored) * np.nan_to_num(self.finals)
        total = known + self.unscored * score
        return ratio(total, self.asked)

    def of(self, chosen: Integers, models: Sequence[int]) -> "ScoreTable":
        """Some questions and models, by their numbers and in their order."""
        cells = np.ix_(chosen, np.asarray(models))
        panel = self.panel
        if panel is not None:
            panel = replace(
                panel,
                finals=panel.finals[cells],
                scored=panel.scored[cells],
                partial=panel.partial[cells],
            )
        return replace(
            self,
            facts=self.facts.iloc[chosen],
            models=tuple(self.models[number] for number in models),
            finals=self.finals[cells],
            criteria={name: scores[cells] for name, scores in self.criteria.items()},
            asked=self.asked[cells],
            unscored=self.unscored[cells],
            panel=panel,
        )

    def by_common_judges(self, models: Flags) -> tuple[Floats, Flags]:
        """Final scores in which some models have those of the same judges, and which questions have
        such judges.

        On a question, a judge counts that scored an answer of each of these models. Without such a
        judge, and for the other models, scores are as they are.
        """
        lacking: Flags = np.isnan(self.finals)
        if self.panel is None:
            return self.finals, np.logical_not(lacking[:, models].any(axis=1))
        failed: Flags = np.isnan(self.panel.finals)
        common: Flags = np.logical_not(failed[:, models].any(axis=1))  # (questions, judges)
        by_common = self.panel.means(common[:, None])
        there: Flags = np.logical_or.reduce(common, axis=1)
        counted_there = np.logical_and.outer(there, models)
        return np.where(counted_there, by_common, self.finals), there


def score_table(
    answers: pd.DataFrame,
    models: Sequence[str],
    kept: Sequence[str] = _FACTS,
    scale: Scale = _SCALE,
) -> ScoreTable:
    """Average the epochs of rows of the table of answers, questions in the order of their ids.

    The order of logs therefore changes no interval. `kept` are the columns that become facts of
    questions.
    """
    facts = _question_facts(answers, kept)
    criteria = [name for name in answers.columns if str(name).startswith(CRITERION)]
    panel = _panel(answers)
    if panel is not None:
        # A criterion counts by the judges of the final score only where these are all of the panel.
        complete = panel.notna().all(axis=1)
        by_all = {name: answers[name].where(complete) for name in criteria}
        answers = answers.assign(**by_all)
    cells = answers.groupby(["question", "model"], sort=True)
    means = cells[[FINAL, *criteria]].mean()
    asked = cells.size()
    known = cells[FINAL].count()

    def values(column: "pd.Series[float]") -> Floats:
        wide = column.unstack("model")
        return wide.reindex(index=facts.index, columns=list(models)).to_numpy(dtype=np.float64)

    def counts(column: "pd.Series[int]") -> Integers:
        return np.nan_to_num(values(column.astype(float))).astype(np.int64)

    by_judge = None
    finals = values(means[FINAL])
    if panel is not None:
        by_judge = _panel_scores(panel, answers, values)
        finals = by_judge.means()
    scored = {}
    for column in criteria:
        scores = values(means[column])
        if not np.isnan(scores).all():
            name = column.removeprefix(CRITERION)
            scored[name] = scores
    return ScoreTable(
        facts=facts,
        models=tuple(models),
        finals=finals,
        criteria=scored,
        asked=counts(asked),
        unscored=counts(asked - known),
        scale=scale,
        panel=by_judge,
    )


def _question_facts(answers: pd.DataFrame, kept: Sequence[str]) -> pd.DataFrame:
    """Facts of each question; a question without a named cluster is one of its own."""
    facts = answers.groupby("question", sort=True)[list(kept)].first()
    if CLUSTER in kept:
        facts[CLUSTER] = clusters_of(answers)
    return facts


def clusters_of(answers: pd.DataFrame) -> "pd.Series[str]":
    """Cluster of each question (index) of rows with a question and a named cluster.

    Else it is one of its own.
    """
    named = answers[CLUSTER].where(answers[CLUSTER] != "")
    titles = "cluster " + named
    clusters = titles.groupby(answers["question"], sort=True).first()
    own = pd.Series("question " + clusters.index, index=clusters.index)
    return clusters.fillna(own)


def _panel(answers: pd.DataFrame) -> pd.DataFrame | None:
    """Final scores by judge, one column each, where a part of a panel failed on some answer; None
    where none did.

    An answer that no judge was asked about has its score from all of them, and one without a score
    from none.
    """
    if "judge_finals" not in answers:
        return None
    most_judges = answers["judge_finals"].map(len).max()
    if not most_judges > 1:
        return None
    panel = judge_scores(answers)
    scored = answers[FINAL].notna()
    panel.loc[~scored] = math.nan
    panel = panel.dropna(axis=1, how="all")
    by_nobody = panel.isna().all(axis=1) & scored
    for judge in panel:
        panel[judge] = panel[judge].where(~by_nobody, answers[FINAL])
    partial = panel.isna().any(axis=1) & scored
    if not partial.any():
        return None
    return panel


def _panel_scores(
    panel: pd.DataFrame, answers: pd.DataFrame, values: Callable[["pd.Series[float]"], Floats]
) -> PanelScores:
    """The scores of a panel by question and model; `values` makes an array of a column by question
    and model.
    """
    by_cell = [answers["question"], answers["model"]]
    cells = panel.groupby(by_cell, sort=True)
    means = cells.mean()
    counts = cells.count().astype(float)
    missing = panel.isna()
    is_partial = missing.any(axis=1) & ~missing.all(axis=1)
    partial = is_partial.groupby(by_cell).sum().astype(float)
    finals = np.stack([values(means[judge]) for judge in panel], axis=2)
    scored = np.stack([values(counts[judge]) for judge in panel], axis=2)
    return PanelScores(
        judges=tuple(map(str, panel)),
        finals=finals,
        scored=np.nan_to_num(scored).astype(np.int64),
        effects=_judge_effects(panel.to_numpy()),
        partial=np.nan_to_num(values(partial)).astype(np.int64),
    )


def _judge_effects(finals: Floats) -> Floats:
    """Effect of each judge by least squares with an effect of each answer; `finals` are (answers,
    judges).
    """
    is_scored = ~np.isnan(finals).all(axis=1)
    finals = finals[is_scored]
    known = (~np.isnan(finals)).astype(np.float64)
    number = known.sum(axis=1, keepdims=True)
    means = np.nansum(finals, axis=1, keepdims=True) / number
    deviations = np.where(known > 0, finals - means, 0.0)
    above = deviations.sum(axis=0)
    answers_of_judge = np.diag(known.sum(axis=0))
    products = answers_of_judge - known.T @ (known / number)
    # Only differences between judges are known; of all solutions the shortest one adds up to 0.
    effects = np.linalg.lstsq(products, above)[0]
    return np.asarray(effects, dtype=np.float64)


@dataclass(frozen=True)
class Columns:
    """Keys of the columns of a ranking, in order, and the questions of each.

    Keys of `questions` are `all`, a group, part, language or country, and `<group>/<language>`.
    """

    groups: tuple[str, ...]  # reported intents
    parts: tuple[
        str, ...
    ]  # `<group>: <intent>`, where several intents share a group, as API does in URS
    languages: tuple[str, ...]
    cells: tuple[str, ...]  # `<group>/<language>`, where there are such questions
    countries: tuple[str, ...]  # the most frequent first
    questions: dict[str, Integers]  # key -> numbers of its questions


def columns_of(facts: pd.DataFrame, rubric: Rubric) -> Columns:
    """The columns of some questions, as in `ScoreTable.facts`.

    Intents and languages stand in the order of the rubric, those that it does not know last.
    """
    groups = in_order(facts["group"], [intent.group for intent in rubric.intents.values()])
    languages = in_order(facts["language"], rubric.languages)
    intents = in_order(facts["intent"], rubric.intents)
    parts = _parts(facts, groups, intents)
    masks = {ALL: facts["group"].notna()}
    for group in groups:
        masks[group] = facts["group"] == group
    masks |= parts
    for language in languages:
        masks[language] = facts["language"] == language
    cells = {}
    for group, language in product(groups, languages):
        cell = masks[group] & masks[language]
        if cell.any():
            cells[f"{group}/{language}"] = cell
    masks |= cells
    countries = {}
    named = facts.loc[facts["country"] != "", "country"]
    for name in named.sort_values().value_counts().index:
        title = name
        if name in masks:
            title = f"{name} (country)"
        countries[title] = facts["country"] == name
    masks |= countries
    return Columns(
        groups=tuple(groups),
        parts=tuple(parts),
        languages=tuple(languages),
        cells=tuple(cells),
        countries=tuple(countries),
        questions={key: np.flatnonzero(mask.to_numpy()) for key, mask in masks.items()},
    )


def _parts(
    facts: pd.DataFrame, groups: Sequence[str], intents: Sequence[str]
) -> dict[str, "pd.Series[bool]"]:
    """`<group>: <intent>` -> its questions, of groups that several intents share."""
    pairs = set(zip(facts["group"], facts["intent"], strict=True))
    shared = Counter(group for group, _ in pairs)
    parts = {}
    for group, intent in product(groups, intents):
        if shared[group] > 1 and (group, intent) in pairs:
            in_group = facts["group"] == group
            has_intent = facts["intent"] == intent
            parts[f"{group}: {intent}"] = in_group & has_intent
    return parts


def column_key(group: str, language: str) -> str:
    """Key of the column of a group, `all` among them, in one language, or in all if it is empty."""
    if not language:
        return group
    if group == ALL:
        return language
    return f"{group}/{language}"


def in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """The different names: those of an order as there, the others after them by the alphabet."""
    there = set(names)
    known = [name for name in dict.fromkeys(order) if name in there]
    return known + sorted(there - set(known))


# --- order ---


@dataclass(frozen=True)
class Weights:
    """Weights of questions, shape (questions,); `reweight` as for `bootstrap_means`, None if all
    weigh the same.
    """

    reweight: Reweight | None
    values: Floats

    def means(self, scores: Floats) -> Floats:
        """Mean of each model over the questions for which it has a score; NaN without any, shape
        (models,).
        """
        there = ~np.isnan(scores)
        total = self.values @ there
        sums = self.values @ np.where(there, scores, 0.0)
        return ratio(sums, total)


@dataclass(frozen=True)
class OrderedScores:
    """Models in order."""

    # all questions that were asked; the best model first, those that are not ranked last
    table: ScoreTable
    ranked: int  # number of models that are ranked
    common: Integers  # numbers of the questions for which all of these have a score
    weights: Weights  # of all questions
    common_weights: Weights

    @property
    def common_clusters(self) -> Integers | None:
        """Number of the cluster of each common question; None if each is one of its own."""
        clusters = self.table.clusters
        if clusters is None:
            return None
        return number_clusters(clusters[self.common])

    @property
    def comparable(self) -> Floats:
        """Final scores on the common questions; NaN for models that are not ranked."""
        finals = self.table.finals[self.common]
        return np.where(self.is_ranked, finals, np.nan)

    @property
    def is_ranked(self) -> Flags:
        """Which models are ranked, shape (models,)."""
        numbers = np.arange(len(self.table.models))
        return np.asarray(numbers < self.ranked)


def order_models(table: ScoreTable, mix: TrafficMix | None = None) -> OrderedScores:
    """Order models by their means over common questions, weighted by the shares of a mix, which
    must be possible.
    """
    scored = np.count_nonzero(~np.isnan(table.finals), axis=0)
    has_enough = _SHARE * scored >= scored.max(initial=0)
    counts = (scored > 0) & has_enough
    finals, comparable = table.by_common_judges(counts)
    table = replace(table, finals=finals)
    common = np.flatnonzero(comparable & counts.any())
    weights = _weights(table.facts, mix)
    common_facts = table.facts.iloc[common]
    try:
        common_weights = _weights(common_facts, mix if len(common) else None)
    except InputError as error:
        if len(common) == len(table.finals):
            raise
        raise InputError(
            f"{error.message}; only the {len(common):,} of {len(table.finals):,} questions count"
            " for which all ranked models have a score: leave out the log of a model that lacks"
            " many"
        ) from error
    means = np.round(common_weights.means(table.finals[common]), DIGITS)
    best_first = np.where(np.isnan(means) | ~counts, math.inf, -means)
    order = sorted(
        range(len(table.models)),
        key=lambda model: (not counts[model], best_first[model], table.models[model]),
    )
    all_questions = np.arange(len(table.finals))
    ordered = table.of(all_questions, order)
    return OrderedScores(ordered, int(counts.sum()), common, weights, common_weights)


def _weights(facts: pd.DataFrame, mix: TrafficMix | None) -> Weights:
    if mix is None:
        return Weights(None, np.ones(len(facts)))
    reweight = raking(mix.margins(facts))
    each_once = np.ones((1, len(facts)))
    weights = reweight(each_once)[0]
    if np.isnan(weights).any() or not weights.any():
        raise InputError(
            f"{mix.source}: no weights of the questions give all of these shares together:"
            f" {', '.join(mix.shares)}; too few questions are of several of the kinds at once"
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

    p-values are those of `paired_p_values`; where questions are weighted, those of the bootstrap.
    In the column `all` every two models are compared, or each with the `baseline` alone; in each
    other one the ranked model with the highest mean there with each other ranked one, where
    p-values are corrected together over `families` columns. `others` are further columns over the
    common questions, whose means are taken over the same rounds.

    Returns:
        Key of a column -> its comparisons, the model with the higher mean as first; and the means
        of the others.
    """
    finals = scores.comparable
    pairs = {}
    wanted = []
    for key, chosen in columns.items():
        questions = np.flatnonzero(np.isin(scores.common, chosen))
        pairs[key] = _pairs(scores, finals, key, questions, baseline)
        differences = difference_column(finals[questions], pairs[key], questions=questions)
        wanted.append(differences)
    reweight = scores.common_weights.reweight
    drawn_by = scores.common_clusters
    draws = bootstrap_means(
        [*others, *wanted],
        len(finals),
        reweight=reweight,
        clusters=drawn_by,
        rounds=resampling.rounds,
        seed=resampling.seed,
    )
    worst = _worst(scores, columns, pairs, resampling)
    widest = scores.table.scale[1] - scores.table.scale[0]
    tested = {}
    for key, column, drawn in zip(columns, wanted, draws[len(others) :], strict=True):
        p = None
        errors = None
        if not reweight:
            means, p = _tested(column, drawn_by)
            errors = means.errors
        selection = 1.0 if key == ALL else float(families)
        if key != ALL and baseline is None:
            # The best of M models is chosen by the same data; a baseline is not.
            models = len(pairs[key]) + 1
            selection *= max(1.0, models / 2)
        tested[key] = mean_differences(
            drawn,
            pairs[key],
            resampling.level,
            p=p,
            worst=worst[key],
            errors=errors,
            selection=selection,
            scale=(-widest, widest),
        )
    estimated = []
    for drawn in draws[: len(others)]:
        estimated.append(mean_estimates(drawn, resampling.level, scores.table.scale))
    return tested, estimated


def _tested(column: MeanColumn, clusters: Integers | None) -> tuple[ClusteredMeans, Floats]:
    """Means of the differences of a column, and p-values of no difference without weights."""
    of_column = None if clusters is None else clusters[column.questions]
    means = clustered_means(column.values, of_column)
    return means, paired_p_values(column.values, of_column, means)


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
    pairs = []
    for other in range(scores.ranked):
        if other != best:
            pairs.append((best, other) if means[best] >= means[other] else (other, best))
    return pairs


def _worst(
    scores: OrderedScores,
    columns: Mapping[str, Integers],
    pairs: Mapping[str, Sequence[tuple[int, int]]],
    resampling: Resampling,
) -> dict[str, Floats]:
    """Key of a column -> p-values of its pairs in the worst case over all its questions; NaN if all
    are common.
    """
    table = scores.table
    reweight = scores.weights.reweight
    lowest, highest = (table.filled(score) for score in table.scale)
    p = {}
    for key, compared in pairs.items():
        p[key] = np.full(len(compared), np.nan)
        chosen = columns[key]
        # A third model's missing scores count as well: they decide which questions are common.
        if not compared or not table.incomplete[chosen, : scores.ranked].any():
            continue
        column = difference_column(lowest[chosen], compared, highest[chosen], chosen)
        if reweight:
            [drawn] = bootstrap_means(
                [column],
                len(table.finals),
                reweight=reweight,
                clusters=table.clusters,
                rounds=resampling.rounds,
                seed=resampling.seed,
            )
            p[key] = worst_p_values(drawn.values, p_values(drawn))
        else:
            means, plain = _tested(column, table.clusters)
            p[key] = worst_p_values(means.values, plain)
    return p


def columns_of_means(
    scores: OrderedScores, columns: Mapping[str, Integers]
) -> dict[str, MeanColumn]:
    """Key of a column, or `criterion/<id>` -> its scores on the common questions, as for
    `bootstrap_means`.
    """
    finals = scores.comparable
    means = {}
    for key, chosen in columns.items():
        questions = np.flatnonzero(np.isin(scores.common, chosen))
        means[key] = MeanColumn(questions, finals[questions])
    for name, values in scores.table.criteria.items():
        given = np.where(scores.is_ranked, values[scores.common], np.nan)
        judged = ~np.isnan(given).all(axis=0)
        complete = ~np.isnan(given[:, judged]).any(axis=1)
        questions = np.flatnonzero(complete & judged.any())
        means[CRITERION + name] = MeanColumn(questions, given[questions])
    return means


def with_shares(table: ScoreTable, mix: TrafficMix | None) -> ScoreTable:
    """Keep the questions that have a share."""
    if mix is None:
        return table
    used = np.all([margin.category >= 0 for margin in mix.margins(table.facts)], axis=0)
    return table.of(np.flatnonzero(used), range(len(table.models)))
