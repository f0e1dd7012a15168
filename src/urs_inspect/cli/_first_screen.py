"""What a command prints: the answer on one screen, everything, or one part."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from rich.cells import cell_len
from rich.console import Console

from urs_inspect._util import InputError, counted, visible
from urs_inspect.cli._output import print_report

if TYPE_CHECKING:
    from urs_inspect.reports.layout._tables import FirstScreen, Report, Section, TextTable

LINES = 23
"""Lines of a screen of 24, less one for the shell."""
_WIDEST = 100
"""Columns beyond which sentences are hard to read."""
_MOST_ROWS = 10
_FEWEST_ROWS = 2
_WARNING_LINES = 5
_GAP = "  "
_UNTELLING = ("the", "where", "what", "how", "all", "every", "is", "are")
"""First words of titles that do not say what a part is about."""


@dataclass(frozen=True)
class Shown:
    """What of a report is printed: all of it, the parts of one name, or the first screen."""

    every: bool = False
    only: str | None = None


def shown_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--all` (as `every`) and `--only`, of which a command makes a `Shown`."""
    only = click.option(
        "--only",
        metavar="PART",
        help="Print the parts whose title has this in it; the first screen names them.",
    )
    every = click.option("--all", "every", is_flag=True, help="Print everything, not one screen.")
    return every(only(command))


def print_shown(
    report: "Report",
    console: Console,
    shown: Shown,
    more: Sequence[str] = (),
    everything: str = "--all",
) -> None:
    """Print what was asked for of a report.

    Args:
        report: The report.
        console: Where to.
        shown: What of it.
        more: Lines at the end, such as where the report was written.
        everything: How to have everything printed.

    Raises:
        InputError: If no part has the name that was asked for.
    """
    from urs_inspect.reports.layout._tables import first_screen

    if shown != Shown():
        sections = report.sections
        if shown.only is not None:
            sections = _parts_of(report, shown.only)
        print_report(replace(report, sections=sections), console)
        for line in more:
            console.print(f"\n{line}", highlight=False, markup=False, soft_wrap=True)
        return
    rest = f"All tables: {everything}."
    parts = _titles(report)
    if parts:
        rest += f" One part: --only {parts[0]}"
        rest += f" (or {', '.join(parts[1:])})." if parts[1:] else "."
    width = min(console.width, _WIDEST)
    ways = [*more, *_wrapped(rest, width)]
    print_screen(first_screen(report), console, ways)


def print_screen(screen: "FirstScreen", console: Console, ways: Sequence[str]) -> None:
    """Print an answer on one screen, and how to see the rest."""
    for line in screen_lines(screen, min(console.width, _WIDEST), ways):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _titles(report: "Report") -> list[str]:
    """A word of the title of each part, by which `--only` finds it."""
    names = []
    for section in report.sections:
        if section.warnings and len(section.warnings) == len(section.notes):
            continue  # on the first screen as well
        words = re.findall(r"\w[\w-]*", section.title.lower()) or [section.title]
        telling = (word for word in words if word not in _UNTELLING and not word.isdigit())
        names.append(next(telling, words[0]))
    return list(dict.fromkeys(names))


def _parts_of(report: "Report", name: str) -> "list[Section]":
    parts = [section for section in report.sections if name.lower() in section.title.lower()]
    if not parts:
        raise InputError(f"only: no part '{name}'; there are: {', '.join(_titles(report))}")
    return parts


def screen_lines(screen: "FirstScreen", width: int, ways: Sequence[str]) -> list[str]:
    """The lines of a first screen, at most `LINES` where the claim, warnings, commands and `ways`
    leave room for the table; sentences that do not fit are left out, rows are counted.

    Args:
        screen: The answer.
        width: Columns of the terminal.
        ways: Last lines: how to see the rest.
    """
    top, left = _fitting(screen.warnings, width, _WARNING_LINES, max(screen.kept, 1))
    if left:
        top.append(f"{counted(left, 'more warning')}: --all")
    if top:
        top.append("")
    top += _wrapped(screen.claim, width)
    end: list[str] = []
    for purpose, command in screen.commands:
        end += _command_lines(purpose, command, width)
    end += ways
    room = LINES - _height(top, width) - _height(end, width) - 2  # blank lines around the table
    kept = 2 if screen.findings else 0  # a blank line, and the count of those that do not fit
    room -= kept
    table = None if screen.table is None else screen.table.text()
    least = 0 if table is None else 3 + min(len(table.rows), _FEWEST_ROWS)
    lines, _ = _fitting(screen.basis, width, room - least)
    room -= len(lines)
    if table is not None:
        rows = _table_lines(table, width, room)
        room -= len(rows)
        lines += ["", *rows]
    room += kept - 1
    findings = _found_lines(screen.findings, width, room)
    findings += _fitting([*screen.planning, *screen.ways], width, room - len(findings))[0]
    if findings:
        lines += ["", *findings]
    return [*top, *lines, "", *end]


def _fitting(
    sentences: Sequence[str], width: int, room: int, kept: int = 0
) -> tuple[list[str], int]:
    """Lines of the sentences that fit, in their order, the first ones whatever room they take; and
    how many do not fit.
    """
    lines: list[str] = []
    left_out = 0
    for place, sentence in enumerate(sentences):
        wrapped = _wrapped(sentence, width)
        if place < kept or len(lines) + len(wrapped) <= room:
            lines += wrapped
        else:
            left_out += 1
    return lines, left_out


def _found_lines(findings: Sequence[str], width: int, room: int) -> list[str]:
    """The first findings, and a count of those that do not fit."""
    for shown in range(len(findings), -1, -1):
        lines, _ = _fitting(findings[:shown], width, LINES)
        if shown < len(findings):
            lines.append(f"{counted(len(findings) - shown, 'more finding')}: --all")
        if len(lines) <= room:
            return lines
    return []


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of a text that break between words only."""
    lines: list[str] = []
    line = ""
    for word in visible(text).split():
        longer = f"{line} {word}".strip()
        if line and cell_len(longer) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    if line:
        lines.append(line)
    return lines


def _command_lines(purpose: str, command: str, width: int) -> list[str]:
    """A command on the line of its purpose if it fits there, else on a line of its own."""
    line = f"{purpose}: {command}"
    if cell_len(line) <= width:
        return [line]
    return [*_wrapped(f"{purpose}:", width), f"{_GAP}{command}"]


def _height(lines: Sequence[str], width: int) -> int:
    """Lines of the screen that lines take, as a long command is continued on the next."""
    return sum(max(1, math.ceil(cell_len(line) / width)) for line in lines)


def _table_lines(table: "TextTable", width: int, room: int) -> list[str]:
    """A table without a frame, with as many of its columns and rows as fit."""
    columns = list(zip(table.headings, *table.rows, strict=True))
    widths = [max(map(cell_len, column)) for column in columns]
    while len(widths) > 1 and sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        widths.pop()
    notes = []
    most = max(_FEWEST_ROWS, min(_MOST_ROWS, room - 2))
    if len(table.rows) > most:
        notes.append(f"and {len(table.rows) - most:,} more")
    if left_out := table.headings[len(widths) :]:
        notes.append(f"not shown: {', '.join(left_out)}")
    lines = []
    for row in (table.headings, *table.rows[:most]):
        cells = []
        for place, wide in enumerate(widths):
            cells.append(_filled(row[place], wide, left=place < table.names))
        lines.append(_GAP.join(cells).rstrip())
    if notes:
        lines += _wrapped(f"({'; '.join(notes)})", width)
    return lines


def _filled(cell: str, width: int, *, left: bool) -> str:
    cell = visible(cell)
    blanks = " " * (width - cell_len(cell))
    if left:
        return cell + blanks
    return blanks + cell
