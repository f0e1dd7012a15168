"""The file that holds a checkpoint's heads, and what it says of where weights are read."""

from logging import getLogger
from pathlib import Path
from typing import get_args

from urs_inspect._util import InputError, choices
from urs_inspect.samer.checkpoint import HEADS_FILE
from urs_inspect.samer.evaluation import WeightsAt
from urs_inspect.samer.heads import HEAD_KEYS
from urs_inspect.samer.weights import find_weights, read_metadata

WEIGHTS_AT = "weights_at"
"""Key of the file's texts under which training says where the weighter read."""

BACKBONE, BACKBONE_FINGERPRINT, BACKBONE_DTYPE = "backbone", "backbone_fingerprint", "backbone_dtype"
"""Keys under which training says what made the vectors; the last two of a Llama only."""

_LOG = getLogger(__name__)


def find_heads_file(folder: Path) -> Path | None:
    """The file with the heads of a folder, or with the first of their weights if they are spread over several.

    Args:
        folder: A folder in either layout, with or without the backbone's weights.

    Returns:
        The file; None if there is none, as there need not be beside a server with the plugin.
    """
    exported = folder / HEADS_FILE
    if exported.is_file():
        return exported
    try:
        files = find_weights(folder).files
    except InputError:
        return None
    name = files.get(HEAD_KEYS["scoring"][0])
    return None if name is None else folder / name


def told_weights_at(folder: Path) -> WeightsAt | None:
    """Where the heads of a folder were trained to read weights.

    Args:
        folder: As for `find_heads_file`.

    Returns:
        What their file says; None if it says nothing, as the released one.

    Raises:
        InputError: If it says something else.
    """
    file = find_heads_file(folder)
    found = None if file is None else read_metadata(file).get(WEIGHTS_AT)
    for allowed in get_args(WeightsAt):
        if found == allowed:
            place: WeightsAt = allowed
            return place
    if found is not None:
        raise InputError(f"{file}: {WEIGHTS_AT} '{found}'; allowed: {choices(get_args(WeightsAt))}")
    return None


def settled_weights_at(folder: Path, wanted: WeightsAt | None, otherwise: WeightsAt = "response") -> WeightsAt:
    """Where weights are read: where the user says, else where the heads' file says, else as the released code.

    Args:
        folder: A folder with heads.
        wanted: What the user says, if anything. If the heads were trained otherwise, a warning says so.
        otherwise: What counts if neither says anything.

    Returns:
        The place.

    Raises:
        InputError: If the file says neither of the two.
    """
    told = told_weights_at(folder)
    if wanted is None:
        return told or otherwise
    if told is not None and told != wanted:
        _LOG.warning(
            f"samer: {folder}: its heads were trained with weights_at={told}; weights_at={wanted} is used, as told"
        )
    return wanted
