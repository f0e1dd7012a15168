"""Differences of models on the same questions: by hand, by slow obvious code, by properties; rank intervals."""

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from urs_inspect.rating import holm
from urs_inspect.rating.bootstrap import resample
from urs_inspect.rating.paired_means import all_pairs, compare_means, rank_intervals

checked = settings(deadline=None, database=None, max_examples=40)


def scores(seed: int, questions: int, *means: float, missing: float = 0.0) -> npt.NDArray[np.float64]:
    """Models that share the effect of each question."""
    generator = np.random.default_rng(seed)
    values = generator.normal(0, 1, (questions, 1)) + generator.normal(means, 1, (questions, len(means)))
    values[generator.random(values.shape) < missing] = math.nan
    return values


def test_differences_by_hand() -> None:
    # Question by question 2, 0, missing; -1, -3, 1; missing third: the mean of 2 and 0 is 1, that of -1 -3 1 is -1,
    # and the second less the third on questions 0 and 1 is -3 and -3.
    values = [[5.0, 3.0, 6.0], [4.0, 4.0, 7.0], [9.0, math.nan, 8.0]]
    found = compare_means(values, rounds=100)
    assert [(one.first, one.second) for one in found] == [(0, 1), (0, 2), (1, 2)]
    assert [one.difference.value for one in found] == [1, -1, -3]
    assert [one.difference.n for one in found] == [2, 3, 2]


@checked
@given(seed=st.integers(0, 1000))
def test_intervals_and_p_values_are_those_of_plain_loops(seed: int) -> None:
    values = scores(seed, 14, 0.0, 0.5, 1.0, missing=0.15)
    found = compare_means(values, rounds=60, seed=seed)
    counts = np.concatenate(list(resample(14, 60, seed)))
    for one, (first, second) in zip(found, combinations(range(3), 2), strict=True):
        gaps = values[:, first] - values[:, second]
        both = ~np.isnan(gaps)
        draws = []
        for row in counts:
            if row[both].sum():
                draws.append(float((row[both] * gaps[both]).sum() / row[both].sum()))
        n = int(both.sum())
        assert one.difference.value == pytest.approx(gaps[both].mean())
        if n < 6:
            continue
        tail = float(stats.norm.cdf(-stats.t.ppf(0.975, n - 1) * math.sqrt(n / (n - 1))))
        assert one.difference.low == pytest.approx(float(np.quantile(draws, tail)))
        assert one.difference.high == pytest.approx(float(np.quantile(draws, 1 - tail)))
        crossing = min(sum(draw <= 0 for draw in draws), sum(draw >= 0 for draw in draws))
        if crossing:
            raw = min(1.0, 2 * (crossing + 1) / (len(draws) + 1))
            expanded = 2 * stats.t.cdf(stats.norm.ppf(raw / 2) * math.sqrt((n - 1) / n), n - 1)
            assert one.p == pytest.approx(max(expanded, 2 / 2**n))
    assert [one.p_holm for one in found] == pytest.approx(holm([one.p for one in found]))


@checked
@given(seed=st.integers(0, 1000))
def test_swapping_models_changes_signs_only(seed: int) -> None:
    values = scores(seed, 20, 0.0, 0.4)
    [one], [other] = compare_means(values, rounds=200), compare_means(values[:, ::-1], rounds=200)
    assert other.difference.value == pytest.approx(-one.difference.value)
    assert (other.difference.low, other.difference.high) == pytest.approx((-one.difference.high, -one.difference.low))
    assert other.p == pytest.approx(one.p)
    assert other.significant is one.significant


def test_what_questions_share_cancels_out() -> None:
    values = scores(1, 300, 0.0, 0.0) + np.random.default_rng(2).normal(0, 20, (300, 1))
    [found] = compare_means(values, rounds=500)
    assert found.difference.high - found.difference.low < 0.5


def test_models_without_a_common_question_cannot_be_compared() -> None:
    [found] = compare_means([[1.0, math.nan], [math.nan, 2.0]], rounds=10)
    assert math.isnan(found.p) and math.isnan(found.p_holm) and not found.significant
    assert (found.difference.n, math.isnan(found.difference.value)) == (0, True)


def test_equal_models_are_told_apart_in_few_families() -> None:
    # Five equal models, ten pairs; after Holm's correction at most 5% of the families hold a false claim.
    false = [
        any(one.significant for one in compare_means(scores(seed, 120, *[0.0] * 5), rounds=1000)) for seed in range(200)
    ]
    assert np.mean(false) < 0.09


def test_better_models_are_found() -> None:
    found = compare_means(scores(5, 400, 0.0, 0.0, 1.0), rounds=500)
    assert [one.significant for one in found] == [False, True, True]


# --- rank_intervals ---


def test_rank_intervals_by_hand() -> None:
    # 0 is better than 2 and 3, 1 is better than 3.
    assert rank_intervals(4, [(0, 2), (0, 3), (1, 3)]) == ((1, 2), (1, 3), (2, 4), (3, 4))
    assert rank_intervals(3, []) == ((1, 3),) * 3
    assert rank_intervals(3, all_pairs(3)) == ((1, 1), (2, 2), (3, 3))
    assert rank_intervals(0, []) == ()


@checked
@given(order=st.permutations(range(6)), seed=st.integers(0, 1000))
def test_rank_intervals_hold_the_true_rank_where_every_claim_is_true(order: list[int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    true = [(order[first], order[second]) for first, second in all_pairs(6)]
    found = rank_intervals(6, [pair for pair in true if generator.random() < 0.4])
    assert all(found[model][0] <= rank <= found[model][1] for rank, model in enumerate(order, start=1))
