"""vLLM in this process: stock with STEP pooling and the heads outside, or with the plugin and the heads inside."""

import gc
import multiprocessing
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from anyio import to_thread

from urs_inspect._util import InputError, choices
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
from urs_inspect.samer.engines.protocol import Batching, EngineSpec, Outcome, QueryResponse
from urs_inspect.samer.heads import Heads
from urs_inspect.samer.weights import Array

_FIXED = (
    "model",
    "runner",
    "convert",
    "task",
    "pooler_config",
    "hf_overrides",
    "trust_remote_code",
    "dtype",
    "max_model_len",
)
_MOST = 2048  # items of one call of vLLM; bounds what is held at once, and is far above what it schedules at once
_QUIET = {"disable_log_stats": True, "use_tqdm_on_load": False}
_ENVIRONMENT = {
    # The engine in this process: no child process that would fork a program with threads and an event loop.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_LOGGING_LEVEL": "WARNING",
}


class VllmEngine:
    """Items of all callers go to vLLM together; every result is the same as alone, within rounding.

    Args:
        name: `vllm` or `plugin`.
        spec: How it is run.
        conversations: The model's tokeniser and template.
        pooling: How vLLM pools, and what that means.
        build: Makes the `vllm.LLM`.
    """

    def __init__(
        self, name: str, spec: EngineSpec, conversations: Conversations, pooling: Pooling, build: Callable[[], Any]
    ) -> None:
        self.name, self.spec = name, spec
        self._conversations, self._pooling = conversations, pooling
        self._batching = Batching(self._run, limit=_MOST)
        # One thread from start to end: vLLM's engine, torch's thread pool and a GPU's context stay where they began.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="samer-vllm")
        self._llm: Any = None
        try:
            self._thread.submit(self._start, build).result()
        except BaseException:
            self._thread.shutdown()
            raise

    async def score(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        """Evaluate items in the engine's thread; see `Engine.score`."""
        return await self._batching.score(items)

    async def close(self) -> None:
        """Free the engine and its memory."""
        await to_thread.run_sync(self._close)

    def _close(self) -> None:
        if self._llm is not None:
            self._thread.submit(self._free).result()
            self._thread.shutdown()

    def _start(self, build: Callable[[], Any]) -> None:
        self._llm = build()  # not through the thread's result, which would keep it alive

    def _free(self) -> None:
        # To forget the engine is not enough: vLLM hides what it loaded from the collector of garbage.
        core = getattr(getattr(self._llm, "llm_engine", None), "engine_core", None)
        self._llm = None
        if core is not None:
            core.shutdown()
        gc.collect()
        import_module("vllm.distributed").cleanup_dist_env_and_memory()
        multiprocessing.active_children()  # which also buries those that have ended

    def _run(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        if self._llm is None:
            raise RuntimeError("the engine is closed")
        return self._thread.submit(self._outcomes, items).result()

    def _outcomes(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        encoded = encode_all(self._conversations, self.spec, items)
        return outcomes(self._pooling, encoded, self._rows([one for one in encoded if isinstance(one, Encoded)]))

    def _rows(self, batch: list[Encoded]) -> list[Array | ReplyError]:
        """Both rows of each item, or why there are none."""
        try:
            replies = self._encode(batch) if batch else []
        except Exception as error:  # vLLM raises many kinds, and none may lose what else is in the batch
            if len(batch) == 1:
                return [ReplyError("error", f"vLLM: {one_line(error)}")]
            return [self._rows([one])[0] for one in batch]  # so that an item's fault stays its own
        return [self._read(one, reply) for one, reply in zip(batch, replies, strict=True)]

    def _read(self, encoded: Encoded, reply: list[Array]) -> Array | ReplyError:
        try:
            return self._pooling.rows(encoded, reply)
        except ReplyError as error:
            return error

    def _encode(self, batch: Sequence[Encoded]) -> list[list[Array]]:
        """Ask vLLM; for each item one array for each of its prompts."""
        asked = [(encoded, prompt) for encoded in batch for prompt in self._pooling.prompts(encoded)]
        outputs = iter(
            self._llm.encode(
                [{"prompt_token_ids": list(prompt)} for _, prompt in asked],
                pooling_params=[self._params(encoded, prompt) for encoded, prompt in asked],
                pooling_task=self._pooling.task,
                use_tqdm=False,
            )
        )
        return [
            [np.asarray(next(outputs).outputs.data.float().cpu(), np.float32) for _ in self._pooling.prompts(encoded)]
            for encoded in batch
        ]

    def _params(self, encoded: Encoded, prompt: tuple[int, ...]) -> Any:
        params = import_module("vllm").PoolingParams(task=self._pooling.task, use_activation=False)
        if isinstance(self._pooling, PluginPooling) and len(self._pooling.prompts(encoded)) == 1:
            params.extra_kwargs = {"query_end": encoded.query_length - 1}
        return params


def open_step(
    spec: EngineSpec, conversations: Conversations, heads: Heads, backbone: Path, options: Mapping[str, Any]
) -> VllmEngine:
    """Start stock vLLM on a backbone folder, with the heads outside in float32.

    Args:
        spec: How it is run; `spec.max_length` may not exceed the model's limit.
        conversations: The model's tokeniser and template.
        heads: The heads.
        backbone: A folder that stock vLLM loads, as `urs-inspect samer export` writes it.
        options: More arguments of `vllm.LLM`, such as `gpu_memory_utilization` or `tensor_parallel_size`.

    Returns:
        The engine.

    Raises:
        InputError: If vLLM is missing, an option is not allowed, or vLLM cannot load the model.
    """
    pooling = StepPooling(heads, conversations.end_of_turn, spec.weights_at)
    if "enable_chunked_prefill" in options:  # the plugin takes it; vLLM's own STEP pooling does not support it
        raise InputError(
            "engine 'vllm': enable_chunked_prefill cannot be set; STEP pooling needs each input in one piece"
        )
    pooler = {"tok_pooling_type": "STEP", "step_tag_id": conversations.end_of_turn}
    build = partial(_build, spec, backbone, pooling.task, pooler, _checked(options) | {"convert": "embed"})
    return VllmEngine("vllm", spec, conversations, pooling, build)


def open_plugin(
    spec: EngineSpec, conversations: Conversations, folder: Path, dimensions: int, options: Mapping[str, Any]
) -> VllmEngine:
    """Start vLLM with the plugin on a released folder, with the heads inside in float32.

    Args:
        spec: How it is run; `spec.max_length` may not exceed the model's limit.
        conversations: The model's tokeniser and template.
        folder: The released checkpoint.
        dimensions: Dimensions of its heads.
        options: More arguments of `vllm.LLM`.

    Returns:
        The engine.

    Raises:
        InputError: If vLLM is missing, an option is not allowed, or vLLM cannot load the model.
    """
    plugin = import_module("urs_inspect.samer.vllm_plugin")
    pooling = PluginPooling(dimensions, conversations.end_of_turn, spec.weights_at, told=True)
    overrides = {"architectures": [plugin.ARCHITECTURE], "samer_eot_token_id": conversations.end_of_turn}
    options = _checked(options) | {"hf_overrides": overrides}
    build = partial(_build, spec, folder, pooling.task, {}, options, prepare=plugin.register)
    return VllmEngine("plugin", spec, conversations, pooling, build)


def _build(
    spec: EngineSpec,
    model: Path,
    task: str,
    pooler: Mapping[str, Any],
    options: Mapping[str, Any],
    prepare: Callable[[], None] | None = None,
) -> Any:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    vllm = _import("vllm")
    if prepare is not None:
        prepare()
    fixed = {
        "model": str(model),
        "runner": "pooling",
        "dtype": spec.dtype,
        "max_model_len": spec.max_length,
        "trust_remote_code": False,
        "pooler_config": _import("vllm.config").PoolerConfig(task=task, use_activation=False, **pooler),
    }
    try:
        with _kept_random_state():
            return vllm.LLM(**(_QUIET | dict(options) | fixed))
    except Exception as error:  # weights, the device and vLLM itself raise here, each its own kinds
        raise InputError(f"{model}: vLLM cannot load it: {one_line(error)}") from error


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    wrong = [name for name in options if name in _FIXED]
    if wrong:
        raise InputError(f"vllm: {choices(wrong)} cannot be set; SaMer needs its own value")
    return dict(options)


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"the engine needs vLLM ({one_line(error)}): pip install 'urs-inspect[vllm]'") from error


@contextmanager
def _kept_random_state() -> Iterator[None]:
    """Put Python's and numpy's generators back: vLLM seeds those of its process, which is ours."""
    kept, kept_numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(kept)
        np.random.set_state(kept_numpy)
