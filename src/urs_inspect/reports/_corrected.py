"""People's ratings of some answers -> means of all models that no bias of the judge moves."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs._naming import short_names
from urs_inspect.reports._agreement import Matched
from urs_inspect.reports._alternatives import PAIRS, Alternative, compare, lost_leads
from urs_inspect.reports._comparison import ComparedModels
from urs_inspect.reports._human_data import HumanRatings, on_scale_of_judge
from urs_inspect.reports._scores import ALL, DIGITS, Columns, OrderedScores
from urs_inspect.reports._tables import DASH, listed, number, p_value
from urs_inspect.rubrics import HIGHEST, LOWEST
from urs_inspect.stats import Estimate, MeanColumn, MeanDraws, bootstrap_means, mean_estimates
from urs_inspect.stats._adjusted_means import (
    FEWEST_BY_SAME_RATERS,
    ByRater,
    PoweredMeans,
    RatedScores,
    powered_means,
    ratings_by_same_raters,
)
from urs_inspect.stats._bootstrap import Resampling, ratio
from urs_inspect.stats._means import contrast, effective_number, p_values
from urs_inspect.stats._paired import Pair

FEWEST_RATED = 10
"""Fewest rated answers of a model for which there is a corrected mean."""
_UNLIKE_P = 0.01
_UNLIKE = 0.1
"""Rated answers are unlike the others if their judge's scores differ with such a p-value and by as
many deviations.
"""
_NO_SPREAD = 1e-12
"""Variances below this are rounding errors."""
_SCALE = (float(LOWEST), float(HIGHEST))
_WIDE = (LOWEST - HIGHEST, HIGHEST - LOWEST)
_UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, 0)
_MEAN = number(2)
_SIGNED = number(2, sign=True)
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
    """Correct the means of ranked models by the ratings of a file that match answers of the
    ranking's logs.

    Models stand by corrected mean, those with fewer than `FEWEST_RATED` rated answers last and
    without one; then come intents for which enough answers were rated. `people` is the mean of the
    ratings alone, `rated` the answers that count, `worth` how many of equal weight without a judge
    give the same precision, and `more` how many further ones would halve the interval, NaN where
    rating all answers would not. For p_worst each missing score of the first model is 1 and of the
    second 10, by judge and people alike.
    """
    names = scores.table.models
    given = scores.common_weights
    short = short_names(names)
    rated, raters, notes = _rated_scores(scores, human, matched)
    known = np.zeros((len(scores.common), len(names)), dtype=bool)
    known[:, : scores.ranked] = ~np.isnan(rated.people)
    chosen = {
        key: np.flatnonzero(np.isin(scores.common, columns.questions[key]))
        for key in (ALL, *columns.groups)
    }
    counts = {key: known[rows].sum(axis=0).tolist() for key, rows in chosen.items()}
    kept = {
        key: rows
        for key, rows in chosen.items()
        if given.values[rows].any() and max(counts[key]) >= FEWEST_RATED
    }
    how: dict[str, Any] = {
        "reweight": given.reweight,
        "clusters": scores.common_clusters,
        "rounds": resampling.rounds,
        "seed": resampling.seed,
    }
    found, coefficients = powered_means(rated, kept, **how) if kept else ({}, (0.0, 0.0))
    best = [model for model in range(len(names)) if kept and counts[ALL][model] >= FEWEST_RATED]
    confounded = _confounded(rated, best)
    best = [model for model in best if model not in confounded]
    best.sort(key=lambda model: -round(float(found[ALL].corrected.values[model]), DIGITS))
    pairs, ranks = _compared(scores, found, best, judged, resampling)
    rows = []
    for key, part in found.items():
        corrected, people = (
            mean_estimates(draws, resampling.level, _SCALE)
            for draws in (part.corrected, part.people)
        )
        for place, model in enumerate(best):
            if (n := counts[key][model]) >= FEWEST_RATED:
                rank = ranks[place] if key == ALL else (None, None)
                numbers = (judged.means[key][model], corrected[model], people[model], n)
                weights = rated.weights[kept[key], model]
                equal = effective_number(weights[~np.isnan(weights)])
                rows.append(
                    (
                        names[model],
                        key,
                        *rank,
                        *numbers,
                        *_worth(part, model, n, equal, len(kept[key])),
                    )
                )
    without = {name: counts[ALL][model] for model, name in enumerate(names) if model not in best}
    rows[len(best) : len(best)] = [
        (
            name,
            ALL,
            None,
            None,
            judged.means[ALL][names.index(name)],
            _UNKNOWN,
            _UNKNOWN,
            n,
            math.nan,
            math.nan,
        )
        for name, n in without.items()
    ]
    few = {name: n for name, n in without.items() if n < FEWEST_RATED}
    fewer = ", ".join(f"{short[name]} {n}" for name, n in few.items())
    lacking = [
        f"No corrected mean, because fewer than {FEWEST_RATED} rated answers count: {fewer}."
    ]
    lowest, highest = human.scale
    mapped = (
        f"People's ratings from {lowest:g} to {highest:g} are mapped linearly to the judge's scale,"
        " 1 to 10."
    )
    warnings = (
        [_about_confounded([short[names[model]] for model in confounded], bool(best))]
        if confounded
        else []
    )
    warnings += [human.doubt] if human.doubt else []
    warnings += _unlike_all(scores, rated, human, how, notes) if best else []
    order = [names[model] for model in best]
    if order != [names[model] for model in sorted(best)]:
        moved = pairs[
            [names.index(row.first) > names.index(row.second) for row in pairs.itertuples()]
        ]
        clear = int(moved["verdict"].eq("significant").sum())
        top = (
            f"{short[order[0]]} is first, not {short[names[min(best)]]}; "
            if best[0] != min(best)
            else ""
        )
        warnings.append(
            f"People's ratings change the order: {top}{len(moved):,} of"
            f" {counted(len(pairs), 'pair')} of models change places, {clear or 'none'} of them"
            f" with a significant difference. It is now {listed([short[name] for name in order])}."
        )
    warnings += lost_leads(pairs, judged.leads, names, "people's ratings")
    means = pd.DataFrame(rows, columns=_COLUMNS, dtype=object)
    first, second = coefficients
    explained = (
        (
            "A corrected mean estimates what people would give on average if they rated every"
            " answer to the questions of this ranking: the judge's scores predict it, and people's"
            " ratings of some answers correct the prediction (prediction-powered inference), so"
            " that no bias of the judge moves it."
        ),
        (
            f"A point of the judge predicts {first:.2f} points of people where it is about a"
            f" question, and {second:.2f} where it is about a model beside the others on it; at 0,"
            " people count alone."
        ),
        (
            "Worth: how many ratings of equal weight without a judge give the same precision. More"
            f" to halve: further rated answers that would halve the interval; {DASH} where rating"
            " all answers would not."
        ),
    )
    if best:
        headline, worth = _in_words(means[: len(best)], pairs, short, human.weighted, any(raters))
    elif confounded:
        headline = warnings.pop(0)
        worth = []
    else:
        few_rated = f"No model has {FEWEST_RATED} answers rated by people that count: {fewer}"
        headline = f"{few_rated}. Nothing is corrected."
        worth = []
    start = [headline, *warnings]
    if best:
        start += _about_raters(raters)
    start += worth
    if few and best:
        start += lacking
    if human.scale != _SCALE:
        start.append(mapped)
    if confounded and not best:
        warnings.insert(0, headline)
    return Alternative(
        name="corrected",
        title="Corrected by people",
        means=means,
        pairs=pairs,
        notes=(*explained, *notes) if best else (headline, *notes),
        start=tuple(start),
        warnings=tuple(warnings),
        facts={"coefficients_of_the_judge": coefficients, "raters": len(raters)},
    )


def _confounded(rated: RatedScores, models: Sequence[int]) -> list[int]:
    """Models that too few ratings by the same people link with the others, outside the largest
    linked group.
    """
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


def _about_confounded(names: Sequence[str], others: bool) -> str:
    """That ratings of some models cannot be told from their raters."""
    whom = [*names, "the other models"] if others else names
    return (
        f"Raters and models are confounded: too few answers of {listed(whom)} were rated by the"
        " same people, so that a better model cannot be told from a more lenient rater."
        f" {f'No corrected mean of {listed(names)}' if others else 'Nothing is corrected'}."
    )


def _about_raters(raters: Sequence[str]) -> list[str]:
    """Whom the intervals are about, and whether it is taken out how lenient each one is."""
    if not any(raters):
        return [
            "The file names no raters: if other people rated one model than another, how lenient"
            " they are counts as a difference of the models."
        ]
    people = counted(len(raters), "person", "people")
    if len(raters) == 1:
        return [f"Intervals are about this {people} who rated; others may rate otherwise."]
    return [
        f"Intervals are about these {people} who rated; others may rate otherwise. How lenient each"
        " one is beside the others on the same models is taken out."
    ]


def _in_words(
    means: pd.DataFrame,
    pairs: pd.DataFrame,
    short: Mapping[str, str],
    weighted: bool,
    raters_known: bool,
) -> tuple[str, list[str]]:
    """The headline; and what the judge added to the ratings, and what more of them would bring."""
    top: Any = means.iloc[0]
    names = list(means["model"])
    n = int(means["rated"].sum())
    name = short[top["model"]]
    value = round(float(top["corrected"].value), DIGITS)
    equal = [
        other
        for other, mean in zip(names, means["corrected"], strict=True)
        if round(mean.value, DIGITS) == value
    ]
    text = f"By means corrected with people's ratings of {counted(n, 'answer')}, "
    if len(names) > 1 and not raters_known:
        text = (
            "If the same people rated all models, which a file without raters cannot show, then by"
            f" means corrected with their ratings of {counted(n, 'answer')} "
        )
    text += f"{listed([short[other] for other in equal])} {'share' if equal[1:] else 'has'} "
    text += f"{'the highest mean, ' if names[1:] else 'a mean of '}{_MEAN(top['corrected'])}"
    beaten = set(
        pairs.loc[pairs["verdict"].eq("significant") & pairs["first"].eq(names[0]), "second"]
    )
    if beaten:
        part = (
            ""
            if len(names) == 2
            else "all "
            if len(beaten) == len(names) - 1
            else f"{len(beaten)} of "
        )
        text += (
            ", significantly above"
            f" {part}{counted(len(names) - 1, 'other') if part else short[names[1]]}"
        )
    if unclear := [short[other] for other in names[1:] if other not in {*beaten, *equal}]:
        text += f"; it is not significantly above {listed(unclear, 'or')}"
    unknown = [short[row["model"]] for _, row in means.iterrows() if math.isnan(row["worth"])]
    if unknown:
        return f"{text}.", [
            f"What ratings are worth is not computed, because those of {listed(unknown)} do not"
            " vary."
        ]
    more = (
        "rating all of its answers would not halve its interval"
        if math.isnan(top["more"])
        else f"{counted(top['more'], 'more rated answer')} of it would halve its interval"
    )
    even = " of equal weight" if weighted else ""
    worth = (
        f"{counted(n, 'rated answer')} gave the precision of {means['worth'].sum():,.0f}{even}"
        " without the judge."
    )
    return f"{text}.", [
        f"{worth} For {name}, {top['rated']:,} gave that of {top['worth']:,.0f}; {more}."
    ]


def _rated_scores(
    scores: OrderedScores, human: HumanRatings, matched: Matched
) -> tuple[RatedScores, list[str], list[str]]:
    """Scores and ratings of the ranked models on the common questions, their raters, and what was
    done and skipped.
    """
    rated = matched.answers
    table = scores.table
    number_of = sum(len(by_rater) for by_rater in rated["ratings"])
    people = len({rater for by_rater in rated["ratings"] for rater in by_rater if rater})
    by = f" by {counted(people, 'person', 'people')}" if people else ""
    notes = [
        f"{counted(number_of, 'rating')}{by} of {counted(len(rated), 'answer')} in {human.path}.",
        *matched.notes,
        *human.repeats,
    ]
    if number_of > len(rated):
        notes.append("Several ratings of an answer are averaged and count as one.")
    place = rated.assign(
        row=rated["question"].map(
            {name: row for row, name in enumerate(table.facts.index[scores.common])}
        ),
        column=rated["model"].map(
            {name: model for model, name in enumerate(table.models[: scores.ranked])}
        ),
        people=[float(np.mean(list(by_rater.values()))) for by_rater in rated["ratings"]],
    )
    for column, what in {
        "score": "without a score of the judge",
        "column": "of models that are not ranked",
        "row": "to questions for which not every ranked model has a score",
    }.items():
        if lost := int(place[column].isna().sum()):
            notes.append(f"{counted(lost, 'rated answer')} {what}, skipped.")
        place = place.dropna(subset=column)
    cells = place.groupby(["row", "column"])[
        ["people", "score", "weight"]
    ].mean()  # epochs of a question
    found = np.full((3, len(scores.common), scores.ranked), np.nan)
    rows, columns = (
        cells.index.get_level_values(level).to_numpy(np.int64) for level in ("row", "column")
    )
    found[:, rows, columns] = cells.to_numpy().T
    found[0] = on_scale_of_judge(found[0], human.scale)
    judge = scores.comparable[:, : scores.ranked]
    single = ~np.isnan(found[1]) & (table.asked[scores.common][:, : scores.ranked] == 1)
    found[1] = np.where(
        single, judge, found[1]
    )  # by the judges that count, where a part of a panel failed
    raters = sorted({rater for by_rater in place["ratings"] for rater in by_rater})
    by_rater = _by_rater(place, raters, found[0].shape, human) if len(raters) > 1 else None
    return RatedScores(judge, found[0], found[1], found[2], by_rater), raters, notes


def _by_rater(
    place: pd.DataFrame, raters: Sequence[str], shape: tuple[int, ...], human: HumanRatings
) -> ByRater:
    """The ratings of answers, with the row and column of each, by rater; shape (questions,
    models).
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
            parts[cell] += share * float(on_scale_of_judge(np.array(rating), human.scale))
    return ByRater(shares, parts)


def _compared(
    scores: OrderedScores,
    found: Mapping[str, PoweredMeans],
    best: Sequence[int],
    judged: ComparedModels,
    resampling: Resampling,
) -> tuple[pd.DataFrame, tuple[Pair, ...]]:
    """Compare the models with a corrected mean, the best first."""
    if not best:
        return pd.DataFrame(columns=PAIRS), ()
    means = contrast(found[ALL].corrected, np.eye(scores.ranked)[:, best])
    missing = ratio(scores.table.missing.sum(axis=0), scores.table.asked.sum(axis=0))[best]

    def filled(score: float) -> MeanDraws:
        values, draws = (
            part * (1 - missing) + score * missing for part in (means.values, means.draws)
        )
        return MeanDraws(values, draws, means.n, means.seed)

    worst = (filled(LOWEST), filled(HIGHEST))
    return compare(
        means, worst, [scores.table.models[model] for model in best], judged, resampling, _WIDE
    )


def _worth(
    found: PoweredMeans, model: int, n: int, equal: float, questions: int
) -> tuple[float, float]:
    """How many equal ratings alone are as precise as n with the judge, and how many more halve the
    interval.
    """
    draws = (part.draws[:, model] for part in (found.corrected, found.people, found.predicted))
    whole, alone, floor = (float(np.nanvar(part)) for part in draws)
    if min(whole, alone) < _NO_SPREAD:
        return math.nan, math.nan
    # More ratings reduce only the part of the variance that they make themselves.
    needed = (whole - floor) * n / (whole / 4 - floor) if whole > 4 * floor else math.inf
    return equal * alone / whole, math.ceil(needed - n) if needed <= questions else math.nan


def _unlike_all(
    scores: OrderedScores,
    given: RatedScores,
    human: HumanRatings,
    how: dict[str, Any],
    notes: list[str],
) -> list[str]:
    """Say how the judge's scores of rated answers compare with those of all.

    Warn where they are no random sample.
    """
    own = given.judge - np.average(given.judge, axis=0, weights=scores.common_weights.values)
    weights = np.where(np.isnan(given.people), 0.0, given.weights)
    rated = np.flatnonzero(weights.any(axis=1))
    sums = np.stack([(weights * own).sum(axis=1), weights.sum(axis=1)], axis=1)[rated]
    [found] = bootstrap_means([MeanColumn(rated, sums)], len(own), **how)
    value, draws = (ratio(part[..., :1], part[..., 1:]) for part in (found.values, found.draws))
    off = MeanDraws(
        value, draws, found.n[:1], found.seed, None if found.drawn is None else found.drawn[:1]
    )
    [estimate] = mean_estimates(off)
    p = float(p_values(off)[0])
    deviations = abs(estimate.value) / own.std() if own.std() > 0 else 0.0
    figures = (
        f"the judge's mean score of them is {_SIGNED(estimate)} from that of all answers of the"
        f" same models ({deviations:.2f} standard deviations, p {p_value(p)})"
    )
    weighted = "are weighted by the column 'weight'"
    random = "count as a random sample, as the file has no column 'weight'"
    notes.append(f"Rated answers {weighted if human.weighted else random}; {figures}.")
    if p >= _UNLIKE_P or deviations < _UNLIKE:
        return []
    even = ", even with their weights" if human.weighted else ""
    return [
        f"The rated answers are unlike the others{even}: {figures}. Corrected means assume a random"
        " sample; their intervals may miss the truth."
    ]
