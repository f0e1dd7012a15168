"""What a selection is asked for, checked before anything is computed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import get_args

import numpy as np
import numpy.typing as npt

from urs_inspect.discrepancy.greedy import SetSimilarity
from urs_inspect.discrepancy.response_similarity import Pair
from urs_inspect.discrepancy.vectors import Floats, Vectors
from urs_inspect.errors import InputError, choices

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
