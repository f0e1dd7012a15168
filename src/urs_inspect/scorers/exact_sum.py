"""`exact_sum`: whether the number in an answer is the sum that was asked for."""

import math
from collections import Counter
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect.judging.number_reply import sum_outcome
from urs_inspect.stats.bootstrap import reported_bounds
from urs_inspect.stats.chain_lengths import HEADLINE, TEXT, Trial, accuracy, between, longest

RIGHT, SUMMANDS = "right", "summands"
"""Keys of a score: 1 for the exact sum, else 0; how many numbers there were to add."""

_HEADLINE = "accuracy"
_UNREADABLE = ("no_number", "no_response")


@metric(scores="unreduced")
def addition_report() -> Metric:
    """Accuracy over chains of 2 to 9 numbers and by length, and the longest chains (URS paper, Table 7).

    Rows: `accuracy` (chains of 2 to 9 numbers) with its 95% interval over chains, `low` and `high`; `longest` (Max L:
    the longest chains with an accuracy of 80% or more) and `longest unbroken` (if no shorter ones have less), 0 for
    none; `2-10 accuracy` and `all accuracy`; `no_number` and `no_response`, the answers that count as wrong because
    they hold no number, or nothing. Rows about lengths that were not tried are left out, but `accuracy`, which then is
    NaN. `urs-inspect addition` has the accuracy of each length, and all intervals.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        trials = [_trial(score, given) for score in scores if (given := _numbers(score))]
        # The harness looks for the headline, also before the first answer, and warns if it is not there.
        headline = {_HEADLINE: math.nan}
        if not trials:
            return headline
        any_length, unbroken = longest(trials)
        outcomes = Counter(str((score.score.metadata or {}).get("outcome")) for score in scores)
        return {
            **headline,
            **_bounds(between(trials, *HEADLINE)),
            "longest": float(any_length),
            "longest unbroken": float(unbroken),
            **_accuracy(f"{TEXT[0]}-{TEXT[1]} {_HEADLINE}", between(trials, *TEXT)),
            **_accuracy(f"all {_HEADLINE}", trials),
            **{outcome: float(outcomes[outcome]) for outcome in _UNREADABLE},
        }

    return compute


def _numbers(score: SampleScore) -> Mapping[str, Any]:
    value = score.score.value
    return value if isinstance(value, dict) and {RIGHT, SUMMANDS} <= value.keys() else {}


def _trial(score: SampleScore, given: Mapping[str, Any]) -> Trial:
    return Trial(str(score.sample_id), int(given[SUMMANDS]), bool(given[RIGHT]))


def _accuracy(name: str, trials: Collection[Trial]) -> dict[str, float]:
    return {name: accuracy(trials).value} if trials else {}


def _bounds(trials: Collection[Trial]) -> dict[str, float]:
    if not trials:
        return {}
    found = accuracy(trials)
    low, high = reported_bounds(found.low, found.high, found.n, level=found.level, scale=(0, 1))
    bounds = {} if math.isnan(low) else {"low": float(low), "high": float(high)}
    return {_HEADLINE: found.value, **bounds}


@scorer(metrics=[addition_report()])
def exact_sum() -> Scorer:
    """Hold the number that an answer gives as its result against the sum (the target).

    The answer must be exact. One without a number is wrong as well, as exact matching has it, and so is an empty one;
    the outcome in the metadata tells them apart: `right`, `wrong`, `no_number`, `no_response`. A sample that ended
    before the model had answered is left unscored.

    Returns:
        The scorer; its value holds `right`, 1 or 0, and `summands`, how many numbers there were to add.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        if not state.output.choices:
            return Score.unscored(
                reason="no_response",
                answer=answer,
                explanation="The model gave no answer at all: a limit, or an error.",
                metadata={"outcome": "unscored_no_answer"},
            )
        outcome, number = sum_outcome(answer, Decimal(target.text))
        return Score(
            value={RIGHT: float(outcome == "right"), SUMMANDS: float(len(state.metadata["numbers"]))},
            answer=f"{number:f}" if number is not None else outcome,
            explanation=answer,
            reason={"no_number": "invalid_response_format", "no_response": "no_response"}.get(outcome),
            metadata={"outcome": outcome, "stop_reason": state.output.stop_reason},
        )

    return score
