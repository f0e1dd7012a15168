"""Bradley-Terry ratings: the strengths under which the outcomes are most likely, in any order.

The chance that model i is better than j is 1 / (1 + exp(s_j - s_i)) (Bradley and Terry, "Rank
Analysis of Incomplete Block Designs", 1952); a tie counts as half a win of each. Ratings are
strengths on the Elo scale: 400 points are odds of ten to one, and the mean is 1000.

Without a prior, a model that never lost would be rated infinitely high. So each model is given
`prior` ties with a model of average strength: by default one, half a win and half a loss, the
weight of Jeffreys' prior for a share. Its pull is that of one vote among those of the model, and
fades as they grow in number.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from urs_inspect.stats._battles import Battles
from urs_inspect.stats._bootstrap import SEED, Floats, Integers, resample
from urs_inspect.stats._elo import ROUNDS, SCALE, START

PRIOR = 1.0
"""Ties with a model of average strength that are added to the votes of each model."""

_BLOCK = 1 << 22
"""Most numbers of all rounds' matrices that are held at a time, 32 MB."""
_TOLERANCE = 1e-9
_MOST_STEPS = 200


@dataclass(frozen=True)
class PairCounts:
    """Battles summed by pair of models, in R rounds; all that a Bradley-Terry fit needs."""

    first: Integers  # index of one model of each pair that met, shape (Q,)
    second: Integers  # index of the other, larger
    wins: Floats  # of the first over the second, ties as half, shape (R, Q)
    battles: Floats  # shape (R, Q)


def fit_bradley_terry(battles: Battles, *, prior: float = PRIOR) -> Floats:
    """Bradley-Terry ratings of the players.

    Source: Bradley and Terry, "Rank Analysis of Incomplete Block Designs", 1952; a tie counts as
    half a win of each.

    Args:
        battles: The battles, in any order; there may be none.
        prior: Ties of each model with an average one that are added, above 0.

    Returns:
        Ratings of mean 1000 in the order of the players, shape (P,). Between models that no chain
        of battles links they mean nothing; see `connectivity_of`.

    Raises:
        ValueError: If `prior` is not above 0.

    Examples:
        >>> from urs_inspect.stats import Battle, battles_of, fit_bradley_terry
        >>> won = [Battle("a", "b", 1.0, f"q{n}") for n in range(3)]
        >>> fought = [*won, Battle("a", "b", 0.0, "q3")]
        >>> fit_bradley_terry(battles_of(fought)).round(1).tolist()
        [1082.4, 917.6]
    """
    [strengths] = fit_counts(pair_counts(battles), len(battles.players), prior)
    return on_scale(strengths)


def bootstrap_bradley_terry(battles: Battles, rounds: int = ROUNDS, seed: int = SEED) -> Floats:
    """`fit_bradley_terry` of resamples of as many instructions as there are, with replacement.

    Shape (R, P).
    """
    players = len(battles.players)
    resampled = _resampled(battles, rounds, seed)
    blocks = [fit_counts(counts, players) for counts in resampled]
    return on_scale(np.concatenate(blocks))


def pair_counts(battles: Battles) -> PairCounts:
    """Sum battles by pair; one round."""
    first, second, pair, wins = _pairs(battles)
    number = len(first)
    won = np.bincount(pair, wins, number).astype(np.float64)
    met = np.bincount(pair, minlength=number).astype(np.float64)
    return PairCounts(first, second, wins=won[None, :], battles=met[None, :])


def fit_counts(counts: PairCounts, players: int, prior: float = PRIOR) -> Floats:
    """Most likely strengths for all rounds at once, shape (R, P).

    They are in natural units: their difference is the log odds.

    Newton's method, its steps shortened to log(1 + d) / d where d is the largest difference by
    which a step would move two models apart: with that the likelihood never falls (Sun and
    Tran-Dinh, "Generalized Self-Concordant Functions", 2019), even where one model never lost.
    `prior` is the number of ties with strength 0 that each model gets.
    """
    if not prior > 0:
        raise ValueError(f"prior must be above 0, got {prior}")
    size = max(1, _BLOCK // max(1, players * players))
    parts = []
    for start in range(0, len(counts.wins), size):
        rows = slice(start, start + size)
        wins = counts.wins[rows]
        battles = counts.battles[rows]
        block = replace(counts, wins=wins, battles=battles)
        parts.append(_fit(block, players, prior))
    return np.concatenate(parts)


def _fit(counts: PairCounts, players: int, prior: float) -> Floats:
    i = counts.first
    j = counts.second
    wins = counts.wins
    battles = counts.battles
    strengths = np.zeros((len(wins), players))
    diagonal = np.arange(players)
    for _ in range(_MOST_STEPS):
        chance = logistic(strengths[:, i] - strengths[:, j])
        alone = logistic(strengths)
        above = wins - battles * chance
        excess = np.zeros((len(wins), players, players))
        excess[:, i, j] = above
        excess[:, j, i] = -above
        gradient = excess.sum(axis=2) + prior * (0.5 - alone)
        curvature = np.zeros_like(excess)
        of_pairs = -battles * chance * (1 - chance)
        curvature[:, i, j] = of_pairs
        curvature[:, j, i] = of_pairs
        own = prior * alone * (1 - alone)
        curvature[:, diagonal, diagonal] = own - curvature.sum(axis=2)
        solved = np.linalg.solve(curvature, gradient[:, :, None])
        step = solved[:, :, 0]
        highest = step.max(axis=1, initial=0)
        lowest = step.min(axis=1, initial=0)
        reach = highest - lowest
        shortened = np.log1p(reach) / np.maximum(reach, 1e-300)
        strengths += step * shortened[:, None]
        if reach.max(initial=0) < _TOLERANCE:
            break
    return strengths


def _pairs(battles: Battles) -> tuple[Integers, Integers, Integers, Floats]:
    """Pairs that met, the pair of each battle, and the win of its first model.

    The shapes are (Q,) for both models of each pair, and (N,).
    """
    low, high, wins = battles.sides()
    players = max(1, len(battles.players))
    codes, pair = np.unique(low * players + high, return_inverse=True)
    first, second = np.divmod(codes, players)
    return first, second, pair.astype(np.int64), wins


def _resampled(battles: Battles, rounds: int, seed: int) -> Iterator[PairCounts]:
    from scipy.sparse import csr_array

    first, second, pair, wins = _pairs(battles)
    instructions, clusters = np.unique(battles.clusters, return_inverse=True)
    shape = (len(first), len(instructions))
    places = (pair, clusters)
    # Entries of the same pair and instruction are summed.
    won = csr_array((wins, places), shape=shape)
    ones = np.ones(len(battles))
    met = csr_array((ones, places), shape=shape)
    for weights in resample(len(instructions), rounds, seed):
        drawn = np.ascontiguousarray(weights.T)
        yield PairCounts(
            first=first,
            second=second,
            wins=np.asarray((won @ drawn).T),
            battles=np.asarray((met @ drawn).T),
        )


def logistic(values: Floats) -> Floats:
    """1 / (1 + exp(-x)), any shape."""
    chances = 0.5 * (1 + np.tanh(values / 2))
    return np.asarray(chances, dtype=np.float64)


def on_scale(strengths: Floats) -> Floats:
    """Strengths in natural units as ratings, of mean `START`, shape (..., P)."""
    centred = strengths - strengths.mean(axis=-1, keepdims=True)
    ratings = START + centred * SCALE / np.log(10)
    return np.asarray(ratings, dtype=np.float64)
