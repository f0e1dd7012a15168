"""The report as CSV, Markdown and JSON."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.reports.agreement.tables import answers, rows
from tests.reports.agreement.test_statistics import FINALS, HOW, given, said
from urs_inspect.errors import InputError
from urs_inspect.rating import Battle, battles_of, rank
from urs_inspect.reports.agreement.files import agreement_dict, agreement_markdown, numbers_csv, write_files
from urs_inspect.reports.agreement.report import AgreementReport
from urs_inspect.reports.agreement.statistics import agreement_of
from urs_inspect.reports.agreement.vote_sources import Votes

FOUGHT = [Battle("m", "n", 1.0, "1"), Battle("n", "o|p", 1.0, "2"), Battle("o|p", "m", 0.5, "3")]


@pytest.fixture(scope="module")
def report() -> AgreementReport:
    votes = Votes(rank(battles_of(FOUGHT), **HOW.options), ())
    logs = [rows(model, {q: v - n for q, v in FINALS.items()}) for n, model in enumerate(("m", "n", "o|p"))]
    found = answers(*logs, left_out=("A log was left out.",))
    return agreement_of(
        found, human=given(*FINALS), satisfaction=said(), votes=votes, resampling=HOW, sources={"votes": ("v.csv",)}
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
