"""One engine for all callers with the same options.

It is checked before a run, opened when it is first needed, and kept.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from importlib.util import find_spec
from logging import getLogger
from time import monotonic
from typing import Any

import anyio
from anyio import to_thread
from anyio.lowlevel import RunVar

from urs_inspect._util import InputError
from urs_inspect.samer._engines.protocol import (
    Engine,
    EngineFailure,
    of_loop,
    one_line,
    open_with_spec,
)
from urs_inspect.samer._engines.registry import engine_for, open_engine
from urs_inspect.samer._options import SamerOptions, is_address
from urs_inspect.samer._packages import missing_package
from urs_inspect.samer._reward import Description, Kind

Concurrency = Callable[[str, int], AbstractAsyncContextManager[Any]]
"""Limits how many do something at once: `(name, limit)`; inspect-ai's `concurrency` is one."""

AT_ONCE = 32  # requests to a server at once

_FRESH = 30.0  # seconds in which a server that was checked need not be asked again
_LOG = getLogger(__name__)


_open: dict[SamerOptions, Engine] = {}
_asked: dict[SamerOptions, float] = {}
_failed: dict[SamerOptions, EngineFailure] = {}
_used: RunVar[set[SamerOptions]] = RunVar("samer-engines-used")
_turn: RunVar[anyio.Lock] = RunVar("samer-engines-turn")


def check_engine(
    choice: SamerOptions, concurrency: Concurrency | None = None, kind: Kind | None = None
) -> Description | None:
    """Refuse, before a run, an engine that could only fail in it.

    Returns what a reward model's outputs mean. `kind` is what the model must be.

    A server is asked once for all callers within half a minute; of a checkpoint's folder, headers
    and heads are read and no other weights. `concurrency` limits the requests to a server.
    """
    name = engine_for(choice)
    _failed.pop(choice, None)  # what failed in an earlier run may succeed in this one
    if name == "vllm" and find_spec("vllm") is None:
        raise missing_package("engine 'vllm'", ImportError(name="vllm"))
    if is_address(choice.model):
        if choice not in _open or monotonic() - _asked.get(choice, -_FRESH) > _FRESH:
            _open[choice] = _load(choice, concurrency)  # opening it only asks
            _asked[choice] = monotonic()
        reward = _open[choice].spec.reward
    elif name in {"transformers", "vllm"}:
        _, spec = open_with_spec(choice)
        reward = spec.reward
    else:
        return None
    found: Kind = "samer" if reward is None else "reward_model"
    if kind not in (None, found):
        raise InputError(f"{choice.model}: {kind} cannot use it; it is a model for {found}")
    return reward


async def shared_engine(
    choice: SamerOptions, concurrency: Concurrency | None = None
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
        used.add(choice)
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


async def _close(choices: list[SamerOptions]) -> None:
    for choice in choices:
        try:
            await _open.pop(choice).close()
        except Exception as error:  # the others are to be closed all the same
            _LOG.warning(
                f"samer: {choice.model}: the engine could not be closed: {type(error).__name__}:"
                f" {error}"
            )


def _load(choice: SamerOptions, concurrency: Concurrency | None) -> Engine:
    if is_address(choice.model) and concurrency is not None:
        limited = partial(concurrency, f"samer/{choice.model}", AT_ONCE)
        return open_engine(choice, connections=limited)
    return open_engine(choice)
