"""SaMer's heads on cached vectors, against their bare matrix products, on one core.

    python -m benchmarks samer_heads

The products are those of the heads that each position needs: the predictor at the query, scorer and
weighter at the response. What comes on top is activations and making the results. Aim: at most 1.4
times the time of the products.
"""

import os
from collections.abc import Callable
from functools import partial

from benchmarks import ONE_THREAD, Row, timed

os.environ.update(ONE_THREAD)

import numpy as np
import numpy.typing as npt

from urs_inspect.samer._evaluation import HEAD_KEYS, PUBLISHED_WIDTHS, Heads, raw_outputs

REPEATS = 7
Array = npt.NDArray[np.float32]


def random_heads(rng: np.random.Generator, hidden: int) -> Heads:
    """Heads of the published widths."""
    tensors = {}
    for head, keys in HEAD_KEYS.items():
        widths = (hidden, *PUBLISHED_WIDTHS[head], 42)
        for key, inside, out in zip(keys, widths[:-1], widths[1:], strict=True):
            tensors[key] = rng.standard_normal((out, inside), np.float32) / np.float32(inside**0.5)
    return Heads(tensors)


def products(heads: Heads, query: Array, response: Array) -> None:
    """The matrix products alone."""
    for layers, values in (
        (heads.layers("predictor"), query),
        (heads.layers("scoring"), response),
        (heads.layers("weighter"), response),
    ):
        for layer in layers:
            values = values @ layer.T  # noqa: PLW2901 - as in the heads


def ratios(*, quick: bool) -> list[Row]:
    """The heads over their matrix products, at the width of a small and of the published
    backbone.
    """
    rows = 256 if quick else 2048
    rng = np.random.default_rng(0)
    found = []
    for hidden in (384, 4096):
        heads = random_heads(rng, hidden)
        query, response = (rng.standard_normal((rows, hidden), np.float32) for _ in range(2))
        works: dict[str, Callable[[], object]] = {
            "products": partial(products, heads, query, response),
            "heads": partial(raw_outputs, heads, query, response),
        }
        costs = timed(works, REPEATS)
        size = f"{rows:,} answers x {hidden:,}"
        found.append(
            Row(
                "SaMer's heads on vectors",
                size,
                costs["heads"],
                costs["products"],
                "their bare matrix products",
            )
        )
    return found
