"""Mean score and mean satisfaction by intent (URS paper, section 4.5, Figure 5)."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from urs_inspect.rating import MeanDraws, mean_estimates
from urs_inspect.rating.bootstrap import Floats
from urs_inspect.rating.intervals import fewest_clusters
from urs_inspect.rating.mean_correlation import (
    FEWEST_POINTS,
    MeanCorrelation,
    correlate_means,
    derived_seed,
    table_means,
)
from urs_inspect.reports.agreement.report import IntentLevel, IntentPoint
from urs_inspect.reports.agreement.resampling import CORRELATIONS, Resampling, reported
from urs_inspect.reports.agreement.satisfaction_files import Satisfaction
from urs_inspect.reports.intent.question_table import QuestionTable
from urs_inspect.rubrics import HIGHEST, LOWEST

Flags = npt.NDArray[np.bool_]

_QUESTIONS = 0
"""Names the resampling of questions among those of a seed."""


def intent_level(table: QuestionTable, satisfaction: Satisfaction, resampling: Resampling) -> IntentLevel | str:
    """Hold mean scores against mean satisfaction, intent by intent.

    Args:
        table: Final scores of a block.
        satisfaction: What people said.
        resampling: How intervals come about.

    Returns:
        The agreement; a sentence that says why there is none.
    """
    groups, notes = _shared(table, satisfaction)
    if len(groups) < FEWEST_POINTS:
        return (
            f"No correlation over intents: {len(groups)} have both scores and satisfaction in {satisfaction.path}, at "
            f"least {FEWEST_POINTS} are needed."
        )
    parts = [
        table_means(_of(table, g), rounds=resampling.rounds, seed=derived_seed(resampling.seed, _QUESTIONS, place))
        for place, g in enumerate(groups)
    ]
    whole: Flags = np.logical_and.reduce([~np.isnan(part.values) for part in parts])
    if not whole.any():
        return "No correlation over intents: no model has a score on each of them."
    if not whole.all():
        partial = [name for name, complete in zip(table.models, whole, strict=True) if not complete]
        notes.append(f"Left out of the mean over models, for want of a score on some intent: {', '.join(partial)}.")
    counted = [int((~np.isnan(_of(table, group)[:, whole])).any(axis=1).sum()) for group in groups]
    if satisfaction.mixed:
        notes.append(f"Some rows of {satisfaction.path} are means of several people: satisfaction counts as exact.")
    said = satisfaction.means(groups, resampling.rounds, resampling.seed)
    fewest = _fewest(counted, groups, satisfaction)
    scores = _over_intents(parts, whole, counted)
    return IntentLevel(
        points=_points(groups, scores, said, satisfaction, resampling.level),
        correlation=_correlated(scores, said, fewest, resampling),
        by_model={
            name: _correlated(_over_intents(parts, np.arange(len(whole)) == m, counted), said, fewest, resampling)
            for m, name in enumerate(table.models)
            if whole[m]
        },
        people_resampled=satisfaction.by_respondent,
        why_no_interval=_why_no_interval(counted, groups, satisfaction, resampling.level),
        scale=satisfaction.scale,
        notes=tuple(notes),
    )


def _shared(table: QuestionTable, satisfaction: Satisfaction) -> tuple[list[str], list[str]]:
    """Intents with scores and satisfaction, in alphabetical order, and what is said of those with only one of them."""
    scored = {str(group) for group in set(table.facts["group"]) if not np.isnan(_of(table, str(group))).all()}
    said = set(satisfaction.groups)
    lacking = {"satisfaction": scored - said, "a score": said - scored}
    notes = [
        f"Intents without {what} were left out: {', '.join(sorted(names))}." for what, names in lacking.items() if names
    ]
    return sorted(scored & said), notes


def _of(table: QuestionTable, group: str) -> Floats:
    """Final scores of an intent, shape (questions, models)."""
    return table.finals[(table.facts["group"] == group).to_numpy()]


def _over_intents(parts: Sequence[MeanDraws], models: Flags, counted: list[int]) -> MeanDraws:
    """Mean score of some models on each intent, shape (G,)."""
    return MeanDraws(
        np.array([part.values[models].mean() for part in parts]),
        np.stack([part.draws[:, models].mean(axis=1) for part in parts], axis=1),
        np.array(counted),
        parts[0].seed,
    )


def _fewest(counted: Sequence[int], groups: Sequence[str], satisfaction: Satisfaction) -> int:
    """Fewest questions, or people if they are resampled, behind any mean; the mean of one person is not exact."""
    people = [satisfaction.people(group) or 0 for group in groups] if satisfaction.by_respondent else []
    alone = [1 for group in groups if satisfaction.people(group) == 1]
    return min(*counted, *people, *alone)


def _why_no_interval(counted: Sequence[int], groups: Sequence[str], satisfaction: Satisfaction, level: float) -> str:
    """Which means are of so few questions or people that nothing says how far they would scatter."""
    least = fewest_clusters(level)
    people = [satisfaction.people(group) or 0 if satisfaction.by_respondent else least for group in groups]
    few = {
        "questions with a score": [group for group, number in zip(groups, counted, strict=True) if number < least],
        "people": [
            group
            for group, number in zip(groups, people, strict=True)
            if number < least or satisfaction.people(group) == 1
        ],
    }
    return "; ".join(f"fewer than {least} {what} on {', '.join(found)}" for what, found in few.items() if found)


def _correlated(scores: MeanDraws, said: MeanDraws, fewest: int, resampling: Resampling) -> MeanCorrelation:
    found = correlate_means(scores, said, clusters=fewest, level=resampling.level, seed=resampling.seed)
    found = replace(found, pearson=reported(found.pearson, CORRELATIONS, fewest))
    # Where nothing says how much a mean scatters, its noise is not 0 but not known.
    return found if fewest > 1 else replace(found, without_noise=math.nan)


def _points(
    groups: Sequence[str], scores: MeanDraws, said: MeanDraws, satisfaction: Satisfaction, level: float
) -> tuple[IntentPoint, ...]:
    columns = zip(groups, mean_estimates(scores, level), mean_estimates(said, level), strict=True)
    points = [
        IntentPoint(
            group,
            reported(score, (LOWEST, HIGHEST)),
            reported(value, satisfaction.scale),
            score.n,
            satisfaction.people(group),
        )
        for group, score, value in columns
    ]
    return tuple(sorted(points, key=lambda point: -point.satisfaction.value))
