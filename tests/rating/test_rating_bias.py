"""Equation 1 of the URS paper."""

import math

import numpy as np
import pytest

from urs_inspect.rating.rating_bias import bias_of_means, rating_bias

NAN = math.nan


def test_worked_out_by_hand() -> None:
    # Ratings of B1: 8 9 7, mean 8; of B2: 10 9 11 would be out of scale, so 10 9 8, mean 9. ((8 - 8) + (9 - 8)) / 2.
    found = rating_bias([[8, 10], [9, 9], [7, 8]])
    assert found.bias.value == pytest.approx(0.5)
    assert [one.value for one in found.by_model] == [0, 1]
    assert bias_of_means([8, 9]) == 0.5
    # The literal brackets of the printed formula would give (8 + 9 - 8) / 2 = 4.5.
    assert found.bias.value != 4.5


def test_models_weigh_the_same_however_many_ratings_they_have() -> None:
    found = rating_bias([[8.0, 10.0], [8.0, NAN], [8.0, NAN], [8.0, NAN]])
    assert found.bias.value == 1  # not 0.4, the mean over all five ratings


def test_a_model_without_ratings_is_left_out() -> None:
    found = rating_bias([[9, NAN], [9, NAN]])
    assert found.bias.value == 1
    assert math.isnan(found.by_model[1].value)
    assert math.isnan(rating_bias([[NAN], [NAN]]).bias.value)
    assert math.isnan(rating_bias(np.empty((0, 2))).bias.value)
    assert math.isnan(rating_bias(np.empty((3, 0))).bias.value)
    assert math.isnan(bias_of_means([]))


def test_the_score_of_a_reference_may_be_another() -> None:
    assert rating_bias([[5], [7]], 5).bias.value == 1


def test_against_a_slow_bootstrap() -> None:
    """Cases are drawn as wholes: both models of a case go together."""
    generator = np.random.default_rng(3)
    ratings = np.clip(np.round(generator.normal(7.5, 1.5, (60, 1)) + generator.normal(0, 1, (60, 3))), 1, 10)
    found = rating_bias(ratings, rounds=4000)
    means = [ratings[generator.integers(60, size=60)].mean(axis=0).mean() - 8 for _ in range(4000)]
    low, high = np.percentile(means, [2.5, 97.5])
    assert (found.bias.low, found.bias.high) == pytest.approx((low, high), abs=0.04)


def test_models_may_come_in_any_order() -> None:
    ratings = np.random.default_rng(4).integers(1, 11, (30, 3)).astype(float)
    one, other = rating_bias(ratings), rating_bias(ratings[:, ::-1])
    assert (one.bias.value, one.bias.low) == pytest.approx((other.bias.value, other.bias.low))
    assert one.by_model[0] == other.by_model[2]


def test_a_shift_of_all_ratings_shifts_the_bias() -> None:
    ratings = np.random.default_rng(5).integers(1, 9, (30, 2)).astype(float)
    one, other = rating_bias(ratings), rating_bias(ratings + 2)
    for name in ("value", "low", "high"):
        assert getattr(other.bias, name) - getattr(one.bias, name) == pytest.approx(2)


def test_shape_is_checked() -> None:
    with pytest.raises(ValueError, match="a row a case"):
        rating_bias([8, 9])
