"""Verdicts on a pair of responses by a model or by a baseline, and keeping them in the sample's
store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from inspect_ai.model import GenerateConfig, Model, ModelOutput
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from urs_inspect.judging._failures import MAX_DETAIL
from urs_inspect.judging._frames import JudgePrompt
from urs_inspect.judging._pair_reply import PENDING, REPLIES, First, PairReply, read_pair_reply
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.solvers._model_calls import CallError, JudgeCalls, attempt
from urs_inspect.stats import baseline_verdicts, encode

_NAME_OF = ("a", "b", "tie")


@dataclass(frozen=True)
class PairCall:
    """A call about a pair.

    The judge, which response its prompt shows first, and what verdicts it asks for.
    """

    model: Model
    first: First
    asked: tuple[str, ...]
    prompt: JudgePrompt
    config: GenerateConfig


def keep_replies(
    state: TaskState, replies: Sequence[PairReply], judges: Sequence[str] | None = None
) -> None:
    """Keep replies in the sample's store.

    `judges` are their judges, where that is not the model under test.
    """
    kept = [asdict(reply) for reply in replies]
    if judges is not None:
        named = zip(judges, kept, strict=True)
        kept = [{"judge": judge, **reply} for judge, reply in named]
    state.store.set(REPLIES, kept)


async def ask_pairs(
    state: TaskState,
    calls: Sequence[PairCall],
    judge_calls: JudgeCalls,
    judges: Sequence[str] | None = None,
) -> list[PairReply]:
    """Make calls about a pair at once and keep the replies.

    A call that failed has a reply with its error.
    """
    replies = [PairReply(call.first, call.asked, stop_reason=PENDING) for call in calls]

    async def ask(place: int) -> None:
        replies[place] = await _ask_pair(calls[place], judge_calls)

    try:
        await collect(*[ask(place) for place in range(len(calls))])
    finally:  # a limit of the sample must not lose the replies that came before it
        keep_replies(state, replies, judges)
    return replies


async def _ask_pair(call: PairCall, judge_calls: JudgeCalls) -> PairReply:
    prompt = call.prompt
    kept = partial(
        PairReply,
        call.first,
        call.asked,
        prompt_version=prompt.version,
        prompt_sha256=prompt.sha256,
        key=prompt.key,
        needs_key=prompt.needs_key,
    )

    def reply_of(output: ModelOutput) -> PairReply:
        stop_reason = "error"
        if output.choices:
            stop_reason = output.stop_reason
        return kept(output.completion, stop_reason, (output.error or "")[:MAX_DETAIL])

    asking = judge_calls.generate_keyed(
        call.model, prompt, call.config, lambda output: read_pair_reply(reply_of(output)).failure
    )
    result = await attempt(asking)
    if isinstance(result, CallError):
        return kept(stop_reason="error", error=result)
    return replace(
        reply_of(result.output),
        asked_again=result.asked_again,
        temperature_requested=result.facts.requested,
        temperature_sent=result.facts.sent,
        structured=result.facts.structured,
    )


def call_facts(replies: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The different temperatures of requests, and whether they had a schema of the reply.

    Temperatures are those that were requested and those that were sent.

    For the log; nothing where no model was called.
    """
    called = [
        reply
        for reply in replies
        if reply.get("prompt_version") and reply["stop_reason"] not in (PENDING, "error")
    ]
    if not called:
        return {}
    temperatures = {
        name: list(dict.fromkeys(reply.get(name) for reply in called))
        for name in ("temperature_requested", "temperature_sent")
    }
    structured = sorted({bool(reply.get("structured")) for reply in called})
    return {**temperatures, "structured": structured}


def baseline_reply(
    kind: str, facts: Mapping[str, Any], first: First, sample_id: str, seed: int
) -> PairReply:
    """The verdicts of a baseline on `facts`.

    `response_a`, `response_b`, `label` and perhaps `dimensions` of a pair.

    Id and seed are for the random baseline.
    """
    names = (*facts.get("dimensions", {}), OVERALL)
    size = len(names)
    codes = baseline_verdicts(
        kind,
        lengths_a=[len(facts["response_a"])] * size,
        lengths_b=[len(facts["response_b"])] * size,
        first=encode([first] * size),
        overall_labels=encode([facts["label"]] * size),
        ids=[f"{sample_id}/{name}" for name in names],
        seed=seed,
    )
    verdicts = {name: _NAME_OF[int(code)] for name, code in zip(names, codes, strict=True)}
    return PairReply(first, names, verdicts=verdicts)
