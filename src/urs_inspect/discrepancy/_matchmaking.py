"""Which instructions each pair of models is compared on.

They are chosen by discrepancy, or by a baseline of the MAD paper, section 3.4.
"""

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Literal, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt
from anyio import to_thread

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy._greedy import Selected, SetSimilarity
from urs_inspect.discrepancy._pools import Pool, usable_masks
from urs_inspect.discrepancy._selection import LAMBDA, Selector
from urs_inspect.discrepancy._similarity import (
    DEFAULT_SIMILARITY,
    Similarity,
    VectorSimilarity,
    compare_answers,
    load_similarity,
    shortlist,
)
from urs_inspect.discrepancy._vector_cache import cached_vectors
from urs_inspect.discrepancy._vectors import Floats, Mask, Pair, response_similarities

Method = Literal["mad", "random", "kl", "cross_entropy"]
NEEDS_PROBABILITIES: frozenset[Method] = frozenset({"kl", "cross_entropy"})

_UNSPACED = (
    "\u0e00-\u0edf"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Japanese kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Chinese characters
)
"""Scripts written without blanks between words."""
_RUN = re.compile(f"[{_UNSPACED}]+")
_CHARACTERS_PER_WORD = 2
"""Length of a word in these scripts. Modern Chinese words have two characters in most cases."""
_LETTER = re.compile(r"[^\W_]")
"""A letter or digit of any script."""
_LOWEST = -100.0
"""Log probability that lower ones are raised to, since minus infinity has no mean."""


def count_words(text: str) -> int:
    """Number of words.

    Where words stand between blanks, they are counted as such if they hold a letter or digit.
    Chinese, Japanese, Thai, Lao, Burmese and Khmer are written without blanks: every two characters
    of a run count as one word, an odd one as one more. Marks that sit on a letter are no characters
    of their own.
    """
    text = unicodedata.normalize("NFKC", text)
    count = 0
    for run in _RUN.findall(text):
        is_mark = [unicodedata.category(character).startswith("M") for character in run]
        letters = is_mark.count(False)
        count += math.ceil(letters / _CHARACTERS_PER_WORD)
    for word in _RUN.sub(" ", text).split():
        count += _LETTER.search(word) is not None
    return count


def word_counts(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number of words of each text, shape (n,)."""
    return np.array([count_words(text) for text in texts], np.int64)


@dataclass(frozen=True)
class AnswerFilter:
    """What the two answers to an instruction must be like, to be compared.

    The paper's reference code keeps pairs with a length ratio under 4 and more than 20 words; the
    paper names neither, so both are off unless asked for.

    Attributes:
        max_length_ratio: The longer answer has fewer than this many times the words of the shorter;
            None for no limit.
        min_words: Both answers have more words than this; None for no limit.

    Raises:
        InputError: If `max_length_ratio` is not above 1, or `min_words` is below 0.
    """

    max_length_ratio: float | None = None
    min_words: int | None = None

    def __post_init__(self) -> None:
        if self.max_length_ratio is not None and not self.max_length_ratio > 1:
            raise InputError(f"length ratio {self.max_length_ratio}; allowed: above 1")
        if self.min_words is not None and self.min_words < 0:
            raise InputError(f"words {self.min_words}; allowed: 0 or more")

    def keeps(self, words: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> Mask:
        """Which pairs of answers pass, by their numbers of words.

        An answer without words passes no limit.

        Args:
            words: Words of the one model's answer to each instruction, shape (n,).
            others: Words of the other model's, shape (n,).

        Returns:
            Whether each pair of answers passes, shape (n,).
        """
        shorter = np.minimum(words, others)
        longer = np.maximum(words, others)
        kept = np.ones(len(words), np.bool_)
        if self.max_length_ratio is not None:
            kept &= longer < self.max_length_ratio * shorter
        if self.min_words is not None:
            kept &= shorter > self.min_words
        return kept


@dataclass(frozen=True)
class Rules:
    """How instructions are selected."""

    method: Method = "mad"  # Eqs. 1 and 2, or a baseline of section 3.4
    lam: float = LAMBDA
    set_similarity: SetSimilarity = "max"
    shortlist: int | None = 100
    """For similarities that cost a call per instruction: how many of the least similar ones by the
    default similarity are compared, for each pair; None for all.
    """
    answers: AnswerFilter = field(default_factory=AnswerFilter)
    seed: int = 0  # of the random baseline

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise InputError(f"method '{self.method}'; allowed: {choices(get_args(Method))}")


class InstructionSelector(Protocol):
    """Gives instructions for pairs of models, one after the other."""

    def candidates(self, pair: Pair) -> int:
        """How many instructions a pair can be compared on."""
        ...

    def next(self, pair: Pair, chosen: Sequence[str]) -> Selected | None:
        """The next instruction for a pair after those chosen so far; None if there is none left."""
        ...


class FixedOrder:
    """Instructions of each pair in a fixed order, the first one first.

    It does not depend on what was chosen before.
    """

    def __init__(self, orders: Mapping[Pair, Sequence[str]]) -> None:
        self._orders = {frozenset(pair): tuple(ids) for pair, ids in orders.items()}

    def candidates(self, pair: Pair) -> int:
        """How many instructions a pair can be compared on."""
        return len(self._orders[frozenset(pair)])

    def next(self, pair: Pair, chosen: Sequence[str]) -> Selected | None:
        """The first instruction in the order that is not chosen yet; similarities are not known."""
        order = self._orders[frozenset(pair)]
        taken = set(chosen)
        left = [name for name in order if name not in taken]
        if left:
            return Selected(left[0], np.nan, np.nan, np.nan)
        return None


def candidate_masks(pool: Pool, pairs: Sequence[Pair], answers: AnswerFilter) -> dict[Pair, Mask]:
    """Which instructions each pair can be compared on, shape (n,).

    Those of `usable_masks` whose answers pass.
    """
    masks = usable_masks(pool, pairs)
    if answers == AnswerFilter():  # counting words would be for nothing
        return masks
    answered = _answers(pool, pairs)
    words = {name: word_counts(texts) for name, texts in answered.items()}
    return {
        (one, other): mask & answers.keeps(words[one], words[other])
        for (one, other), mask in masks.items()
    }


async def instruction_selector(
    pool: Pool, masks: Mapping[Pair, Mask], rules: Rules, similarity: Similarity | None = None
) -> InstructionSelector:
    """Prepare the selection for some pairs of contestants, each with its mask of instructions.

    Shape (n,).

    By default the similarity of answers is the one that needs no model. The instructions' own
    similarity, for the diversity of Eq. (2), is the same where it has vectors, otherwise the
    default one.
    """
    if rules.method == "random":
        orders = {}
        for pair, mask in masks.items():
            orders[pair] = random_order(pool, pair, mask, rules.seed)
        return FixedOrder(orders)
    # Everything long in threads, since the harness has other work.
    if rules.method in NEEDS_PROBABILITIES:
        check_probabilities(pool, rules.method)
        return await to_thread.run_sync(_by_divergence, pool, masks, rules.method)
    similarity = similarity or load_similarity()
    if isinstance(similarity, VectorSimilarity):
        return await to_thread.run_sync(_by_vectors, pool, masks, rules, similarity)
    default = cast(VectorSimilarity, load_similarity(DEFAULT_SIMILARITY))
    if rules.shortlist is not None:
        masks = await to_thread.run_sync(_shortlists, pool, masks, rules.shortlist, default)
    similarities = await compare_answers(similarity, _answers(pool, masks), masks)
    instructions = await to_thread.run_sync(_instruction_vectors, pool, default)
    return Selector.from_similarities(
        similarities,
        instructions,
        _ids(pool),
        lam=rules.lam,
        set_similarity=rules.set_similarity,
        allowed=masks,
    )


def _by_divergence(pool: Pool, masks: Mapping[Pair, Mask], method: Method) -> FixedOrder:
    orders = {}
    for pair, mask in masks.items():
        orders[pair] = divergence_order(pool, pair, mask, method)
    return FixedOrder(orders)


def _by_vectors(
    pool: Pool, masks: Mapping[Pair, Mask], rules: Rules, similarity: VectorSimilarity
) -> Selector:
    return Selector.from_vectors(
        _answer_vectors(pool, masks, similarity),
        _instruction_vectors(pool, similarity),
        _ids(pool),
        lam=rules.lam,
        set_similarity=rules.set_similarity,
        allowed=masks,
        pairs=list(masks),
    )


def _shortlists(
    pool: Pool, masks: Mapping[Pair, Mask], size: int, similarity: VectorSimilarity
) -> dict[Pair, Mask]:
    """The masks, with only the least similar answers of each pair left in."""
    rough = response_similarities(_answer_vectors(pool, masks, similarity), list(masks))
    ids = _ids(pool)
    shortlists = {}
    for pair, mask in masks.items():
        shortlists[pair] = shortlist(rough.of(pair), size, ids, mask)
    return shortlists


def _answer_vectors(
    pool: Pool, pairs: Iterable[Pair], similarity: VectorSimilarity
) -> dict[str, npt.NDArray[np.float16]]:
    answers = _answers(pool, pairs)
    return {name: cached_vectors(similarity, texts) for name, texts in answers.items()}


def _instruction_vectors(pool: Pool, similarity: VectorSimilarity) -> npt.NDArray[np.float16]:
    return cached_vectors(similarity, [item.text for item in pool.instructions])


def _answers(pool: Pool, pairs: Iterable[Pair]) -> dict[str, list[str]]:
    names = sorted(set(chain.from_iterable(pairs)))
    return {name: pool.answers(name) for name in names}


def _ids(pool: Pool) -> list[str]:
    return [item.id for item in pool.instructions]


def random_order(pool: Pool, pair: Pair, mask: Mask, seed: int) -> tuple[str, ...]:
    """Ids of a pair's instructions in random order.

    The draw depends on the seed, the names of the models and the instructions only, so that it
    stays when a model joins.
    """
    names = sorted(compress(_ids(pool), mask))
    about = "\x00".join([str(seed), *sorted(pair)])
    digest = hashlib.sha256(about.encode()).digest()
    generator = np.random.default_rng(int.from_bytes(digest[:16], "little"))
    order = generator.permutation(len(names))
    return tuple(names[place] for place in order)


def check_probabilities(pool: Pool, method: Method) -> None:
    """Raise InputError where a baseline needs log probabilities and a contestant has given none."""
    for name in pool.contestants:
        if not any(pool.probabilities.get(name, {}).values()):
            raise InputError(
                f"selection: '{method}' needs the log probabilities of tokens, and {name} gave"
                " none; allowed for it: mad, random"
            )


def divergence_order(pool: Pool, pair: Pair, mask: Mask, method: Method) -> tuple[str, ...]:
    """Ids of a pair's instructions from the highest divergence to the lowest, equal ones by id.

    NaN is left out.
    """
    one, other = (pool.probabilities.get(name, {}) for name in pair)
    values = {}
    for name in compress(_ids(pool), mask):
        of_one = one.get(name, ())
        of_other = other.get(name, ())
        values[name] = divergence(of_one, of_other, method)
    known = sorted(name for name, value in values.items() if not math.isnan(value))
    return tuple(sorted(known, key=lambda name: -values[name]))


def divergence(first: Sequence[float], second: Sequence[float], kind: Method) -> float:
    """How far the confidence of two models in their own answers differs.

    It follows from the log probabilities of their tokens.

    Boubdir et al. (2023) rank prompts by the divergence of the two models' token probabilities.
    With p and q the probabilities of the t-th token that each model generated, for t up to the
    length T of the shorter answer, this is the mean over t of p log(p / q) for `kl`, and of -p
    log(q) for `cross_entropy`, averaged over both directions, because a comparison has no first
    model. The mean keeps long answers from winning by length alone. Higher means more different;
    `cross_entropy` is 0 or more. NaN if an answer has no token.
    """
    length = min(len(first), len(second))
    if not length:
        return math.nan
    log_p = _log_probabilities(first[:length])
    log_q = _log_probabilities(second[:length])
    p = np.exp(log_p)
    q = np.exp(log_q)
    if kind == "kl":
        both_ways = (p - q) * (log_p - log_q)
        return float(both_ways.mean() / 2)
    both_ways = p * log_q + q * log_p
    return float(-both_ways.mean() / 2)


def _log_probabilities(tokens: Sequence[float]) -> Floats:
    values = np.asarray(tokens, np.float64)
    highest = values.max()
    if np.isnan(highest) or highest > 1e-6:
        raise InputError(
            f"a token has log probability {highest}; allowed: 0 or less, natural logarithm"
        )
    return np.maximum(values, _LOWEST)
