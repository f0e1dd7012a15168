"""Reads a judge's rating of one response: the last JSON object with a score, or the reason why there is none."""

from typing import Any

from urs_inspect.judging.outcomes import JudgeFailure
from urs_inspect.judging.records import Span, read_pairs, spans, unwrap
from urs_inspect.judging.reply import read_number, shown, without_record
from urs_inspect.rubrics import normalise_key

_SCORE = "score"
_SPELLINGS = frozenset(
    f"{kind}{name}" for kind in ("", "final", "overall") for name in ("score", "rating")
) | frozenset({"分数", "得分", "评分", "打分", "综合得分"})
_MAX_HEIGHT = 4
"""Reasons may be objects themselves; what is deeper hides a score from its object."""


def read_rating(text: str, lowest: int, highest: int) -> int | JudgeFailure:
    """Read the rating in a judge's reply.

    Never raises and never guesses: what is not plainly a whole number of the scale is a failure. Scores inside an
    object that has one itself, as of single reasons, do not count.

    Args:
        text: The reply, with anything around the object.
        lowest: Lowest rating of the scale.
        highest: Highest rating.

    Returns:
        The rating, or the failure with its mode.
    """
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    written = _last_scores(text)
    if not written:
        return without_record(text, "a score")
    values = [read_number(_SCORE, value, lowest, highest) for value in written]
    for value in values:
        if isinstance(value, JudgeFailure):
            return value
    if len(set(values)) > 1:
        return JudgeFailure("conflicting_scores", f"There are several scores: {shown(written)}.")
    rating = values[0]
    return rating if isinstance(rating, int) else JudgeFailure("missing_final", "The score is empty.")


def _last_scores(text: str) -> list[Any]:
    """The scores of the object with a score that opens last, or of the outermost with one that holds it."""
    chosen: Span | None = None
    scores: list[Any] = []
    for span in spans(text, max_height=_MAX_HEIGHT):
        if chosen is not None and span.end < chosen.end:
            continue
        if written := _scores(text[span.start : span.end]):
            chosen, scores = span, written
    return scores


def _scores(text: str) -> list[Any]:
    return [unwrap(value) for key, value in read_pairs(text) if normalise_key(key) in _SPELLINGS]
