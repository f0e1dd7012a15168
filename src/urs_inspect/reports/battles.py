"""Logs, ballots and votes -> battles."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path

from inspect_ai.log import EvalSample

from urs_inspect.annotation.agreement import Agreement, agreement, majorities
from urs_inspect.annotation.ballot_files import KEY, load_ballots
from urs_inspect.annotation.votes import read_votes, vote_files
from urs_inspect.discrepancy.ballots import Ballot, collect_ballots
from urs_inspect.errors import InputError, choices
from urs_inspect.rating.battles import OUTCOMES, Battle, Battles, battles_of
from urs_inspect.reports.competitions import choice_of, judged_by_people, outcome_of
from urs_inspect.reports.log_files import (
    about_copies,
    about_damaged,
    copies_of_files,
    finished_headers,
    local_path,
    log_files,
    read_log,
)
from urs_inspect.reports.repeated_votes import Found, of_run, once, unrepeated
from urs_inspect.reports.vote_lists import SUFFIXES, checked_name, first_object, instruction_cluster, read_vote_list
from urs_inspect.scorers.pair_choice import AWAITING
from urs_inspect.texts import counted

logger = getLogger(__name__)

_LOG, _TASK = ".eval", "mad"


@dataclass(frozen=True)
class HumanBattles:
    """What people said of ballots.

    Attributes:
        battles: One battle for each ballot with a majority (a shared one is a tie).
        agreement: How far people agree.
        ballots: Number of ballots.
        replaced: Votes that the same person replaced later; the last one counts.
        undecided: Ballots that were voted on without anybody choosing.
        unknown: Votes about other ballots; they count for nothing.
        faults: Lines that are no votes, with their place; they count for nothing.
    """

    battles: Battles
    agreement: Agreement
    ballots: int
    replaced: int
    undecided: int
    unknown: int
    faults: tuple[str, ...]


def read_battles(paths: Iterable[str | Path], say: Callable[[str], None] = logger.warning) -> Battles:
    """Read battles from logs and plain votes.

    Args:
        paths: Logs of `mad` with verdicts of a judge (.eval, .json), files of votes as `read_vote_list` reads them
            (.json, .jsonl, .csv), and directories of either. An unread verdict is no battle. If a log was judged
            several times, the last judgement counts; if people's choices are in it, only these do, and this is said.
            What a run took over from an earlier one counts once, however many of the logs hold it. A file counts once,
            however often it is named or copied, and so does a vote or verdict that several files hold; two votes that
            are equal in one file are two.
        say: Takes a line about each log of which people's choices count, and about what is repeated.

    Returns:
        The battles in the order of the paths; files of a directory by name.

    Raises:
        InputError: If a path does not exist, a file cannot be read, or there is no battle.
    """
    named, left_out = [str(path) for path in paths], list[str]()
    files = _distinct(named, left_out)
    waiting: list[str] = []
    battles = once(unrepeated([list(_read(file, say, waiting)) for file in files], say))
    if not battles:
        verb = "waits" if len(waiting) == 1 else "wait"
        told = f"; {counted(len(waiting), 'ballot')} {verb} for people's votes: name their files with --votes"
        what = f"no comparison with a verdict in: {choices(named)}{told if waiting else ''}"
        raise InputError("\n".join([what, *left_out]))
    for sentence in left_out:
        say(sentence)
    return battles_of(battles)


def _distinct(named: Sequence[str], left_out: list[str]) -> list[str]:
    """Finished logs of `mad` and other files in the order in which they are named, each once, whatever the copies."""
    files: dict[str, str] = {}
    for file in _files(named):
        files.setdefault(local_path(file), file)
    logs = [path for path, file in files.items() if _is_log(file)]
    kept = {log.location for log in finished_headers(logs, left_out, _TASK, also_foreign=True)}
    others = [path for path in files if path not in logs]
    copies = copies_of_files(others)
    if copies:
        left_out.append(about_copies(copies))
    return [file for path, file in files.items() if path in kept or (path in others and path not in copies)]


def read_human_battles(
    paths: Iterable[str | Path], votes: Iterable[str | Path], say: Callable[[str], None] = logger.warning
) -> HumanBattles:
    """Read the majorities of people's votes about ballots.

    Args:
        paths: Logs of `mad`, files with one ballot a line (.jsonl), and directories of logs.
        votes: Files with one vote a line (.jsonl), and directories of such files.
        say: Takes a line about each log that is skipped.

    Returns:
        The battles, in the order of the ballots, and how they came about. A judge's verdicts do not count.

    Raises:
        InputError: If a path does not exist, a file cannot be read, or no ballot has a vote.
    """
    named, left_out = [str(path) for path in paths], list[str]()
    ballots = _ballots(_distinct(named, left_out))
    if not ballots:
        raise InputError("\n".join([f"no ballot in: {choices(named)}", *left_out]))
    for sentence in left_out:
        say(sentence)
    reading = read_votes({path.resolve(): path for path in vote_files(votes)}.values())
    known, unknown = reading.about(ballots)
    outcomes = {majority.ballot: majority.outcome for majority in majorities(known)}
    decided = [ballot for ballot in ballots.values() if not math.isnan(outcomes.get(ballot.id, math.nan))]
    if not decided:
        raise InputError(
            f"no vote decides any of the {len(ballots)} ballots in {choices(named)}: {len(known)} votes are about "
            f"them, {len(unknown)} about others, {len(reading.faults)} lines are no votes"
        )
    return HumanBattles(
        battles_of(
            Battle(one.model_a, one.model_b, outcomes[one.id], instruction_cluster(one.instruction)) for one in decided
        ),
        agreement(known),
        ballots=len(ballots),
        replaced=reading.replaced,
        undecided=len(outcomes) - len(decided),
        unknown=len(unknown),
        faults=reading.faults,
    )


def holds_ballot_votes(path: str | Path) -> bool:
    """Whether a file holds people's votes about ballots, by its first line."""
    return Path(path).suffix.lower() == ".jsonl" and {"ballot", "annotator"} <= first_object(Path(path)).keys()


def _files(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = Path(name)
        if not path.exists():
            raise InputError(f"no file or directory '{name}'")
        found = _inside(path) if path.is_dir() else [name]
        if not found:
            raise InputError(f"no log and no file of votes ({choices(SUFFIXES)}) in '{name}'")
        yield from found


def _inside(directory: Path) -> list[str]:
    """The logs below a directory; if there are none, the files of votes in it."""
    if logs := log_files([str(directory)]):
        return logs
    return sorted(str(file) for file in directory.iterdir() if file.suffix.lower() in SUFFIXES)


def _read(file: str, say: Callable[[str], None], waiting: list[str]) -> Iterator[Found]:
    """The battles of a file; ballots of a log that people are to decide go to `waiting`."""
    if _is_log(file):
        try:
            log = read_log(file)
        except InputError as error:
            say(about_damaged(file, error))
            return
        if people := judged_by_people(log):
            say(f"{file}: people's choices count (human_choice), a judge's verdicts in it do not")
        samples = log.samples or []
        choices_made = [choice_of(sample, people=False) for sample in samples]
        waiting += [file for score in choices_made if score and (score.metadata or {}).get("outcome") == AWAITING]
        found = [one for sample in samples if (one := _judged(sample, people, log.location)) is not None]
        yield from of_run(found, log.eval.eval_id)
    elif Path(file).suffix.lower() in SUFFIXES:
        yield from (Found(one.battle, one.identity) for one in read_vote_list(Path(file)))
    else:
        raise InputError(f"{file}: cannot read '{Path(file).suffix}' files; allowed: {choices((_LOG, *SUFFIXES))}")


def _is_log(file: str) -> bool:
    """Whether a file is a log; a log in JSON is one object over many lines, which no file of votes is."""
    suffix = Path(file).suffix.lower()
    if suffix != ".json":
        return suffix == _LOG
    with Path(file).open("rb") as opened:
        start = opened.read(200).lstrip()
    return start.startswith(b"{") and b'"version"' in start


def _judged(sample: EvalSample, people: bool, location: str) -> Found | None:
    """The battle that a verdict makes; None without one."""
    score = choice_of(sample, people)
    if score is None or (outcome := outcome_of(score)) not in OUTCOMES:
        return None
    facts = score.metadata or {}
    try:
        first, second = (checked_name(facts.get(key), key) for key in ("model_a", "model_b"))
    except InputError as error:
        raise InputError(f"{location}: sample {sample.id}: {error}") from None
    ballot = sample.metadata.get(KEY)
    instruction = ballot.get("instruction") if isinstance(ballot, dict) else None
    battle = Battle(first, second, outcome, instruction_cluster(instruction or f"of sample {sample.id}"))
    key = f"{ballot.get('id')}/{sample.epoch}" if isinstance(ballot, dict) else ""
    identity = f"{sample.id}/{sample.epoch}/{outcome}"
    return Found(battle, identity, key, copied=bool(key) and facts.get("previous") is True)


def _ballots(files: Iterable[str]) -> dict[str, Ballot]:
    found = [(file, ballot) for file in files for ballot in load_ballots(Path(file))]
    ballots = collect_ballots((file, ballot.to_dict()) for file, ballot in found)
    return {ballot.id: ballot for ballot in ballots}
