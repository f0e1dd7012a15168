"""Tables of numbers with intervals, laid out for the width of the terminal."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape

from urs_inspect.cli.cells import print_table, table_of

_NAME = 12  # columns of the terminal that a name has at least
_BORDER = 3  # blanks beside a cell, and the line after it

Rows = Sequence[Sequence[str]]


def print_intervals(title: str, headings: Sequence[str], rows: Rows, console: Console) -> None:
    """Print a table whose first column holds names, the others numbers such as `0.83 (0.70 to 0.91)`.

    Where the terminal is too narrow, names fold; then intervals go below their numbers; then the columns that are too
    many stand in a table of their own below, with the names repeated. Nothing is cut.
    """
    room = console.width - 1
    if _least(headings, rows) > room:
        rows = [[name, *(cell.replace(" (", "\n(", 1) for cell in cells)] for name, *cells in rows]
    for chosen in _groups(headings, rows, room):
        table = table_of(title, [headings[0]], [headings[place] for place in chosen])
        for row in rows:
            table.add_row(escape(row[0]), *(row[place] for place in chosen))
        print_table(table, console)
        title = ""


def _groups(headings: Sequence[str], rows: Rows, room: int) -> list[list[int]]:
    """Places of the columns of numbers, table by table: as many as fit beside the names, at least one."""
    groups: list[list[int]] = [[]]
    for place in range(1, len(headings)):
        chosen = [0, *groups[-1], place]
        fits = _least([headings[one] for one in chosen], [[row[one] for one in chosen] for row in rows]) <= room
        if groups[-1] and not fits:
            groups.append([])
        groups[-1].append(place)
    return groups


def _least(headings: Sequence[str], rows: Rows) -> int:
    """Width of a table in which names fold as far as they may, headings at their blanks, and numbers do not."""
    names, *numbers = (
        max([cell_len(part) for text in column for part in text.splitlines()] + [cell_len(w) for w in heading.split()])
        for heading, *column in zip(headings, *rows, strict=True)
    )
    return sum([min(names, _NAME), *numbers]) + _BORDER * len(headings)
