"""Models by their role, and the model under test as a judge."""

from collections.abc import Sequence

import click
from inspect_ai.model import Model, get_model, model_roles

from urs_inspect._util import InputError, choices

GRADER = "grader"
"""Role of the models that judge."""
BASELINE_PREFIX = "baseline/"
MODEL_JUDGE = "model"


def bound_models(role: str) -> list[Model]:
    """The models with a role, in the order of the command line; empty if there is none."""
    models = model_roles().get(role, [])
    if isinstance(models, list):
        return models
    return [models]


def models_with(role: str) -> list[Model]:
    """The models with a role, in the order of the command line; `InputError` if there is none."""
    models = bound_models(role)
    if not models:
        raise InputError(
            f"no model has the role '{role}'; name one or several: --model-role"
            f" '{role}=[provider/a, ...]'"
        )
    return models


def chosen_evaluators(named: Sequence[str] | None, bound: Sequence[str]) -> tuple[str, ...]:
    """Names of the evaluators among the models that have the role, by default all of these."""
    if twice := sorted({name for name in bound if bound.count(name) > 1}):
        raise InputError(
            f"evaluators: {choices(twice)} has the role '{GRADER}' twice; each needs a name of"
            " its own"
        )
    if unknown := sorted(set(named or ()) - set(bound)):
        raise InputError(
            f"evaluators: {choices(unknown)} does not have the role '{GRADER}'; allowed:"
            f" {choices(bound)}"
        )
    return tuple(bound if named is None else named)


def roles_known() -> bool:
    """Whether the roles are those of the run to come.

    They are while the `inspect` command makes a task.

    In a script that makes a task and hands it to `eval()`, roles are not set up yet, or are those
    of an earlier run in the same process.
    """
    return click.get_current_context(silent=True) is not None


def judge_model(*, baselines: bool = True) -> Model:
    """The model under test; `InputError` if the run has none.

    `baselines`: whether a baseline could judge instead.
    """
    model = get_model()
    if is_none(model):
        instead = ""
        if baselines:
            instead = f", or -T judge={BASELINE_PREFIX}longest"
        raise InputError(f"--model none cannot judge; name a model{instead}")
    return model


def refuse_no_model(*, baselines: bool = True) -> None:
    """Refuse a run without a model before it starts, by `InputError`.

    `inspect eval` resolves the model before it makes the task, so that it is known here. A task
    made in Python, before `eval()` is called, does not know it; there the first sample ends the
    run, by `judge_model`.
    """
    if not roles_known():  # a model may be left of an earlier run
        return
    try:
        get_model()
    # no model yet, or one from the environment that is unavailable: neither is surely this run's
    except Exception:
        return
    judge_model(baselines=baselines)


def provider_of(model: Model) -> str:
    """The harness's name of a model's provider."""
    return str(model).partition("/")[0]


def is_none(model: Model) -> bool:
    """Whether this is the harness's name for no model, `none`."""
    return str(model).startswith("none/")
