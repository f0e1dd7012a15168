"""A report of additions as files: CSV for tables, Markdown for reading, JSON for programs."""

from collections.abc import Iterator
from pathlib import Path

from urs_inspect.rating import MeanInterval
from urs_inspect.reports.addition.report import AdditionReport
from urs_inspect.reports.addition.sections import SIMULATION, sections_of
from urs_inspect.reports.output_directory import ReportKind, report_json, write_directory
from urs_inspect.reports.plain_files import csv_text
from urs_inspect.reports.sections import Section, sections_markdown

ADDITION = ReportKind(
    "urs-inspect addition",
    1,
    "urs-inspect addition",
    "addition.json",
    ("addition.csv", "addition_lengths.csv", "addition.md"),
)
"""How these reports are told from other files."""

_BOUNDS = ("low", "high", "chains")
_Rows = Iterator[tuple[object, ...]]


def write_files(report: AdditionReport, directory: Path) -> tuple[Path, ...]:
    """Write the report; an earlier one is replaced.

    Raises:
        InputError: As from `write_directory`.
    """
    outcomes = sorted({what for table in report.tables for one in table.models for what in one.outcomes})
    to_ten = ("accuracy_to_ten", *[f"accuracy_to_ten_{name}" for name in _BOUNDS])
    at_longest = ("at_longest", *[f"at_longest_{name}" for name in _BOUNDS])
    results = (
        *("table", "model", "longest", "unbroken", *at_longest, "accuracy", *_BOUNDS, *to_ten),
        *("epochs", "unscored", *outcomes),
    )
    lengths = ("table", "model", "summands", "accuracy", *_BOUNDS)
    warning = [Section("Simulation", 2, (SIMULATION,))] if report.simulated else []
    contents = {
        "addition.csv": csv_text(results, _results(report, outcomes)),
        "addition_lengths.csv": csv_text(lengths, _lengths(report)),
        "addition.md": sections_markdown("Addition", [*warning, *sections_of(report)]),
        ADDITION.json: report_json(ADDITION, report),
    }
    return write_directory(directory, contents, ADDITION)


def _results(report: AdditionReport, outcomes: list[str]) -> _Rows:
    for number, table in enumerate(report.tables, start=1):
        for one in table.models:
            counts = [one.outcomes.get(what, 0) for what in outcomes]
            found = (*_numbers(one.at_longest), *_numbers(one.accuracy), *_numbers(one.accuracy_to_ten))
            yield (number, one.model, one.longest, one.unbroken, *found, one.epochs, one.unscored, *counts)


def _lengths(report: AdditionReport) -> _Rows:
    for number, table in enumerate(report.tables, start=1):
        for one in table.models:
            for length, found in one.by_length.items():
                yield (number, one.model, length, *_numbers(found))


def _numbers(found: MeanInterval) -> tuple[float, float, float, int]:
    return found.mean, found.low, found.high, found.n
