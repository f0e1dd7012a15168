"""A voting campaign: ballots, the people who vote on them, and what each has still to do."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from urs_inspect._util import InputError, choices, file_kind
from urs_inspect.annotation._agreement import Agreement, agreement
from urs_inspect.annotation._queue import VOTING_KEY, BallotQueue, VotingPlan
from urs_inspect.annotation._votes import (
    EventStore,
    Side,
    Vote,
    VoteReading,
    VoteStore,
    annotator_name,
    left_side,
    now,
    own_order,
    read_votes,
)
from urs_inspect.discrepancy._ballots import Ballot, Choice, collect_ballots, read_ballots

LOG_SUFFIXES = (".eval", ".json")
"""Suffixes of inspect-ai's logs."""
BALLOT_KEY = "ballot"
"""Key of a sample's metadata that holds its ballot."""
_MOST_NAMED = 5
"""Logs of a folder that a message names."""

SideChoice = Literal["left", "right", "tie", "cannot_tell"]
"""A choice as voters make it, who know sides only."""


def load_ballots(path: Path) -> tuple[Ballot, ...]:
    """Read ballots to vote on, each once.

    Args:
        path: A log of the task `mad` (.eval, .json), or a .jsonl file with one ballot a line.

    Returns:
        The ballots in their order.

    Raises:
        InputError: If there is no such file, it cannot be read, its run did not finish, or it has
            no ballots.
    """
    if path.is_dir():
        logs = [file.name for file in sorted(path.iterdir()) if file.suffix in LOG_SUFFIXES]
        there = choices(logs[:_MOST_NAMED]) or "it has none"
        raise InputError(f"'{path}' is a folder; name one log in it: {there}")
    if not path.is_file():
        raise InputError(f"no file '{path}' with comparisons")
    if path.suffix.lower() == ".jsonl":
        return read_ballots(path)
    if path.suffix.lower() in LOG_SUFFIXES:
        return _ballots_of_log(path)
    raise InputError(
        f"{path}: cannot read {file_kind(path)}; allowed: {choices((*LOG_SUFFIXES, '.jsonl'))}"
    )


def load_plan(path: Path) -> VotingPlan | None:
    """How a log of `mad` says that votes are allocated.

    None if ballots come in their order, as in other files.
    """
    if path.suffix.lower() not in LOG_SUFFIXES:
        return None
    from inspect_ai.log import read_eval_log

    header = read_eval_log(str(path), header_only=True)
    values = (header.eval.metadata or {}).get(VOTING_KEY)
    if values is None:
        return None
    return VotingPlan.from_dict(values, str(path))


def _ballots_of_log(path: Path) -> tuple[Ballot, ...]:
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(path))
    except Exception as error:  # a damaged or foreign file can raise anything
        raise InputError(
            f"cannot read the log '{path}': {type(error).__name__}: {error}"
        ) from error
    if log.status != "success":
        raise InputError(
            f"{path}: its status is '{log.status}'; finish it with `inspect eval-retry`"
        )
    ballots = collect_ballots(
        (f"{path}: sample {sample.id}", sample.metadata[BALLOT_KEY])
        for sample in log.samples or []
        if sample.metadata.get(BALLOT_KEY) is not None
    )
    if not ballots:
        raise InputError(f"{path}: no sample has a comparison; they are in logs of the task mad")
    return ballots


class _Item(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def language(self) -> str: ...


ItemT = TypeVar("ItemT", bound=_Item)


class OwnItems(ABC, Generic[ItemT]):
    """What one person decides about, in this person's own order, and the decisions."""

    noun: ClassVar[str]

    def __init__(self, store: EventStore[Any], items: Sequence[ItemT]) -> None:
        self.annotator = store.annotator
        self.store = store
        self.items = tuple(items)
        self._by_id = {item.id: item for item in items}

    @property
    @abstractmethod
    def current(self) -> ItemT | None:
        """What to decide about now; None when there is nothing."""

    @property
    def done(self) -> int:
        """How many of the items this person has decided about."""
        return sum(item in self._by_id for item in self.store.events)

    @property
    def total(self) -> int:
        """How many items this person gets."""
        return len(self.items)

    @property
    def progress(self) -> tuple[int, int]:
        """Items done and wanted."""
        return self.done, self.total

    @property
    def status(self) -> str:
        """How far this person is."""
        return f"{self.done} of {self.total} done"

    @property
    def elsewhere(self) -> int:
        """How many decisions in the file are about other things; they do not count."""
        return len(self.store.events) - self.done

    @property
    def last(self) -> str | None:
        """Id of the item decided about last, which an undo takes back; None without decisions."""
        decided = (item for item in reversed(self.store.events) if item in self._by_id)
        return next(decided, None)

    def _find(self, item_id: str, outcome: str) -> ItemT:
        if item_id not in self._by_id:
            raise InputError(f"no {self.noun} '{item_id}' here; {outcome}")
        return self._by_id[item_id]


class Session(OwnItems[Ballot]):
    """One person's ballots, in the order in which this person gets them, and votes."""

    store: VoteStore
    noun = "ballot"

    def __init__(
        self, store: VoteStore, ballots: Sequence[Ballot], queue: BallotQueue | None = None
    ) -> None:
        super().__init__(store, ballots)
        self.queue = queue
        self._again: str | None = None

    @property
    def progress(self) -> tuple[int, int]:
        """Ballots done and wanted: this person's own, or everybody's under an allocation."""
        if self.queue is None:
            return super().progress
        state = self.queue.state()
        return state.done, state.done if state.stopped else state.budget

    @property
    def current(self) -> Ballot | None:
        """The ballot to vote on now: the one just taken back, or the next without a vote.

        None when there is none.
        """
        if self.queue is not None:
            return self.queue.next(self.annotator, self._again)
        pending = [ballot for ballot in self.items if ballot.id not in self.store.events]
        return min(pending, key=lambda ballot: ballot.id != self._again, default=None)

    def left(self, ballot: str) -> Side:
        """Which response of a ballot is on the left."""
        return left_side(self.annotator, ballot)

    def cast(self, ballot: str, choice: SideChoice, seconds: float) -> None:
        """Record a vote.

        `InputError` if there is no such ballot, `OSError` if it could not be written.
        """
        self._find(ballot, "the vote was not recorded")
        left = self.left(ballot)
        right: Side = "b" if left == "a" else "a"
        sides: dict[SideChoice, Choice] = {
            "left": left,
            "right": right,
            "tie": "tie",
            "cannot_tell": "cannot_tell",
        }
        vote = Vote(ballot, self.annotator, sides[choice], left, seconds, now())
        self.store.add(vote)
        self._again = None
        if self.queue is not None:
            self.queue.cast(vote)

    def undo(self, ballot: str) -> None:
        """Take a vote back, if there is one: repeating it does no harm."""
        self._find(ballot, "nothing was taken back")
        if (vote := self.store.events.get(ballot)) is not None:
            self.store.add(replace(vote, undone=True, time=now()))
            self._again = ballot
            if self.queue is not None:
                self.queue.undo(ballot, self.annotator)


SessionT = TypeVar("SessionT", bound=OwnItems[Any])


def page_language(languages: Iterable[str]) -> str:
    """Language of the page about questions in these languages, unless one asks for another."""
    if set(languages) == {"zh"}:
        return "zh"
    return "en"


class People(ABC, Generic[SessionT]):
    """The people who take part, their sessions, and the directory of their files."""

    kind: ClassVar[str]  # what they do: part of the page's addresses
    language: str  # of the page, unless a visitor asks for another

    def __init__(self, directory: Path, annotators: Sequence[str] = ()) -> None:
        """Open the sessions of the annotators; without any, anybody may take part."""
        self.directory = directory
        self.annotators = tuple(dict.fromkeys(annotator_name(name) for name in annotators))
        self._sessions: dict[str, SessionT] = {}
        self._mutex = threading.RLock()
        try:
            for name in self.annotators:
                self.session(name)
        except InputError:
            self.close()
            raise

    @abstractmethod
    def _open(self, annotator: str) -> SessionT:
        """Open the session of a person."""

    def session(self, annotator: str) -> SessionT:
        """The session of a person, opened on the first call.

        `InputError` if this person may not take part.
        """
        name = annotator_name(annotator)
        if self.annotators and name not in self.annotators:
            raise InputError(
                f"annotator '{name}' may not {self.kind} here; allowed: {choices(self.annotators)}"
            )
        with self._mutex:
            if name not in self._sessions:
                self._sessions[name] = self._open(name)
            return self._sessions[name]

    def knows(self, annotator: str) -> bool:
        """Whether this person has taken part in this campaign or has a file from an earlier one."""
        name = annotator_name(annotator)
        return name in self._sessions or (self.directory / f"{name}.jsonl").is_file()

    @property
    def sessions(self) -> tuple[SessionT, ...]:
        """The open sessions."""
        return tuple(self._sessions.values())

    def close(self) -> None:
        """Close all files."""
        for session in self.sessions:
            session.store.close()


class Campaign(People[Session]):
    """The ballots, and the sessions of the people who vote on them."""

    kind = "vote"

    def __init__(
        self,
        ballots: Sequence[Ballot],
        directory: Path,
        annotators: Sequence[str] = (),
        *,
        shuffled: bool = False,
        plan: VotingPlan | None = None,
    ) -> None:
        """Open the sessions of the annotators; without any, anybody may vote.

        With a plan, everybody gets the ballots that its allocation asks for next, given all votes
        in the directory.
        """
        self.ballots = tuple(ballots)
        self.language = page_language(ballot.language for ballot in self.ballots)
        self._shuffled = shuffled
        self.queue: BallotQueue | None = None
        if plan is not None:
            votes = read_votes(sorted(directory.glob("*.jsonl"))).votes
            self.queue = BallotQueue(self.ballots, plan, votes)
        super().__init__(directory, annotators)

    def _open(self, annotator: str) -> Session:
        ballots = self.ballots
        if self._shuffled:
            ballots = own_order(annotator, self.ballots)
        return Session(VoteStore(self.directory, annotator), ballots, self.queue)

    def report(self) -> tuple[Agreement, VoteReading]:
        """Agreement about these ballots, and all votes in the files."""
        reading = read_votes(sorted(self.directory.glob("*.jsonl")))
        here, _ = reading.about([ballot.id for ballot in self.ballots])
        return agreement(here), reading
