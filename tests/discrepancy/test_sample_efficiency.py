"""The agent of benchmarks/sample_efficiency.py that knows all win rates, but not which model is
which.
"""

import os
import runpy
from itertools import permutations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from urs_inspect.discrepancy import _allocation as allocation_rules

_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "sample_efficiency.py"
_PAIRS = ((0, 1), (0, 2), (1, 2))


@pytest.fixture(scope="module")
def study() -> dict[str, Any]:
    """The names of the script; what it changes in this process is undone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allocation_rules, "_RULES", dict(allocation_rules._RULES))
        patch.setattr(os, "environ", dict(os.environ))
        return runpy.run_path(str(_SCRIPT))


def counts(rates: np.ndarray, of: int) -> np.ndarray:
    """Losses, ties and wins of each model against each other one, without ties."""
    return of * np.stack([1 - rates, np.zeros_like(rates), rates], axis=2)


def test_probabilities_follow_bayes_and_the_order_has_the_best_expected_tau(
    study: dict[str, Any],
) -> None:
    draws = np.random.default_rng(0)
    given = draws.integers(0, 9, (3, 3, 3)).astype(float)
    # What a loss of one model is, is a win of the other one.
    given = given + given.transpose(1, 0, 2)[:, :, ::-1]
    truth = np.array([0.3, -1.0, 0.8])
    insider = study["Insider"](given, truth)
    seen = list(
        zip(draws.integers(0, 3, 12).tolist(), draws.choice([0, 0.5, 1], 12).tolist(), strict=True)
    )
    for place, outcome in seen:
        insider.see(place, outcome)
    rates = (given + 0.5) / (given + 0.5).sum(axis=2, keepdims=True)
    assignments = list(permutations(range(3)))
    weights = [
        prod(
            rates[one[_PAIRS[place][0]], one[_PAIRS[place][1]], int(2 * outcome)]
            for place, outcome in seen
        )
        for one in assignments
    ]
    assert insider.probabilities == pytest.approx(np.array(weights) / sum(weights))
    signs = [[np.sign(truth[one[i]] - truth[one[j]]) for i, j in _PAIRS] for one in assignments]
    expected = [
        sum(weight * np.dot(order, other) for weight, other in zip(weights, signs, strict=True))
        for order in signs
    ]
    assert insider.signs().tolist() == signs[int(np.argmax(expected))]


def test_information_is_what_a_comparison_lowers_the_entropy_by(study: dict[str, Any]) -> None:
    given = counts(np.array([[0.5, 0.7, 0.9], [0.3, 0.5, 0.6], [0.1, 0.4, 0.5]]), 50)
    truth = np.array([2.0, 1.0, 0.0])

    def entropy(*seen: tuple[int, float]) -> float:
        insider = study["Insider"](given, truth)
        for place, outcome in seen:
            insider.see(place, outcome)
        return float(-(insider.probabilities * np.log(insider.probabilities)).sum())

    insider = study["Insider"](given, truth)
    insider.see(0, 1.0)
    rates = (given + 0.5) / (given + 0.5).sum(axis=2, keepdims=True)
    for place, (i, j) in enumerate(_PAIRS):
        chances = sum(
            probability * rates[assignment[i], assignment[j]]
            for probability, assignment in zip(
                insider.probabilities, permutations(range(3)), strict=True
            )
        )
        left = sum(
            chances[k] * entropy((0, 1.0), (place, outcome))
            for k, outcome in enumerate((0.0, 0.5, 1.0))
        )
        assert insider.information()[place] == pytest.approx(entropy((0, 1.0)) - left)


def test_known_rates_are_those_of_the_votes_that_come_first(study: dict[str, Any]) -> None:
    votes, late = (
        study["Votes"](
            np.array(outcomes), np.arange(20.0), np.zeros((20, 20)), np.ones(20, dtype=bool)
        )
        for outcomes in ([1.0] * 20, [0.0] * 10 + [0.5] * 10)
    )
    arena = {("b", "a"): votes, ("b", "c"): late, ("a", "c"): votes}
    known = study["Ceiling"]("MAD", 2).outcomes(arena, ("a", "b", "c"))
    assert known[0, 1].tolist() == [200, 0, 0] and known[1, 0].tolist() == [0, 0, 200]
    # Of half the votes the two with the lowest similarity come first; nearly always these are among
    # the first ten.
    assert known[1, 2, 0] > 190 and known[2, 1].tolist() == known[1, 2, ::-1].tolist()
    whole = study["Ceiling"]("MAD").outcomes(arena, ("a", "b", "c"))
    assert whole.sum() == 100 * 30 * 2
    assert whole[1, 2, 0] / whole[1, 2].sum() == pytest.approx(0.5, abs=0.05)
