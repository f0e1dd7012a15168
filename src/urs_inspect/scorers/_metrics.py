"""What scorers share: rows of metrics, reasons for missing scores, and the metrics of
`intent_judge`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from inspect_ai.log import HeadlineMetric
from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.datasets._conversations import NOT_SHOWN
from urs_inspect.judging._reply_counts import header_rows, summed
from urs_inspect.judging._scores import as_number
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.stats import mean_interval
from urs_inspect.stats._bootstrap import standard_error

SCALE = (float(LOWEST), float(HIGHEST))
JUDGED = "judged"
CLUSTER = "cluster"
"""Key of a sample's metadata: what samples that belong together share, such as their user."""

HEADLINE = HeadlineMetric(scorer="intent_judge", metric=FINAL)
"""The row that stands for a run of `intent_judge`."""


def scale_of_scorer(scorer: str) -> tuple[float, float] | None:
    """The lowest and highest score of a scorer, where it is one of URS; else None."""
    if scorer == HEADLINE.scorer:
        return SCALE
    return None


_UNKNOWN = "unknown"
_UNSCORED = "unscored"
_MOST_OUTCOMES = 3

_Rows = dict[str, float]

Reason = Literal["invalid_response_format", "refusal", "no_response"]
"""What the harness calls a failure of the model under test."""

_REASONS: dict[str, Reason] = {
    "empty_reply": "no_response",
    "call_failed": "no_response",
    "no_answer": "no_response",
    "context_overflow": "no_response",
    "refusal": "refusal",
    "content_filter": "refusal",
}


def reason_of(modes: Iterable[str]) -> Reason:
    """Why a sample lacks a verdict or rating: the reason of most failures of its replies, the first
    of equal ones.

    A reply that came and cannot be read, or lacks a part, is `invalid_response_format`; no reply at
    all `no_response`.
    """
    reasons = Counter(_REASONS.get(mode, "invalid_response_format") for mode in modes)
    if reasons:
        return reasons.most_common(1)[0][0]
    return "no_response"


def groups_of(metadata: Mapping[str, Any] | None) -> dict[str, str]:
    """Reported intent and language of a sample, as columns of the viewer."""
    facts = metadata or {}
    intent = facts.get("intent_group", facts.get("intent", _UNKNOWN))
    language = facts.get("language", _UNKNOWN)
    return {"intent": str(intent), "language": str(language)}


def value_of(score: SampleScore) -> Mapping[str, Any]:
    """What a score's value holds by key; empty if it is a single value."""
    value = score.score.value
    if not isinstance(value, dict):
        return {}
    return value


def facts_of(score: SampleScore) -> Mapping[str, Any]:
    """The metadata of a score."""
    return score.score.metadata or {}


def number_of(score: SampleScore, key: str) -> float:
    """One number of a score's value; NaN if it is not there."""
    return as_number(value_of(score).get(key))


def final_of(score: SampleScore) -> float:
    """The final score of a sample, 1 to 10; NaN if it has none."""
    return number_of(score, FINAL)


def mean(values: Sequence[float]) -> float:
    """The mean; NaN of nothing."""
    if not values:
        return math.nan
    return math.fsum(values) / len(values)


def defined(rows: Mapping[str, float], headline: str) -> _Rows:
    """Rows without those that are NaN, but with the headline: the harness looks for it, and warns
    if it is missing.
    """
    kept = {}
    for name, value in rows.items():
        if name == headline or not math.isnan(value):
            kept[name] = value
    return kept


def count_rows(prefix: str, names: Iterable[str]) -> _Rows:
    """How often each name occurs, as rows `<prefix> <name>` in alphabetical order."""
    counts = sorted(Counter(names).items())
    return {f"{prefix} {name}": float(count) for name, count in counts}


def interval_rows(
    name: str,
    values: Sequence[float],
    scale: tuple[float, float] | None,
    clusters: Sequence[str] | None = None,
) -> _Rows:
    """Rows of a mean: `<name>`, NaN without values; then `low`, `high` and `stderr`, if an interval
    is reported.

    `clusters` names the cluster of each value; by default all are independent.
    """
    estimate = mean_interval(values, scale=scale, clusters=clusters)
    if math.isnan(estimate.low):
        return {name: estimate.value}
    return {
        name: estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "stderr": standard_error(values, clusters),
    }


def cluster_of(score: SampleScore) -> str:
    """The cluster of a score: that which its sample names, else the sample, whose epochs belong
    together.
    """
    facts = score.sample_metadata or {}
    named = str(facts.get(CLUSTER) or "").strip()
    if named:
        return f"cluster {named}"
    return f"sample {score.sample_id}"


def not_shown_row(scores: Iterable[SampleScore]) -> _Rows:
    """The number of answers to questions of which no judge could see a part.

    No row where there is none.
    """
    number = sum(bool(facts_of(score).get(NOT_SHOWN)) for score in scores)
    if not number:
        return {}
    return {"not shown": float(number)}


@metric
def intent_report() -> Metric:
    """The final score with its interval, then means by intent and language.

    One metric of the whole score, for three reasons: the terminal and the viewer show its rows in
    this order; the harness copies every score once for each key that has metrics of its own, at
    every refresh of the display; and its own `grouped()` stops the run if one sample lacks the key.

    Rows: `final`; `low` and `high`, its 95% interval over samples, or clusters of them where
    samples name any, and `stderr`; the mean final score by reported intent and by language;
    `not shown`, the number of answers to questions of which the judge could not see a part, if
    there are any. Criteria are columns of the viewer and of `urs-inspect table --only criteria`, so
    that a run ends on one screen.
    """

    def compute(scores: list[SampleScore]) -> Value:
        scored = [score for score in scores if not math.isnan(final_of(score))]
        finals = [final_of(score) for score in scored]
        clusters = [cluster_of(score) for score in scored]
        rows = interval_rows(FINAL, finals, SCALE, clusters)
        for label, key in (("intent", "intent_group"), ("language", "language")):
            groups: dict[str, list[float]] = defaultdict(list)
            for score in scores:
                facts = score.sample_metadata or {}
                group = str(facts.get(key, _UNKNOWN))
                groups[group].append(final_of(score))
            _add(rows, label, dict(sorted(groups.items())))
        return {**rows, **not_shown_row(scores)}

    return compute


@metric(scores="unreduced")
def group_finals(key: str, groups: list[str]) -> Metric:
    """Mean final score of each group of samples, in their order; `key` of the samples' metadata
    names the group.

    NaN for a group without a score, and no rows for a scorer that gives no final scores.
    """

    def compute(scores: list[SampleScore]) -> Value:
        if scores and not any(FINAL in value_of(score) for score in scores):
            return {}
        finals: dict[object, list[float]] = defaultdict(list)
        for score in scores:
            facts = score.sample_metadata or {}
            finals[facts.get(key)].append(final_of(score))
        return {group: mean(known(finals[group])) for group in groups}

    return compute


@metric(scores="unreduced")
def outcome_counts() -> Metric:
    """How often judging ended in which way, `judged` first: at most three rows, so that a log's
    header stays short.

    Of more than three different outcomes, those of unscored samples count together (`unscored`),
    and then the rest but `judged` (`other`). `urs-inspect table` and the list of samples name each.
    Then, where there are any, replies of judges that are `unkeyed`, `asked again`, with a `near
    key` or `several records`; with several judges one row each.
    """

    def compute(scores: list[SampleScore]) -> Value:
        counts = Counter[str]()
        for score in scores:
            outcome = value_of(score).get("outcome", _UNKNOWN)
            counts[str(outcome)] += 1
        if len(counts) > _MOST_OUTCOMES:
            counts = _together(counts, None, _UNSCORED)
        if len(counts) > _MOST_OUTCOMES:
            counts = _together(counts, {JUDGED, _UNSCORED}, "other")
        judged_first = sorted(counts, key=lambda name: (name != JUDGED, name))
        rows = {name: float(counts[name]) for name in judged_first}
        return {**rows, **header_rows(summed(facts_of(score) for score in scores))}

    return compute


def _add(rows: _Rows, label: str, groups: Mapping[str, Sequence[float]]) -> None:
    """Add the mean of each group that has values; a name that is taken gets the label before it."""
    for name, values in groups.items():
        given = known(values)
        if given:
            rows[f"{label} {name}" if name in rows else name] = mean(given)


def _together(counts: Counter[str], kept: set[str] | None, name: str) -> Counter[str]:
    """Count all outcomes together that are not kept; for None those of unscored samples."""
    merged: Counter[str] = Counter()
    for outcome, number in counts.items():
        rare = outcome.startswith(_UNSCORED) if kept is None else outcome not in kept
        merged[name if rare else outcome] += number
    return merged


def known(values: Iterable[float]) -> list[float]:
    """The values that are not NaN."""
    return [value for value in values if not math.isnan(value)]
