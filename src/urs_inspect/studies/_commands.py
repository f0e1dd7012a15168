"""`urs-inspect paper`: the reports of the papers' side studies."""

from pathlib import Path

import click

from urs_inspect.cli._emit import check_output, command_line, emit, log_report_command, reading
from urs_inspect.cli._first_screen import Shown


@click.command()
@log_report_command("CSV, Markdown and JSON")
def addition(
    context: click.Context,
    logs: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    every: bool,
    only: str | None,
) -> None:
    """Report how long a chain models add up right, from LOGS of urs_addition (files or
    directories).

    Laid out as Table 7 of the URS paper, which follows: the longest chains of which 80% and more
    are right, and the accuracy over chains of 2 to 9 numbers. Models that were asked other chains,
    or in another language, have a table of their own.
    """
    from urs_inspect.studies._addition_report import ADDITION, report_addition

    check_output(output, ADDITION)
    with reading(logs):
        made = report_addition(logs, command=command_line(context))
    emit(made, output, Shown(every, only), as_json=as_json)


@click.command()
@log_report_command("CSV, Markdown and JSON")
def assistants(
    context: click.Context,
    logs: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    every: bool,
    only: str | None,
) -> None:
    """Compare models, search engines and translators in LOGS of urs_assistants (files or
    directories).

    Laid out as Tables 14 and 15 of the URS paper, which follow. Means are over the questions that
    all have a score for, beside how many each has and the outcomes of its other answers. Scores of
    other judges, prompts, references or data have a table of their own.
    """
    from urs_inspect.studies._assistants_report import ASSISTANTS, report_assistants

    check_output(output, ASSISTANTS)
    with reading(logs):
        made = report_assistants(logs, command=command_line(context))
    emit(made, output, Shown(every, only), as_json=as_json)


@click.group
def paper() -> None:
    """Reports of single studies of the papers, laid out as their tables."""


paper.add_command(addition)
paper.add_command(assistants)
