"""The directory that a report is written into: nothing of somebody else's is overwritten there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urs_inspect.errors import InputError, choices
from urs_inspect.reports.plain_files import has_format, plain


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
