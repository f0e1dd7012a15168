"""Tests of `urs_inspect.stats._ranking`."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import kendalltau, spearmanr

from tests.stats.fights import fights, random_fights, renamed
from tests.stats.slow import expanded
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.logs._battles import read_battles
from urs_inspect.stats import compare_leaderboard, fit_bradley_terry, rank
from urs_inspect.stats._battles import win_rates_of
from urs_inspect.stats._bootstrap import fewest_clusters
from urs_inspect.stats._bradley_terry import bootstrap_bradley_terry
from urs_inspect.stats._elo import bootstrap_elo, shuffle_elo


def test_the_best_comes_first_and_all_follows() -> None:
    battles = random_fights(5, 400, 60, seed=1)
    found = rank(battles, rounds=200, seed=4)
    given = dict(zip(battles.players, fit_bradley_terry(battles), strict=True))
    assert found.players == tuple(sorted(given, key=lambda name: -given[name]))
    assert [one.value for one in found.bradley_terry] == pytest.approx(
        sorted(given.values(), reverse=True)
    )
    assert [one.rank for one in found.ranks] == [1, 2, 3, 4, 5]
    assert found.win_rates.players == found.players
    at = {name: place for place, name in enumerate(battles.players)}
    rates = win_rates_of(battles).rates
    assert found.win_rates.rates[0, 1] == rates[at[found.players[0]], at[found.players[1]]]
    assert (found.battles, found.ties, found.clusters) == (400, battles.ties, 60)


def test_parameters_are_echoed_and_progress_adds_up_to_all() -> None:
    shares: list[float] = []
    given = {"rounds": 7, "level": 0.9, "seed": 3}
    found = rank(fights("a>b"), **given, progress=shares.append)  # type: ignore[arg-type]
    assert {name: getattr(found, name) for name in given} == given
    assert found.elo[0].value == pytest.approx(1002.0)  # 4 * 1/2 above the start
    assert found.draws.shape == (7, 2)
    assert sum(shares) == pytest.approx(1)


def test_intervals_are_percentiles_of_the_rounds() -> None:
    battles = random_fights(4, 200, 50, seed=2)
    found = rank(battles, rounds=100, level=0.8, seed=5)
    order = [battles.players.index(name) for name in found.players]
    draws = bootstrap_bradley_terry(battles, rounds=100, seed=5)[:, order]
    assert found.draws == pytest.approx(draws)
    for place, one in enumerate(found.bradley_terry):
        assert (one.low, one.high) == pytest.approx(expanded(draws[:, place], one.clusters, 0.8))
        assert (one.level, one.rounds, one.seed) == (0.8, 100, 5)
    for step, (place, after) in zip(found.differences, pairwise(range(4)), strict=True):
        gap = draws[:, place] - draws[:, after]
        assert (step.better, step.other) == (found.players[place], found.players[after])
        bounds = expanded(gap, step.estimate.clusters, 0.8)
        assert (step.estimate.low, step.estimate.high) == pytest.approx(bounds, abs=1e-5)
    ranks = np.array([[1 + sum(other > own for other in row) for own in row] for row in draws])
    for place, at in enumerate(found.ranks):
        low, high = expanded(ranks[:, place], found.bradley_terry[place].clusters, 0.8)
        assert (at.low, at.high) == (math.floor(low), math.ceil(high))


def test_elo_is_the_mean_over_rounds() -> None:
    battles = random_fights(3, 100, 30, seed=3)
    found = rank(battles, rounds=50)
    order = [battles.players.index(name) for name in found.players]
    # The same instructions are drawn, but the order within a round depends on the order of the
    # players no more than on anything else.
    for ours, fitted in ((found.elo, bootstrap_elo), (found.elo_shuffled, shuffle_elo)):
        draws = fitted(battles, rounds=50)[:, order]
        assert [one.value for one in ours] == pytest.approx(draws.mean(axis=0))
        lows = [
            expanded(column, one.clusters)[0] for column, one in zip(draws.T, ours, strict=True)
        ]
        # The bounds of random orders are about the order, not about instructions, of which there
        # may be few.
        assert [one.low for one in ours] == pytest.approx(
            lows if ours is found.elo else np.quantile(draws, 0.025, 0)
        )


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


def test_equals_share_a_rank_in_the_given_order() -> None:
    found = rank(fights("b=a", "a=c", "c=b", "a>z", "b>z", "c>z"), rounds=20)
    assert found.players == ("a", "b", "c", "z")
    assert [one.rank for one in found.ranks] == [1, 1, 1, 4]
    assert [one.estimate.value for one in found.differences[:2]] == [0, 0]


@pytest.mark.parametrize(("level", "n"), [(0.95, 6), (0.9, 5), (0.99, 8), (0.5, 2), (0.75, 3)])
def test_as_many_instructions_as_a_sign_test_needs(level: float, n: int) -> None:
    # All of n votes agree by chance with probability 2 / 2**n: 2/64 = 0.031 <= 0.05 < 2/32, and so
    # on.
    assert fewest_clusters(level) == n
    assert 2 / 2**n <= 1 - level + 1e-12 < 2 / 2 ** (n - 1)


def test_names_do_not_matter() -> None:
    battles = random_fights(4, 100, 20, seed=6)
    one, other = rank(battles, rounds=50), rank(renamed(battles, [3, 1, 0, 2]), rounds=50)
    assert one.players == other.players
    for given, again in zip(one.bradley_terry, other.bradley_terry, strict=True):
        assert (again.value, again.low, again.high) == pytest.approx(
            (given.value, given.low, given.high)
        )
    assert one.ranks == other.ranks


@pytest.mark.parametrize(
    ("votes", "ranks", "verdicts"),
    [
        # a is above b in every round, but c and d may both be above or below each of them: a 1 to 1
        # + 2, b 2 to 2 + 2. c and d always tie, so that either may be the worse one, and a and b
        # may both be above or below: 1 to 2 + 2.
        pytest.param(
            {"a>b": 20, "c=d": 20},
            {"a": (1, 1, 3), "c": (2, 1, 4), "d": (2, 1, 4), "b": (4, 2, 4)},
            ["not comparable", "cannot be distinguished", "not comparable"],
            id="no link",
        ),
        # d, on 3 instructions, may have any rank, so each of the others spans one more.
        pytest.param(
            {"a>b": 20, "b>c": 20, "c>d": 3},
            {"a": (1, 1, 2), "b": (2, 2, 3), "c": (3, 3, 4), "d": (4, 1, 4)},
            ["significantly different", "significantly different", "cannot be distinguished"],
            id="few instructions",
        ),
        # The prior rates a higher than b, no vote does.
        pytest.param(
            {"a>c": 60, "b>c": 8},
            {"a": (1, 1, 2), "b": (2, 1, 2), "c": (3, 3, 3)},
            ["not comparable", "significantly different"],
            id="only the prior",
        ),
        pytest.param(
            {"a=b": 12, "b=c": 12},
            dict.fromkeys("abc", (1, 1, 3)),
            ["cannot be distinguished", "cannot be distinguished"],
            id="ties alone",
        ),
        # Votes that all agree are significant without an interval; a handful of them tells nothing
        # apart.
        pytest.param(
            {"a>b": 12},
            {"a": (1, 1, 1), "b": (2, 2, 2)},
            ["significantly different"],
            id="all agree",
        ),
        pytest.param(
            {"a>b": 5},
            {"a": (1, 1, 2), "b": (2, 1, 2)},
            ["cannot be distinguished"],
            id="a handful",
        ),
        pytest.param(
            {"a>b": 6}, {"a": (1, 1, 1), "b": (2, 2, 2)}, ["significantly different"], id="enough"
        ),
        # Percentiles alone, too narrow over so few instructions, would tell these apart.
        pytest.param(
            {"a>b": 7, "a<b": 1},
            {"a": (1, 1, 2), "b": (2, 1, 2)},
            ["cannot be distinguished"],
            id="one of eight lost",
        ),
        # Six votes on one instruction are one instruction.
        pytest.param(
            {"a>b@1": 6},
            {"a": (1, 1, 2), "b": (2, 1, 2)},
            ["cannot be distinguished"],
            id="one instruction",
        ),
    ],
)
def test_a_rank_spans_all_that_the_votes_cannot_order_it_against(
    votes: dict[str, int], ranks: dict[str, tuple[int, ...]], verdicts: list[str]
) -> None:
    found = rank(
        fights(*[vote for vote, number in votes.items() for _ in range(number)]), rounds=400
    )
    places = zip(found.players, found.ranks, strict=True)
    assert [(name, (at.rank, at.low, at.high)) for name, at in places] == list(ranks.items())
    assert [one.verdict for one in found.differences] == verdicts
    if (
        len(votes) == 1 or "a=b" in votes
    ):  # no round differs from another, so that no interval is reported
        bounded = (*found.bradley_terry, *(step.estimate for step in found.differences))
        assert np.isnan([bound for one in bounded for bound in (one.low, one.high)]).all()


def test_one_exchange_among_three_by_hand() -> None:
    # a > b > c here, b > a > c there. Spearman: 1 - 6 * (1 + 1 + 0) / (3 * 8) = 0.5. Kendall: (2 -
    # 1) / 3.
    ranking = rank(fights(*["a>b"] * 9, "a<b", *["b>c"] * 9, "b<c"), rounds=50)
    found = compare_leaderboard(ranking, {"a": 20.0, "b": 30.0, "c": 10.0})
    assert found.spearman.value == pytest.approx(0.5)
    assert found.kendall.value == pytest.approx(1 / 3)
    assert found.players == ("a", "b", "c")


def test_models_of_one_side_are_named_and_left_out() -> None:
    ranking = rank(fights(*["a>b"] * 9, "a<b", "c=b"), rounds=50)
    found = compare_leaderboard(ranking, {"z": 1.0, "b": 2.0, "a": 3.0})
    assert (found.players, found.only_ranked, found.only_leaderboard) == (
        ("a", "b"),
        ("c",),
        ("z",),
    )
    assert (found.spearman.value, found.kendall.value) == pytest.approx((1, 1))
    with pytest.raises(InputError, match=r"shares 1 models.*2") as caught:
        compare_leaderboard(ranking, {"b": 1.0, "gpt": 1.0})
    assert tells(str(caught.value), "leaderboard has: b, gpt; ... a, c, b")


@pytest.mark.parametrize("seed", range(3))
def test_each_round_is_what_scipy_computes(seed: int) -> None:
    ranking = rank(random_fights(6, 100, 30, seed, spread=0.3), rounds=40)
    leaderboard = {
        name: float(n % 4) for n, name in enumerate(sorted(ranking.players))
    }  # with ties
    found = compare_leaderboard(ranking, leaderboard)
    ratings = [leaderboard[name] for name in ranking.players]
    points = [one.value for one in ranking.bradley_terry]
    for ours, reference in ((found.spearman, spearmanr), (found.kendall, kendalltau)):
        assert ours.value == pytest.approx(reference(points, ratings).statistic)
        draws = [reference(row, ratings).statistic for row in ranking.draws]
        assert (ours.low, ours.high) == pytest.approx(expanded(draws, ranking.clusters))


def test_a_leaderboard_of_equals_says_nothing() -> None:
    found = compare_leaderboard(rank(fights("a>b"), rounds=5), {"a": 1.0, "b": 1.0})
    assert np.isnan([found.spearman.value, found.kendall.value]).all()


def test_a_correlation_without_spread_has_no_interval() -> None:
    board = {"a": 3.0, "b": 2.0, "c": 1.0}
    settled = compare_leaderboard(
        rank(fights(*["a>b"] * 30, *["b>c"] * 30, *["a>c"] * 30), rounds=50), board
    )
    few = compare_leaderboard(rank(fights("a>b", "b>c", "c>a", "a=c"), rounds=50), board)
    for one in (settled.spearman, settled.kendall, few.spearman, few.kendall):
        assert np.isnan([one.low, one.high]).all()
    assert settled.spearman.value == pytest.approx(1)


# --- the published votes ---

MODELS = (
    "gpt-4",
    "claude-v1",
    "gpt-3.5-turbo",
    "vicuna-13b",
    "koala-13b",
    "alpaca-13b",
    "chatglm-6b",
)
ADA = (1048, 1008, 1012, 1001, 987, 982, 962)
BERT_SCORE = (1056, 1038, 1020, 1002, 967, 964, 954)
"""MAD paper, Table 6, without PaLM-2, whose votes are not published."""
ALL_VOTES = (1192, 1133, 1073, 996, 935, 848, 824)
"""Elo of all 7,471 votes.

Table 6 prints 1189, 1132, 1072, 995, 935, 850 and 827, with PaLM-2 among them.
"""


def mean_elo(votes: Path, fitted: object = bootstrap_elo) -> npt.NDArray[np.float64]:
    battles = read_battles([votes])
    assert set(battles.players) == set(MODELS)
    ratings = fitted(battles).mean(axis=0)  # type: ignore[operator]
    return np.array([ratings[battles.players.index(name)] for name in MODELS])


@pytest.mark.data
@pytest.mark.parametrize("fitted", [bootstrap_elo, shuffle_elo])
@pytest.mark.parametrize(("similarity", "published"), [("embedding", ADA), ("bert", BERT_SCORE)])
def test_table_6(
    data_dir: Path, similarity: str, published: tuple[int, ...], fitted: object
) -> None:
    votes = data_dir / "mad" / "annotations" / f"chatbot_arena-annotation-10-{similarity}.json"
    assert np.abs(mean_elo(votes, fitted) - published).max() < 1


@pytest.mark.data
@pytest.mark.parametrize("fitted", [bootstrap_elo, shuffle_elo])
def test_all_votes(data_dir: Path, fitted: object) -> None:
    assert np.abs(mean_elo(data_dir / "mad" / "chatbot_arena", fitted) - ALL_VOTES).max() < 2


@pytest.mark.data
def test_all_votes_tell_all_models_apart(data_dir: Path) -> None:
    found = rank(read_battles([data_dir / "mad" / "chatbot_arena"]))
    assert found.players == MODELS
    assert (found.battles, found.ties, found.clusters) == (7471, 2029, 6853)
    assert (np.triu(found.win_rates.battles, 1) > 0).sum() == 21
    assert {one.verdict for one in found.differences} == {"significantly different"}
    assert [(one.low, one.high) for one in found.ranks] == [(place, place) for place in range(1, 8)]
    assert found.connectivity.connected
    # Elo with K = 4 spreads over twice as far as Bradley-Terry on the same votes.
    widths = [
        np.mean([one.high - one.low for one in ratings])
        for ratings in (found.bradley_terry, found.elo)
    ]
    assert 20 < widths[0] < 30
    assert widths[1] > 1.9 * widths[0]


@pytest.mark.data
@pytest.mark.parametrize("similarity", ["embedding", "bert"])
def test_the_shuffle_of_the_reference_code_is_many_times_too_narrow(
    data_dir: Path, similarity: str
) -> None:
    found = rank(
        read_battles(
            [data_dir / "mad" / "annotations" / f"chatbot_arena-annotation-10-{similarity}.json"]
        )
    )
    bootstrap, shuffle = (
        np.mean([one.high - one.low for one in ratings])
        for ratings in (found.elo, found.elo_shuffled)
    )
    assert 38 < bootstrap < 46
    assert 4 < shuffle < 5.5
    assert (
        sum(one.verdict == "significantly different" for one in found.differences) == 1
    )  # of 6 neighbours, on 210 votes
