"""A vLLM server as engine."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
from anyio import to_thread
from anyio.lowlevel import RunVar
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from urs_inspect._util import InputError, choices
from urs_inspect.samer.checkpoint import HEADS_FILE, open_checkpoint
from urs_inspect.samer.conversation import Conversations, Encoded
from urs_inspect.samer.engines.pooling import (
    PluginPooling,
    Pooling,
    ReplyError,
    StepPooling,
    encode_all,
    one_line,
    outcomes,
)
from urs_inspect.samer.engines.pooling_api import (
    base_address,
    decoded,
    failure,
    may_pass,
    pooling_body,
    read_data,
    read_replies,
    shape_of,
    stock_options,
)
from urs_inspect.samer.engines.protocol import Engine, EngineFailure, EngineSpec, Outcome, QueryResponse
from urs_inspect.samer.evaluation import WeightsAt
from urs_inspect.samer.fingerprint import fingerprint
from urs_inspect.samer.heads import Heads, load_heads
from urs_inspect.samer.heads_file import settled_weights_at
from urs_inspect.samer.taxonomy import load_taxonomy
from urs_inspect.samer.weights import Array


def served_model(client: httpx.Client, url: str, served: str | None, attempts: int) -> Mapping[str, Any]:
    """Ask which models a server has; one that is still starting is given a few seconds.

    Args:
        client: Client with the server's address.
        url: The address, for errors.
        served: Name of the model; the only one if not given.
        attempts: How often to ask.

    Returns:
        The server's own description of the model.

    Raises:
        InputError: If no server answers, or it has no such model.
    """
    for attempt in range(attempts):
        try:
            body = decoded(client.get("/v1/models"))
            break
        except (httpx.HTTPError, ReplyError) as error:
            if attempt == attempts - 1 or not may_pass(error):
                raise InputError(f"samer={url}: no vLLM server answers ({_said(error)})") from error
            sleep(min(2.0**attempt / 2, 4.0))
    entries = body.get("data") if isinstance(body, Mapping) else None
    models = [one for one in entries or [] if isinstance(one, Mapping) and isinstance(one.get("id"), str)]
    found = [one for one in models if served in {None, one["id"]}]
    if not found:
        names = choices(one["id"] for one in models) or "none"
        raise InputError(f"samer={url}: no model {served or ''!r} on the server; it has {names}")
    if len(found) > 1:
        raise InputError(f"samer={url}: several models; name one of {choices(one['id'] for one in found)}")
    return found[0]


def own_folder(url: str, entry: Mapping[str, Any]) -> Path:
    """The folder that the server itself loaded, if it is a server on this machine and the folder can be seen.

    Args:
        url: The server's address.
        entry: Its description of the model.

    Returns:
        The folder.

    Raises:
        InputError: If it is on another machine, or names no folder.
    """
    root = Path(str(entry.get("root") or ""))
    local = urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}
    if local and root.is_absolute() and (root / "tokenizer_config.json").is_file():
        return root
    raise InputError(f"samer={url}: say where its tokenizer and heads are: folder=DIR, a released or exported folder")


def find_pooling(
    client: httpx.Client, spec: EngineSpec, conversations: Conversations, folder: Path, served: str
) -> Pooling:
    """Send a short conversation and tell from the reply how the server pools.

    A server with another backbone of the same width cannot be told apart; its name on the server is all there is.

    Args:
        client: Client with the server's address.
        spec: How the engine is set up.
        conversations: The model's tokeniser and template.
        folder: Where the heads are, if they are needed.
        served: Name of the model on the server.

    Returns:
        The way of pooling.

    Raises:
        InputError: If it pools in no way that fits.
    """
    where = f"samer={spec.model}"
    encoded = conversations.encode("a", "b", spec.max_length, bos=spec.bos)
    help_ = f"start it with {shlex.join(stock_options(conversations.end_of_turn))}"
    try:
        reply = decoded(client.post("/pooling", json=pooling_body(served, [encoded.ids])))
        shape = shape_of(read_data(reply, 1)[0])
    except (httpx.HTTPError, ReplyError) as error:
        hint = f"; {help_}" if _status(error) in {400, 404, 405, 501} else ""
        raise InputError(f"{where}: the server does not pool ({_said(error)}){hint}") from error
    dimensions = len(load_taxonomy().dimensions)
    plugin = PluginPooling(dimensions, conversations.end_of_turn, spec.weights_at)
    if shape == plugin.size(encoded.ids):
        return plugin
    step = StepPooling(_heads(folder), conversations.end_of_turn, spec.weights_at)
    expected = step.size(encoded.ids)
    if shape == expected:
        return step
    if len(shape) == 2 and shape[0] == expected[0]:
        raise InputError(
            f"{where}: another model: vectors of width {shape[1]:,}, but the heads in {folder} take {expected[1]:,}"
        )
    raise InputError(f"{where}: a reply of shape {shape}; expected {expected} or {plugin.size(encoded.ids)}; {help_}")


def _heads(folder: Path) -> Heads:
    file = folder / HEADS_FILE
    return load_heads(file) if file.is_file() else open_checkpoint(folder).heads()


def _status(error: BaseException) -> int | None:
    return error.response.status_code if isinstance(error, httpx.HTTPStatusError) else None


def _said(error: BaseException) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return failure(error.response.status_code, error.response.text).detail
    return one_line(error)


Connections = Callable[[], AbstractAsyncContextManager[Any]]
"""Makes the context in which one request is sent; the harness's `concurrency(...)` limits and shows them."""

_AT_ONCE = 32
_LONGEST_WAIT = 30.0  # seconds between two attempts


@dataclass(frozen=True)
class ServerOptions:
    """How to talk to a server.

    Attributes:
        timeout: Seconds for one attempt, whole reply included.
        attempts: Attempts at one request; only faults that may pass are tried again.
        connections: Context for each request; without it, at most 32 are sent at once.
    """

    timeout: float = 600.0
    attempts: int = 5
    connections: Connections | None = None

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise InputError(f"timeout={self.timeout}; allowed are seconds above 0")
        if self.attempts < 1:
            raise InputError(f"attempts={self.attempts}; allowed are 1 or more")


class ServerEngine:
    """Sends each item in a request of its own; one that fails is that item's failure and nobody else's.

    Args:
        spec: How the engine is set up; its model is the server's address.
        conversations: The model's tokeniser and template.
        pooling: How the server pools, and what that means.
        served: Name of the model on the server.
        options: How to talk to it.

    Attributes:
        served: As given.
        folder: Where tokeniser and heads come from.
    """

    name = "server"

    def __init__(
        self, spec: EngineSpec, conversations: Conversations, pooling: Pooling, served: str, options: ServerOptions
    ) -> None:
        self.spec, self.pooling = spec, pooling
        self._conversations, self._options = conversations, options
        self.served, self.folder = served, conversations.folder
        # One for each event loop: a connection belongs to the loop that opened it.
        self._client: RunVar[httpx.AsyncClient] = RunVar(f"samer-client-{id(self)}")
        self._gate: RunVar[anyio.Semaphore] = RunVar(f"samer-gate-{id(self)}")

    async def score(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        """Evaluate items; see `Engine.score`."""
        encoded = await to_thread.run_sync(encode_all, self._conversations, self.spec, items)
        ready = [one for one in encoded if isinstance(one, Encoded)]
        rows: dict[int, Array | ReplyError] = {}

        async def ask(place: int, one: Encoded) -> None:
            rows[place] = await self._rows(one)

        async with anyio.create_task_group() as group:
            for place, one in enumerate(ready):
                group.start_soon(ask, place, one)
        return await to_thread.run_sync(outcomes, self.pooling, encoded, [rows[place] for place in range(len(ready))])

    async def close(self) -> None:
        """Close the connections of this event loop."""
        client = self._client.get(None)
        if client is not None:
            await client.aclose()

    async def _rows(self, encoded: Encoded) -> Array | ReplyError:
        prompts = self.pooling.prompts(encoded)
        body = pooling_body(self.served, prompts, self.pooling.task)
        try:
            async with self._connection():
                reply = await self._post(body)
            return self.pooling.rows(encoded, read_replies(reply, [self.pooling.size(prompt) for prompt in prompts]))
        except ReplyError as error:
            return ReplyError(error.mode, f"{self.spec.model}: {error.detail}")

    def _connection(self) -> AbstractAsyncContextManager[Any]:
        if self._options.connections is not None:
            return self._options.connections()
        gate = self._gate.get(None)
        if gate is None:
            gate = anyio.Semaphore(_AT_ONCE)
            self._gate.set(gate)
        return gate

    async def _post(self, body: Mapping[str, Any]) -> Any:
        """Send a request, again if that may help.

        Raises:
            ReplyError: If no attempt gave a reply.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception(may_pass),
            stop=stop_after_attempt(self._options.attempts),
            wait=_wait,
            reraise=True,
        )
        try:
            return await retrying(self._attempt, body)
        except (httpx.TimeoutException, TimeoutError):
            raise ReplyError("timeout", f"no reply within {self._options.timeout:g} s") from None
        except httpx.HTTPStatusError as error:
            raise failure(error.response.status_code, error.response.text) from error
        except httpx.HTTPError as error:
            raise ReplyError("unreachable", one_line(error)) from error

    async def _attempt(self, body: Mapping[str, Any]) -> Any:
        # The client's own time-out is between two bytes; a server that trickles would never reach it.
        with anyio.fail_after(self._options.timeout):
            response = await self._session().post("/pooling", json=body)
        return decoded(response)

    def _session(self) -> httpx.AsyncClient:
        client = self._client.get(None)
        if client is None or client.is_closed:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=_AT_ONCE)
            client = httpx.AsyncClient(
                base_url=self.spec.model, timeout=self._options.timeout, limits=limits, headers=_headers()
            )
            self._client.set(client)
        return client


def open_server(
    spec: EngineSpec,
    options: ServerOptions | None = None,
    *,
    folder: Path | None = None,
    served: str | None = None,
    weights_at: WeightsAt | None = None,
) -> ServerEngine:
    """Ask a server what it is, and set up an engine for it.

    Args:
        spec: How to set it up; `spec.model` is the address, `spec.max_length` is lowered to the server's, and
            `spec.weights_at` counts where neither `weights_at` nor the heads' file in the folder says anything.
        options: How to talk to it.
        folder: Tokeniser, and the heads unless the server has the plugin: a released or exported folder; the weights of
            an exported one need not be there. For a server on this machine its own folder is the default.
        served: Name of the model on the server; the only one if not given.
        weights_at: Where the user wants the weighter to read.

    Returns:
        The engine; a conversation was already sent and its reply checked.

    Raises:
        InputError: If the server is down, is no pooling server, or does not fit the heads.
    """
    options = options or ServerOptions()
    url = base_address(spec.model)
    with httpx.Client(base_url=url, timeout=min(options.timeout, 60.0), headers=_headers()) as client:
        entry = served_model(client, url, served, options.attempts)
        folder = folder or own_folder(url, entry)
        conversations = Conversations(folder)
        limit = entry.get("max_model_len")
        longest = min(spec.max_length, limit) if isinstance(limit, int) and limit > 0 else spec.max_length
        reads = settled_weights_at(folder, weights_at, spec.weights_at)
        spec = replace(spec, model=url, max_length=longest, weights_at=reads)
        pooling = find_pooling(client, spec, conversations, folder, str(entry["id"]))
    return ServerEngine(spec, conversations, pooling, str(entry["id"]), options)


def _headers() -> dict[str, str]:
    key = os.environ.get("VLLM_API_KEY")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _wait(state: RetryCallState) -> float:
    """Seconds until the next attempt: what the server asks for, else longer each time, with a random part."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.response.headers.get("Retry-After", "") if isinstance(error, httpx.HTTPStatusError) else ""
    if asked.isdecimal():
        return min(float(asked), _LONGEST_WAIT)
    return wait_random_exponential(multiplier=0.5, max=_LONGEST_WAIT)(state)


_PROBE = QueryResponse("What is two and two?", "Four.")
_DIGITS = 5


async def model_identity(engine: Engine) -> dict[str, Any]:
    """Say which model an engine runs, so that another one in its place can be told.

    Args:
        engine: The engine; a server is sent one short conversation.

    Returns:
        `fingerprint`: that of the folder that the engine reads, which for a server is that of tokeniser and heads. For
        a server also `served`, its name for the model, and `probe`: the heads' numbers for a fixed text, which are to
        be compared within what rounding does. Without a folder, nothing.

    Raises:
        InputError: If a file cannot be read, or the server gives no numbers.
    """
    if not isinstance(engine, ServerEngine):
        folder = Path(engine.spec.model).expanduser()
        return {"fingerprint": await _fingerprint(folder)} if folder.is_dir() else {}
    [found] = await engine.score([_PROBE])
    if isinstance(found, EngineFailure):
        raise InputError(f"samer={found.detail} ({found.mode}), asked for a short text")
    numbers = (float(value) for part in (found.raw.scores, found.raw.gates, found.raw.weights) for value in part)
    return {
        "fingerprint": await _fingerprint(engine.folder),
        "served": engine.served,
        "probe": [float(f"{number:.{_DIGITS}g}") for number in numbers],
    }


async def _fingerprint(folder: Path) -> str:
    return await to_thread.run_sync(fingerprint, folder)
