"""Tests of `urs_inspect.samer._weights`."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file
from safetensors.torch import save_file

from tests.samer.checkpoints import tiny_checkpoint, write_tensor_file
from tests.samer.conftest import SMALL
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer import _weights as finite_weights
from urs_inspect.samer._checkpoint_check import check_checkpoint
from urs_inspect.samer._weights import (
    find_weights,
    finite_errors,
    header_bytes,
    read_chunks,
    read_header,
    read_metadata,
    read_tensor,
    reserved_room,
    unscanned_types,
    write_tensors,
)

RNG = np.random.default_rng(3)
ARRAYS = {"b": RNG.standard_normal((3, 5), np.float32), "a": RNG.standard_normal(7, np.float32)}


def test_what_is_written_reads_back_here_and_in_the_formats_library(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    write_tensors(file, ARRAYS, metadata={"seed": "3"})
    entries = read_header(file)
    assert list(entries) == ["b", "a"]
    theirs = load_file(file)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(read_tensor(file, entries[name]), array)
        np.testing.assert_array_equal(theirs[name], array)
    with safe_open(file, "np") as opened:
        assert opened.metadata() == {"seed": "3"}
    assert read_metadata(file) == {"seed": "3"}
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]
    write_tensors(file, ARRAYS)
    assert read_metadata(file) == {}
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(
        InputError, match=f"incomplete, {len(whole) - 1:,} of {len(whole):,} bytes are here"
    ):
        read_header(file)
    file.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        read_metadata(file)


@pytest.mark.parametrize("spare", [0, 100_000])
def test_a_reserved_file_is_written_in_its_own_room(tmp_path: Path, spare: int) -> None:
    """Room that was given back before it is used could be taken by others.

    What is too much is given back after.
    """
    file, plain = tmp_path / "x.safetensors", tmp_path / "plain"
    write_tensors(plain, ARRAYS)
    size = plain.stat().st_size + spare
    with reserved_room(file, size):
        [taken] = [path.stat() for path in tmp_path.iterdir() if path != plain]
        assert taken.st_size == size and taken.st_blocks * 512 >= size
        write_tensors(file, ARRAYS)
    assert file.stat().st_ino == taken.st_ino
    assert file.read_bytes() == plain.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"plain", "x.safetensors"}


def test_a_file_that_becomes_shorter_or_goes_while_it_is_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    write_tensors(file, ARRAYS)
    entry = read_header(file)["a"]
    assert b"".join(read_chunks(file, entry)) == ARRAYS["a"].tobytes()
    file.write_bytes(file.read_bytes()[: entry.start + 5])
    pieces = read_chunks(file, entry)
    assert len(next(pieces)) == 5
    with pytest.raises(InputError, match=r"x\.safetensors: .*shorter"):
        next(pieces)
    file.unlink()
    with pytest.raises(InputError, match=r"x\.safetensors: cannot be read \(No such"):
        next(read_chunks(file, entry))


def test_room_that_is_not_used_is_given_back(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), reserved_room(tmp_path / "x", 1000):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    with (
        pytest.raises(InputError, match=r"x: no room.*1,000 bytes"),
        reserved_room(tmp_path / "gone" / "x", 1000),
    ):
        raise AssertionError
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_every_floating_type_reads_as_torch_widens_it(tmp_path: Path, dtype: torch.dtype) -> None:
    file = tmp_path / "x.safetensors"
    values = torch.tensor([[0.1, -2.5, 3e4], [float("inf"), 1e-8, -0.0]]).to(dtype)
    save_file({"t": values, "other": torch.zeros(5, dtype=torch.int8)}, file)
    entries = read_header(file)
    np.testing.assert_array_equal(read_tensor(file, entries["t"]), values.float().numpy())
    with pytest.raises(InputError, match="type I8; expected F64, F32, F16, BF16"):
        read_tensor(file, entries["other"])


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    write_tensors(file, ARRAYS)
    before = file.read_bytes()
    with pytest.raises(ValueError):
        write_tensors(file, {"t": np.array(["text"])})
    assert file.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def _header(text: bytes, data: bytes = b"") -> bytes:
    return len(text).to_bytes(8, "little") + text + data


BROKEN = {
    "empty": (b"", "not a safetensors file"),
    "a pointer of Git LFS": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n",
        "Git LFS",
    ),
    "a length beyond the file": ((1 << 60).to_bytes(8, "little") + b"{}", "only its beginning"),
    "a header that is cut off": (_header(b'{"t": {}}')[:-1], r"only its beginning \(16 bytes\)"),
    "less than a length": (b"\2\0\0", r"only its beginning \(3 bytes\)"),
    "no JSON": (_header(b"{not json}"), "its header is not JSON"),
    "no UTF-8": (_header(b'{"\xff": 1}'), "its header is not JSON"),
    "a list": (_header(b"[1, 2]"), "its header is not a mapping"),
    "no offsets": (_header(b'{"t": {"dtype": "F32", "shape": [1]}}'), "broken header at 't'"),
    "bytes that do not fit": (
        _header(b'{"t": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}', b"1234"),
        "broken header at 't', the bytes do not fit the shape",
    ),
    "a negative offset": (
        _header(b'{"t": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}', b"1234"),
        "broken header at 't'",
    ),
    "texts that are none": (_header(b'{"__metadata__": 3}'), "broken header at '__metadata__'"),
    "a text that is a number": (
        _header(b'{"__metadata__": {"seed": 3}}'),
        "broken header at '__metadata__'",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    content, expected = BROKEN[name]
    file = tmp_path / "x.safetensors"
    file.write_bytes(content)
    with pytest.raises(InputError, match=expected) as refused:
        (read_metadata if "__metadata__" in expected else read_header)(file)
    assert str(file) in str(refused.value)


def test_a_header_is_padded_to_eight_bytes() -> None:
    for length in range(1, 20):
        head = header_bytes([("n" * length, "F32", (1,), 4)])
        assert len(head) % 8 == 0
        assert json.loads(head[8:])["n" * length]["data_offsets"] == [0, 4]


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
    return list(finite_errors(find_weights(folder)))


# Exponent all ones: infinity with mantissa 0, else NaN (IEEE 754; bfloat16 is the upper half of a
# float32).
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("F64", [struct.pack("<d", value) for value in (np.nan, np.inf, -np.inf)]),
        ("F32", [struct.pack("<f", value) for value in (np.nan, np.inf, -np.inf)]),
        ("F16", [struct.pack("<e", value) for value in (np.nan, np.inf, -np.inf)]),
        ("BF16", [b"\xc0\x7f", b"\x80\x7f", b"\x80\xff", b"\x81\xff"]),
    ],
)
def test_every_kind_is_found_and_the_largest_numbers_are_none(
    kind: str, values: list[bytes], tmp_path: Path
) -> None:
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
        assert tells(fault, "model.safetensors: x has 2 values of 4")


def test_counts_are_those_of_numpy_whatever_the_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finite_weights, "CHUNK", 64)
    tensors = {name: np.random.default_rng(7).standard_normal(50, np.float32) for name in "abc"}
    tensors["a"][[3, 20, 49]] = np.nan, np.inf, -np.inf
    tensors["c"][-1] = np.nan
    write_tensor_file(tmp_path / "model.safetensors", tensors)
    said = [line.split(": ")[1].split() for line in faults(tmp_path)]
    assert [(words[0], int(words[2])) for words in said] == [("a", 3), ("c", 1)]


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
    assert report.checkpoint is None and len(report.errors) == 1
    assert check_checkpoint(folder).errors == []
    spoil(folder, "score.scoring_layer.10.weight")
    assert len(check_checkpoint(folder, values=True).errors) == 2  # the heads' is not said twice
