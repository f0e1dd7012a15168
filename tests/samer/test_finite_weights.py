"""NaN and infinity among weights: each kind in each type is found, and nothing else is taken for one."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samer.checkpoints import tiny_checkpoint, write_tensor_file
from tests.samer.conftest import SMALL
from urs_inspect.samer import finite_weights
from urs_inspect.samer.checkpoint_check import check_checkpoint
from urs_inspect.samer.finite_weights import finite_faults, unscanned_types
from urs_inspect.samer.tensor_file import header_bytes, read_header
from urs_inspect.samer.weight_files import find_weights


def spoil(folder: Path, tensor: str, bits: bytes = struct.pack("<I", 0x7FC00000)) -> None:
    """Put NaN, or other bits, into the last value of a tensor of a folder with one file."""
    path = folder / "model.safetensors"
    entry, data = read_header(path)[tensor], bytearray(path.read_bytes())
    end = entry.start + entry.size
    data[end - len(bits) : end] = bits
    path.write_bytes(data)


def file_of(path: Path, kind: str, data: bytes) -> None:
    width = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "F8_E4M3": 1}[kind]
    path.write_bytes(header_bytes([("x", kind, (len(data) // width,), len(data))]) + data)


def faults(folder: Path) -> list[str]:
    return list(finite_faults(find_weights(folder)))


# Exponent all ones: infinity with mantissa 0, else NaN (IEEE 754; bfloat16 is the upper half of a float32).
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("F64", [struct.pack("<d", value) for value in (np.nan, np.inf, -np.inf)]),
        ("F32", [struct.pack("<f", value) for value in (np.nan, np.inf, -np.inf)]),
        ("F16", [struct.pack("<e", value) for value in (np.nan, np.inf, -np.inf)]),
        ("BF16", [b"\xc0\x7f", b"\x80\x7f", b"\x80\xff", b"\x81\xff"]),
    ],
)
def test_every_kind_is_found_and_the_largest_numbers_are_none(kind: str, values: list[bytes], tmp_path: Path) -> None:
    largest = {
        "F64": struct.pack("<d", np.finfo(np.float64).max),
        "F32": struct.pack("<f", np.finfo(np.float32).max),
        "F16": struct.pack("<e", 65504.0),
        "BF16": b"\x7f\x7f",
    }[kind]
    file_of(tmp_path / "model.safetensors", kind, largest * 5)
    assert not faults(tmp_path)
    for value in values:
        file_of(tmp_path / "model.safetensors", kind, largest + value + largest + value)
        [fault] = faults(tmp_path)
        assert fault.endswith("model.safetensors: x has 2 values of 4 that are NaN or infinite; expected none")


@given(st.lists(st.floats(width=32), min_size=1, max_size=50))
def test_counts_are_those_of_numpy(values: list[float]) -> None:
    array = np.array(values, np.float32)
    expected = int((~np.isfinite(array)).sum())
    assert _count(array) == expected


def _count(array: Any) -> int:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        write_tensor_file(Path(name) / "model.safetensors", {"x": array})
        found = faults(Path(name))
    return int(found[0].split(" has ")[1].split()[0]) if found else 0


def test_pieces_do_not_hide_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finite_weights, "_CHUNK", 64)
    folder = tiny_checkpoint(tmp_path / "m", inner_widths=SMALL)
    assert not faults(folder)
    spoil(folder, "model.norm.weight")
    spoil(folder, "score.weighting_layer.8.weight")
    found = faults(folder)
    assert [line.split(": ")[1].split()[0] for line in found] == ["model.norm.weight", "score.weighting_layer.8.weight"]


def test_whole_numbers_are_finite_and_other_types_are_said(tmp_path: Path) -> None:
    file_of(tmp_path / "model.safetensors", "I64", b"\xff" * 16)
    assert (faults(tmp_path), unscanned_types(find_weights(tmp_path))) == ([], [])
    file_of(tmp_path / "model.safetensors", "F8_E4M3", b"\x7f" * 16)
    assert (faults(tmp_path), unscanned_types(find_weights(tmp_path))) == ([], ["F8_E4M3"])


def test_a_checkpoint_with_nan_in_it_is_none_if_all_is_read(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "m", inner_widths=SMALL)
    assert check_checkpoint(folder, values=True).checkpoint is not None
    spoil(folder, "model.embed_tokens.weight")
    report = check_checkpoint(folder, values=True)
    assert report.checkpoint is None and len(report.faults) == 1
    assert check_checkpoint(folder).faults == []
    spoil(folder, "score.scoring_layer.10.weight")
    assert len(check_checkpoint(folder, values=True).faults) == 2  # the heads' is not said twice
