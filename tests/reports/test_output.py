"""Tests of `urs_inspect.reports.output`."""

import csv
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from urs_inspect._util import InputError
from urs_inspect.reports.output import (
    ReportKind,
    check_directory,
    csv_text,
    has_format,
    plain,
    report_json,
    write_directory,
)
from urs_inspect.stats import Estimate

KIND = ReportKind("a report", 3, "make a report", "r.json", ("r.csv", "r_[0-9]*.svg"))


@dataclass(frozen=True)
class Result:
    value: float
    names: tuple[str, ...]


def files(value: float = 1.0, *more: str) -> dict[str, str | bytes]:
    return {"r.csv": "a\n", "r.json": report_json(KIND, Result(value, ("b",))), **dict.fromkeys(more, b"drawn")}


def test_json_says_what_it_is_and_holds_no_nan() -> None:
    assert json.loads(report_json(KIND, Result(math.nan, ("b",)), published={"table": (1, math.inf)})) == {
        "format": "a report",
        "schema_version": 3,
        "value": None,
        "names": ["b"],
        "published": {"table": [1, None]},
    }


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
    assert {file.name for file in target.iterdir()} == {"r.csv", "r.json", "r_2.svg", "notes.txt", "r_mine.svg"}


@pytest.mark.parametrize("other", [None, b"[]", b"{}", b"no json", b'{"format": "other"}', b"\xff", b"[" * 100_000])
def test_files_of_others_are_not_overwritten(tmp_path: Path, other: bytes | None) -> None:
    (tmp_path / "r.csv").write_text("mine", encoding="utf-8")
    if other is not None:
        (tmp_path / "r.json").write_bytes(other)
    for refused in (lambda: check_directory(tmp_path, KIND), lambda: write_directory(tmp_path, files(), KIND)):
        with pytest.raises(InputError, match=r"holds r\.csv.* no r\.json that .* `make a report`; name another"):
            refused()
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == "mine"


def test_a_directory_of_other_files_will_do(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    check_directory(tmp_path, KIND)
    check_directory(tmp_path / "none", KIND)


def test_a_place_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is a file; name a directory"):
        check_directory(tmp_path / "file", KIND)
    with pytest.raises(InputError, match="output: cannot write to"):
        write_directory(tmp_path / "file" / "below", files(), KIND)


def test_halves_of_characters_do_not_stop_a_report(tmp_path: Path) -> None:
    write_directory(tmp_path, {"r.csv": "p/\ud83d\n"}, KIND)
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == "p/?\n"


def test_a_number_that_is_not_known_is_an_empty_cell() -> None:
    text = csv_text(("a", "b"), [(1.5, math.nan), ("x,\ny", math.inf)])
    assert list(csv.reader(io.StringIO(text))) == [["a", "b"], ["1.5", ""], ["x,\ny", ""]]


def test_json_holds_dataclasses_and_no_nan() -> None:
    found = plain({"one": Estimate(math.nan, 0.5, 1.0, 3, 2), ("a", "b"): (1, None)})
    assert json.loads(json.dumps(found, allow_nan=False)) == {
        "one": {
            "value": None,
            "low": 0.5,
            "high": 1.0,
            "n": 3,
            "clusters": 2,
            "level": 0.95,
            "rounds": 2000,
            "seed": 0,
        },
        "a/b": [1, None],
    }


def test_a_report_is_known_by_its_format(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    for content, known in (('{"format": "x"}', True), ('{"format": "y"}', False), ("[]", False), ("{", False)):
        file.write_text(content, encoding="utf-8")
        assert has_format(file, "x") is known
    file.write_bytes(b"\xff")
    assert not has_format(file, "x")
    assert not has_format(tmp_path / "none", "x")
