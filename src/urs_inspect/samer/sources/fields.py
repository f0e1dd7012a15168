"""Fields of published records: texts, numbers and turns, or why a record is of no use."""

import json
import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from urs_inspect.errors import InputError
from urs_inspect.samer.training.pairs import Preference

Record = Mapping[str, Any]
Made = tuple[str, str, str, Preference | None]
"""Prompt, response a, response b, winner."""


class SkipError(Exception):
    """The record is of no use here; the text says why."""


def text(record: Record, column: str) -> str:
    """A text that is not blank.

    Raises:
        InputError: If it is no text.
        SkipError: If it is blank.
    """
    value = record.get(column)
    if not isinstance(value, str):
        raise InputError(f"'{column}' must be a text, is {_shown(value)}")
    if not value.strip():
        raise SkipError(f"'{column}' is blank")
    return value


def both(records: Sequence[Record], column: str) -> tuple[str, str]:
    """The same text of each of two records."""
    first, second = records
    return text(first, column), text(second, column)


def number(record: Record, column: str) -> float:
    """A finite number, also as a text.

    Raises:
        InputError: If it is none.
    """
    found = rating(record, column)
    if found is None:
        raise InputError(f"'{column}' must be a number, is {_shown(record.get(column))}")
    return found


def flag(record: Record, column: str) -> bool:
    """True or false.

    Raises:
        InputError: If it is neither.
    """
    value = record.get(column)
    if not isinstance(value, bool):
        raise InputError(f"'{column}' must be true or false, is {_shown(value)}")
    return value


def rating(record: Record, column: str) -> float | None:
    """A finite number, also as a text; None where there is none, as where a rater gave none."""
    value = record.get(column)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def higher(records: Sequence[Record], column: str) -> Preference:
    """Which of two records is rated higher.

    Raises:
        SkipError: If one has no rating.
    """
    one, two = (rating(record, column) for record in records)
    if one is None or two is None:
        raise SkipError(f"no '{column}'")
    return "a" if one > two else "b" if two > one else "tie"


def only_turn(record: Record, column: str) -> tuple[str, str]:
    """Question and answer of a conversation.

    Raises:
        InputError: If it is no list of messages.
        SkipError: If it has more than one turn, or does not begin with a question and an answer.
    """
    messages = record.get(column)
    if isinstance(messages, list) and len(messages) > 2:
        raise SkipError(f"'{column}' has more than one turn")
    return first_turn(record, column)


def first_turn(record: Record, column: str) -> tuple[str, str]:
    """The first question and answer of a conversation of any length.

    Raises:
        InputError: If it is no list of messages.
        SkipError: If it does not begin with a question and an answer.
    """
    messages = record.get(column)
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise InputError(f"'{column}' must be a list of messages, is {_shown(messages)}")
    if [message.get("role") for message in messages[:2]] != ["user", "assistant"]:
        raise SkipError(f"'{column}' does not begin with a question and an answer")
    return both(messages[:2], "content")


def only_text(record: Record, column: str) -> str:
    """The only one of a list of texts, also of one written as JSON.

    Raises:
        InputError: If it is no list of texts.
        SkipError: If there are several, or it is blank.
    """
    value = record.get(column)
    try:
        turns = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        turns = [value]  # plain text
    turns = [turns] if isinstance(turns, str) else turns
    if not isinstance(turns, list) or not turns:
        raise InputError(f"'{column}' must be a list of texts, is {_shown(value)}")
    if len(turns) > 1:
        raise SkipError(f"'{column}' has more than one turn")
    return text({column: turns[0] or ""}, column)


def tossed(prompt: str, better: str, worse: str) -> Made:
    """A pair whose sides are tossed by a hash of its texts, for data that always put the better one first."""
    if int(hashed(prompt, better, worse)[:2], 16) & 1:
        return prompt, worse, better, "b"
    return prompt, better, worse, "a"


def hashed(*values: str | None) -> str:
    """SHA-256 of texts, as hexadecimal digits."""
    return sha256(json.dumps(values).encode()).hexdigest()


def _shown(value: Any) -> str:
    return repr(value)[:60] if isinstance(value, str) else json.dumps(value, default=str)[:60]
