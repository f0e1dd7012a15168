"""Tests of `urs_inspect.stats._paired`."""

import math
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.stats.fights import checked
from tests.stats.slow import expanded
from urs_inspect.stats import holm
from urs_inspect.stats._bootstrap import resample
from urs_inspect.stats._means import (
    MeanColumn,
    bootstrap_means,
    bootstrap_table,
    mean_estimates,
)
from urs_inspect.stats._paired import (
    FEW,
    all_pairs,
    clustered_means,
    compare_means,
    mcnemar,
    mean_differences,
    paired_p_values,
    rank_intervals,
    worst_p_values,
)

NONE = math.nan


def test_mcnemar_worked_out_by_hand() -> None:
    # 1 against 4: of 32 ways five coins fall, at most 1 or at least 4 heads: (1 + 5) * 2 = 12;
    # 12/32.
    assert [mcnemar(1, 4), mcnemar(0, 0)] == pytest.approx([12 / 32, 1])


@checked
@given(one=st.integers(0, 40), other=st.integers(0, 40))
def test_mcnemar_is_twice_the_smaller_tail_of_a_fair_coin(one: int, other: int) -> None:
    n, few = one + other, min(one, other)
    tail = sum(math.comb(n, heads) for heads in range(few + 1)) / 2**n
    assert mcnemar(one, other) == pytest.approx(min(1, 2 * tail))
    assert mcnemar(one, other) == mcnemar(other, one)


def test_false_alarms_are_as_rare_as_claimed_only_when_prompts_are_kept_together() -> None:
    # Two judges that are equally good; on each prompt one of them has all 6 items right, the other
    # none.
    generator = np.random.default_rng(0)
    alarms = {"prompts": 0, "items": 0}
    for _ in range(400):
        better = generator.random(30) < 0.5
        wins = 6 * int(better.sum())
        gaps = np.repeat(np.where(better, 1.0, -1.0), 6)[:, None]
        alarms["prompts"] += int(paired_p_values(gaps, np.repeat(np.arange(30), 6))[0] < 0.05)
        alarms["items"] += mcnemar(wins, 180 - wins) < 0.05
    assert alarms["prompts"] <= 30  # 5 % of 400 is 20, give or take chance
    assert alarms["items"] > 100


def test_holm_worked_out_by_hand() -> None:
    # Sorted .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04; never below the one before: .02 .03
    # .06 .06. A comparison of nothing does not count.
    assert holm([0.01, NONE, 0.04, 0.03, 0.005]) == pytest.approx(
        (0.03, NONE, 0.06, 0.06, 0.02), nan_ok=True
    )
    assert holm([]) == ()


@checked
@given(
    p_values=st.lists(st.floats(0, 1), max_size=8), level=st.sampled_from([0.01, 0.05, 0.2, 0.5])
)
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float], level: float) -> None:
    rejected = set()
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda each: p_values[each])):
        if p_values[place] * (len(p_values) - step) > level:
            break
        rejected.add(place)
    assert {place for place, p in enumerate(holm(p_values)) if p <= level} == rejected


def test_judges_are_compared_by_prompts() -> None:
    # Prompt p: 1-0, 1-0; q: 1-1; r: 0-1; one item of r does not count. Right 3 of 4 and 2 of 4:
    # difference 1/4. Sums 2, 0, -1 -> 1: signs give 3, 1, -1, -3: p = 1.
    [found] = compare_means(
        np.array([[1, 1, 1, 0, NONE], [0, 0, 1, 1, 1]]).T, clusters=list("ppqrr"), rounds=20
    )
    assert (found.difference.value, found.difference.n, found.difference.clusters, found.p) == (
        0.25,
        4,
        3,
        1,
    )
    # The first has all 4 items of each of 3 prompts right, the second none: 2 of 2^3 for prompts, 2
    # of 2^12 for items.
    right = np.array([[1.0, 0.0]] * 12)
    [prompts], [items] = (
        compare_means(right, clusters=[*"pqr"] * 4, rounds=20),
        compare_means(right, rounds=20),
    )
    assert (prompts.p, items.p) == pytest.approx((2 / 8, 2 / 4096))


def scores(
    seed: int, questions: int, *means: float, missing: float = 0.0
) -> npt.NDArray[np.float64]:
    """Models that share the effect of each question."""
    generator = np.random.default_rng(seed)
    values = generator.normal(0, 1, (questions, 1)) + generator.normal(
        means, 1, (questions, len(means))
    )
    values[generator.random(values.shape) < missing] = math.nan
    return values


def test_differences_by_hand() -> None:
    # Question by question 2, 0, missing; -1, -3, 1; missing third: the mean of 2 and 0 is 1, that
    # of -1 -3 1 is -1, and the second less the third on questions 0 and 1 is -3 and -3. Nothing is
    # common with the fourth.
    values = [
        [5.0, 3.0, 6.0, NONE],
        [4.0, 4.0, 7.0, NONE],
        [9.0, NONE, 8.0, NONE],
        [NONE, NONE, NONE, 2.0],
    ]
    found = compare_means(values, rounds=100)
    differences = {
        (one.first, one.second): (one.difference.value, one.difference.n) for one in found
    }
    assert [*differences] == all_pairs(4)
    assert [differences[pair] for pair in ((0, 1), (0, 2), (1, 2))] == [(1, 2), (-1, 3), (-3, 2)]
    assert np.isnan([found[-1].p, found[-1].p_holm, found[-1].difference.value]).all()
    assert (found[-1].difference.n, found[-1].significant) == (0, False)


def slow_p(gaps: npt.NDArray[np.float64], clusters: npt.NDArray[np.int64]) -> float:
    """The p-value as scipy and loops over clusters have it."""
    sums = [float(gaps[clusters == name].sum()) for name in np.unique(clusters)]
    counts = [int((clusters == name).sum()) for name in np.unique(clusters)]
    sizes = {round(abs(gap), 9) for gap in sums} - {0}
    if max(counts) == 1 and len(sizes) <= 1:
        above, below = sum(gap > 0 for gap in sums), sum(gap < 0 for gap in sums)
        return float(stats.binomtest(above, above + below).pvalue) if sizes else 1.0
    if len(sums) <= FEW:
        flips = [abs(float(np.dot(signs, sums))) for signs in product((1, -1), repeat=len(sums))]
        return sum(flip >= abs(sum(sums)) - 1e-9 for flip in flips) / len(flips)
    mean = gaps.mean()
    square = sum((total - mean * count) ** 2 for total, count in zip(sums, counts, strict=True))
    error = math.sqrt(square * len(sums) / (len(sums) - 1)) / len(gaps)
    return float(2 * stats.t.sf(abs(mean) / error, len(sums) - 1))


@checked
@given(
    seed=st.integers(0, 1000),
    clusters=st.sampled_from([3, 9, 13, 20, 40]),
    sizes=st.sampled_from([1, 3, 10]),
)
def test_p_values_are_those_of_plain_loops(seed: int, clusters: int, sizes: int) -> None:
    generator = np.random.default_rng(seed)
    gaps, names = (
        generator.integers(-sizes, sizes + 1, 40).astype(float),
        generator.integers(clusters, size=40),
    )
    missing = generator.random(40) < 0.1
    found = paired_p_values(np.where(missing, np.nan, gaps)[:, None], names)
    if len(np.unique(names[~missing])) > 1 and gaps[~missing].any():
        assert found == pytest.approx(slow_p(gaps[~missing], names[~missing]))


def test_p_values_equal_those_of_other_packages() -> None:
    gaps = np.array([((7 * i * i + 3 * i) % 11 - 4.5) / 3 for i in range(40)])
    found = clustered_means(gaps[:, None], np.arange(40) % 15)
    # statsmodels 0.15.0: OLS(gaps, ones).fit(cov_type="cluster", cov_kwds={"groups": clusters},
    # use_t=True)
    assert found.errors == pytest.approx(0.19189661736453928)
    assert paired_p_values(gaps[:, None], np.arange(40) % 15) == pytest.approx(0.4231531905342663)
    assert clustered_means(
        gaps[:, None], np.array([i * i % 13 for i in range(40)])
    ).errors == pytest.approx(0.18186644850711914)
    # statsmodels 0.15.0: mcnemar([[50, 3], [11, 36]], exact=True)
    assert paired_p_values(np.repeat([0.0, 1, -1], [86, 3, 11])[:, None]) == pytest.approx(
        0.057373046875
    )
    pair = np.random.default_rng(0).normal(size=(30, 2))
    assert paired_p_values(pair[:, :1] - pair[:, 1:]) == pytest.approx(
        stats.ttest_rel(*pair.T).pvalue
    )
    few = np.random.default_rng(1).normal(0.5, 1, 10)
    flipped = stats.permutation_test((few,), np.mean, permutation_type="samples", n_resamples=2**11)
    assert paired_p_values(few[:, None]) == pytest.approx(flipped.pvalue)


def test_two_clusters_by_hand() -> None:
    # Sums 3 and 7: signs give 10, 4, -4, -10, of which two are as far from 0 as 10.
    assert paired_p_values(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])) == 0.5


def test_clusters_of_several_questions_are_no_pairs_of_two_values() -> None:
    # One of both questions of each of 20 prompts differs: 15 times up, 5 times down.
    sums = np.repeat([1.0, -1.0], [15, 5])
    gaps = np.column_stack([sums, np.zeros(20)]).reshape(-1, 1)
    found = paired_p_values(gaps, np.repeat(np.arange(20), 2))
    assert found == pytest.approx(stats.ttest_1samp(sums, 0).pvalue)


def test_one_cluster_says_nothing() -> None:
    values, one = np.array([[1.0], [2.0], [3.0]]), np.zeros(3, dtype=np.int64)
    assert np.isnan([*paired_p_values(values, one), *clustered_means(values, one).errors]).all()
    assert paired_p_values(np.zeros((9, 1))) == 1


@checked
@given(seed=st.integers(0, 1000))
def test_intervals_and_p_values_are_those_of_plain_loops(seed: int) -> None:
    values = scores(seed, 14, 0.0, 0.5, 1.0, missing=0.15)
    found = compare_means(values, rounds=60, seed=seed)
    counts = np.concatenate(list(resample(14, 60, seed)))
    for one, (first, second) in zip(found, combinations(range(3), 2), strict=True):
        gaps = values[:, first] - values[:, second]
        both = ~np.isnan(gaps)
        n = int(both.sum())
        assert one.difference.value == pytest.approx(gaps[both].mean())
        if n >= 6:
            draws = [float(row @ gaps[both] / row.sum()) for row in counts[:, both] if row.any()]
            assert (one.difference.low, one.difference.high) == pytest.approx(expanded(draws, n))
            assert one.p == pytest.approx(slow_p(gaps[both], np.arange(n)))
    assert [one.p_holm for one in found] == pytest.approx(
        holm([one.p for one in found]), nan_ok=True
    )


def test_what_questions_share_cancels_out() -> None:
    values = scores(1, 300, 0.0, 0.0) + np.random.default_rng(2).normal(0, 20, (300, 1))
    [found] = compare_means(values, rounds=500)
    assert found.difference.high - found.difference.low < 0.5


def test_equal_models_are_told_apart_in_few_families_and_better_ones_are_found() -> None:
    # Five equal models, ten pairs; after Holm's correction at most 5% of the families hold a false
    # claim.
    families = (compare_means(scores(seed, 120, *[0.0] * 5), rounds=20) for seed in range(200))
    assert np.mean([any(one.significant for one in family) for family in families]) < 0.09
    found = compare_means(scores(5, 400, 0.0, 0.0, 1.0), rounds=500)
    assert [one.significant for one in found] == [False, True, True]


def test_rank_intervals_by_hand() -> None:
    # 0 is better than 2 and 3, 1 is better than 3.
    assert rank_intervals(4, [(0, 2), (0, 3), (1, 3)]) == ((1, 2), (1, 3), (2, 4), (3, 4))
    assert rank_intervals(3, []) == ((1, 3),) * 3
    assert rank_intervals(3, all_pairs(3)) == ((1, 1), (2, 2), (3, 3))
    assert rank_intervals(0, []) == ()


@checked
@given(order=st.permutations(range(6)), seed=st.integers(0, 1000))
def test_rank_intervals_hold_the_true_rank_where_every_claim_is_true(
    order: list[int], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    true = [(order[first], order[second]) for first, second in all_pairs(6)]
    found = rank_intervals(6, [pair for pair in true if generator.random() < 0.4])
    assert all(
        found[model][0] <= rank <= found[model][1] for rank, model in enumerate(order, start=1)
    )


# --- questions of one user ---

USERS, EACH = 8, 12


def of_users(columns: int, seed: int = 3) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Differences of two equal models on 8 users' 12 questions, with 43 % of the variance between
    users; and users.
    """
    generator = np.random.default_rng(seed)
    of_user = np.repeat(generator.normal(size=(USERS, columns)), EACH, axis=0)
    own = generator.normal(size=(USERS * EACH, columns))
    return math.sqrt(0.43) * of_user + math.sqrt(0.57) * own, np.repeat(np.arange(USERS), EACH)


def test_equal_models_on_the_questions_of_few_users_differ_by_chance_only_if_users_are_not_named() -> (
    None
):
    differences, users = of_users(2000)
    unnamed = float((paired_p_values(differences) < 0.05).mean())
    named = float((paired_p_values(differences, users) < 0.05).mean())
    assert unnamed > 0.38  # promised are 5 %
    assert 0.03 < named < 0.07


@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_over_few_users_hold_the_truth(weighted: bool) -> None:
    differences, users = of_users(600)
    column = MeanColumn(np.arange(len(users)), differences)

    def share_that_misses(clusters: npt.NDArray[np.int64] | None) -> float:
        reweight = (lambda counts: counts / counts.sum(axis=1, keepdims=True)) if weighted else None
        [found] = bootstrap_means(
            [column], len(users), clusters=clusters, reweight=reweight, rounds=500
        )
        return float(np.mean([not each.low <= 0 <= each.high for each in mean_estimates(found)]))

    assert share_that_misses(None) > 0.38
    assert share_that_misses(users) < 0.09


def test_the_worst_case_of_missing_scores_is_what_a_claim_must_survive() -> None:
    # The first pair has nothing in common, so that it claims nothing whatever its worst case says,
    # and counts for no other pair; the second survives its worst case, which the third does not.
    found = bootstrap_table(np.random.default_rng(0).normal(2, 1, (20, 3)), rounds=50)
    tested = mean_differences(
        found,
        [(0, 1), (0, 2), (1, 2)],
        p=np.array([NONE, 0.01, 0.02]),
        worst=np.array([0.001, NONE, 0.3]),
    )
    assert [pair.p_holm for pair in tested] == pytest.approx([NONE, 0.02, 0.02], nan_ok=True)
    assert [pair.p_worst for pair in tested] == pytest.approx([NONE, 0.02, 0.3], nan_ok=True)
    assert [pair.significant for pair in tested] == [False, True, False]
    assert worst_p_values(np.array([-1.0, 0.0, 1.0]), np.full(3, 0.01)).tolist() == [1, 1, 0.01]


def test_pairs_that_were_chosen_by_the_data_take_smaller_p_values() -> None:
    found = bootstrap_table(np.random.default_rng(0).normal(2, 1, (20, 2)), rounds=50)
    tested = mean_differences(
        found, [(0, 1), (0, 2)], p=np.array([0.01, 0.3]), worst=np.array([0.02, NONE]), selection=2
    )
    assert [pair.p_holm for pair in tested] == pytest.approx([0.04, 0.6])
    assert [pair.p_worst for pair in tested] == pytest.approx([0.08, 0.6])
