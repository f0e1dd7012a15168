"""Greedy choice of the instructions of one pair of models (MAD paper, Eq. 2).

Exact, and lazy about similarities.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from urs_inspect.discrepancy._vectors import Floats, InstructionVectors, Items, Singles, products

SetSimilarity = Literal["max", "mean"]
"""How the similarity of an instruction to a set comes from those to its members."""

_SEEDS = 24
_CHUNK = 2048
_EXACT = 512
_TIE = 1e-12
"""Difference of two objectives that is rounding of float64 and nothing else."""


@dataclass(frozen=True)
class Selected:
    """An instruction selected for a pair.

    Attributes:
        id: Id of the instruction.
        response_similarity: M(f_i(x), f_j(x)) of the two answers, -1 to 1 (MAD paper, Eq. 1).
        instruction_similarity: M(x, I), to the instructions selected before, -1 to 1; 0 for the
            first.
        objective: What Eq. (2) makes smallest: response similarity + lambda x instruction
            similarity.
    """

    id: str
    response_similarity: float
    instruction_similarity: float
    objective: float


Choice = tuple[Selected, Floats]
"""An instruction that is chosen, or may be, and its vector of length 1, shape (d,)."""


def contenders(found: Iterable[tuple[Selected, Any]]) -> list[tuple[Selected, Any]]:
    """Those that may be the best of a larger pool, by objective.

    The last is the best of these, by id if as good.
    """

    def objective_and_id(proposal: tuple[Selected, Any]) -> tuple[float, str]:
        selected, _ = proposal
        return selected.objective, selected.id

    kept: list[tuple[Selected, Any]] = []
    for selected, more in sorted(found, key=objective_and_id):
        is_as_good = not kept or selected.objective <= kept[0][0].objective + _TIE
        comes_first = not kept or selected.id < kept[-1][0].id
        if is_as_good and comes_first:
            kept.append((selected, more))
    return kept


class PairGreedy:
    """Proposes one instruction after the other for one pair.

    Keeps a lower bound on the objective of every instruction: its response similarity plus lambda
    times its similarity to those chosen when it was last looked at. With the maximum over the
    chosen that term can only grow, so any instruction whose bound lies above the best objective
    found needs no look. Everything is compared in float32 with a margin for rounding; what lies
    within the margin is compared again in float64, so that the choice is exact and equal
    objectives, up to the rounding of float64, go to the smaller id. The chosen may be of other
    partitions of the pool.

    `approximate` has response similarities of the n instructions in float32, infinite for those
    that may not be chosen, `error` bounds their rounding, and `exact` gives those of some
    instructions in float64; `ids` break ties.
    """

    def __init__(
        self,
        approximate: Singles,
        error: float,
        exact: Callable[[Items], Floats],
        instructions: InstructionVectors,
        ids: Sequence[str],
        lam: float,
        set_similarity: SetSimilarity,
    ) -> None:
        self._base = approximate
        self._exact = exact
        self._instructions = instructions
        self._ids = ids
        self._lam = lam
        self._mean = set_similarity == "mean"
        self._bounds = approximate.copy()
        self._sums = np.zeros(len(approximate), np.float32)
        rounding = error
        if lam:
            rounding += lam * instructions.error
        self._window = np.float32(2 * rounding + 4e-7 * (1 + lam))
        self._near: Items = np.zeros(0, np.intp)
        self._targets = np.zeros((0, instructions.width), np.float32)
        self._pending: list[Choice] = []
        self._taken: list[int] = []
        self.chosen: list[Choice] = []

    @property
    def needs(self) -> tuple[Choice, ...]:
        """Chosen instructions whose similarities to all others the next choice needs.

        `fold` takes them.
        """
        return tuple(self._pending)

    def add(self, choice: Choice, item: int | None) -> None:
        """Put an instruction into the chosen set.

        `item` is its number here, None for one of another partition.
        """
        self.chosen.append(choice)
        if item is not None:
            self._taken.append(item)
        self._bounds[self._taken] = np.inf
        if not self._lam:
            return
        _, vector = choice
        row = vector[None].astype(np.float32)
        self._targets = np.concatenate([self._targets, row])
        if self._mean or len(self.chosen) == 1:
            self._pending.append(choice)

    def fold(self, similarities: Singles) -> None:
        """Take in the similarities of all instructions to the first that is needed, shape (n,)."""
        self._pending.pop(0)
        weight = self._lam
        if self._mean:
            self._sums += similarities
            similarities = self._sums
            weight /= len(self.chosen) - len(self._pending)
        weighted = np.float32(weight) * similarities
        np.add(self._base, weighted, out=self._bounds)
        self._bounds[self._taken] = np.inf

    def propose(self) -> list[Choice]:
        """What may be the next instruction, if there are other partitions; nothing may be needed.

        The order is that of `contenders`.
        """
        is_lazy = bool(self._lam) and not self._mean and len(self.chosen) > 1
        best = self._look() if is_lazy else self._bounds.min(initial=np.inf)
        if not np.isfinite(best):
            return []
        candidates = np.flatnonzero(self._bounds <= best + self._window)
        return self._decide(candidates)

    def _look(self) -> np.float32:
        """Make the bounds sharp that could be the smallest, and return the smallest sharp one."""
        bounds = self._bounds
        near = self._near[np.isfinite(bounds[self._near])]
        if len(near) < _SEEDS:
            last = min(_SEEDS, len(bounds) - 1)
            near = np.argpartition(bounds, last)[:_SEEDS]
        elif len(near) > _SEEDS:
            near = _smallest(bounds, near, _SEEDS)
        near = near[np.isfinite(bounds[near])]
        self._sharpen(near)
        best = bounds[near].min(initial=np.float32(np.inf))
        sharp = np.zeros(len(bounds), np.bool_)
        sharp[near] = True
        seen = [near]
        while True:
            could_be_best = (bounds <= best + self._window) & (bounds < np.inf)
            rest = np.flatnonzero(could_be_best & ~sharp)
            if not len(rest):
                self._near = np.concatenate(seen)
                return np.float32(best)
            if len(rest) > _CHUNK:
                rest = _smallest(bounds, rest, _CHUNK)
            self._sharpen(rest)
            sharp[rest] = True
            seen.append(rest)
            best = min(best, bounds[rest].min())

    def _sharpen(self, items: Items) -> None:
        if not len(items):
            return
        rows = self._instructions.unit_rows(items)
        similarity = products(rows, self._targets).max(axis=0)
        weighted = np.float32(self._lam) * similarity
        self._bounds[items] = self._base[items] + weighted

    def _decide(self, candidates: Items) -> list[Choice]:
        """Those with the smallest objectives in float64."""
        starts = range(0, len(candidates), _EXACT)
        terms = [self._terms(candidates[start : start + _EXACT]) for start in starts]
        response, instruction = map(np.concatenate, zip(*terms, strict=True))
        objective = response + self._lam * instruction
        tied = np.flatnonzero(objective <= objective.min() + _TIE)
        proposals = []
        for place in tied:
            item = int(candidates[place])
            selected = Selected(
                id=self._ids[item],
                response_similarity=float(response[place]),
                instruction_similarity=float(instruction[place]),
                objective=float(objective[place]),
            )
            proposals.append((selected, item))
        kept = contenders(proposals)
        items = np.array([item for _, item in kept])
        rows = self._instructions.exact_rows(items)
        with_rows = zip(kept, rows, strict=True)
        return [(selected, row) for (selected, _), row in with_rows]

    def _terms(self, candidates: Items) -> tuple[Floats, Floats]:
        """Response and instruction similarities in float64."""
        response = self._exact(candidates)
        if not self.chosen:
            return response, np.zeros(len(candidates))
        rows = self._instructions.exact_rows(candidates)
        cosines = [(rows * vector).sum(axis=1) for _, vector in self.chosen]
        similar = np.clip(cosines, -1.0, 1.0)
        to_set = np.max(similar, axis=0)
        if self._mean:
            # One after the other: the order in which numpy adds up depends on the number of
            # candidates.
            to_set = sum(similar) / len(similar)
        return response, np.asarray(to_set, np.float64)


def _smallest(bounds: Singles, items: Items, count: int) -> Items:
    """Those `count` of more items that have the smallest bounds, in any order."""
    order = np.argpartition(bounds[items], count)
    return items[order[:count]]
