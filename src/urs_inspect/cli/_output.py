"""Tables and sections on the terminal."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from urs_inspect._util import visible

if TYPE_CHECKING:
    from urs_inspect.reports.layout._tables import Report, TextTable

PRICES_HELP = (
    "YAML or JSON file as for --model-cost-config of inspect eval, US dollars per million tokens:"
    " 'openai/gpt-4o: {input: 2.5, output: 10, input_cache_write: 0, input_cache_read: 1.25}', one"
    " model per line."
)
_NAME = 12  # columns of the terminal that a name has at least
_BORDER = 3  # blanks beside a cell, and the line after it


def progress_bar(console: Console | None = None, *, transient: bool = False) -> Progress:
    """A bar with the number of items that are done and the time that is left.

    It goes at its end if `transient`.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=transient
    )


def table_of(
    rows: Iterable[Sequence[str]], *headings: str, text: Collection[int] = (0,), title: str = ""
) -> Table:
    """A table whose columns at `text` fold; the others are numbers, which are never cut or
    broken.
    """
    table = Table(title=title, title_justify="left")
    for place, heading in enumerate(headings):
        if place in text:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(escape(visible(cell)) for cell in row))
    return table


def print_text_table(found: "TextTable", console: Console, title: str = "") -> None:
    """Print a table.

    Where the terminal is too narrow, names and headings fold; then intervals such as `0.83 (0.70 to
    0.91)` go below their numbers; then the columns that are too many stand in a table of their own
    below, with the names repeated. No number is broken and nothing is cut.
    """
    room = console.width - 1
    if _least(found) > room:
        headings = ["\n".join(wrap(heading, _NAME)) for heading in found.headings]
        found = replace(found, headings=tuple(headings))
    if _least(found) > room:
        rows = []
        for row in found.rows:
            numbers = [cell.replace(" (", "\n(", 1) for cell in row[found.names :]]
            rows.append((*row[: found.names], *numbers))
        found = replace(found, rows=tuple(rows))
    for part in _parts(found, room):
        headings = [escape(heading) for heading in part.headings]
        table = table_of(part.rows, *headings, text=range(part.names), title=escape(title))
        console.print(table)
        title = ""


def _parts(found: "TextTable", room: int) -> Iterator["TextTable"]:
    """The table in as many as it takes, each with the names and as many columns of numbers as fit,
    at least one.
    """
    names = tuple(range(found.names))
    chosen: list[int] = []
    for place in range(found.names, len(found.headings)):
        if chosen and _least(_of(found, (*names, *chosen, place))) > room:
            yield _of(found, (*names, *chosen))
            chosen = []
        chosen.append(place)
    yield _of(found, (*names, *chosen))


def _of(found: "TextTable", places: Sequence[int]) -> "TextTable":
    rows = tuple(tuple(row[place] for place in places) for row in found.rows)
    return replace(found, headings=tuple(found.headings[place] for place in places), rows=rows)


def _least(found: "TextTable") -> int:
    """Width of a table in which names fold as far as they may, and numbers do not."""
    width = _BORDER * len(found.headings)
    for place, column in enumerate(zip(found.headings, *found.rows, strict=True)):
        widest = max(cell_len(line) for cell in column for line in cell.split("\n"))
        width += min(widest, _NAME) if place < found.names else widest
    return width


def print_report(report: "Report", console: Console) -> None:
    """Print the sections of a report, their tables as wide as the terminal with nothing cut off."""
    from urs_inspect.reports._texts import COMMAND

    for section in report.sections:
        tables = [
            (table, text)
            for table in section.tables
            if (text := table.text()).headings and text.rows
        ]
        if section.tables and not tables and not section.notes:
            continue
        console.print(f"\n[bold]{escape(section.title)}[/bold]", highlight=False)
        for note in section.notes:
            style = ""
            if note in section.warnings:
                style = "bold red"
            whole = note.startswith(COMMAND)
            console.print(escape(visible(note)), highlight=False, style=style, soft_wrap=whole)
        for table, text in tables:
            print_text_table(text, console, table.title)
            if table.legend:
                console.print(escape(visible(table.legend)), highlight=False)
