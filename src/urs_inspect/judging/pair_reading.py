"""What one reply about a pair says, turned from responses as shown to responses as labelled."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from urs_inspect.judging.keys import read_keyed
from urs_inspect.judging.outcomes import JudgeFailure
from urs_inspect.judging.pair_reply import OVERALL, PENDING, Verdicts, read_verdict, read_verdicts
from urs_inspect.judging.verdict_words import Shown

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
