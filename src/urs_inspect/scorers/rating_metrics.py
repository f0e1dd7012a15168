"""`rating_report`: how far a judge's ratings agree with the labels, from the scores of one run."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.rating import Estimate, clustered_mean, correlate

RATING = "rating"
"""Key of a judge's rating in the value of a score."""

_CORRELATIONS = ("pearson", "spearman", "kendall")
_FIELDS = ("intent", "group", "language")
"""The intent comes first: it is also the group of responses without one, and then reported once."""


@dataclass(frozen=True)
class _Item:
    """One response: the label, the judge's rating (NaN if unread) as it stands and on the scale of the labels."""

    prompt: str
    label: float
    rating: float
    rescaled: float
    places: dict[str, str]


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
        items = [item for score in scores if (item := _item(score)) is not None]
        if not items:
            return {}
        rows = _agreement(items)
        seen: list[list[str]] = []
        for field in _FIELDS:
            places = [item.places[field] for item in items]
            if not any(places) or places in seen or (field != "intent" and len(set(places)) < 2):
                continue
            seen.append(places)
            for place in sorted(set(places)):
                members = [item for item in items if item.places[field] == place]
                rows |= _agreement(members, f" {field}={place}")
        failures = Counter(mode for score in scores if (mode := _facts(score).get("failure_mode")))
        return {**rows, **{f"failures {mode}": float(count) for mode, count in sorted(failures.items())}}

    return compute


def _facts(score: SampleScore) -> dict[str, Any]:
    return score.score.metadata or {}


def _item(score: SampleScore) -> _Item | None:
    facts, sample = _facts(score), score.sample_metadata or {}
    if "label" not in facts:
        return None
    given = score.score.value.get(RATING) if isinstance(score.score.value, dict) else None
    rating = float(given) if isinstance(given, (int, float)) else math.nan
    (low, high), (label_low, label_high) = facts["scale"], facts["label_scale"]
    return _Item(
        prompt=str(sample.get("prompt", score.sample_id)),
        label=float(facts["label"]),
        rating=rating,
        rescaled=label_low + (rating - low) * (label_high - label_low) / (high - low),
        places={field: str(sample.get(field, "")) for field in _FIELDS},
    )


def _agreement(items: Sequence[_Item], suffix: str = "") -> dict[str, str | int | float | bool | None]:
    """Rows of some items; those of a group are left out where they are not defined."""
    prompts = [item.prompt for item in items]
    found = correlate([item.label for item in items], [item.rating for item in items], prompts)
    estimates: dict[str, Estimate] = {kind: getattr(found, kind) for kind in _CORRELATIONS}
    estimates["mean difference"] = clustered_mean([item.rescaled - item.label for item in items], prompts)
    rows: dict[str, str | int | float | bool | None] = {}
    for name, estimate in estimates.items():
        if not suffix or not math.isnan(estimate.value):
            title = f"{name}{suffix}"
            rows |= {title: estimate.value, f"{title} ci_lower": estimate.low, f"{title} ci_upper": estimate.high}
    rows[f"unread{suffix}"] = found.unread / len(items)
    return rows
