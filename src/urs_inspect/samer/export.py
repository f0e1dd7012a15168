"""Divides a released checkpoint into a backbone folder for stock vLLM and the heads in a subfolder of it."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urs_inspect.errors import InputError
from urs_inspect.samer.checkpoint import HEADS_FILE, open_checkpoint
from urs_inspect.samer.heads import Heads, save_heads
from urs_inspect.samer.heads_file import WEIGHTS_AT, told_weights_at
from urs_inspect.samer.tensor_file import TensorEntry, header_bytes
from urs_inspect.samer.weight_files import INDEX, WeightFiles

# What a model's folder holds besides weights; anything else, such as a trainer's state, stays behind.
_COMPANIONS = ("*.json", "*.jinja", "tokenizer.model", "LICENSE*", "NOTICE*", "README*")
_CHUNK = 1 << 24


@dataclass(frozen=True)
class Export:
    """What an export wrote.

    Attributes:
        folder: The backbone's folder, which all engines take as well.
        heads: File of the heads.
        linked: Weight files that need no room of their own.
        rewritten: Weight files that held heads and were written anew.
        copied: Weight files that could not be linked.
    """

    folder: Path
    heads: Path
    linked: tuple[str, ...]
    rewritten: tuple[str, ...]
    copied: tuple[str, ...]


def export_checkpoint(source: str | Path, out: str | Path) -> Export:
    """Export a released checkpoint.

    The folder is made under another name and then renamed, so that an export that was cut short leaves nothing that
    looks like one, and can simply be run again.

    Args:
        source: Folder of a released checkpoint.
        out: Folder to make; must not exist, or be empty.

    Returns:
        What was written.

    Raises:
        InputError: If the source is no SaMer checkpoint, or the target holds something.
    """
    out = free_folder(out)
    checkpoint = open_checkpoint(source)
    if checkpoint.layout != "released":
        raise InputError(f"{source}: exported already; expected a checkpoint as released")
    told = told_weights_at(checkpoint.folder)
    texts = None if told is None else {WEIGHTS_AT: told}
    return make_folder(out, checkpoint.weights, checkpoint.config, checkpoint.heads(), texts)


def free_folder(out: str | Path) -> Path:
    """The folder to make.

    Raises:
        InputError: If it holds something.
    """
    out = Path(out).expanduser().absolute()  # what is printed of it is used in another folder as well
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(f"{out}: already there; expected a new or an empty folder")
    return out


def make_folder(
    out: Path, weights: WeightFiles, config: Mapping[str, Any], heads: Heads, texts: Mapping[str, str] | None
) -> Export:
    """Write an exported folder, whole or not at all.

    Args:
        out: Folder to make; must not exist, or be empty.
        weights: Those of the backbone; tensors that are not a Llama's own are left out.
        config: Its `config.json`.
        heads: The heads.
        texts: What the heads' file says of them.

    Returns:
        What was written.

    Raises:
        InputError: If it cannot be made.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        unfinished.chmod(0o755)  # mkdtemp makes it private
        kinds = _write_backbone(weights, config, unfinished)
        (unfinished / HEADS_FILE).parent.mkdir()
        save_heads(heads, unfinished / HEADS_FILE, metadata=texts)
        try:
            unfinished.replace(out)
        except OSError as error:  # someone else made it meanwhile
            raise InputError(f"{out}: cannot be made ({error.strerror})") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    names = {
        kind: tuple(name for name, its in kinds.items() if its == kind) for kind in ("linked", "rewritten", "copied")
    }
    return Export(out, out / HEADS_FILE, **names)


def _write_backbone(weights: WeightFiles, config: Mapping[str, Any], out: Path) -> dict[str, str]:
    """Write all but the heads; return for each weight file how it came about."""
    _write_companions(weights.folder, config, out)
    kinds: dict[str, str] = {}
    for name in weights.names:
        held = [tensor for tensor, file in weights.files.items() if file == name]
        kept = [tensor for tensor in held if tensor.startswith("model.")]
        if len(kept) == len(held):
            kinds[name] = _link(weights.folder / name, out / name)
        elif kept:
            _rewrite(weights.folder / name, out / name, [weights.entries[tensor] for tensor in kept])
            kinds[name] = "rewritten"
    if weights.indexed:
        _write_index(weights, out / INDEX)
    return kinds


def _write_companions(folder: Path, config: Mapping[str, Any], out: Path) -> None:
    for pattern in _COMPANIONS:
        for path in folder.glob(pattern):
            if path.is_file() and path.name not in {INDEX, "config.json"}:
                shutil.copyfile(path, out / path.name)
    plain = {**config, "architectures": ["LlamaModel"]}
    plain.pop("auto_map", None)
    (out / "config.json").write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


def _write_index(weights: WeightFiles, path: Path) -> None:
    kept = {tensor: name for tensor, name in weights.files.items() if tensor.startswith("model.")}
    size = sum(weights.entries[tensor].size for tensor in kept)
    content = {"metadata": {"total_size": size}, "weight_map": dict(sorted(kept.items()))}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _link(source: Path, target: Path) -> str:
    """Link a file of many gigabytes if the file system can; a hard link outlives the source's folder."""
    source = source.resolve()  # a hub's cache holds links itself
    for link in (os.link, os.symlink):
        try:
            link(source, target)
        except OSError:
            continue
        return "linked"
    shutil.copyfile(source, target)
    return "copied"


def _rewrite(source: Path, target: Path, kept: list[TensorEntry]) -> None:
    """Copy some tensors of a file byte by byte, in pieces."""
    head = header_bytes([(one.name, one.dtype, one.shape, one.size) for one in kept], {"format": "pt"})
    with source.open("rb") as inside, target.open("wb") as outside:
        outside.write(head)
        for entry in kept:
            inside.seek(entry.start)
            left = entry.size
            while left:
                piece = inside.read(min(left, _CHUNK))
                if not piece:
                    raise InputError(f"{source}: became shorter while it was read")
                outside.write(piece)
                left -= len(piece)
