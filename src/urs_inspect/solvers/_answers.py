"""Answers of no model, and new instructions made out of given ones.

Such answers are null answers and recorded ones; a generator makes the instructions.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Literal, get_args

import yaml
from inspect_ai.model import ChatMessage, ChatMessageUser, Model, ModelOutput, StopReason
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect.judging._evolution import (
    EVOLUTION,
    EVOLVE_AGAIN,
    EvolutionFailure,
    NewInstruction,
    evolution_prompt,
    evolution_request_again,
    has_answers,
    read_evolution,
)
from urs_inspect.judging._failures import MAX_DETAIL
from urs_inspect.solvers._model_calls import CallError, attempt, error_of, messages_of
from urs_inspect.solvers._role_models import models_with

NullAnswer = Literal["constant", "empty", "reference", "injection"]
NULL_ANSWERS: tuple[NullAnswer, ...] = get_args(NullAnswer)

_TEXTS = Path(__file__).parent / "null_answers.yaml"
_FALLBACK = "en"


@solver
def null_answer() -> Solver:
    """Answer with the null answer that the sample's metadata names, without calling a model.

    The name of the entry is `null_answer`.

    `constant` is one polite text for every question, `empty` is nothing, `reference` is a copy of
    the reference answer, and `injection` orders the judge to give full marks.
    """
    texts: dict[str, dict[str, str]] = yaml.safe_load(_TEXTS.read_text(encoding="utf-8"))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        kind: NullAnswer = state.metadata["null_answer"]
        if kind == "empty":
            answer = ""
        elif kind == "reference":
            answer = state.target.text
        else:
            answer = texts[kind].get(state.metadata["language"], texts[kind][_FALLBACK])
        _give(state, f"null/{kind}", answer)
        return state

    return solve


ANSWER = "answer"
"""Key of the sample's metadata that holds the answer; without it there was none."""


@solver
def recorded_answer() -> Solver:
    """Answer with the text in the sample's metadata `answer`, of the model named `model` there.

    Calls no model.

    Without the text the sample has no answer at all, as if the model had not been asked.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        text = state.metadata.get(ANSWER)
        if text is not None:
            _give(state, str(state.metadata.get("model", "")), text)
        return state

    return solve


def _give(state: TaskState, model: str, answer: str) -> None:
    state.output = ModelOutput.from_content(model=model, content=answer)
    state.messages.append(state.output.message)


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
