"""`exact_sum`: whether the number in an answer is the sum that was asked for."""

import math
from collections import Counter
from decimal import Decimal

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect.judging._number_reply import sum_outcome
from urs_inspect.scorers._metrics import defined, facts_of, value_of
from urs_inspect.stats._bootstrap import reported_bounds
from urs_inspect.stats._chain_lengths import HEADLINE, TEXT, Trial, accuracy, between, longest

RIGHT = "right"
SUMMANDS = "summands"
"""Keys of a score: 1 for the exact sum, else 0; how many numbers there were to add."""

_HEADLINE = "accuracy"
_UNREADABLE = ("no_number", "no_response")


@metric(scores="unreduced")
def addition_report() -> Metric:
    """Accuracy over chains of 2 to 9 numbers and by length, and the longest chains.

    Source: URS paper, Table 7.

    Rows: `accuracy` (chains of 2 to 9 numbers) with its 95% interval over chains, `low` and `high`;
    `longest` (Max L: the longest chains with an accuracy of 80% or more) and `longest unbroken` (if
    no shorter ones have less), 0 for none; `2-10 accuracy` and `all accuracy`; `no_number` and
    `no_response`, the answers that count as wrong because they hold no number, or nothing. Rows
    about lengths that were not tried are omitted, but `accuracy`, which then is NaN. `urs-inspect
    addition` has the accuracy of each length, and all intervals.
    """

    def compute(scores: list[SampleScore]) -> Value:
        trials = [
            Trial(str(score.sample_id), int(value[SUMMANDS]), bool(value[RIGHT]))
            for score in scores
            if {RIGHT, SUMMANDS} <= (value := value_of(score)).keys()
        ]
        if not trials:
            return {
                _HEADLINE: math.nan
            }  # which the harness looks for before the first answer as well
        rows = {_HEADLINE: math.nan}
        if counted := between(trials, *HEADLINE):
            share = accuracy(counted)
            low, high = reported_bounds(
                share.low, share.high, share.n, level=share.level, scale=(0, 1)
            )
            rows = {_HEADLINE: share.value, "low": float(low), "high": float(high)}
        any_length, unbroken = longest(trials)
        rows |= {"longest": float(any_length), "longest unbroken": float(unbroken)}
        for name, part in ((f"{TEXT[0]}-{TEXT[1]}", between(trials, *TEXT)), ("all", trials)):
            if part:
                rows[f"{name} {_HEADLINE}"] = accuracy(part).value
        outcomes = Counter(str(facts_of(score).get("outcome")) for score in scores)
        return defined(rows, _HEADLINE) | {
            outcome: float(outcomes[outcome]) for outcome in _UNREADABLE
        }

    return compute


@scorer(metrics=[addition_report()])
def exact_sum() -> Scorer:
    """Compare the number that an answer gives as its result with the sum (the target).

    The value holds `right`, 1 or 0, and `summands`, how many numbers there were to add. The answer
    must be exact; one without a number is wrong as well, as exact matching has it, and so is an
    empty one. The outcome in the metadata is `right`, `wrong`, `no_number` or `no_response`. A
    sample that ended before the model had answered is left unscored.
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
            value={
                RIGHT: float(outcome == "right"),
                SUMMANDS: float(len(state.metadata["numbers"])),
            },
            answer=f"{number:f}" if number is not None else outcome,
            explanation=answer,
            reason={"no_number": "invalid_response_format", "no_response": "no_response"}.get(
                outcome
            ),
            metadata={"outcome": outcome, "stop_reason": state.output.stop_reason},
        )

    return score
