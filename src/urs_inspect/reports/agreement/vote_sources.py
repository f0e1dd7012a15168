"""People's votes, from whatever files hold them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from urs_inspect.errors import InputError
from urs_inspect.rating import Ranking, rank
from urs_inspect.reports.agreement.resampling import Resampling
from urs_inspect.reports.battles import HumanBattles, holds_ballot_votes, read_battles, read_human_battles
from urs_inspect.reports.competitions import judged_by_people
from urs_inspect.reports.log_files import finished_logs, log_files
from urs_inspect.texts import counted

_TASK = "mad"


@dataclass(frozen=True)
class Votes:
    """A ranking of models by people's votes.

    Attributes:
        ranking: The ranking, with what resampling the instructions makes of it.
        notes: How the votes were counted and what was left out, a sentence each.
    """

    ranking: Ranking
    notes: tuple[str, ...]


def read_vote_ranking(paths: Iterable[str], resampling: Resampling) -> Votes:
    """Rank models by people's votes.

    Args:
        paths: Lists of votes (model_a, model_b, winner), or people's votes about ballots together with the log or file
            that has the ballots, or logs of `mad` with people's choices as scores; and directories of these.
        resampling: How intervals come about.

    Returns:
        The ranking.

    Raises:
        InputError: If a path does not exist, a file cannot be read, a log has verdicts of a judge alone, or nothing is
            decided.
    """
    named = list(paths)
    cast = [path for path in named if _holds_ballot_votes(path)]
    sources = [path for path in named if path not in cast]
    if not sources:
        raise InputError(f"votes: {cast[0]} has votes about ballots; name the log or file with the ballots as well")
    said: list[str] = []
    if cast:
        people = read_human_battles(sources, cast, said.append)
        battles, said = people.battles, [*_about(people), *said]
    else:
        _refuse_judges(sources)
        battles = read_battles(sources, said.append)
    return Votes(rank(battles, **resampling.options), tuple(said))


def _refuse_judges(sources: Iterable[str]) -> None:
    """Refuse logs in which a judge decided, whose verdicts would pass for people's."""
    logs = [file for source in sources for file in (log_files([source]) if _may_hold_logs(Path(source)) else [])]
    for log in finished_logs(logs, []):
        if log.eval.task.rpartition("/")[2] != _TASK:
            raise InputError(f"votes: {log.location} is a log of {log.eval.task}; allowed: one of urs_inspect/{_TASK}")
        if not judged_by_people(log):
            raise InputError(
                f"votes: {log.location} has no people's choices, only verdicts of a judge or ballots; name people's "
                "votes about its ballots as well"
            )


def _may_hold_logs(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".eval"


def _holds_ballot_votes(path: str) -> bool:
    """Whether a file, or every file of a directory, holds people's votes about ballots."""
    if not Path(path).exists():
        raise InputError(f"votes: no file or directory '{path}'")
    files = sorted(Path(path).glob("*.jsonl")) if Path(path).is_dir() else [Path(path)]
    return bool(files) and all(map(holds_ballot_votes, files))


def people_counted(number: int) -> str:
    """A number of people in words."""
    return "1 person" if number == 1 else f"{number} people"


def _about(people: HumanBattles) -> list[str]:
    found = people.agreement
    notes = [
        f"{counted(found.votes, 'vote')} by {people_counted(len(found.annotators))} on {found.ballots} of "
        f"{counted(people.ballots, 'ballot')}; the majority counts, a shared one is a tie."
    ]
    numbers = {
        "replaced later by the same person": people.replaced,
        "about other ballots, left out": people.unknown,
    }
    notes += [f"{counted(number, 'vote')} {what}." for what, number in numbers.items() if number]
    if people.undecided:
        notes.append(f"{counted(people.undecided, 'ballot')} on which nobody chose, left out.")
    return notes + [f"Not a vote: {fault}" for fault in people.faults]
