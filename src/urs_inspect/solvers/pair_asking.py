"""Asking about a pair of responses, and keeping the replies."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, GenerateConfig, Model
from inspect_ai.solver import TaskState
from inspect_ai.util import LimitExceededError

from urs_inspect._util import InputError, choices
from urs_inspect.judging import OVERALL, PENDING, REPLIES, CallsStopped, JudgePrompt, describe_error
from urs_inspect.judging.prompts import First, PairReply
from urs_inspect.solvers.model_calls import JudgeCalls
from urs_inspect.stats import baseline_verdicts, encode

_NAME_OF = ("a", "b", "tie")
_MAX_ERROR = 500


def check_choice(value: str, name: str, allowed: Sequence[str]) -> None:
    """Refuse a value that is not allowed.

    Raises:
        InputError: Naming the allowed ones.
    """
    if value not in allowed:
        raise InputError(f"{name}: unknown value '{value}'; allowed: {choices(allowed)}")


def keep_replies(state: TaskState, replies: Sequence[PairReply], judges: Sequence[str] | None = None) -> None:
    """Keep replies in the sample's store; `judges` says whose they are, where that is not the model under test."""
    named = [{"judge": judge} for judge in judges] if judges is not None else [{}] * len(replies)
    state.store.set(REPLIES, [{**name, **asdict(reply)} for name, reply in zip(named, replies, strict=True)])


async def ask_pair(
    model: Model,
    first: First,
    asked: tuple[str, ...],
    prompt: JudgePrompt,
    calls: JudgeCalls,
    config: GenerateConfig = GenerateConfig(),  # noqa: B008 - never changed
) -> PairReply:
    """Ask a model about a pair.

    Args:
        model: The judge.
        first: Which response the prompt shows first.
        asked: What verdicts are asked for.
        prompt: The prompt.
        calls: What its calls share with those of other judges.
        config: Settings of the call.

    Returns:
        The reply; a call that failed is one, with its error. Only a limit of the sample is raised.
    """
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=prompt.instructions),
        ChatMessageUser(content=prompt.case),
    ]
    kept = partial(PairReply, first, asked, prompt_version=prompt.version, prompt_sha256=prompt.sha256, key=prompt.key)
    try:
        output, temperatures = await calls.generate(model, messages, config)
    except LimitExceededError:  # of the sample, which the harness ends
        raise
    except Exception as error:  # one failed call must not lose the others of a sample
        return kept(stop_reason="error", error=str(error) if isinstance(error, CallsStopped) else describe_error(error))
    stop_reason = output.stop_reason if output.choices else "error"
    return kept(
        output.completion,
        stop_reason,
        (output.error or "")[:_MAX_ERROR],
        temperature_requested=temperatures.requested,
        temperature_sent=temperatures.sent,
    )


def temperature_facts(replies: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The different temperatures that were requested and sent, for the log; nothing where no model was called."""
    called = [
        reply for reply in replies if reply.get("prompt_version") and reply["stop_reason"] not in (PENDING, "error")
    ]
    names = ("temperature_requested", "temperature_sent")
    return {name: list(dict.fromkeys(reply.get(name) for reply in called)) for name in names} if called else {}


def baseline_reply(kind: str, facts: Mapping[str, Any], first: First, sample_id: str, seed: int) -> PairReply:
    """The verdicts of a baseline.

    Args:
        kind: The baseline.
        facts: `response_a`, `response_b`, `label` and optionally `dimensions` of the pair.
        first: Which response is shown first.
        sample_id: Id of the pair, for the random baseline.
        seed: Seed of the random baseline.

    Returns:
        A reply with verdicts and no text.
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
    return PairReply(
        first, names, verdicts={name: _NAME_OF[int(code)] for name, code in zip(names, codes, strict=True)}
    )
