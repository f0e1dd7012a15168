"""First screens, parts and tables of made-up reports on terminals of several widths, whole."""

import io
import itertools
from dataclasses import replace

import pandas as pd
import pytest
from rich.console import Console

from tests.reports.golden_files import check_golden
from urs_inspect._util import InputError
from urs_inspect.cli._first_screen import LINES, Shown, print_shown, screen_lines
from urs_inspect.cli._output import print_text_table
from urs_inspect.reports._texts import COMMAND, number
from urs_inspect.reports.layout._tables import (
    FirstScreen,
    Report,
    ReportKind,
    Section,
    Table,
    TextTable,
)

LONG = "A sentence of many words that takes two lines of a terminal, since it is as long as this."


def table(rows: int, columns: int = 2) -> Table:
    data = {
        "model": [f"p/model {place}" for place in range(rows)],
        **{f"column {place}": [place + row / 8 for row in range(rows)] for place in range(columns)},
    }
    formats = {f"column {place}": number(2) for place in range(columns)}
    return Table(pd.DataFrame(data), formats)


PLAIN = FirstScreen("p/model 1 is best.")
WHOLE = FirstScreen(
    claim="p/model 1 is best, by 0.5 points (0.2 to 0.8).",
    warnings=["A warning.", LONG],
    basis=["It rests on 42 questions.", LONG],
    table=table(4),
    findings=["One finding.", LONG],
    planning=["Forty more questions would do."],
    commands=[("Check the judge", "urs-inspect probe"), ("See all", "inspect view " + "x" * 60)],
    ways=["A way."],
)
SCREENS = {
    "a claim alone": PLAIN,
    "everything": WHOLE,
    "many warnings": replace(WHOLE, warnings=[f"Warning {n}." for n in range(9)]),
    "long warnings": replace(PLAIN, warnings=[LONG] * 4),
    "long warnings that are kept": replace(PLAIN, warnings=[LONG] * 5, kept=4),
    "one warning too many": replace(PLAIN, warnings=[f"Warning {n}." for n in range(6)]),
    "ten rows": replace(PLAIN, table=table(10)),
    "eleven rows": replace(PLAIN, table=table(11)),
    "many rows and sentences": replace(WHOLE, table=table(40), basis=[LONG] * 9),
    "many columns": replace(PLAIN, table=table(2, 14)),
    "one row": replace(WHOLE, table=table(1)),
    "many findings": replace(PLAIN, findings=[LONG] * 12, planning=["More questions."]),
    "a table without rows": replace(PLAIN, table=table(0)),
    "wide characters": FirstScreen("模型一最好，" * 20 + "\u202edone", ["警告"], table=table(2)),
}


def test_first_screens() -> None:
    parts = []
    for title, screen in SCREENS.items():
        for width in (60, 80):
            lines = screen_lines(screen, width, ["All tables: --all."])
            framed = "\n".join(line.rstrip() for line in lines)
            parts.append(f"## {title}, {width} columns\n\n```text\n{framed}\n```")
            if "kept" not in title and width == 80:
                assert len(lines) <= LINES + 1
    check_golden("screens", "\n\n".join(parts) + "\n")


SECTIONS = [
    Section("How sure is it?", ["Quite."]),
    Section("Runs [of 2026]", ["A warning.", f"{COMMAND}`urs-inspect x`."], [table(2)]),
    Section("The answers", ["A warning.", LONG], [table(0)], warnings=["A warning."]),
    Section("Warned", ["A warning."], warnings=["A warning."]),
    Section("Empty", [], [table(0)]),
    Section("2026", ["A year."]),
    Section("Runs again", [], [replace(table(1), title="A title", legend="A legend.")]),
]


def printed(report: Report, shown: Shown, width: int = 80, **more: object) -> str:
    """What is printed of a report."""
    file = io.StringIO()
    print_shown(report, Console(file=file, width=width), shown, **more)  # type: ignore[arg-type]
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_parts_of_a_report() -> None:
    report = Report(ReportKind("f", 1, "c", "s"), "Title", SECTIONS, first=WHOLE)
    bare = Report(ReportKind("f", 1, "c", "s"), "Title", SECTIONS[:1])
    outputs = {
        "first screen": printed(report, Shown(), more=["Written to here."]),
        "first screen, narrow": printed(report, Shown(), 50),
        "first screen, very wide": printed(report, Shown(), 300, everything="table --all"),
        "one part, no answer": printed(bare, Shown()),
        "all": printed(report, Shown(every=True), more=["Written to here."]),
        "only runs": printed(report, Shown(only="RUNS")),
        "only the second of a word": printed(report, Shown(only="again")),
    }
    parts = [f"## {title}\n\n```text\n{text}\n```" for title, text in outputs.items()]
    check_golden("screen_parts", "\n\n".join(parts) + "\n")
    with pytest.raises(InputError, match=r"only: no part 'x'; there are: sure, runs, answers"):
        printed(report, Shown(only="x"))


def test_tables_at_every_width() -> None:
    found = TextTable(
        ("model of some name", "mean score", "n", "share of all answers"),
        tuple(
            (name, f"{value:.2f} ({value - 0.25:.2f} to {value + 0.25:.2f})", "1,234", "99.5%")
            for name, value in (("provider/model-of-a-long-name", 7.5), ("b [x]", 6.25))
        ),
        1,
    )
    parts = []
    for width, title in itertools.product((100, 66, 52, 40), ("A title [1]",)):
        file = io.StringIO()
        print_text_table(found, Console(file=file, width=width), title)
        lines = [line.rstrip() for line in file.getvalue().splitlines()]
        parts.append("\n".join([f"## {width} columns\n", "```text", *lines, "```"]))
    check_golden("tables_by_width", "\n\n".join(parts) + "\n")
