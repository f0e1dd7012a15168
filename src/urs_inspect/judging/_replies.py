"""Replies of judges other than scores and verdicts: a rating, a similarity.

All readers share one rule: the last object with a wanted key counts, or the outermost object with
such a key that contains it. They never raise and never guess; anything else is a `JudgeFailure`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from urs_inspect.judging._failures import JudgeFailure
from urs_inspect.judging._objects import Span, read_pairs, spans, unwrap
from urs_inspect.judging._score_reply import read_number, shown, without_record
from urs_inspect.rubrics import normalise_key

ResultT = TypeVar("ResultT")
Spellings = Mapping[str, str]


def spellings(**names: str) -> Spellings:
    spellings = {}
    for name, words in names.items():
        for word in words.split():
            spellings[normalise_key(word)] = name
    return spellings


_RATING = spellings(
    score=(
        "score rating final_score final_rating overall_score overall_rating"
        " 分数 得分 评分 打分 综合得分"
    )
)
_SIMILARITY = spellings(
    score="score similarity similarity_score final_score overall_score overall_similarity"
)
RATING_NAMES = frozenset(_RATING)
SIMILARITY_NAMES = frozenset(_SIMILARITY)
"""Names of entries that each reader takes, as `normalise_key` gives them."""
_FROM_0_TO_1 = re.compile(r"\+?(\d{1,3}(?:\.\d{1,20})?|\.\d{1,20})")
_NUMBER_LIKE = re.compile(r"[+-]?\d{0,20}\.?\d{1,20}\s*(?:%|/\s*\d{1,6})?")


def read_rating(text: str, lowest: int, highest: int) -> int | JudgeFailure:
    """Read the whole-number rating in a judge's reply.

    Args:
        text: The reply, with anything around the object. Scores inside an object that has one
            itself, as of single reasons, do not count.
        lowest: Lowest rating of the scale.
        highest: Highest rating.

    Returns:
        The rating, or the failure with its mode.

    Examples:
        >>> from urs_inspect.judging import read_rating
        >>> read_rating('Good. {"score": 4}', 1, 5)
        4
    """
    # Reasons may be objects themselves; what is deeper hides a score from its object.
    parse = partial(read_number, "score", lowest=lowest, highest=highest)
    return read_one(text, _RATING, "score", parse, height=4)


def read_similarity(text: str) -> float | JudgeFailure:
    """Read a similarity from 0 to 1, with any number of decimals.

    Percentages and fractions are out of range.
    """
    return read_one(text, _SIMILARITY, "score", _number_from_0_to_1, height=3)


def read_one(
    text: str,
    keys: Spellings,
    what: str,
    parse: Callable[[Any], ResultT | JudgeFailure | None],
    height: int = 4,
    keep: Callable[[Any], Any] = unwrap,
) -> ResultT | JudgeFailure:
    """The one value of the last object, or of the outermost around it, that has a wanted key.

    `parse` reads it.
    """
    chosen: Span | None = None
    written: list[Any] = []
    for span, values in objects_with(text, keys, height, keep):
        if chosen is None or span.end >= chosen.end:
            chosen = span
            written = []
            for given in values.values():
                written.extend(given)
    if not written:
        return without_record(text, f"a {what}")
    result = agreed(f"{what}s", written, parse)
    if result is None:
        return JudgeFailure("missing_final", f"The {what} is empty.")
    return result


def agreed(
    what: str,
    written: list[Any],
    parse: Callable[[Any], ResultT | JudgeFailure],
) -> ResultT | JudgeFailure:
    """The one value that was written, perhaps repeatedly.

    The first failure where one cannot be read.
    """
    parsed = [parse(value) for value in written]
    for value in parsed:
        if isinstance(value, JudgeFailure):
            return value
    if len(set(parsed)) > 1:
        return JudgeFailure("conflicting_scores", f"There are several {what}: {shown(written)}.")
    return parsed[0]


def objects_with(
    text: str, keys: Spellings, height: int, keep: Callable[[Any], Any]
) -> Iterator[tuple[Span, dict[str, list[Any]]]]:
    """Objects that have a wanted key, each with all values given for each key.

    The one that opens last comes first.
    """
    for span in spans(text, max_height=height):
        values: dict[str, list[Any]] = {}
        for key, value in read_pairs(text[span.start : span.end]):
            if name := keys.get(normalise_key(key)):
                values.setdefault(name, []).append(keep(value))
        if values:
            yield span, values


def _number_from_0_to_1(value: object) -> float | JudgeFailure | None:
    text = str(value).strip().strip("*").strip()
    if value is None or (isinstance(value, str) and not text.strip("-")):
        return None
    is_number = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    match = None
    if is_number:
        match = _FROM_0_TO_1.fullmatch(text)
    if match is None and not (is_number and _NUMBER_LIKE.fullmatch(text)):
        return JudgeFailure("not_a_number", f"The score is {shown(value)}, not a number.")
    if match is None or float(match[1]) > 1:
        return JudgeFailure("out_of_range", f"The score is {shown(value)}, not from 0 to 1.")
    return float(match[1])


def known(value: object, ids: Mapping[str, str], what: str) -> str | JudgeFailure:
    name = None
    if isinstance(value, str):
        name = ids.get(normalise_key(value))
    return name or JudgeFailure("out_of_range", f"There is no {what} {shown(value)}.")
