"""Ways to choose instructions that the paper compares with (section 3.4): random, KL divergence, cross-entropy."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy.selection import Pair
from urs_inspect.discrepancy.vectors import Floats

Divergence = Literal["kl", "cross_entropy"]


def random_choice(
    ids: Sequence[str], pair: Pair, k: int, *, seed: int, allowed: npt.NDArray[np.bool_] | None = None
) -> tuple[str, ...]:
    """Choose at random, without replacement.

    Args:
        ids: Ids of the instructions, shape (n,).
        pair: The models. Their draw depends on the seed and their names only, so that it stays when a model joins; the
            first k of a longer draw are the shorter draw.
        k: How many.
        seed: Seed.
        allowed: Which instructions may be chosen, shape (n,).

    Returns:
        k ids in random order.

    Raises:
        InputError: If fewer than k may be chosen.
    """
    names = sorted(ids if allowed is None else np.array(ids, object)[allowed].tolist())
    _enough(k, len(names), pair)
    digest = hashlib.sha256("\x00".join((str(seed), *sorted(pair))).encode()).digest()
    order = np.random.default_rng(int.from_bytes(digest[:16], "little")).permutation(len(names))
    return tuple(names[place] for place in order[:k])


def divergence(first: Sequence[float], second: Sequence[float], kind: Divergence) -> float:
    """How far apart two models' confidence in their own answers is, from the log probabilities of their tokens.

    Boubdir et al. (2023) rank prompts by the divergence of the two models' token probabilities. With p and q the
    probabilities of the t-th token that each model generated, for t up to the length T of the shorter answer, this is
    the mean over t of p log(p / q) for `kl`, and of -p log(q) for `cross_entropy`, averaged over both directions,
    because a comparison has no first model. The mean keeps long answers from winning by length alone.

    Args:
        first: Natural log probabilities of one answer's tokens, each 0 or less.
        second: Those of the other answer's.
        kind: Which.

    Returns:
        Higher means further apart; `cross_entropy` is 0 or more. NaN if an answer has no token.

    Raises:
        InputError: If a log probability is above 0 or not a number.
    """
    length = min(len(first), len(second))
    if not length:
        return float("nan")
    p, q = (np.asarray(side[:length], np.float64) for side in (first, second))
    for values in (p, q):
        if np.isnan(values).any() or values.max() > 1e-6:
            raise InputError(f"a token has log probability {values.max()}; allowed: 0 or less, natural logarithm")
    p, q = np.maximum(p, _LOWEST), np.maximum(q, _LOWEST)
    if kind == "kl":
        return float(((np.exp(p) - np.exp(q)) * (p - q)).mean() / 2)
    return float(-(np.exp(p) * q + np.exp(q) * p).mean() / 2)


def divergences(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], kind: Divergence) -> Floats:
    """Divergence of the two answers to every instruction, shape (n,); see `divergence`.

    Raises:
        InputError: If the kind is unknown or the sides differ in length.
    """
    if kind not in get_args(Divergence):
        raise InputError(f"divergence '{kind}'; allowed: {choices(get_args(Divergence))}")
    if len(first) != len(second):
        raise InputError(f"log probabilities of {len(first)} and {len(second)} answers; they must be as many")
    return np.array([divergence(a, b, kind) for a, b in zip(first, second, strict=True)], np.float64)


def highest(
    values: Mapping[Pair, Floats], ids: Sequence[str], k: int, *, allowed: npt.NDArray[np.bool_] | None = None
) -> dict[Pair, tuple[str, ...]]:
    """Choose the k instructions with the highest divergence for every pair; equal ones by id.

    Args:
        values: Pair -> divergence by instruction, shape (n,); NaN is never chosen.
        ids: Ids of the instructions.
        k: How many.
        allowed: Which may be chosen, shape (n,).

    Raises:
        InputError: If a pair has fewer than k.
    """
    chosen: dict[Pair, tuple[str, ...]] = {}
    for pair, found in values.items():
        usable = ~np.isnan(found) if allowed is None else ~np.isnan(found) & allowed
        items = sorted(np.flatnonzero(usable).tolist(), key=lambda item: (-found[item], ids[item]))
        _enough(k, len(items), pair)
        chosen[pair] = tuple(ids[item] for item in items[:k])
    return chosen


_LOWEST = -100.0
"""Log probability that lower ones are raised to, since minus infinity makes no mean."""


def _enough(k: int, found: int, pair: Pair) -> None:
    if k < 0 or k > found:
        raise InputError(
            f"k={k} for {pair[0]} and {pair[1]}; allowed: 0 to {found}, the instructions they can choose from"
        )
