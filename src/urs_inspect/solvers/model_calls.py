"""Calls of models of the harness: which temperature was sent, whether a model can be reached, when calls stop."""

import math
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from logging import getLogger
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import click
from inspect_ai.event import ModelEvent
from inspect_ai.hooks import Hooks, RunEnd, hooks
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from urs_inspect._util import InputError, choices
from urs_inspect.judging import (
    TINY_REQUEST,
    UNKNOWN,
    CallsStopped,
    CircuitBreaker,
    JudgeFailure,
    JudgePrompt,
    Temperature,
    describe_error,
)
from urs_inspect.solvers.role_models import bound_models, is_none, models_with, roles_known

logger = getLogger(__name__)

# fmt: off
_REMOTE = frozenset(
    [
        "anthropic", "azureai", "bedrock", "cloudflare", "deepseek", "fireworks", "google", "groq",
        "hf-inference-providers", "litellm-proxy", "llama-cpp-python", "meta", "mistral", "moonshot", "ollama",
        "openai", "openai-api", "openrouter", "perplexity", "sambanova", "sglang", "together", "vllm",
    ]
)
# fmt: on
"""Providers of the harness that ask a server, and record the request with every parameter of it."""
_WITHOUT_SERVER = frozenset({"mockllm", "none", "urs_simulation"})
_NO_PARAMETERS = frozenset({"messages", "contents", "input", "tools", "response_format", "response_schema", "text"})
"""Parts of a request in which the word `temperature` would mean something else."""
_REFUSALS: Mapping[int, str] = {
    401: "not authorized; check its API key",
    403: "forbidden; check what its API key may use",
    404: "not found; check the name of the model and the base URL",
}
_KEY_REFUSED = re.compile(r"api[ _]key|authentication", re.IGNORECASE)
"""What a bad request (400) says that is refused for its API key, as by Google."""
_ARRIVED = frozenset({"content_filter", "model_length", "max_tokens"})
"""Why a reply ended that did arrive; some clients put an error beside it."""
_NO_CONNECTION = frozenset(
    {"ConnectionRefusedError", "gaierror", "ConnectError", "ClientConnectorError", "EndpointConnectionError"}
)
"""Names of errors, since each client library has its own: of Python (2), httpx, aiohttp, botocore."""
_TINY_REPLY = 16
_WAIT_S = 60.0
_PATIENCE_S = 5.0
"""Seconds after which models without a first reply are named."""


@dataclass(frozen=True)
class Temperatures:
    """The sampling temperature of a call.

    Attributes:
        requested: What the call asked for; None for the provider's default.
        sent: What the provider's client put into the request.
    """

    requested: float | None
    sent: Temperature


def _temperatures(model: Model, last: str, config: GenerateConfig, before: int) -> Temperatures:
    """The temperature in the request of a call that has just ended, from the harness's own record of it."""
    try:
        events = transcript().history.events_from(before)
    except Exception:  # the harness keeps old events on disk, where they may be lost
        events = []
    for event in reversed(events):
        if (
            isinstance(event, ModelEvent)
            and (event.model, event.role) == (str(model), model.role)
            and config.temperature in (None, event.config.temperature)
            and event.input
            and event.input[-1].text == last
        ):
            requested = event.config.temperature
            # The harness may not keep requests, and has none for a reply from its cache.
            return Temperatures(
                requested, UNKNOWN if event.call is None else _sent(event.call.request, _provider(model))
            )
    return Temperatures(model.config.temperature if config.temperature is None else config.temperature, UNKNOWN)


def _sent(request: Mapping[str, Any], provider: str) -> Temperature:
    found = _parameter(request)
    return found if found is not None or provider in _REMOTE else UNKNOWN


def _parameter(request: Mapping[str, Any]) -> float | None:
    """The temperature in a request, which some providers put into a part of it, as `generation_config`."""
    given = request.get("temperature")
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    parts = (part for name, part in request.items() if isinstance(part, Mapping) and name not in _NO_PARAMETERS)
    return next((found for part in parts if (found := _parameter(part)) is not None), None)


def _provider(model: Model) -> str:
    return str(model).partition("/")[0]


_checked: set[tuple[str, str]] = set()
"""Names and addresses of models that were not refused in this process."""


def preflight_setup(wanted: object, roles: Sequence[str], *, under_test: bool = False) -> Solver | None:
    """The `setup` of a task whose models are checked before the first sample; checks them at once where it can.

    While the `inspect` command makes a task, each model that a server runs gets one tiny request, so that the command
    ends with one line and the status 1. Other models, those whose server the harness starts, and those of scripts are
    checked when the run begins.

    Args:
        wanted: Whether models are checked, an argument of the task.
        roles: Roles of the models.
        under_test: Whether the model under test is checked as well.

    Returns:
        The solver `preflight`; None if nothing is checked.

    Raises:
        InputError: If `wanted` is not true or false, or a server refuses a model: 401, 403, 404, or its API key.
    """
    if not isinstance(wanted, bool):
        raise InputError(f"preflight: must be true or false, got {wanted!r}")
    if not wanted:
        return None
    if roles_known():
        found = _models(roles, under_test)
        unknown = [
            (role, model)
            for role, model in found
            if _provider(model) in _REMOTE and not _is_known(model) and not _starts_server(model)
        ]
        if unknown:
            # The harness's event loop is under way here, and the models' own connections will belong to it.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(anyio.run, _check_copies, unknown).result()
    return preflight(roles, under_test)


@solver
def preflight(roles: Sequence[str], under_test: bool = False) -> Solver:
    """Send each model of some roles one tiny request before the first sample begins.

    The request is no part of a sample: it counts neither in its usage nor in its limits.

    Args:
        roles: The roles.
        under_test: Whether the model under test is checked as well.

    Returns:
        The solver. It raises `InputError` if a server refuses a model (401, 403, 404, or its API key), which ends the
        run before anything is spent. Other faults, which may pass, are warnings.
    """
    lock = anyio.Lock()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        models = _models(roles, under_test)
        if not all(_is_known(model) for _, model in models):
            async with lock:
                try:
                    await _check(models)
                except InputError as error:
                    _fail_command()
                    _rich_traceback_guard = True  # at this local the harness's traceback leaves out all frames so far
                    raise InputError(error.message) from None
        return state

    return solve


def _models(roles: Sequence[str], under_test: bool) -> list[tuple[str, Model]]:
    """Models of the run and their roles."""
    found = [(role, model) for role in roles for model in bound_models(role)]
    return [*found, ("model", get_model())] if under_test else found


async def _check_copies(models: Sequence[tuple[str, Model]]) -> None:
    copies: list[tuple[str, Model]] = []
    for role, model in models:
        try:
            api = model.api
            options = {**model.model_args, "base_url": _address(model), "api_key": api.api_key}
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
    """Check all models that are not known, at the same time.

    Raises:
        InputError: If servers refuse some; it names each.
    """
    waiting = {_key(model): (role, model) for role, model in models if not _is_known(model)}
    refused: list[str] = []

    async def check(key: tuple[str, str], role: str, model: Model) -> None:
        refusal = await _check_one(role, model)
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


async def _check_one(role: str, model: Model) -> str | None:
    """Ask for a tiny reply, past the harness's retries, records and caches; if the server refuses, how."""
    if is_none(model) or _provider(model) in _WITHOUT_SERVER:
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
    said = describe_error(error).rstrip(".")
    if refusal := _refusal(error):
        return f"{role} {model} cannot be used: {refusal}. The server's answer: {said}."
    if _status(error) not in (400, 422):  # a tiny reply is itself refused, by models that reason first
        logger.warning(
            f"{role} {model} did not answer a first request: {said}. Such faults may pass: the run goes on, and the "
            "harness repeats calls."
        )
    return None


def _status(error: BaseException) -> int | None:
    """The HTTP status of a failed call, wherever the provider's client puts it."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code", "status"):
            if isinstance(value := getattr(holder, name, None), int):
                return value
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # of AWS
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return status if isinstance(status, int) else None
    return None if error.__cause__ is None else _status(error.__cause__)


def _refusal(error: BaseException) -> str | None:
    """The status of a call that was refused, and what may help; None for other faults."""
    status = _status(error)
    if status == 400 and _KEY_REFUSED.search(str(error)):
        return f"400, {_REFUSALS[401]}"
    return f"{status}, {_REFUSALS[status]}" if status is not None and status in _REFUSALS else None


def _is_unreachable(error: BaseException | None) -> bool:
    """Whether there was no connection to a server at all; one that breaks off, or takes too long, is a connection."""
    while error is not None:
        if not _NO_CONNECTION.isdisjoint(kind.__name__ for kind in type(error).__mro__):
            return True
        error = error.__cause__
    return False


def _is_known(model: Model) -> bool:
    return _key(model) in _checked


def _key(model: Model) -> tuple[str, str]:
    return str(model), str(_address(model))


def _address(model: Model) -> str | None:
    """The address of a model's server; None for that of its provider, or if the harness is to start the server.

    Unlike `base_url`, it does not change when a server of vLLM is started.
    """
    if _provider(model) == "vllm":
        return getattr(model.api, "_init_base_url", None) or os.environ.get("VLLM_BASE_URL")
    return model.api.base_url


def _starts_server(model: Model) -> bool:
    """Whether the harness starts the model's server itself, which may take minutes and a GPU's whole memory."""
    if _provider(model) == "sglang":
        return getattr(model.api, "server_process", None) is not None
    return _provider(model) == "vllm" and _address(model) is None


SCORE_LATER = "Answers are kept; samples left unscored can be judged later with `inspect score`."
"""What is left to do where a scorer calls the judge."""


class JudgeCalls:
    """Calls of the judges of one scorer or solver.

    A judge that refuses 20 calls in a row (401, 403, 404, an API key that is not valid), or cannot be reached at all
    after the harness's own retries, is no longer called. A reply begins the count anew, also one that was withheld or
    cut off. Other faults (429, 5xx, timeouts, connections that break off) may pass: they leave the count as it is, so
    that a short outage does not stop a judge. A temperature that was not sent is reported once.

    Args:
        remedy: What is left to do when a judge was stopped.
    """

    def __init__(self, remedy: str = "Replies that came before are kept.") -> None:
        self._remedy = remedy
        self._breakers: WeakKeyDictionary[Model, CircuitBreaker] = WeakKeyDictionary()
        self._seen: dict[tuple[str, str | int, int], str] = {}
        self._cautioned: set[str] = set()

    def begin(self, state: TaskState) -> None:
        """Note a sample. One of another run of the same task, where judges may work, begins all counts anew.

        A sample that is tried again after an error keeps its unique id, in another run it has another.
        """
        sample = (str(state.model), state.sample_id, state.epoch)
        if self._seen.get(sample, state.uuid) != state.uuid:
            self._seen.clear()
            self._breakers.clear()
        self._seen[sample] = state.uuid

    async def generate(
        self, model: Model, messages: Sequence[ChatMessage], config: GenerateConfig
    ) -> tuple[ModelOutput, Temperatures]:
        """Call a judge.

        Args:
            model: The judge.
            messages: What it is sent.
            config: Settings of the call.

        Returns:
            The output, and the temperature that was requested and sent.

        Raises:
            CallsStopped: If it has failed too often in a row; it is not called.
        """

        async def call() -> ModelOutput:
            return await model.generate(list(messages), config=config)

        return await self.watch(model, messages, config, call)

    async def ask(self, role: str, prompt: JudgePrompt) -> tuple[str | JudgeFailure, Temperatures | None]:
        """Send a prompt to the first model with a role, at temperature 0.

        Args:
            role: The role.
            prompt: The prompt.

        Returns:
            The reply, or why there is none; and the temperatures of the call, None if it failed.

        Raises:
            InputError: If no model has the role.
        """
        model = models_with(role)[0]
        messages: list[ChatMessage] = [
            ChatMessageSystem(content=prompt.instructions),
            ChatMessageUser(content=prompt.case),
        ]
        try:
            output, temperatures = await self.generate(model, messages, GenerateConfig(temperature=0))
        except LimitExceededError:  # of the sample
            raise
        except Exception as error:  # one failed call must not end the run
            why = str(error) if isinstance(error, CallsStopped) else describe_error(error)
            return JudgeFailure("call_failed", why), None
        if output.error or not output.choices:
            return JudgeFailure("call_failed", output.error or "The reply had no choices."), None
        return output.completion, temperatures

    async def watch(
        self,
        model: Model,
        messages: Sequence[ChatMessage],
        config: GenerateConfig,
        call: Callable[[], Awaitable[ModelOutput]],
    ) -> tuple[ModelOutput, Temperatures]:
        """As `generate`, for a call that is made otherwise."""
        breaker = self._breakers.setdefault(model, CircuitBreaker())
        if breaker.stopped:
            raise CallsStopped(breaker.stopped)
        before, last = transcript().history.event_count, messages[-1].text
        try:
            output = await call()
        except LimitExceededError:  # of the sample, no failure of the judge
            raise
        except Exception as error:
            if _refusal(error) or _is_unreachable(error):
                self._note(breaker, model, describe_error(error))
            raise
        arrived = output.choices and output.stop_reason in _ARRIVED
        self._note(breaker, model, "" if arrived else output.error or "")
        return output, self._temperatures(model, last, config, before)

    def _temperatures(self, model: Model, last: str, config: GenerateConfig, before: int) -> Temperatures:
        found, name = _temperatures(model, last, config, before), str(model)
        if found.requested is not None and found.sent is None and name not in self._cautioned:
            self._cautioned.add(name)
            logger.warning(
                f"{name}: temperature {found.requested:g} was requested, but its provider's client did not send it: "
                "the model runs at its default temperature. Logs record temperature_requested and temperature_sent."
            )
        return found

    def _note(self, breaker: CircuitBreaker, model: Model, error: str) -> None:
        """Note how a call ended; where that stops the calls, report it now and again at the end of the run."""
        was_stopped = breaker.stopped
        breaker.note(bool(error), error)
        if breaker.stopped and not was_stopped:
            _report_at_run_end(
                f"{model}: {breaker.stopped.rstrip('.')}. It is not called again in this run. {self._remedy}"
            )


def _report_at_run_end(sentence: str) -> None:
    logger.error(sentence)
    _fail_command()
    _StoppedAtRunEnd.sentences.append(sentence)
    if not _StoppedAtRunEnd.registered:
        _StoppedAtRunEnd.registered = True
        hooks("judging_stopped", "Reports at the end of a run that judging was stopped.")(_StoppedAtRunEnd)


def _fail_command() -> None:
    """Make the command under way end with the status 1, after all its work: the harness ends every run with 0."""
    if (context := click.get_current_context(silent=True)) is not None:
        context.find_root().call_on_close(lambda: sys.exit(1))


class _StoppedAtRunEnd(Hooks):
    """Registered only when needed, since the harness lists the hooks that it finds when a command starts."""

    sentences: list[str] = []  # noqa: RUF012 - one list for the class is meant
    registered = False

    async def on_run_end(self, data: RunEnd) -> None:
        """Repeat below the results which judges were stopped."""
        while self.sentences:
            logger.error(self.sentences.pop(0))
