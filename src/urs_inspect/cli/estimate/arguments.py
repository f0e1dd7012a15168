"""Reads models, roles and task arguments in the forms that the harness takes."""

from typing import Any

import yaml

from urs_inspect.errors import InputError
from urs_inspect.texts import read_yaml

_NONE = ("none", "none/none")


def read_models(task: str, given: str | None) -> tuple[str, ...]:
    """The models under test; none for a task that asks none.

    Raises:
        InputError: If there are none where some are needed, or the other way round.
    """
    models = tuple(dict.fromkeys(name.strip() for name in (given or "").split(",") if name.strip()))
    if task == "urs_crossval":
        if set(models) - set(_NONE):
            raise InputError(f"--model: {task} judges answers that exist; leave it out, or say none, got '{given}'")
        return ()
    if not models or set(models) & set(_NONE):
        raise InputError("--model: name the model under test, or several separated by commas")
    return models


def read_task_arguments(given: tuple[str, ...]) -> dict[str, Any]:
    """Arguments of the task by name, each as YAML; of one that is given twice the last counts, as for the harness.

    Raises:
        InputError: If one has another form.
    """
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise InputError(f"-T: expected name=value, got '{one}'")
        try:
            found[name.replace("-", "_")] = read_yaml(value)
        except yaml.YAMLError as error:
            raise InputError(f"-T: cannot read '{one}': {getattr(error, 'problem', error)}") from error
    return found


def read_graders(given: tuple[str, ...]) -> tuple[str, ...]:
    """The models of the role `grader`, in any form that the harness takes.

    Raises:
        InputError: If another role is named, or no model.
    """
    found: list[str] = []
    for one in given:
        role, equals, value = one.partition("=")
        if not equals or role != "grader":
            raise InputError(f"--model-role: expected grader=<model>, got '{one}'")
        try:
            read = read_yaml(value)
        except yaml.YAMLError as error:
            raise InputError(f"--model-role: cannot read '{value}': {getattr(error, 'problem', error)}") from error
        for model in read if isinstance(read, list) else [read]:
            name = model.get("model") if isinstance(model, dict) else model
            if not isinstance(name, str) or not name:
                raise InputError(f"--model-role: expected grader=<model>, got '{one}'")
            found.append(name)
    return tuple(found)
