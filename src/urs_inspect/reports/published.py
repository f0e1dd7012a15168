"""Published tables, shown as published."""

import pandas as pd

from urs_inspect.datasets.published import load_published_urs
from urs_inspect.reports.tables import Section, Table

NOT_COMPARABLE = "not comparable row by row"


def published_section(number: int, *, judged: bool) -> Section:
    """The table of that number (URS paper, as printed); `judged` says whether a judge gave its numbers."""
    published = load_published_urs()
    table = published.table(number)
    by = f"with its judge ({published.evaluator})" if judged else "with its own chains"
    data = pd.DataFrame({"": list(table.rows)})
    for place, column in enumerate(table.columns):
        heading = f"{column.name} %" if column.unit == "percent" else column.name
        digits = ".2f" if column.unit == "score" else "g"
        data[heading] = [format(numbers[place], digits) for numbers in table.rows.values()]
    return Section(
        f"Published in the paper {by}; {NOT_COMPARABLE}",
        (f"Table {table.number}. {table.title}.", *table.notes),
        (Table(data, dict.fromkeys(data.columns[1:], str)),),
        level=3,
    )
