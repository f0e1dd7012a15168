"""The answer of a report, as short as a screen of 80 x 24: what a terminal shows, and the first
block of the page, of Markdown and of a gate's summary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from urs_inspect.reports._texts import COMMAND

if TYPE_CHECKING:
    from urs_inspect.reports.layout._tables import Report, Section, Table

SIMULATED_SCREEN = "SIMULATED: rules answered or judged, not language models. Scores mean nothing."
LEFT_OUT = ("Left out", "Skipped")
"""Titles of sections that say what does not count, and why."""
_MOST_NOTES = 4
_MOST_REASONS = 2


@dataclass(frozen=True)
class FirstScreen:
    """The answer of a report.

    Attributes:
        claim: What was found, with its size and how sure it is.
        warnings: What must be known before the claim is believed.
        basis: What the claim rests on, one sentence each.
        table: One row per model, the most important columns first.
        findings: What else was found, one sentence each, the most important first.
        commands: What a next command does, and the command.
        ways: Where a terminal shows more; not on a page, which has it all.
        rest: Of the first findings, the line that stands for one and all later ones where a
            terminal has no room for them; not on a page.
        kept: How many of the warnings, the first, are shown whatever room they take.
    """

    claim: str
    warnings: Sequence[str] = ()
    basis: Sequence[str] = ()
    table: "Table | None" = None
    findings: Sequence[str] = ()
    commands: Sequence[tuple[str, str]] = ()
    ways: Sequence[str] = ()
    rest: Sequence[str] = ()
    kept: int = 0

    @property
    def notes(self) -> Iterator[str]:
        """All sentences of a page in order, and the commands."""
        simulated = [warning for warning in self.warnings if warning.startswith("SIMULAT")]
        yield from simulated  # a page has it at its top
        yield self.claim
        for warning in self.warnings:
            if warning not in simulated:
                yield warning
        yield from self.basis
        yield from self.findings
        for purpose, command in self.commands:
            yield f"{purpose}, {COMMAND}`{command}`"


def first_screen(report: "Report") -> FirstScreen:
    """The answer of a report: its own, or the start of its first section; with what was left out
    among the warnings.
    """
    screen = report.first or _start_of_report(report)
    return replace(screen, warnings=[*screen.warnings, *_left_out(report)])


def _left_out(report: "Report") -> list[str]:
    """What was left out of a report, the first few in words."""
    reasons: list[str] = []
    for section in report.sections:
        if section.title in LEFT_OUT:
            reasons += section.notes
            name = section.title.partition(" ")[0].lower()
    if len(reasons) <= _MOST_REASONS:
        return reasons
    return [f"{len(reasons)} remarks on logs that were left out: --only {name}."]


def _start_of_report(report: "Report") -> FirstScreen:
    from urs_inspect.reports.layout._tables import SIMULATION

    warnings: list[str] = []
    for section in report.sections:
        if SIMULATION in section.notes:
            warnings.append(SIMULATED_SCREEN)
        elif section.warnings and list(section.warnings) == list(section.notes):
            warnings += section.warnings
        elif section.notes or any(map(_has_rows, section.tables)):
            return _start_of(section, warnings)
    return FirstScreen(report.title, warnings)


def _start_of(section: "Section", warnings: Sequence[str]) -> FirstScreen:
    claim, *basis = [*section.notes, section.title] if not section.notes else section.notes
    more = [warning for warning in section.warnings if warning != claim]
    basis = [note for note in basis if note not in more]
    table = next(filter(_has_rows, section.tables), None)
    return FirstScreen(claim, [*warnings, *more], basis[:_MOST_NOTES], table)


def _has_rows(table: "Table") -> bool:
    text = table.text()
    return bool(text.headings and text.rows)
