"""Which instructions each pair of models is compared on: by discrepancy, or one of the baselines."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt
from anyio import to_thread

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy.baselines import divergences, highest, random_choice
from urs_inspect.discrepancy.greedy import SetSimilarity
from urs_inspect.discrepancy.pools import Pool, usable_masks
from urs_inspect.discrepancy.selection import LAMBDA, Mask, Pair, Selected, response_similarities
from urs_inspect.discrepancy.selector import Selector
from urs_inspect.discrepancy.similarity import (
    DEFAULT_SIMILARITY,
    AskedSimilarity,
    PairwiseSimilarity,
    Similarity,
    VectorSimilarity,
    ask_about_answers,
    compare_answers,
    load_similarity,
    shortlist,
)
from urs_inspect.discrepancy.vector_cache import cached_vectors

_UNSPACED = (
    "\u0e00-\u0edf"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Japanese kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Chinese characters
)
"""Scripts written without blanks between words."""
_RUN = re.compile(f"[{_UNSPACED}]+")
_CHARACTERS_A_WORD = 2
"""Length of a word in these scripts. Modern Chinese words have two characters in most cases."""
_LETTER = re.compile(r"[^\W_]")
"""A letter or digit of any script."""


def count_words(text: str) -> int:
    """Number of words.

    Where words stand between blanks, they are counted as such if they hold a letter or digit. Chinese, Japanese, Thai,
    Lao, Burmese and Khmer are written without blanks: every two characters of a run count as one word, an odd one
    as one more. Marks that sit on a letter are no characters of their own.
    """
    text = unicodedata.normalize("NFKC", text)
    count = 0
    for run in _RUN.findall(text):
        letters = sum(not unicodedata.category(character).startswith("M") for character in run)
        count += -(-letters // _CHARACTERS_A_WORD)
    return count + sum(_LETTER.search(word) is not None for word in _RUN.sub(" ", text).split())


@dataclass(frozen=True)
class AnswerFilter:
    """What the two answers to an instruction must be like, to be compared.

    The paper's reference code keeps pairs with a length ratio under 4 and more than 20 words; the paper names neither,
    so both are off unless asked for.

    Attributes:
        max_length_ratio: The longer answer has fewer than this many times the words of the shorter; 0 for no limit.
        min_words: Both answers have more words than this; -1 for no limit.
    """

    max_length_ratio: float = 0.0
    min_words: int = -1

    def __post_init__(self) -> None:
        if not (self.max_length_ratio == 0 or self.max_length_ratio > 1):
            raise InputError(f"length ratio {self.max_length_ratio}; allowed: above 1, or 0 for no limit")
        if self.min_words < -1:
            raise InputError(f"words {self.min_words}; allowed: 0 or more, or -1 for no limit")

    def keeps(self, words: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which pairs of answers pass.

        Args:
            words: Numbers of words of one model's answers, shape (n,).
            others: Those of the other's.

        Returns:
            Shape (n,). An answer without words passes no limit.
        """
        shorter, longer = np.minimum(words, others), np.maximum(words, others)
        kept = np.ones(len(words), np.bool_)
        if self.max_length_ratio:
            kept &= longer < self.max_length_ratio * shorter
        if self.min_words >= 0:
            kept &= shorter > self.min_words
        return kept


REFERENCE_FILTER = AnswerFilter(max_length_ratio=4.0, min_words=20)
"""That of the paper's reference code, with words counted in any language."""


def word_counts(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number of words of each text, shape (n,)."""
    return np.array([count_words(text) for text in texts], np.int64)


Method = Literal["mad", "random", "kl", "cross_entropy"]
METHODS: tuple[Method, ...] = get_args(Method)
NEEDS_PROBABILITIES: frozenset[Method] = frozenset({"kl", "cross_entropy"})


@dataclass(frozen=True)
class Rules:
    """How instructions are selected.

    Attributes:
        method: `mad` (Eqs. 1 and 2), or a baseline of section 3.4: `random`, `kl`, `cross_entropy`.
        lam: Lambda of Eq. (2), 0 or more.
        set_similarity: Similarity to the instructions selected before: the maximum, or the mean.
        shortlist: For similarities that cost a call an instruction: how many of the least similar ones by the default
            similarity are compared, for each pair; None for all.
        answers: What answers must be like.
        seed: Seed of the random baseline.
    """

    method: Method = "mad"
    lam: float = LAMBDA
    set_similarity: SetSimilarity = "max"
    shortlist: int | None = 100
    answers: AnswerFilter = field(default_factory=AnswerFilter)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError(f"selection: unknown value '{self.method}'; allowed: {choices(METHODS)}")


class Matchmaker(Protocol):
    """Gives instructions for pairs of models, one after the other."""

    def candidates(self, pair: Pair) -> int:
        """How many instructions a pair can be compared on."""
        ...

    def next(self, pair: Pair, chosen: Sequence[str]) -> Selected | None:
        """The next instruction for a pair after those chosen so far; None if there is none left."""
        ...


class FixedOrder:
    """Instructions in an order that does not depend on what was chosen before."""

    def __init__(self, orders: Mapping[Pair, Sequence[str]]) -> None:
        """Take the ids of the instructions by pair, the first one first."""
        self._orders = {frozenset(pair): tuple(ids) for pair, ids in orders.items()}

    def candidates(self, pair: Pair) -> int:
        """How many instructions a pair can be compared on."""
        return len(self._orders[frozenset(pair)])

    def next(self, pair: Pair, chosen: Sequence[str]) -> Selected | None:
        """The first instruction in the order that is not chosen yet; similarities are not known."""
        taken = set(chosen)
        found = next((name for name in self._orders[frozenset(pair)] if name not in taken), None)
        return None if found is None else Selected(found, np.nan, np.nan, np.nan)


def candidate_masks(pool: Pool, pairs: Sequence[Pair], answers: AnswerFilter) -> dict[Pair, Mask]:
    """Which instructions each pair of contestants can be compared on, shape (n,) by pair.

    Those of `usable_masks`, if their answers pass the rules.
    """
    masks = usable_masks(pool, pairs)
    if answers == AnswerFilter():  # counting words would be for nothing
        return masks
    words = {name: word_counts(pool.answers(name)) for name in sorted({name for pair in pairs for name in pair})}
    return {(one, other): mask & answers.keeps(words[one], words[other]) for (one, other), mask in masks.items()}


async def make_matchmaker(
    pool: Pool, masks: Mapping[Pair, Mask], rules: Rules, similarity: Similarity | None = None
) -> Matchmaker:
    """Prepare the selection for some pairs of contestants.

    Args:
        pool: Instructions and answers.
        masks: Pair -> which instructions it can be compared on, shape (n,).
        rules: How instructions are selected.
        similarity: Similarity of answers; by default the one that needs no model. The instructions' own similarity, for
            the diversity of Eq. (2), is the same where it has vectors, otherwise the default one.

    Raises:
        InputError: If there is nothing to select from, or a baseline needs log probabilities that the pool has not.
    """
    ids = [item.id for item in pool.instructions]
    if rules.method == "random":
        return FixedOrder(
            {
                pair: random_choice(ids, pair, int(mask.sum()), seed=rules.seed, allowed=mask)
                for pair, mask in masks.items()
            }
        )
    if rules.method in NEEDS_PROBABILITIES:
        return await to_thread.run_sync(_by_divergences, pool, masks, rules.method)
    return await _by_discrepancy(pool, masks, rules, similarity or load_similarity())


def _by_divergences(pool: Pool, masks: Mapping[Pair, Mask], method: Method) -> FixedOrder:
    check_probabilities(pool, method)
    return FixedOrder({pair: _by_divergence(pool, pair, mask, method) for pair, mask in masks.items()})


def check_probabilities(pool: Pool, method: Method) -> None:
    """Refuse a baseline that needs log probabilities where a contestant has given none.

    Raises:
        InputError: Naming the contestant.
    """
    for name in pool.contestants:
        if not any(pool.probabilities.get(name, {}).values()):
            raise InputError(
                f"selection: '{method}' needs the log probabilities of tokens, and {name} gave none; "
                "allowed for it: mad, random"
            )


def _by_divergence(pool: Pool, pair: Pair, mask: Mask, method: Method) -> tuple[str, ...]:
    ids = [item.id for item in pool.instructions]
    sides = [[pool.probabilities.get(name, {}).get(item, ()) for item in ids] for name in pair]
    values = divergences(sides[0], sides[1], "kl" if method == "kl" else "cross_entropy")
    usable = mask & ~np.isnan(values)
    return highest({pair: values}, ids, int(usable.sum()), allowed=usable)[pair]


async def _by_discrepancy(pool: Pool, masks: Mapping[Pair, Mask], rules: Rules, similarity: Similarity) -> Matchmaker:
    ids, texts = [item.id for item in pool.instructions], [item.text for item in pool.instructions]
    names = sorted({name for pair in masks for name in pair})
    answers = {name: pool.answers(name) for name in names}
    # Everything in threads: vectors of a large pool take long, and the harness has other work.
    if isinstance(similarity, VectorSimilarity):
        return await to_thread.run_sync(_from_vectors, similarity, answers, texts, ids, masks, rules)
    default = cast(VectorSimilarity, load_similarity(DEFAULT_SIMILARITY))
    if rules.shortlist is not None:
        masks = await to_thread.run_sync(_shortlisted, ids, answers, masks, default, rules.shortlist)
    found = await _compared(similarity, answers, masks)
    asked = await to_thread.run_sync(cached_vectors, default, texts)
    return Selector.from_similarities(
        found, asked, ids, lam=rules.lam, set_similarity=rules.set_similarity, allowed=masks
    )


def _from_vectors(
    similarity: VectorSimilarity,
    answers: Mapping[str, Sequence[str]],
    texts: Sequence[str],
    ids: Sequence[str],
    masks: Mapping[Pair, Mask],
    rules: Rules,
) -> Selector:
    vectors = {name: cached_vectors(similarity, given) for name, given in answers.items()}
    asked = cached_vectors(similarity, texts)
    return Selector.from_vectors(
        vectors, asked, ids, lam=rules.lam, set_similarity=rules.set_similarity, allowed=masks, pairs=list(masks)
    )


def _shortlisted(
    ids: Sequence[str],
    answers: Mapping[str, Sequence[str]],
    masks: Mapping[Pair, Mask],
    cheap: VectorSimilarity,
    size: int,
) -> dict[Pair, Mask]:
    vectors = {name: cached_vectors(cheap, texts) for name, texts in answers.items()}
    rough = response_similarities(vectors, list(masks))
    return {pair: shortlist(rough.of(pair), size, ids, mask) for pair, mask in masks.items()}


async def _compared(
    similarity: PairwiseSimilarity | AskedSimilarity, answers: Mapping[str, Sequence[str]], masks: Mapping[Pair, Mask]
) -> dict[Pair, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    if isinstance(similarity, AskedSimilarity):
        return await ask_about_answers(similarity, answers, masks)
    return await to_thread.run_sync(compare_answers, similarity, answers, masks)
