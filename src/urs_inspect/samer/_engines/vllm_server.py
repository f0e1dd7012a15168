"""A vLLM server as engine: its pooling over HTTP, with retries."""

import base64
import binascii
import json
import math
import os
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from logging import getLogger
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio
import httpx
import numpy as np
from anyio import to_thread
from anyio.lowlevel import RunVar
from numpy.typing import NDArray
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from urs_inspect._arguments import Count, Positive, check
from urs_inspect._util import InputError, choices
from urs_inspect.samer._checkpoint import (
    HEADS_FILE,
    conversations_of,
    description_of,
    resolve_weights_at,
)
from urs_inspect.samer._checkpoint_check import open_checkpoint
from urs_inspect.samer._conversation import Conversations, Encoded, Ids
from urs_inspect.samer._engines.protocol import (
    AnyHeads,
    Engine,
    EngineFailure,
    EngineSpec,
    Outcome,
    QueryResponse,
    ReplyError,
    StepPooling,
    encode_all,
    of_loop,
    one_line,
    outcomes,
    readings,
)
from urs_inspect.samer._evaluation import Heads, load_heads
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._weights import Array

_LENGTH = 8192  # of the published model; a server's own limit, if less, counts
_AT_ONCE = 32  # requests without a limit of the caller's
_LONGEST_WAIT = 30.0  # seconds between two attempts
# after these the same request may succeed
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# most seconds for each of the two questions to a server before a run, all attempts together
_OPENING = 60.0
_NO_POOLING = tuple(f"status {status}:" for status in (400, 404, 405, 501))
_MOST_TEXT = 200  # characters of a server's own message that go into an error

_LOG = getLogger(__name__)
_T = TypeVar("_T")

Connections = Callable[[], AbstractAsyncContextManager[Any]]
"""Makes the context in which one request is sent.

Inspect-ai's `concurrency(...)` limits and shows them.
"""


def make_server(
    choice: SamerOptions,
    *,
    timeout: float = 600.0,
    attempts: int = 5,
    connections: Connections | None = None,
) -> Engine:
    """Make an engine for a server at an address.

    It is asked what it is, and its reply to a conversation is checked. `timeout` is in seconds, for
    one attempt and its whole reply; only faults that may pass are tried again, up to `attempts`
    times. Without `connections` at most 32 requests are sent at once.
    """
    check("timeout", timeout, Positive)
    check("attempts", attempts, Count)
    url = base_address(choice.model)
    patience = min(timeout, _OPENING)
    entry = _in_own_loop(_served_model, url, attempts, patience)
    path = Path(choice.folder).expanduser() if choice.folder else _own_folder(url, entry)
    reward = description_of(path, choice.description)
    spec = EngineSpec(
        url,
        resolve_weights_at(path, choice.weights_at),
        choice.bos,
        "as served",
        _usable_length(url, entry, choice.max_length),
        choice.overlong,
        reward,
    )
    conversations = conversations_of(path, reward)
    engine = ServerEngine(
        spec,
        conversations,
        reward or _heads(path),
        str(entry["id"]),
        timeout=timeout,
        attempts=attempts,
        connections=connections,
    )
    _in_own_loop(_check_reply, engine, conversations, attempts, patience)
    return engine


def _in_own_loop(ask: Callable[..., Awaitable[_T]], *given: Any) -> _T:
    """Run an asynchronous function to its end, whether or not the caller is in an event loop."""
    with ThreadPoolExecutor(1, thread_name_prefix="samer-server") as thread:
        return thread.submit(anyio.run, ask, *given).result()


def _usable_length(url: str, entry: Mapping[str, Any], max_length: int | None) -> int:
    """The length to use: the user's, or the published model's, and never more than the server's."""
    limit = entry.get("max_model_len")
    if isinstance(limit, int) and limit > 0:
        return min(max_length or _LENGTH, limit)
    length = max_length or _LENGTH
    if limit is not None:
        _LOG.warning(
            f"samer={url}: the server reports max_model_len {limit!r}, which is no length; {length}"
            " is used"
        )
    return length


class ServerEngine:
    """Sends each item in a request of its own.

    One that fails is that item's failure and no other's.
    """

    name = "server"

    def __init__(
        self,
        spec: EngineSpec,
        conversations: Conversations,
        heads: AnyHeads,
        served: str,
        *,
        timeout: float,
        attempts: int,
        connections: Connections | None,
    ) -> None:
        self.spec = spec
        self._conversations = conversations
        self._heads = heads
        self._timeout = timeout
        self._attempts = attempts
        self._connections = connections
        self.served = served
        self.folder = conversations.folder  # the model's name, and where tokenizer and heads are
        self.pooling = StepPooling(conversations.end_of_turn, heads.hidden_size)
        # One for each event loop: a connection belongs to the loop that opened it.
        self._client: RunVar[httpx.AsyncClient] = RunVar(f"samer-client-{id(self)}")
        self._gate: RunVar[anyio.Semaphore] = RunVar(f"samer-gate-{id(self)}")

    async def score(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        """Evaluate items; see `Engine.score`."""
        encoded = await to_thread.run_sync(encode_all, self._conversations, self.spec, items)
        ready = [item for item in encoded if isinstance(item, Encoded)]
        pairs: dict[int, Array | EngineFailure] = {}

        async def ask(place: int) -> None:
            pairs[place] = await self._pair(ready[place])

        async with anyio.create_task_group() as group:
            for place in range(len(ready)):
                group.start_soon(ask, place)
        in_order = [pairs[place] for place in range(len(ready))]
        return await to_thread.run_sync(
            outcomes, self._heads, self.spec.weights_at, encoded, in_order
        )

    async def close(self) -> None:
        """Close the connections of this event loop."""
        client = self._client.get(None)
        if client is not None:
            await client.aclose()

    async def _pair(self, encoded: Encoded) -> Array | EngineFailure:
        prompts = [reading.ids for reading in readings(encoded)]
        body = pooling_body(self.served, prompts, self.pooling.task)
        try:
            async with self._connection():
                reply = await _asked(
                    self._session(),
                    self._attempts,
                    self._timeout,
                    "POST",
                    "/pooling",
                    json=body,
                )
            return self.pooling.pair(
                encoded, read_replies(reply, [self.pooling.size(ids) for ids in prompts])
            )
        except ReplyError as error:
            return EngineFailure(error.mode, f"{self.spec.model}: {error.detail}")

    def _connection(self) -> AbstractAsyncContextManager[Any]:
        if self._connections is not None:
            return self._connections()
        return of_loop(self._gate, lambda: anyio.Semaphore(_AT_ONCE))

    def _session(self) -> httpx.AsyncClient:
        client = self._client.get(None)
        if client is None or client.is_closed:
            client = _client(self.spec.model, self._timeout)
            self._client.set(client)
        return client


def _client(url: str, timeout: float) -> httpx.AsyncClient:
    key = os.environ.get("VLLM_API_KEY")
    headers = {}
    if key:
        headers = {"Authorization": f"Bearer {key}"}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=_AT_ONCE)
    return httpx.AsyncClient(base_url=url, timeout=timeout, limits=limits, headers=headers)


async def _asked(
    client: httpx.AsyncClient, attempts: int, timeout: float, method: str, path: str, **content: Any
) -> Any:
    """The JSON of a reply, asked for again if that may help; `ReplyError` if there is none."""

    async def attempt() -> Any:
        # The client's own time-out is between two bytes; a server that trickles would never reach
        # it.
        with anyio.fail_after(timeout):
            return _decoded(await client.request(method, path, **content))

    retrying = AsyncRetrying(
        retry=retry_if_exception(_may_pass),
        stop=stop_after_attempt(attempts),
        wait=_wait,
        reraise=True,
    )
    try:
        return await retrying(attempt)
    except (httpx.TimeoutException, TimeoutError):
        raise ReplyError("timeout", f"no whole reply within {timeout:g} s") from None
    except httpx.HTTPStatusError as error:
        raise failure(error.response.status_code, error.response.text) from error
    except httpx.HTTPError as error:
        raise ReplyError("unreachable", one_line(error)) from error


def _wait(state: RetryCallState) -> float:
    """Seconds until the next attempt: what the server asks for, else longer each time.

    A part of it is random.
    """
    error = None
    if state.outcome:
        error = state.outcome.exception()
    if isinstance(error, httpx.HTTPStatusError):
        asked = error.response.headers.get("Retry-After", "")
        if asked.isdecimal():
            return min(float(asked), _LONGEST_WAIT)
    return wait_random_exponential(multiplier=0.5, max=_LONGEST_WAIT)(state)


# ## What a server is


async def _ask(
    url: str, attempts: int, patience: float, method: str, path: str, **content: Any
) -> Any:
    """The JSON of a reply; all attempts together end after `patience` seconds."""
    try:
        with anyio.fail_after(patience):
            async with _client(url, patience) as client:
                return await _asked(client, attempts, patience, method, path, **content)
    except TimeoutError:
        raise ReplyError("timeout", f"no whole reply within {patience:g} s") from None


async def _served_model(url: str, attempts: int, patience: float) -> Mapping[str, Any]:
    """The server's own description of the model.

    A server that is still starting is asked again for a few seconds.
    """
    try:
        body = await _ask(url, attempts, patience, "GET", "/v1/models")
    except ReplyError as error:
        raise InputError(f"samer={url}: no vLLM server answers ({error.detail})") from error
    entries = None
    if isinstance(body, Mapping):
        entries = body.get("data")
    models = [
        entry
        for entry in entries or []
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)
    ]
    names = choices(entry["id"] for entry in models) or "none"
    if len(models) != 1:
        raise InputError(f"samer={url}: models on the server: {names}; expected one")
    return models[0]


def _own_folder(url: str, entry: Mapping[str, Any]) -> Path:
    """The folder that a server on this machine loaded."""
    root = Path(str(entry.get("root") or ""))
    local = urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}
    if local and root.is_absolute() and (root / "tokenizer_config.json").is_file():
        return root
    raise InputError(
        f"samer={url}: say where its tokenizer and heads are: folder=DIR, a released or exported"
        " folder"
    )


def _heads(folder: Path) -> Heads:
    file = folder / HEADS_FILE
    if file.is_file():
        return load_heads(file)
    return open_checkpoint(folder).heads()


async def _check_reply(
    engine: ServerEngine, conversations: Conversations, attempts: int, patience: float
) -> None:
    """Refuse a server whose reply to a short conversation has another shape.

    Of the same shape any model passes.
    """
    where = f"samer={engine.spec.model}"
    pooling = engine.pooling
    ids = conversations.encode("a", "b", engine.spec.max_length, bos=engine.spec.bos).ids
    help_ = f"start it with {shlex.join(stock_options(pooling.end_of_turn))}"
    body = pooling_body(engine.served, [ids])
    try:
        reply = await _ask(engine.spec.model, attempts, patience, "POST", "/pooling", json=body)
        [numbers] = _read_data(reply, 1)
        shape = shape_of(numbers)
    except ReplyError as error:
        hint = ""
        if error.detail.startswith(_NO_POOLING):
            hint = f"; {help_}"
        raise InputError(f"{where}: the server does not pool ({error.detail}){hint}") from error
    expected = pooling.size(ids)
    if shape != expected:
        raise InputError(
            f"{where}: a reply of shape {shape}; expected {expected}; export the checkpoint and"
            f" {help_}, or name the folder of the server's model (now {engine.folder})"
        )
    _notice_odd_vectors(where, np.asarray(numbers, np.float64), help_)


def _notice_odd_vectors(where: str, rows: NDArray[np.float64], help_: str) -> None:
    """Say what numbers of the right shape are, if they can hardly be the model's."""
    if not rows.any():
        _LOG.warning(
            f"{where}: all {rows.size:,} numbers of its reply to a short text are 0; its scores"
            " mean nothing"
        )
    elif rows.ndim == 2 and np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3):
        _LOG.warning(
            f"{where}: its vectors have length 1, as if normalised, which SaMer's heads do not"
            f" expect; {help_}"
        )


def stock_options(end_of_turn: int) -> tuple[str, ...]:
    """Options of `vllm serve` for an exported folder, to be quoted for a shell (`shlex.join`).

    The server then gives one vector per end of a turn; `end_of_turn` is its token's id, 128009 in
    Llama 3. `ANY_END`: for the folder of a reward model.
    """
    options = StepPooling(end_of_turn, 0).options
    pooler = json.dumps(options["pooler_config"], separators=(",", ":"))
    return ("--runner", "pooling", "--convert", options["convert"], "--pooler-config", pooler)


# ## Bodies, replies and errors


def base_address(url: str) -> str:
    """Check an address, and drop a trailing `/v1`.

    An address is such as `http://host:8000` or `https://host/samer/v1`.
    """
    parts = urlsplit(url.strip())
    try:
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # no valid port
        valid = False
    if not valid:
        raise InputError(f"samer={url}: not an address; expected such as http://127.0.0.1:8000")
    if parts.username or parts.password or parts.query or parts.fragment:  # it would end up in logs
        raise InputError(
            f"samer: the address of {parts.hostname} may hold no key; set VLLM_API_KEY instead"
        )
    return url.strip().rstrip("/").removesuffix("/v1").rstrip("/")


def pooling_body(model: str, prompts: Sequence[Ids], task: str | None = None) -> dict[str, Any]:
    """The body of `POST /pooling`; without a task the server uses its own.

    Token ids, because a server puts one more start token in front of a text.
    """
    body: dict[str, Any] = {
        "model": model,
        "input": [list(prompt) for prompt in prompts],
        "use_activation": False,
    }
    if task is None:
        return body | {"encoding_format": "float"}
    # Four bytes per number in place of up to twenty characters.
    return body | {
        "task": task,
        "encoding_format": "base64",
        "embed_dtype": "float32",
        "endianness": "little",
    }


def read_replies(body: Any, sizes: Sequence[tuple[int, ...]]) -> list[Array]:
    """The float32 arrays of a reply in the order of the prompts.

    Their expected shapes are `sizes`.
    """
    return list(map(_array, _read_data(body, len(sizes)), sizes))


def _read_data(body: Any, number: int) -> list[Any]:
    entries = None
    if isinstance(body, Mapping):
        entries = body.get("data")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ReplyError(
            "wrong_shape", "the reply has no list `data`; is this a vLLM pooling server?"
        )
    by_index = {}
    for place, entry in enumerate(entries):
        by_index[entry.get("index", place)] = entry.get("data")
    if len(entries) != number or set(by_index) != set(range(number)):
        raise ReplyError("wrong_shape", f"{len(entries)} results for {number} prompts")
    return [by_index[place] for place in range(number)]


def _array(data: Any, size: tuple[int, ...]) -> Array:
    if isinstance(data, str):
        try:
            flat = np.frombuffer(base64.b64decode(data, validate=True), "<f4").astype(np.float32)
        except (binascii.Error, ValueError):
            raise ReplyError("wrong_shape", "a result is not base64 of float32 numbers") from None
        if flat.size != math.prod(size):
            raise ReplyError(
                "wrong_shape",
                f"a result of {flat.size:,} numbers; expected {' x '.join(map(str, size))}",
            )
        return flat.reshape(size)
    if shape_of(data) != size:
        raise ReplyError("wrong_shape", f"a result of shape {shape_of(data)}; expected {size}")
    return np.asarray(data, np.float32)


def shape_of(data: Any) -> tuple[int, ...]:
    """The shape of nested lists of numbers."""
    try:
        return np.asarray(data, np.float64).shape
    except (TypeError, ValueError, RecursionError):
        raise ReplyError(
            "wrong_shape", "a result is not made of lists of numbers of one length"
        ) from None


def _decoded(response: httpx.Response) -> Any:
    """The JSON of a reply; `HTTPStatusError` if the server reports a failure."""
    if not response.is_success:
        raise httpx.HTTPStatusError("", request=response.request, response=response)
    try:
        return response.json()
    except (ValueError, RecursionError):
        raise ReplyError("wrong_shape", "the reply is not JSON, or nested too deeply") from None


def _may_pass(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in _TRANSIENT
    return isinstance(error, httpx.TransportError | TimeoutError) and not isinstance(
        error, httpx.UnsupportedProtocol
    )


def failure(status: int, text: str) -> ReplyError:
    """What an error status means for one item."""
    detail = f"status {status}: {_message(text)}"
    if status in {400, 413, 422} and any(
        word in text for word in ("maximum context length", "too long", "max_model_len")
    ):
        return ReplyError("too_long", detail)
    if status == 404:
        return ReplyError("wrong_model", detail)
    return ReplyError("unreachable" if status in _TRANSIENT else "refused", detail)


def _message(text: str) -> str:
    """A server's message on one line; a proxy's page of HTML is cut short."""
    try:
        body = httpx.Response(200, text=text).json()
        error = body
        if isinstance(body, Mapping):
            error = body.get("error", body)
        message = error
        if isinstance(error, Mapping):
            message = error.get("message") or error.get("detail")
    except (ValueError, RecursionError):
        message = text
    return " ".join(str(message).split())[:_MOST_TEXT] or "no message"
