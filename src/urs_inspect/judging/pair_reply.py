"""Reads a judge's verdicts on two responses."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from urs_inspect.judging.outcomes import JudgeFailure
from urs_inspect.rubrics import normalise_key

Shown = Literal["1", "2", "tie"]
"""The better response as it was shown, first or second."""

OVERALL = "Overall"
"""Key of the verdict as a whole."""

REPLIES = "pair_replies"
"""Key under which the replies about a pair are kept between asking and reading."""

_OVERALL_SPELLINGS = frozenset(
    {"overall", "overallwinner", "overalljudgment", "overalljudgement", "overallverdict", "final"}
)
_WINNER_KEYS = ("winner", "verdict", "better", "choice", "preference")
_VERDICTS: dict[str, Shown] = {
    **dict.fromkeys(
        ("1", "a", "response1", "responsea", "dialogue1", "answer1", "first", "assistant1", "assistanta"), "1"
    ),
    **dict.fromkeys(
        ("2", "b", "response2", "responseb", "dialogue2", "answer2", "second", "assistant2", "assistantb"), "2"
    ),
    **dict.fromkeys(("tie", "tied", "equal", "draw", "same", "both", "neither", "12"), "tie"),
}
_MAX_NAME = 80
_STRAIGHT = str.maketrans("“”„‟＂‘’‛＇：，｛｝", '"""""\'\'\'\':,{}')
_WINNER = re.compile(
    r"""["']?(?:winner|verdict|better|choice|preference)["']?\s*:\s*(?:"([^"\n]{0,40})"|'([^'\n]{0,40})'|([^\s,{}"'\n]{1,40}))""",
    re.IGNORECASE,
)
_KEY = re.compile(
    rf"""(?:"([^"\n{{}}]{{1,{_MAX_NAME}}})"|'([^'\n{{}}]{{1,{_MAX_NAME}}})')\s*:\s*(\{{|["']?\w{{1,12}}(?:\s\w{{1,2}})?["']?)"""
)


@dataclass(frozen=True)
class Verdicts:
    """What a reply says.

    Attributes:
        verdicts: Asked name -> the better response as shown; None where no verdict could be read.
        unknown: Names in the reply that were not asked for.
    """

    verdicts: dict[str, Shown | None]
    unknown: tuple[str, ...] = ()


def read_verdicts(text: str, asked: Sequence[str]) -> Verdicts | JudgeFailure:
    """Read the verdicts on several dimensions and overall.

    Reads what is readable: order, unknown names, code fences and broken JSON do not matter; a name that is missing, or
    has two different verdicts, has none. Never raises and never guesses.

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
    for key, value in _entries(text):
        name = names.get(normalise_key(key))
        if name is not None:
            found.setdefault(name, set()).add(_verdict(value))
        elif isinstance(value, Mapping) and _verdict(value) is not None:
            unknown.append(key[:_MAX_NAME])
    verdicts: dict[str, Shown | None] = {}
    for name in asked:
        given = found.get(name, set())
        verdicts[name] = given.pop() if len(given) == 1 else None
    if all(verdict is None for verdict in verdicts.values()):
        return JudgeFailure("unparseable", "The reply has no JSON object with verdicts on what was asked.")
    return Verdicts(verdicts, tuple(dict.fromkeys(unknown)))


def read_verdict(text: str) -> Shown | JudgeFailure:
    """Read the one verdict of a reply that compares on a single dimension or as a whole; the last one counts."""
    if not text.strip():
        return JudgeFailure("empty_reply", "The reply was empty.")
    matches = list(_WINNER.finditer(text.translate(_STRAIGHT)))
    if not matches:
        return JudgeFailure("unparseable", "The reply has no JSON object with a winner.")
    verdict = _word(next(group for group in matches[-1].groups() if group is not None))
    if verdict is None:
        return JudgeFailure("unparseable", f"The winner is {matches[-1].group()[:60]!r}, not 1, 2 or tie.")
    return verdict


def _entries(text: str) -> list[tuple[str, Any]]:
    """Keys and values of the last object that parses, or else of whatever looks like keys with verdicts."""
    straight = text.translate(_STRAIGHT)
    for candidate in (text, straight):
        start = candidate.find("{")
        while start != -1:
            try:
                value, _ = json.JSONDecoder(object_pairs_hook=_keep_pairs).raw_decode(candidate, start)
            except (ValueError, RecursionError):
                break
            if candidate.find("{", start + 1) == -1 or not candidate[_end(candidate, start) :].strip(" \n`}"):
                return _as_pairs(value)
            start = candidate.find("{", _end(candidate, start))
    return _loose_entries(straight)


class _Object(dict[str, Any]):
    """A JSON object that remembers keys written twice."""

    pairs: list[tuple[str, Any]]


def _keep_pairs(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    made.pairs = pairs
    return made


def _as_pairs(value: object) -> list[tuple[str, Any]]:
    """The pairs of an object, or of the objects it wraps (`{"dimensions": {...}, "overall": {...}}`)."""
    if not isinstance(value, _Object):
        return []
    pairs: list[tuple[str, Any]] = []
    for key, inner in value.pairs:
        if isinstance(inner, _Object) and _verdict(inner) is None and inner.pairs:
            pairs += _as_pairs(inner)
        else:
            pairs.append((key, inner))
    return pairs


def _end(text: str, start: int) -> int:
    return json.JSONDecoder().raw_decode(text, start)[1]


def _loose_entries(text: str) -> list[tuple[str, Any]]:
    entries: list[tuple[str, Any]] = []
    matches = list(_KEY.finditer(text))
    for index, match in enumerate(matches):
        key = match.group(1) or match.group(2)
        if match.group(3) != "{":
            entries.append((key, match.group(3).strip("\"'")))
            continue
        limit = next((m.start() for m in matches[index + 1 :] if m.group(3) == "{"), len(text))
        winner = _WINNER.search(text, match.end(), limit)
        if winner is not None:
            entries.append((key, {"winner": next(group for group in winner.groups() if group is not None)}))
    return entries


def _verdict(value: object) -> Shown | None:
    if isinstance(value, Mapping):
        given = [value[key] for key in value if str(key).strip().casefold() in _WINNER_KEYS]
        return _word(given[0]) if len(given) == 1 else None
    return _word(value)


def _word(value: object) -> Shown | None:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return _VERDICTS.get(normalise_key(str(value)))
