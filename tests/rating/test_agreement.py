"""Krippendorff's alpha: by hand, from the literature, by slow obvious code, by its properties."""

import math
import random
from typing import Any

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.scorer import SampleScore, Score, krippendorff_alpha

from urs_inspect.rating import interval_alpha
from urs_inspect.rating.agreement import nominal_alpha

NONE = math.nan
Ratings = list[list[float]]

# Two to four raters, whole and half points, gaps.
rating = st.one_of(st.integers(1, 10).map(float), st.sampled_from([NONE, 6.5, 7.5]))
tables = st.integers(2, 9).flatmap(
    lambda units: st.lists(st.lists(rating, min_size=units, max_size=units), min_size=2, max_size=4)
)
checked = settings(deadline=None, database=None, max_examples=150)


def units_of(ratings: Ratings) -> list[list[float]]:
    columns = [[value for value in column if not math.isnan(value)] for column in zip(*ratings, strict=True)]
    return [column for column in columns if len(column) >= 2]


def slow_alpha(ratings: Ratings) -> float:
    """1 - observed / expected disagreement, as Krippendorff writes it, over all ordered pairs."""
    units = units_of(ratings)
    if len(units) < 2:
        return math.nan
    everything = [value for unit in units for value in unit]
    n = len(everything)
    observed = sum(sum((a - b) ** 2 for a in unit for b in unit) / (len(unit) - 1) for unit in units) / n
    expected = sum((a - b) ** 2 for a in everything for b in everything) / (n * (n - 1))
    return 1 - observed / expected if expected else 1.0


# --- by hand ---


def test_alpha_worked_out_by_hand() -> None:
    # Units (1, 1), (2, 2), (3, 4); n = 6.
    # Observed: (0 + 0 + (1 + 1) / 1) / 6 = 1/3.
    # Expected: over ordered pairs of 1 1 2 2 3 4, the sum of squares is 2 (6 * 35 - 13^2) = 82; 82 / 30.
    # 1 - (1/3) / (82/30) = 1 - 10/82 = 36/41
    assert interval_alpha([[1, 2, 3], [1, 2, 4]]) == pytest.approx(36 / 41)


def test_systematic_disagreement_is_below_zero_as_worked_out_by_hand() -> None:
    # Units (1, 10), (10, 1); n = 4. Observed: (162 + 162) / 4 = 81. Expected: 8 * 81 / 12 = 54. 1 - 81/54 = -1/2
    assert interval_alpha([[1, 10], [10, 1]]) == pytest.approx(-0.5)


def test_alpha_of_the_published_example() -> None:
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), the data with gaps: interval alpha .849
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
    assert interval_alpha(ratings) == pytest.approx(0.849, abs=5e-4)


@pytest.mark.parametrize("ratings", [[[1, 5, 9], [1, 5, 9]], [[7, 7, 2], [7, NONE, 2], [7, 7, 2]]])
def test_perfect_agreement_is_one(ratings: Ratings) -> None:
    assert interval_alpha(ratings) == pytest.approx(1.0)


@pytest.mark.parametrize("ratings", [[[8, 8], [8, 8]], [[8, 8, NONE], [8, 8, 3]], [[6.5] * 3] * 3])
def test_alpha_is_one_by_convention_when_all_ratings_are_equal(ratings: Ratings) -> None:
    assert interval_alpha(ratings) == 1.0


@pytest.mark.parametrize(
    "ratings",
    [
        [],
        [[], []],
        [[1, 2, 3]],  # one rater
        [[1], [2]],  # one unit
        [[1, 2, NONE], [1, NONE, 3]],  # one unit with two ratings
        [[NONE, NONE], [NONE, NONE]],
        [[5, NONE], [NONE, 5]],
    ],
)
def test_alpha_needs_two_units_with_two_ratings(ratings: Ratings) -> None:
    assert math.isnan(interval_alpha(ratings))


def test_raters_must_have_as_many_units() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        interval_alpha([[1, 2, 3], [1, 2]])


# --- by slow obvious code, and by the harness ---


@checked
@given(ratings=tables)
def test_alpha_is_one_less_the_ratio_of_disagreements(ratings: Ratings) -> None:
    assert interval_alpha(ratings) == pytest.approx(slow_alpha(ratings), abs=1e-9, nan_ok=True)


@checked
@given(ratings=tables)
def test_alpha_is_that_of_the_harness(ratings: Ratings) -> None:
    units = units_of(ratings)
    if len(units) < 2:  # where the harness still gives a number for a single unit
        assert math.isnan(interval_alpha(ratings))
        return
    metric: Any = krippendorff_alpha("interval")
    harness = metric([SampleScore(score=Score(value=list(unit))) for unit in units])
    assert interval_alpha(ratings) == pytest.approx(harness, abs=1e-9)


# --- properties ---


@checked
@given(ratings=tables, seed=st.integers(0, 100))
def test_the_order_of_raters_and_units_does_not_matter(ratings: Ratings, seed: int) -> None:
    mixing = random.Random(seed)
    raters = mixing.sample(ratings, len(ratings))
    order = mixing.sample(range(len(ratings[0])), len(ratings[0]))
    mixed = [[rater[unit] for unit in order] for rater in raters]
    assert interval_alpha(mixed) == pytest.approx(interval_alpha(ratings), abs=1e-9, nan_ok=True)


@checked
@given(ratings=tables, shift=st.floats(-50, 50), factor=st.sampled_from([-2.0, -1.0, 0.5, 3.0]))
def test_alpha_knows_no_zero_no_unit_and_no_direction(ratings: Ratings, shift: float, factor: float) -> None:
    moved = [[factor * value + shift for value in rater] for rater in ratings]
    assert interval_alpha(moved) == pytest.approx(interval_alpha(ratings), abs=1e-6, nan_ok=True)


@checked
@given(ratings=tables, lone=st.floats(1, 10))
def test_units_with_one_rating_and_raters_with_none_do_not_matter(ratings: Ratings, lone: float) -> None:
    wider = [[*rater, lone if number == 0 else NONE] for number, rater in enumerate(ratings)]
    wider.append([NONE] * len(wider[0]))
    assert interval_alpha(wider) == pytest.approx(interval_alpha(ratings), abs=1e-9, nan_ok=True)


@checked
@given(ratings=tables)
def test_alpha_is_never_above_one(ratings: Ratings) -> None:
    alpha = interval_alpha(ratings)
    assert math.isnan(alpha) or alpha <= 1 + 1e-12


def test_alpha_of_random_ratings_is_near_zero() -> None:
    # Raters who roll dice agree by chance alone; with 2,000 units the deviation of alpha is about 1 / sqrt(2000).
    dice = random.Random(0)
    ratings = [[float(dice.randint(1, 10)) for _ in range(2000)] for _ in range(2)]
    assert abs(interval_alpha(ratings)) < 0.09


# --- nominal, of two raters, from confusion tables ---

count_rows = st.lists(st.integers(0, 6), min_size=3, max_size=3)
tables_of_counts = st.lists(st.lists(count_rows, min_size=3, max_size=3), min_size=1, max_size=4)


def units_of_table(table: list[list[int]]) -> list[tuple[int, int]]:
    return [(a, b) for a, row in enumerate(table) for b, count in enumerate(row) for _ in range(count)]


def test_nominal_alpha_worked_out_by_hand() -> None:
    # Units (x, x), (x, y), (y, y): 6 values, 3 x and 3 y, 2 of them disagree. 1 - 5 * 2 / (36 - 9 - 9) = 1 - 10/18
    assert nominal_alpha(np.array([[[1.0, 1], [0, 1]]])) == pytest.approx([4 / 9])


def test_nominal_alpha_of_the_published_example() -> None:
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), part A: 10 units of zeros and ones by two
    # observers, 5 of (0, 0), 2 of (0, 1), 2 of (1, 0) and 1 of (1, 1): alpha .095
    assert nominal_alpha(np.array([[[5.0, 2], [2, 1]]])) == pytest.approx([0.095], abs=5e-4)


@checked
@given(tables=tables_of_counts)
def test_nominal_alpha_is_that_of_slow_code_of_the_harness_and_of_evalica(tables: list[list[list[int]]]) -> None:
    metric: Any = krippendorff_alpha("nominal")
    for table, alpha in zip(tables, nominal_alpha(np.array(tables, dtype=float)), strict=True):
        units = units_of_table(table)
        if len(units) < 2:
            assert math.isnan(alpha)
            continue
        assert alpha == pytest.approx(metric([SampleScore(score=Score(value=list(unit))) for unit in units]))
        everything = [value for unit in units for value in unit]
        if len({*everything}) == 1:
            assert alpha == 1
            continue
        n = len(everything)
        expected = sum(a != b for a in everything for b in everything) / (n * (n - 1))
        assert alpha == pytest.approx(1 - sum(a != b for a, b in units) / len(units) / expected)
        assert alpha == pytest.approx(evalica.alpha(pd.DataFrame(units).T, distance="nominal").alpha)


@checked
@given(tables=tables_of_counts)
def test_nominal_alpha_does_not_care_which_rater_or_class_comes_first(tables: list[list[list[int]]]) -> None:
    given_tables = np.array(tables, dtype=float)
    alpha = nominal_alpha(given_tables)
    assert nominal_alpha(given_tables.transpose(0, 2, 1)) == pytest.approx(alpha, nan_ok=True)
    assert nominal_alpha(given_tables[:, [2, 0, 1]][:, :, [2, 0, 1]]) == pytest.approx(alpha, nan_ok=True)
