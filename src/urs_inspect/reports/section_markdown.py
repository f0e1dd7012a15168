"""Sections of lines and tables as Markdown."""

from collections.abc import Iterable

from urs_inspect.reports.crossval.tables import Section, TextTable
from urs_inspect.reports.plain_files import escaped


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
