"""`urs-inspect cases review`: the cases that passed a review, as a file."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from urs_inspect.cli.cases.labels import check_new, vocabulary_of
from urs_inspect.cli.text_tables import print_text_table
from urs_inspect.errors import InputError

if TYPE_CHECKING:
    from urs_inspect.reports.case_reviews import ReviewedCase

_MAX_SHOWN = 50
_MAX_QUESTION = 60


@click.command()
@click.argument("log")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The .jsonl file to write.")
@click.option("--cases", "dataset", help="Where the reviewed cases are now, if not where they were.")
@click.option("--report", type=click.Path(path_type=Path), help="A .csv file for the cases that did not pass.")
@click.option("--rubric", help="The rubric of your own that the review had.")
def review(log: str, output: Path, dataset: str | None, report: Path | None, rubric: str | None) -> None:
    """Write the cases that passed in LOG of urs_case_review, with all their columns, and list the others.

    A case without a review (the judge failed) does not pass; `inspect score` or `inspect eval-retry` reviews it again.
    """
    from urs_inspect.datasets.survey.case_file import removed_csv
    from urs_inspect.datasets.survey.survey_case import Removed
    from urs_inspect.reports.case_reviews import UNSEEN, read_case_reviews, rows_of
    from urs_inspect.reports.sections import TextTable
    from urs_inspect.rubrics import load_rubric
    from urs_inspect.texts import counted

    check_new(output, ".jsonl", "output")
    if report is not None:
        check_new(report, ".csv", "report")
    left_out: list[str] = []
    found = read_case_reviews(log, left_out)
    rows = rows_of(found, dataset, vocabulary_of(load_rubric(rubric)))
    others = [case for case in found.cases if not case.passed]
    unseen = [name for name in rows if name not in {case.id for case in found.cases}]
    if report is not None:
        removed = [*(Removed(one.id, one.faults) for one in others), *(Removed(name, (UNSEEN,)) for name in unseen)]
        report.write_text(removed_csv(removed), encoding="utf-8")
    console = Console(soft_wrap=True, highlight=False)
    for sentence in left_out:
        console.print(sentence, markup=False)
    if found.status != "success":
        console.print(f"The status of the run is '{found.status}': cases that it did not reach are not written.")
    if not found.passed:
        raise InputError(f"no case of '{log}' passed")
    with output.open("x", encoding="utf-8", newline="\n") as file:
        file.writelines(
            json.dumps(row, ensure_ascii=False) + "\n" for name, row in rows.items() if name in found.passed
        )
    console.print(
        f"{len(found.passed)} of {counted(len(found.cases), 'reviewed case')} passed; they are in "
        f"{escape(str(output))} (judge: {escape(', '.join(found.judges)) or 'not known'})."
    )
    if unseen:
        console.print(f"Of the data, {counted(len(unseen), 'case')} without a review: not written.")
    if others:
        lines = tuple((one.id, ", ".join(one.faults), _shown(one)) for one in others[:_MAX_SHOWN])
        print_text_table(TextTable(("case", "why", "question"), lines, 3), Console(), f"{len(others):,} did not pass")
        if len(others) > _MAX_SHOWN:
            console.print(f"... and {len(others) - _MAX_SHOWN:,} more; --report FILE.csv lists all.")
        counts = Counter(fault for one in others for fault in one.faults)
        console.print("; ".join(f"{fault}: {number}" for fault, number in counts.most_common()))


def _shown(one: "ReviewedCase") -> str:
    """The beginning of a question; what may be personal is not shown once more."""
    text = "" if "personal data" in one.faults else " ".join(one.question.split())
    return text if len(text) <= _MAX_QUESTION else f"{text[: _MAX_QUESTION - 1]}…"
