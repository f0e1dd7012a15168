"""In which order models come."""

import itertools
import math

import numpy as np
import pytest

from urs_inspect.rating.orders import order_of

NAN = math.nan


def test_worked_out_by_hand() -> None:
    # Means 4, 6, 5 over the two cases on which all three have a score; the last case does not count.
    found = order_of([[3.0, 7.0, 5.0], [5.0, 5.0, 5.0], [10.0, NAN, 1.0]])
    assert found.places == (1, 2, 0)
    assert (found.means, found.cases) == ((6, 5, 4), 2)
    assert [(gap.first, gap.second, gap.difference.value) for gap in found.gaps] == [(1, 2, 1), (1, 0, 2), (2, 0, 1)]
    # Of the four ways to draw two cases one is the second case twice, where all are even, and one the first twice. All
    # keep the order, since equal means do not turn it.
    assert found.share == 1


def test_the_share_is_that_of_rounds_with_the_same_order() -> None:
    # Differences 3 and -1: the order turns where only the second case is drawn, in a quarter of the rounds.
    found = order_of([[5, 2], [4, 5]], rounds=4000)
    assert found.places == (0, 1)
    assert found.share == pytest.approx(0.75, abs=0.03)


def test_equal_means_come_in_the_order_of_the_columns() -> None:
    assert order_of([[5, 5], [5, 5]]).places == (0, 1)


def test_without_cases_there_is_no_order() -> None:
    found = order_of([[NAN, 1], [2, NAN]])
    assert found.places == (0, 1) and found.cases == 0
    assert all(math.isnan(value) for value in (*found.means, found.share, found.gaps[0].p))
    assert order_of(np.empty((0, 2))).cases == 0


def test_one_model_is_in_order() -> None:
    found = order_of([[5], [6]])
    assert (found.places, found.gaps, found.share) == ((0,), (), 1)


def test_against_a_slow_bootstrap() -> None:
    generator = np.random.default_rng(2)
    scores = generator.normal([5, 5.3, 5.2], 1.0, (50, 3))
    found = order_of(scores, rounds=4000)
    kept = 0
    for _ in range(4000):
        means = scores[generator.integers(50, size=50)].mean(axis=0)
        kept += tuple(np.argsort(-means)) == found.places
    assert found.share == pytest.approx(kept / 4000, abs=0.03)


def test_relabelled_models_come_in_the_relabelled_order() -> None:
    scores = np.random.default_rng(3).normal(5, 1, (40, 3))
    plain = order_of(scores).places
    for permutation in itertools.permutations(range(3)):
        turned = order_of(scores[:, permutation]).places
        assert tuple(permutation[place] for place in turned) == plain
