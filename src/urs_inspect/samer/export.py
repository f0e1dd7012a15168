"""A checkpoint written for stock vLLM, and trained heads joined to their backbone."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urs_inspect._util import InputError
from urs_inspect.samer.checkpoint import HEADS_FILE, open_backbone, open_checkpoint
from urs_inspect.samer.fingerprint import fingerprint
from urs_inspect.samer.heads import Heads, load_heads, save_heads
from urs_inspect.samer.heads_file import BACKBONE, BACKBONE_DTYPE, BACKBONE_FINGERPRINT, WEIGHTS_AT, told_weights_at
from urs_inspect.samer.taxonomy import load_taxonomy
from urs_inspect.samer.weights import INDEX, TensorEntry, WeightFiles, find_weights, header_bytes, read_metadata

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


HEADS_NAME = "heads.safetensors"
"""Name of the heads' file in what training writes."""


@dataclass(frozen=True)
class Assembly:
    """What was put together.

    Attributes:
        export: What was written.
        dtype: Type in which the backbone made the vectors that the heads were trained on; None if their file says
            nothing.
        weights_at: Where the weighter was trained to read, likewise.
    """

    export: Export
    dtype: str | None
    weights_at: str | None


def assemble_checkpoint(backbone: str | Path, heads: str | Path, out: str | Path) -> Assembly:
    """Make a checkpoint in the exported layout; large files are linked.

    Args:
        backbone: Folder of the Llama; heads that it may have are left out.
        heads: File of the heads, or the folder that training wrote.
        out: Folder to make; must not exist, or be empty.

    Returns:
        What was put together.

    Raises:
        InputError: If the backbone or the heads cannot be used or do not belong together, or the target holds
            something.
    """
    out, folder, file = free_folder(out), Path(backbone).expanduser(), Path(heads).expanduser()
    file = file / HEADS_NAME if file.is_dir() else file
    if not file.is_file():
        raise InputError(f"{file}: no such file; expected heads as `urs-inspect samer train` writes them")
    loaded, texts, config = load_heads(file), read_metadata(file), open_backbone(folder)
    _check_fit(file, loaded, folder, int(config["hidden_size"]))
    _check_origin(file, texts, folder)
    export = make_folder(out, find_weights(folder), config, loaded, texts)
    return Assembly(export, texts.get(BACKBONE_DTYPE), texts.get(WEIGHTS_AT))


def _check_fit(file: Path, heads: Heads, folder: Path, width: int) -> None:
    expected = len(load_taxonomy().dimensions)
    if heads.dimensions != expected:
        raise InputError(f"{file}: {heads.dimensions} dimensions; expected {expected}, those of the taxonomy")
    if heads.hidden_size != width:
        raise InputError(
            f"{file}: heads for vectors of width {heads.hidden_size:,}; the backbone {folder} has {width:,}"
        )


def _check_origin(file: Path, texts: dict[str, str], folder: Path) -> None:
    """Refuse heads that say of themselves that they belong elsewhere; others have to be trusted."""
    if BACKBONE in texts and BACKBONE_FINGERPRINT not in texts:
        raise InputError(f"{file}: trained on vectors of '{texts[BACKBONE]}', which is no Llama; no engine runs it")
    told = texts.get(BACKBONE_FINGERPRINT)
    if told is not None and told != fingerprint(folder, heads=False):
        raise InputError(
            f"{file}: trained on another backbone than {folder}, or its weights, tokenizer, template or configuration "
            "have changed since"
        )
