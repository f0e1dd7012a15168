"""Loads the Llama of a checked folder into torch, without a word."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaModel
from transformers.utils import logging as transformers_logging

from urs_inspect.errors import InputError
from urs_inspect.samer.weight_files import shortened_list

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
