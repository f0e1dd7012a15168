"""Tokens and cost of runs that were made, to hold against an estimate."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary
from inspect_ai.model import ModelUsage

from urs_inspect.estimating._estimate import GRADER, UNDER_TEST, RunEstimate
from urs_inspect.estimating._lengths import usage_by_judge
from urs_inspect.logs._files import nothing_left, read_summaries, short_name, sorted_headers
from urs_inspect.logs._scores import Usage, Used, own_usage, role_models, usage_of, usage_of_judges

BOTH = "model and grader"
"""Role of a model that judged itself: its usage is one number."""


@dataclass(frozen=True)
class Actual:
    """What one model took in one role, over all logs."""

    # `model` for the model under test, `grader`, or `model and grader` for one that judged itself
    role: str
    model: str  # name of the model; of a panel that the log counts as a whole the names
    input_tokens: int
    output_tokens: int
    # samples that were run, epochs included; of an evaluator of `urs_crossval` those that were its
    # own
    samples: int
    cost: float | None  # US dollars; None if not known


@dataclass(frozen=True)
class ActualUse:
    """What runs took, and which logs say nothing about it."""

    roles: tuple[Actual, ...]  # one entry a model and role, all logs together
    left_out: tuple[str, ...]  # logs that were left out and why, a sentence each


def read_actual(logs: Iterable[str], task: str, estimated: RunEstimate | None = None) -> ActualUse:
    """Read what runs of a task took, finished or not.

    Of several attempts at one run the one that counts is read. With an estimate, only its models,
    judges, samples and epochs count.
    """
    names = list(logs)
    tested: set[str] = set()
    if estimated:
        tested = {role.model for role in estimated.roles if role.role == UNDER_TEST}
    found: list[Actual] = []
    left_out: list[str] = []
    for log in chain(*sorted_headers(names, left_out, task)):
        if tested and log.eval.model not in tested:
            left_out.append(
                f"{short_name(log.location)}: the model {log.eval.model} was not estimated; nothing"
                " of the log is counted."
            )
            continue
        summaries = read_summaries(log, left_out)
        if summaries is not None:
            samples = [sample for sample in summaries if sample.error is None]
            found += _counted(log, samples, estimated, left_out)
    if not found:
        raise nothing_left(f"--against: no log of {task}", names, left_out)
    return ActualUse(_together(found), tuple(left_out))


def _counted(
    log: EvalLog,
    samples: Sequence[EvalSampleSummary],
    estimated: RunEstimate | None,
    left_out: list[str],
) -> list[Actual]:
    """What a log says about the samples, models and judges that were estimated."""
    name = short_name(log.location)
    asked = samples
    if estimated and estimated.ids:
        of_epochs = [sample for sample in samples if sample.epoch <= estimated.epochs]
        asked = [sample for sample in of_epochs if str(sample.id) in estimated.ids]
    if len(asked) < len(samples):
        left_out.append(
            f"{len(samples) - len(asked):,} of {len(samples):,} samples of {name}: not estimated."
        )
    if not asked:
        return []
    counted = []
    for actual in _roles(log, asked):
        if estimated is None or _is_estimated(actual, estimated):
            counted.append(actual)
        else:
            left_out.append(f"{actual.role} {actual.model} of {name}: not estimated.")
    return counted


def _is_estimated(actual: Actual, estimated: RunEstimate) -> bool:
    models = actual.model.split(", ")
    roles = [role for role in estimated.roles if role.model in models]
    return any(actual.role in (role.role, BOTH) for role in roles)


def _together(parts: Sequence[Actual]) -> tuple[Actual, ...]:
    """One entry per role and model, in the order of their first logs.

    A cost that one log lacks is not known.
    """
    table = pd.DataFrame(parts).astype({"cost": float})
    groups = table.groupby(["role", "model"], sort=False, as_index=False)
    sums = groups.agg(
        {"input_tokens": "sum", "output_tokens": "sum", "samples": "sum", "cost": math.fsum}
    )
    actual = []
    for role, model, sent, received, samples, cost in sums.itertuples(index=False, name=None):
        known_cost = cost
        if math.isnan(cost):
            known_cost = None
        actual.append(Actual(role, model, sent, received, samples, known_cost))
    return tuple(actual)


def _roles(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> list[Actual]:
    model = log.eval.model
    task = log.eval.task.rpartition("/")[2]
    models = summed(({model: ModelUsage()}, *(sample.model_usage for sample in samples)))
    judges = role_models(log).get(GRADER)
    if judges is None:
        everything = usage_of(sum(models.values(), ModelUsage()))
        role = UNDER_TEST
        if task == "urs":
            role = BOTH
        return [_actual(role, model, everything, len(samples))]
    roles = summed(sample.role_usage for sample in samples)
    own = own_usage(log, models, roles)
    judging = usage_of_judges(judges, models, roles.get(GRADER, ModelUsage()))
    parts = usage_by_judge(model, judges, models, own, judging)
    if not parts:
        parts = {", ".join(judges): judging}
    if task == "urs_crossval":
        cells = Counter(str((sample.metadata or {}).get("evaluator")) for sample in samples)
        judged = {name: part for name, part in parts.items() if cells[name]}
        return [_actual(GRADER, name, part, cells[name]) for name, part in judged.items()]
    actual = [_actual(UNDER_TEST, model, own, len(samples))]
    for name, part in parts.items():
        actual.append(_actual(GRADER, name, part, len(samples)))
    return actual


def _actual(role: str, model: str, used: Usage, samples: int) -> Actual:
    cost = None if math.isnan(used.cost) else used.cost
    return Actual(role, model, int(used.sent), int(used.received), samples, cost)


def summed(parts: Iterable[Used]) -> dict[str, ModelUsage]:
    """Usage by model or role of several samples together."""
    total: dict[str, ModelUsage] = defaultdict(ModelUsage)
    for part in parts:
        for name, used in part.items():
            total[name] += used
    return dict(total)
