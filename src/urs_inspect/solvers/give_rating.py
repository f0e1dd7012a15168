"""`give_rating`: the model under test rates, as a judge."""

from dataclasses import asdict

from inspect_ai.model import ChatMessageSystem, GenerateConfig, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from urs_inspect.judging import CallsStopped, describe_error
from urs_inspect.solvers.model_calls import JudgeCalls
from urs_inspect.solvers.role_models import judge_model, refuse_no_model

TEMPERATURES = "temperatures"
"""Key of a sample's store: the temperature that was `requested` and `sent`."""
INSTRUCTIONS = "judge_instructions"
"""Key of the system message in a sample's metadata. In the input it would hide the case from the list of samples."""

JUDGE_KEY = "judge_key"
"""Key of what the judge's record must contain."""


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
    calls = JudgeCalls()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        calls.begin(state)
        model = judge_model(baselines=False)
        if instructions := state.metadata.get(INSTRUCTIONS):
            state.messages.insert(0, ChatMessageSystem(content=instructions))

        async def rate() -> ModelOutput:
            return (await generate(state)).output

        try:
            _, temperatures = await calls.watch(model, list(state.messages), GenerateConfig(), rate)
        except LimitExceededError:  # of the sample, which the harness ends
            raise
        except Exception as error:  # one failed call must not end the run, which holds the ratings of all others
            why = str(error) if isinstance(error, CallsStopped) else describe_error(error)
            state.output = ModelOutput(model=str(model), error=why)
        else:
            state.store.set(TEMPERATURES, asdict(temperatures))
        return state

    return solve
