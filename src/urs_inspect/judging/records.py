"""Finds score records, `{"Factuality": 8, ..., "Final Score": 7}`, in free text.

Used in both directions: to read a judge's reply, and to take the braces off a record that
somebody planted in the material to be judged.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from urs_inspect.rubrics import FINAL, Rubric, normalise_key

_BRACE = re.compile(r"[{}｛｝]")
_BRACE_OR_STRING = re.compile(
    r"""[{}｛｝] | (?<=[{｛\[,，:：\s])
        (?:"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | “[^“”\n]*” | ‘[^‘’\n]*’ | 「[^「」\n]*」 | 『[^『』\n]*』)
        (?=\s*[,，:：}｝\]])""",
    re.VERBOSE,
)
_MAX_HEIGHT = 4
"""The deepest record is `{"evaluation": {"scores": {"Factuality": {"score": 8}}, "Final Score": 8}}`; deeper braces are
something else. The bound also keeps the search linear in the length of the text."""

_TO_ASCII = str.maketrans("｛｝：，“”„‟＂‘’‛＇「」『』／０１２３４５６７８９．", '{}:,"""""\'\'\'\'""""/0123456789.')
_PAIR = re.compile(
    r"""(?:["']([^"'{}:,\n]{1,80})["']|([^\s"'{}:,][^"'{}:,\n]{0,79}))\s{0,20}:\s{0,20}
        (?:"([^"\n]{0,2000})"|'([^'\n]{0,2000})'|\{([^{}]{0,2000})\}|([^,{}\n"']{0,80}))""",
    re.VERBOSE,
)
_NESTED_SCORE = re.compile(
    r"""["']?(?:score|rating|value|分数|得分|评分|打分)["']?\s*:\s*["']?([^,"'{}\n]{1,40})""", re.IGNORECASE
)
_NESTED_KEYS = frozenset({"score", "rating", "value", "分数", "得分", "评分", "打分"})
_NAME_KEYS = frozenset(
    {
        "criterion",
        "criteria",
        "name",
        "dimension",
        "aspect",
        "metric",
        "item",
        "key",
        "维度",
        "评判维度",
        "名称",
        "指标",
    }
)
"""Under which an object of a list names its criterion: `[{"criterion": "Factuality", "score": 8}]`."""
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")


class Span(NamedTuple):
    """A text between matching braces: positions of the opening brace and just after the closing one."""

    start: int
    end: int


@dataclass(frozen=True)
class RawRecord:
    """The values that a record holds for known score keys, as written.

    Attributes:
        values: Score key -> every value written for it.
        plain_final: Whether the final score has its full name rather than an everyday word such as "total".
    """

    values: dict[str, list[Any]]
    plain_final: bool

    @property
    def is_complete(self) -> bool:
        """Whether this is a score record and not a stray object that happens to hold a "total"."""
        return FINAL in self.values and (self.plain_final or len(self.values) > 1)


def spans(text: str, inside_strings: bool = False, max_height: int = _MAX_HEIGHT) -> list[Span]:
    """List the brace pairs of `text` that could be records, the one that opens last first.

    Braces inside a string of an object are text, unless `inside_strings`; pairs that hold more than `max_height` levels
    are left out.
    """
    stack: list[tuple[int, int]] = []
    found: list[Span] = []
    position = 0
    while match := (_BRACE_OR_STRING if stack and not inside_strings else _BRACE).search(text, position):
        position = match.end()
        if match.group() in "{｛":
            stack.append((match.start(), 1))
        elif stack and match.group() in "}｝":
            start, height = stack.pop()
            if height <= max_height:
                found.append(Span(start, match.end()))
            if stack:
                parent, parent_height = stack[-1]
                stack[-1] = (parent, max(parent_height, height + 1))
    found.sort(key=lambda span: -span.start)
    return found


def records(text: str, rubric: Rubric, inside_strings: bool = False) -> Iterator[tuple[Span, RawRecord]]:
    """Yield every object in `text` that names a score of the rubric, the one that opens last first."""
    for span in spans(text, inside_strings):
        record = read_record(text[span.start : span.end], rubric)
        if record.values:
            yield span, record


def read_record(text: str, rubric: Rubric) -> RawRecord:
    """Read `{...}` as JSON, or as whatever a judge writes in place of JSON."""
    values: dict[str, list[Any]] = {}
    plain_final = False
    for key, value in _flat(list(read_pairs(text)), rubric, _MAX_HEIGHT - 1):
        spelling = normalise_key(key)
        score_key = rubric.keys_by_spelling.get(spelling)
        if score_key is not None:
            values.setdefault(score_key, []).append(unwrap(value))
            plain_final |= spelling in rubric.final_spellings
    return RawRecord(values, plain_final)


def _flat(pairs: Sequence[tuple[str, Any]], rubric: Rubric, depth: int) -> Iterator[tuple[str, Any]]:
    """Pairs of an object and of those that it merely wraps: `{"scores": {"Factuality": 8}, "Final Score": 7}`."""
    if named := _named(pairs, rubric):
        yield named
        return
    for key, value in pairs:
        several = value if isinstance(value, list) and not isinstance(value, _Pairs) else [value]
        objects = [one for one in several if isinstance(one, _Pairs)]
        if objects and depth and normalise_key(key) not in rubric.keys_by_spelling:
            for one in objects:
                yield from _flat(one, rubric, depth - 1)
        else:
            yield key, value


def _named(pairs: Sequence[tuple[str, Any]], rubric: Rubric) -> tuple[str, Any] | None:
    """Name and score of an object such as `{"criterion": "Factuality", "score": 8}`; None if it is another one."""
    names = [value for key, value in pairs if normalise_key(key) in _NAME_KEYS and isinstance(value, str)]
    scores = [value for key, value in pairs if key.strip().casefold() in _NESTED_KEYS]
    names = [name for name in names if normalise_key(name) in rubric.keys_by_spelling]
    return (names[0], scores[0]) if len(names) == len(scores) == 1 else None


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as pairs, so that a key written twice is noticed."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs)


def read_pairs(text: str) -> Iterable[tuple[str, Any]]:
    """Keys and values of `{...}`, read as JSON, or as whatever a judge writes in place of JSON."""
    straight = text.translate(_TO_ASCII)
    # As it stands first: a string may quote “Final Score”: 10.
    for candidate in dict.fromkeys((text, straight, _as_json(straight))):
        try:
            return cast("_Pairs", _DECODER.decode(candidate))
        except (ValueError, RecursionError):
            continue
    return _loose_pairs(straight)


def _as_json(text: str) -> str:
    """JSON in place of a dictionary of Python."""
    text = _TRAILING_COMMA.sub("", text)
    return text if '"' in text else text.replace("'", '"')


def _loose_pairs(text: str) -> Iterator[tuple[str, Any]]:
    for quoted, bare, double, single, nested, plain in _PAIR.findall(text[1:-1]):
        yield (quoted or bare).strip(), _nested_score(nested) if nested else double or single or plain.strip()


def _nested_score(text: str) -> str:
    match = _NESTED_SCORE.search(text)
    return match.group(1).strip() if match else text


def unwrap(value: Any) -> Any:
    """The score that a value such as `{"score": 8, "reason": ...}` wraps; any other value in plain characters."""
    if isinstance(value, _Pairs):
        scores = [inner for key, inner in value if key.strip().casefold() in _NESTED_KEYS]
        value = scores[0] if len(scores) == 1 else str(value)
    return value.translate(_TO_ASCII) if isinstance(value, str) and not value.isascii() else value
