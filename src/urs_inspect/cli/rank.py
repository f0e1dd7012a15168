"""`urs-inspect rank`: which model is better, by logs of `mad` or by votes, and how sure that is."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from urs_inspect._util import InputError, visible

if TYPE_CHECKING:
    from urs_inspect.logs.battles import HumanBattles
    from urs_inspect.stats import Battles, Estimate, LeaderboardAgreement, Ranking
    from urs_inspect.stats.battles import WinRates

_NONE = "-"


@click.command()
@click.argument("logs_or_votes", nargs=-1, required=True)
@click.option(
    "--votes",
    multiple=True,
    help="People's votes about the ballots of LOGS_OR_VOTES: a file, or a directory of .jsonl files. Only these count "
    "then. May be repeated; further files of such votes are recognised without it.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write a copy of the log with the votes attached as scores (human_choice); the file must not exist.",
)
@click.option("--leaderboard", help="A leaderboard to compare with: CSV or JSON with model and rating (or rank).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of tables.")
@click.option("--rounds", type=click.IntRange(min=1), default=1000, show_default=True, help="Resamples.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the resamples.")
def rank(
    logs_or_votes: tuple[str, ...],
    votes: tuple[str, ...],
    output: Path | None,
    leaderboard: str | None,
    as_json: bool,
    rounds: int,
    seed: int,
) -> None:
    """Rank models by LOGS_OR_VOTES: logs of mad, lists of votes, or directories of either.

    Of a log with people's choices as scores only these count. A vote has model_a, model_b and
    winner (model_a, model_b, tie, "tie (bothbad)", or the name of a model).

    Nothing counts twice: a file that is named or copied twice is read once. A vote that says
    whose it is (judge, annotator, source or id) and on what (instruction, question_id or
    responses) counts once if several files hold it, whatever its time and the order of the
    responses; votes of one file all count, and so do votes that do not say this. Of logs of the
    same run with the same verdicts one counts. What is left out is said.

    With --votes the last vote of a person about a ballot counts: the later time, else the file
    that is named later.
    """
    from urs_inspect.logs.battles import holds_ballot_votes, read_battles, read_human_battles
    from urs_inspect.reports.rankings import ranking_dict, read_leaderboard
    from urs_inspect.stats import compare_leaderboard

    # A shell that expands `--votes votes/*.jsonl` leaves all files but the first without an option.
    cast = [*votes, *(path for path in logs_or_votes if holds_ballot_votes(path))]
    sources = [path for path in logs_or_votes if path not in cast]
    if not sources:
        raise InputError(f"{cast[0]}: votes about ballots; name the log or file with the ballots as well")
    if output is not None:
        _check_output(output, sources, cast)
    published = None if leaderboard is None else read_leaderboard(Path(leaderboard))
    people = read_human_battles(sources, cast, _note) if cast else None
    ranking = _ranked(people.battles if people else read_battles(sources, _note), rounds, seed)
    agreement = None if published is None else compare_leaderboard(ranking, published)
    if output is not None:
        from urs_inspect.logs.battles import attach_votes

        attach_votes(Path(sources[0]), cast, output)
    if as_json:
        click.echo(json.dumps(ranking_dict(ranking, agreement), ensure_ascii=False, indent=2, allow_nan=False))
        return
    console = Console()
    if people:
        print_people(people, console)
    if output is not None:
        console.print(f"The log with the votes as scores is {escape(str(output))}.", highlight=False)
    print_ranking(ranking, console)
    if agreement:
        print_leaderboard(agreement, console)


def _ranked(battles: "Battles", rounds: int, seed: int) -> "Ranking":
    """Rank models, with a progress bar on a terminal."""
    from urs_inspect.stats import rank as rank_battles

    console = Console(stderr=True)  # standard output may be read as JSON
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("Ratings over resamples", total=1.0)
        return rank_battles(battles, rounds=rounds, seed=seed, progress=lambda share: progress.advance(bar, share))


def _note(line: str) -> None:
    click.echo(visible(line), err=True)  # standard output may be read as JSON


def _check_output(output: Path, sources: list[str], votes: list[str]) -> None:
    from urs_inspect.annotation.campaign import LOG_SUFFIXES
    from urs_inspect.logs.battles import check_new_log

    if not votes or len(sources) != 1 or Path(sources[0]).suffix.lower() not in LOG_SUFFIXES:
        raise InputError("output: needs one log of mad, and votes about its ballots")
    check_new_log(output)


def print_ranking(ranking: "Ranking", console: Console) -> None:
    """Print ratings, differences of neighbours and win rates, and which models do not compare."""
    from urs_inspect._util import counted
    from urs_inspect.stats.bootstrap import fewest_clusters

    console.print(
        f"{counted(ranking.battles, 'comparison')} of {len(ranking.players)} models on "
        f"{counted(ranking.clusters, 'instruction')}, {counted(ranking.ties, 'tie')}.",
        highlight=False,
    )
    if message := ranking.connectivity.message:
        console.print(f"[bold red]NOT ALL MODELS COMPARE[/bold red]: {_shown(message)}", highlight=False)
    console.print(_ratings_table(ranking))
    if any(math.isnan(one.low) for one in ranking.bradley_terry):
        fewest = fewest_clusters(ranking.level)
        console.print(
            f"No interval is given for a model on fewer than {fewest} instructions, or where all resamples agree.",
            highlight=False,
        )
    console.print(
        f"Brackets: {ranking.level:.0%} intervals over {ranking.rounds} resamples of the instructions (seed "
        f"{ranking.seed}). Bradley-Terry does not depend on the order of the votes and is the rating to go by; Elo "
        f"(K={ranking.k:g}) is the mean over the same resamples; "
        "'Elo by order', its mean over random orders of all votes, without resampling.",
        highlight=False,
    )
    if ranking.differences:
        console.print(_differences_table(ranking))
    console.print(_win_rates_table(ranking.win_rates))


def print_people(people: "HumanBattles", console: Console) -> None:
    """Print how many ballots people decided and how far they agree."""
    from urs_inspect._util import counted

    found = people.agreement
    voters = "1 person" if len(found.annotators) == 1 else f"{len(found.annotators)} people"
    lines = [
        f"{counted(found.votes, 'vote')} of {voters} on {found.ballots} of {counted(people.ballots, 'ballot')}; the "
        f"majority counts, a shared one is a tie ({found.shared} of them)."
    ]
    if people.replaced:
        lines.append(f"{counted(people.replaced, 'vote')} {_were(people.replaced)} replaced later.")
    if found.compared:
        alpha = "not defined" if math.isnan(found.alpha) else f"{found.alpha:.2f}"
        lines.append(
            f"On {counted(found.compared, 'ballot')} with several votes {found.most_chosen.value:.0%} of the votes are "
            f"for the most chosen option; Krippendorff's alpha is {alpha}."
        )
    if people.undecided:
        lines.append(f"On {counted(people.undecided, 'ballot')} everybody said that they cannot tell.")
    if people.unknown:
        said = "is about another ballot and does" if people.unknown == 1 else "are about other ballots and do"
        lines.append(f"{counted(people.unknown, 'vote')} {said} not count.")
    lines += [f"Not a vote: {fault}" for fault in people.faults]
    console.print("\n".join(_shown(line) for line in lines), highlight=False)


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def print_leaderboard(found: "LeaderboardAgreement", console: Console) -> None:
    """Print how the ranking agrees with a leaderboard, and which models only one of the two has."""
    console.print(
        f"Agreement with the leaderboard over {len(found.players)} models: Spearman {_correlation(found.spearman)}, "
        f"Kendall {_correlation(found.kendall)}.",
        highlight=False,
    )
    for names, where in ((found.only_ranked, "the votes"), (found.only_leaderboard, "the leaderboard")):
        if names:
            console.print(f"Only in {where}: {_shown(', '.join(names))}", highlight=False)


def _ratings_table(ranking: "Ranking") -> Table:
    table = Table(title="Ranking", title_justify="left")
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold")
    for heading in ("Bradley-Terry", "Elo", "Elo by order"):
        table.add_column(heading, justify="right", no_wrap=heading != "Elo by order")
    for place, model in enumerate(ranking.players):
        at = ranking.ranks[place]
        table.add_row(
            f"{at.rank} ({at.low}–{at.high})",
            _shown(model),
            _rating(ranking.bradley_terry[place]),
            _rating(ranking.elo[place]),
            f"{ranking.elo_shuffled[place].value:.0f}",
        )
    return table


def _differences_table(ranking: "Ranking") -> Table:
    table = Table(title="Neighbours, difference in Bradley-Terry", title_justify="left")
    for heading in ("model", "next"):
        table.add_column(heading, overflow="fold")
    table.add_column("difference", justify="right")
    table.add_column("in words")
    for one in ranking.differences:
        table.add_row(_shown(one.better), _shown(one.other), _with_interval(one.estimate, "+.0f"), escape(one.verdict))
    return table


def _win_rates_table(rates: "WinRates") -> Table:
    title = "Wins of the row over the column in %, ties as half, and number of battles"
    table = Table("", title=title, title_justify="left")
    for name in rates.players:
        table.add_column(_shown(name), justify="right", overflow="fold")
    for row, name in enumerate(rates.players):
        cells = [
            f"{100 * rates.rates[row, column]:.0f} ({met})" if (met := rates.battles[row, column]) else _NONE
            for column in range(len(rates.players))
        ]
        table.add_row(_shown(name), *cells)
    return table


def _shown(text: str) -> str:
    return escape(visible(text))


def _rating(estimate: "Estimate") -> str:
    return _with_interval(estimate, ".0f", "–")


def _correlation(estimate: "Estimate") -> str:
    return _NONE if math.isnan(estimate.value) else _with_interval(estimate, ".2f")


def _with_interval(estimate: "Estimate", form: str, between: str = " to ") -> str:
    shown = format(estimate.value, form)
    return shown if math.isnan(estimate.low) else f"{shown} ({estimate.low:{form}}{between}{estimate.high:{form}})"
