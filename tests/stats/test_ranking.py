"""Tests of `urs_inspect.stats.ranking`."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from tests.stats.fights import fights, random_fights, renamed
from urs_inspect._util import InputError
from urs_inspect.stats import compare_leaderboard, fit_bradley_terry, rank
from urs_inspect.stats.battles import win_rates_of
from urs_inspect.stats.bootstrap import fewest_clusters
from urs_inspect.stats.bradley_terry import bootstrap_bradley_terry
from urs_inspect.stats.elo import bootstrap_elo, shuffle_elo


def test_the_best_comes_first_and_all_follows() -> None:
    battles = random_fights(5, 400, 60, seed=1)
    found = rank(battles, rounds=200, seed=4)
    given = dict(zip(battles.players, fit_bradley_terry(battles), strict=True))
    assert found.players == tuple(sorted(given, key=lambda name: -given[name]))
    assert [one.value for one in found.bradley_terry] == pytest.approx(sorted(given.values(), reverse=True))
    assert [one.rank for one in found.ranks] == [1, 2, 3, 4, 5]
    assert found.win_rates.players == found.players
    at = {name: place for place, name in enumerate(battles.players)}
    rates = win_rates_of(battles).rates
    assert found.win_rates.rates[0, 1] == rates[at[found.players[0]], at[found.players[1]]]
    assert (found.battles, found.ties, found.clusters) == (400, battles.ties, 60)


def test_parameters_are_echoed() -> None:
    found = rank(fights("a>b"), rounds=7, level=0.9, seed=3, prior=2.0, k=8.0, scale=200.0, start=0.0)
    assert (found.rounds, found.level, found.seed) == (7, 0.9, 3)
    assert (found.prior, found.k, found.scale, found.start) == (2.0, 8.0, 200.0, 0.0)
    assert found.elo[0].value == pytest.approx(4.0)  # 8 * 1/2
    assert found.draws.shape == (7, 2)


def test_intervals_are_percentiles_of_the_rounds() -> None:
    battles = random_fights(4, 200, 50, seed=2)
    found = rank(battles, rounds=100, level=0.8, seed=5)
    order = [battles.players.index(name) for name in found.players]
    draws = bootstrap_bradley_terry(battles, rounds=100, seed=5)[:, order]
    assert found.draws == pytest.approx(draws)
    for place, one in enumerate(found.bradley_terry):
        assert (one.low, one.high) == pytest.approx(tuple(np.quantile(draws[:, place], [0.1, 0.9])))
        assert (one.level, one.rounds, one.seed) == (0.8, 100, 5)
    for step, (place, after) in zip(found.differences, pairwise(range(4)), strict=True):
        gap = draws[:, place] - draws[:, after]
        assert (step.better, step.other) == (found.players[place], found.players[after])
        assert (step.estimate.low, step.estimate.high) == pytest.approx(tuple(np.quantile(gap, [0.1, 0.9])), abs=1e-5)
    ranks = np.array([[1 + sum(other > own for other in row) for own in row] for row in draws])
    for place, at in enumerate(found.ranks):
        low, high = np.quantile(ranks[:, place], [0.1, 0.9])
        assert (at.low, at.high) == (math.floor(low), math.ceil(high))


def test_elo_is_the_mean_over_rounds() -> None:
    battles = random_fights(3, 100, 30, seed=3)
    found = rank(battles, rounds=50)
    order = [battles.players.index(name) for name in found.players]
    # The same instructions are drawn, but the order within a round depends on the order of the players no more
    # than on anything else.
    for ours, fitted in ((found.elo, bootstrap_elo), (found.elo_shuffled, shuffle_elo)):
        draws = fitted(battles, rounds=50)[:, order]
        assert [one.value for one in ours] == pytest.approx(draws.mean(axis=0))
        assert [one.low for one in ours] == pytest.approx(np.quantile(draws, 0.025, axis=0))


def test_neighbours_are_told_apart_or_not() -> None:
    votes = [*["a>b"] * 30, *["a<b"] * 5, *["b>c"] * 16, *["b<c"] * 15, *["a>c"] * 10]
    found = rank(fights(*votes))
    assert [(one.better, one.other, one.verdict) for one in found.differences] == [
        ("a", "b", "significantly different"),
        ("b", "c", "cannot be distinguished"),
    ]
    assert found.differences[0].estimate.low > 0 > found.differences[1].estimate.low
    assert (found.ranks[0].low, found.ranks[0].high) == (1, 1)
    assert (found.ranks[1].low, found.ranks[1].high) == (2, 3)


def test_models_without_a_link_are_not_compared() -> None:
    found = rank(fights(*["a>b"] * 20, *["c=d"] * 20))
    verdicts = {(one.better, one.other): one.verdict for one in found.differences}
    assert verdicts == {
        ("a", "c"): "not comparable",
        ("c", "d"): "cannot be distinguished",
        ("d", "b"): "not comparable",
    }
    assert not found.connectivity.connected
    assert "No chain of comparisons links (a, b) and (c, d)" in found.connectivity.message


def test_equals_share_a_rank_in_the_given_order() -> None:
    found = rank(fights("b=a", "a=c", "c=b", "a>z", "b>z", "c>z"), rounds=20)
    assert found.players == ("a", "b", "c", "z")
    assert [one.rank for one in found.ranks] == [1, 1, 1, 4]
    assert [one.estimate.value for one in found.differences[:2]] == [0, 0]


@pytest.mark.parametrize(("level", "n"), [(0.95, 6), (0.9, 5), (0.99, 8), (0.5, 2), (0.75, 3)])
def test_as_many_instructions_as_a_sign_test_needs(level: float, n: int) -> None:
    # All of n votes agree by chance with probability 2 / 2**n: 2/64 = 0.031 <= 0.05 < 2/32, and so on.
    assert fewest_clusters(level) == n
    assert 2 / 2**n <= 1 - level + 1e-12 < 2 / 2 ** (n - 1)


def test_a_handful_of_votes_that_agree_tells_nothing_apart() -> None:
    few, enough = (rank(fights(*["a>b"] * n), rounds=50) for n in (5, 6))
    assert math.isnan(few.bradley_terry[0].low)
    assert few.differences[0].verdict == "cannot be distinguished"
    assert [(one.rank, one.low, one.high) for one in few.ranks] == [(1, 1, 2), (2, 1, 2)]
    assert enough.differences[0].verdict == "significantly different"
    # Six votes on one instruction are one instruction.
    assert rank(fights(*["a>b@1"] * 6), rounds=50).differences[0].verdict == "cannot be distinguished"


def test_names_do_not_matter() -> None:
    battles = random_fights(4, 100, 20, seed=6)
    one, other = rank(battles, rounds=50), rank(renamed(battles, [3, 1, 0, 2]), rounds=50)
    assert one.players == other.players
    for given, again in zip(one.bradley_terry, other.bradley_terry, strict=True):
        assert (again.value, again.low, again.high) == pytest.approx((given.value, given.low, given.high))
    assert one.ranks == other.ranks


def test_a_rank_spans_all_that_the_votes_cannot_order_it_against() -> None:
    # a is above b in every round, but c and d may both be above or below each of them: a 1 to 1 + 2, b 2 to 2 + 2.
    # c and d always tie, so that either may be the worse one, and a and b may both be above or below: 1 to 2 + 2.
    found = rank(fights(*["a>b"] * 20, *["c=d"] * 20), rounds=50)
    assert {name: (at.low, at.high) for name, at in zip(found.players, found.ranks, strict=True)} == {
        "a": (1, 3),
        "c": (1, 4),
        "d": (1, 4),
        "b": (2, 4),
    }


def test_a_model_on_few_instructions_may_be_above_or_below_the_others() -> None:
    # a is above b is above c in every round; d, on 3 instructions, may have any rank, so each of them spans one more.
    found = rank(fights(*["a>b"] * 20, *["b>c"] * 20, *["c>d"] * 3), rounds=50)
    assert {name: (at.low, at.high) for name, at in zip(found.players, found.ranks, strict=True)} == {
        "a": (1, 2),
        "b": (2, 3),
        "c": (3, 4),
        "d": (1, 4),
    }


def test_only_the_prior_orders_two_that_beat_a_third() -> None:
    # a beat c 60 times and b beat c 8 times: the prior rates a higher, no vote does.
    found = rank(fights(*["a>c"] * 60, *["b>c"] * 8), rounds=50)
    assert found.players == ("a", "b", "c")
    assert [(at.rank, at.low, at.high) for at in found.ranks] == [(1, 1, 2), (2, 1, 2), (3, 3, 3)]
    assert [one.verdict for one in found.differences] == ["not comparable", "significantly different"]


def test_ties_alone_give_neither_intervals_nor_an_order() -> None:
    found = rank(fights(*["a=b"] * 12, *["b=c"] * 12), rounds=50)
    for one in (*found.bradley_terry, *found.elo, *(step.estimate for step in found.differences)):
        assert math.isnan(one.low)
        assert math.isnan(one.high)
    assert [one.value for one in found.bradley_terry] == pytest.approx([1000] * 3)
    assert [one.verdict for one in found.differences] == ["cannot be distinguished"] * 2
    assert [(at.rank, at.low, at.high) for at in found.ranks] == [(1, 1, 3)] * 3


def test_votes_that_all_agree_are_significant_without_an_interval() -> None:
    found = rank(fights(*["a>b"] * 12, *["b>c"] * 12), rounds=50)
    settled = rank(fights(*["a>b"] * 12), rounds=50)
    assert [one.verdict for one in (*found.differences, *settled.differences)] == ["significantly different"] * 3
    assert settled.differences[0].estimate.value > 100
    assert math.isnan(settled.differences[0].estimate.low)
    assert math.isnan(settled.bradley_terry[0].low)
    assert [(at.rank, at.low, at.high) for at in settled.ranks] == [(1, 1, 1), (2, 2, 2)]


def test_progress_adds_up_to_all() -> None:
    shares: list[float] = []
    rank(random_fights(3, 30, 10, seed=1), rounds=20, progress=shares.append)
    assert sum(shares) == pytest.approx(1)


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
