"""The HTTP face of vLLM's pooling: bodies out, replies in, and what an error means. No connection is made here."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from urs_inspect._util import InputError
from urs_inspect.samer.engines.pooling import Prompt, ReplyError
from urs_inspect.samer.weights import Array


def stock_options(end_of_turn: int) -> tuple[str, ...]:
    """Options of `vllm serve` for an exported folder.

    The server then gives one vector for every end of a turn: that of the query, and that of the response.

    Args:
        end_of_turn: Id of the end-of-turn token, 128009 in Llama 3.

    Returns:
        The options, to be quoted for a shell (`shlex.join`).
    """
    pooler = {
        "task": "token_embed",
        "tok_pooling_type": "STEP",
        "step_tag_id": end_of_turn,
        "use_activation": False,
    }
    return ("--runner", "pooling", "--convert", "embed", "--pooler-config", _compact(pooler))


def plugin_options() -> tuple[str, ...]:
    """Options of `vllm serve` for a released folder, where this package is installed beside vLLM."""
    overrides, pooler = {"architectures": ["SaMerForRewardModeling"]}, {"task": "token_classify"}
    return ("--runner", "pooling", "--hf-overrides", _compact(overrides), "--pooler-config", _compact(pooler))


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed."""

_MOST_TEXT = 200  # characters of a server's own message that go into an error


def base_address(url: str) -> str:
    """Check a server's address and drop a trailing `/v1`.

    Args:
        url: Such as `http://host:8000` or `https://host/samer/v1`.

    Returns:
        The address without a slash at its end.

    Raises:
        InputError: If it is no http address, or holds a password, which would end up in logs.
    """
    parts = urlsplit(url.strip())
    try:
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # no valid port
        sound = False
    if not sound:
        raise InputError(f"samer={url}: not an address; expected such as http://127.0.0.1:8000")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(f"samer: the address of {parts.hostname} may hold no key; set VLLM_API_KEY instead")
    return url.strip().rstrip("/").removesuffix("/v1").rstrip("/")


def pooling_body(model: str, prompts: Sequence[Prompt], task: str | None = None) -> dict[str, Any]:
    """The body of `POST /pooling` for token ids.

    Token ids, because a server puts one more start token in front of a text. Without a task the server uses its own.
    """
    body: dict[str, Any] = {"model": model, "input": [list(prompt) for prompt in prompts], "use_activation": False}
    if task is None:
        return body | {"encoding_format": "float"}
    # Four bytes a number in place of up to twenty characters.
    return body | {"task": task, "encoding_format": "base64", "embed_dtype": "float32", "endianness": "little"}


def read_replies(body: Any, sizes: Sequence[tuple[int, int]]) -> list[Array]:
    """Read the arrays of a reply whose shapes are known.

    Args:
        body: The decoded JSON.
        sizes: Expected shape for each prompt.

    Returns:
        One float32 array for each prompt, in the order of the prompts.

    Raises:
        ReplyError: If the reply is of another form or has other shapes.
    """
    return [_array(data, size) for data, size in zip(read_data(body, len(sizes)), sizes, strict=True)]


def read_data(body: Any, number: int) -> list[Any]:
    """The raw data of a reply, in the order of the prompts.

    Raises:
        ReplyError: If there are not exactly as many as prompts.
    """
    entries = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ReplyError("wrong_shape", "the reply has no list `data`; is this a vLLM pooling server?")
    by_index = {entry.get("index", place): entry.get("data") for place, entry in enumerate(entries)}
    if len(entries) != number or set(by_index) != set(range(number)):
        raise ReplyError("wrong_shape", f"{len(entries)} results for {number} prompts")
    return [by_index[place] for place in range(number)]


def shape_of(data: Any) -> tuple[int, ...]:
    """The shape of nested lists of numbers.

    Raises:
        ReplyError: If it is anything else.
    """
    try:
        array = np.asarray(data, np.float64)
    except (TypeError, ValueError):
        raise ReplyError("wrong_shape", "a result is not made of lists of numbers of one length") from None
    return array.shape


def decoded(response: httpx.Response) -> Any:
    """The JSON of a reply.

    Raises:
        HTTPStatusError: If the server says that it failed.
        ReplyError: If it is no JSON.
    """
    if not response.is_success:
        raise httpx.HTTPStatusError("", request=response.request, response=response)
    try:
        return response.json()
    except ValueError:
        raise ReplyError("wrong_shape", "the reply is not JSON") from None


def may_pass(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in TRANSIENT
    return isinstance(error, httpx.TransportError | TimeoutError) and not isinstance(error, httpx.UnsupportedProtocol)


def failure(status: int, text: str) -> ReplyError:
    """What an error status means for one item."""
    said = f"status {status}: {_message(text)}"
    if status in {400, 413, 422} and any(
        word in text for word in ("maximum context length", "too long", "max_model_len")
    ):
        return ReplyError("too_long", said)
    if status == 404:
        return ReplyError("wrong_model", said)
    return ReplyError("unreachable" if status in TRANSIENT else "refused", said)


def _message(text: str) -> str:
    """A server's message on one line; a proxy's page of HTML is cut short."""
    try:
        body = httpx.Response(200, text=text).json()
        error = body.get("error", body) if isinstance(body, Mapping) else body
        found = error.get("message") or error.get("detail") if isinstance(error, Mapping) else error
    except ValueError:
        found = text
    return " ".join(str(found).split())[:_MOST_TEXT] or "no message"


def _array(data: Any, size: tuple[int, int]) -> Array:
    if isinstance(data, str):
        try:
            flat = np.frombuffer(base64.b64decode(data, validate=True), "<f4").astype(np.float32)
        except (binascii.Error, ValueError):
            raise ReplyError("wrong_shape", "a result is not base64 of float32 numbers") from None
        if flat.size != size[0] * size[1]:
            raise ReplyError("wrong_shape", f"a result of {flat.size:,} numbers; expected {size[0]} x {size[1]:,}")
        return flat.reshape(size)
    if shape_of(data) != size:
        raise ReplyError("wrong_shape", f"a result of shape {shape_of(data)}; expected {size}")
    return np.asarray(data, np.float32)
