"""A SaMer checkpoint folder that can be used. Weights other than the heads' are never read here."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from urs_inspect._util import InputError, choices
from urs_inspect.samer.conversation import Conversations
from urs_inspect.samer.heads import HEAD_KEYS, Heads, check_finite, load_heads
from urs_inspect.samer.weights import Array, WeightFiles, read_tensor

HEADS_FILE = "samer_heads/heads.safetensors"
"""Where an exported folder keeps the heads; a subfolder, because vLLM loads every weight file beside config.json."""

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
"""Type that the backbone computes in; what `auto` is, each engine says. Heads compute in float32 whatever it is."""

_STORED = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}

Layout = Literal["released", "exported"]
"""`released`: heads among the model's weights as `score.*`; `exported`: a plain Llama with the heads in a subfolder."""


@dataclass(frozen=True)
class Checkpoint:
    """A folder that passed `check`.

    Attributes:
        folder: The folder.
        layout: How it keeps the heads.
        config: Its `config.json`.
        weights: Its weight files.
    """

    folder: Path
    layout: Layout
    config: Mapping[str, Any]
    weights: WeightFiles

    @property
    def hidden_size(self) -> int:
        """Width of the backbone's vectors."""
        return int(self.config["hidden_size"])

    @property
    def max_length(self) -> int:
        """Most tokens of an input."""
        return int(self.config["max_position_embeddings"])

    @property
    def dtype(self) -> str:
        """Type of the weights as the configuration names it, such as `bfloat16`, else as their file does."""
        stored = self.weights.dtypes[0]
        return str(self.config.get("dtype") or self.config.get("torch_dtype") or _STORED.get(stored, stored))

    def heads(self) -> Heads:
        """Read the heads, in float32.

        Raises:
            InputError: If a weight is NaN or infinite.
        """
        if self.layout == "exported":
            return load_heads(self.folder / HEADS_FILE)
        return Heads.from_tensors(read_head_tensors(self.weights))

    def conversations(self) -> Conversations:
        """Its chat template and tokeniser."""
        return Conversations(self.folder)


def open_checkpoint(folder: str | Path) -> Checkpoint:
    """Check a folder and open it; takes under a second for an 8B model, because only headers and heads are read.

    Args:
        folder: A SaMer checkpoint, as released or exported.

    Returns:
        The checkpoint.

    Raises:
        InputError: If it cannot be used, with the first fault.
    """
    from urs_inspect.samer.checkpoint_check import check_checkpoint

    report = check_checkpoint(folder)
    if report.checkpoint is None:
        more = f" (and {len(report.faults) - 1} more; see `urs-inspect samer check`)" if len(report.faults) > 1 else ""
        raise InputError(report.faults[0] + more)
    return report.checkpoint


def open_backbone(folder: Path) -> Mapping[str, Any]:
    """Check the folder of a Llama that heads are trained on, as `open_checkpoint` does but for the heads.

    Args:
        folder: A model's folder, with or without heads.

    Returns:
        Its `config.json`.

    Raises:
        InputError: If it cannot be used, with the first fault.
    """
    from urs_inspect.samer.checkpoint_check import check_checkpoint

    faults = check_checkpoint(folder, heads=False).faults
    if faults:
        raise InputError(f"backbone {faults[0]}")
    return read_config(folder)


def fitting_length(checkpoint: Checkpoint, max_length: int | None) -> int:
    """The length to use with a checkpoint: what the user wants, or the model's limit.

    Raises:
        InputError: If the user wants more than the model takes, or no more than the chat template has.
    """
    return checkpoint.conversations().fitting_length(checkpoint.max_length, max_length)


def settled_dtype(checkpoint: Checkpoint, wanted: str = "auto") -> str:
    """The type to compute in: what the user wants, or for `auto` the checkpoint's own.

    vLLM's own `auto` computes weights of float32 in float16, which moves outputs by about 1e-4 and is not what the
    transformers engine does.

    Args:
        checkpoint: The checkpoint.
        wanted: One of `Dtype`.

    Returns:
        `float32`, `bfloat16` or `float16`.

    Raises:
        InputError: If another type is wanted, or the checkpoint's own is another and none is named.
    """
    types = get_args(Dtype)
    if wanted not in types:
        raise InputError(f"dtype '{wanted}'; allowed: {choices(types)}")
    if wanted != "auto":
        return wanted
    if checkpoint.dtype not in types[1:]:
        raise InputError(
            f"{checkpoint.folder}: config.json has the dtype '{checkpoint.dtype}'; name one: {choices(types[1:])}"
        )
    return checkpoint.dtype


def read_config(folder: Path) -> dict[str, Any]:
    """Read a folder's `config.json`.

    Raises:
        InputError: If it is missing or no mapping.
    """
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{folder}: config.json is missing; expected a model's folder") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON") from error
    if not isinstance(config, dict):
        raise InputError(f"{path}: expected a mapping")
    return config


def read_head_tensors(weights: WeightFiles) -> dict[str, Array]:
    """Read the heads of the released layout, in float32.

    Raises:
        InputError: If a weight is NaN or infinite.
    """
    return {name: _finite(weights, name) for name in head_names()}


def head_names() -> Iterable[str]:
    """Names of all the heads' weights."""
    return [name for names in HEAD_KEYS.values() for name in names]


def _finite(weights: WeightFiles, name: str) -> Array:
    file = weights.folder / weights.files[name]
    array = read_tensor(file, weights.entries[name])
    check_finite(array, f"{file}: {name}")
    return array
