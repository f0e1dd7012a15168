"""A report as CSV."""

from collections.abc import Iterator, Sequence

from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.report import Block, IntentReport, ModelReport
from urs_inspect.reports.plain_files import csv_text

MEANS = (
    *("block", "model", "kind", "column", "mean", "low", "high", "n", "beside_best"),
    *("rank_from", "rank_to", "unscored_share", "mean_scored", "mean_lowest", "mean_highest"),
)
"""Columns of the table of means.

A kind is `all`, `intent`, `part`, `language`, `intent and language`, `country` or `criterion`. `beside_best`, in
columns that are tested, is `best` or the verdict on the difference to the best. The rows of the kind `all` have the
ranks, the share of answers without a score, the mean of all scores that the model has, and the mean over all
questions if each missing score were the lowest or the highest.
"""
DIFFERENCES = (
    *("block", "column", "first", "second", "difference", "low", "high"),
    *("p", "p_holm", "p_worst", "verdict", "depends_on", "n"),
)
"""Columns of the table of differences: all pairs in the column `all`, and the best model of each intent and language
beside each other one. `depends_on` names models with the number of their answers without a score."""


def means_csv(report: IntentReport) -> str:
    """Every mean with its interval, a row each; blocks are numbered from 1, and what is not known is empty."""
    rows = (
        (number, model.model, kind, column, *_numbers(estimate), *_rest(block, model, kind, column))
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


def _rest(block: Block, model: ModelReport, kind: str, column: str) -> Iterator[object]:
    best = block.best.get(column) if kind in ("all", "intent", "language") else None
    beside = {} if best is None else {best.model: "best"} | {one.second: one.verdict for one in best.others}
    yield beside.get(model.model, "")
    if kind == "all":
        yield from model.ranks or ("", "")
        yield from (model.unscored_share, model.mean_scored, model.mean_lowest, model.mean_highest)
    else:
        yield from [""] * 6


def _differences(number: int, block: Block) -> Iterator[Sequence[object]]:
    tested = {"all": block.differences} | {key: one.others for key, one in block.best.items() if key != "all"}
    for column, pairs in tested.items():
        for one in pairs:
            value, low, high, n = _numbers(one.difference)
            depends = "; ".join(f"{name} ({unscored})" for name, unscored in one.depends_on.items())
            tests = (one.p, one.p_holm, one.p_worst, one.verdict, depends)
            yield number, column, one.first, one.second, value, low, high, *tests, n


def _numbers(estimate: Estimate) -> tuple[float, float, float, int]:
    return estimate.value, estimate.low, estimate.high, estimate.n
