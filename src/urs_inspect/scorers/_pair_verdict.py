"""Verdicts on a pair of responses against labels, and the group of a case for the viewer."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from logging import getLogger
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from urs_inspect.judging._keys import KEY
from urs_inspect.judging._pair_reply import (
    REPLIES,
    PairReading,
    compare_with_labels,
    read_pair_reply,
    reply_counts,
)
from urs_inspect.judging._reply_counts import UnkeyedWatch
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.scorers._metrics import mean, reason_of
from urs_inspect.scorers._pair_metrics import judge_report
from urs_inspect.solvers._local_judges import EVALUATIONS, pair_facts
from urs_inspect.solvers._pair_asking import call_facts

logger = getLogger(__name__)

_MAX_WORDS = 20_000
"""Characters of all replies to a pair together that an explanation quotes."""

_MAX_NAMES = 3
_TICKS = re.compile(r"`+")


def explain_pair(
    labels: Mapping[str, str], final: Mapping[str, str | None], readings: Sequence[PairReading]
) -> str:
    """Verdicts on a pair as Markdown.

    A table of labels and verdicts, failures, and every reply, perhaps cut.
    """
    parts = [_table(labels, final, readings)]
    failures = [
        f"- {_what(reading)}, {reading.first} first: **{reading.mode}**. {reading.detail}"
        for reading in readings
        if reading.mode
    ]
    if failures:
        parts += ["### What could not be read", "\n".join(failures)]
    replies = [reading for reading in readings if reading.reply.strip()]
    for reading in replies:
        other = "a"
        if reading.first == "a":
            other = "b"
        parts.append(f"### {_what(reading)}: response 1 is {reading.first}, response 2 is {other}")
        parts.append(_words(reading, _MAX_WORDS // len(replies)))
    return "\n\n".join(parts)


def _table(
    labels: Mapping[str, str], final: Mapping[str, str | None], readings: Sequence[PairReading]
) -> str:
    orders = list(dict.fromkeys(reading.first for reading in readings))
    seen = {}
    for reading in readings:
        for name, verdict in reading.verdicts.items():
            seen[reading.first, name] = verdict
    lines = [_row("", "label", "verdict", *(f"{first} first" for first in orders))]
    lines.append("|" + "---|" * (3 + len(orders)))
    for name, label in labels.items():
        verdict = final[name]
        mark = " (wrong)"
        if verdict is None:
            mark = ""
        elif verdict == label:
            mark = " (right)"
        lines.append(
            _row(
                name,
                label,
                f"{verdict or 'unread'}{mark}",
                *(seen.get((o, name)) or "unread" for o in orders),
            )
        )
    return "\n".join(lines)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _what(reading: PairReading) -> str:
    names = reading.asked
    if len(names) <= _MAX_NAMES:
        return ", ".join(names)
    return f"{len(names) - 1} dimensions and {names[-1]}"


def _words(reading: PairReading, most: int) -> str:
    """The judge's words, by name where the reply is the object that was asked for.

    Another reply is given as it came.
    """
    reply = reading.reply
    text = _comparisons(reply) or (reply if reading.computed else None)
    whole = len(text or reply)
    cut = (text or reply)[:most].rstrip()
    if text is None:  # as code, so that a judge's text cannot pass for a part of the explanation
        longest = max(map(len, _TICKS.findall(cut)), default=0)
        fence = "`" * max(3, longest + 1)
        cut = f"{fence}\n{cut}\n{fence}"
    note = ""
    if whole > most:
        note = f"\n\n(Cut after {most:,} of {whole:,} characters; the rest is in the messages.)"
    return f"{cut}{note}"


def _comparisons(reply: str) -> str | None:
    start = reply.find("{")
    end = reply.rfind("}") + 1
    try:
        record = None
        if start >= 0:
            record = json.loads(reply[start:end], strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not record:
        return None
    entries = {"": record}
    if "winner" not in record:
        entries = {name: entry for name, entry in record.items() if name != KEY}
    lines = []
    for name, entry in entries.items():
        if not isinstance(entry, dict) or "winner" not in entry:
            return None
        head = _line(entry["winner"])
        if name:
            head = f"{_line(name)}: {head}"
        comparison = _line(entry.get("comparison", ""))
        lines.append(f"- **{head}.** {comparison}".rstrip())
    listed = "\n".join(lines)
    before = reply[:start].strip()
    before = before.removesuffix("```json").removesuffix("```").strip()
    if before:
        return f"{before}\n\n{listed}"
    return listed


def _line(value: object) -> str:
    return " ".join(str(value).split())


GROUP = "group"
"""Key of the group in metadata and value alike: columns of the viewer are values."""

_DECIMALS = 3
"""Of the share in the list of samples; `judge_report` counts verdicts."""


@scorer(metrics=[judge_report()])
def pair_verdict() -> Scorer:
    """Compare verdicts with labels.

    A sample's value holds its `group`, `overall` (1 right, 0 wrong) and `dimensions` (share of
    right verdicts, to three decimals), ties counting as a class of their own; NaN where no verdict
    could be read. With both orders asked, verdicts that disagree are a tie. The reason says what
    kept a verdict from being read. The metadata holds labels and verdicts, asked for ones only;
    `judge_report` counts them.

    Returns:
        The scorer.
    """
    watch = UnkeyedWatch()

    async def score(state: TaskState, target: Target) -> Score:
        facts = state.metadata
        kept: list[dict[str, Any]] = state.store.get(REPLIES, [])
        readings = [read_pair_reply(reply) for reply in kept]
        outcome = compare_with_labels(
            {**facts.get("dimensions", {}), OVERALL: facts["label"]}, readings
        )
        labels = outcome.labels
        final = outcome.verdicts
        right = {
            name: float(final[name] == label)
            for name, label in labels.items()
            if final[name] is not None
        }
        dimensions = [value for name, value in right.items() if name != OVERALL]
        failed = [reading for reading in readings if reading.mode]
        counts = reply_counts({str(state.model): readings})
        for warning in watch.note(counts):
            logger.warning(warning)
        return Score(
            value={
                GROUP: str(facts.get(GROUP, "")),
                "overall": right.get(OVERALL, math.nan),
                "dimensions": round(mean(dimensions), _DECIMALS),
            },
            answer=final[OVERALL] or "unread",
            explanation=explain_pair(labels, final, readings),
            reason=reason_of(_unread(failed)) if None in final.values() else None,
            metadata={
                "labels": labels,
                "verdicts": outcome.orders,
                "failures": [reading.mode for reading in failed],
                "failure_details": [reading.to_metadata() for reading in failed],
                **counts,
                "unknown_dimensions": [name for reading in readings for name in reading.unknown],
                **_prompt_facts(kept),
                **call_facts(kept),
                **_samer_facts(state.store.get(EVALUATIONS, [])),
            },
        )

    return score


def _unread(failed: Sequence[PairReading]) -> list[str]:
    """How replies without all verdicts failed; one that was cut off may have all."""
    return [
        reading.mode
        for reading in failed
        if not reading.verdicts or None in reading.verdicts.values()
    ]


def _prompt_facts(replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is known of the prompts; a baseline has none."""
    prompted = [reply for reply in replies if reply.get("prompt_version")]
    if not prompted:
        return {}
    versions = dict.fromkeys(reply["prompt_version"] for reply in prompted)
    hashes = dict.fromkeys(reply["prompt_sha256"] for reply in prompted)
    return {"prompt_version": ", ".join(versions), "prompt_sha256": list(hashes)}


def _samer_facts(evaluations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if evaluations:
        return {**pair_facts(evaluations), "evaluations": evaluations}
    return {}
