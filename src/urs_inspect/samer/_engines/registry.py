"""Which engine runs a model: the table of engines, and `load_engine`."""

import inspect
from collections.abc import Callable
from importlib.util import find_spec
from logging import getLogger
from pathlib import Path
from typing import Any

from urs_inspect._arguments import check
from urs_inspect._satellites import at
from urs_inspect._util import InputError, choices
from urs_inspect.samer._engines.protocol import Engine
from urs_inspect.samer._options import RunOptions, SamerOptions, is_address
from urs_inspect.samer._packages import missing_package

_ENGINES = {
    "vllm": "samer._engines.vllm_local:make_vllm",
    "server": "samer._engines.vllm_server:make_server",
    "transformers": "samer._neural.transformers_engine:make_transformers",
}
"""Name -> address of a function `(choice, **own options) -> Engine`. Named, not imported: some need
torch or vLLM.
"""

_FOREIGN = {
    "vllm": {"folder"},
    "server": {"dtype", "engine_options"},
    "transformers": {"folder", "engine_options"},
}  # engine -> options that it does not have
_registered: dict[str, Callable[..., Engine]] = {}
_LOG = getLogger(__name__)


def register_engine(name: str, make: Callable[..., Engine]) -> None:
    """Add an engine, or replace one.

    Args:
        name: What the user writes as `engine`.
        make: `(samer, **options) -> Engine`; its keyword arguments are the options.
    """
    _registered[name] = make


def engine_names() -> tuple[str, ...]:
    """What `engine` may be besides `auto`."""
    return tuple(dict.fromkeys([*_ENGINES, *_registered]))


def load_engine(samer: str, *, engine: str = "auto", **options: Any) -> Engine:
    """Make the engine that runs a model.

    Args:
        samer: Folder of a checkpoint, or address of a server.
        engine: Which one. `auto`: `server` for an address, else `vllm` if it is installed, else
            `transformers`.
        **options: `weights_at`, where the weighter reads (`response` or `query`; if not given,
            where the heads' file declares, else `response`); `bos`, the start tokens (`single` or
            `double`); `max_length`, the length that the model is run with (its limit if not given;
            query + response have one token less at most); `overlong`, what happens to a longer item
            (`shorten` or `error`); `dtype`, in which the backbone of an engine in this process
            computes; and those of the engine, see `make_vllm`, `make_server` and
            `make_transformers`.

    Returns:
        The engine, ready.

    Raises:
        InputError: If the model, the engine or an option cannot be used, or a package is missing.
    """
    chosen: dict[str, Any] = {"model": samer, "engine": engine}
    own: dict[str, Any] = {}
    for name, value in options.items():
        place = own
        if name in SamerOptions.model_fields:
            place = chosen
        place[name] = value
    return open_engine(check("samer", chosen, SamerOptions), **own)


def open_engine(choice: SamerOptions, **own: Any) -> Engine:
    """Make the engine of a choice, with options of that engine alone."""
    name = engine_for(choice)
    make = _factory(name)
    if name in _registered:
        try:
            return make(choice.model, **choice.given(), **own)
        except ImportError as error:
            raise missing_package(f"engine '{name}'", error) from error
    _, *known = inspect.signature(make).parameters.values()
    unknown = own.keys() - {parameter.name for parameter in known}
    if unknown and all(parameter.kind is not parameter.VAR_KEYWORD for parameter in known):
        raise InputError(f"engine '{name}' has no option '{min(unknown)}'")
    return make(choice, **own)


def engine_for(choice: SamerOptions) -> str:
    """Which engine `open_engine` would make; `InputError` if it cannot be that of the choice."""
    name = _chosen(choice.model, choice.engine)
    if name in _registered:
        return name
    foreign = _FOREIGN[name]
    if unfit := sorted(foreign & choice.given().keys()):
        allowed = [option for option in RunOptions.model_fields if option not in foreign]
        raise InputError(f"engine '{name}' has no option '{unfit[0]}'; allowed: {choices(allowed)}")
    _factory(name)  # what it needs may not be installed
    return name


def _chosen(samer: str, engine: str) -> str:
    address = is_address(samer)
    if not address and not Path(samer).expanduser().is_dir():
        raise InputError(
            f"samer '{samer}': no such folder; expected a checkpoint's folder or a server's address"
        )
    if engine == "auto":
        if address:
            return "server"
        name = "transformers"
        if find_spec("vllm") is not None:
            name = "vllm"
        _LOG.info(
            "samer: %s is run by %s",
            samer,
            name if name == "vllm" else "transformers (vllm is not installed)",
        )
        return name
    if engine not in engine_names():
        raise InputError(f"unknown engine '{engine}'; allowed: auto, {choices(engine_names())}")
    if address != (engine == "server") and engine in _ENGINES:
        expected = "a checkpoint's folder"
        if engine == "server":
            expected = "an address (http://host:port)"
        raise InputError(f"samer '{samer}' does not fit engine '{engine}'; expected {expected}")
    return engine


def _factory(name: str) -> Callable[..., Engine]:
    if name in _registered:
        return _registered[name]
    try:
        make: Callable[..., Engine] = at(_ENGINES[name])
    except ImportError as error:
        raise missing_package(f"engine '{name}'", error) from error
    return make
