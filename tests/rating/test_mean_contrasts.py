"""Sums and differences of means."""

import math

import numpy as np
import pytest

from urs_inspect.rating.mean_columns import MeanColumn, MeanDraws, bootstrap_means, mean_estimates
from urs_inspect.rating.mean_contrasts import contrast


def draws_of(values: list[list[float]], rounds: int = 400) -> MeanDraws:
    table = np.array(values, dtype=float)
    [found] = bootstrap_means([MeanColumn(np.arange(len(table)), table)], len(table), rounds=rounds)
    return found


def test_sums_are_taken_round_by_round() -> None:
    # Means 2 and 5; half of each is 3.5, the difference -3.
    found = contrast(draws_of([[1, 4], [3, 6]]), [[0.5, 1], [0.5, -1]])
    assert found.values.tolist() == [3.5, -3]
    assert found.n.tolist() == [2, 2]
    # The columns differ by 3 on every case, hence in every round.
    assert np.allclose(found.draws[:, 1], -3)


def test_a_mean_without_weight_takes_no_part() -> None:
    found = contrast(draws_of([[1, math.nan], [3, math.nan]]), [[1, 1, 0], [0, 1, 0]])
    assert found.values[0] == 2 and found.n[0] == 2
    assert math.isnan(found.values[1])
    assert math.isnan(found.values[2]) and np.isnan(found.draws[:, 2]).all() and found.n[2] == 0


def test_the_smallest_number_of_questions_counts() -> None:
    found = contrast(draws_of([[1, 2], [3, math.nan], [5, 4]]), [[1], [-1]])
    assert found.n.tolist() == [2]


def test_a_difference_is_the_bootstrap_of_differences() -> None:
    """Against a slow obvious way: the column of differences itself."""
    values = np.random.default_rng(1).normal(size=(40, 2))
    [direct] = bootstrap_means([MeanColumn(np.arange(40), values[:, :1] - values[:, 1:])], 40, rounds=300)
    [slow] = mean_estimates(direct)
    [quick] = mean_estimates(contrast(draws_of(values.tolist(), 300), [[1], [-1]]))
    assert (quick.value, quick.low, quick.high) == pytest.approx((slow.value, slow.low, slow.high))


def test_weights_must_fit() -> None:
    with pytest.raises(ValueError, match="one row of weights a mean"):
        contrast(draws_of([[1, 2], [3, 4]]), [[1]])
