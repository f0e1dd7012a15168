"""`annotated_pair`: whether an annotated pair may be trained on."""

import math
from logging import getLogger
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.scorer import mean as mean_metric
from inspect_ai.solver import TaskState

from urs_inspect.judging._pair_reply import ANNOTATION
from urs_inspect.judging._reply_counts import BY_JUDGE, UnkeyedWatch, header_rows, summed
from urs_inspect.scorers._metrics import count_rows, facts_of, mean

logger = getLogger(__name__)


@metric(scores="unreduced")
def annotation_report() -> Metric:
    """Counts of an annotation.

    Rows: `pairs`; `annotated` (with an overall winner and a dimension); `kept`; `share kept` of the
    annotated ones with a known label (SaMer paper, section A2: 78 %); `unlabelled`; `other
    scenario` (the data named another one); `kept scenario=<id>`; `failures <mode>`; counts of the
    judge's replies without the key, asked again and so on.
    """

    def compute(scores: list[SampleScore]) -> Value:
        facts = list(map(facts_of, scores))
        annotated = [fact for fact in facts if fact.get("annotated")]
        labelled = [fact for fact in annotated if fact.get("label")]
        kept = [fact for fact in facts if fact.get("kept")]
        return {
            "pairs": float(len(facts)),
            "annotated": float(len(annotated)),
            "kept": float(len(kept)),
            "share kept": mean([float(bool(fact["agrees"])) for fact in labelled]),
            "unlabelled": float(len(annotated) - len(labelled)),
            "other scenario": float(sum(bool(fact.get("other_scenario")) for fact in annotated)),
            **count_rows("kept", (f"scenario={fact['record']['scenario']}" for fact in kept)),
            **count_rows("failures", (mode for fact in facts for mode in fact.get("failures", ()))),
            **header_rows(summed(facts)),
        }

    return compute


@scorer(metrics=[{"kept": [mean_metric()], "agrees": [mean_metric()]}, annotation_report()])
def annotated_pair() -> Scorer:
    """Keep annotated pairs whose overall winner is the known one.

    Source: SaMer paper, section A2, after STaR.

    The value `agrees` is 1 where the annotated winner is the known one, ties included, 0 where it
    is not, NaN where none is known. `kept` is 1 for pairs to train on: those that agree, and those
    without a known winner, whose annotated one then stands for it, as in the paper's LMSYS part; 0
    for others, also where a verified scenario turned out to be another; NaN, with a reason, where
    the annotation could not be read. The metadata hold the pair in the training format.
    """
    watch = UnkeyedWatch()

    async def score(state: TaskState, target: Target) -> Score:
        facts = state.metadata
        record: dict[str, Any] = state.store.get(ANNOTATION, {"failures": ["call_failed"]})
        winner = record.get("winner")
        dimensions = record.get("dimensions") or {}
        label = facts.get("label") or ""
        scenario = record.get("scenario") or ""
        about_calls = {name: value for name, value in record.items() if "temperature_" in name}
        about_calls[BY_JUDGE] = record.get(BY_JUDGE, {})
        for warning in watch.note(about_calls):
            logger.warning(warning)
        if winner is None or not dimensions:
            return Score(
                value={"kept": math.nan, "agrees": math.nan},
                answer="unread",
                explanation=_explain(record, label),
                reason=(
                    "no_response"
                    if "call_failed" in record["failures"]
                    else "invalid_response_format"
                ),
                metadata={
                    "annotated": False,
                    "kept": False,
                    "failures": list(record["failures"]),
                    **about_calls,
                },
            )
        other = bool(facts.get("scenario")) and facts["scenario"] != scenario
        agrees = winner == label if label else None
        kept = agrees is not False and not other
        return Score(
            value={"kept": float(kept), "agrees": math.nan if agrees is None else float(agrees)},
            answer=winner,
            explanation=_explain(record, label),
            metadata={
                "annotated": True,
                "kept": kept,
                "agrees": agrees,
                "label": label,
                "other_scenario": other,
                "failures": list(record["failures"]),
                **about_calls,
                "record": {
                    "id": str(state.sample_id),
                    "prompt": facts["prompt"],
                    "response_a": facts["response_a"],
                    "response_b": facts["response_b"],
                    "winner": winner,
                    "scenario": scenario,
                    "dimensions": dimensions,
                    "source": facts.get("source", ""),
                },
            },
        )

    return score


def _explain(record: dict[str, Any], label: str) -> str:
    lines = [f"Scenario: {record.get('scenario') or 'not known'}"]
    if record["failures"]:
        lines.append(f"Failures: {', '.join(record['failures'])}")
    rows = [
        ("Overall", record.get("winner") or "unread"),
        *(record.get("dimensions") or {}).items(),
    ]
    table = ["| | preferred |", "|---|---|", *(f"| {name} | {side} |" for name, side in rows)]
    return "\n\n".join([*lines, f"Known winner: {label or 'none'}", "\n".join(table)])
