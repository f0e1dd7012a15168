"""Vectors of queries and of queries with responses, computed once and kept on disk.

Also what trained heads predict from these vectors.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError
from urs_inspect.samer._checkpoint import BACKBONE
from urs_inspect.samer._evaluation import Evaluation, Heads, WeightsAt, evaluate, raw_outputs
from urs_inspect.samer._pairs import Codes, PairLabels, Rows, TrainingPair

Vectors = npt.NDArray[np.floating[Any]]
Singles = npt.NDArray[np.float32]
_Floats = npt.NDArray[np.float64]

_BATCH = 64  # items that are embedded between two writes: what an interruption can lose


class PairEmbedder(Protocol):
    """Gives the two vectors of a query and a response."""

    name: str  # that vectors are cached under; another model or preparation needs another name
    # what the file of heads that are trained on its vectors declares about it
    facts: Mapping[str, str]

    def embed(self, queries: Sequence[str], responses: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Vectors of each query and of each query with its response, shape (n, h) each."""
        ...


class VectorCache(Protocol):
    """Vectors on disk by text."""

    def find(self, texts: Sequence[str]) -> Rows:
        """Rows of texts, -1 for those not there."""
        ...

    def rows(self) -> Any:
        """All vectors, memory-mapped, shape (count, h)."""
        ...

    def add(self, texts: Sequence[str], vectors: Any) -> None:
        """Append vectors and force them to disk."""
        ...


class TextModel(Protocol):
    """Any embedding model."""

    name: str

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts that are not blank, shape (n, d)."""
        ...


class TextEmbedder:
    """Makes an embedding model of texts the backbone.

    Layout `beside`: the query's vector beside the response's, h = 2d, with zeros where there is no
    response. `joined`: query and response are one text, as for SaMer's own backbone, h = d; a model
    that reads only the beginning of a text may not reach the response, so that two responses get
    the same vector.
    """

    def __init__(self, model: TextModel, layout: str = "beside") -> None:
        self._model = model
        self._layout = layout
        self.name = f"samer/{layout}/{model.name}"
        self.facts: Mapping[str, str] = {BACKBONE: self.name}

    def embed(self, queries: Sequence[str], responses: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Vectors of each query and of each query with its response, shape (n, h) each."""
        joined = self._layout == "joined"
        if joined:
            texts = zip(queries, responses, strict=True)
            responses = [f"{query}\n\n{response}" for query, response in texts]
        vectors = self._encode([*queries, *responses])
        of_queries, of_responses = np.split(vectors, [len(queries)])
        if joined:
            return of_queries, of_responses
        nothing = np.zeros_like(of_queries)
        return np.hstack([of_queries, nothing]), np.hstack([of_queries, of_responses])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        """One vector per text; zeros for blank ones, each different text computed once."""
        different = dict.fromkeys(filter(str.strip, texts))
        once = {text: place for place, text in enumerate(different)}
        if not once:
            raise InputError(f"backbone '{self._model.name}': nothing but blank texts to embed")
        vectors = self._model.encode(list(once))
        zeros = np.zeros((1, vectors.shape[1]), vectors.dtype)
        padded = np.vstack([vectors, zeros])
        return padded[[once.get(text, len(once)) for text in texts]]


@dataclass(frozen=True, eq=False)
class PairVectors:
    """Vectors of n pairs, read from a table (in memory or memory-mapped) only when asked for."""

    table: Any  # shape (m, h)
    queries: Rows  # row of each pair's query, shape (n,)
    responses: Rows  # rows of each pair's query with response a and with response b, shape (n, 2)

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def hidden_size(self) -> int:
        """Width h of a vector."""
        return int(self.table.shape[1])

    def take(self, rows: Rows) -> "PairVectors":
        """Some of the pairs, in that order; the table stays where it is."""
        return PairVectors(self.table, self.queries[rows], self.responses[rows])

    def gather(self) -> tuple[Singles, Singles, Singles]:
        """Vectors of the queries, of queries with response a, and with response b.

        Their shape is (n, h) each, in float32.
        """
        first, second = self.responses.T
        return (
            np.asarray(self.table[self.queries], np.float32),
            np.asarray(self.table[first], np.float32),
            np.asarray(self.table[second], np.float32),
        )


def fill_cache(
    pairs: Sequence[TrainingPair],
    embedder: PairEmbedder,
    cache: VectorCache,
    *,
    batch: int = _BATCH,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Compute the vectors that are missing; it may be stopped at any time and resumes.

    `batch` is the number of items (a query with a response) between two writes; `progress` is
    called with the number of items done and of all that were missing, which is also returned.
    """
    items = list(dict.fromkeys(_items(pairs)))
    cached = cache.find([_key(*item) for item in items]) >= 0
    queries = cache.find([_key(prompt) for prompt, _ in items]) >= 0
    missing = list(compress(items, ~(cached & queries)))
    for start in range(0, len(missing), batch):
        part = missing[start : start + batch]
        prompts = [prompt for prompt, _ in part]
        responses = [response for _, response in part]
        of_queries, of_responses = embedder.embed(prompts, responses)
        keys = list(map(_key, prompts))
        keys += [_key(*item) for item in part]
        cache.add(keys, np.vstack([of_queries, of_responses]))
        if progress:
            progress(start + len(part), len(missing))
    return len(missing)


def pair_vectors(pairs: Sequence[TrainingPair], cache: VectorCache) -> PairVectors:
    """Find the vectors of pairs, not read yet; `InputError` if one is missing."""
    queries = cache.find([_key(pair.prompt) for pair in pairs])
    keys = [_key(*item) for item in _items(pairs)]
    responses = cache.find(keys).reshape(-1, 2)
    if missing := int((queries < 0).sum() + (responses < 0).sum()):
        raise InputError(
            f"{missing} of {3 * len(pairs)} vectors were never computed: urs-inspect samer embed"
        )
    return PairVectors(cache.rows(), queries, responses)


def _items(pairs: Sequence[TrainingPair]) -> list[tuple[str, str]]:
    """The prompt of each pair with either response."""
    items: list[tuple[str, str]] = []
    for pair in pairs:
        items += [(pair.prompt, pair.response_a), (pair.prompt, pair.response_b)]
    return items


def _key(*texts: str) -> str:
    """What the vector of a query, or of a query with a response, is cached under."""
    return json.dumps(texts)


def unit_scale(vectors: PairVectors) -> float:
    """The factor that makes the mean square of the vectors' numbers 1.

    The layers' initial weights expect that.

    Vectors of length 1 would otherwise vanish in the first layers, since nothing there has a bias.
    1 if all are 0.
    """
    squares = [float(np.square(part, dtype=np.float64).mean()) for part in vectors.gather()]
    mean = sum(squares) / len(squares)
    if mean > 0:
        return 1 / math.sqrt(mean)
    return 1.0


# ## What heads make of them, compared with labels


@dataclass(frozen=True, eq=False)
class PairPredictions:
    """Evaluations of the two responses of n pairs on D dimensions."""

    overall: _Floats  # of responses a and b, 0 to 1, shape (n, 2)
    scores: _Floats  # on every dimension, selected or not, 0 to 1, shape (n, 2, D)
    # dimensions that the predictor selects for the query, shape (n, D)
    selected: npt.NDArray[np.bool_]

    @property
    def winners(self) -> Codes:
        """Better response overall: 1 (a), -1 (b) or 0, shape (n,)."""
        margin = self.overall[:, 0] - self.overall[:, 1]
        return np.sign(margin).astype(np.int8)

    @property
    def dimension_winners(self) -> Codes:
        """Better response on each dimension, selected or not, shape (n, D)."""
        margin = self.scores[:, 0] - self.scores[:, 1]
        return np.sign(margin).astype(np.int8)


def predict_pairs(
    heads: Heads, vectors: PairVectors, weights_at: WeightsAt = "response"
) -> PairPredictions:
    """Evaluate both responses of each pair, by the same rules as every engine."""
    queries, *responses = vectors.gather()
    evaluations: list[Evaluation] = []
    for side in responses:
        evaluations += map(evaluate, raw_outputs(heads, queries, side, weights_at))

    def by_side(name: str, *shape: int) -> _Floats:
        values = [getattr(evaluation, name) for evaluation in evaluations]
        return np.array(values, float).reshape(2, len(vectors), *shape)

    return PairPredictions(
        overall=by_side("overall").T,
        scores=by_side("scores", heads.dimensions).swapaxes(0, 1),
        selected=by_side("selected", heads.dimensions)[0].astype(bool),
    )


def with_equal_weights(predictions: PairPredictions) -> PairPredictions:
    """The same predictions, the overall score being the mean over the selected dimensions."""
    selected = predictions.selected[:, None, :]
    sums = np.where(selected, predictions.scores, 0.0).sum(axis=2)
    counts = selected.sum(axis=2)
    return replace(predictions, overall=sums / counts)


@dataclass(frozen=True)
class Accuracy:
    """How often predictions equal labels that are no ties (SaMer paper, Table 5).

    NaN without any.
    """

    overall: float  # share of pairs, 0 to 1
    dimensions: float  # share of labels on dimensions
    pairs: int
    labels: int  # on dimensions

    @property
    def mean(self) -> float:
        """Mean of both, or the one that is defined; NaN without any."""
        known = [value for value in (self.overall, self.dimensions) if not math.isnan(value)]
        if known:
            return sum(known) / len(known)
        return math.nan


def accuracy(predictions: PairPredictions, labels: PairLabels) -> Accuracy:
    """Compare predictions with labels of the same pairs.

    A dimension counts where it has a label, whether it was selected or not; labels that are ties do
    not count, and an exactly equal score is wrong.
    """
    counted = abs(labels.overall) == 1
    counted_dimensions = abs(labels.dimensions) == 1
    right = (predictions.winners == labels.overall)[counted]
    right_dimensions = (predictions.dimension_winners == labels.dimensions)[counted_dimensions]
    return Accuracy(
        overall=float(right.mean()) if right.size else math.nan,
        dimensions=float(right_dimensions.mean()) if right_dimensions.size else math.nan,
        pairs=int(right.size),
        labels=int(right_dimensions.size),
    )


@dataclass(frozen=True)
class EpochRecord:
    """One epoch of training; losses are means over its steps."""

    epoch: int  # from 1; the predictor's own epochs are counted from 1 as well
    phase: str  # `predictor` or `joint`
    loss: float
    selection: float  # the predictor's loss
    dimensions: float = math.nan  # NaN in the predictor's phase, as is `overall`
    overall: float = math.nan
    # after the epoch; None without held-out pairs, or in the predictor's phase
    held_out: Accuracy | None = None
