"""Tests of `urs_inspect.stats._slopes`."""

import math

import numpy as np
import pytest
from scipy import stats

from urs_inspect.stats._bootstrap import error_of
from urs_inspect.stats._slopes import slope_through_origin


def test_a_slope_over_steps_of_one_is_a_mean_with_its_error() -> None:
    # 1 to 8: mean 4.5, variance 6, error of the mean sqrt(6 / 8); t of 7 degrees of freedom 2.3646.
    found = slope_through_origin([1.0] * 8, [*range(1, 9)], [*range(8)])
    assert (found.value, error_of(found)) == pytest.approx((4.5, math.sqrt(6 / 8)))
    assert found.high - found.value == pytest.approx(2.3646 * math.sqrt(6 / 8), rel=1e-4)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_error_of_a_slope_is_clustered(level: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    y = 0.5 * x + rng.normal(size=20)
    clusters = [f"q{number % 7}" for number in range(20)]
    found = slope_through_origin(x, y, clusters, level)
    slope = sum(x * y) / sum(x * x)
    sums = dict.fromkeys(clusters, 0.0)
    for one, other, cluster in zip(x, y, clusters, strict=True):
        sums[cluster] += one * (other - slope * one)
    error = math.sqrt(7 / 6 * sum(total**2 for total in sums.values())) / sum(x * x)
    assert found.value == pytest.approx(slope)
    bounds = stats.t.interval(level, 6, loc=slope, scale=error)
    assert (found.low, found.high) == pytest.approx(bounds)
    assert (found.n, found.clusters, found.level) == (20, 7, level)


@pytest.mark.parametrize(
    ("clusters", "level", "has_bounds"),
    [(6, 0.95, True), (5, 0.95, False), (5, 0.9, True), (4, 0.9, False), (1, 0.95, False)],
)
def test_a_slope_has_bounds_over_as_many_clusters_as_any_interval(
    clusters: int, level: float, has_bounds: bool
) -> None:
    x = [1.0, 2.0, 3.0, 1.0, 2.0, 1.0]
    found = slope_through_origin(
        x, [2.0, 3.0, 7.0, 0.0, 5.0, 1.0], [place % clusters for place in range(6)], level
    )
    assert found.value == pytest.approx(2.0)
    assert math.isnan(found.low) != has_bounds
    assert math.isnan(found.high) != has_bounds


def test_nothing_that_was_changed_has_no_slope() -> None:
    found = slope_through_origin([0.0] * 7, [*range(7)], [*range(7)])
    assert np.isnan([found.value, found.low, found.high]).all()
    assert (found.n, found.clusters) == (7, 7)
