"""Published tables of the URS paper, shown as published."""

from collections.abc import Iterator, Sequence

import pandas as pd

from urs_inspect.datasets._published import PUBLISHED_SCORES, PublishedUrs, UrsTable
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.rubrics import Rubric

PUBLISHED_PAGE = "published.html"
NOT_COMPARABLE = "not comparable row by row"
_LANGUAGES = {"": "", "en": ", English", "zh": ", Chinese"}
_PLACES = ("", "¹", "²", "³")


def published_section(published: PublishedUrs, number: int, *, judged: bool) -> Section:
    """The table of that number (URS paper, as printed); `judged` says whether a judge gave its
    numbers.
    """
    table = published.table(number)
    by = "with its own chains"
    if judged:
        by = f"with its judge ({published.evaluator})"
    return Section(
        f"Published in the paper {by}; {NOT_COMPARABLE}",
        (f"Table {table.number}. {table.title}.", *table.notes),
        (_numbers(table),),
        level=3,
    )


def published_sections(published: PublishedUrs, rubric: Rubric) -> Iterator[Section]:
    """Scores and criteria of the paper, with what must be known to read them beside others.

    `rubric` is that of URS, which says what the criteria mean.
    """
    caution = (
        f"Published in the paper with its judge ({published.evaluator}); not comparable row by row:"
        " other models, another judge, other prompts and a part of the cases. They are here for"
        " the order of magnitude."
    )
    yield Section(
        "Published in the paper",
        [f"{published.source}.", caution],
        warnings=[caution],
        page=PUBLISHED_PAGE,
    )
    for table in map(published.table, PUBLISHED_SCORES):
        marks = []
        if table.marks:
            marks = ["¹ ² ³ mark the first, second and third of a column."]
        title = f"Table {table.number}. {table.title}"
        yield _section(title, [*table.notes, *marks], _numbers(table))
    criteria = [(intent, ", ".join(names)) for intent, names in published.criteria.intents.items()]
    frame = pd.DataFrame(criteria, columns=["Intent", "Criteria, in the order of the paper"])
    title = f"Table {published.criteria.number}. {published.criteria.title}"
    yield _section(title, published.criteria.notes, Table(frame))
    texts = [
        (criterion["en"].name, criterion["en"].definition) for criterion in rubric.criteria.values()
    ]
    note = (
        f"The words are those of this package's rubric {rubric.name} {rubric.version}, which its"
        " judges read."
    )
    definitions = Table(pd.DataFrame(texts, columns=["Criterion", "Definition"]))
    yield _section("Table 8. What the criteria mean", [note], definitions)


def _section(title: str, notes: Sequence[str], table: Table) -> Section:
    return Section(title, notes, [table], 3, page=PUBLISHED_PAGE)


def _numbers(table: UrsTable) -> Table:
    """A table as printed, with the marks of its best models."""
    data = pd.DataFrame({"Model or service": list(table.rows)})
    for place, column in enumerate(table.columns):
        heading = column.name + _LANGUAGES[column.language]
        if column.unit == "percent":
            heading += " %"
        if column.cases:
            heading += f" ({column.cases:,})"
        digits = "g"
        if column.unit == "score":
            digits = ".2f"
        cells = []
        for name, numbers in table.rows.items():
            mark = 0
            if name in table.marks:
                mark = table.marks[name][place]
            cells.append(f"{numbers[place]:{digits}}{_PLACES[mark]}")
        data[heading] = cells
    return Table(data, dict.fromkeys(data.columns[1:], str))
