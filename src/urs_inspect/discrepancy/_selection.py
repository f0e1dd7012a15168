"""Selection by maximum discrepancy.

The instructions on which two models differ most (MAD paper, Eqs. 1 and 2).
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, combinations
from typing import get_args

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy._greedy import Choice, PairGreedy, Selected, SetSimilarity, contenders
from urs_inspect.discrepancy._vectors import (
    Floats,
    InstructionVectors,
    Items,
    Mask,
    Pair,
    ResponseSimilarities,
    Vectors,
    check_shapes,
    cosine_error,
    exact_similarities,
    give_back,
    response_similarities,
)

LAMBDA = 1.0
"""Weight of diversity (MAD paper, section 3.5)."""
K = 10
"""Instructions per pair (MAD paper, section 3.1)."""
_AT_ONCE = 1 << 24
"""Similarities that are held at a time, 64 MB."""


@dataclass(frozen=True)
class Selection:
    """The instructions selected, and the settings.

    Attributes:
        selected: Pair -> its instructions in the order of selection.
        candidates: Pair -> how many instructions it could choose from.
        lam: Lambda of Eq. (2), the weight of diversity.
        set_similarity: Whether similarity to a set is the `max` over its members, or their `mean`.
        size: Instructions in the pool.
    """

    selected: Mapping[Pair, tuple[Selected, ...]]
    candidates: Mapping[Pair, int]
    lam: float
    set_similarity: SetSimilarity
    size: int


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
    """Select instructions for pairs of models, from vectors (MAD paper, Eq. 1 and 2).

    Args:
        responses: Model -> vectors of its answers, shape (n, d), row by row as `ids`. A zero vector
            stands for a blank answer: the instruction is no candidate for the model's pairs.
        instructions: Vectors of the instructions, shape (n, e); one with a zero vector is no
            candidate.
        ids: Ids of the instructions, shape (n,), each once.
        k: How many, for all pairs or by pair; 0 is allowed.
        lam: Lambda of Eq. (2): 0 or more; 0 is Eq. (1).
        set_similarity: Similarity to a set: the maximum over its members, or their mean.
        allowed: Which instructions may be selected, shape (n,), for all pairs or by pair.
        pairs: Pairs to select for; by default all.

    Returns:
        The instructions of each pair in the order in which they were selected, and the settings.

    Raises:
        InputError: For fewer than two models, vectors or ids that do not fit each other, or k above
            the candidates.

    Examples:
        >>> import numpy as np
        >>> from urs_inspect.discrepancy import select
        >>> first = np.array([[1.0, 0.0], [1.0, 0.0]])
        >>> second = np.array([[1.0, 0.1], [0.0, 1.0]])
        >>> selection = select({"a": first, "b": second}, np.eye(2), ["q1", "q2"], k=1)
        >>> selection.selected["a", "b"][0].id
        'q2'
    """
    selector = Selector.from_vectors(
        responses,
        instructions,
        ids,
        lam=lam,
        set_similarity=set_similarity,
        allowed=allowed,
        pairs=pairs,
    )
    return selector.select(k)


class Selector:
    """Selects instructions for pairs of models, all at once or one at a time.

    Source: MAD paper, Eq. 1 and 2.

    Built by `from_vectors` or `from_similarities`. Deterministic: no random numbers, and exact ties
    go to the smaller id. The selection of a pair depends on no other pair, so that a new model
    changes nothing for the others. A candidate is an instruction that is allowed, has a vector, and
    whose answers have a known similarity.

    Args:
        similarities: Similarities of the answers of P pairs to n instructions, in float32.
        exact: Pair -> what gives its similarities in full precision: the vectors of the two models'
            answers, shape (n, d) each, or the similarities, shape (n,).
        error: How far a similarity in float32 may be from the exact one, 0 or more.
        instructions: Vectors of the instructions, shape (n, e); one with a zero vector is no
            candidate.
        ids: Ids of the instructions, shape (n,), each once.
        lam: Lambda of Eq. (2): 0 or more; 0 is Eq. (1).
        set_similarity: Similarity to a set: the maximum over its members, or their mean.
        allowed: Which instructions may be selected, shape (n,), for all pairs or by pair; None for
            all.
        workers: Threads; None for one per processor.

    Raises:
        InputError: If lambda or `set_similarity` is not allowed, ids and vectors do not fit each
            other, or the vector of an allowed instruction's answer is not finite.

    Examples:
        >>> import numpy as np
        >>> from urs_inspect.discrepancy import Selector
        >>> first = np.array([[1.0, 0.0], [1.0, 0.0]])
        >>> second = np.array([[1.0, 0.1], [0.0, 1.0]])
        >>> selector = Selector.from_vectors({"a": first, "b": second}, np.eye(2), ["q1", "q2"])
        >>> selector.next(("a", "b"), []).id, selector.next(("a", "b"), ["q2"]).id
        ('q2', 'q1')
    """

    def __init__(  # noqa: PLR0913 - called by the two class methods alone
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
        if not (math.isfinite(lam) and lam >= 0):
            raise InputError(f"lambda is {lam}; allowed: 0 or more")
        if set_similarity not in get_args(SetSimilarity):
            raise InputError(
                f"set similarity '{set_similarity}'; allowed: {choices(get_args(SetSimilarity))}"
            )
        self.ids = _checked_ids(ids, similarities.values.shape[1], instructions)
        self.lam = float(lam)
        self.set_similarity = set_similarity
        self.pairs = similarities.pairs
        self._similarities = similarities
        self._exact = exact
        self._error = error
        self._workers = workers or os.cpu_count() or 1
        self._instructions = InstructionVectors(instructions, workers)
        self._numbers = {name: number for number, name in enumerate(self.ids)}
        count = len(self.ids)
        self._allowed = {pair: _mask_of(allowed, pair, count) for pair in self.pairs}
        for pair in self.pairs:
            for name in pair:
                unusable = similarities.unusable[similarities.models.index(name)]
                bad = np.flatnonzero(unusable & self._allowed[pair])
                if len(bad):
                    raise InputError(
                        f"{len(bad)} vectors of '{name}' are not finite, the first for instruction"
                        f" '{self.ids[bad[0]]}'; allowed: finite numbers, or a mask that excludes"
                        " the instruction"
                    )
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
            responses: Model -> vectors of its answers, shape (n, d), row by row as `ids`. A zero
                vector stands for a blank answer: the instruction is no candidate for the model's
                pairs.
            instructions: Vectors of the instructions, shape (n, e); one with a zero vector is no
                candidate.
            ids: Ids of the instructions, shape (n,), each once.
            lam: Lambda of Eq. (2): 0 or more; 0 is Eq. (1).
            set_similarity: Similarity to a set: the maximum over its members, or their mean.
            allowed: Which instructions may be selected, shape (n,), for all pairs or by pair.
            pairs: Pairs to select for; by default all. For a new model, give only its pairs.
            workers: Threads; None for one per processor.

        Returns:
            The selector.

        Raises:
            InputError: For fewer than two models, vectors or ids that do not fit each other, or
                unusable vectors of allowed instructions.
        """
        wanted = _checked_pairs(pairs, responses)
        _, width = check_shapes(responses, _models(wanted))
        similarities = response_similarities(responses, wanted, workers=workers)
        exact = {}
        for one, other in wanted:
            exact[one, other] = (responses[one], responses[other])
        return cls(
            similarities,
            exact,
            cosine_error(width),
            instructions,
            ids,
            lam,
            set_similarity,
            allowed,
            workers,
        )

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
            similarities: Pair -> similarity of the two answers to every instruction, shape (n,),
                between -1 and 1; NaN where it is unknown: such an instruction is no candidate.
            instructions: Vectors of the instructions, shape (n, e); one with a zero vector is no
                candidate.
            ids: Ids of the instructions, shape (n,), each once.
            lam: Lambda of Eq. (2): 0 or more; 0 is Eq. (1).
            set_similarity: Similarity to a set: the maximum over its members, or their mean.
            allowed: Which instructions may be selected, shape (n,), for all pairs or by pair.

        Returns:
            The selector, for the pairs in `similarities`.

        Raises:
            InputError: For similarities out of range or of another number than the ids.
        """
        models = _models(similarities)
        wanted = _checked_pairs(list(similarities), models)
        exact = {}
        for pair in wanted:
            exact[pair] = _checked_similarities(similarities[pair], pair, len(ids))
        values = list(exact.values())
        shape = (len(models), len(ids))
        found = ResponseSimilarities(
            pairs=wanted,
            values=np.array(values, np.float32),
            unusable=np.zeros(shape, np.bool_),
            models=models,
        )
        return cls(found, exact, 1e-7, instructions, ids, lam, set_similarity, allowed)

    def candidates(self, pair: Pair) -> int:
        """How many instructions a pair can choose from.

        Args:
            pair: Two models, in either order.

        Returns:
            The number of candidates.

        Raises:
            InputError: If there is no such pair.
        """
        return int(np.count_nonzero(self._mask(self._known(pair))))

    def select(
        self, k: int | Mapping[Pair, int] = K, given: Mapping[Pair, Sequence[str]] | None = None
    ) -> Selection:
        """Select k instructions for every pair.

        Args:
            k: How many, for all pairs or by pair; 0 is allowed.
            given: Pair -> ids that were selected before; they count as chosen and are not selected
                again.

        Returns:
            The instructions of each pair in the order in which they were selected, those of `given`
            left out, and the settings.

        Raises:
            InputError: If k is no whole number of 0 or more, a pair has fewer candidates than that,
                or a pair or an id of `given` is unknown.
        """
        candidates = {pair: self.candidates(pair) for pair in self.pairs}
        left = dict(candidates)
        chosen = {}
        for named, names in (given or {}).items():
            pair = self._known(named)
            items = self._items(names)
            chosen[pair] = self._chosen(items)
            left[pair] -= int(self._mask(pair)[items].sum())
        selected = merge(lambda now: [self.propose(now)], k, left, chosen)
        return Selection(
            selected=selected,
            candidates=candidates,
            lam=self.lam,
            set_similarity=self.set_similarity,
            size=len(self.ids),
        )

    def propose(self, chosen: Mapping[Pair, Sequence[Choice]]) -> dict[Pair, list[Choice]]:
        """What may be the next of each pair, for `merge`.

        Fast when called again with one more chosen.

        Args:
            chosen: Pair, as in `pairs`, -> what was chosen for it so far, in order: each
                instruction with its vector of length 1, shape (e,).

        Returns:
            Pair -> the instructions that may be next if other partitions of the pool propose theirs
            too, the best one last; none if no candidate is left.
        """
        states = {pair: self._state(pair, choices) for pair, choices in chosen.items()}
        self._fold(list(states.values()))
        with ThreadPoolExecutor(self._workers) as pool:
            proposals = list(pool.map(PairGreedy.propose, states.values()))
        # Single rows of each pair bring in many pages of memory-mapped files.
        pairs = [exact for exact in self._exact.values() if isinstance(exact, tuple)]
        arrays = [self._instructions.vectors, *chain.from_iterable(pairs)]
        for array in {id(array): array for array in arrays}.values():
            give_back(array, 0, len(array))
        return dict(zip(states, proposals, strict=True))

    def next(self, pair: Pair, chosen: Sequence[str]) -> Selected | None:
        """Select one more instruction for a pair, as `select` would after `chosen`.

        Fast when called again with its last result added, because it remembers where it was.

        Args:
            pair: Two models, in either order.
            chosen: Ids selected for the pair so far, in order.

        Returns:
            The next instruction; None if no candidate is left.

        Raises:
            InputError: If the pair or an id is unknown.
        """
        pair = self._known(pair)
        before = self._chosen(self._items(chosen))
        proposed = self.propose({pair: before})[pair]
        if not proposed:
            return None
        best, _ = proposed[-1]
        return best

    def _known(self, pair: Pair) -> Pair:
        """The pair in the order in which it is known."""
        for known in (pair, pair[::-1]):
            if known in self._allowed:
                return known
        raise InputError(f"no pair {_shown(pair)}; there are {choices(map(_shown, self.pairs))}")

    def _items(self, names: Sequence[str]) -> list[int]:
        """Numbers of instructions, each once."""
        unknown = [name for name in names if name not in self._numbers]
        if unknown:
            raise InputError(f"instruction '{unknown[0]}' is not in the pool of {len(self.ids)}")
        return list(dict.fromkeys(self._numbers[name] for name in names))

    def _chosen(self, items: Sequence[int]) -> list[Choice]:
        rows = self._instructions.exact_rows(np.array(items, np.intp))
        return [
            (Selected(self.ids[item], np.nan, np.nan, np.nan), row)
            for item, row in zip(items, rows, strict=True)
        ]

    def _mask(self, pair: Pair) -> Mask:
        """Which instructions are candidates for a known pair, shape (n,)."""
        unknown = np.isnan(self._similarities.of(pair))
        return np.asarray(self._allowed[pair] & ~unknown & ~self._instructions.lacking)

    def _state(self, pair: Pair, chosen: Sequence[Choice]) -> PairGreedy:
        state = self._states.get(pair)
        if state is None or not _begins_with(chosen, state.chosen):
            state = self._fresh(pair)
            self._states[pair] = state
        for choice in chosen[len(state.chosen) :]:
            selected, _ = choice
            state.add(choice, self._numbers.get(selected.id))
        return state

    def _fresh(self, pair: Pair) -> PairGreedy:
        base = self._similarities.of(pair)
        mask = self._mask(pair)
        if not mask.all():
            base = np.where(mask, base, np.float32(np.inf))
        exact = self._exact[pair]

        def similarities(items: Items) -> Floats:
            if isinstance(exact, tuple):
                return exact_similarities(*exact, items)
            return exact[items]

        return PairGreedy(
            base,
            self._error,
            similarities,
            self._instructions,
            self.ids,
            self.lam,
            self.set_similarity,
        )

    def _fold(self, states: Sequence[PairGreedy]) -> None:
        """Compute similarities that several pairs need together.

        The instructions are then read once.
        """
        at_once = max(1, _AT_ONCE // len(self.ids))
        while True:
            waiting = [(state.needs[0], state) for state in states if state.needs]
            if not waiting:
                return
            rows = {selected.id: row for (selected, row), _ in waiting}
            names = sorted(rows)[:at_once]
            targets = np.array([rows[name] for name in names], np.float32)
            similar = self._instructions.similarities(targets)
            similar_to = dict(zip(names, similar, strict=True))
            for (selected, _), state in waiting:
                if selected.id in similar_to:
                    state.fold(similar_to[selected.id])


def merge(
    propose: Callable[[Mapping[Pair, Sequence[Choice]]], Iterable[Mapping[Pair, Sequence[Choice]]]],
    k: int | Mapping[Pair, int],
    candidates: Mapping[Pair, int],
    given: Mapping[Pair, Sequence[Choice]] | None = None,
) -> dict[Pair, tuple[Selected, ...]]:
    """Select k instructions for every pair from what all partitions of a pool propose.

    It goes in steps: partitions propose after those given.
    """
    counts = {pair: _checked_k(k, pair) for pair in candidates}
    for pair, count in counts.items():
        left = candidates[pair]
        if count > left:
            raise InputError(
                f"k={count} is more than the {left} instructions that {_shown(pair)} can choose"
                " from"
            )
    before = given or {}
    chosen = {pair: list(before.get(pair, ())) for pair in counts}
    selected: dict[Pair, list[Selected]] = {pair: [] for pair in counts}
    for step in range(max(counts.values(), default=0)):
        active = {pair: chosen[pair] for pair, count in counts.items() if step < count}
        parts = list(propose(active))
        for pair, taken in active.items():
            proposed = chain.from_iterable(part[pair] for part in parts)
            best = contenders(proposed)[-1]
            taken.append(best)
            selected[pair].append(best[0])
    return {pair: tuple(instructions) for pair, instructions in selected.items()}


def _begins_with(choices: Sequence[Choice], first: Sequence[Choice]) -> bool:
    """Whether the first of some choices are these, by the ids of the instructions."""
    ids = [selected.id for selected, _ in choices[: len(first)]]
    return ids == [selected.id for selected, _ in first]


def _models(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """All models of some pairs, in order."""
    return tuple(sorted(set(chain.from_iterable(pairs))))


def _checked_pairs(pairs: Sequence[Pair] | None, models: Iterable[str]) -> tuple[Pair, ...]:
    """The pairs to compare: those given, or all of the models in sorted order."""
    names = sorted(models)
    if len(names) < 2:
        raise InputError(
            f"{len(names)} contestants ({', '.join(names) or 'none'}); at least two are needed"
        )
    if pairs is None:
        return tuple(combinations(names, 2))
    seen: set[frozenset[str]] = set()
    for pair in pairs:
        for name in pair:
            if name not in names:
                raise InputError(
                    f"pair {_shown(pair)}: unknown contestant '{name}'; allowed: {choices(names)}"
                )
        members = frozenset(pair)
        if len(members) < 2 or members in seen:
            raise InputError(
                f"pair {_shown(pair)}: allowed are two different contestants, each pair once"
            )
        seen.add(members)
    return tuple(pairs)


def _checked_ids(ids: Sequence[str], size: int, instructions: Vectors) -> tuple[str, ...]:
    """Ids of the instructions, as many as vectors and answers, each once."""
    if len(ids) != size or len(instructions) != size:
        raise InputError(
            f"{len(ids)} instruction ids, {len(instructions)} instruction vectors, {size} answers; "
            "their numbers must be equal"
        )
    if not size:
        raise InputError("the pool has no instructions; at least one is needed")
    [(name, count)] = Counter(ids).most_common(1)
    if count > 1:
        raise InputError(
            f"instruction id '{name}' occurs more than once; each needs an id of its own"
        )
    return tuple(ids)


def _mask_of(allowed: Mask | Mapping[Pair, Mask] | None, pair: Pair, size: int) -> Mask:
    """Which instructions a pair may choose, shape (size,); all of them by default."""
    if isinstance(allowed, Mapping):
        allowed = allowed.get(pair, allowed.get(pair[::-1]))
    if allowed is None:
        return np.ones(size, np.bool_)
    mask = np.asarray(allowed)
    if mask.shape != (size,) or mask.dtype != np.bool_:
        raise InputError(
            f"mask of {_shown(pair)} is {mask.dtype} of shape {mask.shape}; allowed: bool,"
            f" ({size},)"
        )
    return mask


def _checked_similarities(values: npt.ArrayLike, pair: Pair, size: int) -> Floats:
    found = np.asarray(values, np.float64)
    if found.shape != (size,):
        raise InputError(
            f"similarities of {_shown(pair)} have shape {found.shape}; allowed: ({size},)"
        )
    if (np.abs(found) > 1 + 1e-6).any():
        worst = found[np.nanargmax(np.abs(found))]
        raise InputError(f"a similarity of {_shown(pair)} is {worst}; allowed: -1 to 1")
    return found


def _checked_k(k: int | Mapping[Pair, int], pair: Pair) -> int:
    """How many instructions a pair is to get; 0 where a mapping does not name it."""
    wanted = k
    if isinstance(k, Mapping):
        as_swapped = k.get(pair[::-1], 0)
        wanted = k.get(pair, as_swapped)
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 0:
        raise InputError(f"k={wanted} of {_shown(pair)}; allowed: a whole number, 0 or more")
    return wanted


def _shown(pair: Pair) -> str:
    return f"{pair[0]} and {pair[1]}"
