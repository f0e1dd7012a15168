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
    """What the heads gave for one query and response, before any activation.

    Attributes:
        scores: Logits of the scores, shape (dimensions,), float32.
        gates: Logits of the predictor, shape (dimensions,), float32.
        weights: Logits of the weights, shape (dimensions,), float32.
    """

    scores: Array
    gates: Array
    weights: Array

    def __post_init__(self) -> None:
        shapes = {self.scores.shape, self.gates.shape, self.weights.shape}
        if len(shapes) != 1 or self.scores.ndim != 1 or not self.scores.size:
            raise InputError(f"outputs of shapes {sorted(shapes)}; expected three of one shape (dimensions,)")


@dataclass(frozen=True)
class Evaluation:
    """An evaluation of one response.

    Attributes:
        overall: Weighted sum of the selected scores, 0 to 1.
        selected: Whether a dimension counts, shape (dimensions,).
        scores: Score of every dimension, selected or not, 0 to 1, shape (dimensions,).
        weights: Weights, 0 where not selected, sum 1, shape (dimensions,).
        empty_selection: Whether the predictor selected nothing, so that its largest output had to stand in.
    """

    overall: float
    selected: NDArray[np.bool_]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64]
    empty_selection: bool


def evaluate(raw: RawOutputs) -> Evaluation:
    """Evaluate a response from raw outputs (paper, sections 4.1 to 4.3 and Figure 3).

    A dimension is selected where the predictor's logit is above 0. If there is none, the single largest one is selected
    and the result says so; the released code gives NaN then. The overall score is the sum over the selected dimensions
    of softmax(weights) * sigmoid(scores).

    Args:
        raw: Outputs of the heads.

    Returns:
        The evaluation.

    Raises:
        InputError: If an output is NaN or infinite.
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
    """Run at each position the heads that it needs, and no other.

    Args:
        heads: The heads.
        query_vectors: Vectors of the queries' last tokens, shape (n, hidden).
        response_vectors: Vectors of the last tokens of query + response, shape (n, hidden).
        weights_at: Where the weighter reads.

    Returns:
        Outputs of each of the n items.
    """
    gates = heads.at_query(query_vectors)
    if weights_at == "query":
        scores, weights = heads.score(response_vectors), heads.weigh(query_vectors)
    else:
        scores, weights = heads.at_response(response_vectors)
    return [RawOutputs(*row) for row in zip(scores, gates, weights, strict=True)]


def from_rows(rows: Array, weights_at: WeightsAt = "response") -> RawOutputs:
    """Pick outputs from all heads at both positions, as a server with the plugin sends them.

    Args:
        rows: Shape (2, 3 * dimensions): at the query's and at the response's last token, scores | predictor | weights.
        weights_at: Where the weighter reads.

    Returns:
        The outputs.

    Raises:
        InputError: If the shape is another.
    """
    rows = np.asarray(rows, np.float32)
    if rows.ndim != 2 or rows.shape[0] != 2 or not rows.shape[1] or rows.shape[1] % 3:
        raise InputError(f"outputs of shape {rows.shape}; expected (2, 3 * dimensions)")
    query, response = rows.reshape(2, 3, -1)
    return RawOutputs(response[0], query[1], (query if weights_at == "query" else response)[2])


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    small = np.exp(-np.abs(values))  # never overflows
    return np.where(values >= 0, 1 / (1 + small), small / (1 + small))


def _softmax(values: NDArray[np.float64], selected: NDArray[np.bool_]) -> NDArray[np.float64]:
    powers = np.exp(np.where(selected, values, -np.inf) - values[selected].max())
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares
