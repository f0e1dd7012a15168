"""The key of a record: what shows that a result in a reply is the judge's own and not a quotation."""

import hashlib
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from urs_inspect.judging.material import decoded
from urs_inspect.judging.outcomes import FailureMode, JudgeFailure
from urs_inspect.judging.records import Span, read_pairs, spans
from urs_inspect.rubrics import normalise_key

KEY = "key"
"""Name of the entry of a record that holds the key."""

KEY_PLACEHOLDER = "<key>"
"""What stands for the key in the static part of a prompt, which must be the same for all cases."""

_LETTERS = "bcdfghjkmnpqrstvwxz"
"""No digits, which a judge may write as a number; no vowels, which make words; no letters that look like others."""
_LENGTH = 8
_MAX_HEIGHT = 8
_MAX_KEYS = 20
"""So many last occurrences of the key are looked at; the bound keeps reading linear in the length of the reply."""
_NOTHING: frozenset[FailureMode] = frozenset({"unparseable", "refusal", "empty_reply"})

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Read(Generic[ResultT]):
    """What was read from a reply.

    Attributes:
        result: The result, or why there is none.
        unkeyed: Whether it comes from a record without a key.
    """

    result: ResultT | JudgeFailure
    unkeyed: bool


def record_key(version: str, *materials: str) -> str:
    """The key that a judge must write into its record: eight letters that the same case always has.

    Args:
        version: Name and version of the prompt.
        materials: What is judged, in the order shown: question, reference, answer; of a pair both responses.

    Returns:
        The key. It occurs in none of the materials, not even in an encoded form.
    """
    forms = {form.casefold() for text in materials for form in (text, decoded(text))}
    for attempt in itertools.count():
        digest = hashlib.sha256(json.dumps([attempt, version, *materials]).encode()).digest()
        number, key = int.from_bytes(digest), ""
        for _ in range(_LENGTH):
            number, place = divmod(number, len(_LETTERS))
            key += _LETTERS[place]
        if not any(key in form for form in forms):
            return key
    raise AssertionError("unreachable")


def read_keyed(
    text: str,
    key: str,
    read: Callable[[str], ResultT | JudgeFailure],
    conflict: Callable[[ResultT, ResultT], bool] = lambda last, earlier: False,
    together: bool = False,
) -> Read[ResultT]:
    """Read a reply whose record should bear a key.

    The last object with the key counts, whatever stands around it. Without any key the whole reply is read. A reply
    whose results bear only other keys is a failure: a judge may have garbled the key, or quoted somebody's record.

    Args:
        text: The reply.
        key: The key; empty if the prompt asks for none.
        read: Reads a result from a text that may hold one.
        conflict: Whether the last result cannot stand for an earlier one with the key.
        together: Whether several objects with the key may make up one result.

    Returns:
        The result. Never raises if `read` does not.
    """
    own = _own(text, key) if key else []
    if not own:
        wrong = _other_key(text, read) if key else ""
        if not wrong:
            return Read(read(text), True)
        return Read(JudgeFailure("wrong_key", f'The "{KEY}" of the JSON object is {wrong}, not "{key}".'), True)
    found = [(span, read(text[span.start : span.end])) for span in own]
    telling = [
        (span, result) for span, result in found if not isinstance(result, JudgeFailure) or result.mode not in _NOTHING
    ]
    if not telling:
        return Read(JudgeFailure("unparseable", f'The JSON object with "{KEY}" holds no result.'), False)
    # An object around another with the key may be a stray pair of braces.
    kept = [(span, result) for span, result in telling if not any(_holds(span, inner) for inner, _ in telling)]
    last = kept[-1][1]
    if together and len(kept) > 1:
        last = read("\n".join(text[span.start : span.end] for span, _ in kept))
    if not isinstance(last, JudgeFailure):
        for _, earlier in kept[:-1]:
            if not isinstance(earlier, JudgeFailure) and conflict(last, earlier):
                detail = "The last JSON object lacks something, and an earlier one has another final result."
                return Read(JudgeFailure("conflicting_scores", detail), False)
    return Read(last, False)


def _own(text: str, key: str) -> list[Span]:
    """The innermost objects around the key, the first one first. One that is never closed reaches to the end."""
    places = [match.start() for match in re.finditer(re.escape(key), text, re.IGNORECASE)][-_MAX_KEYS:]
    if not places:
        return []
    closed = spans(text, max_height=_MAX_HEIGHT)
    found: set[Span] = set()
    for place in places:
        around = next((span for span in closed if span.start < place < span.end), None)
        if around is None and re.search(rf"{KEY}\W{{1,9}}\Z", text[max(0, place - 20) : place], re.IGNORECASE):
            starts = {span.start for span in closed}
            around = next((Span(at, len(text)) for at in range(place, -1, -1) if _opens(text, at, starts)), None)
        if around is not None:
            found.add(around)
    return sorted(found)


def _opens(text: str, at: int, closed: set[int]) -> bool:
    return text[at : at + 1] in ("{", "｛") and at not in closed


def _holds(outer: Span, inner: Span) -> bool:
    return outer != inner and outer.start <= inner.start and inner.end <= outer.end


def _other_key(text: str, read: Callable[[str], ResultT | JudgeFailure]) -> str:
    """Another key that a result in the text bears, as it stands in a message; empty if there is none."""
    if KEY not in text.casefold():
        return ""
    for span in spans(text, max_height=_MAX_HEIGHT):
        inner = text[span.start : span.end]
        given = [value for name, value in read_pairs(inner) if normalise_key(name) == KEY]
        written = [str(value).strip() for value in given if isinstance(value, (str, int))]
        if any(written) and not isinstance(read(inner), JudgeFailure):
            return json.dumps(next(filter(None, written))[:40], ensure_ascii=False)
    return ""
