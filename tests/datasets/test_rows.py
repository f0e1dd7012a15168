"""Published JSON files are read in both forms that they come in; values of a row are read by kind,
and its faults told.
"""

import csv
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from urs_inspect._util import InputError
from urs_inspect.datasets._rows import (
    Fault,
    FaultyRow,
    Fields,
    Row,
    data_file,
    first_errors,
    read_own,
    read_records,
    read_table,
    refuse,
    told_once,
)


def put(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "file.json"
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n "])
def test_a_list_of_objects_is_numbered_by_position(
    indent: int | None, mark: str, tmp_path: Path
) -> None:
    rows, faults = read_records(
        put(tmp_path, mark + json.dumps([{"a": 1}, {"a": "二"}], indent=indent))
    )
    assert rows == [Row(1, {"a": 1}, "row"), Row(2, {"a": "二"}, "row")]
    assert [row.place for row in rows] == ["row 1", "row 2"]
    assert faults == []


def test_lines_of_objects_are_numbered_by_line(tmp_path: Path) -> None:
    rows, faults = read_records(put(tmp_path, '{"a": 1}\n\n{"a": 2}\r\n'))
    assert rows == [Row(1, {"a": 1}), Row(3, {"a": 2})]
    assert [row.place for row in rows] == ["line 1", "line 3"]
    assert faults == []


def test_what_is_no_object_is_named_and_moves_no_number(tmp_path: Path) -> None:
    path = put(tmp_path, '[{"a": 1}, 7, null, {"a": 2}]')
    rows, faults = read_records(path)
    assert [row.number for row in rows] == [1, 4]
    assert faults == [f"{path}: row 2: not a JSON object", f"{path}: row 3: not a JSON object"]
    path = put(tmp_path, '{"a": 1}\n7\n')
    rows, faults = read_records(path)
    assert ([row.number for row in rows], faults) == ([1], [f"{path}: line 2: not a JSON object"])


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('[{"a": 1},\n {"a"]', "not JSON: Expecting ':' delimiter (line 2, column 6)"),
        ('[{"a": 1}', "not JSON: Expecting ',' delimiter (column 10)"),
        ("[" * 100_000, "not readable as JSON: "),
        ('[{"a": 1}]\0', "line 1: NUL byte"),
    ],
)
def test_a_list_that_is_none_is_refused(content: str, fault: str, tmp_path: Path) -> None:
    path = put(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_records(path)
    assert str(caught.value).startswith(f"{path}: {fault}")


def faults_of(values: dict[str, Any], read: Callable[[Fields], object]) -> tuple[object, list[str]]:
    """What is read of a row, and the columns and words of its faults."""
    fields = Fields(Row(1, values))
    value = read(fields)
    return value, fields.problems


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (0.5, ""),
        ("2", ""),
        (1e308, ""),
        (0, "is 0"),
        (-1, "is -1"),
        (math.inf, "is Infinity"),
        ("many", 'is "many"'),
        (True, "is true"),
        (None, "is null"),
    ],
)
def test_a_number_above_zero_is_finite(given: object, fault: str) -> None:
    value, faults = faults_of({"weight": given}, lambda fields: fields.above_zero("weight"))
    if fault:
        [words] = faults
        assert words.startswith("column 'weight': ") and words.endswith(fault)
    else:
        assert (value, faults) == (float(str(given)), [])


@pytest.mark.parametrize(
    ("values", "written", "faulty"),
    [
        ({"name": " a "}, " a ", False),
        ({"name": ""}, "", False),
        ({"name": None}, "", False),
        ({}, "", False),
        ({"name": 0}, "0", False),
        ({"name": -12}, "-12", False),
        ({"name": True}, "", True),
        ({"name": 1.5}, "", True),
        ({"name": ["a"]}, "", True),
        ({"name": "\ud800"}, "", True),
    ],
)
def test_a_name_is_a_text_or_a_whole_number(
    values: dict[str, Any], written: str, faulty: bool
) -> None:
    exact, faults = faults_of(values, lambda fields: fields.written("name"))
    assert (exact, bool(faults)) == (written, faulty)
    bare, faults = faults_of(values, lambda fields: fields.name("name"))
    assert (bare, bool(faults)) == (written.strip(), faulty)


@pytest.mark.parametrize(
    ("values", "id", "faulty"),
    [
        ({"id": " a 1 "}, "a 1", False),
        ({"id": 7}, "7", False),
        ({"id": 0}, "0", False),
        ({"id": " "}, "default", False),
        ({"id": None}, "default", False),
        ({}, "default", False),
        ({"id": True}, "True", True),
        ({"id": 1.0}, "1.0", True),
        ({"id": "a\udfff"}, "a\udfff", True),
    ],
)
def test_an_id_is_a_text_or_a_whole_number(values: dict[str, Any], id: str, faulty: bool) -> None:
    found, faults = faults_of(values, lambda fields: fields.identifier("default"))
    assert (found, bool(faults)) == (id, faulty)


@pytest.mark.parametrize(
    ("values", "mean", "faulty"),
    [
        ({"rating": 1}, 1, False),
        ({"rating": "5"}, 5, False),
        ({"rating": [1, "2", 4.5]}, 2.5, False),
        ({"rating": 0.9}, 0.9, True),
        ({"rating": 5.1}, 5.1, True),
        ({"rating": [3, 6]}, 4.5, True),
        ({"rating": [3, True]}, None, True),
        ({"rating": []}, None, True),
        ({"rating": "good"}, None, True),
        ({}, None, True),
    ],
)
def test_a_rating_is_a_number_of_the_scale_or_the_mean_of_several(
    values: dict[str, Any], mean: float | None, faulty: bool
) -> None:
    found, faults = faults_of(values, lambda fields: fields.rating("rating", 1, 5))
    assert isinstance(found, float)
    assert math.isnan(found) if mean is None else found == mean
    assert len(faults) == faulty
    if faulty and values:
        assert "from 1 to 5" in faults[0]
    elif faulty:
        assert "missing" in faults[0]


SIDES = {"left": "a", "1": "a", "right": "b", "true": "b"}


@pytest.mark.parametrize(
    ("given", "labels", "faulty"),
    [
        (" LEFT ", ["a"], 0),
        (1, ["a"], 0),
        (1.0, ["a"], 0),
        (True, ["b"], 0),
        (["left", "", None, "Right"], ["a", "b"], 0),
        (["", None], ["a"], 1),
        ([], ["a"], 1),
        (["right", "up", "down"], ["b", "a", "a"], 2),
        ("up", ["a"], 1),
        (2, ["a"], 1),
    ],
)
def test_labels_of_several_raters_are_read_without_the_blank_ones(
    given: object, labels: list[str], faulty: int
) -> None:
    found, faults = faults_of({"side": given}, lambda fields: fields.several_labels("side", SIDES))
    assert (found, len(faults)) == (labels, faulty)
    assert all("side" in fault and "left, 1, right, true" in fault for fault in faults)


def test_a_label_that_is_missing_or_nearly_right_is_named() -> None:
    _, faults = faults_of({}, lambda fields: fields.label("side", SIDES))
    assert faults == ["column 'side': missing; allowed: left, 1, right, true"]
    _, [fault] = faults_of({"side": "rihgt"}, lambda fields: fields.label("side", SIDES))
    assert '"rihgt" (did you mean right?)' in fault


def known(name: str) -> str:
    if name not in ("Depth", "depth"):
        raise InputError(f"unknown dimension '{name}'")
    return "depth"


@pytest.mark.parametrize(
    ("given", "find", "read", "faults"),
    [
        ({"x": "left", " y ": 1}, None, {"x": "a", "y": "a"}, []),
        ('{"x": "right"}', None, {"x": "b"}, []),
        ('["x"]', None, {}, ["object"]),
        ("x: left", None, {}, ["object"]),
        (None, None, {}, ["object"]),
        ({"x": "left", " x": "right"}, None, {"x": "a"}, ["listed twice"]),
        ({" ": "left", "y": "right"}, None, {"y": "b"}, ["empty"]),
        ({"x": "up", "y": "right"}, None, {"x": "a", "y": "b"}, ["'x': unknown label \"up\""]),
        ({"Depth": "right"}, known, {"depth": "b"}, []),
        ({"Depth": "left", "depth": "right"}, known, {"depth": "a"}, ["listed twice"]),
        ({"Wit": "left", "depth": "right"}, known, {"depth": "b"}, ["unknown dimension 'Wit'"]),
    ],
)
def test_an_object_of_names_and_labels_is_read_name_by_name(
    given: object, find: Callable[[str], str] | None, read: dict[str, str], faults: list[str]
) -> None:
    found, told = faults_of({"by": given}, lambda fields: fields.labels("by", SIDES, find))
    assert found == read
    assert len(told) == len(faults)
    assert all(
        "column 'by'" in words and fault in words for words, fault in zip(told, faults, strict=True)
    )


@pytest.mark.parametrize(
    ("number", "listed", "others"), [(1, 1, 0), (2, 2, 0), (8, 8, 0), (9, 8, 1), (12, 8, 4)]
)
def test_a_fault_lists_eight_values_and_counts_the_others(
    number: int, listed: int, others: int
) -> None:
    values = [f"v{place:02d}" for place in range(number)]
    told = Fault("x", "is {value}").told(values)
    assert [value for value in values if value in told] == values[:listed]
    assert (f"{others} others" in told) == (others > 0)
    assert told.count("others") == (others > 0)


def test_a_fault_counts_equal_values_the_most_frequent_first() -> None:
    assert Fault("x", "is {value}").told(["b", "a", "a"]) == "column 'x': is a (2 times), b"
    assert Fault("x", "is {value}").told(["a"] * 3) == "column 'x': is a"
    assert "(1,200 times)" in Fault("x", "is {value}").told(["a"] * 1200 + ["b"])
    assert str(Fault("", "{value} of {value}", "two")) == "two of {value}"


def test_a_fault_of_several_rows_is_told_once_where_it_is_first() -> None:
    def faulty(number: int, *faults: Fault) -> FaultyRow:
        return FaultyRow(Row(number, {}), list(faults))

    def odd(value: str) -> Fault:
        return Fault("x", "is {value}", value)

    own, late = Fault("y", "empty"), Fault("z", "missing")
    path = Path("f.csv")
    told = told_once(
        path,
        [
            faulty(2, odd("p"), odd("p"), own),
            faulty(4, odd("q"), odd("q")),
            faulty(5, odd("p"), late),
            faulty(9, odd("r"), late),
        ],
    )
    assert told == [
        "f.csv: line 2: column 'y': empty",
        "f.csv: lines 2, 4, 5 and 1 more: column 'x': is p (3 times), q (2 times), r",
        "f.csv: lines 5, 9: column 'z': missing",
    ]
    three = [faulty(number, late) for number in (3, 4, 8)]
    assert told_once(path, three) == ["f.csv: lines 3, 4, 8: column 'z': missing"]
    listed = [FaultyRow(Row(number, {}, "row"), [late]) for number in range(1, 1204)]
    assert told_once(path, listed) == [
        "f.csv: rows 1, 2, 3 and 1,200 more: column 'z': missing",
    ]
    # Twice in one row is no fault of several rows.
    assert told_once(path, [faulty(3, odd("p"), odd("q"))]) == [
        "f.csv: line 3: column 'x': is p; column 'x': is q"
    ]


@pytest.mark.parametrize(("number", "more"), [(0, 0), (1, 0), (20, 0), (21, 1), (45, 25)])
def test_twenty_errors_are_listed_and_the_others_counted(number: int, more: int) -> None:
    errors = [f"error {place}" for place in range(number)]
    listed = first_errors(errors)
    assert listed[:20] == errors[:20]
    assert len(listed) == min(number, 20) + bool(more)
    if more:
        assert re.findall(r"\d+", listed[20]) == [str(more)]


def test_a_hint_follows_the_errors_of_a_file_and_never_stands_alone() -> None:
    refuse([], "a hint")
    with pytest.raises(InputError, match=r"^one\ntwo\na hint$"):
        refuse(["one", "two"], "a hint")
    with pytest.raises(InputError, match=r"^one$"):
        refuse(["one"])


@pytest.mark.parametrize("name", ["mine.csv", "mine.jsonl", "mine.json"])
def test_cases_without_an_id_are_called_after_the_file_and_their_row(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    texts = ["first", "skip", "third"]
    if name == "mine.csv":
        path.write_text("text\n" + "\n".join(texts) + "\n", encoding="utf-8")
    else:
        path.write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")

    @dataclass
    class Case:
        id: str
        text: str

    def build(fields: Fields, default: str) -> Case | str:
        text = fields.text("text")
        return "not wanted" if text == "skip" else Case(fields.identifier(default), text)

    found = read_own(path, [("text",)], build)
    assert [(case.id, case.text) for case in found.cases] == [
        ("mine_0001", "first"),
        ("mine_0003", "third"),
    ]
    assert found.skipped == ("mine_0002: not wanted",)


def test_a_cell_of_any_length_leaves_the_limit_of_the_process_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("text\n" + "x" * 200_000 + "\n", encoding="utf-8")
    before = csv.field_size_limit(1234)
    try:
        rows, _ = read_table(path, [])
        assert len(rows[0].values["text"]) == 200_000
        assert csv.field_size_limit() == 1234
        path.write_text('text\n"open\n', encoding="utf-8")
        with pytest.raises(InputError):
            read_table(path, [])
        assert csv.field_size_limit() == 1234
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"\xff", 1), (b"a\nb\xffc\n", 2), (b"a\r\n\r\n\xe4\n", 3), (b"\xef\xbb\xbfa\nb\xe4\n", 2)],
)
def test_bytes_that_are_no_text_are_named_by_their_line(
    content: bytes, line: int, tmp_path: Path
) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"line {line}: byte \d+ is not UTF-8"):
        read_table(path, [])


def test_a_folder_is_no_data_file(tmp_path: Path) -> None:
    folder = tmp_path / "data.csv"
    folder.mkdir()
    with pytest.raises(InputError, match=r"^ratings: no data file .*data\.csv"):
        data_file(str(folder), "ratings")
    with pytest.raises(InputError, match=r"^no data file .*data\.csv"):
        read_table(folder, [])
    file = tmp_path / "there.csv"
    file.touch()
    assert data_file(str(file), "ratings") == file
