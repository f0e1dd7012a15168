"""Models of the run by their role."""

import click
from inspect_ai.model import Model, model_roles

from urs_inspect.errors import InputError


def bound_models(role: str) -> list[Model]:
    """The models with a role, in the order of the command line; empty if there is none."""
    found = model_roles().get(role)
    return found if isinstance(found, list) else [found] if found is not None else []


def models_with(role: str) -> list[Model]:
    """The models with a role, in the order of the command line.

    Raises:
        InputError: If there is none.
    """
    models = bound_models(role)
    if not models:
        raise InputError(
            f"no model has the role '{role}'; name one or several: --model-role '{role}=[provider/a, ...]'"
        )
    return models


def roles_known() -> bool:
    """Whether the roles are those of the run to come, which is so while the `inspect` command makes a task.

    In a script that makes a task and hands it to `eval()`, roles are not set up yet, or are those of an earlier run in
    the same process; nothing can be said about them before the run.
    """
    return click.get_current_context(silent=True) is not None
