"""From the heads' raw outputs to an evaluation: selected dimensions, their scores and weights, the overall score."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from urs_inspect._util import InputError
from urs_inspect.samer.heads import Heads
from urs_inspect.samer.weights import Array

WeightsAt = Literal["response", "query"]
"""Where the weighter reads: at the end of query + response (released code) or of the query (paper, section 4.3)."""


@dataclass(frozen=True)
class RawOutputs:
    """Logits of the heads for one query and response, shape (dimensions,) each, float32."""

    scores: Array
    gates: Array  # of the predictor
    weights: Array

    def __post_init__(self) -> None:
        shapes = {self.scores.shape, self.gates.shape, self.weights.shape}
        if len(shapes) != 1 or self.scores.ndim != 1 or not self.scores.size:
            raise InputError(f"outputs of shapes {sorted(shapes)}; expected three of one shape (dimensions,)")

    @property
    def is_finite(self) -> bool:
        """Whether no output is NaN or infinite."""
        return all(np.isfinite(values).all() for values in (self.scores, self.gates, self.weights))


@dataclass(frozen=True)
class Evaluation:
    """An evaluation of one response; arrays have the shape (dimensions,)."""

    overall: float  # weighted sum of the selected scores, 0 to 1
    selected: NDArray[np.bool_]
    scores: NDArray[np.float64]  # of every dimension, selected or not, 0 to 1
    weights: NDArray[np.float64]  # 0 where not selected, sum 1
    empty_selection: bool  # whether the predictor selected nothing, so that its largest output had to stand in


def evaluate(raw: RawOutputs) -> Evaluation:
    """Evaluate a response from raw outputs (paper, sections 4.1 to 4.3 and Figure 3).

    A dimension is selected where the predictor's logit is above 0. If there is none, the single largest one is selected
    and the result is flagged; the released code gives NaN then. The overall score is the sum over the selected
    dimensions of softmax(weights) * sigmoid(scores). Outputs that are not finite are an `InputError`.
    """
    for name in ("scores", "gates", "weights"):
        if not np.isfinite(getattr(raw, name)).all():
            raise InputError(f"outputs: {name} has NaN or infinity; expected finite numbers")
    selected: NDArray[np.bool_] = raw.gates > 0
    empty = not selected.any()
    if empty:
        selected = np.zeros_like(selected)
        selected[int(np.argmax(raw.gates))] = True
    scores = _sigmoid(raw.scores.astype(np.float64))
    weights = _softmax(raw.weights.astype(np.float64), selected)
    overall = min(1.0, float(np.dot(weights, scores)))
    return Evaluation(overall, selected, scores, weights, empty)


def raw_outputs(
    heads: Heads, query_vectors: Array, response_vectors: Array, weights_at: WeightsAt = "response"
) -> list[RawOutputs]:
    """Run the heads on vectors of the last tokens of n queries, and of n queries with responses, shape (n, hidden)."""
    outputs = (
        heads.score(response_vectors),
        heads.select(query_vectors),
        heads.weigh(query_vectors if weights_at == "query" else response_vectors),
    )
    return [RawOutputs(*row) for row in zip(*outputs, strict=True)]


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    small = np.exp(-np.abs(values))  # never overflows
    return np.where(values >= 0, 1 / (1 + small), small / (1 + small))


def _softmax(values: NDArray[np.float64], selected: NDArray[np.bool_]) -> NDArray[np.float64]:
    powers = np.exp(np.where(selected, values, -np.inf) - values[selected].max())
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares
