"""Votes of people, and the files that keep them."""

import hashlib
import json
import math
import os
import re
import threading
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from urs_inspect._util import InputError, choices, lock_file
from urs_inspect.datasets.rows import parse_json
from urs_inspect.discrepancy.ballots import CHOICES, Ballot, Choice

Side = Literal["a", "b"]

_ANNOTATOR = re.compile(r"\w(?:[\w.\- ]{0,38}\w)?")
_LONGEST_LINE = 10_000


@dataclass(frozen=True)
class Vote:
    """What somebody chose on a ballot."""

    ballot: str  # id
    annotator: str  # name
    choice: Choice
    left: Side | None = None  # which response was on the left (on a phone: above); None if not known
    seconds: float = math.nan  # how long the pair was in view; NaN if not known
    time: str = ""  # ISO 8601 in UTC; empty if not known

    def to_line(self) -> str:
        """The vote as one line of a file, without the line break."""
        return _line(
            {
                "ballot": self.ballot,
                "annotator": self.annotator,
                "choice": self.choice,
                "left": self.left,
                "seconds": None if math.isnan(self.seconds) else round(self.seconds, 2),
                "time": self.time,
            }
        )


@dataclass(frozen=True)
class Undo:
    """Takes back what somebody chose on a ballot."""

    ballot: str
    annotator: str
    time: str = ""

    def to_line(self) -> str:
        """The undo as one line of a file, without the line break."""
        return _line({"ballot": self.ballot, "annotator": self.annotator, "undo": True, "time": self.time})


@dataclass(frozen=True)
class VoteReading:
    """Votes of several files."""

    votes: tuple[Vote, ...]  # that count, at most one per annotator and ballot, in the order of the files
    replaced: int  # votes that the same person replaced later
    undone: int  # votes that were taken back and not cast again
    errors: tuple[str, ...]  # lines that are no votes, with their place; they stay in their files and do not count

    def about(self, ballots: Collection[str]) -> tuple[tuple[Vote, ...], tuple[Vote, ...]]:
        """Split the votes into those about the ballots of these ids, and those about others."""
        ids = frozenset(ballots)
        known = tuple(vote for vote in self.votes if vote.ballot in ids)
        return known, tuple(vote for vote in self.votes if vote.ballot not in ids)


def now() -> str:
    """The time in UTC, as votes carry it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def annotator_name(name: str) -> str:
    """Check the name of an annotator, which is also the name of a file.

    Allowed are 1 to 40 letters (of any script), digits, spaces and `. _ -`, the first and last a letter or digit. The
    result has composed characters (NFC), so that one name is one file.
    """
    composed = unicodedata.normalize("NFC", name)
    if not _ANNOTATOR.fullmatch(composed):
        shown = json.dumps(name[:60], ensure_ascii=True)
        raise InputError(
            f"annotator {shown}: allowed are 1 to 40 letters, digits, spaces and . _ -, the first and last a letter or "
            "digit"
        )
    return composed


def parse_line(line: bytes) -> Vote | Undo:
    """Read one line of a votes file; `ValueError` says why it is neither a vote nor an undo."""
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
    ballot, annotator = _text(values, "ballot"), _text(values, "annotator")
    time = _text(values, "time") if values.get("time") else ""
    if values.get("undo"):
        return Undo(ballot, annotator, time)
    choice, left = values.get("choice"), values.get("left")
    if choice not in CHOICES:
        raise ValueError(f"choice must be one of {choices(CHOICES)}")
    if left not in {"a", "b", None}:
        raise ValueError("left must be a or b")
    return Vote(ballot, annotator, choice, left, _seconds(values.get("seconds")), time)


def _parse_votes(data: bytes, place: str) -> tuple[list[Vote | Undo], list[str]]:
    """The events of a votes file, and the errors of its other lines; a last line without a line break counts."""
    events: list[Vote | Undo] = []
    errors: list[str] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            try:
                events.append(parse_line(line))
            except ValueError as error:
                errors.append(f"{place}: line {number}: {error}")
    return events, errors


def read_votes(paths: Iterable[Path]) -> VoteReading:
    """Read votes from several files.

    Of the lines of an annotator about a ballot the last one counts. If two files hold such lines, the later `time`
    counts; without times, the file that is named later. A line that is no vote is listed in `errors`.
    """
    errors: list[str] = []
    final: dict[tuple[str, str], Vote | Undo] = {}
    cast = 0
    for path in paths:
        try:
            events, invalid = _parse_votes(path.read_bytes(), str(path))
        except OSError as error:
            raise InputError(f"cannot read the votes '{path}': {error.strerror}") from None
        errors += invalid
        cast += sum(isinstance(event, Vote) for event in events)
        for key, event in {(event.annotator, event.ballot): event for event in events}.items():
            if key not in final or not _later(final[key].time, event.time):
                final[key] = event
    votes = tuple(event for event in final.values() if isinstance(event, Vote))
    undone = sum(isinstance(event, Undo) for event in final.values())
    return VoteReading(votes, max(0, cast - len(votes) - undone), undone, tuple(errors))


def _later(time: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(time) > datetime.fromisoformat(other)
    except (ValueError, TypeError):  # no time, or one without a zone
        return False


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


def _text(values: dict[str, Any], key: str) -> str:
    value = values.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key} must be text")
    return value


def _seconds(value: object) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    try:
        return float(value) if number and math.isfinite(value) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        return math.nan


def vote_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files with votes among the paths, and those in directories."""
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"no file '{path}' with votes")
        below = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not below:
            raise InputError(f"no file with votes (.jsonl) in '{path}'")
        files += below
    return files


class VoteStore:
    """Appends votes to the file of an annotator, each one written through to the disk before it counts.

    `votes` are those that count, by ballot, the last one cast last; `repaired` tells what was done about a truncated
    last line, and `errors` lists the lines of the file that are no votes.
    """

    def __init__(self, directory: Path, annotator: str) -> None:
        self.annotator = annotator_name(annotator)
        self.path = directory / f"{self.annotator}.jsonl"
        self._mutex = threading.Lock()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644
            )
        except OSError as error:
            raise InputError(f"cannot write the votes '{self.path}': {error.strerror}") from None
        try:
            lock_file(self._descriptor)
        except BlockingIOError:
            os.close(self._descriptor)
            raise InputError(f"the votes '{self.path}' are in use by another server; stop it first") from None
        except OSError as error:
            os.close(self._descriptor)
            raise InputError(f"cannot lock the votes '{self.path}': {error.strerror}; name another folder") from None
        self._load()

    def add(self, event: Vote | Undo) -> None:
        """Append a vote or an undo and wait until the disk has it; after an `OSError` the file is as it was before."""
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
        self.repaired = self._repair(data)
        events, errors = _parse_votes(data, str(self.path))
        self.errors = tuple(errors[: -1 if self.repaired and errors else None])
        self.votes: dict[str, Vote] = {}
        for event in events:
            self._count(event)

    def _count(self, event: Vote | Undo) -> None:
        if event.annotator == self.annotator:
            self.votes.pop(event.ballot, None)
            if isinstance(event, Vote):
                self.votes[event.ballot] = event

    def _repair(self, data: bytes) -> str:
        """Complete or move away a last line that a crash cut off, so that the next vote does not continue it."""
        start = data.rfind(b"\n") + 1
        torn = data[start:]
        if not torn:
            return ""
        try:
            parse_line(torn)
        except ValueError:
            aside = self.path.with_name(f"{self.path.name}.torn")
            with aside.open("ab") as file:
                file.write(torn + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.ftruncate(self._descriptor, start)
            os.fsync(self._descriptor)
            shown = json.dumps(torn[:60].decode("utf-8", "replace"), ensure_ascii=False)
            return f"the last line of '{self.path}' was cut off ({shown}); it was moved to '{aside.name}'"
        self._append(b"\n")
        return ""

    def _append(self, line: bytes) -> None:
        if self._descriptor < 0:
            raise OSError("the votes file is closed")
        before = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, before)  # half a vote would spoil the next
            raise


def left_side(annotator: str, ballot: str) -> Side:
    """Which response is on the left for a person: by a hash, as good as a coin, but the same after a restart."""
    return "a" if _digest("side", annotator, ballot)[0] % 2 else "b"


def own_order(annotator: str, ballots: Sequence[Ballot]) -> tuple[Ballot, ...]:
    """The ballots in an order of this person's own, so that fatigue does not always meet the same ones."""
    return tuple(sorted(ballots, key=lambda ballot: _digest("order", annotator, ballot.id)))


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).digest()
