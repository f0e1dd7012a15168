"""Selection by maximum discrepancy: the instructions on which two models differ most (MAD paper, Eqs. 1 and 2)."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError
from urs_inspect.discrepancy.greedy import Choice, PairGreedy, SetSimilarity
from urs_inspect.discrepancy.selection import (
    LAMBDA,
    Candidates,
    K,
    Mask,
    Pair,
    ResponseSimilarities,
    Selected,
    Selection,
    check_rule,
    check_shapes,
    checked_ids,
    checked_k,
    checked_pairs,
    checked_similarities,
    exact_similarities,
    response_similarities,
    shown,
)
from urs_inspect.discrepancy.vectors import Floats, InstructionVectors, Items, Singles, Vectors, cosine_error, give_back

_AT_ONCE = 1 << 24
"""Similarities that are held at a time, 64 MB."""


def select(
    responses: Mapping[str, Vectors],
    instructions: Vectors,
    ids: Sequence[str],
    *,
    k: int | Mapping[Pair, int] = K,
    lam: float = LAMBDA,
    set_similarity: SetSimilarity = "max",
    allowed: Mask | Mapping[Pair, Mask] | None = None,
    pairs: Sequence[Pair] | None = None,
) -> Selection:
    """Select from vectors; see `Selector` and `Selector.select` for the arguments.

    Raises:
        InputError: For fewer than two models, vectors or ids that do not fit each other, or k above the candidates.
    """
    selector = Selector.from_vectors(
        responses, instructions, ids, lam=lam, set_similarity=set_similarity, allowed=allowed, pairs=pairs
    )
    return selector.select(k)


class Selector:
    """Selects instructions for pairs of models, all at once or one at a time.

    Built by `from_vectors` or `from_similarities`. Deterministic: no random numbers, and exact ties go to the smaller
    id. The selection of a pair depends on no other pair, so that a new model changes nothing for the others.
    """

    def __init__(
        self,
        similarities: ResponseSimilarities,
        exact: Mapping[Pair, tuple[Vectors, Vectors] | Floats],
        error: float,
        instructions: Vectors,
        ids: Sequence[str],
        lam: float,
        set_similarity: SetSimilarity,
        allowed: Mask | Mapping[Pair, Mask] | None,
        workers: int | None = None,
    ) -> None:
        check_rule(lam, set_similarity)
        self.ids = checked_ids(ids, similarities.values.shape[1], instructions)
        self.lam, self.set_similarity = float(lam), set_similarity
        self.pairs = similarities.pairs
        self._similarities, self._exact, self._error = similarities, exact, error
        self._workers = workers or os.cpu_count() or 1
        self._instructions = InstructionVectors(instructions, workers)
        self._candidates = Candidates(self.ids, similarities, self._instructions.lacking, allowed)
        self._states: dict[Pair, PairGreedy] = {}

    @classmethod
    def from_vectors(
        cls,
        responses: Mapping[str, Vectors],
        instructions: Vectors,
        ids: Sequence[str],
        *,
        lam: float = LAMBDA,
        set_similarity: SetSimilarity = "max",
        allowed: Mask | Mapping[Pair, Mask] | None = None,
        pairs: Sequence[Pair] | None = None,
        workers: int | None = None,
    ) -> "Selector":
        """Take cosines of vectors as similarities.

        Args:
            responses: Model -> vectors of its answers, shape (n, d), row by row as `ids`. A zero vector stands for a
                blank answer: the instruction is no candidate for the model's pairs.
            instructions: Vectors of the instructions, shape (n, e); one with a zero vector is no candidate.
            ids: Ids of the instructions, shape (n,), each once.
            lam: Lambda of Eq. (2): 0 or more; 0 is Eq. (1).
            set_similarity: Similarity to a set: the maximum over its members, or their mean.
            allowed: Which instructions may be selected, shape (n,), for all pairs or by pair.
            pairs: Pairs to select for; by default all. For a new model, give only its pairs.
            workers: Threads.

        Raises:
            InputError: For fewer than two models, vectors or ids that do not fit each other, or unusable vectors of
                allowed instructions.
        """
        wanted = checked_pairs(pairs, responses)
        _, width = check_shapes(responses, sorted({name for pair in wanted for name in pair}))
        found = response_similarities(responses, wanted, workers=workers)
        exact = {(one, other): (responses[one], responses[other]) for one, other in wanted}
        return cls(found, exact, cosine_error(width), instructions, ids, lam, set_similarity, allowed, workers)

    @classmethod
    def from_similarities(
        cls,
        similarities: Mapping[Pair, npt.ArrayLike],
        instructions: Vectors,
        ids: Sequence[str],
        *,
        lam: float = LAMBDA,
        set_similarity: SetSimilarity = "max",
        allowed: Mask | Mapping[Pair, Mask] | None = None,
    ) -> "Selector":
        """Take response similarities that were computed elsewhere, as BERTScore or a judge's.

        Args:
            similarities: Pair -> similarity of the two answers to every instruction, shape (n,), between -1 and 1;
                NaN where it is unknown: such an instruction is no candidate.
            instructions: As for `from_vectors`, as the other arguments.
            ids: Ids of the instructions.
            lam: Lambda.
            set_similarity: Maximum or mean.
            allowed: Which instructions may be selected.

        Raises:
            InputError: For similarities out of range or of another number than the ids.
        """
        wanted = checked_pairs(list(similarities), {name for pair in similarities for name in pair})
        exact = {pair: checked_similarities(similarities[pair], pair, len(ids)) for pair in wanted}
        models = tuple(sorted({name for pair in wanted for name in pair}))
        found = ResponseSimilarities(
            wanted, np.array(list(exact.values()), np.float32), np.zeros((len(models), len(ids)), np.bool_), models
        )
        return cls(found, exact, 1e-7, instructions, ids, lam, set_similarity, allowed)

    def discrepancies(self, pair: Pair) -> Singles:
        """Response similarities of a pair, shape (n,), NaN where unknown; the lower, the more the answers differ."""
        return self._similarities.of(self._candidates.known(pair))

    def candidates(self, pair: Pair) -> int:
        """How many instructions a pair can choose from."""
        return self._candidates.count(self._candidates.known(pair))

    def select(self, k: int | Mapping[Pair, int] = K, given: Mapping[Pair, Sequence[str]] | None = None) -> Selection:
        """Select k instructions for every pair.

        Args:
            k: How many, for all pairs or by pair; 0 is allowed.
            given: Pair -> ids that were selected before; they count as chosen and are not selected again.

        Raises:
            InputError: If k is no whole number of 0 or more, a pair has fewer candidates than that, or an id is
                unknown.
        """
        counts = {pair: checked_k(k, pair) for pair in self.pairs}
        known = {self._candidates.known(pair): tuple(found) for pair, found in (given or {}).items()}
        for pair, count in counts.items():
            left = self._candidates.left(pair, known.get(pair, ()))
            if count > left:
                raise InputError(f"k={count} is more than the {left} instructions that {shown(pair)} can choose from")
        states = {pair: self._fresh(pair, known.get(pair, ())) for pair in self.pairs if counts[pair]}
        found: dict[Pair, list[Selected]] = {pair: [] for pair in self.pairs}
        with ThreadPoolExecutor(self._workers) as pool:
            for step in range(max(counts.values(), default=0)):
                active = {pair: state for pair, state in states.items() if step < counts[pair]}
                self._fold(list(active.values()))
                chosen = pool.map(PairGreedy.next, active.values())
                for pair, choice in zip(active, chosen, strict=True):
                    if choice is not None:
                        found[pair].append(self._selected(choice))
                self._give_back()
        return Selection(
            {pair: tuple(chosen) for pair, chosen in found.items()},
            {pair: self._candidates.count(pair) for pair in self.pairs},
            self.lam,
            self.set_similarity,
            len(self.ids),
        )

    def next(self, pair: Pair, chosen: Sequence[str]) -> Selected | None:
        """Select one more instruction for a pair, as `select` would after `chosen`.

        Fast when called again with what it gave added, because it remembers where it was.

        Args:
            pair: Two models, in either order.
            chosen: Ids selected for the pair so far, in order.

        Returns:
            The next instruction; None if no candidate is left.

        Raises:
            InputError: If the pair or an id is unknown.
        """
        pair = self._candidates.known(pair)
        numbers = self._candidates.numbers(chosen)
        state = self._states.get(pair)
        if state is None or state.chosen != numbers:
            state = self._states[pair] = self._fresh(pair, chosen)
        choice = state.next()
        return None if choice is None else self._selected(choice)

    def _fresh(self, pair: Pair, chosen: Sequence[str]) -> PairGreedy:
        base, mask = self._similarities.of(pair), self._candidates.mask(pair)
        if not mask.all():
            base = np.where(mask, base, np.float32(np.inf))
        exact = self._exact[pair]

        def similarities(items: Items) -> Floats:
            return exact_similarities(*exact, items) if isinstance(exact, tuple) else exact[items]

        state = PairGreedy(
            base, self._error, similarities, self._instructions, self._candidates.ranks, self.lam, self.set_similarity
        )
        for number in self._candidates.numbers(chosen):
            state.add(number)
        return state

    def _fold(self, states: Sequence[PairGreedy]) -> None:
        """Compute similarities that several pairs need together, so that the instructions are read once."""
        while waiting := [state for state in states if state.needs]:
            items = sorted({state.needs[0] for state in waiting})[: max(1, _AT_ONCE // len(self.ids))]
            similar = self._instructions.similarities(np.array(items, np.intp))
            for state in waiting:
                if state.needs[0] not in items:
                    continue
                state.fold(similar[items.index(state.needs[0])])

    def _give_back(self) -> None:
        """Let go of pages of memory-mapped files: single rows of each pair bring in many."""
        sources = [array for found in self._exact.values() if isinstance(found, tuple) for array in found]
        for array in {id(array): array for array in sources}.values():
            give_back(array, 0, len(array))

    def _selected(self, choice: Choice) -> Selected:
        return Selected(
            self.ids[choice.item], choice.response_similarity, choice.instruction_similarity, choice.objective
        )
