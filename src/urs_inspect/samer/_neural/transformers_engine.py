"""transformers as engine, and as embedder of texts for training."""

import gc
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, LlamaModel
from transformers.utils import logging as transformers_logging

from urs_inspect._arguments import Count, check
from urs_inspect._util import InputError
from urs_inspect.samer._checkpoint import (
    BACKBONE,
    BACKBONE_DTYPE,
    BACKBONE_FINGERPRINT,
    Checkpoint,
    fingerprint,
    read_config,
)
from urs_inspect.samer._checkpoint_check import open_backbone
from urs_inspect.samer._conversation import SPARE, Conversations, Encoded
from urs_inspect.samer._engines.protocol import (
    Engine,
    EngineFailure,
    EngineSpec,
    LocalEngine,
    Reading,
    one_line,
    open_with_spec,
    readings,
)
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._vectors import Vectors
from urs_inspect.samer._weights import Array, shortened_list

_TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_NAME_DIGITS = 32  # of a fingerprint in an embedder's name
_CPU_TOKENS = 4096
_GPU_TOKENS = 32768
_PADDING = 0  # any token: attention is causal, so nothing before the padding sees it


def make_transformers(
    choice: SamerOptions, *, device: str = "auto", batch_tokens: int | None = None
) -> Engine:
    """Load a checkpoint into torch.

    The `dtype` `auto` is that of its weights on a GPU, float32 on a CPU.
    """
    device = _usable_device(device)
    check("batch_tokens", batch_tokens, Count | None)
    checkpoint, spec = open_with_spec(choice, on_cpu=device == "cpu")
    return TransformersEngine(checkpoint, spec, device, batch_tokens)


def _usable_device(device: str) -> str:
    if device == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "cpu"
    try:
        torch.empty(0, device=device)
    except (
        RuntimeError,
        AssertionError,
        NotImplementedError,
    ) as error:  # torch raises each of them
        cause = str(error).strip().partition("\n")[0][:200]
        raise InputError(
            f"device '{device}' cannot be used: {cause}; allowed: auto, cpu, cuda, cuda:N"
        ) from error
    return device


class TransformersEngine(LocalEngine):
    """Runs a checkpoint with transformers; `make_transformers` builds it."""

    name = "transformers"

    def __init__(
        self, checkpoint: Checkpoint, spec: EngineSpec, device: str, batch_tokens: int | None
    ) -> None:
        super().__init__(checkpoint, spec)
        model = (_loaded if spec.reward is None else _loaded_classifier)(
            checkpoint.folder, spec.dtype, device
        )
        self._backbone: _Backbone | None = _Backbone(model, device, batch_tokens)

    async def close(self) -> None:
        """Free the model and its memory."""
        self._backbone = None
        gc.collect()
        torch.cuda.empty_cache()

    def _pairs(self, ready: Sequence[Encoded]) -> list[Array | EngineFailure]:
        if self._backbone is None:
            raise RuntimeError("the engine is closed")
        return list(self._backbone.pairs(ready))


class BackboneEmbedder:
    """A frozen Llama with a chat template, with or without heads beside it.

    Serve heads on the backbone and in the number type that their vectors came from: in another
    type, outputs of the predictor near 0 change sides. The end of a response that is too long is
    cut.
    """

    def __init__(
        self,
        folder: Path,
        *,
        dtype: str = "bfloat16",
        device: str = "auto",
        max_length: int | None = None,
    ) -> None:
        limit = int(open_backbone(folder)["max_position_embeddings"])
        self._conversations = Conversations(folder)
        self._length = self._conversations.fitting_length(limit, max_length)
        # The path tells nothing about the weights; heads, which it may hold as well, make no
        # vectors.
        known = fingerprint(folder, heads=False)
        self.name = f"samer/{known[:_NAME_DIGITS]}/{dtype}/{self._length - SPARE}"
        self.facts: Mapping[str, str] = {
            BACKBONE: self.name,
            BACKBONE_FINGERPRINT: known,
            BACKBONE_DTYPE: dtype,
        }
        device = _usable_device(device)
        self._backbone = _Backbone(_loaded(folder, dtype, device), device)

    def embed(self, queries: Sequence[str], responses: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Vectors at the last tokens of each query and of each query with its response.

        Their shape is (n, h) each.
        """
        texts = zip(queries, responses, strict=True)
        pairs = self._backbone.pairs(
            [self._conversations.encode(*both, self._length) for both in texts]
        )
        return pairs[:, 0], pairs[:, 1]


class _Backbone:
    """A frozen Llama that gives vectors at two positions of each item.

    Or a classifier that gives logits there.
    """

    def __init__(self, model: Any, device: str, batch_tokens: int | None = None) -> None:
        self._model = model
        self._device = device
        self._batch_tokens = batch_tokens or (_CPU_TOKENS if device == "cpu" else _GPU_TOKENS)
        self._width: int = (
            model.score.out_features if hasattr(model, "score") else model.config.hidden_size
        )

    def pairs(self, items: Sequence[Encoded]) -> Array:
        """Vectors at the end of each query and of each response, shape (n, 2, hidden), float32."""
        wanted = []
        for item in items:
            wanted.extend(readings(item))
        starts = np.cumsum([0, *(len(reading.positions) for reading in wanted)])
        vectors = np.empty((int(starts[-1]), self._width), np.float32)
        for batch in batches([len(reading.ids) for reading in wanted], self._batch_tokens):
            rows = np.concatenate([np.arange(starts[at], starts[at + 1]) for at in batch])
            vectors[rows] = self._forward([wanted[at] for at in batch])
        return vectors.reshape(len(items), 2, self._width)

    def _forward(self, batch: list[Reading]) -> Array:
        """The vectors of one batch, one after the other; too large a batch is halved."""
        try:
            return _gathered(self._model, batch, self._device)
        except torch.OutOfMemoryError:
            if len(batch) == 1:
                raise
        torch.cuda.empty_cache()
        half = len(batch) // 2
        first = self._forward(batch[:half])
        second = self._forward(batch[half:])
        return np.concatenate([first, second])


@torch.inference_mode()
def _gathered(model: Any, batch: Sequence[Reading], device: str) -> Array:
    longest = max(len(reading.ids) for reading in batch)
    padded = []
    for reading in batch:
        padding = [_PADDING] * (longest - len(reading.ids))
        padded.append([*reading.ids, *padding])
    # No mask: with padding on the right, causal attention alone keeps it out of every position that
    # is read.
    states = model.base_model(
        input_ids=torch.tensor(padded, device=device), use_cache=False
    ).last_hidden_state
    places = []
    for row, reading in enumerate(batch):
        for position in reading.positions:
            places.append((row, position))
    rows, positions = torch.tensor(places, device=device).T
    vectors = states[rows, positions].float()
    head = getattr(model, "score", None)  # a classifier's, in float32 like SaMer's
    if head is not None:
        vectors = vectors @ head.weight.float().T
    picked: Array = vectors.cpu().numpy()
    return picked


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of sequences of similar length, longest first, so that little is padded.

    `budget` is the most tokens of a group, each sequence counted as long as the longest.
    """
    group: list[int] = []
    for at in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        if group and (len(group) + 1) * lengths[group[0]] > budget:
            yield group
            group = []
        group.append(at)
    if group:
        yield group


@dataclass(frozen=True)
class PlainClassifier:
    """What transformers makes of a classifier's configuration."""

    name: str  # of its class, such as `LlamaForSequenceClassification`
    shapes: dict[str, tuple[int, ...]]  # of its weights, by their names in a checkpoint
    left_out: tuple[str, ...]  # patterns of names that a checkpoint may hold besides


def plain_classifier(folder: Path) -> PlainClassifier:
    """The classifier that a folder's `config.json` describes.

    No weight is read, and no memory taken for one.
    """
    try:
        with _quiet():
            config = AutoConfig.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            with torch.device("meta"):
                make: Any = AutoModelForSequenceClassification.from_config
                model = make(config, trust_remote_code=False)
    # of a configuration's values, which the library reads without checking all of them
    except Exception as error:
        raise InputError(f"{folder}: transformers cannot load it: {one_line(error)}") from error
    parameters = dict(model.named_parameters())
    # From version 5 on, the library joins some weights, such as those of experts, while it reads
    # them.
    joins = find_spec("transformers.core_model_loading") is not None
    stored = parameters
    if joins:
        stored = import_module("transformers.core_model_loading").revert_weight_conversion(
            model, parameters
        )
    buffers = [f"^{re.escape(name)}$" for name, _ in model.named_buffers()]
    ignored = getattr(model, "_keys_to_ignore_on_load_unexpected", None) or ()
    shapes = {name: tuple(tensor.shape) for name, tensor in stored.items()}
    return PlainClassifier(type(model).__name__, shapes, (*buffers, *ignored))


def _loaded_classifier(folder: Path, dtype: str, device: str) -> Any:
    """A frozen decoder with a linear head.

    Refused if what follows a text, such as padding, changes its numbers.
    """
    model = _loaded(folder, dtype, device, AutoModelForSequenceClassification)
    alone = _gathered(model, [Reading((1, 2, 3), (2,))], device)
    followed = _gathered(model, [Reading((1, 2, 3, 4, 5), (2,))], device)
    if not np.allclose(alone, followed, rtol=0.05, atol=0.05, equal_nan=True):
        raise InputError(
            f"{folder}: tokens after a text change its numbers; expected causal attention"
        )
    return model


def _loaded(folder: Path, dtype: str, device: str, architecture: Any = LlamaModel) -> Any:
    """A frozen Llama.

    The folder was checked before, since the library fills in what is missing at random.
    """
    # Where nothing is named, the library takes `sdpa` if the model can, else `eager`. Older
    # versions took `sdpa` for models that cap the logits of attention, such as Gemma 2, and did not
    # cap them.
    capped = read_config(folder).get("attn_logit_softcapping") is not None
    try:
        with _quiet():
            model, loading = architecture.from_pretrained(
                folder,
                dtype=_TYPES[dtype],
                attn_implementation="eager" if capped else None,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
            model = model.eval().requires_grad_(False).to(device)
    except Exception as error:  # unknown to the library, unfit, or too large: it raises many kinds
        raise InputError(f"{folder}: transformers cannot load it: {one_line(error)}") from error
    if missing := sorted(loading["missing_keys"]):
        raise InputError(
            f"{folder}: no numbers for {shortened_list(missing)}; expected all weights of the model"
        )
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers quiet while a model is loaded.

    Only the command line shows progress, and tensors that are left over, such as heads, are
    expected.
    """
    shown = transformers_logging.is_progress_bar_enabled()
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if shown:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]
