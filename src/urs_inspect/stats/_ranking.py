"""Models in order: ratings, ranks, differences, and comparison with a leaderboard."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from urs_inspect._util import InputError, choices
from urs_inspect.stats._battles import (
    Battles,
    Connectivity,
    WinRates,
    connectivity_of,
    ordered_by_votes,
    win_rates_of,
)
from urs_inspect.stats._bootstrap import (
    LEVEL,
    SEED,
    Estimate,
    Flags,
    Floats,
    Integers,
    Resampling,
    fewest_clusters,
    percentile_bounds,
    ratio,
    reported,
)
from urs_inspect.stats._bradley_terry import bootstrap_bradley_terry, fit_bradley_terry
from urs_inspect.stats._elo import ROUNDS, Progress, bootstrap_elo, no_progress, shuffle_elo

DIGITS = 6
"""Ratings that agree to so many decimals share a rank; a fit is exact to about 9."""

Verdict = Literal["significantly different", "cannot be distinguished", "not comparable"]


@dataclass(frozen=True)
class Rank:
    """The place of a model.

    One more than the number of models rated higher, and its interval over the resamples.

    `low` is its best rank if it is better than all those that the battles cannot order it against.
    `high` is its worst rank if it is worse than all those and than all that are rated equal in a
    resample. A model on too few instructions for an interval is ordered against none, so it may
    have any rank, and the others may be above or below it.
    """

    rank: int
    low: int
    high: int


@dataclass(frozen=True)
class Difference:
    """Two models that follow each other in the ranking.

    The verdict is `significantly different` if the lower bound over resamples lies above 0, `cannot
    be distinguished` if not, `not comparable` if no chain of wins and ties leads from either to the
    other. Where all votes agree, so that the resamples do, the difference is significant, though no
    interval is reported. Each verdict has the level for itself; that all hold together is less
    sure.
    """

    better: str
    other: str
    estimate: Estimate  # Bradley-Terry rating of the better less that of the other, at least 0
    verdict: Verdict


@dataclass(frozen=True)
class Ranking:
    """Models from the best to the worst by Bradley-Terry, and how that was computed.

    Sequences are in the order of `players`. Intervals are percentiles over resamples of
    instructions; where `reported_bounds` allows none (few instructions, no spread), their bounds
    are NaN.

    Attributes:
        players: Names of the models, the highest rated first.
        bradley_terry: Bradley-Terry ratings of all battles: the headline.
        ranks: Ranks by them.
        differences: Differences of neighbours, P - 1.
        elo: Mean Elo rating over resamples, as in the MAD paper, with its interval.
        elo_shuffled: Mean Elo rating over random orders of all battles, as in the paper's reference
            code. Its bounds show how much the order matters and are no confidence interval.
        win_rates: Results by pair, rows and columns in the order of `players`.
        connectivity: Which models the battles can compare.
        battles: Number of battles.
        ties: Number of ties.
        clusters: Number of instructions.
        rounds: Number of resamples, and of orders.
        level: Confidence level, between 0 and 1.
        seed: Seed of resamples and orders.
        draws: Bradley-Terry ratings of the resamples, shape (R, P).
    """

    players: tuple[str, ...]
    bradley_terry: tuple[Estimate, ...]
    ranks: tuple[Rank, ...]
    differences: tuple[Difference, ...]
    elo: tuple[Estimate, ...]
    elo_shuffled: tuple[Estimate, ...]
    win_rates: WinRates
    connectivity: Connectivity
    battles: int
    ties: int
    clusters: int
    rounds: int
    level: float
    seed: int
    draws: Floats = field(repr=False, compare=False)

    @property
    def how(self) -> Resampling:
        """How intervals were made."""
        return Resampling(self.rounds, self.level, self.seed)


def rank(
    battles: Battles,
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    progress: Progress = no_progress,
) -> Ranking:
    """Rank models by their battles.

    Args:
        battles: The battles, at least one.
        rounds: Number of resamples, and of orders for `elo_shuffled`.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of resamples and orders.
        progress: Takes the share of the work that was done since the last call; Elo is nearly all
            of it.

    Returns:
        The ranking; models with equal ratings in the order of the players.

    Examples:
        >>> from urs_inspect.stats import Battle, battles_of, rank
        >>> won = [Battle("b", "a", 1.0, f"q{n}") for n in range(9)]
        >>> rank(battles_of([*won, Battle("b", "a", 0.0, "q9")]), rounds=50).players
        ('b', 'a')
    """
    how = Resampling(rounds, level, seed)
    given = fit_bradley_terry(battles)
    order = _order(given)
    ordered = _reordered(battles, order)
    draws = bootstrap_bradley_terry(ordered, rounds, seed)

    def half(share: float) -> None:
        progress(share / 2)

    elo = bootstrap_elo(ordered, rounds, seed, half)
    shuffled = shuffle_elo(ordered, rounds, seed, half)
    ratings = np.vstack([given[order], draws])
    elo_ratings = np.vstack([elo.mean(axis=0), elo])
    places = place(ordered, ratings, elo_ratings, how)
    means = shuffled.mean(axis=0)
    fought, seen = _support(ordered)
    over_orders = reported(means, shuffled, fought, seen, how, expanded=False)
    return Ranking(
        players=ordered.players,
        bradley_terry=places.ratings,
        ranks=places.ranks,
        differences=places.differences,
        elo=places.extra,
        elo_shuffled=over_orders,
        win_rates=win_rates_of(ordered),
        connectivity=connectivity_of(ordered),
        battles=len(battles),
        ties=battles.ties,
        clusters=len(np.unique(battles.clusters)),
        rounds=rounds,
        level=level,
        seed=seed,
        draws=draws,
    )


@dataclass(frozen=True)
class Places:
    """Models from the best to the worst by some ratings, in the order of `players`."""

    players: tuple[str, ...]
    ratings: tuple[Estimate, ...]
    ranks: tuple[Rank, ...]
    differences: tuple[Difference, ...]  # of neighbours, P - 1
    extra: tuple[Estimate, ...]  # a further statistic of each model


def place(battles: Battles, ratings: Floats, extra: Floats, how: Resampling) -> Places:
    """Order the models of battles by ratings.

    The first row of `ratings` and `extra` is of all battles, the others are draws, shape (1 + R,
    P). Intervals are expanded for few instructions (`percentile_bounds`).
    """
    order = _order(ratings[0])
    ordered = _reordered(battles, order)
    ratings = ratings[:, order]
    extra = extra[:, order]
    points = ratings[0]
    draws = ratings[1:]
    n, clusters = _support(ordered)
    comparable = ordered_by_votes(ordered)
    return Places(
        players=ordered.players,
        ratings=reported(points, draws, n, clusters, how),
        ranks=_ranks(points, draws, clusters, comparable, how.level),
        differences=_differences(ordered, points, draws, n, clusters, comparable, how),
        extra=reported(extra[0], extra[1:], n, clusters, how),
    )


def _order(ratings: Floats) -> Integers:
    """Players from the highest rating to the lowest, equal ones in their order."""
    return np.argsort(-np.round(ratings, DIGITS), kind="stable")


def _reordered(battles: Battles, order: Integers) -> Battles:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Battles(
        players=tuple(battles.players[index] for index in order),
        first=place[battles.first],
        second=place[battles.second],
        outcome=battles.outcome,
        clusters=battles.clusters,
    )


def _support(battles: Battles) -> tuple[Integers, Integers]:
    """Number of battles and of instructions of each player."""
    both = np.concatenate([battles.first, battles.second])
    instructions = np.tile(battles.clusters, 2)
    entries = np.stack([both, instructions])
    once, _ = np.unique(entries, axis=1)
    players = len(battles.players)
    fought = np.bincount(both, minlength=players)
    seen = np.bincount(once, minlength=players)
    return fought, seen


def _ranks(
    points: Floats, draws: Floats, clusters: Integers, comparable: Flags, level: float
) -> tuple[Rank, ...]:
    """Rank models by their ratings, shape (P,), and those of the resamples, shape (R, P).

    `clusters` is the number of instructions of each model, shape (P,); `comparable` has whether the
    battles order two, shape (P, P).
    """
    known = clusters >= fewest_clusters(level)
    itself = np.eye(len(points), dtype=np.bool_)
    comparable = comparable & np.outer(known, known) | itself
    rounded = np.round(points, DIGITS)
    drawn = np.round(draws, DIGITS)
    best = np.empty_like(drawn)
    worst = np.empty_like(drawn)
    for place, linked in enumerate(comparable):
        own = drawn[:, [place]]
        others = drawn[:, linked]
        best[:, place] = 1 + (others > own).sum(axis=1)
        worst[:, place] = (others >= own).sum(axis=1)
    lows, _ = percentile_bounds(best, level, clusters)
    _, highs = percentile_bounds(worst, level, clusters)
    highs = highs + (~comparable).sum(axis=1)
    ranks = []
    for rating, low, high in zip(rounded, lows, highs, strict=True):
        better = int((rounded > rating).sum())
        low_rank = math.floor(low)
        high_rank = math.ceil(high)
        ranks.append(Rank(1 + better, low_rank, high_rank))
    return tuple(ranks)


def _differences(
    battles: Battles,
    points: Floats,
    draws: Floats,
    n: Integers,
    clusters: Integers,
    comparable: Flags,
    how: Resampling,
) -> tuple[Difference, ...]:
    n = np.minimum(n[1:], n[:-1])
    clusters = np.minimum(clusters[1:], clusters[:-1])
    gaps = _gaps(draws)
    gap_estimates = reported(_gaps(points), gaps, n, clusters, how)
    lows, _ = percentile_bounds(gaps, how.level, clusters)
    significant = (lows > 0) & (clusters >= fewest_clusters(how.level))
    neighbours_compare = np.diag(comparable, 1)
    differences = []
    for place, (better, other) in enumerate(pairwise(battles.players)):
        verdict: Verdict = "cannot be distinguished"
        if not neighbours_compare[place]:
            verdict = "not comparable"
        elif significant[place]:
            verdict = "significantly different"
        differences.append(Difference(better, other, gap_estimates[place], verdict))
    return tuple(differences)


def _gaps(ratings: Floats) -> Floats:
    """Differences of neighbours, rounded because those of equal models are noise of the fit.

    No negative zero.
    """
    gaps = np.round(-np.diff(ratings, axis=-1), DIGITS)
    return np.asarray(gaps + 0.0, dtype=np.float64)


@dataclass(frozen=True)
class LeaderboardAgreement:
    """Rank correlations of Bradley-Terry ratings with a leaderboard, over the models of both.

    Intervals are over resamples of the votes, NaN where `reported_bounds` allows none; the
    leaderboard counts as exact.

    Attributes:
        spearman: Spearman's rho, by ranks, ties sharing their mean rank; from -1 to 1.
        kendall: Kendall's tau-b, by pairs, corrected for ties; from -1 to 1.
        players: Models of both.
        only_ranked: Models that the leaderboard lacks.
        only_leaderboard: Models that the votes lack.
    """

    spearman: Estimate
    kendall: Estimate
    players: tuple[str, ...]
    only_ranked: tuple[str, ...]
    only_leaderboard: tuple[str, ...]


def compare_leaderboard(ranking: Ranking, leaderboard: Mapping[str, float]) -> LeaderboardAgreement:
    """Compare a ranking with a leaderboard.

    Args:
        ranking: The ranking.
        leaderboard: Rating by model, higher is better; of a ranked list take the negative ranks.

    Returns:
        The correlations, NaN where all ratings of a side are equal.

    Raises:
        InputError: If fewer than two models are in both, because names must agree to the letter.
    """
    shared = [place for place, name in enumerate(ranking.players) if name in leaderboard]
    players = tuple(ranking.players[place] for place in shared)
    if len(players) < 2:
        raise InputError(
            f"the leaderboard shares {len(players)} models with the votes, at least 2 are needed;"
            f" the leaderboard has: {choices(leaderboard)}; the votes have:"
            f" {choices(ranking.players)}"
        )
    listed = [leaderboard[name] for name in players]
    ratings = np.array(listed, dtype=np.float64)
    points = [ranking.bradley_terry[place].value for place in shared]
    spearman, kendall = reported(
        _correlations(np.array([points]), ratings)[0],
        _correlations(ranking.draws[:, shared], ratings),
        [ranking.battles] * 2,
        [ranking.clusters] * 2,
        ranking.how,
        scale=(-1, 1),
    )
    return LeaderboardAgreement(
        spearman=spearman,
        kendall=kendall,
        players=players,
        only_ranked=tuple(name for name in ranking.players if name not in leaderboard),
        only_leaderboard=tuple(name for name in leaderboard if name not in ranking.players),
    )


def centred_ranks(rows: Floats) -> Floats:
    """Ranks of the values of each row less their mean, shape (R, P)."""
    from scipy.stats import rankdata

    ranks: Floats = rankdata(rows, axis=1)
    centred: Floats = ranks - ranks.mean(axis=1, keepdims=True)
    return centred


def _correlations(rows: Floats, ratings: Floats) -> Floats:
    """Spearman's rho and Kendall's tau-b of each row with the ratings, shape (R, 2)."""
    rounded = np.round(rows, DIGITS)
    listed = ratings[None]
    first, second = np.triu_indices(len(ratings), 1)
    signs = np.sign(rounded[:, first] - rounded[:, second])
    other_signs = np.sign(listed[:, first] - listed[:, second])
    rho = cosine(centred_ranks(rounded), centred_ranks(listed))
    tau = cosine(signs, other_signs)
    return np.stack([rho, tau], axis=1)


def cosine(rows: Floats, others: Floats) -> Floats:
    """Cosine of each row with that of the others, or with their only one."""
    products = (rows * others).sum(axis=1)
    squares = (rows**2).sum(axis=1) * (others**2).sum(axis=1)
    return ratio(products, np.sqrt(squares))
