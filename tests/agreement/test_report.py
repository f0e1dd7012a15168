"""What `urs-inspect agreement` says: each case of its sentences and tables, compared with files."""

import json
import math
from dataclasses import replace
from typing import Any

from tests.reports.golden_files import check_golden
from tests.reports.scenarios import estimate
from tests.reports.test_scenarios import rounded
from urs_inspect.agreement._levels import (
    AgreementBlock,
    CaseAgreement,
    CaseLevel,
    IntentLevel,
    ModelLevel,
    NoLevel,
    PeopleAgreement,
)
from urs_inspect.agreement._mean_correlation import MeanCorrelation
from urs_inspect.agreement._report import (
    agreement_report,
    case_notes,
    mean_notes,
    why_no_interval,
    why_no_level,
)
from urs_inspect.cli._first_screen import screen_lines
from urs_inspect.reports.layout._tables import Report, csv_text, first_screen, plain
from urs_inspect.reports.numbers._conditions import Conditions, Difference, Unlike
from urs_inspect.stats import Correlations, Resampling

NAN = math.nan
HOW = Resampling(200, 0.95, 0)
ALIKE = Unlike({}, {}, 0)


def correlation(
    value: float,
    low: float = NAN,
    high: float = NAN,
    without: float = NAN,
    spearman: float = 0.7,
    over: tuple[float, float] = (NAN, NAN),
) -> MeanCorrelation:
    """How two sets of means go together."""
    return MeanCorrelation(estimate(value, low, high, 6), without, spearman, over)


SURE = correlation(0.9, 0.8, 1.0, 0.95, 0.94, (0.3, 0.99))


def intents(**changed: Any) -> IntentLevel:
    """Scores and satisfaction of three intents."""
    points = (
        {"group": "Leisure", "score": estimate(7.5, 7.0, 8.0), "satisfaction": estimate(4.5),
         "questions": 12, "people": 9},
        {"group": "Factual QA", "score": estimate(6.5, 6.0, 7.0), "satisfaction": estimate(3.5),
         "questions": 11, "people": 8},
        {"group": "Solve Problem", "score": estimate(5.5), "satisfaction": estimate(2.5),
         "questions": 3, "people": None},
    )  # fmt: skip
    usual: dict[str, Any] = {
        "points": points,
        "correlation": SURE,
        "behind": {"questions": {"Leisure": 12, "Factual QA": 11, "Solve Problem": 30}},
        "skipped": {"without satisfaction": (), "without a score": ()},
        "asked": 26,
        "clusters": 0,
        "by_model": {"p/first": SURE, "p/second": correlation(0.2)},
        "people_resampled": True,
        "means_of_several": "",
    }
    return IntentLevel(**{**usual, **changed})


def models(**changed: Any) -> ModelLevel:
    """Scores and ratings by votes of three models."""
    points = (
        {"model": "p/first", "score": estimate(7.5, 7.0, 8.0), "rating": estimate(1100, 1050, 1200)},
        {"model": "p/second", "score": estimate(6.5), "rating": estimate(1000.0)},
        {"model": "q/third", "score": estimate(5.5), "rating": estimate(900.0)},
    )  # fmt: skip
    usual: dict[str, Any] = {
        "points": points,
        "correlation": correlation(0.4, -0.5, 1.0, 0.6, 0.5, (-0.6, 0.9)),
        "behind": {"instructions": {"p/first": 40, "p/second": 40, "q/third": 40}},
        "skipped": {"only in the votes": ("p/x",), "only in the logs": ("p/y", "p/z")},
        "asked": 24,
        "clusters": 12,
        "comparisons": 120,
        "instructions": 40,
        "ties": 1,
        "questions": 24,
        "apart": "",
    }
    return ModelLevel(**{**usual, **changed})


def agreed(value: float, low: float = NAN, answers: int = 40, **changed: Any) -> CaseAgreement:
    """Agreement on some answers."""
    high = NAN if math.isnan(low) else 0.99
    by = Correlations(
        pearson=estimate(value + 0.02, low, high),
        spearman=estimate(value, low, high),
        kendall=estimate(value - 0.1, low, high),
        unread=0,
    )
    usual = CaseAgreement(
        by, estimate(value - 0.2, low, high), estimate(-0.35, -0.6, -0.1), answers, 30, 30
    )
    return replace(usual, **changed)


def cases(**changed: Any) -> CaseLevel:
    """Agreement on single answers."""
    scopes = {
        "all": agreed(0.8, 0.6),
        "Leisure": agreed(0.7, answers=20),
        "p/first": agreed(0.9, 0.7, answers=1),
    }
    people = PeopleAgreement(estimate(0.55, 0.3, 0.7), 3, 90, 12)
    usual = CaseLevel(scopes, people, "ratings.csv", 0, False, 0)
    return replace(usual, **changed)


CONDITIONS = Conditions(("p/judge",), "d", "a" * 64, "urs 1", "eeb6ce77", "", "1-A")


def block(**changed: Any) -> AgreementBlock:
    """Agreement with one judge."""
    usual = AgreementBlock(
        conditions=CONDITIONS,
        apart_because=(),
        models=("p/first", "p/second", "q/third"),
        simulated=False,
        unlike=ALIKE,
        lacking=(),
    )
    return replace(usual, **changed)


NONE = NoLevel("models", 1, 3, ("m", "n"), ())
PANEL = replace(CONDITIONS, judges=("p/judge", "p/other"), references="p/model", rubric="")


def reports() -> dict[str, Report]:
    """Whole reports."""
    everything = block(intents=intents(), ratings=models(), cases=cases())
    other = block(
        conditions=PANEL,
        apart_because=(Difference("panel", "p/judge, p/other", "p/judge"),),
        simulated=True,
        unlike=Unlike({"p/first": 0, "p/second": 100}, {"p/first": 24, "p/second": 18}, 18),
        lacking=(NONE,),
        ratings=models(correlation=correlation(NAN), apart="a and b never met."),
        cases=cases(
            scopes={"all": agreed(-0.1, -0.4, questions=30, clusters=12)},
            people=None,
            weighted=True,
            without_score=1,
            without_epoch=2,
        ),
    )
    unnamed = block(
        conditions=replace(CONDITIONS, judges=(), rubric=""),
        cases=cases(people=PeopleAgreement(estimate(NAN), 1, 1, 0)),
    )
    sources = {"ratings of answers": ["ratings.csv"], "votes": ["a.csv", "b.csv"]}
    notes = ["The scale may be another one.", "A note."]
    return {
        "two_judges": agreement_report(
            [everything, other],
            notes,
            HOW,
            sources,
            ["a.eval was left out."],
            "urs-inspect agreement logs",
            None,
            notes[:1],
        ),
        "only_votes": agreement_report(
            [block(ratings=models(), intents=None)], (), HOW, {"votes": ["a.csv"]}
        ),
        "only_satisfaction": agreement_report(
            [
                block(
                    intents=intents(
                        correlation=correlation(0.4, -1.0, 1.0, NAN, 0.5, (-0.6, 0.9)),
                        people_resampled=False,
                        means_of_several="satisfaction.csv",
                        clusters=9,
                    ),
                    simulated=True,
                )
            ],
            (),
            HOW,
            {},
        ),
        "unnamed_judge": agreement_report([unnamed], (), HOW, {}),
        "nothing": agreement_report(
            [block(lacking=(NONE, replace(NONE, over="intents", both=0))), block(lacking=(NONE,))],
            notes,
            HOW,
            {},
        ),
    }


def test_whole_reports_of_agreement() -> None:
    for name, report in reports().items():
        screen = screen_lines(first_screen(report), 100, ["All tables: --all."])
        facts = json.dumps(rounded(plain(report.facts)), ensure_ascii=False, indent=1)
        table = report.tables()["agreement"].map(lambda cell: rounded(plain(cell)))
        parts = ["# On a terminal", "\n".join(screen), report.markdown(), facts, csv_text(table)]
        check_golden(f"scenarios_of_agreement/{name}", "\n\n".join(parts))


def test_why_there_is_no_agreement() -> None:
    found = {
        "nobody said anything": replace(NONE, said=()),
        "none was scored": NONE,
        "some were scored": replace(NONE, scored=("o",)),
        "intents": replace(NONE, over="intents", both=2, said=("Leisure",), scored=("Leisure",)),
        "enough have both": replace(NONE, over="intents", both=3),
        "more than enough have both": replace(NONE, over="intents", both=4),
    }
    lines = [f"- {name}: {why_no_level(level)}" for name, level in found.items()]
    check_golden("agreement_lacking", "\n".join(lines) + "\n")


def test_what_is_noted_of_a_level() -> None:
    behind = {
        "questions": {"Leisure": 5, "Factual QA": 6, "Solve Problem": 1},
        "people": {"Leisure": 9, "Factual QA": 5},
        "clusters": {"Leisure": 9},
    }
    found: dict[str, list[str]] = {
        "nothing": [*mean_notes(intents()), *case_notes(cases())],
        "skipped": mean_notes(models(clusters=0)),
        "clusters of one question": mean_notes(intents(asked=1, clusters=1)),
        "means of several people": mean_notes(intents(means_of_several="s.csv")),
        "models that do not compare": mean_notes(models(apart="a and b never met.", skipped={})),
        "an epoch": case_notes(cases(without_epoch=1)),
        "weights and a missing score": case_notes(cases(weighted=True, without_score=1)),
        "missing scores": case_notes(cases(without_score=3)),
        "enough behind each": [why_no_interval(intents())],
        "too few behind some": [why_no_interval(intents(behind=behind))],
        "too few at a lower level": [
            why_no_interval(
                intents(
                    behind=behind,
                    correlation=replace(SURE, pearson=replace(SURE.pearson, level=0.8)),
                )
            )
        ],
    }
    lines = []
    for name, notes in found.items():
        lines += [f"## {name}", *(f"- {note}" for note in notes)]
    check_golden("agreement_notes", "\n".join(lines) + "\n")


def test_the_claim_rests_on_the_lower_bound_alone() -> None:
    claims = {}
    for low in (-0.1, 0.0, 0.1, NAN):
        level = cases(scopes={"all": agreed(0.8, low)})
        screen = agreement_report([block(cases=level)], (), HOW, {}).first
        assert screen is not None
        claims[low] = "not shown" in screen.claim
    assert list(claims.values()) == [True, True, False, True]


def test_few_points_are_fewer_than_thirty() -> None:
    point = {"model": "m", "score": estimate(7.5), "rating": estimate(1100.0)}
    said = []
    for many in (29, 30):
        given = tuple({**point, "model": f"m{place}"} for place in range(many))
        level = models(points=given, correlation=SURE)
        report = agreement_report([block(ratings=level)], (), HOW, {})
        said.append(any("points" in note for part in report.sections for note in part.notes))
    assert said == [True, False]
