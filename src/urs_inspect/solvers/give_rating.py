"""`give_rating`: the model under test rates, as a judge."""

from dataclasses import asdict

from inspect_ai.model import ChatMessageSystem, GenerateConfig, ModelOutput, ResponseSchema
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect._arguments import Structured, checked
from urs_inspect.solvers.model_calls import CallError, JudgeCalls, attempt
from urs_inspect.solvers.role_models import judge_model, refuse_no_model

CALL = "call"
"""Key of a sample's store: the temperature that was `requested` and `sent`, and whether the call was `structured`."""
INSTRUCTIONS = "judge_instructions"
"""Key of the system message in a sample's metadata. In the input it would hide the case from the list of samples."""
JUDGE_KEY = "judge_key"
"""Key of a sample's metadata: what the judge's record must contain."""
JUDGE_SCHEMA = "judge_schema"
"""Key of a sample's metadata: the judge's record as a JSON schema."""


@solver
@checked
def give_rating(structured: Structured = "auto") -> Solver:
    """Have the model under test answer the sample's input under the instructions in its metadata.

    A call that fails is kept as an output with its error.

    Args:
        structured: Whether the model is asked by the JSON schema in the sample's metadata: `true`, `false`, or `auto`,
            where the preflight of the run saw that its server follows one.

    Raises:
        InputError: If the run is known to have no model.
    """
    refuse_no_model(baselines=False)
    calls = JudgeCalls(structured=structured)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        calls.begin(state)
        model = judge_model(baselines=False)
        if instructions := state.metadata.get(INSTRUCTIONS):
            state.messages.insert(0, ChatMessageSystem(content=instructions))

        async def rate(schema: ResponseSchema | None) -> ModelOutput:
            return (await generate(state, response_schema=schema)).output

        messages = list(state.messages)
        schema = state.metadata.get(JUDGE_SCHEMA)
        result = await attempt(calls.watch(model, messages, GenerateConfig(), rate, schema))
        if isinstance(result, CallError):
            state.output = ModelOutput(model=str(model), error=result)
        else:
            state.store.set(CALL, asdict(result[1]))
        return state

    return solve
