"""Score intervals of shares."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from urs_inspect.rating.proportions import wilson_interval


def test_a_value_worked_out_by_hand() -> None:
    # 8 of 10, z = 1.96: centre (0.8 + 3.8416 / 20) / (1 + 3.8416 / 10) = 0.99208 / 1.38416 = 0.71674;
    # margin 1.96 * sqrt(0.16 / 10 + 3.8416 / 400) / 1.38416 = 1.96 * 0.16001 / 1.38416 = 0.22658
    found = wilson_interval(0.8, 10)
    assert (found.mean, found.n, found.level) == (0.8, 10, 0.95)
    assert found.low == pytest.approx(0.71674 - 0.22658, abs=2e-5)
    assert found.high == pytest.approx(0.71674 + 0.22658, abs=2e-5)


def test_all_and_none_have_a_width() -> None:
    # all of 10: lower bound 1 / (1 + z² / 10)
    assert wilson_interval(1.0, 10).low == pytest.approx(1 / (1 + 1.959964**2 / 10), abs=1e-6)
    assert wilson_interval(1.0, 10).high == 1
    assert wilson_interval(0.0, 10).low == 0
    assert wilson_interval(0.0, 10).high == pytest.approx(1 - wilson_interval(1.0, 10).low)


@given(n=st.integers(1, 500), share=st.floats(0, 1), level=st.floats(0.5, 0.999))
def test_it_is_what_scipy_has_for_whole_numbers(n: int, share: float, level: float) -> None:
    successes = round(share * n)
    expected = binomtest(successes, n).proportion_ci(level, method="wilson")
    found = wilson_interval(successes / n, n, level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(n=st.integers(1, 300), share=st.floats(0, 1))
def test_bounds_enclose_the_share_and_mirror_that_of_failures(n: int, share: float) -> None:
    found, failed = wilson_interval(share, n), wilson_interval(1 - share, n)
    assert 0 <= found.low <= share <= found.high <= 1
    assert (found.low, found.high) == pytest.approx((1 - failed.high, 1 - failed.low), abs=1e-9)
    assert wilson_interval(share, n + 1).high - wilson_interval(share, n + 1).low <= found.high - found.low + 1e-12


def test_without_trials_there_is_none() -> None:
    assert math.isnan(wilson_interval(math.nan, 0).mean)


@pytest.mark.parametrize(("share", "n", "level"), [(1.1, 3, 0.95), (0.5, -1, 0.95), (0.5, 3, 1.0), (math.nan, 3, 0.9)])
def test_what_is_no_share_is_refused(share: float, n: int, level: float) -> None:
    with pytest.raises(ValueError, match=r"share|level"):
        wilson_interval(share, n, level)
