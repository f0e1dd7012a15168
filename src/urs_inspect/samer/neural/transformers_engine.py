"""transformers as engine, and as embedder of texts for training."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import LlamaModel
from transformers.utils import logging as transformers_logging

from urs_inspect._util import InputError
from urs_inspect.samer.checkpoint import (
    Checkpoint,
    Dtype,
    fitting_length,
    open_backbone,
    open_checkpoint,
    settled_dtype,
)
from urs_inspect.samer.conversation import SPARE, Bos, Conversations, Encoded, Overlong
from urs_inspect.samer.engines.pooling import encode_all
from urs_inspect.samer.engines.protocol import (
    Batching,
    Engine,
    EngineFailure,
    EngineSpec,
    Outcome,
    QueryResponse,
    Scored,
)
from urs_inspect.samer.evaluation import RawOutputs, WeightsAt, raw_outputs
from urs_inspect.samer.fingerprint import fingerprint
from urs_inspect.samer.heads_file import BACKBONE, BACKBONE_DTYPE, BACKBONE_FINGERPRINT, settled_weights_at
from urs_inspect.samer.training.vectors import Vectors
from urs_inspect.samer.weights import Array, shortened_list

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
"""Name of a type -> the type."""


class _Backbone(LlamaModel):  # type: ignore[no-untyped-call]
    """A Llama that takes the heads beside its weights for granted."""

    _keys_to_ignore_on_load_unexpected = [r"^score\.", r"^lm_head\."]  # noqa: RUF012 - as the base class has it


def load_backbone(folder: Path, dtype: str, device: str) -> LlamaModel:
    """Load a frozen Llama.

    Args:
        folder: Its folder; what it holds was checked before, since the library fills in what is missing at random.
        dtype: One of `DTYPES`.
        device: Torch device.

    Returns:
        The model.

    Raises:
        InputError: If the library found no numbers for a weight.
    """
    with _quiet():
        loading: Any = _Backbone.from_pretrained
        model, found = loading(
            folder,
            dtype=DTYPES[dtype],
            attn_implementation="sdpa",
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    if missing := sorted(found["missing_keys"]):
        raise InputError(f"{folder}: no numbers for {shortened_list(missing)}; expected all weights of a Llama")
    loaded: LlamaModel = model.eval().requires_grad_(False).to(device)
    return loaded


@contextmanager
def _quiet() -> Iterator[None]:
    """Only the command line shows progress; and what is left over, such as heads, is no surprise."""
    shown, verbosity = transformers_logging.is_progress_bar_enabled(), transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if shown:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


_CPU_TOKENS, _GPU_TOKENS = 4096, 32768
_PADDING = 0  # any token: attention is causal, so nothing before the padding sees it


class TransformersEngine:
    """Runs a checkpoint with transformers; `make_transformers` builds it.

    Args:
        checkpoint: A checked checkpoint.
        spec: How it is run.
        device: Torch device.
        batch_tokens: Most tokens of a batch, padding included; one longer item is a batch of its own.
    """

    name = "transformers"

    def __init__(self, checkpoint: Checkpoint, spec: EngineSpec, device: str, batch_tokens: int) -> None:
        self.spec, self._device, self._batch_tokens = spec, device, batch_tokens
        self._heads, self._conversations = checkpoint.heads(), checkpoint.conversations()
        self._model: LlamaModel | None = load_backbone(checkpoint.folder, spec.dtype, device)
        self._batching = Batching(self._run)

    async def score(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        """Evaluate items in a thread; see `Engine.score`."""
        return await self._batching.score(items)

    async def close(self) -> None:
        """Free the model and its memory."""
        self._model = None
        gc.collect()
        torch.cuda.empty_cache()

    def _run(self, items: Sequence[QueryResponse]) -> list[Outcome]:
        encoded = encode_all(self._conversations, self.spec, items)
        fitting = [one for one in encoded if isinstance(one, Encoded)]
        if not fitting:
            return [one for one in encoded if isinstance(one, EngineFailure)]
        query_vectors, response_vectors = self._vectors(fitting)
        outputs = iter(raw_outputs(self._heads, query_vectors, response_vectors, self.spec.weights_at))
        return [one if isinstance(one, EngineFailure) else _outcome(next(outputs), one) for one in encoded]

    def _vectors(self, items: list[Encoded]) -> tuple[Array, Array]:
        """Vectors at the end of each query and of each response, both of shape (n, hidden)."""
        # A query that is no prefix of the whole is a sequence of its own.
        alone = {at: len(items) + k for k, at in enumerate(at for at, one in enumerate(items) if not one.is_prefix)}
        sequences = [one.ids for one in items] + [items[at].query_ids for at in alone]
        ends = [(len(one.ids) - 1, one.query_length - 1 if one.is_prefix else -1) for one in items]
        ends += [(len(items[at].query_ids) - 1, -1) for at in alone]
        vectors = np.empty((2, len(sequences), self._heads.hidden_size), np.float32)
        for batch in batches([len(ids) for ids in sequences], self._batch_tokens):
            vectors[:, batch] = self._forward([sequences[at] for at in batch], [ends[at] for at in batch])
        query_vectors = vectors[1, : len(items)]
        for at, sequence in alone.items():
            query_vectors[at] = vectors[0, sequence]
        return query_vectors, vectors[0, : len(items)]

    def _forward(self, sequences: list[tuple[int, ...]], ends: list[tuple[int, int]]) -> Array:
        """Vectors at two positions of each sequence, shape (2, n, hidden); too large a batch is halved."""
        if self._model is None:
            raise RuntimeError("the engine is closed")
        try:
            return _gathered(self._model, sequences, ends, self._device)
        except torch.OutOfMemoryError:
            if len(sequences) == 1:
                raise
        torch.cuda.empty_cache()
        half = len(sequences) // 2
        parts = [self._forward(sequences[part], ends[part]) for part in (slice(half), slice(half, None))]
        return np.concatenate(parts, axis=1)


def make_transformers(
    samer: str,
    *,
    weights_at: WeightsAt | None = None,
    bos: Bos = "single",
    dtype: Dtype = "auto",
    max_length: int | None = None,
    overlong: Overlong = "shorten",
    device: str = "auto",
    batch_tokens: int | None = None,
) -> Engine:
    """Load a checkpoint into torch.

    Args:
        samer: Folder of a checkpoint, as released or exported.
        weights_at: Where the weighter reads; if not given, where the heads' file says, else `response`.
        bos: Start tokens.
        dtype: Type that the backbone computes in; `auto`: that of the checkpoint's weights on a GPU, float32 on a CPU.
        max_length: Length that the model is run with, its own limit if not given; query + response have one token
            less at most.
        overlong: What happens to a longer one.
        device: Torch device; `auto`: a GPU if there is one.
        batch_tokens: Most tokens of a batch, padding included.

    Returns:
        The engine.

    Raises:
        InputError: If the folder or an argument cannot be used.
    """
    checkpoint = open_checkpoint(samer)
    device = _usable_device(device)
    settled = "float32" if dtype == "auto" and device == "cpu" else settled_dtype(checkpoint, dtype)
    if batch_tokens is not None and batch_tokens < 1:
        raise InputError(f"batch_tokens {batch_tokens}; expected 1 or more")
    reads = settled_weights_at(checkpoint.folder, weights_at)
    spec = EngineSpec(str(samer), reads, bos, settled, fitting_length(checkpoint, max_length), overlong)
    tokens = batch_tokens or (_CPU_TOKENS if device == "cpu" else _GPU_TOKENS)
    return TransformersEngine(checkpoint, spec, device, tokens)


def _usable_device(device: str) -> str:
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # torch raises each of them
        cause = str(error).strip().partition("\n")[0][:200]
        raise InputError(f"device '{device}' cannot be used: {cause}; allowed: auto, cpu, cuda, cuda:N") from error
    return device


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group sequences of like length, longest first, so that little is padded.

    Args:
        lengths: Tokens of each sequence.
        budget: Most tokens of a group, each sequence counted as long as the longest.

    Yields:
        Positions of a group's sequences in `lengths`.
    """
    group: list[int] = []
    for at in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        if group and (len(group) + 1) * lengths[group[0]] > budget:
            yield group
            group = []
        group.append(at)
    if group:
        yield group


@torch.inference_mode()
def _gathered(model: LlamaModel, sequences: list[tuple[int, ...]], ends: list[tuple[int, int]], device: str) -> Array:
    longest = max(map(len, sequences))
    padded = torch.tensor([[*ids, *[_PADDING] * (longest - len(ids))] for ids in sequences], device=device)
    # No mask: with padding on the right, causal attention alone keeps it out of every position that is read.
    states = model(input_ids=padded, use_cache=False).last_hidden_state
    rows = torch.arange(len(sequences), device=device)
    last, first = (torch.tensor(column, device=device) for column in zip(*ends, strict=True))
    picked: Array = torch.stack([states[rows, last], states[rows, first]]).float().cpu().numpy()
    return picked


def _outcome(raw: RawOutputs, encoded: Encoded) -> Outcome:
    if not all(np.isfinite(values).all() for values in (raw.scores, raw.gates, raw.weights)):
        return EngineFailure("not_finite", "the model gave NaN or infinity")
    return Scored(raw, encoded.shortened, len(encoded.ids))


_DTYPES = ("float32", "bfloat16")
_SHOWN = 32  # digits of a fingerprint
_TOKENS = {"cpu": 4096, "cuda": 32768}


class BackboneEmbedder:
    """A frozen Llama with a chat template, with or without heads beside it.

    Serve heads on the backbone and in the number type that their vectors came from: in another type, outputs of the
    predictor near 0 change sides.

    Args:
        folder: Its folder, with safetensors and tokeniser.
        dtype: `float32` or `bfloat16`.
        device: Torch device; `auto`: a GPU if there is one.
        max_length: Length that the model is run with, its own limit if not given; query and response have one token
            less at most, and the end of a longer response is cut.

    Raises:
        InputError: If the folder holds no such model, or an argument is not allowed.
    """

    def __init__(
        self, folder: Path, *, dtype: str = "bfloat16", device: str = "auto", max_length: int | None = None
    ) -> None:
        if dtype not in _DTYPES:
            raise InputError(f"dtype '{dtype}'; allowed: {', '.join(_DTYPES)}")
        limit = int(open_backbone(folder)["max_position_embeddings"])
        self._device = device if device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
        self._conversations = Conversations(folder)
        self._length = self._conversations.fitting_length(limit, max_length)
        # The path says nothing about the weights; heads, which it may hold as well, make no vectors.
        known = fingerprint(folder, heads=False)
        self.name = f"samer/{known[:_SHOWN]}/{dtype}/{self._length - SPARE}"
        self.facts: Mapping[str, str] = {BACKBONE: self.name, BACKBONE_FINGERPRINT: known, BACKBONE_DTYPE: dtype}
        self._model = load_backbone(folder, dtype, self._device)

    def embed(self, queries: Sequence[str], responses: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Vectors at the last tokens of each query and of each query with its response, shape (n, h) each."""
        encoded = [
            self._conversations.encode(query, response, self._length)
            for query, response in zip(queries, responses, strict=True)
        ]
        # A query that is no prefix of the whole needs a pass of its own.
        apart = [place for place, one in enumerate(encoded) if not one.is_prefix]
        sequences = [one.ids for one in encoded] + [encoded[place].query_ids for place in apart]
        ends = [one.query_length - 1 if one.is_prefix else 0 for one in encoded]
        ends += [encoded[place].query_length - 1 for place in apart]
        at_query = np.empty((len(sequences), self._model.config.hidden_size), np.float32)
        at_end = np.empty_like(at_query)
        budget = _TOKENS[torch.device(self._device).type]
        for group in batches([len(ids) for ids in sequences], budget):
            states = self._forward([sequences[place] for place in group])
            for row, place in enumerate(group):
                at_query[place], at_end[place] = states[row, ends[place]], states[row, len(sequences[place]) - 1]
        at_query[apart] = at_query[len(encoded) :]
        return at_query[: len(encoded)], at_end[: len(encoded)]

    @torch.inference_mode()
    def _forward(self, sequences: Sequence[tuple[int, ...]]) -> Array:
        longest = max(map(len, sequences))
        # Padding stands on the right, where causal attention keeps it out of every position that is read.
        padded = torch.tensor([[*ids, *[0] * (longest - len(ids))] for ids in sequences], device=self._device)
        states: Array = self._model(input_ids=padded, use_cache=False).last_hidden_state.float().cpu().numpy()
        return states
