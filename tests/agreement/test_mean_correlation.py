"""Tests of `urs_inspect.agreement._mean_correlation`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import pearsonr, spearmanr

from tests.stats.fights import checked
from urs_inspect.agreement._mean_correlation import (
    correlate_means,
    exact_means,
    fisher_interval,
    table_means,
)
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._means import MeanDraws


def draws_of(values: Floats, draws: Floats) -> MeanDraws:
    questions = np.full(len(values), 9)
    return MeanDraws(values, draws, questions, 0, questions)


def test_values_worked_out_by_hand() -> None:
    # 1 2 3 4 and 1 3 2 5: deviations -1.5 -.5 .5 1.5 and -1.75 .25 -.75 2.25; products 5.5, squares
    # 5 and 8.75. Ranks 1 2 3 4 and 1 3 2 4: 1 - 6 * 2 / 60.
    found = correlate_means(exact_means([1, 2, 3, 4]), exact_means([1, 3, 2, 5]), clusters=10)
    assert found.pearson.value == pytest.approx(5.5 / math.sqrt(5 * 8.75))
    assert found.spearman == pytest.approx(0.8)
    assert found.without_noise == found.pearson.value
    assert math.isnan(found.pearson.low)  # both sides count as exact, so that nothing was resampled


def test_fishers_interval_worked_out_by_hand() -> None:
    # r = .95 over 6 points: artanh .95 = 1.83178, 1.95996 / sqrt(3) = 1.13159; tanh .70020 and tanh
    # 2.96337
    assert fisher_interval(0.95, 6) == pytest.approx((0.60449, 0.99468), abs=3e-5)
    for r, points in ((0.5, 3), (math.nan, 9), (1.0, 9), (-1.0, 9)):
        assert np.isnan(fisher_interval(r, points)).all()


@checked
@given(seed=st.integers(0, 999), points=st.integers(4, 30), level=st.floats(0.5, 0.99))
def test_fishers_interval_is_that_of_scipy(seed: int, points: int, level: float) -> None:
    found = pearsonr(*np.random.default_rng(seed).normal(size=(2, points)))
    expected = found.confidence_interval(level)
    assert fisher_interval(float(found.statistic), points, level) == pytest.approx(
        (expected.low, expected.high)
    )


def test_draws_are_those_of_a_slow_resampling() -> None:
    table = np.random.default_rng(1).normal(size=(7, 3))
    table[2, 1] = np.nan
    found = table_means(table, rounds=200, seed=5)
    drawn = np.random.default_rng(5).integers(7, size=(200, 7))
    assert found.values == pytest.approx(np.nanmean(table, axis=0))
    assert found.draws == pytest.approx(np.nanmean(table[drawn], axis=1), nan_ok=True)


def slow_without_noise(first: MeanDraws, second: MeanDraws) -> tuple[float, list[float]]:
    """A slow, obvious way to take noise off a correlation: as it is, and in each round."""
    noises = []
    for side in (first, second):
        shifts = [row - side.draws.mean(axis=0) for row in side.draws]
        noises.append(float(np.mean([np.var(shift, ddof=1) for shift in shifts])))

    def without(x: Floats, y: Floats, times: int) -> float:
        left = [
            max(0.0, float(np.var(v, ddof=1)) - times * n)
            for v, n in zip((x, y), noises, strict=True)
        ]
        above = float(np.cov(x, y)[0, 1])
        return (
            max(-1.0, min(1.0, above / math.sqrt(left[0] * left[1])))
            if min(left)
            else math.copysign(1, above)
        )

    rounds = [without(x, y, 2) for x, y in zip(first.draws, second.draws, strict=True)]
    noisy = any(
        np.var(side.values, ddof=1) <= noise
        for side, noise in zip((first, second), noises, strict=True)
    )
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
    value, rounds = slow_without_noise(first, second)
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
    found, turned = (
        correlate_means(first, second, clusters=9),
        correlate_means(second, first, clusters=9),
    )
    mirrored = correlate_means(
        draws_of(3 - 2 * first.values, 3 - 2 * first.draws), second, clusters=9
    )
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
        first, second = (
            draws_of(side, side + 0.4 * generator.normal(size=(300, 6))) for side in sides
        )
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
    assert correlate_means(exact, other, clusters=30) == correlate_means(
        repeated, other, clusters=30
    )


@pytest.mark.parametrize(
    "means",
    [
        pytest.param(exact_means([1, 1, 1]), id="flat"),
        pytest.param(exact_means([0.1 + 0.2, 0.3, 0.3]), id="flat but for rounding"),
        pytest.param(exact_means([1, 2]), id="two points"),
        pytest.param(
            table_means([[1, math.nan, 2], [2, math.nan, 1]], rounds=5),
            id="a column without values",
        ),
    ],
)
def test_what_does_not_vary_has_no_correlation(means: MeanDraws) -> None:
    found = correlate_means(means, exact_means(range(1, len(means.values) + 1)), clusters=5)
    assert np.isnan(
        [found.pearson.value, found.pearson.low, found.spearman, *found.over_points]
    ).all()


# --- beside an implementation that goes row by row ---


def variance(values: Floats) -> float:
    return float(((values - values.mean()) ** 2).sum() / (len(values) - 1))


def slow_noise(draws: Floats) -> float:
    """Mean over rounds of the variance over points of what differs from the mean of all rounds."""
    known = np.array([row for row in draws if not np.isnan(row).any()])
    if len(known) < 2:
        return 0.0
    return float(np.mean([variance(row - known.mean(axis=0)) for row in known]))


def slow_r(x: Floats, y: Floats, noise_x: float = 0.0, noise_y: float = 0.0) -> float:
    """Pearson's r with the noise taken off either variance; its sign where nothing is left."""
    if np.isnan(x).any() or np.isnan(y).any():
        return math.nan
    covariance = float(((x - x.mean()) * (y - y.mean())).sum() / (len(x) - 1))
    left_x = max(variance(x) - noise_x, 0.0)
    left_y = max(variance(y) - noise_y, 0.0)
    if left_x * left_y == 0:
        return float(np.sign(covariance))
    return float(np.clip(covariance / math.sqrt(left_x * left_y), -1, 1))


def means(values: Floats, noise: float, seed: int, rounds: int = 80) -> MeanDraws:
    draws = values + np.random.default_rng(seed).normal(0, noise, (rounds, len(values)))
    draws[3, 0] = np.nan  # a round in which nothing of the first point was drawn
    n = np.full(len(values), 40)
    return MeanDraws(values, draws, n, seed, n)


NOISES = [(0.1, 0.2), (0.5, 0.1), (3.0, 0.1), (0.1, 3.0), (3.0, 3.0), (0.1, 0.0), (0.0, 0.0)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("noise", "other_noise"), NOISES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_means_correlate_without_their_noise(
    seed: int, noise: float, other_noise: float, level: float
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=5)
    y = np.round(x) + rng.normal(0, 0.5, 5)
    first = means(x, noise, seed) if noise else exact_means(x)
    second = means(y, other_noise, seed + 100) if other_noise else exact_means(y)
    found = correlate_means(first, second, clusters=30, level=level, seed=9)
    r = slow_r(x, y)
    noise_x = slow_noise(first.draws)
    noise_y = slow_noise(second.draws)
    rounds = max(len(first.draws), len(second.draws))
    draws = []
    for number in range(rounds):
        row = first.draws[number % len(first.draws)]
        other_row = second.draws[number % len(second.draws)]
        draws.append(slow_r(row, other_row, 2 * noise_x, 2 * noise_y))
    known = [draw for draw in draws if not math.isnan(draw)]
    bounds = (math.nan, math.nan)
    if rounds > 1:
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        bounds = (min(low, r), max(high, r))
    assert found.pearson.value == pytest.approx(r)
    assert (found.pearson.low, found.pearson.high) == pytest.approx(bounds, nan_ok=True)
    assert (found.pearson.level, found.pearson.rounds, found.pearson.seed) == (level, rounds, 9)
    without = math.nan
    if variance(x) > noise_x and variance(y) > noise_y:
        without = slow_r(x, y, noise_x, noise_y)
    assert found.without_noise == pytest.approx(without, nan_ok=True)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.over_points == pytest.approx(slow_fisher(r, 5, level))


def slow_fisher(r: float, points: int, level: float) -> tuple[float, float]:
    z = 0.5 * math.log((1 + r) / (1 - r))
    margin = stats.norm.ppf((1 + level) / 2) / math.sqrt(points - 3)
    return tuple(math.tanh(bound) for bound in (z - margin, z + margin))  # type: ignore[return-value]


@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_holds_the_correlation_of_the_means_themselves(sign: int) -> None:
    """Rounds that all correlate less, and rounds that all correlate more."""
    x = np.array([1.0, 2.0, 3.0, 4.0])
    r = slow_r(x, np.array([1.0, 2.0, 4.0, 3.0]))
    for drawn, is_less in ((np.array([2.0, 1.0, 4.0, 3.0]), True), (x, False)):
        other = sign * np.array([1.0, 2.0, 4.0, 3.0])
        rounds = np.tile(sign * drawn, (9, 1))
        second = MeanDraws(other, rounds, np.full(4, 9), 0, np.full(4, 9))
        found = correlate_means(exact_means(x), second, clusters=9).pearson
        assert found.value == pytest.approx(sign * r)
        moved = sign * slow_r(x, drawn)
        assert (moved < sign * r) == (is_less == (sign > 0))
        assert (found.low, found.high) == pytest.approx(tuple(sorted((moved, sign * r))))


def test_three_points_correlate_and_two_do_not() -> None:
    x = np.array([1.0, 2.0, 4.0])
    y = np.array([3.0, 1.0, 7.0])
    three = correlate_means(exact_means(x), exact_means(y), clusters=3)
    assert three.pearson.value == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert np.isnan(three.over_points).all()
    two = correlate_means(exact_means(x[:2]), exact_means(y[:2]), clusters=3)
    assert np.isnan([two.pearson.value, two.without_noise, two.spearman]).all()
    for still in (np.ones(4), np.array([1.0, 2.0, math.nan, 3.0])):
        none = correlate_means(exact_means(np.arange(4.0)), exact_means(still), clusters=3)
        assert np.isnan([none.pearson.value, none.without_noise, none.spearman]).all()


def test_fishers_interval_takes_four_points_and_no_line() -> None:
    assert fisher_interval(0.5, 4) == pytest.approx(slow_fisher(0.5, 4, 0.95))
    for r, points in ((0.5, 3), (1.0, 9), (-1.0, 9), (math.nan, 9)):
        assert np.isnan(fisher_interval(r, points)).all()


def test_sides_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="as many points"):
        correlate_means(exact_means([1, 2, 3]), exact_means([1, 2]), clusters=5)
    with pytest.raises(ValueError, match="table"):
        table_means(np.empty((0, 3)))
