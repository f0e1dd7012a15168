"""What a comparison could have shown, and with how many samples it would."""

import math
from bisect import bisect_left
from collections.abc import Callable

from urs_inspect.stats._bootstrap import LEVEL, fewest_clusters
from urs_inspect.stats._paired import FEW

POWER = 0.8
"""How often the smallest difference that is reported as visible would have been significant."""
FEWEST = fewest_clusters(LEVEL)  # clusters below which there are no bounds, whatever their level


def smallest_difference(
    error: float, clusters: int, *, tests: int = 1, level: float = 0.95
) -> float:
    """The difference of two means that would be found significant with the power `POWER`.

    The test is that of `paired_p_values`.

    `(t(1 - alpha / 2) + t(POWER)) * error` with C - 1 degrees of freedom (Cohen, "Statistical Power
    Analysis for the Behavioral Sciences", 1988, chapter 2, with quantiles of Student's t in place
    of the normal ones), alpha divided by the number of tests, as in Holm's first step. Up to `FEW`
    clusters, where the test is the exact sign-flip test, alpha is the largest p-value below it, K /
    2^(C - 1), and the difference is wider by 1 / (6 K), which was fitted to simulations: with one
    to ten tests, for normal differences the power is 76% to 82% over 6 to 50 clusters, for
    exponential ones with the tail against the better side 66% to 77%.
    `benchmarks/compare_coverage.py` prints it.

    Scores of two values are compared by McNemar's test, whose power depends on how many samples
    differ. Where 10% to 60% do, it is 76% to 82% over 200 samples and 62% to 93% over 50; over 20
    and fewer it is anything from 5% to 100%.

    `error` is the clustered standard error of the difference over C clusters, and alpha 1 less the
    level. NaN without a spread, and where no difference could be significant over so few clusters.
    """
    from scipy.special import stdtrit

    alpha = (1 - level) / tests
    freedom = clusters - 1
    wider = 1.0
    if clusters <= FEW:
        ways = math.ceil(alpha * 2**freedom) - 1
        alpha = ways / 2**freedom
        wider = math.nan
        if ways:
            wider = 1 + 1 / (6 * ways)
    if not error > 0:
        return math.nan
    significant = stdtrit(freedom, 1 - alpha / 2)
    powerful = stdtrit(freedom, POWER)
    return float(significant + powerful) * wider * error


def questions_needed(
    difference: float,
    error: float,
    n: int,
    clusters: int,
    *,
    tests: int = 1,
    level: float = 0.95,
) -> int | None:
    """Samples for which a difference would be significant with power `POWER`.

    They come in clusters as large as now.

    `error` is that of the difference over the n samples there are, in so many clusters; None if it
    is not known.
    """
    if clusters < 2 or not error > 0:
        return None

    def visible(there: int) -> float:
        error_there = error * math.sqrt(clusters / there)
        return smallest_difference(error_there, there, tests=tests, level=level)

    return fewest_questions(difference, visible, n, clusters)


def fewest_questions(
    size: float,
    width: Callable[[int], float],
    n: int,
    clusters: int,
) -> int | None:
    """Samples for the fewest clusters with a width, which falls as they grow, of at most a size.

    None if none.
    """
    numbers = range(2, 10**12)
    place = bisect_left(numbers, True, key=lambda number: width(number) <= size)
    if place == len(numbers):
        return None
    return math.ceil(numbers[place] * n / clusters)
