"""Reads a judge's verdicts on two responses."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from urs_inspect.judging.broken_verdicts import loose_entries, loose_winners
from urs_inspect.judging.outcomes import JudgeFailure
from urs_inspect.judging.reply import shown, without_record
from urs_inspect.judging.verdict_objects import MAX_NAME, pairs_of, parse_objects, verdict_of, winner_of, winners_of
from urs_inspect.judging.verdict_words import Shown
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
