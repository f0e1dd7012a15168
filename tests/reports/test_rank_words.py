"""What `urs-inspect rank` says: each case of its sentences and tables, compared with files."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.reports.golden_files import check_golden
from tests.reports.scenarios import estimate
from tests.reports.test_scenarios import rounded
from tests.stats.fights import fights
from tests.telling import tells
from urs_inspect.annotation._agreement import Agreement, AnnotatorReport
from urs_inspect.cli._first_screen import screen_lines
from urs_inspect.logs._battles import HumanBattles
from urs_inspect.reports.layout._tables import Report, Section, first_screen, plain
from urs_inspect.reports.numbers._rankings import RankingsBy
from urs_inspect.reports.words._rankings import Adjusted, Lead, people_notes, ranking_report
from urs_inspect.stats import Battles, Ranking, compare_leaderboard, rank
from urs_inspect.stats._ranking import Rank

NAN = math.nan
ROUNDS = 40


def ranked(*won: str) -> Ranking:
    """The ranking of battles, each on an instruction of its own."""
    return rank(fights(*won), rounds=ROUNDS)


CLEAR = ["a>b"] * 18 + ["b>a"] * 2 + ["b>c"] * 18 + ["c>b"] * 2 + ["a>c"] * 8 + ["a=c"] * 2
EVEN = ["a>b", "b>a"] * 8 + ["a>c", "b>c"] * 8 + ["a=b"] * 3 + ["c>b"] * 2
CHAIN = ["a>b"] * 7 + ["b>a"] * 5 + ["b>c"] * 7 + ["c>b"] * 5 + ["a>c"] * 30 + ["c>a"] * 3


@cache
def clear() -> Ranking:
    """Three models far apart."""
    return ranked(*CLEAR)


@cache
def even() -> Ranking:
    """Two models that cannot be distinguished, and one below."""
    return ranked(*EVEN)


@cache
def apart() -> Ranking:
    """Two pairs of models that never met."""
    return ranked(*["a=b"] * 12, *["c=d"] * 12)


def text_of(report: Report) -> str:
    """All that a report says."""
    screen = screen_lines(first_screen(report), 100, ["All tables: --all."])
    facts = json.dumps(rounded(plain(report.facts)), ensure_ascii=False, indent=1)
    return "\n\n".join(["# On a terminal", "\n".join(screen), report.markdown(), facts]) + "\n"


def agreement(**changed: Any) -> Agreement:
    """How far three people agree."""
    people = tuple(
        AnnotatorReport(name, 10, 5, 5, 0, 0, 0, 0.5, 1.0, 0.8, 2.0) for name in ("ann", "bo", "cy")
    )
    usual = Agreement(1, 30, 12, estimate(0.8), 0.45, 0.5, 2, people)
    return replace(usual, **{"ballots": 20, **changed})


def people(changed: Mapping[str, Any] = {}, **facts: Any) -> HumanBattles:
    """Votes of people on twenty of forty comparisons."""
    battles: Battles = fights("a>b")
    given = {
        "replaced": 0,
        "undecided": 0,
        "unknown": 0,
        "faults": (),
        "asked": dict.fromkeys(map(str, range(40))),
        "outcomes": {},
        **facts,
    }
    return HumanBattles(battles, agreement(**changed), **given)


ONE = (AnnotatorReport("ann", 1, 1, 0, 0, 0, 0, 1.0, 1.0, NAN, 2.0),)
UNKNOWN = (AnnotatorReport("?1", 1, 1, 0, 0, 0, 0, 1.0, 1.0, NAN, 2.0),)
PEOPLE: dict[str, HumanBattles] = {
    "three people": people(),
    "one person and vote": people({"votes": 1, "ballots": 1, "shared": 1, "annotators": ONE}),
    "people without names": people({"annotators": UNKNOWN}),
    "nothing voted on twice": people({"compared": 0}),
    "one comparison voted on twice": people({"compared": 1, "alpha": NAN}),
    "one of each": people(replaced=1, undecided=1, unknown=1, faults=("votes.jsonl:3: no id",)),
    "several of each": people(replaced=2, undecided=3, unknown=4, faults=("one", "two")),
}


def test_what_is_said_of_votes_of_people() -> None:
    parts = []
    for name, found in PEOPLE.items():
        lines = "\n".join(f"- {note}" for note in people_notes(found))
        parts.append(f"## {name}\n\n{lines}")
    check_golden("rank_people", "\n\n".join(parts) + "\n")


def cases() -> dict[str, Report]:
    """Reports of rankings without groups and adjustments."""
    simulated = ranked(*[fight.replace("a", "urs_simulation/a") for fight in CLEAR])
    board = {"a": 1100.0, "b": 1000.0, "z": 900.0}
    unknown = compare_leaderboard(clear(), {"a": 1.0, "c": 2.0, "b": 3.0})
    return {
        "rank_clear": ranking_report(clear(), compare_leaderboard(clear(), board)),
        "rank_even": ranking_report(even(), unknown, people()),
        "rank_chain": ranking_report(ranked(*CHAIN)),
        "rank_apart": ranking_report(apart()),
        "rank_first_two_apart": ranking_report(ranked(*["a>b", "c>d"] * 9, "b>a", "d>c")),
        "rank_simulated": ranking_report(simulated),
        "rank_few": ranking_report(ranked("a>b", "b=a")),
    }


def test_whole_reports_of_rankings() -> None:
    for name, report in cases().items():
        check_golden(f"scenarios_of_rank/{name}", text_of(report))


@pytest.mark.parametrize("leading", [1, 2, 3])
def test_who_may_be_first_decides_the_claim(leading: int) -> None:
    base = even()
    places = [Rank(n + 1, 1 if n < leading else 2, 3) for n in range(3)]
    report = ranking_report(replace(base, ranks=tuple(places)))
    assert report.first is not None
    claim = report.first.claim
    assert "significantly" not in claim
    names = ", ".join(base.players[:leading])
    if leading == 1:
        assert tells(claim, f"{names} is first ... from {base.players[1]}: ")
    else:
        assert claim.startswith("No clear first")
        assert [name for name in base.players if f"{name} (rank 1 to 3)" in claim] == list(
            base.players[:leading]
        )


@cache
def groups() -> dict[str, Ranking]:
    """Rankings of three groups: as all, without a model, and of models that do not compare."""
    return {
        "model": clear(),
        "translation": ranked(*["b>a"] * 12, *["a>b"] * 2),
        "writing": ranked(*["a=b"] * 3, *["c=d"] * 2),
    }


def by(**changed: Any) -> RankingsBy:
    """Rankings of three groups, of which one lacks a model and one does not compare."""
    return replace(RankingsBy("scenario", clear(), groups(), 3), **changed)


def test_whole_reports_of_rankings_by_group() -> None:
    agreed = {"overall": (estimate(0.9, 0.5, 1.0), estimate(0.8)), "model": (estimate(NAN),) * 2}
    board = {"a": 2, "c": 1}
    reports = {
        "by_leaderboard": ranking_report(clear(), by=by(board=board, agreement=agreed)),
        "by_nothing_without": ranking_report(clear(), by=by(without=0)),
    }
    for name, report in reports.items():
        check_golden(f"scenarios_of_rank/{name}", text_of(report))


def test_an_adjusted_ranking_leads_the_first_screen_and_stands_beside_groups() -> None:
    lead = Lead(
        "b is first.", "by style", {"a": estimate(1.0), "b": estimate(2.0), "c": estimate(3.0)}
    )
    adjusted = Adjusted(
        Section("By style"), {"style": 1}, Section("Groups by style"), {"group": 2}, lead
    )
    report = ranking_report(even(), adjusted=[adjusted], by=by())
    titles = [section.title for section in report.sections]
    assert titles.index("Groups by style") == titles.index("Ranking by scenario") + 1
    assert report.facts["style"] == 1
    assert report.facts["by"]["group"] == 2
    alone = replace(adjusted, of_groups=None)
    screen = ranking_report(even(), adjusted=[alone, replace(alone, lead=None)]).first
    assert screen is not None and screen.table is not None
    assert screen.claim.startswith("b is first. By votes alone: No clear first: ")
    assert screen.findings.count("Also: By style.") == 2
    shown = screen.table.data.set_index("model")["by style"]
    assert dict(shown) == lead.ratings
