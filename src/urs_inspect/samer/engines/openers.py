"""From what a user writes to an engine of vLLM: opens the checkpoint, exports it where stock vLLM needs that."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from urs_inspect._util import InputError
from urs_inspect.samer.checkpoint import Checkpoint, Dtype, fitting_length, open_checkpoint, settled_dtype
from urs_inspect.samer.conversation import Bos, Overlong
from urs_inspect.samer.engines.protocol import Engine, EngineSpec
from urs_inspect.samer.engines.vllm_local import open_plugin, open_step
from urs_inspect.samer.engines.vllm_server import ServerOptions, open_server
from urs_inspect.samer.evaluation import WeightsAt
from urs_inspect.samer.export import export_checkpoint
from urs_inspect.samer.fingerprint import cache_folder, fingerprint
from urs_inspect.samer.heads_file import settled_weights_at

_SERVER_LENGTH = 8192  # of the published model; a server's own limit, if less, counts


def make_vllm(
    samer: str,
    *,
    weights_at: WeightsAt | None = None,
    bos: Bos = "single",
    dtype: Dtype = "auto",
    max_length: int | None = None,
    overlong: Overlong = "shorten",
    **vllm: Any,
) -> Engine:
    """Stock vLLM in this process, heads outside in float32.

    Args:
        samer: Folder of a checkpoint; a released one is exported into the cache first, which links its large files.
        weights_at: Where the weighter reads; if not given, where the heads' file says, else `response`.
        bos: Start tokens.
        dtype: Type that the backbone computes in; `auto`: that of the checkpoint's weights.
        max_length: Length that the model is run with, its own limit if not given; query + response have one token
            less at most.
        overlong: What happens to a longer one.
        **vllm: More arguments of `vllm.LLM`.

    Returns:
        The engine.

    Raises:
        InputError: If the folder or an option cannot be used.
    """
    checkpoint = open_checkpoint(samer)
    spec = _spec(checkpoint, samer, weights_at, bos, dtype, max_length, overlong)
    return open_step(spec, checkpoint.conversations(), checkpoint.heads(), exported_folder(checkpoint), vllm)


def make_plugin(
    samer: str,
    *,
    weights_at: WeightsAt | None = None,
    bos: Bos = "single",
    dtype: Dtype = "auto",
    max_length: int | None = None,
    overlong: Overlong = "shorten",
    **vllm: Any,
) -> Engine:
    """The plugin in vLLM in this process, heads inside; arguments are those of `make_vllm`.

    Raises:
        InputError: If the folder or an option cannot be used.
    """
    checkpoint = open_checkpoint(samer)
    if checkpoint.layout != "released":
        raise InputError(f"{samer}: an exported folder; engine 'plugin' expects a checkpoint as released")
    spec = _spec(checkpoint, samer, weights_at, bos, dtype, max_length, overlong)
    dimensions = checkpoint.heads().dimensions
    return open_plugin(spec, checkpoint.conversations(), checkpoint.folder, dimensions, vllm)


def make_server(
    samer: str,
    *,
    weights_at: WeightsAt | None = None,
    bos: Bos = "single",
    max_length: int | None = None,
    overlong: Overlong = "shorten",
    folder: str | None = None,
    served: str | None = None,
    timeout: float = 600.0,
    attempts: int = 5,
    connections: Callable[[], AbstractAsyncContextManager[Any]] | None = None,
) -> Engine:
    """A vLLM server, with or without the plugin.

    Args:
        samer: Its address.
        weights_at: Where the weighter reads; if not given, where the heads' file says, else `response`.
        bos: Start tokens.
        max_length: Length that is used, the server's limit, at most 8192, if not given; query + response have one
            token less at most.
        overlong: What happens to a longer one.
        folder: A checkpoint's folder for tokeniser and heads; the server's own if that is on this machine.
        served: Name of the model on the server; the only one if not given.
        timeout: Seconds for one attempt.
        attempts: Attempts at one request.
        connections: Context for each request; limits how many there are at once.

    Returns:
        The engine.

    Raises:
        InputError: If the server or an option cannot be used.
    """
    if max_length is not None and max_length < 1:
        raise InputError(f"max_length {max_length}; expected 1 or more")
    spec = EngineSpec(samer, "response", bos, "as served", max_length or _SERVER_LENGTH, overlong)
    options = ServerOptions(timeout, attempts, connections)
    where = None if folder is None else Path(folder).expanduser()
    return open_server(spec, options, folder=where, served=served, weights_at=weights_at)


def _spec(
    checkpoint: Checkpoint,
    samer: str,
    weights_at: WeightsAt | None,
    bos: Bos,
    dtype: Dtype,
    max_length: int | None,
    overlong: Overlong,
) -> EngineSpec:
    reads = settled_weights_at(checkpoint.folder, weights_at)
    length = fitting_length(checkpoint, max_length)
    return EngineSpec(samer, reads, bos, settled_dtype(checkpoint, dtype), length, overlong)


def exported_folder(checkpoint: Checkpoint) -> Path:
    """The folder that stock vLLM loads: the checkpoint's own if it is exported, else an export in the cache.

    An export appears in the cache as a whole. Of several processes that make the same one, the first to be done has
    made it, and the others take that.

    Raises:
        InputError: If it cannot be exported.
    """
    if checkpoint.layout == "exported":
        return checkpoint.folder
    out = cache_folder() / _export_name(checkpoint)
    made = out / "config.json"
    if not made.is_file():
        try:
            export_checkpoint(checkpoint.folder, out)
        except InputError:
            if not made.is_file():
                raise
    return out


def _export_name(checkpoint: Checkpoint) -> str:
    """A name that changes with what the folder holds, and with the files that its export would link."""
    files = [(checkpoint.folder / name).stat() for name in checkpoint.weights.names]
    place = (
        str(checkpoint.folder.resolve()),
        fingerprint(checkpoint.folder),
        [(one.st_dev, one.st_ino) for one in files],
    )
    return hashlib.sha256(repr(place).encode()).hexdigest()[:16]
