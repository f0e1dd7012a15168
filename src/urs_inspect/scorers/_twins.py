"""`judge_twins`: scores of twins, less those of the answers that the twins are made of."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import registry_create

from urs_inspect.judging._scores import number
from urs_inspect.judging._twins import PADDED
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import mean, number_of, value_of
from urs_inspect.scorers._rating_agreement import RATING

TWIN = "twin"
"""Key of a sample's metadata: the kind of the twin, or `ORIGINAL`."""
ORIGINAL = "original"
PAIR = "pair"
"""Key of a sample's metadata: the number of the answer that the twin is made of."""
DOUBLINGS = "doublings"
"""Key of a sample's metadata: binary logarithm of the twin's length over the answer's."""
FACTS = "sample"
"""Key of a sample's metadata: that of the answer's own sample, for a scorer that is not ours."""
JUDGED_BY = "judged_by"
"""Key of a log's metadata: the scorer, with its arguments."""
SCALE = "scale"
"""Key of a log's metadata: lowest and highest score."""
SLOPE = "per doubling"
"""Row of what padding moves the score by for each doubling of the length."""


@scorer(metrics=[])
def judged_again(scorer: str, options: dict[str, Any] | None = None) -> Scorer:
    """Score an answer by a scorer that a log names, with the answer's own metadata.

    Args:
        scorer: Name of the scorer, as the harness registers it.
        options: Its arguments.

    Returns:
        The scorer; its value holds one number, `final`. NaN where there is none.
    """
    inner = registry_create("scorer", scorer, **(options or {}))

    async def score(state: TaskState, target: Target) -> Score:
        facts = state.metadata
        state.metadata = dict(facts[FACTS])
        try:
            given = await inner(state, target)
        finally:
            state.metadata = facts
        value = number(given.value) if given is not None else math.nan
        if given is None or not math.isfinite(value):
            reason = given.reason if given is not None else None
            explanation = given.explanation if given is not None else None
            return Score.unscored(reason=reason or "no_response", explanation=explanation)
        return Score(value={FINAL: value}, answer=given.answer, explanation=given.explanation)

    return score


@metric(scores="unreduced")
def twin_shifts(kinds: list[str]) -> Metric:
    """Mean score of each kind of twin less that of the answers it is made of, in the order of
    `kinds`; then, with padded twins, the shift `per doubling` of the length.

    NaN for a kind without a scored pair, and no rows for a scorer that gives no final scores.
    """

    def compute(scores: list[SampleScore]) -> Value:
        keys = [key for key in (FINAL, RATING) for score in scores if key in value_of(score)]
        if scores and not keys:
            return {}
        found = shifts_of(
            (dict(score.sample_metadata or {}), number_of(score, keys[0])) for score in scores
        )
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
