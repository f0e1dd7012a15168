"""A report of models and assistants as files: CSV for tables, Markdown for reading, JSON for programs."""

from collections.abc import Iterator
from pathlib import Path

from urs_inspect.reports.assistants.report import AssistantReport
from urs_inspect.reports.assistants.sections import SIMULATION, sections_of
from urs_inspect.reports.output_directory import ReportKind, report_json, write_directory
from urs_inspect.reports.plain_files import csv_text
from urs_inspect.reports.sections import Section, sections_markdown

ASSISTANTS = ReportKind(
    "urs-inspect assistants",
    1,
    "urs-inspect assistants",
    "assistants.json",
    ("assistants.csv", "assistants_differences.csv", "assistants.md"),
)
"""How these reports are told from other files."""

_BOUNDS = ("low", "high", "n")
_KEY = ("comparison", "cases", "judge")


def write_files(report: AssistantReport, directory: Path) -> tuple[Path, ...]:
    """Write the report; an earlier one is replaced.

    Raises:
        InputError: As from `write_directory`.
    """
    nothing = ("with_nothing", *[f"with_nothing_{name}" for name in _BOUNDS])
    scores = (*_KEY, "service", "mean", *_BOUNDS, *nothing, "questions", "scored", "became", "because")
    differences = (*_KEY, "first", "second", "difference", *_BOUNDS, "p", "p_holm", "apart")
    warning = [Section("Simulation", 2, (SIMULATION,))] if report.simulated else []
    contents = {
        "assistants.csv": csv_text(scores, _scores(report)),
        "assistants_differences.csv": csv_text(differences, _differences(report)),
        "assistants.md": sections_markdown("Models and assistants", [*warning, *sections_of(report)]),
        ASSISTANTS.json: report_json(ASSISTANTS, report),
    }
    return write_directory(directory, contents, ASSISTANTS)


_Rows = Iterator[tuple[object, ...]]


def _scores(report: AssistantReport) -> _Rows:
    for number, found in enumerate(report.comparisons, start=1):
        for one in found.services:
            became = ", ".join(f"{what} {count}" for what, count in one.became.items())
            yield (
                *(number, found.cases, ", ".join(found.conditions.judges), one.service),
                *(one.mean.value, one.mean.low, one.mean.high, one.mean.n),
                *(one.with_nothing.value, one.with_nothing.low, one.with_nothing.high, one.with_nothing.n),
                *(one.questions, one.scored, became, one.because),
            )


def _differences(report: AssistantReport) -> _Rows:
    for number, found in enumerate(report.comparisons, start=1):
        for one in found.differences:
            yield (
                *(number, found.cases, ", ".join(found.conditions.judges), one.first, one.second),
                *(one.difference.value, one.difference.low, one.difference.high, one.difference.n),
                *(one.p, one.p_holm, str(one.apart).lower()),
            )
