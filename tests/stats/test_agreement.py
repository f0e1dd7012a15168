"""Tests of `urs_inspect.stats._agreement`."""

import math
import tomllib
from pathlib import Path
from typing import Any

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.scorer import SampleScore, Score, krippendorff_alpha
from scipy.stats import binomtest

from tests.stats.fights import checked
from tests.stats.slow import expanded
from urs_inspect.stats import interval_alpha
from urs_inspect.stats._agreement import (
    clustered_interval_alpha,
    nominal_alpha,
    wilson_interval,
)

NONE = math.nan
Ratings = list[list[float]]

# Two to four raters, whole and half points, gaps.
rating = st.one_of(st.integers(1, 10).map(float), st.sampled_from([NONE, 6.5, 7.5]))
tables = st.integers(2, 9).flatmap(
    lambda units: st.lists(st.lists(rating, min_size=units, max_size=units), min_size=2, max_size=4)
)


def units_of(ratings: Ratings) -> list[list[float]]:
    columns = [
        [value for value in column if not math.isnan(value)]
        for column in zip(*ratings, strict=True)
    ]
    return [column for column in columns if len(column) >= 2]


def slow_alpha(ratings: Ratings) -> float:
    """1 - observed / expected disagreement, as Krippendorff writes it, over all ordered pairs."""
    units = units_of(ratings)
    if len(units) < 2:
        return math.nan
    everything = [value for unit in units for value in unit]
    n = len(everything)
    observed = (
        sum(sum((a - b) ** 2 for a in unit for b in unit) / (len(unit) - 1) for unit in units) / n
    )
    expected = sum((a - b) ** 2 for a in everything for b in everything) / (n * (n - 1))
    return 1 - observed / expected if expected else 1.0


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        # Units (1, 1), (2, 2), (3, 4); n = 6. Observed: (0 + 0 + (1 + 1) / 1) / 6 = 1/3. Expected:
        # over ordered pairs of 1 1 2 2 3 4, the sum of squares is 2 (6 * 35 - 13^2) = 82; 82 / 30.
        # 1 - (1/3) / (82/30).
        pytest.param([[1, 2, 3], [1, 2, 4]], 36 / 41, id="by hand"),
        # n = 4. Observed: (162 + 162) / 4 = 81. Expected: 8 * 81 / 12 = 54. 1 - 81/54.
        pytest.param([[1, 10], [10, 1]], -0.5, id="systematic disagreement"),
        # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), the data with gaps.
        pytest.param(
            [
                [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
                [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
                [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
                [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
            ],
            0.849,
            id="published",
        ),
        pytest.param([[7, 7, 2], [7, NONE, 2], [7, 7, 2]], 1, id="perfect"),
        pytest.param([[8, 8, NONE], [8, 8, 3]], 1, id="all equal, by convention"),
        pytest.param([[6.5] * 3] * 3, 1, id="all equal, three raters"),
        pytest.param([], NONE, id="no rater"),
        pytest.param([[1, 2, 3]], NONE, id="one rater"),
        pytest.param([[1], [2]], NONE, id="one unit"),
        pytest.param([[1, 2, NONE], [1, NONE, 3]], NONE, id="one unit with two ratings"),
        pytest.param([[5, NONE], [NONE, 5]], NONE, id="no unit with two ratings"),
    ],
)
def test_alpha_worked_out_by_hand(ratings: Ratings, expected: float) -> None:
    assert interval_alpha(ratings) == pytest.approx(expected, abs=5e-4, nan_ok=True)


@checked
@given(ratings=tables)
def test_alpha_is_that_of_slow_code_and_of_the_harness(ratings: Ratings) -> None:
    alpha, units = interval_alpha(ratings), units_of(ratings)
    assert alpha == pytest.approx(slow_alpha(ratings), abs=1e-9, nan_ok=True)
    if len(units) >= 2:  # for a single unit the harness still gives a number
        metric: Any = krippendorff_alpha("interval")
        assert alpha == pytest.approx(
            metric([SampleScore(score=Score(value=[*unit])) for unit in units]), abs=1e-9
        )


# interval alpha of evalica 0.4.2; the first table is that of Krippendorff (2011), part C
RECORDED = [
    (
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
            [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
        ],
        0.8491071428571428,
    ),
    ([[7, 6.5, 3, 9], [8, 6, NONE, 9], [6, 7.5, 4, 2]], 0.08060453400503775),
    ([[1, 10, 5], [10, 1, 5]], -0.6598360655737705),
]


@pytest.mark.parametrize(("ratings", "alpha"), RECORDED)
def test_interval_alpha_is_what_evalica_computed(ratings: Ratings, alpha: float) -> None:
    assert interval_alpha(ratings) == pytest.approx(alpha, abs=1e-12)


def test_the_package_does_not_need_evalica() -> None:
    root = Path(__file__).parents[2]
    users = [path for path in (root / "src").rglob("*.py") if "evalica" in path.read_text("utf-8")]
    assert users == []
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert not [name for name in project["dependencies"] if name.startswith("evalica")]


@checked
@given(ratings=tables, shift=st.floats(-50, 50), factor=st.sampled_from([-2.0, -1.0, 0.5, 3.0]))
def test_alpha_knows_no_zero_no_unit_and_no_direction(
    ratings: Ratings, shift: float, factor: float
) -> None:
    moved = [[factor * value + shift for value in rater] for rater in ratings]
    assert interval_alpha(moved) == pytest.approx(interval_alpha(ratings), abs=1e-6, nan_ok=True)


count_rows = st.lists(st.integers(0, 6), min_size=3, max_size=3)
tables_of_counts = st.lists(st.lists(count_rows, min_size=3, max_size=3), min_size=1, max_size=4)


def test_nominal_alpha_worked_out_by_hand() -> None:
    # Units (x, x), (x, y), (y, y): 6 values, 3 x and 3 y, 2 of them disagree. 1 - 5 * 2 / (36 - 9 -
    # 9) = 1 - 10/18. Krippendorff (2011), part A: 10 units of zeros and ones by two observers,
    # alpha .095.
    assert nominal_alpha(np.array([[[1.0, 1], [0, 1]], [[5, 2], [2, 1]]])) == pytest.approx(
        [4 / 9, 0.095], abs=5e-4
    )


@checked
@given(tables=tables_of_counts)
def test_nominal_alpha_is_that_of_slow_code_of_the_harness_and_of_evalica(
    tables: list[list[list[int]]],
) -> None:
    metric: Any = krippendorff_alpha("nominal")
    for table, alpha in zip(tables, nominal_alpha(np.array(tables, dtype=float)), strict=True):
        units = [
            (a, b)
            for a, row in enumerate(table)
            for b, count in enumerate(row)
            for _ in range(count)
        ]
        everything = [value for unit in units for value in unit]
        if len(units) < 2:
            assert math.isnan(alpha)
        elif len({*everything}) == 1:
            assert alpha == 1
        else:
            n = len(everything)
            expected = sum(a != b for a in everything for b in everything) / (n * (n - 1))
            assert alpha == pytest.approx(1 - sum(a != b for a, b in units) / len(units) / expected)
            assert alpha == pytest.approx(
                evalica.alpha(pd.DataFrame(units).T, distance="nominal").alpha
            )
            assert alpha == pytest.approx(
                metric([SampleScore(score=Score(value=[*unit])) for unit in units])
            )


def test_an_alpha_with_an_interval_worked_out_by_hand() -> None:
    # Units (1, 2), (3, 3), (5, 4): n = 6. Within: 2 * 1 / 1 + 0 + 2 * 1 / 1 = 4. All values 1 2 3 3
    # 4 5: squares 64, sum 18, so 2 * (6 * 64 - 324) = 120. Alpha = 1 - 5 * 4 / 120. Units with one
    # rating do not count.
    found = clustered_interval_alpha([[1, 3, 5, 9, NONE], [2, 3, 4, NONE, NONE]], list("abcde"))
    assert found.value == pytest.approx(5 / 6)
    assert (found.n, found.clusters) == (3, 3)
    assert clustered_interval_alpha([[4.1, 4.1], [4.1, 4.1]], ["a", "b"]).value == 1
    alone = clustered_interval_alpha([[1.0, 2.0], [1.0, NONE]], ["a", "b"])
    assert (math.isnan(alone.value), alone.n, alone.clusters) == (True, 1, 1)


@checked
@given(ratings=tables)
def test_it_is_what_the_plain_one_gives(ratings: Ratings) -> None:
    found = clustered_interval_alpha(ratings, range(len(ratings[0])), rounds=3)
    assert found.value == pytest.approx(interval_alpha(ratings), nan_ok=True)


def test_rounds_are_those_of_a_slow_resampling_of_questions() -> None:
    generator = np.random.default_rng(4)
    ratings = generator.integers(1, 6, size=(3, 20)).astype(float)
    ratings[0, :4] = NONE
    questions = np.repeat(np.arange(10), 2)
    found = clustered_interval_alpha(ratings, questions, rounds=100, seed=6)
    drawn = np.random.default_rng(6).integers(10, size=(100, 10))
    slow = [
        interval_alpha(
            ratings[:, np.concatenate([np.flatnonzero(questions == q) for q in row])].tolist()
        )
        for row in drawn
    ]
    assert (found.low, found.high) == pytest.approx(expanded(slow, 10))
    assert (found.n, found.clusters, found.rounds) == (20, 10, 100)


@checked
@given(shift=st.floats(-100, 100), stretch=st.floats(0.1, 10), seed=st.integers(0, 30))
def test_raters_and_origin_and_unit_do_not_matter(shift: float, stretch: float, seed: int) -> None:
    ratings = np.random.default_rng(seed).integers(1, 6, size=(3, 8)).astype(float)
    plain = clustered_interval_alpha(ratings, range(8), rounds=20)
    moved = clustered_interval_alpha(shift + stretch * ratings[::-1], range(8), rounds=20)
    assert (moved.value, moved.low, moved.high) == pytest.approx(
        (plain.value, plain.low, plain.high), abs=1e-6
    )


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_scores_may_be_small_or_large_but_differ_by_more_than_rounding(unit: float) -> None:
    ratings = np.random.default_rng(3).integers(1, 6, size=(2, 9)).astype(float)
    plain = clustered_interval_alpha(ratings, range(9), rounds=20)
    found = clustered_interval_alpha(unit * ratings, range(9), rounds=20)
    assert found.value == pytest.approx(plain.value)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    rounded = np.array([[0.1 + 0.2, 0.3, 0.3], [0.3, 0.1 + 0.2, 0.3]])
    assert clustered_interval_alpha(unit * rounded, range(3), rounds=5).value == 1


def test_a_share_worked_out_by_hand() -> None:
    # 8 of 10, z = 1.96: centre (0.8 + 3.8416 / 20) / (1 + 3.8416 / 10) = 0.99208 / 1.38416 =
    # 0.71674; margin 1.96 * sqrt(0.16 / 10 + 3.8416 / 400) / 1.38416 = 1.96 * 0.16001 / 1.38416 =
    # 0.22658
    found = wilson_interval(0.8, 10)
    assert (found.value, found.n, found.level) == (0.8, 10, 0.95)
    assert (found.low, found.high) == pytest.approx(
        (0.71674 - 0.22658, 0.71674 + 0.22658), abs=2e-5
    )
    # All of 10 have a width: lower bound 1 / (1 + z² / 10).
    assert wilson_interval(1.0, 10).low == pytest.approx(1 / (1 + 1.959964**2 / 10), abs=1e-6)
    assert (wilson_interval(1.0, 10).high, wilson_interval(0.0, 10).low) == (1, 0)
    assert math.isnan(wilson_interval(NONE, 0).value)


@checked
@given(n=st.integers(1, 500), share=st.floats(0, 1), level=st.floats(0.5, 0.999))
def test_it_is_what_scipy_has_for_whole_numbers(n: int, share: float, level: float) -> None:
    successes = round(share * n)
    expected = binomtest(successes, n).proportion_ci(level, method="wilson")
    found = wilson_interval(successes / n, n, level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@checked
@given(n=st.integers(1, 300), share=st.floats(0, 1))
def test_bounds_enclose_the_share_and_mirror_that_of_failures(n: int, share: float) -> None:
    found, failed = wilson_interval(share, n), wilson_interval(1 - share, n)
    assert 0 <= found.low <= share <= found.high <= 1
    assert (found.low, found.high) == pytest.approx((1 - failed.high, 1 - failed.low), abs=1e-9)
    assert (
        wilson_interval(share, n + 1).high - wilson_interval(share, n + 1).low
        <= found.high - found.low + 1e-12
    )


@pytest.mark.parametrize(("share", "n"), [(1.1, 3), (0.5, -1), (NONE, 3)])
def test_what_is_no_share_is_refused(share: float, n: int) -> None:
    with pytest.raises(ValueError, match="0 to 1"):
        wilson_interval(share, n)
