"""What runs did take, beside which their estimate may be laid."""

from collections.abc import Iterable
from dataclasses import dataclass

from inspect_ai.model import ModelUsage

from urs_inspect.errors import InputError
from urs_inspect.reports.estimate.run import GRADER, UNDER_TEST
from urs_inspect.reports.log_files import log_files, read_log


@dataclass(frozen=True)
class Actual:
    """What one model took in one role, over all logs.

    Attributes:
        role: `model` for the model under test, or `grader`.
        model: Name of the model; of a panel the names, since the harness counts a role as a whole.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        samples: Samples that were run, epochs included.
        cost: US dollars; None if not known.
    """

    role: str
    model: str
    input_tokens: int
    output_tokens: int
    samples: int
    cost: float | None


def read_actual(logs: Iterable[str]) -> tuple[Actual, ...]:
    """Read what runs took, finished or not.

    Args:
        logs: Log files and directories.

    Returns:
        One entry a role of each log's model.

    Raises:
        InputError: If there is no log.
    """
    names = list(logs)
    found: list[Actual] = []
    for file in log_files(names):
        log = read_log(file, header_only=True)
        samples = log.results.completed_samples if log.results else 0
        graders = (log.eval.model_roles or {}).get(GRADER, [])
        judging = log.stats.role_usage.get(GRADER)
        everything = sum(log.stats.model_usage.values(), ModelUsage())
        own = _less(everything, judging) if judging is not None else everything
        found.append(_actual(UNDER_TEST, log.eval.model, own, samples))
        if judging is not None:
            models = [one.model for one in (graders if isinstance(graders, list) else [graders])]
            found.append(_actual(GRADER, ", ".join(models), judging, samples))
    if not found:
        raise InputError(f"--against: no log in: {', '.join(names)}")
    return tuple(found)


def _actual(role: str, model: str, used: ModelUsage, samples: int) -> Actual:
    sent = used.input_tokens + (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
    return Actual(role, model, sent, used.output_tokens, samples, used.total_cost)


def _less(total: ModelUsage, part: ModelUsage) -> ModelUsage:
    costs = (total.total_cost, part.total_cost)
    return ModelUsage(
        input_tokens=total.input_tokens - part.input_tokens,
        output_tokens=total.output_tokens - part.output_tokens,
        input_tokens_cache_read=(total.input_tokens_cache_read or 0) - (part.input_tokens_cache_read or 0),
        input_tokens_cache_write=(total.input_tokens_cache_write or 0) - (part.input_tokens_cache_write or 0),
        total_cost=None if None in costs else (costs[0] or 0.0) - (costs[1] or 0.0),
    )
