"""Vectors of a Llama backbone for training: both positions of a query with its response out of one pass."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from urs_inspect.errors import InputError
from urs_inspect.samer.checkpoint import open_backbone
from urs_inspect.samer.conversation import SPARE, Conversations
from urs_inspect.samer.fingerprint import fingerprint
from urs_inspect.samer.heads_file import BACKBONE, BACKBONE_DTYPE, BACKBONE_FINGERPRINT
from urs_inspect.samer.neural.backbone import load_backbone
from urs_inspect.samer.neural.transformers_engine import batches
from urs_inspect.samer.tensor_file import Array
from urs_inspect.samer.training.vectors import Vectors

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
