"""Krippendorff's alpha with an interval: by hand, against the plain one, by properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urs_inspect.rating import interval_alpha
from urs_inspect.rating.interval_agreement import clustered_interval_alpha

NAN = math.nan


def test_a_value_worked_out_by_hand() -> None:
    # Units (1, 2), (3, 3), (5, 4): n = 6. Within: 2 * 1 / 1 + 0 + 2 * 1 / 1 = 4. All values 1 2 3 3 4 5: squares 64,
    # sum 18, so 2 * (6 * 64 - 324) = 120. Alpha = 1 - 5 * 4 / 120.
    assert clustered_interval_alpha([[1, 3, 5], [2, 3, 4]], ["a", "b", "c"]).value == pytest.approx(5 / 6)


def test_units_with_one_rating_do_not_count() -> None:
    found = clustered_interval_alpha([[1, 3, 5, 9, NAN], [2, 3, 4, NAN, NAN]], list("abcde"))
    assert found.value == pytest.approx(5 / 6)
    assert (found.n, found.clusters) == (3, 3)


@settings(max_examples=150)
@given(
    st.integers(2, 5).flatmap(
        lambda raters: st.lists(
            st.lists(st.none() | st.integers(1, 5), min_size=raters, max_size=raters), min_size=2, max_size=12
        )
    )
)
def test_it_is_what_the_plain_one_gives(units: list[list[int | None]]) -> None:
    table = [[NAN if value is None else float(value) for value in row] for row in zip(*units, strict=True)]
    found = clustered_interval_alpha(table, range(len(units)), rounds=3)
    assert found.value == pytest.approx(interval_alpha(table), nan_ok=True)


@pytest.mark.parametrize("ratings", [[[1, 2], [NAN, NAN]], [[1], [2]], [[NAN, 1], [2, NAN]]])
def test_fewer_than_two_units_with_two_ratings_have_none(ratings: list[list[float]]) -> None:
    assert math.isnan(clustered_interval_alpha(ratings, range(len(ratings[0]))).value)


def test_equal_ratings_agree_by_convention() -> None:
    assert clustered_interval_alpha([[4.1, 4.1], [4.1, 4.1]], ["a", "b"]).value == 1


def test_rounds_are_those_of_a_slow_resampling_of_questions() -> None:
    generator = np.random.default_rng(4)
    ratings = generator.integers(1, 6, size=(3, 20)).astype(float)
    ratings[0, :4] = NAN
    questions = np.repeat(np.arange(10), 2)
    found = clustered_interval_alpha(ratings, questions, rounds=100, seed=6)
    drawn = np.random.default_rng(6).integers(10, size=(100, 10))
    slow = [
        interval_alpha(ratings[:, np.concatenate([np.flatnonzero(questions == q) for q in row])].tolist())
        for row in drawn
    ]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])))
    assert (found.n, found.clusters, found.rounds) == (20, 10, 100)


@given(shift=st.floats(-100, 100), stretch=st.floats(0.1, 10), seed=st.integers(0, 30))
def test_raters_and_origin_and_unit_do_not_matter(shift: float, stretch: float, seed: int) -> None:
    ratings = np.random.default_rng(seed).integers(1, 6, size=(3, 8)).astype(float)
    plain = clustered_interval_alpha(ratings, range(8), rounds=20)
    moved = clustered_interval_alpha(shift + stretch * ratings[::-1], range(8), rounds=20)
    assert (moved.value, moved.low, moved.high) == pytest.approx((plain.value, plain.low, plain.high), abs=1e-6)


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match="one column a cluster id"):
        clustered_interval_alpha([[1, 2]], ["a"])
