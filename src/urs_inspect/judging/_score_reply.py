"""Scores in the reply of a judge, and what the log shows of a reply."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from urs_inspect._util import word_set
from urs_inspect.judging._failures import JudgeFailure, ScoreRecord
from urs_inspect.judging._keys import ANALYSIS, holds_key
from urs_inspect.judging._objects import (
    MAX_HEIGHT,
    NESTED_KEYS,
    Pairs,
    Span,
    read_pairs,
    spans,
    unwrap,
)
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric, normalise_key

SCORED_NAMES = word_set(
    "criterion criteria name dimension aspect metric item key 维度 评判维度 名称 指标"
)
"""Keys under which an object of a list names its criterion: `[{"criterion": "Factuality", "score":
8}]`.
"""

_MARKUP = r"[*`]{0,3}"
_NUMBER = re.compile(
    rf"{_MARKUP}([+-]?\d{{1,99}})(?:\.(\d{{1,99}}))?{_MARKUP}\s*"
    r"(?:(?:分|points?\b)?\s*(?:/|\b(?:out\s+)?of\b)\s*(\d{1,6})(?:\.0+)?\s*(?:分|points?\b)?|分|points?\b)?"
    rf"{_MARKUP}\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_REMARK = re.compile(
    r"[(（](?P<inside>[^()（）]*)[)）]?\s*|(?:[-–—](?=\s)|——|[:：;；,，])\s*(?P<after>.*)",
    re.DOTALL,
)
"""What may follow a number: "8 (good)", "8 - good"."""
_OTHER_NUMBER = re.compile(
    r"\d|\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|half)\b"
    r"|\bone\b(?!\s+(?:of|minor|small|slight|little|major|serious|flaw|error|mistake|issue|gap|detail|omission)\b)|[半零两一二三四五六七八九]\s*分",
    re.IGNORECASE,
)
"""A remark with another number leaves open which one is meant."""
_ABSENT = frozenset({"", "-", "null", "none", "nan", "n/a", "na", "无", "不适用"})
_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am) (?:sorry|unable)|I (?:can(?:not|'t)|won't|must decline)|as an"
    r" AI\b.{0,40}\bcannot)"
    r"|抱歉|无法(?:评|协助|提供|满足)|不能(?:评|协助|提供|满足)",
    re.IGNORECASE,
)
_REFUSAL_LENGTH = 600
"""A refusal is short; a long reply that apologises somewhere is a judgement in a bad format."""


@dataclass(frozen=True)
class ScoreObject:
    """Score key -> every value written for it.

    Also says whether the final score has its full name or an everyday "total".
    """

    values: dict[str, list[Any]]
    plain_final: bool

    @property
    def is_complete(self) -> bool:
        """Whether this is a score record and not a stray object that happens to hold a "total"."""
        return FINAL in self.values and (self.plain_final or len(self.values) > 1)


def score_objects(
    text: str, rubric: Rubric, inside_strings: bool = False
) -> Iterator[tuple[Span, ScoreObject]]:
    """Yield every object that names a score of the rubric, the one that opens last first."""
    for span in spans(text, inside_strings):
        scored = _score_object(text[span.start : span.end], rubric)
        if scored.values:
            yield span, scored


def _score_object(text: str, rubric: Rubric) -> ScoreObject:
    values: dict[str, list[Any]] = {}
    plain_final = False
    for key, value in _flat(list(read_pairs(text)), rubric, MAX_HEIGHT - 1):
        spelling = normalise_key(key)
        score_key = rubric.keys_by_spelling.get(spelling)
        if score_key is not None:
            values.setdefault(score_key, []).append(unwrap(value))
            plain_final |= spelling in rubric.final_spellings
    return ScoreObject(values, plain_final)


def _flat(
    pairs: Sequence[tuple[str, Any]], rubric: Rubric, depth: int
) -> Iterator[tuple[str, Any]]:
    """Pairs of an object and of those that it merely wraps.

    `{"scores": {"Factuality": 8}, "Final Score": 7}`.
    """
    named = _named(pairs, rubric)
    if named:
        yield named
        return
    for key, value in pairs:
        is_list = isinstance(value, list) and not isinstance(value, Pairs)
        values = value if is_list else [value]
        objects = [inner for inner in values if isinstance(inner, Pairs)]
        is_score = normalise_key(key) in rubric.keys_by_spelling
        if is_score or not objects or not depth:
            yield key, value
            continue
        for inner in objects:
            yield from _flat(inner, rubric, depth - 1)


def _named(pairs: Sequence[tuple[str, Any]], rubric: Rubric) -> tuple[str, Any] | None:
    """Name and score of an object such as `{"criterion": "Factuality", "score": 8}`.

    None if it is another one.
    """
    names = []
    scores = []
    for key, value in pairs:
        is_name = normalise_key(key) in SCORED_NAMES and isinstance(value, str)
        if is_name and normalise_key(value) in rubric.keys_by_spelling:
            names.append(value)
        if key.strip().casefold() in NESTED_KEYS:
            scores.append(value)
    if len(names) == 1 and len(scores) == 1:
        return names[0], scores[0]
    return None


def read_reply(text: str, rubric: Rubric, criteria: Sequence[str]) -> ScoreRecord | JudgeFailure:
    """Read the last complete score record of a judge's reply.

    Of those that name most criteria, the last.

    Never raises and never guesses: what is not plainly an integer from 1 to 10 is a failure, and so
    is a shorter record after it that gives another final score. A criterion whose value is no whole
    number (8.5, "high") counts as missing.

    Args:
        text: The reply, in English or Chinese, with anything around the record.
        rubric: The rubric whose score names may occur, in any of its languages.
        criteria: The criteria of the case's intent; others in the record are ignored.

    Returns:
        The record, or the failure with its mode.

    Examples:
        >>> from urs_inspect.judging import read_reply
        >>> from urs_inspect.rubrics import load_rubric
        >>> read_reply('{"Factuality": 7, "Final Score": 8}', load_rubric(), ["factuality"]).final
        8
    """
    objects = list(score_objects(text, rubric))
    complete = [(span, scored) for span, scored in objects if scored.is_complete]
    if complete:
        return _check_last(complete, criteria)
    for _, scored in objects:
        if not scored.values.keys().isdisjoint(criteria):
            return JudgeFailure(
                "missing_final",
                "The JSON object has no final score, or is nested too deep: write one flat object.",
            )
    return without_record(text, "the scores")


def without_record(text: str, wanted: str) -> JudgeFailure:
    """Name the failure of a reply that has no JSON object with what was wanted.

    Empty, a refusal, or a bad format.
    """
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    if len(text) <= _REFUSAL_LENGTH and _REFUSAL.search(text.replace("’", "'")):
        return JudgeFailure("refusal", "The reply declines to judge.")
    return JudgeFailure("unparseable", f"The reply has no JSON object with {wanted}.")


def _check_last(
    complete: Sequence[tuple[Span, ScoreObject]], criteria: Sequence[str]
) -> ScoreRecord | JudgeFailure:
    """Check the last of the objects that name most of the criteria.

    A fragment after it must not contradict it.
    """

    def named_criteria(record: tuple[Span, ScoreObject]) -> int:
        _, scored = record
        return sum(criterion in scored.values for criterion in criteria)

    span, chosen = max(complete, key=named_criteria)
    for outer, around in complete:
        is_around = outer.start < span.start and outer.end >= span.end
        if is_around and _finals(around) != _finals(chosen):
            return JudgeFailure(
                "conflicting_scores",
                "A score record stands inside another with another final score.",
            )
    result = _check(chosen, criteria)
    if isinstance(result, JudgeFailure):
        return result
    for later, fragment in complete:
        if later.start < span.end:
            continue
        final = _check(fragment, ())
        if isinstance(final, ScoreRecord) and final.final != result.final:
            detail = (
                f"A record with the final score {final.final} follows one with {result.final}"
                " and all else."
            )
            return JudgeFailure("conflicting_scores", detail)
    return result


def _finals(scored: ScoreObject) -> set[str]:
    return {str(value) for value in scored.values[FINAL]}


def _check(scored: ScoreObject, criteria: Sequence[str]) -> ScoreRecord | JudgeFailure:
    scores: dict[str, int | None] = {}
    for key in (FINAL, *criteria):
        written = scored.values.get(key, [])
        values = [read_number(key, value) for value in written]
        if key != FINAL and any(map(_is_unreadable, values)):
            values = [value for value in values if not _is_unreadable(value)]
        for value in values:
            if isinstance(value, JudgeFailure):
                return value
        if len(set(values)) > 1:
            return JudgeFailure(
                "conflicting_scores", f"'{key}' has several scores: {shown(written)}."
            )
        numbers = (value for value in values if isinstance(value, int))
        scores[key] = next(numbers, None)
    final = scores.pop(FINAL)
    if final is None:
        return JudgeFailure("missing_final", "The final score is empty.")
    return ScoreRecord(final, scores)


def _is_unreadable(value: int | JudgeFailure | None) -> bool:
    # A score out of range is none of these: the judge may have used another scale for all of them.
    return isinstance(value, JudgeFailure) and value.mode in ("not_a_number", "not_an_integer")


def read_number(
    key: str, value: Any, lowest: int = LOWEST, highest: int = HIGHEST
) -> int | JudgeFailure | None:
    """Read the score of `key` from a value: 8, 8.0, "8", "8/10", "8 out of 10", "8分", "8 (good)".

    A remark behind the number must not hold another one. None where the judge left the score out.
    """
    if value is None or (type(value) is int and lowest <= value <= highest):
        return value
    score = f"The score of '{key}' is {shown(value)}"
    if isinstance(value, bool):
        return JudgeFailure("not_a_number", f"{score}, not a number.")
    text = str(value).strip().strip("*").strip()
    if text.casefold() in _ABSENT:
        return None
    match = _NUMBER.fullmatch(text)
    if match is None or not _is_remark(match[4], highest):
        return JudgeFailure("not_a_number", f"{score}, not a number.")
    whole, decimals, denominator, _ = match.groups()
    if denominator is not None and int(denominator) != highest:
        return JudgeFailure("out_of_range", f"{score}, not out of {highest}.")
    if decimals is not None and decimals.strip("0"):
        return JudgeFailure("not_an_integer", f"{score}, not a whole number.")
    if not lowest <= int(whole) <= highest:
        return JudgeFailure("out_of_range", f"{score}, not from {lowest} to {highest}.")
    return int(whole)


def _is_remark(text: str, highest: int) -> bool:
    """Whether what follows a number mentions no other one, except for the end of the scale."""
    if not text.strip():
        return True
    match = _REMARK.fullmatch(text)
    if match is None:
        return False
    remark = (match["inside"] or match["after"] or "").strip()
    if re.fullmatch(rf"(?:/|out of|满分)\s*{highest}\s*分?", remark):
        return True
    return not _OTHER_NUMBER.search(remark)


def shown(value: Any) -> str:
    """A value as it stands in a message, cut to 60 characters."""
    text = repr(value)
    if len(text) <= 60:
        return text
    return text[:57] + "..."


_LEAD = re.compile(r"^[\s#*>\-•\d.、()（）]*")
_HEAD_END = re.compile(r"[:：(（\-—–*]")
_BRACKETS = re.compile(r"[\s*]*[(（]([^()（）]*)[)）]")
_FENCE = re.compile(r"```\w*\s*\Z")
_FENCE_END = re.compile(r"\s*(?:```|\Z)")
_MAX_HEADING = 80


def explain(text: str, record: ScoreRecord, rubric: Rubric, language: str, key: str = "") -> str:
    """Format a reply for people, as Markdown.

    The final score, then a heading with score and reason per criterion.

    A reply without recognisable parts is quoted whole below the scores. `language` is that of the
    headings.
    """
    written = _without_scores(_unfolded(text), record, rubric, key)
    parts = _parts(written, rubric, {*record.criteria, FINAL})
    final = rubric.languages[language].final.name
    lines = [f"**{final}: {record.final}**"]
    opening = parts.pop("", "").strip()
    any_reason = False
    for criterion, score in record.criteria.items():
        name = rubric.criteria[criterion][language].name
        given = "no whole number given" if score is None else score
        lines.append(f"### {name}: {given}")
        reason = parts.pop(criterion, "").strip()
        if reason:
            any_reason = True
            lines.append(reason)
    if opening:
        place = 1 if any_reason else len(lines)
        lines.insert(place, opening)
    closing = parts.pop(FINAL, "").strip()
    if closing:
        lines.append(f"### {final}")
        lines.append(closing)
    return "\n\n".join(lines)


def _unfolded(text: str) -> str:
    """A structured reply in the form of a plain one, its analysis before the record.

    Any other reply as it is.
    """
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(reply, dict) or not isinstance(reply.get(ANALYSIS), str):
        return text
    analysis = reply.pop(ANALYSIS)
    return f"{analysis}\n\n{json.dumps(reply, ensure_ascii=False)}"


def _without_scores(text: str, record: ScoreRecord, rubric: Rubric, key: str) -> str:
    complete = [span for span, scored in score_objects(text, rubric) if scored.is_complete]
    span = _chosen(text, complete, record, rubric, key)
    if span is None:
        return text
    before = text[: span.start]
    after = text[span.end :]
    fence = _FENCE.search(before)
    fence_end = _FENCE_END.match(after)
    if fence and fence_end:
        before = before[: fence.start()]
        after = after[fence_end.end() :]
    return (before + after).strip()


def _chosen(
    text: str,
    complete: Sequence[Span],
    record: ScoreRecord,
    rubric: Rubric,
    key: str,
) -> Span | None:
    """The object from which the record was read.

    The last with the key, else the last with these scores.
    """
    for span in complete:
        if holds_key(text[span.start : span.end], key):
            return span
    criteria = tuple(record.criteria)
    for span in complete:
        if read_reply(text[span.start : span.end], rubric, criteria) == record:
            return span
    if complete:
        return complete[0]
    return None


def _parts(text: str, rubric: Rubric, keys: set[str]) -> dict[str, str]:
    """Cut the reasoning at lines that name one of the keys.

    The key '' holds what comes before the first.
    """
    parts: dict[str, list[str]] = {"": []}
    current = ""
    for line in text.splitlines():
        key, rest = _heading(line, rubric)
        if key in keys and key not in parts:
            current = key
            parts[current] = [rest] if rest else []
        else:
            parts[current].append(line)
    return {key: "\n".join(lines) for key, lines in parts.items()}


def _heading(line: str, rubric: Rubric) -> tuple[str, str]:
    """The score key that a line names as its heading, '' if none, and what follows on the line."""
    body = _LEAD.sub("", line, count=1)
    if not body or line == body:  # a heading has a mark: #, *, a number
        return "", ""
    name = _HEAD_END.split(body, maxsplit=1)[0]
    if len(name) > _MAX_HEADING:
        return "", ""
    rest = body[len(name) :]
    brackets = _BRACKETS.match(rest)
    if brackets and _is_label(brackets.group(1), rubric):
        rest = rest[brackets.end() :]
    key = rubric.keys_by_spelling.get(normalise_key(name), "")
    return key, rest.lstrip(" *:：-—–").rstrip(" *")


def _is_label(text: str, rubric: Rubric) -> bool:
    """Whether brackets behind a heading hold the score or a name, and no reason.

    The name is that in another language.
    """
    return any(char.isdigit() for char in text) or normalise_key(text) in rubric.keys_by_spelling
