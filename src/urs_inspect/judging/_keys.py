"""The key of a record, which shows that a result in a reply is the judge's own."""

import hashlib
import itertools
import json
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from urs_inspect._util import word_set
from urs_inspect.judging._failures import FailureMode, JudgeFailure
from urs_inspect.judging._objects import NESTED_KEYS, Span, read_pairs, spans
from urs_inspect.judging._sanitize import decoded
from urs_inspect.rubrics import normalise_key

KEY = "key"
"""Name of the entry of a record that holds the key."""
ANALYSIS = "analysis"
"""Name of the first entry of a structured reply, which holds what a plain reply says before its
record.
"""
KEY_PLACEHOLDER = "<key>"
"""Placeholder of the key in the static part of a prompt, which must be the same for all cases."""

_LETTERS = "bcdfghjkmnpqrstvwxz"
"""No digits, which a judge may write as a number; no vowels, which make words.

No letters that look like others.
"""
_LENGTH = 8
_MAX_HEIGHT = 8
_MAX_KEYS = 20
"""Last occurrences of the key that are looked at.

The bound keeps reading linear in the length of the reply.
"""
_MAX_AROUND = 4
"""Objects around one with the key that are tried where it holds no result itself."""
_NOTHING: frozenset[FailureMode] = frozenset({"unparseable", "refusal", "empty_reply"})
_INCOMPLETE: frozenset[FailureMode] = _NOTHING | {"missing_final"}

_WRAPPERS = frozenset(
    map(
        normalise_key,
        word_set(
            "scores score ratings rating criteria criterion dimensions dimension evaluation"
            " evaluations result results judgement judgment assessment verdict verdicts overall"
            " final final_score review overall_winner overall_verdict overall_judgement"
            " overall_judgment 评分 得分 分数 打分 评价 评估 评判 结果 评分结果 评价结果 评估结果"
            " 标准 评分标准 维度 评判维度 指标 总评 综合得分"
        ),
    )
)
"""Names of objects that a record may consist of. A result under any other name may be quoted."""
_NAME = re.compile(
    r"""([^"'“”‘’「」『』{}｛｝\[\],，:：\n]{1,80})["'”’」』]?\s{0,9}[:：]\s{0,9}(?P<list>\[)?\s{0,9}\Z"""
)
_BETWEEN_ENTRIES = re.compile(r"\s*[,，]?\s*")
_PLACEHOLDER = re.compile(r"[<＜\[(].*[>＞\])]|[.…]+|key", re.IGNORECASE | re.DOTALL)
"""What a judge copies from the example of the record in place of the key."""
_ENTRY_LEAD = re.compile(r"[\[［,，]\s*\Z")
_ENTRY_SCORES = NESTED_KEYS | {"winner", "verdict"}

ResultT = TypeVar("ResultT")
MAX_READ = 200_000
"""Characters of the longest reply that is read; judges' replies have some thousands."""

Reader = Callable[[str], ResultT | JudgeFailure]
"""Reads a result from a text that may hold one; never raises."""


@runtime_checkable
class _OfParts(Protocol):
    """A result of several parts, of which some may be missing.

    Such parts are scores of criteria and a final one.
    """

    @property
    def missing(self) -> tuple[str, ...]: ...

    @property
    def final(self) -> object: ...

    def falls_short_of(self, earlier: Any) -> bool: ...


@dataclass(frozen=True)
class Read(Generic[ResultT]):
    """What was read from a reply.

    Attributes:
        result: The result, or why there is none.
        unkeyed: Whether the result came without the key, whether it counts or not (`no_key`).
        near_key: Whether its key is misspelled, or has blanks or dashes between its letters.
        several_records: Whether an earlier record with the key has another final result.
    """

    result: ResultT | JudgeFailure
    unkeyed: bool
    near_key: bool = False
    several_records: bool = False

    @property
    def marks(self) -> dict[str, bool]:
        """All but the result, by name."""
        return {
            "unkeyed": self.unkeyed,
            "near_key": self.near_key,
            "several_records": self.several_records,
        }


def record_key(version: str, *materials: str) -> str:
    """The key that a judge must write into its record.

    Eight letters, always the same for a prompt and its materials.

    Neither the key nor anything that `near_key` takes for it occurs in the materials, not even in
    an encoded form or with other signs between its letters.

    Of all words of eight such letters, 1 + 8 * 18 + (8 * 7 / 2) * 18**2 = 9,217 are within two
    substitutions of the key. So a word of eight letters drawn at random comes that near with 9,217
    / 19**8 = 5.4e-7, and real words, which have vowels, more rarely: about so often another key has
    to be drawn.
    """
    forms = set()
    for text in materials:
        forms.add(_squeezed(text))
        forms.add(_squeezed(decoded(text)))
    for attempt in itertools.count():
        about = json.dumps([attempt, version, *materials])
        digest = hashlib.sha256(about.encode()).digest()
        number = int.from_bytes(digest)
        key = ""
        for _ in range(_LENGTH):
            number, place = divmod(number, len(_LETTERS))
            key += _LETTERS[place]
        if not any(_has_near_key(form, key) for form in forms):
            return key
    raise AssertionError("unreachable")


def _squeezed(text: str) -> str:
    """The letters and digits of a text, in lower case and without anything between them."""
    return re.sub(r"[\W_]+", "", text.casefold())


def _edits(key: str) -> int:
    """How many letters of a key may be wrong: substituted, left out or added."""
    return len(key) // 4


def near_key(written: str, key: str) -> bool:
    """Whether a judge meant the key: at most two of its letters are wrong.

    Signs between them do not matter.
    """
    letters = _squeezed(written)
    most = _edits(key)
    if abs(len(letters) - len(key)) > most:
        return False
    row = list(range(len(key) + 1))
    for count, letter in enumerate(letters, 1):
        above = row
        row = [count]
        for place, wanted in enumerate(key):
            substituted = above[place] + (letter != wanted)
            left_out = above[place + 1] + 1
            added = row[place] + 1
            row.append(min(substituted, left_out, added))
    return row[-1] <= most


def _has_near_key(squeezed: str, key: str) -> bool:
    """Whether `near_key` holds for any part of a squeezed text.

    Takes no longer than the text is long.
    """
    most = _edits(key)
    # Of one part more than there may be wrong letters, one part must be there as it is.
    size = math.ceil(len(key) / (most + 1))
    starts = range(0, len(key), size)
    parts = [key[start : start + size] for start in starts]
    anywhere = re.compile("|".join(f"(?={part})" for part in parts))
    around = len(key) + most
    windows: list[tuple[int, int]] = []
    for match in anywhere.finditer(squeezed):
        begin = max(0, match.start() - around)
        if windows and begin <= windows[-1][1]:
            begin = windows.pop()[0]
        windows.append((begin, match.start() + around))
    return any(_matches(squeezed[begin:end], key, most) for begin, end in windows)


def _matches(text: str, key: str, most: int) -> bool:
    """Whether a part of the text is within `most` wrong letters of the key (Wu and Manber 1992)."""
    places = dict.fromkeys(key, 0)
    for place, letter in enumerate(key):
        places[letter] |= 1 << place
    whole = 1 << (len(key) - 1)
    states = [(1 << wrong) - 1 for wrong in range(most + 1)]
    for letter in text:
        here = places.get(letter, 0)
        before = states
        states = [(before[0] << 1 | 1) & here]
        for wrong in range(1, most + 1):
            right = (before[wrong] << 1 | 1) & here
            added = before[wrong - 1]
            either = before[wrong - 1] | states[wrong - 1]
            substituted_or_left_out = either << 1 | 1
            states.append(right | added | substituted_or_left_out)
        if states[most] & whole:
            return True
    return False


_KEY_ENTRY = re.compile(
    rf"""(?<![^\W_]){KEY}["'“”‘’「」『』]?\s{{0,9}}[:：]\s{{0,9}}["'“”‘’「」『』]?(?P<value>[^\n"'“”‘’「」『』,，:：{{}}｛｝]{{4,50}})""",
    re.IGNORECASE,
)


def _key_places(text: str, key: str) -> list[tuple[int, int]]:
    """Where the key is written, from first to last.

    As it is, or nearly so as the value of an entry `key`.
    """
    if not key:
        return []
    exact = [match.span() for match in _written(key).finditer(text)]
    starts = [start for start, _ in exact]
    near: list[tuple[int, int]] = []
    for match in _KEY_ENTRY.finditer(text):
        begin, end = match.span("value")
        is_exact = bisect_left(starts, begin) < bisect_left(starts, end)
        if not is_exact and near_key(match["value"], key):
            near.append((begin, end))
    return sorted(exact + near)


def holds_key(text: str, key: str) -> bool:
    """Whether a text holds the key, or nearly so in an entry `key`.

    Case and signs between its letters do not matter.
    """
    return bool(_key_places(text, key))


def _written(key: str) -> re.Pattern[str]:
    return re.compile(r"[\s_\-‐-―]{0,2}".join(map(re.escape, key)), re.IGNORECASE)


def read_keyed(
    text: str,
    key: str,
    read: Reader[ResultT],
    *,
    needs_key: bool = False,
    together: bool = False,
    names: Collection[str] = (),
) -> Read[ResultT]:
    """Read a reply whose record should contain a key.

    Without a key to look for, read it as it stands.

    The last object with the key counts, whatever surrounds it; of the objects inside it, those with
    a result of their own count only under a name for parts of a record (`scores`) or one of
    `names`. Where it holds no result, the objects around it are tried. Without any key, or with the
    key in an object that holds nothing else, the reply is read as it stands, and counts unless it
    `needs_key`. A reply whose results have only other keys is a failure: a judge may have garbled
    the key, or quoted another record. So is one whose last keyed result lacks parts and contradicts
    an earlier one, or is followed by a whole result without the key that differs. `together`:
    whether several objects with the key may make up one result.
    """
    if len(text) > MAX_READ:
        detail = f"The reply has {len(text):,} characters; up to {MAX_READ:,} are read."
        return Read(JudgeFailure("unparseable", detail), False)
    if not key:
        result = read(text)
        return Read(result, not isinstance(result, JudgeFailure))
    wrappers = _WRAPPERS | {normalise_key(name) for name in names}
    closed = spans(text, max_height=_MAX_HEIGHT)
    own = _own(text, key, closed)
    if not own:
        return _read_unkeyed(text, key, read, needs_key)
    parts: list[_Part[ResultT]] = []
    for span in own:
        parts += _innermost(text, span, closed, read, wrappers)
    telling = [part for part in parts if part.tells]
    if telling:
        return _last_result(text, key, read, telling, together)
    if any(part.hides for part in parts):
        detail = f'The JSON object with "{KEY}" has no final score of its own.'
        return Read(JudgeFailure("missing_final", detail), False)
    if not all(_only_key(text[part.span.start : part.span.end], key) for part in parts):
        detail = f'The JSON object with "{KEY}" holds no result.'
        return Read(JudgeFailure("unparseable", detail), False)
    return _read_unkeyed(_replaced(text, own, "\n"), key, read, needs_key)


def _last_result(
    text: str,
    key: str,
    read: Reader[ResultT],
    telling: "Sequence[_Part[ResultT]]",
    together: bool,
) -> Read[ResultT]:
    """The result of the last object with the key, unless another contradicts it."""
    # An object around another with the key may be a stray pair of braces.
    kept = []
    for part in telling:
        if not any(_holds(part.span, inner.span) for inner in telling):
            kept.append(part)
    last = kept[-1].result
    if together and len(kept) > 1:
        last = read("\n".join(part.text for part in kept))
    if isinstance(last, JudgeFailure):
        return Read(last, False)
    earlier = []
    for part in kept[:-1]:
        if not isinstance(part.result, JudgeFailure):
            earlier.append(part.result)
    span = kept[-1].span
    later = read(text[span.end :])
    contradiction = _contradiction(last, earlier, later)
    if contradiction is not None:
        return Read(contradiction, False)
    record = text[span.start : span.end]
    return Read(
        last,
        unkeyed=False,
        near_key=key not in record.casefold(),
        several_records=any(_differ(_final(last), _final(result)) for result in earlier),
    )


def _contradiction(
    last: ResultT,
    earlier: Sequence[ResultT],
    later: ResultT | JudgeFailure,
) -> JudgeFailure | None:
    """Why the last result with the key must not count.

    An earlier one, or a `later` one without the key.
    """
    if isinstance(last, _OfParts) and any(last.falls_short_of(result) for result in earlier):
        detail = (
            "The last JSON object lacks something, and an earlier one has another final result."
        )
        return JudgeFailure("conflicting_scores", detail)
    if isinstance(later, JudgeFailure) or later == last:
        return None
    if isinstance(later, _OfParts) and later.missing:
        return None
    detail = f'A JSON object without "{KEY}" follows the one with it, and its results are others.'
    return JudgeFailure("conflicting_scores", detail)


def _final(result: object) -> object:
    if isinstance(result, _OfParts):
        return result.final
    return result


def _differ(one: object, other: object) -> bool:
    """Whether two finals differ; where there is none, they do not."""
    return None not in (one, other) and one != other


@dataclass(frozen=True)
class _Part(Generic[ResultT]):
    """An object of a reply.

    Its text without results that may be quoted, its result, and whether it had such.
    """

    span: Span
    text: str
    result: ResultT | JudgeFailure
    hides: bool

    @property
    def tells(self) -> bool:
        return not isinstance(self.result, JudgeFailure) or self.result.mode not in _NOTHING


def _innermost(
    text: str,
    span: Span,
    closed: list[Span],
    read: Reader[ResultT],
    wrappers: Collection[str],
) -> list[_Part[ResultT]]:
    """The object with the key; if it has no result, also the objects around it."""
    # The one that opens last, the innermost, comes first.
    around = [outer for outer in closed if _holds(outer, span)]
    parts: list[_Part[ResultT]] = []
    for candidate in [span, *around[:_MAX_AROUND]]:
        inner = text[candidate.start : candidate.end]
        quoted = list(_quoted(inner, read, wrappers))
        own = _replaced(inner, quoted, "null")
        part = _Part(candidate, own, read(own), bool(quoted))
        if not isinstance(part.result, JudgeFailure) or part.result.mode not in _INCOMPLETE:
            if candidate == span or not isinstance(part.result, JudgeFailure):
                return [part]
            break
        parts.append(part)
    return [part for part in parts if part.tells][:1] or parts


def _quoted(
    text: str,
    read: Reader[ResultT],
    wrappers: Collection[str],
    start: int = 0,
) -> Iterator[Span]:
    """Objects inside an object that have a result of their own.

    Those under a name for a part of a record are left out.
    """
    end = 1
    name = ""
    in_list = False
    for span in sorted(spans(text, max_height=_MAX_HEIGHT)):
        if span.start < end:
            continue
        before = text[max(end, span.start - 110) : span.start].rstrip()
        lead = None
        if before.endswith((":", "：", "[")):
            lead = _NAME.search(before)
        if lead is not None:
            name = normalise_key(lead[1])
            in_list = lead["list"] is not None
        elif not (in_list and _BETWEEN_ENTRIES.fullmatch(text, end, span.start)):
            name = ""
            in_list = False
        end = span.end
        inner = text[span.start : span.end]
        if name in wrappers:
            yield from _quoted(inner, read, wrappers, start + span.start)
            continue
        result = read(inner)
        if not isinstance(result, JudgeFailure) or result.mode not in _INCOMPLETE:
            yield Span(start + span.start, start + span.end)


def _only_key(text: str, key: str) -> bool:
    """Whether an object holds names of entries and the key, and nothing else."""
    without_key = text
    for start, end in reversed(_key_places(text, key)):
        without_key = without_key[:start] + without_key[end:]
    rest = re.sub(
        r"""[^"'“”‘’「」『』{}｛｝,，:：\n]{1,80}["'”’」』]?\s{0,9}[:：]""", "", without_key
    )
    return not re.search(r"\w", rest)


def _replaced(text: str, removed: list[Span], by: str) -> str:
    for span in reversed(removed):
        text = f"{text[: span.start]}{by}{text[span.end :]}"
    return text


def _own(text: str, key: str, closed: list[Span]) -> list[Span]:
    """The innermost objects around the key, the first one first.

    One that is never closed reaches to the end.
    """
    own: set[Span] = set()
    for place, _ in _key_places(text, key)[-_MAX_KEYS:]:
        enclosing = (span for span in closed if span.start < place < span.end)
        around = next(enclosing, None)
        if around is None and _is_named_key(text, place):
            around = _unclosed(text, place, closed)
        if around is not None:
            own.add(around)
    return sorted(own)


def _is_named_key(text: str, place: int) -> bool:
    """Whether the name of the entry stands before a place."""
    before = text[max(0, place - 20) : place]
    return re.search(rf"{KEY}\W{{1,9}}\Z", before, re.IGNORECASE) is not None


def _unclosed(text: str, place: int, closed: list[Span]) -> Span | None:
    """The object that begins last before a place and is never closed."""
    starts = {span.start for span in closed}
    for start in range(place, -1, -1):
        if text[start : start + 1] in ("{", "｛") and start not in starts:
            return Span(start, len(text))
    return None


def _holds(outer: Span, inner: Span) -> bool:
    return outer != inner and outer.start <= inner.start and inner.end <= outer.end


def _read_unkeyed(text: str, key: str, read: Reader[ResultT], needs_key: bool) -> Read[ResultT]:
    wrong = _other_key(text, read)
    if wrong:
        detail = f'The "{KEY}" of the JSON object is {wrong}, not "{key}".'
        return Read(JudgeFailure("wrong_key", detail), False)
    result = read(text)
    if isinstance(result, JudgeFailure):
        return Read(result, False)
    if needs_key:
        detail = f'The JSON object has no "{KEY}"; it must be "{key}".'
        return Read(JudgeFailure("no_key", detail), True)
    return Read(result, True)


def _other_key(text: str, read: Reader[ResultT]) -> str:
    """Another key that a result in the text has, as it stands in a message.

    Empty if there is none.
    """
    if KEY not in text.casefold():
        return ""
    for span in spans(text, max_height=_MAX_HEIGHT):
        inner = text[span.start : span.end]
        pairs = list(read_pairs(inner))
        given = [value for name, value in pairs if normalise_key(name) == KEY]
        texts_or_numbers = [value for value in given if isinstance(value, (str, int))]
        written = [str(value).strip() for value in texts_or_numbers]
        written = [value for value in written if value and not _PLACEHOLDER.fullmatch(value)]
        if not written or isinstance(read(inner), JudgeFailure):
            continue
        # An entry of a list may name its criterion in this way: [{"key": "Factuality", "score":
        # 8}].
        scored = any(name.strip().casefold() in _ENTRY_SCORES for name, _ in pairs)
        before = text[max(0, span.start - 20) : span.start]
        if not (scored and _ENTRY_LEAD.search(before)):
            return json.dumps(written[0][:40], ensure_ascii=False)
    return ""
