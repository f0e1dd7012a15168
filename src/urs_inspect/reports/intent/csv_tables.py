"""A report as CSV."""

from collections.abc import Iterator, Sequence

from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.report import Block, IntentReport, ModelReport
from urs_inspect.reports.plain_files import csv_text

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
    return csv_text(MEANS, rows)


def differences_csv(report: IntentReport) -> str:
    """Every paired difference, a row each."""
    rows = (row for number, block in enumerate(report.blocks, start=1) for row in _differences(number, block))
    return csv_text(DIFFERENCES, rows)


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
        yield number, one.first, one.second, value, low, high, one.p, one.p_holm, verdict, n


def _numbers(estimate: Estimate) -> tuple[float, float, float, int]:
    return estimate.value, estimate.low, estimate.high, estimate.n
