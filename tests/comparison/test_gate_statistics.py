import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from urs_inspect.comparison._gate_statistics import (
    mean_bounds,
    pass_power,
    passing_margin,
    questions_to_pass,
    score_slope,
    verdicts,
)
from urs_inspect.stats._power import FEWEST


def slow_bounds(differences, clusters, reach, level):
    """The formula of `mean_bounds` for one column, cluster by cluster."""
    names = sorted(set(clusters))
    sums = [
        sum(d for d, c in zip(differences, clusters, strict=True) if c == name) for name in names
    ]
    sizes = [clusters.count(name) for name in names]
    n, there = len(differences), len(names)
    mean = sum(differences) / n
    residuals = [total - mean * size for total, size in zip(sums, sizes, strict=True)]
    squares = sum(r**2 for r in residuals)
    error = math.sqrt(there / (there - 1) * squares) / n
    t = stats.t.ppf(level, there - 1)
    whole = reach * n / there  # a cluster of mean size that loses all it can
    reached = sum(total**2 for total in sums) / there / whole**2
    unseen = -math.log(1 - level) * whole * math.sqrt(max(0, 1 - reached)) / n
    shift = sum(r**3 for r in residuals) / squares * (1 + 2 * t**2) / 6 / n if squares else 0
    half = math.hypot(t * error, unseen)
    return mean + shift - half, mean + shift + half


def test_a_bound_over_symmetric_differences_that_reach_both_ends_is_students():
    drawn = np.array([[-3.0], [3], [-3], [3], [3], [-3], [3], [-3]])
    bounds = mean_bounds(drawn, reach=3)
    low, high = stats.t.interval(0.9, len(drawn) - 1, drawn.mean(), stats.sem(drawn)[0])
    assert [bounds.low[0], bounds.high[0]] == pytest.approx([low, high])
    assert bounds.unseen[0] == 0


def test_where_no_score_changed_the_bound_is_the_rule_of_three():
    # A whole cluster may change.
    for clusters, there in ((None, 100), (np.arange(100) // 5, 20)):
        found = mean_bounds(np.zeros((100, 1)), clusters, reach=1)
        assert [found.low[0], found.high[0]] == pytest.approx(
            [math.log(0.05) / there, -math.log(0.05) / there]
        )


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 9)), min_size=20, max_size=60),
    st.sampled_from([0.9, 0.975]),
)
def test_bounds_equal_the_formula_cluster_by_cluster(drawn, level):
    differences, clusters = (list(part) for part in zip(*drawn, strict=True))
    table = np.stack([np.array(differences, dtype=float), np.full(len(drawn), np.nan)], axis=1)
    found = mean_bounds(table, np.array(clusters), reach=6, level=level)
    enough = len(set(clusters)) >= FEWEST
    expected = slow_bounds(differences, clusters, 6, level) if enough else (math.nan, math.nan)
    assert [found.low[0], found.high[0]] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert np.isnan([found.low[1], found.high[1]]).all()  # there are no scores


@pytest.mark.parametrize("new", [0.6, 0.75])
def test_equal_differences_have_no_spread_and_no_power(new: float) -> None:
    # 0.6 less 0.5 and 1.6 less 1.5 differ by rounding; 0.75 less 0.5 is exact.
    differences = np.array([[new - 0.5]] * 30)
    differences[::3] = (new + 1) - 1.5
    bounds = mean_bounds(differences, reach=1)
    assert bounds.errors[0] == 0
    power = pass_power(0.9, float(bounds.halves[0]), float(bounds.errors[0]), 30, equivalent=True)
    assert math.isnan(power)


def test_six_clusters_have_bounds_and_five_have_none() -> None:
    rng = np.random.default_rng(0)
    for clusters, has_bounds in ((5, False), (6, True), (7, True)):
        ids = np.arange(21) % clusters
        found = mean_bounds(rng.normal(size=(21, 1)), ids, reach=3)
        assert found.clusters.tolist() == [clusters]
        for bound in (found.low, found.high, found.halves, found.unseen):
            assert np.isnan(bound[0]) != has_bounds


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=30, max_size=60), st.booleans())
def test_bounds_change_sides_with_the_sign_and_scale_with_the_unit(drawn, sequential):
    column = np.array(drawn, dtype=float)[:, None]
    one = mean_bounds(column, reach=9, sequential=sequential)
    other = mean_bounds(-column / 10, reach=0.9, sequential=sequential)
    assert other.high[0] == pytest.approx(-one.low[0] / 10)
    assert other.low[0] == pytest.approx(-one.high[0] / 10)


def test_a_confidence_sequence_is_wider_than_a_bound_for_one_look_and_needs_more_clusters():
    rng = np.random.default_rng(0)
    for n in (20, 100, 1000):
        column = rng.standard_normal((n, 1))
        once, always = (
            mean_bounds(column, reach=1, sequential=sequential) for sequential in (False, True)
        )
        assert 1.5 < always.halves[0] / once.halves[0] < 2.2
    assert np.isnan(mean_bounds(column[:7], reach=9, sequential=True).low[0])
    assert not np.isnan(mean_bounds(column[:7], reach=9).low[0])


@pytest.mark.parametrize("sign", [1, -1])
def test_skewed_differences_move_the_bounds_for_all_looks_only_outwards(sign):
    column = sign * np.random.default_rng(2).exponential(size=(200, 1))
    found = mean_bounds(column, reach=9, sequential=True)
    below = float((found.values - found.low - found.halves)[0])
    above = float((found.high - found.values - found.halves)[0])
    assert sign * (above - below) > 0.001
    assert min(above, below) == pytest.approx(0)


def test_the_confidence_sequence_inverts_the_mixture():
    """At a bound, Lai's mixture of likelihood ratios is 1 / (2 alpha)."""
    column = np.random.default_rng(1).standard_normal(200)
    found = mean_bounds(column[:, None], reach=9, sequential=True)
    of_t = math.sqrt(found.halves[0] ** 2 - found.unseen[0] ** 2)
    centred = column - (found.values[0] - of_t)
    n, weight = len(column), 12.5
    squares, total = (centred**2).sum(), centred.sum()
    grown = math.sqrt(weight / (n + weight)) * (1 - total**2 / ((n + weight) * squares)) ** (-n / 2)
    assert grown == pytest.approx(10, rel=1e-6)


@pytest.mark.parametrize("size", [1, 5])
def test_at_most_one_in_twenty_passes_a_true_loss_at_the_margin(size):
    rng, of, n = np.random.default_rng(2), 4000, 100
    lost = np.repeat(rng.random((n // size, of)) < 0.1, size, axis=0)
    found = mean_bounds(-lost.astype(float), None if size == 1 else np.arange(n) // size, reach=1)
    plain = found.values - stats.t.ppf(0.95, found.clusters - 1) * found.errors
    assert (plain > -0.1).mean() > 0.08
    assert (found.low > -0.1).mean() < 0.06


def rare_losses(rng, n, of):
    """Scores of 0 to 1 that move a little, of which one in fifty loses all; a mean loss of 0.02."""
    lost = rng.random((n, of)) < 0.02
    return np.clip(0.001 * rng.standard_normal((n, of)) - lost, -1, 1)


def test_rare_losses_among_scores_that_all_move_a_little_pass_at_most_one_in_twenty_times():
    bounds = mean_bounds(rare_losses(np.random.default_rng(0), 100, 4000), reach=1)
    assert (bounds.low > -0.02).mean() <= 0.05


def test_rare_losses_pass_at_most_one_in_twenty_times_over_all_looks():
    series = rare_losses(np.random.default_rng(0), 1000, 500)
    passed = np.zeros(500, dtype=bool)
    for look in np.geomspace(20, 1000, 50).round().astype(int):
        passed |= mean_bounds(series[:look], reach=1, sequential=True).low > -0.02
    assert passed.mean() <= 0.05


def test_power_is_how_often_equals_pass():
    rng = np.random.default_rng(3)
    found = mean_bounds(rng.standard_normal((50, 4000)), reach=5)
    for equivalent in (False, True):
        passed = (found.low > -0.4) & ((found.high < 0.4) | (not equivalent))
        printed = pass_power(
            0.4, float(found.halves.mean()), float(found.errors.mean()), 50, equivalent=equivalent
        )
        assert passed.mean() == pytest.approx(printed, abs=0.03)
        margin = passing_margin(0.2, 0.1, 50, equivalent=equivalent)
        assert pass_power(margin, 0.2, 0.1, 50, equivalent=equivalent) == pytest.approx(0.8)


@pytest.mark.parametrize("sequential", [False, True])
def test_with_the_questions_needed_the_power_is_80_percent(sequential):
    draws, margin = np.random.default_rng(4).standard_normal((3000, 500)), 0.2
    start = mean_bounds(draws[:100], reach=9)
    options = {"level": 0.95, "sequential": sequential}
    unseen = float(mean_bounds(draws[:100], reach=9, **options).unseen.mean())
    needed = questions_to_pass(margin, 0.1, 100, 100, unseen=unseen, **options)
    assert needed is not None
    passed = (mean_bounds(draws[:needed], reach=9, sequential=sequential).low > -margin).mean()
    assert passed == pytest.approx(0.8, abs=0.06)
    assert start.errors.mean() == pytest.approx(0.1, abs=0.005)
    assert questions_to_pass(-0.1, 0.1, 100, 100, unseen=unseen, **options) is None


def test_a_slope_is_that_of_least_squares_with_clustered_errors():
    rng = np.random.default_rng(5)
    old = rng.normal(6, 1, 300)
    shifted, stretched = old + 0.4 + rng.normal(0, 0.3, 300), 1.3 * old + rng.normal(0, 0.3, 300)
    base = old + rng.normal(0, 0.3, 300)
    slope, p = score_slope(base, stretched, np.arange(300))
    assert slope == pytest.approx(stats.linregress((base + stretched) / 2, stretched - base).slope)
    assert p < 0.001
    assert score_slope(base, shifted, np.arange(300))[1] > 0.01
    assert all(map(math.isnan, score_slope(base[:5], shifted[:5], np.arange(5))))


@pytest.mark.parametrize(("factor", "p"), [(1.0, 1.0), (1.5, 0.0), (0.5, 0.0)])
def test_a_shift_that_follows_the_score_exactly_is_certain(factor: float, p: float) -> None:
    base = np.arange(1.0, 13.0)
    slope, found = score_slope(base, factor * base + 1, np.arange(12) // 2)
    # The mean of both is (1 + factor) / 2 of the score, and the shift factor - 1 of it.
    assert slope == pytest.approx(2 * (factor - 1) / (1 + factor))
    assert found == pytest.approx(p, abs=1e-12)
    assert all(map(math.isnan, score_slope(np.full(12, 5.0), np.full(12, 6.0), np.arange(12))))


@pytest.mark.parametrize("equivalent", [False, True])
def test_the_margin_that_equals_pass_is_that_of_a_power_of_eighty_percent(equivalent: bool) -> None:
    margin = passing_margin(0.4, 0.1, 15, equivalent=equivalent)
    assert margin > 0.4
    power = pass_power(margin, 0.4, 0.1, 15, equivalent=equivalent)
    assert power == pytest.approx(0.8)
    t = stats.t.cdf((0.45 - 0.4) / 0.1, 14)
    expected = 2 * t - 1 if equivalent else t
    assert pass_power(0.45, 0.4, 0.1, 15, equivalent=equivalent) == pytest.approx(expected)
    below = pass_power(0.3, 0.4, 0.1, 15, equivalent=equivalent)
    assert below == pytest.approx(0.0 if equivalent else stats.t.cdf(-1, 14))
    assert math.isnan(pass_power(0.45, 0.4, 0.0, 15))
    assert math.isnan(pass_power(0.45, math.nan, 0.1, 15))


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("equivalent", [False, True])
@pytest.mark.parametrize("size", [1, 2])
def test_samples_to_pass_are_those_of_bounds_over_as_many(
    sequential: bool, equivalent: bool, size: int
) -> None:
    """The first number of clusters, of at least six, whose passing margin is at most the margin."""
    rng = np.random.default_rng(1)
    table = np.round(rng.normal(0, 0.3, (40, 1)), 3)
    clusters = np.arange(40) // size
    level = 0.9
    bounds = mean_bounds(table, clusters, reach=1, level=level, sequential=sequential)
    error = float(bounds.errors[0])
    unseen = float(bounds.unseen[0])
    there_now = 40 // size
    found = questions_to_pass(
        0.1,
        error,
        40,
        there_now,
        unseen=unseen,
        level=level,
        sequential=sequential,
        equivalent=equivalent,
    )

    def quantile_and_alpha(there: int) -> tuple[float, float]:
        if not sequential:
            return float(stats.t.ppf(level, there - 1)), 1 - level
        alpha = (1 - level) * math.sqrt(12.5 / (there + 12.5))
        share = (1 - (2 * alpha) ** (2 / there)) * (there + 12.5) / there
        if share >= 1:
            return math.nan, alpha
        return math.sqrt((there - 1) * share / (1 - share)), alpha

    for there in range(6, 5000):
        quantile, alpha = quantile_and_alpha(there)
        error_there = error * math.sqrt(there_now / there)
        _, alpha_now = quantile_and_alpha(there_now)
        unseen_there = unseen * there_now / there * math.log(alpha) / math.log(alpha_now)
        half = math.hypot(quantile * error_there, unseen_there)
        if passing_margin(half, error_there, there, equivalent=equivalent) <= 0.1:
            break
    assert found == there * size
    assert there > there_now
    nothing = questions_to_pass(
        0.1, 0.0, 40, 40, unseen=0.1, level=level, sequential=sequential, equivalent=equivalent
    )
    assert nothing is None
    generous = questions_to_pass(
        1e9, error, 40, 40, unseen=unseen, level=level, sequential=False, equivalent=equivalent
    )
    assert generous == 6


@pytest.mark.parametrize(
    ("low", "high", "different", "one_sided", "two_sided"),
    [
        (-0.1, 0.3, False, 2, 2),  # just at the margin of 0.1
        (-0.099, 0.3, False, 0, 2),
        (-0.099, 0.099, False, 0, 0),
        (-0.099, 0.1, False, 0, 2),
        (-0.09, -0.01, True, 0, 0),
        (-0.5, 0.0, True, 2, 1),
        (-0.5, -0.001, True, 1, 1),
        (-0.5, -0.001, False, 1, 2),
        (0.2, 0.5, True, 0, 1),
        (math.nan, math.nan, False, 2, 2),
    ],
)
def test_a_verdict_at_just_below_and_just_above_its_limits(
    low: float, high: float, different: bool, one_sided: int, two_sided: int
) -> None:
    bounds = np.array([low]), np.array([high])
    assert verdicts(*bounds, 0.1).tolist() == [one_sided]
    assert verdicts(*bounds, 0.1, np.array([different])).tolist() == [two_sided]


@pytest.mark.parametrize("clusters", [5, 6, 9])
def test_the_slope_of_a_shift_is_that_on_the_mean_of_both_scores(clusters: int) -> None:
    rng = np.random.default_rng(clusters)
    base = rng.normal(5, 2, 30)
    new = base + 0.2 * (base - 5) + rng.normal(0, 0.5, 30)
    base[3] = np.nan
    new[4] = np.nan
    ids = np.arange(30) % clusters
    slope, p = score_slope(base, new, ids)
    if clusters < 6:
        assert math.isnan(slope)
        assert math.isnan(p)
        return
    known = ~np.isnan(base + new)
    level = ((base + new) / 2)[known]
    shift = (new - base)[known]
    fit = stats.linregress(level, shift)
    residuals = shift - fit.intercept - fit.slope * level
    sums = [
        sum((level - level.mean())[ids[known] == one] * residuals[ids[known] == one])
        for one in range(clusters)
    ]
    square = ((level - level.mean()) ** 2).sum()
    error = math.sqrt(clusters / (clusters - 1) * sum(total**2 for total in sums)) / square
    assert slope == pytest.approx(fit.slope)
    assert p == pytest.approx(2 * stats.t.sf(abs(fit.slope) / error, clusters - 1))
