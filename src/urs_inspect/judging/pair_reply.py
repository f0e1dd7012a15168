"""Verdicts on a pair of responses in the reply of a judge."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, overload

from urs_inspect.judging.failures import JudgeFailure
from urs_inspect.judging.keys import read_keyed
from urs_inspect.judging.objects import (
    MAX_NAME,
    Shown,
    loose_entries,
    loose_winners,
    pairs_of,
    parse_objects,
    verdict_of,
    winner_of,
    winners_of,
)
from urs_inspect.judging.score_reply import shown, without_record
from urs_inspect.rubrics import normalise_key

OVERALL = "Overall"
"""Key of the verdict as a whole."""

REPLIES = "pair_replies"
"""Key under which the replies about a pair are kept between asking and reading."""

PENDING = "pending"
"""What stands in the place of a reply's stop reason as long as there is no reply."""

_OVERALL_SPELLINGS = frozenset(
    {"overall", "overallwinner", "overalljudgment", "overalljudgement", "overallverdict", "final"}
)
_MAX_SAID = 200

_STRAIGHT = str.maketrans("“”„‟＂‘’‛＇：，｛｝", '"""""\'\'\'\':,{}')
_BETWEEN = re.compile(r"[\s,;`\[\]]*(?:json\s*)?")


@dataclass(frozen=True)
class Verdicts:
    """What a reply says.

    Attributes:
        verdicts: Asked name -> the better response as shown; None where no verdict could be read.
        unknown: Names in the reply that were not asked for.
    """

    verdicts: dict[str, Shown | None]
    unknown: tuple[str, ...] = ()

    def falls_short_of(self, earlier: "Verdicts") -> bool:
        """Whether verdicts are missing here, and the winner is not the one named before."""
        before = earlier.verdicts.get(OVERALL)
        return None in self.verdicts.values() and before is not None and self.verdicts.get(OVERALL) != before


def read_verdicts(text: str, asked: Sequence[str]) -> Verdicts | JudgeFailure:
    """Read the verdicts on several dimensions and overall.

    Reads what is readable: order, unknown names, code fences and broken JSON do not matter; a name that is missing, or
    has two different verdicts, has none. Of several objects the last one counts. Never raises and never guesses.

    Args:
        text: The reply.
        asked: Names that were asked for; `Overall` among them.

    Returns:
        The verdicts, or the failure if not one could be read.
    """
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    names = {normalise_key(name): name for name in asked}
    if OVERALL in asked:
        names |= dict.fromkeys(_OVERALL_SPELLINGS - names.keys(), OVERALL)
    found: dict[str, set[Shown | None]] = {}
    unknown: list[str] = []
    for key, value in _entries(text, names):
        name = names.get(normalise_key(key))
        if name is not None:
            found.setdefault(name, set()).add(verdict_of(value))
        elif isinstance(value, Mapping) and verdict_of(value) is not None:
            unknown.append(key[:MAX_NAME])
    verdicts: dict[str, Shown | None] = {}
    for name in asked:
        given = found.get(name, set())
        verdicts[name] = given.pop() if len(given) == 1 else None
    if all(verdict is None for verdict in verdicts.values()):
        if several := [name for name in asked if len(found.get(name, set()) - {None}) > 1]:
            return JudgeFailure("conflicting_verdicts", f"There are several verdicts on {', '.join(several)}.")
        return without_record(text, "verdicts on what was asked")
    return Verdicts(verdicts, tuple(dict.fromkeys(unknown)))


def read_verdict(text: str, name: str = OVERALL) -> Shown | JudgeFailure:
    """Read the one verdict of a reply that compares on a single dimension or as a whole; the last object counts.

    Args:
        text: The reply.
        name: What the verdict is about, for judges that name it.

    Returns:
        The verdict, or the failure.
    """
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    names = {normalise_key(name)} | (_OVERALL_SPELLINGS if name == OVERALL else set())
    words = _single_words(text, names)
    if not words:
        return without_record(text, "a winner")
    verdicts = {verdict_of(word) for word in words}
    verdict = next(iter(verdicts))
    if len(verdicts) == 1 and verdict is not None:
        return verdict
    said = ", ".join(dict.fromkeys(shown(winner_of(word)) for word in words))[:_MAX_SAID]
    if None in verdicts:
        return JudgeFailure("unparseable", f"The winner is {said}, not 1, 2 or tie.")
    return JudgeFailure("conflicting_verdicts", f"There are several winners: {said}.")


def _entries(text: str, names: Collection[str]) -> list[tuple[str, Any]]:
    """Keys and values of the last object that says something asked; what is broken is read as far as it goes."""
    straight = text.translate(_STRAIGHT)
    for candidate in dict.fromkeys((text, straight)):
        objects, broken = parse_objects(candidate)
        telling = [(item, pairs) for item in objects if _holds(pairs := list(pairs_of(item.value)), names)]
        if telling:
            break
    else:
        return loose_entries(straight)
    last, entries = telling[-1]
    start, held = last.start, _names_in(entries)
    for item, pairs in reversed(telling[:-1]):  # a judge may write one object a dimension
        if not _BETWEEN.fullmatch(candidate, item.end, start) or held & _names_in(pairs) & set(names):
            break
        start, held, entries = item.start, held | _names_in(pairs), pairs + entries
    if (around := _around(candidate, broken, start)) is not None:
        return entries + [entry for entry in loose_entries(straight[around:]) if normalise_key(entry[0]) not in held]
    after = loose_entries(straight[later[0] :]) if (later := [at for at in broken if at >= last.end]) else []
    return after if _holds(after, names) else entries


def _single_words(text: str, names: Collection[str]) -> list[Any]:
    """What the last object gives as the winner; several if it gives several."""
    straight = text.translate(_STRAIGHT)
    for candidate in dict.fromkeys((text, straight)):
        objects, broken = parse_objects(candidate)
        telling = [(item, words) for item in objects if (words := winners_of(item.value, names))]
        if not telling:
            continue
        last, words = telling[-1]
        around = _around(candidate, broken, last.start)
        later = [at for at in broken if at >= last.end] if around is None else [around]
        return (loose_winners(straight[later[0] :]) if later else []) or words
    return loose_winners(straight)


def _around(text: str, broken: Sequence[int], start: int) -> int | None:
    """Where the broken object begins that holds what begins at `start`."""
    before = [at for at in broken if at < start]
    return before[-1] if before and "}" not in text[before[-1] : start] else None


def _holds(pairs: Iterable[tuple[str, Any]], names: Collection[str]) -> bool:
    return any(normalise_key(key) in names for key, _ in pairs)


def _names_in(pairs: Iterable[tuple[str, Any]]) -> set[str]:
    return {normalise_key(key) for key, _ in pairs}


MISSING_VERDICT = "missing_verdict"
"""Failure of a reply that was read, but lacks some of what was asked for."""

_CUT_OFF: Mapping[str, JudgeFailure] = {
    "max_tokens": JudgeFailure("truncated", "The reply was cut off at the token limit."),
    "content_filter": JudgeFailure("content_filter", "The provider withheld the reply."),
    PENDING: JudgeFailure("no_answer", "The sample ended before the judge replied."),
    "model_length": JudgeFailure("context_overflow", "The pair does not fit into the judge's context."),
}


@dataclass(frozen=True)
class PairReading:
    """One reply and what was read from it.

    Attributes:
        first: Which response was shown first, `a` or `b`.
        asked: What verdicts were asked for.
        verdicts: Name -> `a`, `b`, `tie`, or None where it could not be read.
        mode: How reading failed, wholly or in part; empty if it did not.
        detail: What exactly was wrong.
        unknown: Names in the reply that nobody asked for.
        reply: The reply as it came; empty for a baseline.
        unkeyed: Whether the verdicts come from a record without a key.
    """

    first: str
    asked: tuple[str, ...]
    verdicts: Mapping[str, str | None]
    mode: str = ""
    detail: str = ""
    unknown: tuple[str, ...] = ()
    reply: str = ""
    unkeyed: bool = False

    def to_metadata(self) -> dict[str, Any]:
        """The failure as the log keeps it."""
        return {"mode": self.mode, "first": self.first, "asked": list(self.asked), "detail": self.detail}


def read_pair_reply(reply: Mapping[str, Any]) -> PairReading:
    """Read a reply that `compare_pair` kept.

    What a judge wrote before its reply was cut off counts where several verdicts were asked for, and not where one was:
    a judge may come to the opposite in the end.

    Args:
        reply: A `PairReply` as a dictionary.

    Returns:
        The reading. Never raises for what a judge wrote.
    """
    first, asked, text = str(reply["first"]), tuple(reply["asked"]), str(reply["reply"])
    if reply["verdicts"] is not None:
        return PairReading(first, asked, reply["verdicts"], reply=text)
    if reply.get("failure"):
        return PairReading(first, asked, {}, str(reply["failure"]), str(reply["error"]))
    failure = _CUT_OFF.get(reply["stop_reason"])
    if failure is None and (reply["error"] or reply["stop_reason"] == "error"):
        failure = JudgeFailure("call_failed", reply["error"] or "The call gave no reply.")
        return PairReading(first, asked, {}, failure.mode, failure.detail, reply=text)
    key = str(reply.get("key", ""))
    found = read_keyed(text, key, lambda part: _read(part, asked), Verdicts.falls_short_of, together=True, names=asked)
    result = failure if failure and len(asked) == 1 else found.result
    if isinstance(result, JudgeFailure):
        failure = failure or result
        return PairReading(first, asked, {}, failure.mode, failure.detail, reply=text)
    verdicts = {name: about_responses(verdict, first) for name, verdict in result.verdicts.items()}
    mode, detail = (failure.mode, failure.detail) if failure else _missing(verdicts)
    return PairReading(first, asked, verdicts, mode, detail, result.unknown, text, found.unkeyed)


@dataclass(frozen=True)
class PairOutcome:
    """What all replies about a pair say together.

    Attributes:
        labels: Name -> label, of what was asked for.
        orders: Response shown first -> name -> verdict; None where none could be read.
        verdicts: Name -> verdict of all orders; None where one could not be read.
    """

    labels: dict[str, str]
    orders: dict[str, dict[str, str | None]]
    verdicts: dict[str, str | None]


def hold_against(labels: Mapping[str, str], readings: Sequence[PairReading]) -> PairOutcome:
    """Put the replies about a pair together with its labels.

    Args:
        labels: Name -> label; dimensions and `Overall`.
        readings: What was read of the replies.
    """
    asked = {OVERALL, *(name for reading in readings for name in reading.asked)}
    kept = {name: label for name, label in labels.items() if name in asked}
    orders = _by_order(readings, kept)
    return PairOutcome(
        kept, orders, {name: final_verdict([verdicts[name] for verdicts in orders.values()]) for name in kept}
    )


def final_verdict(verdicts: Sequence[str | None]) -> str | None:
    """The verdict of all orders: a tie where they disagree, none where one could not be read."""
    if not verdicts or None in verdicts:
        return None
    return verdicts[0] if len(set(verdicts)) == 1 else "tie"


@overload
def about_responses(shown: Shown, first: str) -> str: ...
@overload
def about_responses(shown: Shown | None, first: str) -> str | None: ...
def about_responses(shown: Shown | None, first: str) -> str | None:
    """Turn a verdict on responses as shown into one on a and b, given which of these was shown first."""
    if shown is None or shown == "tie":
        return shown
    return first if shown == "1" else ("b" if first == "a" else "a")


def _by_order(readings: Sequence[PairReading], names: Iterable[str]) -> dict[str, dict[str, str | None]]:
    orders: dict[str, dict[str, str | None]] = {}
    for reading in readings:
        orders.setdefault(reading.first, dict.fromkeys(names)).update(reading.verdicts)
    return orders


def _read(text: str, asked: tuple[str, ...]) -> Verdicts | JudgeFailure:
    if len(asked) > 1:
        return read_verdicts(text, asked)
    verdict = read_verdict(text, asked[0])
    return verdict if isinstance(verdict, JudgeFailure) else Verdicts({asked[0]: verdict})


def _missing(verdicts: Mapping[str, str | None]) -> tuple[str, str]:
    names = [name for name, verdict in verdicts.items() if verdict is None]
    return (MISSING_VERDICT, f"No single verdict on {', '.join(names)}.") if names else ("", "")


Side = Literal["a", "b"]
Preference = Literal["a", "b", "tie"]

ANNOTATION = "pair_annotation"
"""Key under which the annotation of a pair is kept between asking and reading."""


@dataclass(frozen=True)
class PairAnnotation:
    """What a judge prefers.

    Attributes:
        winner: Better response as a whole; None where a reply does not say.
        dimensions: Dimension -> better response; dimensions on which a reply is silent are left out.
        failures: What went wrong, one mode a reply.
        unkeyed: Number of replies whose verdicts come from a record without a key.
    """

    winner: Preference | None
    dimensions: dict[str, Preference]
    failures: tuple[str, ...]
    unkeyed: int = 0


def read_annotation(
    replies: Mapping[Side, str | JudgeFailure], dimensions: Sequence[str], keys: Mapping[Side, str] | None = None
) -> PairAnnotation:
    """Put the replies of both orders together: a preference that changes with the order is a tie.

    Never raises and never guesses: a verdict that one of the replies lacks is no preference.

    Args:
        replies: Response shown first -> the reply, or why there is none.
        dimensions: What was asked for, besides the verdict as a whole.
        keys: Response shown first -> the key that the prompt asked for; None if none was asked for.

    Returns:
        The preferences.
    """
    asked = (*dimensions, OVERALL)
    failures: list[str] = []
    unkeyed = 0
    orders: list[dict[str, Preference | None]] = []
    for first, reply in replies.items():
        if isinstance(reply, JudgeFailure):
            failures.append(reply.mode)
            orders.append({})
            continue
        key = (keys or {}).get(first, "")
        read = read_keyed(
            reply, key, partial(read_verdicts, asked=asked), Verdicts.falls_short_of, together=True, names=asked
        )
        found = read.result
        if isinstance(found, JudgeFailure):
            failures.append(found.mode)
            orders.append({})
            continue
        if any(verdict is None for verdict in found.verdicts.values()):
            failures.append("missing_verdict")
        unkeyed += read.unkeyed
        orders.append({name: _about(verdict, first) for name, verdict in found.verdicts.items()})
    final = {name: _agreed([verdicts.get(name) for verdicts in orders]) for name in asked}
    winner = final.pop(OVERALL)
    preferred = {name: side for name, side in final.items() if side is not None}
    return PairAnnotation(winner, preferred, tuple(failures), unkeyed)


def _about(shown: Shown | None, first: Side) -> Preference | None:
    if shown is None or shown == "tie":
        return shown
    return first if shown == "1" else "b" if first == "a" else "a"


def _agreed(verdicts: Sequence[Preference | None]) -> Preference | None:
    if not verdicts or any(verdict is None for verdict in verdicts):
        return None
    return verdicts[0] if len(set(verdicts)) == 1 else "tie"
