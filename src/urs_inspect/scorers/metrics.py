"""Metrics over scores of a judge, and what they and the readers of logs both count."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspect_ai.log import HeadlineMetric
from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.stats import interval_alpha, mean_interval
from urs_inspect.stats.bootstrap import pooled_deviation

SCALE = (float(LOWEST), float(HIGHEST))
JUDGED = "judged"

HEADLINE = HeadlineMetric(scorer="intent_judge", metric=FINAL)
"""The row that stands for a run of `intent_judge`."""

_UNKNOWN = "unknown"
_UNSCORED = "unscored"
_MOST_OUTCOMES = 3

_Rows = dict[str, float]


@metric
def intent_report() -> Metric:
    """The final score with its interval, then means by intent and language, then of each criterion.

    One metric of the whole score, for three reasons: the terminal and the viewer show its rows in this order; the
    harness copies every score once for each key that has metrics of its own, at every refresh of the display; and its
    own `grouped()` stops the run if one sample lacks the key.

    Returns:
        The metric. Rows: `final`; `low` and `high`, its 95% interval, and `stderr`, by the rule of
        `rating.intervals.reported_bounds`; the mean final score by reported intent and by language; the mean of each
        criterion that was scored. Everything else that scores say, `urs-inspect table` and `urs-inspect report` compute
        from the log.
    """

    def compute(scores: list[SampleScore]) -> Value:
        finals = _known(final_of(score) for score in scores)
        rows = interval_rows(FINAL, finals, SCALE)
        for label, key in (("intent", "intent_group"), ("language", "language")):
            groups: dict[str, list[float]] = defaultdict(list)
            for score in scores:
                groups[str((score.sample_metadata or {}).get(key, _UNKNOWN))].append(final_of(score))
            _add(rows, label, groups)
        criteria: dict[str, list[float]] = defaultdict(list)
        for score in scores:
            for key, given in _value(score).items():
                if key != FINAL:
                    criteria[key].append(_number(given))
        _add(rows, "criterion", criteria, in_order=True)
        return {**rows}

    return compute


@metric(scores="unreduced")
def group_finals(key: str, groups: list[str]) -> Metric:
    """Mean final score of each of some groups of samples.

    Args:
        key: Key of the samples' metadata that names the group.
        groups: The groups, in the order of the rows.

    Returns:
        The metric; NaN for a group without a score, and no rows for a scorer that gives no final scores.
    """

    def compute(scores: list[SampleScore]) -> Value:
        finals = {
            group: _known(final_of(score) for score in scores if (score.sample_metadata or {}).get(key) == group)
            for group in groups
        }
        if scores and not any(FINAL in _value(score) for score in scores):
            return {}
        return {group: math.fsum(known) / len(known) if known else math.nan for group, known in finals.items()}

    return compute


@metric(scores="unreduced")
def outcome_counts() -> Metric:
    """How often judging ended in which way, `judged` first: at most three rows, so that a log's header stays short.

    Of more than three different outcomes, those of unscored samples count together (`unscored`), and then the rest but
    `judged` (`other`). `urs-inspect table` and the list of samples name each.

    Returns:
        The metric over scores whose value holds `outcome` as text.
    """

    def compute(scores: list[SampleScore]) -> Value:
        counts = Counter(str(_value(score).get("outcome", _UNKNOWN)) for score in scores)
        for kept, name in ((None, _UNSCORED), ({JUDGED, _UNSCORED}, "other")):
            if len(counts) > _MOST_OUTCOMES:
                counts = _together(counts, kept, name)
        return {name: float(counts[name]) for name in sorted(counts, key=lambda name: (name != JUDGED, name))}

    return compute


def interval_rows(name: str, values: Sequence[float], scale: tuple[float, float]) -> _Rows:
    """Rows of a mean: `<name>`, NaN without values; then `low`, `high` and `stderr`, if an interval is reported."""
    estimate = mean_interval(values, scale=scale)
    if math.isnan(estimate.low):
        return {name: estimate.value}
    squares = math.fsum((value - estimate.value) ** 2 for value in values)
    deviation = math.sqrt(squares / (estimate.n - 1) / estimate.n)
    return {name: estimate.value, "low": estimate.low, "high": estimate.high, "stderr": deviation}


def panel_alpha(facts: Iterable[Mapping[str, Any]]) -> float:
    """Krippendorff's alpha (interval) of the final scores across the judges of a panel; NaN for a single judge.

    Args:
        facts: What `intent_judge` left in the metadata of each score.
    """
    panels: list[Sequence[Mapping[str, Any]]] = [fact.get("judges") or [] for fact in facts]
    size = max((len(panel) for panel in panels), default=0)
    if size < 2:
        return math.nan
    return interval_alpha([[_rating(panel, judge) for panel in panels] for judge in range(size)])


def epoch_deviation(finals: Iterable[tuple[str, float]]) -> float:
    """Standard deviation of a question's final score over epochs, pooled over questions; NaN with one epoch.

    It holds the noise of the judge and that of the answers: each epoch answers afresh. For the judge alone, run
    one epoch and judge its log repeatedly with `inspect score`.

    Args:
        finals: Question and final score of each answer, NaN if it has none.
    """
    questions: dict[str, list[float]] = defaultdict(list)
    for question, final in finals:
        if not math.isnan(final):
            questions[question].append(final)
    return pooled_deviation(list(questions.values()))


def final_of(score: SampleScore) -> float:
    """The final score of a sample, 1 to 10; NaN if it has none."""
    return number_of(score, FINAL)


def number_of(score: SampleScore, key: str) -> float:
    """One number of a score's value; NaN if it is not there."""
    return _number(_value(score).get(key))


def _value(score: SampleScore) -> Mapping[str, Any]:
    """What a score's value holds by key; empty if it is a single value."""
    value = score.score.value
    return value if isinstance(value, dict) else {}


def _add(rows: _Rows, label: str, groups: Mapping[str, Sequence[float]], *, in_order: bool = False) -> None:
    """Add the mean of each group that has values, in alphabetical order; a name that is taken gets the label before."""
    for name in groups if in_order else sorted(groups):
        if values := _known(groups[name]):
            rows[f"{label} {name}" if name in rows else name] = math.fsum(values) / len(values)


def _together(counts: Counter[str], kept: set[str] | None, name: str) -> Counter[str]:
    """Count all outcomes together that are not kept; for None those of unscored samples."""
    merged: Counter[str] = Counter()
    for outcome, number in counts.items():
        rare = outcome.startswith(_UNSCORED) if kept is None else outcome not in kept
        merged[name if rare else outcome] += number
    return merged


def _known(values: Iterable[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _rating(panel: Sequence[Mapping[str, Any]], judge: int) -> float:
    return _number(panel[judge].get(FINAL)) if judge < len(panel) else math.nan
