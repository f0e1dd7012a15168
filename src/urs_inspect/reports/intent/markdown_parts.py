"""What the Markdown of a report is made of, and the paper's tables of scores, to stand below measured ones."""

import re
from collections.abc import Iterable, Sequence

from urs_inspect.reports.intent.page.formats import mean_text
from urs_inspect.reports.published_urs import PUBLISHED_SCORES, UrsColumn, UrsTable, load_published_urs
from urs_inspect.texts import escaped

_MARKS = {1: "\\*{}", 2: "**{}**", 3: "<u>{}</u>"}
"""How the best three of a column are marked in Table 4 of the URS paper."""
_LEGEND = "The first of a column is marked \\*, the second is **bold**, the third <u>underlined</u>."
_LANGUAGES = {"en": "English", "zh": "Chinese"}
_COMMAND, _CODE = re.compile(r"\\`((?:urs-inspect|inspect)(?: [a-z-]+)+)\\`"), r"`\1`"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """A table of cells that are Markdown already; `left` are the columns that hold no numbers."""
    rule = ["---" if number in left else "---:" for number in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def items(sentences: Iterable[str]) -> str:
    """Sentences as a list, escaped but for commands that they name."""
    return "\n".join(f"- {_COMMAND.sub(_CODE, escaped(sentence))}" for sentence in sentences)


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
        parts += [_LEGEND] if table.marks else []
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
    return [_MARKS.get(mark, "{}").format(mean_text(number)) for number, mark in zip(numbers, marks, strict=True)]
