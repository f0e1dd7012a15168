"""What a survey becomes: cases and dropped rows, and the files of both."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from urs_inspect._util import InputError, choices, write_new_file
from urs_inspect.datasets._rows import Row, read_table

FORMAT = "format"
ATTENTION = "attention check"
NO_QUESTION = "no question"
UNKNOWN_INTENT = "unknown intent"
AMBIGUOUS_INTENT = "ambiguous intent"
UNKNOWN_LANGUAGE = "unknown language"
PERSONAL = "personal data"
DUPLICATE = "duplicate of the same user"
NEAR_DUPLICATE = "near-duplicate of the same user"
NEAR_ACROSS = "near-duplicate across users"

REASONS = (
    FORMAT, ATTENTION, NO_QUESTION, UNKNOWN_INTENT, AMBIGUOUS_INTENT, UNKNOWN_LANGUAGE, PERSONAL,
    DUPLICATE, NEAR_DUPLICATE, NEAR_ACROSS,
)  # fmt: skip
"""Why a row becomes no case, in the order in which rows are checked."""


@dataclass(frozen=True)
class SurveyCase:
    """A case from a survey; what the survey does not have is empty."""

    id: str
    # the first valid one of the conversation, exactly apart from white space at the edges
    question: str
    reference: str  # reference answer
    intent: str  # intent id of the rubric
    language: str  # language code of the rubric
    country: str = ""  # of the user, as the survey names it
    service: str = ""  # that was asked
    satisfaction: str = ""  # of the user, as written
    flags: tuple[str, ...] = ()  # kinds of personal data that were found and kept on purpose


@dataclass(frozen=True)
class Dropped:
    """A row that became no case."""

    row: int  # line of the file that the row begins at
    reason: str  # one of `REASONS`
    column: str  # with the error; empty if it is the whole row
    detail: str  # what exactly, and what is allowed; personal data masked
    excerpt: str = ""  # beginning of the question, personal data masked; empty for personal data


@dataclass(frozen=True)
class Removed:
    """A case that a review removed, and why."""

    id: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Survey:
    """Cases and dropped rows of a survey, both in the order of the file."""

    path: str
    sha256: str
    rows: int
    cases: tuple[SurveyCase, ...]
    dropped: tuple[Dropped, ...]
    near: float  # least similarity of near-duplicates
    respelt: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """Number of rows by column, label as written, and what it was taken for."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of dropped rows by reason, for those that occur."""
        numbers = Counter(dropped.reason for dropped in self.dropped)
        return {reason: numbers[reason] for reason in REASONS if numbers[reason]}


_DROPPED_HEADER = ("line", "reason", "column", "detail", "excerpt")
_REMOVED_HEADER = ("id", "faults")
_SEPARATOR = "; "
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{1,9})?")
_FORMULA = ("=", "+", "-", "@", "\t")


def write_cases(path: Path, cases: Iterable[SurveyCase]) -> None:
    """Write cases to a new file as JSON Lines with the columns that `-T dataset=` takes.

    Empty values are left out. Satisfaction is a number where it was given as one.
    """
    lines = []
    for case in cases:
        columns: dict[str, object] = {
            "id": case.id,
            "question": case.question,
            "reference_ans": case.reference,
            "user_intent": case.intent,
            "language": case.language,
        }
        optional: dict[str, object] = {
            "country": case.country,
            "service": case.service,
            "satisfaction": _number(case.satisfaction),
            "personal_data": list(case.flags),
        }
        columns |= {name: value for name, value in optional.items() if value not in ("", [])}
        lines.append(json.dumps(columns, ensure_ascii=False) + "\n")
    write_new_file(path, "".join(lines))


def _number(text: str) -> str | int | float:
    """The number that a text is in plain digits, else the text."""
    if not _NUMBER.fullmatch(text):
        return text
    if "." in text:
        return float(text)
    return int(text)


def dropped_csv(survey: Survey) -> str:
    """The dropped rows as CSV.

    A cell that a spreadsheet would take for a formula begins with an apostrophe.
    """
    rows = []
    for dropped in survey.dropped:
        cells = (dropped.reason, dropped.column, dropped.detail, dropped.excerpt)
        rows.append([str(dropped.row), *map(_no_formula, cells)])
    return _csv(_DROPPED_HEADER, rows)


def _no_formula(cell: str) -> str:
    if cell.startswith(_FORMULA):
        return f"'{cell}"
    return cell


def read_dropped(path: Path) -> tuple[Dropped, ...]:
    """Read what `dropped_csv` wrote."""
    dropped = []
    for row in _read_csv(path, _DROPPED_HEADER):
        reason = row.values.get("reason", "")
        line = row.values.get("line", "")
        if reason not in REASONS:
            raise InputError(
                f"{path}: {row.place}: column 'reason': unknown reason '{reason}'; allowed:"
                f" {choices(REASONS)}"
            )
        if not line.isascii() or not line.isdigit():
            raise InputError(
                f"{path}: {row.place}: column 'line': must be a whole number, is '{line}'"
            )
        more = [row.values.get(name, "") for name in _DROPPED_HEADER[2:]]
        dropped.append(Dropped(int(line), reason, *more))
    return tuple(dropped)


def removed_csv(removed: Iterable[Removed]) -> str:
    """The cases that a review removed as CSV."""
    rows = [[case.id, _SEPARATOR.join(case.faults)] for case in removed]
    return _csv(_REMOVED_HEADER, rows)


def read_removed(path: Path) -> tuple[Removed, ...]:
    """Read what `removed_csv` wrote."""
    rows = _read_csv(path, _REMOVED_HEADER)
    removed = []
    for row in rows:
        faults = row.values.get("faults", "").split(_SEPARATOR)
        removed.append(Removed(row.values["id"], tuple(faults)))
    return tuple(removed)


def read_reports(
    paths: Iterable[Path],
) -> tuple[tuple[Dropped, ...] | None, tuple[Removed, ...] | None]:
    """Read what `cases import` and `cases review` wrote with --report, each told by its columns.

    Returns:
        The dropped rows of surveys, and the cases that reviews removed; None where no file has any.
    """
    of_import: list[Path] = []
    of_review: list[Path] = []
    given = {path.resolve(): path for path in paths}  # a file counts once
    for path in given.values():
        columns = _columns_of(path)
        if set(_REMOVED_HEADER) <= columns:
            of_review.append(path)
        elif set(_DROPPED_HEADER) <= columns:
            of_import.append(path)
        else:
            by_import = ", ".join(_DROPPED_HEADER)
            by_review = ", ".join(_REMOVED_HEADER)
            raise InputError(
                f"{path}: must be the .csv file that `cases import --report` wrote (columns"
                f" {by_import}) or `cases review --report` ({by_review})"
            )
    dropped = tuple(chain.from_iterable(map(read_dropped, of_import)))
    removed = tuple(chain.from_iterable(map(read_removed, of_review)))
    return (dropped if of_import else None), (removed if of_review else None)


def _columns_of(path: Path) -> set[str]:
    """The columns of a .csv file; none of another file."""
    if not path.is_file():
        raise InputError(f"report: no file {path}")
    if path.suffix.lower() != ".csv":
        return set()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return set(next(csv.reader(file), []))
    except (OSError, UnicodeDecodeError, csv.Error):
        return set()


def _csv(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def _read_csv(path: Path, header: Iterable[str]) -> list[Row]:
    return read_table(path, [(column,) for column in header])[0]
