"""Tests of `urs_inspect.stats._correlation`."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from tests.stats.fights import checked
from tests.stats.slow import expanded
from urs_inspect.datasets import load_ratings
from urs_inspect.stats import Correlations, correlate, correlation_difference
from urs_inspect.stats import _correlation as correlations
from urs_inspect.stats._bootstrap import resample
from urs_inspect.stats._correlation import (
    derived_seed,
    rank_correlation,
)

KINDS = ("pearson", "spearman", "kendall")
Values = npt.NDArray[np.float64]

# Coarse scales have ties, as ratings do.
rating = st.one_of(st.integers(1, 5).map(float), st.sampled_from([1 / 3, 2 / 3, 4.5]))
pairs = st.lists(st.tuples(rating, rating, st.integers(0, 5)), min_size=2, max_size=25)


def values(found: Correlations) -> list[float]:
    return [getattr(found, kind).value for kind in KINDS]


def bounds(found: Correlations) -> list[float]:
    return [
        bound for kind in KINDS for bound in (getattr(found, kind).low, getattr(found, kind).high)
    ]


def slow(x: Values, y: Values) -> list[float]:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return [math.nan] * 3
    return [float(test(x, y)[0]) for test in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def columns(items: list[tuple[float, float, int]]) -> tuple[Values, Values, list[int]]:
    x, y, names = zip(*items, strict=True)
    return np.array(x), np.array(y), list(names)


NONE = math.nan


@pytest.mark.parametrize(
    ("labels", "ratings", "expected"),
    [
        # Deviations -1.5 -.5 .5 1.5 and -2 0 -1 3: products 3 + 0 - .5 + 4.5 = 7, squares 5 and 14:
        # 7 / sqrt(70). Ranks of y 1 3 2 4: 1 - 6 (0 + 1 + 1 + 0) / (4 * 15) = 0.8. One of six pairs
        # is discordant: (5 - 1) / 6.
        pytest.param(
            [1, 2, 3, 4, 9], [1, 3, 2, 6, NONE], [7 / math.sqrt(70), 0.8, 4 / 6], id="by hand"
        ),
        # Ranks 1.5 1.5 3 and 1 2 3, deviations -.5 -.5 1 and -1 0 1: 1.5 / sqrt(1.5 * 2) =
        # sqrt(3)/2. Pairs: two concordant, one tied in x: 2 / sqrt(2 * 3).
        pytest.param(
            [1, 1, 2], [1, 2, 3], [math.sqrt(3) / 2, math.sqrt(3) / 2, 2 / math.sqrt(6)], id="ties"
        ),
        pytest.param(
            [1, 2, 3], [0.1, 0.1, 0.1], [NONE] * 3, id="ratings do not vary"
        ),  # their mean is not 0.1
        pytest.param([0.1, 0.1, 0.1], [1, 2, 3], [NONE] * 3, id="labels do not vary"),
        pytest.param([1], [1], [NONE] * 3, id="one"),
        pytest.param([], [], [NONE] * 3, id="none"),
        pytest.param([1, 2], [NONE, NONE], [NONE] * 3, id="all ratings missing"),
    ],
)
def test_correlations_worked_out_by_hand(
    labels: list[float], ratings: list[float], expected: list[float]
) -> None:
    known = sum(not math.isnan(rating) for rating in ratings)
    found = correlate(labels, ratings, range(len(labels)))
    assert values(found) == pytest.approx(expected, nan_ok=True)
    assert (found.unread, found.kendall.n, found.pearson.clusters) == (
        len(ratings) - known,
        known,
        known,
    )
    if math.isnan(expected[0]):
        assert np.isnan(bounds(found)).all()
    one_prompt = correlate(labels, ratings, ["p"] * len(labels))
    assert values(one_prompt) == values(found) or math.isnan(expected[0])
    assert np.isnan(bounds(one_prompt)).all()


@pytest.mark.parametrize(("of_labels", "of_ratings"), [(1e9, 1e-9), (1e-9, 1e9), (1e-9, 1e-9)])
def test_each_side_has_a_unit_of_its_own(of_labels: float, of_ratings: float) -> None:
    labels = np.array([1, 2, 4, 3, 5.0])
    ratings = np.array([2, 1, 3, 5, 4.0])
    found = correlate(of_labels * labels, of_ratings * ratings, range(5), rounds=9)
    plain = correlate(labels, ratings, range(5), rounds=9)
    assert values(found) == pytest.approx(values(plain))
    # Equal ratings differ from their mean by rounding, however small or large the labels are.
    for equal in (0.1 * of_labels, 0.1 * of_ratings):
        constant = np.full(5, equal)
        assert np.isnan(values(correlate(of_labels * labels, constant, range(5)))).all()
        assert np.isnan(values(correlate(constant, of_ratings * ratings, range(5)))).all()


def test_the_difference_is_first_less_second_over_what_both_rated() -> None:
    # The first rates as labelled (1, 1, 1), the second the other way round (-1, -1, -1).
    found = correlation_difference(
        [1, 2, 3, 4, 5], [4, 5, 6, NONE, 7], [9, 8, 7, 6, NONE], list("pqrsp")
    )
    assert values(found) == pytest.approx([2, 2, 2])
    assert (found.unread, found.kendall.n, found.kendall.clusters) == (2, 3, 3)


@checked
@given(items=pairs, seed=st.integers(0, 20))
def test_values_and_intervals_are_those_of_scipy_in_each_resample(
    items: list[tuple[float, float, int]], seed: int
) -> None:
    x, y, names = columns(items)
    prompts = sorted({*names})
    rounds = []
    for weights in np.concatenate(list(resample(len(prompts), 6, seed))):
        drawn = np.repeat(
            np.arange(len(names)), [int(weights[prompts.index(name)]) for name in names]
        )
        rounds.append(slow(x[drawn], y[drawn]))
    found = correlate(x, y, names, rounds=6, level=0.8, seed=seed)
    assert values(found) == pytest.approx(slow(x, y), abs=1e-9, nan_ok=True)
    for kind, column in zip(KINDS, np.array(rounds).T, strict=True):
        estimate, known = getattr(found, kind), column[~np.isnan(column)]
        there = estimate.clusters > 1 and not math.isnan(estimate.value) and len(known)
        expected = expanded(known, estimate.clusters, 0.8) if there else (NONE, NONE)
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
    assert values(correlate(x, factor * y + shift, names, rounds=2)) == pytest.approx(
        found, nan_ok=True, abs=1e-6
    )
    assert values(correlate(x, -y, names, rounds=2)) == pytest.approx(
        [-r for r in found], nan_ok=True, abs=1e-9
    )
    assert values(correlate(y, x, names, rounds=2)) == pytest.approx(found, nan_ok=True, abs=1e-9)


@checked
@given(items=pairs, seed=st.integers(0, 20))
def test_a_difference_turns_its_sign_with_the_judges(
    items: list[tuple[float, float, int]], seed: int
) -> None:
    x, y, names = columns(items)
    z = np.random.default_rng(seed).integers(1, 4, size=len(x)).astype(float)
    one, other = (correlation_difference(x, a, b, names, rounds=10) for a, b in ((y, z), (z, y)))
    assert values(one) == pytest.approx([-d for d in values(other)], nan_ok=True, abs=1e-9)
    turned = [-getattr(getattr(other, kind), side) for kind in KINDS for side in ("high", "low")]
    assert bounds(one) == pytest.approx(turned, nan_ok=True, abs=1e-9)


def test_pairing_makes_the_interval_of_a_difference_narrower() -> None:
    # Two judges with much noise in common: their difference is known better than either.
    generator = np.random.default_rng(0)
    x = generator.normal(size=200)
    shared = generator.normal(size=200)
    one, other = (x + 2 * shared + 0.3 * generator.normal(size=200) for _ in range(2))
    alone = correlate(x, one, np.arange(200), rounds=500).pearson
    paired = correlation_difference(x, one, other, np.arange(200), rounds=500).pearson
    assert paired.high - paired.low < 0.5 * (alone.high - alone.low)


@pytest.mark.data
def test_table_2_follows_from_the_published_predictions(data_dir: Path) -> None:
    # SaMer paper, Table 2; its Kendall of SaMer is printed .354.
    published = {"SaMer": [0.476, 0.458, 0.350], "gpt-4o": [0.434, 0.306, 0.263]}
    cases = load_ratings("vicuna").cases
    labels, prompts = [case.rating for case in cases], [case.prompt for case in cases]
    ratings = {}
    for judge, expected in published.items():
        path = data_dir / "judge_bench" / "vicuna_predictions" / f"{judge}.json"
        rows = json.loads(path.read_text(encoding="utf-8"))
        assert [(case.prompt, case.response, case.rating, case.group) for case in cases] == [
            (row["instruction"], row["response"], sum(row["ground_truth"]) / 3, row["category"])
            for row in rows
        ]
        ratings[judge] = [row["pred_score"] for row in rows]
        found = correlate(labels, ratings[judge], prompts)
        assert [round(value, 3) for value in values(found)] == expected
        assert (found.pearson.n, found.pearson.clusters, found.unread) == (320, 80, 0)
    # SaMer is better by ranks only.
    better = correlation_difference(labels, ratings["SaMer"], ratings["gpt-4o"], prompts)
    assert values(better) == pytest.approx(
        [0.4759 - 0.4338, 0.4583 - 0.3056, 0.3504 - 0.2632], abs=2e-4
    )
    assert bounds(better)[:4] == pytest.approx([-0.07, 0.17, 0.03, 0.27], abs=0.01)
    assert better.pearson.low < 0 < better.spearman.low


def test_p_values_worked_out_by_hand() -> None:
    # The first judge is right in every round, the second wrong: of 50 rounds none has a difference
    # of 0 or less, so p = 2 * (0 + 1) / 51, the least there is. With equal judges every round has
    # 0, and p is 1.
    labels, names = [1, 2, 3, 4, 5, 6], list("pqrstu")
    for other, prompts, p in (
        (labels[::-1], names, 2 / 51),
        (labels, names, 1),
        (labels[::-1], ["p"] * 6, NONE),
    ):
        found = correlation_difference(labels, labels, other, prompts, rounds=50)
        assert found.pearson.rounds == 50
        assert [found.p_pearson, found.p_spearman, found.p_kendall] == pytest.approx(
            [p] * 3, nan_ok=True
        )


def test_rounds_without_a_correlation_do_not_make_a_p_value_smaller() -> None:
    labels = [1, 1, 2]
    found = correlation_difference(labels, labels, [2, 2, 1], list("pqr"), rounds=50)
    drawn = np.concatenate(list(resample(3, 50)))
    has_both_labels = (drawn[:, 2] > 0) & (drawn[:, 2] < 3)
    known = int(has_both_labels.sum())
    assert known < 50
    assert found.p_pearson == pytest.approx(2 / (known + 1))


@checked
@given(
    items=st.lists(st.tuples(rating, rating, rating, st.integers(0, 9)), min_size=3, max_size=25)
)
@example(items=[(1.0, 1.0, 1.0, 2), (2.0, 1.0, 1 / 3, 1), (2.0, 2.0, 1.0, 0)])
def test_p_values_change_no_more_than_sides_when_judges_are_swapped(
    items: list[tuple[float, float, float, int]],
) -> None:
    labels, one, other, names = (list(column) for column in zip(*items, strict=True))
    found = correlation_difference(
        labels, one, other, names, rounds=400
    )  # few are defined where values repeat
    swapped = correlation_difference(labels, other, one, names, rounds=400)
    for kind in KINDS:
        p, q = getattr(found, f"p_{kind}"), getattr(swapped, f"p_{kind}")
        assert p == pytest.approx(
            q, abs=2 / 41 + 1e-12, nan_ok=True
        )  # a difference of 0 may come out as 1e-17
        estimate = getattr(found, kind)
        assert math.isnan(p) == math.isnan(estimate.low)
        if estimate.low > 1e-9 or estimate.high < -1e-9:
            assert p < 0.2


@checked
@given(items=pairs, seed=st.integers(0, 20))
def test_counting_repeated_values_changes_nothing(
    items: list[tuple[float, float, int]], seed: int
) -> None:
    x, y, names = columns([*items, *items, *items])
    counted = correlate(x, y, names, rounds=20, seed=seed)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(correlations, "_REPEATED", math.inf)
        plain = correlate(x, y, names, rounds=20, seed=seed)
    assert [*values(counted), *bounds(counted)] == pytest.approx(
        [*values(plain), *bounds(plain)], nan_ok=True
    )


def test_a_rank_correlation_by_hand() -> None:
    # Ranks 1 2 3 and 1 3 2: 1 - 6 * (0 + 1 + 1) / (3 * 8) = 0.5. The item without a score does not
    # count.
    found = rank_correlation([10, 20, 30, 40], [1, 3, 2, NONE], list("abcd"), rounds=50)
    assert found.value == pytest.approx(0.5)
    assert (found.n, found.clusters) == (3, 3)
    for equal in (
        rank_correlation([5, 5, 5], [1, 2, 3], list("abc"), rounds=10),
        rank_correlation([NONE], [1], "a"),
    ):
        assert math.isnan(equal.value) and math.isnan(equal.low)


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


def test_seeds_of_parts_differ_and_stay() -> None:
    seeds = [derived_seed(0, part) for part in range(50)]
    assert len(set(seeds)) == 50
    assert derived_seed(0, 7) == seeds[7] != derived_seed(1, 7)
    # The parts of a part, and their order, make other seeds.
    pairs = [derived_seed(0, *parts) for parts in product(range(1, 6), repeat=2)]
    assert len({*seeds, *pairs}) == 75
