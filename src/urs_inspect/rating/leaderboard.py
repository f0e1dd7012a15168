"""How well a ranking agrees with a leaderboard."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from urs_inspect.errors import InputError, choices
from urs_inspect.rating.bootstrap import Estimate, Floats, estimates
from urs_inspect.rating.intervals import reported_bounds
from urs_inspect.rating.ranking import Ranking
from urs_inspect.rating.ranks import DIGITS


@dataclass(frozen=True)
class LeaderboardAgreement:
    """Rank correlations of Bradley-Terry ratings with a leaderboard, over the models of both.

    Intervals are over resamples of the votes, NaN where `reported_bounds` allows none; the leaderboard counts as
    exact.

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
            f"the leaderboard shares {len(players)} models with the votes, at least 2 are needed; the leaderboard has: "
            f"{choices(leaderboard)}; the votes have: {choices(ranking.players)}"
        )
    ratings = np.array([leaderboard[name] for name in players], dtype=np.float64)
    points = np.array([[ranking.bradley_terry[place].value for place in shared]])
    n, clusters = [ranking.battles] * 2, [ranking.clusters] * 2
    found = estimates(
        _correlations(points, ratings)[0],
        _correlations(ranking.draws[:, shared], ratings),
        n=n,
        clusters=clusters,
        level=ranking.level,
        seed=ranking.seed,
    )
    lows, highs = reported_bounds(
        [one.low for one in found], [one.high for one in found], clusters, level=ranking.level, scale=(-1, 1)
    )
    spearman, kendall = (
        replace(one, low=float(low), high=float(high)) for one, low, high in zip(found, lows, highs, strict=True)
    )
    return LeaderboardAgreement(
        spearman,
        kendall,
        players,
        tuple(name for name in ranking.players if name not in leaderboard),
        tuple(name for name in leaderboard if name not in ranking.players),
    )


def _correlations(rows: Floats, ratings: Floats) -> Floats:
    """Spearman's rho and Kendall's tau-b of each row with the ratings, shape (R, 2)."""
    from scipy.stats import rankdata

    rounded = np.round(rows, DIGITS)
    ranks, other = rankdata(rounded, axis=1), rankdata(ratings)
    upper = np.triu_indices(len(ratings), 1)
    signs = np.sign(rounded[:, upper[0]] - rounded[:, upper[1]])
    return np.stack(
        [
            _cosine(ranks - ranks.mean(axis=1, keepdims=True), other - other.mean()),
            _cosine(signs, np.sign(ratings[upper[0]] - ratings[upper[1]])),
        ],
        axis=1,
    )


def _cosine(rows: Floats, vector: Floats) -> Floats:
    below = np.sqrt((rows**2).sum(axis=1) * (vector**2).sum())
    shares = np.divide(rows @ vector, below, out=np.full(len(rows), np.nan), where=below > 0)
    return np.asarray(shares, dtype=np.float64)
