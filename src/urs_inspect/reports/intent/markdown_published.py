"""The paper's tables of scores as Markdown, to stand below measured ones."""

from urs_inspect.reports.intent.markdown_parts import LEGEND, MARKS, items, markdown_table
from urs_inspect.reports.intent.page.formats import mean_text
from urs_inspect.reports.published_urs import PUBLISHED_SCORES, UrsColumn, UrsTable, load_published_urs
from urs_inspect.texts import escaped

_LANGUAGES = {"en": "English", "zh": "Chinese"}


def published_markdown() -> list[str]:
    """Tables 4, 12 and 13 of the URS paper, as printed, with what must be said about them."""
    published = load_published_urs()
    caution = (
        f"**Published in the paper with its judge ({escaped(published.evaluator)}); not comparable row by row:** other "
        "models, another judge, other prompts and a part of the cases. They are here for the order of magnitude."
    )
    parts = ["## Published in the paper", caution]
    for table in map(published.table, PUBLISHED_SCORES):
        parts += [f"### Table {table.number}. {escaped(table.title)}", _table(table)]
        parts += [LEGEND] if table.marks else []
        parts += [items(table.notes)] if table.notes else []
    return parts


def _table(table: UrsTable) -> str:
    rows = [[escaped(name), *_numbers(table, name)] for name in table.rows]
    cases = ["" if column.cases is None else str(column.cases) for column in table.columns]
    header = ["Model", *map(_heading, table.columns)]
    return markdown_table(header, [["Cases", *cases], *rows] if any(cases) else rows)


def _heading(column: UrsColumn) -> str:
    return escaped(f"{column.name}, {_LANGUAGES[column.language]}" if column.language else column.name)


def _numbers(table: UrsTable, name: str) -> list[str]:
    numbers = table.rows[name]
    marks = table.marks.get(name, (0,) * len(numbers))
    return [MARKS.get(mark, "{}").format(mean_text(number)) for number, mark in zip(numbers, marks, strict=True)]
