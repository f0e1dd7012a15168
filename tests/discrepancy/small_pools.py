"""Small pools of vectors, and the selection as one would write it first."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Pair = tuple[str, str]


def pool(
    models: int, size: int, width: int, seed: int, dtype: Any = np.float16
) -> tuple[dict[str, Array], Array]:
    """Answers of `models` models around a topic of each instruction, and the instructions."""
    generator = np.random.default_rng(seed)
    topics = generator.standard_normal((size, width)) + 0.7

    def around() -> Array:
        rows = topics + generator.gamma(2.0, 0.4, (size, 1)) * generator.standard_normal(
            (size, width)
        )
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype)

    return {f"m{number}": around() for number in range(models)}, around()


def cosine(a: Array, b: Array) -> float:
    """Cosine of two vectors, summed as numpy sums products."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def slow_selection(
    responses: Mapping[str, Array],
    instructions: Array,
    ids: Sequence[str],
    k: int,
    lam: float,
    set_similarity: str = "max",
    allowed: Array | None = None,
    pairs: Sequence[Pair] | None = None,
) -> dict[Pair, list[tuple[str, float]]]:
    """Eq. (2) pair by pair and item by item: ids and objectives."""
    together = max if set_similarity == "max" else lambda values: sum(values) / len(values)
    found: dict[Pair, list[tuple[str, float]]] = {}
    for one, other in pairs or list(combinations(sorted(responses), 2)):
        chosen: list[int] = []
        picked: list[tuple[str, float]] = []
        for _ in range(k):
            candidates = []
            for item in range(len(ids)):
                if item in chosen or (allowed is not None and not allowed[item]):
                    continue
                value = cosine(responses[one][item], responses[other][item])
                if chosen and lam:
                    value += lam * together(
                        [cosine(instructions[item], instructions[c]) for c in chosen]
                    )
                candidates.append((value, ids[item], item))
            # Sums of the slow way may differ in the last bits; what is as good as equal goes by id.
            lowest = min(value for value, _, _ in candidates)
            value, name, item = min(
                (c for c in candidates if c[0] <= lowest + 1e-12), key=lambda c: c[1]
            )
            chosen.append(item)
            picked.append((name, value))
        found[one, other] = picked
    return found
