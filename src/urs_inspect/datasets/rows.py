"""Rows of CSV and JSON Lines files: reading, checking and error messages with file, line and column."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from logging import getLogger
from pathlib import Path
from typing import Any, Protocol, TypeVar

from urs_inspect._util import InputError, choices
from urs_inspect.datasets.sources import PinnedFile, fetch, is_pinned, sha256_of

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


_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_SHOWN = 20


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


CaseT = TypeVar("CaseT", bound=_HasId)
ValueT = TypeVar("ValueT")


class Fields:
    """Reads typed values out of a row.

    Each method notes what is wrong with its column in `problems` and then returns a placeholder of the right
    type, so that one pass over a row finds all of its faults; a row with problems makes no case.
    """

    def __init__(self, row: Row) -> None:
        self.values = row.values
        self.problems: list[str] = []
        if surplus := row.values.get(SURPLUS):
            self.problems.append(f"{surplus} more cells than the header; put texts that hold commas in quotes")

    def has(self, column: str) -> bool:
        """Whether the row has the column."""
        return column in self.values

    def blank(self, column: str) -> bool:
        """Whether a column is missing, null or white space."""
        value = self.values.get(column)
        return value is None or (isinstance(value, str) and not value.strip())

    def note(self, column: str, problem: str) -> None:
        """Note that something is wrong with a column."""
        self.problems.append(f"column '{column}': {problem}")

    def text(self, *columns: str, blank: bool = False) -> str:
        """Read a text to the letter.

        Args:
            columns: Names of the column; the first that the row has counts.
            blank: Whether it may be empty or white space.
        """
        column = self._column(columns)
        value = self.values.get(column)
        if column not in self.values:
            self.note(column, "missing")
        elif not isinstance(value, str):
            self.note(column, f"must be text, is {shown(value)}")
        elif not blank and not value.strip():
            self.note(column, "empty")
        elif unpaired := _SURROGATE.search(value):  # no log and no request could hold it
            self.note(column, f"{unpaired.group()!a} is half a character")
        else:
            return value
        return ""

    def optional(self, column: str, default: str = "") -> str:
        """Read a text that may be missing, null or blank; the default stands for it then."""
        return default if self.blank(column) else self.text(column)

    def identifier(self, default: str) -> str:
        """Read the column `id`, a text or whole number; the default stands for a missing or empty one."""
        value = self.values.get("id")
        if isinstance(value, bool) or not isinstance(value, (str, int, type(None))) or _SURROGATE.search(str(value)):
            self.note("id", f"must be text, is {shown(value)}")
        return default if value is None or not str(value).strip() else str(value).strip()

    def resolved(self, find: Callable[[str], str], *columns: str) -> str:
        """Read a text and turn it into an id with a function that raises `InputError` for unknown ones."""
        name = self.text(*columns)
        return self._found(self._column(columns), name, find) if name else ""

    def label(self, column: str, allowed: Mapping[str, ValueT]) -> ValueT:
        """Read a label.

        Args:
            column: Its column, which holds a text or a number.
            allowed: What may stand there, in small letters, and what it means.
        """
        if column not in self.values:
            self.note(column, f"missing; allowed: {choices(allowed)}")
            return next(iter(allowed.values()))
        return self._label(column, self.values[column], allowed)

    def labels(
        self, column: str, allowed: Mapping[str, ValueT], find: Callable[[str], str] | None = None
    ) -> dict[str, ValueT]:
        """Read an object of names and labels.

        Args:
            column: Its column; in CSV a cell that holds the object as JSON.
            allowed: What may stand as a label, and what it means.
            find: Turns a name into an id, or raises `InputError`; without it any name will do.
        """
        value = _fields_parsed(self.values.get(column))
        if not isinstance(value, dict):
            self.note(column, f"must be an object of names and labels, is {shown(value)}")
            return {}
        read: dict[str, ValueT] = {}
        for name, label in value.items():
            key = self._found(column, name, find) if find else name.strip()
            if not key and not find:
                self.note(column, "a name is empty")
            elif key in read:
                self.note(column, f"'{name}' is there twice")
            elif key:
                read[key] = self._label(column, label, allowed, f"'{name}': ")
        return read

    def rating(self, column: str, low: float, high: float) -> float:
        """Read a number of a scale, or the mean of a list of them, each written as a number or a text."""
        value = self.values.get(column)
        if column not in self.values:
            self.note(column, "missing")
        parts = value if isinstance(value, list) and value else [value]
        numbers = [_number(part) for part in parts]
        if column in self.values and not all(low <= number <= high for number in numbers):
            self.note(column, f"must be a number from {low:g} to {high:g}, is {shown(value)}")
        return math.fsum(numbers) / len(numbers)

    def one_of(self, column: str, allowed: Collection[str]) -> str:
        """Read a text that must be one of a set."""
        name = self.text(column)
        if name and name not in allowed:
            self.note(column, f"unknown {column} '{name}'; allowed: {choices(list(allowed))}")
        return name

    def _column(self, columns: tuple[str, ...]) -> str:
        return next((column for column in columns if column in self.values), columns[0])

    def _found(self, column: str, name: str, find: Callable[[str], str]) -> str:
        try:
            return find(name)
        except InputError as error:
            self.note(column, str(error))
            return ""

    def _label(self, column: str, value: object, allowed: Mapping[str, ValueT], prefix: str = "") -> ValueT:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        key = f"{value:g}" if number else value.strip().lower() if isinstance(value, str) else ""
        if key not in allowed:
            self.note(column, f"{prefix}unknown label {shown(value)}; allowed: {choices(allowed)}")
            return next(iter(allowed.values()))
        return allowed[key]


def _number(value: object) -> float:
    """A number, or not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _fields_parsed(value: object) -> object:
    """What a cell of CSV holds, if it is JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def build_cases(
    path: Path, rows: Iterable[Row], build: Callable[[Fields, str], CaseT | None], prefix: str
) -> tuple[list[CaseT], list[str]]:
    """Make a case of every row that has no faults.

    Args:
        path: The file, for messages.
        rows: Its rows.
        build: Makes a case out of the fields of a row and the id that it gets if it has none; None where the
            row makes no case on purpose.
        prefix: Prefix of the ids: `<prefix>_0001` for the first row.

    Returns:
        The cases in the order of the rows, and one line for each faulty row.
    """
    cases: list[CaseT] = []
    faults: list[str] = []
    seen: dict[str, str] = {}
    for position, row in enumerate(rows, start=1):
        fields = Fields(row)
        case = build(fields, f"{prefix}_{position:04d}")
        if case is not None and not fields.problems:
            first = seen.setdefault(case.id, row.place)
            if first != row.place:
                fields.note("id", f"'{case.id}' is taken by {first}")
        if fields.problems:
            faults.append(f"{path}: {row.place}: {'; '.join(fields.problems)}")
        elif case is not None:
            cases.append(case)
    return cases, faults


def refuse(faults: list[str], hint: str = "") -> None:
    """Refuse a file that has faults.

    Raises:
        InputError: With the first 20 faults, if there are any.
    """
    if faults:
        raise InputError("\n".join([*first_faults(faults), *([hint] if hint else [])]))


def first_faults(faults: Sequence[str]) -> list[str]:
    """The first 20 faults, and a line about how many there are beyond."""
    more = [f"... and {len(faults) - _MAX_SHOWN} more"] if len(faults) > _MAX_SHOWN else []
    return [*faults[:_MAX_SHOWN], *more]


logger = getLogger(__name__)


def read_published(
    source: PinnedFile, build: Callable[[Fields, str], CaseT | None], prefix: str
) -> tuple[tuple[CaseT, ...], str]:
    """Get a published file, with a download if it is not here, and read its cases.

    Args:
        source: The file.
        build: Makes a case out of a row and its id; None where the row makes no case on purpose.
        prefix: Prefix of the ids: `<prefix>_0001` for the first row.

    Returns:
        The cases in the order of the file, and the hash of the file.

    Raises:
        InputError: If the file cannot be had, or naming file and row of every fault in it.
    """
    path = fetch(source)
    if not is_pinned(source, path):
        logger.warning(f"{path}: another published form of the '{source.name}' data, which no hash can check")
    return _faultless(path, read_records(path), build, prefix)


def read_own(
    path: Path, required: Iterable[Sequence[str]], build: Callable[[Fields, str], CaseT | None]
) -> tuple[tuple[CaseT, ...], str]:
    """Read the cases of a user's file.

    Args:
        path: A `.csv` or `.jsonl` file.
        required: Columns that the header of a CSV file must have, each with the other names it may have.
        build: Makes a case out of a row and the id that it gets if it has none: `<name of the file>_0001`.

    Returns:
        The cases in the order of the file, and the hash of the file.

    Raises:
        InputError: If the file cannot be read, or naming row and column of every fault in it.
    """
    return _faultless(path, read_table(path, required), build, path.stem)


def _faultless(
    path: Path, read: tuple[list[Row], list[str]], build: Callable[[Fields, str], CaseT | None], prefix: str
) -> tuple[tuple[CaseT, ...], str]:
    rows, unreadable = read
    cases, faulty = build_cases(path, rows, build, prefix)
    refuse(unreadable + faulty)
    if not cases:
        raise InputError(f"{path}: no usable case")
    return tuple(cases), sha256_of(path)
