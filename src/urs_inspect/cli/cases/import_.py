"""`urs-inspect cases import`: a survey of conversations becomes cases."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect.cli.cases.labels import check_new, groups_of, languages_of, vocabulary_of
from urs_inspect.errors import InputError, choices

if TYPE_CHECKING:
    from urs_inspect.datasets.survey import Survey


_MAX_LABELS = 5


@click.command("import")
@click.argument("survey", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The .jsonl file to write.")
@click.option("--report", type=click.Path(path_type=Path), help="A .csv file for the dropped rows, with reasons.")
@click.option("--datasheet", type=click.Path(path_type=Path), help="A .md file that describes the cases.")
@click.option("--columns", type=click.Path(path_type=Path), help="A YAML file: names of columns, meanings of labels.")
@click.option(
    "--language", default="auto", show_default=True, help="Language of all questions; auto: column or script."
)
@click.option(
    "--near", type=click.FloatRange(0.5, 1), default=0.85, show_default=True, help="Similarity of near-duplicates."
)
@click.option("--attention", multiple=True, metavar="COLUMN=VALUE", help="What an attentive person has there.")
@click.option("--keep-flagged", is_flag=True, help="Keep questions with personal data, marked `personal_data`.")
@click.option("--fix-spelling", is_flag=True, help="Take an unknown intent or language for the nearest known one.")
@click.option(
    "--solve-problem",
    metavar="INTENT",
    help="What the label Solve Problem means: api or solve_professional_problem; without it such rows are dropped.",
)
@click.option("--rubric", help="A rubric of your own, with intents or languages of your own.")
def import_(
    survey: Path,
    output: Path,
    report: Path | None,
    datasheet: Path | None,
    columns: Path | None,
    language: str,
    near: float,
    attention: tuple[str, ...],
    keep_flagged: bool,
    fix_spelling: bool,
    solve_problem: str | None,
    rubric: str | None,
) -> None:
    """Make cases of SURVEY, a CSV or JSON Lines file with a conversation a row.

    Columns: conversation (a list of messages, lines such as `User:` and `Assistant:`, or the question alone) and
    intent; optionally user, service, country, satisfaction, language, id and reference_ans. What becomes no case is
    counted here and listed with --report, by the line of the file that its row begins at; an id that the survey does
    not give counts rows. Nothing is sent anywhere, and who the user is goes into no file.

    The output serves as `-T dataset=`. Cases without reference answers get them by the task urs_references.
    """
    from urs_inspect.datasets.survey import Choices, Mapped, read_mapping, read_survey
    from urs_inspect.datasets.survey.case_file import dropped_csv, write_cases
    from urs_inspect.datasets.survey.datasheet import datasheet as described_as
    from urs_inspect.datasets.survey.datasheet import read_described
    from urs_inspect.rubrics import load_rubric
    from urs_inspect.texts import counted

    for path, suffix, option in (
        (output, ".jsonl", "output"),
        (report, ".csv", "report"),
        (datasheet, ".md", "datasheet"),
    ):
        if path is not None:
            check_new(path, suffix, option)
    loaded = load_rubric(rubric)
    vocabulary = vocabulary_of(loaded, solve_problem)
    found = read_survey(
        survey,
        vocabulary,
        Choices(
            mapped=Mapped() if columns is None else read_mapping(columns),
            language=None if language == "auto" else _language(vocabulary.language, language),
            near=near,
            attention=_attention(attention),
            keep_flagged=keep_flagged,
            fix_spelling=fix_spelling,
        ),
    )
    if report is not None:
        report.write_text(dropped_csv(found), encoding="utf-8")
    _print(found, report)
    if not found.rows:
        raise InputError(f"{survey}: no rows")
    if not found.cases:
        raise InputError(f"{survey}: no row became a case" + ("" if report else "; --report FILE.csv lists why"))
    write_cases(output, found.cases)
    console = Console(soft_wrap=True, highlight=False)
    number = len(found.cases)
    console.print(f"{counted(number, 'case')} {'is' if number == 1 else 'are'} in {escape(str(output))}.")
    if without := sum(not case.reference for case in found.cases):
        console.print(
            f"Without a reference answer: {without}; `inspect eval urs_inspect/urs_references` asks a model for them, "
            "and `-T references=` takes its log."
        )
    if datasheet is not None:
        described = read_described(str(output), vocabulary, groups_of(loaded), languages_of(loaded))
        datasheet.write_text(described_as(described, found.dropped), encoding="utf-8")
        console.print(f"What they are about is described in {escape(str(datasheet))}.")


def _language(find: Callable[[str], str], language: str) -> str:
    try:
        return find(language)
    except InputError as error:
        raise InputError(f"language: {error} (or auto)") from error


def _attention(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    for column, sign, value in pairs:
        if not column.strip() or not sign or not value.strip():
            raise InputError(f"attention: must be COLUMN=VALUE, got '{column}{sign}{value}'")
    if twice := [column for column, _, _ in pairs if sum(one[0] == column for one in pairs) > 1]:
        raise InputError(f"attention: {choices(dict.fromkeys(twice))} is named twice")
    return {column.strip(): value.strip() for column, _, value in pairs}


def _print(found: "Survey", report: Path | None) -> None:
    from urs_inspect.datasets.survey.survey_case import AMBIGUOUS_INTENT, UNKNOWN_INTENT
    from urs_inspect.texts import counted

    table = Table(title=f"{counted(found.rows, 'row')} of {escape(found.path)}", title_justify="left")
    table.add_column("")
    table.add_column("rows", justify="right")
    table.add_row("cases", f"{len(found.cases):,}")
    for reason, number in found.counts.items():
        table.add_row(f"dropped: {reason}", f"{number:,}")
    if flagged := sum(bool(case.flags) for case in found.cases):
        table.add_row("of the cases, kept with personal data", f"{flagged:,}")
    console = Console(soft_wrap=True, highlight=False)
    console.print(table)
    if found.dropped:
        where = f"in {escape(str(report))}" if report else "by --report FILE.csv"
        console.print(f"Each dropped row is listed with its reason {where}, by its line; ids count rows.")
    for (column, label, meant), number in sorted(found.respelt.items(), key=lambda one: (-one[1], one[0])):
        console.print(f"{counted(number, 'row')}: {column} '{escape(label)}' taken for {meant}")
    labels = Counter(one.detail for one in found.dropped if one.reason in (AMBIGUOUS_INTENT, UNKNOWN_INTENT))
    for detail, number in labels.most_common(_MAX_LABELS):
        console.print(f"{counted(number, 'row')}: {escape(detail)}")
    if labels:
        more = f"{len(labels) - _MAX_LABELS} more labels; " if len(labels) > _MAX_LABELS else ""
        console.print(
            f"{more}--columns FILE.yaml can say what a label means; --fix-spelling takes the nearest known one"
            + ("; --solve-problem INTENT decides on Solve Problem." if found.counts.get(AMBIGUOUS_INTENT) else ".")
        )
