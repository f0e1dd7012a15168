"""Battles: pairs of models that somebody compared on an instruction, as arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.errors import InputError, choices
from urs_inspect.rating.bootstrap import Floats, Integers, number_clusters

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
        outcome: 1 if the first is better, 0.5 for a tie, 0 if the second is better (MAD paper, Eq. 3).
        cluster: The instruction, by its text or an id; battles over the same one are not independent.
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
        outcome: 1 if the first is better, 0.5 for a tie, 0 if the second is better (MAD paper, Eq. 3), shape (N,).
        clusters: Number of the instruction, from 0, shape (N,).
    """

    players: tuple[str, ...]
    first: Integers
    second: Integers
    outcome: Floats
    clusters: Integers

    def __post_init__(self) -> None:
        arrays = (self.first, self.second, self.outcome, self.clusters)
        if any(array.shape != (len(self.first),) for array in arrays):
            raise ValueError(f"battles need arrays of one length, got {choices(array.shape for array in arrays)}")
        indices = np.concatenate([self.first, self.second])
        if len(indices) and not 0 <= indices.min() <= indices.max() < len(self.players):
            raise ValueError(f"indices of players must lie between 0 and {len(self.players) - 1}")
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

    def take(self, places: npt.ArrayLike) -> "Battles":
        """Some of the battles, by index or mask, of the same players."""
        chosen = np.asarray(places)
        if not chosen.size:
            chosen = chosen.astype(np.int64)  # an empty list comes as floats
        arrays: list[npt.NDArray[Any]] = [self.first, self.second, self.outcome, self.clusters]
        first, second, outcome, clusters = (array[chosen] for array in arrays)
        return Battles(self.players, first, second, outcome, clusters)


def battles_of(fought: Iterable[Battle], players: Sequence[str] | None = None) -> Battles:
    """Make arrays of battles.

    Args:
        fought: The battles, in the order in which they were fought; plain Elo depends on it.
        players: Names of the models in the wanted order; None sorts those that occur.

    Returns:
        The battles.

    Raises:
        InputError: If there are none, or naming the first battle (counted from 1) with an outcome that is unknown, a
            model that meets itself, or one that is not among `players`.
    """
    listed = list(fought)
    if not listed:
        raise InputError("nothing to rank by; at least one comparison of two models is needed")
    names = tuple(sorted({name for one in listed for name in (one.first, one.second)}) if players is None else players)
    if len(set(names)) < len(names):
        raise InputError(f"a model is named twice among: {choices(names)}")
    index = {name: place for place, name in enumerate(names)}
    for number, battle in enumerate(listed, start=1):
        if fault := _fault(battle, index):
            raise InputError(f"comparison {number}: {fault}")
    return Battles(
        names,
        np.array([index[battle.first] for battle in listed], dtype=np.int64),
        np.array([index[battle.second] for battle in listed], dtype=np.int64),
        np.array([battle.outcome for battle in listed], dtype=np.float64),
        number_clusters([battle.cluster for battle in listed]),
    )


def outcome_of(winner: object, first: str, second: str) -> float:
    """Read the winner of a published vote.

    Args:
        winner: `model_a`, `model_b`, `tie`, `tie (bothbad)`, or the name of the winning model.
        first: Name of model a.
        second: Name of model b.

    Returns:
        The outcome (MAD paper, Eq. 3).

    Raises:
        InputError: If it is none of these, or a word of these that is also the name of one of the models.
    """
    if winner in (first, second) and winner in WINNERS:
        raise InputError(
            f"winner '{winner}' is ambiguous: one of the two models has that name; give the model another name"
        )
    known = {**WINNERS, first: 1.0, second: 0.0}
    if not isinstance(winner, str) or winner not in known:
        raise InputError(f"unknown winner {str(winner)[:60]!r}; allowed: {choices(known)}")
    return known[winner]


def _fault(battle: Battle, index: dict[str, int]) -> str:
    if battle.first == battle.second:
        return f"'{battle.first}' is compared with itself; two models are needed"
    if unknown := [name for name in (battle.first, battle.second) if name not in index]:
        return f"unknown model '{unknown[0]}'; allowed: {choices(index)}"
    if battle.outcome not in OUTCOMES:
        return f"unknown outcome {battle.outcome}; allowed: {choices(OUTCOMES)}"
    return ""
