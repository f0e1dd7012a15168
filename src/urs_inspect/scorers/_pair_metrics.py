"""`judge_report`: the headline of a judge and its verdicts in detail, from one run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from inspect_ai.scorer import Metric, SampleScore, Value, metric

from urs_inspect.judging._pair_reply import final_verdict
from urs_inspect.judging._reply_counts import header_rows, summed
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.scorers._metrics import defined, facts_of
from urs_inspect.stats import (
    Verdicts,
    baseline_verdicts,
    encode,
    longer_response,
    measure,
)
from urs_inspect.stats._bootstrap import number_clusters
from urs_inspect.stats._measures import (
    TIE,
    UNREAD,
    B,
    Codes,
    accuracies,
    combine_orders,
)

HEADLINE = "overall accuracy_all"
"""The row that stands for a run: the paper's accuracy, but no judge gains by replies that cannot be
read.
"""

_SHARE = (0.0, 1.0)
_MEASURES = (
    "accuracy",
    "three_way",
    "alpha",
    "flips",
    "first_preference",
    "longer_preference",
    "halo",
    "label_halo",
)
"""Measures that are rows of a log's header beside the headline.

All fourteen are in `urs-inspect judges`.
"""


@dataclass(frozen=True)
class JudgedItems:
    """Verdicts that were asked for, on pairs as wholes or on dimensions, item by item."""

    verdicts: Verdicts
    ids: list[str]  # pair and name of each
    places: dict[
        str, list[str]
    ]  # scenario (or group of the benchmark), need and dimension; empty where there is none
    lengths: npt.NDArray[np.int64]  # characters of both responses, shape (N, 2)
    overall_labels: npt.NDArray[Any]  # of each item's pair


@metric(scores="unreduced")
def judge_report() -> Metric:
    """The headline of a judge beside a baseline, its habits, and counts of failures.

    The baseline is the one that every judge must beat.

    Rows about verdicts on pairs as wholes: `overall accuracy_all` (unread verdicts are wrong), the
    bounds of its 95% interval, `low` and `high`; `longest`, the accuracy of preferring the longer
    response, asked as the judge was; and `unread`, the share of verdicts that could not be read.
    The same for verdicts on dimensions: `dimension accuracy_all`, `dimension low` and so on. Then
    those of `rating.JudgeMeasures` that say most; `failures`, and `unknown dimensions` if there are
    any, as well as replies that are `unkeyed`, `asked again`, with a `near key` or `several
    records`. The viewer shows the first five, each with the first letters of its name.

    By scenario, need and dimension, with all measures, intervals, baselines and failures by mode,
    the same log is counted by `urs-inspect judges`. The harness computes a metric at every refresh
    of the display as well, up to once a second, and gives it no way to know; so here only the
    headline is resampled.
    """

    def compute(scores: list[SampleScore]) -> Value:
        if not scores:
            return {
                HEADLINE: math.nan
            }  # before the first sample the harness looks for the headline and warns
        rows: dict[str, float] = {}
        habits: dict[str, float] = {}
        for title, dimensions in (("overall", False), ("dimension", True)):
            if (items := judged_items(scores, dimensions=dimensions)) is not None:
                rows |= _headline(title, items)
                habits |= _habits(title, items)
        facts = [facts_of(score) for score in scores]
        unknown = sum(len(fact.get("unknown_dimensions", ())) for fact in facts)
        rows |= habits
        failures = sum(len(fact.get("failures", ())) for fact in facts)
        rows["failures"] = float(failures)
        if unknown:
            rows["unknown dimensions"] = float(unknown)
        rows |= header_rows(summed(facts))
        return {**defined(rows, HEADLINE)}

    return compute


def _headline(title: str, items: JudgedItems) -> dict[str, float]:
    """Accuracy over all verdicts with its bounds, and the share of unread verdicts.

    Also the accuracy of the longer response.
    """
    verdicts = items.verdicts
    read = np.where(
        verdicts.final == UNREAD, TIE, verdicts.final
    )  # a tie is wrong, as an unread verdict is here
    accuracy, longest = accuracies(
        verdicts.labels, [read, baseline_of("longest", items)], verdicts.clusters
    )
    accuracy = accuracy.reported(_SHARE)
    prefix = "" if title == "overall" else f"{title} "
    rows = {
        f"{title} accuracy_all": accuracy.value,
        f"{prefix}low": accuracy.low,
        f"{prefix}high": accuracy.high,
    }
    return rows | {
        f"{prefix}longest": longest.value,
        f"{prefix}unread": float(np.mean(verdicts.final == UNREAD)),
    }


def _habits(title: str, items: JudgedItems) -> dict[str, float]:
    measures = measure(items.verdicts, rounds=0)
    return {f"{title} {name}": getattr(measures, name).value for name in _MEASURES}


def baseline_of(kind: str, items: JudgedItems) -> Codes:
    """Final verdicts of a baseline that is asked as the judge was, with the seed 0.

    It is asked in the same order or orders.

    In both orders disagreement is a tie, so that `first` and `second` get nothing right.
    """

    def verdicts_if(shown_first: Codes) -> Codes:
        return baseline_verdicts(
            kind,
            lengths_a=items.lengths[:, 0],
            lengths_b=items.lengths[:, 1],
            first=shown_first,
            overall_labels=items.overall_labels,
            ids=items.ids,
        )

    first = items.verdicts.first
    verdicts = verdicts_if(first)
    if items.verdicts.swapped is None:
        return verdicts
    return combine_orders(verdicts, verdicts_if(B - first))


def judged_items(scores: Sequence[SampleScore], *, dimensions: bool) -> JudgedItems | None:
    """All verdicts of a run, on dimensions or as a whole; None if none was asked for."""
    rows = list(chain.from_iterable(_rows(score, dimensions) for score in scores))
    if not rows:
        return None
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    lengths = np.array(columns["lengths"])
    overall_labels = encode(columns["overall_label"])
    verdicts = Verdicts(
        labels=encode(columns["label"]),
        verdicts=encode(columns["given"]),
        clusters=number_clusters(columns["prompt"]),
        longer=longer_response(lengths[:, 0], lengths[:, 1]),
        first=encode(columns["first"]),
        swapped=encode(columns["swapped"]) if all(columns["both_orders"]) else None,
        overall=encode(columns["overall"]) if dimensions else None,
        overall_labels=overall_labels if dimensions else None,
    )
    places = {place: columns[place] for place in ("scenario", "need", "dimension")}
    return JudgedItems(verdicts, columns["id"], places, lengths, overall_labels)


def _rows(score: SampleScore, dimensions: bool) -> list[dict[str, Any]]:
    """A row for each verdict on a pair that was asked for.

    Those on dimensions, or the one as a whole.
    """
    facts = facts_of(score)
    sample = score.sample_metadata or {}
    labels: dict[str, str] = facts.get("labels", {})
    orders: dict[str, dict[str, str | None]] = facts.get("verdicts", {})
    one, other = [*orders.values(), {}, {}][:2]
    length_a = len(sample.get("response_a", ""))
    length_b = len(sample.get("response_b", ""))
    overall = [verdicts.get(OVERALL) for verdicts in orders.values()]
    pair = {
        "prompt": str(sample.get("prompt", score.sample_id)),
        "scenario": str(sample.get("group", "unknown")),
        "need": str(sample.get("need", "")),
        "lengths": (length_a, length_b),
        "first": next(iter(orders), "a"),
        "overall": final_verdict(overall),
        "overall_label": labels.get(OVERALL, "tie"),
        "both_orders": len(orders) == 2,
    }
    return [
        {
            **pair,
            "id": f"{score.sample_id}/{name}",
            "dimension": name,
            "label": label,
            "given": one.get(name),
            "swapped": other.get(name),
        }
        for name, label in labels.items()
        if (name != OVERALL) == dimensions
    ]
