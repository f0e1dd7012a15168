"""Weights in safetensors files: headers, slices, checks."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from urs_inspect._util import InputError, choices

Array: TypeAlias = NDArray[np.float32]

_METADATA = "__metadata__"  # where the format keeps texts among the tensors
_HEADER_LIMIT = 100_000_000  # bytes; the format's own limit
_CHUNK = 1 << 24  # bytes written at once
_WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


@dataclass(frozen=True)
class TensorEntry:
    """Where one tensor lies in a file.

    Attributes:
        name: Name of the tensor.
        dtype: Type as the format writes it, such as `BF16`.
        shape: Its shape.
        start: First byte in the file.
        size: Bytes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    size: int


def read_header(path: Path) -> dict[str, TensorEntry]:
    """Read which tensors a safetensors file holds; the numbers are not read.

    Args:
        path: The file.

    Returns:
        Tensor name -> entry, in the file's order.

    Raises:
        InputError: If the file is no safetensors file, or shorter than its header says.
    """
    header, origin, size = _header(path)
    entries = {name: _entry(path, name, value, origin) for name, value in header.items() if name != _METADATA}
    end = max((entry.start + entry.size for entry in entries.values()), default=origin)
    if end > size:
        raise InputError(f"{path}: incomplete, {size:,} of {end:,} bytes are here; download it again")
    return entries


def read_metadata(path: Path) -> dict[str, str]:
    """Read the texts in a safetensors file's header.

    Args:
        path: The file.

    Returns:
        Key -> text; empty if there are none.

    Raises:
        InputError: If the file is no safetensors file, or holds something else in their place.
    """
    texts = _header(path)[0].get(_METADATA, {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InputError(f"{path}: broken header at {_METADATA!r}; expected texts by name")
    return texts


def read_tensor(path: Path, entry: TensorEntry) -> Array:
    """Read one tensor as float32; BF16 and F16 widen exactly.

    Raises:
        InputError: If its type is not a floating one.
    """
    if entry.dtype not in _FLOATS:
        raise InputError(f"{path}: {entry.name} has the type {entry.dtype}; expected {choices(_FLOATS)}")
    with path.open("rb") as file:
        file.seek(entry.start)
        raw = np.frombuffer(file.read(entry.size), np.dtype(_FLOATS[entry.dtype]))
    if entry.dtype == "BF16":
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    return raw.astype(np.float32, copy=False).reshape(entry.shape)


@contextmanager
def reserved_room(path: Path, size: int) -> Iterator[None]:
    """Take room on the disk for a file until `write_tensors` writes it, so that long work does not end on a full disk.

    Args:
        path: The file; its folder must exist.
        size: Bytes.

    Raises:
        InputError: If there is no room.
    """
    unfinished = _unfinished(path)
    try:
        try:
            with unfinished.open("wb") as file:
                for start in range(0, size, _CHUNK):
                    file.write(bytes(min(_CHUNK, size - start)))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"{path}: no room for its {size:,} bytes ({error.strerror})") from error
        yield
    finally:
        unfinished.unlink(missing_ok=True)


def write_tensors(path: Path, tensors: Mapping[str, Array], *, metadata: Mapping[str, str] | None = None) -> None:
    """Write float32 tensors as a safetensors file, whole or not at all; into `reserved_room` if there is some.

    Args:
        path: The file; its folder must exist.
        tensors: Name -> array.
        metadata: Texts for the file's header.
    """
    arrays = {name: np.ascontiguousarray(array, "<f4") for name, array in tensors.items()}
    head = header_bytes([(name, "F32", array.shape, array.nbytes) for name, array in arrays.items()], metadata)
    unfinished = _unfinished(path)
    try:
        # A reserved file is not emptied first, which would give its room away.
        with unfinished.open("r+b" if unfinished.exists() else "xb") as file:
            file.write(head)
            for array in arrays.values():
                file.write(array.tobytes())
            file.truncate()
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def header_bytes(
    tensors: list[tuple[str, str, tuple[int, ...], int]], metadata: Mapping[str, str] | None = None
) -> bytes:
    """The header of a file that holds tensors one after the other.

    Args:
        tensors: (name, type, shape, bytes) in the order of the data.
        metadata: Texts for the header.

    Returns:
        Length and header, padded to a multiple of 8 bytes as the format wants it.
    """
    header: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    start = 0
    for name, dtype, shape, size in tensors:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, start + size]}
        start += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")


def _header(path: Path) -> tuple[dict[str, Any], int, int]:
    """The header as it stands, the first byte after it, and the size of the file."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(8)
            if first == b"version ":  # of the text that stands for a large file
                raise InputError(f"{path}: a pointer of Git LFS, not the file itself; fetch it with `git lfs pull`")
            length = int.from_bytes(first, "little")
            if size < 8 or not 2 <= length <= min(_HEADER_LIMIT, size - 8):
                raise InputError(f"{path}: not a safetensors file, or only its beginning ({size:,} bytes)")
            header = json.loads(file.read(length))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise InputError(f"{path}: not a safetensors file (its header is not JSON)") from error
    if not isinstance(header, dict):
        raise InputError(f"{path}: not a safetensors file (its header is not a mapping)")
    return header, 8 + length, size


def _entry(path: Path, name: str, value: Any, origin: int) -> TensorEntry:
    try:
        dtype, shape, (start, end) = value["dtype"], tuple(value["shape"]), value["data_offsets"]
        sound = all(isinstance(number, int) and number >= 0 for number in (*shape, start, end))
        # Types that are not known here (8-bit floats of quantised weights) are taken at their word.
        width = _WIDTHS.get(dtype)
        expected = end - start if width is None else width * int(np.prod(shape, dtype=object))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: broken header at {name!r}") from error
    if not sound or end - start != expected:
        raise InputError(f"{path}: broken header at {name!r}, the bytes do not fit the shape {shape}")
    return TensorEntry(name, dtype, shape, origin + start, end - start)


INDEX = "model.safetensors.index.json"
"""Name of the file that says which tensor is in which file."""

_SINGLE = "model.safetensors"
_SHOWN = 3  # names in a message


@dataclass(frozen=True)
class WeightFiles:
    """What weights a folder holds.

    Attributes:
        folder: The folder.
        entries: Tensor name -> entry.
        files: Tensor name -> name of its file.
        indexed: Whether the folder has an index, which it needs with more than one file.
    """

    folder: Path
    entries: dict[str, TensorEntry]
    files: dict[str, str]
    indexed: bool

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Tensor name -> shape."""
        return {name: entry.shape for name, entry in self.entries.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The files, each once."""
        return tuple(dict.fromkeys(self.files.values()))

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Types of the tensors, each once."""
        return tuple(dict.fromkeys(entry.dtype for entry in self.entries.values()))

    @property
    def size(self) -> int:
        """Bytes of all tensors."""
        return sum(entry.size for entry in self.entries.values())


def find_weights(folder: Path) -> WeightFiles:
    """Read the headers of a folder's safetensors files.

    Args:
        folder: A checkpoint folder.

    Returns:
        Its tensors.

    Raises:
        InputError: If there are none, or a file is missing, incomplete or at odds with the index.
    """
    index = folder / INDEX
    if index.is_file():
        return _indexed(folder, index)
    if (folder / _SINGLE).is_file():
        entries = read_header(folder / _SINGLE)
        return WeightFiles(folder, entries, dict.fromkeys(entries, _SINGLE), indexed=False)
    raise InputError(_why_none(folder))


def shortened_list(names: Iterable[str]) -> str:
    """The first few names and the number of others, for a message."""
    listed = list(names)
    rest = len(listed) - _SHOWN
    return choices(listed[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _indexed(folder: Path, index: Path) -> WeightFiles:
    try:
        files = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{index}: not an index; expected JSON with a mapping `weight_map`") from error
    if not isinstance(files, dict) or not all(isinstance(n, str) and Path(n).name == n for n in files.values()):
        raise InputError(f"{index}: `weight_map` must name files of this folder")
    names = sorted(set(files.values()))
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise InputError(
            f"{folder}: {len(missing)} of {len(names)} weight files are missing: {shortened_list(missing)}; "
            "download them again"
        )
    held = {name: read_header(folder / name) for name in names}
    if astray := [tensor for tensor, name in files.items() if tensor not in held[name]]:
        raise InputError(f"{index}: its files do not hold {shortened_list(astray)}; download the folder again")
    return WeightFiles(folder, {tensor: held[name][tensor] for tensor, name in files.items()}, files, indexed=True)


def _why_none(folder: Path) -> str:
    if (folder / "adapter_config.json").is_file():
        return (
            f"{folder}: a PEFT adapter, not a whole model; expected merged weights (load it with its base, "
            "merge_and_unload(), save_pretrained())"
        )
    if any(folder.glob("global_step*")) or (folder / "zero_to_fp32.py").is_file():
        return (
            f"{folder}: a DeepSpeed training folder with divided weights; expected safetensors "
            "(python zero_to_fp32.py FOLDER OUT --safe_serialization)"
        )
    if any(folder.glob("*.bin")) or any(folder.glob("*.pt")) or any(folder.glob("*.pth")):
        return (
            f"{folder}: pickled weights only, which are never opened; expected safetensors, as save_pretrained() writes"
        )
    if shards := sorted(path.name for path in folder.glob("*.safetensors")):
        return f"{folder}: {shortened_list(shards)} but no {INDEX}, which says what they hold; download it"
    return f"{folder}: no weights; expected {_SINGLE}, or {INDEX} and its files"


# Type -> unsigned integer of its width, and its bits of the exponent: all set in NaN and infinity, and in nothing else.
_EXPONENTS = {
    "F64": ("<u8", 0x7FF0_0000_0000_0000),
    "F32": ("<u4", 0x7F80_0000),
    "F16": ("<u2", 0x7C00),
    "BF16": ("<u2", 0x7F80),
}
WHOLE_TYPES = frozenset({"I64", "I32", "I16", "I8", "U8", "BOOL"})
"""Types of whole numbers; quantised weights have them."""


def unscanned_types(weights: WeightFiles) -> list[str]:
    """Types of tensors in which NaN cannot be told here, such as 8-bit floats."""
    return [name for name in weights.dtypes if name not in _EXPONENTS and name not in WHOLE_TYPES]


def finite_faults(weights: WeightFiles) -> Iterator[str]:
    """Read every weight, which for an 8B model are 16 GB: some ten seconds where the disk is no slower.

    Args:
        weights: What the folder holds.

    Yields:
        A line for each tensor with a weight that is NaN or infinite.

    Raises:
        InputError: If a file cannot be read.
    """
    for name, entry in weights.entries.items():
        if entry.dtype not in _EXPONENTS:
            continue
        kind, exponent = _EXPONENTS[entry.dtype]
        file, broken, left = weights.folder / weights.files[name], 0, entry.size
        try:
            with file.open("rb") as inside:
                inside.seek(entry.start)
                while left:
                    piece = np.frombuffer(inside.read(min(left, _CHUNK)), kind)
                    if not piece.size:
                        raise InputError(f"{file}: became shorter while it was read")
                    mask = piece.dtype.type(exponent)
                    broken += int(np.count_nonzero(piece & mask == mask))
                    left -= piece.nbytes
        except OSError as error:
            raise InputError(f"{file}: cannot be read ({error.strerror})") from error
        if broken:
            values = int(np.prod(entry.shape, dtype=object))
            yield f"{file}: {name} has {broken:,} values of {values:,} that are NaN or infinite; expected none"
