"""JSON objects in a judge's reply, and the winners that they name."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from urs_inspect.judging.verdict_words import Shown, read_word
from urs_inspect.rubrics import normalise_key

WINNER_KEYS = frozenset({"winner", "verdict", "better", "choice", "preference"})
"""Keys under which a judge names the better response."""

MAX_NAME = 80
"""Characters of a name that a judge gives to what a verdict is about."""

_NAME_KEYS = ("dimension", "name")
_MAX_DEPTH = 4
_MAX_BROKEN = 50
"""Broken objects that are tried one by one; the bound keeps reading linear in the length of the reply."""

_OPENING = re.compile(r'\{(?=\s{0,200}")')


class ReplyObject(dict[str, Any]):
    """A JSON object that remembers keys written twice."""

    pairs: list[tuple[str, Any]]


def _keep_pairs(pairs: list[tuple[str, Any]]) -> ReplyObject:
    made = ReplyObject(pairs)
    made.pairs = pairs
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_keep_pairs, strict=False)


class ParsedObject(NamedTuple):
    """An object of the reply and where it stands."""

    start: int
    end: int
    value: ReplyObject


def parse_objects(text: str) -> tuple[list[ParsedObject], list[int]]:
    """The outermost objects that parse, and where broken ones begin; nothing parses in a reply of too many broken."""
    found: list[ParsedObject] = []
    broken: list[int] = []
    position = 0
    while match := _OPENING.search(text, position):
        try:
            value, position = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            broken.append(match.start())
            position = match.end()
            if len(broken) > _MAX_BROKEN:
                return [], [0]
        else:
            found.append(ParsedObject(match.start(), position, value))
    return found, broken


def pairs_of(value: ReplyObject, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The pairs of an object, and of the objects it wraps (`{"dimensions": {...}, "overall": {...}}`).

    An object that names what it is about is one pair itself (`{"dimension": "Clarity", "winner": "1"}`).
    """
    if _has_winner(value) and (name := _name_of(value)):
        yield name, value
        return
    for key, inner in value.pairs:
        if isinstance(inner, list):
            named = (item for item in inner if isinstance(item, ReplyObject))
            yield from ((name, item) for item in named if (name := _name_of(item)))
        elif isinstance(inner, ReplyObject) and inner.pairs and not _has_winner(inner) and depth < _MAX_DEPTH:
            yield from pairs_of(inner, depth + 1)
        else:
            yield key, inner


def winners_of(value: ReplyObject, names: Collection[str]) -> list[Any]:
    """What an object gives as the winner: itself, or else about one of the names, or else about anything.

    Args:
        value: The object.
        names: Normalised names of what is asked for.

    Returns:
        Its winners, in words that are not read yet; several if it gives several.
    """
    if own := _own_winners(value):
        return own
    pairs = list(pairs_of(value))
    about = [inner for key, inner in pairs if normalise_key(key) in names]
    return about or [inner for _, inner in pairs if isinstance(inner, ReplyObject) and _has_winner(inner)]


def verdict_of(value: object) -> Shown | None:
    """The better response that an object, or a plain value, names; None where it names none, or several."""
    if isinstance(value, ReplyObject):
        words = {read_word(inner) for inner in _own_winners(value)}
        return words.pop() if len(words) == 1 else None
    return read_word(value["winner"] if isinstance(value, Mapping) else value)


def winner_of(value: object) -> object:
    """What an object says the winner is, where it says one thing; else the value itself."""
    if not isinstance(value, ReplyObject):
        return value
    words = _own_winners(value)
    return words[0] if len(words) == 1 else dict(value)


def _has_winner(value: ReplyObject) -> bool:
    return bool(_own_winners(value))


def _own_winners(value: ReplyObject) -> list[Any]:
    return [inner for key, inner in value.pairs if key.strip().casefold() in WINNER_KEYS]


def _name_of(value: ReplyObject) -> str:
    """What an object in a list is about: `[{"dimension": "Clarity", "winner": "1"}]`."""
    return next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), "")
