"""Tests of `urs_inspect.reports.layout._tables`."""

import csv
import io
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from urs_inspect._util import InputError, escaped
from urs_inspect.reports._texts import (
    Format,
    duration,
    level_text,
    money,
    number,
    p_value,
    share,
)
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    TextTable,
    check_directory,
    csv_text,
    plain,
    write_directory,
)
from urs_inspect.stats import Estimate

KIND = ReportKind("a report", 3, "make a report", "r", more=("r_[0-9]*.svg",))


ESTIMATE = Estimate(0.8251, 0.7, 0.912, 12, 4)
UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, 0)


R = Table(pd.DataFrame({"a": [1]}), name="r")


def files(value: float = 1.0, *more: str) -> dict[str, str | bytes]:
    written: dict[str, str | bytes] = {
        "r.csv": "a\n",
        "r.json": Report(KIND, "R", (Section("S", [], [R]),), {"value": value}).json(),
    }
    return written | dict.fromkeys(more, b"drawn")


def report() -> Report:
    data = pd.DataFrame(
        {
            "model": ["m|1", "m2"],
            "mean": [ESTIMATE, UNKNOWN],
            "p": [0.0004, math.nan],
            "key": [1, 2],
        }
    )
    table = Table(
        data,
        {"mean": number(2), "p": p_value},
        name="scores",
        headings={"model": "Model", "mean": "Mean"},
        shown=("model", "mean", "p"),
        main="mean",
    )
    only_csv = Table(pd.DataFrame({"a": [ESTIMATE, None], "b": ["x", "y"]}), name="more", shown=())
    more = Table(data[:1].assign(model="m3"), name="scores", main="mean")
    sections = (
        Section("First", ("A note about <m|1>.",), (table, only_csv)),
        Section("Second", (), (more, Table(pd.DataFrame({"only": ["shown"]}), title="A title")), 3),
    )
    return Report(
        KIND,
        "Title",
        sections,
        {"unknown": math.nan, "nested": {"n": (1, math.inf)}},
        {"r_1.svg": lambda: "<svg>"},
    )


@pytest.mark.parametrize(
    ("shown", "value", "text"),
    [
        (number(2), ESTIMATE, "0.83 (0.70 to 0.91)"),
        (number(2), Estimate(0.5, math.nan, math.nan, 1, 1), "0.50"),
        (number(2), UNKNOWN, "–"),
        (number(1, sign=True), 0.26, "+0.3"),
        (number(1, sign=True), -0.26, "−0.3"),
        (number(1, sign=True), -0.01, "0.0"),
        (number(0, percent=True), 0.825, "82%"),
        (number(0), 12345.0, "12,345"),
        (number(), None, "–"),
        (p_value, 0.0004, "<0.001"),
        (p_value, 0.0416, "0.042"),
        (p_value, math.nan, "–"),
        (p_value, None, "–"),
        (share, 0.825, "82%"),
        (share, 0.004, "<1%"),
        (share, 0.996, ">99%"),
        (share, 1.0, "100%"),
        (share, math.nan, "–"),
        (level_text, 0.999, "99.9%"),
        (money, math.nan, "not known"),
        (money, 0, "$0.00"),
        (money, 3.456, "$3.46"),
        (money, 1234.5, "$1,234.50"),
        (money, 0.0123, "$0.012"),
        (money, 1e-9, "$0.000000"),
        (duration, math.nan, "not known"),
        (duration, 0.25, "0.2 s"),
        (duration, 12.4, "12 s"),
        (duration, 59.9, "60 s"),
        (duration, 61, "1 min 1 s"),
        (duration, 3599.4, "59 min 59 s"),
        (duration, 7263, "2 h 1 min"),
        (duration, 3599.6, "1 h 0 min"),
        (duration, 36_000_000, "10,000 h 0 min"),
    ],
)
def test_numbers_as_text(shown: Format, value: object, text: str) -> None:
    assert shown(value) == text


def test_a_table_is_one_frame_for_text_csv_and_json() -> None:
    table = report().sections[0].tables[0]
    assert table.text() == TextTable(
        ("Model", "Mean", "p"),
        (("m|1", "0.83 (0.70 to 0.91)", "<0.001"), ("m2", "–", "–")),
        names=1,
    )
    written = report().tables()
    assert list(written) == ["scores", "more"]
    assert list(csv.reader(io.StringIO(csv_text(written["scores"])))) == [
        ["model", "mean", "low", "high", "n", "p", "key"],
        ["m|1", "0.8251", "0.7", "0.912", "12", "0.0004", "1"],
        ["m2", "", "", "", "0", "", "2"],
        ["m3", "0.8251", "0.7", "0.912", "12", "0.0004", "1"],
    ]
    assert csv_text(written["more"]).splitlines() == [
        "a,a_low,a_high,a_n,b",
        "0.8251,0.7,0.912,12,x",
        ",,,,y",
    ]
    assert json.loads(report().json()) == {
        "format": "a report",
        "schema_version": 3,
        "unknown": None,
        "nested": {"n": [1, None]},
        "tables": {
            "scores": [
                {
                    "model": "m|1",
                    "mean": 0.8251,
                    "low": 0.7,
                    "high": 0.912,
                    "n": 12,
                    "p": 0.0004,
                    "key": 1,
                },
                {
                    "model": "m2",
                    "mean": None,
                    "low": None,
                    "high": None,
                    "n": 0,
                    "p": None,
                    "key": 2,
                },
                {
                    "model": "m3",
                    "mean": 0.8251,
                    "low": 0.7,
                    "high": 0.912,
                    "n": 12,
                    "p": 0.0004,
                    "key": 1,
                },
            ],
            "more": [
                {"a": 0.8251, "a_low": 0.7, "a_high": 0.912, "a_n": 12, "b": "x"},
                {"a": None, "a_low": None, "a_high": None, "a_n": None, "b": "y"},
            ],
        },
    }


def test_columns_of_estimates_without_a_row_keep_their_bounds() -> None:
    data = pd.DataFrame(columns=["model", "mean", "gap"])
    table = Table(data, name="scores", main="mean", estimates=("gap",), size="cases")
    assert csv_text(table.flat()) == "model,mean,low,high,cases,gap,gap_low,gap_high,gap_cases\n"


def test_markdown_shows_notes_and_tables_escaped() -> None:
    assert report().markdown() == (
        "# Title\n\n## First\n\n- A note about \\<m\\|1\\>.\n\n"
        "| Model | Mean | p |\n| --- | ---: | ---: |\n"
        "| m\\|1 | 0.83 (0.70 to 0.91) | \\<0.001 |\n| m2 | – | – |\n\n### Second\n\n"
        "| model | mean | p | key |\n| --- | --- | --- | --- |\n"
        f"| m3 | {ESTIMATE} | 0.0004 | 1 |\n\n**A title**\n\n| only |\n| --- |\n| shown |\n"
    ).replace(str(ESTIMATE), escaped(str(ESTIMATE)))


def test_a_users_file_with_the_name_of_a_table_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds scores\.csv"):
        report().write(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["scores.csv"]


def test_a_report_is_written_whole(tmp_path: Path) -> None:
    written = report().write(tmp_path)
    assert [file.name for file in written] == [
        "r.md",
        "scores.csv",
        "more.csv",
        "r_1.svg",
        "r.json",
    ]
    assert (tmp_path / "r.md").read_text(encoding="utf-8") == report().markdown()
    assert (tmp_path / "r_1.svg").read_text(encoding="utf-8") == "<svg>"
    report().write(tmp_path)


def test_a_report_replaces_a_report_and_leaves_other_files(tmp_path: Path) -> None:
    target = tmp_path / "new" / "report"
    assert write_directory(target, files(1.0, "r_2.svg", "r_3.svg"), KIND) == tuple(
        target / name for name in ("r.csv", "r.json", "r_2.svg", "r_3.svg")
    )
    for mine in ("notes.txt", "r_mine.svg"):
        (target / mine).write_text("mine", encoding="utf-8")
    write_directory(target, files(2.0, "r_2.svg"), KIND)
    assert json.loads((target / "r.json").read_text(encoding="utf-8"))["value"] == 2
    # A figure that the new report does not have would show numbers of the old one.
    assert {file.name for file in target.iterdir()} == {
        "r.csv",
        "r.json",
        "r_2.svg",
        "notes.txt",
        "r_mine.svg",
    }


@pytest.mark.parametrize(
    "other", [None, b"[]", b"{}", b"no json", b'{"format": "other"}', b"\xff", b"[" * 100_000]
)
def test_files_of_others_are_not_overwritten(tmp_path: Path, other: bytes | None) -> None:
    (tmp_path / "r.csv").write_text("mine", encoding="utf-8")
    if other is not None:
        (tmp_path / "r.json").write_bytes(other)
    with pytest.raises(InputError, match=r"r\.csv.* no r\.json.*`make a report`"):
        write_directory(tmp_path, files(), KIND)
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == "mine"


def test_a_table_that_an_earlier_report_has_not_written_is_not_overwritten(tmp_path: Path) -> None:
    write_directory(tmp_path, files(), KIND)
    (tmp_path / "own.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds own\.csv"):
        write_directory(tmp_path, {**files(2.0), "own.csv": "a"}, KIND)
    assert (tmp_path / "own.csv").read_text(encoding="utf-8") == "mine"
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["value"] == 1


@pytest.mark.parametrize(
    "tables",
    [{"../own": []}, {"own": []}, {"*": []}, ["own"], "own", None, {"r": [], "folder": []}],
)
def test_only_tables_of_the_earlier_report_are_removed(tmp_path: Path, tables: object) -> None:
    target = tmp_path / "report"
    (target / "folder.csv").mkdir(parents=True)
    for file in (tmp_path / "own.csv", target / "other.csv"):
        file.write_text("mine", encoding="utf-8")
    facts = {"format": KIND.format, "tables": tables}
    (target / "r.json").write_text(json.dumps(facts), encoding="utf-8")
    write_directory(target, {"r.json": "{}"}, KIND)
    assert (tmp_path / "own.csv").exists() and (target / "other.csv").exists()
    assert (target / "folder.csv").is_dir()


def test_a_directory_of_other_files_will_do_and_a_file_will_not(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    check_directory(tmp_path, KIND)
    check_directory(tmp_path / "none", KIND)
    with pytest.raises(InputError, match="is a file; name a directory"):
        check_directory(tmp_path / "notes.txt", KIND)
    with pytest.raises(InputError, match=r"output: no folder .*notes.txt"):
        write_directory(tmp_path / "notes.txt" / "below", files(), KIND)


def test_halves_of_characters_do_not_stop_a_report(tmp_path: Path) -> None:
    write_directory(tmp_path, {"r.csv": "p/\ud83d\n"}, KIND)
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == "p/?\n"


def test_an_unknown_number_is_an_empty_cell() -> None:
    data = pd.DataFrame(
        [(1.5, math.nan), ("x,\ny", math.inf), (True, False)], columns=["a", "b"], dtype=object
    )
    assert list(csv.reader(io.StringIO(csv_text(data)))) == [
        ["a", "b"],
        ["1.5", ""],
        ["x,\ny", ""],
        ["true", "false"],
    ]


def test_json_holds_dataclasses_and_no_nan() -> None:
    one = {
        "value": None,
        "low": 0.5,
        "high": 1.0,
        "n": 3,
        "clusters": 2,
        "level": 0.95,
        "rounds": 2000,
        "seed": 0,
    }
    found = plain({"one": Estimate(math.nan, 0.5, 1.0, 3, 2), ("a", "b"): (1, None)})
    assert json.loads(json.dumps(found, allow_nan=False)) == {"one": one, "a/b": [1, None]}
