"""Prints sections of lines and tables."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from urs_inspect.cli.cells import print_table, table_of

if TYPE_CHECKING:
    from urs_inspect.reports.sections import Section


def print_sections(sections: "Iterable[Section]", console: Console) -> None:
    """Print sections, their tables as wide as the terminal with nothing cut off."""
    for section in sections:
        console.print(f"\n[bold]{escape(section.title)}[/bold]", highlight=False)
        for line in section.lines:
            console.print(escape(line), highlight=False)
        for found in section.tables:
            headings = [escape(heading) for heading in found.headings]
            table = table_of("", headings[: found.names], headings[found.names :])
            for row in found.rows:
                table.add_row(*map(escape, row))
            print_table(table, console)
