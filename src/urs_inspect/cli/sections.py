"""Prints sections of lines and tables."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from urs_inspect.cli.text_tables import print_text_table

if TYPE_CHECKING:
    from urs_inspect.reports.sections import Section


def print_sections(sections: "Iterable[Section]", console: Console, warnings: Collection[str] = ()) -> None:
    """Print sections, their tables as wide as the terminal with nothing cut off.

    Args:
        sections: The sections.
        console: Where to.
        warnings: Lines that stand out where a section has them.
    """
    for section in sections:
        console.print(f"\n[bold]{escape(section.title)}[/bold]", highlight=False)
        for line in section.lines:
            console.print(escape(line), highlight=False, style="bold red" if line in warnings else "")
        for found in section.tables:
            print_text_table(found, console)
