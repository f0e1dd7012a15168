"""Vectors of texts: read in blocks, widened from float16, multiplied with each other."""

import math
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices

Vectors = npt.NDArray[np.floating[Any]]
"""Vectors of texts, shape (n, d), float16, float32 or float64; a memory-mapped array will do."""
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Items = npt.NDArray[np.intp]
"""Numbers of instructions, shape (m,)."""
Mask = npt.NDArray[np.bool_]
"""Which instructions, shape (n,)."""
Pair = tuple[str, str]
"""Names of two models; similarity does not depend on their order."""

_UNIT_ROUNDOFF = 2.0**-24
"""Of float32."""
_TOGETHER = 8
_SERIAL = 200_000
"""Multiplications that OpenBLAS does without threads; it starts them above 262,144."""


def cosine_error(dimensions: int) -> float:
    """Bound on the rounding error of a cosine from float32 sums over `dimensions` products.

    Three sums enter, two of them under a square root. Up to 28 dimensions the bound is the worst
    case of any order of summation; above, it is 8 times the root of the dimensions for each sum
    (Higham and Mary 2019, where the chance of more is below 1e-12), which is also above the worst
    case of sums over 16 lanes up to 16,000 dimensions.
    """
    worst_case = 3.0 * dimensions
    likely = 16.0 * math.sqrt(dimensions)
    return (min(worst_case, likely) + 16.0) * _UNIT_ROUNDOFF


def products(rows: Singles, targets: Singles) -> Singles:
    """Scalar products of many contiguous rows with a few targets.

    Shapes (n, d) and (m, d) -> (m, n), on this thread.

    A matrix library starts threads of its own for a product of this size. They wait for each other,
    which takes many times as long as the product when the processors are shared; so it is made of
    products too small for that.
    """
    size, width = rows.shape
    whole = size - size % _TOGETHER
    out = np.empty((len(targets), size), np.float32)
    step = max(1, _SERIAL // (_TOGETHER * width))
    grouped = rows[:whole].reshape(-1, _TOGETHER, width)
    groups = grouped.transpose(0, 2, 1)
    rest = rows[whole:].T
    for start in range(0, len(targets), step):
        part = targets[start : start + step]
        by_group = np.matmul(part, groups)
        out_of_part = out[start : start + step]
        by_target = by_group.transpose(1, 0, 2)
        out_of_part[:, :whole] = by_target.reshape(len(part), whole)
        out_of_part[:, whole:] = part @ rest
    return out


def give_back(array: Any, start: int, stop: int) -> None:
    """Tell the system that rows of a memory-mapped contiguous array are not needed soon.

    Nothing for other arrays.
    """
    mapped = array
    while mapped is not None and not isinstance(mapped, mmap.mmap):
        mapped = getattr(mapped, "base", None)
    if mapped is None or not hasattr(mmap, "MADV_DONTNEED") or not array.flags.c_contiguous:
        return
    offset = array.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
    row = array.strides[0]
    end = offset + stop * row
    # Advice begins at a page.
    first_page = math.ceil((offset + start * row) / mmap.PAGESIZE)
    begin = first_page * mmap.PAGESIZE
    if end > begin:
        mapped.madvise(mmap.MADV_DONTNEED, begin, end - begin)


_ANSWER_BLOCK = 1 << 20
"""Numbers in a block of answers: 4 MB, so that converting and multiplying it stays in the cache."""
_ANSWER_SHARE = 4096
"""Instructions that one worker takes at a time."""


@dataclass(frozen=True)
class ResponseSimilarities:
    """Response similarities M(f_i(x), f_j(x)) (MAD paper, Eq. 1) of P pairs of N models."""

    pairs: tuple[Pair, ...]
    values: Singles  # shape (P, n); NaN where an answer has no vector, that is, a zero one
    unusable: Mask  # whether a vector is not finite, shape (N, n), by model
    models: tuple[str, ...]

    def of(self, pair: Pair) -> Singles:
        """Similarities of a pair, shape (n,)."""
        place = self.pairs.index(pair)
        return np.asarray(self.values[place], np.float32)


def response_similarities(
    responses: Mapping[str, Vectors], pairs: Sequence[Pair], *, workers: int | None = None
) -> ResponseSimilarities:
    """Compute the cosine of the two answers to every instruction, by pair (MAD paper, Eq. 1).

    Takes instructions in blocks and multiplies all models' vectors of one instruction with each
    other, so that each vector is read once. `responses` has the vectors of each model's answers,
    shape (n, d), of any length. Results have the rounding of float32; by default there is one
    thread per processor.
    """
    models = tuple(sorted({name for pair in pairs for name in pair}))
    size, width = check_shapes(responses, models)
    vectors = [responses[name] for name in models]
    values = np.empty((len(pairs), size), np.float32)
    unusable = np.empty((len(models), size), np.bool_)
    first_places = [models.index(one) for one, _ in pairs]
    second_places = [models.index(other) for _, other in pairs]
    first = np.array(first_places, np.intp)
    second = np.array(second_places, np.intp)
    in_block = _ANSWER_BLOCK // max(1, len(models) * width)
    rows = max(1, min(in_block, _ANSWER_SHARE))

    def put(start: int, stop: int, block: Singles) -> None:
        cosines, bad = _cosines(block, first, second)
        values[:, start:stop] = cosines.T
        unusable[:, start:stop] = bad.T

    in_blocks(vectors, rows, _ANSWER_SHARE, put, workers)
    return ResponseSimilarities(tuple(pairs), values, unusable, models)


def in_blocks(
    arrays: Sequence[Vectors],
    rows: int,
    share: int,
    use: Callable[[int, int, Singles], None],
    workers: int | None,
) -> None:
    """Show some rows of all arrays side by side to a function at a time, as float32.

    It gets the first and the last row, and a block of shape (rows, arrays, width). A worker takes
    `share` rows at a time; by default there is one per processor.
    """
    size, width = arrays[0].shape

    def run(begin: int) -> None:
        end = min(begin + share, size)
        longest = min(rows, end - begin)
        buffer = np.empty((longest, len(arrays), width), np.float32)
        for start in range(begin, end, rows):
            stop = min(start + rows, end)
            block = buffer[: stop - start]
            for place, array in enumerate(arrays):
                block[:, place] = array[start:stop]
            use(start, stop, block)
        for array in arrays:
            give_back(array, begin, end)

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        list(pool.map(run, range(0, size, share)))


def _cosines(block: Singles, first: Items, second: Items) -> tuple[Singles, Mask]:
    """Cosine of each pair of models' vectors, NaN where there is none, and which are unusable.

    Shapes (n, P) and (n, N), of vectors of shape (n, N, d).
    """
    with np.errstate(all="ignore"):
        gram = np.matmul(block, block.transpose(0, 2, 1))
        squares = np.diagonal(gram, axis1=1, axis2=2)
        scales = 1.0 / np.sqrt(squares)
        unusable = ~np.isfinite(squares)
        scales[unusable | (squares == 0)] = np.nan
        cosines = gram[:, first, second] * scales[:, first] * scales[:, second]
    return cosines, unusable


def check_shapes(responses: Mapping[str, Vectors], models: Sequence[str]) -> tuple[int, int]:
    """Number of instructions and width of the vectors, the same for all models.

    InputError if they differ.
    """
    missing = [name for name in models if name not in responses]
    if missing:
        raise InputError(
            f"no vectors for {choices(missing)}; there are some for {choices(sorted(responses))}"
        )
    shapes = {name: responses[name].shape for name in models}
    for name, shape in shapes.items():
        if len(shape) != 2 or shape[1] == 0:
            raise InputError(
                f"vectors of '{name}' have shape {shape}; allowed: (instructions, width)"
            )
        if shape != shapes[models[0]]:
            raise InputError(
                f"vectors of '{name}' have shape {shape}, those of '{models[0]}'"
                f" {shapes[models[0]]}; all contestants need the same instructions and the same"
                " embedding model"
            )
        if responses[name].dtype.kind != "f":
            raise InputError(
                f"vectors of '{name}' are {responses[name].dtype}; allowed: float16, float32,"
                " float64"
            )
    size, width = shapes[models[0]]
    return int(size), int(width)


def exact_similarities(one: Vectors, other: Vectors, items: Items) -> Floats:
    """Cosines of some rows of two models in float64, shape (m,).

    Equal rows have equal cosines in any call.
    """
    a = one[items].astype(np.float64)
    b = other[items].astype(np.float64)
    dots = (a * b).sum(axis=1)
    a_squares = (a * a).sum(axis=1)
    b_squares = (b * b).sum(axis=1)
    squares = a_squares * b_squares
    cosines = dots / np.sqrt(squares)
    clipped = np.clip(cosines, -1.0, 1.0)
    return np.asarray(clipped, np.float64)


_BLOCK = 1 << 18
"""Numbers in a block of instructions, 1 MB, so that it stays in the cache."""
_SHARE = 16
"""Blocks that one worker takes at a time."""


class InstructionVectors:
    """Vectors of a pool's instructions, shape (n, d), which need not have length 1.

    `lacking` has which instructions have no vector, that is, a zero one, shape (n,).
    """

    def __init__(self, vectors: Vectors, workers: int | None = None) -> None:
        has_width = vectors.ndim == 2 and vectors.shape[1] != 0
        if not has_width or vectors.dtype.kind != "f":
            raise InputError(
                f"vectors of the instructions have shape {vectors.shape} and type {vectors.dtype}; "
                "allowed: (instructions, width) of float16, float32 or float64"
            )
        self.vectors = vectors
        self.size = int(vectors.shape[0])
        self.width = int(vectors.shape[1])
        self.error = cosine_error(self.width)
        self._workers = workers
        self._scales = self._inverse_lengths()

    def similarities(self, targets: Singles) -> Singles:
        """Cosines of all instructions with vectors of length 1.

        Shape (m, d) -> (m, n), in one pass.
        """
        out = np.empty((len(targets), self.size), np.float32)

        def put(start: int, stop: int, block: Singles) -> None:
            scales = self._scales[start:stop]
            of_block = out[:, start:stop]
            np.multiply(products(block, targets), scales, out=of_block)

        self._sweep(put)
        return out

    def unit_rows(self, items: Items) -> Singles:
        """Vectors of some instructions, of length 1, shape (m, d), float32."""
        scales = self._scales[items]
        return self.vectors[items].astype(np.float32) * scales[:, None]

    def exact_rows(self, items: Items) -> Floats:
        """Vectors of some instructions, of length 1, shape (m, d); equal rows stay equal."""
        rows = self.vectors[items].astype(np.float64)
        squares = (rows * rows).sum(axis=1, keepdims=True)
        return np.asarray(rows / np.sqrt(squares), np.float64)

    def _sweep(self, use: Callable[[int, int, Singles], None]) -> None:
        """Show all vectors to a function, block by block, as float32."""
        rows = max(1, _BLOCK // self.width)

        def use_only(start: int, stop: int, block: Singles) -> None:
            use(start, stop, block[:, 0])

        in_blocks([self.vectors], rows, _SHARE * rows, use_only, self._workers)

    def _inverse_lengths(self) -> Singles:
        squares = np.empty(self.size, np.float32)

        def put(start: int, stop: int, block: Singles) -> None:
            with np.errstate(all="ignore"):
                np.einsum("nd,nd->n", block, block, out=squares[start:stop])

        self._sweep(put)
        bad = np.flatnonzero(~np.isfinite(squares))
        if len(bad):
            raise InputError(
                f"{len(bad)} of {self.size} vectors of the instructions are not finite, the first"
                f" in row {bad[0]}; allowed: finite numbers"
            )
        self.lacking = squares == 0
        with np.errstate(divide="ignore"):
            scales = np.asarray(1.0 / np.sqrt(squares), np.float32)
        scales[self.lacking] = 0.0
        return scales
