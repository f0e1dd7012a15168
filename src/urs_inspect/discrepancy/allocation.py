"""Who is compared next, and when it is enough: a budget of comparisons shared out over pairs of models."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

import numpy as np

from urs_inspect.discrepancy.allocation_rules import Standing, load_allocation
from urs_inspect.discrepancy.belief import Belief
from urs_inspect.errors import InputError, choices
from urs_inspect.rating.battles import Battles
from urs_inspect.rating.bootstrap import Floats, Integers

Pair = tuple[str, str]
Stop = Literal["budget", "separated", "exhausted"]
"""Why nothing more is asked: the budget is spent; all neighbours are separated; no pair has an instruction left."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Allotment:
    """What to compare next.

    Attributes:
        pairs: Pairs of models, each to be compared on one more instruction; a pair may occur several times.
        stopped: Why nothing more is to be asked; None as long as something is.
        spent: Comparisons asked so far, these included.
    """

    pairs: tuple[Pair, ...]
    stopped: Stop | None
    spent: int


class Allocator:
    """Shares a budget of comparisons out over pairs of models (MAD paper, section 3.5: K may differ per pair).

    It keeps what it has asked for; a comparison whose judge failed is spent as well, so no pair is asked for ever. The
    same arguments and comparisons give the same pairs. Pairs of equal worth come in an order drawn by the seed.

    Args:
        players: Names of all models, two or more.
        rule: Name of the rule: `uniform`, `adaptive`, `random`, or one that was registered.
        budget: Most comparisons that are asked for, 1 or more.
        confidence: Stop as soon as every two neighbours in the ranking are in this order with this probability, between
            0.5 and 1; None spends the budget whatever is known.
        only: Compare only these models among themselves, as for people who look at the models near a target; None for
            all.
        joining: Models that are new: only pairs with one of them are asked (Algorithm 2); empty for all pairs.
        items: Instructions that each pair has, by pair or the same for all; None for no limit.
        seed: Seed of everything random.

    Raises:
        InputError: If an argument is out of its range or names an unknown model, or no pair is left to ask.
    """

    def __init__(
        self,
        players: Sequence[str],
        *,
        rule: str,
        budget: int,
        confidence: float | None = CONFIDENCE,
        only: Collection[str] | None = None,
        joining: Collection[str] = (),
        items: int | Mapping[Pair, int] | None = None,
        seed: int = 0,
    ) -> None:
        _check(players, budget, confidence, [*(only or ()), *joining])
        self.players = tuple(players)
        self._index = {name: place for place, name in enumerate(self.players)}
        self.rule, self.budget, self.confidence, self.seed = rule, budget, confidence, seed
        self._allocation = load_allocation(rule)
        self._among = [name for name in self.players if only is None or name in only]
        pairs = [pair for pair in combinations(self._among, 2) if not joining or not set(joining).isdisjoint(pair)]
        if not pairs:
            raise InputError(f"no pair of models to compare among: {choices(self._among)}; at least two are needed")
        self._pairs = np.array([[self._index[name] for name in pair] for pair in pairs], dtype=np.int64)
        self._places = {frozenset(pair): place for place, pair in enumerate(pairs)}
        self._left = np.array([_items(items, pair) for pair in pairs], dtype=np.float64)
        self._asked: Integers = np.zeros(len(pairs), dtype=np.int64)
        self._shuffled = np.random.default_rng([seed, 0]).permutation(len(pairs))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs that may be asked, in the order of the players."""
        return tuple(self._names(pair) for pair in self._pairs)

    @property
    def spent(self) -> int:
        """Comparisons asked so far."""
        return int(self._asked.sum())

    @property
    def asked(self) -> dict[Pair, int]:
        """Comparisons asked so far of each pair."""
        return dict(zip(self.pairs, self._asked.tolist(), strict=True))

    def ask(self, battles: Battles | None = None, size: int = 1, pending: Iterable[Pair] = ()) -> Allotment:
        """Say what to compare next.

        Args:
            battles: All comparisons with an outcome so far, earlier runs included; None if there are none.
            size: Comparisons wanted, 1 or more; they can run at once.
            pending: Pairs, in either order, asked for earlier whose outcome is not there yet. A rule takes these, and
                those of the same batch, for comparisons with the expected outcome.

        Returns:
            At most `size` pairs, fewer only near the end.

        Raises:
            InputError: If `size` is below 1, or a comparison or pending pair names an unknown model.
        """
        if size < 1:
            raise InputError(f"size of a batch is {size}; allowed: 1 or more")
        belief = Belief(self._aligned(battles), [self._pair(pair) for pair in pending])
        if stopped := self._stop(belief):
            return Allotment((), stopped, self.spent)
        chosen = []
        for _ in range(min(size, self.budget - self.spent)):
            if not (self._asked < self._left).any():
                break
            place = self._choose(belief)
            self._asked[place] += 1
            belief.add(self._pairs[place])
            chosen.append(self._names(self._pairs[place]))
        return Allotment(tuple(chosen), None, self.spent)

    def unseparated(self, battles: Battles | None) -> tuple[Pair, ...]:
        """Neighbours in the ranking, among the pairs that may be asked, whose order is less sure than `confidence`.

        Args:
            battles: All comparisons with an outcome so far.

        Returns:
            Pairs, the stronger model first; empty if all are separated or there is no `confidence`.
        """
        if self.confidence is None:
            return ()
        return self._unseparated(Belief(self._aligned(battles), []), self.confidence)

    def _stop(self, belief: Belief) -> Stop | None:
        if self.spent >= self.budget:
            return "budget"
        if not (self._asked < self._left).any():
            return "exhausted"
        # What is under way has no outcome, so it makes no order sure.
        if self.confidence is not None and not self._unseparated(belief.settled(), self.confidence):
            return "separated"
        return None

    def _unseparated(self, belief: Belief, confidence: float) -> tuple[Pair, ...]:
        posterior, among = belief.posterior(), {self._index[name] for name in self._among}
        ranked = [place for place in posterior.order().tolist() if place in among]
        neighbours = np.array(list(pairwise(ranked)), dtype=np.int64)
        sure = posterior.certainty(neighbours) >= confidence
        open_pairs = [self._names(pair) for pair in neighbours[~sure]]
        return tuple(pair for pair in open_pairs if frozenset(pair) in self._places)

    def _choose(self, belief: Belief) -> int:
        draws = np.random.default_rng([self.seed, 1, self.spent])
        worth = self._allocation(Standing(self._pairs, self._asked.copy(), belief.posterior, draws))
        worth = np.where(self._asked < self._left, worth, -np.inf)
        # Worths that differ by rounding are equal: otherwise the order of the players would decide.
        best = worth >= worth.max() - 1e-9 * np.abs(worth[np.isfinite(worth)]).max()
        return int(self._shuffled[best[self._shuffled].argmax()])

    def _aligned(self, battles: Battles | None) -> Battles:
        if battles is None:
            none: Integers = np.zeros(0, dtype=np.int64)
            nothing: Floats = np.zeros(0)
            return Battles(self.players, none, none, nothing, none)
        if battles.players == self.players:
            return battles
        if unknown := [name for name in battles.players if name not in self._index]:
            raise InputError(f"comparisons of unknown model '{unknown[0]}'; allowed: {choices(self.players)}")
        index = np.array([self._index[name] for name in battles.players], dtype=np.int64)
        first, second = index[battles.first], index[battles.second]
        return Battles(self.players, first, second, battles.outcome, battles.clusters)

    def _pair(self, pair: Pair) -> Integers:
        if unknown := [name for name in pair if name not in self._index]:
            raise InputError(f"pending comparison of unknown model '{unknown[0]}'; allowed: {choices(self.players)}")
        return np.array([self._index[name] for name in pair], dtype=np.int64)

    def _names(self, pair: Integers) -> Pair:
        return self.players[pair[0]], self.players[pair[1]]


def near(ranking: Sequence[str], target: str, width: int) -> tuple[str, ...]:
    """Models close to a target, for people to compare once a judge has ranked all (MAD paper, Limitations).

    Args:
        ranking: Names from the best to the worst.
        target: The model of interest.
        width: Places above and below it, 1 or more.

    Returns:
        At most 2 * width + 1 names in the order of the ranking, the target included.

    Raises:
        InputError: If the target is not ranked or the width is below 1.
    """
    names = list(ranking)
    if target not in names:
        raise InputError(f"target '{target}' is not in the ranking; allowed: {choices(names)}")
    if width < 1:
        raise InputError(f"width around '{target}' is {width}; allowed: 1 or more")
    place = names.index(target)
    return tuple(names[max(0, place - width) : place + width + 1])


def _check(players: Sequence[str], budget: int, confidence: float | None, named: Iterable[str]) -> None:
    if len(players) < 2 or len(set(players)) < len(players):
        raise InputError(f"models to compare: {choices(players) or 'none'}; allowed: two or more different names")
    if unknown := [name for name in named if name not in players]:
        raise InputError(f"unknown model '{unknown[0]}'; allowed: {choices(players)}")
    if budget < 1:
        raise InputError(f"budget is {budget}; allowed: 1 or more comparisons")
    if confidence is not None and not 0.5 < confidence < 1:
        raise InputError(f"confidence is {confidence}; allowed: between 0.5 and 1")


def _items(items: int | Mapping[Pair, int] | None, pair: Pair) -> float:
    if items is None:
        return np.inf
    if isinstance(items, int):
        return items
    found = items.get(pair, items.get((pair[1], pair[0]), 0))
    return float(found)
