"""Tables and sections on the terminal."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
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
        below = [
            [cell.replace(" (", "\n(", 1) for cell in row[found.names :]] for row in found.rows
        ]
        rows = [(*row[: found.names], *cells) for row, cells in zip(found.rows, below, strict=True)]
        found = replace(found, rows=tuple(rows))
    for part in _parts(found, room):
        headings = [escape(heading) for heading in part.headings]
        table = table_of(part.rows, *headings, text=range(part.names), title=escape(title))
        for column, width in zip(
            table.columns, _widths(part, room - _BORDER * len(headings)), strict=True
        ):
            column.no_wrap = False
            column.overflow = "fold"
            column.width = width
        console.print(table)
        title = ""


def _parts(found: "TextTable", room: int) -> Iterator["TextTable"]:
    """The table in as many as it takes, each with the names and as many columns of numbers as fit,
    at least one.
    """
    names = tuple(range(found.names))
    last = len(found.headings)
    chosen: list[int] = []
    for place in range(found.names, last):
        if chosen and _least(_of(found, (*names, *chosen, place))) > room:
            yield _of(found, (*names, *chosen))
            chosen = []
        chosen.append(place)
    yield _of(found, (*names, *chosen))


def _of(found: "TextTable", places: Sequence[int]) -> "TextTable":
    rows = tuple(tuple(row[place] for place in places) for row in found.rows)
    return replace(found, headings=tuple(found.headings[place] for place in places), rows=rows)


def _least(found: "TextTable") -> int:
    """Width of a table in which names and headings fold as far as they may, and numbers do not."""
    wanted = [min(width, _NAME) for width in _cells(found)[: found.names]]
    return sum([*wanted, *_numbers(found)]) + _BORDER * len(found.headings)


def _widths(found: "TextTable", room: int) -> list[int]:
    """Width of each column: first numbers, then names, then headings get what they want."""
    least = _numbers(found)
    headings = [cell_len(heading) for heading in found.headings]
    left = max(room - sum(least), found.names)
    names = _shared([1] * found.names, _wanted(_cells(found)[: found.names], headings), left)
    numbers = _shared(
        least, _wanted(least, headings[found.names :]), max(room - sum(names), sum(least))
    )
    return [*names, *numbers]


def _wanted(cells: Sequence[int], headings: Sequence[int]) -> list[int]:
    return [max(pair) for pair in zip(cells, headings, strict=False)]


def _numbers(found: "TextTable") -> list[int]:
    """Widths of the columns of numbers: as their numbers, and as the words of their headings up to
    that of a name.
    """
    words = [max(map(cell_len, heading.split()), default=1) for heading in found.headings]
    pairs = zip(_cells(found)[found.names :], words[found.names :], strict=True)
    return [max(width, min(word, _NAME)) for width, word in pairs]


def _cells(found: "TextTable") -> list[int]:
    """Width of the widest line of each column, headings aside."""
    columns = [[row[place] for row in found.rows] for place in range(len(found.headings))]
    return [
        max([1, *(cell_len(line) for cell in column for line in cell.splitlines())])
        for column in columns
    ]


def _shared(least: Sequence[int], wanted: Sequence[int], room: int) -> list[int]:
    """Widths between the least and the wanted ones.

    What is left goes to the narrowest that lack some.
    """
    widths = list(least)
    for _ in range(min(room, sum(wanted)) - sum(least)):
        lacking = [(width, place) for place, width in enumerate(widths) if width < wanted[place]]
        widths[min(lacking)[1]] += 1
    return widths


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
            style = "bold red" if note in section.warnings else ""
            whole = note.startswith(COMMAND)
            console.print(escape(visible(note)), highlight=False, style=style, soft_wrap=whole)
        for table, text in tables:
            print_text_table(text, console, table.title)
            if table.legend:
                console.print(escape(visible(table.legend)), highlight=False)
