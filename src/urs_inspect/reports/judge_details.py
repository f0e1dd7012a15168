"""Every number that a log holds about a judge, beyond its headline: by scenario, need, dimension, measure, failure."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields

from urs_inspect.reports.judge_result import LEVELS, JudgeResult
from urs_inspect.reports.judges import DatasetJudges, DatasetRatings, RatingJudge
from urs_inspect.reports.output import csv_text
from urs_inspect.scorers.pair_metrics import accuracies_by, judged_items
from urs_inspect.scorers.rating_agreement import CORRELATIONS, FIELDS, RatingAgreement, agreement
from urs_inspect.stats import Estimate

ALL, FAILURE = "all", "failure"
SCENARIO, NEED, DIMENSION = "scenario", "need", "dimension"
RATINGS = "ratings"
"""The level of numbers about a judge that rates; those of pairs are `overall` and `dimensions`."""

_BY_FIELD = {"group": SCENARIO}


@dataclass(frozen=True)
class Detail:
    """One number about a judge.

    Attributes:
        level: `overall`, `dimensions` or `ratings`; empty for a count of failures.
        by: `all`, what the items are grouped by (`scenario`, `need`, `dimension`, `intent`, `language`), or `failure`.
        group: The group; for a failure its mode.
        measure: Name of the measure; `count` for failures.
        value: The number.
        low: Lower bound of its 95% interval; NaN where none is reported.
        high: Upper bound of its 95% interval; NaN where none is reported.
        n: Number of items that it is about.
        clusters: Number of prompts that these come from.
    """

    level: str
    by: str
    group: str
    measure: str
    value: float
    low: float
    high: float
    n: int
    clusters: int


def pair_details(judge: JudgeResult) -> list[Detail]:
    """All measures of a judge of pairs, its accuracy by scenario, need and dimension, and its failures by mode."""
    found: list[Detail] = []
    scores = list(judge.scores.values())
    for level in LEVELS:
        measures, items = getattr(judge, level), judged_items(scores, dimensions=level == "dimensions")
        if measures is None or items is None:
            continue
        estimates = {field.name: getattr(measures, field.name) for field in fields(measures)}
        found += _details(level, ALL, "", estimates)
        for place in (SCENARIO, NEED, DIMENSION):
            for group, estimate in accuracies_by(items, place).items():
                found += _details(level, place, group, {"accuracy": estimate})
    facts = [score.score.metadata or {} for score in scores]
    failures = Counter(mode for one in facts for mode in one.get("failures", ()))
    if unknown := sum(len(one.get("unknown_dimensions", ())) for one in facts):
        failures["unknown dimensions"] = unknown
    return [*found, *_failures(failures)]


def rating_details(judge: RatingJudge) -> list[Detail]:
    """Agreement of a judge that rates, over all responses and by scenario, intent and language, and its failures."""
    found = _agreement(ALL, "", judge.agreement)
    for field in FIELDS:
        for group, members in by_field(judge, field).items():
            found += _agreement(_BY_FIELD.get(field, field), group, members)
    return [*found, *_failures(Counter(item.failure for item in judge.items.values() if item.failure))]


def by_field(judge: RatingJudge, field: str) -> dict[str, RatingAgreement]:
    """Agreement of a judge by `intent`, `group` or `language`.

    Empty where all responses are of the same group or language, and where groups are the intents.
    """
    items = list(judge.items.values())
    if field != "intent" and len({item.places[field] for item in items} - {""}) < 2:
        return {}
    if field == "group" and all(item.places["group"] == item.places["intent"] for item in items):
        return {}
    return {
        group: agreement([item for item in items if item.places[field] == group])
        for group in sorted({item.places[field] for item in items})
        if group
    }


def details_csv(pairs: Iterable[DatasetJudges], ratings: Iterable[DatasetRatings]) -> str:
    """All details of all judges as CSV, baselines included, one row for each number."""
    header = ["dataset", "judge", "orders", *(field.name for field in fields(Detail))]
    return csv_text(header, [*_pair_rows(pairs), *_rating_rows(ratings)])


def _pair_rows(datasets: Iterable[DatasetJudges]) -> Iterator[Sequence[object]]:
    for dataset in datasets:
        for judge in (*dataset.judges, *dataset.baselines):
            yield from ((dataset.dataset, judge.name, judge.orders, *astuple(one)) for one in pair_details(judge))


def _rating_rows(datasets: Iterable[DatasetRatings]) -> Iterator[Sequence[object]]:
    for dataset in datasets:
        for judge in dataset.judges:
            yield from ((dataset.dataset, judge.name, "", *astuple(one)) for one in rating_details(judge))


def _agreement(by: str, group: str, found: RatingAgreement) -> list[Detail]:
    estimates = {kind: getattr(found.correlations, kind) for kind in CORRELATIONS}
    unread = Detail(RATINGS, by, group, "unread", found.unread, math.nan, math.nan, found.n, 0)
    return [*_details(RATINGS, by, group, estimates | {"mean difference": found.difference}), unread]


def _details(level: str, by: str, group: str, estimates: dict[str, Estimate]) -> list[Detail]:
    return [
        Detail(level, by, group, measure, one.value, one.low, one.high, one.n, one.clusters)
        for measure, one in estimates.items()
        if not math.isnan(one.value)
    ]


def _failures(counts: Counter[str]) -> list[Detail]:
    return [
        Detail("", FAILURE, mode, "count", float(count), math.nan, math.nan, count, 0)
        for mode, count in sorted(counts.items())
    ]
