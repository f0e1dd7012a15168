"""A judge's ratings as a prior for people's votes, weighed by its evidence after every vote.

Two accounts of the strengths that people's votes follow (in natural units, of mean 0): they are the judge's, up to a
shift of each model, N(strengths of the judge, `SHIFT`^2 I + their covariance); or the judge says nothing about them,
N(0, `SPREAD`^2 I). Each account is updated by the votes (Bradley-Terry, a tie being half a win of each), and weighs as
much as its Laplace evidence says (MacKay, "Information Theory, Inference, and Learning Algorithms", 2003, chapter 27).
What a judge gains, and what a bad one costs: docs/sample_efficiency.md.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy.allocation import Posterior, dispersion_of, laplace
from urs_inspect.stats.battles import Battles, connectivity_of
from urs_inspect.stats.bootstrap import LEVEL, SEED, Estimate, Floats, Integers, percentile_bounds
from urs_inspect.stats.bradley_terry import PairCounts, pair_counts
from urs_inspect.stats.elo import SCALE, START
from urs_inspect.stats.ranking import Rank

MASS = 0.5
"""Probability, before the first vote, that people see the models as the judge does."""
SHIFT = 0.7
"""Standard deviation of the shift of a model between the judge and people, in natural units (120 Elo points)."""
SPREAD = 1.4
"""Standard deviation of strengths of which nothing is known (240 Elo points)."""
FEWEST = 3
"""Fewest models: of two there is one difference, and nothing else could show whether the judge is right about it."""

_EARLY = 8
"""Votes per model up to which the judge has its whole weight in the choice of the next pair."""
_LATE = 0.1
"""Probability in place of `MASS` in this choice after these votes: a good judge has saved what it can by then; a bad
one must not go on to mislead."""
_SWITCH = 0.2
"""Weight below which the judge has no say in this choice."""
_LONGEST_STEP = 1.0
_TOLERANCE = 1e-7
_MOST_STEPS = 100


@dataclass(frozen=True)
class Fit:
    """Strengths after some votes, as a normal distribution."""

    strengths: Floats  # most likely ones, in natural units, shape (P,)
    covariance: Floats  # inverse of the curvature of the log posterior there, shape (P, P)
    evidence: float  # Laplace approximation of the log probability of the votes


def fit_normal(counts: PairCounts, mean: Floats, covariance: Floats) -> Fit:
    """Bradley-Terry strengths with a normal prior, by Newton's method.

    Args:
        counts: Battles by pair, one round.
        mean: Mean of the prior, shape (P,).
        covariance: Its covariance, shape (P, P).

    Returns:
        The fit; without battles it is the prior, and the evidence 0.
    """
    i, j, wins, met = counts.first, counts.second, counts.wins[0], counts.battles[0]
    precision = np.linalg.inv(covariance)
    strengths, diagonal = mean.astype(np.float64), np.diag_indices(len(mean))
    for _ in range(_MOST_STEPS):
        chance = 0.5 * (1 + np.tanh((strengths[i] - strengths[j]) / 2))
        held = met * chance * (1 - chance)
        between = np.zeros_like(precision)
        between[i, j] = between[j, i] = held
        curvature = precision - between
        curvature[diagonal] += between.sum(axis=1)
        excess, size = wins - met * chance, len(mean)
        gradient = np.bincount(i, excess, size) - np.bincount(j, excess, size) - precision @ (strengths - mean)
        step = np.linalg.solve(curvature, gradient)
        reach = np.abs(step).max()
        if reach < _TOLERANCE:
            break
        strengths = strengths + step / max(1.0, reach / _LONGEST_STEP)
    shift = strengths - mean
    gaps = strengths[i] - strengths[j]
    likelihood = -(wins * np.logaddexp(0, -gaps) + (met - wins) * np.logaddexp(0, gaps)).sum()
    logs = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(curvature)[1]
    evidence = likelihood + 0.5 * (logs - shift @ precision @ shift)
    return Fit(strengths, np.asarray(np.linalg.inv(curvature), dtype=np.float64), float(evidence))


@dataclass(frozen=True)
class WeighedPosterior(Posterior):
    """What votes and a judge say about strengths: two accounts, weighed by their evidence.

    `strengths` and `covariance` serve the choice of the next pair: weighted means of both accounts, with less weight of
    the judge than is believed, and without the distance between the accounts; with that, votes would be spent on
    finding out which account is right, and not on the order. What is believed is in the other attributes.

    Attributes:
        weight: Probability that people see the models as the judge does, up to shifts.
        accounts: Strengths if they do, and if the judge says nothing.
    """

    weight: float = 0.0
    accounts: tuple[Posterior, ...] = ()

    @property
    def expected(self) -> Floats:
        """Expected strengths over both accounts, in natural units, shape (P,); what to rank by."""
        judged, alone = self.accounts
        return self.weight * judged.strengths + (1 - self.weight) * alone.strengths

    def order(self) -> Integers:
        """Players from the highest expected strength to the lowest; of equal ones the first comes first, shape (P,)."""
        return np.argsort(-self.expected, kind="stable").astype(np.int64)

    def certainty(self, pairs: Integers) -> Floats:
        """How probable the order by expected strength is for each pair, over both accounts; shape (Q, 2) -> (Q,)."""
        from scipy.special import ndtr

        first, second = self.expected[pairs.T]
        shares = []
        for account in self.accounts:
            gaps, deviations = account.gaps(pairs)
            shares.append(ndtr(np.where(first < second, -gaps, gaps) / np.maximum(deviations, 1e-300)))
        return np.asarray(self.weight * shares[0] + (1 - self.weight) * shares[1], dtype=np.float64)

    def draws(self, rounds: int, seed: int) -> Floats:
        """Strengths of mean 0, drawn from both accounts in proportion to their weights, shape (R, P)."""
        draws = np.random.default_rng([seed, 27])
        judged = draws.random(rounds) < self.weight
        rows = np.empty((rounds, len(self.strengths)))
        for chosen, account in zip((judged, ~judged), self.accounts, strict=True):
            rows[chosen] = draws.multivariate_normal(account.strengths, account.covariance, int(chosen.sum()))
        return np.asarray(rows - rows.mean(axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True)
class JudgePrior:
    """A judge's Bradley-Terry strengths of three models or more.

    Attributes:
        players: Names of the models.
        strengths: In natural units, of mean 0, shape (P,).
        covariance: Of these strengths, from the judge's own number of verdicts, shape (P, P).
        judges: Names of the judges; several are a panel.
        verdicts: How many verdicts it rests on.
        unread: How many could not be parsed, which do not count.
    """

    players: tuple[str, ...]
    strengths: Floats
    covariance: Floats
    judges: tuple[str, ...] = ()
    verdicts: int = 0
    unread: int = 0

    @classmethod
    def of(cls, battles: Battles, judges: Sequence[str] = (), unread: int = 0) -> Self:
        """The prior that a judge's verdicts give.

        Raises:
            InputError: If they are about fewer than `FEWEST` models, or no chain of them links all models.
        """
        if len(battles.players) < FEWEST:
            raise InputError(
                f"prior: {len(battles.players)} models ({choices(battles.players)}); at least {FEWEST} are needed, "
                "since nothing else could show whether the judge is right about the one difference of two"
            )
        if len(linked := connectivity_of(battles).linked) > 1:
            groups = "; ".join(f"({', '.join(group)})" for group in linked)
            raise InputError(f"prior: no chain of the judge's verdicts links the models of {groups}")
        found = laplace(battles, prior=1.0)
        centre = np.eye(len(battles.players)) - 1 / len(battles.players)
        return cls(
            battles.players,
            found.strengths - found.strengths.mean(),
            centre @ found.covariance @ centre,
            tuple(judges),
            len(battles),
            unread,
        )

    @property
    def ratings(self) -> Floats:
        """The judge's ratings on the Elo scale, of mean 1000, shape (P,)."""
        return np.asarray(START + self.strengths * SCALE / np.log(10), dtype=np.float64)

    def among(self, models: Collection[str]) -> "JudgePrior":
        """The prior for some of its models, in the order of their names.

        Raises:
            InputError: If a model is unknown to it, or there are too few.
        """
        if missing := sorted(set(models) - set(self.players)):
            raise InputError(
                f"prior: the judge has no verdict about {choices(missing)}; it compares: {choices(self.players)}"
            )
        if len(set(models)) < FEWEST:
            raise InputError(f"prior: needs {FEWEST} models or more to compare, got {choices(sorted(models))}")
        names = sorted(set(models))
        places = [self.players.index(name) for name in names]
        strengths, covariance = self.strengths[places], self.covariance[np.ix_(places, places)]
        centred = strengths - strengths.mean()
        return JudgePrior(tuple(names), centred, covariance, self.judges, self.verdicts, self.unread)

    def belief(self, battles: Battles) -> WeighedPosterior:
        """What to believe after some votes, for `Allocator`; its players are those of the prior, in this order."""
        if battles.players != self.players:
            raise ValueError(f"votes about {choices(battles.players)}, a prior about {choices(self.players)}")
        counts, identity = pair_counts(battles), np.eye(len(self.players))
        judged = fit_normal(counts, self.strengths, self.covariance + SHIFT**2 * identity)
        alone = fit_normal(counts, 0 * self.strengths, SPREAD**2 * identity)
        dispersion = dispersion_of(battles, alone.strengths)
        early = len(battles) < _EARLY * len(self.players)
        log_odds = judged.evidence - alone.evidence
        weight, share = (_share(log_odds, mass) for mass in (MASS, MASS if early else _LATE))
        share = share if share >= _SWITCH else 0.0
        return WeighedPosterior(
            share * judged.strengths + (1 - share) * alone.strengths,
            (share * judged.covariance + (1 - share) * alone.covariance) * dispersion,
            dispersion,
            weight,
            tuple(Posterior(fit.strengths, fit.covariance * dispersion, dispersion) for fit in (judged, alone)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The prior as a JSON object."""
        return {
            "models": dict(zip(self.players, np.round(self.strengths, 6).tolist(), strict=True)),
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
            tuple(models),
            np.array(list(models.values()), dtype=np.float64),
            np.array(values["covariance"], dtype=np.float64),
            tuple(values["judges"]),
            int(values["verdicts"]),
            int(values["unread"]),
        )


def _share(log_odds: float, mass: float) -> float:
    """Probability of the first of two accounts: by the evidence for it over the other, and before any evidence."""
    return float(0.5 * (1 + np.tanh((log_odds + np.log(mass / (1 - mass))) / 2)))


@dataclass(frozen=True)
class WeighedRanking:
    """Models from the best to the worst by expected strength, after people's votes with a judge's prior.

    Intervals are credible intervals: shares of the posterior, by draws. They hold as often as they say where people's
    strengths are as one of the two accounts says; sequences are in the order of `players`.

    Attributes:
        players: Names of the models, the best first.
        ratings: Expected ratings on the Elo scale, of mean 1000, with their intervals.
        ranks: Ranks by them, with their intervals.
        certainty: Probability that each model is better than the next one, P - 1.
        weight: Probability that people see the models as the judge does, up to shifts.
        level: Probability of an interval.
        rounds: Number of draws.
        seed: Their seed.
    """

    players: tuple[str, ...]
    ratings: tuple[Estimate, ...]
    ranks: tuple[Rank, ...]
    certainty: tuple[float, ...]
    weight: float
    level: float
    rounds: int
    seed: int


def rank_with_prior(
    battles: Battles, prior: JudgePrior, *, rounds: int = 10_000, level: float = LEVEL, seed: int = SEED
) -> WeighedRanking:
    """Rank models by people's votes, with a judge's ratings as a prior.

    Args:
        battles: The votes; its players are those of the prior, in this order.
        prior: The prior, as `JudgePrior.among` gives it for these players.
        rounds: Number of draws.
        level: Probability of an interval.
        seed: Seed of the draws.

    Returns:
        The ranking.
    """
    belief = prior.belief(battles)
    order = belief.order()
    expected = (belief.expected - belief.expected.mean())[order]
    draws = belief.draws(rounds, seed)[:, order]
    points, rows = (START + values * SCALE / np.log(10) for values in (expected, draws))
    lows, highs = percentile_bounds(rows, level)
    places = 1 + (-rows).argsort(axis=1).argsort(axis=1).astype(np.float64)
    best, worst = percentile_bounds(places, level)
    return WeighedRanking(
        players=tuple(prior.players[place] for place in order),
        ratings=tuple(
            Estimate(value, low, high, len(battles), len(battles), level, rounds, seed)
            for value, low, high in zip(points.tolist(), lows.tolist(), highs.tolist(), strict=True)
        ),
        ranks=tuple(
            Rank(number, int(np.floor(low)), int(np.ceil(high)))
            for number, (low, high) in enumerate(zip(best, worst, strict=True), start=1)
        ),
        certainty=tuple(belief.certainty(np.column_stack([order[:-1], order[1:]])).tolist()),
        weight=belief.weight,
        level=level,
        rounds=rounds,
        seed=seed,
    )
