"""Sections of `urs-inspect rank` about adjusted ratings.

Corrected by a judge, with it as a prior, and at equal style.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from urs_inspect._util import choices, counted
from urs_inspect.adjusting._adjusted import ControlledRanking, CorrectedRanking
from urs_inspect.adjusting._judge_prior import (
    MASS,
    SHIFT,
    SPREAD,
    JudgePrior,
    WeighedRanking,
    judges_among,
)
from urs_inspect.adjusting._verdicts import JudgeVerdicts, RankingsOfJudge
from urs_inspect.reports._texts import number, rating_text, share
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.words._rankings import Adjusted, Lead, interval_fact, order_facts
from urs_inspect.reports.words._rankings_by import of_models, rank_texts, shown_columns
from urs_inspect.stats import Ranking
from urs_inspect.stats._elo import SCALE
from urs_inspect.stats._ranking import Places, Rank

_MOST_NAMED = 3

_TIMES = "an answer with so many times as much as the other"
_GAIN = "gains so many points"

_DESCRIPTION = (
    "This describes the votes and does not measure taste: what longer or more structured answers"
    " earn by being better is taken away as well. Do not conclude from it which model is better."
)
_GIVEN = (
    "The coefficients of the file count as exact: their own uncertainty is not part of any interval"
    " here."
)


def corrected_section(
    corrected: CorrectedRanking, judge: JudgeVerdicts, plain: Ranking
) -> Adjusted:
    """Ratings by people's votes, corrected by a judge's verdicts on all ballots."""
    places = corrected.places
    warnings = _changes_of_order("With the judge's verdicts", plain, _neighbours(places))
    warnings += judges_among(judge.judges, places.players)
    votes = counted(corrected.votes, "vote")
    if corrected.both < corrected.verdicts and round(corrected.worth) > corrected.votes:
        worth = f"With the verdicts, {votes} give the precision of {corrected.worth:,.0f}"
    else:
        worth = f"The judge's verdicts add nothing to the {votes}"
    weight = "people voted on every comparison that has a verdict"
    if corrected.both < corrected.verdicts:
        weight = f"lambda, the weight of the judge's verdicts, is {corrected.weight:.2f}"
    ballots = len(judge.outcomes) + judge.unparsed + judge.missing + judge.other_responses
    not_counted = _not_counted(corrected, judge)
    notes = [
        (
            f"{corrected.votes:,} of {counted(ballots, 'comparison')} have votes of people,"
            f" {corrected.verdicts:,} a verdict of {choices(judge.judges) or 'the judge'}; on the"
            f" {corrected.both:,} with both they agree on {share(corrected.agreement)}."
        ),
        f"{worth}: {weight}.",
        *warnings,
        (
            "Corrected: the ratings by people's votes, corrected in each pair of models by how far"
            " the judge's verdicts on all its comparisons differ from those on the ones that have"
            " votes (prediction-powered inference, PPI++). What the judge prefers cancels out, if"
            " within a pair the comparisons with votes were not chosen by how they would end."
        ),
        _brackets(places),
    ]
    if not_counted:
        notes.append(f"Not counted: {not_counted}.")
    columns = {
        "corrected": places.ratings,
        "people alone": _before(places),
        "judge alone": corrected.judge,
    }
    table = _table(places.players, places.ranks, columns)
    facts = {
        **_facts(places),
        "people": dict(zip(places.players, _before(places), strict=True)),
        "judge": dict(zip(places.players, corrected.judge, strict=True)),
        "judges": list(judge.judges),
        "lambda": corrected.weight,
        "votes": corrected.votes,
        "verdicts": corrected.verdicts,
        "both": corrected.both,
        "agreement": corrected.agreement,
        "votes_worth": corrected.worth,
        "unparsed": judge.unparsed,
        "missing": judge.missing,
        "other_responses": judge.other_responses,
        "other_ballots": judge.other_ballots,
    }
    section = Section("Votes of people, corrected by a judge", notes, [table], warnings=warnings)
    return Adjusted(section, {"corrected": facts})


def _not_counted(corrected: CorrectedRanking, judge: JudgeVerdicts) -> str:
    """Which ballots and verdicts do not count, and how many; empty if all do."""
    left_out = (
        (judge.unparsed, "ballot", "whose verdict could not be parsed"),
        (judge.missing, "ballot", "missing from the judge's log"),
        (judge.other_responses, "ballot", "with other responses in the judge's log"),
        (
            len(judge.outcomes) - corrected.verdicts,
            "verdict",
            "about models without votes, which people cannot rank",
        ),
        (judge.other_ballots, "verdict", "of the judge's log about other comparisons"),
    )
    clauses = []
    for count, noun, which in left_out:
        if count:
            clauses.append(f"{counted(count, noun)} {which}")
    return "; ".join(clauses)


def controlled_section(controlled: ControlledRanking) -> Adjusted:
    """Ratings at equal style, and what differences of style are worth."""
    places = controlled.places
    features = list(controlled.coefficients)
    style = "style"
    if features == ["length"]:
        style = "length"
    origin = "fitted together with the ratings"
    if controlled.given:
        origin = "kept from the file of coefficients"
    notes = [
        _DESCRIPTION,
        (
            "Ratings as they would be if both answers of each comparison had the same"
            f" {choices(features)}: Bradley-Terry with the differences as covariates, {origin}."
        ),
        _brackets(places),
    ]
    if controlled.given:
        notes.append(_GIVEN)
    notes += [
        f"Skipped, since no comparison has a difference in it: {name}."
        for name in controlled.skipped
    ]
    columns = {
        f"at equal {style}": places.ratings,
        "without control": _before(places),
        "change": places.extra,
    }
    table = _table(places.players, places.ranks, columns, {"change": number(0, sign=True)})
    times = [
        (1 + scale) / (1 - scale) if scale < 1 else math.nan
        for scale, _ in controlled.coefficients.values()
    ]
    worth = pd.DataFrame({"feature": features, _TIMES: times, _GAIN: list(controlled.effects)})
    effects = Table(worth, {_TIMES: number(1), _GAIN: number(0, sign=True)})
    coefficients = []
    for name, effect in zip(features, controlled.effects, strict=True):
        coefficients.append(
            {
                "feature": name,
                **controlled.coefficients[name]._asdict(),
                "points": effect.value,
                "interval": interval_fact(effect),
            }
        )
    facts = {
        **_facts(places),
        "changes": {
            name: {"value": change.value, "interval": interval_fact(change)}
            for name, change in zip(places.players, places.extra, strict=True)
        },
        "coefficients": coefficients,
        "coefficients_given": controlled.given,
        "features_skipped": list(controlled.skipped),
    }
    section = Section(
        f"At equal {style}, by a regression", notes, [table, effects], warnings=[_DESCRIPTION]
    )
    return Adjusted(section, {"controlled": facts})


def prior_section(ranking: Ranking, prior: JudgePrior, weighed: WeighedRanking) -> Adjusted:
    """The ranking with a judge as a prior, beside votes alone."""
    alone = dict(zip(ranking.players, ranking.bradley_terry, strict=True))
    judged = dict(zip(prior.players, prior.ratings.tolist(), strict=True))
    neighbours = [
        (*pair, f"with a probability of {certainty:.2f}", certainty >= (1 + weighed.level) / 2)
        for pair, certainty in zip(pairwise(weighed.players), weighed.certainty, strict=True)
    ]
    warnings = _changes_of_order("With the judge as a prior", ranking, neighbours)
    warnings += judges_among(prior.judges, prior.players)
    shift = round(SHIFT * SCALE / math.log(10))
    spread = round(SPREAD * SCALE / math.log(10))
    notes = [
        *warnings,
        (
            f"The judge ({choices(prior.judges) or 'of an unknown name'}) has given"
            f" {counted(prior.verdicts, 'verdict')}; {prior.unread} could not be parsed and do not"
            f" count. Its weight after {counted(ranking.battles, 'vote')} is {weighed.weight:.2f}."
            " There are two accounts: either people's ratings are the judge's with a random shift"
            " of each model, or they are unrelated to the judge's. The weight is the probability"
            f" of the first, {MASS:.2f} before the first vote."
        ),
        (
            f"Brackets under 'with the judge': {weighed.level:.0%} credible intervals. They assume"
            " independent votes, and shifts between judge and people with a standard deviation of"
            f" {shift} points, or unrelated ratings with one of {spread}. With a judge that errs in"
            " another way they can be too narrow; the intervals under 'votes alone' need no judge."
            " 'above the next' is the probability of that order."
        ),
    ]
    columns = {
        "with the judge": weighed.ratings,
        "votes alone": [alone[name] for name in weighed.players],
        "judge alone": [judged[name] for name in weighed.players],
        "above the next": [*weighed.certainty, math.nan],
    }
    table = _table(weighed.players, weighed.ranks, columns, {"above the next": number(2)})
    facts = {
        **order_facts(weighed.players, {"bradley_terry": weighed.ratings}, weighed.ranks),
        "above_next": list(weighed.certainty),
        "judge": judged,
        "judges": list(prior.judges),
        "verdicts": prior.verdicts,
        "unread": prior.unread,
        "weight": weighed.weight,
        "parameters": {
            "mass": MASS,
            "shift": SHIFT,
            "spread": SPREAD,
            "level": weighed.level,
            "draws": weighed.rounds,
        },
    }
    section = Section("Ranking with the judge as a prior", notes, [table], warnings=warnings)
    rated = zip(weighed.players, weighed.ratings, strict=True)
    lead = Lead(_claim_with_judge(weighed), "with the judge", dict(rated))
    return Adjusted(section, {"prior": facts}, lead=lead)


def _claim_with_judge(weighed: WeighedRanking) -> str:
    """Which model is first with a judge as a prior, how surely, and how much the judge counts."""
    first, second, *_ = weighed.players
    certainty = weighed.certainty[0]
    how_sure = "over 0.99" if certainty > 0.99 else f"{certainty:.2f}"
    return (
        f"With the judge as a prior, {first} is first, above {second} with a probability of"
        f" {how_sure}; the judge counts with a weight of {weighed.weight:.2f} of 1."
    )


def _table(
    players: Sequence[str],
    ranks: Sequence[Rank],
    columns: Mapping[str, Sequence[Any]],
    formats: Mapping[str, Any] = {},
) -> Table:
    """Ranks and models with columns of ratings, unless another format is given."""
    frame = pd.DataFrame({"rank": rank_texts(ranks), "model": players, **columns})
    return Table(frame, {**dict.fromkeys(columns, rating_text), **formats})


def _before(places: Places) -> list[float]:
    """The ratings without the adjustment."""
    return [
        rating.value - change.value
        for rating, change in zip(places.ratings, places.extra, strict=True)
    ]


def _facts(places: Places) -> dict[str, Any]:
    return order_facts(
        places.players, {"bradley_terry": places.ratings}, places.ranks, places.differences
    )


def _brackets(places: Places) -> str:
    level = places.ratings[0].level
    rounds = places.ratings[0].rounds
    return (
        f"Brackets: {level:.0%} intervals over {rounds} resamples of the instructions, without a"
        " new fit for each (a linear approximation)."
    )


_Neighbours = list[tuple[str, str, str, bool]]
"""The better and the other model, by how much, and whether that is significant."""


def _neighbours(places: Places) -> _Neighbours:
    return [
        (
            gap.better,
            gap.other,
            f"by {number(0)(gap.estimate)} points ({gap.verdict})",
            gap.verdict != "cannot be distinguished",
        )
        for gap in places.differences
    ]


def _changes_of_order(why: str, plain: Ranking, neighbours: _Neighbours) -> list[str]:
    """Sentences on neighbours whose order was another before, or whose lead was significant."""
    before = {name: rank.rank for name, rank in zip(plain.players, plain.ranks, strict=True)}
    clear = {
        (gap.better, gap.other)
        for gap in plain.differences
        if gap.verdict == "significantly different"
    }
    turned = [
        f"{better} is above {other} {by}"
        for better, other, by, _ in neighbours
        if before[better] > before[other]
    ]
    lost = [
        f"{better} leads {other} {by}"
        for better, other, by, sure in neighbours
        if not sure and (better, other) in clear
    ]
    sentences = []
    if turned:
        sentences.append(f"THE ORDER CHANGES: {why}, {_first_few(turned)}.")
    if lost:
        sentences.append(f"A LEAD IS NO LONGER SIGNIFICANT: {why}, {_first_few(lost)}.")
    return sentences


def _first_few(clauses: Sequence[str]) -> str:
    """The first clauses, and how many more there are."""
    listed = "; ".join(clauses[:_MOST_NAMED])
    more = len(clauses) - _MOST_NAMED
    if more > 0:
        return f"{listed}; and {more} more"
    return listed


def judge_section(rankings: RankingsOfJudge) -> Section:
    """Ranks by people's votes and by a judge's verdicts on the same comparisons."""
    judges = choices(rankings.judges) or "the judge"
    notes = [
        f"Ranks by people's votes / by the verdicts of {judges}, both on the same comparisons.",
        "Spearman: how far the two orders agree; brackets: intervals over resamples of the"
        " instructions, of both together.",
    ]
    models = next(iter(rankings.people.values())).players
    columns: list[tuple[str, Sequence[str]]] = [("model", models)]
    rows = []
    for group, people in rankings.people.items():
        pairs = []
        for ranking in (people, rankings.judge[group]):
            places = [str(place.rank) for place in ranking.ranks]
            pairs.append(of_models(models, ranking, places))
        columns.append((group, [" / ".join(pair) for pair in zip(*pairs, strict=True)]))
        rows.append((group, people.battles, rankings.spearman[group]))
    agreement = pd.DataFrame(rows, columns=[rankings.by, "comparisons", "Spearman"])
    formats = {"comparisons": number(0), "Spearman": number(2)}
    tables = [shown_columns(columns), Table(agreement, formats)]
    return Section(f"People and the judge by {rankings.by}", notes, tables)


def groups_facts(rankings: RankingsOfJudge) -> dict[str, Any]:
    """What `rank --judge --by --json` prints under `by`: both orders of each group."""
    by_judge = {}
    for group, spearman in rankings.spearman.items():
        by_judge[group] = {
            "people": _ranks(rankings.people[group]),
            "judge": _ranks(rankings.judge[group]),
            "spearman": spearman.value,
        }
    return {"judge": by_judge}


def _ranks(ranking: Ranking) -> Mapping[str, int]:
    ranks = [place.rank for place in ranking.ranks]
    return dict(zip(ranking.players, ranks, strict=True))
