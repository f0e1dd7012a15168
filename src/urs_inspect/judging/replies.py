"""Replies of judges other than scores and verdicts: a rating, a similarity, a scenario, a review of a case."""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from urs_inspect.judging.failures import ASK_AGAIN, JudgeFailure
from urs_inspect.judging.frames import JudgePrompt
from urs_inspect.judging.keys import read_keyed
from urs_inspect.judging.objects import Span, read_pairs, spans, unwrap
from urs_inspect.judging.prompts import similarity_prompt
from urs_inspect.judging.score_reply import read_number, shown, without_record
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


_SIMILARITY_REPLY_SPELLINGS = frozenset(
    {"score", "similarity", "similarityscore", "finalscore", "overallscore", "overallsimilarity"}
)
_SIMILARITY_REPLY_MAX_HEIGHT = 3
"""An explanation may be an object of its five points; what is deeper hides a score from its object."""
_NUMBER = re.compile(r"\+?(\d{1,3}(?:\.\d{1,20})?|\.\d{1,20})")
_OTHER_NUMBER = re.compile(r"[+-]?\d{0,20}\.?\d{1,20}\s*(?:%|/\s*\d{1,6})?")


def read_similarity(text: str) -> float | JudgeFailure:
    """Read the similarity in a reply: the score of its last JSON object that has one.

    Never raises and never guesses: what is not plainly a number from 0 to 1 is a failure. A number is taken as it
    stands, with any number of decimals; percentages and fractions of another number are out of range.

    Args:
        text: The reply, with anything around the object.

    Returns:
        The similarity, or the failure with its mode.
    """
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    written = _similarity_reply_last_scores(text)
    if not written:
        return without_record(text, "a score")
    values = [_number(value) for value in written]
    for value in values:
        if isinstance(value, JudgeFailure):
            return value
    if len(set(values)) > 1:
        return JudgeFailure("conflicting_scores", f"There are several scores: {shown(written)}.")
    return values[0]


def _similarity_reply_last_scores(text: str) -> list[Any]:
    """The scores of the object with a score that opens last, or of the outermost with one that holds it."""
    chosen: Span | None = None
    scores: list[Any] = []
    for span in spans(text, max_height=_SIMILARITY_REPLY_MAX_HEIGHT):
        inside = chosen is not None and span.end < chosen.end
        if not inside and (written := _similarity_reply_scores(text[span.start : span.end])):
            chosen, scores = span, written
    return scores


def _similarity_reply_scores(text: str) -> list[Any]:
    return [unwrap(value) for key, value in read_pairs(text) if normalise_key(key) in _SIMILARITY_REPLY_SPELLINGS]


def _number(value: object) -> float | JudgeFailure:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        missing = value is None
        return JudgeFailure(
            "missing_final" if missing else "not_a_number",
            "The score is empty." if missing else f"The score is {shown(value)}, not a number.",
        )
    text = str(value).strip().strip("*").strip()
    if not text.strip("-"):
        return JudgeFailure("missing_final", "The score is empty.")
    match = _NUMBER.fullmatch(text)
    if match is None and not _OTHER_NUMBER.fullmatch(text):
        return JudgeFailure("not_a_number", f"The score is {shown(value)}, not a number.")
    if match is None or float(match.group(1)) > 1:
        return JudgeFailure("out_of_range", f"The score is {shown(value)}, not from 0 to 1.")
    return float(match.group(1))


_SCENARIO_REPLY_SPELLINGS = frozenset({"scenario", "scenarioid", "category", "kind"})


def read_scenario(text: str, allowed: Collection[str]) -> str | JudgeFailure:
    """Read the scenario in a reply.

    Never raises and never guesses: a scenario that is not allowed is a failure. Case, blanks and underscores in its
    spelling do not matter.

    Args:
        text: The reply, with anything around the object.
        allowed: Ids of the scenarios.

    Returns:
        The id, or the failure with its mode.
    """
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    written = _last(text)
    if not written:
        return without_record(text, "a scenario")
    by_spelling = {normalise_key(name): name for name in allowed}
    found = {by_spelling.get(normalise_key(value)) if isinstance(value, str) else None for value in written}
    if len(found) > 1:
        return JudgeFailure("conflicting_scores", f"There are several scenarios: {shown(written)}.")
    chosen = found.pop()
    return JudgeFailure("out_of_range", f"There is no scenario {shown(written[0])}.") if chosen is None else chosen


def _last(text: str) -> list[object]:
    """What the object that names a scenario and opens last names, or the outermost such object that holds it."""
    chosen: Span | None = None
    values: list[object] = []
    for span in spans(text):
        inside = chosen is not None and span.end < chosen.end
        if not inside and (written := _named(text[span.start : span.end])):
            chosen, values = span, written
    return values


def _named(text: str) -> list[object]:
    return [value for key, value in read_pairs(text) if normalise_key(key) in _SCENARIO_REPLY_SPELLINGS]


FLAGS = ("understandable", "self_contained", "personal_data", "harmful")
"""What a judge says yes or no to."""

WANTED = {"understandable": True, "self_contained": True, "personal_data": False, "harmful": False}
"""What each must be for a case to pass."""

_CASE_REVIEW_REPLY_SPELLINGS = {
    "understandable": ("understandable", "is_understandable", "可理解"),
    "self_contained": ("self_contained", "is_self_contained", "信息完整"),
    "personal_data": ("personal_data", "has_personal_data", "个人信息"),
    "harmful": ("harmful", "is_harmful", "有害"),
    "intent": ("intent", "user_intent", "意图"),
    "plausible_intents": ("plausible_intents", "plausible_intent", "可能的意图"),
}
_KEYS = {normalise_key(spelling): key for key, several in _CASE_REVIEW_REPLY_SPELLINGS.items() for spelling in several}
_YES = frozenset({"yes", "true", "y", "是", "有", "1"})
_NO = frozenset({"no", "false", "n", "否", "不是", "无", "没有", "0"})


@dataclass(frozen=True)
class CaseReview:
    """What a judge said about a case.

    Attributes:
        flags: Each of `FLAGS` -> whether it is so.
        intent: The intent that the person most probably had.
        plausible: The intents that a person could have had, that one included.
    """

    flags: dict[str, bool]
    intent: str
    plausible: tuple[str, ...]


def read_case_review(text: str, intents: Collection[str]) -> CaseReview | JudgeFailure:
    """Read the review in a reply: that of the last JSON object that names most of what was asked for.

    Never raises and never guesses: a verdict that is missing or neither yes nor no is a failure, and so is an intent
    that does not exist. Case, blanks and underscores in spellings do not matter.

    Args:
        text: The reply, with anything around the object.
        intents: Ids of the intents.

    Returns:
        The review, or the failure with its mode.
    """
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    written = _case_review_reply_last(text)
    if not written:
        return without_record(text, "the review")
    flags: dict[str, bool] = {}
    for flag in FLAGS:
        verdict = _verdict(flag, written.get(flag, []))
        if isinstance(verdict, JudgeFailure):
            return verdict
        flags[flag] = verdict
    by_spelling = {normalise_key(name): name for name in intents}
    own = _intents("intent", written.get("intent", []), by_spelling)
    plausible = _intents("plausible_intents", written.get("plausible_intents", []), by_spelling)
    if isinstance(own, JudgeFailure):
        return own
    if isinstance(plausible, JudgeFailure):
        return plausible
    if len(own) > 1:
        return JudgeFailure("conflicting_scores", f"'intent' names several intents: {shown(list(own))}.")
    return CaseReview(flags, own[0], tuple(dict.fromkeys([*own, *plausible])))


def _case_review_reply_last(text: str) -> dict[str, list[Any]]:
    """The values by key of the object that has most of the keys; of several, of the one that opens last."""
    best: dict[str, list[Any]] = {}
    for span in spans(text):
        found = _case_review_reply_named(text, span)
        if len(found) > len(best):
            best = found
    return best


def _case_review_reply_named(text: str, span: Span) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = {}
    for key, value in read_pairs(text[span.start : span.end]):
        if (name := _KEYS.get(normalise_key(key))) is not None:
            values.setdefault(name, []).append(value if isinstance(value, list) else unwrap(value))
    return values


def _verdict(flag: str, written: list[Any]) -> bool | JudgeFailure:
    if not written:
        return JudgeFailure("unparseable", f"The record has no '{flag}'.")
    read = {_yes_or_no(value) for value in written}
    if len(read) > 1:
        return JudgeFailure("conflicting_scores", f"'{flag}' is listed several times: {shown(written)}.")
    [verdict] = read
    if verdict is None:
        return JudgeFailure("unparseable", f"'{flag}' is {shown(written[0])}, neither yes nor no.")
    return verdict


def _yes_or_no(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    word = str(value).strip().strip("*.。").casefold() if isinstance(value, (str, int)) else ""
    return True if word in _YES else False if word in _NO else None


def _intents(key: str, written: Iterable[Any], by_spelling: dict[str, str]) -> tuple[str, ...] | JudgeFailure:
    named = [one for value in written for one in (value if isinstance(value, list) else [value])]
    if not named:
        return JudgeFailure("unparseable", f"The record has no '{key}'.")
    found = [by_spelling.get(normalise_key(one)) if isinstance(one, str) else None for one in named]
    for one, intent in zip(named, found, strict=True):
        if intent is None:
            return JudgeFailure("out_of_range", f"There is no intent {shown(one)}.")
    return tuple(dict.fromkeys(intent for intent in found if intent is not None))


def asked_similarity(
    ask: Callable[[JudgePrompt], Awaitable[str | JudgeFailure]], attempts: int = 2
) -> Callable[[str, str], Awaitable[float | str]]:
    """Put asking and reading together, as the similarity `llm` wants it.

    Args:
        ask: Sends a prompt to a model and gives its reply, or the failure if there is none. Both prompt parts go
            along: the instructions as system message, the case as user message.
        attempts: How often to ask before giving up, 1 or more.

    Returns:
        A function of two texts: the similarity from 0 to 1, or the failure's mode and detail.
    """

    async def similarity(first: str, second: str) -> float | str:
        found: float | JudgeFailure = JudgeFailure("call_failed", "The model was not asked.")
        for _ in range(attempts):
            prompt = similarity_prompt(first, second)
            reply = await ask(prompt)
            found = reply if isinstance(reply, JudgeFailure) else read_keyed(reply, prompt.key, read_similarity).result
            if not isinstance(found, JudgeFailure) or found.mode not in ASK_AGAIN:
                break
        return f"{found.mode}: {found.detail}" if isinstance(found, JudgeFailure) else found

    return similarity
