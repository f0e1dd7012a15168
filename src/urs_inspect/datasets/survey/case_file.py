"""The files that an import leaves: the cases, and the rows that became none."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from urs_inspect._util import InputError, choices
from urs_inspect.datasets.rows import read_table
from urs_inspect.datasets.survey.columns import Mapped

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
"""Why a row may become no case, in the order in which it is looked at."""


@dataclass(frozen=True)
class Choices:
    """How a survey is read.

    Attributes:
        mapped: What columns and labels mean.
        language: Language of all questions; None to take it from the column, or from the script where that is blank.
        near: Least similarity of near-duplicates, 0.5 to 1.
        attention: Column -> value that it must have; case and edge whitespace do not matter.
        keep_flagged: Whether questions with personal data are kept, marked as such.
        fix_spelling: Whether an unknown intent or language is taken for the nearest known one.
    """

    mapped: Mapped = field(default_factory=Mapped)
    language: str | None = None
    near: float = 0.85
    attention: Mapping[str, str] = field(default_factory=dict)
    keep_flagged: bool = False
    fix_spelling: bool = False


@dataclass(frozen=True)
class SurveyCase:
    """A case out of a survey.

    Attributes:
        id: Stable id.
        question: The first valid question of the conversation, to the letter but for edge whitespace.
        reference: Reference answer; empty if the survey has none.
        intent: Intent id of the rubric.
        language: Language code of the rubric.
        country: Country of the user as the survey names it; empty if it does not say.
        service: Service that was asked; empty likewise.
        satisfaction: How satisfied the user was, as written; empty likewise.
        flags: Kinds of personal data that were found and kept on purpose.
    """

    id: str
    question: str
    reference: str
    intent: str
    language: str
    country: str = ""
    service: str = ""
    satisfaction: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dropped:
    """A row that became no case.

    Attributes:
        row: Line of the file that the row begins at.
        reason: One of `REASONS`.
        column: The column that is at fault; empty if it is the whole row.
        detail: What exactly, and what would be allowed; personal data masked.
        excerpt: Beginning of the question, personal data masked; empty if there is none, or for personal data.
    """

    row: int
    reason: str
    column: str
    detail: str
    excerpt: str = ""


@dataclass(frozen=True)
class Removed:
    """A case that a review took out.

    Attributes:
        id: Its id.
        faults: Why.
    """

    id: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Survey:
    """What became of a survey.

    Attributes:
        path: The file.
        sha256: Its hash.
        rows: Number of its rows.
        cases: The cases, in the order of the file.
        dropped: The other rows, in the order of the file.
        near: Least similarity of near-duplicates.
        respelt: Number of rows by column, label as written, and what it was taken for.
    """

    path: str
    sha256: str
    rows: int
    cases: tuple[SurveyCase, ...]
    dropped: tuple[Dropped, ...]
    near: float
    respelt: Mapping[tuple[str, str, str], int] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """Number of dropped rows by reason, those that occur."""
        found = Counter(one.reason for one in self.dropped)
        return {reason: found[reason] for reason in REASONS if found[reason]}


_HEADER = ("line", "reason", "column", "detail", "excerpt")
_REMOVED_HEADER = ("id", "faults")
_BETWEEN = "; "
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{1,9})?")
_FORMULA = ("=", "+", "-", "@", "\t")


def case_line(case: SurveyCase) -> str:
    """A case as a line of JSON, with the columns that `-T dataset=` takes; columns without a value are left out.

    Satisfaction is a number where it was given as one, else the text that was given.
    """
    columns: dict[str, object] = {
        "id": case.id,
        "question": case.question,
        "reference_ans": case.reference,
        "user_intent": case.intent,
        "language": case.language,
    }
    satisfaction = _number(case.satisfaction)
    optional = {"country": case.country, "service": case.service, "satisfaction": satisfaction}
    columns |= {name: value for name, value in optional.items() if value != ""}
    columns |= {"personal_data": list(case.flags)} if case.flags else {}
    return json.dumps(columns, ensure_ascii=False) + "\n"


def _number(text: str) -> str | int | float:
    """What a text says as a number, if it is one in plain digits."""
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


def write_cases(path: Path, cases: Iterable[SurveyCase]) -> None:
    """Write cases to a new file.

    Raises:
        FileExistsError: If there is a file already.
    """
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.writelines(case_line(case) for case in cases)


def dropped_csv(survey: Survey) -> str:
    """The dropped rows as CSV, one a row; what a spreadsheet would take for a formula begins with an apostrophe."""
    return _csv(
        _HEADER,
        (
            [str(one.row), *[_harmless(cell) for cell in (one.reason, one.column, one.detail, one.excerpt)]]
            for one in survey.dropped
        ),
    )


def read_dropped(path: Path) -> tuple[Dropped, ...]:
    """Read the dropped rows back.

    Raises:
        InputError: If the file cannot be read or is none of an import.
    """
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path}: must be the .csv file that `urs-inspect cases import --report` wrote")
    rows, _ = read_table(path, [(column,) for column in _HEADER])
    return tuple(_dropped(path, row.place, row.values) for row in rows)


def removed_csv(removed: Iterable[Removed]) -> str:
    """The cases that a review took out as CSV, one a row."""
    return _csv(_REMOVED_HEADER, ([one.id, _BETWEEN.join(one.faults)] for one in removed))


def read_removed(path: Path) -> tuple[Removed, ...]:
    """Read the cases back that a review took out.

    Raises:
        InputError: If the file cannot be read or is none of a review.
    """
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path}: must be the .csv file that `urs-inspect cases review --report` wrote")
    rows, _ = read_table(path, [(column,) for column in _REMOVED_HEADER])
    return tuple(Removed(row.values["id"], tuple(row.values.get("faults", "").split(_BETWEEN))) for row in rows)


def _csv(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _dropped(path: Path, place: str, values: Mapping[str, str]) -> Dropped:
    reason, row = values.get("reason", ""), values.get("line", "")
    if reason not in REASONS:
        raise InputError(f"{path}: {place}: column 'reason': unknown reason '{reason}'; allowed: {choices(REASONS)}")
    if not row.isascii() or not row.isdigit():
        raise InputError(f"{path}: {place}: column 'line': must be a whole number, is '{row}'")
    return Dropped(int(row), reason, values.get("column", ""), values.get("detail", ""), values.get("excerpt", ""))


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
