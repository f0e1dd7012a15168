"""Stand-ins: an engine without a model, pairs and vectors that a test can work out by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._engines import EngineFailure, EngineSpec, QueryResponse, Scored
from urs_inspect.samer._evaluation import RawOutputs
from urs_inspect.samer._pairs import PairLabels, TrainingPair
from urs_inspect.samer._vectors import PairVectors

DIMENSIONS = load_taxonomy().dimensions
Answer = Callable[[QueryResponse], Scored | EngineFailure]


def raw(
    scores: dict[str, float] | None = None,
    gates: dict[str, float] | None = None,
    weights: dict[str, float] | None = None,
) -> RawOutputs:
    """Outputs by dimension; those that are not named have score 0 and weight 0, and are not
    selected (gate -1).
    """

    def row(given: dict[str, float] | None, rest: float) -> Any:
        return np.array([(given or {}).get(name, rest) for name in DIMENSIONS], np.float32)

    return RawOutputs(row(scores, 0), row(gates, -1), row(weights, 0))


def by_length(item: QueryResponse) -> Scored:
    """Clarity and Depth count, with equal weights.

    The longer the response, the clearer, and never the deeper.
    """
    clarity = len(item.response) / 10
    return Scored(
        raw({"Clarity": clarity, "Depth": 0.0}, {"Clarity": 1, "Depth": 1}),
        tokens=len(item.response),
    )


class StubEngine:
    """Answers as told, and keeps what it was asked."""

    name = "stub"

    def __init__(self, answer: Answer = by_length, model: str = "stub") -> None:
        self.spec = EngineSpec(model)
        self.answer = answer
        self.asked: list[QueryResponse] = []
        self.closed = 0

    async def score(self, items: Sequence[QueryResponse]) -> list[Scored | EngineFailure]:
        self.asked.extend(items)
        return [self.answer(item) for item in items]

    async def close(self) -> None:
        self.closed += 1


class Opening:
    """Makes stub engines for `load_engine`, and keeps them."""

    def __init__(self, answer: Answer = by_length) -> None:
        self.answer = answer
        self.made: list[StubEngine] = []

    def __call__(self, samer: str, **options: Any) -> StubEngine:
        self.made.append(StubEngine(self.answer, samer))
        return self.made[-1]

    @property
    def asked(self) -> list[QueryResponse]:
        return [item for engine in self.made for item in engine.asked]


class Memory:
    """A vector cache in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.added: list[list[str]] = []

    def find(self, texts: Sequence[str]) -> Any:
        places = {text: row for row, text in enumerate(self.kept)}
        return np.array([places.get(text, -1) for text in texts], np.intp)

    def rows(self) -> Any:
        return np.stack(list(self.kept.values()))

    def add(self, texts: Sequence[str], vectors: Any) -> None:
        self.added.append(list(texts))
        for text, vector in zip(texts, vectors, strict=True):
            self.kept.setdefault(text, vector)


def pair(number: int, **given: Any) -> TrainingPair:
    facts: dict[str, Any] = {
        "id": f"p{number}",
        "prompt": f"prompt {number}",
        "response_a": f"first {number}",
        "response_b": f"second {number}",
        "winner": "a",
        "scenario": "chitchat",
        "dimensions": {"Style": "a"},
    }
    return TrainingPair(**{**facts, **given})


def learnable(
    pairs: int = 120, hidden: int = 12, dimensions: int = 5, seed: int = 0
) -> tuple[PairVectors, PairLabels]:
    """Pairs whose labels are read off their vectors: on dimension d, the response with more in
    place d is better.

    The first half of the queries has the first three dimensions, the other half the last three, and
    says so in its vector.
    """
    random = np.random.default_rng(seed)
    queries = random.normal(size=(pairs, hidden))
    queries[:, 0] = np.where(np.arange(pairs) % 2, 2.0, -2.0)
    responses = queries[:, None] * 0.1 + random.normal(size=(pairs, 2, hidden))
    table = np.concatenate([queries, responses.reshape(-1, hidden)]).astype(np.float16)
    places = (pairs + np.arange(2 * pairs)).reshape(-1, 2)
    difference = responses[:, 0, 1 : dimensions + 1] - responses[:, 1, 1 : dimensions + 1]
    labels = np.sign(difference).astype(np.int8)
    labels[1::2, 3:] = 2
    labels[::2, :2] = 2
    overall = np.sign(np.where(labels == 2, 0, difference).sum(axis=1)).astype(np.int8)
    return PairVectors(table, np.arange(pairs), places), PairLabels(overall, labels)
