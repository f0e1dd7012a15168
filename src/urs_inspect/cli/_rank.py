"""`urs-inspect rank`: models ranked by logs of `mad` or by votes, with intervals."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, check_new_file, visible
from urs_inspect.cli._first_screen import Shown, print_shown, shown_options
from urs_inspect.cli._offered_options import OfferedOption, offered_options

if TYPE_CHECKING:
    from urs_inspect.logs._battles import RankedBattles
    from urs_inspect.reports.numbers._rankings import RankBattles
    from urs_inspect.reports.words._rankings import Adjusted
    from urs_inspect.stats import Battles, Ranking

ROUNDS = 1000
"""Number of resamples behind an interval."""

ADJUSTMENTS = "adjustments of rankings"
"""What a satellite offers adjustments under: the name of an option -> the address of a class of
`Adjustment`s.
"""


class Adjustment(OfferedOption, Protocol):
    """Adjusts the ranking; made of the value of its option, and whether people's votes are named.

    It refuses a value that cannot be used before anything is read.
    """

    def adjust(
        self, compared: "RankedBattles", say: Callable[[str], None]
    ) -> "Callable[[Ranking, RankBattles], Adjusted]":
        """Compute adjusted ratings of the battles.

        The ranking without the adjustment is not known yet; the function that is returned gets it.

        Args:
            compared: The battles, and where they come from.
            say: Is called with a sentence on each thing that does not count.

        Returns:
            A function that gives what the report says of the adjusted ratings. It takes the ranking
            without the adjustment, and a function that ranks other battles in the same way.
        """


@click.command()
@click.argument("logs_or_votes", nargs=-1, required=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help=(
        "Write a copy of the log with the votes attached as scores (human_choice); the file must"
        " not exist."
    ),
)
@click.option(
    "--leaderboard",
    help="A leaderboard to compare with: CSV or JSON with model and rating (or rank).",
)
@offered_options(ADJUSTMENTS)
@click.option(
    "--columns",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="YAML file that says what columns and winners of a list of votes mean.",
)
@click.option(
    "--by",
    metavar="KEY",
    help=(
        "Also rank each group of comparisons: scenario, language or intent of a log of mad, or a"
        " column of a list of votes. With --judge, by people and by the judge."
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of tables.")
@shown_options
def rank(
    logs_or_votes: tuple[str, ...],
    output: Path | None,
    leaderboard: str | None,
    columns: Path | None,
    by: str | None,
    as_json: bool,
    every: bool,
    only: str | None,
    **adjusting: str | None,
) -> None:
    """Rank models by LOGS_OR_VOTES: logs of mad, lists of votes, or directories of either.

    Of a log with people's choices as scores only these count. A vote has model_a, model_b and
    winner (model_a, model_b, tie, "tie (bothbad)", or the name of a model).

    Nothing counts twice: a file that is named or copied twice is read once. A vote that names
    its voter (judge, annotator, source or id) and its subject (instruction, question_id or
    responses) counts once if several files hold it, even with another time or order of the
    responses; votes of one file all count, and so do votes without these. Of logs of the
    same run with the same verdicts one counts. What is skipped is reported.

    People's votes on the comparisons of a log, as `annotate` saves them, are named beside it: a
    file, or a directory of .jsonl files. Only these count then. The last vote of a person on a
    pair of answers counts: the later time, else the file that is named later.
    """
    from urs_inspect.logs._battles import attach_votes
    from urs_inspect.reports.layout._tables import plain
    from urs_inspect.reports.numbers._rankings import rankings_by, read_leaderboard
    from urs_inspect.reports.words._rankings import ranking_report
    from urs_inspect.stats import compare_leaderboard

    sources, ballot_votes = _divided(logs_or_votes)
    _check_use(sources, ballot_votes, output, columns)
    published = None if leaderboard is None else read_leaderboard(Path(leaderboard))
    adjustments = _adjustments(adjusting, bool(ballot_votes))
    compared = _read(sources, ballot_votes, columns, by)
    # Before the ratings by Elo, which take longest, so that errors come early.
    computed = [adjustment.adjust(compared, _note) for adjustment in adjustments]
    ranking = _ranked(compared.battles)
    rankings = None
    if by is not None:
        rankings = rankings_by(by, ranking, compared.battles, compared.groups, _ranked, published)
    agreement = None
    if published is not None:
        agreement = compare_leaderboard(ranking, published)
    adjusted = [put_beside(ranking, _ranked) for put_beside in computed]
    report = ranking_report(ranking, agreement, compared.people, adjusted, rankings)
    written = []
    if output is not None:
        attach_votes(Path(sources[0]), ballot_votes, output)
        written.append(f"Log with the votes as scores: {output}")
    if as_json:
        click.echo(json.dumps(plain(report.facts), ensure_ascii=False, indent=2, allow_nan=False))
        return
    print_shown(report, Console(), Shown(every, only), written)


def _adjustments(asked: Mapping[str, str | None], has_votes: bool) -> list[Adjustment]:
    """The adjustments whose options are given."""
    adjustments = []
    for name, address in offered(ADJUSTMENTS).items():
        value = asked[name]
        if value is not None:
            adjustments.append(at(address)(value, has_votes))
    return adjustments


def _divided(logs_or_votes: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """What is ranked, and people's votes on its comparisons."""
    from urs_inspect.logs._battles import holds_ballot_votes

    if missing := [path for path in logs_or_votes if not Path(path).exists()]:
        raise InputError(f"no file or directory '{missing[0]}'")
    ballot_votes = [path for path in logs_or_votes if holds_ballot_votes(path)]
    sources = [path for path in logs_or_votes if path not in ballot_votes]
    if not sources:
        first = Path(ballot_votes[0])
        if first.is_file() and not first.stat().st_size:
            raise InputError(f"{first}: no votes")
        raise InputError(f"{first}: votes on comparisons; name the log or file with these as well")
    return sources, ballot_votes


def _check_use(
    sources: list[str],
    ballot_votes: list[str],
    output: Path | None,
    columns: Path | None,
) -> None:
    """Refuse options that do not fit what is ranked."""
    from urs_inspect.annotation._campaign import LOG_SUFFIXES

    if output is not None:
        one_log = len(sources) == 1 and Path(sources[0]).suffix.lower() in LOG_SUFFIXES
        if not one_log or not ballot_votes:
            raise InputError("output: needs one log of mad, and votes on its comparisons")
        check_new_file(output, *LOG_SUFFIXES)
    if columns is not None and ballot_votes:
        raise InputError(
            "columns: only for lists of votes between models, not for votes on comparisons"
        )


def _read(
    sources: list[str], ballot_votes: list[str], columns: Path | None, by: str | None
) -> "RankedBattles":
    """The comparisons that count."""
    from urs_inspect.logs._battles import (
        AS_THEY_ARE,
        RankedBattles,
        groups_of,
        read_counted_votes,
        read_human_battles,
        read_vote_columns,
    )
    from urs_inspect.stats import battles_of

    people = None
    if ballot_votes:
        people = read_human_battles(sources, ballot_votes, _note)
        battles = people.battles
        responses = people.responses()
        facts = people.facts()
    else:
        names = AS_THEY_ARE if columns is None else read_vote_columns(columns)
        votes = read_counted_votes(sources, _note, names)
        battles = battles_of(vote.battle for vote in votes)
        responses = [vote.responses for vote in votes]
        facts = [vote.facts for vote in votes]
    groups = () if by is None else groups_of(facts, by, _note)
    return RankedBattles(sources, battles, responses, people, by, groups)


def _ranked(battles: "Battles") -> "Ranking":
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
            battles, rounds=ROUNDS, progress=lambda share: progress.advance(bar, share)
        )


def _note(line: str) -> None:
    click.echo(visible(line), err=True)  # standard output may be read as JSON
