"""Reads cases from CSV and JSON Lines, naming file, row and column of whatever is wrong."""

import csv
import io
import json
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
        raise InputError(f"no data file '{path}'")
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
            faults += [f"{path}: line {row.number}: {problem}" for problem in problems]
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
            problems.append(f"column '{column}': must be text, is {json.dumps(value, ensure_ascii=False)[:60]}")
        elif not value.strip():
            problems.append(f"column '{column}': empty")
        else:
            texts[part] = value
    given_id = row.values.get("id")
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
            faults.append(f"{path}: line {number}: not JSON: {error.msg} at column {error.colno}")
            continue
        if isinstance(value, dict):
            rows.append(_Row(number, value))
        else:
            faults.append(f"{path}: line {number}: not a JSON object")
    return rows, faults


def _csv_rows(path: Path, text: str) -> Iterator[_Row]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        header = reader.fieldnames or []
    except csv.Error as error:
        raise InputError(f"{path}: line 1: not readable as CSV: {error}") from error
    for columns in _COLUMNS.values():
        if not any(column in header for column in columns):
            present = choices(list(header)) or "nothing"
            raise InputError(f"{path}: line 1: column '{columns[0]}' is missing; the header has: {present}")
    line = reader.line_num + 1
    try:
        for values in reader:
            yield _Row(line, {key: value for key, value in values.items() if key is not None})
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: line {line}: not readable as CSV: {error}") from error


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}: line {line}: byte {error.start} is not UTF-8 ({error.reason}); save the file as UTF-8"
        ) from None
