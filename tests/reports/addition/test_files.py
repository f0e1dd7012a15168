"""Additions as files."""

import csv
import io
import json
from pathlib import Path

from tests.reports.addition.logs import write_addition
from urs_inspect.reports.addition.files import write_files
from urs_inspect.reports.addition.report import read_addition


def test_numbers_are_whole_and_unknown_ones_are_empty(tmp_path: Path) -> None:
    write_addition(tmp_path / "a.eval", {12: "+-"}, model="urs_simulation/a|b")
    files = write_files(read_addition([str(tmp_path)]), tmp_path / "out")
    assert [file.name for file in files] == ["addition.csv", "addition_lengths.csv", "addition.md", "addition.json"]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    [row] = csv.DictReader(io.StringIO(texts["addition.csv"]))
    assert (row["longest"], row["accuracy"], row["right"], row["wrong"]) == ("0", "", "1", "1")
    [length] = csv.DictReader(io.StringIO(texts["addition_lengths.csv"]))
    assert (length["summands"], length["accuracy"], length["chains"]) == ("12", "0.5", "2")
    found = json.loads(texts["addition.json"])
    assert found["tables"][0]["models"][0]["accuracy"]["mean"] is None
    assert "urs\\_simulation/a\\|b" in texts["addition.md"] and "SIMULATION" in texts["addition.md"]
