"""Writes a report into a directory."""

import json
from pathlib import Path

from urs_inspect.errors import InputError, choices
from urs_inspect.reports.intent.csv_tables import differences_csv, means_csv
from urs_inspect.reports.intent.markdown import report_markdown
from urs_inspect.reports.intent.page import render_page
from urs_inspect.reports.intent.report import IntentReport
from urs_inspect.reports.intent.report_dict import FORMAT, report_dict

PAGE, MEANS, DIFFERENCES, MARKDOWN, JSON = (
    "report.html",
    "leaderboard.csv",
    "differences.csv",
    "report.md",
    "report.json",
)
FILES = (PAGE, MEANS, DIFFERENCES, MARKDOWN, JSON)


def check_directory(directory: Path) -> None:
    """Make sure that a report may be written, before anything is computed.

    Files of an earlier report are replaced, and other files stay as they are; files of the same names that are not of a
    report are nobody's to overwrite.

    Raises:
        InputError: If the directory is a file, or holds such files.
    """
    if directory.exists() and not directory.is_dir():
        raise InputError(f"output: '{directory}' is a file; name a directory")
    there = [name for name in FILES if (directory / name).exists()]
    if there and not _is_report(directory / JSON):
        raise InputError(
            f"output: '{directory}' holds {choices(there)}, and no {JSON} that says they are of a report; name another "
            "directory, or move them"
        )


def write_report(report: IntentReport, directory: Path) -> tuple[Path, ...]:
    """Write a report as a page, CSV, Markdown and JSON.

    Args:
        report: The report.
        directory: Where to; it is made if it is not there.

    Returns:
        The files.

    Raises:
        InputError: As `check_directory`; if matplotlib, which draws the figures, is missing, before anything is
            written; or if the files cannot be written.
    """
    check_directory(directory)
    texts = {
        JSON: json.dumps(report_dict(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
        MEANS: means_csv(report),
        DIFFERENCES: differences_csv(report),
        MARKDOWN: report_markdown(report),
        PAGE: render_page(report),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            # A log may hold halves of characters, which no file can.
            (directory / name).write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise InputError(f"output: cannot write to '{directory}': {error}") from error
    return tuple(directory / name for name in FILES)


def _is_report(file: Path) -> bool:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT
