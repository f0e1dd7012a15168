"""Battles of two models: outcomes, win rates, and which models they connect."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, compress

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.stats._bootstrap import Flags, Floats, Integers, number_clusters, ratio

OUTCOMES = (1.0, 0.5, 0.0)
"""First better, tie, second better (MAD paper, Eq. 3)."""
WINNERS = {"model_a": 1.0, "tie": 0.5, "tie (bothbad)": 0.5, "model_b": 0.0}
"""What published votes write -> outcome."""


@dataclass(frozen=True)
class Battle:
    """One comparison of two models.

    Attributes:
        first: Name of the one model.
        second: Name of the other.
        outcome: 1 if the first is better, 0.5 for a tie, 0 if the second is better (MAD paper, Eq.
            3).
        cluster: The instruction, by its text or an id; battles over the same one are not
            independent.
    """

    first: str
    second: str
    outcome: float
    cluster: str


@dataclass(frozen=True)
class Battles:
    """Comparisons of models, in the order in which they were made.

    Attributes:
        players: Names of the models; sorted unless they were given.
        first: Index into `players` of the first model of each battle, shape (N,).
        second: Index of the second model, shape (N,).
        outcome: 1 if the first is better, 0.5 for a tie, 0 if the second is better (MAD paper, Eq.
            3), shape (N,).
        clusters: Number of the instruction, from 0, shape (N,).

    Raises:
        ValueError: If the arrays have different lengths, an index is outside `players`, a player
            meets itself, or an outcome is not 1, 0.5 or 0.
    """

    players: tuple[str, ...]
    first: Integers
    second: Integers
    outcome: Floats
    clusters: Integers

    def __post_init__(self) -> None:
        arrays = (self.first, self.second, self.outcome, self.clusters)
        if any(array.shape != (len(self.first),) for array in arrays):
            raise ValueError(
                f"battles need arrays of one length, got {choices(array.shape for array in arrays)}"
            )
        indices = np.concatenate([self.first, self.second])
        players = len(self.players)
        is_outside = (indices < 0) | (indices >= players)
        if is_outside.any():
            raise ValueError(f"indices of players must lie between 0 and {players - 1}")
        if (self.first == self.second).any():
            raise ValueError("a player cannot meet itself")
        if not np.isin(self.outcome, OUTCOMES).all():
            raise ValueError(f"outcomes must be {choices(OUTCOMES)}")

    def __len__(self) -> int:
        return len(self.first)

    @property
    def ties(self) -> int:
        """Number of ties."""
        return int((self.outcome == 0.5).sum())

    def sides(self) -> tuple[Integers, Integers, Floats]:
        """The lower player of each battle, the higher one, and the outcome for the lower.

        Returns:
            Index into `players` of the player with the lower index, that of the other, and 1 if the
            first of these is better, 0.5 for a tie, 0 if the second is, shape (N,) each.
        """
        low = np.minimum(self.first, self.second)
        high = np.maximum(self.first, self.second)
        outcome = np.where(self.first == low, self.outcome, 1 - self.outcome)
        return low, high, outcome

    def take(self, places: npt.ArrayLike) -> "Battles":
        """Some of the battles, by index or mask, of the same players.

        Args:
            places: Indices of battles, shape (M,), or a mask, shape (N,).

        Returns:
            These battles, in the order of the indices.
        """
        chosen = np.asarray(places)
        if not chosen.size:
            chosen = chosen.astype(np.int64)  # an empty list comes as floats
        return Battles(
            self.players,
            self.first[chosen],
            self.second[chosen],
            self.outcome[chosen],
            self.clusters[chosen],
        )

    def of_players_who_met(self) -> "Battles":
        """The same battles without players that have none.

        Returns:
            The battles, with players and instructions numbered anew.
        """
        both = np.concatenate([self.first, self.second])
        met, places = np.unique(both, return_inverse=True)
        first, second = np.split(places.astype(np.int64), 2)
        return Battles(
            players=tuple(self.players[place] for place in met),
            first=first,
            second=second,
            outcome=self.outcome,
            clusters=number_clusters(self.clusters),
        )


def battles_of(fought: Iterable[Battle], players: Sequence[str] | None = None) -> Battles:
    """Make arrays of battles.

    Args:
        fought: The battles, in the order in which they were fought; plain Elo depends on it.
        players: Names of the models in the wanted order; None sorts those that occur.

    Returns:
        The battles.

    Raises:
        InputError: If there are none, or naming the first battle (counted from 1) with an outcome
            that is unknown, a model that meets itself, or one that is not among `players`.

    Examples:
        >>> from urs_inspect.stats import Battle, battles_of
        >>> fought = [Battle("a", "b", 1.0, "q1"), Battle("b", "c", 0.5, "q2")]
        >>> battles_of(fought).players
        ('a', 'b', 'c')
    """
    listed = list(fought)
    if not listed:
        raise InputError("nothing to rank by; at least one comparison of two models is needed")
    if players is None:
        met = chain.from_iterable((battle.first, battle.second) for battle in listed)
        players = sorted(set(met))
    index = {name: place for place, name in enumerate(players)}
    if len(index) < len(players):
        raise InputError(f"a model is named twice among: {choices(players)}")
    for number, battle in enumerate(listed, start=1):
        error = _error(battle, index)
        if error:
            raise InputError(f"comparison {number}: {error}")
    first = [index[battle.first] for battle in listed]
    second = [index[battle.second] for battle in listed]
    outcomes = [battle.outcome for battle in listed]
    clusters = [battle.cluster for battle in listed]
    return Battles(
        players=tuple(players),
        first=np.array(first, dtype=np.int64),
        second=np.array(second, dtype=np.int64),
        outcome=np.array(outcomes, dtype=np.float64),
        clusters=number_clusters(clusters),
    )


def _error(battle: Battle, index: dict[str, int]) -> str:
    if battle.first == battle.second:
        return f"'{battle.first}' is compared with itself; two models are needed"
    for name in (battle.first, battle.second):
        if name not in index:
            return f"unknown model '{name}'; allowed: {choices(index)}"
    if battle.outcome not in OUTCOMES:
        return f"unknown outcome {battle.outcome}; allowed: {choices(OUTCOMES)}"
    return ""


def outcome_of(winner: object, first: str, second: str) -> float:
    """Outcome (MAD paper, Eq. 3) of a published vote between models `first` (a) and `second` (b).

    The winner is one of `WINNERS` or the name of the winning model.
    """
    if winner in (first, second) and winner in WINNERS:
        raise InputError(
            f"winner '{winner}' is ambiguous: one of the two models has that name; give the model"
            " another name"
        )
    known = {**WINNERS, first: 1.0, second: 0.0}
    if not isinstance(winner, str) or winner not in known:
        raise InputError(f"unknown winner {str(winner)[:60]!r}; allowed: {choices(known)}")
    return known[winner]


@dataclass(frozen=True)
class WinRates:
    """Results by pair of models (MAD paper, Figure 5).

    All arrays have shape (P, P), rows and columns as `players`.
    """

    players: tuple[str, ...]
    # share of the battles that the row won, ties as half, 0 to 1; NaN where the two never met
    rates: Floats
    battles: Integers
    wins: Integers  # of the row, without ties
    ties: Integers


def win_rates_of(battles: Battles) -> WinRates:
    """Count battles, wins and ties of every two models."""
    won = _count(battles, battles.outcome == 1)
    won += _count(battles, battles.outcome == 0).T
    tied = _count(battles, battles.outcome == 0.5)
    ties = tied + tied.T
    met = won + won.T + ties
    return WinRates(
        players=battles.players,
        rates=ratio(won + ties / 2, met),
        battles=met,
        wins=won,
        ties=ties,
    )


def _count(battles: Battles, which: Flags) -> Integers:
    """How many battles have the row as first and the column as second model, shape (P, P)."""
    players = len(battles.players)
    cells = battles.first * players + battles.second
    counts = np.bincount(cells[which], minlength=players**2)
    return counts.reshape(players, players).astype(np.int64)


Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Connectivity:
    """Groups of models whose ratings compare.

    Bradley-Terry strengths are finite without a prior only if every model can be reached from every
    other by a chain of battles that were won or tied (Ford, "Solution of a Ranking Problem from
    Binary Comparisons", 1957).
    """

    linked: Groups
    """Groups whose members some chain of battles links; nothing compares between groups."""
    groups: Groups
    """Groups inside which every model beats or ties every other through a chain.

    Before those that it beats.
    """

    @property
    def connected(self) -> bool:
        """Whether the votes alone place all models on one scale."""
        return len(self.groups) == 1

    def links(self, one: str, other: str) -> bool:
        """Whether a chain of battles, however they ended, leads from one model to the other."""
        return any(one in group and other in group for group in self.linked)

    @property
    def message(self) -> str:
        """Which models do not compare and why, in words; empty if all do."""
        sentences = []
        if len(self.linked) > 1:
            sentences.append(
                f"No chain of comparisons links {_listed(self.linked)}: ratings and ranks compare"
                " only within a group."
            )
        for linked in self.linked:
            inside = [group for group in self.groups if group[0] in linked]
            if len(inside) > 1:
                sentences.append(
                    f"Between {_listed(inside)} every vote went one way, without a tie: the prior,"
                    " and not the votes, sets how far these groups lie apart."
                )
        return " ".join(sentences)


def connectivity_of(battles: Battles) -> Connectivity:
    """Find the groups of models whose ratings compare.

    A player without battles is a group of its own.
    """
    held = _held(battles)
    reached = _closure(held)
    linked = _closure(held | held.T)
    players = battles.players
    # A group reaches itself and all that the groups below it reach, so it reaches more than each of
    # these.
    order = np.argsort(-reached.sum(axis=1), kind="stable")
    return Connectivity(
        linked=_groups(players, linked, np.arange(len(players))),
        groups=_groups(players, reached & reached.T, order),
    )


def ordered_by_votes(battles: Battles) -> Flags:
    """Which models the battles can order, one against the other.

    Symmetric, shape (P, P), true on the diagonal.

    They can if a chain of wins and ties leads from one to the other, in either direction. Of two
    models that have only both beaten a third, or that no chain links at all, only the prior says
    which is better.
    """
    reached = _closure(_held(battles))
    return np.asarray(reached | reached.T)


def _held(battles: Battles) -> Flags:
    """Whether the row beat or tied the column at least once, shape (P, P); true on the diagonal."""
    held = np.eye(len(battles.players), dtype=bool)
    first_held = battles.outcome > 0
    second_held = battles.outcome < 1
    np.logical_or.at(held, (battles.first, battles.second), first_held)
    np.logical_or.at(held, (battles.second, battles.first), second_held)
    return held


def _closure(relation: Flags) -> Flags:
    while True:
        # Much faster in floats, which are multiplied by a library.
        steps = relation.astype(np.float64)
        further = steps @ steps > 0
        if (further == relation).all():
            return relation
        relation = further


def _groups(players: tuple[str, ...], same: Flags, order: Integers) -> Groups:
    """Groups of the same players, each once, in an order of their members."""
    groups = (tuple(compress(players, same[player])) for player in order)
    return tuple(dict.fromkeys(groups))


def _listed(groups: Sequence[tuple[str, ...]]) -> str:
    shown = [f"({', '.join(group)})" for group in groups]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
