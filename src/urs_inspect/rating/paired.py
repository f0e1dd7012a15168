"""Whether one judge is better than another, tested on the same items."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import (
    LEVEL,
    ROUNDS,
    SEED,
    Estimate,
    Floats,
    Integers,
    bootstrap_counts,
    cluster_counts,
    estimates,
)


@dataclass(frozen=True)
class PairedComparison:
    """Two judges on the same items.

    Attributes:
        difference: Accuracy of the first less that of the second, -1 to 1, with its interval clustered by prompt.
        accuracy: Accuracy of the first over these items.
        other_accuracy: Accuracy of the second.
        only_first: Items that only the first has right.
        only_second: Items that only the second has right.
        mcnemar_p: Exact two-sided p-value of McNemar's test, 0 to 1. It takes items for independent, so it may be read
            only where each prompt has one item.
        p: Exact two-sided p-value of the sign-flip test over prompts, 0 to 1; equal to McNemar's where each prompt has
            one item.
        left_out: Items not compared because they do not count for one of the judges.
    """

    difference: Estimate
    accuracy: float
    other_accuracy: float
    only_first: int
    only_second: int
    mcnemar_p: float
    p: float
    left_out: int


def compare(
    correct: npt.ArrayLike,
    other_correct: npt.ArrayLike,
    clusters: Sequence[Any] | npt.NDArray[Any],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> PairedComparison:
    """Compare two judges on the same items.

    Args:
        correct: Whether the first judge is right, as from `correctness`: 1, 0, or NaN where an item does not count,
            shape (N,).
        other_correct: The same for the second judge.
        clusters: Id of each item's prompt, shape (N,).
        rounds: Rounds of the bootstrap.
        level: Confidence level of the interval.
        seed: Seed of the bootstrap; the p-values are exact and need none.

    Returns:
        The comparison over the items that count for both; NaN throughout if there are none.
    """
    first, second = (np.asarray(given, dtype=np.float64) for given in (correct, other_correct))
    for values in (first, second):
        if values.shape != (len(clusters),) or not np.isin(values[~np.isnan(values)], (0, 1)).all():
            raise ValueError("need 1, 0 or NaN for each item, and as many clusters")
    counted = ~np.isnan(first) & ~np.isnan(second)
    names = [name for name, kept in zip(clusters, counted, strict=True) if kept]
    right, other_right = first[counted], second[counted]
    sums = cluster_counts(names, np.stack([right, other_right, np.ones(len(names))], axis=1))
    only_first, only_second = int((right > other_right).sum()), int((other_right > right).sum())
    return PairedComparison(
        difference=_difference(sums, rounds, level, seed),
        accuracy=float(right.mean()) if names else math.nan,
        other_accuracy=float(other_right.mean()) if names else math.nan,
        only_first=only_first,
        only_second=only_second,
        mcnemar_p=mcnemar(only_first, only_second) if names else math.nan,
        p=sign_flip((sums[:, 0] - sums[:, 1]).astype(np.int64)) if names else math.nan,
        left_out=len(first) - len(names),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p-value of McNemar's test.

    Args:
        only_first: Items that only the first judge has right.
        only_second: Items that only the second has right.

    Returns:
        How likely a fair coin divides the items on which the judges differ at least as unevenly, 0 to 1; 1 if they
        differ on none.
    """
    from scipy.stats import binomtest

    discordant = only_first + only_second
    return float(binomtest(only_first, discordant).pvalue) if discordant else 1.0


def sign_flip(differences: npt.ArrayLike) -> float:
    """Exact two-sided p-value of the permutation test that swaps the two judges on whole prompts.

    If the judges are equally good, the sign of each prompt's difference is a toss-up. The distribution of the sum over
    all 2^C ways to set the signs is built up prompt by prompt, so no sampling is needed.

    Args:
        differences: For each prompt, how many more items the first judge has right than the second; whole numbers,
            shape (C,).

    Returns:
        How likely the sum is at least as far from 0 as it is, 0 to 1.
    """
    given = np.asarray(differences)
    if given.size and given.dtype.kind not in "iu":
        raise ValueError("differences must be whole numbers")
    sizes: Integers = np.abs(given[given != 0]).astype(np.int64)
    reach = int(sizes.sum())
    chances: Floats = np.zeros(2 * reach + 1)
    chances[reach] = 1
    for size in sizes:
        # Nothing wraps around: what lies within `size` of either end still has no chance.
        chances = (np.roll(chances, size) + np.roll(chances, -size)) / 2
    away = abs(int(given.sum()))
    return min(1.0, float(chances[np.abs(np.arange(-reach, reach + 1)) >= away].sum()))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values of several comparisons (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979).

    Args:
        p_values: One a comparison, 0 to 1; NaN where there was nothing to compare, which does not count as one.

    Returns:
        Adjusted p-values in the same order, 0 to 1. Calling those below 0.05 real keeps the chance of even one false
        claim below 5%.
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    adjusted = [math.nan] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p))
        adjusted[place] = highest
    return tuple(adjusted)


def _difference(sums: Floats, rounds: int, level: float, seed: int) -> Estimate:
    def of(counts: Floats) -> Floats:
        return (counts[:, :1] - counts[:, 1:2]) / counts[:, 2:]

    if not len(sums):
        return Estimate(math.nan, math.nan, math.nan, 0, 0, level, rounds, seed)
    totals = sums.sum(axis=0, keepdims=True)
    draws = of(bootstrap_counts(sums, rounds, seed))
    [found] = estimates(of(totals)[0], draws, n=[int(totals[0, 2])], clusters=[len(sums)], level=level, seed=seed)
    return found
