"""A judge's ratings as a prior for people's votes, weighed by its evidence after every vote.

Two hypotheses about the strengths that people's votes follow (in natural units, of mean 0): they
are the judge's, up to a shift of each model, N(strengths of the judge, `SHIFT`^2 I + their
covariance); or the judge says nothing about them, N(0, `SPREAD`^2 I). Each is updated by the votes
(Bradley-Terry, a tie being half a win of each), and weighs as much as its Laplace evidence says
(MacKay, "Information Theory, Inference, and Learning Algorithms", 2003, chapter 27). What a judge
gains, and what a bad one costs: docs/appendix/sample_efficiency.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from logging import getLogger
from typing import Any, NamedTuple, Self

import numpy as np

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy._allocation import (
    Belief,
    Posterior,
    curvature_of,
    dispersion_of,
    laplace,
)
from urs_inspect.stats._battles import Battles, connectivity_of
from urs_inspect.stats._bootstrap import (
    LEVEL,
    SEED,
    Estimate,
    Floats,
    Integers,
    Resampling,
    estimates,
    percentile_bounds,
)
from urs_inspect.stats._bradley_terry import PairCounts, logistic, on_scale, pair_counts
from urs_inspect.stats._ranking import Rank

logger = getLogger(__name__)

MASS = 0.5
"""Probability, before the first vote, that people see the models as the judge does."""
SHIFT = 0.7
"""Standard deviation of the shift of a model between the judge and people, in natural units (120
Elo points).
"""
SPREAD = 1.4
"""Standard deviation of strengths of which nothing is known (240 Elo points)."""
FEWEST = 3
"""Fewest models: of two there is one difference, and nothing else could show whether the judge is
right about it.
"""

_EARLY = 8
"""Votes per model up to which the judge has its whole weight in the choice of the next pair."""
_LATE = 0.1
"""Probability in place of `MASS` in this choice after these votes: a good judge has saved what it
can by then; a bad one must not go on to mislead.
"""
_SWITCH = 0.2
"""Weight below which the judge has no say in this choice."""
_LONGEST_STEP = 1.0
_TOLERANCE = 1e-7
_MOST_STEPS = 100


def judges_among(judges: Sequence[str], models: Sequence[str]) -> list[str]:
    """A sentence about each judge that is one of the models."""
    return [
        f"{name} is judge and contestant: judges may favour their own answers."
        for name in judges
        if name in models
    ]


class NormalFit(NamedTuple):
    """Bradley-Terry strengths with a normal prior."""

    strengths: Floats  # the most likely ones, shape (P,)
    covariance: Floats  # by Laplace's approximation, shape (P, P)
    evidence: float  # by the same, the log probability of the battles


def fit_normal(counts: PairCounts, mean: Floats, covariance: Floats) -> NormalFit:
    """Bradley-Terry strengths with a normal prior, by Newton's method.

    Without battles they are the prior.
    """
    i = counts.first
    j = counts.second
    wins = counts.wins[0]
    met = counts.battles[0]
    precision = np.linalg.inv(covariance)
    strengths = mean
    size = len(mean)
    for _ in range(_MOST_STEPS):
        curvature = precision + curvature_of(counts, strengths)
        excess = wins - met * logistic(strengths[i] - strengths[j])
        of_first = np.bincount(i, excess, size)
        of_second = np.bincount(j, excess, size)
        of_battles = of_first - of_second
        gradient = of_battles - precision @ (strengths - mean)
        step = np.linalg.solve(curvature, gradient)
        reach = np.abs(step).max()
        if reach < _TOLERANCE:
            break
        strengths = strengths + step / max(1.0, reach / _LONGEST_STEP)
    shift = strengths - mean
    gaps = strengths[i] - strengths[j]
    of_wins = wins * np.logaddexp(0, -gaps)
    of_losses = (met - wins) * np.logaddexp(0, gaps)
    likelihood = -(of_wins + of_losses).sum()
    _, log_prior = np.linalg.slogdet(precision)
    _, log_posterior = np.linalg.slogdet(curvature)
    logs = log_prior - log_posterior
    evidence = likelihood + 0.5 * (logs - shift @ precision @ shift)
    return NormalFit(
        strengths=strengths,
        covariance=np.asarray(np.linalg.inv(curvature), dtype=np.float64),
        evidence=float(evidence),
    )


@dataclass(frozen=True)
class WeighedPosterior(Posterior):
    """What votes and a judge say about strengths: two accounts, weighed by their evidence.

    `strengths` and `covariance` serve the choice of the next pair: weighted means of both accounts,
    with less weight of the judge than is believed, and without the distance between the accounts;
    with that, votes would be spent on finding out which account is right, and not on the order.
    Everything else is what is believed: `weight` is the probability that people see the models as
    the judge does, up to shifts.
    """

    accounts: tuple[Posterior, ...] = ()  # strengths if they do, and if the judge says nothing

    @property
    def expected(self) -> Floats:
        """Expected strengths over both accounts, in natural units, shape (P,); what to rank by."""
        judged, alone = self.accounts
        return self.weight * judged.strengths + (1 - self.weight) * alone.strengths

    def chance(self, pairs: Integers) -> Floats:
        """How probable it is, over both accounts, that the first of each pair is the stronger one.

        Shape (Q,).
        """
        judged, alone = self.accounts
        if_judged = judged.chance(pairs)
        if_alone = alone.chance(pairs)
        return self.weight * if_judged + (1 - self.weight) * if_alone


@dataclass(frozen=True)
class JudgePrior:
    """A judge's Bradley-Terry strengths of three models or more."""

    players: tuple[str, ...]  # names of the models
    strengths: Floats  # in natural units, of mean 0, shape (P,)
    covariance: Floats  # of these strengths, from the judge's own number of verdicts, shape (P, P)
    judges: tuple[str, ...] = ()  # names of the judges; several are a panel
    verdicts: int = 0  # how many it rests on
    unread: int = 0  # how many could not be parsed, which do not count

    def __post_init__(self) -> None:
        """Refuse fewer than `FEWEST` models."""
        if len(self.players) < FEWEST:
            raise InputError(
                f"prior: {len(self.players)} models to compare ({choices(self.players)}); at least"
                f" {FEWEST} are needed, since nothing else could show whether the judge is right"
                " about the one difference of two"
            )

    @classmethod
    def of(cls, battles: Battles, judges: Sequence[str] = (), unread: int = 0) -> Self:
        """The prior that verdicts give.

        `InputError` if they do not link all models, or if those are too few.
        """
        linked = connectivity_of(battles).linked
        if len(linked) > 1:
            groups = "; ".join(f"({', '.join(group)})" for group in linked)
            raise InputError(
                f"prior: no chain of the judge's verdicts links the models of {groups}"
            )
        fit = laplace(battles, prior=1.0)
        models = len(battles.players)
        centre = np.eye(models) - 1 / models
        return cls(
            players=battles.players,
            strengths=fit.strengths - fit.strengths.mean(),  # equal strengths stay equal
            covariance=centre @ fit.covariance @ centre,
            judges=tuple(judges),
            verdicts=len(battles),
            unread=unread,
        )

    @property
    def ratings(self) -> Floats:
        """The judge's ratings on the Elo scale, of mean 1000, shape (P,)."""
        return on_scale(self.strengths)

    def among(self, models: Sequence[str]) -> "JudgePrior":
        """The prior for some of its models, in this order.

        `InputError` if it lacks one, or if they are too few.
        """
        if missing := [name for name in models if name not in self.players]:
            raise InputError(
                f"prior: the judge has no verdict about {choices(missing)}; it compares:"
                f" {choices(self.players)}"
            )
        places = [self.players.index(name) for name in models]
        strengths = self.strengths[places]
        covariance = self.covariance[np.ix_(places, places)]
        return replace(
            self,
            players=tuple(models),
            strengths=strengths - strengths.mean(),
            covariance=covariance,
        )

    def check(self, models: Sequence[str]) -> None:
        """Refuse models that the judge has not compared, or too few.

        Say which models it knows besides.
        """
        known = self.among(models).players
        others = [name for name in self.players if name not in known]
        if others:
            logger.warning(
                f"prior: {choices(others)} takes no part here; the judge's verdicts about it still"
                " count"
            )

    def remarks(self, models: Sequence[str]) -> list[str]:
        """A sentence about each judge that is one of the models."""
        return judges_among(self.judges, models)

    def belief_about(self, models: Sequence[str]) -> Belief:
        """What to believe of some of its models after some votes, for `Allocator`."""
        return self.among(models).belief

    def belief(self, battles: Battles) -> WeighedPosterior:
        """What to believe after some votes.

        Its players are those of the prior, in this order.
        """
        if battles.players != self.players:
            raise ValueError(
                f"votes about {choices(battles.players)}, a prior about {choices(self.players)}"
            )
        counts = pair_counts(battles)
        models = len(self.players)
        identity = np.eye(models)
        shifted = self.covariance + SHIFT**2 * identity
        judged = fit_normal(counts, self.strengths, shifted)
        alone = fit_normal(counts, np.zeros(models), SPREAD**2 * identity)
        dispersion = dispersion_of(battles, alone.strengths)
        is_early = len(battles) < _EARLY * models
        mass = np.array([MASS, MASS if is_early else _LATE])
        prior_odds = np.log(mass / (1 - mass))
        odds = judged.evidence - alone.evidence + prior_odds
        weight, share = logistic(odds).tolist()
        if share < _SWITCH:
            share = 0.0
        accounts = tuple(
            Posterior(fit.strengths, fit.covariance * dispersion, dispersion)
            for fit in (judged, alone)
        )
        covariance = share * judged.covariance + (1 - share) * alone.covariance
        return WeighedPosterior(
            strengths=share * judged.strengths + (1 - share) * alone.strengths,
            covariance=covariance * dispersion,
            dispersion=dispersion,
            weight=weight,
            accounts=accounts,
        )

    def to_dict(self) -> dict[str, Any]:
        """The prior as a JSON object."""
        strengths = np.round(self.strengths, 6).tolist()
        return {
            "models": dict(zip(self.players, strengths, strict=True)),
            "covariance": np.round(self.covariance, 8).tolist(),
            "judges": list(self.judges),
            "verdicts": self.verdicts,
            "unread": self.unread,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned."""
        models = values["models"]
        return cls(
            players=tuple(models),
            strengths=np.array(list(models.values()), dtype=np.float64),
            covariance=np.array(values["covariance"], dtype=np.float64),
            judges=tuple(values["judges"]),
            verdicts=values["verdicts"],
            unread=values["unread"],
        )


@dataclass(frozen=True)
class WeighedRanking:
    """Models from the best to the worst, after people's votes with a judge's prior.

    They are ordered by expected strength.

    Intervals are credible intervals: shares of the posterior, by draws. They hold as often as they
    say where people's strengths are as one of the two hypotheses says.
    """

    players: tuple[str, ...]  # names of the models, the best first, as in all that follows
    ratings: tuple[Estimate, ...]  # expected ratings on the Elo scale, of mean 1000
    ranks: tuple[Rank, ...]
    certainty: tuple[float, ...]  # probability that each model is better than the next one, P - 1
    weight: float  # probability that people see the models as the judge does, up to shifts
    level: float  # probability of an interval
    rounds: int  # number of draws


def rank_with_prior(
    battles: Battles,
    prior: JudgePrior,
    *,
    rounds: int = 10_000,
    level: float = LEVEL,
    seed: int = SEED,
) -> WeighedRanking:
    """Rank models by people's votes, with a judge's ratings as a prior.

    The prior is about the same players, in the same order.
    """
    belief = prior.belief(battles)
    order = belief.order()
    draws = np.random.default_rng([seed, 27])
    judged = draws.random(rounds) < belief.weight
    strengths = np.empty((rounds, len(order)))
    parts = (judged, ~judged)
    for rows, account in zip(parts, belief.accounts, strict=True):
        number = int(rows.sum())
        drawn = draws.multivariate_normal(account.strengths, account.covariance, number)
        strengths[rows] = drawn
    ratings = on_scale(strengths)[:, order]
    places = (-ratings).argsort(axis=1).argsort(axis=1)
    best, worst = percentile_bounds(1 + places, level)
    bounds = enumerate(zip(best, worst, strict=True), start=1)
    ranks = []
    for rank, (low, high) in bounds:
        low_rank = math.floor(low)
        high_rank = math.ceil(high)
        ranks.append(Rank(rank, low_rank, high_rank))
    votes = [len(battles)] * len(order)
    how = Resampling(rounds, level, seed)
    expected = on_scale(belief.expected)[order]
    rated = estimates(expected, ratings, votes, votes, how, expanded=False)
    neighbours = np.column_stack([order[:-1], order[1:]])
    return WeighedRanking(
        players=tuple(prior.players[place] for place in order),
        ratings=rated,
        ranks=tuple(ranks),
        certainty=tuple(belief.certainty(neighbours).tolist()),
        weight=belief.weight,
        level=level,
        rounds=rounds,
    )
