"""Headers of logs -> the commands that repeat their runs."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.model import ModelConfig

from urs_inspect.reports.intent.answer_usage import role_models
from urs_inspect.reports.naming import sounds_secret

_LIMITS = ("limit", "epochs", "sample_id", "sample_shuffle", "message_limit", "token_limit", "time_limit")
_RUNTIME = (
    "max_connections",
    "adaptive_connections",
    "max_retries",
    "timeout",
    "attempt_timeout",
    "stream_idle_timeout",
    "batch",
    "cache",
)
"""Settings that change how fast a run is, and not what comes out of it."""
_LOGIN = re.compile(r"(?<=//)[^/@\s]+@")


def run_command(log: EvalLog, judges: Sequence[str]) -> str:
    """The command that repeats a run, with nothing in it whose name sounds like a secret.

    Args:
        log: Header of its log.
        judges: The judges whose scores count. Where they are not those of the run, the log was judged later, and a
            second command says so.

    Returns:
        One command, or two joined by `&&`, quoted for a shell.
    """
    spec = log.eval
    words = ["inspect", "eval", spec.task_file or spec.task, "--model", spec.model.replace("none/none", "none")]
    if spec.model_base_url:
        words += ["--model-base-url", _shown(spec.model_base_url)]
    words += _pairs("-M", spec.model_args)
    for role, models in (spec.model_roles or {}).items():
        words += ["--model-role", f"{role}={_role(models)}"]
    words += _pairs("-T", spec.task_args_passed)
    if spec.solver:
        words += ["--solver", spec.solver, *_pairs("-S", spec.solver_args_passed or {})]
    words += _flags(
        {name: getattr(spec.config, name) for name in _LIMITS if name != "epochs" or spec.config.epochs != 1}
    )
    words += _flags({name: value for name, value in model_settings(log).items() if name not in log.eval.model_args})
    command = shlex.join(words)
    known = {name for names in role_models(log).values() for name in names} or {spec.model}
    if not judges or set(judges) <= known:
        return command
    again = ["inspect", "score", "LOG", "--scorer", "urs_inspect/intent_judge", "--model-role"]
    role = judges[0] if len(judges) == 1 else f"[{', '.join(judges)}]"
    return f"{command} && {shlex.join([*again, f'grader={role}', '--action', 'append'])}"


def model_settings(log: EvalLog) -> dict[str, Any]:
    """Settings of the model under test that may change its answers: temperature, effort and so on."""
    given = {**log.eval.model_args, **log.eval.model_generate_config.model_dump(exclude_none=True)}
    return {name: value for name, value in given.items() if name not in _RUNTIME and not sounds_secret(name)}


def _pairs(flag: str, values: Mapping[str, Any]) -> list[str]:
    return [
        word for name, value in values.items() if not sounds_secret(name) for word in (flag, f"{name}={_shown(value)}")
    ]


def _flags(values: Mapping[str, Any]) -> list[str]:
    return [
        word
        for name, value in values.items()
        if value is not None and value is not False and _clean(value) != {}
        for word in (f"--{name.replace('_', '-')}", *([] if value is True else [_shown(value)]))
    ]


def _role(models: ModelConfig | list[ModelConfig]) -> str:
    several = models if isinstance(models, list) else [models]
    return _model(several[0]) if len(several) == 1 else f"[{', '.join(map(_model, several))}]"


def _model(model: ModelConfig) -> str:
    """A model by its name, or as a mapping where it has settings of its own."""
    settings = {**model.config.model_dump(exclude_none=True), "base_url": model.base_url, "model_args": model.args}
    kept = {name: value for name, value in settings.items() if value and not sounds_secret(name)}
    if not kept:
        return model.model
    return _shown({"model": model.model, **kept})


def _shown(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, str):
        return _LOGIN.sub("", value)
    if isinstance(value, tuple):
        return "-".join(map(str, value))
    if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
        return ",".join(_shown(str(one)) for one in value)
    return json.dumps(_clean(value), ensure_ascii=False)


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _clean(one) for name, one in value.items() if not sounds_secret(str(name))}
    if isinstance(value, (list, tuple)):
        return [_clean(one) for one in value]
    return _LOGIN.sub("", value) if isinstance(value, str) else value
