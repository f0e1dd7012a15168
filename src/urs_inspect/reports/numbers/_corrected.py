"""People's ratings of some answers -> means of all models that no bias of the judge moves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports._texts import DASH, Format, decimals, listed, number, p_value
from urs_inspect.reports.numbers._agreement import Matched
from urs_inspect.reports.numbers._alternatives import PAIRS, Alternative, compare, lost_leads
from urs_inspect.reports.numbers._comparison import ComparedModels
from urs_inspect.reports.numbers._human_data import HumanRatings, on_scale_of_judge
from urs_inspect.reports.numbers._scores import ALL, DIGITS, Columns, OrderedScores
from urs_inspect.stats import Estimate, MeanColumn, MeanDraws, bootstrap_means, mean_estimates
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
from urs_inspect.stats._paired import Pair

FEWEST_RATED = 10
"""Fewest rated answers of a model for which there is a corrected mean."""
_FEW_RATERS = 9
"""Most raters whom a headline counts."""
_UNLIKE_P = 0.01
_UNLIKE = 0.1
"""Rated answers are unlike the others if their judge's scores differ with such a p-value and by as
many deviations.
"""
_MOST_UNLIKE = 2
"""Models whose rated answers are unlike the others that a warning names."""
_NO_SPREAD = 1e-12
"""Variances below this are rounding errors."""
_UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, 0)
_NOT_COUNTED = {
    "score": "without a score of the judge",
    "column": "of models that are not ranked",
    "row": "to questions for which not every ranked model has a score",
}
"""What rated answers lack that do not count -> the same in words."""
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


def correct_means(
    scores: OrderedScores,
    columns: Columns,
    human: HumanRatings,
    matched: Matched,
    judged: ComparedModels,
    resampling: Resampling,
) -> Alternative:
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
    numbers = _corrected_means(scores, rated, judged, resampling)
    return _alternative(numbers, _about_ratings(human, matched, rated), human, judged)


# --- numbers ---


@dataclass(frozen=True)
class _Rated:
    """Scores and ratings of the ranked models on the common questions."""

    scores: RatedScores
    raters: Sequence[str]  # one empty name where the file has none
    skipped: Mapping[str, int]  # what rated answers lack that do not count -> how many
    counts: Mapping[str, list[int]]  # column of means -> rated answers that count, by model
    # column with enough of them -> its places among the common questions
    questions: Mapping[str, Integers]


@dataclass(frozen=True)
class _FromAll:
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
class _Corrected:
    """Means corrected by people's ratings, the tables as in `Alternative`."""

    means: pd.DataFrame
    pairs: pd.DataFrame
    models: Sequence[str]  # with a corrected mean, the best first
    confounded: Sequence[str]
    raters: Sequence[str]
    coefficients: tuple[float, float]
    scale: Scale  # of the scores
    from_all: Sequence[_FromAll]  # of all models and of each one; none without a corrected mean


def _rated_scores(
    scores: OrderedScores, columns: Columns, human: HumanRatings, matched: Matched
) -> _Rated:
    table = scores.table
    rated = matched.answers
    rows = {name: row for row, name in enumerate(table.facts.index[scores.common])}
    models = {name: model for model, name in enumerate(table.models[: scores.ranked])}
    places = rated.assign(
        row=rated["question"].map(rows),
        column=rated["model"].map(models),
        people=[float(np.mean(list(by_rater.values()))) for by_rater in rated["ratings"]],
    )
    skipped = {}
    for needed in _NOT_COUNTED:
        skipped[needed] = int(places[needed].isna().sum())
        places = places.dropna(subset=needed)
    judge = scores.comparable[:, : scores.ranked]
    people, judge_of_rated, weights = _means_over_epochs(places, judge.shape)
    # Of a single answer the judges that count, where a part of a panel failed.
    single = ~np.isnan(judge_of_rated) & (table.asked[scores.common][:, : scores.ranked] == 1)
    raters = sorted(set().union(*places["ratings"]))
    rated_scores = RatedScores(
        judge,
        on_scale_of_judge(people, human.scale, table.scale),
        np.where(single, judge, judge_of_rated),
        weights,
        _by_rater(places, raters, table.scale, judge.shape, human) if len(raters) > 1 else None,
    )
    known = np.pad(~np.isnan(people), [(0, 0), (0, len(table.models) - scores.ranked)])
    counts = {}
    questions = {}
    for key in (ALL, *columns.groups):
        chosen = np.flatnonzero(np.isin(scores.common, columns.questions[key]))
        counts[key] = known[chosen].sum(axis=0).tolist()
        if scores.common_weights.values[chosen].any() and max(counts[key]) >= FEWEST_RATED:
            questions[key] = chosen
    return _Rated(rated_scores, raters, skipped, counts, questions)


def _means_over_epochs(places: pd.DataFrame, shape: tuple[int, ...]) -> Floats:
    """Rating, score and weight by row and column, NaN where nothing was rated.

    Shape (3, questions, models).
    """
    cells = places.groupby(["row", "column"])[["people", "score", "weight"]].mean()
    rows, columns = (cells.index.get_level_values(level).to_numpy(np.int64) for level in (0, 1))
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
    for row, column, ratings, answers in zip(
        place["row"], place["column"], place["ratings"], epochs, strict=True
    ):
        for rater, rating in ratings.items():
            cell = (int(row), int(column), raters.index(rater))
            share = 1 / (len(ratings) * answers)
            shares[cell] += share
            parts[cell] += share * float(on_scale_of_judge(np.array(rating), human.scale, scale))
    return ByRater(shares, parts)


def _corrected_means(
    scores: OrderedScores, rated: _Rated, judged: ComparedModels, resampling: Resampling
) -> _Corrected:
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
    best.sort(key=lambda model: -round(float(powered[ALL].corrected.values[model]), DIGITS))
    pairs, ranks = _compared(scores, powered, best, judged, resampling)
    return _Corrected(
        _means_table(
            powered,
            dict(zip(best, ranks, strict=True)),
            rated,
            judged,
            resampling.level,
            scores.table.scale,
        ),
        pairs,
        [names[model] for model in best],
        [names[model] for model in confounded],
        rated.raters,
        coefficients,
        scores.table.scale,
        _from_all(scores, rated.scores, names, enough, how) if best else (),
    )


def _means_table(
    powered: Mapping[str, PoweredMeans],
    ranks: Mapping[int, Pair],
    rated: _Rated,
    judged: ComparedModels,
    level: float,
    scale: Scale,
) -> pd.DataFrame:
    """`means` of an `Alternative`; ranks are those of the models with a corrected mean."""
    rows = []
    for key, part in powered.items():
        weights = rated.scores.weights[rated.questions[key]]
        corrected = mean_estimates(part.corrected, level, scale)
        people = mean_estimates(part.people, level, scale)
        for model, rank in ranks.items():
            n = rated.counts[key][model]
            if n >= FEWEST_RATED:
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
    linked = ratings_by_same_raters(rated.raters.shares.sum(axis=0)) >= FEWEST_BY_SAME_RATERS
    groups: list[list[int]] = []
    for model in models:
        reached = [group for group in groups if linked[model, group].any()]
        groups = [group for group in groups if group not in reached]
        groups.append(sorted({model}.union(*reached)))
    largest = max(groups, key=len)
    if len(largest) == 1:
        return list(models)
    return [model for model in models if model not in largest]


def _compared(
    scores: OrderedScores,
    powered: Mapping[str, PoweredMeans],
    best: Sequence[int],
    judged: ComparedModels,
    resampling: Resampling,
) -> tuple[pd.DataFrame, tuple[Pair, ...]]:
    """Compare the models with a corrected mean, the best first."""
    if not best:
        return pd.DataFrame(columns=PAIRS), ()
    means = contrast(powered[ALL].corrected, np.eye(scores.ranked)[:, best])
    missing = ratio(scores.table.missing.sum(axis=0), scores.table.asked.sum(axis=0))[best]

    def filled(score: float) -> MeanDraws:
        values, draws = (
            part * (1 - missing) + score * missing for part in (means.values, means.draws)
        )
        return MeanDraws(values, draws, means.n, means.seed)

    lowest, highest = scores.table.scale
    return compare(
        means,
        (filled(lowest), filled(highest)),
        [scores.table.models[model] for model in best],
        judged,
        resampling,
        (lowest - highest, highest - lowest),
    )


def _worth(found: PoweredMeans, model: int, weights: Floats) -> tuple[float, float]:
    """How many equal ratings alone are as precise as those with the judge.

    And how many more ratings halve the interval. Weights are those of a model's ratings, NaN where
    an answer was not rated.
    """
    draws = (part.draws[:, model] for part in (found.corrected, found.people, found.predicted))
    whole, alone, floor = (float(np.nanvar(part)) for part in draws)
    if min(whole, alone) < _NO_SPREAD:
        return math.nan, math.nan
    given = weights[~np.isnan(weights)]
    worth = effective_number(given) * alone / whole
    if whole <= 4 * floor:
        return worth, math.nan
    # More ratings reduce only the part of the variance that they make themselves.
    needed = (whole - floor) * len(given) / (whole / 4 - floor)
    return worth, math.ceil(needed - len(given)) if needed <= len(weights) else math.nan


def _from_all(
    scores: OrderedScores,
    rated: RatedScores,
    names: Sequence[str],
    enough: Sequence[int],
    how: dict[str, Any],
) -> list[_FromAll]:
    """Compare the judge's scores of rated answers with those of all answers of the same models.

    Of all models together, and of each one with enough rated answers.
    """
    own = rated.judge - np.average(rated.judge, axis=0, weights=scores.common_weights.values)
    weights = np.where(np.isnan(rated.people), 0.0, rated.weights)
    questions = np.flatnonzero(weights.any(axis=1))
    of_models = weights[questions][:, enough]
    scored = of_models * own[questions][:, enough]
    above = np.column_stack([(weights * own)[questions].sum(axis=1), scored])
    below = np.column_stack([weights[questions].sum(axis=1), of_models])
    column = MeanColumn(questions, np.hstack([above, below]))
    [sums] = bootstrap_means([column], len(own), **how)
    several = above.shape[1]
    counts = np.concatenate([[len(questions)], np.count_nonzero(of_models, axis=0)])
    off = MeanDraws(
        ratio(sums.values[:several], sums.values[several:]),
        ratio(sums.draws[:, :several], sums.draws[:, several:]),
        counts,
        sums.seed,
        None if sums.drawn is None else np.minimum(sums.drawn[:several], counts),
    )
    spreads = [own.std(), *own[:, enough].std(axis=0)]
    named = ["", *(names[model] for model in enough)]
    found = []
    for name, difference, spread, p in zip(
        named, mean_estimates(off), spreads, p_values(off), strict=True
    ):
        deviations = abs(difference.value) / spread if spread > 0 else 0.0
        least = _UNLIKE_P / len(enough) if name else _UNLIKE_P
        found.append(_FromAll(name, difference, deviations, float(p), least))
    return found


# --- sentences ---


def _alternative(
    numbers: _Corrected,
    notes: Sequence[str],
    human: HumanRatings,
    judged: ComparedModels,
) -> Alternative:
    """The corrected means and what is said of them."""
    names = judged.names
    short = judged.short
    lowest, highest = numbers.scale
    digits = decimals(highest - lowest)
    confounded = _about_confounded(numbers, short)
    alone = numbers.means[numbers.means["column"].eq(ALL) & numbers.means["rated"].lt(FEWEST_RATED)]
    few = ", ".join(f"{short[name]} {n}" for name, n in alone[["model", "rated"]].to_numpy())
    mapped = ""
    if human.scale != numbers.scale:
        low, high = human.scale
        mapped = (
            f"People's ratings from {low:g} to {high:g} are mapped linearly to the judge's"
            f" scale, {lowest:g} to {highest:g}."
        )
    trusted = True
    if not numbers.from_all:
        headline = confounded or (
            f"Fewer than {FEWEST_RATED} rated answers for every model ({few}), so nothing is"
            " corrected. The judge's ranking is below."
        )
        about = [headline, *notes]
        warnings = [confounded, human.doubt]
        start = [headline, human.doubt, mapped]
    else:
        signed = number(digits, sign=True)
        unlike = _about_unlike(numbers.from_all, signed, short, human.weighted)
        trusted = human.weighted or not unlike
        lacking = (
            f"No corrected mean, because fewer than {FEWEST_RATED} rated answers count: {few}."
        )
        warnings = [
            unlike,
            confounded,
            human.doubt,
            lacking if few and not confounded else "",
            _about_order(numbers, names, short),
            *lost_leads(numbers.pairs, judged.leads, names, "people's ratings", digits),
        ]
        start = [
            _headline(numbers, short, number(digits)),
            *warnings,
            _about_raters(numbers.raters),
            _about_worth(numbers, short, human.weighted),
            lacking if few and confounded else "",
            mapped,
        ]
        about = [
            *_explained(*numbers.coefficients),
            *notes,
            _about_sample(numbers.from_all[0], signed, human.weighted),
        ]
    return Alternative(
        name="corrected",
        title="Corrected by people",
        means=numbers.means,
        pairs=numbers.pairs,
        notes=tuple(about),
        start=tuple(filter(None, start)),
        warnings=tuple(filter(None, warnings)),
        facts={
            "coefficients_of_the_judge": numbers.coefficients,
            "raters": len(numbers.raters),
        },
        digits=digits,
        trusted=trusted,
    )


def _about_ratings(human: HumanRatings, matched: Matched, rated: _Rated) -> list[str]:
    """How many ratings there are, and which do not count."""
    ratings = sum(map(len, matched.answers["ratings"]))
    answers = len(matched.answers)
    people = len(set().union(*matched.answers["ratings"]) - {""})
    by = f" by {counted(people, 'person', 'people')}" if people else ""
    notes = [
        f"{counted(ratings, 'rating')}{by} of {counted(answers, 'answer')} in {human.path}.",
        *matched.notes,
        *human.repeats,
    ]
    if ratings > answers:
        notes.append("Several ratings of an answer are averaged and count as one.")
    for needed, number_of in rated.skipped.items():
        if number_of:
            notes.append(f"{counted(number_of, 'rated answer')} {_NOT_COUNTED[needed]}, skipped.")
    return notes


def _about_confounded(numbers: _Corrected, short: Mapping[str, str]) -> str:
    """That ratings of some models cannot be told from their raters."""
    names = [short[name] for name in numbers.confounded]
    if not names:
        return ""
    whom = names
    nothing = "Nothing is corrected"
    if numbers.models:
        whom = [*names, "the other models"]
        nothing = f"No corrected mean of {listed(names)}"
    return (
        f"Raters and models are confounded: too few answers of {listed(whom)} were rated by the"
        " same people, so that a better model cannot be told from a more lenient rater."
        f" {nothing}."
    )


def _about_order(numbers: _Corrected, names: Sequence[str], short: Mapping[str, str]) -> str:
    """How the order of the models is another than by the judge's means."""
    order = numbers.models
    before = sorted(order, key=names.index)
    if order == before:
        return ""
    pairs = numbers.pairs
    moved = pairs[pairs["first"].map(names.index) > pairs["second"].map(names.index)]
    clear = int(moved["verdict"].eq("significant").sum())
    top = ""
    if order[0] != before[0]:
        top = f"{short[order[0]]} is first, not {short[before[0]]}; "
    return (
        f"People's ratings change the order: {top}{len(moved):,} of"
        f" {counted(len(pairs), 'pair')} of models change places, {clear or 'none'} of them"
        f" with a significant difference. It is now {listed([short[name] for name in order])}."
    )


def _explained(about_question: float, about_model: float) -> tuple[str, ...]:
    """How corrected means are to be read."""
    return (
        (
            "A corrected mean estimates what people would give on average if they rated every"
            " answer to the questions of this ranking: the judge's scores predict it, and people's"
            " ratings of some answers correct the prediction (prediction-powered inference), so"
            " that no bias of the judge moves it."
        ),
        (
            f"A point of the judge predicts {about_question:.2f} points of people where it is about"
            f" a question, and {about_model:.2f} where it is about a model beside the others on it;"
            " at 0, people count alone."
        ),
        (
            "Worth: how many ratings of equal weight without a judge give the same precision. More"
            f" to halve: further rated answers that would halve the interval; {DASH} where rating"
            " all answers would not."
        ),
    )


def _about_raters(raters: Sequence[str]) -> str:
    """Whom the intervals are about, and whether it is taken out how lenient each one is."""
    if not any(raters):
        return (
            "The file names no raters: if other people rated one model than another, how lenient"
            " they are counts as a difference of the models."
        )
    if len(raters) == 1:
        return "Intervals are about this 1 person who rated; others may rate otherwise."
    return (
        f"Intervals are about these {len(raters):,} people who rated; others may rate otherwise."
        " How lenient each one is beside the others on the same models is taken out."
    )


def _headline(numbers: _Corrected, short: Mapping[str, str], mean: Format) -> str:
    means = numbers.means["corrected"][: len(numbers.models)]
    best, *others = numbers.models
    rated = counted(_rated_answers(numbers), "answer")
    text = f"By means corrected with {_whose(numbers.raters, rated)}, "
    if others and not any(numbers.raters):
        text = (
            "If the same people rated all models, which a file without raters cannot show, then by"
            f" means corrected with their ratings of {rated} "
        )
    values = [round(each.value, DIGITS) for each in means]
    equal = [name for name, value in zip(numbers.models, values, strict=True) if value == values[0]]
    text += f"{listed([short[name] for name in equal])} {'share' if equal[1:] else 'has'} "
    text += f"{'the highest mean, ' if others else 'a mean of '}{mean(means[0])}"
    pairs = numbers.pairs
    significant = pairs["verdict"].eq("significant") & pairs["first"].eq(best)
    beaten = set(pairs.loc[significant, "second"])
    if beaten:
        text += f", significantly above {_how_many(len(beaten), [short[name] for name in others])}"
    unclear = [short[name] for name in others if name not in {*beaten, *equal}]
    if unclear:
        text += f"; it is not significantly above {listed(unclear, 'or')}"
    return f"{text}."


def _whose(raters: Sequence[str], rated: str) -> str:
    """Whose ratings correct, since an interval is about few people and not about all."""
    named = len([name for name in raters if name])
    if not 0 < named <= _FEW_RATERS:
        return f"people's ratings of {rated}"
    people = "one person" if named == 1 else f"these {named} people"
    return f"ratings of {rated} by {people}"


def _how_many(beaten: int, others: Sequence[str]) -> str:
    """How many of the other models are meant, by name if there is only one."""
    if len(others) == 1:
        return others[0]
    part = "all" if beaten == len(others) else f"{beaten} of"
    return f"{part} {counted(len(others), 'other')}"


def _rated_answers(numbers: _Corrected) -> int:
    return int(numbers.means["rated"][: len(numbers.models)].sum())


def _about_worth(numbers: _Corrected, short: Mapping[str, str], weighted: bool) -> str:
    """What the judge added to the ratings, and what more of them would bring."""
    means = numbers.means[: len(numbers.models)]
    unknown = means.loc[means["worth"].isna(), "model"]
    if len(unknown):
        return (
            "What ratings are worth is not computed, because those of"
            f" {listed([short[name] for name in unknown])} do not vary."
        )
    top: Any = means.iloc[0]
    more = "rating all of its answers would not halve its interval"
    if not math.isnan(top["more"]):
        more = f"{counted(top['more'], 'more rated answer')} of it would halve its interval"
    even = " of equal weight" if weighted else ""
    return (
        f"{counted(_rated_answers(numbers), 'rated answer')} gave the precision of"
        f" {means['worth'].sum():,.0f}{even} without the judge. For {short[top['model']]},"
        f" {top['rated']:,} gave that of {top['worth']:,.0f}; {more}."
    )


def _figures(found: _FromAll, signed: Format) -> str:
    """How the judge's scores of rated answers compare with those of all."""
    return (
        f"{signed(found.difference)} from that of all answers"
        f" ({found.deviations:.2f} standard deviations, p {p_value(found.p)})"
    )


def _about_sample(found: _FromAll, signed: Format, weighted: bool) -> str:
    sample = "count as a random sample, as the file has no column 'weight'"
    if weighted:
        sample = "are weighted by the column 'weight'"
    return (
        f"Rated answers {sample}; the judge's mean score of them is {_figures(found, signed)} of"
        " the same models."
    )


def _about_unlike(
    found: Sequence[_FromAll], signed: Format, short: Mapping[str, str], weighted: bool
) -> str:
    """A warning where the rated answers are no random sample."""
    together, *by_model = found
    unlike = [each for each in by_model if each.is_unlike]
    if not unlike and not together.is_unlike:
        return ""
    even = ", even with their weights" if weighted else ""
    whose = []
    for each in unlike[:_MOST_UNLIKE]:
        whose.append(f"of {short[each.model]} {_figures(each, signed)}")
    if len(unlike) > _MOST_UNLIKE:
        whose.append(f"and of {counted(len(unlike) - _MOST_UNLIKE, 'more model')}")
    if not unlike:
        whose = [f"of all models {_figures(together, signed)}"]
    return (
        f"The rated answers are unlike the others{even}: the judge's mean score of them is"
        f" {'; '.join(whose)}. Corrected means assume a random sample; their intervals may miss"
        " the truth."
    )
