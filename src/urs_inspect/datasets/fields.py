"""Reads the fields of one row, and the cases of many, collecting everything that is wrong instead of the first."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from urs_inspect.datasets.rows import SURPLUS, Row, shown
from urs_inspect.errors import InputError, choices

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
        value = _parsed(self.values.get(column))
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


def _parsed(value: object) -> object:
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
