"""`urs-inspect rank`: models ranked by logs of `mad` or by votes, with intervals."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from urs_inspect._util import InputError, check_new_file, choices, visible
from urs_inspect.cli._first_screen import Shown, print_shown, shown_options

if TYPE_CHECKING:
    from urs_inspect.discrepancy._judge_prior import JudgePrior, WeighedRanking
    from urs_inspect.logs._battles import HumanBattles, JudgeVerdicts
    from urs_inspect.reports.words._adjusted import Adjusted
    from urs_inspect.stats import Battles, Ranking
    from urs_inspect.stats._adjusted import Coefficient, ControlledRanking, CorrectedRanking
    from urs_inspect.stats._bootstrap import Floats

_ROUNDS = 1000


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
        "A log of mad, or a directory of them, with a judge's verdicts on the same comparisons:"
        " people's votes, which are named as well, are corrected by these. For a claim that must"
        " not rest on the judge; --prior gains more."
    ),
)
@click.option(
    "--control",
    metavar="FEATURES|FILE",
    help=(
        "Ratings at equal style: length, lists, headings, bold, code, joined by commas. Or the JSON"
        " of an earlier ranking with --control: the effects of style are kept, so that a model that"
        " joins does not change it."
    ),
)
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
def rank(  # noqa: PLR0913 - one argument an option
    logs_or_votes: tuple[str, ...],
    output: Path | None,
    prior: str | None,
    leaderboard: str | None,
    judge: str | None,
    control: str | None,
    columns: Path | None,
    by: str | None,
    as_json: bool,
    every: bool,
    only: str | None,
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
    from urs_inspect.logs._battles import attach_votes, read_judge_verdicts
    from urs_inspect.reports.layout._tables import plain
    from urs_inspect.reports.numbers._rankings import (
        rankings_by,
        rankings_of_judge,
        read_leaderboard,
    )
    from urs_inspect.reports.words._rankings import ranking_report
    from urs_inspect.stats import compare_leaderboard
    from urs_inspect.stats._adjusted import rank_controlled, rank_corrected

    sources, ballot_votes = _divided(logs_or_votes)
    _check_use(sources, ballot_votes, output, judge, columns)
    published = None if leaderboard is None else read_leaderboard(Path(leaderboard))
    features, coefficients = _style(control)
    people, battles, styles, groups = _read(sources, ballot_votes, features, columns, by)
    # Before the ratings by Elo, which take longest, so that an error comes early.
    verdicts = None
    corrected = None
    if judge is not None and people is not None:
        verdicts = read_judge_verdicts(judge, people.asked.values())
        corrected = rank_corrected(people.judged(verdicts.outcomes), rounds=_ROUNDS)
    controlled = None
    if features:
        controlled = rank_controlled(battles, styles, features, given=coefficients, rounds=_ROUNDS)
    judged = None
    weighed = None
    if prior is not None:
        judged, weighed = _weighed(battles, prior, [] if people else sources)
    ranking = _ranked(battles)
    adjusted = _adjusted_sections(ranking, corrected, verdicts, controlled, judged, weighed)
    rankings = None
    by_judge = None
    if by is not None:
        rankings = rankings_by(by, ranking, battles, groups, _ranked, published)
        if people and verdicts:
            by_judge = rankings_of_judge(by, people, verdicts, groups, _ranked)
    agreement = None
    if published is not None:
        agreement = compare_leaderboard(ranking, published)
    report = ranking_report(ranking, agreement, people, adjusted, rankings, by_judge, weighed)
    written = []
    if output is not None:
        attach_votes(Path(sources[0]), ballot_votes, output)
        written.append(f"Log with the votes as scores: {output}")
    if as_json:
        click.echo(json.dumps(plain(report.facts), ensure_ascii=False, indent=2, allow_nan=False))
        return
    print_shown(report, Console(), Shown(every, only), written)


def _adjusted_sections(
    ranking: "Ranking",
    corrected: "CorrectedRanking | None",
    verdicts: "JudgeVerdicts | None",
    controlled: "ControlledRanking | None",
    judged: "JudgePrior | None",
    weighed: "WeighedRanking | None",
) -> "list[Adjusted]":
    """Sections of what adjusts the ranking: a judge's verdicts, style, and a judge as a prior."""
    from urs_inspect.reports.words._adjusted import (
        controlled_section,
        corrected_section,
        prior_section,
    )

    sections = []
    if corrected and verdicts:
        sections.append(corrected_section(corrected, verdicts, ranking))
    if controlled:
        sections.append(controlled_section(controlled))
    if judged and weighed:
        sections.append(prior_section(ranking, judged, weighed))
    return sections


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
    judge: str | None,
    columns: Path | None,
) -> None:
    """Refuse options that do not fit what is ranked."""
    from urs_inspect.annotation._campaign import LOG_SUFFIXES

    if output is not None:
        one_log = len(sources) == 1 and Path(sources[0]).suffix.lower() in LOG_SUFFIXES
        if not one_log or not ballot_votes:
            raise InputError("output: needs one log of mad, and votes on its comparisons")
        check_new_file(output, *LOG_SUFFIXES)
    if judge is not None and not ballot_votes:
        raise InputError("judge: corrects people's votes; name their files beside the log")
    if columns is not None and ballot_votes:
        raise InputError(
            "columns: only for lists of votes between models, not for votes on comparisons"
        )


def _read(
    sources: list[str],
    ballot_votes: list[str],
    features: tuple[str, ...],
    columns: Path | None,
    by: str | None,
) -> "tuple[HumanBattles | None, Battles, Floats, tuple[str, ...]]":
    """People's votes if there are any, the comparisons that count, their differences of style, and
    their groups.
    """
    from urs_inspect.logs._battles import (
        AS_THEY_ARE,
        groups_of,
        read_counted_votes,
        read_human_battles,
        read_vote_columns,
        styles_of,
    )
    from urs_inspect.stats import battles_of

    if ballot_votes:
        people = read_human_battles(sources, ballot_votes, _note)
        groups = () if by is None else groups_of(people.facts(), by, _note)
        return people, people.battles, people.styles(features), groups
    names = AS_THEY_ARE if columns is None else read_vote_columns(columns)
    votes = read_counted_votes(sources, _note, names)
    styles = styles_of(votes, features, sources)
    groups = () if by is None else groups_of([vote.facts for vote in votes], by, _note)
    return None, battles_of(vote.battle for vote in votes), styles, groups


def _style(control: str | None) -> "tuple[tuple[str, ...], dict[str, Coefficient] | None]":
    """Features of style, and what they are worth where a file of an earlier ranking says so."""
    from urs_inspect.reports.numbers._rankings import read_coefficients
    from urs_inspect.stats._adjusted import FEATURES

    if control is None:
        return (), None
    if Path(control).suffix.lower() == ".json":
        coefficients = read_coefficients(Path(control))
        return tuple(coefficients), coefficients
    features = tuple(dict.fromkeys(name.strip() for name in control.split(",")))
    if not any(features):
        raise InputError(f"control: names no feature; allowed: {choices(FEATURES)}")
    for name in features:
        if name not in FEATURES:
            raise InputError(
                f"control: unknown feature '{name}'; allowed: {choices(FEATURES)}, or a .json file"
                " of an earlier ranking with --control"
            )
    return features, None


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
            battles, rounds=_ROUNDS, progress=lambda share: progress.advance(bar, share)
        )


def _weighed(
    battles: "Battles", prior: str, sources: list[str]
) -> "tuple[JudgePrior, WeighedRanking]":
    """A judge's prior for the models of the votes, and the ranking with it; `sources` are not votes
    on comparisons.
    """
    from urs_inspect.discrepancy._judge_prior import rank_with_prior
    from urs_inspect.logs._comparisons import read_judge_prior

    place = Path(prior).resolve()
    if {place, *place.parents} & {Path(source).resolve() for source in sources}:
        raise InputError(
            f"prior: '{prior}' is what is ranked; its verdicts would count twice. Name people's"
            " votes"
        )
    judged = read_judge_prior(prior)
    without = sorted(set(judged.players) - set(battles.players))
    judged = judged.among(battles.players)
    if without:
        _note(f"prior: {choices(without)}: no vote, so not ranked")
    return judged, rank_with_prior(battles, judged)


def _note(line: str) -> None:
    click.echo(visible(line), err=True)  # standard output may be read as JSON
