"""Spearman's rho alone."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from urs_inspect.rating import correlate
from urs_inspect.rating.rank_correlation import rank_correlation

checked = settings(deadline=None, database=None, max_examples=30)


def test_by_hand() -> None:
    # Ranks 1 2 3 and 1 3 2: 1 - 6 * (0 + 1 + 1) / (3 * 8) = 0.5. The item without a score does not count.
    found = rank_correlation([10, 20, 30, 40], [1, 3, 2, math.nan], list("abcd"), rounds=50)
    assert found.value == pytest.approx(0.5)
    assert (found.n, found.clusters) == (3, 3)


@checked
@given(seed=st.integers(0, 1000))
def test_it_is_the_rho_of_correlate(seed: int) -> None:
    generator = np.random.default_rng(seed)
    lengths, finals = generator.integers(1, 200, 30), generator.integers(1, 11, 30)
    names = [f"{n // 2:02d}" for n in range(30)]
    found = rank_correlation(lengths, finals, names, rounds=40, seed=seed)
    slow = correlate(lengths, finals, names, rounds=40, seed=seed).spearman
    assert (found.value, found.low, found.high) == pytest.approx((slow.value, slow.low, slow.high))
    assert found.value == pytest.approx(stats.spearmanr(lengths, finals).statistic)


def test_values_that_are_all_equal_have_none() -> None:
    found = rank_correlation([5, 5, 5], [1, 2, 3], list("abc"), rounds=10)
    assert math.isnan(found.value) and math.isnan(found.low)
    assert math.isnan(rank_correlation([math.nan], [1], ["a"]).value)


def test_each_item_needs_two_values_and_a_prompt() -> None:
    with pytest.raises(ValueError, match="two values a cluster id"):
        rank_correlation([1, 2], [1], ["a"])
