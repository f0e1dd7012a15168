"""What a survey becomes: cases and dropped rows, and the files of both."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from urs_inspect._util import InputError, choices, write_new_file

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
class Survey:
    """Cases and dropped rows of a survey, both in the order of the file."""

    path: Path
    rows: int
    cases: tuple[SurveyCase, ...]
    dropped: tuple[Dropped, ...]
    respelt: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """Number of rows by column, label as written, and what it was taken for."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of dropped rows by reason, for those that occur."""
        numbers = Counter(dropped.reason for dropped in self.dropped)
        return {reason: numbers[reason] for reason in REASONS if numbers[reason]}


_DROPPED = ("line", "reason", "column", "detail", "excerpt")
_REMOVED = ("id", "faults")
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
        for name, value in optional.items():
            if value not in ("", []):
                columns[name] = value
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
    return _csv(_DROPPED, rows)


def _no_formula(cell: str) -> str:
    if cell.startswith(_FORMULA):
        return f"'{cell}"
    return cell


def shortened(text: str, most: int) -> str:
    """A text on one line, with an ellipsis in place of what is beyond the most characters."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    return f"{line[: most - 1]}…"


def removed_csv(removed: Mapping[str, Iterable[str]]) -> str:
    """The cases that a review removed, by id, and their faults as CSV."""
    rows = [[case, _SEPARATOR.join(faults)] for case, faults in removed.items()]
    return _csv(_REMOVED, rows)


def _csv(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def read_reports(paths: Iterable[Path]) -> tuple[list[str] | None, list[list[str]] | None]:
    """Read what `cases import` and `cases review` wrote with --report, each told by its columns.

    Returns:
        The reasons of rows that became no case, and the faults of each case that a review removed;
        None where no file has any.
    """
    reasons: list[str] | None = None
    faults: list[list[str]] | None = None
    given = {path.resolve(): path for path in paths}  # a file counts once
    for path in given.values():
        table = _table(path)
        if table.columns.isin(_REMOVED).sum() == len(_REMOVED):
            of_table = table["faults"].str.split(_SEPARATOR).tolist()
            faults = (faults or []) + of_table
        elif table.columns.isin(_DROPPED).sum() == len(_DROPPED):
            unknown = table.loc[~table["reason"].isin(REASONS), "reason"]
            for row, reason in unknown[:1].items():
                raise InputError(
                    f"{path}: line {row}: column 'reason': unknown reason '{reason}'; allowed:"
                    f" {choices(REASONS)}"
                )
            reasons = (reasons or []) + table["reason"].tolist()
        else:
            raise InputError(
                f"{path}: must be the .csv file that `cases import --report` wrote (columns"
                f" {choices(_DROPPED)}) or `cases review --report` ({choices(_REMOVED)})"
            )
    return reasons, faults


def _table(path: Path) -> pd.DataFrame:
    """A table of texts; the index counts lines from the first below the header, which is 2."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"report: cannot read '{path}' as .csv: {error}") from error
    table.index += 2
    return table
