"""`addition_report`: how long a chain a model adds up right."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.rating.chain_lengths import HEADLINE, TEXT, Trial, accuracy, between, longest

RIGHT, SUMMANDS = "right", "summands"
"""Keys of a score: 1 for the exact sum, else 0; how many numbers there were to add."""

_HEADLINE = "accuracy"
_UNREADABLE = ("no_number", "no_response")


@metric(scores="unreduced")
def addition_report() -> Metric:
    """Accuracy over chains of 2 to 9 numbers and by length, and the longest chains (URS paper, Table 7).

    Rows: `accuracy` (chains of 2 to 9 numbers) with `ci_lower` and `ci_upper` (95%, over chains); `longest` (Max L: the
    longest chains with an accuracy of 80% or more) and `longest unbroken` (if no shorter ones have less), 0 for none;
    `2-10 accuracy` and `all accuracy`, likewise with their intervals; `length=<n> accuracy`; `no_number` and
    `no_response`, the answers that count as wrong because they hold no number, or nothing. Rows about lengths that were
    not tried are left out, but `accuracy`, which then is NaN. Names begin with what tells them apart, as the viewer
    shows beginnings.

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
            **_rows("", between(trials, *HEADLINE)),
            "longest": float(any_length),
            "longest unbroken": float(unbroken),
            **_rows(f"{TEXT[0]}-{TEXT[1]} ", between(trials, *TEXT)),
            **_rows("all ", trials),
            **_by_length(trials),
            **{outcome: float(outcomes[outcome]) for outcome in _UNREADABLE},
        }

    return compute


def _numbers(score: SampleScore) -> Mapping[str, Any]:
    value = score.score.value
    return value if isinstance(value, dict) and {RIGHT, SUMMANDS} <= value.keys() else {}


def _trial(score: SampleScore, given: Mapping[str, Any]) -> Trial:
    return Trial(str(score.sample_id), int(given[SUMMANDS]), bool(given[RIGHT]))


def _by_length(trials: Sequence[Trial]) -> dict[str, float]:
    lengths = sorted({trial.summands for trial in trials})
    return {f"length={length} accuracy": accuracy(between(trials, length, length)).mean for length in lengths}


def _rows(which: str, trials: Collection[Trial]) -> dict[str, float]:
    if not trials:
        return {}
    found = accuracy(trials)
    return {f"{which}{_HEADLINE}": found.mean, f"{which}ci_lower": found.low, f"{which}ci_upper": found.high}
