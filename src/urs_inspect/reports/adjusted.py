"""Sections of `urs-inspect rank` about adjusted ratings: corrected by a judge, with it as a prior, at equal style."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from urs_inspect._util import choices, counted
from urs_inspect.discrepancy.judge_prior import MASS, SHIFT, SPREAD, JudgePrior, WeighedRanking
from urs_inspect.logs.battles import JudgeBattles
from urs_inspect.reports.rankings import difference_facts, interval_fact
from urs_inspect.reports.tables import Section, Table, number, rating_text, share
from urs_inspect.stats import Ranking
from urs_inspect.stats.controlled import ControlledRanking
from urs_inspect.stats.corrected import CorrectedRanking
from urs_inspect.stats.elo import SCALE
from urs_inspect.stats.ranking import Places

Adjusted = tuple[Section, Mapping[str, Any]]
"""A section, and its facts for JSON."""

_MOST_NAMED = 3


def corrected_section(found: CorrectedRanking, judge: JudgeBattles, plain: Ranking) -> Adjusted:
    """Ratings by people's votes, corrected by a judge's verdicts on all ballots."""
    name = choices(judge.judges) or "the judge"
    places = found.places
    warnings = _changes_of_order(places, plain, "With the judge's verdicts")
    if contestants := [model for model in places.players if model in judge.judges]:
        warnings.append(
            f"{choices(contestants)} judged answers of its own: the ratings by the judge alone may favour it. The "
            "corrected ratings do not, as people's votes on the same ballots show how far it does."
        )
    notes = [
        f"{found.votes:,} of {counted(len(judge.outcomes) + judge.unread + judge.missing + judge.changed, 'ballot')} "
        f"have votes of people, {found.verdicts:,} a verdict of {name}; on the {found.both:,} with both they agree on "
        f"{share(found.agreement)}.",
        _worth(found),
        *warnings,
        "Corrected: the ratings by people's votes, corrected in each pair of models by how far the judge's verdicts on "
        "all its ballots differ from those on the ballots that have votes (prediction-powered inference, PPI++). What "
        "the judge prefers cancels out, if within a pair the ballots with votes were not chosen by how they would end.",
        f"Brackets: {found.level:.0%} intervals over {found.rounds} resamples of the instructions to first order.",
        *_left_out(judge, len(judge.outcomes) - found.verdicts),
    ]
    people = [rating.value - change.value for rating, change in zip(places.ratings, places.extra, strict=True)]
    columns: dict[str, Sequence[Any]] = {
        "corrected": list(places.ratings),
        "people alone": people,
        "judge alone": list(found.judge),
    }
    facts = {
        **_facts(places),
        "people": dict(zip(places.players, people, strict=True)),
        "judge": dict(zip(places.players, found.judge, strict=True)),
        "judges": list(judge.judges),
        "lambda": found.weight,
        "votes": found.votes,
        "verdicts": found.verdicts,
        "both": found.both,
        "agreement": found.agreement,
        "votes_worth": found.worth,
        "unparsed": judge.unread,
        "missing": judge.missing,
        "other_responses": judge.changed,
        "other_ballots": judge.other,
    }
    title = "Votes of people, corrected by a judge"
    return Section(title, notes, [_table(places, columns)], warnings=warnings), {"corrected": facts}


def _worth(found: CorrectedRanking) -> str:
    gained = f"lambda, the weight of the judge's verdicts, is {found.weight:.2f}"
    if found.both == found.verdicts:
        return "The judge's verdicts add nothing: people voted on every ballot that has a verdict."
    if round(found.worth) <= found.votes:
        return f"The judge's verdicts add nothing to the {counted(found.votes, 'vote')}: {gained}."
    return f"With the verdicts, {counted(found.votes, 'vote')} give the precision of {found.worth:,.0f}: {gained}."


def _left_out(judge: JudgeBattles, unranked: int) -> list[str]:
    counts = (
        (judge.unread, "has", "have", "no verdict that could be parsed"),
        (judge.missing, "is", "are", "not in the judge's log"),
        (judge.changed, "has", "have", "other responses in the judge's log, whose verdicts do not count"),
    )
    notes = [
        f"{counted(count, 'ballot')} {one if count == 1 else many} {why}." for count, one, many, why in counts if count
    ]
    if unranked:
        about = "is about a model" if unranked == 1 else "are about models"
        notes.append(f"{counted(unranked, 'verdict')} {about} without votes, which cannot be ranked by people.")
    if judge.other:
        about = "is about another ballot and does" if judge.other == 1 else "are about other ballots and do"
        notes.append(f"{counted(judge.other, 'verdict')} of the judge's log {about} not count.")
    return notes


def controlled_section(found: ControlledRanking, plain: Ranking) -> Adjusted:
    """Ratings at equal style, and what differences of style are worth."""
    places, coefficients = found.places, found.coefficients
    style = "length" if coefficients.features == ("length",) else "style"
    warnings = _changes_of_order(places, plain, f"At equal {style}")
    of = "kept from the file of coefficients" if found.given else "fitted together with the ratings"
    notes = [
        *warnings,
        f"Ratings as they would be if both answers of each comparison had the same {choices(coefficients.features)}: "
        f"Bradley-Terry with the differences as covariates, {of}.",
        f"Brackets: {found.level:.0%} intervals over {found.rounds} resamples of the instructions to first order.",
    ]
    before = [rating.value - change.value for rating, change in zip(places.ratings, places.extra, strict=True)]
    columns: dict[str, Sequence[Any]] = {
        f"at equal {style}": list(places.ratings),
        "without control": before,
        "change": list(places.extra),
    }
    times = [(1 + scale) / (1 - scale) if scale < 1 else math.nan for scale in coefficients.scales]
    worth = pd.DataFrame({"more of": coefficients.features, "times as much": times, "gains": list(found.effects)})
    effects = Table(worth, {"times as much": number(1), "gains": number(0, sign=True)})
    facts = {
        **_facts(places),
        "changes": {
            name: {"value": change.value, "interval": interval_fact(change)}
            for name, change in zip(places.players, places.extra, strict=True)
        },
        "coefficients": [
            {"feature": name, "scale": scale, "value": value, "points": effect.value, "interval": interval_fact(effect)}
            for name, scale, value, effect in zip(
                coefficients.features, coefficients.scales, coefficients.values, found.effects, strict=True
            )
        ],
        "coefficients_given": found.given,
    }
    return Section(f"At equal {style}", notes, [_table(places, columns), effects], warnings=warnings), {
        "controlled": facts
    }


def _table(places: Places, columns: Mapping[str, Sequence[Any]]) -> Table:
    ranks = [f"{place.rank} ({place.low}–{place.high})" for place in places.ranks]
    formats = {name: number(0, sign=True) if name == "change" else rating_text for name in columns}
    return Table(pd.DataFrame({"rank": ranks, "model": places.players, **columns}), formats)


def _changes_of_order(places: Places, plain: Ranking, why: str) -> list[str]:
    """Sentences about neighbours whose order is another without the adjustment, or whose lead was significant."""
    before = {name: rank.rank for name, rank in zip(plain.players, plain.ranks, strict=True)}
    turned = [gap for gap in places.differences if before[gap.better] > before[gap.other]]
    clear = {(gap.better, gap.other) for gap in plain.differences if gap.verdict == "significantly different"}
    lost = [
        gap
        for gap in places.differences
        if (gap.better, gap.other) in clear and gap.verdict == "cannot be distinguished"
    ]
    kinds = (("THE ORDER CHANGES", "is above", turned), ("A LEAD IS NO LONGER SIGNIFICANT", "leads", lost))
    return [
        f"{heading}: {why}, {'; '.join(named[:_MOST_NAMED])}"
        f"{f'; and {len(named) - _MOST_NAMED} more' if len(named) > _MOST_NAMED else ''}."
        for heading, verb, gaps in kinds
        if (
            named := [
                f"{gap.better} {verb} {gap.other} by {number(0)(gap.estimate)} points ({gap.verdict})" for gap in gaps
            ]
        )
    ]


def _facts(places: Places) -> dict[str, Any]:
    return {
        "models": list(places.players),
        "bradley_terry": {name: rating.value for name, rating in zip(places.players, places.ratings, strict=True)},
        "ranks": {name: rank.rank for name, rank in zip(places.players, places.ranks, strict=True)},
        "intervals": {
            "bradley_terry": dict(zip(places.players, map(interval_fact, places.ratings), strict=True)),
            "ranks": {name: [rank.low, rank.high] for name, rank in zip(places.players, places.ranks, strict=True)},
        },
        "differences": difference_facts(places.differences),
    }


def prior_section(ranking: Ranking, prior: JudgePrior, weighed: WeighedRanking) -> Adjusted:
    """The ranking with a judge as a prior, beside votes alone; and its facts."""
    alone = dict(zip(ranking.players, ranking.bradley_terry, strict=True))
    judged = dict(zip(prior.players, prior.ratings.tolist(), strict=True))
    columns = {
        "rank": [f"{place.rank} ({place.low}–{place.high})" for place in weighed.ranks],
        "model": list(weighed.players),
        "with the judge": list(weighed.ratings),
        "votes alone": [alone[name] for name in weighed.players],
        "judge alone": [judged[name] for name in weighed.players],
        "above the next": [*weighed.certainty, math.nan],
    }
    formats = dict.fromkeys(("with the judge", "votes alone", "judge alone"), rating_text)
    table = Table(pd.DataFrame(columns), formats | {"above the next": number(2)})
    names = ", ".join(prior.judges) or "of an unknown name"
    notes = [
        f"The judge ({names}) has given {counted(prior.verdicts, 'verdict')}; {prior.unread} could not be parsed and "
        f"do not count. Its weight after {counted(ranking.battles, 'vote')} is {weighed.weight:.2f}: the probability "
        "that people see the models as it does, up to a shift of each model, and that its ratings are not unrelated to "
        f"theirs. It was {MASS:.2f} before the first vote.",
        f"Brackets under 'with the judge': {weighed.level:.0%} credible intervals. They assume independent votes, and "
        f"shifts between judge and people with a standard deviation of {_points(SHIFT)} points, or unrelated ratings "
        f"with one of {_points(SPREAD)}. With a judge that errs in another way they can be too narrow; the intervals "
        "under 'votes alone' need no judge. 'above the next' is the probability of that order.",
    ]
    warnings = [
        f"{name} is judge and contestant: judges may favour their own answers"
        for name in prior.judges
        if name in prior.players
    ]
    rated = list(zip(weighed.players, weighed.ratings, strict=True))
    section = Section("Ranking with the judge as a prior", warnings + notes, [table], warnings=warnings)
    facts = {
        "judges": list(prior.judges),
        "verdicts": prior.verdicts,
        "unread": prior.unread,
        "weight": weighed.weight,
        "models": list(weighed.players),
        "ratings": {name: rating.value for name, rating in rated},
        "intervals": {
            name: interval_fact(rating) for name, rating in zip(weighed.players, weighed.ratings, strict=True)
        },
        "ranks": {name: [p.low, p.high] for name, p in zip(weighed.players, weighed.ranks, strict=True)},
        "above_next": list(weighed.certainty),
        "judge": judged,
        "parameters": {"mass": MASS, "shift": SHIFT, "spread": SPREAD, "level": weighed.level, "draws": weighed.rounds},
    }
    return section, {"prior": facts}


def _points(strength: float) -> int:
    return round(strength * SCALE / math.log(10))
