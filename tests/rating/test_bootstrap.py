"""The clustered bootstrap: by hand, by slow obvious code, by its properties, by how often its intervals are right."""

import math
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from urs_inspect.rating import bootstrap, bootstrap_counts, bootstrap_statistic, cluster_counts, number_clusters
from urs_inspect.rating.bootstrap import estimates, percentile_bounds, resample

checked = settings(deadline=None, database=None)
values = st.one_of(st.floats(-5, 5), st.just(math.nan))
cluster_lists = st.lists(st.integers(0, 6), min_size=1, max_size=25)


def all_weights(clusters: int, rounds: int, seed: int = 0) -> npt.NDArray[np.float64]:
    return np.concatenate(list(resample(clusters, rounds, seed)))


# --- number_clusters, cluster_counts ---


def test_clusters_are_numbered_by_the_rank_of_their_ids() -> None:
    assert number_clusters(["pear", "fig", "pear", "apple"]).tolist() == [2, 1, 2, 0]
    assert number_clusters(np.array([40, 7, 7, 900])).tolist() == [1, 0, 0, 2]
    assert number_clusters(()).tolist() == []


def test_counts_are_summed_by_cluster() -> None:
    # p: (1, 0) + (0, 2) + (1, 1) = (2, 3); q: (5, 5)
    assert cluster_counts(["p", "q", "p", "p"], [[1, 0], [5, 5], [0, 2], [1, 1]]).tolist() == [[2, 3], [5, 5]]


@checked
@given(clusters=cluster_lists)
def test_cluster_counts_are_plain_sums(clusters: list[int]) -> None:
    counts = np.arange(3.0 * len(clusters)).reshape(-1, 3)
    slow = [
        sum(row for row, name in zip(counts, clusters, strict=True) if name == each) for each in sorted({*clusters})
    ]
    assert cluster_counts(clusters, counts) == pytest.approx(np.array(slow))


@pytest.mark.parametrize("counts", [[[1, 2]], [1, 2], [[1], [2], [3]]])
def test_each_item_needs_one_row_of_counts(counts: Any) -> None:
    with pytest.raises(ValueError, match="one row of counts an item"):
        cluster_counts(["p", "q"], counts)


def test_nothing_has_no_counts() -> None:
    assert cluster_counts([], np.zeros((0, 4))).shape == (0, 4)


# --- resample ---


@checked
@given(clusters=st.integers(1, 30), rounds=st.integers(1, 40), seed=st.integers(0, 1000))
def test_a_round_draws_as_many_clusters_as_there_are(clusters: int, rounds: int, seed: int) -> None:
    weights = all_weights(clusters, rounds, seed)
    assert weights.shape == (rounds, clusters)
    assert (weights.sum(axis=1) == clusters).all()
    assert (weights >= 0).all()
    assert (weights == np.floor(weights)).all()


def test_clusters_are_drawn_with_replacement_and_equal_chances() -> None:
    # Of 3 clusters there are 27 draws: 6 of all three once, 18 of one twice, 3 of one thrice.
    weights = all_weights(3, 27_000)
    most = np.bincount(weights.max(axis=1).astype(int), minlength=4)[1:]
    assert most == pytest.approx([6000, 18_000, 3000], rel=0.05)
    assert weights.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.02)


def test_the_seed_decides_the_draws() -> None:
    assert (all_weights(20, 10, 5) == all_weights(20, 10, 5)).all()
    assert (all_weights(20, 10, 5) != all_weights(20, 10, 6)).any()


def test_memory_is_bounded_and_the_bound_changes_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = all_weights(7, 100)
    monkeypatch.setattr(bootstrap, "_BLOCK", 50)
    blocks = list(resample(7, 100))
    assert [len(block) for block in blocks] == [7] * 14 + [2]
    assert (np.concatenate(blocks) == whole).all()
    monkeypatch.setattr(bootstrap, "_BLOCK", 3)
    assert (all_weights(7, 100) == whole).all()


@pytest.mark.parametrize(("clusters", "rounds"), [(0, 10), (3, 0), (-1, 5)])
def test_there_must_be_something_to_draw(clusters: int, rounds: int) -> None:
    with pytest.raises(ValueError, match="at least one cluster and one round"):
        next(resample(clusters, rounds))


# --- bootstrap_counts, bootstrap_statistic ---


@checked
@given(clusters=cluster_lists, seed=st.integers(0, 100))
def test_counts_of_a_round_are_those_of_the_items_drawn(clusters: list[int], seed: int) -> None:
    counts = np.arange(2.0 * len(clusters)).reshape(-1, 2)
    names = sorted({*clusters})
    of_items = all_weights(len(names), 20, seed)[:, [names.index(name) for name in clusters]]
    slow = [sum(times * row for times, row in zip(weights, counts, strict=True)) for weights in of_items]
    assert bootstrap_counts(cluster_counts(clusters, counts), 20, seed) == pytest.approx(np.array(slow))


@checked
@given(clusters=cluster_lists)
def test_a_statistic_of_sums_is_the_same_either_way(clusters: list[int]) -> None:
    values = np.sqrt(np.arange(1.0, len(clusters) + 1))
    sums = bootstrap_counts(cluster_counts(clusters, np.stack([values, np.ones(len(clusters))], axis=1)), 30)
    means = bootstrap_statistic(clusters, lambda weights: (weights @ values) / weights.sum(axis=1), 30)
    assert means == pytest.approx(sums[:, 0] / sums[:, 1])


def test_a_statistic_may_have_several_values_and_is_computed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
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


# --- percentile_bounds ---


def test_bounds_worked_out_by_hand() -> None:
    # 0 .. 10 at level 0.9: 5 % of the way from the 1st to the 11th value is 0.5; 95 % is 9.5.
    low, high = percentile_bounds(np.arange(11.0)[::-1, None], 0.9)
    assert (low.tolist(), high.tolist()) == (pytest.approx([0.5]), pytest.approx([9.5]))


@checked
@given(draws=st.lists(st.lists(values, min_size=3, max_size=3), min_size=1, max_size=20), level=st.floats(0.01, 0.99))
def test_bounds_are_percentiles_of_the_rounds_that_define_them(draws: list[list[float]], level: float) -> None:
    low, high = percentile_bounds(draws, level)
    for column, bounds in zip(np.array(draws).T, zip(low, high, strict=True), strict=True):
        known = column[~np.isnan(column)]
        slow = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if len(known) else [math.nan] * 2
        assert bounds == pytest.approx(tuple(slow), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_lies_between_0_and_1(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        percentile_bounds([[1.0]], level)


# --- estimates ---


def test_an_estimate_echoes_its_parameters() -> None:
    [found] = estimates([2.0], np.arange(5.0)[:, None], n=[9], clusters=[4], level=0.5, seed=3)
    # Quarters of 0 .. 4 are 1 and 3.
    assert (found.value, found.low, found.high, found.n, found.clusters) == (2, 1, 3, 9, 4)
    assert (found.level, found.rounds, found.seed) == (0.5, 5, 3)


@pytest.mark.parametrize(("value", "clusters"), [(2.0, 1), (2.0, 0), (math.nan, 5)])
def test_there_is_no_interval_without_two_clusters_or_a_value(value: float, clusters: int) -> None:
    [found] = estimates([value], [[1.0], [3.0]], n=[5], clusters=[clusters])
    assert found.value == pytest.approx(value, nan_ok=True)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


# --- the whole ---


def test_the_distribution_is_that_of_all_possible_resamples() -> None:
    # Three clusters of 1, 2 and 3 items with 1, 0 and 3 hits: the share of hits in each of the 27 possible draws.
    sums = np.array([[1.0, 1], [0, 2], [3, 3]])
    exact = [sums[list(drawn)].sum(axis=0) for drawn in product(range(3), repeat=3)]
    shares = sorted(hits / size for hits, size in exact)
    drawn = bootstrap_counts(sums, 40_000)
    found = drawn[:, 0] / drawn[:, 1]
    for share in sorted({*shares}):
        expected = sum(other <= share + 1e-12 for other in shares) / 27
        assert np.mean(found <= share + 1e-12) == pytest.approx(expected, abs=0.015)


def test_intervals_hold_the_truth_as_often_as_they_claim_and_only_if_clustered() -> None:
    # 60 prompts of 8 verdicts; a judge is right with a chance of 0.9 on two thirds of the prompts, of 0.3 on the rest,
    # so with 0.7 in all. As verdicts on a prompt go together, taking them for independent claims too much.
    generator = np.random.default_rng(1)
    held = {"clustered": 0, "independent": 0}
    trials = 300
    prompts = np.repeat(np.arange(60), 8)
    for trial in range(trials):
        chances = np.where(generator.random(60) < 2 / 3, 0.9, 0.3)
        hits = (generator.random(480) < chances[prompts]).astype(float)
        counts = np.stack([hits, np.ones(480)], axis=1)
        for kind, names in (("clustered", prompts), ("independent", np.arange(480))):
            drawn = bootstrap_counts(cluster_counts(names, counts), 400, seed=trial)
            low, high = percentile_bounds(drawn[:, :1] / drawn[:, 1:])
            held[kind] += bool(low[0] <= 0.7 <= high[0])
    # 95 % of 300 is 285, give or take 2 * sqrt(300 * 0.95 * 0.05) = 7.5, and a little less for percentile intervals.
    assert 271 <= held["clustered"] <= 295
    assert held["independent"] < 250


def test_the_width_agrees_with_the_normal_theory_of_a_mean() -> None:
    # 400 clusters of one item: the interval of a share of 0.3 is 0.3 ± 1.96 sqrt(0.3 * 0.7 / 400) = 0.3 ± 0.0449.
    hits = np.repeat([1.0, 0.0], [120, 280])[:, None]
    low, high = percentile_bounds(bootstrap_counts(hits, 4000) / 400)
    margin = stats.norm.ppf(0.975) * math.sqrt(0.3 * 0.7 / 400)
    assert (low[0], high[0]) == (pytest.approx(0.3 - margin, abs=0.004), pytest.approx(0.3 + margin, abs=0.004))
