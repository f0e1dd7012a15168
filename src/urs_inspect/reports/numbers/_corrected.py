"""People's ratings of some answers -> means of all models that no bias of the judge moves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect.reports.numbers._comparison import ComparedModels, verdict_of
from urs_inspect.reports.numbers._human_data import HumanRatings, on_scale_of_judge
from urs_inspect.reports.numbers._matching import Matched
from urs_inspect.reports.numbers._scores import ALL, DIGITS, Columns, OrderedScores
from urs_inspect.stats import (
    Estimate,
    MeanColumn,
    MeanDraws,
    bootstrap_means,
    mean_estimates,
    rank_intervals,
)
from urs_inspect.stats._adjusted_means import (
    FEWEST_BY_SAME_RATERS,
    ByRater,
    PoweredMeans,
    RatedScores,
    powered_means,
    ratings_by_same_raters,
)
from urs_inspect.stats._bootstrap import Floats, Integers, Resampling, Scale, ratio
from urs_inspect.stats._means import contrast, effective_number, p_values
from urs_inspect.stats._paired import Pair, all_pairs, mean_differences, worst_p_values

FEWEST_RATED = 10
"""Fewest rated answers of a model for which there is a corrected mean."""
_UNLIKE_P = 0.01
_UNLIKE = 0.1
"""Rated answers are unlike the others if their judge's scores differ with such a p-value and by as
many deviations.
"""
_NO_SPREAD = 1e-12
"""Variances below this are rounding errors."""
_UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, 0)
_NEEDED = ("score", "column", "row")
"""What rated answers need to count: a score of the judge, a ranked model, a question for which
every ranked model has a score.
"""
_PAIRS = ["first", "second", "better_by_judge", "verdict", "difference", "p", "p_holm", "p_worst"]
_COLUMNS = [
    "model",
    "column",
    "rank_from",
    "rank_to",
    "mean",
    "corrected",
    "people",
    "rated",
    "worth",
    "more",
]


@dataclass(frozen=True)
class FromAll:
    """How far the judge's scores of the rated answers are from those of all answers."""

    model: str  # empty for all models together
    difference: Estimate
    deviations: float  # the difference in standard deviations of all scores
    p: float
    least_p: float  # p-values below this show that the rated answers are unlike the others

    @property
    def is_unlike(self) -> bool:
        """Whether the rated answers are no random sample."""
        return self.p < self.least_p and self.deviations >= _UNLIKE


@dataclass(frozen=True)
class CorrectedMeans:
    """Means of the models of a ranking corrected by people's ratings of some answers.

    `means` has the columns model, column (`all` or an intent), rank_from and rank_to (over all
    questions), mean (by the judge's scores), corrected, people, rated, worth and more, as
    `correct_means` says. `pairs` has one row per pair of models over all questions: first (with the
    higher mean), second, better_by_judge (which one is significantly better by the judge's scores,
    or empty), verdict, difference, p, p_holm and p_worst.
    """

    means: pd.DataFrame
    pairs: pd.DataFrame
    models: Sequence[str]  # with a corrected mean, the best first
    confounded: Sequence[str]  # models whose ratings cannot be told from their raters
    raters: Sequence[str]  # one empty name where the file has none
    coefficients: tuple[float, float]  # of the judge's scores: of questions, of models
    scale: Scale  # of the scores
    from_all: Sequence[FromAll]  # of all models and of each one; none without a corrected mean
    human: HumanRatings
    matched: Matched
    skipped: Mapping[str, int]  # as in `_Rated`

    @property
    def over_all(self) -> pd.DataFrame:
        """The means over all questions, by model."""
        return self.means[self.means["column"] == ALL].set_index("model")

    @property
    def trusted(self) -> bool:
        """Whether a report may begin with these means."""
        is_sample = not any(compared.is_unlike for compared in self.from_all)
        return self.human.weighted or is_sample

    @property
    def facts(self) -> dict[str, Any]:
        """What JSON files say beside the tables."""
        return {
            "coefficients_of_the_judge": self.coefficients,
            "raters": len(self.raters),
        }


def correct_means(
    scores: OrderedScores,
    columns: Columns,
    human: HumanRatings,
    matched: Matched,
    judged: ComparedModels,
    resampling: Resampling,
) -> CorrectedMeans:
    """Correct the means of ranked models by the ratings of a file that match answers of the logs.

    Models stand by corrected mean, those with fewer than `FEWEST_RATED` rated answers last and
    without one; then come intents for which enough answers were rated. `people` is the mean of the
    ratings alone, `rated` the answers that count, `worth` how many of equal weight without a judge
    give the same precision, and `more` how many further ones would halve the interval, NaN where
    rating all answers would not. For p_worst each missing score of the first model is the lowest
    and of the second the highest, by judge and people alike. Ratings are mapped to the scale of the
    scores.
    """
    rated = _rated_scores(scores, columns, human, matched)
    names = judged.names
    lowest, highest = scores.table.scale
    how: dict[str, Any] = {
        "reweight": scores.common_weights.reweight,
        "clusters": scores.common_clusters,
        "rounds": resampling.rounds,
        "seed": resampling.seed,
    }
    powered: dict[str, PoweredMeans] = {}
    coefficients = (0.0, 0.0)
    enough: list[int] = []
    if rated.questions:
        powered, coefficients = powered_means(
            rated.scores, rated.questions, width=highest - lowest, **how
        )
        enough = [model for model, n in enumerate(rated.counts[ALL]) if n >= FEWEST_RATED]
    confounded = _confounded(rated.scores, enough)
    best = [model for model in enough if model not in confounded]
    if best:
        corrected = powered[ALL].corrected.values
        best.sort(key=lambda model: -round(float(corrected[model]), DIGITS))
    pairs, ranks = _compared(scores, powered, best, judged, resampling)
    ranks_of = dict(zip(best, ranks, strict=True))
    from_all: Sequence[FromAll] = ()
    if best:
        from_all = _from_all(scores, rated.scores, names, enough, how)
    return CorrectedMeans(
        means=_means_table(powered, ranks_of, rated, judged, resampling.level, scores.table.scale),
        pairs=pairs,
        models=[names[model] for model in best],
        confounded=[names[model] for model in confounded],
        raters=rated.raters,
        coefficients=coefficients,
        scale=scores.table.scale,
        from_all=from_all,
        human=human,
        matched=matched,
        skipped=rated.skipped,
    )


@dataclass(frozen=True)
class _Rated:
    """Scores and ratings of the ranked models on the common questions."""

    scores: RatedScores
    raters: Sequence[str]  # one empty name where the file has none
    skipped: Mapping[str, int]  # what they lack (of `_NEEDED`) -> rated answers that do not count
    counts: Mapping[str, list[int]]  # column of means -> rated answers that count, by model
    # column with enough of them -> its places among the common questions
    questions: Mapping[str, Integers]


def _rated_scores(
    scores: OrderedScores, columns: Columns, human: HumanRatings, matched: Matched
) -> _Rated:
    table = scores.table
    rated = matched.answers
    common = table.facts.index[scores.common]
    rows = {name: row for row, name in enumerate(common)}
    ranked = table.models[: scores.ranked]
    models = {name: model for model, name in enumerate(ranked)}
    places = rated.assign(
        row=rated["question"].map(rows),
        column=rated["model"].map(models),
        people=[float(np.mean(list(ratings.values()))) for ratings in rated["ratings"]],
    )
    skipped = {}
    for needed in _NEEDED:
        skipped[needed] = int(places[needed].isna().sum())
        places = places.dropna(subset=needed)
    judge = scores.comparable[:, : scores.ranked]
    people, judge_of_rated, weights = _means_over_epochs(places, judge.shape)
    # Of a single answer the judges that count, where a part of a panel failed.
    asked = table.asked[scores.common][:, : scores.ranked]
    single = ~np.isnan(judge_of_rated) & (asked == 1)
    raters = sorted(set().union(*places["ratings"]))
    by_rater = None
    if len(raters) > 1:
        by_rater = _by_rater(places, raters, table.scale, judge.shape, human)
    rated_scores = RatedScores(
        judge,
        on_scale_of_judge(people, human.scale, table.scale),
        np.where(single, judge, judge_of_rated),
        weights,
        by_rater,
    )
    not_ranked = len(table.models) - scores.ranked
    is_rated = ~np.isnan(people)
    known = np.pad(is_rated, [(0, 0), (0, not_ranked)])
    counts = {}
    questions = {}
    for key in (ALL, *columns.groups):
        is_in_column = np.isin(scores.common, columns.questions[key])
        chosen = np.flatnonzero(is_in_column)
        counts[key] = known[chosen].sum(axis=0).tolist()
        has_weight = scores.common_weights.values[chosen].any()
        if has_weight and max(counts[key]) >= FEWEST_RATED:
            questions[key] = chosen
    return _Rated(rated_scores, raters, skipped, counts, questions)


def _means_over_epochs(places: pd.DataFrame, shape: tuple[int, ...]) -> Floats:
    """Rating, score and weight by row and column, NaN where nothing was rated.

    Shape (3, questions, models).
    """
    by_cell = places.groupby(["row", "column"])
    cells = by_cell[["people", "score", "weight"]].mean()
    rows = cells.index.get_level_values("row").to_numpy(np.int64)
    columns = cells.index.get_level_values("column").to_numpy(np.int64)
    means = np.full((3, *shape), np.nan)
    means[:, rows, columns] = cells.to_numpy().T
    return means


def _by_rater(
    place: pd.DataFrame,
    raters: Sequence[str],
    scale: Scale,
    shape: tuple[int, ...],
    human: HumanRatings,
) -> ByRater:
    """The ratings of answers, with the row and column of each, by rater.

    The shape is (questions, models).
    """
    shares, parts = np.zeros((2, *shape, len(raters)))
    epochs = place.groupby(["row", "column"])["ratings"].transform("size")
    cells = zip(place["row"], place["column"], place["ratings"], epochs, strict=True)
    for row, column, ratings, answers in cells:
        share = 1 / (len(ratings) * answers)
        for rater, rating in ratings.items():
            cell = (int(row), int(column), raters.index(rater))
            rescaled = on_scale_of_judge(np.array(rating), human.scale, scale)
            shares[cell] += share
            parts[cell] += share * float(rescaled)
    return ByRater(shares, parts)


def _means_table(
    powered: Mapping[str, PoweredMeans],
    ranks: Mapping[int, Pair],
    rated: _Rated,
    judged: ComparedModels,
    level: float,
    scale: Scale,
) -> pd.DataFrame:
    """`CorrectedMeans.means`; ranks are those of the models with a corrected mean."""
    rows = []
    for key, part in powered.items():
        weights = rated.scores.weights[rated.questions[key]]
        corrected = mean_estimates(part.corrected, level, scale)
        people = mean_estimates(part.people, level, scale)
        for model, rank in ranks.items():
            n = rated.counts[key][model]
            if n < FEWEST_RATED:
                continue
            place = rank if key == ALL else (None, None)
            means = (judged.means[key][model], corrected[model], people[model])
            worth = _worth(part, model, weights[:, model])
            rows.append((judged.names[model], key, *place, *means, n, *worth))
    for model, (name, mean) in enumerate(zip(judged.names, judged.means[ALL], strict=True)):
        if model not in ranks:
            means = (mean, _UNKNOWN, _UNKNOWN)
            n = rated.counts[ALL][model]
            rows.append((name, ALL, None, None, *means, n, math.nan, math.nan))
    rows.sort(key=lambda row: row[1] != ALL)  # intents come last
    return pd.DataFrame(rows, columns=_COLUMNS, dtype=object)


def _confounded(rated: RatedScores, models: Sequence[int]) -> list[int]:
    """Models outside the largest group that enough ratings by the same people link."""
    if rated.raters is None or len(models) < 2:
        return []
    from scipy.sparse.csgraph import connected_components

    shared_ratings = ratings_by_same_raters(rated.raters.shares.sum(axis=0))
    linked = shared_ratings[np.ix_(models, models)] >= FEWEST_BY_SAME_RATERS
    _, group_of = connected_components(linked, directed=False)
    sizes = np.bincount(group_of)
    if sizes.max() == 1:
        return list(models)
    largest = sizes.argmax()
    return [model for model, group in zip(models, group_of, strict=True) if group != largest]


def _compared(
    scores: OrderedScores,
    powered: Mapping[str, PoweredMeans],
    best: Sequence[int],
    judged: ComparedModels,
    resampling: Resampling,
) -> tuple[pd.DataFrame, tuple[Pair, ...]]:
    """Compare the models with a corrected mean, the best first."""
    if not best:
        return pd.DataFrame(columns=_PAIRS), ()
    chosen = np.eye(scores.ranked)[:, best]
    means = contrast(powered[ALL].corrected, chosen)
    table = scores.table
    not_scored = table.missing.sum(axis=0)
    asked = table.asked.sum(axis=0)
    missing = ratio(not_scored, asked)[best]
    scored = 1 - missing

    def filled(score: float) -> MeanDraws:
        values = means.values * scored + score * missing
        draws = means.draws * scored + score * missing
        return MeanDraws(values, draws, means.n, means.seed, means.clusters)

    lowest, highest = table.scale
    return compare_means(
        means,
        (filled(lowest), filled(highest)),
        [table.models[model] for model in best],
        judged,
        resampling,
        (lowest - highest, highest - lowest),
    )


def compare_means(
    means: MeanDraws,
    worst: tuple[MeanDraws, MeanDraws],
    models: Sequence[str],
    judged: ComparedModels,
    resampling: Resampling,
    scale: Scale | None = None,
) -> tuple[pd.DataFrame, tuple[Pair, ...]]:
    """Compare models by other means than those of the judge's scores.

    Returns `CorrectedMeans.pairs` and the ranks that each model may have. `worst` are the means if
    each missing score were the lowest, and the highest.
    """
    pairs = []
    for pair in all_pairs(len(models)):
        better, worse = sorted(pair, key=lambda model: -means.values[model])
        pairs.append((better, worse))
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    own = np.eye(len(models))
    low, high = worst
    least = MeanDraws(
        low.values[first] - high.values[second],
        low.draws[:, first] - high.draws[:, second],
        np.minimum(low.n[first], high.n[second]),
        means.seed,
        np.minimum(low.clusters[first], high.clusters[second]),
    )
    differences = contrast(means, own[:, first] - own[:, second])
    p_worst = worst_p_values(least.values, p_values(least))
    tested = mean_differences(differences, pairs, resampling.level, worst=p_worst, scale=scale)
    better_by_judge = {frozenset(lead): lead[0] for lead in judged.leads}
    rows = []
    for found in tested:
        names = (models[found.first], models[found.second])
        name = better_by_judge.get(frozenset(names), "")
        tests = (found.difference, found.p, found.p_holm, found.p_worst)
        rows.append((*names, name, verdict_of(found), *tests))
    significant = [(pair.first, pair.second) for pair in tested if pair.significant]
    ranks = rank_intervals(len(models), significant)
    return pd.DataFrame(rows, columns=_PAIRS), ranks


def _worth(powered: PoweredMeans, model: int, weights: Floats) -> tuple[float, float]:
    """How many equal ratings alone are as precise as those with the judge.

    And how many more ratings halve the interval. Weights are those of a model's ratings, NaN where
    an answer was not rated.
    """
    whole = float(np.nanvar(powered.corrected.draws[:, model]))
    alone = float(np.nanvar(powered.people.draws[:, model]))
    floor = float(np.nanvar(powered.predicted.draws[:, model]))
    if min(whole, alone) < _NO_SPREAD:
        return math.nan, math.nan
    given = weights[~np.isnan(weights)]
    worth = effective_number(given) * alone / whole
    if whole <= 4 * floor:
        return worth, math.nan
    # More ratings reduce only the part of the variance that they make themselves.
    needed = (whole - floor) * len(given) / (whole / 4 - floor)
    if needed > len(weights):
        return worth, math.nan
    return worth, math.ceil(needed - len(given))


def _from_all(
    scores: OrderedScores,
    rated: RatedScores,
    names: Sequence[str],
    enough: Sequence[int],
    how: dict[str, Any],
) -> list[FromAll]:
    """Compare the judge's scores of rated answers with those of all answers of the same models.

    Of all models together, and of each one with enough rated answers.
    """
    means = np.average(rated.judge, axis=0, weights=scores.common_weights.values)
    above_mean = rated.judge - means
    not_rated = np.isnan(rated.people)
    weights = np.where(not_rated, 0.0, rated.weights)
    questions = np.flatnonzero(weights.any(axis=1))
    weights_of_models = weights[questions][:, enough]
    sums_of_models = weights_of_models * above_mean[questions][:, enough]
    weights_of_all = weights[questions].sum(axis=1)
    weighted = weights * above_mean
    sums_of_all = weighted[questions].sum(axis=1)
    above = np.column_stack([sums_of_all, sums_of_models])
    below = np.column_stack([weights_of_all, weights_of_models])
    column = MeanColumn(questions, np.hstack([above, below]))
    [sums] = bootstrap_means([column], len(above_mean), **how)
    several = above.shape[1]
    questions_of_models = np.count_nonzero(weights_of_models, axis=0)
    counts = np.concatenate([[len(questions)], questions_of_models])
    differences = MeanDraws(
        ratio(sums.values[:several], sums.values[several:]),
        ratio(sums.draws[:, :several], sums.draws[:, several:]),
        counts,
        sums.seed,
        np.minimum(sums.clusters[:several], counts),
    )
    of_each = zip(
        ["", *(names[model] for model in enough)],
        mean_estimates(differences),
        [above_mean.std(), *above_mean[:, enough].std(axis=0)],
        p_values(differences),
        strict=True,
    )
    compared = []
    for name, difference, spread, p in of_each:
        deviations = 0.0
        if spread > 0:
            deviations = abs(difference.value) / spread
        least_p = _UNLIKE_P
        if name:
            least_p = _UNLIKE_P / len(enough)
        compared.append(FromAll(name, difference, deviations, float(p), least_p))
    return compared
