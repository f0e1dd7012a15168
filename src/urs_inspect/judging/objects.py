"""Objects in the text of a reply: JSON and what models write instead of it."""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

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


Shown = Literal["1", "2", "tie"]
"""The better response as it was shown, first or second."""

_WORD = re.compile(
    r"""[\s"'*_`\[(#]{0,9}
        (?:(?:(?:response|dialogue|answer|assistant|回答|助手|回复)[\s_-]{0,3})?(?:(?P<first>1|a)|(?P<second>2|b))
          |(?P<first_word>first|第一个(?:回答)?)|(?P<second_word>second|第二个(?:回答)?)
          |(?P<tie>tied?|equal|draw|same|both|neither|平局|平手|相当))
        [\s"'*_`\]).]{0,9}""",
    re.VERBOSE,
)
_MAX_WORD = 60
_TAIL = re.compile(
    r"""\s{0,3}(?:(?:is|was)\s(?:the\s)?(?:clearly\s|slightly\s|much\s)?better|wins|更好|更佳|较好|胜出)?[.。]?\s{0,3}
        (?:\((?P<inside>[^()]*)\)?|(?:[:,;]\s?|(?<=\s)[-–—]\s)(?P<after>.*))?\Z""",
    re.VERBOSE,
)
"""What may follow the word: "1 (more complete)", "Response 1 is better"."""
_UNCLEAR = re.compile(
    r"\b(?:[12ab]|one|two|first|second|tied?|equal\w*|draw|same|similar\w*|both|neither|none|not?|or|but"
    r"|other|worse|worst|weaker|weakest|inferior|loses|lost|although|though|however|while|whereas|despite|yet|unlike)\b"
    r"|[一二两不平差弱逊输另虽但]|相"
)
"""A remark that speaks of another verdict, or takes the first one back, leaves open which one is meant."""


def read_word(value: object) -> Shown | None:
    """The response that a word or a number names as the better one; None if it names none, or says more than that."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value) if isinstance(value, int) and abs(value) < 10 else value
    if not isinstance(text, str) or len(text) > _MAX_WORD:
        return None
    plain = unicodedata.normalize("NFKC", text).casefold()
    match = _WORD.fullmatch(plain)
    if match is None:
        match = _WORD.match(plain)
        tail = _TAIL.match(plain, match.end()) if match else None
        if match is None or tail is None or _UNCLEAR.search(tail["inside"] or tail["after"] or ""):
            return None
    if match["tie"]:
        return "tie"
    return "1" if match["first"] or match["first_word"] else "2"


WINNER_KEYS = frozenset({"winner", "verdict", "better", "choice", "preference"})
"""Keys under which a judge names the better response."""

MAX_NAME = 80
"""Characters of a name that a judge gives to what a verdict is about."""

_VERDICT_OBJECTS_NAME_KEYS = ("dimension", "name")
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


_VERDICT_OBJECTS_DECODER = json.JSONDecoder(object_pairs_hook=_keep_pairs, strict=False)


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
            value, position = _VERDICT_OBJECTS_DECODER.raw_decode(text, match.start())
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
    return next((value[key] for key in _VERDICT_OBJECTS_NAME_KEYS if isinstance(value.get(key), str)), "")


_CLOSING = re.compile(r"""[\s}\],;"'`]*""")
_VALUE = r"""(?:"([^"\n]{0,40})"|'([^'\n]{0,40})'|(\w[\w ]{0,20})(?=\s{0,20}(?:[,}\n]|\Z)))"""
_KEYS = "|".join(sorted(WINNER_KEYS))
_QUOTED_WINNER = re.compile(rf"""["'](?:{_KEYS})["']\s{{0,20}}:\s{{0,20}}{_VALUE}""", re.IGNORECASE)
_BARE_WINNER = re.compile(
    rf"(?:\A|[{{,\n])[ \t*#>-]{{0,20}}(?:winner|verdict)[ \t*]{{0,5}}:[ \t*]{{0,5}}{_VALUE}", re.IGNORECASE
)
_KEY = re.compile(
    rf"""(?:"([^"\n{{}}]{{1,{MAX_NAME}}})"|'([^'\n{{}}]{{1,{MAX_NAME}}})')\s{{0,20}}:\s{{0,20}}(?:(\{{)|{_VALUE})"""
)


def loose_entries(text: str) -> list[tuple[str, Any]]:
    """Whatever looks like a key with a verdict that can be read."""
    entries: list[tuple[str, Any]] = []
    matches = list(_KEY.finditer(text))
    nested = [match for match in matches if match.group(3)]
    limits = [*(match.start() for match in nested), len(text)]
    for match, limit in zip(nested, limits[1:], strict=True):
        words = loose_winners(text[match.end() : limit])
        if len({read_word(word) for word in words}) == 1:
            entries.append((match.group(1) or match.group(2), {"winner": words[0]}))
    for match in matches:
        if not match.group(3):
            entries.append((match.group(1) or match.group(2), _value(match, 4)))
    return [(key, value) for key, value in entries if verdict_of(value) is not None]


def loose_winners(text: str) -> list[str]:
    """Winners in a broken object: all, or the last if nothing comes after it, as was asked for."""
    matches = list(_QUOTED_WINNER.finditer(text)) or list(_BARE_WINNER.finditer(text))
    words = [_value(match, 1) for match in matches]
    return words[-1:] if matches and _CLOSING.fullmatch(text, matches[-1].end()) else words


def _value(match: re.Match[str], group: int) -> str:
    return next(value for value in match.groups()[group - 1 :] if value is not None)
