"""Reads a judge's reply: its last complete score record, or the reason why there is none."""

import re
from collections.abc import Sequence
from typing import Any

from urs_inspect.judging.outcomes import JudgeFailure, ScoreRecord
from urs_inspect.judging.records import RawRecord, Span, records
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric

_NUMBER = re.compile(
    r"([+-]?\d{1,99})(?:\.(\d{1,99}))?\s*(?:分?\s*/\s*(\d{1,6})(?:\.0+)?\s*分?|分|points?)?\s*",
    re.IGNORECASE,
)
_ABSENT = frozenset({"", "-", "null", "none", "nan", "n/a", "na", "无", "不适用"})
_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am) (?:sorry|unable)|I (?:can(?:not|'t)|won't|must decline)|as an AI\b.{0,40}\bcannot)"
    r"|抱歉|无法(?:评|协助|提供|满足)|不能(?:评|协助|提供|满足)",
    re.IGNORECASE,
)
_REFUSAL_LENGTH = 600
"""A refusal is short; a long reply that apologises somewhere is a judgement in a bad format."""


def read_reply(text: str, rubric: Rubric, criteria: Sequence[str]) -> ScoreRecord | JudgeFailure:
    """Read the last complete score record of a judge's reply: of those that name most criteria, the last.

    Never raises and never guesses: what is not plainly an integer from 1 to 10 is a failure.

    Args:
        text: The reply, in English or Chinese, with anything around the record.
        rubric: The rubric whose score names may occur, in any of its languages.
        criteria: The criteria of the case's intent; others in the record are ignored.

    Returns:
        The record, or the failure with its mode.
    """
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    complete: list[tuple[Span, RawRecord]] = []
    partial = False
    for span, record in records(text, rubric):
        if record.is_complete:
            complete.append((span, record))
        else:
            partial |= any(criterion in record.values for criterion in criteria)
    if complete:
        return _check_last(complete, criteria)
    if partial:
        return JudgeFailure("missing_final", "The score record has no final score.")
    return without_record(text, "the scores")


def without_record(text: str, wanted: str) -> JudgeFailure:
    """Name the failure of a reply that has no JSON object with what was wanted: a refusal, or a bad format."""
    if len(text) <= _REFUSAL_LENGTH and _REFUSAL.search(text.replace("’", "'")):
        return JudgeFailure("refusal", "The reply declines to judge.")
    return JudgeFailure("unparseable", f"The reply has no JSON object with {wanted}.")


def _check_last(found: Sequence[tuple[Span, RawRecord]], criteria: Sequence[str]) -> ScoreRecord | JudgeFailure:
    """Check the last of the records that name most of the criteria, so that a fragment after it changes nothing."""
    span, record = max(found, key=lambda pair: sum(criterion in pair[1].values for criterion in criteria))
    for outer, around in found:
        if outer.start < span.start and outer.end >= span.end and _finals(around) != _finals(record):
            return JudgeFailure("conflicting_scores", "A score record stands inside another with another final score.")
    return _check(record, criteria)


def _finals(record: RawRecord) -> set[str]:
    return {str(value) for value in record.values[FINAL]}


def _check(record: RawRecord, criteria: Sequence[str]) -> ScoreRecord | JudgeFailure:
    scores: dict[str, int | None] = {}
    for key in (FINAL, *criteria):
        written = record.values.get(key, [])
        values = [read_number(key, value) for value in written]
        for value in values:
            if isinstance(value, JudgeFailure):
                return value
        if len(set(values)) > 1:
            return JudgeFailure("conflicting_scores", f"'{key}' has several scores: {shown(written)}.")
        scores[key] = next((value for value in values if isinstance(value, int)), None)
    final = scores.pop(FINAL)
    if final is None:
        return JudgeFailure("missing_final", "The final score is empty.")
    return ScoreRecord(final, scores)


def read_number(key: str, value: Any, lowest: int = LOWEST, highest: int = HIGHEST) -> int | JudgeFailure | None:
    """Read one value.

    Args:
        key: What it is the score of, for the detail of a failure.
        value: The value as written: 8, 8.0, "8", "8/10", "8分", full width turned into plain characters.
        lowest: Lowest score there is.
        highest: Highest score there is; a score out of another number is out of range.

    Returns:
        The score; None where the judge left it out.
    """
    if value is None or (type(value) is int and lowest <= value <= highest):
        return value
    if isinstance(value, bool):
        return JudgeFailure("not_a_number", f"The score of '{key}' is {shown(value)}, not a number.")
    text = str(value).strip().strip("*").strip()
    if text.casefold() in _ABSENT:
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        return JudgeFailure("not_a_number", f"The score of '{key}' is {shown(value)}, not a number.")
    whole, decimals, denominator = match.groups()
    if denominator is not None and int(denominator) != highest:
        return JudgeFailure("out_of_range", f"The score of '{key}' is {shown(value)}, not out of {highest}.")
    if decimals is not None and decimals.strip("0"):
        return JudgeFailure("not_an_integer", f"The score of '{key}' is {shown(value)}, not a whole number.")
    score = int(whole)
    if not lowest <= score <= highest:
        return JudgeFailure("out_of_range", f"The score of '{key}' is {shown(value)}, not from {lowest} to {highest}.")
    return score


def shown(value: Any) -> str:
    """A value as it stands in a message, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
