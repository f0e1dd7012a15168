"""Objects in text: JSON, and what models write in its place.

Every reader of replies finds objects here.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, cast

from urs_inspect._util import word_set

_BRACE = re.compile(r"[{}｛｝]")
_BRACE_OR_STRING = re.compile(
    r"""[{}｛｝] | (?<=[{｛\[,，:：\s])
        (?:"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | “[^“”\n]*” | ‘[^‘’\n]*’
            | 「[^「」\n]*」 | 『[^『』\n]*』)
        (?=\s*[,，:：}｝\]])""",
    re.VERBOSE,
)
MAX_HEIGHT = 4
"""The deepest score object is `{"evaluation": {"scores": {"Factuality": {"score": 8}}, "Final
Score": 8}}`.

The bound also keeps the search linear in the length of the text.
"""

_TO_ASCII = str.maketrans(
    "｛｝：，“”„‟＂‘’‛＇「」『』／０１２３４５６７８９．", '{}:,"""""\'\'\'\'""""/0123456789.'
)
_PAIR = re.compile(
    r"""(?:["']([^"'{}:,\n]{1,80})["']|([^\s"'{}:,][^"'{}:,\n]{0,79}))\s{0,20}:\s{0,20}
        (?:"([^"\n]{0,2000})"|'([^'\n]{0,2000})'|\{([^{}]{0,2000})\}|([^,{}\n"']{0,80}))""",
    re.VERBOSE,
)
_NESTED_SCORE = re.compile(
    r"""["']?(?:score|rating|value|分数|得分|评分|打分)["']?\s*:\s*["']?([^,"'{}\n]{1,40})""",
    re.IGNORECASE,
)
NESTED_KEYS = word_set("score rating value 分数 得分 评分 打分")
"""Keys under which an object holds the score of a single criterion: `{"score": 8, "reason":
...}`.
"""
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_OPENING = re.compile(r'\{(?=\s{0,200}")')


class Span(NamedTuple):
    """A text between matching braces.

    Positions of the opening brace and just after the closing one.
    """

    start: int
    end: int


class Pairs(list[tuple[str, Any]]):
    """A JSON object as pairs, so that a key written twice is noticed."""


class ParsedObject(NamedTuple):
    """A place where JSON begins; `pairs` is None where it does not parse."""

    start: int
    end: int
    pairs: Pairs | None


_STRICT = json.JSONDecoder(object_pairs_hook=Pairs)
_LENIENT = json.JSONDecoder(object_pairs_hook=Pairs, strict=False)


def spans(text: str, inside_strings: bool = False, max_height: int = MAX_HEIGHT) -> list[Span]:
    """List the matching braces of a text, the pair that opens last first.

    Braces inside a string of an object are text, unless `inside_strings`; pairs that hold more than
    `max_height` levels are left out.
    """
    stack: list[tuple[int, int]] = []
    closed: list[Span] = []
    position = 0
    while True:
        pattern = _BRACE
        if stack and not inside_strings:
            pattern = _BRACE_OR_STRING
        match = pattern.search(text, position)
        if match is None:
            break
        position = match.end()
        if match.group() in "{｛":
            stack.append((match.start(), 1))
        elif stack and match.group() in "}｝":
            start, height = stack.pop()
            if height <= max_height:
                closed.append(Span(start, match.end()))
            if stack:
                parent, parent_height = stack[-1]
                stack[-1] = (parent, max(parent_height, height + 1))
    closed.sort(key=lambda span: -span.start)
    return closed


def read_pairs(text: str) -> Iterable[tuple[str, Any]]:
    """Keys and values of `{...}`, read as JSON, or as what a judge writes in place of JSON."""
    straight = text.translate(_TO_ASCII)
    # As it stands first: a string may quote “Final Score”: 10.
    for candidate in dict.fromkeys((text, straight, _as_json(straight))):
        try:
            return cast("Pairs", _STRICT.decode(candidate))
        except (ValueError, RecursionError):
            continue
    return _loose_pairs(straight)


def _as_json(text: str) -> str:
    """JSON in place of a dictionary of Python."""
    text = _TRAILING_COMMA.sub("", text)
    if '"' in text:
        return text
    return text.replace("'", '"')


def _loose_pairs(text: str) -> Iterator[tuple[str, Any]]:
    for quoted, bare, double, single, nested, plain in _PAIR.findall(text[1:-1]):
        key = (quoted or bare).strip()
        match = _NESTED_SCORE.search(nested)
        if match:
            yield key, match[1].strip()
        else:
            yield key, nested or double or single or plain.strip()


def unwrap(value: Any) -> Any:
    """The score that a value such as `{"score": 8, "reason": ...}` wraps.

    Any other value in plain characters.
    """
    if isinstance(value, Pairs):
        scores = [inner for key, inner in value if key.strip().casefold() in NESTED_KEYS]
        value = scores[0] if len(scores) == 1 else str(value)
    if isinstance(value, str) and not value.isascii():
        return value.translate(_TO_ASCII)
    return value


def json_objects(
    text: str, look_inside: Callable[[Pairs], bool] = lambda pairs: False
) -> Iterator[ParsedObject]:
    """Yield what begins like a JSON object.

    The outermost objects and the broken ones, and those inside on demand.
    """
    position = 0
    while match := _OPENING.search(text, position):
        position = match.end()
        try:
            pairs, end = _LENIENT.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            yield ParsedObject(match.start(), position, None)
            continue
        if not look_inside(pairs):
            position = end
        yield ParsedObject(match.start(), end, pairs)
