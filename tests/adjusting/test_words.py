"""What `urs-inspect rank` says of adjusted ratings: each case, compared with files."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tests.reports.golden_files import check_golden
from tests.reports.scenarios import estimate
from tests.reports.test_rank_words import CLEAR, by, clear, even, people, ranked, text_of
from tests.reports.test_scenarios import rounded
from tests.stats.fights import fights
from urs_inspect.adjusting._adjusted import Coefficient, ControlledRanking, CorrectedRanking
from urs_inspect.adjusting._judge_prior import JudgePrior, WeighedRanking
from urs_inspect.adjusting._report import (
    controlled_section,
    corrected_section,
    groups_facts,
    judge_section,
    prior_section,
)
from urs_inspect.adjusting._verdicts import JudgeVerdicts, RankingsOfJudge
from urs_inspect.reports.layout._tables import Section, plain
from urs_inspect.reports.words._rankings import Adjusted, ranking_report
from urs_inspect.stats import Ranking
from urs_inspect.stats._ranking import Difference, Places, Rank


def weighed(certainty: Sequence[float], players: Sequence[str] = "bac") -> WeighedRanking:
    """A ranking with a judge as a prior."""
    ratings = tuple(estimate(1100.0 - 50 * place, 900.0, 1200.0) for place in range(len(players)))
    ranks = tuple(Rank(place, place, place + 1) for place in range(1, len(players) + 1))
    return WeighedRanking(tuple(players), ratings, ranks, tuple(certainty), 0.42, 0.95, 500)


def led(certainty: Sequence[float]) -> Adjusted:
    """What the first screen says with a judge as a prior."""
    prior = JudgePrior.of(fights(*CLEAR), ["p/judge"])
    adjusted = prior_section(plain_ranking("abc", SURE), prior, weighed(certainty))
    return replace(adjusted, section=Section("Prior"), facts={})


def test_whole_reports_with_a_judge() -> None:
    votes = {"overall": clear(), "translation": ranked("b>a", "b>a")}
    verdicts = {"overall": even(), "translation": ranked("a>b", "a>b")}
    spearman = {"overall": estimate(0.5, -0.1, 1.0), "translation": estimate(math.nan)}
    judge = RankingsOfJudge("scenario", ("p/judge", "p/other"), votes, verdicts, spearman)
    unnamed = replace(judge, judges=())

    def beside(judge: RankingsOfJudge) -> Adjusted:
        facts = groups_facts(judge)
        return Adjusted(Section("Judge"), {}, judge_section(judge), facts)

    one_group = by(groups={"model": clear()}, without=1)
    reports = {
        "rank_with_a_judge": ranking_report(even(), adjusted=[led((0.6, 0.7))]),
        "by_judge": ranking_report(
            clear(), people=people(), by=by(), adjusted=[beside(judge), led((0.995, 0.7))]
        ),
        "by_one_group": ranking_report(clear(), by=one_group, adjusted=[beside(unnamed)]),
    }
    for name, report in reports.items():
        check_golden(f"scenarios_of_rank/{name}", text_of(report))


@pytest.mark.parametrize(
    ("certainty", "shown"), [(0.99, "0.99"), (0.991, "over 0.99"), (0.5, "0.50")]
)
def test_how_sure_a_first_place_with_a_judge_is(certainty: float, shown: str) -> None:
    screen = ranking_report(even(), adjusted=[led((certainty, 0.7))]).first
    assert screen is not None
    assert f"probability of {shown};" in screen.claim


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
    for case, adjusted in made().items():
        section = adjusted.section
        facts = adjusted.facts
        report = ranking_report(clear(), adjusted=[adjusted])
        shown = replace(report, sections=[section], first=None).markdown()
        warned = "".join(f"\n- WARNING {warning}" for warning in section.warnings)
        text = json.dumps(rounded(plain(facts)), ensure_ascii=False)
        parts.append(f"# Case: {case}\n{warned}\n\n{shown}\n{text}\n")
        assert report.facts[name] == facts[name]
        assert report.first is not None
        assert any(section.title in finding for finding in report.first.findings)
    check_golden(f"scenarios_of_rank/adjusted_{name}", "\n".join(parts))
