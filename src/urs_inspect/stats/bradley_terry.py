"""Bradley-Terry ratings: the strengths under which the outcomes are most likely, in any order.

The chance that model i is better than j is 1 / (1 + exp(s_j - s_i)) (Bradley and Terry, "Rank Analysis of Incomplete
Block Designs", 1952); a tie counts as half a win of each. Ratings are strengths on the Elo scale: 400 points are odds
of ten to one, and the mean is 1000.

Without a prior, a model that never lost would be rated infinitely high. So each model is given `prior` ties with a
model of average strength: by default one, half a win and half a loss, the weight of Jeffreys' prior for a share. Its
pull is that of one vote among those of the model, and fades as they grow in number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from urs_inspect.stats.battles import Battles
from urs_inspect.stats.bootstrap import SEED, Floats, Integers, resample
from urs_inspect.stats.elo import ROUNDS, SCALE, START

PRIOR = 1.0
"""Ties with a model of average strength that are added to the votes of each model."""

_BLOCK = 1 << 22
"""Most numbers of all rounds' matrices that are held at a time, 32 MB."""
_TOLERANCE = 1e-9
_MOST_STEPS = 200
_SETTLED = 1e-6
"""Largest step after which a fit that went on for all steps has converged nevertheless."""


@dataclass(frozen=True)
class PairCounts:
    """Battles summed by pair of models, in R rounds; all that a Bradley-Terry fit needs."""

    first: Integers  # index of one model of each pair that met, shape (Q,)
    second: Integers  # index of the other, larger
    wins: Floats  # of the first over the second, ties as half, shape (R, Q)
    battles: Floats  # shape (R, Q)


def fit_bradley_terry(battles: Battles, *, prior: float = PRIOR, scale: float = SCALE, mean: float = START) -> Floats:
    """Bradley-Terry ratings of the players.

    Args:
        battles: The battles, in any order; there may be none.
        prior: Ties of each model with an average one that are added, above 0.
        scale: Points that are odds of ten to one.
        mean: Mean of the ratings.

    Returns:
        Ratings in the order of the players, shape (P,). Between models that no chain of battles links they mean
        nothing; see `connectivity_of`.

    Raises:
        ValueError: If `prior` is not above 0.
    """
    strengths = fit_counts(pair_counts(battles), len(battles.players), prior)
    [ratings] = _on_scale(strengths, scale, mean)
    return np.asarray(ratings, dtype=np.float64)


def bootstrap_bradley_terry(
    battles: Battles,
    *,
    rounds: int = ROUNDS,
    seed: int = SEED,
    prior: float = PRIOR,
    scale: float = SCALE,
    mean: float = START,
) -> Floats:
    """`fit_bradley_terry` of resamples of as many instructions as there are, with replacement; shape (R, P)."""
    blocks = _resampled(battles, rounds, seed)
    strengths = np.concatenate([fit_counts(counts, len(battles.players), prior) for counts in blocks])
    return _on_scale(strengths, scale, mean)


def pair_counts(battles: Battles) -> PairCounts:
    """Sum battles by pair; one round."""
    first, second, pair, wins = _pairs(battles)
    won, met = (
        np.asarray(np.bincount(pair, values, len(first)), dtype=np.float64)[None, :]
        for values in (wins, np.ones(len(battles)))
    )
    return PairCounts(first, second, won, met)


def fit_counts(counts: PairCounts, players: int, prior: float = PRIOR) -> Floats:
    """Most likely strengths in natural units (their difference is the log odds), for all rounds at once, shape (R, P).

    Newton's method, its steps shortened to log(1 + d) / d where d is the largest difference by which a step would move
    two models apart: with that the likelihood never falls (Sun and Tran-Dinh, "Generalized Self-Concordant Functions",
    2019), even where one model never lost. `prior` is the number of ties with strength 0 that each model gets.
    """
    if not prior > 0:
        raise ValueError(f"prior must be above 0, got {prior}")
    size = max(1, _BLOCK // max(1, players * players))
    return np.concatenate(
        [
            _fit(counts, counts.wins[rows], counts.battles[rows], players, prior)
            for start in range(0, len(counts.wins), size)
            for rows in [slice(start, start + size)]
        ]
    )


def _fit(counts: PairCounts, wins: Floats, battles: Floats, players: int, prior: float) -> Floats:
    i, j = counts.first, counts.second
    strengths = np.zeros((len(wins), players))
    diagonal = np.arange(players)
    for _ in range(_MOST_STEPS):
        chance = logistic(strengths[:, i] - strengths[:, j])
        alone = logistic(strengths)
        excess = np.zeros((len(wins), players, players))
        excess[:, i, j] = wins - battles * chance
        excess[:, j, i] = -excess[:, i, j]
        gradient = excess.sum(axis=2) + prior * (0.5 - alone)
        curvature = np.zeros_like(excess)
        curvature[:, i, j] = curvature[:, j, i] = -battles * chance * (1 - chance)
        curvature[:, diagonal, diagonal] = prior * alone * (1 - alone) - curvature.sum(axis=2)
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        reach = np.maximum(step.max(axis=1, initial=0), 0) - np.minimum(step.min(axis=1, initial=0), 0)
        strengths += step * (np.log1p(reach) / np.maximum(reach, 1e-300))[:, None]
        if reach.max(initial=0) < _TOLERANCE:
            break
    return strengths


@dataclass(frozen=True)
class StyledBattles:
    """Rows of a logistic regression on two models and K covariates.

    Attributes:
        first: Index of the first model of each row, shape (N,).
        second: Index of the second model, shape (N,).
        clusters: Number of the instruction, from 0 without gaps, shape (N,).
        covariates: Differences of the covariates, first less second, shape (N, K).
        offset: Log odds that are known beforehand, shape (N,).
        players: Number of models, P.
    """

    first: Integers
    second: Integers
    clusters: Integers
    covariates: Floats
    offset: Floats
    players: int

    def fit(self, outcome: Floats, weights: Floats, prior: float = PRIOR) -> tuple[Floats, Floats, Floats]:
        """Most likely strengths and coefficients, in natural units, by Newton's method as in `fit_counts`.

        Args:
            outcome: Outcome for the first model; may lie outside 0 to 1, shape (N,).
            weights: How often each row counts, shape (N,).
            prior: Ties with strength 0 that each model gets, and the same for each coefficient.

        Returns:
            The values, shape (P + K,), NaN if there are none; the inverse of the information; and the score of each row
            for `influences`, shape (N,): its residual divided by 1 - leverage, as in the HC3 sandwich (MacKinnon and
            White, 1985). Without that, intervals of 60 votes are too narrow.
        """
        models, players = self._models(), self.players
        values: Floats = np.zeros(players + self.covariates.shape[1])
        for _ in range(_MOST_STEPS):
            chance = logistic(models @ values[:players] + self.covariates @ values[players:] + self.offset)
            alone, spread = logistic(values), weights * chance * (1 - chance)
            excess = weights * (outcome - chance)
            styled: Floats = self.covariates * spread[:, None]
            cross: Floats = np.asarray(models.T @ styled)
            within = np.asarray((models.T @ models.multiply(spread[:, None])).toarray())
            information = np.block([[within, cross], [cross.T, np.asarray(self.covariates.T @ styled)]])
            information += np.diag(prior * alone * (1 - alone))
            gradient = np.concatenate([models.T @ excess, self.covariates.T @ excess]) + prior * (0.5 - alone)
            try:
                step = np.linalg.solve(information, gradient)
            except np.linalg.LinAlgError:
                reach = np.inf
                break
            moved = np.abs(models @ step[:players] + self.covariates @ step[players:])
            reach = float(max(moved.max(initial=0), np.abs(step).max()))
            values = values + step * (np.log1p(reach) / max(reach, 1e-300))
            if reach < _TOLERANCE:
                break
        if not reach < _SETTLED:
            return np.full_like(values, np.nan), information, excess
        inverse = np.linalg.inv(information)
        i, j = self.first, self.second
        leverage = inverse[i, i] + inverse[j, j] - 2 * inverse[i, j]
        leverage += 2 * (self.covariates * (inverse[i, players:] - inverse[j, players:])).sum(axis=1)
        leverage += ((self.covariates @ inverse[players:, players:]) * self.covariates).sum(axis=1)
        return values, inverse, excess / (1 - spread * leverage)

    def influences(self, scores: Floats, inverse: Floats) -> Floats:
        """By how much each cluster moves the values of a fit, shape (C, P + K)."""
        from scipy.sparse import csr_array

        shape = int(self.clusters.max()) + 1, len(scores)
        summed = csr_array((scores, (self.clusters, np.arange(len(scores)))), shape)
        return np.hstack([(summed @ self._models()).toarray(), np.asarray(summed @ self.covariates)]) @ inverse

    def _models(self) -> Any:
        """1 for the first and -1 for the second model of each row, shape (N, P)."""
        from scipy.sparse import csr_array

        rows = np.arange(len(self.first))
        places = np.tile(rows, 2), np.concatenate([self.first, self.second])
        return csr_array((np.repeat([1.0, -1.0], len(rows)), places), (len(rows), self.players))


def _pairs(battles: Battles) -> tuple[Integers, Integers, Integers, Floats]:
    """Both models of each pair that met (Q,), the pair of each battle and the win of its first model (N,)."""
    low, high = np.minimum(battles.first, battles.second), np.maximum(battles.first, battles.second)
    codes, pair = np.unique(low * len(battles.players) + high, return_inverse=True)
    wins = np.where(battles.first == low, battles.outcome, 1 - battles.outcome)
    return *np.divmod(codes, max(1, len(battles.players))), pair.astype(np.int64), wins


def _resampled(battles: Battles, rounds: int, seed: int) -> Iterator[PairCounts]:
    from scipy.sparse import csr_array

    first, second, pair, wins = _pairs(battles)
    clusters = np.unique(battles.clusters, return_inverse=True)[1]
    shape = (len(first), int(clusters.max(initial=-1)) + 1)
    # Entries of the same pair and instruction are summed.
    won, met = (csr_array((values, (pair, clusters)), shape=shape) for values in (wins, np.ones(len(battles))))
    for weights in resample(shape[1], rounds, seed):
        drawn = np.ascontiguousarray(weights.T)
        yield PairCounts(first, second, np.asarray((won @ drawn).T), np.asarray((met @ drawn).T))


def logistic(values: Floats) -> Floats:
    """1 / (1 + exp(-x)), any shape."""
    return np.asarray(0.5 * (1 + np.tanh(values / 2)), dtype=np.float64)


def _on_scale(strengths: Floats, scale: float, mean: float) -> Floats:
    centred = strengths - strengths.mean(axis=1, keepdims=True)
    return np.asarray(mean + centred * scale / np.log(10), dtype=np.float64)
