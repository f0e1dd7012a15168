"""One tiny request to each model of a run before the first sample, so that a refused model costs nothing."""

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from logging import getLogger

import anyio
from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect._util import InputError, choices
from urs_inspect.judging.ask import TINY_REQUEST
from urs_inspect.judging.failures import describe_error
from urs_inspect.solvers.model_calls import REMOTE, fail_command, http_status, provider_of, refusal_of
from urs_inspect.solvers.role_models import bound_models, is_none, roles_known

logger = getLogger(__name__)

_WITHOUT_SERVER = frozenset({"mockllm", "none", "urs_simulation"})
_TINY_REPLY = 16
_WAIT_S = 60.0
_PATIENCE_S = 5.0
"""Seconds after which models without a first reply are named."""

_checked: set[tuple[str, str]] = set()
"""Names and addresses of models that were not refused in this process."""


def preflight_setup(wanted: object, roles: Sequence[str], *, under_test: bool = False) -> Solver | None:
    """The `setup` of a task whose models are checked before the first sample; None unless `wanted`.

    While the `inspect` command makes a task, each model that a server runs is checked at once, so that the command
    ends with one line and the status 1. Other models, those whose server the harness starts, and those of scripts are
    checked when the run begins. `under_test`: whether the model under test is checked as well.
    """
    if not isinstance(wanted, bool):
        raise InputError(f"preflight: must be true or false, got {wanted!r}")
    if not wanted:
        return None
    if roles_known():
        unknown = [
            (role, model)
            for role, model in _models(roles, under_test)
            if provider_of(model) in REMOTE and _key(model) not in _checked and not _starts_server(model)
        ]
        if unknown:
            # The harness's event loop is under way here, and the models' own connections will belong to it.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(anyio.run, _check_copies, unknown).result()
    return preflight(roles, under_test)


@solver
def preflight(roles: Sequence[str], under_test: bool = False) -> Solver:
    """Send each model of some roles one tiny request before the first sample begins.

    The request is no part of a sample: it counts neither in its usage nor in its limits. `InputError` if a server
    refuses a model (401, 403, 404, or its API key), which ends the run before anything is spent. Other faults, which
    may pass, are warnings.
    """
    lock = anyio.Lock()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        models = _models(roles, under_test)
        if not all(_key(model) in _checked for _, model in models):
            async with lock:
                try:
                    await _check(models)
                except InputError as error:
                    fail_command()
                    _rich_traceback_guard = True  # at this local the harness's traceback leaves out all frames so far
                    raise InputError(error.message) from None
        return state

    return solve


def _models(roles: Sequence[str], under_test: bool) -> list[tuple[str, Model]]:
    """Roles and models of the run."""
    bound = [(role, model) for role in roles for model in bound_models(role)]
    return [*bound, ("model", get_model())] if under_test else bound


async def _check_copies(models: Sequence[tuple[str, Model]]) -> None:
    copies: list[tuple[str, Model]] = []
    for role, model in models:
        try:
            options = {**model.model_args, "base_url": _address(model), "api_key": model.api.api_key}
            if options["base_url"]:
                options.pop("port", None)  # which the address has
            copies.append((role, get_model(str(model), config=model.config, memoize=False, **options)))
        except Exception as error:  # a model that cannot be made twice is checked when the run begins
            logger.debug(f"{model}: {describe_error(error)}")
    try:
        await _check(copies)
    finally:
        for _, copy in copies:
            await copy.api.aclose()


async def _check(models: Iterable[tuple[str, Model]]) -> None:
    """Check all models that are not known, at the same time; `InputError` names those that servers refuse."""
    waiting = {key: (role, model) for role, model in models if (key := _key(model)) not in _checked}
    refused: list[str] = []

    async def check(key: tuple[str, str], role: str, model: Model) -> None:
        refusal = await _check_model(role, model)
        if refusal is None:
            _checked.add(key)
        else:
            refused.append(refusal)
        del waiting[key]
        if not waiting:
            group.cancel_scope.cancel()  # nothing is left to report

    async def report() -> None:
        await anyio.sleep(_PATIENCE_S)
        named = choices(f"{role} {model}" for role, model in waiting.values())
        logger.warning(f"Waiting for a first reply of {named} (-T preflight=false starts a run without it).")

    async with anyio.create_task_group() as group:
        for key, (role, model) in list(waiting.items()):
            group.start_soon(check, key, role, model)
        if waiting:
            group.start_soon(report)
    if refused:
        raise InputError(
            f"{' '.join(sorted(refused))} Each model gets one tiny request before the first sample; nothing was spent "
            "(-T preflight=false starts a run without it)"
        )


async def _check_model(role: str, model: Model) -> str | None:
    """Ask for a tiny reply, past the harness's retries, records and caches; if the server refuses, how."""
    if is_none(model) or provider_of(model) in _WITHOUT_SERVER:
        return None
    config = model.config.merge(GenerateConfig(max_tokens=_TINY_REPLY))
    config.batch = None  # a batch may take a day
    error: Exception | None = TimeoutError(f"no reply within {_WAIT_S:g} seconds")
    # A server that the harness starts loads the model first, for which the harness has a limit of its own.
    with anyio.move_on_after(math.inf if _starts_server(model) else _WAIT_S):
        try:
            result = await model.api.generate([ChatMessageUser(content=TINY_REQUEST)], [], "none", config)
            output = result[0] if isinstance(result, tuple) else result
            error = output if isinstance(output, Exception) else None
        except Exception as raised:  # whatever a provider's client raises
            error = raised
    if error is None:
        return None
    reason = describe_error(error).rstrip(".")
    if refusal := refusal_of(error):
        return f"{role} {model} cannot be used: {refusal}. The server's answer: {reason}."
    if http_status(error) not in (400, 422):  # a tiny reply is itself refused, by models that reason first
        logger.warning(
            f"{role} {model} did not answer a first request: {reason}. Such faults may pass: the run goes on, and the "
            "harness repeats calls."
        )
    return None


def _key(model: Model) -> tuple[str, str]:
    return str(model), str(_address(model))


def _address(model: Model) -> str | None:
    """The address of a model's server; None for that of its provider, or if the harness is to start the server.

    Unlike `base_url`, it does not change when a server of vLLM is started.
    """
    if provider_of(model) == "vllm":
        return getattr(model.api, "_init_base_url", None) or os.environ.get("VLLM_BASE_URL")
    return model.api.base_url


def _starts_server(model: Model) -> bool:
    """Whether the harness starts the model's server itself, which may take minutes and a GPU's whole memory."""
    if provider_of(model) == "sglang":
        return getattr(model.api, "server_process", None) is not None
    return provider_of(model) == "vllm" and _address(model) is None
