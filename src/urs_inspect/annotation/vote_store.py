"""The votes file of one annotator, to which one server at a time appends."""

import json
import os
import threading
from pathlib import Path
from typing import Self

from urs_inspect.annotation.votes import Undo, Vote, annotator_name, parse_line, parse_votes
from urs_inspect.errors import InputError
from urs_inspect.file_lock import lock_file


class VoteStore:
    """Appends votes to a file, each one written through to the disk before it counts.

    Attributes:
        path: The file.
        annotator: Whose votes it takes.
        votes: The votes that count, by ballot, the last one cast last.
        healed: What was done about a torn last line; empty if the file was whole.
        faults: Lines of the file that are no votes.
    """

    def __init__(self, directory: Path, annotator: str) -> None:
        """Open the file of an annotator, or make it.

        Args:
            directory: Where votes files lie; made if it does not exist.
            annotator: See `annotator_name`.

        Raises:
            InputError: If the name is not allowed, another server has the file, or it cannot be written or locked.
        """
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
        """Append a vote, or the undo of one, and wait until the disk has it.

        Raises:
            OSError: If it could not be written; the file is then as it was before.
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
        self.healed = self._heal(data)
        events, faults = parse_votes(data, str(self.path))
        self.faults = tuple(faults[: -1 if self.healed and faults else None])
        self.votes: dict[str, Vote] = {}
        for event in events:
            self._count(event)

    def _count(self, event: Vote | Undo) -> None:
        if event.annotator == self.annotator:
            self.votes.pop(event.ballot, None)
            if isinstance(event, Vote):
                self.votes[event.ballot] = event

    def _heal(self, data: bytes) -> str:
        """Finish or move aside a last line that a crash cut off, so that the next vote does not continue it."""
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
            return f"the last line of '{self.path}' was torn ({shown}); it was moved to '{aside.name}'"
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
