"""Verdicts on a pair as readable Markdown: a table, what went wrong, and the judge's own words."""

import json
import re
from collections.abc import Mapping, Sequence

from urs_inspect.judging.keys import KEY
from urs_inspect.judging.pair_reading import PairReading

_MAX_WORDS = 20_000
"""Characters of all replies to a pair together that an explanation quotes."""

_MAX_NAMES = 3
_TICKS = re.compile(r"`+")


def explain_pair(labels: Mapping[str, str], final: Mapping[str, str | None], readings: Sequence[PairReading]) -> str:
    """Format the verdicts on a pair for people.

    Args:
        labels: Label by name, `Overall` among them.
        final: Verdict by name, None if unread.
        readings: The replies, in the order of the calls.

    Returns:
        Markdown: a table of labels and verdicts; failures, each with order, dimension and reason; every reply under a
        heading that says what it is about. Long replies are cut, with a note.
    """
    failures = [reading for reading in readings if reading.mode]
    parts = [_table(labels, final, readings)]
    if failures:
        parts += ["### What could not be read", "\n".join(map(_failure, failures))]
    replies = [reading for reading in readings if reading.reply.strip()]
    for reading in replies:
        other = "b" if reading.first == "a" else "a"
        parts.append(f"### {_what(reading)}: response 1 is {reading.first}, response 2 is {other}")
        parts.append(_words(reading.reply, _MAX_WORDS // len(replies)))
    return "\n\n".join(parts)


def _table(labels: Mapping[str, str], final: Mapping[str, str | None], readings: Sequence[PairReading]) -> str:
    orders = list(dict.fromkeys(reading.first for reading in readings))
    seen = {(reading.first, name): verdict for reading in readings for name, verdict in reading.verdicts.items()}
    lines = [_row("", "label", "verdict", *(f"{first} first" for first in orders))]
    lines.append("|" + "---|" * (3 + len(orders)))
    for name, label in labels.items():
        verdict = final[name]
        mark = "" if verdict is None else " (right)" if verdict == label else " (wrong)"
        lines.append(
            _row(name, label, f"{verdict or 'unread'}{mark}", *(seen.get((o, name)) or "unread" for o in orders))
        )
    return "\n".join(lines)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _failure(reading: PairReading) -> str:
    return f"- {_what(reading)}, {reading.first} first: **{reading.mode}**. {reading.detail}"


def _what(reading: PairReading) -> str:
    names = reading.asked
    return ", ".join(names) if len(names) <= _MAX_NAMES else f"{len(names) - 1} dimensions and {names[-1]}"


def _words(reply: str, most: int) -> str:
    """The judge's words: comparisons by name where the reply is the record that was asked for, else as it came."""
    text = _comparisons(reply)
    whole, cut = len(text or reply), (text or reply)[:most].rstrip()
    if text is None:  # whatever a judge wrote: as code, so that it cannot pass for a part of the explanation
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(cut)), default=0))
        cut = f"{fence}\n{cut}\n{fence}"
    note = f"\n\n(Cut after {most:,} of {whole:,} characters; the rest is in the messages.)" if whole > most else ""
    return f"{cut}{note}"


def _comparisons(reply: str) -> str | None:
    start, end = reply.find("{"), reply.rfind("}") + 1
    try:
        record = json.loads(reply[start:end], strict=False) if start >= 0 else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not record:
        return None
    entries = {"": record} if "winner" in record else {name: entry for name, entry in record.items() if name != KEY}
    if not all(isinstance(entry, dict) and "winner" in entry for entry in entries.values()):
        return None
    lines = []
    for name, entry in entries.items():
        head = f"{_line(name)}: {_line(entry['winner'])}" if name else _line(entry["winner"])
        lines.append(f"- **{head}.** {_line(entry.get('comparison', ''))}".rstrip())
    before = reply[:start].strip().removesuffix("```json").removesuffix("```").strip()
    return "\n\n".join([before, "\n".join(lines)] if before else ["\n".join(lines)])


def _line(value: object) -> str:
    return " ".join(str(value).split())
