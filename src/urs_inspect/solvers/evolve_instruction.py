"""`evolve_instruction`: a generator makes a new instruction out of a sample's."""

from dataclasses import asdict
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Model,
    ModelOutput,
    StopReason,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from urs_inspect.judging.evolution import (
    EVOLUTION,
    EvolutionFailure,
    NewInstruction,
    evolution_prompt,
    has_answers,
    read_evolution,
)
from urs_inspect.solvers.role_models import models_with

GENERATOR = "generator"
"""Role of the models that write."""

_CUT: dict[StopReason, EvolutionFailure] = {
    "max_tokens": EvolutionFailure("truncated", "The reply was cut off at the token limit."),
    "model_length": EvolutionFailure("context_overflow", "The instruction does not fit into the generator's context."),
    "content_filter": EvolutionFailure("content_filter", "The generator's provider withheld the reply."),
}
_MAX_ERROR = 500


@solver
def evolve_instruction() -> Solver:
    """Ask one of the models with the role `generator` for a new instruction.

    The sample's input is the given instruction, its target the answer to that, its metadata name the `scenario` and
    the `turn`, a whole number: of n generators, the one at place `turn mod n` is asked. What it replied, and what was
    read from that, goes into the sample's store. A call that fails is noted there too; it does not end the run.

    Returns:
        The solver. It raises `InputError` if no model has the role.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        generators = models_with(GENERATOR)
        model = generators[state.metadata["turn"] % len(generators)]
        scenario, given = state.metadata["scenario"], state.input_text
        prompt = evolution_prompt(scenario, given, state.target.text)
        messages: list[ChatMessage] = [
            ChatMessageSystem(content=prompt.instructions),
            ChatMessageUser(content=prompt.case),
        ]
        output, failure = await _ask(model, messages)
        result = failure or read_evolution(output.completion, given, needs_answer=has_answers(scenario))
        state.output = output
        state.messages = [*messages, *([output.message] if output.choices else [])]
        state.store.set(EVOLUTION, _record(str(model), result, prompt.version, prompt.sha256))
        return state

    return solve


async def _ask(model: Model, messages: list[ChatMessage]) -> tuple[ModelOutput, EvolutionFailure | None]:
    """The output, and why its text must not be read, if it must not."""
    try:
        output = await model.generate(messages)
    except LimitExceededError:  # of the sample, which the harness ends
        raise
    except Exception as error:  # one failed call must not end the others
        text = f"{type(error).__name__}: {error}"[:_MAX_ERROR]
        failed = ModelOutput.from_content(str(model), "", stop_reason="unknown", error=text)
        return failed, EvolutionFailure("call_failed", text)
    if output.choices and output.stop_reason in _CUT:
        return output, _CUT[output.stop_reason]
    if output.error is not None or not output.choices:
        return output, EvolutionFailure("call_failed", (output.error or "The reply had no choices.")[:_MAX_ERROR])
    return output, None


def _record(
    generator: str, result: NewInstruction | EvolutionFailure, prompt_version: str, prompt_sha256: str
) -> dict[str, Any]:
    facts = {"generator": generator, "prompt_version": prompt_version, "prompt_sha256": prompt_sha256}
    return {**facts, "usable": isinstance(result, NewInstruction), **asdict(result)}
