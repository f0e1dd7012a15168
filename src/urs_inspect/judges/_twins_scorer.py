"""`judge_twins`: scores of twins, less those of the answers that the twins are made of."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import registry_create

from urs_inspect._util import InputError
from urs_inspect.judges._twins import PADDED
from urs_inspect.judging._scores import number
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import number_of, value_of
from urs_inspect.scorers._rating_agreement import RATING
from urs_inspect.stats import Estimate
from urs_inspect.stats._slopes import slope_through_origin

if TYPE_CHECKING:
    import pandas as pd

FINALS = {"intent_judge": FINAL, "judged_again": FINAL, "rating_agreement": RATING}
"""Scorers of twins, and the key of their final score."""
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
FIELDS = [TWIN, PAIR, "model", "question", DOUBLINGS]
"""Keys of a sample's metadata that scored twins have as columns."""
SHIFT = "shift"
"""Column of scored twins: the score less that of the answer."""
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

    Raises:
        InputError: If there is no such scorer, or not with these arguments.
    """
    try:
        inner = registry_create("scorer", scorer, **(options or {}))
    except Exception as error:  # a scorer may raise anything
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"answers: the scorer {scorer} cannot be made again: {reason}") from error

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
        means = twins.groupby(TWIN)[SHIFT].mean()
        rows = {kind: float(means.get(kind, math.nan)) for kind in kinds}
        padded = twins[twins[TWIN].isin(PADDED)]
        if len(padded):
            rows[SLOPE] = slope_of(padded).value
        return rows

    return compute


def scored_twins(judged: Iterable[tuple[Mapping[str, Any], float]]) -> "pd.DataFrame":
    """The twins that have a score, of answers that have one; of several epochs the mean.

    Args:
        judged: Metadata of each sample, and its score; NaN without one.

    Returns:
        A row for each twin: kind, number, model and question of its answer, doublings of the
        length, and `shift`, its score less that of the answer.
    """
    import pandas as pd

    rows = [[*(facts[key] for key in FIELDS), final] for facts, final in judged]
    texts = pd.DataFrame(rows, columns=[*FIELDS, SHIFT]).astype({SHIFT: float})
    means = texts.dropna().groupby(FIELDS, sort=False, as_index=False).mean()
    is_original = means[TWIN] == ORIGINAL
    start = means[is_original].set_index(PAIR)[SHIFT]
    twins = means[~is_original]
    shifts = twins[SHIFT] - twins[PAIR].map(start)
    return twins.assign(**{SHIFT: shifts}).dropna()


def slope_of(padded: "pd.DataFrame") -> Estimate:
    """What each doubling of the length adds."""
    return slope_through_origin(padded[DOUBLINGS], padded[SHIFT], list(padded["question"]))
