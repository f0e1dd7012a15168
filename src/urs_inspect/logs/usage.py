"""What models took in logs: tokens and costs of the model under test and of its judges."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from inspect_ai.log import EvalLog
from inspect_ai.model import ModelUsage

Used = Mapping[str, ModelUsage]
"""Model or role -> usage."""


@dataclass(frozen=True)
class Usage:
    """Tokens sent, tokens received, and US dollars; NaN where not known."""

    sent: float = 0.0
    received: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.sent + other.sent, self.received + other.received, self.cost + other.cost)

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(self.sent - other.sent, self.received - other.received, self.cost - other.cost)


NOTHING, UNKNOWN = Usage(), Usage(math.nan, math.nan, math.nan)


def usage_of(used: ModelUsage) -> Usage:
    """Usage as inspect-ai counts it; what caches held was sent as well."""
    sent = used.input_tokens + (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
    return Usage(float(sent), float(used.output_tokens), (used.total_cost or 0.0) if _priced(used) else math.nan)


def summed(parts: Iterable[Used]) -> dict[str, ModelUsage]:
    """Usage by model or role of several samples together."""
    total: dict[str, ModelUsage] = {}
    for part in parts:
        for name, used in part.items():
            total[name] = total.get(name, ModelUsage()) + used
    return total


def role_models(log: EvalLog) -> dict[str, tuple[str, ...]]:
    """Role -> names of its models."""
    return {
        role: tuple(model.model for model in (models if isinstance(models, list) else [models]))
        for role, models in (log.eval.model_roles or {}).items()
    }


def own_usage(log: EvalLog, models: Used, roles: Used) -> Usage:
    """Usage of the model under test, given that by model and by role."""
    model = log.eval.model
    if not any(model in names for names in role_models(log).values()):
        return usage_of(models[model]) if model in models else UNKNOWN
    # Usage of a model that has a role as well is counted once for both.
    return usage_of(sum(models.values(), ModelUsage())) - usage_of(sum(roles.values(), ModelUsage()))


def usage_of_judges(judges: Sequence[str], models: Used, judging: ModelUsage) -> Usage:
    """Usage of judges together, which `judging` counts."""
    used = usage_of(judging)
    # inspect-ai adds up the costs that it knows, which of a panel may be some only.
    known = all(_priced(models[judge]) for judge in judges if judge in models)
    return Usage(used.sent, used.received, used.cost if known else math.nan)


def usage_by_judge(
    model: str, judges: Sequence[str], models: Used, own: Usage, together: Usage
) -> dict[str, Usage] | None:
    """Usage of each judge; None where parts are not known, or do not add up to that of all together.

    `own` is the usage of the model under test, which is not that of a judge.
    """
    if len(set(judges)) < len(judges):
        return None
    parts = {judge: usage_of(models[judge]) if judge in models else NOTHING for judge in judges}
    if model in parts and model in models:
        parts[model] -= own
    total = sum(parts.values(), NOTHING)
    same = all(
        math.isclose(getattr(total, name), getattr(together, name), abs_tol=0.5) for name in ("sent", "received")
    )
    return parts if same else None


def _priced(used: ModelUsage) -> bool:
    return used.total_cost is not None or not used.total_tokens
