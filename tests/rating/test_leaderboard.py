"""Agreement of a ranking with a leaderboard."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from tests.rating.fights import fights, random_fights
from urs_inspect.errors import InputError
from urs_inspect.rating import compare_leaderboard, rank


def test_one_exchange_among_three_by_hand() -> None:
    # a > b > c here, b > a > c there. Spearman: 1 - 6 * (1 + 1 + 0) / (3 * 8) = 0.5. Kendall: (2 - 1) / 3.
    ranking = rank(fights(*["a>b"] * 9, "a<b", *["b>c"] * 9, "b<c"), rounds=50)
    found = compare_leaderboard(ranking, {"a": 20.0, "b": 30.0, "c": 10.0})
    assert found.spearman.value == pytest.approx(0.5)
    assert found.kendall.value == pytest.approx(1 / 3)
    assert found.players == ("a", "b", "c")


def test_models_of_one_side_are_named_and_left_out() -> None:
    ranking = rank(fights(*["a>b"] * 9, "a<b", "c=b"), rounds=50)
    found = compare_leaderboard(ranking, {"z": 1.0, "b": 2.0, "a": 3.0})
    assert (found.players, found.only_ranked, found.only_leaderboard) == (("a", "b"), ("c",), ("z",))
    assert (found.spearman.value, found.kendall.value) == pytest.approx((1, 1))


@pytest.mark.parametrize("seed", range(3))
def test_each_round_is_what_scipy_computes(seed: int) -> None:
    ranking = rank(random_fights(6, 100, 30, seed, spread=0.3), rounds=40)
    leaderboard = {name: float(n % 4) for n, name in enumerate(sorted(ranking.players))}  # with ties
    found = compare_leaderboard(ranking, leaderboard)
    ratings = [leaderboard[name] for name in ranking.players]
    points = [one.value for one in ranking.bradley_terry]
    for ours, reference in ((found.spearman, spearmanr), (found.kendall, kendalltau)):
        assert ours.value == pytest.approx(reference(points, ratings).statistic)
        draws = [reference(row, ratings).statistic for row in ranking.draws]
        assert (ours.low, ours.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))


def test_the_reverse_is_minus_one() -> None:
    ranking = rank(random_fights(4, 200, 30, seed=1), rounds=20)
    reverse = {one: -rating.value for one, rating in zip(ranking.players, ranking.bradley_terry, strict=True)}
    found = compare_leaderboard(ranking, reverse)
    assert (found.spearman.value, found.kendall.value) == pytest.approx((-1, -1))


def test_a_leaderboard_of_equals_says_nothing() -> None:
    found = compare_leaderboard(rank(fights("a>b"), rounds=5), {"a": 1.0, "b": 1.0})
    assert np.isnan([found.spearman.value, found.kendall.value]).all()


def test_two_models_must_be_in_both() -> None:
    with pytest.raises(InputError, match="shares 1 models with the votes, at least 2 are needed") as caught:
        compare_leaderboard(rank(fights("a>b"), rounds=5), {"b": 1.0, "gpt": 1.0})
    assert "the leaderboard has: b, gpt; the votes have: a, b" in str(caught.value)


def test_a_correlation_without_spread_has_no_interval() -> None:
    board = {"a": 3.0, "b": 2.0, "c": 1.0}
    settled = compare_leaderboard(rank(fights(*["a>b"] * 30, *["b>c"] * 30, *["a>c"] * 30), rounds=50), board)
    few = compare_leaderboard(rank(fights("a>b", "b>c", "c>a", "a=c"), rounds=50), board)
    for one in (settled.spearman, settled.kendall, few.spearman, few.kendall):
        assert np.isnan([one.low, one.high]).all()
    assert settled.spearman.value == pytest.approx(1)
