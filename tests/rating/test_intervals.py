"""Means with intervals and pooled deviations: by hand, by slow obvious code, by their properties."""

import math
import random
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from inspect_ai.scorer import SampleScore, Score, ci
from scipy import stats

from urs_inspect.rating import MeanInterval, mean_interval, pooled_deviation, student_interval
from urs_inspect.rating.intervals import fewest_clusters, reported_bounds

scores = st.floats(1, 10)
several = st.lists(scores, min_size=2, max_size=30)
groups = st.lists(st.lists(scores, max_size=6), max_size=8)
levels = st.floats(0.01, 0.999)
checked = settings(deadline=None, database=None)


def bounds(values: list[float], level: float = 0.95) -> tuple[float, float, float]:
    interval = student_interval(values, level)
    return interval.mean, interval.low, interval.high


# --- student_interval: by hand ---


def test_an_interval_worked_out_by_hand() -> None:
    # 2, 4, 6: mean 4, s = sqrt((4 + 0 + 4) / 2) = 2, t(2 degrees, 97.5 %) = 4.302653 from a printed table,
    # margin 4.302653 * 2 / sqrt(3) = 4.968276
    interval = student_interval([2, 4, 6])
    assert (interval.mean, interval.n, interval.level) == (4, 3, 0.95)
    assert interval.low == pytest.approx(4 - 4.968276, abs=1e-5)
    assert interval.high == pytest.approx(4 + 4.968276, abs=1e-5)


def test_an_interval_of_another_level_worked_out_by_hand() -> None:
    # 1, 3: mean 2, s = sqrt(2), s / sqrt(2) = 1; t(1 degree, 75 %) = tan(pi / 4) = 1: 2 ± 1
    assert bounds([1, 3], level=0.5) == pytest.approx((2, 1, 3))


def test_equal_values_leave_no_doubt() -> None:
    assert student_interval([7.0] * 5) == MeanInterval(mean=7.0, low=7.0, high=7.0, n=5, level=0.95)


def test_without_values_there_is_no_mean() -> None:
    interval = student_interval([])
    assert interval.n == 0
    assert all(math.isnan(number) for number in bounds([]))


def test_one_value_has_a_mean_and_no_interval() -> None:
    mean, low, high = bounds([6.5])
    assert mean == 6.5
    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5, 95, math.nan, math.inf])
def test_a_level_outside_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        student_interval([1, 2, 3], level)


# --- student_interval: by slow obvious code ---


@checked
@given(values=several, level=levels)
def test_the_interval_is_that_of_the_t_distribution(values: list[float], level: float) -> None:
    assume(max(values) - min(values) > 1e-6)
    low, high = stats.t.interval(
        level, len(values) - 1, loc=statistics.mean(values), scale=statistics.stdev(values) / len(values) ** 0.5
    )
    assert bounds(values, level) == pytest.approx((statistics.mean(values), low, high), rel=1e-9)


@checked
@given(values=several, level=levels)
def test_the_interval_is_that_of_the_harness(values: list[float], level: float) -> None:
    metric: Any = ci(level=level)
    harness = metric([SampleScore(score=Score(value=value)) for value in values])
    _, low, high = bounds(values, level)
    # The harness adds in floating point, we add exactly.
    assert (low, high) == pytest.approx((harness["lower"], harness["upper"]), rel=1e-9, abs=1e-9)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    # 2,000 samples of 8 from a normal distribution: 95 % of the intervals cover its mean, with a standard error of
    # sqrt(.95 * .05 / 2000) = .005; four of those each way.
    draws = np.random.default_rng(0).normal(5.0, 2.0, size=(2000, 8))
    covered = [low <= 5.0 <= high for _, low, high in map(bounds, draws.tolist())]
    assert 0.93 < sum(covered) / len(covered) < 0.97


# --- student_interval: properties ---


@checked
@given(values=several, seed=st.integers(0, 100))
def test_the_order_of_values_does_not_matter(values: list[float], seed: int) -> None:
    mixed = random.Random(seed).sample(values, len(values))
    assert bounds(mixed) == pytest.approx(bounds(values), rel=1e-12)


@checked
@given(values=several, shift=st.floats(-100, 100), factor=st.floats(0.1, 10))
def test_the_interval_moves_and_stretches_with_the_values(values: list[float], shift: float, factor: float) -> None:
    moved = bounds([factor * value + shift for value in values])
    assert moved == pytest.approx([factor * bound + shift for bound in bounds(values)], abs=1e-6)


@checked
@given(values=several)
def test_the_interval_is_even_about_the_mean_and_grows_with_the_level(values: list[float]) -> None:
    assume(max(values) - min(values) > 1e-6)
    narrow, wide = student_interval(values, 0.8), student_interval(values, 0.95)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high
    assert wide.high - wide.mean == pytest.approx(wide.mean - wide.low)


def test_the_interval_narrows_as_values_are_added() -> None:
    widths = [high - low for _, low, high in (bounds([4.0, 6.0] * pairs) for pairs in range(1, 20))]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_value_that_is_no_number_is_never_dropped_in_silence(place: int) -> None:
    values = [5.0, 6.0, 7.0]
    values[place] = math.nan
    assert all(math.isnan(number) for number in bounds(values))
    assert student_interval(values).n == 3


# --- mean_interval: what is reported of it ---


def test_a_reported_interval_is_that_of_student_cut_to_the_scale() -> None:
    values = [10, 10, 9, 10, 8, 10]
    raw, found = student_interval(values), mean_interval(values, scale=(1, 10))
    assert raw.high > 10
    assert found == MeanInterval(mean=raw.mean, low=raw.low, high=10, n=6, level=0.95)
    assert mean_interval(values) == raw


@pytest.mark.parametrize("values", [[1, 10, 4, 5, 9], [7.0] * 40, [7.0], [1, 10] * 3])
def test_no_interval_is_reported_of_few_or_equal_values_or_over_the_whole_scale(values: list[float]) -> None:
    found = mean_interval(values, scale=(1, 10))
    assert (found.mean, found.n) == pytest.approx((sum(values) / len(values), len(values)))
    assert math.isnan(found.low) and math.isnan(found.high)


# --- pooled_deviation ---


def test_a_pooled_deviation_worked_out_by_hand() -> None:
    # 1, 3: mean 2, squares 1 + 1 = 2, 1 degree of freedom.  2, 2, 5: mean 3, squares 1 + 1 + 4 = 6, 2 degrees.
    # sqrt((2 + 6) / (1 + 2))
    assert pooled_deviation([[1, 3], [2, 2, 5]]) == pytest.approx(math.sqrt(8 / 3))


@pytest.mark.parametrize("nothing", [[], [[]], [[5.0]], [[5.0], [6.0], []]])
def test_without_repeated_values_there_is_no_deviation(nothing: list[list[float]]) -> None:
    assert math.isnan(pooled_deviation(nothing))


def test_groups_that_agree_within_themselves_deviate_by_nothing() -> None:
    assert pooled_deviation([[3, 3, 3], [9, 9]]) == 0


@checked
@given(data=groups)
def test_the_pooled_deviation_is_the_weighted_mean_of_variances(data: list[list[float]]) -> None:
    repeated = [group for group in data if len(group) >= 2]
    assume(repeated)
    weights = [len(group) - 1 for group in repeated]
    variance = np.average([np.var(group, ddof=1) for group in repeated], weights=weights)
    assert pooled_deviation(data) == pytest.approx(math.sqrt(variance), rel=1e-6, abs=1e-9)


@checked
@given(group=several)
def test_of_one_group_it_is_the_sample_standard_deviation(group: list[float]) -> None:
    assert pooled_deviation([group]) == pytest.approx(statistics.stdev(group), rel=1e-6, abs=1e-9)


@checked
@given(data=groups, single=scores, seed=st.integers(0, 100))
def test_single_values_and_the_order_do_not_matter(data: list[list[float]], single: float, seed: int) -> None:
    mixing = random.Random(seed)
    mixed = [mixing.sample(group, len(group)) for group in mixing.sample(data, len(data))]
    assert pooled_deviation([*mixed, [single]]) == pytest.approx(pooled_deviation(data), nan_ok=True)


@checked
@given(data=groups, shifts=st.lists(st.floats(-100, 100), min_size=8, max_size=8), factor=st.floats(0.1, 10))
def test_only_differences_within_groups_count(data: list[list[float]], shifts: list[float], factor: float) -> None:
    moved = [[factor * value + shift for value in group] for group, shift in zip(data, shifts, strict=False)]
    assert pooled_deviation(moved) == pytest.approx(factor * pooled_deviation(data), abs=1e-6, nan_ok=True)


def test_a_value_that_is_no_number_in_a_group_is_never_dropped_in_silence() -> None:
    assert math.isnan(pooled_deviation([[1, 2, math.nan], [3, 4]]))


# --- reported_bounds: the rule of all tables ---


@pytest.mark.parametrize(
    ("low", "high", "clusters", "scale", "expected"),
    [
        pytest.param(4.0, 6.0, 6, (1.0, 10.0), (4.0, 6.0), id="ordinary"),
        pytest.param(4.0, 6.0, 5, (1.0, 10.0), None, id="too few"),
        pytest.param(-18.4, 5.0, 6, (1.0, 10.0), (1.0, 5.0), id="beyond the lower end"),
        pytest.param(7.0, 32.4, 6, (1.0, 10.0), (7.0, 10.0), id="beyond the upper end"),
        pytest.param(-18.4, 32.4, 6, (1.0, 10.0), None, id="the whole scale"),
        pytest.param(8.0, 8.0, 40, (1.0, 10.0), None, id="no spread"),
        pytest.param(8.0, 8.0 + 1e-12, 40, None, None, id="no spread but for rounding"),
        pytest.param(-18.4, 32.4, 6, None, (-18.4, 32.4), id="no scale"),
        pytest.param(math.nan, 3.0, 60, None, None, id="not known"),
    ],
)
def test_which_intervals_are_reported(
    low: float, high: float, clusters: int, scale: tuple[float, float] | None, expected: tuple[float, float] | None
) -> None:
    lows, highs = reported_bounds([low], [high], [clusters], scale=scale)
    if expected is None:
        assert np.isnan(lows[0]) and np.isnan(highs[0])
    else:
        assert (lows[0], highs[0]) == expected


def test_fewer_clusters_do_at_a_lower_level() -> None:
    assert [fewest_clusters(level) for level in (0.5, 0.75, 0.9, 0.95, 0.99)] == [2, 3, 5, 6, 8]
