"""Bradley-Terry ratings."""

import evalica
import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from tests.stats.fights import fights, random_fights, renamed, swapped
from urs_inspect.stats import Battles, fit_bradley_terry
from urs_inspect.stats._bootstrap import resample
from urs_inspect.stats._bradley_terry import bootstrap_bradley_terry

WINNERS = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
POINTS = 400 / np.log(10)
FAINT = 1e-7
"""A prior that does not count."""


def slow(battles: Battles, prior: float) -> npt.NDArray[np.float64]:
    """The most likely ratings, by a general optimiser over one term a battle."""

    def loss(strengths: npt.NDArray[np.float64]) -> float:
        total = 0.0
        for i, j, outcome in zip(battles.first, battles.second, battles.outcome, strict=True):
            gap = strengths[i] - strengths[j]
            total += outcome * np.log1p(np.exp(-gap)) + (1 - outcome) * np.log1p(np.exp(gap))
        for strength in strengths:
            total += prior / 2 * (np.log1p(np.exp(-strength)) + np.log1p(np.exp(strength)))
        return float(total)

    found = minimize(loss, np.zeros(len(battles.players)), method="BFGS", options={"gtol": 1e-8}).x
    return np.asarray(1000 + POINTS * (found - found.mean()), dtype=np.float64)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        # Odds of 10 to 1 are 400 points; the mean is 1000. Nine wins and two ties are 10 points of
        # 11 as well.
        pytest.param([*["a>b"] * 10, "b>a"], [1200, 800], id="ten to one"),
        pytest.param([*["a>b"] * 9, "a=b", "b=a"], [1200, 800], id="ties are half a win of each"),
        # a:b and b:c are 10 to 1 with nothing between a and c, so a:c is 100 to 1.
        pytest.param([*["a>b"] * 10, "b>a", *["b>c"] * 10, "c>b"], [1400, 1000, 600], id="a chain"),
    ],
)
def test_ten_to_one_is_400_points(votes: list[str], expected: list[float]) -> None:
    assert fit_bradley_terry(fights(*votes), prior=FAINT) == pytest.approx(expected, abs=1e-2)


def test_the_prior_is_a_tie_with_an_average_model() -> None:
    # One win, a prior of one tie, strengths s and -s: 1 - L(2s) + 1/2 - L(s) = 0 with L the
    # logistic function. At s = log(x): 1/(x^2+1) + 1/2 - x/(x+1) = 0, that is x^3 - x^2 - x - 3 =
    # 0, x = 2.130395.
    [root] = [x.real for x in np.roots([1, -1, -1, -3]) if abs(x.imag) < 1e-12]
    assert root == pytest.approx(2.130395, abs=1e-6)
    assert fit_bradley_terry(fights("a>b")) == pytest.approx(
        [1000 + POINTS * np.log(root), 1000 - POINTS * np.log(root)]
    )


@pytest.mark.parametrize(("prior", "seed"), [(1.0, 0), (0.1, 1), (5.0, 2)])
def test_it_is_the_most_likely(prior: float, seed: int) -> None:
    battles = random_fights(5, 60, 20, seed)
    assert fit_bradley_terry(battles, prior=prior) == pytest.approx(slow(battles, prior), abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_without_a_prior_it_is_what_evalica_computes(seed: int) -> None:
    battles = random_fights(5, 400, 40, seed, spread=0.5)
    first, second = (
        [battles.players[index] for index in side] for side in (battles.first, battles.second)
    )
    winners = [WINNERS[outcome] for outcome in battles.outcome.tolist()]
    scores = evalica.bradley_terry(first, second, winners, tolerance=1e-13, limit=100_000).scores
    strengths = np.log([scores[name] for name in battles.players])
    reference = 1000 + POINTS * (strengths - strengths.mean())
    assert fit_bradley_terry(battles, prior=FAINT) == pytest.approx(reference, abs=0.01)
    # The pull of the prior of one vote among the 160 of each model is small.
    assert fit_bradley_terry(battles) == pytest.approx(reference, abs=6)


def test_an_undefeated_model_is_rated_high_and_finite() -> None:
    few, many = (fit_bradley_terry(fights(*["a>b"] * n, *["b=c"] * n)) for n in (10, 1000))
    assert 1200 < few[0] < many[0] < 4000
    assert few[0] > few[1]
    assert fit_bradley_terry(fights(*["a>b"] * 20_000), prior=1e-3)[0] < 10_000


def test_nothing_known_is_1000_for_all() -> None:
    assert fit_bradley_terry(fights("a>b", "b=c").take([])).tolist() == [1000, 1000, 1000]
    assert fit_bradley_terry(fights("a=b", "b=c")) == pytest.approx([1000, 1000, 1000])
    for prior in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match=r"prior.*above 0"):
            fit_bradley_terry(fights("a>b"), prior=prior)


def test_order_sides_and_names_do_not_matter() -> None:
    battles = random_fights(4, 60, 10, seed=5)
    given = fit_bradley_terry(battles)
    assert fit_bradley_terry(
        battles.take(np.random.default_rng(0).permutation(60))
    ) == pytest.approx(given)
    assert fit_bradley_terry(swapped(battles)) == pytest.approx(given)
    assert fit_bradley_terry(renamed(battles, [2, 0, 3, 1])) == pytest.approx(given[[2, 0, 3, 1]])


def test_the_mean_is_1000() -> None:
    battles = random_fights(3, 40, 10, seed=7)
    assert fit_bradley_terry(battles).mean() == pytest.approx(1000)
    drawn = bootstrap_bradley_terry(battles, rounds=10)
    assert drawn.mean(axis=1) == pytest.approx(np.full(10, 1000))


@pytest.mark.parametrize("block", [1 << 22, 30])
def test_a_round_is_the_fit_of_the_instructions_drawn(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urs_inspect.stats._bradley_terry._BLOCK", block)
    battles = random_fights(4, 50, 8, seed=8)
    found = bootstrap_bradley_terry(battles, rounds=20, seed=2)
    draws = np.concatenate(list(resample(8, 20, 2)))[:, battles.clusters].astype(int)
    assert len({tuple(row) for row in draws}) == 20
    for ratings, counts in zip(found, draws, strict=True):
        drawn = battles.take(np.repeat(np.arange(50), counts))
        assert ratings == pytest.approx(fit_bradley_terry(drawn), abs=1e-6)


def test_intervals_hold_what_they_promise() -> None:
    # The true difference is 0.5 in natural units between neighbours. Of 60 data sets, a 90 %
    # interval should miss it in about 6; 15 or more have a chance of 0.0005.
    missed = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        won = generator.random(200) < 1 / (1 + np.exp(-0.5))
        battles = fights(*["a>b" if one else "a<b" for one in won])
        draws = (
            np.diff(bootstrap_bradley_terry(battles, rounds=300, seed=seed), axis=1)[:, 0] / -POINTS
        )
        low, high = np.quantile(draws, [0.05, 0.95])
        missed += not low <= 0.5 <= high
    assert missed < 15
