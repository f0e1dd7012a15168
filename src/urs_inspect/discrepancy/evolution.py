"""Growing a pool from seeds: near duplicates and the state of an evolution."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.discrepancy.embeddings import LexicalSimilarity
from urs_inspect.discrepancy.vectors import Singles

_BLOCK = 128
"""Texts that are compared at once."""
_ROUNDING = 1e-6
"""What float32 may take from a cosine: equal vectors must reach a threshold of 1."""


@dataclass(frozen=True)
class NearDuplicate:
    """Why a text was not taken up.

    Attributes:
        of: Id of the text that it repeats.
        similarity: Cosine of the two, at most 1; 1 where the normalised texts are equal.
    """

    of: str
    similarity: float


class DistinctTexts:
    """A growing collection of texts, none of which nearly repeats an earlier one."""

    def __init__(self, threshold: float) -> None:
        """Begin an empty collection.

        Args:
            threshold: Cosine of character n-grams (see `LexicalSimilarity`) from which a text repeats another, above 0
                and at most 1.

        Raises:
            InputError: If the threshold is outside that range.
        """
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
        """Take up texts as they are, even if they repeat each other."""
        ids = list(texts)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            words = [texts[name] for name in block]
            self._append(block, words, self._similarity.encode(words))

    def add(self, texts: Mapping[str, str]) -> dict[str, NearDuplicate]:
        """Take up those texts that repeat neither a text of the collection nor an earlier one among themselves.

        Args:
            texts: Texts by id. They are looked at in the order of their ids, so that the result does not depend on
                the order in which they came.

        Returns:
            The texts that were left out, with what they repeat: one that is equal apart from case, width and white
            space, else the most similar one, at equal similarity the earliest.
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


def normalised(text: str) -> str:
    """A text without what makes no difference: compatibility forms, case, and how much white space there is."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True)
class PoolItem:
    """An instruction of a pool that evolves.

    Attributes:
        id: Id; `<seed>-r<round>` for an evolved one.
        text: The instruction.
        reference: Its answer; empty for none.
        intent: What a user would come for, as the rubric's data labels it.
        language: Language code.
        seed: Id of the seed that it descends from; its own for a seed.
        parent: Id of the instruction that it was evolved from; empty for a seed.
        generator: Name of the model that wrote it; empty for a seed.
        round: Number of the round, from 1; 0 for a seed.
    """

    id: str
    text: str
    reference: str
    intent: str
    language: str
    seed: str
    parent: str = ""
    generator: str = ""
    round: int = 0


def child_id(seed: str, number: int) -> str:
    """Id of what a seed has become in a round."""
    return f"{seed}-r{number}"


class Evolution:
    """One line of descent for every seed.

    A round evolves the youngest instruction of every line. What came of it is kept unless it nearly repeats a seed or
    anything kept so far; then, or where nothing usable came, the same instruction is evolved again in the next round.

    Attributes:
        parents: The youngest instruction of every line, by seed, in the order of the seeds.
        kept: Evolved instructions that were kept, by round and then by id.
    """

    def __init__(self, seeds: Sequence[PoolItem], duplicates: float) -> None:
        """Begin with seeds.

        Args:
            seeds: The seeds.
            duplicates: Similarity from which an instruction repeats another; see `DistinctTexts`.

        Raises:
            InputError: If the similarity is out of range.
        """
        self.parents = {seed.id: seed for seed in seeds}
        self.kept: list[PoolItem] = []
        self._distinct = DistinctTexts(duplicates)
        self._distinct.take({seed.id: seed.text for seed in seeds})

    def settle(self, children: Iterable[PoolItem]) -> dict[str, NearDuplicate]:
        """End a round.

        Args:
            children: The usable instructions of the round, in any order.

        Returns:
            Those that were not kept, and what they repeat.
        """
        found = {child.id: child for child in children}
        repeats = self._distinct.add({child.id: child.text for child in found.values()})
        for name in sorted(found.keys() - repeats.keys()):
            self.kept.append(found[name])
            self.parents[found[name].seed] = found[name]
        return repeats
