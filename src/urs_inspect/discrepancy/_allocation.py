"""Which pair of models to compare next: rules, the posterior they use, and the allocator."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, pairwise
from types import MappingProxyType
from typing import Any, Literal, Protocol, Self

import numpy as np

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy._vectors import Pair
from urs_inspect.stats._battles import Battles
from urs_inspect.stats._bootstrap import Floats, Integers
from urs_inspect.stats._bradley_terry import PairCounts, fit_counts, logistic, pair_counts

PRIOR = 2.0
"""Ties with an average player that are presumed of each player: strengths start with a deviation of
1.4, odds of four to one.

With half of that, a few lucky wins make a rule turn away from a pair too early; with more, nothing
is gained (measured on simulated players).
"""
_PRESUMED = 20.0
"""Comparisons that the presumed dispersion of 1 weighs as much as."""
_AHEAD = 5
"""Comparisons of a pair whose joint worth `adaptive` weighs.

A single one is worth next to nothing once an order is fairly sure, though several might overturn
it.
"""


@dataclass(frozen=True)
class Posterior:
    """Strengths of P players as a normal distribution."""

    # most likely strengths in natural units (the log odds of winning are their difference), shape
    # (P,)
    strengths: Floats
    covariance: Floats  # their covariance, shape (P, P)
    # how far outcomes scatter, as a share of what they would without ties and were the model exact;
    # ties make it smaller than 1
    dispersion: float = 1.0
    weight: float = math.nan  # of a prior beside the votes, 0 to 1; NaN without one

    @property
    def expected(self) -> Floats:
        """Expected strengths, by which players are ranked, shape (P,)."""
        return self.strengths

    def order(self) -> Integers:
        """Players from the strongest to the weakest.

        Of equal ones the first comes first, shape (P,).
        """
        return np.argsort(-self.expected, kind="stable").astype(np.int64)

    def gaps(self, pairs: Integers) -> tuple[Floats, Floats]:
        """Differences of strength and their standard deviations.

        Pairs of shape (Q, 2) give two arrays (Q,).
        """
        i, j = pairs.T
        gaps = self.strengths[i] - self.strengths[j]
        own = self.covariance[i, i] + self.covariance[j, j]
        variance = own - 2 * self.covariance[i, j]
        return gaps, np.sqrt(np.maximum(variance, 0.0))

    def chance(self, pairs: Integers) -> Floats:
        """How probable it is that the first of each pair is the stronger one.

        Shape (Q, 2) -> (Q,).
        """
        from scipy.special import ndtr

        gaps, deviations = self.gaps(pairs)
        z = gaps / np.maximum(deviations, 1e-300)
        return np.asarray(ndtr(z), dtype=np.float64)

    def certainty(self, pairs: Integers) -> Floats:
        """How probable the order by strength is for each pair; shape (Q, 2) -> (Q,)."""
        first, second = self.expected[pairs.T]
        turned = first < second
        swapped = pairs[:, ::-1]
        by_strength = np.where(turned[:, None], swapped, pairs)
        return self.chance(by_strength)

    def information(self, pairs: Integers) -> Floats:
        """Information of one more comparison of each pair about its gap, shape (Q,)."""
        gaps, _ = self.gaps(pairs)
        return np.asarray(_slope(gaps) / self.dispersion, dtype=np.float64)

    def after(self, pair: Integers) -> "Posterior":
        """The posterior after one more comparison of a pair, shape (2,).

        The outcome is as expected: same strengths, more certain, by the Sherman-Morrison formula.
        """
        [information] = self.information(pair[None, :])
        first, second = pair
        with_gap = self.covariance[:, first] - self.covariance[:, second]
        variance = with_gap[first] - with_gap[second]
        share = information / (1 + information * variance)
        learned = np.outer(with_gap, with_gap) * share
        return Posterior(self.strengths, self.covariance - learned, self.dispersion)


def laplace(battles: Battles, prior: float = PRIOR) -> Posterior:
    """Normal approximation around the regularised Bradley-Terry fit.

    A tie is half a win of each.

    The covariance is the inverse of the curvature of the log posterior at its peak. Half wins
    scatter less than wins and losses do, so this curvature alone is too modest where there are
    ties. The covariance is therefore multiplied by the dispersion: the squared deviations of the
    outcomes over those expected without ties (quasi-likelihood: Wedderburn, 1974), drawn towards 1
    as long as there are few comparisons.
    """
    counts = pair_counts(battles)
    players = len(battles.players)
    [strengths] = fit_counts(counts, players, prior)
    of_prior = np.diag(prior * _slope(strengths))
    curvature = of_prior + curvature_of(counts, strengths)
    dispersion = dispersion_of(battles, strengths)
    covariance = np.linalg.inv(curvature) * dispersion
    return Posterior(strengths, np.asarray(covariance, dtype=np.float64), dispersion)


def curvature_of(counts: PairCounts, strengths: Floats) -> Floats:
    """Curvature of the negative log likelihood of battles, shape (P, P)."""
    i = counts.first
    j = counts.second
    players = len(strengths)
    of_pairs = -counts.battles[0] * _slope(strengths[i] - strengths[j])
    curvature = np.zeros((players, players))
    curvature[i, j] = of_pairs
    curvature[j, i] = of_pairs
    np.fill_diagonal(curvature, -curvature.sum(axis=1))
    return curvature


def dispersion_of(battles: Battles, strengths: Floats) -> float:
    """How far outcomes scatter around these strengths, as a share of what they would without ties.

    Above 0.
    """
    chance = logistic(strengths[battles.first] - strengths[battles.second])
    observed = ((battles.outcome - chance) ** 2).sum()
    expected = (chance * (1 - chance)).sum()
    # Expected and observed scatter are summed before they are divided: a surprise between unequal
    # players has no bound.
    presumed = _PRESUMED / 4
    return float((observed + presumed) / (expected + presumed))


def _slope(gaps: Floats) -> Floats:
    """Product p (1 - p) for p = 1 / (1 + exp(-gap))."""
    squares = np.tanh(gaps / 2) ** 2
    return np.asarray(0.25 * (1 - squares), dtype=np.float64)


Belief = Callable[[Battles], Posterior]
"""What is believed about strengths after comparisons: `laplace`, or what a prior gives."""

PRIOR_POINT = "priors of votes"
"""What a satellite offers under `judge`: the address of a class of `Prior`s; under `log`: that of
what `read_prior` calls.
"""


class Prior(Protocol):
    """What is known of models before people vote on their answers."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned."""

    def to_dict(self) -> dict[str, Any]:
        """The prior as a JSON object."""

    def check(self, models: Sequence[str]) -> None:
        """Refuse models of which it knows nothing; warn of others that it knows."""

    def remarks(self, models: Sequence[str]) -> list[str]:
        """Sentences for those who let people vote on these models."""

    def belief_about(self, models: Sequence[str]) -> Belief:
        """What is believed about these models after some votes."""


def prior_type() -> type[Prior]:
    """The class of priors by a judge, which a satellite offers."""
    kind: type[Prior] = _offered_for_priors("judge")
    return kind


def read_prior(log: str) -> Prior:
    """The prior that a log gives, else `InputError`; warns of what in it does not count."""
    read: Callable[[str], Prior] = _offered_for_priors("log")
    return read(log)


def _offered_for_priors(name: str) -> Any:
    address = offered(PRIOR_POINT).get(name)
    if address is None:
        raise InputError(
            "prior: the folder `adjusting` of urs_inspect is missing, which makes a prior of a"
            " judge's verdicts; install the whole package:"
            " pip install --force-reinstall urs-inspect"
        )
    return at(address)


@dataclass(frozen=True)
class Standing:
    """What a rule may look at."""

    pairs: Integers  # indices of the models of each pair that may be asked, shape (Q, 2)
    asked: Integers  # comparisons asked of each pair so far, those under way included, shape (Q,)
    # gives the posterior of the strengths, those under way counted; computed when first called
    posterior: Callable[[], Posterior]
    draws: np.random.Generator  # random numbers of this comparison


class Allocation(Protocol):
    """A rule: how much each pair deserves the next comparison."""

    def __call__(self, standing: Standing) -> Floats:
        """Worth of a comparison of each pair, the highest is asked next, shape (Q,)."""
        ...


def uniform(standing: Standing) -> Floats:
    """The pair with the fewest comparisons: equally many for all, as in the MAD paper."""
    return -standing.asked.astype(np.float64)


def random(standing: Standing) -> Floats:
    """Any pair with equal chance."""
    return standing.draws.random(len(standing.pairs))


def adaptive(standing: Standing) -> Floats:
    """Expected value of information about the order.

    Calling the wrong one of a pair the better costs their difference in strength. The cost expected
    after some further comparisons of pair p is lower, summed over all pairs q, by

        sum_q  s_qp * (phi(z) - z * Phi(-z)),   z = |gap_q| / s_qp

    where s_qp is the standard deviation of the shift that these comparisons will give to the
    estimated gap of q (knowledge gradient with linear loss: Frazier, Powell and Dayanik, "The
    Knowledge-Gradient Policy for Correlated Normal Beliefs", 2009). It is large for neighbours that
    are hard to order, and falls as they become known, so no hopeless pair takes everything.
    """
    from scipy.special import ndtr

    posterior = standing.posterior()
    i, j = standing.pairs.T
    half = posterior.covariance[:, i] - posterior.covariance[:, j]
    shared = half[i] - half[j]
    gaps, deviations = posterior.gaps(standing.pairs)
    information = _AHEAD * posterior.information(standing.pairs)
    per_shift = np.sqrt(information / (1 + information * deviations**2))
    shift = np.abs(shared) * per_shift
    least_shift = np.maximum(shift, 1e-12)
    z = np.abs(gaps)[:, None] / least_shift
    height = np.exp(-0.5 * z**2)
    density = height / np.sqrt(2 * np.pi)
    worth = shift * (density - z * ndtr(-z))
    return np.asarray(worth.sum(axis=0), dtype=np.float64)


_RULES: dict[str, Allocation] = {"uniform": uniform, "adaptive": adaptive, "random": random}


def allocation_names() -> tuple[str, ...]:
    """Names of the rules."""
    return tuple(_RULES)


def register_allocation(name: str, rule: Allocation) -> None:
    """Add a rule under a name.

    Args:
        name: Name as users write it.
        rule: Takes a `Standing` of Q pairs and gives the worth of a comparison of each, shape (Q,);
            the pair of the highest worth is asked next.

    Raises:
        ValueError: If the name is taken.
    """
    if name in _RULES:
        raise ValueError(f"there is an allocation '{name}' already")
    _RULES[name] = rule


Stop = Literal["budget", "separated", "exhausted"]
"""Why nothing more is asked: the budget is spent; all neighbours are separated.

No pair has an instruction left.
"""

CONFIDENCE = 0.95
NOTHING_ASKED: Mapping[Pair, int] = MappingProxyType({})


@dataclass(frozen=True)
class Allotment:
    """What to compare next."""

    # each to be compared on one more instruction; a pair may occur several times
    pairs: tuple[Pair, ...]
    stopped: Stop | None  # why nothing more is to be asked; None as long as something is
    spent: int  # comparisons asked so far, these included


class Allocator:
    """Shares a budget of comparisons out over pairs of models.

    In the MAD paper (section 3.5) K may differ per pair.

    It keeps nothing: who asks says what was asked before. A comparison whose judge failed is spent
    as well, so no pair is asked forever. The same arguments and comparisons give the same pairs.
    Pairs of equal worth come in an order drawn by the seed.

    Args:
        players: Names of all models, two or more.
        rule: Name of the rule: `uniform`, `adaptive`, `random`, or one that was registered.
        budget: Most comparisons that are asked for, 1 or more.
        confidence: Stop as soon as every two neighbours in the ranking are in this order with this
            probability, between 0.5 and 1; None spends the whole budget.
        items: Instructions that each pair has: by pair, where a pair that is left out is never
            asked, as that of two old models where a new one joins (Algorithm 2); or the same number
            for all pairs; None for no limit.
        seed: Seed of everything random.
        belief: Gives the posterior after some comparisons; by default the votes alone say it.

    Raises:
        InputError: If an argument is out of its range or names an unknown model, or no pair is left
            to ask.

    Examples:
        >>> from urs_inspect.discrepancy import Allocator
        >>> allotment = Allocator(["a", "b", "c"], rule="uniform", budget=6).ask(size=3)
        >>> sorted(allotment.pairs)
        [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """

    def __init__(
        self,
        players: Sequence[str],
        *,
        rule: str,
        budget: int,
        confidence: float | None = CONFIDENCE,
        items: int | Mapping[Pair, int] | None = None,
        seed: int = 0,
        belief: Belief = laplace,
    ) -> None:
        if len(players) < 2 or len(set(players)) < len(players):
            raise InputError(
                f"models to compare: {choices(players) or 'none'}; allowed: two or more different"
                " names"
            )
        if budget < 1:
            raise InputError(f"budget is {budget}; allowed: 1 or more comparisons")
        if confidence is not None and not 0.5 < confidence < 1:
            raise InputError(f"confidence is {confidence}; allowed: between 0.5 and 1")
        if rule not in _RULES:
            raise InputError(f"unknown allocation '{rule}'; allowed: {choices(_RULES)}")
        self.players = tuple(players)
        self._index = {name: place for place, name in enumerate(self.players)}
        self.rule = rule
        self.budget = budget
        self.confidence = confidence
        self.seed = seed
        self._belief = belief
        self._allocation = _RULES[rule]
        limits = _limits(items, self.players)
        self.pairs = tuple(limits)  # all that may be asked, in the order of the players
        numbers = [(self._index[one], self._index[other]) for one, other in self.pairs]
        self._pairs = np.array(numbers, dtype=np.int64)
        self._may_be_asked = {frozenset(pair) for pair in numbers}
        left = list(limits.values())
        self._left = np.array(left, dtype=np.float64)
        draws = np.random.default_rng([seed, 0])
        self._shuffled = draws.permutation(len(self.pairs))

    def standing(
        self, battles: Battles | None, asked: Mapping[Pair, int] = NOTHING_ASKED
    ) -> tuple[Posterior, Stop | None]:
        """What is believed after these comparisons, and why nothing more would be asked, if so.

        Args:
            battles: All comparisons with an outcome so far; None if there are none.
            asked: Comparisons of each pair asked so far, which the budget counts, by pair as in
                `pairs`.

        Returns:
            The posterior of the models' strengths, and `budget` (spent), `separated` (all
            neighbours in the ranking are in their order with the wanted confidence), `exhausted`
            (no pair has an instruction left), or None.

        Raises:
            InputError: If a comparison names an unknown model.
        """
        posterior = self._belief(self._aligned(battles))
        return posterior, self._stop(self._counts(asked), lambda: posterior)

    def ask(
        self,
        battles: Battles | None = None,
        asked: Mapping[Pair, int] = NOTHING_ASKED,
        pending: Iterable[Pair] = (),
        size: int = 1,
    ) -> Allotment:
        """Decide what to compare next.

        Args:
            battles: All comparisons with an outcome so far, earlier runs included; None if there
                are none.
            asked: Comparisons of each pair asked so far, which the budget counts, by pair as in
                `pairs`.
            pending: Pairs, in either order, asked for earlier whose outcome is not there yet. A
                rule takes these, and those of the same batch, for comparisons with the expected
                outcome.
            size: Comparisons wanted, 1 or more; they can run at once.

        Returns:
            At most `size` pairs, fewer only near the end.

        Raises:
            InputError: If `size` is below 1, or a comparison or pending pair names an unknown
                model.
        """
        if size < 1:
            raise InputError(f"size of a batch is {size}; allowed: 1 or more")
        under_way = [self._numbers(pair, "pending comparison") for pair in pending]
        known = self._aligned(battles)
        current = None

        @cache  # a rule that needs no posterior costs nothing
        def settled() -> Posterior:
            return self._belief(known)

        def posterior() -> Posterior:
            """With those under way, whose missing outcome is taken for the expected one."""
            nonlocal current
            current = current or settled()
            while under_way:
                current = current.after(under_way.pop())
            return current

        counts = self._counts(asked)
        spent = int(counts.sum())
        stopped = self._stop(counts, settled)
        if stopped:
            return Allotment((), stopped, spent)
        chosen: list[Pair] = []
        for _ in range(min(size, self.budget - spent)):
            if not (counts < self._left).any():
                break
            place = self._choose(counts, posterior)
            counts[place] += 1
            under_way.append(self._pairs[place])
            chosen.append(self.pairs[place])
        return Allotment(tuple(chosen), stopped=None, spent=spent + len(chosen))

    def _counts(self, asked: Mapping[Pair, int]) -> Integers:
        counts = [asked.get(pair, 0) for pair in self.pairs]
        return np.array(counts, dtype=np.int64)

    def _stop(self, counts: Integers, settled: Callable[[], Posterior]) -> Stop | None:
        if counts.sum() >= self.budget:
            return "budget"
        if not (counts < self._left).any():
            return "exhausted"
        # What is under way has no outcome, so it makes no order sure.
        if self.confidence is not None and self._separated(settled(), self.confidence):
            return "separated"
        return None

    def _separated(self, posterior: Posterior, confidence: float) -> bool:
        """Whether all neighbours in the ranking that may be asked are surely in their order."""
        among = set(self._pairs.ravel().tolist())
        ranked = [place for place in posterior.order().tolist() if place in among]
        neighbours = np.array(list(pairwise(ranked)), dtype=np.int64)
        is_unsure = posterior.certainty(neighbours) < confidence
        unsure = neighbours[is_unsure].tolist()
        return self._may_be_asked.isdisjoint(map(frozenset, unsure))

    def _choose(self, counts: Integers, posterior: Callable[[], Posterior]) -> int:
        spent = int(counts.sum())
        draws = np.random.default_rng([self.seed, 1, spent])
        standing = Standing(self._pairs, counts.copy(), posterior, draws)
        worth = self._allocation(standing)
        worth = np.where(counts < self._left, worth, -np.inf)
        # Worths that differ by rounding are equal: otherwise the order of the players would decide.
        finite = worth[np.isfinite(worth)]
        rounding = 1e-9 * np.abs(finite).max()
        is_best = worth >= worth.max() - rounding
        first = is_best[self._shuffled].argmax()
        return int(self._shuffled[first])

    def _aligned(self, battles: Battles | None) -> Battles:
        if battles is None:
            none: Integers = np.zeros(0, dtype=np.int64)
            return Battles(self.players, none, none, np.zeros(0), none)
        if battles.players == self.players:
            return battles
        index = self._numbers(battles.players, "comparisons")
        return Battles(
            players=self.players,
            first=index[battles.first],
            second=index[battles.second],
            outcome=battles.outcome,
            clusters=battles.clusters,
        )

    def _numbers(self, names: Sequence[str], what: str) -> Integers:
        for name in names:
            if name not in self._index:
                raise InputError(
                    f"{what} of unknown model '{name}'; allowed: {choices(self.players)}"
                )
        places = [self._index[name] for name in names]
        return np.array(places, dtype=np.int64)


def near(ranking: Sequence[str], target: str, width: int) -> tuple[str, ...]:
    """Models close to a target, for people to compare once a judge has ranked all.

    Source: MAD paper, Limitations.

    The `width` (1 or more) places above and below it in a ranking from the best to the worst, the
    target included.
    """
    if target not in ranking:
        raise InputError(f"target '{target}' is not in the ranking; allowed: {choices(ranking)}")
    if width < 1:
        raise InputError(f"width around '{target}' is {width}; allowed: 1 or more")
    place = list(ranking).index(target)
    start = max(0, place - width)
    return tuple(ranking[start : place + width + 1])


def _limits(items: int | Mapping[Pair, int] | None, players: Sequence[str]) -> dict[Pair, float]:
    """Each pair that may be asked, in the order of the players, with its number of instructions."""
    pairs = combinations(players, 2)
    if items is None:
        return dict.fromkeys(pairs, np.inf)
    if not isinstance(items, Mapping):
        return dict.fromkeys(pairs, items)
    for name in chain.from_iterable(items):
        if name not in players:
            raise InputError(f"unknown model '{name}'; allowed: {choices(players)}")
    if not items:
        raise InputError("no pair of models to compare")
    counts = {frozenset(pair): float(count) for pair, count in items.items()}
    limits = {}
    for pair in pairs:
        either_way = frozenset(pair)
        if either_way in counts:
            limits[pair] = counts[either_way]
    return limits
