"""A vote among several people on the same ballots: who has what still to do."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from urs_inspect._util import InputError, choices
from urs_inspect.annotation.agreement import Agreement, agreement
from urs_inspect.annotation.votes import (
    Side,
    Undo,
    Vote,
    VoteReading,
    VoteStore,
    annotator_name,
    left_side,
    now,
    own_order,
    read_votes,
)
from urs_inspect.discrepancy.ballots import Ballot, Choice

Spot = Literal["left", "right", "tie", "cannot_tell"]
"""What a voter can choose, who knows sides only."""


class Booth:
    """Where one person votes.

    Attributes:
        annotator: Name of the person.
        store: The file of this person's votes.
        ballots: The ballots in the order in which this person is asked.
    """

    def __init__(self, store: VoteStore, ballots: Sequence[Ballot]) -> None:
        self.annotator = store.annotator
        self.store = store
        self.ballots = tuple(ballots)
        self._by_id = {ballot.id: ballot for ballot in ballots}
        self._again: str | None = None

    @property
    def done(self) -> int:
        """How many ballots this person has voted on."""
        return sum(ballot in self._by_id for ballot in self.store.votes)

    @property
    def elsewhere(self) -> int:
        """How many votes in the file are about other ballots; they stay there and count for nothing here."""
        return len(self.store.votes) - self.done

    @property
    def current(self) -> Ballot | None:
        """The ballot to vote on now: the one just taken back, or the first without a vote; None when all have one."""
        open_ballots = [ballot for ballot in self.ballots if ballot.id not in self.store.votes]
        return next((ballot for ballot in open_ballots if ballot.id == self._again), next(iter(open_ballots), None))

    @property
    def last(self) -> str | None:
        """Id of the ballot voted on last, which an undo takes back; None without votes."""
        return next((ballot for ballot in reversed(list(self.store.votes)) if ballot in self._by_id), None)

    def left(self, ballot: str) -> Side:
        """Which response of a ballot stands on the left here."""
        return left_side(self.annotator, ballot)

    def cast(self, ballot: str, spot: Spot, seconds: float) -> None:
        """Record a vote.

        Args:
            ballot: Id of the ballot.
            spot: What was chosen.
            seconds: How long the pair was in view.

        Raises:
            InputError: If there is no such ballot here.
            OSError: If the vote could not be written.
        """
        if ballot not in self._by_id:
            raise InputError(f"no ballot '{ballot}' here; the vote was not recorded")
        left = self.left(ballot)
        right: Side = "b" if left == "a" else "a"
        meant: dict[Spot, Choice] = {"left": left, "right": right, "tie": "tie", "cannot_tell": "cannot_tell"}
        self.store.add(Vote(ballot, self.annotator, meant[spot], left, seconds, now()))
        self._again = None

    def undo(self, ballot: str) -> None:
        """Take a vote back; without one, nothing happens, so that asking twice does no harm.

        Raises:
            InputError: If there is no such ballot here.
            OSError: If it could not be written.
        """
        if ballot not in self._by_id:
            raise InputError(f"no ballot '{ballot}' here; nothing was taken back")
        if ballot in self.store.votes:
            self.store.add(Undo(ballot, self.annotator, now()))
            self._again = ballot


class Poll:
    """The ballots, and the booths of the people who vote on them.

    Attributes:
        ballots: The ballots.
        directory: Where the votes files lie.
        annotators: Who may vote; empty if anybody may, under a name of their own.
    """

    def __init__(
        self, ballots: Sequence[Ballot], directory: Path, annotators: Sequence[str] = (), *, shuffled: bool = False
    ) -> None:
        """Open the booths of the people named.

        Args:
            ballots: The ballots, at least one.
            directory: Where the votes files lie; made if it does not exist.
            annotators: Who may vote; empty if anybody may.
            shuffled: Whether each person gets the ballots in an order of their own.

        Raises:
            InputError: If a name is not allowed, or a votes file is in use or cannot be written.
        """
        self.ballots = tuple(ballots)
        self.directory = directory
        self.annotators = tuple(dict.fromkeys(annotator_name(name) for name in annotators))
        self._shuffled = shuffled
        self._booths: dict[str, Booth] = {}
        self._mutex = threading.Lock()
        try:
            for name in self.annotators:
                self.booth(name)
        except InputError:
            self.close()
            raise

    def booth(self, annotator: str) -> Booth:
        """The booth of a person, opened on the first call.

        Raises:
            InputError: If the name is not allowed or not one of those who may vote, or the file cannot be had.
        """
        name = annotator_name(annotator)
        if self.annotators and name not in self.annotators:
            raise InputError(f"annotator '{name}' may not vote here; allowed: {choices(self.annotators)}")
        with self._mutex:
            if name not in self._booths:
                ballots = own_order(name, self.ballots) if self._shuffled else self.ballots
                self._booths[name] = Booth(VoteStore(self.directory, name), ballots)
            return self._booths[name]

    def knows(self, annotator: str) -> bool:
        """Whether this person has voted here before, or a votes file from an earlier time."""
        name = annotator_name(annotator)
        return name in self._booths or (self.directory / f"{name}.jsonl").is_file()

    @property
    def booths(self) -> tuple[Booth, ...]:
        """The booths that are open."""
        return tuple(self._booths.values())

    def report(self) -> tuple[Agreement, VoteReading]:
        """How far all people agree who have a votes file in the directory, and the reading of the files."""
        return report(self.ballots, self.directory)

    def close(self) -> None:
        """Close all votes files."""
        for booth in self.booths:
            booth.store.close()


def report(ballots: Sequence[Ballot], directory: Path) -> tuple[Agreement, VoteReading]:
    """Measure how far people agree.

    Args:
        ballots: The ballots whose votes count.
        directory: Where the votes files lie.

    Returns:
        The agreement about these ballots, and the reading of the files, votes about other ballots included.
    """
    reading = read_votes(sorted(directory.glob("*.jsonl")))
    return agreement(reading.about({ballot.id for ballot in ballots})[0]), reading
