"""Tests of `urs_inspect.reports.agreement.sections`."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

from tests.reports.agreement.tables import answers, rows
from tests.reports.agreement.test_statistics import STATISTICS_FINALS, STATISTICS_HOW, given, said
from urs_inspect._util import InputError
from urs_inspect.reports.agreement.people import Votes
from urs_inspect.reports.agreement.report import AgreementReport, IntentLevel, IntentPoint
from urs_inspect.reports.agreement.sections import (
    about_intents,
    agreement_dict,
    agreement_markdown,
    bounds,
    estimate,
    numbers_csv,
    write_files,
)
from urs_inspect.reports.agreement.statistics import agreement_of
from urs_inspect.stats import Battle, Estimate, battles_of, rank
from urs_inspect.stats.mean_correlation import MeanCorrelation

NAN = math.nan


def one(value: float, low: float = NAN, high: float = NAN) -> Estimate:
    return Estimate(value, low, high, 6, 6)


def sentences_said(correlation: MeanCorrelation, people: bool = True, lacking: str = "") -> list[str]:
    points = tuple(IntentPoint(f"i{n}", one(7), one(4), 10, None) for n in range(6))
    return about_intents(IntentLevel(points, correlation, {}, people, lacking, (1, 5), ("A note.",)))


def test_a_clear_correlation() -> None:
    first, few, published, note = sentences_said(MeanCorrelation(one(0.9, 0.8, 1.0), 0.95, 0.94, (0.3, 0.99)))
    assert first == (
        "Over 6 intents: Pearson 0.90, Spearman 0.94. Without the noise of the means Pearson is about 0.95 (0.80 to "
        "1.00): brackets over resamples of questions and people, these intents given."
    )
    assert (
        few == "Only 6 points: as a sample of other intents, Pearson could be anywhere from 0.30 to 0.99 (Fisher's z)."
    )
    assert published.startswith("Published (URS paper, section 4.5, Figure 5; another judge, other models and people)")
    assert note == "A note."


def test_an_interval_that_holds_nothing_is_said() -> None:
    lines = sentences_said(MeanCorrelation(one(0.4, -0.5, 1.0), 0.6, 0.3, (-0.6, 0.9)), people=False)
    assert "questions, satisfaction taken as exact" in lines[0]
    assert lines[1].startswith("The interval holds 0: beside the noise of their means, these intents differ too little")


def test_means_that_are_noise() -> None:
    lines = sentences_said(MeanCorrelation(one(0.4, -1, 1), NAN, 0.3, (-0.6, 0.9)))
    assert lines[0].startswith(
        "Over 6 intents: Pearson 0.40, Spearman 0.30. The means of these intents differ no more than noise would make "
        "them: without it Pearson may be anything from −1.00 to 1.00"
    )
    assert lines[1].startswith("Only 6 points")


def test_a_mean_of_one_person_leaves_no_interval() -> None:
    lines = sentences_said(MeanCorrelation(one(0.4), NAN, 0.3, (-0.6, 0.9)), lacking="only 1 person on Leisure")
    assert "no interval" in lines[0] and "only 1 person on Leisure" in lines[0]
    assert not any("bracket" in line or "resamples" in line for line in lines)


def test_no_correlation_at_all() -> None:
    lines = sentences_said(MeanCorrelation(one(NAN), NAN, NAN, (NAN, NAN)))
    assert lines[0] == "There is no correlation: all 6 intents have the same mean on one of the two sides."
    assert lines[1].startswith("Published")


def test_points_without_an_interval_over_points() -> None:
    assert "6 points say next to nothing" in sentences_said(MeanCorrelation(one(1.0, 1, 1), 1.0, 1.0, (NAN, NAN)))[1]


@pytest.mark.parametrize(
    ("found", "shown"),
    [(one(0.5, 0.25, 0.75), "0.50 (0.25 to 0.75)"), (one(0.5), "0.50"), (one(NAN), "–"), (one(-0.001), "0.00")],
)
def test_numbers_are_shown_with_what_there_is(found: Estimate, shown: str) -> None:
    assert estimate(found) == shown


def test_bounds_have_signs_where_asked_for() -> None:
    assert bounds(-0.5, 0.25, sign="+") == " (−0.50 to +0.25)"
    assert bounds(-0.001, 0.001, sign="+") == " (0.00 to 0.00)"


FOUGHT = [Battle("m", "n", 1.0, "1"), Battle("n", "o|p", 1.0, "2"), Battle("o|p", "m", 0.5, "3")]


@pytest.fixture(scope="module")
def report() -> AgreementReport:
    votes = Votes(rank(battles_of(FOUGHT), **STATISTICS_HOW.options), ())
    logs = [rows(model, {q: v - n for q, v in STATISTICS_FINALS.items()}) for n, model in enumerate(("m", "n", "o|p"))]
    found = answers(*logs, left_out=("A log was left out.",))
    return agreement_of(
        found,
        human=given(*STATISTICS_FINALS),
        satisfaction=said(),
        votes=votes,
        resampling=STATISTICS_HOW,
        sources={"votes": ("v.csv",)},
    )


def test_every_number_is_a_row_of_the_csv(report: AgreementReport) -> None:
    found = list(csv.DictReader(io.StringIO(numbers_csv(report))))
    assert {row["level"] for row in found} == {"intents", "models", "answers"}
    [pearson] = [row for row in found if (row["level"], row["scope"], row["statistic"]) == ("models", "all", "pearson")]
    block = report.blocks[0]
    assert block.ratings is not None and block.cases is not None and block.intents is not None
    estimate = block.ratings.correlation.pearson
    assert float(pearson["value"]) == pytest.approx(estimate.value, rel=1e-5)
    assert (pearson["block"], pearson["judge"], pearson["n"]) == ("1", "p/judge", "3")
    [alone] = [row for row in found if (row["scope"], row["statistic"]) == ("Leisure", "satisfaction")]
    assert (alone["value"], alone["low"], alone["high"]) == (
        "2.0",
        "",
        "",
    )  # a mean that counts as exact has no interval
    assert not any("nan" in cell for row in found for cell in row.values())


def test_markdown_holds_tables_and_words(report: AgreementReport) -> None:
    text = agreement_markdown(report)
    assert "| intent | questions | score | people | satisfaction |" in text
    assert "| Leisure | 2 |" in text
    assert "Published (URS paper, section 4.5, Figure 5; another judge, other models and people): Pearson 0.95" in text
    assert "Published (URS paper, section 4.5, appendix D.3, Figure 6" in text
    assert "3 points say next to nothing" in text
    assert r"o\|p" in text
    assert "- A log was left out." in text
    assert "nan" not in text


def test_json_is_strict_and_whole(report: AgreementReport) -> None:
    found = json.loads(json.dumps(agreement_dict(report), allow_nan=False))
    assert (found["format"], found["schema_version"]) == ("urs-inspect agreement", 1)
    [block] = found["blocks"]
    assert block["conditions"]["judges"] == ["p/judge"]
    assert block["intents"]["points"][0]["satisfaction"]["low"] is None
    assert set(block["cases"]["by_group"]) == {"Leisure", "Factual QA", "Text Assistant"}
    assert found["published_in_the_urs_paper"]["intents"]["pearson"] == 0.95
    assert (found["rounds"], found["sources"]) == (20, {"votes": ["v.csv"]})


def test_files_are_written_and_replaced_and_others_left_alone(report: AgreementReport, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    write_files(report, target)
    (target / "mine.txt").write_text("keep", encoding="utf-8")
    paths = write_files(report, target)
    assert sorted(path.name for path in target.iterdir()) == [
        "agreement.csv",
        "agreement.json",
        "agreement.md",
        "mine.txt",
    ]
    assert all(path.is_file() for path in paths)
    assert (target / "agreement.md").read_text(encoding="utf-8") == agreement_markdown(report)


def test_files_of_others_are_nobodys_to_overwrite(report: AgreementReport, tmp_path: Path) -> None:
    (tmp_path / "agreement.md").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds agreement\.md, and no agreement\.json that says"):
        write_files(report, tmp_path)
    assert (tmp_path / "agreement.md").read_text(encoding="utf-8") == "mine"


def test_a_place_that_cannot_be_written_is_named(report: AgreementReport, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="output: cannot write to"):
        write_files(report, tmp_path / "file" / "out")
