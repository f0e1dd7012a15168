"""A report as CSV."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence

from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.report import Block, IntentReport, ModelReport

MEANS = ("block", "model", "kind", "column", "mean", "low", "high", "n")
"""Columns of the table of means. A kind is `all`, `intent`, `part`, `language`, `intent and language`, `country` or
`criterion`."""
DIFFERENCES = ("block", "first", "second", "difference", "low", "high", "p", "p_holm", "verdict", "n")
"""Columns of the table of differences."""


def means_csv(report: IntentReport) -> str:
    """Every mean with its interval, a row each; blocks are numbered from 1, and what is not known is empty."""
    rows = (
        (number, model.model, kind, column, *_numbers(estimate))
        for number, block in enumerate(report.blocks, start=1)
        for model in block.models
        for kind, column, estimate in _columns(model)
    )
    return _csv(MEANS, rows)


def differences_csv(report: IntentReport) -> str:
    """Every paired difference, a row each."""
    rows = (row for number, block in enumerate(report.blocks, start=1) for row in _differences(number, block))
    return _csv(DIFFERENCES, rows)


def _columns(model: ModelReport) -> Iterator[tuple[str, str, Estimate]]:
    yield "all", "all", model.all
    kinds = {
        "intent": model.by_group,
        "part": model.by_part,
        "language": model.by_language,
        "intent and language": {"/".join(cell): one for cell, one in model.by_group_and_language.items()},
        "country": model.by_country,
        "criterion": model.by_criterion,
    }
    for kind, columns in kinds.items():
        for column, estimate in columns.items():
            yield kind, column, estimate


def _differences(number: int, block: Block) -> Iterator[Sequence[object]]:
    for one in block.differences:
        value, low, high, n = _numbers(one.difference)
        verdict = "apart" if one.apart else "cannot tell apart" if one.questions else "no common questions"
        yield number, one.first, one.second, value, low, high, _number(one.p), _number(one.p_holm), verdict, n


def _numbers(estimate: Estimate) -> tuple[object, object, object, int]:
    return _number(estimate.value), _number(estimate.low), _number(estimate.high), estimate.n


def _number(value: float) -> object:
    return "" if math.isnan(value) else value


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
