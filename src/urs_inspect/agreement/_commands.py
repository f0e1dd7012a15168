"""`urs-inspect agreement`: scores of a judge beside what people say."""

from pathlib import Path
from typing import Any

import click

from urs_inspect._util import InputError
from urs_inspect.cli._emit import check_output, command_line, emit, log_report_command, reading
from urs_inspect.cli._first_screen import Shown
from urs_inspect.cli._reports import parse_scale

_FILE = click.Path(path_type=Path)


@click.command()
@click.option(
    "--human",
    type=_FILE,
    help=(
        "Ratings of answers: .csv or .jsonl with id, model, rating[, rater, epoch], or what"
        " `annotate` saved."
    ),
)
@click.option(
    "--satisfaction",
    type=_FILE,
    help="Satisfaction: .csv or .jsonl with intent, satisfaction[, n, respondent].",
)
@click.option(
    "--scale",
    metavar="LOW,HIGH",
    help=(
        "Lowest and highest value of the one file of --human (by default 1,10) or --satisfaction"
        " (by default 1,5)."
    ),
)
@click.option(
    "--votes",
    multiple=True,
    help=(
        "People's votes between models: a list of votes, a log of mad with people's choices, or"
        " people's votes on comparisons together with the log or file that has these; a file"
        " or directory. May be repeated."
    ),
)
@log_report_command("CSV, Markdown and JSON")
def agreement(  # noqa: PLR0913 - one argument an option
    context: click.Context,
    logs: tuple[str, ...],
    human: Path | None,
    satisfaction: Path | None,
    scale: str | None,
    votes: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    every: bool,
    only: str | None,
) -> None:
    """Compare the scores in LOGS (of urs, or directories of them) with what people say.

    Give at least one of --human, --satisfaction and --votes. Judges are never mixed: scores by
    another judge, with other prompts, references or data have tables of their own.

    --satisfaction: mean score and mean satisfaction by intent, Pearson over intents (URS paper,
    Figure 5). A row is one person's answer, or, with n, the mean of n people's.

    --votes: mean score and Bradley-Terry rating by model, Pearson over models (Figure 6).

    --human: final score and rating of the same answers: Spearman, Kendall, Pearson and
    Krippendorff's alpha, also by intent and by model, and alpha among people. Ratings of questions
    or models that are not in the logs are skipped and counted; a rating outside the scale is an
    error.
    """
    from urs_inspect.agreement._from_logs import report_agreement
    from urs_inspect.agreement._report import AGREEMENT

    check_output(output, AGREEMENT)
    with reading(logs):
        scales: dict[str, Any] = {}
        if scale is not None:
            scales[_what_has_scale(human, satisfaction)] = parse_scale(scale, "scale")
        made = report_agreement(
            logs,
            human=human,
            satisfaction=satisfaction,
            votes=votes,
            command=command_line(context),
            **scales,
        )
    emit(made, output, Shown(every, only), as_json=as_json)


def _what_has_scale(human: Path | None, satisfaction: Path | None) -> str:
    """Name of the argument for the scale of the one file that has a scale."""
    if (human is None) == (satisfaction is None):
        raise InputError(
            "--scale is of one file; give either --human or --satisfaction, and run the command"
            " once for each"
        )
    if human is None:
        return "satisfaction_scale"
    return "human_scale"
