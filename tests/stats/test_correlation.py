"""Tests of `urs_inspect.stats.correlation`."""

import json
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from tests.stats.fights import checked
from urs_inspect.stats import Correlations, correlate, correlation_difference
from urs_inspect.stats import correlation as correlations
from urs_inspect.stats.bootstrap import resample
from urs_inspect.stats.correlation import rank_correlation

KINDS = ("pearson", "spearman", "kendall")
Values = npt.NDArray[np.float64]

# Coarse scales have ties, as ratings do.
rating = st.one_of(st.integers(1, 5).map(float), st.sampled_from([1 / 3, 2 / 3, 4.5]))
pairs = st.lists(st.tuples(rating, rating, st.integers(0, 5)), min_size=2, max_size=25)


def values(found: Correlations) -> list[float]:
    return [getattr(found, kind).value for kind in KINDS]


def bounds(found: Correlations) -> list[tuple[float, float]]:
    return [(getattr(found, kind).low, getattr(found, kind).high) for kind in KINDS]


def slow(x: Values, y: Values) -> list[float]:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return [math.nan] * 3
    return [float(test(x, y)[0]) for test in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def columns(items: list[tuple[float, float, int]]) -> tuple[Values, Values, list[int]]:
    x, y, names = zip(*items, strict=True)
    return np.array(x), np.array(y), list(names)


def slow_tau(x: Values, y: Values) -> float:
    """Concordant less discordant pairs, over the root of the pairs untied in x times those untied in y."""
    balance = untied_x = untied_y = 0.0
    for i in range(len(x)):
        for j in range(i):
            balance += np.sign(x[i] - x[j]) * np.sign(y[i] - y[j])
            untied_x += x[i] != x[j]
            untied_y += y[i] != y[j]
    return balance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else math.nan


def test_correlations_worked_out_by_hand() -> None:
    # x 1 2 3 4, y 1 3 2 6. Deviations -1.5 -.5 .5 1.5 and -2 0 -1 3: products 3 + 0 - .5 + 4.5 = 7,
    # squares 5 and 14: 7 / sqrt(70). Ranks of y 1 3 2 4: 1 - 6 (0 + 1 + 1 + 0) / (4 * 15) = 0.8.
    # One of six pairs is discordant: (5 - 1) / 6.
    found = correlate([1, 2, 3, 4], [1, 3, 2, 6], list("pqrs"))
    assert values(found) == pytest.approx([7 / math.sqrt(70), 0.8, 4 / 6])


def test_ties_worked_out_by_hand() -> None:
    # x 1 1 2, y 1 2 3: ranks 1.5 1.5 3 and 1 2 3, deviations -.5 -.5 1 and -1 0 1: 1.5 / sqrt(1.5 * 2) = sqrt(3)/2.
    # Pairs: two concordant, one tied in x: 2 / sqrt(2 * 3).
    found = correlate([1, 1, 2], [1, 2, 3], list("pqr"))
    assert values(found)[1:] == pytest.approx([math.sqrt(3) / 2, 2 / math.sqrt(6)])


def test_the_difference_is_first_less_second() -> None:
    # The first rates as labelled (1, 1, 1), the second the other way round (-1, -1, -1).
    found = correlation_difference([1, 2, 3], [4, 5, 6], [9, 8, 7], list("pqr"))
    assert values(found) == pytest.approx([2, 2, 2])


def test_missing_ratings_are_left_out_and_counted() -> None:
    none = math.nan
    labels, ratings, names = [1, 2, 3, 4, 9], [1, 3, 2, 6, none], list("pqrsp")
    found = correlate(labels, ratings, names)
    assert (found.unread, found.pearson.n, found.pearson.clusters) == (1, 4, 4)
    assert values(found) == pytest.approx([7 / math.sqrt(70), 0.8, 4 / 6])
    both = correlation_difference(labels, ratings, [none, 1, 2, 3, 4], names)
    assert (both.unread, both.kendall.n, both.kendall.clusters) == (2, 3, 3)


@pytest.mark.parametrize(
    ("labels", "ratings"),
    [
        ([1, 2, 3], [5, 5, 5]),
        ([2, 2, 2], [1, 2, 3]),
        ([0.1, 0.1, 0.1], [1, 2, 3]),  # whose mean is not 0.1 in floating point
        ([1, 2, 3], [0.1, 0.1, 0.1]),
        ([1], [1]),
        ([], []),
    ],
)
def test_there_is_no_correlation_with_what_does_not_vary(labels: list[float], ratings: list[float]) -> None:
    found = correlate(labels, ratings, list("pqr")[: len(labels)])
    assert all(math.isnan(number) for number in [*values(found), *sum(bounds(found), ())])


def test_all_ratings_may_be_missing() -> None:
    found = correlate([1, 2], [math.nan, math.nan], ["p", "q"])
    assert (found.unread, found.pearson.n, found.pearson.clusters, math.isnan(found.pearson.value)) == (2, 0, 0, True)


def test_one_prompt_has_no_interval() -> None:
    found = correlate([1, 2, 3], [1, 3, 2], ["p"] * 3)
    assert values(found) == pytest.approx([0.5, 0.5, 1 / 3])
    assert all(math.isnan(bound) for bound in sum(bounds(found), ()))


@checked
@given(items=pairs)
def test_correlations_are_those_of_scipy(items: list[tuple[float, float, int]]) -> None:
    x, y, names = columns(items)
    found = correlate(x, y, names, rounds=2)
    assert values(found) == pytest.approx(slow(x, y), abs=1e-9, nan_ok=True)
    assert found.kendall.value == pytest.approx(slow_tau(x, y), abs=1e-9, nan_ok=True)


@checked
@given(items=pairs, seed=st.integers(0, 20))
def test_intervals_are_what_correlating_each_resample_gives(items: list[tuple[float, float, int]], seed: int) -> None:
    x, y, names = columns(items)
    prompts = sorted({*names})
    rounds = []
    for weights in np.concatenate(list(resample(len(prompts), 6, seed))):
        times = [int(weights[prompts.index(name)]) for name in names]
        drawn = np.repeat(np.arange(len(names)), times)
        rounds.append(slow(x[drawn], y[drawn]))
    found = correlate(x, y, names, rounds=6, level=0.8, seed=seed)
    for kind, estimate, column in zip(KINDS, (getattr(found, kind) for kind in KINDS), np.array(rounds).T, strict=True):
        known = column[~np.isnan(column)]
        if estimate.clusters < 2 or math.isnan(estimate.value):
            assert math.isnan(estimate.low), kind
        else:
            expected = tuple(np.quantile(known, [0.1, 0.9])) if len(known) else (math.nan, math.nan)
            assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_many_items_are_paired_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.integers(5, size=(2, 40)).astype(float)
    names = np.arange(40) // 3
    whole = correlate(x, y, names, rounds=50)
    monkeypatch.setattr(correlations, "_ITEMS_AT_ONCE", 7)
    assert correlate(x, y, names, rounds=50) == whole


@checked
@given(items=pairs, factor=st.sampled_from([0.25, 3.0]), shift=st.floats(-20, 20))
def test_scale_does_not_matter_and_direction_turns_the_sign(
    items: list[tuple[float, float, int]], factor: float, shift: float
) -> None:
    x, y, names = columns(items)
    found = values(correlate(x, y, names, rounds=2))
    assert values(correlate(x, factor * y + shift, names, rounds=2)) == pytest.approx(found, nan_ok=True, abs=1e-6)
    assert values(correlate(x, -y, names, rounds=2)) == pytest.approx([-r for r in found], nan_ok=True, abs=1e-9)
    assert values(correlate(y, x, names, rounds=2)) == pytest.approx(found, nan_ok=True, abs=1e-9)


@checked
@given(items=pairs)
def test_a_judge_is_not_better_than_itself(items: list[tuple[float, float, int]]) -> None:
    x, y, names = columns(items)
    found = correlation_difference(x, y, y, names, rounds=10)
    assert all(math.isnan(number) or number == 0 for number in [*values(found), *sum(bounds(found), ())])


@checked
@given(items=pairs, seed=st.integers(0, 20))
def test_a_difference_turns_its_sign_with_the_judges(items: list[tuple[float, float, int]], seed: int) -> None:
    x, y, names = columns(items)
    z = np.random.default_rng(seed).integers(1, 4, size=len(x)).astype(float)
    one, other = (correlation_difference(x, a, b, names, rounds=10) for a, b in ((y, z), (z, y)))
    assert values(one) == pytest.approx([-d for d in values(other)], nan_ok=True, abs=1e-9)
    for (low, high), (other_low, other_high) in zip(bounds(one), bounds(other), strict=True):
        assert (low, high) == pytest.approx((-other_high, -other_low), nan_ok=True, abs=1e-9)


def test_pairing_makes_the_interval_of_a_difference_narrower() -> None:
    # Two judges with much noise in common: their difference is known better than either.
    generator = np.random.default_rng(0)
    x = generator.normal(size=200)
    shared = generator.normal(size=200)
    one, other = (x + 2 * shared + 0.3 * generator.normal(size=200) for _ in range(2))
    alone = correlate(x, one, np.arange(200), rounds=500).pearson
    paired = correlation_difference(x, one, other, np.arange(200), rounds=500).pearson
    assert paired.high - paired.low < 0.5 * (alone.high - alone.low)


def vicuna(data_dir: Path, judge: str) -> tuple[list[float], list[float], list[str]]:
    path = data_dir / "judge_bench" / "vicuna_predictions" / f"{judge}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    labels = [sum(row["ground_truth"]) / len(row["ground_truth"]) for row in rows]
    return labels, [row["pred_score"] for row in rows], [row["instruction"] for row in rows]


@pytest.mark.data
@pytest.mark.parametrize(
    # SaMer paper, Table 2; its Kendall of SaMer is printed .354.
    ("judge", "published"),
    [("SaMer", [0.476, 0.458, 0.350]), ("gpt-4o", [0.434, 0.306, 0.263])],
)
def test_table_2_follows_from_the_published_predictions(data_dir: Path, judge: str, published: list[float]) -> None:
    labels, ratings, prompts = vicuna(data_dir, judge)
    found = correlate(labels, ratings, prompts)
    assert [round(value, 3) for value in values(found)] == published
    assert (found.pearson.n, found.pearson.clusters, found.unread) == (320, 80, 0)
    assert values(found) == pytest.approx(slow(np.array(labels), np.array(ratings)))


@pytest.mark.data
def test_on_vicuna_samer_is_better_than_gpt_4o_by_ranks_only(data_dir: Path) -> None:
    labels, samer, prompts = vicuna(data_dir, "SaMer")
    other_labels, gpt, other_prompts = vicuna(data_dir, "gpt-4o")
    assert (labels, prompts) == (other_labels, other_prompts)
    found = correlation_difference(labels, samer, gpt, prompts)
    assert values(found) == pytest.approx([0.4759 - 0.4338, 0.4583 - 0.3056, 0.3504 - 0.2632], abs=2e-4)
    assert bounds(found)[0] == pytest.approx((-0.07, 0.17), abs=0.01)
    assert bounds(found)[1] == pytest.approx((0.03, 0.27), abs=0.01)
    assert found.pearson.low < 0 < found.spearman.low


def test_p_values_worked_out_by_hand() -> None:
    # The first judge is right in every round, the second wrong: of 50 rounds none has a difference of 0 or less, so
    # p = 2 * (0 + 1) / 51, the least there is. With equal judges every round has 0, and p is 1.
    labels, names = [1, 2, 3, 4, 5, 6], list("pqrstu")
    found = correlation_difference(labels, labels, labels[::-1], names, rounds=50)
    rounds = found.pearson.rounds
    assert rounds == 50
    assert (found.p_pearson, found.p_spearman, found.p_kendall) == pytest.approx((2 / 51,) * 3)
    equal = correlation_difference(labels, labels, labels, names, rounds=50)
    assert (equal.p_pearson, equal.p_spearman, equal.p_kendall) == (1, 1, 1)


def test_there_is_no_p_value_without_an_interval() -> None:
    found = correlation_difference([1, 2, 3], [1, 3, 2], [3, 2, 1], ["p"] * 3)
    assert math.isnan(found.p_pearson) and math.isnan(found.p_kendall)


@checked
@given(items=st.lists(st.tuples(rating, rating, rating, st.integers(0, 9)), min_size=3, max_size=25))
@example(items=[(1.0, 1.0, 1.0, 2), (2.0, 1.0, 1 / 3, 1), (2.0, 2.0, 1.0, 0)])
def test_p_values_change_no_more_than_sides_when_judges_are_swapped(
    items: list[tuple[float, float, float, int]],
) -> None:
    labels, one, other, names = (list(column) for column in zip(*items, strict=True))
    found = correlation_difference(labels, one, other, names, rounds=400)  # few are defined where values repeat
    swapped = correlation_difference(labels, other, one, names, rounds=400)
    for kind in KINDS:
        p, q = getattr(found, f"p_{kind}"), getattr(swapped, f"p_{kind}")
        assert p == pytest.approx(q, abs=2 / 41 + 1e-12, nan_ok=True)  # a difference of 0 may come out as 1e-17
        estimate = getattr(found, kind)
        assert math.isnan(p) == math.isnan(estimate.low)
        if estimate.low > 1e-9 or estimate.high < -1e-9:
            assert p < 0.2


@checked
@given(items=pairs, seed=st.integers(0, 20))
def test_counting_repeated_values_changes_nothing(items: list[tuple[float, float, int]], seed: int) -> None:
    x, y, names = columns([*items, *items, *items])
    counted = correlate(x, y, names, rounds=20, seed=seed)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(correlations, "_REPEATED", math.inf)
        plain = correlate(x, y, names, rounds=20, seed=seed)
    assert values(counted) == pytest.approx(values(plain), nan_ok=True)
    for one, other in zip(bounds(counted), bounds(plain), strict=True):
        assert one == pytest.approx(other, nan_ok=True)


def test_by_hand() -> None:
    # Ranks 1 2 3 and 1 3 2: 1 - 6 * (0 + 1 + 1) / (3 * 8) = 0.5. The item without a score does not count.
    found = rank_correlation([10, 20, 30, 40], [1, 3, 2, math.nan], list("abcd"), rounds=50)
    assert found.value == pytest.approx(0.5)
    assert (found.n, found.clusters) == (3, 3)


@checked
@given(seed=st.integers(0, 1000))
def test_it_is_the_rho_of_correlate(seed: int) -> None:
    generator = np.random.default_rng(seed)
    lengths, finals = generator.integers(1, 200, 30), generator.integers(1, 11, 30)
    names = [f"{n // 2:02d}" for n in range(30)]
    found = rank_correlation(lengths, finals, names, rounds=40, seed=seed)
    slow = correlate(lengths, finals, names, rounds=40, seed=seed).spearman
    assert (found.value, found.low, found.high) == pytest.approx((slow.value, slow.low, slow.high))
    assert found.value == pytest.approx(stats.spearmanr(lengths, finals).statistic)


def test_values_that_are_all_equal_have_none() -> None:
    found = rank_correlation([5, 5, 5], [1, 2, 3], list("abc"), rounds=10)
    assert math.isnan(found.value) and math.isnan(found.low)
    assert math.isnan(rank_correlation([math.nan], [1], ["a"]).value)
