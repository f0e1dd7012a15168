"""One engine for all callers with the same options.

It is checked before a run, opened when it is first needed, and kept.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from logging import getLogger
from time import monotonic
from typing import Any

import anyio
from anyio import to_thread
from anyio.lowlevel import RunVar

from urs_inspect._util import InputError
from urs_inspect.samer._checkpoint import Dtype, fitting_length, resolve_dtype
from urs_inspect.samer._checkpoint_check import open_model
from urs_inspect.samer._conversation import Bos, Overlong
from urs_inspect.samer._engines.protocol import Engine, EngineFailure, of_loop, one_line
from urs_inspect.samer._engines.registry import engine_for, load_engine, missing_package
from urs_inspect.samer._engines.vllm_local import check_engine_options
from urs_inspect.samer._evaluation import WeightsAt
from urs_inspect.samer._reward import Description, Kind
from urs_inspect.samer._weights import is_whole

Concurrency = Callable[[str, int], AbstractAsyncContextManager[Any]]
"""Limits how many do something at once: `(name, limit)`; inspect-ai's `concurrency` is one."""

AT_ONCE = 32  # requests to a server at once

_FRESH = 30.0  # seconds in which a server that was checked need not be asked again
_LOG = getLogger(__name__)


@dataclass(frozen=True)
class EngineChoice:
    """A model, an engine and its options as a user gives them (see `load_engine`).

    Equal choices share one engine.
    """

    model: str
    engine: str = "auto"
    weights_at: WeightsAt | None = None
    bos: Bos = "single"
    overlong: Overlong = "shorten"
    max_length: int | None = None
    # for a server on another machine: a folder with its tokenizer and heads
    folder: str | None = None
    dtype: Dtype = "auto"  # of an engine in this process; a server chooses its own
    description: str | None = None  # of a reward model: a file that says what its outputs mean
    kind: Kind | None = None  # what the model must be
    # Of vLLM in this process, by the names of `vllm_local.ENGINE_OPTIONS`; `max_model_len` becomes
    # `max_length`.
    engine_options: Mapping[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        for name in ("model", "engine", "folder", "description"):
            value = getattr(self, name)
            if (not isinstance(value, str) or not value.strip()) and (
                name in {"model", "engine"} or value is not None
            ):
                raise InputError(f"samer: {name} must be a text, got {value!r}")
        length = self.max_length
        if length is not None and not (is_whole(length) and length >= 1):
            raise InputError(
                f"samer: max_length must be a whole number of at least 1, got {length!r}"
            )
        if self.engine_options is not None:
            self._settle_engine_options()

    def _settle_engine_options(self) -> None:
        if self.is_server:
            raise InputError(
                "samer: engine_options: a server has its own; give them to `vllm serve`"
            )
        if self.engine not in {"auto", "vllm"}:
            raise InputError(
                f"samer: engine_options: only with engine vllm, not with engine {self.engine}"
            )
        options = check_engine_options(self.engine_options)
        length = options.pop("max_model_len", None)
        if length is not None and self.max_length not in {None, length}:
            raise InputError(
                f"samer: engine_options: max_model_len {length}, but max_length {self.max_length}"
            )
        object.__setattr__(self, "engine_options", options)
        object.__setattr__(self, "max_length", length or self.max_length)

    @property
    def is_server(self) -> bool:
        """Whether the model is at an address."""
        return self.model.startswith(("http://", "https://"))

    def options(self) -> dict[str, Any]:
        """Options for `load_engine`; those that are not given are left to the engine."""
        own = {"model", "engine", "kind", "engine_options"}
        given = {name: value for name, value in asdict(self).items() if name not in own}
        given |= self.engine_options or {}
        if self.dtype == "auto":
            del given["dtype"]  # a server has no such option
        return {name: value for name, value in given.items() if value is not None}


_open: dict[EngineChoice, Engine] = {}
_asked: dict[EngineChoice, float] = {}
_failed: dict[EngineChoice, EngineFailure] = {}
_listeners: list[Callable[[], None]] = []
_used: RunVar[set[EngineChoice]] = RunVar("samer-engines-used")
_turn: RunVar[anyio.Lock] = RunVar("samer-engines-turn")


def check_engine(
    choice: EngineChoice, concurrency: Concurrency | None = None
) -> Description | None:
    """Refuse, before a run, an engine that could only fail in it.

    Returns what a reward model's outputs mean.

    A server is asked once for all callers within half a minute; of a checkpoint's folder, headers
    and heads are read and no other weights. `concurrency` limits the requests to a server.
    """
    name = engine_for(choice.model, engine=choice.engine, **choice.options())
    _failed.pop(choice, None)  # what failed in an earlier run may succeed in this one
    if name == "vllm" and find_spec("vllm") is None:
        raise missing_package("engine 'vllm'", ImportError(name="vllm"))
    if choice.is_server:
        if choice not in _open or monotonic() - _asked.get(choice, -_FRESH) > _FRESH:
            _open[choice] = _load(choice, concurrency)  # opening it only asks
            _asked[choice] = monotonic()
        reward = _open[choice].spec.reward
    elif name in {"transformers", "vllm"}:
        checkpoint = open_model(choice.model, choice.description)
        fitting_length(checkpoint, choice.max_length)
        resolve_dtype(checkpoint, choice.dtype)
        reward = checkpoint.reward
    else:
        return None
    kind: Kind = "samer" if reward is None else "reward_model"
    if choice.kind not in (None, kind):
        raise InputError(f"{choice.model}: {choice.kind} cannot use it; it is a model for {kind}")
    return reward


async def shared_engine(
    choice: EngineChoice, concurrency: Concurrency | None = None
) -> Engine | EngineFailure:
    """The engine of a choice, opened in a thread if it is not open yet, or why there is none.

    An engine stays open until `close_engines`. Those that earlier runs of this process left open
    and this one has not used are closed first, since two models seldom fit on one GPU. An engine
    that cannot be opened is not tried again before `check_engine` has been called again.
    """
    used = of_loop(_used, set)
    async with of_loop(_turn, anyio.Lock):
        if choice in _failed:
            return _failed[choice]
        if choice not in used:
            used.add(choice)
            for listener in _listeners:
                listener()
        if choice not in _open:
            await _close([other for other in _open if other not in used])
            try:
                _open[choice] = await to_thread.run_sync(_load, choice, concurrency)
            except Exception as error:  # a judge's fault does not end a run
                _failed[choice] = EngineFailure(
                    "error", f"the engine could not be opened: {one_line(error)}"
                )
                return _failed[choice]
        return _open[choice]


async def close_engines() -> None:
    """Close all engines that are open. A later caller gets a new one."""
    await _close(list(_open))


def when_used(listener: Callable[[], None]) -> None:
    """Call a function when an event loop is about to use an engine for the first time.

    inspect-ai's side arranges there that engines are closed when the run ends, which this side
    knows nothing of.
    """
    _listeners.append(listener)


async def _close(choices: list[EngineChoice]) -> None:
    for choice in choices:
        try:
            await _open.pop(choice).close()
        except Exception as error:  # the others are to be closed all the same
            _LOG.warning(
                f"samer: {choice.model}: the engine could not be closed: {type(error).__name__}:"
                f" {error}"
            )


def _load(choice: EngineChoice, concurrency: Concurrency | None) -> Engine:
    options = choice.options()
    if choice.is_server and concurrency is not None:
        options["connections"] = partial(concurrency, f"samer/{choice.model}", AT_ONCE)
    return load_engine(choice.model, engine=choice.engine, **options)
