"""`give_rating`: the model under test rates, as a judge."""

from dataclasses import asdict

from inspect_ai.model import ChatMessageSystem, GenerateConfig, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect.solvers.model_calls import CallError, JudgeCalls, attempt
from urs_inspect.solvers.role_models import judge_model, refuse_no_model

TEMPERATURES = "temperatures"
"""Key of a sample's store: the temperature that was `requested` and `sent`."""
INSTRUCTIONS = "judge_instructions"
"""Key of the system message in a sample's metadata. In the input it would hide the case from the list of samples."""
JUDGE_KEY = "judge_key"
"""Key of a sample's metadata: what the judge's record must contain."""


@solver
def give_rating() -> Solver:
    """Have the model under test answer the sample's input under the instructions in its metadata.

    A call that fails is kept as an output with its error.

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

        result = await attempt(calls.watch(model, list(state.messages), GenerateConfig(), rate))
        if isinstance(result, CallError):
            state.output = ModelOutput(model=str(model), error=result)
        else:
            state.store.set(TEMPERATURES, asdict(result[1]))
        return state

    return solve
