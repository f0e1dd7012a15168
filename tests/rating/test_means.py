"""Means over clustered items."""

import math

import numpy as np
import pytest

from urs_inspect.rating import clustered_mean


def test_the_mean_is_over_items_and_the_interval_over_clusters() -> None:
    # Items 1 2 3 and 10, the last in a cluster of its own: the mean is 16 / 4. Drawing two clusters gives 2, 4 or 10
    # with chances 1/4, 1/2, 1/4, so the 95% interval spans all.
    found = clustered_mean([1, 2, 3, 10, math.nan], list("pppqr"))
    assert (found.value, found.low, found.high, found.n, found.clusters) == (4, 2, 10, 4, 2)


def test_without_values_there_is_no_mean() -> None:
    found = clustered_mean([math.nan], ["p"])
    assert math.isnan(found.value) and math.isnan(found.low) and (found.n, found.clusters) == (0, 0)


def test_one_cluster_has_no_interval() -> None:
    found = clustered_mean([1, 2], ["p", "p"])
    assert found.value == 1.5
    assert math.isnan(found.low) and math.isnan(found.high)


def test_the_interval_is_as_wide_as_the_textbook_says() -> None:
    # 400 items on prompts of their own: 1.96 standard errors on either side, give or take the noise of 2,000 rounds.
    values = np.random.default_rng(1).normal(size=400)
    found = clustered_mean(values, [str(n) for n in range(400)])
    expected = 2 * 1.96 * values.std() / 20
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(expected, rel=0.1)


def test_values_and_clusters_must_match() -> None:
    with pytest.raises(ValueError, match="one value a cluster id"):
        clustered_mean([1, 2], ["p"])
