"""What is selected for each pair of models: similarities of answers, candidates, results, checks of arguments."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy.greedy import SetSimilarity
from urs_inspect.discrepancy.vectors import MAX_SQUARE, Floats, Singles, Vectors, give_back, widen, widen_bits

Pair = tuple[str, str]
"""Names of two models; similarity does not depend on their order."""

_BLOCK = 1 << 20
"""Numbers in a block: 4 MB, so that converting and multiplying it stays in the cache."""
_SHARE = 4096
"""Instructions that one worker takes at a time."""


@dataclass(frozen=True)
class ResponseSimilarities:
    """Response similarities M(f_i(x), f_j(x)) of Eq. (1).

    Attributes:
        pairs: The P pairs.
        values: Cosines, shape (P, n), float32; NaN where an answer has no vector, that is, a zero one.
        unusable: Whether a vector is not finite, or longer than 46,000, shape (N, n), by model.
        models: Names of the N models.
    """

    pairs: tuple[Pair, ...]
    values: Singles
    unusable: npt.NDArray[np.bool_]
    models: tuple[str, ...]

    def of(self, pair: Pair) -> Singles:
        """Similarities of a pair, shape (n,)."""
        return np.asarray(self.values[self.pairs.index(pair)], np.float32)


def response_similarities(
    responses: Mapping[str, Vectors], pairs: Sequence[Pair], *, workers: int | None = None
) -> ResponseSimilarities:
    """Compute the cosine of the two answers to every instruction, for every pair at once (MAD paper, Eq. 1).

    Takes instructions in blocks and multiplies all models' vectors of one instruction with each other, so that each
    vector is read once. Vectors need not have length 1.

    Args:
        responses: Model -> vectors of its answers, shape (n, d), the same instructions in the same order.
        pairs: Pairs of models.
        workers: Threads; by default one a processor.

    Returns:
        The similarities, with the rounding of float32.

    Raises:
        InputError: If a model of a pair has no vectors, or shapes differ.
    """
    models = tuple(sorted({name for pair in pairs for name in pair}))
    size, width = check_shapes(responses, models)
    vectors = [responses[name] for name in models]
    values = np.empty((len(pairs), size), np.float32)
    unusable = np.empty((len(models), size), np.bool_)
    first = np.array([models.index(one) for one, _ in pairs], np.intp)
    second = np.array([models.index(other) for _, other in pairs], np.intp)
    rows = max(1, min(_BLOCK // max(1, len(models) * width), _SHARE))

    def sweep(begin: int) -> None:
        end = min(begin + _SHARE, size)
        buffer = np.empty((rows, len(models), width), np.float32)
        for start in range(begin, end, rows):
            stop = min(start + rows, end)
            block = buffer[: stop - start]
            _fill(block, vectors, start, stop)
            with np.errstate(all="ignore"):
                gram = np.matmul(block, block.transpose(0, 2, 1))
                squares = np.diagonal(gram, axis1=1, axis2=2)
                scales = 1.0 / np.sqrt(squares)
                bad = ~(squares < MAX_SQUARE)
                scales[bad | (squares == 0)] = np.nan
                found = gram[:, first, second] * scales[:, first] * scales[:, second]
            values[:, start:stop] = found.T
            unusable[:, start:stop] = bad.T
        for array in vectors:
            give_back(array, begin, end)

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        list(pool.map(sweep, range(0, size, _SHARE)))
    return ResponseSimilarities(tuple(pairs), values, unusable, models)


def exact_similarities(one: Vectors, other: Vectors, items: npt.NDArray[np.intp]) -> Floats:
    """Cosines of some rows in float64; equal rows have equal cosines, whatever stands around them.

    Args:
        one: Vectors of the first model, shape (n, d).
        other: Vectors of the second.
        items: Row numbers, shape (m,).

    Returns:
        Shape (m,), between -1 and 1.
    """
    a, b = one[items].astype(np.float64), other[items].astype(np.float64)
    products = (a * b).sum(axis=1)
    scales = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return np.asarray(np.clip(products / scales, -1.0, 1.0), np.float64)


def check_shapes(responses: Mapping[str, Vectors], models: Sequence[str]) -> tuple[int, int]:
    """Number of instructions and width of the vectors, the same for all models.

    Raises:
        InputError: If a model has none, they are no matrix, or differ from the first model's.
    """
    missing = [name for name in models if name not in responses]
    if missing:
        raise InputError(f"no vectors for {', '.join(missing)}; there are some for {', '.join(sorted(responses))}")
    shapes = {name: responses[name].shape for name in models}
    for name, shape in shapes.items():
        if len(shape) != 2 or shape[1] == 0:
            raise InputError(f"vectors of '{name}' have shape {shape}; allowed: (instructions, width)")
        if shape != shapes[models[0]]:
            raise InputError(
                f"vectors of '{name}' have shape {shape}, those of '{models[0]}' {shapes[models[0]]}; "
                "all contestants need the same instructions and the same embedding model"
            )
        if responses[name].dtype.kind != "f":
            raise InputError(f"vectors of '{name}' are {responses[name].dtype}; allowed: float16, float32, float64")
    size, width = shapes[models[0]]
    return int(size), int(width)


def _fill(block: Singles, vectors: Sequence[Vectors], start: int, stop: int) -> None:
    """Put the vectors of some instructions side by side: shape (instructions, models, width)."""
    if all(array.dtype == np.float16 for array in vectors) and block.flags.c_contiguous:
        bits = block.view(np.int32)
        for place, array in enumerate(vectors):
            np.copyto(bits[:, place], array[start:stop].view(np.int16))
        widen_bits(block)
        return
    for place, array in enumerate(vectors):
        widen(array[start:stop], block[:, place])


LAMBDA = 1.0
"""Weight of diversity (MAD paper, section 3.5)."""
K = 10
"""Instructions a pair (MAD paper, section 3.1)."""


@dataclass(frozen=True)
class Selected:
    """An instruction selected for a pair.

    Attributes:
        id: Id of the instruction.
        response_similarity: M(f_i(x), f_j(x)).
        instruction_similarity: M(x, I), to the instructions selected before; 0 for the first.
        objective: What Eq. (2) makes smallest: response similarity + lambda x instruction similarity.
    """

    id: str
    response_similarity: float
    instruction_similarity: float
    objective: float


@dataclass(frozen=True)
class Selection:
    """What was selected, and how.

    Attributes:
        selected: Pair -> its instructions in the order of selection.
        candidates: Pair -> how many instructions it could choose from.
        lam: Lambda.
        set_similarity: How similarity to a set is made.
        size: Instructions in the pool.
    """

    selected: Mapping[Pair, tuple[Selected, ...]]
    candidates: Mapping[Pair, int]
    lam: float
    set_similarity: SetSimilarity
    size: int


Mask = npt.NDArray[np.bool_]
"""Which instructions, shape (n,)."""


def checked_pairs(pairs: Sequence[Pair] | None, models: Iterable[str]) -> tuple[Pair, ...]:
    """The pairs to compare: those given, or all of the models in sorted order.

    Raises:
        InputError: For fewer than two models, a model against itself, an unknown model, or a pair given twice.
    """
    names = sorted(models)
    if len(names) < 2:
        raise InputError(f"{len(names)} contestants ({', '.join(names) or 'none'}); at least two are needed")
    if pairs is None:
        return tuple(combinations(names, 2))
    seen: set[frozenset[str]] = set()
    for pair in pairs:
        unknown = [name for name in pair if name not in names]
        if unknown:
            raise InputError(f"pair {shown(pair)}: unknown contestant '{unknown[0]}'; allowed: {choices(names)}")
        if pair[0] == pair[1] or frozenset(pair) in seen:
            raise InputError(f"pair {shown(pair)}: allowed are two different contestants, each pair once")
        seen.add(frozenset(pair))
    return tuple(pairs)


def checked_ids(ids: Sequence[str], size: int, instructions: Vectors) -> tuple[str, ...]:
    """Ids of the instructions, as many as vectors and answers, each once.

    Raises:
        InputError: If they are not.
    """
    if len(ids) != size or len(instructions) != size:
        raise InputError(
            f"{len(ids)} instruction ids, {len(instructions)} instruction vectors, {size} answers; they must be as many"
        )
    if not size:
        raise InputError("the pool has no instructions; at least one is needed")
    numbers = {name: number for number, name in enumerate(ids)}
    if len(numbers) != len(ids):
        twice = next(name for number, name in enumerate(ids) if numbers[name] != number)
        raise InputError(f"instruction id '{twice}' occurs more than once; each needs an id of its own")
    return tuple(ids)


def mask_of(allowed: Mask | Mapping[Pair, Mask] | None, pair: Pair, size: int) -> Mask:
    """Which instructions a pair may choose, shape (size,); all of them where nothing is said.

    Raises:
        InputError: If the mask is not of that shape and type.
    """
    if isinstance(allowed, Mapping):
        allowed = allowed.get(pair, allowed.get(pair[::-1]))
    if allowed is None:
        return np.ones(size, np.bool_)
    mask = np.asarray(allowed)
    if mask.shape != (size,) or mask.dtype != np.bool_:
        raise InputError(f"mask of {shown(pair)} is {mask.dtype} of shape {mask.shape}; allowed: bool, ({size},)")
    return mask


def checked_similarities(values: npt.ArrayLike, pair: Pair, size: int) -> Floats:
    """Similarities of the answers of a pair that were computed elsewhere, shape (size,), NaN where unknown.

    Raises:
        InputError: If they are of another shape, or one is not between -1 and 1.
    """
    found = np.asarray(values, np.float64)
    if found.shape != (size,):
        raise InputError(f"similarities of {shown(pair)} have shape {found.shape}; allowed: ({size},)")
    if (np.abs(found) > 1 + 1e-6).any():
        worst = found[np.nanargmax(np.abs(found))]
        raise InputError(f"a similarity of {shown(pair)} is {worst}; allowed: -1 to 1")
    return found


def check_rule(lam: float, set_similarity: str) -> None:
    """Refuse a lambda, or a similarity to a set, that Eq. (2) of the MAD paper cannot have.

    Raises:
        InputError: If lambda is not 0 or more, or there is no such similarity.
    """
    if not (math.isfinite(lam) and lam >= 0):
        raise InputError(f"lambda is {lam}; allowed: 0 or more")
    if set_similarity not in get_args(SetSimilarity):
        raise InputError(f"set similarity '{set_similarity}'; allowed: {choices(get_args(SetSimilarity))}")


def checked_k(k: int | Mapping[Pair, int], pair: Pair) -> int:
    """How many instructions a pair is to get; 0 where a mapping does not name it.

    Raises:
        InputError: If it is no whole number of 0 or more.
    """
    found = k.get(pair, k.get(pair[::-1], 0)) if isinstance(k, Mapping) else k
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise InputError(f"k={found} of {shown(pair)}; allowed: a whole number, 0 or more")
    return found


def shown(pair: Pair) -> str:
    """A pair as it stands in a message."""
    return f"{pair[0]} and {pair[1]}"


class Candidates:
    """Which instructions are candidates: allowed ones whose vector, and whose answers' similarity, is known.

    Attributes:
        ranks: Place of every instruction in the order of ids, shape (n,).

    Args:
        ids: Ids of the instructions, n, each once.
        similarities: Similarities of the answers, by pair.
        lacking: Which instructions have no vector, shape (n,).
        allowed: Which instructions may be selected, shape (n,), for all pairs or by pair; None for all.

    Raises:
        InputError: If a mask does not fit, or an allowed instruction has an answer whose vector is unusable.
    """

    def __init__(
        self,
        ids: tuple[str, ...],
        similarities: ResponseSimilarities,
        lacking: Mask,
        allowed: Mask | Mapping[Pair, Mask] | None,
    ) -> None:
        self._ids, self._similarities, self._lacking = ids, similarities, lacking
        self._numbers = {name: number for number, name in enumerate(ids)}
        order = sorted(range(len(ids)), key=ids.__getitem__)
        self.ranks = np.empty(len(order), np.intp)
        self.ranks[order] = np.arange(len(order))
        self._allowed = {pair: mask_of(allowed, pair, len(ids)) for pair in similarities.pairs}
        self._refuse_unusable()

    def known(self, pair: Pair) -> Pair:
        """The pair in the order in which it is known.

        Raises:
            InputError: If there is no such pair.
        """
        for known in (pair, pair[::-1]):
            if known in self._allowed:
                return known
        raise InputError(f"no pair {shown(pair)}; there are {choices(map(shown, self._allowed))}")

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Numbers of instructions, each once.

        Raises:
            InputError: If an id is unknown.
        """
        unknown = [name for name in names if name not in self._numbers]
        if unknown:
            raise InputError(f"instruction '{unknown[0]}' is not in the pool of {len(self._ids)}")
        return list(dict.fromkeys(self._numbers[name] for name in names))

    def mask(self, pair: Pair) -> Mask:
        """Which instructions a known pair can choose from, shape (n,)."""
        return np.asarray(self._allowed[pair] & ~np.isnan(self._similarities.of(pair)) & ~self._lacking)

    def count(self, pair: Pair) -> int:
        """How many instructions a known pair can choose from."""
        return int(np.count_nonzero(self.mask(pair)))

    def left(self, pair: Pair, chosen: Sequence[str]) -> int:
        """How many of them are left when some ids are chosen.

        Raises:
            InputError: If an id is unknown.
        """
        mask = self.mask(pair)
        mask[self.numbers(chosen)] = False
        return int(np.count_nonzero(mask))

    def _refuse_unusable(self) -> None:
        for pair in self._allowed:
            for name in pair:
                unusable = self._similarities.unusable[self._similarities.models.index(name)]
                bad = np.flatnonzero(unusable & self._allowed[pair])
                if len(bad):
                    raise InputError(
                        f"{len(bad)} vectors of '{name}' are not finite, the first for instruction "
                        f"'{self._ids[bad[0]]}'; allowed: finite numbers, or a mask that excludes the instruction"
                    )
