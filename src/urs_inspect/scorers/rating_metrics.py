"""`rating_report`: how far a judge's ratings agree with the labels, from the scores of one run."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.rating import Correlations, Estimate, clustered_mean, correlate

RATING = "rating"
"""Key of a judge's rating in the value of a score."""

_CORRELATIONS = ("pearson", "spearman", "kendall")
_FIELDS = ("intent", "group", "language")
"""The intent comes first: it is also the group of responses without one, and then reported once."""


@dataclass(frozen=True)
class RatedItem:
    """One response that a judge rated.

    Attributes:
        cluster: What responses to the same question have in common, usually the prompt.
        label: The label.
        rating: The judge's rating as it stands; NaN if unread.
        rescaled: The rating on the scale of the labels, likewise.
        places: Intent, group and language; empty where it has none.
    """

    cluster: str
    label: float
    rating: float
    rescaled: float
    places: dict[str, str]


@dataclass(frozen=True)
class RatingAgreement:
    """How far ratings agree with labels.

    Attributes:
        correlations: Over the responses whose rating was read.
        difference: Mean of rating less label, on the scale of the labels.
        unread: Share of responses without a readable rating, 0 to 1.
        n: Number of responses, read or not.
    """

    correlations: Correlations
    difference: Estimate
    unread: float
    n: int


@metric(scores="unreduced")
def rating_report() -> Metric:
    """Correlations of a judge's ratings with the labels, each with a 95% interval clustered by prompt.

    Rows: `pearson`, `spearman`, `kendall` (tau-b), `mean difference` (rating less label, the rating brought to the
    scale of the labels), each followed by `ci_lower` and `ci_upper`; `unread`, the share without a readable rating;
    the correlations by group, intent and language; and counts of failures.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        items = [item for score in scores if (item := rated_item(score)) is not None]
        if not items:
            # Before the first answer the harness looks for the headline, and warns if it is not there.
            return {_CORRELATIONS[0]: math.nan}
        rows = _rows(items)
        seen: list[list[str]] = []
        for field in _FIELDS:
            places = [item.places[field] for item in items]
            if not any(places) or places in seen or (field != "intent" and len(set(places)) < 2):
                continue
            seen.append(places)
            for place in sorted(set(places)):
                members = [item for item in items if item.places[field] == place]
                rows |= _rows(members, f" {field}={place}")
        failures = Counter(mode for score in scores if (mode := _facts(score).get("failure_mode")))
        return {**rows, **{f"failures {mode}": float(count) for mode, count in sorted(failures.items())}}

    return compute


def _facts(score: SampleScore) -> dict[str, Any]:
    return score.score.metadata or {}


def rated_item(score: SampleScore) -> RatedItem | None:
    """The response that a score of `rating_agreement` is about; None for a score of anything else."""
    facts, sample = _facts(score), score.sample_metadata or {}
    if "label" not in facts:
        return None
    given = score.score.value.get(RATING) if isinstance(score.score.value, dict) else None
    rating = float(given) if isinstance(given, (int, float)) else math.nan
    (low, high), (label_low, label_high) = facts["scale"], facts["label_scale"]
    return RatedItem(
        cluster=str(sample.get("cluster") or sample.get("prompt", score.sample_id)),
        label=float(facts["label"]),
        rating=rating,
        rescaled=label_low + (rating - low) * (label_high - label_low) / (high - low),
        places={field: str(sample.get(field, "")) for field in _FIELDS},
    )


def agreement(items: Sequence[RatedItem]) -> RatingAgreement:
    """Hold ratings against labels.

    Args:
        items: At least one response.
    """
    clusters = [item.cluster for item in items]
    found = correlate([item.label for item in items], [item.rating for item in items], clusters)
    difference = clustered_mean([item.rescaled - item.label for item in items], clusters)
    return RatingAgreement(found, difference, found.unread / len(items), len(items))


def _rows(items: Sequence[RatedItem], suffix: str = "") -> dict[str, str | int | float | bool | None]:
    """Rows of some items; those of a group are left out where they are not defined."""
    found = agreement(items)
    estimates: dict[str, Estimate] = {kind: getattr(found.correlations, kind) for kind in _CORRELATIONS}
    estimates["mean difference"] = found.difference
    rows: dict[str, str | int | float | bool | None] = {}
    for name, estimate in estimates.items():
        if not suffix or not math.isnan(estimate.value):
            title = f"{name}{suffix}"
            rows |= {title: estimate.value, f"{title} ci_lower": estimate.low, f"{title} ci_upper": estimate.high}
    rows[f"unread{suffix}"] = found.unread
    return rows
