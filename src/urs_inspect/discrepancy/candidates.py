"""The instructions that each pair of models can choose from."""

from collections.abc import Mapping, Sequence

import numpy as np

from urs_inspect.discrepancy.checks import Mask, mask_of, shown
from urs_inspect.discrepancy.response_similarity import Pair, ResponseSimilarities
from urs_inspect.errors import InputError, choices


class Candidates:
    """Which instructions are candidates: allowed ones whose vector, and whose answers' similarity, is known.

    Attributes:
        ranks: Place of every instruction in the order of ids, shape (n,).

    Args:
        ids: Ids of the instructions, n, each once.
        similarities: Similarities of the answers, by pair.
        lacking: Which instructions have no vector, shape (n,).
        allowed: Which instructions may be selected, shape (n,), for all pairs or by pair; None for all.

    Raises:
        InputError: If a mask does not fit, or an allowed instruction has an answer whose vector is unusable.
    """

    def __init__(
        self,
        ids: tuple[str, ...],
        similarities: ResponseSimilarities,
        lacking: Mask,
        allowed: Mask | Mapping[Pair, Mask] | None,
    ) -> None:
        self._ids, self._similarities, self._lacking = ids, similarities, lacking
        self._numbers = {name: number for number, name in enumerate(ids)}
        order = sorted(range(len(ids)), key=ids.__getitem__)
        self.ranks = np.empty(len(order), np.intp)
        self.ranks[order] = np.arange(len(order))
        self._allowed = {pair: mask_of(allowed, pair, len(ids)) for pair in similarities.pairs}
        self._refuse_unusable()

    def known(self, pair: Pair) -> Pair:
        """The pair in the order in which it is known.

        Raises:
            InputError: If there is no such pair.
        """
        for known in (pair, pair[::-1]):
            if known in self._allowed:
                return known
        raise InputError(f"no pair {shown(pair)}; there are {choices(map(shown, self._allowed))}")

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Numbers of instructions, each once.

        Raises:
            InputError: If an id is unknown.
        """
        unknown = [name for name in names if name not in self._numbers]
        if unknown:
            raise InputError(f"instruction '{unknown[0]}' is not in the pool of {len(self._ids)}")
        return list(dict.fromkeys(self._numbers[name] for name in names))

    def mask(self, pair: Pair) -> Mask:
        """Which instructions a known pair can choose from, shape (n,)."""
        return np.asarray(self._allowed[pair] & ~np.isnan(self._similarities.of(pair)) & ~self._lacking)

    def count(self, pair: Pair) -> int:
        """How many instructions a known pair can choose from."""
        return int(np.count_nonzero(self.mask(pair)))

    def left(self, pair: Pair, chosen: Sequence[str]) -> int:
        """How many of them are left when some ids are chosen.

        Raises:
            InputError: If an id is unknown.
        """
        mask = self.mask(pair)
        mask[self.numbers(chosen)] = False
        return int(np.count_nonzero(mask))

    def _refuse_unusable(self) -> None:
        for pair in self._allowed:
            for name in pair:
                unusable = self._similarities.unusable[self._similarities.models.index(name)]
                bad = np.flatnonzero(unusable & self._allowed[pair])
                if len(bad):
                    raise InputError(
                        f"{len(bad)} vectors of '{name}' are not finite, the first for instruction "
                        f"'{self._ids[bad[0]]}'; allowed: finite numbers, or a mask that excludes the instruction"
                    )
