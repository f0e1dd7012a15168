"""Stock vLLM in this process with STEP pooling; the heads run outside, in float32."""

import gc
import multiprocessing
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from anyio import to_thread

from urs_inspect._util import InputError, choices
from urs_inspect.samer._checkpoint import Checkpoint
from urs_inspect.samer._conversation import Encoded
from urs_inspect.samer._engines.protocol import (
    Engine,
    EngineFailure,
    EngineSpec,
    LocalEngine,
    ReplyError,
    StepPooling,
    one_line,
    open_with_spec,
    readings,
)
from urs_inspect.samer._export import exported_folder
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._packages import imported
from urs_inspect.samer._weights import Array

_FIXED = (
    "model",
    "runner",
    "convert",
    "task",
    "pooler_config",
    "hf_overrides",
    "trust_remote_code",
    "max_model_len",
    "enable_chunked_prefill",  # STEP pooling needs each input in one piece
)
# items of one call of vLLM; bounds what is held at once, and is far above what it schedules at once
_MOST = 2048
_QUIET = {"disable_log_stats": True, "use_tqdm_on_load": False}
_ENVIRONMENT = {
    # The engine in this process: no child process that would fork a program with threads and an
    # event loop.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_LOGGING_LEVEL": "WARNING",
}


def make_vllm(choice: SamerOptions, **vllm: Any) -> Engine:
    """Start vLLM on a checkpoint's folder.

    `vllm` are more arguments of `vllm.LLM`.

    SaMer's released folder is exported into the cache first, which links its large files.
    """
    checkpoint, spec = open_with_spec(choice)
    if wrong := [name for name in vllm if name in _FIXED]:
        raise InputError(f"vllm: {choices(wrong)} cannot be set; SaMer needs its own value")
    backbone = checkpoint.folder
    if spec.reward is None:
        backbone = exported_folder(checkpoint)
    if choice.engine_options is not None:
        vllm |= choice.engine_options.model_dump()
    return VllmEngine(spec, checkpoint, backbone, vllm)


class VllmEngine(LocalEngine):
    """Runs items with vLLM; every result is the same as alone, within rounding."""

    name = "vllm"

    def __init__(
        self, spec: EngineSpec, checkpoint: Checkpoint, backbone: Path, options: Mapping[str, Any]
    ) -> None:
        super().__init__(checkpoint, spec, limit=_MOST)
        self._pooling = StepPooling(self._conversations.end_of_turn, self._heads.hidden_size)
        # One thread from start to end: vLLM's engine, torch's thread pool and a GPU's context stay
        # where they began.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="samer-vllm")
        self._llm: Any = None
        try:
            self._thread.submit(self._start, spec, backbone, self._pooling, options).result()
        except BaseException:
            self._thread.shutdown()
            raise

    async def close(self) -> None:
        """Free the engine and its memory."""
        await to_thread.run_sync(self._close)

    def _close(self) -> None:
        if self._llm is not None:
            self._thread.submit(self._free).result()
            self._thread.shutdown()

    def _start(self, *given: Any) -> None:
        self._llm = _build(*given)  # not through the thread's result, which would keep it alive

    def _free(self) -> None:
        # To forget the engine is not enough: vLLM hides what it loaded from the garbage collector.
        core = getattr(getattr(self._llm, "llm_engine", None), "engine_core", None)
        self._llm = None
        if core is not None:
            core.shutdown()
        gc.collect()
        import_module("vllm.distributed").cleanup_dist_env_and_memory()
        multiprocessing.active_children()  # which also reaps those that have ended

    def _pairs(self, ready: Sequence[Encoded]) -> list[Array | EngineFailure]:
        if self._llm is None:
            raise RuntimeError("the engine is closed")
        if not ready:
            return []
        replies = self._thread.submit(self._encode, ready).result()
        return list(map(self._pair, ready, replies))

    def _pair(self, encoded: Encoded, replies: list[Array]) -> Array | EngineFailure:
        try:
            return self._pooling.pair(encoded, replies)
        except ReplyError as error:
            return EngineFailure(error.mode, error.detail)

    def _encode(self, batch: Sequence[Encoded]) -> list[list[Array]]:
        """Ask vLLM; for each item one array for each of its readings."""
        asked = [readings(encoded) for encoded in batch]
        prompts = [{"prompt_token_ids": list(one.ids)} for one in chain.from_iterable(asked)]
        task = self._pooling.task
        params = import_module("vllm").PoolingParams
        outputs = self._llm.encode(
            prompts,
            pooling_params=[params(task=task, use_activation=False) for _ in prompts],
            pooling_task=task,
            use_tqdm=False,
        )
        tensors = (one.outputs.data.float().cpu() for one in outputs)
        vectors = (np.asarray(tensor, np.float32) for tensor in tensors)
        return [list(islice(vectors, len(of_item))) for of_item in asked]


def _build(spec: EngineSpec, model: Path, pooling: StepPooling, options: Mapping[str, Any]) -> Any:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    vllm = imported("vllm", "engine 'vllm'")
    fixed = {
        "model": str(model),
        "runner": "pooling",
        "convert": pooling.options["convert"],
        "dtype": spec.dtype,
        "max_model_len": spec.max_length,
        "trust_remote_code": False,
        "pooler_config": imported("vllm.config", "engine 'vllm'").PoolerConfig(
            **pooling.options["pooler_config"]
        ),
    }
    try:
        with _kept_random_state():
            return vllm.LLM(**(_QUIET | dict(options) | fixed))
    except Exception as error:  # weights, the device and vLLM itself raise here, each its own kinds
        raise InputError(f"{model}: vLLM cannot load it: {one_line(error)}") from error


@contextmanager
def _kept_random_state() -> Iterator[None]:
    """Put Python's and numpy's generators back: vLLM seeds those of its process, which is ours."""
    kept = random.getstate()
    kept_numpy = np.random.get_state()
    try:
        yield
    finally:
        random.setstate(kept)
        np.random.set_state(kept_numpy)
