"""The similarity of characters: no model, no download, no key."""

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError
from urs_inspect.discrepancy._vectors import Singles

_SIZES = (2, 3, 4)
"""Two characters are a word in Chinese and Japanese; three and four are stems elsewhere."""
_WIDTH = 2048
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)


class LexicalSimilarity:
    """Cosine of hashed character n-grams.

    A text is normalised (NFKC, case, blanks); its n-grams of 2, 3 and 4 characters are counted in
    `width` buckets (16 or more), each with a sign of its own, so that collisions cancel on average;
    the root of the counts makes frequent n-grams weigh less. The hash is arithmetic on code points,
    hence the same in every process and on every machine.
    """

    costly = False

    def __init__(self, width: int = _WIDTH) -> None:
        if width < 16:
            raise InputError(f"similarity 'lexical': width {width}; allowed: 16 or more")
        self.width = width
        self.name = f"lexical/{width}"

    def encode(self, texts: Sequence[str]) -> Singles:
        """Vectors of length 1, shape (n, width), float32."""
        out = np.zeros((len(texts), self.width), np.float32)
        for row, text in zip(out, texts, strict=True):
            self._count(text, row)
        return out

    def _count(self, text: str, row: Singles) -> None:
        encoded = f" {normalised(text)} ".encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(encoded, np.uint32).astype(np.uint64)
        hashes = np.concatenate([_hashes(codes, size) for size in _SIZES])
        upper_bits = hashes >> np.uint64(33)
        buckets = (upper_bits % np.uint64(self.width)).astype(np.intp)
        signs = np.where(hashes & np.uint64(1 << 20), 1.0, -1.0)
        counts = np.bincount(buckets, weights=signs, minlength=self.width)
        values = np.sign(counts) * np.sqrt(np.abs(counts))
        length = float(np.linalg.norm(values))
        # Only in a text of a few characters can every n-gram cancel another.
        if length == 0:
            values[buckets[0]] = 1.0
            length = 1.0
        row[:] = values / length


def normalised(text: str) -> str:
    """A text without what makes no difference.

    Compatibility forms, case, and how much white space there is.
    """
    compatible = unicodedata.normalize("NFKC", text)
    return " ".join(compatible.casefold().split())


def _hashes(codes: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint64]:
    """A hash of every n-gram, modulo 2^64."""
    count = max(0, len(codes) - size + 1)
    value = np.full(count, size, np.uint64)
    for place in range(size):
        value = (value ^ codes[place : place + count]) * _BASE
        value ^= value >> np.uint64(29)
    value *= _MIX
    return np.asarray(value ^ (value >> np.uint64(32)))


def make_lexical(argument: str) -> LexicalSimilarity:
    """`lexical`, or `lexical/<width>`."""
    if argument and not argument.isdecimal():
        raise InputError(
            f"similarity 'lexical/{argument}'; allowed: lexical, or lexical/<width of the vectors>"
        )
    width = _WIDTH
    if argument:
        width = int(argument)
    return LexicalSimilarity(width)
