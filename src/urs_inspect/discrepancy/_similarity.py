"""Similarities of texts: what they must offer, which there are by name, how users add one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import anyio
import numpy as np
import numpy.typing as npt
from anyio import to_thread

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy._lexical import make_lexical
from urs_inspect.discrepancy._vectors import Floats, Mask, Pair, Vectors

DEFAULT_SIMILARITY = "lexical"
"""Needs no download, no key and no model."""


@runtime_checkable
class VectorSimilarity(Protocol):
    """Turns a text into a vector; similarity is the cosine.

    One vector per text serves all pairs of models.
    """

    # name that vectors are cached under; another text preparation or model needs another name
    name: str
    costly: bool  # whether vectors are worth keeping on disk

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts that are not blank, shape (n, d), finite.

        Zero for a text it knows nothing of.
        """
        ...


@runtime_checkable
class PairwiseSimilarity(Protocol):
    """Compares two texts directly; every pair of answers is a call."""

    name: str  # what it is called in results

    def compare(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """Similarities of text pairs, shape (n,), between -1 and 1; NaN where there is none."""
        ...


@runtime_checkable
class AskedSimilarity(Protocol):
    """Compares two texts by asking a model, which takes time and can fail."""

    name: str  # what it is called in results

    async def ask(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """Similarities of text pairs, shape (n,), between 0 and 1; NaN where there is none."""
        ...


Similarity = VectorSimilarity | PairwiseSimilarity | AskedSimilarity
Maker = Callable[..., Similarity]
"""Makes a similarity from what follows the name in `name/argument` (empty for nothing), and keyword
options.
"""


@dataclass(frozen=True)
class SimilaritySpec:
    """`name` or `name/argument`, as a user writes it."""

    name: str
    argument: str

    def __str__(self) -> str:
        if self.argument:
            return f"{self.name}/{self.argument}"
        return self.name


Ask = Callable[[str, str], Awaitable[float]]
"""Asks about two texts: the similarity between 0 and 1, NaN where there is none.

The task `mad` makes one.
"""

_AT_ONCE = 32
"""Pairs that are asked about at a time, within the limits of the model's own client."""


class LLMSimilarity:
    """Similarities that a model gives."""

    name = "llm"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def ask(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """Similarity of each pair of texts, shape (n,), from 0 to 1; NaN where there is none."""
        similarities = np.full(len(first), np.nan)
        gate = anyio.Semaphore(_AT_ONCE)

        async def ask_one(item: int) -> None:
            async with gate:
                similarities[item] = await self._ask(first[item], second[item])

        async with anyio.create_task_group() as group:
            for item in range(len(first)):
                group.start_soon(ask_one, item)
        return similarities


def _make_llm(argument: str, *, ask: Ask | None = None) -> LLMSimilarity:
    """`llm`, with the option `ask`."""
    if argument or ask is None:
        given = "llm"
        if argument:
            given = f"llm/{argument}"
        raise InputError(f"similarity '{given}' needs a model role to ask; allowed: llm")
    return LLMSimilarity(ask)


_MAKERS: dict[str, Maker] = {"lexical": make_lexical, "llm": _make_llm}
"""Those of core and those that users register; satellites offer others."""


def _makers() -> dict[str, str | Maker]:
    """Name -> function, or the address of one (`_satellites.at`), imported when it is asked for."""
    return {**_MAKERS, **offered("similarities")}


def similarity_names() -> tuple[str, ...]:
    """Names of all similarities.

    Returns:
        The names as users write them, those of `register_similarity` included.
    """
    return tuple(_makers())


def register_similarity(name: str, maker: Maker) -> None:
    """Add a similarity.

    Args:
        name: Its name, without a slash.
        maker: Makes it from the argument of the spec and keyword options.

    Raises:
        InputError: If the name is empty, taken or has a slash.

    Examples:
        >>> import numpy as np
        >>> from urs_inspect.discrepancy import load_similarity, register_similarity
        >>> class EqualTexts:
        ...     name = "equal_texts"
        ...
        ...     def compare(self, first, second):
        ...         return np.array([one == other for one, other in zip(first, second)], float)
        >>> register_similarity("equal_texts", lambda argument: EqualTexts())
        >>> load_similarity("equal_texts").compare(["a", "b"], ["a", "c"]).tolist()
        [1.0, 0.0]
    """
    if name in _makers() or "/" in name or not name:
        raise InputError(
            f"similarity '{name}' cannot be added: the name is empty, taken or has a slash"
        )
    _MAKERS[name] = maker


def parse_similarity(spec: str) -> SimilaritySpec:
    """Split the spec of a similarity into its name and its argument.

    Args:
        spec: `lexical`, `openai/text-embedding-3-small`, `model2vec/<folder or name>`, or the like.

    Returns:
        Name and argument; the argument is empty if there is none.

    Raises:
        InputError: If there is no similarity of that name.

    Examples:
        >>> from urs_inspect.discrepancy import parse_similarity
        >>> spec = parse_similarity("lexical/4096")
        >>> spec.name, spec.argument
        ('lexical', '4096')
    """
    name, _, argument = spec.partition("/")
    makers = _makers()
    if name not in makers:
        raise InputError(
            f"unknown similarity '{spec}'; allowed: {choices(makers)}, some as name/model"
        )
    return SimilaritySpec(name, argument)


def load_similarity(spec: str = DEFAULT_SIMILARITY, **options: Any) -> Similarity:
    """Make the similarity that a spec names.

    Args:
        spec: `name` or `name/argument`.
        options: What the maker takes, as `base_url` for `openai` and `ask` for `llm`.

    Returns:
        The similarity, which has `encode` (vectors of texts), `compare` or `ask`.

    Raises:
        InputError: If it is unknown, what it needs is not installed, it does not take these
            options, or it is no similarity.

    Examples:
        >>> from urs_inspect.discrepancy import load_similarity
        >>> load_similarity("lexical").encode(["Good morning", "Good evening"]).shape
        (2, 2048)
    """
    parsed = parse_similarity(spec)
    maker = _makers()[parsed.name]
    if isinstance(maker, str):
        maker = at(maker)
    try:
        made = maker(parsed.argument, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error) and "required" not in str(error):
            raise
        raise InputError(f"similarity '{spec}': {error}") from error
    if not isinstance(made, VectorSimilarity | PairwiseSimilarity | AskedSimilarity):
        raise InputError(
            f"similarity '{spec}' has no `name`, or none of the methods `encode`, `compare` and"
            " `ask`"
        )
    return made


def checked_vectors(vectors: Vectors, count: int, name: str) -> Vectors:
    """Vectors of a model, if they are a matrix of `count` finite rows.

    Zero means that it knows no part of a text.
    """
    has_width = vectors.ndim == 2 and vectors.shape[1] != 0
    if not has_width or len(vectors) != count:
        raise InputError(
            f"similarity '{name}' gave vectors of shape {vectors.shape} for {count} texts"
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise InputError(
            f"similarity '{name}' gave {len(bad)} of {count} vectors that are not finite, the first"
            f" for text {bad[0]}"
        )
    return vectors


async def compare_answers(
    similarity: PairwiseSimilarity | AskedSimilarity,
    answers: Mapping[str, Sequence[str]],
    candidates: Mapping[Pair, Mask],
) -> dict[Pair, Floats]:
    """Compare the two answers of every pair to every candidate instruction.

    Blank answers are never compared.

    `answers` has those of a model in the order of the n instructions, `candidates` the mask, shape
    (n,), of each pair. Returns similarities of each pair, shape (n,), as
    `Selector.from_similarities` takes them; NaN where nothing was compared or the metric gave none.
    """
    found: dict[Pair, Floats] = {}
    for pair, mask in candidates.items():
        for name in pair:
            count = len(answers[name]) if name in answers else "no"
            if count != len(mask):
                raise InputError(
                    f"'{name}' has {count} answers; needed are {len(mask)}, one per instruction,"
                    " blank if missing"
                )
        one, other = (answers[name] for name in pair)
        candidates_of_pair = np.flatnonzero(mask).tolist()
        items = []
        for item in candidates_of_pair:
            if one[item].strip() and other[item].strip():
                items.append(item)
        first = [one[item] for item in items]
        second = [other[item] for item in items]
        if isinstance(similarity, AskedSimilarity):
            values = await similarity.ask(first, second)
        else:
            compared = await to_thread.run_sync(similarity.compare, first, second)
            values = np.asarray(compared, dtype=np.float64)
        if values.shape != (len(items),):
            raise InputError(
                f"similarity '{similarity.name}' gave values of shape {values.shape} for"
                f" {len(items)} pairs of texts"
            )
        found[pair] = np.full(len(mask), np.nan)
        found[pair][items] = values
    return found


def shortlist(
    similarities: npt.ArrayLike, size: int, ids: Sequence[str], allowed: Mask | None = None
) -> Mask:
    """The `size` allowed instructions on which answers are least similar by a cheap metric.

    They are worth a costly one.

    NaN is left out; equal similarities go by id. Fewer than `size` if there are not as many.
    """
    if size < 1:
        raise InputError(f"shortlist of {size} instructions; allowed: 1 or more")
    values = np.asarray(similarities, np.float64)
    usable = ~np.isnan(values)
    if allowed is not None:
        usable &= allowed
    items = np.flatnonzero(usable).tolist()
    items.sort(key=lambda item: (values[item], ids[item]))
    mask = np.zeros(len(values), np.bool_)
    mask[items[:size]] = True
    return mask
