"""`urs-inspect paper`: the reports of the papers' side studies."""

from typing import Any

import click

from urs_inspect.cli._reports import report_command


@report_command("studies._addition_report:ADDITION", None)
def addition(logs: tuple[str, ...], **options: Any) -> Any:
    """Report how long a chain models add up right, from LOGS of urs_addition (files or
    directories).

    Laid out as Table 7 of the URS paper, which follows: the longest chains of which 80% and more
    are right, and the accuracy over chains of 2 to 9 numbers. Models that were asked other chains,
    or in another language, have a table of their own.
    """
    from urs_inspect.studies._addition_report import report_addition

    return report_addition(logs, **options)


@report_command("studies._assistants_report:ASSISTANTS", 10_000)
def assistants(logs: tuple[str, ...], **options: Any) -> Any:
    """Compare models, search engines and translators in LOGS of urs_assistants (files or
    directories).

    Laid out as Tables 14 and 15 of the URS paper, which follow. Means are over the questions that
    all have a score for, beside how many each has and the outcomes of its other answers. Scores of
    other judges, prompts, references or data have a table of their own.
    """
    from urs_inspect.studies._assistants_report import report_assistants

    return report_assistants(logs, **options)


@click.group
def paper() -> None:
    """Reports of single studies of the papers, laid out as their tables."""


paper.add_command(addition)
paper.add_command(assistants)
