"""The results of an unfinished bulk evaluation in a SQLite file; survives a kill at any moment."""

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from urs_inspect._util import InputError

_APPLICATION = 0x53614D65  # "SaMe", by which SQLite and we know the file
_SMALLEST = 512  # bytes of a database; SQLite takes a file of one byte for an empty one
_TOLERANCE = 0.02
"""How far lists of numbers may differ, as a share of their length: rounding in 16 bits makes half
as much.
"""

_MODEL = {
    "fingerprint": "its files have changed",
    "served": "the server has another name for it",
    "probe": "its numbers for a fixed text are different",
}
"""What a header holds about the model itself -> what it means if that is not as it was."""


class PartialResults:
    """Results by the number of their row, counted from 0.

    What `add` has returned from is on the disk.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], wait: float = 0.0) -> None:
        self.path = path
        self.begun = 0  # rows, from the first one, that have a result or are a gap
        self.gaps: set[int] = set()  # rows that were begun and have no result yet
        if path.is_file() and 0 < path.stat().st_size < _SMALLEST:
            raise self._foreign()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # The exclusive lock is taken by the first statement, after at most `wait` s, and kept
            # until this is closed.
            self._database = sqlite3.connect(
                path, timeout=wait, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"cannot write '{path}': {getattr(error, 'strerror', None) or error}"
            ) from None
        try:
            self._open(header)
        except sqlite3.Error as error:
            self._database.close()
            raise self._refusal(error) from error
        except BaseException:
            self._database.close()
            raise

    @property
    def done(self) -> int:
        """Number of rows that have a result."""
        return self.begun - len(self.gaps)

    def add(self, results: Mapping[int, Mapping[str, Any] | None]) -> None:
        """Add results in one transaction; None makes a gap.

        Rows are gaps, or the next ones without a hole.
        """
        begun = self.begun
        for row in sorted(results):
            if row == begun:
                begun += 1
            elif row not in self.gaps:
                raise ValueError(f"row {row} after {begun} rows")
        rows = []
        for row, result in results.items():
            text = None if result is None else _text(result)
            rows.append((row, text))
        try:
            self._database.execute("BEGIN")
            self._database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?)", rows)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):  # SQLite itself has rolled back what a full disk stopped
                self._database.execute("ROLLBACK")
            raise InputError(
                f"cannot write '{self.path}': {error}; the same command resumes"
            ) from error
        self.begun = begun
        self.gaps = (self.gaps - results.keys()) | {
            row for row, result in results.items() if result is None
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """All results in the order of the rows, one at a time."""
        for (result,) in self._database.execute(
            "SELECT result FROM results WHERE result IS NOT NULL ORDER BY row"
        ):
            yield json.loads(result)

    def close(self) -> None:
        """Let other processes have the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, header: Mapping[str, Any]) -> None:
        database = self._database
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("BEGIN EXCLUSIVE")
        [application] = database.execute("PRAGMA application_id").fetchone()
        [tables] = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == 0 and not tables:
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute("CREATE TABLE header (header TEXT NOT NULL)")
            database.execute("CREATE TABLE results (row INTEGER PRIMARY KEY, result TEXT)")
            database.execute("INSERT INTO header VALUES (?)", (_text(header),))
        elif application != _APPLICATION:
            raise self._foreign()
        else:
            [kept] = database.execute("SELECT header FROM header").fetchone()
            if other := difference(header, json.loads(kept)):
                raise InputError(
                    f"'{self.path}' was begun with {other}; resume it as it was begun, or delete it"
                    " to start over"
                )
        database.execute("COMMIT")
        [self.begun] = database.execute("SELECT coalesce(max(row) + 1, 0) FROM results").fetchone()
        gaps = database.execute("SELECT row FROM results WHERE result IS NULL")
        self.gaps = {row for (row,) in gaps}

    def _foreign(self) -> InputError:
        return InputError(f"'{self.path}' is no unfinished bulk evaluation; name another output")

    def _refusal(self, error: sqlite3.Error) -> InputError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            return self._foreign()
        reasons = {
            sqlite3.SQLITE_BUSY: "it is in use: another process writes the same output",
            sqlite3.SQLITE_LOCKED: "it is in use: another process writes the same output",
            # such as a network file system without locks
            sqlite3.SQLITE_IOERR: f"{error}; name another output",
            sqlite3.SQLITE_CORRUPT: f"it is damaged: {error}; delete it to start over",
        }
        return InputError(f"cannot write '{self.path}': {reasons.get(code, error)}")


def partial_path(out: Path) -> Path:
    """Where the results of an unfinished evaluation are, beside the output."""
    return out.with_name(f"{out.name}.partial.sqlite")


def remove_partial(path: Path) -> None:
    """Delete a finished evaluation's file and what SQLite may have left beside it."""
    for name in (path.name, f"{path.name}-journal"):
        path.with_name(name).unlink(missing_ok=True)


def difference(header: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    """What results with the facts `kept` were made from that `header` lacks; empty if nothing."""
    expected = json.loads(_text(header))
    other = [key for key in {**expected, **kept} if not _same(expected.get(key), kept.get(key))]
    if signs := [_MODEL[key] for key in other if key in _MODEL]:
        return f"another model at {kept.get('model')}: {' and '.join(signs)}"
    if other:
        return f"another {other[0]}"
    return ""


def _text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False)


def _same(value: Any, other: Any) -> bool:
    """Whether two entries of a header are equal, or two lists of numbers nearly so."""
    if not isinstance(value, list) or not isinstance(other, list):
        return bool(value == other)
    return len(value) == len(other) and math.dist(value, other) <= _TOLERANCE * math.hypot(*value)
