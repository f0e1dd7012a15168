"""`rating_report`: how far a judge's ratings agree with the labels, from the scores of one run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.rating import Correlations, Estimate, clustered_mean, correlate

GROUP = "group"
"""Key of the group in metadata and value alike: columns of the viewer are values."""

RATING = "rating"
"""Key of a judge's rating in the value of a score."""

CORRELATIONS = ("pearson", "spearman", "kendall")
FIELDS = ("intent", "group", "language")
"""By what responses are grouped."""


@dataclass(frozen=True)
class RatedItem:
    """One response that a judge rated.

    Attributes:
        cluster: What responses to the same question have in common, usually the prompt.
        label: The label.
        rating: The judge's rating as it stands; NaN if unread.
        rescaled: The rating on the scale of the labels, likewise.
        places: Intent, group and language; empty where it has none.
        label_scale: Lowest and highest possible label.
        failure: Why the rating could not be read; empty if it was.
    """

    cluster: str
    label: float
    rating: float
    rescaled: float
    places: dict[str, str]
    label_scale: tuple[float, float]
    failure: str


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
    """Correlations of a judge's ratings with the labels.

    Rows: `pearson` with the bounds of its 95% interval, clustered by prompt, `low` and `high`; `unread`, the share
    without a readable rating; `spearman`, `kendall` (tau-b), `mean difference` (rating less label, the rating brought
    to the scale of the labels) and `distance` (the same without its sign); `failures`. By group, intent and language,
    with all intervals and failures by mode, the same log is counted by `urs-inspect judges`.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        items = [item for score in scores if (item := rated_item(score)) is not None]
        if not items:
            # Before the first answer the harness looks for the headline, and warns if it is not there.
            return {"pearson": math.nan}
        found = agreement(items)
        pearson = found.correlations.pearson
        distances = [abs(item.rescaled - item.label) for item in items if not math.isnan(item.rescaled)]
        rows = {"pearson": pearson.value, "low": pearson.low, "high": pearson.high, "unread": found.unread}
        rows |= {"spearman": found.correlations.spearman.value, "kendall": found.correlations.kendall.value}
        rows |= {"mean difference": found.difference.value}
        rows |= {"distance": math.fsum(distances) / len(distances) if distances else math.nan}
        rows |= {"failures": float(sum(bool(item.failure) for item in items))}
        return {name: value for name, value in rows.items() if name == "pearson" or not math.isnan(value)}

    return compute


def rated_item(score: SampleScore) -> RatedItem | None:
    """The response that a score of `rating_agreement` is about; None for a score of anything else."""
    facts: dict[str, Any] = score.score.metadata or {}
    sample = score.sample_metadata or {}
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
        places={field: str(sample.get(field, "")) for field in FIELDS},
        label_scale=(float(label_low), float(label_high)),
        failure=str(facts.get("failure_mode") or ""),
    )


def agreement(items: Sequence[RatedItem]) -> RatingAgreement:
    """Hold ratings against labels, with the intervals that logs and tables report.

    Args:
        items: At least one response.
    """
    clusters = [item.cluster for item in items]
    found = correlate([item.label for item in items], [item.rating for item in items], clusters)
    pearson, spearman, kendall = (getattr(found, kind).reported((-1.0, 1.0)) for kind in CORRELATIONS)
    low, high = items[0].label_scale
    difference = clustered_mean([item.rescaled - item.label for item in items], clusters)
    return RatingAgreement(
        Correlations(pearson, spearman, kendall, found.unread),
        difference.reported((low - high, high - low)),
        found.unread / len(items),
        len(items),
    )
