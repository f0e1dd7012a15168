"""CSV and JSON of dataclasses, for reports that are not yet `reports.tables.Report`s."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from urs_inspect.reports import tables
from urs_inspect.reports.tables import (
    ReportKind,
    TextTable,
    check_directory,
    plain,
    write_directory,
)

__all__ = ["ReportKind", "TextTable", "check_directory", "plain", "write_directory"]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV; a number that is not known is an empty cell."""
    return tables.csv_text(pd.DataFrame([tuple(row) for row in rows], columns=list(header), dtype=object))


def report_json(kind: ReportKind, report: object, **more: object) -> str:
    """The JSON file of a report, as text."""
    return json.dumps(report_dict(kind, report, **more), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def report_dict(kind: ReportKind, report: object, **more: object) -> dict[str, Any]:
    """`format` and `schema_version`, then the attributes of a report by their names; what is not known is null."""
    return {"format": kind.format, "schema_version": kind.version, **plain(report), **plain(more)}
