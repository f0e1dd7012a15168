"""Which model judges, where the model under test is the judge, and whether there is one."""

from inspect_ai.model import Model, get_model

from urs_inspect.errors import InputError
from urs_inspect.solvers.role_models import roles_known

BASELINE_PREFIX = "baseline/"
MODEL_JUDGE = "model"
SAMER_JUDGE = "samer"


def judge_model(*, baselines: bool = True) -> Model:
    """The model under test.

    Args:
        baselines: Whether a baseline could judge in its place, which the error then says.

    Raises:
        InputError: If the run has none.
    """
    model = get_model()
    if is_none(model):
        instead = f", or -T judge={BASELINE_PREFIX}longest" if baselines else ""
        raise InputError(f"--model none has nobody to judge; name a model{instead}")
    return model


def refuse_no_model(*, baselines: bool = True) -> None:
    """Refuse a run without a model before it starts.

    `inspect eval` settles the model before it makes the task, so that it is known here. A task made in Python, before
    `eval()` is called, does not know it; there the first sample ends the run, by `judge_model`.

    Args:
        baselines: As for `judge_model`.

    Raises:
        InputError: If the model of the run is known to be none.
    """
    if not roles_known():  # a model may be left of an earlier run
        return
    try:
        get_model()
    except Exception:  # no model yet, or one from the environment that cannot be had: neither is this run's for certain
        return
    judge_model(baselines=baselines)


def is_none(model: Model) -> bool:
    """Whether this is the harness's name for no model, `none`."""
    return str(model).startswith("none/")
