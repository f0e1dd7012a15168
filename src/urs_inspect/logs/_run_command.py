"""The command that repeats a run, from the header of its log."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.model import ModelConfig

from urs_inspect.logs._naming import model_settings, sounds_secret
from urs_inspect.logs._scores import role_models

_LIMITS = (
    "limit",
    "epochs",
    "sample_id",
    "sample_shuffle",
    "message_limit",
    "token_limit",
    "time_limit",
)
_LOGIN = re.compile(r"(?<=//)[^/@\s]+@")

JUDGE_AGAIN = (
    "inspect score LOG --scorer urs_inspect/intent_judge --model-role grader=JUDGE --action append"
    " --overwrite"
)
"""The command that judges the answers of a log again; without the last word it asks where to
write.
"""


def run_command(log: EvalLog, judges: Sequence[str]) -> str:
    """The command that repeats a run, quoted for a shell, without anything that sounds secret.

    Where the judges are not those of the run, the log was judged later, and a second command
    follows after `&&`.
    """
    command = shlex.join(_run_words(log))
    known = set[str]().union(*role_models(log).values()) or {log.eval.model}
    if not judges or set(judges) <= known:
        return command
    grader = shlex.quote(f"grader={_one_or_list(judges)}")
    judge_again = JUDGE_AGAIN.replace("grader=JUDGE", grader)
    return f"{command} && {judge_again}"


def _run_words(log: EvalLog) -> list[str]:
    spec = log.eval
    model = spec.model.replace("none/none", "none")
    words = ["inspect", "eval", spec.task_file or spec.task, "--model", model]
    if spec.model_base_url:
        words += ["--model-base-url", argument_text(spec.model_base_url)]
    words += _pairs("-M", spec.model_args)
    for role, given in (spec.model_roles or {}).items():
        models = given if isinstance(given, list) else [given]
        names = [_model(model_of_role) for model_of_role in models]
        words += ["--model-role", f"{role}={_one_or_list(names)}"]
    words += _pairs("-T", spec.task_args_passed)
    if spec.solver:
        words += ["--solver", spec.solver, *_pairs("-S", spec.solver_args_passed or {})]
    limits = {name: getattr(spec.config, name) for name in _LIMITS}
    if spec.config.epochs == 1:
        del limits["epochs"]
    words += _flags(limits)
    settings = model_settings(log)
    for name in spec.model_args:
        settings.pop(name, None)
    words += _flags(settings)
    return words


def _one_or_list(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    listed = ", ".join(names)
    return f"[{listed}]"


def _pairs(flag: str, values: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in values.items():
        if not sounds_secret(name):
            words += [flag, f"{name}={argument_text(value)}"]
    return words


def _flags(values: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in values.items():
        if value is not None and value is not False and _clean(value) != {}:
            words.append(f"--{name.replace('_', '-')}")
            if value is not True:
                words.append(argument_text(value))
    return words


def _model(model: ModelConfig) -> str:
    """A model by its name, or as a mapping where it has settings of its own."""
    settings = {
        **model.config.model_dump(exclude_none=True),
        "base_url": model.base_url,
        "model_args": model.args,
    }
    kept = {name: value for name, value in settings.items() if value and not sounds_secret(name)}
    if not kept:
        return model.model
    return argument_text({"model": model.model, **kept})


def argument_text(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, str):
        return _LOGIN.sub("", value)
    if isinstance(value, tuple):
        return "-".join(map(str, value))
    if isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
        return ",".join(argument_text(str(item)) for item in value)
    return json.dumps(_clean(value), ensure_ascii=False)


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _clean(item) for name, item in value.items() if not sounds_secret(str(name))}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    if isinstance(value, str):
        return _LOGIN.sub("", value)
    return value
