"""Reads cases from CSV and JSON Lines, naming file, row and column of whatever is wrong."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urs_inspect.datasets.cases import UrsCase, UrsData
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.errors import InputError, choices

_COLUMNS = {
    "question": ("question",),
    "reference": ("reference_ans", "reference"),
    "intent": ("user_intent", "intent"),
    "language": ("language",),
}
"""What a case needs, and the column names that are taken for it."""

_SURPLUS = "\x00surplus"
"""Key of the cells of a row that the header has no names for; no column can be called so."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_READABLE = (".csv", ".jsonl")
_MAX_SHOWN = 20


@dataclass(frozen=True)
class Vocabulary:
    """How labels in a file become ids of the rubric; both raise `InputError` for an unknown label."""

    intent: Callable[[str], str]
    language: Callable[[str], str]


@dataclass(frozen=True)
class _Row:
    number: int
    """Line of the file that the row begins at, counted from 1, so that an editor finds it."""
    values: dict[str, Any]


def read_cases(path: Path, name: str, vocabulary: Vocabulary, *, id_prefix: str, lenient: bool = False) -> UrsData:
    """Read a file of cases.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object a line; UTF-8, with or without BOM.
            Columns: question, reference_ans (or reference), user_intent (or intent), language, and optionally id.
        name: What the data is called in logs.
        vocabulary: How labels become ids.
        id_prefix: Prefix of the ids given to rows without one: `<prefix>_0001` for the first row of data.
        lenient: Leave faulty rows out and list them, instead of refusing the file.

    Returns:
        The cases in the order of the file.

    Raises:
        InputError: Naming file, row and column of every fault (of the first 20, if there are more).
    """
    if path.suffix.lower() not in _READABLE:
        raise InputError(f"{path}: cannot read '{path.suffix}' files; allowed: {choices(_READABLE)}")
    if not path.is_file():
        raise InputError(f"no data file '{path}' (looked for {path.absolute()})")
    rows, faults = _rows(path)
    cases: list[UrsCase] = []
    seen: dict[str, int] = {}
    for position, row in enumerate(rows, start=1):
        problems, case = _case(row, f"{id_prefix}_{position:04d}", vocabulary)
        if case is not None:
            first = seen.setdefault(case.id, row.number)
            if first != row.number:
                problems.append(f"column 'id': '{case.id}' is taken by line {first}")
        if problems or case is None:
            faults.append(f"{path}: line {row.number}: {'; '.join(problems)}")
        else:
            cases.append(case)
    if faults and not lenient:
        more = f"\n... and {len(faults) - _MAX_SHOWN} more" if len(faults) > _MAX_SHOWN else ""
        raise InputError(
            "\n".join(faults[:_MAX_SHOWN]) + more + "\nMend the file, or skip faulty rows with -T lenient=true."
        )
    if not cases:
        raise InputError(f"{path}: no usable case")
    return UrsData(name, sha256_of(path), tuple(cases), tuple(faults))


def _case(row: _Row, default_id: str, vocabulary: Vocabulary) -> tuple[list[str], UrsCase | None]:
    problems: list[str] = []
    texts: dict[str, str] = {}
    for part, columns in _COLUMNS.items():
        column = next((column for column in columns if column in row.values), columns[0])
        value = row.values.get(column)
        if column not in row.values:
            problems.append(f"column '{column}': missing")
        elif not isinstance(value, str):
            problems.append(f"column '{column}': must be text, is {_shown(value)}")
        elif not value.strip():
            problems.append(f"column '{column}': empty")
        elif unpaired := _SURROGATE.search(value):  # no log and no request could hold it
            problems.append(f"column '{column}': {unpaired.group()!a} is half a character")
        else:
            texts[part] = value
    if surplus := row.values.get(_SURPLUS):
        problems.append(f"{surplus} more cells than the header; put texts that hold commas in quotes")
    given_id = row.values.get("id")
    if (
        isinstance(given_id, bool)
        or not isinstance(given_id, (str, int, type(None)))
        or _SURROGATE.search(str(given_id))
    ):
        problems.append(f"column 'id': must be text, is {_shown(given_id)}")
    case_id = default_id if given_id is None or not str(given_id).strip() else str(given_id).strip()
    ids: dict[str, str] = {}
    for part, find in (("intent", vocabulary.intent), ("language", vocabulary.language)):
        if part in texts:
            try:
                ids[part] = find(texts[part])
            except InputError as error:
                problems.append(f"column '{next(c for c in _COLUMNS[part] if c in row.values)}': {error}")
    if problems:
        return problems, None
    return [], UrsCase(case_id, texts["question"], texts["reference"], ids["intent"], ids["language"])


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:60].encode("utf-8", "replace").decode()


def _rows(path: Path) -> tuple[list[_Row], list[str]]:
    """Rows of the file, and faults of those that cannot be read as rows."""
    text = _text(path)
    if path.suffix.lower() == ".csv":
        return list(_csv_rows(path, text)), []
    rows: list[_Row] = []
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):  # splitlines() would also cut inside strings
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            faults.append(f"{path}: line {number}: not JSON: {error.msg} (column {error.colno})")
            continue
        except (ValueError, RecursionError) as error:  # a number too long, brackets too deep
            faults.append(f"{path}: line {number}: not readable as JSON: {error}")
            continue
        if isinstance(value, dict):
            rows.append(_Row(number, value))
        else:
            faults.append(f"{path}: line {number}: not a JSON object")
    return rows, faults


def _csv_rows(path: Path, text: str) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise InputError(f"{path}: line 1: not readable as CSV: {error}") from error
    for columns in _COLUMNS.values():
        if not any(column in header for column in columns):
            present = choices(header) or "nothing"
            raise InputError(f"{path}: line 1: column '{columns[0]}' is missing; the header has: {present}")
    if twice := [column for column in dict.fromkeys(header) if header.count(column) > 1]:
        raise InputError(f"{path}: line 1: the header names a column twice: {choices(twice)}")
    line = reader.line_num + 1
    try:
        for cells in reader:
            if cells:  # not a blank line
                surplus = sum(bool(cell.strip()) for cell in cells[len(header) :])
                yield _Row(line, {**dict(zip(header, cells, strict=False)), _SURPLUS: surplus})
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: line {line}: not readable as CSV: {error}") from error


def _text(path: Path) -> str:
    data = path.read_bytes()
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
