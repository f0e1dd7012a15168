"""`pair_verdict`: reads a judge's verdicts on two responses and holds them against the labels."""

import math
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState

from urs_inspect.judging import OVERALL, REPLIES, JudgeFailure, read_verdict, read_verdicts
from urs_inspect.scorers.pair_metrics import judge_report

_TRUNCATED = {"max_tokens": "truncated", "content_filter": "content_filter", "model_length": "context_overflow"}


@scorer(metrics=[{"overall": [mean()], "dimensions": [mean()]}, judge_report()])
def pair_verdict() -> Scorer:
    """Compare verdicts with labels.

    A sample's value holds `overall` (1 right, 0 wrong) and `dimensions` (share of right verdicts), ties counting as a
    class of their own; NaN where no verdict could be read. With both orders asked, verdicts that disagree are a tie.
    The metadata holds labels and verdicts, asked for ones only; from it `judge_report` counts.

    Returns:
        The scorer.
    """

    async def score(state: TaskState, target: Target) -> Score:
        facts = state.metadata
        replies: list[dict[str, Any]] = state.store.get(REPLIES, [])
        asked = {OVERALL, *(name for reply in replies for name in reply["asked"])}
        everything: dict[str, str] = {**facts.get("dimensions", {}), OVERALL: facts["label"]}
        labels = {name: label for name, label in everything.items() if name in asked}
        orders, failures, unknown = _by_order(replies)
        final = {name: _final([verdicts.get(name) for verdicts in orders.values()]) for name in labels}
        right = {name: float(final[name] == label) for name, label in labels.items() if final[name] is not None}
        dimensions = [value for name, value in right.items() if name != OVERALL]
        return Score(
            value={
                "overall": right.get(OVERALL, math.nan),
                "dimensions": sum(dimensions) / len(dimensions) if dimensions else math.nan,
            },
            answer=final[OVERALL] or "unread",
            explanation=_explain(labels, final, orders),
            reason="invalid_response_format" if any(verdict is None for verdict in final.values()) else None,
            metadata={
                "labels": labels,
                "verdicts": {first: {name: v.get(name) for name in labels} for first, v in orders.items()},
                "failures": failures,
                "unknown_dimensions": unknown,
            },
        )

    return score


def _by_order(replies: list[dict[str, Any]]) -> tuple[dict[str, dict[str, str | None]], list[str], list[str]]:
    """Verdicts about responses a and b by which was shown first; failure modes; names nobody asked for."""
    orders: dict[str, dict[str, str | None]] = {}
    failures: list[str] = []
    unknown: list[str] = []
    for reply in replies:
        verdicts = orders.setdefault(reply["first"], {})
        if reply["verdicts"] is not None:
            verdicts.update(reply["verdicts"])
            continue
        shown = _shown(reply, failures, unknown)
        verdicts.update({name: _about(verdict, reply["first"]) for name, verdict in shown.items()})
    return orders, failures, unknown


def _shown(reply: dict[str, Any], failures: list[str], unknown: list[str]) -> dict[str, str | None]:
    asked: list[str] = list(reply["asked"])
    if reply["stop_reason"] == "error" or reply["error"]:
        failures.append("call_failed")
        return {}
    if (mode := _TRUNCATED.get(reply["stop_reason"])) is not None:
        failures.append(mode)  # what was read before the cut counts, if the judge had come to it
    if len(asked) == 1:
        verdict = read_verdict(reply["reply"], asked[0]) if mode is None else JudgeFailure("truncated", "cut off")
        if isinstance(verdict, JudgeFailure):
            failures.extend([verdict.mode] if mode is None else [])
            return {}
        return {asked[0]: verdict}
    result = read_verdicts(reply["reply"], asked)
    if isinstance(result, JudgeFailure):
        failures.extend([result.mode] if mode is None else [])
        return {}
    unknown.extend(result.unknown)
    if mode is None and any(verdict is None for verdict in result.verdicts.values()):
        failures.append("missing_verdict")
    return dict(result.verdicts)


def _about(shown: str | None, first: str) -> str | None:
    if shown in (None, "tie"):
        return shown
    return first if shown == "1" else ("b" if first == "a" else "a")


def _final(verdicts: list[str | None]) -> str | None:
    if not verdicts or any(verdict is None for verdict in verdicts):
        return None
    return verdicts[0] if len(set(verdicts)) == 1 else "tie"


def _explain(labels: dict[str, str], final: dict[str, str | None], orders: dict[str, dict[str, str | None]]) -> str:
    lines = [f"| | label | verdict | {' | '.join(f'{first} first' for first in orders)} |"]
    lines.append("|---|---|---|" + "---|" * len(orders))
    for name, label in labels.items():
        seen = " | ".join(str(verdicts.get(name) or "unread") for verdicts in orders.values())
        mark = "" if final[name] is None else (" (right)" if final[name] == label else " (wrong)")
        lines.append(f"| {name} | {label} | {final[name] or 'unread'}{mark} | {seen} |")
    return "\n".join(lines)
