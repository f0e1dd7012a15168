"""Writes a report into a directory."""

from pathlib import Path

from urs_inspect.reports.intent.csv_tables import differences_csv, means_csv
from urs_inspect.reports.intent.markdown import report_markdown
from urs_inspect.reports.intent.page import render_page
from urs_inspect.reports.intent.report import IntentReport
from urs_inspect.reports.output_directory import ReportKind, check_directory, report_json, write_directory

INTENT_REPORT = ReportKind(
    "urs-inspect intent report",
    2,
    "urs-inspect report",
    "report.json",
    ("report.html", "leaderboard.csv", "differences.csv", "report.md"),
)
"""How these reports are told from other files."""


def write_report(report: IntentReport, directory: Path) -> tuple[Path, ...]:
    """Write a report as a page, CSV, Markdown and JSON.

    Args:
        report: The report.
        directory: Where to; it is made if it is not there.

    Returns:
        The files.

    Raises:
        InputError: As `write_directory`; or if matplotlib, which draws the figures, is missing, before anything is
            written.
    """
    check_directory(directory, INTENT_REPORT)  # drawing takes seconds
    texts = {
        "report.html": render_page(report),
        "leaderboard.csv": means_csv(report),
        "differences.csv": differences_csv(report),
        "report.md": report_markdown(report),
        INTENT_REPORT.json: report_json(INTENT_REPORT, report),
    }
    return write_directory(directory, texts, INTENT_REPORT)
