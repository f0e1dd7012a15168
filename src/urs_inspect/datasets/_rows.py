"""Rows of CSV, JSON and JSON Lines files: reading, checking, and errors with their place."""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from urs_inspect._util import (
    InputError,
    choices,
    counted,
    did_you_mean,
    file_kind,
    word_set,
)
from urs_inspect.datasets._sources import PinnedFile, fetch, sha256_of

READABLE = (".csv", ".jsonl", ".json")
"""Suffixes of the files that a user may give."""
SURPLUS = "\x00surplus"
"""Key of the number of cells of a row beyond the header; no column can have this name."""

# a line after the last one; if it is not a row by itself, a quotation mark was never closed
_END = "\x00"
_LONGEST_CELL = 10_000_000  # characters of a CSV cell
_MAX_ERRORS = 20  # errors of one file that a message lists
_MOST_VALUES = 8  # different wrong values of one column that a message lists
_FIRST_PLACES = 3  # places of one fault that a message lists
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")
_AS_CSV = "save it as CSV in UTF-8, with commas"
_SEPARATORS = {";": "semicolons", "\t": "tabs"}
_SIGNATURES = {
    b"PK\x03\x04": f"an Excel workbook or another ZIP archive; {_AS_CSV}",
    b"\xd0\xcf\x11\xe0": f"an old Excel workbook; {_AS_CSV}",
    b"version https://git-lfs.github.com/spec/": (
        "a Git LFS pointer and not the file itself; `git lfs pull` gets it"
    ),
    b"\xff\xfe": "text in UTF-16; save it in UTF-8",
    b"\xfe\xff": "text in UTF-16; save it in UTF-8",
}  # first bytes of files that are often given in place of text in UTF-8
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which no log and no request could hold."""


@dataclass(frozen=True)
class Row:
    """One row of a file: where it begins, and its values by column."""

    number: int  # from 1: of the line that it begins at, or its position in a JSON list
    values: dict[str, Any]
    unit: str = "line"  # what `number` counts: `line` or `row`

    @property
    def place(self) -> str:
        """Where the row is, for error messages."""
        return f"{self.unit} {self.number}"


def data_file(place: str, argument: str) -> Path:
    """The path of a user's file; one that is missing is refused under the name of its argument."""
    path = Path(place).expanduser()
    if not path.is_file():
        raise InputError(f"{argument}: no data file '{path}' (looked for {path.absolute()})")
    return path


def read_table(path: Path, required: Iterable[Sequence[str]]) -> tuple[list[Row], list[str]]:
    """Read a user's `.csv` file with a header, `.jsonl` file with one object per line, or `.json`
    file with a list of objects.

    All are in UTF-8, with or without BOM. Of each sequence in `required` the file must have a
    column; the first name is that of the error.
    """
    suffix = path.suffix.lower()
    if suffix not in READABLE:
        hint = ""
        if suffix in _WORKBOOKS:
            hint = f" (a workbook: {_AS_CSV})"
        raise InputError(
            f"{path}: cannot read {file_kind(path)}; allowed: {choices(READABLE)}{hint}"
        )
    if not path.is_file():
        raise InputError(f"no data file '{path}' (looked for {path.absolute()})")
    if suffix == ".json":
        rows, errors = read_records(path)
        _check_rows(path, rows, required)
        return rows, errors
    text = _read_text(path)
    if suffix == ".jsonl":
        rows, errors = _json_lines(path, text)
        _check_rows(path, rows, required)
        return rows, errors
    if not text.strip():
        raise InputError(f"{path}: the file is empty")
    before = csv.field_size_limit(_LONGEST_CELL)  # the limit is that of the process
    try:
        return list(_csv_rows(path, text, required)), []
    finally:
        csv.field_size_limit(before)


def read_records(path: Path) -> tuple[list[Row], list[str]]:
    """Read a `.json` file, which holds a list of objects or one object per line.

    Returns rows and errors of others.
    """
    text = _read_text(path)
    if not text.lstrip().startswith("["):
        _refuse_one_object(path, text)
        return _json_lines(path, text)
    value, error = parse_json(text)
    if error:
        raise InputError(f"{path}: {error}")
    rows: list[Row] = []
    errors: list[str] = []
    for number, element in enumerate(value, start=1):
        if isinstance(element, dict):
            rows.append(Row(number, element, "row"))
        else:
            errors.append(f"{path}: row {number}: not a JSON object")
    return rows, errors


def _refuse_one_object(path: Path, text: str) -> None:
    """Refuse a file that is one object over several lines, or begins as no JSON does."""
    whole = text.strip()
    if whole and not whole.startswith("{"):
        raise InputError(
            f"{path}: not JSON: begins with {shown(whole[:10])}; a list of objects is read, or one"
            " object per line"
        )
    value = None
    error = ""
    if "\n" in whole:
        value, error = parse_json(whole)
    if not error and isinstance(value, dict):
        raise InputError(
            f"{path}: holds one object with {choices(list(value)[:_MAX_ERRORS])}; a list of"
            " objects is read, or one object per line"
        )


def parse_json(text: str) -> tuple[Any, str]:
    """The value of a JSON text, or None and what is wrong with the text."""
    try:
        return json.loads(text), ""
    except json.JSONDecodeError as error:
        line = ""
        if error.lineno > 1:
            line = f"line {error.lineno}, "
        return None, f"not JSON: {error.msg} ({line}column {error.colno})"
    except (ValueError, RecursionError) as error:  # a number too long, brackets too deep
        return None, f"not readable as JSON: {error}"


def shown(value: object) -> str:
    """A value of a file as an error message shows it: as JSON, cut short, printable."""
    return json.dumps(value, ensure_ascii=False)[:60].encode("utf-8", "replace").decode()


def _json_lines(path: Path, text: str) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    errors: list[str] = []
    # splitlines() would also cut inside strings
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        value, error = parse_json(line)
        if error or not isinstance(value, dict):
            errors.append(f"{path}: line {number}: {error or 'not a JSON object'}")
        elif _has_content(value.values()):
            rows.append(Row(number, value))
    return rows, errors


def _has_content(values: Iterable[object]) -> bool:
    return any(
        bool(value.strip()) if isinstance(value, str) else value is not None for value in values
    )


def _csv_rows(path: Path, text: str, required: Iterable[Sequence[str]]) -> Iterator[Row]:
    reader = csv.reader(chain(io.StringIO(text, newline=""), [_END]))
    line = 1
    try:
        header = _cells(next(reader)) or []
        _check_header(path, header, required)
        line = reader.line_num + 1
        for cells in map(_cells, reader):
            if cells and _has_content(cells):
                surplus = sum(bool(cell.strip()) for cell in cells[len(header) :])
                yield Row(line, {**dict(zip(header, cells, strict=False)), SURPLUS: surplus})
            line = reader.line_num + 1
    except csv.Error as error:
        problem = f"not readable as CSV: {error}"
        if str(error).startswith("field larger than field limit"):
            problem = f"a cell has more than {_LONGEST_CELL:,} characters"
        raise InputError(f"{path}: line {line}: {problem}") from error


def _cells(cells: list[str]) -> list[str] | None:
    """The cells of a row; None at the end of the file."""
    if cells == [_END]:
        return None
    if cells and cells[-1].endswith(_END):
        raise csv.Error("a quotation mark opens a cell and none closes it")
    return cells


def _check_header(path: Path, header: list[str], required: Iterable[Sequence[str]]) -> None:
    for mark, name in _SEPARATORS.items():
        if len(header) == 1 and mark in header[0]:
            raise InputError(f"{path}: line 1: the cells are separated by {name}; {_AS_CSV}")
    for columns in required:
        if not any(column in header for column in columns):
            present = choices(header) or "nothing"
            raise InputError(
                f"{path}: line 1: column '{columns[0]}' is missing; the header has: {present}"
            )
    if twice := [column for column in dict.fromkeys(header) if header.count(column) > 1]:
        raise InputError(f"{path}: line 1: the header names a column twice: {choices(twice)}")


def _check_rows(path: Path, rows: Sequence[Row], required: Iterable[Sequence[str]]) -> None:
    """Refuse objects of which no row has a required column, once per file."""
    present = dict.fromkeys(chain.from_iterable(row.values for row in rows))
    missing = [columns[0] for columns in required if present.keys().isdisjoint(columns)]
    if rows and missing:
        names = choices(f"'{column}'" for column in missing)
        what = f"column {names} is" if len(missing) == 1 else f"columns {names} are"
        raise InputError(
            f"{path}: {what} missing in all of {counted(len(rows), 'row')}; there are:"
            f" {choices(present)}"
        )


def _read_text(path: Path) -> str:
    data = path.read_bytes()
    for signature, kind in _SIGNATURES.items():
        if data.startswith(signature):
            raise InputError(f"{path}: is {kind}")
    # Latin letters in UTF-16 without a byte order mark
    if b"\x00\x00" in (data[:4:2], data[1:4:2]):
        raise InputError(f"{path}: is text in UTF-16; save it in UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\x00" in data:
            raise InputError(
                f"{path}: is no text file; allowed is text in UTF-8: .csv, .jsonl or .json"
            ) from None
        line = error.object.count(b"\n", 0, error.start) + 1  # the decoded bytes lack the BOM
        raise InputError(
            f"{path}: line {line}: byte {error.start} is not UTF-8 ({error.reason}); save the file"
            " as UTF-8"
        ) from None
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise InputError(f"{path}: line {line}: NUL byte; save the file as text in UTF-8")
    return text


def label_key(value: object) -> str:
    """How a label is looked up: a text in lower case, a number in its shortest form; else empty."""
    if isinstance(value, str):
        return value.strip().lower()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return ""


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


CaseT = TypeVar("CaseT", bound=_HasId)
ValueT = TypeVar("ValueT")


_VALUE = "{value}"


@dataclass(frozen=True)
class Fault:
    """What is wrong with a column of a row."""

    column: str  # as the file calls it; empty for the row as a whole
    what: str  # holds `{value}` where rows with this fault differ
    value: str = ""

    def __str__(self) -> str:
        return self.told([self.value])

    @property
    def kind(self) -> tuple[str, str]:
        """What faults of the same kind share."""
        return self.column, self.what

    def told(self, values: Sequence[str]) -> str:
        """The fault with the values of one or several rows."""
        start = ""
        if self.column:
            start = f"column '{self.column}': "
        return f"{start}{self.what.replace(_VALUE, _counted_values(values), 1)}"


def _counted_values(values: Sequence[str]) -> str:
    """Different values, with how often each is there where there are several."""
    counts = Counter(values).most_common()
    parts = [
        f"{value} ({number:,} times)" if number > 1 else value
        for value, number in counts[:_MOST_VALUES]
    ]
    if len(counts) > _MOST_VALUES:
        parts.append(f"{len(counts) - _MOST_VALUES} others")
    if len(counts) > 1:
        return choices(parts)
    return values[0]


class Fields:
    """Reads typed values out of a row.

    Each method adds what is wrong with its column to `faults` and then returns a placeholder of
    the right type, so that one pass over a row finds all of its errors; a row with problems makes
    no case.
    """

    def __init__(self, row: Row) -> None:
        self.values = row.values
        self.faults: list[Fault] = []
        self._names: Mapping[str, str] = {}
        if surplus := row.values.get(SURPLUS):
            what = f"{_VALUE} more cells than the header; put texts that hold commas in quotes"
            self.faults.append(Fault("", what, str(surplus)))

    @property
    def problems(self) -> list[str]:
        """What is wrong, in words."""
        return list(map(str, self.faults))

    def read_as(self, values: dict[str, Any], names: Mapping[str, str]) -> None:
        """Read other values in place of the row's; `names` is what the file calls their columns."""
        self.values = values
        self._names = names

    def has(self, column: str) -> bool:
        """Whether the row has the column."""
        return column in self.values

    def blank(self, column: str) -> bool:
        """Whether a column is missing, null or white space."""
        value = self.values.get(column)
        return value is None or (isinstance(value, str) and not value.strip())

    def note(self, column: str, problem: str, value: str = "") -> None:
        """Add what is wrong with a column; `{value}` in it stands for the value."""
        self.faults.append(Fault(self._names.get(column, column), problem, value))

    def text(self, *columns: str, blank: bool = False) -> str:
        """Read a text exactly; of alternative column names, the first that the row has counts."""
        column = self._column(columns)
        value = self.values.get(column)
        if column not in self.values:
            self.note(column, "missing")
        elif not isinstance(value, str):
            self.note(column, f"must be text, is {_VALUE}", shown(value))
        elif not blank and not value.strip():
            self.note(column, "empty")
        elif unpaired := SURROGATE.search(value):  # no log and no request could hold it
            self.note(column, f"{unpaired.group()!a} is half a character")
        else:
            return value
        return ""

    def optional(self, column: str, default: str = "") -> str:
        """Read a text that may be missing, null or blank; the default replaces it then."""
        if self.blank(column):
            return default
        return self.text(column)

    def identifier(self, default: str) -> str:
        """Read the column `id`, a text or whole number.

        The default replaces a missing or empty one.
        """
        value = self.values.get("id")
        if (
            isinstance(value, bool)
            or not isinstance(value, (str, int, type(None)))
            or SURROGATE.search(str(value))
        ):
            self.note("id", f"must be text, is {_VALUE}", shown(value))
        if value is None or not str(value).strip():
            return default
        return str(value).strip()

    def resolved(self, find: Callable[[str], str], *columns: str) -> str:
        """Read a text and turn it into an id by a function that refuses unknown ones."""
        name = self.text(*columns)
        if name:
            return self._resolve(self._column(columns), name, find)
        return ""

    def label(self, column: str, allowed: Mapping[str, ValueT]) -> ValueT:
        """Read a label, a text or a number.

        `allowed` maps what may be written, in lower case, to its meaning.
        """
        if column not in self.values:
            self.note(column, f"missing; allowed: {choices(allowed)}")
            return next(iter(allowed.values()))
        return self._label(column, self.values[column], allowed)

    def several_labels(self, column: str, allowed: Mapping[str, ValueT]) -> list[ValueT]:
        """Read a label, or a list of those of several raters without blank ones."""
        value = self.values.get(column)
        if not isinstance(value, list) or not _has_content(value):
            return [self.label(column, allowed)]
        given = [part for part in value if _has_content([part])]
        return [self._label(column, part, allowed) for part in given]

    def labels(
        self, column: str, allowed: Mapping[str, ValueT], find: Callable[[str], str] | None = None
    ) -> dict[str, ValueT]:
        """Read an object of names and labels, in CSV written as JSON.

        `find` turns a name into an id, if given.
        """
        value = self.values.get(column)
        if isinstance(value, str):
            parsed, error = parse_json(value)
            value = value if error else parsed
        if not isinstance(value, dict):
            what = f"must be an object of names and labels, is {_VALUE}"
            self.note(column, what, shown(value))
            return {}
        read: dict[str, ValueT] = {}
        for name, label in value.items():
            key = self._resolve(column, name, find) if find else name.strip()
            if not key and not find:
                self.note(column, "a name is empty")
            elif key in read:
                self.note(column, f"'{name}' is listed twice")
            elif key:
                read[key] = self._label(column, label, allowed, f"'{name}': ")
        return read

    def rating(self, column: str, low: float, high: float) -> float:
        """Read a number of a scale, or the mean of a list of them, also written as texts."""
        value = self.values.get(column)
        parts = [value]
        if isinstance(value, list) and value:
            parts = value
        numbers = [number_of(part) for part in parts]
        if column not in self.values:
            self.note(column, "missing")
        elif not all(low <= number <= high for number in numbers):
            what = f"must be a number from {low:g} to {high:g}, is {_VALUE}"
            self.note(column, what, shown(value))
        return math.fsum(numbers) / len(numbers)

    def above_zero(self, column: str) -> float:
        """Read a number above 0."""
        value = number_of(self.values.get(column))
        if not 0 < value < math.inf:
            shown_value = shown(self.values.get(column))
            self.note(column, f"must be a number above 0, is {_VALUE}", shown_value)
        return value

    def name(self, column: str) -> str:
        """Read a text or whole number that may be missing or blank, as a text."""
        return self.written(column).strip()

    def written(self, column: str) -> str:
        """Read a text exactly, or a whole number as a text; empty if it is missing or null."""
        value = self.values.get(column)
        if value is None:
            return ""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(column, blank=True)

    def one_of(self, column: str, allowed: Collection[str]) -> str:
        """Read a text that must be one of a set."""
        name = self.text(column)
        if name and name not in allowed:
            self.note(column, f"unknown {column} '{name}'; allowed: {choices(list(allowed))}")
        return name

    def _column(self, columns: tuple[str, ...]) -> str:
        return next((column for column in columns if column in self.values), columns[0])

    def _resolve(self, column: str, name: str, find: Callable[[str], str]) -> str:
        try:
            return find(name)
        except InputError as error:
            self.note(column, str(error))
            return ""

    def _label(
        self, column: str, value: object, allowed: Mapping[str, ValueT], prefix: str = ""
    ) -> ValueT:
        key = label_key(value)
        if key not in allowed:
            what = f"{prefix}unknown label {_VALUE}; allowed: {choices(allowed)}"
            near = ""
            if isinstance(value, str):
                near = did_you_mean(key, allowed)
            self.note(column, what, f"{shown(value)}{near}")
            return next(iter(allowed.values()))
        return allowed[key]


def number_of(value: object) -> float:
    """A number, also one that is written as a text; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


Build = Callable[[Fields, str], CaseT | str]
"""Makes a case out of a row and the id that it gets if it has none, or says why it makes none."""
LeftOut = list[tuple[str, str]]
"""For each row left out on purpose the id that its case would have, and why."""


@dataclass(frozen=True)
class FileCases(Generic[CaseT]):
    """The cases of a file, in its order."""

    cases: tuple[CaseT, ...]
    sha256: str  # of the file
    left_out: LeftOut

    @property
    def skipped(self) -> tuple[str, ...]:
        """A line for each row left out."""
        return tuple(f"{case_id}: {reason}" for case_id, reason in self.left_out)


@dataclass(frozen=True)
class FaultyRow:
    """A row that makes no case, and what is wrong with it."""

    row: Row
    faults: Sequence[Fault]


def build_cases(
    rows: Iterable[Row], build: Build[CaseT], prefix: str
) -> tuple[list[CaseT], list[FaultyRow], LeftOut]:
    """Make a case, called `<prefix>_0001` and so on, of every valid row."""
    cases: list[CaseT] = []
    faulty: list[FaultyRow] = []
    left_out: LeftOut = []
    seen: dict[str, str] = {}
    for position, row in enumerate(rows, start=1):
        fields = Fields(row)
        case_id = f"{prefix}_{position:04d}"
        case = build(fields, case_id)
        if not isinstance(case, str) and not fields.faults:
            first = seen.setdefault(case.id, row.place)
            if first != row.place:
                fields.note("id", _VALUE, f"'{case.id}' is taken by {first}")
        if fields.faults:
            faulty.append(FaultyRow(row, fields.faults))
        elif isinstance(case, str):
            left_out.append((case_id, case))
        else:
            cases.append(case)
    return cases, faulty, left_out


def told_by_row(path: Path, faulty: Iterable[FaultyRow]) -> list[str]:
    """A line for each row with faults."""
    return [_told(path, each.row.place, each.faults) for each in faulty]


def told_once(path: Path, faulty: Sequence[FaultyRow]) -> list[str]:
    """A line for each row with a fault of its own, and one for each fault of several rows."""
    places: dict[tuple[str, str], list[Row]] = {}
    values: dict[tuple[str, str], list[str]] = {}
    for each in faulty:
        for fault in each.faults:
            values.setdefault(fault.kind, []).append(fault.value)
            rows = places.setdefault(fault.kind, [])
            if each.row not in rows[-1:]:
                rows.append(each.row)
    errors: list[str] = []
    for each in faulty:
        single = [fault for fault in each.faults if len(places[fault.kind]) == 1]
        if single:
            errors.append(_told(path, each.row.place, single))
        for kind, fault in {fault.kind: fault for fault in each.faults}.items():
            rows = places[kind]
            if len(rows) > 1 and rows[0] is each.row:
                errors.append(f"{path}: {_places(rows)}: {fault.told(values[kind])}")
    return errors


def _told(path: Path, place: str, faults: Iterable[Fault]) -> str:
    return f"{path}: {place}: {'; '.join(map(str, faults))}"


def _places(rows: Sequence[Row]) -> str:
    """Where several rows are: the first three, and how many others."""
    first = choices(row.number for row in rows[:_FIRST_PLACES])
    more = ""
    if len(rows) > _FIRST_PLACES:
        more = f" and {len(rows) - _FIRST_PLACES:,} more"
    return f"{rows[0].unit}s {first}{more}"


def refuse(errors: Sequence[str], hint: str = "") -> None:
    """Raise `InputError` with the first 20 errors of a file, if there are any."""
    if errors:
        raise InputError("\n".join(filter(None, [*first_errors(errors), hint])))


def first_errors(errors: Sequence[str]) -> list[str]:
    """The first 20 errors, and the number of the others."""
    more = []
    if len(errors) > _MAX_ERRORS:
        more = [f"... and {len(errors) - _MAX_ERRORS} more"]
    return [*errors[:_MAX_ERRORS], *more]


def read_published(source: PinnedFile, build: Build[CaseT], prefix: str) -> FileCases[CaseT]:
    """Fetch a published file and read its cases."""
    path = fetch(source)
    return _valid_cases(path, read_records(path), build, prefix)


def read_own(
    path: Path,
    required: Iterable[Sequence[str]],
    build: Build[CaseT],
    *,
    hint: str = "",
    check: Callable[[Path, Sequence[Row]], None] = lambda path, rows: None,
    used: Collection[str] = (),
) -> FileCases[CaseT]:
    """Read the cases of a user's file, called `<name of the file>_0001` and so on.

    With a `hint`, columns that would change what is asked are
    refused as by `refuse_ignored`, but for those in `used`. `check` may refuse the rows.
    """
    rows, unparsed = read_table(path, required)
    check(path, rows)
    if hint:
        refuse_ignored(path, rows, hint, used=used)
    return _valid_cases(path, (rows, unparsed), build, path.stem)


_TEXT_BESIDE = word_set(
    "system system_prompt system_message sys_prompt developer developer_message instructions"
    " persona history chat_history previous_messages turns chat conversation dialogue dialog"
    " context document documents passage passages"
)
_NO_TEXT = word_set(
    "image images image_url image_urls image_path audio video videos attachment attachments files"
    " tools tool_calls functions"
)
"""Columns that are part of what a user asks, as other tools name them.

To ask without them is another question.
"""


def refuse_ignored(
    path: Path,
    rows: Iterable[Row],
    hint: str,
    also: Collection[str] = (),
    used: Collection[str] = (),
) -> None:
    """Refuse a file with a column that would change what is asked, and that is not read.

    Each column is named once. `hint` says where such a text belongs; `also` are further names of
    columns of text, and `used` columns that are read.
    """
    texts = _TEXT_BESIDE | set(also)
    errors: dict[str, str] = {}
    for row in rows:
        for column, value in row.values.items():
            name = column.strip().casefold()
            if column in used or column in errors:
                continue
            if name not in texts | _NO_TEXT or not _has_content([value]):
                continue
            help_ = hint
            if name in _NO_TEXT:
                help_ = "only texts are asked; remove the column if it may be left out"
            errors[column] = (
                f"{path}: {row.place}: column '{column}' changes what is asked, and is not read:"
                f" {help_}"
            )
    refuse(list(errors.values()))


def _valid_cases(
    path: Path, read: tuple[list[Row], list[str]], build: Build[CaseT], prefix: str
) -> FileCases[CaseT]:
    rows, unparsed = read
    cases, faulty, left_out = build_cases(rows, build, prefix)
    refuse(unparsed + told_once(path, faulty))
    if not cases:
        raise InputError(f"{path}: no usable case")
    return FileCases(tuple(cases), sha256_of(path), left_out)
