"""The ways to choose that the paper compares with."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.discrepancy import divergence, divergences, highest, random_choice

IDS = [f"i{number:03}" for number in range(100)]
LOGS = st.lists(st.floats(-30, 0), min_size=1, max_size=8)


def test_a_random_draw_is_repeatable_and_depends_on_seed_and_pair_only() -> None:
    drawn = random_choice(IDS, ("a", "b"), 10, seed=1)
    assert len(set(drawn)) == 10 and set(drawn) <= set(IDS)
    assert random_choice(IDS[::-1], ("b", "a"), 10, seed=1) == drawn
    assert random_choice(IDS, ("a", "b"), 4, seed=1) == drawn[:4]
    assert random_choice(IDS, ("a", "b"), 10, seed=2) != drawn
    assert random_choice(IDS, ("a", "c"), 10, seed=1) != drawn


def test_a_random_draw_keeps_to_the_mask_and_is_even() -> None:
    mask = np.zeros(100, np.bool_)
    mask[:5] = True
    seen = [random_choice(IDS, ("a", "b"), 1, seed=seed, allowed=mask)[0] for seed in range(1000)]
    counts = [seen.count(name) for name in IDS[:5]]
    assert sum(counts) == 1000
    assert all(140 < count < 260 for count in counts)  # 200 each, deviation 12.6


def test_divergence_by_hand() -> None:
    # Two tokens against three, so the first two count: p = (.5, 1), q = (.25, .5).
    # KL(p, q) = (.5 ln 2 + 1 ln 2) / 2 = .5199; KL(q, p) = -(.25 ln 2 + .5 ln 2) / 2 = -.2599; their mean .12996.
    # Cross-entropy: -(.5 ln .25 + ln .5) / 2 = .6931; -(.25 ln .5 + 0) / 2 = .0866; their mean .38990.
    first, second = [math.log(0.5), 0.0], [math.log(0.25), math.log(0.5), math.log(0.1)]
    assert divergence(first, second, "kl") == pytest.approx(0.12996, abs=1e-5)
    assert divergence(first, second, "cross_entropy") == pytest.approx(0.38990, abs=1e-5)


@given(LOGS, LOGS)
def test_divergence_has_no_order_and_is_zero_for_equals(first: list[float], second: list[float]) -> None:
    for kind in ("kl", "cross_entropy"):
        assert divergence(first, second, kind) == pytest.approx(divergence(second, first, kind))
        assert divergence(first, second, kind) >= 0
    assert divergence(first, first, "kl") == 0


def test_no_token_and_no_probability() -> None:
    assert math.isnan(divergence([], [-1.0], "kl"))
    assert divergence([-math.inf], [-1.0], "kl") == pytest.approx(99 * math.exp(-1) / 2)
    with pytest.raises(InputError, match=r"log probability 0\.5; allowed: 0 or less"):
        divergence([0.5], [-1.0], "kl")
    with pytest.raises(InputError, match="log probability nan"):
        divergence([math.nan], [-1.0], "kl")
    with pytest.raises(InputError, match="divergence 'js'; allowed: kl, cross_entropy"):
        divergences([[-1.0]], [[-1.0]], "js")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="of 1 and 2 answers"):
        divergences([[-1.0]], [[-1.0], [-2.0]], "kl")


def test_the_highest_are_chosen_and_ties_go_by_id() -> None:
    values = {("a", "b"): np.array([0.1, np.nan, 0.9, 0.9, 0.5])}
    ids = ["z", "y", "x", "w", "v"]
    assert highest(values, ids, 3) == {("a", "b"): ("w", "x", "v")}
    mask = np.array([True, True, True, False, True])
    assert highest(values, ids, 3, allowed=mask) == {("a", "b"): ("x", "v", "z")}
    with pytest.raises(InputError, match="k=5 for a and b; allowed: 0 to 4"):
        highest(values, ids, 5)
    with pytest.raises(InputError, match="k=101 for a and b; allowed: 0 to 100"):
        random_choice(IDS, ("a", "b"), 101, seed=0)
