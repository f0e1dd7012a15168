"""Bradley-Terry ratings by people's votes on some ballots, corrected by a judge's verdicts on all of them.

Prediction-powered inference (Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference", 2023,
section 2) for the logistic loss, stratified by pair of models. Votes enter this loss only through the share of wins of
each pair, so that the people's share of a pair becomes

    people + lambda * (judge, all ballots of the pair - judge, those ballots of the pair that people voted on).

The term in brackets has mean zero whatever the judge prefers, if within each pair the ballots that people voted on are
as good as drawn at random. How many votes a pair gets does not matter, and may depend on outcomes. The term removes the
part of the people's luck with ballots that the judge shares. Lambda is power-tuned: the slope of votes on verdicts
within pairs, cut to 0 to 1. For a judge that has nothing in common with people it is about 0, which gives the ratings
by people alone.
"""

import math
from dataclasses import dataclass

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.stats.battles import Battles
from urs_inspect.stats.bootstrap import LEVEL, SEED, Flags, Floats, Integers, influence_draws
from urs_inspect.stats.bradley_terry import PRIOR, StyledBattles, fit_bradley_terry
from urs_inspect.stats.elo import ROUNDS, SCALE, START
from urs_inspect.stats.ranking import Places, place

FEWEST_VOTES = 10
"""Fewest ballots with both votes and a verdict: fewer cannot show how far the judge agrees with people."""


@dataclass(frozen=True)
class JudgedBallots:
    """Ballots with what people and a judge said about them; arrays as in `Battles`, NaN where there is no outcome."""

    players: tuple[str, ...]
    first: Integers
    second: Integers
    clusters: Integers
    people: Floats
    judge: Floats

    def battles(self, outcomes: Floats) -> Battles:
        """The ballots with an outcome as battles."""
        known = ~np.isnan(outcomes)
        first, second, clusters = self.first[known], self.second[known], self.clusters[known]
        return Battles(self.players, first, second, outcomes[known], clusters)


@dataclass(frozen=True)
class CorrectedRanking:
    """Models from the best to the worst by people's votes and a judge; intervals by `influence_draws`."""

    places: Places  # corrected ratings; `extra`: less the ratings by people alone
    judge: tuple[float, ...]  # ratings by the judge's verdicts alone, in the same order
    weight: float  # lambda, 0 to 1
    votes: int  # ballots with votes
    verdicts: int  # ballots with a verdict
    both: int  # ballots with both
    agreement: float  # share of the ballots with both on which people and judge chose the same
    worth: float  # number of votes that would have the mean variance of the corrected ratings without the judge
    level: float
    rounds: int
    seed: int


def rank_corrected(
    ballots: JudgedBallots,
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    prior: float = PRIOR,
    scale: float = SCALE,
    mean: float = START,
) -> CorrectedRanking:
    """Rank models by people's votes, corrected by a judge's verdicts.

    Args:
        ballots: Ballots with votes, verdicts, both or neither.
        rounds: Number of resamples.
        level: Confidence level of all intervals.
        seed: Seed of the resamples.
        prior: Ties with an average model that are added to each, above 0.
        scale: Points that are odds of ten to one.
        mean: Mean of the ratings.

    Returns:
        The ranking; models with equal ratings in the order of the players.

    Raises:
        InputError: If fewer than `FEWEST_VOTES` ballots have both votes and a verdict.
    """
    voted, judged = ~np.isnan(ballots.people), ~np.isnan(ballots.judge)
    both = voted & judged
    if both.sum() < FEWEST_VOTES:
        raise InputError(
            f"a correction by a judge needs at least {FEWEST_VOTES} ballots with people's votes and a verdict, got "
            f"{both.sum()}: {voted.sum()} have votes, {judged.sum()} a verdict"
        )
    tuned, excess, share = _control(ballots, voted, judged)
    # Less where a model would be infinitely strong by shares outside 0 to 1; votes alone always have a finite fit.
    for weight in (tuned, tuned / 2, tuned / 4, 0.0):
        values, influences = _fit(ballots, voted, weight * excess, weight * share * excess, prior)
        if not np.isnan(values).any():
            break
    alone, without = _fit(ballots, voted, np.zeros(len(excess)), np.zeros(len(excess)), prior)
    joint = np.concatenate([values, alone])
    draws = np.vstack([joint, influence_draws(joint, np.hstack([influences, without]), rounds, seed)])
    corrected, before = (
        scale / math.log(10) * (part - part.mean(axis=1, keepdims=True)) for part in np.hsplit(draws, 2)
    )
    places = place(ballots.battles(ballots.people), mean + corrected, corrected - before, level, seed)
    by_judge = fit_bradley_terry(ballots.battles(ballots.judge), prior=prior, scale=scale, mean=mean)
    return CorrectedRanking(
        places,
        judge=tuple(float(by_judge[ballots.players.index(name)]) for name in places.players),
        weight=weight,
        votes=int(voted.sum()),
        verdicts=int(judged.sum()),
        both=int(both.sum()),
        agreement=float((ballots.people[both] == ballots.judge[both]).mean()),
        worth=float(voted.sum() * _variance(without) / _variance(influences)),
        level=level,
        rounds=rounds,
        seed=seed,
    )


def _control(ballots: JudgedBallots, voted: Flags, judged: Flags) -> tuple[float, Floats, Floats]:
    """Lambda, what each verdict is above the mean of its pair, and the share of the pair's verdicts with votes.

    The latter have shape (N,), 0 for a ballot without a verdict. Covariance and variance within a pair are unbiased
    with few votes; pairs without further verdicts do not count.
    """
    turned = ballots.first > ballots.second
    low, high = np.minimum(ballots.first, ballots.second), np.maximum(ballots.first, ballots.second)
    pair = np.unique(low * len(ballots.players) + high, return_inverse=True)[1]
    vote, verdict = (np.nan_to_num(np.where(turned, 1 - side, side)) for side in (ballots.people, ballots.judge))

    def total(values: Floats | Flags) -> Floats:
        return np.asarray(np.bincount(pair, values), dtype=np.float64)

    both = voted & judged
    seen, verdicts = total(both), total(judged)
    size = np.maximum(seen, 1)
    freedom = np.where((seen > 1) & (verdicts > seen), size / np.maximum(size - 1, 1), 0)
    covariance = freedom @ (total(both * vote * verdict) - total(both * vote) * total(both * verdict) / size)
    variance = freedom @ (total(both * verdict**2) - total(both * verdict) ** 2 / size)
    weight = float(np.clip(covariance / variance, 0, 1)) if variance > 1e-9 else 0.0
    excess = judged * (verdict - (total(verdict) / np.maximum(verdicts, 1))[pair])
    return weight, np.where(turned, -excess, excess), (seen / np.maximum(verdicts, 1))[pair]


def _fit(ballots: JudgedBallots, voted: Flags, known: Floats, shared: Floats, prior: float) -> tuple[Floats, Floats]:
    """Strengths, shape (P,), and by how much each instruction moves them, shape (C, P).

    They are fitted to the votes less what is `known` of each; `shared` is what a ballot adds to the mean of its pair.
    """
    clusters = np.unique(ballots.clusters, return_inverse=True)[1]
    size = len(ballots.first)
    rows = StyledBattles(
        ballots.first, ballots.second, clusters, np.zeros((size, 0)), np.zeros(size), len(ballots.players)
    )
    values, inverse, scores = rows.fit(np.where(voted, ballots.people, 0) - known, voted.astype(np.float64), prior)
    return values, rows.influences(scores + shared, inverse)


def _variance(influences: Floats) -> float:
    """Mean variance of the strengths, of which only differences are known."""
    centred = influences - influences.mean(axis=1, keepdims=True)
    return float(centred.var(axis=0).mean())
