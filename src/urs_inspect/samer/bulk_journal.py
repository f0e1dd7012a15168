"""The results of an unfinished bulk evaluation, and which rows have none yet; survives a kill at any moment."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from urs_inspect._util import InputError, lock_file

_TOLERANCE = 0.02
"""How far lists of numbers may be apart, as a share of their length: what rounding in 16 bits does is half as much."""

_KEY = len('{"input"')  # bytes of a first line by which it is known as ours

_MODEL = {
    "fingerprint": "its files have changed",
    "served": "the server has another name for it",
    "probe": "its numbers for a fixed text are others",
}
"""What a header says of the model itself -> what it means if that is not as it was."""


class Journal:
    """Appends results in blocks; a block is on the disk before the next one counts.

    The first line says what is evaluated with what. Then comes one line a row, in the order of the rows: its result, or
    `null` for a gap, a row that has none yet. A result that fills a gap later stands at the end as `[row, result]`.

    Attributes:
        path: The file.
        begun: Number of rows, from the first one, that have a line.
        gaps: Numbers of those among them, counted from 0, that have no result yet.
        healed: Whether the last line was torn and was cut off.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Open a journal, or begin one.

        Args:
            path: The file.
            header: What is evaluated with what.

        Raises:
            InputError: If it is in use, cannot be written or locked, or is about something else.
        """
        self.path, self.begun, self.healed = path, 0, False
        self.gaps: set[int] = set()
        self._later: dict[int, int] = {}  # row -> where the line begins that fills its gap
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise InputError(f"cannot write '{path}': {error.strerror}") from None
        try:
            lock_file(self._descriptor)
        except BlockingIOError:
            os.close(self._descriptor)
            raise InputError(f"'{path}' is in use: another process writes the same output") from None
        except OSError as error:
            os.close(self._descriptor)
            raise InputError(f"cannot lock '{path}': {error.strerror}; name another output") from None
        try:
            self._resume(header)
        except BaseException:
            self.close()
            raise

    @property
    def done(self) -> int:
        """Number of rows that have a result."""
        return self.begun - len(self.gaps)

    def append(self, results: Mapping[int, Mapping[str, Any] | None]) -> None:
        """Add results, and wait until the disk has them.

        Args:
            results: Row -> its result, None if it has none yet; rows of gaps, and the next ones without a hole.

        Raises:
            InputError: If they could not be written; the journal is then as it was before.
            ValueError: If a row has a result already, or does not come next.
        """
        data, size, begun, later = bytearray(), os.fstat(self._descriptor).st_size, self.begun, dict[int, int]()
        for row, result in sorted(results.items()):
            if row == begun:
                data += _line(result)
                begun += 1
            elif row not in self.gaps:
                raise ValueError(f"row {row} after {begun} rows")
            elif result is not None:
                later[row] = size + len(data)
                data += _line([row, result])
        self._write(bytes(data))
        self.gaps |= {row for row in range(self.begun, begun) if results[row] is None}
        self._fill(later)
        self.begun = begun

    def results(self) -> Iterator[dict[str, Any]]:
        """All results in the order of the rows, one at a time."""
        with self.path.open("rb") as file, self.path.open("rb") as aside:
            next(file)
            row = 0
            for line in file:
                if line.startswith(b"["):
                    continue
                if row in self._later:
                    aside.seek(self._later[row])
                    yield json.loads(aside.readline())[1]
                elif row not in self.gaps:
                    yield json.loads(line)
                row += 1

    def close(self) -> None:
        """Let others have the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _resume(self, header: Mapping[str, Any]) -> None:
        whole = self._read_lines()
        self._check(header)
        self.healed = whole < os.fstat(self._descriptor).st_size
        if self.healed:
            os.ftruncate(self._descriptor, whole)
        if not whole:
            self._write(_line(header))

    def _read_lines(self) -> int:
        """Note what each line is; return the bytes of whole ones: only the last can be torn."""
        size = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                if line.startswith(b"["):
                    self._fill({self._row_of(line): size})
                elif size:
                    if line == b"null\n":
                        self.gaps.add(self.begun)
                    self.begun += 1
                size += len(line)
        return size

    def _row_of(self, line: bytes) -> int:
        try:
            row = json.loads(line)[0]
        except (ValueError, LookupError):
            row = None
        if not isinstance(row, int) or row not in self.gaps:
            raise self._foreign()
        return row

    def _fill(self, later: Mapping[int, int]) -> None:
        self._later.update(later)
        self.gaps.difference_update(later)

    def _check(self, header: Mapping[str, Any]) -> None:
        with self.path.open("rb") as file:
            first = file.readline()
        if not first.endswith(b"\n") and _line(header).startswith(first[:_KEY]):
            return  # not begun, or no further than within its first line
        try:
            found = json.loads(first)
        except ValueError:
            found = None
        if not isinstance(found, dict) or "input" not in found:
            raise self._foreign()
        expected = json.loads(_line(header))
        other = [key for key in {**expected, **found} if not _same(expected.get(key), found.get(key))]
        if not other:
            return
        how = "go on as it was begun, or delete it to start over"
        if signs := [_MODEL[key] for key in other if key in _MODEL]:
            raise InputError(
                f"'{self.path}' was begun with another model at {found.get('model')}: {' and '.join(signs)}; {how}"
            )
        raise InputError(f"'{self.path}' was begun with another {other[0]}; {how}")

    def _foreign(self) -> InputError:
        return InputError(f"'{self.path}' is no unfinished bulk evaluation; name another output")

    def _write(self, data: bytes) -> None:
        before = os.fstat(self._descriptor).st_size
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, before)  # half a result would spoil the next
            raise InputError(f"cannot write '{self.path}': {error.strerror}; the same command goes on") from error


def _line(content: Any) -> bytes:
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()


def _same(one: Any, other: Any) -> bool:
    """Whether two entries of a header are equal, or two lists of numbers nearly so."""
    if not isinstance(one, list) or not isinstance(other, list):
        return bool(one == other)
    if len(one) != len(other):
        return False
    return math.dist(one, other) <= _TOLERANCE * math.hypot(*one)
