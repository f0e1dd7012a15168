"""`pair_verdict`: reads a judge's verdicts on two responses and holds them against the labels."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from urs_inspect.judging import OVERALL, REPLIES
from urs_inspect.judging.pair_reading import PairReading, hold_against, read_pair_reply
from urs_inspect.samer.judgement import EVALUATIONS, pair_facts
from urs_inspect.scorers.pair_explanation import explain_pair
from urs_inspect.scorers.pair_metrics import judge_report
from urs_inspect.scorers.reasons import reason_of
from urs_inspect.solvers.pair_asking import temperature_facts

GROUP = "group"
"""Key of the group in metadata and value alike: columns of the viewer are values."""

_DECIMALS = 3
"""Of a share that people read in a list; `judge_report` counts verdicts, not these."""


@scorer(metrics=[judge_report()])
def pair_verdict() -> Scorer:
    """Compare verdicts with labels.

    A sample's value holds its `group`, `overall` (1 right, 0 wrong) and `dimensions` (share of right verdicts, to
    three decimals), ties counting as a class of their own; NaN where no verdict could be read. With both orders asked,
    verdicts that disagree are a tie. The reason says what kept a verdict from being read. The metadata holds labels and
    verdicts, asked for ones only; from it `judge_report` counts.

    Returns:
        The scorer.
    """

    async def score(state: TaskState, target: Target) -> Score:
        facts = state.metadata
        kept: list[dict[str, Any]] = state.store.get(REPLIES, [])
        readings = [read_pair_reply(reply) for reply in kept]
        outcome = hold_against({**facts.get("dimensions", {}), OVERALL: facts["label"]}, readings)
        labels, final = outcome.labels, outcome.verdicts
        right = {name: float(final[name] == label) for name, label in labels.items() if final[name] is not None}
        dimensions = [value for name, value in right.items() if name != OVERALL]
        return Score(
            value={
                GROUP: str(facts.get(GROUP, "")),
                "overall": right.get(OVERALL, math.nan),
                "dimensions": round(sum(dimensions) / len(dimensions), _DECIMALS) if dimensions else math.nan,
            },
            answer=final[OVERALL] or "unread",
            explanation=explain_pair(labels, final, readings),
            reason=reason_of(_unread(readings)) if None in final.values() else None,
            metadata={
                "labels": labels,
                "verdicts": outcome.orders,
                "failures": [reading.mode for reading in readings if reading.mode],
                "failure_details": [reading.to_metadata() for reading in readings if reading.mode],
                "unkeyed": sum(reading.unkeyed for reading in readings),
                "unknown_dimensions": [name for reading in readings for name in reading.unknown],
                **_prompt_facts(kept),
                **temperature_facts(kept),
                **_samer_facts(state.store.get(EVALUATIONS, [])),
            },
        )

    return score


def _unread(readings: Sequence[PairReading]) -> list[str]:
    """Failure modes of the replies that lack a verdict; one that was cut off may have them all."""
    return [each.mode for each in readings if each.mode and (not each.verdicts or None in each.verdicts.values())]


def _samer_facts(evaluations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What SaMer said of both responses, if it was the judge."""
    return {**pair_facts(evaluations), "evaluations": list(evaluations)} if evaluations else {}


def _prompt_facts(replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Versions and hashes of the prompts; a baseline has none."""
    asked = [reply for reply in replies if reply.get("prompt_version")]
    if not asked:
        return {}
    return {
        "prompt_version": ", ".join(dict.fromkeys(reply["prompt_version"] for reply in asked)),
        "prompt_sha256": list(dict.fromkeys(reply["prompt_sha256"] for reply in asked)),
    }
