"""Tests of `urs_inspect.stats._slopes`."""

import math

import pytest

from urs_inspect.stats._bootstrap import error_of
from urs_inspect.stats._slopes import slope_through_origin


def test_a_slope_over_steps_of_one_is_a_mean_with_its_error() -> None:
    # 1 to 8: mean 4.5, variance 6, error of the mean sqrt(6 / 8); t of 7 degrees of freedom 2.3646.
    found = slope_through_origin([1.0] * 8, [*range(1, 9)], [*range(8)])
    assert (found.value, error_of(found)) == pytest.approx((4.5, math.sqrt(6 / 8)))
    assert found.high - found.value == pytest.approx(2.3646 * math.sqrt(6 / 8), rel=1e-4)
