"""What models will take in their roles, and what a run will take as a whole."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inspect_ai.dataset import Sample

from urs_inspect.reports.estimate.amount import Amount, total
from urs_inspect.reports.estimate.prices import Prices

UNDER_TEST, GRADER = "model", "grader"
ASKED_AGAIN = Amount(1.0, 1.01, 1.05)
"""How often a judge is asked for each answer: replies that cannot be read are asked for once more."""
ABOUT_ASKING = (
    f"Judges are asked again for {ASKED_AGAIN.expected - 1:.0%} of the answers, 0% to {ASKED_AGAIN.high - 1:.0%}; "
    "this is an assumption, as is that no call fails."
)
ABOUT_CACHES = (
    "Caches of prompts, which make a judge's static part cheaper, are not counted; nor are discounts for batches."
)


@dataclass(frozen=True)
class RoleEstimate:
    """What one model will take in one role.

    Attributes:
        role: `model` for the model under test, or `grader`.
        model: Name of the model.
        samples: Samples of one run that it is about, epochs included.
        runs: How many runs.
        calls: Number of calls.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        cost: US dollars; None if the price is not known.
    """

    role: str
    model: str
    samples: int
    runs: int
    calls: Amount
    input_tokens: Amount
    output_tokens: Amount
    cost: Amount | None


@dataclass(frozen=True)
class RunEstimate:
    """What a run will take.

    Attributes:
        task: Name of the task.
        samples: Number of samples, epochs not counted.
        epochs: Number of epochs.
        roles: One entry a model and role.
        cost: US dollars of all that have a price; None if none has.
        unpriced: Models without a price, in order.
        assumptions: Everything that was assumed, a sentence each.
        ids: Ids of the samples; empty if they have none.
    """

    task: str
    samples: int
    epochs: int
    roles: tuple[RoleEstimate, ...]
    cost: Amount | None
    unpriced: tuple[str, ...]
    assumptions: tuple[str, ...]
    ids: tuple[str, ...] = ()


def role_estimate(
    role: str, model: str, samples: int, amounts: tuple[Amount, Amount, Amount], prices: Prices
) -> RoleEstimate:
    """What a model takes in one run: calls, tokens sent and tokens received, and their price."""
    calls, sent, received = amounts
    return RoleEstimate(role, model, samples, 1, calls, sent, received, prices.cost(model, sent, received))


def run_estimate(
    task: str, samples: Sequence[Sample], epochs: int, roles: Iterable[RoleEstimate], assumptions: Sequence[str]
) -> RunEstimate:
    """Put a run together; a judge of several models judges the answers of each."""
    merged = _merged(roles)
    priced = [one.cost for one in merged if one.cost is not None]
    return RunEstimate(
        task,
        len(samples),
        epochs,
        merged,
        total(priced) if priced else None,
        tuple(dict.fromkeys(one.model for one in merged if one.cost is None)),
        tuple(assumptions),
        tuple(str(sample.id) for sample in samples if sample.id is not None),
    )


def _merged(roles: Iterable[RoleEstimate]) -> tuple[RoleEstimate, ...]:
    """One entry a model and role."""
    found: dict[tuple[str, str], RoleEstimate] = {}
    for one in roles:
        known = found.get((one.role, one.model))
        found[one.role, one.model] = one if known is None else _added(known, one)
    return tuple(found.values())


def _added(one: RoleEstimate, other: RoleEstimate) -> RoleEstimate:
    return RoleEstimate(
        one.role,
        one.model,
        one.samples,
        one.runs + other.runs,
        one.calls + other.calls,
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        None if one.cost is None or other.cost is None else one.cost + other.cost,
    )
