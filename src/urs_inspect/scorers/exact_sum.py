"""`exact_sum`: whether the number in an answer is the sum that was asked for."""

from decimal import Decimal

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from urs_inspect.judging.sum_reply import sum_outcome
from urs_inspect.scorers.addition_metrics import RIGHT, SUMMANDS, addition_report


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
