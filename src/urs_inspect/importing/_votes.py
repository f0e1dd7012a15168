"""Votes of people on pairs that exist already, from the files that publish them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from inspect_ai.log import EvalLog

from urs_inspect._util import InputError, counted
from urs_inspect.annotation._votes import UNNAMED, Vote
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.importing._answers import made_log, sources_of
from urs_inspect.importing._verdicts import ImportedVerdict, compared, named, pairs_of
from urs_inspect.logs._battles import scored_copy
from urs_inspect.logs._files import PACKAGE
from urs_inspect.logs._responses import NO_MODEL
from urs_inspect.scorers import human_choice


def refuse_copies(files: Iterable[Path]) -> None:
    """Refuse a file that is there twice, whose votes would count twice."""
    first: dict[str, Path] = {}
    for path in files:
        same = first.setdefault(sha256_of(path), path)
        if same is not path:
            raise InputError(f"{path}: the same votes as {same}; name each file of votes once")


def ballot_votes(given: Sequence[ImportedVerdict], ids: Mapping[str, str]) -> list[Vote]:
    """Votes about ballots; those of people without a name are numbered within a ballot.

    `ids` are those of samples, by question. A blank vote does not count.

    Raises:
        InputError: If a person who has a name voted twice on a pair.
    """
    votes: list[Vote] = []
    twice: list[str] = []
    for ballot, on_ballot in pairs_of(given, ids).values():
        people: Counter[str] = Counter()
        for one in on_ballot:
            if one.verdict is None:
                continue
            people[one.judge] += 1
            person = one.judge or f"{UNNAMED}{people['']}"
            votes.append(Vote(ballot.id, person, one.verdict))
            if one.judge and people[one.judge] == 2:
                twice.append(f"{one.judge} on {named(ballot)}")
    if twice:
        raise InputError(
            f"{counted(len(twice), 'pair')} with two votes of the same person, such as of"
            f" {twice[0]}; allowed: one"
        )
    return votes


def people_log(
    given: Sequence[ImportedVerdict],
    ids: Mapping[str, str],
    files: Iterable[Path],
    votes: Path,
) -> EvalLog:
    """A finished log of `mad` whose pairs people decided; `votes` is the file of their votes."""
    pairs = pairs_of(given, ids)
    samples = [compared(ballot, ()) for ballot, _ in pairs.values()]
    log = made_log(f"{PACKAGE}mad", NO_MODEL, samples, sources_of(files))
    return scored_copy(log, human_choice([str(votes)]), "human_choice")
