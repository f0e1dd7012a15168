"""Published tables of the URS paper, shown as published."""

from collections.abc import Iterator, Sequence

import pandas as pd

from urs_inspect.datasets._published import PUBLISHED_SCORES, UrsTable, load_published_urs
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.rubrics import load_rubric

PUBLISHED_PAGE = "published.html"
NOT_COMPARABLE = "not comparable row by row"
_LANGUAGES = {"": "", "en": ", English", "zh": ", Chinese"}
_PLACES = ("", "¹", "²", "³")


def published_section(number: int, *, judged: bool) -> Section:
    """The table of that number (URS paper, as printed); `judged` says whether a judge gave its
    numbers.
    """
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


def published_sections() -> Iterator[Section]:
    """Scores and criteria of the paper, with what must be known to read them beside others."""
    published = load_published_urs()
    rubric = load_rubric()
    caution = (
        f"Published in the paper with its judge ({published.evaluator}); not comparable row by row:"
        " other models, another judge, other prompts and a part of the cases. They are here for"
        " the order of magnitude."
    )
    yield Section(
        "Published in the paper",
        [f"{published.source}.", caution],
        warnings=[caution],
        appendix=True,
        page=PUBLISHED_PAGE,
    )
    for table in map(published.table, PUBLISHED_SCORES):
        marks = ["¹ ² ³ mark the first, second and third of a column."] if table.marks else []
        yield _section(
            f"Table {table.number}. {table.title}", [*table.notes, *marks], _scores(table)
        )
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
    return Section(title, notes, [table], 3, appendix=True, page=PUBLISHED_PAGE)


def _scores(table: UrsTable) -> Table:
    headings = [
        f"{column.name}{_LANGUAGES[column.language]}"
        + (f" ({column.cases:,})" if column.cases else "")
        for column in table.columns
    ]
    none = (0,) * len(headings)
    rows = [
        (
            name,
            *(
                f"{score:.2f}{_PLACES[mark]}"
                for score, mark in zip(row, table.marks.get(name, none), strict=True)
            ),
        )
        for name, row in table.rows.items()
    ]
    return Table(pd.DataFrame(rows, columns=["Model", *headings]), dict.fromkeys(headings, str))
