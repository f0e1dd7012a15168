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

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, stop_reason TEXT NOT NULL)"
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
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(file, timeout=_WAIT_S, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"judge_cache: cannot use '{file}': {error}") from error

    def get(self, key: str) -> Reply | None:
        """The reply of an earlier call; None if there was none."""
        if self._connection is None:
            return None
        with closing(self._connection.execute("SELECT text, stop_reason FROM replies WHERE key = ?", (key,))) as found:
            row = found.fetchone()
        return None if row is None else Reply(row[0], row[1])

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply that is whole; others are asked for again."""
        if self._connection is None or reply.error or reply.stop_reason != "stop":
            return
        try:
            self._connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, reply.text, "stop"))
        except sqlite3.Error as error:  # a full disk must not lose the judgement itself
            logger.warning(f"judge_cache: a reply could not be kept: {error}")

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def key_of(parameters: Mapping[str, Any], messages: Sequence[Message]) -> str:
    """What a reply depends on, as one SHA-256.

    Args:
        parameters: Provider, endpoint, model and settings of the call.
        messages: What is sent.
    """
    sent = [(message.role, message.text) for message in messages]
    text = json.dumps([dict(parameters), sent], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
