"""Reads a judge's review of a case: its last JSON object with verdicts, or the reason why there is none."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from urs_inspect.judging.outcomes import JudgeFailure
from urs_inspect.judging.records import Span, read_pairs, spans, unwrap
from urs_inspect.judging.reply import shown, without_record
from urs_inspect.rubrics import normalise_key

FLAGS = ("understandable", "self_contained", "personal_data", "harmful")
"""What a judge says yes or no to."""

WANTED = {"understandable": True, "self_contained": True, "personal_data": False, "harmful": False}
"""What each must be for a case to pass."""

_SPELLINGS = {
    "understandable": ("understandable", "is_understandable", "可理解"),
    "self_contained": ("self_contained", "is_self_contained", "信息完整"),
    "personal_data": ("personal_data", "has_personal_data", "个人信息"),
    "harmful": ("harmful", "is_harmful", "有害"),
    "intent": ("intent", "user_intent", "意图"),
    "plausible_intents": ("plausible_intents", "plausible_intent", "可能的意图"),
}
_KEYS = {normalise_key(spelling): key for key, several in _SPELLINGS.items() for spelling in several}
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
    written = _last(text)
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


def _last(text: str) -> dict[str, list[Any]]:
    """The values by key of the object that has most of the keys; of several, of the one that opens last."""
    best: dict[str, list[Any]] = {}
    for span in spans(text):
        found = _named(text, span)
        if len(found) > len(best):
            best = found
    return best


def _named(text: str, span: Span) -> dict[str, list[Any]]:
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
