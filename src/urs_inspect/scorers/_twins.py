"""`judge_twins`: scores of twins, less those of the answers that the twins are made of."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import registry_create

from urs_inspect.judging._scores import number
from urs_inspect.judging._twins import PADDED
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import mean, number_of, value_of
from urs_inspect.scorers._rating_agreement import RATING
from urs_inspect.stats import Estimate
from urs_inspect.stats._slopes import slope_through_origin

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
JUDGE_LANGUAGE = "judge_language"
"""Key of a log's metadata: language of the judge's prompts; None for that of each answer."""
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
            given = await inner(state, target) or Score.unscored(reason="no_response")
        finally:
            state.metadata = facts
        value = number(given.value)
        if math.isfinite(value):
            return Score(value={FINAL: value}, answer=given.answer, explanation=given.explanation)
        reason = given.reason or "no_response"
        return Score.unscored(reason=reason, explanation=given.explanation)

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
        twins = scored_twins(
            (score.sample_metadata or {}, number_of(score, keys[0])) for score in scores
        )
        rows = {kind: mean([twin.shift for twin in twins if twin.kind == kind]) for kind in kinds}
        padded = [twin for kind in PADDED for twin in twins if twin.kind == kind]
        if padded:
            rows[SLOPE] = slope_of(padded).value
        return rows

    return compute


class ScoredTwin(NamedTuple):
    """A twin with a score, of an answer with a score."""

    kind: str
    answer: object  # which answer it is made of
    question: str  # id of it
    shift: float  # score of the twin less that of the answer
    doublings: float  # binary logarithm of the twin's length over the answer's


def scored_twins(judged: Iterable[tuple[Mapping[str, Any], float]]) -> list[ScoredTwin]:
    """The twins that have a score, of answers that have one; of several epochs the mean.

    Args:
        judged: Metadata of each sample, and its score; NaN without one.
    """
    finals = defaultdict[tuple[object, str], list[float]](list)
    about: dict[tuple[object, str], Mapping[str, Any]] = {}
    for facts, final in judged:
        if not math.isnan(final):
            text = (facts[PAIR], facts[TWIN])
            finals[text].append(final)
            about[text] = facts
    twins = []
    for (pair, kind), facts in about.items():
        if kind != ORIGINAL and (pair, ORIGINAL) in finals:
            shift = mean(finals[pair, kind]) - mean(finals[pair, ORIGINAL])
            question = str(facts["question"])
            answer = (facts["model"], question)
            twins.append(ScoredTwin(kind, answer, question, shift, facts[DOUBLINGS]))
    return twins


def slope_of(padded: Sequence[ScoredTwin]) -> Estimate:
    """What each doubling of the length adds."""
    return slope_through_origin(
        [twin.doublings for twin in padded],
        [twin.shift for twin in padded],
        [twin.question for twin in padded],
    )
