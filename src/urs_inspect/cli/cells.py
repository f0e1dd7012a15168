"""Cells and notes that the tables of judges have in common."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from urs_inspect.reports import JudgeResult, RatingJudge

    Judges = Sequence[JudgeResult] | Sequence[RatingJudge]

NONE = "-"
PRICES_HELP = (
    "YAML or JSON file as for --model-cost-config of inspect eval, US dollars per million tokens: "
    "'openai/gpt-4o: {input: 2.5, output: 10, input_cache_write: 0, input_cache_read: 1.25}', one model per line."
)
_NAME = 12  # columns of the terminal that a name has at least
_PADDING = 2  # blanks beside a cell


def table_of(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    """A table whose columns of names fold, and whose columns of numbers are never cut or broken."""
    table = Table(title=title, title_justify="left")
    for heading in names:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def print_table(table: Table, console: Console) -> None:
    """Print a table from `table_of` as wide as the terminal.

    Where it is too narrow, names fold first, but not below a readable width; then numbers break at their blanks.
    """
    wanted = [max(_widths(column, str.splitlines)) for column in table.columns]
    numbers = [column.no_wrap for column in table.columns]
    least = [
        max(_widths(column, str.split)) if number else min(width, _NAME)
        for column, width, number in zip(table.columns, wanted, numbers, strict=True)
    ]
    room = console.width - len(wanted) - 1
    padding = _PADDING * len(wanted)
    if sum(wanted) + padding > room:
        if sum(least) + padding > room:
            table.padding, padding = 0, 0
        for column, width in zip(table.columns, _shared(least, wanted, numbers, room - padding), strict=True):
            column.no_wrap, column.overflow, column.width = False, "fold", width
    console.print(table)


def _shared(least: list[int], wanted: list[int], first: list[bool], room: int) -> list[int]:
    """Widths between the least and the wanted ones; what is left goes to the `first`, and to those who lack most."""
    widths = list(least)
    for _ in range(min(room, sum(wanted)) - sum(least)):
        lacking = [
            (want > width and wins, want - width) for want, width, wins in zip(wanted, widths, first, strict=True)
        ]
        widths[lacking.index(max(lacking))] += 1
    return widths


def _widths(column: Column, parts: Callable[[str], list[str]]) -> list[int]:
    """Widths of the parts of all cells of a column, heading included."""
    texts = [Text.from_markup(str(cell)).plain for cell in (column.header, *column.cells)]
    return [cell_len(part) for text in texts for part in parts(text)] or [1]


def p_value(value: float) -> str:
    """A p-value."""
    return NONE if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def rate(value: float, digits: int) -> str:
    """Dollars or seconds per 1,000."""
    return NONE if math.isnan(value) else f"{value:.{digits}f}"


def count(number: int, partial: bool, judged: int, of: int) -> str:
    """How many pairs or responses were judged; of how many, where others judged more."""
    return f"{judged} of {of}" if partial else str(number)


def heading(console: Console, dataset: str, sha256: str, simulated: bool) -> None:
    """Say which dataset the tables below are about."""
    console.print(f"\n[bold]Dataset:[/bold] {escape(dataset)} (sha256 {sha256[:12]})", highlight=False)
    if simulated:
        console.print("[bold red]SIMULATION[/bold red]: simulated judges; the numbers mean nothing.")


def effort_notes(judges: "Judges") -> str:
    """How cost and seconds come about, and of how many calls they are not known."""
    called = [judge for judge in judges if judge.effort.calls]
    lacking = {
        "cost": [(judge, judge.effort.without_cost) for judge in called if judge.effort.without_cost],
        "time": [(judge, judge.effort.without_seconds) for judge in called if judge.effort.without_seconds],
    }
    notes = ["Seconds are those of the calls, one after another."]
    for what, several in lacking.items():
        if some := [f"{judge.name} {n} of {judge.effort.calls}" for judge, n in several if n < judge.effort.calls]:
            notes.append(f"Calls without a known {what} are counted as the mean of the others: {', '.join(some)}.")
        if none := [judge.name for judge, n in several if n == judge.effort.calls]:
            notes.append(f"No call has a known {what}: {', '.join(none)}.")
    return " ".join(notes)
