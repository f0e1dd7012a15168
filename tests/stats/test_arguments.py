"""Arguments that every statistic shares: settings of the bootstrap are echoed, shapes and levels
are checked.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.stats.fights import fights
from urs_inspect.stats import (
    Estimate,
    MeanColumn,
    Resampling,
    Verdicts,
    bootstrap_means,
    clustered_mean,
    compare_means,
    correlate,
    correlation_difference,
    interval_alpha,
    mean_estimates,
    measure,
    rank,
)
from urs_inspect.stats._adjusted_means import length_column
from urs_inspect.stats._agreement import clustered_interval_alpha, wilson_interval
from urs_inspect.stats._bootstrap import cluster_counts, percentile_bounds, student_interval
from urs_inspect.stats._correlation import (
    rank_correlation,
)
from urs_inspect.stats._crossval import order_of, rating_bias, self_preference
from urs_inspect.stats._means import contrast
from urs_inspect.stats._measures import accuracies, group_accuracies

CODES = np.array([0, 1, 0, 1])
VERDICTS = Verdicts(CODES, CODES, np.arange(4), CODES, CODES)
PQRS = list("pqrs")
THREE = list("pqr")
TWO = ["p", "q"]


def of_columns(rows: int, columns: int = 2) -> MeanColumn:
    return MeanColumn(np.arange(rows), np.ones((rows, columns)))


@pytest.mark.parametrize(
    "estimate",
    [
        lambda **how: clustered_mean([1, 2], TWO, **how),
        lambda **how: clustered_mean([math.nan], ["p"], **how),
        lambda **how: clustered_interval_alpha([[1, 2, 3], [1, 3, 3]], THREE, **how),
        lambda **how: correlate([1, 2, 3], [1, 3, 2], THREE, **how).kendall,
        lambda **how: correlation_difference([1, 2, 3], [1, 3, 2], [3, 2, 1], THREE, **how).pearson,
        lambda **how: rank_correlation([1, 2, 3], [1, 3, 2], THREE, **how),
        lambda **how: measure(VERDICTS, **how).accuracy,
        lambda **how: accuracies(CODES, [CODES], np.arange(4), **how)[0],
        lambda **how: group_accuracies(VERDICTS, PQRS, **how)["p"],
        lambda **how: compare_means([[1.0, 2.0], [2.0, 4.0]], **how)[0].difference,
        lambda **how: compare_means([[1.0, 2.0], [2.0, 4.0]], clusters=TWO, **how)[0].difference,
        lambda **how: order_of([[1.0, 2.0], [2.0, 4.0]], **how).gaps[0].difference,
        lambda **how: rating_bias([[8, 9], [7, 9]], **how).bias,
        lambda **how: self_preference(np.ones((3, 1, 2, 2)), 0, 0, [0, None], **how).preference,
        lambda **how: rank(fights("a>b"), **how).bradley_terry[0],
    ],
)
def test_the_settings_of_the_bootstrap_are_echoed(estimate: Callable[..., Estimate]) -> None:
    found = estimate(**Resampling(17, 0.5, 2).options)
    assert (found.rounds, found.level, found.seed) == (17, 0.5, 2)


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5, 95, math.nan, math.inf])
def test_a_level_outside_0_to_1_is_refused(level: float) -> None:
    [exact] = bootstrap_means([of_columns(2)], 2, rounds=2)
    for refuse in (
        lambda: student_interval([1, 2, 3], level),
        lambda: percentile_bounds([[1.0]], level),
        lambda: mean_estimates(exact, level),
        lambda: wilson_interval(0.5, 3, level),
    ):
        with pytest.raises(ValueError, match=r"level.*0 and 1"):
            refuse()


@pytest.mark.parametrize(
    ("refuse", "message"),
    [
        (lambda: clustered_mean([1, 2], ["p"]), "one value.*cluster"),
        (lambda: correlate([1, 2], [1, 2, 3], THREE), "one value.*cluster"),
        (lambda: correlate([1, 2, 3], [1, 2], THREE), "one value.*cluster"),
        (lambda: correlate([1, 2, math.nan], [1, 2, 3], THREE), "finite"),
        (lambda: correlate([1, 2, 3], [1, 2, math.inf], THREE), "ratings finite or NaN"),
        (lambda: rank_correlation([1, 2], [1], ["a"]), "one value.*cluster"),
        (lambda: clustered_interval_alpha([[1, 2]], ["a"]), "one column.*cluster"),
        (lambda: interval_alpha([[1, 2, 3], [1, 2]]), "argument 2 is shorter"),
        (lambda: cluster_counts(TWO, [[1, 2]]), "row of counts"),
        (lambda: cluster_counts(TWO, [1, 2]), "row of counts"),
        (lambda: cluster_counts(TWO, [[1], [2], [3]]), "row of counts"),
        (lambda: group_accuracies(VERDICTS, TWO), "4 items, 2 groups"),
        (
            lambda: contrast(bootstrap_means([of_columns(2)], 2, rounds=2)[0], [[1]]),
            "row of weights",
        ),
        (
            lambda: compare_means([[1, 2]], clusters=TWO),
            "2 ids, 1 questions",
        ),
        (lambda: rating_bias([8, 9]), "row per case"),
        (lambda: length_column(np.zeros((30, 3)), np.zeros((30, 2))), "30, 3"),
        (lambda: length_column([[math.nan, 1]], [[9, 8]]), "no score NaN"),
        (lambda: self_preference(np.zeros((3, 1, 2, 2)), 0, 0, [0]), "model per judge"),
    ],
)
def test_what_does_not_fit_is_refused(refuse: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        refuse()
