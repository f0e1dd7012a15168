"""`judge_report`: everything that verdicts say about a judge, baselines included, from the scores of one run."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.judging import OVERALL
from urs_inspect.judging.pair_reading import final_verdict
from urs_inspect.rating import (
    BASELINES,
    B,
    Codes,
    Estimate,
    JudgeMeasures,
    Verdicts,
    accuracies,
    baseline_verdicts,
    combine_orders,
    encode,
    group_accuracies,
    longer_response,
    measure,
    number_clusters,
)

HEADLINE = "overall accuracy_all"
"""The row that stands for a run: the paper's accuracy, but no judge gains by replies that cannot be read."""

_FIRST_ROWS = (
    HEADLINE,
    "baseline longest overall accuracy",
    "overall unread",
    "dimension accuracy_all",
    "baseline longest dimension accuracy",
    "dimension unread",
    "overall accuracy",
    "dimension accuracy",
)
"""What a reader needs first; `inspect view` shows five, each with the first nine letters of its name."""

_PAPER_BASELINES = tuple(kind for kind in BASELINES if kind != "copy_overall")


@dataclass(frozen=True)
class _Items:
    """Verdicts asked for, on pairs as wholes or on dimensions, item by item."""

    verdicts: Verdicts
    ids: list[str]
    names: list[str]
    groups: list[str]
    needs: list[str]
    lengths: npt.NDArray[np.int64]
    overall_labels: npt.NDArray[Any]


@metric(scores="unreduced")
def judge_report() -> Metric:
    """Accuracy, agreement and habits of a judge, with 95% intervals clustered by prompt, beside trivial baselines.

    Rows are called `overall <measure>` and `dimension <measure>` (measures: `rating.JudgeMeasures`), followed by
    `ci_lower` or `ci_upper`; baselines `baseline <kind> overall accuracy`; then accuracies by scenario, need and
    dimension, and counts of failures. The accuracies, the longer response's and the shares of unread verdicts come
    first.

    Baselines are asked as the judge was: shown the same response first, or both in turn, where disagreement is a tie.
    So `first` and `second` get nothing right in both orders. The coin of `random` has the seed 0, whatever the run's.

    The harness computes this at every refresh of the display as well, up to once a second, and gives a metric no way
    to know; so everything here is fast enough to be always computed in full.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        if not scores:
            return {HEADLINE: math.nan}  # before the first sample the harness looks for the headline and warns
        levels = [("overall", _items(scores, dimensions=False)), ("dimension", _items(scores, dimensions=True))]
        asked = [(title, items) for title, items in levels if items is not None]
        rows: dict[str, float] = {}
        for title, items in asked:
            rows |= _measures(title, items.verdicts)
        for title, items in asked:
            rows |= _baselines(title, items)
        for title, items in asked:
            rows |= _by_group(title, items, "group", items.groups) | _by_group(title, items, "need", items.needs)
            rows |= _by_group(title, items, "name", items.names)
        failures = Counter(mode for score in scores for mode in _facts(score).get("failures", ()))
        rows |= {f"failures {mode}": float(count) for mode, count in sorted(failures.items())}
        if unknown := sum(len(_facts(score).get("unknown_dimensions", ())) for score in scores):
            rows["unknown dimensions"] = float(unknown)
        return {**{name: rows[name] for name in _FIRST_ROWS if name in rows}, **rows}

    return compute


def items_of(scores: Sequence[SampleScore], name: str | None = OVERALL) -> Verdicts | None:
    """Verdicts of a run for comparing judges: overall by default, all dimensions for None; None if there are none."""
    items = _items(scores, dimensions=name is None)
    return None if items is None else items.verdicts


def _facts(score: SampleScore) -> dict[str, Any]:
    return score.score.metadata or {}


@dataclass
class _Columns:
    """What is gathered score by score: one entry a pair, and one entry an item with the place of its pair."""

    ids: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    lengths: list[tuple[int, int]] = field(default_factory=list)
    firsts: list[str] = field(default_factory=list)
    overall: list[str | None] = field(default_factory=list)
    overall_labels: list[str] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    given: list[str | None] = field(default_factory=list)
    swapped: list[str | None] = field(default_factory=list)
    both_orders: bool = True

    def add(self, score: SampleScore, dimensions: bool) -> None:
        """Add the verdicts of one score, those on dimensions or the one as a whole."""
        facts, sample = _facts(score), score.sample_metadata or {}
        labels: dict[str, str] = facts.get("labels", {})
        names = [name for name in labels if (name != OVERALL) == dimensions]
        if not names:
            return
        orders: dict[str, dict[str, str | None]] = facts.get("verdicts", {})
        one, other = [*orders.values(), {}, {}][:2]
        self.pairs += [len(self.ids)] * len(names)
        self.names += names
        self.labels += [labels[name] for name in names]
        self.given += [one.get(name) for name in names]
        self.swapped += [other.get(name) for name in names]
        self.both_orders &= len(orders) == 2
        self.ids.append(str(score.sample_id))
        self.prompts.append(str(sample.get("prompt", score.sample_id)))
        self.groups.append(str(sample.get("group", "unknown")))
        self.needs.append(str(sample.get("need", "")))
        self.lengths.append((len(sample.get("response_a", "")), len(sample.get("response_b", ""))))
        self.firsts.append(next(iter(orders), "a"))
        self.overall.append(final_verdict([verdicts.get(OVERALL) for verdicts in orders.values()]))
        self.overall_labels.append(labels.get(OVERALL, "tie"))


def _items(scores: Sequence[SampleScore], *, dimensions: bool) -> _Items | None:
    columns = _Columns()
    for score in scores:
        columns.add(score, dimensions)
    if not columns.pairs:
        return None
    pairs = np.array(columns.pairs)
    lengths = np.array(columns.lengths)[pairs]
    overall_labels = encode(columns.overall_labels)[pairs]
    verdicts = Verdicts(
        labels=encode(columns.labels),
        verdicts=encode(columns.given),
        clusters=number_clusters(columns.prompts)[pairs],
        longer=longer_response(lengths[:, 0], lengths[:, 1]),
        first=encode(columns.firsts)[pairs],
        swapped=encode(columns.swapped) if columns.both_orders else None,
        overall=encode(columns.overall)[pairs] if dimensions else None,
        overall_labels=overall_labels if dimensions else None,
    )
    return _Items(
        verdicts=verdicts,
        ids=[f"{columns.ids[pair]}/{name}" for pair, name in zip(columns.pairs, columns.names, strict=True)],
        names=columns.names,
        groups=[columns.groups[pair] for pair in columns.pairs],
        needs=[columns.needs[pair] for pair in columns.pairs],
        lengths=lengths,
        overall_labels=overall_labels,
    )


def _measures(title: str, verdicts: Verdicts) -> dict[str, float]:
    measures: JudgeMeasures = measure(verdicts)
    rows: dict[str, float] = {}
    for each in fields(measures):
        estimate: Estimate = getattr(measures, each.name)
        name = f"{title} {each.name}"
        if name == HEADLINE or not math.isnan(estimate.value):  # the harness warns of a headline that is not there
            rows |= _row(name, estimate)
    return rows


def _row(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name} ci_lower": estimate.low, f"{name} ci_upper": estimate.high}


def _baselines(title: str, items: _Items) -> dict[str, float]:
    kinds = BASELINES if title == "dimension" else _PAPER_BASELINES
    found = accuracies(items.verdicts.labels, [_answers(kind, items) for kind in kinds], items.verdicts.clusters)
    rows: dict[str, float] = {}
    for kind, estimate in zip(kinds, found, strict=True):
        rows |= _row(f"baseline {kind} {title} accuracy", estimate)
    return rows


def _answers(kind: str, items: _Items) -> Codes:
    """Final verdicts of a baseline that is asked in the order or orders in which the judge was."""
    first = items.verdicts.first
    given = [
        baseline_verdicts(
            kind,
            lengths_a=items.lengths[:, 0],
            lengths_b=items.lengths[:, 1],
            first=shown,
            overall_labels=items.overall_labels,
            ids=items.ids,
        )
        for shown in ((first,) if items.verdicts.swapped is None else (first, B - first))
    ]
    return given[0] if len(given) == 1 else combine_orders(*given)


def _by_group(title: str, items: _Items, kind: str, groups: list[str]) -> dict[str, float]:
    if len(set(groups) - {""}) < 2:
        return {}
    found = group_accuracies(items.verdicts, groups)
    rows: dict[str, float] = {}
    for group in sorted(found, key=str):
        if group and not math.isnan(found[group].value):
            rows |= _row(f"{title} accuracy {kind}={group}", found[group])
    return rows
