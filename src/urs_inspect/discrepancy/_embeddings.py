"""Similarities of this room: hashed n-grams, embeddings, a model that is asked."""

import os
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from logging import getLogger
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError
from urs_inspect.discrepancy._similarity import (
    AskedSimilarity,
    VectorSimilarity,
    checked_vectors,
    needed,
)
from urs_inspect.discrepancy._vectors import Floats, Singles, unit

if TYPE_CHECKING:
    from openai import OpenAI

logger = getLogger(__name__)

_SIZES = (2, 3, 4)
"""Two characters are a word in Chinese and Japanese; three and four are stems elsewhere."""
_WIDTH = 2048
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)


class LexicalSimilarity:
    """Cosine of hashed character n-grams.

    A text is normalised (NFKC, case, blanks); its n-grams of 2, 3 and 4 characters are counted in
    `width` buckets (16 or more), each with a sign of its own, so that collisions cancel on average;
    the root of the counts makes frequent n-grams weigh less. The hash is arithmetic on code points,
    hence the same in every process and on every machine.
    """

    costly = False

    def __init__(self, width: int = _WIDTH) -> None:
        if width < 16:
            raise InputError(f"similarity 'lexical': width {width}; allowed: 16 or more")
        self.width = width
        self.name = f"lexical/{width}"

    def encode(self, texts: Sequence[str]) -> Singles:
        """Vectors of length 1, shape (n, width), float32."""
        out = np.zeros((len(texts), self.width), np.float32)
        for row, text in zip(out, texts, strict=True):
            self._count(text, row)
        return out

    def _count(self, text: str, row: Singles) -> None:
        encoded = f" {normalised(text)} ".encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(encoded, np.uint32).astype(np.uint64)
        hashes = np.concatenate([_hashes(codes, size) for size in _SIZES])
        upper_bits = hashes >> np.uint64(33)
        buckets = (upper_bits % np.uint64(self.width)).astype(np.intp)
        signs = np.where(hashes & np.uint64(1 << 20), 1.0, -1.0)
        counts = np.bincount(buckets, weights=signs, minlength=self.width)
        values = np.sign(counts) * np.sqrt(np.abs(counts))
        length = float(np.linalg.norm(values))
        # Only in a text of a few characters can every n-gram cancel another.
        if length == 0:
            values[buckets[0]] = 1.0
            length = 1.0
        row[:] = values / length


def normalised(text: str) -> str:
    """A text without what makes no difference.

    Compatibility forms, case, and how much white space there is.
    """
    compatible = unicodedata.normalize("NFKC", text)
    return " ".join(compatible.casefold().split())


def _hashes(codes: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint64]:
    """A hash of every n-gram, modulo 2^64."""
    count = max(0, len(codes) - size + 1)
    value = np.full(count, size, np.uint64)
    for place in range(size):
        value = (value ^ codes[place : place + count]) * _BASE
        value ^= value >> np.uint64(29)
    value *= _MIX
    return np.asarray(value ^ (value >> np.uint64(32)))


def make_lexical(argument: str) -> VectorSimilarity:
    """`lexical`, or `lexical/<width>`."""
    if argument and not argument.isdecimal():
        raise InputError(
            f"similarity 'lexical/{argument}'; allowed: lexical, or lexical/<width of the vectors>"
        )
    width = _WIDTH
    if argument:
        width = int(argument)
    return LexicalSimilarity(width)


_INSTALL = "pip install 'urs-inspect[embed]'"
_MODEL2VEC = "minishlab/potion-multilingual-128M"
_SENTENCE_TRANSFORMERS = "sentence-transformers/all-MiniLM-L6-v2"


class LocalEmbeddings:
    """Embeddings of a model object with `encode(texts, **options)`, cached under `name`."""

    costly = True

    def __init__(self, name: str, model: Any, **options: Any) -> None:
        self.name = name
        self._model = model
        self._options = options

    def encode(self, texts: Sequence[str]) -> Singles:
        """Vectors of length 1, shape (n, d), float32.

        Zero where the model knows none of a text's words.
        """
        vectors = self._model.encode(list(texts), **self._options)
        return unit(np.asarray(vectors, np.float32))


def make_model2vec(argument: str) -> VectorSimilarity:
    """`model2vec`, or `model2vec/<folder or name>`: static embeddings, no torch."""
    [library] = needed("model2vec", "model2vec", _INSTALL, "model2vec")
    chosen = argument or _MODEL2VEC
    name = f"model2vec/{chosen}"
    model = _loaded(name, lambda: library.StaticModel.from_pretrained(chosen))
    return LocalEmbeddings(name, model)


def make_sentence_transformers(argument: str) -> VectorSimilarity:
    """`sentence_transformers`, or `sentence_transformers/<folder or name>`.

    No code from a model's folder runs.
    """
    [library] = needed(
        "sentence_transformers", "sentence-transformers", _INSTALL, "sentence_transformers"
    )
    chosen = argument or _SENTENCE_TRANSFORMERS
    name = f"sentence_transformers/{chosen}"
    model = _loaded(name, lambda: library.SentenceTransformer(chosen, trust_remote_code=False))
    return LocalEmbeddings(name, model, normalize_embeddings=True, show_progress_bar=False)


def _loaded(name: str, load: Any) -> Any:
    try:
        return load()
    except Exception as error:  # a hub, a file system and two libraries raise here
        cause = " ".join(str(error).split())[:200]
        raise InputError(
            f"similarity '{name}' cannot be loaded: {type(error).__name__}: {cause}"
        ) from error


DEFAULT_MODEL = "text-embedding-ada-002"
"""The paper's (MAD, section 3.1)."""
_BATCH = 128
_CONNECTIONS = 4
_RETRIES = 6
_TIMEOUT = 120.0
_SHORTEST = 64
"""Characters below which a text is not shortened further."""


class OpenAIEmbeddings:
    """Embeddings of an OpenAI-compatible server.

    The key comes from `OPENAI_API_KEY` only; a server of one's own needs none. The address is
    `base_url`, else `OPENAI_BASE_URL`, else OpenAI's. The SDK repeats calls that failed. A text
    that the model finds too long is cut to half until it fits, and the log reports how many were.
    `batch` is the number of texts per call, `connections` that of calls at a time.
    """

    costly = True

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        base_url: str | None = None,
        batch: int = _BATCH,
        connections: int = _CONNECTIONS,
        client: "OpenAI | None" = None,
    ) -> None:
        if batch < 1 or connections < 1:
            raise InputError(
                f"similarity 'openai': batch {batch}, connections {connections}; allowed: 1 or more"
            )
        address = base_url or os.environ.get("OPENAI_BASE_URL") or ""
        self.model = model
        at = ""
        if address:
            at = f"@{address.rstrip('/')}"
        self.name = f"openai/{model}{at}"
        self._batch = batch
        self._connections = connections
        self._client = client or _client(address, self.name)
        self._shortened = 0

    def encode(self, texts: Sequence[str]) -> Singles:
        """Vectors of length 1, shape (n, d), float32, in the order of the texts."""
        starts = range(0, len(texts), self._batch)
        batches = [texts[start : start + self._batch] for start in starts]
        self._shortened = 0
        with ThreadPoolExecutor(self._connections) as pool:
            parts = list(pool.map(self._embed, batches))
        if self._shortened:
            logger.warning(
                f"{self.name}: {self._shortened} of {len(texts)} texts were cut to fit the model"
            )
        self._check_widths(part.shape[1] for part in parts)
        return unit(np.concatenate(parts))

    def _embed(self, texts: Sequence[str]) -> Singles:
        found = self._request(texts)
        if isinstance(found, np.ndarray):
            return found
        if len(texts) > 1:  # find the text that is too long
            middle = len(texts) // 2
            first = self._embed(texts[:middle])
            second = self._embed(texts[middle:])
            return np.concatenate([first, second])
        [text] = texts
        error = found
        if len(text) <= _SHORTEST:
            raise InputError(
                f"{self.name} refused a text of {len(text)} characters: {_one_line(error)}"
            ) from error
        self._shortened += 1
        while len(text) > _SHORTEST:
            text = text[: len(text) // 2]
            found = self._request([text])
            if isinstance(found, np.ndarray):
                return found
        raise InputError(
            f"{self.name} refused even {len(text)} characters of a text: {_one_line(error)}"
        ) from error

    def _request(self, texts: Sequence[str]) -> Singles | Exception:
        """Vectors of texts, or the error if one is too long."""
        import openai

        try:
            reply = self._client.embeddings.create(
                model=self.model, input=list(texts), encoding_format="float"
            )
        except openai.BadRequestError as error:
            message = str(error).casefold()
            if any(words in message for words in _TOO_LONG):
                return error
            raise InputError(f"{self.name} refused the texts: {_one_line(error)}") from error
        except openai.OpenAIError as error:
            raise InputError(
                f"no embeddings from {self.name}: {type(error).__name__}: {_one_line(error)}"
            ) from error
        return self._checked(reply.data, len(texts))

    def _checked(self, data: Sequence[Any], count: int) -> Singles:
        """Vectors in the order of the texts, for a reply in any order."""
        by_place = {item.index: item for item in data}
        if len(data) != count or by_place.keys() != set(range(count)):
            places = sorted((item.index for item in data), key=str)  # a server may give none
            raise InputError(
                f"{self.name} answered for texts {places[:10]} of {count}; each is needed once"
            )
        ordered = [by_place[place] for place in range(count)]
        self._check_widths(len(item.embedding) for item in ordered)
        with np.errstate(over="ignore"):
            vectors = np.array([item.embedding for item in ordered], np.float32)
        checked_vectors(vectors, count, self.name)
        return vectors

    def _check_widths(self, widths: Iterable[int]) -> None:
        found = sorted(set(widths))
        if len(found) > 1:
            raise InputError(
                f"{self.name} gave vectors of widths {found}; one model must have one width"
            )


def make_openai(
    argument: str,
    *,
    base_url: str | None = None,
    connections: int = _CONNECTIONS,
) -> VectorSimilarity:
    """`openai`, or `openai/<model>`."""
    model = argument or DEFAULT_MODEL
    return OpenAIEmbeddings(model, base_url=base_url, connections=connections)


def _client(address: str, name: str) -> "OpenAI":
    from openai import OpenAI

    key = os.environ.get("OPENAI_API_KEY")
    if not key and not address:
        raise InputError(
            f"similarity '{name}' needs a key: set OPENAI_API_KEY, or give the base_url of a server"
        )
    return OpenAI(
        api_key=key or "none",
        base_url=address or None,
        max_retries=_RETRIES,
        timeout=_TIMEOUT,
    )


_TOO_LONG = ("context length", "context_length", "too many tokens", "max_model_len", "too long")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


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


def make_llm(argument: str, *, ask: Ask | None = None) -> AskedSimilarity:
    """`llm`, with the option `ask`."""
    if argument or ask is None:
        given = "llm"
        if argument:
            given = f"llm/{argument}"
        raise InputError(f"similarity '{given}' needs a model role to ask; allowed: llm")
    return LLMSimilarity(ask)
