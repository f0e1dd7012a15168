"""Metrics over `intent_judge` scores."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.rating import interval_alpha, mean_interval, pooled_deviation
from urs_inspect.rubrics import FINAL

_UNKNOWN = "unknown"


@metric
def ci() -> Metric:
    """Bounds of the 95% interval of a mean (Student t), `lower` and `upper`; absent for fewer than two samples.

    The harness's own `ci()` gives an interval without width for one sample, and 0 to 0 for none.
    """

    def compute(scores: list[SampleScore]) -> Value:
        estimate = mean_interval([score.score.as_float() for score in scores])
        return {"lower": estimate.low, "upper": estimate.high} if estimate.n > 1 else {}

    return compute


@metric
def group_mean(keys: str | Sequence[str], intervals: bool = False) -> Metric:
    """Mean final score by group of samples.

    The harness's own `grouped()` stops the whole run if one sample lacks the key, cannot hold an interval and
    is de-duplicated by name inside a metrics dictionary, so that a second grouping is lost.

    Args:
        keys: Metadata key, or keys, whose values name a sample's group, joined by a blank.
        intervals: Report half the width of the 95% interval (`<group> ±`) in place of the mean; groups of a
            single sample have none.

    Returns:
        The metric, with one value a group, groups in alphabetical order.
    """
    names = (keys,) if isinstance(keys, str) else tuple(keys)

    def compute(scores: list[SampleScore]) -> Value:
        groups: dict[str, list[float]] = defaultdict(list)
        for score in scores:
            final = final_of(score)
            if not math.isnan(final):
                groups[" ".join(str(_fact(score, name)) for name in names)].append(final)
        return _rows(groups, intervals)

    return compute


@metric
def split_group_mean(intervals: bool = False) -> Metric:
    """Mean final score of each intent that shares its reported group with another one.

    In URS, API counts in the group Solve Problem (URS paper, Tables 2 and 4); this reports both parts by themselves.

    Args:
        intervals: As for `group_mean`.

    Returns:
        The metric, with one value a part, named `<group>: <intent>`.
    """

    def compute(scores: list[SampleScore]) -> Value:
        parts: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for score in scores:
            final = final_of(score)
            if not math.isnan(final):
                parts[str(_fact(score, "intent_group"))][str(_fact(score, "intent"))].append(final)
        shared = {
            f"{group}: {intent}": values
            for group, intents in parts.items()
            if len(intents) > 1
            for intent, values in intents.items()
        }
        return _rows(shared, intervals)

    return compute


@metric
def added_criteria(known: Sequence[str]) -> Metric:
    """Means and 95% intervals (`±`) of criteria that a user's rubric adds.

    Metrics by key must be declared before the rubric is known, and a glob key misbehaves when no sample is scored.

    Args:
        known: Score keys that have metrics of their own.

    Returns:
        The metric, empty for the built-in rubric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        added: dict[str, list[float]] = defaultdict(list)
        for score in scores:
            value = score.score.value
            for key, given in value.items() if isinstance(value, dict) else ():
                number = _number(given)
                if key not in known and not math.isnan(number):
                    added[key].append(number)
        return {**_rows(added, intervals=False), **_rows(added, intervals=True)}

    return compute


@metric(scores="unreduced")
def self_judged() -> Metric:
    """Share of the scored answers that the model under test judged itself, alone or in a panel; 0 to 1."""

    def compute(scores: list[SampleScore]) -> Value:
        judged = [bool(judge_facts(score).get("self_judged")) for score in scores]
        return {"self_judged": sum(judged) / len(judged)} if judged else {}

    return compute


@metric(scores="unreduced")
def judge_alpha() -> Metric:
    """Krippendorff's alpha (interval) of the final scores across the judges of a panel; absent for a single judge."""

    def compute(scores: list[SampleScore]) -> Value:
        panels = [judge_facts(score).get("judges") or [] for score in scores]
        size = max((len(panel) for panel in panels), default=0)
        if size < 2:
            return {}
        ratings = [[_rating(panel, judge) for panel in panels] for judge in range(size)]
        return {"judge_alpha": interval_alpha(ratings)}

    return compute


@metric(scores="unreduced")
def epoch_deviation() -> Metric:
    """Standard deviation of a question's final score over epochs, pooled over questions; absent with one epoch.

    It holds the noise of the judge and that of the answers: each epoch answers afresh. For the judge alone, run
    one epoch and judge its log repeatedly with `inspect score`.
    """

    def compute(scores: list[SampleScore]) -> Value:
        questions: dict[str, list[float]] = defaultdict(list)
        for score in scores:
            questions[str(score.sample_id)].append(final_of(score))
        deviation = pooled_deviation([[v for v in values if not math.isnan(v)] for values in questions.values()])
        return {} if math.isnan(deviation) else {"epoch_deviation": deviation}

    return compute


def final_of(score: SampleScore) -> float:
    """The final score of a sample, 1 to 10; NaN if it has none."""
    value = score.score.value
    return _number(value.get(FINAL)) if isinstance(value, dict) else math.nan


def judge_facts(score: SampleScore) -> dict[str, Any]:
    """What `intent_judge` left in the metadata of a score."""
    return score.score.metadata or {}


def _fact(score: SampleScore, key: str) -> Any:
    return (score.sample_metadata or {}).get(key, _UNKNOWN)


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _rating(panel: Sequence[dict[str, Any]], judge: int) -> float:
    return _number(panel[judge].get(FINAL)) if judge < len(panel) else math.nan


def _rows(groups: dict[str, list[float]], intervals: bool) -> dict[str, str | int | float | bool | None]:
    rows: dict[str, str | int | float | bool | None] = {}
    for name, values in sorted(groups.items()):
        estimate = mean_interval(values)
        if not intervals:
            rows[name] = estimate.mean
        elif estimate.n > 1:
            rows[f"{name} ±"] = estimate.high - estimate.mean
    return rows
