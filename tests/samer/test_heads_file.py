"""What the file of the heads says of where weights are read, and who wins if a user says otherwise."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.samer.checkpoints import write_tensor_file
from urs_inspect._util import InputError
from urs_inspect.samer.checkpoint import HEADS_FILE, open_checkpoint
from urs_inspect.samer.checkpoint_check import check_checkpoint
from urs_inspect.samer.evaluation import WeightsAt
from urs_inspect.samer.export import export_checkpoint
from urs_inspect.samer.heads import save_heads
from urs_inspect.samer.heads_file import find_heads_file, settled_weights_at, told_weights_at
from urs_inspect.samer.weights import read_metadata, read_tensor

Copied = Callable[[str], Path]


def saying(folder: Path, value: str) -> Path:
    """Put heads beside the weights that say where theirs are read, as training writes them."""
    heads = open_checkpoint(folder).heads()
    (folder / HEADS_FILE).parent.mkdir()
    save_heads(heads, folder / HEADS_FILE, metadata={"weights_at": value, "backbone": "b"})
    return folder


def test_the_file_is_found_in_either_layout(copied: Copied, small: Path, tmp_path: Path) -> None:
    first = open_checkpoint(small).weights.files["score.scoring_layer.0.weight"]
    assert find_heads_file(small) == small / first
    assert find_heads_file(saying(copied("m"), "query")) == tmp_path / "m" / HEADS_FILE
    assert find_heads_file(tmp_path) is None


def test_what_is_not_said_is_none(small: Path, tmp_path: Path) -> None:
    assert told_weights_at(small) is None
    assert told_weights_at(tmp_path) is None


@pytest.mark.parametrize("value", ["query", "response"])
def test_what_training_wrote_is_read(copied: Copied, value: str) -> None:
    folder = saying(copied("m"), value)
    assert told_weights_at(folder) == value
    assert check_checkpoint(folder).looked_at["weights read at"] == value


def test_any_other_value_is_a_fault_of_the_folder(copied: Copied) -> None:
    folder = saying(copied("m"), "middle")
    with pytest.raises(InputError, match=r"heads\.safetensors: weights_at 'middle'; allowed: response, query"):
        told_weights_at(folder)
    assert [fault for fault in check_checkpoint(folder).faults if "weights_at 'middle'" in fault]


@pytest.mark.parametrize(
    ("told", "wanted", "expected", "warned"),
    [
        (None, None, "response", False),
        (None, "query", "query", False),
        ("query", None, "query", False),
        ("query", "query", "query", False),
        ("query", "response", "response", True),
        ("response", "query", "query", True),
    ],
)
def test_the_user_wins_over_the_file_over_the_default(
    copied: Copied,
    caplog: pytest.LogCaptureFixture,
    told: str | None,
    wanted: WeightsAt | None,
    expected: str,
    warned: bool,
) -> None:
    folder = copied("m")
    if told is not None:
        saying(folder, told)
    assert settled_weights_at(folder, wanted) == expected
    said = f"{folder}: its heads were trained with weights_at={told}; weights_at={wanted} is used, as told"
    assert (said in caplog.text) is warned
    assert bool(caplog.records) is warned


def test_an_export_keeps_what_the_heads_say(copied: Copied, tmp_path: Path) -> None:
    folder = copied("m")
    weights, file = open_checkpoint(folder).weights, find_heads_file(folder)
    assert file is not None
    held = [name for name, its in weights.files.items() if its == file.name]
    tensors = {name: read_tensor(file, weights.entries[name]) for name in held}
    write_tensor_file(file, tensors, metadata={"format": "pt", "weights_at": "query"})
    exported = export_checkpoint(folder, tmp_path / "out").folder
    assert read_metadata(exported / HEADS_FILE) == {"weights_at": "query"}
    assert told_weights_at(exported) == "query"
