"""Datasheet of cases in the tables of the URS paper (Tables 2, 3 and 5), as Markdown."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.datasets._cases import UrsData, load_urs
from urs_inspect.datasets._rows import READABLE, read_table
from urs_inspect.reports.layout._tables import Report, ReportKind, Section, Table
from urs_inspect.rubrics import Rubric
from urs_inspect.survey._case_file import REASONS, shortened
from urs_inspect.survey._vocabulary import vocabulary_of

_KIND = ReportKind("urs-inspect datasheet", 1, "urs-inspect cases datasheet", "datasheet")
_LONGEST_EXAMPLE = 160


def datasheet(
    dataset: str,
    rubric: Rubric,
    reasons: Sequence[str] | None = None,
    faults: Sequence[Sequence[str]] | None = None,
) -> str:
    """Describe cases, which need no references, as Markdown; what has no case is left out.

    Intents by language (Table 2), the shortest questions as examples (Table 3), services (Table 5),
    countries, lengths, the rows that the import dropped, by reason, and the cases that a review
    removed, by their faults, where these are known.
    """
    data = load_urs(dataset, vocabulary_of(rubric), need_references=False)
    cases = _table(data, dataset, rubric)
    number = counted(len(cases), "case")
    sections = [
        Section("Cases", [f"{number}; sha256 of the file {data.sha256}."]),
        _intents(cases),
        _examples(cases),
        _named(cases, "Service", "Services"),
        _named(cases, "Country", "Countries"),
        _lengths(cases),
    ]
    account = [number]
    accounted = len(cases)
    if reasons is not None:
        counts = pd.Series(reasons, dtype=object).value_counts()
        counts = counts.reindex([reason for reason in REASONS if reason in counts])
        title = "Rows of the survey that became no case"
        sections.append(_counts(title, "Reason", "Rows", counts, len(reasons)))
        account.append(f"{counted(len(reasons), 'row')} dropped by the import")
        accounted += len(reasons)
    if faults is not None:
        counts = _by_number(chain.from_iterable(faults))
        title = "Cases that the review took out"
        note = "A case may have several faults."
        sections.append(_counts(title, "Fault", "Cases", counts, len(faults), note))
        account.append(f"{counted(len(faults), 'case')} taken out by the review")
        accounted += len(faults)
    if len(account) > 1:
        rows = counted(accounted, "row")
        line = f"{', '.join(account)}: {rows} of the survey are accounted for."
        sections.append(Section("Rows of the survey", [line]))
    return Report(_KIND, f"Datasheet of {Path(data.name).name}", sections).markdown()


def _table(data: UrsData, dataset: str, rubric: Rubric) -> pd.DataFrame:
    """One row per case; groups and languages in the order of the rubric, empty where unknown."""
    services = [""] * len(data.cases)
    if dataset.lower().endswith(READABLE):
        rows, _ = read_table(Path(dataset).expanduser(), [])
        services = [str(row.values.get("service") or "") for row in rows]
    groups = {intent: known.group for intent, known in rubric.intents.items()}
    languages = {code: known.name for code, known in rubric.languages.items()}
    cases = pd.DataFrame(
        {
            "Intent": [groups[case.intent] for case in data.cases],
            "Language": [languages[case.language] for case in data.cases],
            "Question": [case.question for case in data.cases],
            "Service": [" ".join(service.split()) for service in services],
            "Country": [case.country for case in data.cases],
            "part": [case.intent for case in data.cases],
        }
    )
    orders = {"Intent": groups.values(), "Language": languages.values()}
    for column, order in orders.items():
        categories = list(dict.fromkeys(order))
        ordered = pd.Categorical(cases[column], categories, ordered=True)
        cases[column] = ordered.remove_unused_categories()
    return cases


def _intents(cases: pd.DataFrame) -> Section:
    """Cases by intent and language; a note for each intent that holds several, as API counts in
    Solve Problem.
    """
    notes = []
    for group, parts in cases.groupby("Intent", observed=True)["part"]:
        counts = parts.value_counts(sort=False)
        if len(counts) > 1:
            held = ", ".join(f"{number} of {intent}" for intent, number in counts.items())
            notes.append(f"{group} holds {held}.")
    table = pd.crosstab(cases["Intent"], cases["Language"], margins=True, margins_name="Total")
    total_first = table.loc[["Total", *table.index[:-1]]]
    return _section("Intents by language", total_first.reset_index(), notes)


def _examples(cases: pd.DataFrame) -> Section:
    kind = ["Intent", "Language"]
    length = cases["Question"].str.len()
    shortest_first = cases.assign(length=length).sort_values(["length", "Question"])
    shortest = shortest_first.drop_duplicates(kind).sort_values(kind)
    shortest["Question"] = [shortened(text, _LONGEST_EXAMPLE) for text in shortest["Question"]]
    title = "Examples, the shortest of each kind"
    return _section(title, shortest[[*kind, "Question"]])


def _named(cases: pd.DataFrame, column: str, title: str) -> Section:
    """How many cases of each language name each service, or country; the most frequent first."""
    named = cases[cases[column] != ""]
    if named.empty:
        return Section(title, [f"The cases do not say which {column.lower()} it was."])
    counts = pd.crosstab(named[column], named["Language"])
    counts["Total"] = counts.sum(axis=1)
    counts = counts.sort_values("Total", ascending=False, kind="stable")
    different = counted(len(counts), column.lower(), title.lower())
    without = counted(len(cases) - len(named), "case")
    note = f"{different} in all; {without} without one."
    return _section(title, counts.reset_index(), [note])


def _lengths(cases: pd.DataFrame) -> Section:
    lengths = cases["Question"].str.strip().str.len()
    by_language = lengths.groupby(cases["Language"], observed=True)
    table = by_language.agg(["mean", "median", "min", "max"]).round(1)
    table.columns = pd.Index(["Mean", "Median", "Shortest", "Longest"])
    return _section("Characters of questions", table.reset_index())


def _counts(
    title: str, heading: str, of: str, counts: "pd.Series[int]", total: int, *notes: str
) -> Section:
    """How often each thing occurs, and in how many rows or cases."""
    rows = [*counts.items(), ("all", total)]
    table = pd.DataFrame(rows, columns=[heading, of])
    return _section(title, table, notes)


def _by_number(names: Iterable[str]) -> "pd.Series[int]":
    """How often each name occurs, the most frequent first, those of equal number by name."""
    in_order = pd.Series(sorted(names), dtype=object)
    counts = in_order.value_counts(sort=False)
    return counts.sort_values(ascending=False, kind="stable")


def _section(title: str, table: pd.DataFrame, notes: Sequence[str] = ()) -> Section:
    numbers = map(str, table.select_dtypes("number"))
    shown = Table(table, dict.fromkeys(numbers, str))
    return Section(title, notes, [shown])
