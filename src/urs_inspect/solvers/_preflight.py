"""One tiny request to each model of a run before the first sample.

A refused model then costs nothing.
"""

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from logging import getLogger

import anyio
from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect._arguments import Structured
from urs_inspect._util import InputError, choices
from urs_inspect.judging._ask import TINY_REQUEST
from urs_inspect.judging._failures import describe_error
from urs_inspect.solvers._model_calls import (
    BAD_REQUEST,
    REMOTE,
    fail_command,
    http_status,
    refusal_of,
)
from urs_inspect.solvers._role_models import GRADER, bound_models, is_none, provider_of, roles_known
from urs_inspect.solvers._structured import (
    TINY_SCHEMA,
    ModelKey,
    address_of,
    follows_schema,
    model_key,
    response_schema,
    takes_schema,
)

logger = getLogger(__name__)

PREFLIGHT_VARIABLE = "URS_INSPECT_PREFLIGHT"
"""Environment variable that turns the request off.

Whether a server is to get one depends on the server, and not on what is evaluated.
"""
_WITHOUT_SERVER = frozenset({"mockllm", "none", "urs_simulation"})
_TINY_REPLY = 16
_TINY_STRUCTURED_REPLY = 2_048
"""Tokens for a reply by a schema: a model that reasons first must come to it."""
_UNDER_TEST = "model"
_JUDGES = (GRADER, _UNDER_TEST)
"""Roles of the models that may be asked by a schema."""
_WAIT_S = 60.0
_PATIENCE_S = 5.0
"""Seconds after which models without a first reply are named."""

_checked: dict[ModelKey, bool] = {}
"""Models that were not refused in this process, and whether they were asked by a schema."""


def preflight_setup(
    roles: Sequence[str],
    *,
    under_test: bool = False,
    structured: Structured = False,
) -> Solver | None:
    """The `setup` of a task whose models are checked before the first sample.

    None where the environment says `URS_INSPECT_PREFLIGHT=false`.

    While the `inspect` command makes a task, each model that a server runs is checked at once, so
    that the command ends with one line and the status 1. Other models, those whose server the
    harness starts, and those of scripts are checked when the run begins. `under_test`: whether the
    model under test, as a judge, is checked as well. `structured`: whether judges, which are the
    models with the role `grader` and the model under test, are asked by a schema, so that it must
    be known whether their servers follow one.
    """
    if not _is_wanted():
        return None
    if roles_known():
        unknown = [
            (role, model)
            for role, model in _models(roles, under_test)
            if provider_of(model) in REMOTE
            and not _is_known(role, model, structured)
            and not _starts_server(model)
        ]
        if unknown:
            # The harness's event loop is under way here, and the models' own connections will
            # belong to it.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(anyio.run, _check_copies, unknown, structured).result()
    return preflight(roles, under_test, structured)


@solver
def preflight(
    roles: Sequence[str], under_test: bool = False, structured: Structured = False
) -> Solver:
    """Send each model of some roles one tiny request before the first sample begins.

    The request is no part of a sample: it counts neither in its usage nor in its limits.
    `InputError` if a server refuses a model (401, 403, 404, or its API key), or a judge does not
    follow the schema that `structured` insists on: that ends the run before anything is spent.
    Other faults, which may pass, are warnings.
    """
    lock = anyio.Lock()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        models = _models(roles, under_test)
        if not all(_is_known(role, model, structured) for role, model in models):
            async with lock:
                try:
                    await _check(models, structured)
                except InputError as error:
                    fail_command()
                    _rich_traceback_guard = (
                        True  # at this local the harness's traceback leaves out all frames so far
                    )
                    raise InputError(error.message) from None
        return state

    return solve


def _is_wanted() -> bool:
    """Whether models are checked, as the environment says."""
    value = os.environ.get(PREFLIGHT_VARIABLE, "true")
    if value not in ("true", "false"):
        raise InputError(f"{PREFLIGHT_VARIABLE}: must be true or false, got {value!r}")
    return value == "true"


def _models(roles: Sequence[str], under_test: bool) -> list[tuple[str, Model]]:
    """Roles and models of the run."""
    bound = [(role, model) for role in roles for model in bound_models(role)]
    if under_test:
        return [*bound, (_UNDER_TEST, get_model())]
    return bound


def _is_known(role: str, model: Model, structured: Structured) -> bool:
    """Whether all that the run needs to know of a model is known, and good."""
    key = model_key(model)
    if role not in _JUDGES or structured is False:
        return key in _checked
    if not _checked.get(key, False):
        return False
    return structured == "auto" or takes_schema.get(key, True)


async def _check_copies(models: Sequence[tuple[str, Model]], structured: Structured) -> None:
    copies: list[tuple[str, Model]] = []
    for role, model in models:
        try:
            options = {
                **model.model_args,
                "base_url": address_of(model),
                "api_key": model.api.api_key,
            }
            if options["base_url"]:
                options.pop("port", None)  # which the address has
            copies.append(
                (role, get_model(str(model), config=model.config, memoize=False, **options))
            )
        except (
            Exception
        ) as error:  # a model that cannot be made twice is checked when the run begins
            logger.debug(f"{model}: {describe_error(error)}")
    try:
        await _check(copies, structured)
    finally:
        for _, copy in copies:
            await copy.api.aclose()


async def _check(models: Iterable[tuple[str, Model]], structured: Structured) -> None:
    """Check all models that are not known, at the same time.

    `InputError` names those that servers refuse.
    """
    waiting: dict[ModelKey, tuple[str, Model]] = {}
    for role, model in models:
        key = model_key(model)
        if not _is_known(role, model, structured) and (role in _JUDGES or key not in waiting):
            waiting[key] = (role, model)
    refused: list[str] = []

    async def check(key: ModelKey, role: str, model: Model) -> None:
        by_schema = structured if role in _JUDGES else False
        refusal = await _check_model(role, model, by_schema)
        if refusal is None:
            _checked[key] = by_schema is not False or _checked.get(key, False)
        else:
            refused.append(refusal)
        del waiting[key]
        if not waiting:
            group.cancel_scope.cancel()  # nothing is left to report

    async def report() -> None:
        await anyio.sleep(_PATIENCE_S)
        named = choices(f"{role} {model}" for role, model in waiting.values())
        logger.warning(
            f"Waiting for a first reply of {named} ({PREFLIGHT_VARIABLE}=false starts a run without"
            " it)."
        )

    async with anyio.create_task_group() as group:
        for key, (role, model) in list(waiting.items()):
            group.start_soon(check, key, role, model)
        if waiting:
            group.start_soon(report)
    if refused:
        raise InputError(
            f"{' '.join(sorted(refused))} Each model gets one tiny request before the first sample;"
            f" nothing was spent ({PREFLIGHT_VARIABLE}=false starts a run without it)"
        )


async def _check_model(role: str, model: Model, structured: Structured) -> str | None:
    """Ask for a tiny reply, past the harness's retries, records and caches.

    If the server refuses, how.
    """
    if not _has_server(model):
        return None
    key = model_key(model)
    reply: ModelOutput | Exception | None = None
    if structured is not False:
        reply = await _tiny_reply(model, by_schema=True)
        not_structured = _why_not_structured(reply)
        if not_structured is not None:
            takes_schema[key] = False
            if structured is True:
                return (
                    f"{role} {model} gives no structured output, which structured=true insists on:"
                    f" {not_structured}. Use structured=auto or structured=false."
                )
            logger.warning(f"{role} {model} is asked without structured output: {not_structured}.")
            if isinstance(reply, Exception):
                reply = None  # what was refused was the schema
        elif isinstance(reply, ModelOutput):
            takes_schema[key] = True
    if reply is None:
        reply = await _tiny_reply(model, by_schema=False)
    if not isinstance(reply, Exception):
        return None
    return _why_unusable(f"{role} {model}", reply)


def _why_unusable(named: str, error: Exception) -> str | None:
    """Why a model cannot be used; of a fault that may pass there is only a warning."""
    reason = describe_error(error).rstrip(".")
    if refusal := refusal_of(error):
        return f"{named} cannot be used: {refusal}. The server's answer: {reason}."
    if (
        http_status(error) not in BAD_REQUEST
    ):  # a tiny reply is itself refused, by models that reason first
        logger.warning(
            f"{named} did not answer a first request: {reason}. Such faults may pass: the"
            " run goes on, and the harness repeats calls."
        )
    return None


async def _tiny_reply(model: Model, by_schema: bool) -> ModelOutput | Exception:
    """The reply to a tiny request, or what the call raised."""
    config = model.config.merge(GenerateConfig(max_tokens=_TINY_REPLY))
    if by_schema:
        config.max_tokens = _TINY_STRUCTURED_REPLY + (config.reasoning_tokens or 0)
        config.response_schema = response_schema(TINY_SCHEMA)
    config.batch = None  # a batch may take a day
    # A server that the harness starts loads the model first, for which the harness has a limit of
    # its own.
    with anyio.move_on_after(math.inf if _starts_server(model) else _WAIT_S):
        try:
            result = await model.api.generate(
                [ChatMessageUser(content=TINY_REQUEST)], [], "none", config
            )
        except Exception as raised:  # whatever a provider's client raises
            return raised
        if isinstance(result, tuple):
            return result[0]
        return result
    return TimeoutError(f"no reply within {_WAIT_S:g} seconds")


def _why_not_structured(reply: ModelOutput | Exception) -> str | None:
    """Why a judge is not asked by a schema; None if its server follows one, or may do so."""
    if isinstance(reply, ModelOutput):
        if follows_schema(reply):
            return None
        return "the server took a schema, and the reply did not keep to it"
    if http_status(reply) in BAD_REQUEST and refusal_of(reply) is None:
        return f"the server refused a schema: {describe_error(reply).rstrip('.')}"
    return None


def _has_server(model: Model) -> bool:
    return not is_none(model) and provider_of(model) not in _WITHOUT_SERVER


def _starts_server(model: Model) -> bool:
    """Whether the harness starts the model's server itself.

    That may take minutes and a GPU's whole memory.
    """
    if provider_of(model) == "sglang":
        return getattr(model.api, "server_process", None) is not None
    return provider_of(model) == "vllm" and address_of(model) is None
