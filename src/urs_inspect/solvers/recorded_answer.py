"""`recorded_answer`: an answer that was given in an earlier run."""

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

ANSWER = "answer"
"""Key of the sample's metadata that holds the answer; without it there was none."""


@solver
def recorded_answer() -> Solver:
    """Answer with the text in the sample's metadata `answer`, of the model named `model` there; calls no model.

    Without the text the sample has no answer at all, as if the model had not been asked.

    Returns:
        The solver.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        text = state.metadata.get(ANSWER)
        if text is not None:
            state.output = ModelOutput.from_content(model=str(state.metadata.get("model", "")), content=text)
            state.messages.append(state.output.message)
        return state

    return solve
