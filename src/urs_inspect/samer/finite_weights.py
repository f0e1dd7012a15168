"""Finds NaN and infinity among all the weights of a folder, whatever its size."""

from collections.abc import Iterator

import numpy as np

from urs_inspect.errors import InputError
from urs_inspect.samer.weight_files import WeightFiles

_CHUNK = 1 << 24  # bytes read at once
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
