"""Correlations of means over a handful of points: by hand, by slow obvious references, by properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from tests.stats.fights import checked
from urs_inspect.stats.bootstrap import Floats
from urs_inspect.stats.mean_correlation import correlate_means, derived_seed, exact_means, fisher_interval, table_means
from urs_inspect.stats.means import MeanDraws


def draws_of(values: Floats, draws: Floats) -> MeanDraws:
    return MeanDraws(values, draws, np.full(len(values), 9), 0)


def test_values_worked_out_by_hand() -> None:
    # 1 2 3 4 and 1 3 2 5: deviations -1.5 -.5 .5 1.5 and -1.75 .25 -.75 2.25; products 5.5, squares 5 and 8.75.
    # Ranks 1 2 3 4 and 1 3 2 4: 1 - 6 * 2 / 60.
    found = correlate_means(exact_means([1, 2, 3, 4]), exact_means([1, 3, 2, 5]), clusters=10)
    assert found.pearson.value == pytest.approx(5.5 / math.sqrt(5 * 8.75))
    assert found.spearman == pytest.approx(0.8)
    assert found.without_noise == found.pearson.value
    assert math.isnan(found.pearson.low)  # both sides count as exact, so that nothing was resampled


def test_fishers_interval_worked_out_by_hand() -> None:
    # r = .95 over 6 points: artanh .95 = 1.83178, 1.95996 / sqrt(3) = 1.13159; tanh .70020 and tanh 2.96337
    assert fisher_interval(0.95, 6) == pytest.approx((0.60449, 0.99468), abs=3e-5)
    for r, points in ((0.5, 3), (math.nan, 9), (1.0, 9), (-1.0, 9)):
        assert np.isnan(fisher_interval(r, points)).all()


@checked
@given(seed=st.integers(0, 999), points=st.integers(4, 30), level=st.floats(0.5, 0.99))
def test_fishers_interval_is_that_of_scipy(seed: int, points: int, level: float) -> None:
    found = pearsonr(*np.random.default_rng(seed).normal(size=(2, points)))
    expected = found.confidence_interval(level)
    assert fisher_interval(float(found.statistic), points, level) == pytest.approx((expected.low, expected.high))


def test_draws_are_those_of_a_slow_resampling() -> None:
    table = np.random.default_rng(1).normal(size=(7, 3))
    table[2, 1] = np.nan
    found = table_means(table, rounds=200, seed=5)
    drawn = np.random.default_rng(5).integers(7, size=(200, 7))
    assert found.values == pytest.approx(np.nanmean(table, axis=0))
    assert found.draws == pytest.approx(np.nanmean(table[drawn], axis=1), nan_ok=True)


def slow(first: MeanDraws, second: MeanDraws) -> tuple[float, list[float]]:
    """A slow, obvious way to take noise off a correlation: as it is, and in each round."""
    noises = []
    for side in (first, second):
        shifts = [row - side.draws.mean(axis=0) for row in side.draws]
        noises.append(float(np.mean([np.var(shift, ddof=1) for shift in shifts])))

    def without(x: Floats, y: Floats, times: int) -> float:
        left = [max(0.0, float(np.var(v, ddof=1)) - times * n) for v, n in zip((x, y), noises, strict=True)]
        above = float(np.cov(x, y)[0, 1])
        return max(-1.0, min(1.0, above / math.sqrt(left[0] * left[1]))) if min(left) else math.copysign(1, above)

    rounds = [without(x, y, 2) for x, y in zip(first.draws, second.draws, strict=True)]
    noisy = any(np.var(side.values, ddof=1) <= noise for side, noise in zip((first, second), noises, strict=True))
    return math.nan if noisy else without(first.values, second.values, 1), rounds


@checked
@given(points=st.integers(3, 8), seed=st.integers(0, 99), noise=st.floats(0.05, 2))
def test_noise_is_taken_off_as_a_slow_way_does(points: int, seed: int, noise: float) -> None:
    generator = np.random.default_rng(seed)
    first, second = (
        draws_of(values, values + noise * generator.normal(size=(40, points)))
        for values in generator.normal(size=(2, points))
    )
    found = correlate_means(first, second, clusters=9)
    r = pearsonr(first.values, second.values).statistic
    assert found.pearson.value == pytest.approx(r)
    assert found.spearman == pytest.approx(spearmanr(first.values, second.values).statistic)
    value, rounds = slow(first, second)
    assert found.without_noise == pytest.approx(value, nan_ok=True)
    low, high = np.quantile(rounds, [0.025, 0.975])
    assert (found.pearson.low, found.pearson.high) == pytest.approx((min(low, r), max(high, r)))


@checked
@given(points=st.integers(3, 8), seed=st.integers(0, 99), noise=st.floats(0.05, 2))
def test_sides_units_and_signs_do_not_matter(points: int, seed: int, noise: float) -> None:
    generator = np.random.default_rng(seed)
    first, second = (
        draws_of(values, values + noise * generator.normal(size=(40, points)))
        for values in generator.normal(size=(2, points))
    )
    found, turned = correlate_means(first, second, clusters=9), correlate_means(second, first, clusters=9)
    mirrored = correlate_means(draws_of(3 - 2 * first.values, 3 - 2 * first.draws), second, clusters=9)
    for other, sign in ((turned, 1), (mirrored, -1)):
        assert other.without_noise == pytest.approx(sign * found.without_noise, nan_ok=True)
        assert other.spearman == pytest.approx(sign * found.spearman)
        bounds = sorted((sign * found.pearson.low, sign * found.pearson.high))
        assert [other.pearson.low, other.pearson.high] == pytest.approx(bounds)


def test_noise_that_all_points_share_takes_nothing_off() -> None:
    values = np.array([1.0, 2.0, 4.0, 3.0])
    shared = draws_of(values, values + np.random.default_rng(0).normal(size=(50, 1)))
    found = correlate_means(shared, exact_means([1, 3, 4, 5]), clusters=9)
    assert found.without_noise == pytest.approx(found.pearson.value)
    assert found.pearson.high == pytest.approx(found.pearson.low)


def test_means_that_are_all_noise_say_nothing() -> None:
    values = np.array([0.01, 0.0, 0.02, 0.01])
    noisy = draws_of(values, values + np.random.default_rng(0).normal(size=(400, 4)))
    found = correlate_means(noisy, exact_means([1, 2, 3, 4]), clusters=9)
    assert (found.pearson.low, found.pearson.high) == (-1, 1)
    assert math.isnan(found.without_noise)


def test_the_interval_holds_the_correlation_without_noise_where_plain_percentiles_do_not() -> None:
    """Thirty studies of means that truly correlate at 0.97, with noise of half their spread."""
    truth = np.array([1.0, 0.8, 0.6, -0.2, -0.6, -1.6])
    other = truth + np.array([0.2, -0.3, 0.25, -0.3, 0.1, 0.05])
    r = pearsonr(truth, other).statistic
    generator = np.random.default_rng(7)
    held = plain = 0
    for _ in range(30):
        sides = [means + 0.4 * generator.normal(size=6) for means in (truth, other)]
        first, second = (draws_of(side, side + 0.4 * generator.normal(size=(300, 6))) for side in sides)
        found = correlate_means(first, second, clusters=99)
        held += found.pearson.low <= r <= found.pearson.high
        drawn = [np.corrcoef(x, y)[0, 1] for x, y in zip(first.draws, second.draws, strict=True)]
        plain += bool(np.quantile(drawn, 0.025) <= r <= np.quantile(drawn, 0.975))
    assert held >= 28  # 95% of 30 is 28.5
    assert plain <= 20


def test_one_exact_side_is_held_against_every_round() -> None:
    other = table_means(np.random.default_rng(2).normal(size=(30, 4)), rounds=100)
    exact = exact_means([1, 2, 3, 5])
    repeated = draws_of(exact.values, np.repeat(exact.draws, 100, axis=0))
    assert correlate_means(exact, other, clusters=30) == correlate_means(repeated, other, clusters=30)


@pytest.mark.parametrize(
    "means",
    [
        pytest.param(exact_means([1, 1, 1]), id="flat"),
        pytest.param(exact_means([0.1 + 0.2, 0.3, 0.3]), id="flat but for rounding"),
        pytest.param(exact_means([1, 2]), id="two points"),
        pytest.param(table_means([[1, math.nan, 2], [2, math.nan, 1]], rounds=5), id="a column without values"),
    ],
)
def test_what_does_not_vary_has_no_correlation(means: MeanDraws) -> None:
    found = correlate_means(means, exact_means(range(1, len(means.values) + 1)), clusters=5)
    assert np.isnan([found.pearson.value, found.pearson.low, found.spearman, *found.over_points]).all()


def test_seeds_of_parts_differ_and_stay() -> None:
    seeds = [derived_seed(0, part) for part in range(50)]
    assert len(set(seeds)) == 50
    assert derived_seed(0, 7) == seeds[7] != derived_seed(1, 7)
