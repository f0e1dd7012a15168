"""Sections of lines and tables of text, for the terminal and for Markdown alike."""

from collections.abc import Iterable
from dataclasses import dataclass

from urs_inspect.texts import escaped


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Attributes:
        headings: Headings of the columns.
        rows: The rows.
        names: How many columns, from the left, hold names and not numbers.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes:
        title: Its title.
        level: 2 for a part, 3 for a part of a part.
        lines: What is said first.
        tables: The tables.
    """

    title: str
    level: int
    lines: tuple[str, ...] = ()
    tables: tuple[TextTable, ...] = ()


def sections_markdown(title: str, sections: Iterable[Section]) -> str:
    """A report to read, names from logs escaped.

    Args:
        title: Its title.
        sections: Its sections.
    """
    parts = [f"# {title}"]
    for section in sections:
        parts.append(f"{'#' * section.level} {escaped(section.title)}")
        if section.lines:
            parts.append("\n".join(f"- {escaped(line)}" for line in section.lines))
        parts += [_table(table) for table in section.tables]
    return "\n\n".join(parts) + "\n"


def _table(table: TextTable) -> str:
    rule = ["---" if place < table.names else "---:" for place in range(len(table.headings))]
    rows = [[escaped(cell) for cell in row] for row in (table.headings, *table.rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:]))
