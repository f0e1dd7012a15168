"""Where a report is written, and how: directories, CSV, Markdown sections."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from urs_inspect._util import InputError, choices, escaped


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV; a number that is not known is an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def plain(value: Any) -> Any:
    """What JSON can hold of a value: dataclasses by their attributes, null for a number that is not known."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {"/".join(key) if isinstance(key, tuple) else str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def has_format(file: Path, name: str) -> bool:
    """Whether a file is the JSON file of a report of that format, which may then be replaced."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("format") == name


def _cell(value: object) -> object:
    return "" if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class ReportKind:
    """How reports of a kind are told from other files.

    Attributes:
        format: What the JSON file gives as its `format`.
        version: Its `schema_version`, raised when a key changes its name or meaning.
        command: The command that makes such reports.
        json: Name of the JSON file.
        others: Names of the other files, as glob patterns.
    """

    format: str
    version: int
    command: str
    json: str
    others: tuple[str, ...]


def check_directory(directory: Path, kind: ReportKind) -> None:
    """Make sure that a report may be written, before anything is computed.

    Files of an earlier report of the kind are replaced, and other files stay as they are.

    Raises:
        InputError: If the directory is a file, or holds files of the report's names that are not of a report.
    """
    if directory.exists() and not directory.is_dir():
        raise InputError(f"output: '{directory}' is a file; name a directory")
    there = [file.name for pattern in (*kind.others, kind.json) for file in sorted(directory.glob(pattern))]
    if there and not has_format(directory / kind.json, kind.format):
        raise InputError(
            f"output: '{directory}' holds {choices(there)}, and no {kind.json} that says they are of `{kind.command}`; "
            "name another directory, or move them"
        )


def write_directory(directory: Path, contents: Mapping[str, str | bytes], kind: ReportKind) -> tuple[Path, ...]:
    """Write the files of a report.

    Args:
        directory: Where to; it is made if it is not there.
        contents: Name -> content. What an earlier report has beside these names is removed, so that no figure of
            other numbers stands beside a new table.
        kind: The kind of report.

    Returns:
        The files, in the order of `contents`.

    Raises:
        InputError: As `check_directory`, or if the directory cannot be made or written to.
    """
    check_directory(directory, kind)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            # A log may hold halves of characters, which no file can.
            (directory / name).write_bytes(
                content if isinstance(content, bytes) else content.encode("utf-8", "replace")
            )
        for pattern in kind.others:
            for stale in directory.glob(pattern):
                if stale.name not in contents:
                    stale.unlink()
    except OSError as error:
        raise InputError(f"output: cannot write to '{directory}': {error.strerror or error}") from error
    return tuple(directory / name for name in contents)


def report_json(kind: ReportKind, report: object, **more: object) -> str:
    """The JSON file of a report, as text."""
    return json.dumps(report_dict(kind, report, **more), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def report_dict(kind: ReportKind, report: object, **more: object) -> dict[str, Any]:
    """What JSON can hold of a report.

    Args:
        kind: The kind of report.
        report: A dataclass.
        more: What is written behind it.

    Returns:
        `format` and `schema_version`, then the report's attributes by their names; what is not known is null.
    """
    return {"format": kind.format, "schema_version": kind.version, **plain(report), **plain(more)}


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Attributes:
        headings: Headings of the columns.
        rows: The rows.
        names: How many columns, from the left, hold names and not numbers.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes:
        title: Its title.
        level: 2 for a part, 3 for a part of a part.
        lines: What is said first.
        tables: The tables.
    """

    title: str
    level: int
    lines: tuple[str, ...] = ()
    tables: tuple[TextTable, ...] = ()


def sections_markdown(title: str, sections: Iterable[Section]) -> str:
    """A report to read, names from logs escaped.

    Args:
        title: Its title.
        sections: Its sections.
    """
    parts = [f"# {title}"]
    for section in sections:
        parts.append(f"{'#' * section.level} {escaped(section.title)}")
        if section.lines:
            parts.append("\n".join(f"- {escaped(line)}" for line in section.lines))
        parts += [_table(table) for table in section.tables]
    return "\n\n".join(parts) + "\n"


def _table(table: TextTable) -> str:
    rule = ["---" if place < table.names else "---:" for place in range(len(table.headings))]
    rows = [[escaped(cell) for cell in row] for row in (table.headings, *table.rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:]))
