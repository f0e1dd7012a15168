"""What reports write holds nothing that is not a number."""

import csv
import io
import json
import math
from pathlib import Path

from urs_inspect.rating import Estimate
from urs_inspect.reports.plain_files import csv_text, has_format, plain


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
