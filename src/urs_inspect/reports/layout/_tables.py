"""A report: its answer on one screen, and sections of notes and tables.

A table is a data frame; text, CSV, JSON and Markdown are all made from it.

Every report of the package is a `Report`, so that numbers are formatted, escaped and written in one
place.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, check_folder, choices, escaped, writing
from urs_inspect.reports._texts import COMMAND, DASH, Format
from urs_inspect.stats import Estimate

if TYPE_CHECKING:
    from urs_inspect.reports.layout._figures import Figure


@dataclass(frozen=True)
class TextTable:
    """A table as text cells; the first `names` columns hold names, the others numbers."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int
    marked: frozenset[tuple[int, int]] = frozenset()  # row and column of the cells that stand out


@dataclass(frozen=True)
class Table:
    """A data frame, and how it is shown.

    A cell may be an `Estimate`: text shows the value with its interval; CSV and JSON have the
    columns `<column>`, `<column>_low`, `<column>_high` and `<column>_n`.

    Attributes:
        data: The table: one row per thing reported, of any columns.
        formats: Column -> how its numbers are written, for the columns of numbers, which are
            aligned to the right.
        name: Name of the CSV file and of the table in JSON; tables of one name are written one
            below the other, those without a name only shown.
        headings: Column -> its heading, where that is not the column's name.
        shown: The columns that text shows, names before numbers; None for all.
        main: The column of estimates whose bounds are called `low`, `high` and `n` in CSV, without
            a prefix.
        title: Title above the table.
        estimates: Other columns of estimates that have columns of bounds even if no row has an
            estimate.
        size: What `n` is called in CSV.
        marked: Row, from 0, and column of the cells that stand out.
        bars: Columns of estimates that a page draws beside the numbers, on one axis.
        relative: Whether a page shades numbers by their place between those of their column.
        legend: How to read the table, below it.
        links: Row, from 0, and column -> address that a cell of a page links to.

    Examples:
        >>> import pandas as pd
        >>> from urs_inspect.reports import Table, number
        >>> data = pd.DataFrame({"model": ["a", "b"], "score": [7.5, 6.25]})
        >>> Table(data, {"score": number(2)}).text().rows
        (('a', '7.50'), ('b', '6.25'))
    """

    data: pd.DataFrame
    formats: Mapping[str, Format] = field(default_factory=dict)
    name: str = ""
    headings: Mapping[str, str] = field(default_factory=dict)
    shown: Sequence[str] | None = None
    main: str = ""
    title: str = ""
    estimates: Sequence[str] = ()
    size: str = "n"
    marked: Collection[tuple[int, str]] = ()
    bars: Sequence[str] = ()
    relative: bool = False
    legend: str = ""
    links: Mapping[tuple[int, str], str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns that text shows."""
        if self.shown is None:
            return [str(column) for column in self.data]
        return list(self.shown)

    def text(self) -> TextTable:
        """The table as text cells.

        Returns:
            Headings and rows of the shown columns, each cell written by the format of its column.
        """
        columns = self.columns
        formats = [self.formats.get(column, _as_text) for column in columns]
        values = [self.data[column] for column in columns]
        texts = []
        for show, cells in zip(formats, values, strict=True):
            texts.append(map(show, cells))
        rows = tuple(zip(*texts, strict=True))
        numbers = (place for place, column in enumerate(columns) if column in self.formats)
        names = next(numbers, len(columns))
        marked = frozenset((row, columns.index(column)) for row, column in self.marked)
        headings = tuple(self.headings.get(column, column) for column in columns)
        return TextTable(headings, rows, names, marked)

    def flat(self) -> pd.DataFrame:
        """The table with one number or text per cell; estimates take four columns.

        Returns:
            The table, with all columns of `data`.
        """
        columns: dict[str, Any] = {}
        for column, values in self.data.items():
            name = str(column)
            cells = list(values)
            columns[name] = cells
            is_named = name in (self.main, *self.estimates)
            if is_named or any(isinstance(cell, Estimate) for cell in cells):
                prefix = "" if name == self.main else f"{name}_"
                columns[name] = [_part(cell, "value") for cell in cells]
                parts = {"low": "low", "high": "high", self.size: "n"}
                columns |= {
                    f"{prefix}{key}": [_part(cell, part) for cell in cells]
                    for key, part in parts.items()
                }
        return pd.DataFrame(columns, index=self.data.index, dtype=object)


def _as_text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return DASH
    return str(value)


def _part(cell: Any, part: str) -> Any:
    if isinstance(cell, Estimate):
        return getattr(cell, part)
    if part == "value":
        return cell
    return None


@dataclass(frozen=True)
class Excerpt:
    """An answer in short."""

    score: str
    about: str  # what kind of question it answers
    question: str
    answer: str = ""  # empty if the texts were not read
    criteria: str = ""  # the scores by criterion
    reason: str = ""  # the judge's, in short; empty if the texts were not read
    link: str = ""  # to the whole answer, relative to the page


@dataclass(frozen=True)
class Card:
    """A line about a model that a page opens to some of its answers."""

    title: str
    line: str
    answers: Mapping[str, Sequence[Excerpt]]  # heading -> answers
    link: str = ""  # to all answers, relative to the page
    hint: str = ""  # how to have them, where there is no link


@dataclass(frozen=True)
class Section:
    """A part of a report: a title, notes of one sentence each, and tables.

    Attributes:
        title: Its title.
        notes: Its notes, one sentence each.
        tables: Its tables; one without rows is not shown.
        level: Level of its heading: 2, or 3 for a part of a part.
        warnings: Those of the notes that stand out.
        figures: Figures of a page.
        cards: Models of a page, each of which opens to some of its answers.
        folded: Whether a page shows the title only, until it is opened.
        page: File name of the page of its own that it is on; empty if it is on the report's.
    """

    title: str
    notes: Sequence[str] = ()
    tables: Sequence[Table] = ()
    level: int = 2
    warnings: Sequence[str] = ()
    figures: Sequence["Figure"] = ()
    cards: Sequence[Card] = ()
    folded: bool = False
    page: str = ""


SIMULATION = (
    "SIMULATION: models and judges whose names begin with `urs_simulation/` are simulated; no score"
    " of them or by them means anything."
)


def simulation_section(simulated: bool) -> list[Section]:
    """The section that comes first where a model or judge is a simulation."""
    if simulated:
        return [Section("Simulation", (SIMULATION,), warnings=(SIMULATION,))]
    return []


@dataclass(frozen=True)
class ReportKind:
    """A kind of report, and the files it consists of.

    Attributes:
        format: The `format` that its JSON file states.
        version: The `schema_version` of the JSON file, raised when a key changes its name or
            meaning.
        command: The command that makes such reports.
        stem: Name of the JSON and the Markdown file, without the suffix.
        more: Names of files beside these two and the tables, as glob patterns.
    """

    format: str
    version: int
    command: str
    stem: str
    more: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def json(self) -> str:
        """Name of the JSON file."""
        return f"{self.stem}.json"

    @property
    def others(self) -> tuple[str, ...]:
        """Names of all other files but tables, as glob patterns."""
        return (f"{self.stem}.md", *self.more)


@dataclass(frozen=True)
class Report:
    """Sections, figures, and facts for programs.

    Attributes:
        kind: What kind of report this is.
        title: Its title.
        sections: What it says, in order.
        facts: What its JSON file has beside the tables.
        figures: File name -> content, or a function that draws it when it is written.
        first: Its answer on one screen; None if that is the start of its first section.
        cards: Makes the models of a page, below the answer.
        appendix: Makes the sections that only files have, at their end.

    Examples:
        >>> import pandas as pd
        >>> from urs_inspect.reports import Report, ReportKind, Section, Table
        >>> table = Table(pd.DataFrame({"model": ["a"], "score": [7.25]}), name="means")
        >>> kind = ReportKind("my-report", 1, "my-command", "report")
        >>> report = Report(kind, "My report", [Section("Means", ["One model."], [table])])
        >>> report.as_dict()["tables"]
        {'means': [{'model': 'a', 'score': 7.25}]}
    """

    kind: ReportKind
    title: str
    sections: Sequence[Section]
    facts: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, bytes | str | Callable[[], bytes | str]] = field(default_factory=dict)
    first: "FirstScreen | None" = None
    cards: Callable[[], Sequence[Card]] = tuple
    appendix: Callable[[], Sequence[Section]] = tuple

    @cached_property
    def read(self) -> "list[Section]":
        """The sections of a page and of Markdown: the answer of the first screen comes first."""
        sections = [*self.sections, *self.appendix()]
        if self.first is None:
            return sections
        start = Section(
            "In short",
            list(self.first.notes),
            [] if self.first.table is None else [self.first.table],
            warnings=self.first.warnings,
            cards=self.cards(),
        )
        return [start, *sections]

    def markdown(self) -> str:
        """The report to read; all text is escaped, as names may come from logs.

        Returns:
            The text of the Markdown file.
        """
        parts = [f"# {self.title}"]
        for section in self.read:
            parts.append(f"{'#' * section.level} {escaped(section.title)}")
            if section.notes:
                parts.append("\n".join(f"- {escaped(note)}" for note in section.notes))
            for table in filter(_has_rows, section.tables):
                if table.title:
                    parts.append(f"**{escaped(table.title)}**")
                parts.append(markdown_table(table.text()))
                if table.legend:
                    parts.append(escaped(table.legend))
        return "\n\n".join(parts) + "\n"

    def tables(self) -> dict[str, pd.DataFrame]:
        """Name -> table with one number or text per cell.

        Returns:
            The tables that have a name, those of one name as one.
        """
        found: dict[str, list[pd.DataFrame]] = {}
        for section in self.sections:
            for table in section.tables:
                if table.name:
                    parts = found.setdefault(table.name, [])
                    parts.append(table.flat())
        return {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}

    def as_dict(self) -> dict[str, Any]:
        """What the JSON file holds: `format`, `schema_version`, facts, and the rows of all tables.

        Returns:
            Values that JSON has; unknown is None.
        """
        rows = {}
        for name, table in self.tables().items():
            records = table.to_dict(orient="records")
            rows[name] = plain(records)
        return {
            "format": self.kind.format,
            "schema_version": self.kind.version,
            **plain(self.facts),
            "tables": rows,
        }

    def json(self) -> str:
        """The JSON file.

        Returns:
            Its text.
        """
        facts = self.as_dict()
        return json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    def check(self, directory: Path) -> None:
        """Refuse a directory to which the report cannot be written.

        Args:
            directory: Where to.

        Raises:
            InputError: If it is a file, or holds files of the report's names, those of its tables
                among them, that no earlier report of the kind has written.
        """
        check_directory(directory, self.kind, [f"{name}.csv" for name in self.tables()])

    def write(
        self, directory: Path, more: Mapping[str, Callable[[], bytes | str]] | None = None
    ) -> tuple[Path, ...]:
        """Write Markdown, JSON, one CSV file per named table, and figures.

        Files of an earlier report of the kind are replaced or removed; other files stay as they
        are.

        Args:
            directory: Where to; it is made if it is not there.
            more: Further files, such as a page: name -> function that makes it.

        Returns:
            The files, `more` first.

        Raises:
            InputError: As `check_directory`, or if the directory cannot be made or written to.
        """
        contents: dict[str, bytes | str] = {}
        for name, make in (more or {}).items():
            contents[name] = make()
        contents[f"{self.kind.stem}.md"] = self.markdown()
        for name, table in self.tables().items():
            contents[f"{name}.csv"] = csv_text(table)
        for name, figure in self.figures.items():
            contents[name] = figure() if callable(figure) else figure
        contents[self.kind.json] = self.json()
        return write_directory(directory, contents, self.kind)


def markdown_table(table: TextTable) -> str:
    """A table in Markdown, with numbers aligned to the right."""
    numbers = len(table.headings) - table.names
    rule = ["---"] * table.names + ["---:"] * numbers
    rows = [[escaped(cell) for cell in row] for row in table.rows]
    for row, column in table.marked:
        rows[row][column] = f"**{rows[row][column]}**"
    header = [escaped(heading) for heading in table.headings]
    lines = []
    for cells in (header, rule, *rows):
        line = " | ".join(cells)
        lines.append(f"| {line} |")
    return "\n".join(lines)


def csv_text(table: pd.DataFrame) -> str:
    """A data frame as CSV; an unknown number is an empty cell, and what holds or not is `true` or
    `false`.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.itertuples(index=False, name=None):
        writer.writerow(map(_cell, row))
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return value


def plain(value: Any) -> Any:
    """What JSON can hold of a value: dataclasses by their attributes, null for an unknown
    number.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = {part.name: getattr(value, part.name) for part in fields(value)}
    if isinstance(value, Mapping):
        entries = {}
        for key, inner in value.items():
            name = "/".join(key) if isinstance(key, tuple) else str(key)
            entries[name] = plain(inner)
        return entries
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_directory(directory: Path, kind: ReportKind, names: Iterable[str] = ()) -> None:
    """Refuse a file, and a directory with files of the report's names that are not of such a
    report; `names` are those that only the report knows, as those of its tables.
    """
    if directory.is_file():
        raise InputError(f"output: '{directory}' is a file; name a directory")
    check_folder(directory, make=True)
    there = [name for name in names if (directory / name).exists()]
    earlier = _earlier(directory, kind)
    if earlier is None:
        for pattern in (*kind.others, kind.json):
            there += [file.name for file in sorted(directory.glob(pattern))]
    else:
        tables = _tables_of(earlier)
        there = [name for name in there if name.endswith(".csv") and name not in tables]
    if there:
        raise InputError(
            f"output: '{directory}' holds {choices(list(dict.fromkeys(there)))}, and no"
            f" {kind.json} that says they are of `{kind.command}`; name another directory, or move"
            " them"
        )


def _earlier(directory: Path, kind: ReportKind) -> dict[str, Any] | None:
    """The JSON file of an earlier report of the kind; None without one."""
    try:
        text = (directory / kind.json).read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    if isinstance(found, dict) and found.get("format") == kind.format:
        return found
    return None


def _tables_of(earlier: Mapping[str, Any]) -> frozenset[str]:
    """Names of the CSV files that a report has by its JSON file."""
    tables = earlier.get("tables")
    if not isinstance(tables, dict):
        return frozenset()
    return frozenset(f"{name}.csv" for name in tables)


def _earlier_files(directory: Path, kind: ReportKind) -> list[Path]:
    """Files of an earlier report of the kind that are there, but its JSON file."""
    files = []
    for pattern in kind.others:
        files += sorted(directory.glob(pattern))
    tables = _tables_of(_earlier(directory, kind) or {})
    for file in sorted(directory.glob("*.csv")):
        if file.name in tables and file.is_file():
            files.append(file)
    return files


def write_directory(
    directory: Path, contents: Mapping[str, str | bytes], kind: ReportKind
) -> tuple[Path, ...]:
    """Write the files of a report, and remove what an earlier one has beside them.

    Which tables an earlier one had, its JSON file says.
    """
    check_directory(directory, kind, contents)
    earlier = _earlier_files(directory, kind)
    fresh = not directory.exists()
    new = [directory / name for name in contents if not (directory / name).exists()]
    with writing(directory):
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for name, content in contents.items():
                # A log may hold lone surrogates, which UTF-8 cannot encode.
                data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
                (directory / name).write_bytes(data)
        except OSError:
            for path in new:
                path.unlink(missing_ok=True)
            if fresh and directory.exists():
                directory.rmdir()
            raise
        for file in earlier:
            if file.name not in contents:
                file.unlink()
    return tuple(directory / name for name in contents)


# --- the answer on one screen ---

SIMULATED_SCREEN = "SIMULATED: rules answered or judged, not language models. Scores mean nothing."
LEFT_OUT = ("Left out", "Skipped")
"""Titles of sections that say what does not count, and why."""
_MOST_NOTES = 4
_MOST_REASONS = 2


@dataclass(frozen=True)
class FirstScreen:
    """The answer of a report.

    Attributes:
        claim: What was found, with its size and how sure it is.
        warnings: What must be known before the claim is believed.
        basis: What the claim rests on, one sentence each.
        table: One row per model, the most important columns first.
        findings: What else was found, one sentence each, the most important first.
        planning: What more questions would tell; on a terminal where there is room.
        commands: What a next command does, and the command.
        ways: Where a terminal shows more; not on a page, which has it all.
        kept: How many of the warnings, the first, are shown whatever room they take.
    """

    claim: str
    warnings: Sequence[str] = ()
    basis: Sequence[str] = ()
    table: Table | None = None
    findings: Sequence[str] = ()
    planning: Sequence[str] = ()
    commands: Sequence[tuple[str, str]] = ()
    ways: Sequence[str] = ()
    kept: int = 0

    @property
    def notes(self) -> Iterator[str]:
        """All sentences of a page in order, and the commands."""
        simulated = [warning for warning in self.warnings if warning.startswith("SIMULAT")]
        yield from simulated  # a page has it at its top
        yield self.claim
        for warning in self.warnings:
            if warning not in simulated:
                yield warning
        yield from self.basis
        yield from self.findings
        yield from self.planning
        for purpose, command in self.commands:
            yield f"{purpose}, {COMMAND}`{command}`"


def first_screen(report: Report) -> FirstScreen:
    """The answer of a report: its own, or the start of its first section; with what was left out
    among the warnings.
    """
    screen = report.first or _start_of_report(report)
    return replace(screen, warnings=[*screen.warnings, *_left_out(report)])


def _left_out(report: Report) -> list[str]:
    """What was left out of a report, the first few in words."""
    reasons: list[str] = []
    for section in report.sections:
        if section.title in LEFT_OUT:
            reasons += section.notes
            name = section.title.partition(" ")[0].lower()
    if len(reasons) <= _MOST_REASONS:
        return reasons
    return [f"{len(reasons)} remarks on logs that were left out: --only {name}."]


def _start_of_report(report: Report) -> FirstScreen:
    warnings: list[str] = []
    for section in report.sections:
        if SIMULATION in section.notes:
            warnings.append(SIMULATED_SCREEN)
        elif section.warnings and list(section.warnings) == list(section.notes):
            warnings += section.warnings
        elif section.notes or any(map(_has_rows, section.tables)):
            return _start_of(section, warnings)
    return FirstScreen(report.title, warnings)


def _start_of(section: Section, warnings: Sequence[str]) -> FirstScreen:
    claim, *basis = section.notes or [section.title]
    more = [warning for warning in section.warnings if warning != claim]
    basis = [note for note in basis if note not in more]
    table = next(filter(_has_rows, section.tables), None)
    return FirstScreen(claim, [*warnings, *more], basis[:_MOST_NOTES], table)


def _has_rows(table: Table) -> bool:
    return bool(table.columns) and not table.data.empty
