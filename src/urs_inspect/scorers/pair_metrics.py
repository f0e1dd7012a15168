"""`judge_report`: everything that verdicts say about a judge, baselines included, from the scores of one run."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.judging import OVERALL
from urs_inspect.rating import (
    BASELINES,
    Estimate,
    JudgeMeasures,
    Verdicts,
    baseline_verdicts,
    encode,
    longer_response,
    measure,
    measure_groups,
    number_clusters,
)

_PAPER_BASELINES = tuple(kind for kind in BASELINES if kind != "copy_overall")


@dataclass(frozen=True)
class _Item:
    """One verdict asked for: a pair as a whole, or a pair on one dimension."""

    sample: str
    name: str
    group: str
    need: str
    prompt: str
    label: str
    overall_label: str
    lengths: tuple[int, int]
    verdicts: dict[str, str | None]
    overall_verdicts: dict[str, str | None]


@metric(scores="unreduced")
def judge_report() -> Metric:
    """Accuracy, agreement and habits of a judge, with 95% intervals clustered by prompt, beside trivial baselines.

    Rows are called `overall <measure>` and `dimension <measure>` (measures: `rating.JudgeMeasures`), followed by
    `ci_lower` or `ci_upper`; baselines `baseline <kind> overall accuracy`; then accuracies by scenario, need and
    dimension, and counts of failures.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        wholes = [item for score in scores for item in _items(score) if item.name == OVERALL]
        parts = [item for score in scores for item in _items(score) if item.name != OVERALL]
        rows: dict[str, float] = {}
        for title, items in (("overall", wholes), ("dimension", parts)):
            if items:
                rows |= _measures(title, _verdicts(items, title == "dimension"))
        for title, items in (("overall", wholes), ("dimension", parts)):
            if items:
                rows |= _baselines(title, items)
        rows |= _by_group("overall", wholes, "group") | _by_group("overall", wholes, "need")
        rows |= _by_group("dimension", parts, "group") | _by_group("dimension", parts, "need")
        rows |= _by_group("dimension", parts, "name")
        failures = Counter(mode for score in scores for mode in _facts(score).get("failures", ()))
        rows |= {f"failures {mode}": float(count) for mode, count in sorted(failures.items())}
        unknown = sum(len(_facts(score).get("unknown_dimensions", ())) for score in scores)
        return {**rows, **({"unknown dimensions": float(unknown)} if unknown else {})}

    return compute


def items_of(scores: Sequence[SampleScore], name: str | None = OVERALL) -> Verdicts | None:
    """Verdicts of a run for comparing judges: overall by default, all dimensions for None; None if there are none."""
    items = [item for score in scores for item in _items(score) if (item.name == OVERALL) == (name == OVERALL)]
    return _verdicts(items, name != OVERALL) if items else None


def _facts(score: SampleScore) -> dict[str, Any]:
    return score.score.metadata or {}


def _items(score: SampleScore) -> list[_Item]:
    facts, sample = _facts(score), score.sample_metadata or {}
    labels, orders = facts.get("labels", {}), facts.get("verdicts", {})
    return [
        _Item(
            sample=str(score.sample_id),
            name=name,
            group=str(sample.get("group", "unknown")),
            need=str(sample.get("need", "")),
            prompt=str(sample.get("prompt", score.sample_id)),
            label=label,
            overall_label=labels.get(OVERALL, "tie"),
            lengths=(len(sample.get("response_a", "")), len(sample.get("response_b", ""))),
            verdicts={first: verdicts.get(name) for first, verdicts in orders.items()},
            overall_verdicts={first: verdicts.get(OVERALL) for first, verdicts in orders.items()},
        )
        for name, label in labels.items()
    ]


def _verdicts(items: Sequence[_Item], dimensions: bool) -> Verdicts:
    firsts = [next(iter(item.verdicts), "a") for item in items]
    both = all(len(item.verdicts) == 2 for item in items)
    others = ["b" if first == "a" else "a" for first in firsts]
    overall = [_combined(item.overall_verdicts) for item in items]
    return Verdicts(
        labels=encode(item.label for item in items),
        verdicts=encode(item.verdicts.get(first) for item, first in zip(items, firsts, strict=True)),
        clusters=number_clusters([item.prompt for item in items]),
        longer=longer_response([item.lengths[0] for item in items], [item.lengths[1] for item in items]),
        first=encode(firsts),
        swapped=encode(item.verdicts.get(o) for item, o in zip(items, others, strict=True)) if both else None,
        overall=encode(overall) if dimensions else None,
        overall_labels=encode(item.overall_label for item in items) if dimensions else None,
    )


def _combined(verdicts: dict[str, str | None]) -> str | None:
    given = list(verdicts.values())
    if not given or None in given:
        return None
    return given[0] if len(set(given)) == 1 else "tie"


def _measures(title: str, verdicts: Verdicts) -> dict[str, float]:
    measures: JudgeMeasures = measure(verdicts)
    rows: dict[str, float] = {}
    for field in fields(measures):
        estimate: Estimate = getattr(measures, field.name)
        if not math.isnan(estimate.value):
            rows |= _row(f"{title} {field.name}", estimate)
    return rows


def _row(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name} ci_lower": estimate.low, f"{name} ci_upper": estimate.high}


def _baselines(title: str, items: Sequence[_Item]) -> dict[str, float]:
    rows: dict[str, float] = {}
    verdicts = _verdicts(items, False)
    for kind in BASELINES if title == "dimension" else _PAPER_BASELINES:
        codes = baseline_verdicts(
            kind,
            lengths_a=[item.lengths[0] for item in items],
            lengths_b=[item.lengths[1] for item in items],
            first=verdicts.first,
            overall_labels=encode(item.overall_label for item in items),
            ids=[f"{item.sample}/{item.name}" for item in items],
        )
        base = Verdicts(verdicts.labels, codes, verdicts.clusters, verdicts.longer, verdicts.first)
        rows |= _row(f"baseline {kind} {title} accuracy", measure(base).accuracy)
    return rows


def _by_group(title: str, items: Sequence[_Item], field: str) -> dict[str, float]:
    groups = [getattr(item, field) for item in items]
    if len(set(groups) - {""}) < 2:
        return {}
    by_group = measure_groups(_verdicts(items, False), groups)
    rows: dict[str, float] = {}
    for group in sorted(by_group, key=str):
        estimate = by_group[group].accuracy
        if group and not math.isnan(estimate.value):
            rows |= _row(f"{title} accuracy {field}={group}", estimate)
    return rows
