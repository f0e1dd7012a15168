"""People's ratings of some answers -> means of all models that no bias of the judge moves."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs.naming import short_names
from urs_inspect.reports.agreement import Matched
from urs_inspect.reports.human_data import HumanRatings, on_scale_of_judge
from urs_inspect.reports.scores import ALL, DIGITS, Columns, OrderedScores, Resampling
from urs_inspect.reports.tables import DASH, Section, Table, number, p_value
from urs_inspect.rubrics import HIGHEST, LOWEST
from urs_inspect.stats import Estimate, MeanColumn, MeanDifference, MeanDraws, bootstrap_means, mean_estimates
from urs_inspect.stats import rank_intervals as ranks_of
from urs_inspect.stats.bootstrap import ratio
from urs_inspect.stats.means import contrast, p_values
from urs_inspect.stats.paired import all_pairs, mean_differences, worst_p_values
from urs_inspect.stats.prediction_powered import PoweredMeans, RatedScores, powered_means

if TYPE_CHECKING:
    from urs_inspect.reports.leaderboard import Ranking

FEWEST_RATED = 10
"""Fewest rated answers of a model for which there is a corrected mean."""
_UNLIKE_P, _UNLIKE = 0.01, 0.1
"""Rated answers are unlike the others if their judge's scores differ with such a p-value and by as many deviations."""
_SCALE = (float(LOWEST), float(HIGHEST))
_UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, 0)
_MEAN, _SIGNED, _COUNT = number(2), number(2, sign=True), number(0)
_MOST_NAMES = 4
_COLUMNS = ["model", "column", "judge", "corrected", "people", "rated", "worth", "more", "rank_from", "rank_to"]


@dataclass(frozen=True)
class Corrected:
    """Means of the models of a ranking, corrected by people's ratings of some of their answers.

    `means` has one row per model, by corrected mean, those without one last; then one per intent and model where at
    least `FEWEST_RATED` answers were rated: model, column (`all` or the intent), judge, corrected and people (means on
    the judge's scale), rated (answers that count), worth (how many ratings without a judge give the same precision),
    more (further ratings that would halve the interval; NaN where rating all answers would not), rank_from and rank_to
    (over all questions). `comparisons` has one row per pair with corrected means, over all questions; p_worst is for
    each missing score of the first being 1 and of the second 10, by judge and people alike.
    """

    source: str
    means: pd.DataFrame
    comparisons: pd.DataFrame  # first (the higher mean), second, verdict, difference, p, p_holm, p_worst
    coefficients: tuple[float, float]  # as of `powered_means`
    answers: int  # rated answers that count
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def models(self) -> pd.DataFrame:
        """The rows over all questions, by model."""
        return self.means[self.means["column"] == ALL].set_index("model")

    @property
    def names(self) -> list[str]:
        """The models with a corrected mean, the best first."""
        return [str(name) for name in self.models.index[self.models["rank_from"].notna()]]


def correct_means(
    scores: OrderedScores,
    columns: Columns,
    human: HumanRatings,
    matched: Matched,
    judge: tuple[Mapping[str, Sequence[Estimate]], Sequence[MeanDifference]],
    resampling: Resampling,
) -> Corrected:
    """Correct the means of ranked models by people's ratings.

    Args:
        scores: The judge's scores.
        columns: Columns of the ranking.
        human: The file of ratings.
        matched: Its ratings, matched with the answers of the ranking's logs.
        judge: Column -> means of the models by the judge's scores; comparisons of all pairs by them.
        resampling: Settings of the bootstrap.
    """
    names, given = scores.table.models, scores.common_weights
    rated, notes = _rated_scores(scores, human, matched)
    chosen = {key: np.flatnonzero(np.isin(scores.common, columns.questions[key])) for key in (ALL, *columns.groups)}
    counts = {
        key: dict(zip(names, np.count_nonzero(~np.isnan(rated.people[rows]), axis=0).tolist(), strict=False))
        for key, rows in chosen.items()
        if given.values[rows].any()
    }
    kept = {key: chosen[key] for key, known in counts.items() if max(known.values(), default=0) >= FEWEST_RATED}
    how: dict[str, Any] = {"reweight": given.reweight, "rounds": resampling.rounds, "seed": resampling.seed}
    found, coefficients = powered_means(rated, kept, shares=given.values, **how) if kept else ({}, (0.0, 0.0))
    best = [model for model, name in enumerate(names) if kept and counts[ALL].get(name, 0) >= FEWEST_RATED]
    best.sort(key=lambda model: -round(float(found[ALL].corrected.values[model]), DIGITS))
    tested = _differences(scores, found[ALL].corrected, best, resampling) if best else ()
    pairs = pd.DataFrame(
        {
            "first": [names[best[pair.first]] for pair in tested],
            "second": [names[best[pair.second]] for pair in tested],
            "verdict": [_verdict(pair) for pair in tested],
            **{part: [getattr(pair, part) for pair in tested] for part in ("difference", "p", "p_holm", "p_worst")},
        }
    )
    ranks = ranks_of(len(best), [(pair.first, pair.second) for pair in tested if pair.significant])
    means = {
        key: [mean_estimates(draws, resampling.level, _SCALE) for draws in (part.corrected, part.people)]
        for key, part in found.items()
    }
    rows = []
    for key in kept:
        for place, model in enumerate(best):
            if (n := counts[key][names[model]]) >= FEWEST_RATED:
                numbers = [judge[0][key][model], *(mean[model] for mean in means[key]), n]
                worth = _worth(found[key], model, n, len(kept[key]))
                rows.append([names[model], key, *numbers, *worth, *(ranks[place] if key == ALL else (None, None))])
    few = {model: counts.get(ALL, {}).get(name, 0) for model, name in enumerate(names) if model not in best}
    rows[len(best) : len(best)] = [
        [names[model], ALL, judge[0][ALL][model], _UNKNOWN, _UNKNOWN, n, math.nan, math.nan, None, None]
        for model, n in few.items()
    ]
    if few:
        listed = ", ".join(f"{names[model]} {n}" for model, n in few.items())
        notes.append(f"No corrected mean, because fewer than {FEWEST_RATED} rated answers count: {listed}.")
    return Corrected(
        source=str(human.path),
        means=pd.DataFrame(rows, columns=_COLUMNS, dtype=object),
        comparisons=pairs,
        coefficients=coefficients,
        answers=sum(counts.get(ALL, {}).values()),
        warnings=(
            *(_unlike_all(scores, rated, human, how, notes) if best else ()),
            *(_changes(names, [names[model] for model in best], judge[1], pairs)),
        ),
        notes=tuple(notes),
    )


def _rated_scores(scores: OrderedScores, human: HumanRatings, matched: Matched) -> tuple[RatedScores, list[str]]:
    """Scores and ratings of the ranked models on the common questions, and what was done and skipped."""
    rated, table = matched.answers, scores.table
    number_of = sum(len(by_rater) for by_rater in rated["ratings"])
    people = len({rater for by_rater in rated["ratings"] for rater in by_rater if rater})
    by = f" by {counted(people, 'person', 'people')}" if people else ""
    notes = [f"{counted(number_of, 'rating')}{by} of {counted(len(rated), 'answer')} in {human.path}.", *matched.notes]
    if number_of > len(rated):
        notes.append("Several ratings of an answer are averaged and count as one.")
    if human.scale != _SCALE:
        notes.append(
            "Ratings from {:g} to {:g} are mapped linearly to the judge's scale, 1 to 10.".format(*human.scale)
        )
    place = rated.assign(
        row=rated["question"].map({name: row for row, name in enumerate(table.facts.index[scores.common])}),
        column=rated["model"].map({name: model for model, name in enumerate(table.models[: scores.ranked])}),
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
    cells = place.groupby(["row", "column"])[["people", "score", "weight"]].mean()  # epochs of a question
    found = np.full((3, len(scores.common), scores.ranked), np.nan)
    rows, columns = (cells.index.get_level_values(level).to_numpy(np.int64) for level in ("row", "column"))
    found[:, rows, columns] = cells.to_numpy().T
    found[0] = on_scale_of_judge(found[0], human.scale)
    return RatedScores(table.finals[scores.common][:, : scores.ranked], *found), notes


def _differences(
    scores: OrderedScores, found: MeanDraws, best: Sequence[int], resampling: Resampling
) -> tuple[MeanDifference, ...]:
    """Test every two of the best models, which are numbered by their place."""
    pairs = all_pairs(len(best))
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    missing = ratio(scores.table.unscored.sum(axis=0), scores.table.asked.sum(axis=0))[best]
    lower, upper = (np.eye(len(found.values))[:, np.array(best)[side]] for side in (first, second))
    shift = missing[first] * LOWEST - missing[second] * HIGHEST
    worst = contrast(found, lower * (1 - missing[first]) - upper * (1 - missing[second]))
    p_worst = worst_p_values(MeanDraws(worst.values + shift, worst.draws + shift, worst.n, worst.seed))
    p_worst = np.where(missing[first] + missing[second] > 0, p_worst, np.nan)
    wide = (LOWEST - HIGHEST, HIGHEST - LOWEST)
    return mean_differences(contrast(found, lower - upper), pairs, resampling.level, worst=p_worst, scale=wide)


def _verdict(pair: MeanDifference) -> str:
    if pair.significant:
        return "significant"
    return "depends on unscored answers" if pair.p_holm < 1 - pair.difference.level else "not distinguishable"


def _worth(found: PoweredMeans, model: int, n: int, questions: int) -> list[float]:
    """How many ratings alone give as much precision as n with the judge, and how many more would halve the interval."""
    draws = (part.draws[:, model] for part in (found.corrected, found.people, found.predicted))
    whole, alone, floor = (float(np.nanvar(part)) for part in draws)
    # More ratings reduce only the part of the variance that they make themselves.
    needed = (whole - floor) * n / (whole / 4 - floor) if whole > 4 * floor else math.inf
    return [n * alone / whole if whole > 0 else math.nan, math.ceil(needed - n) if needed <= questions else math.nan]


def _unlike_all(
    scores: OrderedScores, given: RatedScores, human: HumanRatings, how: dict[str, Any], notes: list[str]
) -> Iterator[str]:
    """Say how the judge's scores of rated answers compare with those of all; warn where they are no random sample."""
    own = given.judge - np.average(given.judge, axis=0, weights=scores.common_weights.values)
    weights = np.where(np.isnan(given.people), 0.0, given.weights)
    rated = np.flatnonzero(weights.any(axis=1))
    sums = np.stack([(weights * own).sum(axis=1), weights.sum(axis=1)], axis=1)[rated]
    [found] = bootstrap_means([MeanColumn(rated, sums)], len(own), **how)
    value, draws = (ratio(part[..., :1], part[..., 1:]) for part in (found.values, found.draws))
    off = MeanDraws(value, draws, found.n[:1], found.seed)
    [estimate], p = mean_estimates(off), float(p_values(off)[0])
    deviations = abs(estimate.value) / own.std() if own.std() > 0 else 0.0
    figures = (
        f"the judge's mean score of them is {_SIGNED(estimate)} from that of all answers of the same models "
        f"({deviations:.2f} standard deviations, p {p_value(p)})"
    )
    weighted = "are weighted by the column 'weight'"
    how_counted = weighted if human.weighted else "count as a random sample, as the file has no column 'weight'"
    notes.append(f"Rated answers {how_counted}; {figures}.")
    if p < _UNLIKE_P and deviations >= _UNLIKE:
        even = ", even with their weights" if human.weighted else ""
        yield (
            f"The rated answers are unlike the others{even}: {figures}. Corrected means assume a random sample; their "
            "intervals may miss the truth."
        )


def _changes(
    names: Sequence[str], order: Sequence[str], judged: Sequence[MeanDifference], pairs: pd.DataFrame
) -> list[str]:
    """Where corrected means change what the judge's scores say; `names` are in the order of the judge."""
    short, before, said = short_names(names), [name for name in names if name in order], []
    if before != list(order):
        moved = sum(before.index(str(row.first)) > before.index(str(row.second)) for row in pairs.itertuples())
        top = f"{short[order[0]]} is first, not {short[before[0]]}; " if order[0] != before[0] else ""
        said.append(
            f"People's ratings change the order: {top}{moved:,} of {counted(len(pairs), 'pair')} of models change "
            f"places. It is now {_listed([short[name] for name in order])}."
        )
    verdicts = {frozenset((row.first, row.second)): (row.first, row.verdict) for row in pairs.itertuples()}
    lost = []
    for better, worse in [(names[pair.first], names[pair.second]) for pair in judged if pair.significant]:
        first, verdict = verdicts.get(frozenset((better, worse)), (better, "significant"))
        if (first, verdict) != (better, "significant"):
            reverse = " (significantly reversed)" if verdict == "significant" else ""
            lost.append(f"{short[better]} over {short[worse]}{reverse}")
    if lost:
        said.append(
            f"{counted(len(lost), 'lead')} that the judge's scores call significant "
            f"{'does' if len(lost) == 1 else 'do'} not survive people's ratings: {_listed(lost)}."
        )
    return said


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_NAMES
    return ", ".join(names) if rest <= 1 else f"{', '.join(names[:_MOST_NAMES])} and {rest} more"


# --- what a report says ---


def corrected_headline(ranking: "Ranking", judged: tuple[str, str]) -> tuple[str, str]:
    """The headline of a ranking: by corrected means, and beside it that by the judge's scores."""
    corrected, short = ranking.corrected, ranking.short
    if corrected is None:
        return judged
    beside = f"By the judge's scores alone: {' '.join(judged).strip()}"
    if not corrected.names:
        few = f"No model has {FEWEST_RATED} answers rated by people that count ({corrected.answers} in all)"
        return f"{few}: nothing is corrected.", beside
    top, *others = corrected.names
    rated = int(corrected.models.loc[corrected.names, "rated"].sum())
    text = f"By means corrected with people's ratings of {counted(rated, 'answer')}, {short[top]} has "
    text += f"{'the highest mean, ' if others else 'a mean of '}{_MEAN(corrected.models.at[top, 'corrected'])}"
    sure = corrected.comparisons["verdict"].eq("significant") & corrected.comparisons["first"].eq(top)
    beaten = set(corrected.comparisons.loc[sure, "second"])
    if beaten:
        part = "" if len(beaten) == len(others) == 1 else "all " if len(beaten) == len(others) else f"{len(beaten)} of "
        text += f", significantly above {part}{counted(len(others), 'other') if part else short[others[0]]}"
    if unclear := [short[name] for name in others if name not in beaten]:
        text += f"; it is not significantly above {_listed(unclear)}"
    return f"{text}.", beside


def corrected_notes(corrected: Corrected, short: Mapping[str, str]) -> list[str]:
    """What stands below the headline: warnings, what the judge added to the ratings, what more of them would bring."""
    if not corrected.names:
        return list(corrected.warnings)
    known = corrected.models.loc[corrected.names]
    top: Any = known.iloc[0]
    more = (
        "rating all of its answers would not halve its interval"
        if math.isnan(top["more"])
        else f"{counted(top['more'], 'more rated answer')} of it would halve its interval"
    )
    return [
        *corrected.warnings,
        f"{counted(int(known['rated'].sum()), 'rated answer')} gave the precision of {known['worth'].sum():,.0f} "
        f"without the judge. For {short[corrected.names[0]]}, {top['rated']:,} gave that of {top['worth']:,.0f}; "
        f"{more}.",
    ]


def corrected_columns(corrected: Corrected, names: Sequence[str]) -> dict[str, list[Any]]:
    """Columns of a table of models in some order: corrected mean and rank."""
    rows = corrected.models.loc[list(names)]
    pairs = zip(rows["rank_from"], rows["rank_to"], strict=True)
    ranks = [DASH if low is None else f"{low}" if low == high else f"{low}–{high}" for low, high in pairs]
    return {"Corrected by people": list(rows["corrected"]), "Rank, corrected": ranks}


def corrected_section(corrected: Corrected, place: int) -> Section:
    """Corrected means, what the ratings were worth, and differences."""
    first, second = corrected.coefficients
    notes = [
        "A corrected mean estimates what people would give on average if they rated every answer to the questions of "
        "this ranking: the judge's scores predict it, and people's ratings of some answers correct the prediction "
        "(prediction-powered inference), so that no bias of the judge moves it.",
        f"A point of the judge predicts {first:.2f} points of people where it is about a question, and {second:.2f} "
        "where it is about a model beside the others on it; at 0, people count alone.",
        "Worth: how many ratings without a judge give the same precision. More to halve: further rated answers that "
        f"would halve the interval; {DASH} where rating all answers would not.",
        *corrected.notes,
    ]
    numbers = ["corrected", "people", "judge", "rated", "worth", "more"]
    headings = ["Corrected by people", "People alone", "Judge", "Rated answers", "Worth", "More to halve"]
    means = corrected.means.assign(block=place)[["block", *corrected.means.columns]]
    pairs = corrected.comparisons.assign(block=place)[["block", *corrected.comparisons.columns]]
    names, tests = ["first", "second", "verdict", "difference"], ["difference", "p", "p_holm", "p_worst"]
    tables = [
        Table(
            means,
            dict(zip(numbers, [_MEAN] * 3 + [_COUNT] * 3, strict=True)),
            name="corrected",
            headings=dict(zip(["model", "column", *numbers], ["Model", "Questions of", *headings], strict=True)),
            shown=["model", "column", *numbers],
            main="corrected",
            estimates=("judge", "people"),
        ),
        Table(
            pairs,
            dict(zip(tests, [_SIGNED] + [p_value] * 3, strict=True)),
            name="corrected_differences",
            headings={name: name.capitalize() for name in names} | {"p_holm": "p (Holm)", "p_worst": "p, worst case"},
            shown=[*names[:3], *(tests if (pairs["p_worst"] > pairs["p_holm"]).any() else tests[:3])],
            estimates=("difference",),
            title="Differences by corrected means",
        ),
    ]
    return Section("Corrected by people", notes, tables, 3)
