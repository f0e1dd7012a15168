"""Growing a pool from seeds: near duplicates and the state of an evolution."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.discrepancy.embeddings import LexicalSimilarity, normalised
from urs_inspect.discrepancy.vectors import Singles

_BLOCK = 128
"""Texts that are compared at once."""
_ROUNDING = 1e-6
"""What float32 may take from a cosine: equal vectors must reach a threshold of 1."""


@dataclass(frozen=True)
class NearDuplicate:
    """Why a text was not added: the id of the text that it repeats."""

    of: str
    similarity: float  # cosine of the two, at most 1; 1 where the normalised texts are equal


class DistinctTexts:
    """A growing collection of texts, none of which nearly repeats an earlier one.

    A text repeats another from a cosine of character n-grams (see `LexicalSimilarity`) of `threshold`, above 0 and at
    most 1.
    """

    def __init__(self, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise InputError(f"duplicates: must be a number above 0 and at most 1, got {threshold!r}")
        self.threshold = threshold
        self._similarity = LexicalSimilarity()
        self._ids: list[str] = []
        self._equal: dict[str, str] = {}
        self._room: Singles = np.empty((_BLOCK, self._similarity.width), np.float32)

    def __len__(self) -> int:
        return len(self._ids)

    def take(self, texts: Mapping[str, str]) -> None:
        """Add texts by id as they are, even if they repeat each other."""
        ids = list(texts)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            words = [texts[name] for name in block]
            self._append(block, words, self._similarity.encode(words))

    def add(self, texts: Mapping[str, str]) -> dict[str, NearDuplicate]:
        """Add those texts (by id) that repeat neither a text of the collection nor an earlier one among themselves.

        They are looked at in the order of their ids, so that the result does not depend on the order in which they
        came. Returns the texts that were left out, with what they repeat: one that is equal except for case, width and
        white space, else the most similar one, at equal similarity the earliest.
        """
        refused: dict[str, NearDuplicate] = {}
        ids = sorted(texts)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            refused |= self._add_block(block, [texts[name] for name in block])
        return refused

    def _add_block(self, ids: Sequence[str], texts: Sequence[str]) -> dict[str, NearDuplicate]:
        vectors = self._similarity.encode(texts)
        known, among = vectors @ self._room[: len(self)].T, vectors @ vectors.T
        nearest = known.argmax(axis=1) if len(self) else None
        refused: dict[str, NearDuplicate] = {}
        equal, taken = dict(self._equal), list[int]()
        for row, (name, text) in enumerate(zip(ids, texts, strict=True)):
            near = [] if nearest is None else [(float(known[row, nearest[row]]), self._ids[nearest[row]])]
            near += [(float(among[row, other]), ids[other]) for other in taken]
            similarity, best = max(near, key=lambda pair: pair[0], default=(-1.0, ""))
            if (same := equal.get(normalised(text))) is not None:
                refused[name] = NearDuplicate(same, 1.0)
            elif similarity >= self.threshold - _ROUNDING:
                refused[name] = NearDuplicate(best, min(1.0, similarity))
            else:
                equal[normalised(text)] = name
                taken.append(row)
        self._append([ids[row] for row in taken], [texts[row] for row in taken], vectors[taken])
        return refused

    def _append(self, ids: Sequence[str], texts: Sequence[str], vectors: Singles) -> None:
        before, after = len(self), len(self) + len(ids)
        if after > len(self._room):
            self._room = np.concatenate([self._room[:before], np.empty((after, self._room.shape[1]), np.float32)])
        self._room[before:after] = vectors
        self._ids += ids
        for name, text in zip(ids, texts, strict=True):
            self._equal.setdefault(normalised(text), name)


@dataclass(frozen=True)
class PoolItem:
    """An instruction of a pool that evolves."""

    id: str  # `<seed>-r<round>` for an evolved one
    text: str
    reference: str  # its answer; empty for none
    intent: str  # as the rubric's data labels it
    language: str  # code
    seed: str  # id of the seed that it descends from; its own for a seed
    parent: str = ""  # id of the instruction that it was evolved from; empty for a seed
    generator: str = ""  # name of the model that wrote it; empty for a seed
    round: int = 0  # from 1; 0 for a seed


def child_id(seed: str, number: int) -> str:
    """Id of what a seed became in a round."""
    return f"{seed}-r{number}"


class Evolution:
    """One line of descent for every seed.

    A round evolves the youngest instruction of every line. The result is kept unless it nearly repeats a seed or
    anything kept so far; then, or where there is nothing usable, the same instruction is evolved again in the next
    round. `duplicates` is the similarity from which an instruction repeats another; see `DistinctTexts`.
    """

    def __init__(self, seeds: Sequence[PoolItem], duplicates: float) -> None:
        self.parents = {seed.id: seed for seed in seeds}  # the youngest of every line, by seed, in order
        self.kept: list[PoolItem] = []  # by round and then by id
        self._distinct = DistinctTexts(duplicates)
        self._distinct.take({seed.id: seed.text for seed in seeds})

    def settle(self, children: Iterable[PoolItem]) -> dict[str, NearDuplicate]:
        """End a round with its usable instructions, in any order; returns those not kept, and what they repeat."""
        by_id = {child.id: child for child in children}
        repeats = self._distinct.add({child.id: child.text for child in by_id.values()})
        for name in sorted(by_id.keys() - repeats.keys()):
            self.kept.append(by_id[name])
            self.parents[by_id[name].seed] = by_id[name]
        return repeats
