"""Published tables, shown as published."""

from urs_inspect.datasets.published import UrsColumn, load_published_urs
from urs_inspect.reports.output import Section, TextTable

NOT_COMPARABLE = "not comparable row by row"


def published_section(number: int, *, judged: bool) -> Section:
    """The table of that number (URS paper, as printed).

    Args:
        number: Its number.
        judged: Whether a judge gave its numbers.
    """
    published = load_published_urs()
    table = published.table(number)
    by = f"with its judge ({published.evaluator})" if judged else "with its own chains"
    rows = tuple(
        (name, *[_shown(value, column) for value, column in zip(numbers, table.columns, strict=True)])
        for name, numbers in table.rows.items()
    )
    headings = ("", *[_heading(column) for column in table.columns])
    return Section(
        f"Published in the paper {by}; {NOT_COMPARABLE}",
        3,
        (f"Table {table.number}. {table.title}.", *table.notes),
        (TextTable(headings, rows, 1),),
    )


def _heading(column: UrsColumn) -> str:
    return f"{column.name} %" if column.unit == "percent" else column.name


def _shown(value: float, column: UrsColumn) -> str:
    return f"{value:.2f}" if column.unit == "score" else f"{value:g}"
