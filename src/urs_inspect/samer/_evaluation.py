"""SaMer's three heads in numpy, and what their outputs say.

They say which dimensions are selected, their scores and weights, and the overall score.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from urs_inspect._util import InputError, choices
from urs_inspect.samer._weights import Array, read_finite, read_header, write_tensors

# The gaps in the numbers are activations and dropout slots of the released state dict.
HEAD_KEYS: dict[str, tuple[str, ...]] = {
    "scoring": tuple(f"score.scoring_layer.{index}.weight" for index in (0, 3, 5, 7, 10)),
    "predictor": tuple(f"score.dimpred_layer.{index}.weight" for index in (0, 3, 5, 8)),
    "weighter": tuple(f"score.weighting_layer.{index}.weight" for index in (0, 3, 5, 8)),
}
"""Head -> names of its layers' weights in the released checkpoint."""

HEAD_NAMES = tuple(key for keys in HEAD_KEYS.values() for key in keys)

PUBLISHED_WIDTHS: dict[str, tuple[int, ...]] = {
    "scoring": (2048, 1024, 1024, 1024),
    "predictor": (1024, 1024, 1024),
    "weighter": (1024, 1024, 1024),
}
"""Head -> widths between the vector and the output, as published."""

_BLOCK = 4096  # rows at once, so that memory does not grow with the number of rows


@dataclass(frozen=True)
class Heads:
    """Weights of the three bias-free SiLU networks, float32 of shape (out, in) each.

    The scorer has five layers and gives a logit of quality for each dimension; the predictor four,
    and a logit above 0 where the dimension matters; the weighter four, and a logit of importance.
    """

    tensors: Mapping[str, Array]  # by their names in the released checkpoint

    def __post_init__(self) -> None:
        _refuse_errors("heads", {key: array.shape for key, array in self.tensors.items()})

    def layers(self, head: str) -> list[Array]:
        """The weights of one of the networks, by its name in `HEAD_KEYS`."""
        return [self.tensors[key] for key in HEAD_KEYS[head]]

    @property
    def hidden_size(self) -> int:
        """Width of a text's vector."""
        return int(self.layers("scoring")[0].shape[1])

    @property
    def dimensions(self) -> int:
        """Number of dimensions (42 as published)."""
        return int(self.layers("scoring")[-1].shape[0])

    # Each takes vectors of shape (n, hidden) and gives logits of shape (n, dimensions), float32.

    def score(self, vectors: Array) -> Array:
        """The scorer on vectors of query + response."""
        return _apply(self.layers("scoring"), vectors)

    def select(self, vectors: Array) -> Array:
        """The predictor on vectors of queries: above 0 where a dimension matters."""
        return _apply(self.layers("predictor"), vectors)

    def weigh(self, vectors: Array) -> Array:
        """The weighter."""
        return _apply(self.layers("weighter"), vectors)


def load_heads(path: Path) -> Heads:
    """Read heads in float32 from a safetensors file.

    It has the 13 weights under their released names.
    """
    entries = read_header(path)
    _refuse_errors(str(path), {name: entry.shape for name, entry in entries.items()})
    return Heads({name: read_finite(path, entries[name]) for name in HEAD_NAMES})


def save_heads(heads: Heads, path: Path, *, metadata: Mapping[str, str] | None = None) -> None:
    """Write heads in float32 under the released names, whole or not at all.

    `metadata` are texts for the header.
    """
    write_tensors(path, heads.tensors, metadata=metadata)


def inner_widths(narrowing: int = 1) -> dict[str, tuple[int, ...]]:
    """Head -> widths between the vector and the output.

    They are the published ones divided by `narrowing`, 1 at least.
    """
    return {
        head: tuple(max(1, width // narrowing) for width in widths)
        for head, widths in PUBLISHED_WIDTHS.items()
    }


def heads_size(hidden_size: int, dimensions: int, narrowing: int = 1) -> int:
    """Bytes of the weights of heads in float32."""
    layers = ((hidden_size, *widths, dimensions) for widths in inner_widths(narrowing).values())
    return 4 * sum(inside * out for widths in layers for inside, out in pairwise(widths))


def head_errors(shapes: Mapping[str, tuple[int, ...]], hidden_size: int | None = None) -> list[str]:
    """What is wrong with the shapes of heads, a line per error.

    `hidden_size` is the backbone's width, if known.
    """
    if missing := [key for key in HEAD_NAMES if key not in shapes]:
        return [f"{key} is missing" for key in missing]
    if wrong := [key for key in HEAD_NAMES if len(shapes[key]) != 2]:
        return [f"{key} has {len(shapes[key])} axes; expected 2" for key in wrong]
    return [*_width_errors(shapes, hidden_size), *_output_errors(shapes)]


def _width_errors(shapes: Mapping[str, tuple[int, ...]], hidden_size: int | None) -> Iterator[str]:
    """A line for each layer that does not take what the one before it gives."""
    width = hidden_size or shapes[HEAD_NAMES[0]][1]
    for keys in HEAD_KEYS.values():
        before = width
        for key in keys:
            out, inside = shapes[key]
            if inside != before:
                yield f"{key} has shape {(out, inside)}; expected {(out, before)}"
            before = out


def _output_errors(shapes: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """A line if the heads are not all for the same number of dimensions."""
    outputs = {keys[-1]: shapes[keys[-1]][0] for keys in HEAD_KEYS.values()}
    if len(set(outputs.values())) > 1:
        listed = choices(f"{key}: {out}" for key, out in outputs.items())
        yield f"the heads differ in dimensions: {listed}"


def _refuse_errors(place: str, shapes: Mapping[str, tuple[int, ...]]) -> None:
    if errors := head_errors(shapes):
        raise InputError(f"{place}: {errors[0]}")


def _apply(layers: Sequence[Array], vectors: Array) -> Array:
    vectors = np.asarray(vectors, np.float32)
    if vectors.ndim != 2 or vectors.shape[1] != layers[0].shape[1]:
        raise InputError(
            f"heads: vectors of shape {vectors.shape}; expected (n, {layers[0].shape[1]})"
        )
    if len(vectors) <= _BLOCK:
        return _block(layers, vectors)
    return np.concatenate(
        [_block(layers, vectors[at : at + _BLOCK]) for at in range(0, len(vectors), _BLOCK)]
    )


def _block(layers: Sequence[Array], values: Array) -> Array:
    for layer in layers[:-1]:
        values = _silu(values @ layer.T)
    return values @ layers[-1].T


def _silu(values: Array) -> Array:
    """Multiply by the sigmoid, in place: the product of two matrices belongs to nobody else."""
    with np.errstate(over="ignore"):  # exp(-x) = inf gives the right limit, 0
        gate = np.exp(np.negative(values))
    gate += 1
    values /= gate
    return values


# ## From outputs to an evaluation


WeightsAt = Literal["response", "query"]
"""Where the weighter reads: at the end of query + response (released code) or of the query (paper,
section 4.3).
"""


@dataclass(frozen=True)
class RawOutputs:
    """Logits of the heads for one query and response, shape (dimensions,) each, float32."""

    scores: Array
    gates: Array  # of the predictor
    weights: Array

    def __post_init__(self) -> None:
        shapes = {self.scores.shape, self.gates.shape, self.weights.shape}
        if len(shapes) != 1 or self.scores.ndim != 1 or not self.scores.size:
            raise InputError(
                f"outputs of shapes {sorted(shapes)}; expected three of one shape (dimensions,)"
            )

    @property
    def is_finite(self) -> bool:
        """Whether no output is NaN or infinite."""
        return bool(np.isfinite([self.scores, self.gates, self.weights]).all())


@dataclass(frozen=True)
class Evaluation:
    """An evaluation of one response; arrays have the shape (dimensions,)."""

    overall: float  # weighted sum of the selected scores, 0 to 1
    selected: NDArray[np.bool_]
    scores: NDArray[np.float64]  # of every dimension, selected or not, 0 to 1
    weights: NDArray[np.float64]  # 0 where not selected, sum 1
    # whether the predictor selected nothing, so that its largest output had to stand in
    empty_selection: bool


def evaluate(raw: RawOutputs) -> Evaluation:
    """Evaluate a response from raw outputs (paper, sections 4.1 to 4.3 and Figure 3).

    A dimension is selected where the predictor's logit is above 0. If there is none, the single
    largest one is selected and the result is flagged; the released code gives NaN then. The overall
    score is the sum over the selected dimensions of softmax(weights) * sigmoid(scores). Outputs
    that are not finite are an `InputError`.
    """
    for name in ("scores", "gates", "weights"):
        if not np.isfinite(getattr(raw, name)).all():
            raise InputError(f"outputs: {name} has NaN or infinity; expected finite numbers")
    selected: NDArray[np.bool_] = raw.gates > 0
    empty = not selected.any()
    if empty:
        selected = np.zeros_like(selected)
        selected[int(np.argmax(raw.gates))] = True
    scores: NDArray[np.float64] = expit(raw.scores.astype(np.float64))
    competing = np.where(selected, raw.weights.astype(np.float64), -np.inf)
    weights: NDArray[np.float64] = softmax(competing)
    overall = min(1.0, float(np.dot(weights, scores)))
    return Evaluation(overall, selected, scores, weights, empty)


def raw_outputs(
    heads: Heads, query_vectors: Array, response_vectors: Array, weights_at: WeightsAt = "response"
) -> list[RawOutputs]:
    """Run the heads on the vectors of n queries and of n queries with responses.

    The vectors are those of the last tokens, shape (n, hidden).
    """
    outputs = (
        heads.score(response_vectors),
        heads.select(query_vectors),
        heads.weigh(query_vectors if weights_at == "query" else response_vectors),
    )
    return [RawOutputs(*row) for row in zip(*outputs, strict=True)]
