"""`give_rating`: the model under test rates, as a judge."""

from inspect_ai.model import ChatMessageSystem, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from urs_inspect.judging import describe_error
from urs_inspect.solvers.judge_model import judge_model, refuse_no_model

INSTRUCTIONS = "judge_instructions"
"""Key of the system message in a sample's metadata. In the input it would hide the case from the list of samples."""

JUDGE_KEY = "judge_key"
"""Key of what the judge's record must bear, likewise."""


@solver
def give_rating() -> Solver:
    """Have the model under test answer the sample's input under the instructions in its metadata.

    A call that fails is kept as an output with its error.

    Returns:
        The solver.

    Raises:
        InputError: If the run is known to have no model.
    """
    refuse_no_model(baselines=False)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = judge_model(baselines=False)
        if instructions := state.metadata.get(INSTRUCTIONS):
            state.messages.insert(0, ChatMessageSystem(content=instructions))
        try:
            return await generate(state)
        except LimitExceededError:  # of the sample, which the harness ends
            raise
        except Exception as error:  # one failed call must not end the run, which holds the ratings of all others
            state.output = ModelOutput(model=str(model), error=describe_error(error))
            return state

    return solve
