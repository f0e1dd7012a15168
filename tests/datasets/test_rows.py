"""Published JSON files are read in both forms that they come in."""

import json
from pathlib import Path

import pytest

from urs_inspect._util import InputError
from urs_inspect.datasets._rows import Row, read_records


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
