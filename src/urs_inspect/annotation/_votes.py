"""Votes of people, and the files that keep what people decided."""

import hashlib
import json
import math
import os
import re
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from urs_inspect._util import InputError, choices, lock_file
from urs_inspect.datasets._rows import parse_json
from urs_inspect.discrepancy._ballots import CHOICES, Ballot, Choice

Side = Literal["a", "b"]

UNNAMED = "?"
"""Begins the names of people who have none; no name of an annotator may begin so."""
_ANNOTATOR = re.compile(r"\w(?:[\w.\- ]{0,38}\w)?")
_LONGEST_LINE = 10_000


EventT = TypeVar("EventT", bound=Any)
"""What somebody decided, or took back: has `annotator`, `about` (an id), `time`, `undone` and
`to_line()`.
"""

A_VOTE = "a vote on a comparison, not a rating"
A_RATING = "a rating of an answer, not a vote"
"""What is wrong with a line of the other kind of file."""


@dataclass(frozen=True)
class Vote:
    """What somebody chose on a ballot.

    Attributes:
        ballot: Id of the ballot.
        annotator: Name of the person.
        choice: `a`, `b`, `tie` or `cannot_tell`.
        left: Which response was on the left (on a phone: above), `a` or `b`; None if not known.
        seconds: How long the pair was in view, in seconds; NaN if not known.
        time: When it was made, ISO 8601 in UTC; empty if not known.
        undone: Whether the person took the decision back; the choice means nothing then.
    """

    ballot: str
    annotator: str
    choice: Choice
    left: Side | None = None
    seconds: float = math.nan
    time: str = ""
    undone: bool = False

    @property
    def about(self) -> str:
        """Id of the ballot."""
        return self.ballot

    def to_line(self) -> str:
        """The vote as one line of a file.

        Returns:
            A JSON object, without the line break.
        """
        columns: dict[str, Any] = {"ballot": self.ballot, "annotator": self.annotator}
        if self.undone:
            columns["undo"] = True
        else:
            columns |= {"choice": self.choice, "left": self.left}
            columns["seconds"] = None if math.isnan(self.seconds) else round(self.seconds, 2)
        return event_line(columns | {"time": self.time})


@dataclass(frozen=True)
class VoteReading:
    """Votes of several files.

    Attributes:
        votes: The votes that count, at most one per annotator and ballot, in the order of the
            files.
        replaced: How many votes the same person replaced later.
        undone: How many votes were taken back and not cast again.
        errors: Lines that are no votes, with their place; they stay in their files and do not
            count.
    """

    votes: tuple[Vote, ...]
    replaced: int
    undone: int
    errors: tuple[str, ...]

    def about(self, ballots: Collection[str]) -> tuple[tuple[Vote, ...], tuple[Vote, ...]]:
        """Split the votes into those about the ballots of these ids, and those about others.

        Args:
            ballots: Ids of ballots.

        Returns:
            The votes about these ballots, and the other votes.
        """
        ids = frozenset(ballots)
        known = tuple(vote for vote in self.votes if vote.ballot in ids)
        return known, tuple(vote for vote in self.votes if vote.ballot not in ids)


def now() -> str:
    """The time in UTC, as votes carry it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def annotator_name(name: str) -> str:
    """Check the name of an annotator, which is also the name of a file.

    Allowed are 1 to 40 letters (of any script), digits, spaces and `. _ -`, the first and last a
    letter or digit. The result has composed characters (NFC), so that one name is one file.
    """
    composed = unicodedata.normalize("NFC", name)
    if not _ANNOTATOR.fullmatch(composed):
        shown = json.dumps(name[:60], ensure_ascii=True)
        raise InputError(
            f"annotator {shown}: allowed are 1 to 40 letters, digits, spaces and . _ -, the first"
            " and last a letter or digit"
        )
    return composed


def parse_line(line: bytes) -> Vote:
    """Read one line of a votes file.

    Args:
        line: The line in UTF-8, with or without its line break.

    Returns:
        The vote.

    Raises:
        ValueError: If the line is no vote; the message says why.
    """
    values = event_values(line)
    if "ballot" not in values and "rater" in values:
        raise ValueError(A_RATING)
    ballot = event_text(values, "ballot")
    annotator = event_text(values, "annotator")
    time = ""
    if values.get("time"):
        time = event_text(values, "time")
    if values.get("undo"):
        return Vote(ballot, annotator, "cannot_tell", time=time, undone=True)
    choice = values.get("choice")
    left = values.get("left")
    if choice not in CHOICES:
        raise ValueError(f"choice must be one of {choices(CHOICES)}")
    if left not in {"a", "b", None}:
        raise ValueError("left must be a or b")
    seconds = event_seconds(values.get("seconds"))
    return Vote(ballot, annotator, choice, left, seconds, time)


def event_values(line: bytes) -> dict[str, Any]:
    """The object of one line of a file of events; `ValueError` says why it is none."""
    if len(line) > _LONGEST_LINE:
        raise ValueError(f"longer than {_LONGEST_LINE} bytes")
    try:
        values, error = parse_json(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    if error:
        raise ValueError(error)
    if not isinstance(values, dict):
        raise ValueError("not a JSON object")
    return values


def event_text(values: Mapping[str, Any], key: str) -> str:
    """A text of an event; `ValueError` if it is missing, empty or something else."""
    value = values.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key} must be text")
    return value


def event_seconds(value: object) -> float:
    """A number of seconds; NaN if it is none."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    try:
        return float(value) if number and math.isfinite(value) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        return math.nan


def event_line(values: Mapping[str, Any]) -> str:
    """An event as one line of a file, without the line break."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


def parse_events(
    data: bytes, place: str, parse: Callable[[bytes], EventT]
) -> tuple[list[EventT], list[str]]:
    """The events of a file, and the errors of its other lines.

    A last line without a line break counts.
    """
    events: list[EventT] = []
    errors: list[str] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            try:
                events.append(parse(line))
            except ValueError as error:
                errors.append(f"{place}: line {number}: {error}")
    return events, errors


def read_events(
    paths: Iterable[Path], parse: Callable[[bytes], EventT], what: str
) -> tuple[list[EventT], int, int, tuple[str, ...]]:
    """The last event of each person about each thing.

    Then how many were replaced and taken back, and the errors of lines that are no events. If two
    files hold events of a person about a thing, the later `time` counts; without times, the file
    that is named later.
    """
    errors: list[str] = []
    final: dict[tuple[str, str], EventT] = {}
    made = 0
    for path in paths:
        try:
            events, invalid = parse_events(path.read_bytes(), str(path), parse)
        except OSError as error:
            raise InputError(f"cannot read the {what} '{path}': {error.strerror}") from None
        errors += invalid
        made += sum(not event.undone for event in events)
        last = {(event.annotator, event.about): event for event in events}
        for key, event in last.items():
            if key not in final or not _later(final[key].time, event.time):
                final[key] = event
    last_events = list(final.values())
    replaced = max(0, made - len(final))
    undone = sum(event.undone for event in last_events)
    return last_events, replaced, undone, tuple(errors)


def read_votes(paths: Iterable[Path]) -> VoteReading:
    """Read votes from several files.

    Of the lines of an annotator about a ballot the last one counts. If two files hold such lines,
    the later `time` counts; without times, the file that is named later.

    Args:
        paths: The files.

    Returns:
        The votes that count, how many were replaced or undone, and the lines that are no votes.

    Raises:
        InputError: If a file cannot be read.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from urs_inspect.annotation import Vote, VoteStore, read_votes
        >>> with TemporaryDirectory() as folder, VoteStore(Path(folder), "ann") as store:
        ...     store.add(Vote("q1", "ann", "a"))
        ...     votes = read_votes([store.path]).votes
        >>> votes[0].choice
        'a'
    """
    final, replaced, undone, errors = read_events(paths, parse_line, "votes")
    votes = tuple(vote for vote in final if not vote.undone)
    return VoteReading(votes, replaced, undone, errors)


def _later(time: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(time) > datetime.fromisoformat(other)
    except (ValueError, TypeError):  # no time, or one without a zone
        return False


def vote_files(paths: Iterable[str | Path], what: str = "votes") -> list[Path]:
    """The files with votes (or ratings) among the paths, and those in directories, each once."""
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"no file '{path}' with {what}")
        below = [path]
        if path.is_dir():
            below = sorted(path.glob("*.jsonl"))
        if not below:
            raise InputError(f"no file with {what} (.jsonl) in '{path}'")
        files += below
    return list({path.resolve(): path for path in files}.values())


class EventStore(Generic[EventT]):
    """Appends events to the file of a person; each one is on the disk before it counts.

    `events` are the decisions that count, by what they are about, the last one made last;
    `repaired` tells what was done about a truncated last line, and `errors` lists the lines of the
    file that are no events.
    """

    what: ClassVar[str]  # name of what the file holds
    other: ClassVar[str]  # what is wrong with a line of another kind of file

    @staticmethod
    def parse(line: bytes) -> Any:
        """Read one line; `ValueError` says why it is no event."""
        raise NotImplementedError

    def __init__(self, directory: Path, annotator: str) -> None:
        self.annotator = annotator_name(annotator)
        self.path = directory / f"{self.annotator}.jsonl"
        self._mutex = threading.Lock()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            flags |= getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise InputError(
                f"cannot write the {self.what} '{self.path}': {error.strerror}"
            ) from None
        try:
            lock_file(self._descriptor)
        except BlockingIOError:
            os.close(self._descriptor)
            raise InputError(
                f"the {self.what} '{self.path}' are in use by another server; stop it first"
            ) from None
        except OSError as error:
            os.close(self._descriptor)
            raise InputError(
                f"cannot lock the {self.what} '{self.path}': {error.strerror}; name another folder"
            ) from None
        self._load()

    def add(self, event: EventT) -> None:
        """Append an event and wait until the disk has it.

        Args:
            event: What the person decided.

        Raises:
            OSError: If it cannot be written; the file is then as it was before.
        """
        with self._mutex:
            self._append((event.to_line() + "\n").encode())
            self._count(event)

    def close(self) -> None:
        """Close the file and let others have it."""
        with self._mutex:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load(self) -> None:
        data = self.path.read_bytes()
        self.events: dict[str, EventT] = {}
        events, errors = parse_events(data, str(self.path), self.parse)
        if not events and any(error.endswith(self.other) for error in errors):
            self.close()
            raise InputError(
                f"{self.path}: holds {self.other}; name another folder for {self.what}"
            )
        self.repaired = self._repair(data)
        self.errors = tuple(errors[: -1 if self.repaired and errors else None])
        for event in events:
            self._count(event)

    def _count(self, event: EventT) -> None:
        if event.annotator == self.annotator:
            self.events.pop(event.about, None)
            if not event.undone:
                self.events[event.about] = event

    def _repair(self, data: bytes) -> str:
        """Complete or move away a last line that a crash cut off.

        The next one would otherwise continue it.
        """
        start = data.rfind(b"\n") + 1
        torn = data[start:]
        if not torn:
            return ""
        try:
            self.parse(torn)
        except ValueError:
            aside = self.path.with_name(f"{self.path.name}.torn")
            with aside.open("ab") as file:
                file.write(torn + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.ftruncate(self._descriptor, start)
            os.fsync(self._descriptor)
            start_of_line = torn[:60].decode("utf-8", "replace")
            shown = json.dumps(start_of_line, ensure_ascii=False)
            return (
                f"the last line of '{self.path}' was cut off ({shown}); it was moved to"
                f" '{aside.name}'"
            )
        self._append(b"\n")
        return ""

    def _append(self, line: bytes) -> None:
        if self._descriptor < 0:
            raise OSError(f"the file of {self.what} is closed")
        before = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, before)  # half a line would spoil the next
            raise


class VoteStore(EventStore[Vote]):
    """Appends votes to the file of an annotator.

    Each vote is on the disk before it counts. `events` are the votes of the annotator that count,
    by the id of the ballot, the one cast last at the end; `path` is the file; `repaired` tells what
    was done about a last line that was cut off; `errors` lists the other lines of the file that are
    no votes. The file is locked until `close`, or the end of a `with` statement.

    Args:
        directory: Folder of the file; it is made if it is not there.
        annotator: Name of the annotator, after which the file is called.

    Raises:
        InputError: If the name cannot be used, the file cannot be written or locked, another
            process uses it, or it holds ratings.
    """

    what = "votes"
    other = A_RATING
    parse = staticmethod(parse_line)


def left_side(annotator: str, ballot: str) -> Side:
    """Which response is on the left for a person.

    By a hash, as good as a coin, but the same after a restart.
    """
    if digest("side", annotator, ballot)[0] % 2:
        return "a"
    return "b"


def own_order(annotator: str, ballots: Sequence[Ballot]) -> tuple[Ballot, ...]:
    """The ballots in this person's own order, whose end is not the same for everybody."""
    return tuple(sorted(ballots, key=lambda ballot: digest("order", annotator, ballot.id)))


def digest(*parts: str) -> bytes:
    """A hash that decides as chance would, but the same after a restart."""
    text = "\n".join(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
