"""`urs-inspect agreement`: how far a judge and people agree, by intent, by model and answer by answer."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from rich.console import Console
from rich.markup import escape

from urs_inspect._util import InputError
from urs_inspect.cli.output import print_sections

if TYPE_CHECKING:
    from urs_inspect.reports.agreement.report import AgreementReport

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--human", type=_FILE, help="Ratings of answers: .csv or .jsonl with id, model, rating[, rater, epoch].")
@click.option("--human-scale", default="1,10", show_default=True, help="Lowest and highest rating of --human.")
@click.option(
    "--satisfaction", type=_FILE, help="Satisfaction: .csv or .jsonl with intent, satisfaction[, n, respondent]."
)
@click.option("--scale", default="1,5", show_default=True, help="Lowest and highest value of --satisfaction.")
@click.option(
    "--votes",
    multiple=True,
    help="People's votes between models: a list of votes, a log of mad with people's choices, or people's votes about "
    "ballots together with the log or file that has the ballots; a file or directory. May be repeated.",
)
@click.option("-o", "--output", type=_FILE, help="Directory for agreement.csv, agreement.md and agreement.json.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of tables.")
@click.option("--rounds", type=click.IntRange(min=1), default=2000, show_default=True, help="Resamples.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the resamples.")
def agreement(
    logs: tuple[str, ...],
    human: Path | None,
    human_scale: str,
    satisfaction: Path | None,
    scale: str,
    votes: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    rounds: int,
    seed: int,
) -> None:
    """Hold the scores in LOGS (of urs, or directories of them) against what people said.

    Give at least one of --human, --satisfaction and --votes. Judges are never mixed: scores by
    another judge, with other prompts, references or data stand in a block of their own.

    --satisfaction: mean score and mean satisfaction by intent, Pearson over intents (URS paper,
    Figure 5). A row is one person's answer, or, with n, the mean of n people's.

    --votes: mean score and Bradley-Terry rating by model, Pearson over models (Figure 6).

    --human: final score and rating of the same answers: Spearman, Kendall, Pearson and
    Krippendorff's alpha, also by intent and by model, and alpha among people. Ratings of questions
    or models that are not in the logs are left out and counted; a rating outside the scale is an
    error.
    """
    from urs_inspect.reports.agreement.people import (
        read_human_ratings,
        read_satisfaction,
        read_vote_ranking,
    )
    from urs_inspect.reports.agreement.sections import AGREEMENT, agreement_dict, write_files
    from urs_inspect.reports.agreement.statistics import agreement_of
    from urs_inspect.reports.intent.answers import read_answers
    from urs_inspect.reports.output import check_directory
    from urs_inspect.rubrics import load_rubric
    from urs_inspect.stats import Resampling

    if not (human or satisfaction or votes):
        raise InputError("nothing to compare with; give at least one of --human, --satisfaction, --votes")
    if output is not None:
        check_directory(output, AGREEMENT)
    resampling = Resampling(rounds=rounds, seed=seed)
    # What people said is small and read first, so that its faults cost no waiting for the logs.
    ratings = read_human_ratings(human, _scale(human_scale, "human-scale")) if human else None
    said = read_satisfaction(satisfaction, _scale(scale, "scale"), load_rubric()) if satisfaction else None
    ballots = read_vote_ranking(votes, resampling) if votes else None
    given = {
        "ratings of answers": (str(human),) if human else (),
        "satisfaction": (str(satisfaction),) if satisfaction else (),
        "votes": votes,
    }
    report = agreement_of(
        read_answers(logs),
        human=ratings,
        satisfaction=said,
        votes=ballots,
        resampling=resampling,
        sources={kind: files for kind, files in given.items() if files},
    )
    written = write_files(report, output) if output else ()
    if as_json:
        click.echo(json.dumps(agreement_dict(report), ensure_ascii=False, indent=2, allow_nan=False))
        return
    console = Console()
    print_agreement(report, console)
    if written:
        console.print(f"Written: {escape(', '.join(map(str, written)))}", highlight=False)


def _scale(value: str, option: str) -> tuple[float, float]:
    from urs_inspect._arguments import Scale, check

    return cast("tuple[float, float]", check(option, value, Scale))


def print_agreement(report: "AgreementReport", console: Console) -> None:
    """Print every section."""
    from urs_inspect.reports.agreement.sections import SIMULATION, sections_of

    print_sections(sections_of(report), console, warnings=(SIMULATION,))
