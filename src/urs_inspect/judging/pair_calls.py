"""The calls about a pair of responses: what is asked, in which orders, and what is kept of each reply."""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, get_args

from urs_inspect.judging.asking import UNKNOWN, Temperature
from urs_inspect.judging.frames import JudgePrompt
from urs_inspect.judging.pair_prompt import dimension_prompt, joint_prompt, overall_prompt
from urs_inspect.judging.pair_reply import OVERALL

First = Literal["a", "b"]
"""Which response is shown first."""

Orders = Literal["ab", "seeded", "both"]
ORDERS: tuple[Orders, ...] = get_args(Orders)

Protocol = Literal["joint", "per_dimension", "overall"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)


@dataclass(frozen=True)
class PairReply:
    """One call and its reply.

    Attributes:
        first: Which response was shown first: `a` or `b`.
        asked: What verdicts were asked for: dimensions, `Overall`.
        reply: The reply; for a baseline empty, for SaMer its numbers.
        stop_reason: Why the reply ended; `error` if the call failed, `pending` if none came before the sample ended.
        error: What went wrong with the call.
        verdicts: For a judge without a prompt (a baseline, SaMer): verdicts by name, about responses a and b.
        failure: Mode of a failure that the judge itself names; empty for that of a failed call.
        prompt_version: Name and version of the prompt's texts; empty where there is none.
        prompt_sha256: Hash of the prompt's texts; empty where there is none.
        key: The key that the prompt asks for; empty if it asks for none.
        temperature_requested: Sampling temperature that the call asked for; None for the provider's default.
        temperature_sent: The one in the request to the provider, which may lack it.
    """

    first: First
    asked: tuple[str, ...]
    reply: str = ""
    stop_reason: str = "stop"
    error: str = ""
    verdicts: dict[str, str] | None = None
    failure: str = ""
    prompt_version: str = ""
    prompt_sha256: str = ""
    key: str = ""
    temperature_requested: float | None = None
    temperature_sent: Temperature = UNKNOWN


def orders_of(orders: str, sample_id: str, seed: int) -> list[First]:
    """Which response is shown first, call by call: `ab` and `seeded` make one call, `both` two."""
    if orders == "both":
        return ["a", "b"]
    if orders == "ab":
        return ["a"]
    return ["b" if hashlib.sha256(f"order/{seed}/{sample_id}".encode()).digest()[0] & 1 else "a"]


def pair_calls(
    protocol: str, facts: dict[str, Any], first: First, ties: bool
) -> list[tuple[First, tuple[str, ...], JudgePrompt]]:
    """The calls about a pair with one response shown first: what verdicts are asked for, and the prompt."""
    one, two = facts[f"response_{first}"], facts["response_b" if first == "a" else "response_a"]
    prompt, dimensions = facts["prompt"], tuple(facts.get("dimensions", {}))
    if protocol == "joint" and dimensions:
        asked = (*dimensions, OVERALL)
        return [(first, asked, joint_prompt(facts["scenario"], dimensions, prompt, one, two))]
    overall = (first, (OVERALL,), overall_prompt(prompt, one, two, ties=ties))
    if protocol != "per_dimension":
        return [overall]
    single = [(first, (name,), dimension_prompt(facts["scenario"], name, prompt, one, two)) for name in dimensions]
    return [*single, overall]
