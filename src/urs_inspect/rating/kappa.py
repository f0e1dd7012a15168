"""Agreement of two raters on classes, beyond chance."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa (Cohen, "A Coefficient of Agreement for Nominal Scales", 1960).

    Args:
        first: Class of each unit by one rater, shape (N,).
        second: Class of each unit by the other, shape (N,).

    Returns:
        `(p_o - p_e) / (1 - p_e)` with the share of agreement `p_o` and that expected by chance from each rater's own
        shares `p_e`: 1 for perfect agreement, 0 for agreement by chance. NaN without units, and where both raters only
        ever name the same one class.

    Raises:
        ValueError: If the lengths differ.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} classes by one rater, {len(second)} by the other")
    n = len(first)
    one, other = Counter(first), Counter(second)
    chance = sum(one[name] * other[name] for name in one)
    if n == 0 or chance == n * n:
        return math.nan
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    return (agreed * n - chance) / (n * n - chance)
