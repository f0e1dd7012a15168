"""Weights in safetensors files: headers, slices, checks.

The header is read here and not by the format's library, which tells neither where a tensor's bytes
are (needed for bfloat16, for NaN and for copies bit by bit) nor how much of an incomplete file is
there.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from urs_inspect._util import InputError, choices

Array: TypeAlias = NDArray[np.float32]

INDEX = "model.safetensors.index.json"  # name of the file that says which tensor is in which file

_SINGLE = "model.safetensors"
_METADATA = "__metadata__"  # where the format keeps texts among the tensors
_HEADER_LIMIT = 100_000_000  # bytes; the format's own limit
CHUNK = 1 << 24  # bytes read or written at once
_WIDTHS = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
}
_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
# Bits of the exponent: all set in NaN and infinity, and in nothing else.
_EXPONENTS = {"F64": 0x7FF0_0000_0000_0000, "F32": 0x7F80_0000, "F16": 0x7C00, "BF16": 0x7F80}
# types that quantised weights have
INTEGER_TYPES = frozenset({"I64", "I32", "I16", "I8", "U8", "BOOL"})


@dataclass(frozen=True)
class TensorEntry:
    """Where one tensor lies in a file."""

    name: str
    dtype: str  # as the format writes it, such as `BF16`
    shape: tuple[int, ...]
    start: int  # first byte in the file
    size: int  # bytes


def read_header(path: Path) -> dict[str, TensorEntry]:
    """The tensors of a safetensors file in its order; the numbers are not read."""
    header, origin, size = _header(path)
    entries = {
        name: _entry(path, name, value, origin)
        for name, value in header.items()
        if name != _METADATA
    }
    end = max((entry.start + entry.size for entry in entries.values()), default=origin)
    if end > size:
        raise InputError(
            f"{path}: incomplete, {size:,} of {end:,} bytes are here; download it again"
        )
    return entries


def read_metadata(path: Path) -> dict[str, str]:
    """The texts in a safetensors file's header; empty if there are none."""
    texts = _header(path)[0].get(_METADATA, {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InputError(f"{path}: broken header at {_METADATA!r}; expected texts by name")
    return texts


def _header(path: Path) -> tuple[dict[str, Any], int, int]:
    """The header, the first byte after it, and the size of the file."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(8)
            if first == b"version ":  # of the text that stands for a large file
                raise InputError(
                    f"{path}: a pointer of Git LFS, not the file itself; fetch it with `git lfs"
                    " pull`"
                )
            length = int.from_bytes(first, "little")
            if size < 8 or not 2 <= length <= min(_HEADER_LIMIT, size - 8):
                raise InputError(
                    f"{path}: not a safetensors file, or only its beginning ({size:,} bytes)"
                )
            header = json.loads(file.read(length))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a safetensors file (its header is not JSON)") from error
    if not isinstance(header, dict):
        raise InputError(f"{path}: not a safetensors file (its header is not a mapping)")
    return header, 8 + length, size


def _entry(path: Path, name: str, value: Any, origin: int) -> TensorEntry:
    try:
        dtype = value["dtype"]
        shape = tuple(value["shape"])
        start, end = value["data_offsets"]
        valid = all(isinstance(number, int) and number >= 0 for number in (*shape, start, end))
        # The width of a type that is not known here (8-bit floats of quantised weights) is not
        # checked.
        width = _WIDTHS.get(dtype)
        expected = end - start if width is None else width * int(np.prod(shape, dtype=object))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: broken header at {name!r}") from error
    if not valid or end - start != expected:
        raise InputError(
            f"{path}: broken header at {name!r}, the bytes do not fit the shape {shape}"
        )
    return TensorEntry(name, dtype, shape, origin + start, end - start)


def read_tensor(path: Path, entry: TensorEntry) -> Array:
    """One tensor as float32; BF16 and F16 widen exactly."""
    if entry.dtype not in _FLOATS:
        raise InputError(
            f"{path}: {entry.name} has the type {entry.dtype}; expected {choices(_FLOATS)}"
        )
    with path.open("rb") as file:
        file.seek(entry.start)
        stored = file.read(entry.size)
        raw = np.frombuffer(stored, np.dtype(_FLOATS[entry.dtype]))
    if entry.dtype == "BF16":  # the upper half of a float32; numpy has no such type
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    return raw.astype(np.float32, copy=False).reshape(entry.shape)


def read_finite(path: Path, entry: TensorEntry) -> Array:
    """One tensor as float32; `InputError` if it has NaN or infinity."""
    array = read_tensor(path, entry)
    if broken := int(array.size - np.count_nonzero(np.isfinite(array))):
        raise InputError(not_finite(f"{path}: {entry.name}", broken, array.size))
    return array


def read_chunks(path: Path, entry: TensorEntry) -> Iterator[bytes]:
    """The bytes of a tensor in pieces of at most `CHUNK`."""
    left = entry.size
    try:
        with path.open("rb") as file:
            file.seek(entry.start)
            while left:
                piece = file.read(min(left, CHUNK))
                if not piece:
                    raise InputError(f"{path}: became shorter while it was read")
                left -= len(piece)
                yield piece
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def header_bytes(
    tensors: Iterable[tuple[str, str, tuple[int, ...], int]],
    metadata: Mapping[str, str] | None = None,
) -> bytes:
    """The header of a file of tensors (name, type, shape, bytes) that lie one after the other."""
    header: dict[str, Any] = {}
    if metadata:
        header = {_METADATA: dict(metadata)}
    start = 0
    for name, dtype, shape, size in tensors:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, start + size]}
        start += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the format wants a multiple of 8 bytes
    return len(text).to_bytes(8, "little") + text


@contextmanager
def reserved_room(path: Path, size: int) -> Iterator[None]:
    """Take room on the disk until `write_tensors` uses it.

    So long work does not end on a full disk.
    """
    unfinished = _unfinished(path)
    try:
        try:
            with unfinished.open("wb") as file:
                for start in range(0, size, CHUNK):
                    file.write(bytes(min(CHUNK, size - start)))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"{path}: no room for its {size:,} bytes ({error.strerror})"
            ) from error
        yield
    finally:
        unfinished.unlink(missing_ok=True)


def write_tensors(
    path: Path, tensors: Mapping[str, Array], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write float32 tensors as a safetensors file, whole or not at all.

    They are written into the room that `reserved_room` has taken, if it has.
    """
    arrays = {name: np.ascontiguousarray(array, "<f4") for name, array in tensors.items()}
    head = header_bytes(
        [(name, "F32", array.shape, array.nbytes) for name, array in arrays.items()], metadata
    )
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


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")


@dataclass(frozen=True)
class WeightFiles:
    """The tensors of a folder, by name, and the file of each."""

    folder: Path
    entries: dict[str, TensorEntry]
    files: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the weight files."""
        return tuple(sorted(set(self.files.values())))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each tensor."""
        return {name: entry.shape for name, entry in self.entries.items()}

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Types, the one with most bytes first."""
        sizes = Counter[str]()
        for entry in self.entries.values():
            sizes[entry.dtype] += entry.size
        return tuple(dtype for dtype, _ in sizes.most_common())

    @property
    def size(self) -> int:
        """Bytes of all tensors."""
        return sum(entry.size for entry in self.entries.values())

    def path(self, name: str) -> Path:
        """The file of a tensor."""
        return self.folder / self.files[name]

    def read(self, name: str) -> Array:
        """A tensor as float32, all finite."""
        return read_finite(self.path(name), self.entries[name])


def find_weights(folder: Path) -> WeightFiles:
    """Read the headers of a folder's safetensors files.

    `InputError` says what is wrong with the folder.
    """
    index = folder / INDEX
    if index.is_file():
        return _indexed(folder, index)
    if not (folder / _SINGLE).is_file():
        raise InputError(f"{folder}: {_why_none(folder)}")
    beside = sorted(path.name for path in folder.glob("*.safetensors") if path.name != _SINGLE)
    if beside:
        raise InputError(
            f"{folder}: {_SINGLE} and {shortened_list(beside)} without {INDEX}; vLLM would read all"
            " of them, transformers the first only; keep the files of one model"
        )
    entries = read_header(folder / _SINGLE)
    return WeightFiles(folder, entries, dict.fromkeys(entries, _SINGLE))


def _indexed(folder: Path, index: Path) -> WeightFiles:
    files = _read_index(index)
    names = sorted(set(files.values()))
    if names != [_SINGLE] and (folder / _SINGLE).is_file():
        raise InputError(
            f"{folder}: {_SINGLE} and {INDEX}, which names {len(names)} files; transformers would"
            " read the first, vLLM the others; keep the files of one model"
        )
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise InputError(
            f"{folder}: {len(missing)} of {len(names)} weight files are missing:"
            f" {shortened_list(missing)}; download them again"
        )
    held = {name: read_header(folder / name) for name in names}
    if misplaced := [tensor for tensor, name in files.items() if tensor not in held[name]]:
        raise InputError(
            f"{index}: its files do not hold {shortened_list(misplaced)}; download the folder again"
        )
    entries = {tensor: held[name][tensor] for tensor, name in files.items()}
    return WeightFiles(folder, entries, files)


def _read_index(index: Path) -> dict[str, str]:
    """Name of a tensor -> name of its file."""
    try:
        files = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{index}: not an index; expected JSON with a mapping `weight_map`"
        ) from error
    if isinstance(files, dict) and all(
        isinstance(name, str) and Path(name).name == name for name in files.values()
    ):
        return files
    raise InputError(f"{index}: `weight_map` must name files of this folder")


def _why_none(folder: Path) -> str:
    if (folder / "adapter_config.json").is_file():
        return (
            "a PEFT adapter, not a whole model; expected merged weights (load it with its base,"
            " merge_and_unload(), save_pretrained())"
        )
    if any(folder.glob("global_step*")) or (folder / "zero_to_fp32.py").is_file():
        return (
            "a DeepSpeed training folder with divided weights; expected safetensors "
            "(python zero_to_fp32.py FOLDER OUT --safe_serialization)"
        )
    if any(any(folder.glob(pattern)) for pattern in ("*.bin", "*.pt", "*.pth")):
        return (
            "pickled weights only, which are never opened; expected safetensors, as"
            " save_pretrained() writes"
        )
    if shards := sorted(path.name for path in folder.glob("*.safetensors")):
        return f"{shortened_list(shards)} but no {INDEX}, which says what they hold; download it"
    return f"no weights; expected {_SINGLE}, or {INDEX} and its files"


def shortened_list(names: Iterable[str], most: int = 3) -> str:
    """The first few names and the number of others, for a message."""
    listed = list(names)
    rest = len(listed) - most
    return choices(listed[:most]) + (f" and {rest} more" if rest > 0 else "")


def unscanned_types(weights: WeightFiles) -> list[str]:
    """Types of tensors in which `finite_errors` cannot find NaN, such as 8-bit floats."""
    return [name for name in weights.dtypes if name not in _EXPONENTS and name not in INTEGER_TYPES]


def finite_errors(weights: WeightFiles) -> Iterator[str]:
    """Yield a line for each tensor with NaN or infinity.

    Reads every weight (16 GB of an 8B model).
    """
    for name, entry in weights.entries.items():
        if entry.dtype not in _EXPONENTS:
            continue
        bits = np.dtype(f"<u{_WIDTHS[entry.dtype]}")
        mask = bits.type(_EXPONENTS[entry.dtype])
        pieces = (np.frombuffer(piece, bits) for piece in read_chunks(weights.path(name), entry))
        if broken := sum(int(np.count_nonzero(piece & mask == mask)) for piece in pieces):
            yield not_finite(
                f"{weights.path(name)}: {name}", broken, int(np.prod(entry.shape, dtype=object))
            )


def not_finite(tensor: str, broken: int, values: int) -> str:
    """The sentence about weights with NaN or infinity, which would make every result NaN."""
    return f"{tensor} has {broken:,} values of {values:,} that are NaN or infinite; expected none"
