"""Orders and numbers of samples beside an implementation that tries each one."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from urs_inspect.stats._bootstrap import ResamplingOptions, resample
from urs_inspect.stats._crossval import order_of, rating_bias
from urs_inspect.stats._paired import all_pairs, compare_means
from urs_inspect.stats._power import questions_needed, smallest_difference

# --- orders of models ---


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("clustered", [False, True])
def test_an_order_is_that_of_rounds_one_by_one(seed: int, clustered: bool) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(4, 9, (14, 3)).astype(float)
    scores[[2, 5], [0, 1]] = np.nan
    clusters = np.repeat([7, 3, 5, 9, 1, 11, 13], 2) if clustered else None
    options: ResamplingOptions = {"rounds": 100, "seed": seed, "level": 0.9}
    found = order_of(scores, clusters=clusters, **options)
    kept = [row for row in range(14) if row not in (2, 5)]
    complete = scores[kept]
    means = complete.mean(axis=0)
    order = sorted(range(3), key=lambda model: -means[model])
    assert found.models == tuple(order)
    assert found.means == pytest.approx(tuple(means[order]))
    assert found.cases == 12
    ids = np.arange(12) if clusters is None else clusters[kept]
    names = np.unique(ids)
    same = 0
    for counts in np.concatenate(list(resample(len(names), 100, seed))):
        times = counts[np.searchsorted(names, ids)].astype(int)
        drawn = np.repeat(complete, times, axis=0).mean(axis=0)
        same += all(drawn[one] >= drawn[other] - 1e-12 for one, other in pairwise(order))
    assert found.share == pytest.approx(same / 100)
    drawn_as = None if clusters is None else np.searchsorted(names, ids)
    gaps = compare_means(complete[:, order], clusters=drawn_as, **options)
    assert found.gaps == gaps
    assert [(gap.first, gap.second) for gap in found.gaps] == all_pairs(3)


def test_cases_of_one_user_give_no_share() -> None:
    scores = [[3.0, 4.0], [5.0, 4.5], [2.0, 9.0]]
    assert math.isnan(order_of(scores, clusters=np.array([5, 5, 5])).share)
    assert not math.isnan(order_of(scores, clusters=np.array([5, 5, 6])).share)
    # A user without a case on which all models have a score does not count.
    without = [*scores, [math.nan, 4.0]]
    assert math.isnan(order_of(without, clusters=np.array([5, 5, 5, 6])).share)
    of_users = order_of(scores, clusters=np.array([5, 5, 6]), rounds=50)
    assert [gap.difference.clusters for gap in of_users.gaps] == [2]


def test_the_bias_of_ratings_is_over_users() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.integers(5, 11, (16, 2)).astype(float)
    ratings[:3, 1] = np.nan
    clusters = np.repeat(np.arange(8), 2)
    found = rating_bias(ratings, 7, clusters=clusters, rounds=100, seed=3)
    counts = np.concatenate(list(resample(8, 100, 3)))[:, clusters]
    known = ~np.isnan(ratings)
    draws = counts @ np.where(known, ratings - 7, 0) / (counts @ known)
    assert found.bias.value == pytest.approx(np.nanmean(ratings, axis=0).mean() - 7)
    assert (found.bias.n, found.bias.clusters) == (13, 7)
    assert [one.clusters for one in found.by_model] == [8, 7]
    wide = np.std(draws.mean(axis=1)) * 4
    assert found.bias.high - found.bias.low == pytest.approx(wide, rel=0.4)


# --- numbers of samples ---


def slow_difference(error: float, clusters: int, tests: int, level: float) -> float:
    alpha = (1 - level) / tests
    wider = 1.0
    if clusters <= 12:
        # The largest p-value of the sign-flip test that is below alpha: a number of ways, and as
        # many with all signs turned, of 2^C.
        ways = 0
        while 2 * (ways + 1) / 2**clusters < alpha:
            ways += 1
        if not ways:
            return math.nan
        alpha = 2 * ways / 2**clusters
        wider = 1 + 1 / (6 * ways)
    t = stats.t.ppf(1 - alpha / 2, clusters - 1) + stats.t.ppf(0.8, clusters - 1)
    return float(t * wider * error)


@pytest.mark.parametrize("clusters", [2, 5, 6, 7, 11, 12, 13, 40])
@pytest.mark.parametrize("tests", [1, 3])
# At 0.9375 and 0.75 a share of the ways is alpha itself, which is not below alpha.
@pytest.mark.parametrize("level", [0.95, 0.9375, 0.75])
def test_the_smallest_difference_is_that_of_the_test_that_is_used(
    clusters: int, tests: int, level: float
) -> None:
    found = smallest_difference(0.3, clusters, tests=tests, level=level)
    slow = slow_difference(0.3, clusters, tests, level)
    assert found == pytest.approx(slow, nan_ok=True)
    assert math.isnan(smallest_difference(0.0, clusters))


@pytest.mark.parametrize(("n", "clusters"), [(20, 20), (45, 20), (31, 8), (2, 2)])
@pytest.mark.parametrize("difference", [0.2, 0.5, 3.0])
def test_samples_needed_are_the_fewest_that_show_a_difference(
    n: int, clusters: int, difference: float
) -> None:
    found = questions_needed(difference, 0.3, n, clusters, tests=2, level=0.9)
    for there in range(2, 10_000):
        error = 0.3 * math.sqrt(clusters / there)
        if slow_difference(error, there, 2, 0.9) <= difference:
            break
    assert found == math.ceil(there * n / clusters)
    assert questions_needed(difference, 0.0, n, clusters) is None
    assert questions_needed(difference, 0.3, n, 1) is None
    exactly = slow_difference(0.3, 40, 1, 0.95)
    assert questions_needed(exactly + 1e-12, 0.3, 40, 40) == 40
    assert questions_needed(exactly - 1e-9, 0.3, 40, 40) == 41
