"""`evolve_instruction`: a generator makes new instructions out of given ones."""

from dataclasses import asdict

from inspect_ai.model import ChatMessage, ChatMessageUser, Model, ModelOutput, StopReason
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect.judging._failures import MAX_DETAIL
from urs_inspect.solvers._model_calls import CallError, attempt, error_of, messages_of
from urs_inspect.solvers._role_models import models_with
from urs_inspect.studies._evolution import (
    EVOLUTION,
    EVOLVE_AGAIN,
    EvolutionFailure,
    NewInstruction,
    evolution_prompt,
    evolution_request_again,
    has_answers,
    read_evolution,
)

GENERATOR = "generator"
"""Role of the models that write instructions."""

_CUT: dict[StopReason, EvolutionFailure] = {
    "max_tokens": EvolutionFailure("truncated", "The reply was cut off at the token limit."),
    "model_length": EvolutionFailure(
        "context_overflow", "The instruction does not fit into the generator's context."
    ),
    "content_filter": EvolutionFailure(
        "content_filter", "The generator's provider withheld the reply."
    ),
}


@solver
def evolve_instruction() -> Solver:
    """Ask one of the models with the role `generator` for a new instruction.

    The sample's input is the given instruction, its target the answer to that, its metadata name
    the `scenario` and the `turn`, a whole number: of n generators, the one at place `turn mod n` is
    asked. After a reply that cannot be used it is asked once more, with the reason. The last reply,
    what was read from it and the number of calls go into the sample's store. A call that fails is
    noted there too; it does not end the run.

    Returns:
        The solver. It raises `InputError` if no model has the role.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        generators = models_with(GENERATOR)
        model = generators[state.metadata["turn"] % len(generators)]
        scenario = state.metadata["scenario"]
        given = state.input_text
        prompt = evolution_prompt(scenario, given, state.target.text)
        messages = messages_of(prompt)
        calls = 1
        output, result = await _written(model, messages, scenario, given)
        if isinstance(result, EvolutionFailure) and result.mode in EVOLVE_AGAIN:
            calls += 1
            messages = _messages_again(messages, output, result)
            second_output, second_result = await _written(model, messages, scenario, given)
            # Where the second call failed, the first reply is what is known of the generator.
            if (
                not isinstance(second_result, EvolutionFailure)
                or second_result.mode != "call_failed"
            ):
                output = second_output
                result = second_result
        state.output = output
        state.messages = list(messages)
        if output.choices:
            state.messages.append(output.message)
        facts = {
            "generator": str(model),
            "prompt_version": prompt.version,
            "prompt_sha256": prompt.sha256,
            "calls": calls,
        }
        state.store.set(
            EVOLUTION, {**facts, "usable": isinstance(result, NewInstruction), **asdict(result)}
        )
        return state

    return solve


async def _written(
    model: Model, messages: list[ChatMessage], scenario: str, given: str
) -> tuple[ModelOutput, EvolutionFailure | NewInstruction]:
    """The reply of a generator, and what was read from it."""
    output = await attempt(model.generate(messages))
    if isinstance(output, CallError):
        output = ModelOutput.from_content(str(model), "", stop_reason="unknown", error=output)
    if output.choices and output.stop_reason in _CUT:
        return output, _CUT[output.stop_reason]
    if error := error_of(output):
        return output, EvolutionFailure("call_failed", error[:MAX_DETAIL])
    return output, read_evolution(output.completion, given, needs_answer=has_answers(scenario))


def _messages_again(
    messages: list[ChatMessage], output: ModelOutput, failure: EvolutionFailure
) -> list[ChatMessage]:
    """The second request: after a whole reply with the reason, else the first request as it was."""
    if failure.mode in ("truncated", "empty_reply"):
        return messages
    return [*messages, output.message, ChatMessageUser(content=evolution_request_again(failure))]
