"""Places of models beside an implementation that goes draw by draw."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from tests.stats.fights import fights, random_fights
from tests.stats.slow import expanded
from urs_inspect.stats import Battles, Estimate, Ranking, compare_leaderboard, rank
from urs_inspect.stats._battles import win_rates_of
from urs_inspect.stats._bootstrap import Floats, Resampling, fewest_clusters
from urs_inspect.stats._ranking import Places, place


def reached(battles: Battles) -> set[tuple[str, str]]:
    """Who beats or ties whom through some chain."""
    names = battles.players
    chains = {(name, name) for name in names}
    for one, other, outcome in zip(battles.first, battles.second, battles.outcome, strict=True):
        if outcome > 0:
            chains.add((names[one], names[other]))
        if outcome < 1:
            chains.add((names[other], names[one]))
    for middle in names:
        for one in names:
            for other in names:
                if (one, middle) in chains and (middle, other) in chains:
                    chains.add((one, other))
    return chains


def fought_and_seen(battles: Battles, name: str) -> tuple[int, int]:
    at = battles.players.index(name)
    rows = (battles.first == at) | (battles.second == at)
    return int(rows.sum()), len(set(battles.clusters[rows].tolist()))


def assert_estimate(
    found: Estimate, value: float, draws: Floats, n: int, clusters: int, how: Resampling
) -> None:
    assert (found.n, found.clusters) == (n, clusters)
    assert (found.level, found.rounds, found.seed) == (how.level, how.rounds, how.seed)
    assert found.value == pytest.approx(value, abs=1e-6)
    low, high = expanded(draws, clusters, how.level)
    if clusters < fewest_clusters(how.level) or high - low < 1e-9:
        low = high = math.nan
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6, nan_ok=True)


def assert_placed(
    found: Places, battles: Battles, ratings: Floats, extra: Floats, how: Resampling
) -> None:
    names = battles.players
    rounded = np.round(ratings, 6)
    order = sorted(range(len(names)), key=lambda at: (-rounded[0, at], at))
    assert found.players == tuple(names[at] for at in order)
    chains = reached(battles)
    support = {name: fought_and_seen(battles, name) for name in names}
    least = fewest_clusters(how.level)

    def ordered(one: str, other: str) -> bool:
        return (one, other) in chains or (other, one) in chains

    def counts(one: str, other: str) -> bool:
        enough = support[one][1] >= least and support[other][1] >= least
        return enough and ordered(one, other)

    for step, at in enumerate(order):
        n, clusters = support[names[at]]
        assert_estimate(found.ratings[step], ratings[0, at], ratings[1:, at], n, clusters, how)
        assert_estimate(found.extra[step], extra[0, at], extra[1:, at], n, clusters, how)
        others = [other for other in range(len(names)) if other != at]
        rivals = [other for other in others if counts(names[at], names[other])]
        best = []
        worst = []
        for draw in rounded[1:]:
            best.append(1 + sum(draw[other] > draw[at] for other in rivals))
            worst.append(1 + sum(draw[other] >= draw[at] for other in rivals))
        low, _ = expanded(best, clusters, how.level)
        _, high = expanded(worst, clusters, how.level)
        better = sum(rounded[0, other] > rounded[0, at] for other in others)
        given = found.ranks[step]
        assert given.rank == 1 + better
        assert given.low == math.floor(low)
        assert given.high == math.ceil(high) + len(others) - len(rivals)
    for step, (one, other) in enumerate(pairwise(order)):
        difference = found.differences[step]
        assert (difference.better, difference.other) == (names[one], names[other])
        gap = np.round(ratings[:, one] - ratings[:, other], 6)
        n = min(support[names[one]][0], support[names[other]][0])
        clusters = min(support[names[one]][1], support[names[other]][1])
        assert_estimate(difference.estimate, gap[0], gap[1:], n, clusters, how)
        assert math.copysign(1, difference.estimate.value) == 1
        low, _ = expanded(gap[1:], clusters, how.level)
        verdict = "cannot be distinguished"
        if not ordered(names[one], names[other]):
            verdict = "not comparable"
        elif low > 0 and clusters >= least:
            verdict = "significantly different"
        assert difference.verdict == verdict


def uneven(seed: int) -> Battles:
    """Models of which one is on few instructions, one only lost, and one met nobody else's chain.

    Some instructions have several battles.
    """
    rng = np.random.default_rng(seed)
    usual = random_fights(4, 60, 25, seed)
    rows = [
        f"{usual.players[one]}{'<=>'[int(2 * outcome)]}{usual.players[other]}@{cluster}"
        for one, other, outcome, cluster in zip(
            usual.first, usual.second, usual.outcome, usual.clusters, strict=True
        )
    ]
    few = [f"z{'<=>'[rng.integers(3)]}m00@{cluster}" for cluster in (0, 1, 1, 2, 3)]
    lost = [f"k<m01@{cluster}" for cluster in range(8)]
    apart = [f"x{'<=>'[rng.integers(3)]}y@{cluster}" for cluster in range(7)]
    return fights(*rows, *few, *lost, *apart)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("level", "rounds"), [(0.8, 7), (0.8, 40), (0.95, 40)])
def test_places_are_those_of_draws_one_by_one(seed: int, level: float, rounds: int) -> None:
    battles = uneven(seed)
    rng = np.random.default_rng(seed)
    size = len(battles.players)
    how = Resampling(rounds, level, seed)
    # Ratings of a few values, equal but for what a fit leaves of them, and one model far ahead.
    shape = (1 + rounds, size)
    ratings = rng.integers(0, 6, shape) + rng.normal(0, 1e-8, shape)
    ratings[:, 2] += 20
    extra = rng.normal(size=shape)
    found = place(battles, ratings, extra, how)
    assert_placed(found, battles, ratings, extra, how)


def test_a_ranking_counts_what_each_model_fought() -> None:
    battles = uneven(1)
    found = rank(battles, rounds=30, level=0.9, seed=6)
    assert [one.n for one in found.elo_shuffled] == [
        fought_and_seen(battles, name)[0] for name in found.players
    ]
    assert [one.clusters for one in found.elo_shuffled] == [
        fought_and_seen(battles, name)[1] for name in found.players
    ]
    assert (found.battles, found.ties) == (len(battles), (battles.outcome == 0.5).sum())
    assert found.clusters == len(set(battles.clusters.tolist())) < len(battles)
    again = rank(battles, rounds=30, level=0.9, seed=7)
    for one, other in ((found.elo, again.elo), (found.elo_shuffled, again.elo_shuffled)):
        assert [value.value for value in one] != [value.value for value in other]
    assert (found.draws != again.draws).any()
    assert (found.how, again.how) == (Resampling(30, 0.9, 6), Resampling(30, 0.9, 7))
    order = [battles.players.index(name) for name in found.players]
    given = win_rates_of(battles)
    for name in ("rates", "battles", "wins", "ties"):
        of_all = getattr(given, name)[np.ix_(order, order)]
        assert getattr(found.win_rates, name) == pytest.approx(of_all, nan_ok=True)


def within_the_scale(draws: list[float]) -> tuple[float, float]:
    """Bounds of a correlation; none where they span all of -1 to 1."""
    low, high = expanded(draws, 20)
    if low <= -1 and high >= 1:
        return math.nan, math.nan
    return max(low, -1.0), min(high, 1.0)


def ranking_of(names: str, draws: Floats, clusters: int = 20) -> Ranking:
    """A ranking with given draws, whose points are their means."""
    battles = [f"{one}={other}@{cluster}" for one, other in pairwise(names) for cluster in range(8)]
    found = rank(fights(*battles), rounds=2)
    points = draws.mean(axis=0)
    ratings = tuple(replace(found.bradley_terry[0], value=value) for value in points.tolist())
    return replace(
        found,
        players=tuple(names),
        bradley_terry=ratings,
        draws=draws,
        rounds=len(draws),
        clusters=clusters,
    )


@pytest.mark.parametrize("seed", range(6))
def test_rankings_and_leaderboards_correlate_draw_by_draw(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Means over draws are equal but for rounding, and so are some draws.
    one = np.round(rng.normal(size=(60, 5)), 1) + rng.normal(0, 1e-9, (60, 5))
    first = ranking_of("abcde", one)
    mine = [0, 1, 2, 4]
    board = {"e": 3.0, "a": 1.0, "b": 1.0, "new": 9.0, "c": 2.0}
    listed = [board[name] for name in "abce"]
    agreement = compare_leaderboard(first, board)
    assert agreement.players == ("a", "b", "c", "e")
    assert (agreement.only_ranked, agreement.only_leaderboard) == (("d",), ("new",))
    for ours, reference in ((agreement.spearman, spearmanr), (agreement.kendall, kendalltau)):
        rows = [float(reference(np.round(row[mine], 6), listed).statistic) for row in one]
        bounds = within_the_scale(rows)
        assert (ours.low, ours.high) == pytest.approx(bounds, nan_ok=True)
        assert (ours.n, ours.clusters) == (first.battles, 20)
