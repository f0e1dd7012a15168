"""Reads rows out of CSV, JSON Lines and JSON files, naming the place of whatever is wrong."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from urs_inspect.errors import InputError, choices

READABLE = (".csv", ".jsonl")
"""Kinds of files that a user may give."""

SURPLUS = "\x00surplus"
"""Key of the number of cells of a row that the header has no names for; no column can be called so."""

_END = "\x00"
"""A last line after that of the file; if it is not a row by itself, a cell was never closed. No text holds it."""
_LONGEST_CELL = 10_000_000
"""Most characters of a cell of CSV."""
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")
_AS_CSV = "save it as CSV in UTF-8, with commas"
_SEPARATORS = {";": "semicolons", "\t": "tabs"}
_STARTS = {
    b"PK\x03\x04": f"an Excel workbook or another ZIP archive; {_AS_CSV}",
    b"\xd0\xcf\x11\xe0": f"an old Excel workbook; {_AS_CSV}",
    b"version https://git-lfs.github.com/spec/": "a Git LFS pointer and not the file itself; `git lfs pull` gets it",
    b"\xff\xfe": "text in UTF-16; save it in UTF-8",
    b"\xfe\xff": "text in UTF-16; save it in UTF-8",
}
"""First bytes of what is often given in place of a text in UTF-8, and what it is."""


@dataclass(frozen=True)
class Row:
    """One row of a file.

    Attributes:
        number: Line of the file that the row begins at, counted from 1, so that an editor finds it; for an
            element of a JSON list, its position in the list.
        values: The row by column.
        unit: What `number` counts: `line` or `row`.
    """

    number: int
    values: dict[str, Any]
    unit: str = "line"

    @property
    def place(self) -> str:
        """Where the row is, for error messages."""
        return f"{self.unit} {self.number}"


def read_table(path: Path, required: Iterable[Sequence[str]]) -> tuple[list[Row], list[str]]:
    """Read a user's file.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object a line; UTF-8, with or without BOM.
        required: Columns that the header of a CSV file must have, each with the other names it may have.

    Returns:
        The rows, without those that have no content, and the faults of lines that cannot be read as rows.

    Raises:
        InputError: If the file is missing, of another kind, no text, an empty CSV file, or its header lacks a column.
    """
    if path.suffix.lower() not in READABLE:
        hint = f" (a workbook: {_AS_CSV})" if path.suffix.lower() in _WORKBOOKS else ""
        raise InputError(f"{path}: cannot read '{path.suffix}' files; allowed: {choices(READABLE)}{hint}")
    if not path.is_file():
        raise InputError(f"no data file '{path}' (looked for {path.absolute()})")
    text = _text(path)
    if path.suffix.lower() == ".csv":
        if not text.strip():
            raise InputError(f"{path}: the file is empty")
        before = csv.field_size_limit(_LONGEST_CELL)  # the limit is that of the process
        try:
            return list(_csv_rows(path, text, required)), []
        finally:
            csv.field_size_limit(before)
    return _json_lines(path, text)


def read_records(path: Path) -> tuple[list[Row], list[str]]:
    """Read a published `.json` file, which holds either a list of objects or one object a line.

    Returns:
        The rows, and the faults of those that cannot be read as rows.

    Raises:
        InputError: If the file is no text, or begins like a list and is none.
    """
    text = _text(path)
    if not text.lstrip().startswith("["):
        return _json_lines(path, text)
    value, fault = _parsed(text)
    if fault:
        raise InputError(f"{path}: {fault}")
    rows = [Row(number, element, "row") for number, element in enumerate(value, start=1) if isinstance(element, dict)]
    strays = [number for number, element in enumerate(value, start=1) if not isinstance(element, dict)]
    return rows, [f"{path}: row {number}: not a JSON object" for number in strays]


def shown(value: object) -> str:
    """A value of a file as an error message shows it: as JSON, cut short, printable."""
    return json.dumps(value, ensure_ascii=False)[:60].encode("utf-8", "replace").decode()


def _json_lines(path: Path, text: str) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):  # splitlines() would also cut inside strings
        if not line.strip():
            continue
        value, fault = _parsed(line)
        if fault:
            faults.append(f"{path}: line {number}: {fault}")
        elif isinstance(value, dict):
            if _has_content(value.values()):
                rows.append(Row(number, value))
        else:
            faults.append(f"{path}: line {number}: not a JSON object")
    return rows, faults


def _has_content(values: Iterable[object]) -> bool:
    return any(bool(value.strip()) if isinstance(value, str) else value is not None for value in values)


def _parsed(text: str) -> tuple[Any, str]:
    """The value of a JSON text, or what is wrong with the text."""
    try:
        return json.loads(text), ""
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return None, f"not JSON: {error.msg} ({line}column {error.colno})"
    except (ValueError, RecursionError) as error:  # a number too long, brackets too deep
        return None, f"not readable as JSON: {error}"


def _csv_rows(path: Path, text: str, required: Iterable[Sequence[str]]) -> Iterator[Row]:
    reader = csv.reader(chain(io.StringIO(text, newline=""), [_END]))
    line = 1
    try:
        header = _cells(next(reader)) or []
        for mark, name in _SEPARATORS.items():
            if len(header) == 1 and mark in header[0]:
                raise InputError(f"{path}: line 1: the cells are separated by {name}; {_AS_CSV}")
        for columns in required:
            if not any(column in header for column in columns):
                present = choices(header) or "nothing"
                raise InputError(f"{path}: line 1: column '{columns[0]}' is missing; the header has: {present}")
        if twice := [column for column in dict.fromkeys(header) if header.count(column) > 1]:
            raise InputError(f"{path}: line 1: the header names a column twice: {choices(twice)}")
        line = reader.line_num + 1
        for cells in map(_cells, reader):
            if cells and _has_content(cells):
                surplus = sum(bool(cell.strip()) for cell in cells[len(header) :])
                yield Row(line, {**dict(zip(header, cells, strict=False)), SURPLUS: surplus})
            line = reader.line_num + 1
    except csv.Error as error:
        too_long = str(error).startswith("field larger than field limit")
        fault = f"a cell has more than {_LONGEST_CELL:,} characters" if too_long else f"not readable as CSV: {error}"
        raise InputError(f"{path}: line {line}: {fault}") from error


def _cells(cells: list[str]) -> list[str] | None:
    """The cells of a row; None at the end of the file."""
    if cells == [_END]:
        return None
    if cells and cells[-1].endswith(_END):
        raise csv.Error("a quotation mark opens a cell and none closes it")
    return cells


def _text(path: Path) -> str:
    data = path.read_bytes()
    for start, kind in _STARTS.items():
        if data.startswith(start):
            raise InputError(f"{path}: is {kind}")
    if b"\x00\x00" in (data[:4:2], data[1:4:2]):  # Latin letters without a mark
        raise InputError(f"{path}: is text in UTF-16; save it in UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1  # what was decoded lacks the BOM
        raise InputError(
            f"{path}: line {line}: byte {error.start} is not UTF-8 ({error.reason}); save the file as UTF-8"
        ) from None
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise InputError(f"{path}: line {line}: NUL byte; save the file as text in UTF-8")
    return text
