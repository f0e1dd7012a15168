"""`give_rating`: the model under test rates, as a judge."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect._arguments import Structured, checked
from urs_inspect.judging import JudgeFailure, JudgePrompt, ScoreRecord, read_rating, read_reply
from urs_inspect.judging._ask import messages_again, stopped
from urs_inspect.judging._failures import KEY_FAULTS
from urs_inspect.judging._keys import Read, read_keyed
from urs_inspect.rubrics import HIGHEST, LOWEST, Rubric, load_rubric
from urs_inspect.solvers._model_calls import CallError, CallFacts, JudgeCalls, attempt
from urs_inspect.solvers._role_models import judge_model, refuse_no_model

CALL = "call"
"""Key of a sample's store: the temperature that was `requested` and `sent`, and whether the call
was `structured`.
"""
INSTRUCTIONS = "judge_instructions"
"""Key of the system message in a sample's metadata.

In the input it would hide the case from the list of samples.
"""
JUDGE_KEY = "judge_key"
"""Key of a sample's metadata: what the judge's record must contain."""
JUDGE_SCHEMA = "judge_schema"
"""Key of a sample's metadata: the judge's record as a JSON schema."""
JUDGE_NEEDS_KEY = "judge_needs_key"
"""Key of a sample's metadata: whether a reply without that key does not count."""
ASKED_AGAIN = "asked_again"
"""Key of a sample's store: whether the judge was asked again, because it was not certain which
record was its own.
"""
URS_RUBRIC = "urs"
"""Name of the built-in rubric, where a rubric is optional."""


def load_named_rubric(name: str | None) -> Rubric | None:
    """The rubric of that name.

    None for none, `urs` for the built-in one, else the path of a file laid over it.
    """
    if name is None:
        return None
    return load_rubric(None if name == URS_RUBRIC else name)


def scale_of(rubric: Rubric | None, lowest: int, highest: int) -> tuple[int, int]:
    """The scale on which a judge was asked: that of the rubric, or the one that was offered."""
    if rubric is None:
        return (lowest, highest)
    return (LOWEST, HIGHEST)


def read_rating_output(
    output: ModelOutput, rubric: Rubric | None, facts: Mapping[str, Any], scale: tuple[int, int]
) -> Read[ScoreRecord]:
    """Read the rating in a judge's output; it is read as a record without criteria.

    `facts` are of the sample.
    """
    stop_reason = "unknown"
    if output.choices:
        stop_reason = output.stop_reason
    failure = stopped(stop_reason, output.error or "")
    if failure is not None:
        return Read(failure, False)
    if not output.choices:
        return Read(JudgeFailure("no_answer", "The sample ended before the judge replied."), False)

    def read(text: str) -> ScoreRecord | JudgeFailure:
        if rubric is not None:
            return read_reply(text, rubric, rubric.intents[str(facts.get("intent", ""))].criteria)
        rating = read_rating(text, *scale)
        if isinstance(rating, JudgeFailure):
            return rating
        return ScoreRecord(rating, {})

    # Logs of earlier versions do not say whether the key is needed; their replies are read as they
    # were then.
    needs_key = bool(facts.get(JUDGE_NEEDS_KEY, False))
    return read_keyed(output.completion, str(facts.get(JUDGE_KEY, "")), read, needs_key=needs_key)


@solver
@checked
def give_rating(
    lowest: int = 1, highest: int = 5, rubric: str | None = None, structured: Structured = "auto"
) -> Solver:
    """Have the model under test answer the sample's input under the instructions in its metadata.

    Where it is not certain which record of a reply is the judge's own, it is asked once more. A
    call that fails is kept as an output with its error.

    Args:
        lowest: Lowest rating that the judge is offered.
        highest: Highest rating that the judge is offered.
        rubric: Name of the rubric by which the judge is asked, as in `rating_agreement`.
        structured: Whether the model is asked by the JSON schema in the sample's metadata: `true`,
            `false`, or `auto`, where the preflight of the run saw that its server follows one.

    Returns:
        The solver; the sample's output is the last reply.

    Raises:
        InputError: If the rubric cannot be used, or the run is known to have no model.
    """
    refuse_no_model(baselines=False)
    calls = JudgeCalls(structured=structured)
    loaded = load_named_rubric(rubric)
    scale = scale_of(loaded, lowest, highest)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        calls.begin(state)
        model = judge_model(baselines=False)
        if instructions := state.metadata.get(INSTRUCTIONS):
            state.messages.insert(0, ChatMessageSystem(content=instructions))

        async def rate(schema: ResponseSchema | None) -> ModelOutput:
            return (await generate(state, response_schema=schema)).output

        async def ask() -> tuple[ModelOutput, CallFacts] | CallError:
            schema = state.metadata.get(JUDGE_SCHEMA)
            asking = calls.watch(model, list(state.messages), GenerateConfig(), rate, schema)
            return await attempt(asking)

        result = await ask()
        if not isinstance(result, CallError):
            failure = read_rating_output(result[0], loaded, state.metadata, scale).result
            if isinstance(failure, JudgeFailure) and failure.mode in KEY_FAULTS:
                state.store.set(ASKED_AGAIN, True)
                state.messages.append(ChatMessageUser(content=_again(state, failure)))
                result = await ask()
        if isinstance(result, CallError):
            state.output = ModelOutput(model=str(model), error=result)
        else:
            state.store.set(CALL, asdict(result[1]))
        return state

    return solve


def _again(state: TaskState, failure: JudgeFailure) -> str:
    """The second request."""
    prompt = JudgePrompt("", "", "", "", str(state.metadata.get(JUDGE_KEY, "")))
    return messages_again(prompt, state.output.completion, failure)[-1].text
