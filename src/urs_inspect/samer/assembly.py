"""Puts trained heads and the backbone that they were trained on into one folder, which every engine takes."""

from dataclasses import dataclass
from pathlib import Path

from urs_inspect.errors import InputError
from urs_inspect.samer.checkpoint import open_backbone
from urs_inspect.samer.export import Export, free_folder, make_folder
from urs_inspect.samer.fingerprint import fingerprint
from urs_inspect.samer.heads import Heads, load_heads
from urs_inspect.samer.heads_file import BACKBONE, BACKBONE_DTYPE, BACKBONE_FINGERPRINT, WEIGHTS_AT
from urs_inspect.samer.taxonomy import load_taxonomy
from urs_inspect.samer.tensor_file import read_metadata
from urs_inspect.samer.weight_files import find_weights

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
