"""Verdicts that may be taken without a person: by hand, and the promise in simulations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from urs_inspect.stats._trust import fewest_agreed, find_trusted, labels_needed, lower_bound

TARGET = 0.9
MISS = 0.1


def trusted(signs: Any, agrees: Any, at_least: float = TARGET, miss: float = MISS) -> Any:
    return find_trusted(
        np.asarray(signs, float), np.asarray(agrees, bool), at_least=at_least, miss=miss
    )


@pytest.mark.parametrize(("agreed", "labelled"), [(0, 5), (5, 5), (19, 20), (88, 100)])
def test_bound_is_the_exact_one(agreed: int, labelled: int) -> None:
    exact = binomtest(agreed, labelled, alternative="greater").proportion_ci(0.9, "exact")
    assert lower_bound(agreed, labelled, 0.1) == pytest.approx(exact.low)


def test_fewest_agreed_is_where_the_bound_reaches_the_share() -> None:
    for labelled in (1, 21, 22, 38, 100, 301):
        fewest = fewest_agreed(labelled, TARGET, MISS)
        if fewest <= labelled:
            assert lower_bound(fewest, labelled, MISS) >= TARGET - 1e-12
        assert lower_bound(fewest - 1, labelled, MISS) < TARGET
    # 0.9 to the power of 22 is the first below 0.1.
    assert fewest_agreed(21, TARGET, MISS) == 22
    assert fewest_agreed(22, TARGET, MISS) == 22


def test_one_sign_for_all_is_one_exact_test() -> None:
    assert trusted(np.ones(22), np.ones(22)).least == 1
    assert trusted(np.ones(21), np.ones(21)).least is None
    found = trusted(np.ones(100), np.arange(100) < 95)
    assert (found.least, found.labelled, found.agreed) == (1, 100, 95)
    assert trusted(np.ones(100), np.arange(100) < 94).least is None


def test_signs_that_tell_give_a_part() -> None:
    signs = np.repeat([2.0, 1.0], 100)
    agrees = np.concatenate([np.ones(100), np.arange(100) % 2])
    found = trusted(signs, agrees)
    assert (found.least, found.labelled, found.agreed) == (2, 100, 100)
    assert found.low > 0.97


def test_none_says_how_many_labels_might_show_it() -> None:
    found = trusted(np.ones(40), np.arange(40) < 38)
    assert found.least is None
    assert found.might is not None and 40 < found.might < 1000
    assert trusted(np.ones(40), np.zeros(40)).might is None
    assert trusted([], []).least is None


def test_labels_needed_give_the_power_that_they_promise() -> None:
    number = int(labels_needed(958, 998, TARGET, MISS))  # 0.959 after the two that are added
    generator = np.random.default_rng(1)
    agreed = generator.binomial(number, 0.959, 4000)
    assert 0.77 < (agreed >= fewest_agreed(number, TARGET, MISS)).mean() < 0.9
    assert labels_needed(90, 100, TARGET, MISS) == np.inf


Chances = Callable[[Any], Any]
SIGNS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "distinct": lambda generator, number: generator.random(number),
    "tied": lambda generator, number: generator.integers(3, size=number) / 2,
    "constant": lambda _generator, number: np.full(number, 0.5),
}
JUDGES: dict[str, Chances] = {
    "just at the share": lambda signs: np.full_like(signs, 0.9),
    "just below at every threshold": lambda signs: np.full_like(signs, 0.899),
    "surer and better": lambda signs: 0.75 + 0.25 * signs,
    "surer and worse": lambda signs: 0.98 - 0.2 * signs,
    "steep": lambda signs: np.where(signs >= 0.5, 0.9, 0.6),
    "never right": lambda signs: np.zeros_like(signs),
}


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("labels", [5, 60, 200])
def test_promise_is_kept(judge: str, signs: str, labels: int) -> None:
    """300 calibrations each; agreement of what is taken is known of many items."""
    generator = np.random.default_rng(labels)
    every = np.sort(SIGNS[signs](generator, 50_000))[::-1]
    share_above = np.cumsum(JUDGES[judge](every)) / np.arange(1, len(every) + 1)
    broken = 0
    for _ in range(300):
        given = SIGNS[signs](generator, labels)
        agrees = generator.random(labels) < JUDGES[judge](given)
        least = trusted(given, agrees).least
        if least is not None:
            taken = np.searchsorted(-every, -least, side="right")
            broken += share_above[max(taken - 1, 0)] < TARGET - 1e-9
    # 10% are promised; the binomial error of 300 calibrations is 1.7 points.
    assert broken / 300 <= MISS + 0.035


def test_signs_that_tell_take_more_than_one_test_of_all() -> None:
    generator = np.random.default_rng(3)
    taken = []
    for _ in range(100):
        signs = generator.random(200)
        agrees = generator.random(200) < np.where(signs > 0.5, 0.99, 0.7)
        least = trusted(signs, agrees).least
        taken.append(0 if least is None else 1 - least)
    assert np.mean(taken) > 0.45


def test_a_good_judge_with_useless_signs_is_taken_whole() -> None:
    generator = np.random.default_rng(4)
    whole = 0
    for _ in range(100):
        found = trusted(generator.random(200), generator.random(200) < 0.97)
        whole += found.labelled == 200
    assert whole > 90
