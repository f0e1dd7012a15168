"""`urs-inspect rank`: models ranked by logs of `mad` or by votes, with intervals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from urs_inspect._util import InputError, check_new_file, choices, visible
from urs_inspect.cli._output import print_report

if TYPE_CHECKING:
    from urs_inspect.discrepancy._judge_prior import JudgePrior, WeighedRanking
    from urs_inspect.stats import Battles, Ranking


@click.command()
@click.argument("logs_or_votes", nargs=-1, required=True)
@click.option(
    "--votes",
    multiple=True,
    help=(
        "People's votes about the ballots of LOGS_OR_VOTES: a file, or a directory of .jsonl files."
        " Only these count then. May be repeated; further files of such votes are recognised"
        " without it."
    ),
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help=(
        "Write a copy of the log with the votes attached as scores (human_choice); the file must"
        " not exist."
    ),
)
@click.option(
    "--prior",
    help=(
        "A log of mad with a judge's verdicts about the same models: as a prior for people's votes,"
        " weighed by its evidence. Shown beside the votes alone."
    ),
)
@click.option(
    "--leaderboard",
    help="A leaderboard to compare with: CSV or JSON with model and rating (or rank).",
)
@click.option(
    "--judge",
    metavar="LOG",
    help=(
        "A log of mad, or a directory of them, with a judge's verdicts about the ballots: people's"
        " votes corrected by these. Needs --votes."
    ),
)
@click.option(
    "--control",
    metavar="FEATURES",
    help="Ratings at equal style: length, lists, headings, bold, code, joined by commas.",
)
@click.option(
    "--coefficients",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=(
        "What style is worth is kept from an earlier ranking, the output of --control with --json,"
        " so that a model that joins does not change it."
    ),
)
@click.option(
    "--columns",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="YAML file that says what columns and winners of a list of votes mean.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of tables.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=1000, show_default=True, help="Resamples."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the resamples.",
)
def rank(
    logs_or_votes: tuple[str, ...],
    votes: tuple[str, ...],
    output: Path | None,
    prior: str | None,
    leaderboard: str | None,
    judge: str | None,
    control: str | None,
    coefficients: Path | None,
    columns: Path | None,
    as_json: bool,
    rounds: int,
    seed: int,
) -> None:
    """Rank models by LOGS_OR_VOTES: logs of mad, lists of votes, or directories of either.

    Of a log with people's choices as scores only these count. A vote has model_a, model_b and
    winner (model_a, model_b, tie, "tie (bothbad)", or the name of a model).

    Nothing counts twice: a file that is named or copied twice is read once. A vote that names
    its voter (judge, annotator, source or id) and its subject (instruction, question_id or
    responses) counts once if several files hold it, even with another time or order of the
    responses; votes of one file all count, and so do votes without these. Of logs of the
    same run with the same verdicts one counts. What is skipped is reported.

    With --votes the last vote of a person about a ballot counts: the later time, else the file
    that is named later.
    """
    from urs_inspect.annotation._campaign import LOG_SUFFIXES
    from urs_inspect.logs._battles import (
        AS_THEY_ARE,
        attach_votes,
        holds_ballot_votes,
        read_human_battles,
        read_judge_verdicts,
        read_styled_battles,
        read_vote_columns,
    )
    from urs_inspect.reports.numbers._rankings import read_coefficients, read_leaderboard
    from urs_inspect.reports.words._adjusted import (
        Adjusted,
        controlled_section,
        corrected_section,
        prior_section,
    )
    from urs_inspect.reports.words._rankings import ranking_report
    from urs_inspect.stats import compare_leaderboard
    from urs_inspect.stats._adjusted import FEATURES, rank_controlled, rank_corrected

    # A shell that expands `--votes votes/*.jsonl` leaves all files but the first without an option.
    cast = [*votes, *(path for path in logs_or_votes if holds_ballot_votes(path))]
    sources = [path for path in logs_or_votes if path not in cast]
    if not sources:
        raise InputError(
            f"{cast[0]}: votes about ballots; name the log or file with the ballots as well"
        )
    if output is not None:
        if not cast or len(sources) != 1 or Path(sources[0]).suffix.lower() not in LOG_SUFFIXES:
            raise InputError("output: needs one log of mad, and votes about its ballots")
        check_new_file(output, *LOG_SUFFIXES)
    published = None if leaderboard is None else read_leaderboard(Path(leaderboard))
    features = (
        tuple(dict.fromkeys(name.strip() for name in control.split(",")))
        if control is not None
        else ()
    )
    if control is not None and not any(features):
        raise InputError(f"control: names no feature; allowed: {choices(FEATURES)}")
    if unknown := [name for name in features if name not in FEATURES]:
        raise InputError(f"control: unknown feature '{unknown[0]}'; allowed: {choices(FEATURES)}")
    if coefficients and not features:
        raise InputError("coefficients: only with --control, which names their features")
    given = read_coefficients(coefficients) if coefficients else None
    if judge is not None and not cast:
        raise InputError("judge: corrects people's votes; name their files with --votes")
    if columns is not None and cast:
        raise InputError(
            "columns: only for lists of votes between models, not for votes about ballots"
        )
    names = AS_THEY_ARE if columns is None else read_vote_columns(columns)
    people = read_human_battles(sources, cast, _note) if cast else None
    if people:
        battles = people.battles
        styles = people.styles(features)
    else:
        battles, styles = read_styled_battles(sources, features, _note, names)
    # Before the ratings by Elo, which take longest, so that an error comes early.
    sections: list[Callable[[Ranking], Adjusted]] = []
    if people and judge is not None:
        verdicts = read_judge_verdicts(judge, people.asked.values())
        corrected = rank_corrected(people.judged(verdicts.outcomes), rounds=rounds, seed=seed)
        sections.append(lambda ranking: corrected_section(corrected, verdicts, ranking))
    if features:
        controlled = rank_controlled(
            battles, styles, features, given=given, rounds=rounds, seed=seed
        )
        sections.append(lambda _: controlled_section(controlled))
    if prior is not None:
        weighed = _weighed(battles, prior, [] if people else sources, seed)
        sections.append(lambda ranking: prior_section(ranking, *weighed))
    ranking = _ranked(battles, rounds, seed)
    agreement = None if published is None else compare_leaderboard(ranking, published)
    report = ranking_report(ranking, agreement, people, [section(ranking) for section in sections])
    if output is not None:
        attach_votes(Path(sources[0]), cast, output)
    if as_json:
        click.echo(json.dumps(report.facts, ensure_ascii=False, indent=2, allow_nan=False))
        return
    console = Console()
    print_report(report, console)
    if output is not None:
        console.print(
            f"\nThe log with the votes as scores is {escape(str(output))}.", highlight=False
        )


def _ranked(battles: "Battles", rounds: int, seed: int) -> "Ranking":
    """Rank models, with a progress bar on a terminal."""
    from urs_inspect.stats import rank as rank_battles

    console = Console(stderr=True)  # standard output may be read as JSON
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        bar = progress.add_task("Ratings over resamples", total=1.0)
        return rank_battles(
            battles, rounds=rounds, seed=seed, progress=lambda share: progress.advance(bar, share)
        )


def _weighed(
    battles: "Battles", prior: str, sources: list[str], seed: int
) -> "tuple[JudgePrior, WeighedRanking]":
    """A judge's prior for the models of the votes, and the ranking with it; `sources` are not votes
    about ballots.
    """
    from urs_inspect.discrepancy._judge_prior import rank_with_prior
    from urs_inspect.logs._comparisons import read_judge_prior

    place = Path(prior).resolve()
    if {place, *place.parents} & {Path(source).resolve() for source in sources}:
        raise InputError(
            f"prior: '{prior}' is what is ranked; its verdicts would count twice. Name people's"
            " --votes"
        )
    judged = read_judge_prior(prior)
    without = sorted(set(judged.players) - set(battles.players))
    judged = judged.among(battles.players)
    if without:
        _note(f"prior: {choices(without)}: no vote, so not ranked")
    return judged, rank_with_prior(battles, judged, seed=seed)


def _note(line: str) -> None:
    click.echo(visible(line), err=True)  # standard output may be read as JSON
