"""`reference_outcome`: whether an answer may serve as a reference, without a judge."""

import math
from collections import Counter

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect.datasets._references import (
    CUT,
    NO_ANSWER,
    OUTCOMES,
    USABLE,
    WITHHELD,
    outcome_of_text,
)
from urs_inspect.scorers._metrics import groups_of, value_of

_STOPPED = {"max_tokens": CUT, "model_length": CUT, "content_filter": WITHHELD}


@metric(scores="unreduced")
def reference_report() -> Metric:
    """`usable`, the share of answers that may serve, 0 to 1.

    Then `answers <outcome>`, counts of those that occur.
    """

    def compute(scores: list[SampleScore]) -> Value:
        counts = Counter[str]()
        for score in scores:
            value = value_of(score)
            if value:
                counts[str(value["outcome"])] += 1
        rows = {
            f"answers {outcome}": float(counts[outcome]) for outcome in OUTCOMES if counts[outcome]
        }
        # Before the first answer the harness looks for the headline, and warns if it is not there.
        usable = math.nan
        if counts:
            usable = counts[USABLE] / counts.total()
        return {"usable": usable, **rows}

    return compute


@scorer(metrics=[reference_report()])
def reference_outcome() -> Scorer:
    """Report for each answer whether it may serve as a reference, and count the outcomes.

    Outcomes: `usable`, `empty`, `cut` (stopped at the token limit), `withheld` (by a filter),
    `no_answer`. The value holds `usable` (1 or 0), and `outcome`, `intent` and `language` as text.
    """

    async def score(state: TaskState, target: Target) -> Score:
        outcome = outcome_of(state.output)
        return Score(
            value={
                "usable": int(outcome == USABLE),
                "outcome": outcome,
                **groups_of(state.metadata),
            },
            answer=state.output.completion,
        )

    return score


def outcome_of(output: ModelOutput) -> str:
    """What a model's output is as a reference answer: one of `references.OUTCOMES`."""
    if not output.choices or output.error:
        return NO_ANSWER
    return _STOPPED.get(output.stop_reason) or outcome_of_text(output.completion)
