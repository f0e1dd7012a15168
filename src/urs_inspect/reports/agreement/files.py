"""The report as files: CSV for tables, Markdown for reading, JSON for programs."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from urs_inspect.rating import Estimate
from urs_inspect.rating.mean_correlation import MeanCorrelation
from urs_inspect.reports.agreement.report import (
    PUBLISHED_INTENTS,
    PUBLISHED_MODELS,
    AgreementBlock,
    AgreementReport,
)
from urs_inspect.reports.agreement.sections import sections_of
from urs_inspect.reports.output_directory import ReportKind, report_dict, write_directory
from urs_inspect.reports.plain_files import csv_text, plain
from urs_inspect.reports.sections import sections_markdown

AGREEMENT = ReportKind(
    "urs-inspect agreement",
    1,
    "urs-inspect agreement",
    "agreement.json",
    ("agreement.csv", "agreement.md"),
)
"""How these reports are told from other files."""

_HEADER = ("block", "judge", "level", "scope", "statistic", "value", "low", "high", "n", "clusters")
_Numbers = Iterator[tuple[str, str, str, Estimate]]


def write_files(report: AgreementReport, directory: Path) -> tuple[Path, ...]:
    """Write `agreement.csv`, `agreement.md` and `agreement.json`.

    Returns:
        The files.

    Raises:
        InputError: As `write_directory`.
    """
    as_json = json.dumps(agreement_dict(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    texts = (numbers_csv(report), agreement_markdown(report), as_json)
    return write_directory(directory, dict(zip((*AGREEMENT.others, AGREEMENT.json), texts, strict=True)), AGREEMENT)


def agreement_dict(report: AgreementReport) -> dict[str, Any]:
    """What JSON can hold of a report: the attributes of `AgreementReport` by their names; null is not known."""
    published = {"intents": PUBLISHED_INTENTS, "models": PUBLISHED_MODELS}
    return report_dict(
        AGREEMENT,
        report,
        published_in_the_urs_paper={
            name: {**plain(found), "over_points": plain(found.over_points)} for name, found in published.items()
        },
    )


def numbers_csv(report: AgreementReport) -> str:
    """One row a number, with its interval where there is one."""
    return csv_text(
        _HEADER,
        [
            (
                number,
                ", ".join(block.conditions.judges),
                *(level, scope, statistic),
                *(found.value, found.low, found.high, found.n, found.clusters),
            )
            for number, block in enumerate(report.blocks, start=1)
            for level, scope, statistic, found in _numbers(block)
        ],
    )


def agreement_markdown(report: AgreementReport) -> str:
    """The report to read; what comes from logs and files is escaped."""
    return sections_markdown("Agreement of judges with people", sections_of(report))


def _numbers(block: AgreementBlock) -> _Numbers:
    if block.intents:
        for scope, found in {"all": block.intents.correlation, **block.intents.by_model}.items():
            yield from _correlation("intents", scope, found)
        for point in block.intents.points:
            yield "intents", point.group, "score", point.score
            yield "intents", point.group, "satisfaction", point.satisfaction
    if block.ratings:
        yield from _correlation("models", "all", block.ratings.correlation)
        for one in block.ratings.points:
            yield "models", one.model, "score", one.score
            yield "models", one.model, "bradley_terry", one.rating
    if block.cases:
        for scope, found_cases in {"all": block.cases.all, **block.cases.by_group, **block.cases.by_model}.items():
            for statistic in ("spearman", "kendall", "pearson"):
                yield "answers", scope, statistic, getattr(found_cases.correlations, statistic)
            yield "answers", scope, "alpha", found_cases.alpha
            yield "answers", scope, "difference", found_cases.difference
        if block.cases.people:
            yield "people", "all", "alpha", block.cases.people.alpha


def _correlation(level: str, scope: str, found: MeanCorrelation) -> _Numbers:
    yield level, scope, "pearson", found.pearson
    for statistic in ("without_noise", "spearman"):
        value = getattr(found, statistic)
        yield level, scope, statistic, replace(found.pearson, value=value, low=math.nan, high=math.nan)
