"""From a judge's replies about one pair, in one or both orders, to preferences on dimensions and as a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from urs_inspect.judging.keys import read_keyed
from urs_inspect.judging.outcomes import JudgeFailure
from urs_inspect.judging.pair_reply import OVERALL, Verdicts, read_verdicts
from urs_inspect.judging.verdict_words import Shown

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
