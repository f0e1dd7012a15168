"""Verdicts on a pair of responses: what is kept of a call, and how its reply is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Literal, cast

from urs_inspect.judging._ask import UNKNOWN, Temperature
from urs_inspect.judging._failures import FailureMode, JudgeFailure
from urs_inspect.judging._keys import Read, read_keyed
from urs_inspect.judging._reply_counts import BY_JUDGE, REPLY_COUNTS, counts_of
from urs_inspect.judging._verdicts import OVERALL, Shown, Verdicts, read_verdict, read_verdicts

REPLIES = "pair_replies"
"""Key of a sample's store: the replies about a pair."""
PENDING = "pending"
"""Stop reason of a call without a reply so far."""
MISSING_VERDICT = "missing_verdict"
"""Failure of a reply that was read, but lacks some of what was asked for."""

First = Literal["a", "b"]
"""Which response is shown first."""


@dataclass(frozen=True)
class PairReply:
    """One call about a pair and its reply, as the sample's store keeps it."""

    first: First  # which response was shown first
    asked: tuple[str, ...]  # what verdicts were asked for: dimensions, `Overall`
    reply: str = ""  # empty for a baseline; of SaMer its numbers, as Markdown
    # `error` if the call failed, `pending` if no reply came before the sample ended
    stop_reason: str = "stop"
    error: str = ""
    # of a judge without a prompt (a baseline, SaMer), about a and b
    verdicts: dict[str, str] | None = None
    # mode of a failure that the judge itself names; empty for that of a failed call
    failure: str = ""
    prompt_version: str = ""  # empty without a prompt, like the hash
    prompt_sha256: str = ""
    key: str = ""  # the key that the prompt asks for, if it asks for one
    # whether the reply counts only with the key; logs of earlier versions do not say
    needs_key: bool = False
    # whether this is the reply to a second request, since the first one lacked the key
    asked_again: bool = False
    temperature_requested: float | None = None  # None for the provider's default
    temperature_sent: Temperature = UNKNOWN
    structured: bool = False  # whether the request had a schema of the reply


_CUT_OFF: Mapping[str, JudgeFailure] = {
    "max_tokens": JudgeFailure("truncated", "The reply was cut off at the token limit."),
    "content_filter": JudgeFailure("content_filter", "The provider withheld the reply."),
    PENDING: JudgeFailure("no_answer", "The sample ended before the judge replied."),
    "model_length": JudgeFailure(
        "context_overflow", "The pair does not fit into the judge's context."
    ),
}


@dataclass(frozen=True)
class PairReading:
    """One reply and what was read from it.

    `verdicts` are about responses a and b, None where one was unreadable.
    """

    first: str
    asked: tuple[str, ...]
    verdicts: Mapping[str, str | None]
    mode: str = ""  # how reading failed, wholly or in part
    detail: str = ""
    unknown: tuple[str, ...] = ()  # names in the reply that were not asked for
    reply: str = ""
    unkeyed: bool = False  # whether the reply had verdicts without the key, which count or not
    asked_again: bool = False
    near_key: bool = False
    several_records: bool = False
    computed: bool = field(default=False, compare=False)  # whether the reply is our own Markdown

    @property
    def failure(self) -> JudgeFailure | None:
        """Why no verdict could be read; None if some could."""
        if not self.mode or self.verdicts:
            return None
        return JudgeFailure(cast(FailureMode, self.mode), self.detail)

    def to_metadata(self) -> dict[str, Any]:
        """The failure as the log keeps it."""
        return {
            "mode": self.mode,
            "first": self.first,
            "asked": list(self.asked),
            "detail": self.detail,
        }


def reply_counts(readings: Mapping[str, Sequence[PairReading]]) -> dict[str, Any]:
    """How many replies were without the key, were asked for again, and so on, as the log keeps it.

    By judge.
    """
    every = [reading for given in readings.values() for reading in given]
    by_judge: dict[str, dict[str, int]] = {}
    for judge, given in readings.items():
        written = [reading for reading in given if reading.reply and not reading.computed]
        by_judge |= counts_of(judge, written)
    counts = {name: sum(getattr(reading, name) for reading in every) for name in REPLY_COUNTS}
    return {**counts, BY_JUDGE: by_judge}


def read_pair_reply(reply: PairReply | Mapping[str, Any]) -> PairReading:
    """Read a reply, perhaps as the store of a sample keeps it. Never raises for what a judge wrote.

    What a judge wrote before its reply was cut off counts where several verdicts were asked for,
    and not where one was: a judge may come to the opposite in the end.
    """
    if isinstance(reply, Mapping):
        reply = _restored(reply)
    reading = partial(PairReading, reply.first, reply.asked, asked_again=reply.asked_again)
    if reply.verdicts is not None:
        return reading(reply.verdicts, reply=reply.reply, computed=True)
    if reply.failure:
        return reading({}, reply.failure, reply.error)
    cut_off = _CUT_OFF.get(reply.stop_reason)
    if cut_off is None and (reply.error or reply.stop_reason == "error"):
        detail = reply.error or "The call gave no reply."
        return reading({}, "call_failed", detail, reply=reply.reply)
    read = _read_keyed(reply.reply, reply.key, reply.asked, reply.needs_key)
    reading = partial(reading, reply=reply.reply, **read.marks)
    if cut_off and len(reply.asked) == 1:
        return reading({}, cut_off.mode, cut_off.detail)
    if isinstance(read.result, JudgeFailure):
        failure = cut_off or read.result
        return reading({}, failure.mode, failure.detail)
    mode, detail = _incomplete(read.result, cut_off)
    verdicts = _unswapped(read.result.verdicts, reply.first)
    return reading(verdicts, mode, detail, read.result.unknown)


def _unswapped(verdicts: Mapping[str, Shown | None], first: str) -> dict[str, str | None]:
    return {name: shown and unswap(shown, first) for name, shown in verdicts.items()}


def _incomplete(verdicts: Verdicts, cut_off: JudgeFailure | None) -> tuple[str, str]:
    """How a reply with some verdicts failed in part, and the detail; empty if it did not."""
    if cut_off:
        return cut_off.mode, cut_off.detail
    if verdicts.missing:
        return MISSING_VERDICT, f"No single verdict on {', '.join(verdicts.missing)}."
    return "", ""


def _restored(kept: Mapping[str, Any]) -> PairReply:
    """A reply as the store of a sample keeps it."""
    names = {field_of_reply.name for field_of_reply in fields(PairReply)}
    known = {name: value for name, value in kept.items() if name in names}
    known["asked"] = tuple(kept["asked"])
    return PairReply(**known)


def _read_keyed(text: str, key: str, asked: tuple[str, ...], needs_key: bool) -> Read[Verdicts]:
    def read(part: str) -> Verdicts | JudgeFailure:
        if len(asked) > 1:
            return read_verdicts(part, asked)
        verdict = read_verdict(part, asked[0])
        if isinstance(verdict, JudgeFailure):
            return verdict
        return Verdicts({asked[0]: verdict})

    return read_keyed(text, key, read, needs_key=needs_key, together=True, names=asked)


@dataclass(frozen=True)
class PairOutcome:
    """All replies about a pair together: name -> label; first shown -> name -> verdict.

    Name -> final verdict.
    """

    labels: dict[str, str]
    orders: dict[str, dict[str, str | None]]
    verdicts: dict[str, str | None]


def compare_with_labels(labels: Mapping[str, str], readings: Sequence[PairReading]) -> PairOutcome:
    """Combine the readings of a pair by order, and keep the labels of what was asked.

    Labels are by dimension and `Overall`.
    """
    asked = {OVERALL}.union(*(reading.asked for reading in readings))
    kept = {name: label for name, label in labels.items() if name in asked}
    orders: dict[str, dict[str, str | None]] = {}
    for reading in readings:
        orders.setdefault(reading.first, dict.fromkeys(kept)).update(reading.verdicts)
    final = {}
    for name in kept:
        in_each_order = [verdicts[name] for verdicts in orders.values()]
        final[name] = final_verdict(in_each_order)
    return PairOutcome(kept, orders, final)


def final_verdict(verdicts: Sequence[str | None]) -> str | None:
    """The verdict of all orders: a tie where they disagree, none where one could not be read."""
    if not verdicts or None in verdicts:
        return None
    if len(set(verdicts)) == 1:
        return verdicts[0]
    return "tie"


def unswap(verdict: Shown, first: str) -> str:
    """Turn a verdict on responses as shown into one on a and b.

    `first` is the one that was shown first.
    """
    if verdict == "tie":
        return verdict
    if verdict == "1":
        return first
    if first == "a":
        return "b"
    return "a"
