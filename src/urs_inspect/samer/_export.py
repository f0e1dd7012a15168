"""A checkpoint written for stock vLLM, and trained heads joined to their backbone."""

import hashlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urs_inspect._util import InputError
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.samer._checkpoint import (
    BACKBONE,
    BACKBONE_FINGERPRINT,
    HEADS_FILE,
    WEIGHTS_AT,
    Checkpoint,
    cache_folder,
    declared_weights_at,
    fingerprint,
)
from urs_inspect.samer._checkpoint_check import open_backbone, open_checkpoint
from urs_inspect.samer._evaluation import Heads, load_heads, save_heads
from urs_inspect.samer._weights import (
    INDEX,
    TensorEntry,
    WeightFiles,
    find_weights,
    header_bytes,
    read_chunks,
    read_metadata,
)

HEADS_NAME = "heads.safetensors"  # name of the heads' file in what training writes

# What a model's folder holds besides weights; anything else, such as a trainer's state, is not
# copied.
_COMPANIONS = ("*.json", "*.jinja", "tokenizer.model", "LICENSE*", "NOTICE*", "README*")


@dataclass(frozen=True)
class Export:
    """What an export wrote: a folder that all engines take."""

    folder: Path
    heads: Path
    declared: Mapping[str, str]  # what training declared about the heads


def export_checkpoint(source: str | Path, out: str | Path) -> Export:
    """Export a released checkpoint into a new or empty folder.

    The folder appears whole or not at all.
    """
    out = _free_folder(out)
    checkpoint = open_checkpoint(source)
    if checkpoint.layout != "released":
        raise InputError(f"{source}: exported already; expected a checkpoint as released")
    declared = declared_weights_at(checkpoint.folder)
    texts = {} if declared is None else {WEIGHTS_AT: declared}
    return _make_folder(out, checkpoint.weights, checkpoint.config, checkpoint.heads(), texts)


def exported_folder(checkpoint: Checkpoint) -> Path:
    """The folder that stock vLLM loads.

    It is the checkpoint's own if it is exported, else an export in the cache.

    Of several processes that make the same export, the first to finish has made it, and the others
    use that.
    """
    if checkpoint.layout == "exported":
        return checkpoint.folder
    files = [(checkpoint.folder / name).stat() for name in checkpoint.weights.names]
    # changes with what the folder holds, and with the files that its export would link
    identity = (
        str(checkpoint.folder.resolve()),
        fingerprint(checkpoint.folder),
        [(file.st_dev, file.st_ino) for file in files],
    )
    out = cache_folder() / hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
    made = out / "config.json"
    if not made.is_file():
        try:
            export_checkpoint(checkpoint.folder, out)
        except InputError:
            if not made.is_file():
                raise
    return out


def assemble_checkpoint(backbone: str | Path, heads: str | Path, out: str | Path) -> Export:
    """Make an exported checkpoint from a Llama's folder and trained heads.

    `heads` is the file, or the folder that training wrote.

    Heads that the backbone has are left out; large files are linked.
    """
    out = _free_folder(out)
    folder = Path(backbone).expanduser()
    file = Path(heads).expanduser()
    if file.is_dir():
        file = file / HEADS_NAME
    if not file.is_file():
        raise InputError(
            f"{file}: no such file; expected heads as `urs-inspect samer train` writes them"
        )
    loaded = load_heads(file)
    texts = read_metadata(file)
    config = open_backbone(folder)
    expected = len(load_taxonomy().dimensions)
    width = int(config["hidden_size"])
    if loaded.dimensions != expected:
        raise InputError(
            f"{file}: {loaded.dimensions} dimensions; expected {expected}, those of the taxonomy"
        )
    if loaded.hidden_size != width:
        raise InputError(
            f"{file}: heads for vectors of width {loaded.hidden_size:,}; the backbone {folder} has"
            f" {width:,}"
        )
    _check_origin(file, texts, folder)
    return _make_folder(out, find_weights(folder), config, loaded, texts)


def _check_origin(file: Path, texts: dict[str, str], folder: Path) -> None:
    """Refuse heads that declare another backbone; heads that declare nothing have to be trusted."""
    if BACKBONE in texts and BACKBONE_FINGERPRINT not in texts:
        raise InputError(
            f"{file}: trained on vectors of '{texts[BACKBONE]}', which is no Llama; no engine"
            " runs it"
        )
    declared = texts.get(BACKBONE_FINGERPRINT)
    if declared is not None and declared != fingerprint(folder, heads=False):
        raise InputError(
            f"{file}: trained on another backbone than {folder}, or its weights, tokenizer,"
            " template or configuration have changed since"
        )


def _free_folder(out: str | Path) -> Path:
    # the printed path is used in other working directories as well
    out = Path(out).expanduser().absolute()
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(f"{out}: already there; expected a new or an empty folder")
    return out


def _make_folder(
    out: Path,
    weights: WeightFiles,
    config: Mapping[str, Any],
    heads: Heads,
    texts: Mapping[str, str],
) -> Export:
    """Write an exported folder, whole or not at all.

    Tensors that are not a Llama's own are left out.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        unfinished.chmod(0o755)  # mkdtemp makes it private
        for path in itertools.chain.from_iterable(map(weights.folder.glob, _COMPANIONS)):
            if path.is_file() and path.name not in {INDEX, "config.json"}:
                shutil.copyfile(path, unfinished / path.name)
        plain = {**config, "architectures": ["LlamaModel"]}
        plain.pop("auto_map", None)
        _write_json(plain, unfinished / "config.json")
        _write_weights(weights, unfinished)
        (unfinished / HEADS_FILE).parent.mkdir()
        save_heads(heads, unfinished / HEADS_FILE, metadata=texts)
        try:
            unfinished.replace(out)
        except OSError as error:  # another process made it in the meantime
            raise InputError(f"{out}: cannot be made ({error.strerror})") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return Export(out, out / HEADS_FILE, texts)


def _write_weights(weights: WeightFiles, out: Path) -> None:
    """Write all but the heads; only files that hold some are written anew."""
    kept = {tensor: name for tensor, name in weights.files.items() if tensor.startswith("model.")}
    for name in weights.names:
        tensors = [tensor for tensor, file in weights.files.items() if file == name]
        backbone = [weights.entries[tensor] for tensor in tensors if tensor in kept]
        if len(backbone) == len(tensors):
            _link(weights.folder / name, out / name)
        elif backbone:
            _rewrite(weights.folder / name, out / name, backbone)
    if (weights.folder / INDEX).is_file():
        size = sum(weights.entries[tensor].size for tensor in kept)
        _write_json(
            {"metadata": {"total_size": size}, "weight_map": dict(sorted(kept.items()))},
            out / INDEX,
        )


def _write_json(content: Mapping[str, Any], path: Path) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _link(source: Path, target: Path) -> None:
    """Link a file of many gigabytes if the file system can.

    A hard link outlives the source's folder.
    """
    source = source.resolve()  # a hub's cache holds links itself
    for link in (os.link, os.symlink):
        try:
            link(source, target)
        except OSError:
            continue
        return
    shutil.copyfile(source, target)


def _rewrite(source: Path, target: Path, kept: list[TensorEntry]) -> None:
    """Copy some tensors of a file byte by byte, in pieces."""
    with target.open("wb") as file:
        tensors = [(entry.name, entry.dtype, entry.shape, entry.size) for entry in kept]
        file.write(header_bytes(tensors, {"format": "pt"}))
        for entry in kept:
            file.writelines(read_chunks(source, entry))
