"""Tests of `urs_inspect.stats._bootstrap`."""

import math
import statistics
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from inspect_ai.scorer import SampleScore, Score, ci
from scipy import stats

from tests.stats.fights import checked
from tests.stats.slow import expanded
from urs_inspect.stats import Estimate, mean_interval
from urs_inspect.stats import _bootstrap as bootstrap
from urs_inspect.stats._bootstrap import (
    Resampling,
    bootstrap_counts,
    bootstrap_statistic,
    cluster_counts,
    estimates,
    number_clusters,
    percentile_bounds,
    pooled_deviation,
    reported_bounds,
    resample,
    resample_members,
    single_product,
    student_interval,
)

scores = st.floats(1, 10)
several = st.lists(scores, min_size=2, max_size=30)
groups = st.lists(st.lists(scores, max_size=6), max_size=8)
levels = st.floats(0.01, 0.999)


def bounds(values: list[float], level: float = 0.95) -> tuple[float, float, float]:
    interval = student_interval(values, level)
    assert (interval.n, interval.clusters, interval.level, interval.rounds) == (
        len(values),
        len(values),
        level,
        0,
    )
    return interval.value, interval.low, interval.high


@pytest.mark.parametrize(
    ("values", "level", "expected"),
    [
        # Mean 4, s = sqrt((4 + 0 + 4) / 2) = 2, t(2 degrees, 97.5 %) = 4.302653 from a printed
        # table, margin 4.302653 * 2 / sqrt(3) = 4.968276.
        pytest.param([2, 4, 6], 0.95, (4, 4 - 4.968276, 4 + 4.968276), id="three"),
        # Mean 2, s = sqrt(2), s / sqrt(2) = 1; t(1 degree, 75 %) = tan(pi / 4) = 1.
        pytest.param([1, 3], 0.5, (2, 1, 3), id="another level"),
        pytest.param([7.0] * 5, 0.95, (7, 7, 7), id="equal"),
        pytest.param([6.5], 0.95, (6.5, math.nan, math.nan), id="one"),
        pytest.param([], 0.95, (math.nan,) * 3, id="none"),
        # A value that is no number is never dropped in silence.
        pytest.param([5, math.nan, 7], 0.95, (math.nan,) * 3, id="not a number"),
    ],
)
def test_an_interval_worked_out_by_hand(
    values: list[float], level: float, expected: tuple[float, ...]
) -> None:
    assert bounds(values, level) == pytest.approx(expected, abs=1e-5, nan_ok=True)


@checked
@given(values=several, level=levels)
def test_the_interval_is_that_of_the_t_distribution_and_of_the_harness(
    values: list[float], level: float
) -> None:
    metric: Any = ci(level=level)
    harness = metric([SampleScore(score=Score(value=value)) for value in values])
    mean, low, high = bounds(values, level)
    # The harness adds in floating point, we add exactly.
    assert (low, high) == pytest.approx((harness["lower"], harness["upper"]), rel=1e-9, abs=1e-9)
    assume(max(values) - min(values) > 1e-6)
    error = statistics.stdev(values) / len(values) ** 0.5
    expected = stats.t.interval(level, len(values) - 1, loc=statistics.mean(values), scale=error)
    assert (mean, low, high) == pytest.approx((statistics.mean(values), *expected), rel=1e-9)


def test_a_reported_interval_is_that_of_student_cut_to_the_scale() -> None:
    values = [10, 10, 9, 10, 8, 10]
    raw, found = student_interval(values), mean_interval(values, scale=(1, 10))
    assert raw.high > 10
    assert found == replace(raw, high=10)
    assert mean_interval(values) == raw


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        # 1, 3: mean 2, squares 1 + 1, 1 degree of freedom. 2, 2, 5: mean 3, squares 1 + 1 + 4, 2
        # degrees.
        ([[1, 3], [2, 2, 5]], math.sqrt(8 / 3)),
        ([], math.nan),
        ([[5.0], [6.0], []], math.nan),
        ([[1, 2, math.nan], [3, 4]], math.nan),  # never dropped in silence
    ],
)
def test_a_pooled_deviation_worked_out_by_hand(groups: list[list[float]], expected: float) -> None:
    assert pooled_deviation(groups) == pytest.approx(expected, nan_ok=True)


@checked
@given(data=groups)
def test_the_pooled_deviation_is_the_weighted_mean_of_variances(data: list[list[float]]) -> None:
    repeated = [group for group in data if len(group) >= 2]
    assume(repeated)
    weights = [len(group) - 1 for group in repeated]
    variance = np.average([np.var(group, ddof=1) for group in repeated], weights=weights)
    assert pooled_deviation(data) == pytest.approx(math.sqrt(variance), rel=1e-6, abs=1e-9)


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
    low: float,
    high: float,
    clusters: int,
    scale: tuple[float, float] | None,
    expected: tuple[float, float] | None,
) -> None:
    lows, highs = reported_bounds([low], [high], [clusters], scale=scale)
    if expected is None:
        assert np.isnan(lows[0]) and np.isnan(highs[0])
    else:
        assert (lows[0], highs[0]) == expected


values = st.one_of(st.floats(-5, 5), st.just(math.nan))
cluster_lists = st.lists(st.integers(0, 6), min_size=1, max_size=25)


def all_weights(clusters: int, rounds: int, seed: int = 0) -> npt.NDArray[np.float64]:
    return np.concatenate(list(resample(clusters, rounds, seed)))


def test_clusters_are_numbered_by_the_rank_of_their_ids() -> None:
    assert number_clusters(["pear", "fig", "pear", "apple"]).tolist() == [2, 1, 2, 0]
    assert number_clusters(np.array([40, 7, 7, 900])).tolist() == [1, 0, 0, 2]
    assert number_clusters(()).tolist() == []


@checked
@given(clusters=cluster_lists)
def test_cluster_counts_are_plain_sums(clusters: list[int]) -> None:
    counts = np.arange(3.0 * len(clusters)).reshape(-1, 3)
    slow = [
        sum(row for row, name in zip(counts, clusters, strict=True) if name == each)
        for each in sorted({*clusters})
    ]
    assert cluster_counts(clusters, counts) == pytest.approx(np.array(slow))


def test_nothing_has_no_counts_and_nothing_cannot_be_drawn() -> None:
    assert cluster_counts([], np.zeros((0, 4))).shape == (0, 4)
    for clusters, rounds in ((0, 10), (3, 0), (-1, 5)):
        with pytest.raises(ValueError, match=r"one cluster.*one round"):
            next(resample(clusters, rounds))


@checked
@given(clusters=st.integers(1, 30), rounds=st.integers(1, 40), seed=st.integers(0, 1000))
def test_a_round_draws_as_many_clusters_as_there_are(clusters: int, rounds: int, seed: int) -> None:
    weights = all_weights(clusters, rounds, seed)
    assert weights.shape == (rounds, clusters)
    assert (weights.sum(axis=1) == clusters).all()
    assert ((weights >= 0) & (weights == np.floor(weights))).all()
    assert (weights == all_weights(clusters, rounds, seed)).all()


def test_clusters_are_drawn_with_replacement_and_equal_chances() -> None:
    # Of 3 clusters there are 27 draws: 6 of all three once, 18 of one twice, 3 of one thrice.
    weights = all_weights(3, 27_000)
    most = np.bincount(weights.max(axis=1).astype(int), minlength=4)[1:]
    assert most == pytest.approx([6000, 18_000, 3000], rel=0.05)
    assert weights.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.02)


def test_the_seed_decides_the_draws() -> None:
    assert (all_weights(20, 10, 5) != all_weights(20, 10, 6)).any()


def test_memory_is_bounded_and_the_bound_changes_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = all_weights(7, 100)
    monkeypatch.setattr(bootstrap, "_BLOCK", 50)
    blocks = list(resample(7, 100))
    assert [len(block) for block in blocks] == [7] * 14 + [2]
    assert (np.concatenate(blocks) == whole).all()
    monkeypatch.setattr(bootstrap, "_BLOCK", 3)
    assert (all_weights(7, 100) == whole).all()


@checked
@given(clusters=cluster_lists, seed=st.integers(0, 100))
def test_counts_of_a_round_are_those_of_the_items_drawn(clusters: list[int], seed: int) -> None:
    counts = np.arange(2.0 * len(clusters)).reshape(-1, 2)
    names = sorted({*clusters})
    of_items = all_weights(len(names), 20, seed)[:, [names.index(name) for name in clusters]]
    slow = [
        sum(times * row for times, row in zip(weights, counts, strict=True)) for weights in of_items
    ]
    assert bootstrap_counts(cluster_counts(clusters, counts), 20, seed) == pytest.approx(
        np.array(slow)
    )


@checked
@given(clusters=cluster_lists)
def test_a_statistic_of_sums_is_the_same_either_way(clusters: list[int]) -> None:
    values = np.sqrt(np.arange(1.0, len(clusters) + 1))
    sums = bootstrap_counts(
        cluster_counts(clusters, np.stack([values, np.ones(len(clusters))], axis=1)), 30
    )
    means = bootstrap_statistic(
        clusters, lambda weights: (weights @ values) / weights.sum(axis=1), 30
    )
    assert means == pytest.approx(sums[:, 0] / sums[:, 1])


def test_a_statistic_may_have_several_values_and_is_computed_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = list("ppqqqrr")
    sizes: list[int] = []

    def both(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        sizes.append(len(weights))
        return np.stack([weights.sum(axis=1), weights.max(axis=1)], axis=1)

    whole = bootstrap_statistic(names, both, 50)
    assert whole.shape == (50, 2)
    monkeypatch.setattr(bootstrap, "_BLOCK", 30)
    sizes.clear()
    assert (bootstrap_statistic(names, both, 50) == whole).all()
    assert max(sizes) <= 30 // len(names)


@pytest.mark.parametrize("rows", [0, 1, 9, 10, 11, 20, 21, 22])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_product_in_parts_is_the_whole_product(
    rows: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "_SINGLE", 60)  # parts of 10 rows where there are two columns
    left = np.arange(3.0 * rows).reshape(rows, 3)
    right = np.arange(3.0 * columns).reshape(3, columns) - 4
    found = single_product(left, right)
    assert found.shape == (rows, columns)
    assert (found == left @ right).all()


@pytest.mark.parametrize("block", [1, 10, 11, 1000])
def test_members_are_drawn_with_their_whole_cluster(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters = np.array([2, 0, 2, 1, 0])
    whole = all_weights(3, 7, 4)
    monkeypatch.setattr(bootstrap, "_BLOCK", block)
    blocks = list(resample_members(clusters, 7, 4))
    assert max(len(part) for part in blocks) <= max(1, block // 5)
    assert (np.concatenate(blocks) == whole[:, clusters]).all()


def test_bounds_worked_out_by_hand() -> None:
    # 0 .. 10 at level 0.9: 5 % of the way from the 1st to the 11th value is 0.5; 95 % is 9.5.
    low, high = percentile_bounds(np.arange(11.0)[::-1, None], 0.9)
    assert (low.tolist(), high.tolist()) == (pytest.approx([0.5]), pytest.approx([9.5]))


@checked
@given(
    draws=st.lists(st.lists(values, min_size=3, max_size=3), min_size=1, max_size=20),
    level=st.floats(0.01, 0.99),
)
def test_bounds_are_percentiles_of_the_rounds_that_define_them(
    draws: list[list[float]], level: float
) -> None:
    low, high = percentile_bounds(draws, level)
    for column, bounds in zip(np.array(draws).T, zip(low, high, strict=True), strict=True):
        known = column[~np.isnan(column)]
        slow = (
            np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if len(known) else [math.nan] * 2
        )
        assert bounds == pytest.approx(tuple(slow), abs=1e-9, nan_ok=True)


def test_an_estimate_echoes_its_parameters() -> None:
    # Quarters of 0 .. 4 are 1 and 3.
    given = (np.array([2.0]), np.arange(5.0)[:, None])
    [found] = estimates(*given, [9], [4], Resampling(5, 0.5, 3), expanded=False)
    assert found == Estimate(2, 1, 3, n=9, clusters=4, level=0.5, rounds=5, seed=3)
    [wider] = estimates(*given, [9], [4], Resampling(5, 0.5))
    assert (wider.low, wider.high) == pytest.approx(expanded(range(5), 4, 0.5))


@pytest.mark.parametrize(("value", "clusters"), [(2.0, 1), (2.0, 0), (math.nan, 5)])
def test_there_is_no_interval_without_two_clusters_or_a_value(value: float, clusters: int) -> None:
    [found] = estimates([value], [[1.0], [3.0]], [5], [clusters], Resampling())
    assert found.value == pytest.approx(value, nan_ok=True)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_the_distribution_is_that_of_all_possible_resamples() -> None:
    # Three clusters of 1, 2 and 3 items with 1, 0 and 3 hits: the share of hits in each of the 27
    # possible draws.
    sums = np.array([[1.0, 1], [0, 2], [3, 3]])
    exact = [sums[list(drawn)].sum(axis=0) for drawn in product(range(3), repeat=3)]
    shares = sorted(hits / size for hits, size in exact)
    drawn = bootstrap_counts(sums, 40_000)
    found = drawn[:, 0] / drawn[:, 1]
    for share in sorted({*shares}):
        expected = sum(other <= share + 1e-12 for other in shares) / 27
        assert np.mean(found <= share + 1e-12) == pytest.approx(expected, abs=0.015)


def test_intervals_hold_the_truth_as_often_as_they_claim_and_only_if_clustered() -> None:
    # 60 prompts of 8 verdicts; a judge is right with a chance of 0.9 on two thirds of the prompts,
    # of 0.3 on the rest, so with 0.7 in all. As verdicts on a prompt go together, taking them for
    # independent claims too much.
    generator = np.random.default_rng(1)
    held = {"clustered": 0, "independent": 0}
    trials = 300
    prompts = np.repeat(np.arange(60), 8)
    for trial in range(trials):
        chances = np.where(generator.random(60) < 2 / 3, 0.9, 0.3)
        hits = (generator.random(480) < chances[prompts]).astype(float)
        counts = np.stack([hits, np.ones(480)], axis=1)
        for kind, names in (("clustered", prompts), ("independent", np.arange(480))):
            drawn = bootstrap_counts(cluster_counts(names, counts), 250, seed=trial)
            low, high = percentile_bounds(drawn[:, :1] / drawn[:, 1:])
            held[kind] += bool(low[0] <= 0.7 <= high[0])
    # 95 % of 300 is 285, give or take 2 * sqrt(300 * 0.95 * 0.05) = 7.5, and a little less for
    # percentile intervals.
    assert 271 <= held["clustered"] <= 295
    assert held["independent"] < 250
