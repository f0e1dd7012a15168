"""Reports of rankings by comparisons."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeVar

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.annotation._agreement import Agreement
from urs_inspect.annotation._votes import UNNAMED
from urs_inspect.logs._battles import HumanBattles
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports._texts import DASH, Format, listed, number, rating_text
from urs_inspect.reports.layout._tables import (
    SIMULATED_SCREEN,
    FirstScreen,
    Report,
    ReportKind,
    Section,
    Table,
)
from urs_inspect.reports.numbers._rankings import RankingsBy
from urs_inspect.reports.words._rankings_by import (
    by_facts,
    by_section,
    first_of_groups,
    notes_on_intervals,
    rank_columns,
    rank_texts,
)
from urs_inspect.stats import Estimate, LeaderboardAgreement, Ranking
from urs_inspect.stats._bradley_terry import PRIOR
from urs_inspect.stats._elo import SCALE, START, K
from urs_inspect.stats._ranking import Difference, Rank

RANK = ReportKind("urs-inspect rank", 1, "urs-inspect rank", "rank")
_Value = TypeVar("_Value")
_RANK_HELD = 0.893
_RANKS_HELD = 0.555
"""Shares of rank intervals, and of tables, that hold the true ranks.

docs/appendix/people_coverage.md, "Ranks of one table".
"""


@dataclass(frozen=True)
class Lead:
    """What an adjusted ranking says on the first screen, before the one by votes alone."""

    claim: str
    heading: str  # of its ratings
    ratings: Mapping[str, Estimate]  # by model


@dataclass(frozen=True)
class Adjusted:
    """What an adjusted ranking adds to the report of the one by votes alone."""

    section: Section
    facts: Mapping[str, Any]  # for JSON
    of_groups: Section | None = None  # about groups of comparisons
    facts_of_groups: Mapping[str, Any] = field(default_factory=dict)
    lead: Lead | None = None


def ranking_report(
    ranking: Ranking,
    leaderboard: LeaderboardAgreement | None = None,
    people: HumanBattles | None = None,
    adjusted: Sequence[Adjusted] = (),
    by: RankingsBy | None = None,
) -> Report:
    """A ranking, how far people agree, rankings of groups, adjusted rankings, and how it agrees
    with a leaderboard.
    """
    facts = ranking_dict(ranking, leaderboard)
    sections = []
    if people:
        sections.append(Section("Votes of people", people_notes(people)))
    sections.append(_ratings_section(ranking))
    if by:
        facts["by"] = by_facts(by, ranking_dict)
        sections.append(by_section(by))
    for one in adjusted:
        if one.of_groups:
            facts["by"] |= one.facts_of_groups
            sections.append(one.of_groups)
    sections.append(_neighbours_section(ranking))
    for one in adjusted:
        facts |= one.facts
        sections.append(one.section)
    sections.append(_win_rates_section(ranking))
    if leaderboard:
        sections.append(Section("Agreement with the leaderboard", _leaderboard_notes(leaderboard)))
    first = _screen(ranking, people, adjusted, by)
    return Report(RANK, "Ranking", sections, facts, first=first)


def _screen(
    ranking: Ranking,
    people: HumanBattles | None,
    adjusted: Sequence[Adjusted],
    by: RankingsBy | None,
) -> FirstScreen:
    """The answer on one screen."""
    basis = []
    if people:
        basis = people_notes(people)
    basis += [
        f"{counted(ranking.battles, 'comparison')} on {counted(ranking.clusters, 'instruction')},"
        f" {counted(ranking.ties, 'tie')}.",
        f"Ratings of Bradley-Terry with {ranking.level:.0%} intervals.",
    ]
    warnings = _apart(ranking)
    if any(player.startswith(SIMULATED) for player in ranking.players):
        warnings.insert(0, SIMULATED_SCREEN)
    findings = []
    if by:
        findings = [first_of_groups(by)]
    findings.append(
        "The interval of a rank is about that model alone; where models are nearly equal, it is"
        " too narrow."
    )
    findings += [f"Also: {one.section.title}." for one in adjusted]
    claim = _claim(ranking)
    lead = next((one.lead for one in adjusted if one.lead), None)
    if lead:
        claim = f"{lead.claim} By votes alone: {claim}"
    return FirstScreen(claim, warnings, basis, _table(ranking, by, lead), findings)


def _apart(ranking: Ranking) -> list[str]:
    """That not all models can be compared."""
    message = ranking.connectivity.message
    if message:
        return [f"NOT ALL MODELS COMPARE: {message}"]
    return []


def _table(ranking: Ranking, by: RankingsBy | None, lead: Lead | None) -> Table:
    """Ranks and ratings; with groups the ranks in each, else how far a model is ahead of the
    next.
    """
    columns: dict[str, Sequence[Any]] = {
        "rank": rank_texts(ranking.ranks),
        "model": list(ranking.players),
    }
    headings: dict[str, str] = {}
    groups = {}
    if by:
        groups = rank_columns(by)
    for group, ranks in groups.items():
        column = f"group: {group}"  # a group may be called like another column
        columns[column] = ranks
        headings[column] = group
    columns["rating"] = list(ranking.bradley_terry)
    if lead and not by:
        columns[lead.heading] = [lead.ratings[name] for name in ranking.players]
        headings["rating"] = "by votes alone"
    if not by:
        ahead = [_rating_difference(gap.estimate) for gap in ranking.differences]
        columns["ahead of the next"] = [*ahead, ""]
    formats: dict[str, Format] = dict.fromkeys(list(columns)[2:], str)
    formats["rating"] = rating_text
    if lead:
        formats[lead.heading] = rating_text
    return Table(pd.DataFrame(columns), formats, headings=headings)


def _claim(ranking: Ranking) -> str:
    """Which model is first, and how far it is ahead."""
    first = ranking.differences[0]
    ahead = _rating_difference(first.estimate)
    if first.verdict == "significantly different":
        return f"{first.better} is first, significantly ahead of {first.other}: {ahead}."
    if first.verdict == "not comparable":
        return f"{first.better} and {first.other} cannot be compared."
    leading = [
        f"{player} (rank {place.low} to {place.high})"
        for player, place in zip(ranking.players, ranking.ranks, strict=True)
        if place.low == 1
    ]
    if len(leading) > 1:
        return f"No clear first: {listed(leading)} cannot be distinguished."
    return f"{first.better} is first, but cannot be distinguished from {first.other}: {ahead}."


def _rating_difference(difference: Estimate) -> str:
    return number(0, sign=True)(difference).replace(",", "")


def ranking_dict(
    ranking: Ranking, leaderboard: LeaderboardAgreement | None = None
) -> dict[str, Any]:
    """What `urs-inspect rank --json` prints.

    By model, from the best to the worst: `bradley_terry`, `elo`, `elo_shuffled` and `ranks`; under
    `intervals` those of Bradley-Terry, Elo and ranks, null where none exists; then differences of
    neighbours, pairs, which models compare, and the parameters.
    """
    ratings = {
        "bradley_terry": ranking.bradley_terry,
        "elo": ranking.elo,
        "elo_shuffled": ranking.elo_shuffled,
    }
    facts = {
        **order_facts(ranking.players, ratings, ranking.ranks, ranking.differences),
        "pairs": _pairs(ranking),
        "connected": ranking.connectivity.connected,
        "groups": [list(group) for group in ranking.connectivity.groups],
        "message": ranking.connectivity.message,
        "battles": ranking.battles,
        "ties": ranking.ties,
        "instructions": ranking.clusters,
        "parameters": {
            "rounds": ranking.rounds,
            "level": ranking.level,
            "seed": ranking.seed,
            "prior": PRIOR,
            "k": K,
            "scale": SCALE,
            "start": START,
        },
    }
    if leaderboard is not None:
        measures = {"spearman": leaderboard.spearman, "kendall": leaderboard.kendall}
        facts["leaderboard"] = {
            **{name: measure.value for name, measure in measures.items()},
            "intervals": {name: interval_fact(measure) for name, measure in measures.items()},
            "models": list(leaderboard.players),
            "only_ranked": list(leaderboard.only_ranked),
            "only_leaderboard": list(leaderboard.only_leaderboard),
        }
    return facts


def order_facts(
    players: Sequence[str],
    ratings: Mapping[str, Sequence[Estimate]],
    ranks: Sequence[Rank],
    differences: Sequence[Difference] = (),
) -> dict[str, Any]:
    """Ratings of each kind and ranks by model, with their intervals, and differences of neighbours,
    for JSON.
    """

    def named(values: Iterable[_Value]) -> dict[str, _Value]:
        return dict(zip(players, values, strict=True))

    # Bounds of Elo over orders of the battles are no interval.
    intervals = {
        kind: named(map(interval_fact, values))
        for kind, values in ratings.items()
        if kind != "elo_shuffled"
    }
    gaps = [
        {
            "better": gap.better,
            "other": gap.other,
            "difference": gap.estimate.value,
            "interval": interval_fact(gap.estimate),
            "verdict": gap.verdict,
        }
        for gap in differences
    ]
    facts: dict[str, Any] = {
        "models": list(players),
        **{kind: named(rating.value for rating in values) for kind, values in ratings.items()},
        "ranks": named(place.rank for place in ranks),
        "intervals": {
            **intervals,
            "ranks": named([place.low, place.high] for place in ranks),
        },
    }
    if gaps:
        facts["differences"] = gaps
    return facts


def _pairs(ranking: Ranking) -> list[dict[str, Any]]:
    rates = ranking.win_rates
    return [
        {
            "model_a": rates.players[i],
            "model_b": rates.players[j],
            "battles": int(rates.battles[i, j]),
            "wins_a": int(rates.wins[i, j]),
            "wins_b": int(rates.wins[j, i]),
            "ties": int(rates.ties[i, j]),
            "win_rate_a": float(rates.rates[i, j]),
        }
        for i, j in combinations(range(len(rates.players)), 2)
        if rates.battles[i, j]
    ]


def interval_fact(estimate: Estimate) -> list[float] | None:
    """Bounds for JSON; None where no interval exists."""
    if math.isnan(estimate.low):
        return None
    return [estimate.low, estimate.high]


def _ratings_section(ranking: Ranking) -> Section:
    apart = _apart(ranking)
    notes = [
        f"{counted(ranking.battles, 'comparison')} of {len(ranking.players)} models on"
        f" {counted(ranking.clusters, 'instruction')}, {counted(ranking.ties, 'tie')}.",
        *apart,
        *notes_on_intervals([ranking]),
        f"Brackets: {ranking.level:.0%} intervals over {ranking.rounds} resamples of the"
        f" instructions (seed {ranking.seed}), expanded where there are few. Bradley-Terry does not"
        f" depend on the order of the votes and is the rating to go by; Elo (K={K:g}) is"
        " the mean over the same resamples; 'Elo by order', its mean over random orders of all"
        " votes, without resampling.",
        "The interval of a rank is about that model alone, and is too narrow where models are"
        " nearly equal; the ranks of a table do not all hold together: of simulated tables of six"
        f" nearly equal models with 210 votes, {_RANK_HELD:.0%} of the intervals held the rank of"
        f" their model, and {_RANKS_HELD:.0%} of the tables all six.",
    ]
    ratings = {
        "Bradley-Terry": list(ranking.bradley_terry),
        "Elo": list(ranking.elo),
        "Elo by order": [rating.value for rating in ranking.elo_shuffled],
    }
    columns = {"rank": rank_texts(ranking.ranks), "model": list(ranking.players), **ratings}
    table = Table(pd.DataFrame(columns), dict.fromkeys(ratings, rating_text))
    return Section("Ranking", notes, [table], warnings=apart)


def _neighbours_section(ranking: Ranking) -> Section:
    rows = [(gap.better, gap.other, gap.verdict, gap.estimate) for gap in ranking.differences]
    data = pd.DataFrame(rows, columns=["model", "next", "result", "difference"])
    table = Table(data, {"difference": number(0, sign=True)})
    return Section("Neighbours, difference in Bradley-Terry", tables=[table])


def _win_rates_section(ranking: Ranking) -> Section:
    rates = ranking.win_rates
    columns: dict[str, list[str]] = {"model": list(rates.players)}
    headings = {"model": ""}
    for place, model in enumerate(rates.players):
        results = zip(rates.rates[:, place], rates.battles[:, place], strict=True)
        column = str(place)  # models may have any names
        columns[column] = [f"{100 * won:.0f} ({met})" if met else DASH for won, met in results]
        headings[column] = model
    formats = dict.fromkeys(list(columns)[1:], str)
    table = Table(pd.DataFrame(columns), formats, headings=headings)
    return Section(
        "Wins of the row over the column in %, ties as half, and number of battles", tables=[table]
    )


def _leaderboard_notes(found: LeaderboardAgreement) -> list[str]:
    spearman = number(2)(found.spearman)
    kendall = number(2)(found.kendall)
    notes = [
        f"Agreement with the leaderboard over {len(found.players)} models: Spearman {spearman},"
        f" Kendall {kendall}."
    ]
    only = {
        "the votes": found.only_ranked,
        "the leaderboard": found.only_leaderboard,
    }
    return notes + [
        f"Only in {where}: {', '.join(names)}" for where, names in only.items() if names
    ]


# --- votes of people ---


def people_notes(people: HumanBattles) -> list[str]:
    """How many ballots people decided and how far they agree."""
    found = people.agreement
    notes = [
        f"{counted(found.votes, 'vote')} of {_voters(found)} on {found.ballots} of"
        f" {counted(len(people.asked), 'comparison')}; on a comparison with several votes the most"
        " frequent choice counts; if two are equally frequent it is a tie"
        f" ({counted(found.shared, 'comparison')})."
    ]
    if people.replaced:
        notes.append(
            f"{counted(people.replaced, 'vote')} {'was' if people.replaced == 1 else 'were'}"
            " replaced later."
        )
    if found.compared:
        alpha = "not defined"
        if not math.isnan(found.alpha):
            alpha = f"{found.alpha:.2f}"
        notes.append(
            f"On {counted(found.compared, 'comparison')} with several votes"
            f" {found.most_chosen.value:.0%} of the votes are for the most chosen option;"
            f" Krippendorff's alpha is {alpha}."
        )
    if people.undecided:
        notes.append(
            f"On {counted(people.undecided, 'comparison')} every vote is that the person cannot"
            " tell."
        )
    if people.unknown:
        are = "are about other comparisons and do"
        if people.unknown == 1:
            are = "is about another comparison and does"
        notes.append(f"{counted(people.unknown, 'vote')} {are} not count.")
    return [*notes, *(f"Not a vote: {fault}" for fault in people.faults)]


def _voters(found: Agreement) -> str:
    """How many people voted; nobody knows where they have no names."""
    if any(one.annotator.startswith(UNNAMED) for one in found.annotators):
        return "people"
    return counted(len(found.annotators), "person", "people")
