"""What runs did take, beside which their estimate may be laid."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.model import ModelUsage

from urs_inspect.errors import InputError
from urs_inspect.reports.estimate.roles import GRADER, UNDER_TEST, RunEstimate
from urs_inspect.reports.log_files import short_name, sorted_headers

BOTH = "model and grader"
"""Role of a model that judged itself: its usage is one number."""


@dataclass(frozen=True)
class Actual:
    """What one model took in one role, over all logs.

    Attributes:
        role: `model` for the model under test, `grader`, or `model and grader` for one that judged itself.
        model: Name of the model; of a panel that the log counts as a whole the names.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        samples: Samples that were run, epochs included; of an evaluator of `urs_crossval` those that were its own.
        cost: US dollars; None if not known.
    """

    role: str
    model: str
    input_tokens: int
    output_tokens: int
    samples: int
    cost: float | None


@dataclass(frozen=True)
class ActualUse:
    """What runs took, and which logs say nothing about it.

    Attributes:
        roles: One entry a model and role, all logs together.
        left_out: Logs that were left out and why, a sentence each.
    """

    roles: tuple[Actual, ...]
    left_out: tuple[str, ...]


def read_actual(logs: Iterable[str], task: str, estimated: RunEstimate | None = None) -> ActualUse:
    """Read what runs of a task took, finished or not; of several attempts at one run the one that counts.

    Args:
        logs: Log files and directories.
        task: The task, such as `urs`; logs of others are left out.
        estimated: Count only its samples, epochs, models and judges, and nothing of a log whose model under test is not
            among them; None for all that the logs have.

    Returns:
        What the samples without an error took. Where a model judged itself without a role, the two cannot be told apart
        and are one entry.

    Raises:
        InputError: If no log is left.
    """
    names = list(logs)
    tested = {role.model for role in estimated.roles if role.role == UNDER_TEST} if estimated else set()
    found: list[Actual] = []
    left_out: list[str] = []
    for log in chain(*sorted_headers(names, left_out, task)):
        name = short_name(log.location)
        if tested and log.eval.model not in tested:
            left_out.append(f"{name}: the model {log.eval.model} was not estimated; nothing of the log is counted.")
            continue
        try:
            samples = [one for one in read_eval_log_sample_summaries(log.location) if one.error is None]
        except Exception as error:  # whatever a damaged file does to its reader
            left_out.append(f"{name} was left out: its samples cannot be read: {type(error).__name__}: {error}.")
            continue
        asked = [one for one in samples if _asked(one, estimated)]
        if len(asked) < len(samples):
            left_out.append(f"{len(samples) - len(asked):,} of {len(samples):,} samples of {name}: not estimated.")
        for one in _roles(log, asked) if asked else ():
            if estimated is None or _estimated(one, estimated):
                found.append(one)
            else:
                left_out.append(f"{one.role} {one.model} of {name}: not estimated.")
    if not found:
        raise InputError("\n".join([f"--against: no log of {task} in: {', '.join(names)}", *left_out]))
    return ActualUse(_together(found), tuple(left_out))


def _asked(sample: EvalSampleSummary, estimated: RunEstimate | None) -> bool:
    """Whether a sample and its epoch were estimated."""
    if estimated is None or not estimated.ids:
        return True
    return str(sample.id) in estimated.ids and sample.epoch <= estimated.epochs


def _estimated(one: Actual, estimated: RunEstimate) -> bool:
    names = one.model.split(", ")
    return any(role.model in names and one.role in (role.role, BOTH) for role in estimated.roles)


def _together(found: list[Actual]) -> tuple[Actual, ...]:
    by_role: dict[tuple[str, str], list[Actual]] = {}
    for one in found:
        by_role.setdefault((one.role, one.model), []).append(one)
    return tuple(
        Actual(
            *key,
            sum(one.input_tokens for one in several),
            sum(one.output_tokens for one in several),
            sum(one.samples for one in several),
            None if None in (costs := [one.cost for one in several]) else math.fsum(cost or 0.0 for cost in costs),
        )
        for key, several in by_role.items()
    )


def _roles(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> list[Actual]:
    used: dict[str, ModelUsage] = {}
    for sample in samples:
        for name, usage in sample.model_usage.items():
            used[name] = used.get(name, ModelUsage()) + usage
    graders = (log.eval.model_roles or {}).get(GRADER)
    judging = sum((sample.role_usage.get(GRADER, ModelUsage()) for sample in samples), ModelUsage())
    everything = sum(used.values(), ModelUsage())
    if graders is None:
        both = log.eval.task.rpartition("/")[2] == "urs"
        return [_actual(BOTH if both else UNDER_TEST, log.eval.model, everything, len(samples))]
    judges = [one.model for one in (graders if isinstance(graders, list) else [graders])]
    own = _less(everything, judging)
    parts = _judges(log, judges, used, own, judging)
    if log.eval.task.rpartition("/")[2] == "urs_crossval":
        cells = Counter(str((sample.metadata or {}).get("evaluator")) for sample in samples)
        return [_actual(GRADER, name, part, cells[name]) for name, part in parts.items() if cells[name]]
    return [
        _actual(UNDER_TEST, log.eval.model, own, len(samples)),
        *(_actual(GRADER, name, part, len(samples)) for name, part in parts.items()),
    ]


def _judges(
    log: EvalLog, judges: list[str], used: Mapping[str, ModelUsage], own: ModelUsage, together: ModelUsage
) -> dict[str, ModelUsage]:
    """Usage of each judge; of all in one where the log does not tell them apart."""
    if len(set(judges)) == len(judges):
        parts = {name: used.get(name, ModelUsage()) for name in judges}
        if log.eval.model in parts:
            parts[log.eval.model] = _less(parts[log.eval.model], own)
        known = sum(parts.values(), ModelUsage())
        if (known.input_tokens, known.output_tokens) == (together.input_tokens, together.output_tokens):
            return parts
    return {", ".join(judges): together}


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
