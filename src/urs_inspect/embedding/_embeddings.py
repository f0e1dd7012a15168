"""Embeddings of texts: by libraries on this machine, or by an embeddings API."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from logging import getLogger
from typing import TYPE_CHECKING, Any

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.discrepancy._similarity import VectorSimilarity, checked_vectors
from urs_inspect.discrepancy._vectors import Singles

if TYPE_CHECKING:
    from openai import OpenAI

logger = getLogger(__name__)

_INSTALL = "pip install 'urs-inspect[embed]'"
_MODEL2VEC = "minishlab/potion-multilingual-128M"
_SENTENCE_TRANSFORMERS = "sentence-transformers/all-MiniLM-L6-v2"


def unit(vectors: Singles) -> Singles:
    """Vectors of length 1, shape (n, d); zero ones stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    zeros = np.zeros_like(vectors)
    divided = np.divide(vectors, lengths, out=zeros, where=lengths > 0)
    return np.asarray(divided, np.float32)


def needed(name: str, package: str, line: str, *modules: str) -> list[Any]:
    """The modules that a similarity needs.

    If they cannot be imported, an error with the line that installs them.
    """
    try:
        return [import_module(module) for module in modules]
    except ImportError as error:
        raise InputError(
            f"similarity '{name}' needs {package}, which cannot be imported ({error}): {line}"
        ) from error


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
