"""Models in order: ratings, ranks, differences, and how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from urs_inspect.rating.battles import Battles
from urs_inspect.rating.bootstrap import LEVEL, SEED, Estimate, Floats, Integers, estimates, percentile_bounds
from urs_inspect.rating.bradley_terry import PRIOR, bootstrap_bradley_terry, fit_bradley_terry
from urs_inspect.rating.connectivity import Connectivity, connectivity_of, ordered_by_votes
from urs_inspect.rating.elo import ROUNDS, SCALE, START, K, Progress, bootstrap_elo, no_progress, shuffle_elo
from urs_inspect.rating.intervals import fewest_clusters, reported_bounds
from urs_inspect.rating.ranks import DIGITS, Flags, Rank, ranks_of
from urs_inspect.rating.win_rates import WinRates, win_rates_of

Support = tuple[Integers, Integers]
"""Number of battles and of instructions of each player, or fewest of two neighbours."""
Verdict = Literal["significantly different", "cannot be distinguished", "not comparable"]


@dataclass(frozen=True)
class Difference:
    """Two models that follow each other in the ranking.

    Attributes:
        better: The one rated higher.
        other: The one below it.
        estimate: Bradley-Terry rating of the better less that of the other, at least 0.
        verdict: `significantly different` if the lower bound over resamples lies above 0, `cannot be distinguished`
            if not, `not comparable` if no chain of wins and ties leads from either to the other. Where all votes
            agree, so that the resamples do, the difference is significant, though no interval is reported. Each verdict
            has the level for itself; that all hold together is less sure.
    """

    better: str
    other: str
    estimate: Estimate
    verdict: Verdict


@dataclass(frozen=True)
class Ranking:
    """Models from the best to the worst by Bradley-Terry, with what was done to find out.

    Sequences are in the order of `players`. Intervals are percentiles over resamples of instructions; where
    `reported_bounds` allows none (few instructions, no spread), their bounds are NaN.

    Attributes:
        players: Names of the models, the highest rated first.
        bradley_terry: Bradley-Terry ratings of all battles: the headline.
        ranks: Ranks by them.
        differences: Differences of neighbours, P - 1.
        elo: Mean Elo rating over resamples, as in the MAD paper, with its interval.
        elo_shuffled: Mean Elo rating over random orders of all battles, as in the paper's reference code. Its bounds
            say how much the order matters and are no confidence interval.
        win_rates: Results by pair, rows and columns in the order of `players`.
        connectivity: Which models the battles can compare.
        battles: Number of battles.
        ties: Number of ties.
        clusters: Number of instructions.
        rounds: Number of resamples, and of orders.
        level: Confidence level.
        seed: Seed of resamples and orders.
        prior: Ties with an average model that were added to each for Bradley-Terry.
        k: Step of Elo.
        scale: Points that are odds of ten to one.
        start: Start of Elo, and mean of the ratings.
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
    prior: float
    k: float
    scale: float
    start: float
    draws: Floats = field(repr=False, compare=False)


def rank(
    battles: Battles,
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    prior: float = PRIOR,
    k: float = K,
    scale: float = SCALE,
    start: float = START,
    progress: Progress = no_progress,
) -> Ranking:
    """Rank models by their battles.

    Args:
        battles: The battles, at least one.
        rounds: Number of resamples, and of orders for `elo_shuffled`.
        level: Confidence level of all intervals.
        seed: Seed of resamples and orders.
        prior: Ties with an average model that are added to each for Bradley-Terry, above 0.
        k: Step of Elo (MAD paper, Eq. 4).
        scale: Points that are odds of ten to one.
        start: Start of Elo, and mean of all ratings.
        progress: Takes the share of the work that was done since the last call; Elo is nearly all of it.

    Returns:
        The ranking; models with equal ratings in the order of the players.
    """
    given = fit_bradley_terry(battles, prior=prior, scale=scale, mean=start)
    order = np.argsort(-np.round(given, DIGITS), kind="stable")
    ordered = _reordered(battles, order)
    points = given[order]
    draws = bootstrap_bradley_terry(ordered, rounds=rounds, seed=seed, prior=prior, scale=scale, mean=start)
    n, clusters = support = _support(ordered)
    comparable = ordered_by_votes(ordered)
    elos = [
        fitted(
            ordered,
            rounds=rounds,
            seed=seed,
            k=k,
            scale=scale,
            start=start,
            progress=lambda share: progress(share / 2),
        )
        for fitted in (bootstrap_elo, shuffle_elo)
    ]
    elo, shuffled = (_estimates(found.mean(axis=0), found, n, clusters, level, seed) for found in elos)
    return Ranking(
        players=ordered.players,
        bradley_terry=_estimates(points, draws, n, clusters, level, seed),
        ranks=ranks_of(points, draws, clusters >= fewest_clusters(level), comparable, level),
        differences=_differences(ordered.players, points, draws, support, comparable, level, seed),
        elo=elo,
        elo_shuffled=shuffled,
        win_rates=win_rates_of(ordered),
        connectivity=connectivity_of(ordered),
        battles=len(battles),
        ties=battles.ties,
        clusters=len(np.unique(battles.clusters)),
        rounds=rounds,
        level=level,
        seed=seed,
        prior=prior,
        k=k,
        scale=scale,
        start=start,
        draws=draws,
    )


def _reordered(battles: Battles, order: Integers) -> Battles:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    players = tuple(battles.players[index] for index in order)
    return Battles(players, place[battles.first], place[battles.second], battles.outcome, battles.clusters)


def _support(battles: Battles) -> Support:
    """Number of battles and of instructions of each player."""
    both = np.concatenate([battles.first, battles.second])
    met = np.unique(np.stack([both, np.tile(battles.clusters, 2)]), axis=1)[0]
    players = len(battles.players)
    return np.bincount(both, minlength=players), np.bincount(met, minlength=players)


def _differences(
    players: Sequence[str],
    points: Floats,
    draws: Floats,
    support: Support,
    comparable: Flags,
    level: float,
    seed: int,
) -> tuple[Difference, ...]:
    n, clusters = (np.minimum(counts[1:], counts[:-1]) for counts in support)
    gaps = _gaps(draws)
    found = _estimates(_gaps(points), gaps, n, clusters, level, seed)
    significant = (percentile_bounds(gaps, level)[0] > 0) & (clusters >= fewest_clusters(level))
    return tuple(
        Difference(better, other, estimate, _verdict(bool(linked), bool(sure)))
        for (better, other), estimate, linked, sure in zip(
            pairwise(players), found, np.diag(comparable, 1), significant, strict=True
        )
    )


def _gaps(ratings: Floats) -> Floats:
    """Differences of neighbours, rounded because those of equal models are noise of the fit; no negative zero."""
    return np.asarray(np.round(-np.diff(ratings, axis=-1), DIGITS) + 0.0, dtype=np.float64)


def _estimates(
    values: Floats, draws: Floats, n: Integers, clusters: Integers, level: float, seed: int
) -> tuple[Estimate, ...]:
    found = estimates(values, draws, n=n, clusters=clusters, level=level, seed=seed)
    lows, highs = reported_bounds([one.low for one in found], [one.high for one in found], clusters, level=level)
    return tuple(
        replace(one, low=float(low), high=float(high)) for one, low, high in zip(found, lows, highs, strict=True)
    )


def _verdict(comparable: bool, significant: bool) -> Verdict:
    if not comparable:
        return "not comparable"
    return "significantly different" if significant else "cannot be distinguished"
