"""`annotate_pair`: a judge compares two responses dimension by dimension.

Source: SaMer paper, section 3.3.
"""

from dataclasses import asdict, replace
from typing import Any, Literal

from inspect_ai.model import ModelOutput, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

from urs_inspect._arguments import checked
from urs_inspect._util import InputError
from urs_inspect.judging._failures import JudgeFailure
from urs_inspect.judging._keys import read_keyed
from urs_inspect.judging._pair_reply import First, PairReply, read_pair_reply
from urs_inspect.judging._prompts import joint_prompt
from urs_inspect.judging._reply_counts import BY_JUDGE, counts_of
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._pair_annotation import (
    ANNOTATION,
    read_annotation,
    read_scenario,
    scenario_prompt,
)
from urs_inspect.samer._sources import Unpaired, second_response
from urs_inspect.solvers._model_calls import CallFacts, JudgeCalls
from urs_inspect.solvers._role_models import GRADER, models_with

CLASSIFIER = "classifier"
"""Role of the model that names scenarios; the judge does if no model has it."""


@solver
def second_answer() -> Solver:
    """Have the model under test write the second response of samples that have only one.

    Others pass through.

    A call that fails is noted in the store and leaves the sample unannotated.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if "response" not in state.metadata:
            return state
        state = await generate(state)
        facts = state.metadata
        if not state.output.completion.strip():
            state.store.set(ANNOTATION, {"failures": ["no_second_response"]})
            return state
        given = Unpaired(str(state.sample_id), facts["prompt"], facts["response"], facts["source"])
        pair = second_response(given, state.output.completion)
        state.metadata |= {"response_a": pair.response_a, "response_b": pair.response_b}
        return state

    return solve


@solver
@checked
def annotate_pair(
    orders: Literal["both", "ab"] = "both", scenario: Literal["missing", "verify"] = "missing"
) -> Solver:
    """Name the scenario of a pair's prompt, then have both responses compared.

    They are compared on the scenario's dimensions.

    The models with the roles `grader` and, if there is one, `classifier` are asked. Their replies,
    and what was read from them, go into the sample's store. A call that fails is noted there; it
    does not end the run. `orders`: `both` asks twice, a preference that changes with the order
    being a tie; `ab` once, as in the data. `scenario`: `missing` asks where the data name no
    scenario; `verify` always. The sample ends with an `InputError` unless exactly one model has the
    role `grader`.
    """
    calls = JudgeCalls()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        calls.begin(state)
        _one_model(GRADER)
        if state.store.get(ANNOTATION) is not None:
            return state
        facts = state.metadata
        record: dict[str, Any] = {"scenario": facts["scenario"], "failures": []}
        if scenario == "verify" or not facts["scenario"]:
            named = await _scenario(record, facts["prompt"], calls)
            if isinstance(named, JudgeFailure):
                record["failures"] = [f"scenario_{named.mode}"]
                state.store.set(ANNOTATION, record)
                return state
            record["scenario"] = named
        await _compare(record, facts, orders, calls)
        state.output = ModelOutput.from_content(GRADER, str(record["winner"] or "unread"))
        state.store.set(ANNOTATION, record)
        return state

    return solve


async def _scenario(record: dict[str, Any], prompt: str, calls: JudgeCalls) -> str | JudgeFailure:
    role = GRADER
    if CLASSIFIER in model_roles():
        role = CLASSIFIER
    _one_model(role)
    asked = scenario_prompt(prompt)
    scenarios = tuple(load_taxonomy().scenarios)

    def read(reply: str) -> str | JudgeFailure:
        return read_keyed(
            reply, asked.key, lambda text: read_scenario(text, scenarios), needs_key=asked.needs_key
        ).result

    def failure(reply: str) -> JudgeFailure | None:
        result = read(reply)
        if isinstance(result, JudgeFailure):
            return result
        return None

    reply, temperatures, _ = await calls.ask(role, asked, failure)
    record |= {"scenario_prompt_sha256": asked.sha256, "scenario_prompt_version": asked.version}
    if temperatures is not None:
        for name, value in asdict(temperatures).items():
            record[f"scenario_temperature_{name}"] = value
    if isinstance(reply, JudgeFailure):
        return reply
    record["scenario_reply"] = reply
    return read(reply)


async def _compare(
    record: dict[str, Any], facts: dict[str, Any], orders: str, calls: JudgeCalls
) -> None:
    dimensions = tuple(load_taxonomy().scenario(record["scenario"]).dimensions)
    one = facts["response_a"]
    other = facts["response_b"]
    responses: dict[First, tuple[str, str]] = {"a": (one, other)}
    if orders == "both":
        responses["b"] = (other, one)
    prompts = {
        first: joint_prompt(record["scenario"], dimensions, facts["prompt"], *shown)
        for first, shown in responses.items()
    }
    asked = (*dimensions, OVERALL)
    awaited = {
        first: PairReply(first, asked, key=prompt.key, needs_key=prompt.needs_key)
        for first, prompt in prompts.items()
    }

    async def ask(first: First) -> tuple[str | JudgeFailure, CallFacts | None, bool]:
        def failure(reply: str) -> JudgeFailure | None:
            return read_pair_reply(replace(awaited[first], reply=reply)).failure

        return await calls.ask(GRADER, prompts[first], failure)

    results = dict(zip(prompts, await collect(*map(ask, prompts)), strict=True))
    replies = {first: reply for first, (reply, _, _) in results.items()}
    readings = [
        read_pair_reply(replace(awaited[first], reply=reply, asked_again=asked_again))
        for first, (reply, _, asked_again) in results.items()
        if isinstance(reply, str)
    ]
    record |= asdict(read_annotation(replies, dimensions, prompts))
    [judge] = models_with(GRADER)
    record[BY_JUDGE] = counts_of(str(judge), readings)
    record["replies"] = {
        first: reply if isinstance(reply, str) else asdict(reply)
        for first, reply in replies.items()
    }
    record["prompt_sha256"] = prompts["a"].sha256
    record["prompt_version"] = prompts["a"].version
    temperatures = [facts for _, facts, _ in results.values() if facts is not None]
    if temperatures:
        record["temperature_requested"] = list(dict.fromkeys(one.requested for one in temperatures))
        record["temperature_sent"] = list(dict.fromkeys(one.sent for one in temperatures))


def _one_model(role: str) -> None:
    if len(models := models_with(role)) > 1:
        raise InputError(f"role '{role}' has {len(models)} models; allowed here: one")
