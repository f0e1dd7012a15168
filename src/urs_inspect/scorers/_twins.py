"""The metric of `judge_twins`: by how much twins score higher than the answers they are made of."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.judging._twins import PADDED
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import final_of, mean, value_of

TWIN = "twin"
"""Key of a sample's metadata: the kind of the twin, or `ORIGINAL`."""
ORIGINAL = "original"
PAIR = "pair"
"""Key of a sample's metadata: the number of the answer that the twin is made of."""
DOUBLINGS = "doublings"
"""Key of a sample's metadata: binary logarithm of the twin's length over the answer's."""
SLOPE = "per doubling"
"""Row of what padding moves the score by for each doubling of the length."""


@metric(scores="unreduced")
def twin_shifts(kinds: list[str]) -> Metric:
    """Mean score of each kind of twin less that of the answers it is made of, in the order of
    `kinds`; then, with padded twins, the shift `per doubling` of the length.

    NaN for a kind without a scored pair, and no rows for a scorer that gives no final scores.
    """

    def compute(scores: list[SampleScore]) -> Value:
        if scores and not any(FINAL in value_of(score) for score in scores):
            return {}
        found = shifts_of((dict(score.sample_metadata or {}), final_of(score)) for score in scores)
        rows = {kind: mean([shift for shift, _ in found.get(kind, ())]) for kind in kinds}
        padded = [pair for kind in PADDED for pair in found.get(kind, ())]
        if padded:
            rows[SLOPE] = slope_of(padded)
        return rows

    return compute


def shifts_of(
    judged: Iterable[tuple[Mapping[str, Any], float]],
) -> dict[str, list[tuple[float, float]]]:
    """Kind -> shift of the score and doublings of the length, of each scored pair.

    Args:
        judged: Metadata of each sample, and its final score; NaN without one.
    """
    by_pair: dict[object, dict[str, tuple[float, float]]] = defaultdict(dict)
    for facts, final in judged:
        if not math.isnan(final):
            by_pair[facts.get(PAIR)][str(facts.get(TWIN))] = final, float(facts.get(DOUBLINGS, 0.0))
    shifts: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for twins in by_pair.values():
        if ORIGINAL not in twins:
            continue
        start, _ = twins[ORIGINAL]
        for kind, (final, doublings) in twins.items():
            if kind != ORIGINAL:
                shifts[kind].append((final - start, doublings))
    return shifts


def slope_of(pairs: Iterable[tuple[float, float]]) -> float:
    """What each doubling of the length adds, by least squares through the origin."""
    shifts, doublings = np.array(list(pairs), dtype=float).T
    return float(shifts @ doublings / (doublings @ doublings))
