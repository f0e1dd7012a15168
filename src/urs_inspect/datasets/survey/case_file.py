"""The files that an import leaves: the cases, and the rows that became none."""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from urs_inspect.datasets.rows import read_table
from urs_inspect.datasets.survey.survey_case import REASONS, Dropped, Removed, Survey, SurveyCase
from urs_inspect.errors import InputError, choices

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
