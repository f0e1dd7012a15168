"""What `urs-inspect rank` says: each case of its sentences and tables, compared with files."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from tests.reports.golden_files import check_golden
from tests.reports.scenarios import estimate
from tests.reports.test_scenarios import rounded
from tests.stats.fights import fights
from tests.telling import tells
from urs_inspect.annotation._agreement import Agreement, AnnotatorReport
from urs_inspect.cli._first_screen import screen_lines
from urs_inspect.discrepancy._judge_prior import JudgePrior, WeighedRanking
from urs_inspect.logs._battles import HumanBattles, JudgeVerdicts
from urs_inspect.reports.layout._tables import Report, first_screen, plain
from urs_inspect.reports.numbers._rankings import RankingsBy, RankingsOfJudge
from urs_inspect.reports.words._adjusted import (
    Adjusted,
    controlled_section,
    corrected_section,
    prior_section,
)
from urs_inspect.reports.words._rankings import people_notes, ranking_report
from urs_inspect.stats import Battles, Ranking, compare_leaderboard, rank
from urs_inspect.stats._adjusted import Coefficient, ControlledRanking, CorrectedRanking
from urs_inspect.stats._ranking import Difference, Places, Rank

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
        "rank_with_a_judge": ranking_report(even(), weighed=weighed((0.6, 0.7))),
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


def weighed(certainty: Sequence[float], players: Sequence[str] = "bac") -> WeighedRanking:
    """A ranking with a judge as a prior."""
    ratings = tuple(estimate(1100.0 - 50 * place, 900.0, 1200.0) for place in range(len(players)))
    ranks = tuple(Rank(place, place, place + 1) for place in range(1, len(players) + 1))
    return WeighedRanking(tuple(players), ratings, ranks, tuple(certainty), 0.42, 0.95, 500)


@pytest.mark.parametrize(
    ("certainty", "shown"), [(0.99, "0.99"), (0.991, "over 0.99"), (0.5, "0.50")]
)
def test_how_sure_a_first_place_with_a_judge_is(certainty: float, shown: str) -> None:
    screen = ranking_report(even(), weighed=weighed((certainty, 0.7))).first
    assert screen is not None
    assert f"probability of {shown};" in screen.claim


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
    votes = {"overall": clear(), "translation": ranked("b>a", "b>a")}
    verdicts = {"overall": even(), "translation": ranked("a>b", "a>b")}
    spearman = {"overall": estimate(0.5, -0.1, 1.0), "translation": estimate(NAN)}
    judge = RankingsOfJudge("scenario", ("p/judge", "p/other"), votes, verdicts, spearman)
    unnamed = replace(judge, judges=())
    with_prior = weighed((0.995, 0.7))
    one_group = by(groups={"model": clear()}, without=1)
    reports = {
        "by_leaderboard": ranking_report(clear(), by=by(board=board, agreement=agreed)),
        "by_judge": ranking_report(
            clear(), people=people(), by=by(), judge=judge, weighed=with_prior
        ),
        "by_one_group": ranking_report(clear(), by=one_group, judge=unnamed),
        "by_nothing_without": ranking_report(clear(), by=by(without=0)),
    }
    for name, report in reports.items():
        check_golden(f"scenarios_of_rank/{name}", text_of(report))


# --- adjusted ratings ---


def gaps(*facts: tuple[str, str, float, Any]) -> tuple[Difference, ...]:
    """Differences of neighbours."""
    return tuple(
        Difference(better, other, estimate(value, value - 20, value + 20), verdict)
        for better, other, value, verdict in facts
    )


SURE, UNSURE = "significantly different", "cannot be distinguished"


def places(order: Sequence[str], verdicts: Sequence[Any]) -> Places:
    """Places of models, with how far they moved."""
    ratings = tuple(
        estimate(1100.0 - 40 * place, 1000.0 - 40 * place, 1200.0) for place in range(len(order))
    )
    moved = tuple(estimate(10.0 * place - 15, -30.0, 30.0) for place in range(len(order)))
    ranks = tuple(Rank(place + 1, place + 1, place + 1) for place in range(len(order)))
    neighbours = [
        (better, other, 40.0, verdict)
        for (better, other), verdict in zip(pairwise(order), verdicts, strict=True)
    ]
    return Places(tuple(order), ratings, ranks, gaps(*neighbours), moved)


def plain_ranking(order: str, verdict: Any) -> Ranking:
    """A ranking by votes alone, whose neighbours all have one verdict."""
    base = clear()
    facts = [(better, other, 40.0, verdict) for better, other in pairwise(order)]
    ranks = tuple(Rank(place + 1, 1, len(order)) for place in range(len(order)))
    ratings = tuple(estimate(1000.0 - place) for place in range(len(order)))
    return replace(
        base,
        players=tuple(order),
        differences=gaps(*facts),
        ranks=ranks,
        bradley_terry=ratings,
    )


def verdicts_of(number: int, **facts: Any) -> JudgeVerdicts:
    """A judge's verdicts, and what does not count."""
    usual = {
        "judges": ("p/judge",),
        "unparsed": 0,
        "missing": 0,
        "other_responses": 0,
        "other_ballots": 0,
    }
    return JudgeVerdicts(dict.fromkeys(map(str, range(number)), 1.0), **{**usual, **facts})


def corrected(order: str, neighbours: Sequence[Any], **facts: Any) -> CorrectedRanking:
    """A ranking by votes, corrected by a judge."""
    usual = {
        "places": places(order, neighbours),
        "judge": tuple(900.0 + place for place in range(len(order))),
        "weight": 0.63,
        "votes": 40,
        "verdicts": 100,
        "both": 40,
        "agreement": 0.755,
        "worth": 61.2,
    }
    return CorrectedRanking(**{**usual, **facts})


def adjustments() -> dict[str, Adjusted]:
    """Sections of rankings that are corrected by a judge, by its verdicts and the order before."""
    clear_abc = plain_ranking("abc", SURE)
    unclear = plain_ranking("abc", UNSURE)
    many = "abcdef"
    reverse = many[::-1]
    return {
        "more precise": corrected_section(
            corrected("abc", [SURE, SURE]), verdicts_of(100), clear_abc
        ),
        "as precise": corrected_section(
            corrected("abc", [SURE, SURE], worth=40.4), verdicts_of(100), clear_abc
        ),
        "people voted on all, yet more precise": corrected_section(
            corrected("abc", [SURE, SURE], both=100, verdicts=100),
            verdicts_of(100),
            clear_abc,
        ),
        "one of each does not count": corrected_section(
            corrected("abc", [SURE, SURE], votes=1, verdicts=99, worth=1.0),
            verdicts_of(100, unparsed=1, missing=1, other_responses=1, other_ballots=1),
            clear_abc,
        ),
        "several of each do not count": corrected_section(
            corrected("abc", [SURE, SURE], verdicts=95),
            verdicts_of(100, unparsed=2, missing=3, other_responses=4, other_ballots=5, judges=()),
            clear_abc,
        ),
        "a lead is lost": corrected_section(
            corrected("abc", [UNSURE, SURE]), verdicts_of(100), clear_abc
        ),
        "no lead was there": corrected_section(
            corrected("abc", [UNSURE, UNSURE]), verdicts_of(100), unclear
        ),
        "the order turns": corrected_section(
            corrected("bac", [UNSURE, SURE]), verdicts_of(100), clear_abc
        ),
        "the judge is a model": corrected_section(
            corrected("abc", [SURE, SURE]), verdicts_of(100, judges=("b", "p/x")), clear_abc
        ),
        "many turn": corrected_section(
            corrected(reverse, [SURE] * 5), verdicts_of(100), plain_ranking(many, SURE)
        ),
        "many are lost": corrected_section(
            corrected(many, [UNSURE] * 5), verdicts_of(100), plain_ranking(many, SURE)
        ),
        "three turn": corrected_section(
            corrected("dcba", [SURE] * 3), verdicts_of(100), plain_ranking("abcd", SURE)
        ),
    }


def controls() -> dict[str, Adjusted]:
    """Sections at equal style."""
    given = places("abc", [SURE, UNSURE])
    length = {"length": Coefficient(0.5, 0.8)}
    style = {"length": Coefficient(0.25, 0.8), "lists": Coefficient(1.0, -0.1)}
    effects = (estimate(55.0, 10.0, 100.0), estimate(-7.0, -20.0, 6.0))
    return {
        "length": controlled_section(ControlledRanking(given, length, effects[:1], False)),
        "length from a file": controlled_section(
            ControlledRanking(given, length, effects[:1], True)
        ),
        "style": controlled_section(
            ControlledRanking(given, style, effects, False, ("headings", "bold"))
        ),
    }


def priors() -> dict[str, Adjusted]:
    """Sections with a judge as a prior."""
    battles = fights(*CLEAR)
    prior = replace(JudgePrior.of(battles, ["p/judge"]), unread=2, verdicts=1)
    named = replace(prior, judges=("a", "p/other"), verdicts=60, unread=0)
    unclear = plain_ranking("abc", UNSURE)
    return {
        "the order turns": prior_section(
            plain_ranking("abc", SURE), prior, weighed((0.976, 0.974))
        ),
        "leads are kept": prior_section(
            plain_ranking("abc", SURE), named, weighed((0.99, 0.98), "abc")
        ),
        "a lead just lost": prior_section(
            plain_ranking("abc", SURE), prior, weighed((0.974, 0.976), "abc")
        ),
        "nothing was sure": prior_section(
            unclear, replace(prior, judges=()), weighed((0.6, 0.5), "abc")
        ),
    }


@pytest.mark.parametrize(
    ("name", "made"),
    [("corrected", adjustments), ("controlled", controls), ("prior", priors)],
)
def test_sections_of_adjusted_ratings(name: str, made: Any) -> None:
    parts = []
    for case, (section, facts) in made().items():
        report = ranking_report(clear(), adjusted=[(section, facts)])
        shown = replace(report, sections=[section], first=None).markdown()
        warned = "".join(f"\n- WARNING {warning}" for warning in section.warnings)
        text = json.dumps(rounded(plain(facts)), ensure_ascii=False)
        parts.append(f"# Case: {case}\n{warned}\n\n{shown}\n{text}\n")
        assert report.facts[name] == facts[name]
        assert report.first is not None
        assert any(section.title in finding for finding in report.first.findings)
    check_golden(f"scenarios_of_rank/adjusted_{name}", "\n".join(parts))
