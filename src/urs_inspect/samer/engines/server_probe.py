"""What a server is: which model it has, and how it pools, found out by asking before anything is evaluated."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import urlsplit

import httpx

from urs_inspect.errors import InputError, choices
from urs_inspect.samer.checkpoint import HEADS_FILE, open_checkpoint
from urs_inspect.samer.conversation import Conversations
from urs_inspect.samer.engines.encoding import one_line
from urs_inspect.samer.engines.pooling import PluginPooling, Pooling, ReplyError, StepPooling
from urs_inspect.samer.engines.pooling_api import decoded, failure, may_pass, pooling_body, read_data, shape_of
from urs_inspect.samer.engines.protocol import EngineSpec
from urs_inspect.samer.engines.serve_options import stock_options
from urs_inspect.samer.heads import Heads, load_heads
from urs_inspect.samer.taxonomy import load_taxonomy


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
