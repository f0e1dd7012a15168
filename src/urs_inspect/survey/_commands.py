"""`urs-inspect cases`: import a survey, apply a review, make a datasheet."""

import json
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from urs_inspect._util import InputError, check_new_file, counted, write_new_file
from urs_inspect.cli._output import print_text_table, table_of
from urs_inspect.rubrics import load_rubric
from urs_inspect.survey._case_file import (
    AMBIGUOUS_INTENT,
    UNKNOWN_INTENT,
    Survey,
    dropped_csv,
    read_reports,
    removed_csv,
    shortened,
    write_cases,
)
from urs_inspect.survey._survey import read_mapping, read_survey

if TYPE_CHECKING:
    from urs_inspect.survey._review_report import ReviewedCase

_MAX_LABELS = 5
_MAX_SHOWN = 50
_MAX_QUESTION = 60
_PATH = click.Path(path_type=Path)


@click.group()
def cases() -> None:
    """Cases of your own: import a survey, take over a review, describe what is left."""


@cases.command()
@click.argument("dataset")
@click.option(
    "--report",
    "reports",
    type=_PATH,
    multiple=True,
    help=(
        "What `cases import --report` wrote, to count drops, or `cases review --report`, to count"
        " faults. May be repeated."
    ),
)
@click.option("--rubric", help="A rubric of your own, with intents or languages of your own.")
def datasheet(dataset: str, reports: tuple[Path, ...], rubric: str | None) -> None:
    """Describe DATASET (a .jsonl or .csv file of cases, urs, or sample) in Markdown.

    Counts of intents by language (URS paper, Table 2), the shortest questions as examples (Table
    3), services (Table 5), countries and lengths; with --report also what became no case, and why.
    """
    from urs_inspect.survey._datasheet import datasheet as datasheet_of

    click.echo(datasheet_of(dataset, load_rubric(rubric), *read_reports(reports)), nl=False)


@cases.command("import")
@click.argument("survey", type=_PATH)
@click.option("-o", "--output", required=True, type=_PATH, help="The .jsonl file to write.")
@click.option("--report", type=_PATH, help="A .csv file for the dropped rows, with reasons.")
@click.option(
    "--columns",
    type=_PATH,
    help=(
        "A YAML file: names of columns, meanings of labels, and what an attentive person has where."
    ),
)
@click.option(
    "--keep-flagged",
    is_flag=True,
    help="Keep questions with personal data, marked `personal_data`.",
)
@click.option(
    "--fix-spelling",
    is_flag=True,
    help="Take an unknown intent or language for the nearest known one.",
)
@click.option("--rubric", help="A rubric of your own, with intents or languages of your own.")
def import_(
    survey: Path,
    output: Path,
    report: Path | None,
    columns: Path | None,
    keep_flagged: bool,
    fix_spelling: bool,
    rubric: str | None,
) -> None:
    """Make cases of SURVEY, a CSV or JSON Lines file with one conversation per row.

    Columns: conversation (a list of messages, lines such as `User:` and `Assistant:`, or the
    question alone) and intent; optionally user, service, country, satisfaction, language, id and
    reference_ans. What becomes no case is counted here and listed with --report, by the line of the
    file that its row begins at; an id that the survey does not give counts rows. Nothing is sent
    anywhere, and who the user is goes into no file.

    The output serves as `-T dataset=`, and `cases datasheet` describes it. Cases without reference
    answers get them by the task urs_references.
    """
    check_new_file(output, ".jsonl", option="output")
    if report is not None:
        check_new_file(report, ".csv", option="report")
    imported = read_survey(
        survey,
        load_rubric(rubric),
        None if columns is None else read_mapping(columns),
        keep_flagged=keep_flagged,
        fix_spelling=fix_spelling,
    )
    if report is not None:
        write_new_file(report, dropped_csv(imported), "report")
    _print_survey(imported, report)
    if not imported.rows:
        raise InputError(f"{survey}: no rows")
    if not imported.cases:
        hint = "; --report FILE.csv lists why"
        if report:
            hint = ""
        raise InputError(f"{survey}: no row became a case{hint}")
    write_cases(output, imported.cases)
    _print_cases(imported, output)


def _print_cases(survey: Survey, output: Path) -> None:
    """Print where the cases are, and how many need a reference answer."""
    console = Console(soft_wrap=True, highlight=False)
    number = len(survey.cases)
    verb = "are"
    if number == 1:
        verb = "is"
    console.print(f"{counted(number, 'case')} {verb} in {escape(str(output))}.")
    without = sum(not case.reference for case in survey.cases)
    if without:
        console.print(
            f"Without a reference answer: {without}; `inspect eval urs_inspect/urs_references` asks"
            " a model for them, and `-T references=` takes its log."
        )


def _print_survey(survey: Survey, report: Path | None) -> None:
    """Print how many rows became cases, and why the others did not."""
    console = Console(soft_wrap=True, highlight=False)
    rows = {"cases": len(survey.cases)}
    for reason, number in survey.counts.items():
        rows[f"dropped: {reason}"] = number
    flagged = sum(bool(case.flags) for case in survey.cases)
    if flagged:
        rows["of the cases, kept with personal data"] = flagged
    title = f"{counted(survey.rows, 'row')} of {escape(str(survey.path))}"
    shown = [(name, f"{number:,}") for name, number in rows.items()]
    console.print(table_of(shown, "", "rows", title=title))
    if survey.dropped:
        where = "by --report FILE.csv"
        if report:
            where = f"in {escape(str(report))}"
        console.print(
            f"Each dropped row is listed with its reason {where}, by its line; ids count rows."
        )
    respelt = sorted(survey.respelt.items(), key=lambda item: (-item[1], item[0]))
    for (column, label, meant), number in respelt:
        console.print(f"{counted(number, 'row')}: {column} '{escape(label)}' taken for {meant}")
    _print_labels(survey, console)


def _print_labels(survey: Survey, console: Console) -> None:
    """Print labels that could not be used, and what helps."""
    reasons = (AMBIGUOUS_INTENT, UNKNOWN_INTENT)
    labels = Counter(row.detail for row in survey.dropped if row.reason in reasons)
    if not labels:
        return
    for detail, number in labels.most_common(_MAX_LABELS):
        console.print(f"{counted(number, 'row')}: {escape(detail)}")
    more = ""
    if len(labels) > _MAX_LABELS:
        more = f"{len(labels) - _MAX_LABELS} more labels; "
    console.print(
        f"{more}--columns FILE.yaml can say what a label means; --fix-spelling takes the"
        " nearest known one."
    )


@cases.command()
@click.argument("log")
@click.option("-o", "--output", required=True, type=_PATH, help="The .jsonl file to write.")
@click.option("--report", type=_PATH, help="A .csv file for the cases that did not pass.")
def review(log: str, output: Path, report: Path | None) -> None:
    """Write the cases that passed in LOG of urs_case_review, with all their columns, and list the
    others.

    A case without a review (the judge failed) does not pass; `inspect score` or `inspect
    eval-retry` reviews it again.
    """
    from urs_inspect.survey._review_report import UNSEEN, judges_of, read_case_reviews, rows_of

    check_new_file(output, ".jsonl")
    if report is not None:
        check_new_file(report, ".csv", option="report")
    skipped: list[str] = []
    reviewed, reviews = read_case_reviews(log, skipped)
    rows = rows_of(reviewed)
    unreached = [name for name in rows if name not in reviews]
    failed = {name: case for name, case in reviews.items() if not case.passed}
    if report is not None:
        removed = {name: case.faults for name, case in failed.items()}
        removed |= dict.fromkeys(unreached, (UNSEEN,))
        write_new_file(report, removed_csv(removed), "report")
    console = Console(soft_wrap=True, highlight=False)
    if reviewed.status != "success":
        skipped.append(
            f"The status of the run is '{reviewed.status}': cases that it did not reach are not"
            " written."
        )
    for sentence in skipped:
        console.print(sentence, markup=False)
    if len(failed) == len(reviews):
        raise InputError(f"no case of '{log}' passed")
    passed = reviews.keys() - failed.keys()
    kept = [json.dumps(row, ensure_ascii=False) for name, row in rows.items() if name in passed]
    write_new_file(output, "\n".join([*kept, ""]))
    judges = ", ".join(judges_of(reviewed)) or "not known"
    console.print(
        f"{len(passed)} of {counted(len(reviews), 'reviewed case')} passed; they are in {output}"
        f" (judge: {judges}).",
        markup=False,
    )
    if unreached:
        without = counted(len(unreached), "case")
        console.print(f"Of the data, {without} without a review: not written.")
    if failed:
        _print_failed(failed, console)


def _print_failed(failed: "dict[str, ReviewedCase]", console: Console) -> None:
    """Print the first cases that did not pass, and how often each fault occurs."""
    from urs_inspect.reports.layout._tables import TextTable

    lines = []
    for name, case in islice(failed.items(), _MAX_SHOWN):
        lines.append((name, ", ".join(case.faults), _excerpt(case)))
    table = TextTable(("case", "why", "question"), tuple(lines), 3)
    print_text_table(table, Console(), f"{len(failed):,} did not pass")
    if len(failed) > _MAX_SHOWN:
        console.print(f"... and {len(failed) - _MAX_SHOWN:,} more; --report FILE.csv lists all.")
    counts = Counter(chain.from_iterable(case.faults for case in failed.values()))
    console.print("; ".join(f"{fault}: {number}" for fault, number in counts.most_common()))


def _excerpt(case: "ReviewedCase") -> str:
    """The beginning of a question; empty for one that may hold personal data."""
    if "personal data" in case.faults:
        return ""
    return shortened(case.question, _MAX_QUESTION)
