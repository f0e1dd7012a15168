"""Replies of judges on disk, so that none is paid for twice."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from logging import getLogger
from pathlib import Path
from typing import Any

from urs_inspect.errors import InputError
from urs_inspect.judging import Message, Reply

logger = getLogger(__name__)

_CREATE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, stop_reason TEXT NOT NULL)"
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_COLUMNS = "SELECT name FROM pragma_table_info('replies')"
_WAIT_S = 30


class ReplyCache:
    """Replies by judge, parameters and prompt. Each is safe on disk when it is put; several processes may share a file.

    Args:
        file: The file; None for no cache.

    Raises:
        InputError: If the file cannot be used.
    """

    def __init__(self, file: Path | None) -> None:
        self._connection: sqlite3.Connection | None = None
        self._broken = False
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(file, timeout=_WAIT_S, isolation_level=None)
            self._open(self._connection)
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise InputError(f"judge_cache: cannot use '{file}': {error}") from error

    def get(self, key: str) -> Reply | None:
        """The reply of an earlier call; None if there was none, or it cannot be had."""
        rows = self._execute("SELECT text, stop_reason FROM replies WHERE key = ?", key)
        if not rows or not all(isinstance(value, str) for value in rows[0]):
            return None
        return Reply(*rows[0])

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; an error is none."""
        if not reply.error:
            self._execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", key, reply.text, reply.stop_reason)

    def drop(self, key: str) -> None:
        """Forget a reply."""
        self._execute("DELETE FROM replies WHERE key = ?", key)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self, connection: sqlite3.Connection) -> None:
        tables = {name for (name,) in connection.execute(_TABLES)}
        if tables and "replies" not in tables:
            raise sqlite3.DatabaseError("it is a database of something else")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(_CREATE)
        columns = [name for (name,) in connection.execute(_COLUMNS)]
        if columns != ["key", "text", "stop_reason"]:
            raise sqlite3.DatabaseError(f"its table 'replies' has the columns {', '.join(columns)}")

    def _execute(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        if self._connection is None:
            return []
        try:
            with closing(self._connection.execute(statement, values)) as found:
                return found.fetchall()
        except (sqlite3.Error, UnicodeEncodeError) as error:  # a full disk must not lose the judgement itself
            if not self._broken:
                logger.warning(f"judge_cache: replies may not be kept or found: {error}")
            self._broken = True
            return []


def key_of(parameters: Mapping[str, Any], messages: Sequence[Message]) -> str:
    """What a reply depends on, as one SHA-256.

    Args:
        parameters: Provider, endpoint, model and settings of the call.
        messages: What is sent.
    """
    sent = [(message.role, message.text) for message in messages]
    text = json.dumps([dict(parameters), sent], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
