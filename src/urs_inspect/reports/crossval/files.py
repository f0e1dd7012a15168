"""A cross-validation as files: CSV for tables, Markdown for reading, JSON for programs, SVG for figures."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from urs_inspect.errors import InputError
from urs_inspect.rating import Estimate
from urs_inspect.reports.crossval import sentences
from urs_inspect.reports.crossval.figures import draw_crossval
from urs_inspect.reports.crossval.report import ALL, CrossvalReport, Preference
from urs_inspect.reports.crossval.tables import TextTable, sections_of
from urs_inspect.reports.plain_files import csv_text, plain

FORMAT = "urs-inspect cross-validation"
"""Tells the JSON file from others."""
SCHEMA_VERSION = 1
"""Raised when a key changes its name or meaning."""

_JSON = "crossval.json"
_BOUNDS = ("low", "high", "n")
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]|<>#"})


def check_directory(directory: Path) -> None:
    """Refuse a place where something else than an earlier report is.

    Raises:
        InputError: If it is a file, or a directory with files but without the JSON file of a report.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise InputError(f"output: '{directory}' is a file; name a directory")
    if any(directory.iterdir()) and not _is_ours(directory / _JSON):
        raise InputError(
            f"output: the directory '{directory}' holds other files than an earlier report of `urs-inspect crossval`; "
            "name another"
        )


def write_files(report: CrossvalReport, directory: Path, *, figures: bool = True) -> tuple[Path, ...]:
    """Write the report; an earlier one is replaced.

    Args:
        report: The report.
        directory: Where to; made if it is not there.
        figures: Whether figures are drawn.

    Returns:
        The files.

    Raises:
        InputError: As from `check_directory`, if matplotlib is missing, or if it cannot be written.
    """
    check_directory(directory)
    # Everything is made before anything is written.
    contents = {name: text.encode() for name, text in _texts(report).items()}
    contents |= draw_crossval(report) if figures else {}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (directory / name).write_bytes(content)
    except OSError as error:
        raise InputError(f"output: cannot write to '{directory}': {error.strerror or error}") from error
    return tuple(directory / name for name in contents)


def report_dict(report: CrossvalReport) -> dict[str, Any]:
    """What JSON can hold of a report: the attributes of `CrossvalReport` by their names; null is not known."""
    return {"format": FORMAT, "schema_version": SCHEMA_VERSION, **plain(report)}


def markdown(report: CrossvalReport) -> str:
    """The report to read, names from logs escaped."""
    parts = ["# Cross-validation", *([f"**{sentences.SIMULATION}**"] if report.simulated else [])]
    for section in sections_of(report):
        parts.append(f"{'#' * section.level} {section.title}")
        if section.lines:
            parts.append("\n".join(f"- {_escaped(line)}" for line in section.lines))
        parts += [_table(table) for table in section.tables]
    parts += ["## Logs", "\n".join(f"- {_escaped(name)}" for name in report.logs)]
    return "\n\n".join(parts) + "\n"


def _texts(report: CrossvalReport) -> dict[str, str]:
    folds = max((grid.conditions.folds for grid in report.grids), default=0)
    by_fold = tuple(f"fold_{number}" for number in range(1, folds + 1))
    mean = ("mean", *_BOUNDS, "unscored", "fold_mean", "fold_deviation", *by_fold)
    result = [
        f"{name}{bound}" for name in ("preference", "leniency", "beyond") for bound in ("", "_low", "_high", "_n")
    ]
    return {
        "means.csv": csv_text(("grid", "evaluator", "source", "model", *mean), _means(report)),
        "rating_bias.csv": csv_text(("grid", "evaluator", "model", "bias", *_BOUNDS), _biases(report)),
        "orders.csv": csv_text(
            ("grid", "evaluator", "source", "place", "model", "mean", "cases", "share"), _orders(report)
        ),
        "differences.csv": csv_text(
            ("grid", "evaluator", "source", "first", "second", "difference", *_BOUNDS, "p", "p_holm", "apart"),
            _differences(report),
        ),
        "self_preference.csv": csv_text(
            ("from", "evaluator", "source", "others", "own_mean", "others_mean", *result, "p", "p_beyond"),
            _preferences(report),
        ),
        "crossval.md": markdown(report),
        _JSON: json.dumps(report_dict(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
    }


_Rows = Iterator[tuple[object, ...]]


def _means(report: CrossvalReport) -> _Rows:
    for number, grid in enumerate(report.grids, start=1):
        for cell in grid.cells:
            key = (number, cell.evaluator, cell.source, cell.model)
            yield (*key, *_numbers(cell.mean), cell.unscored, cell.fold_mean, cell.fold_deviation, *cell.folds)


def _biases(report: CrossvalReport) -> _Rows:
    for number, grid in enumerate(report.grids, start=1):
        for one in grid.biases:
            for model, bias in {ALL: one.bias, **one.by_model}.items():
                yield (number, one.evaluator, model, *_numbers(bias))


def _orders(report: CrossvalReport) -> _Rows:
    for number, grid in enumerate(report.grids, start=1):
        for one in grid.orders:
            for place, (model, mean) in enumerate(zip(one.models, one.means, strict=True), start=1):
                yield (number, one.evaluator, one.source, place, model, mean, one.cases, one.share)


def _differences(report: CrossvalReport) -> _Rows:
    for number, grid in enumerate(report.grids, start=1):
        for one in grid.orders:
            for gap in one.gaps:
                key = (number, one.evaluator, one.source, gap.first, gap.second)
                yield (*key, *_numbers(gap.difference), gap.p, gap.p_holm, str(gap.apart).lower())


def _preferences(report: CrossvalReport) -> _Rows:
    sources: list[tuple[str, Sequence[Preference]]] = [
        (f"grid {number}", grid.preferences) for number, grid in enumerate(report.grids, start=1)
    ]
    sources += [("runs", one.preferences) for one in report.judged]
    for name, several in sources:
        for one in several:
            found = one.result
            numbers = [*_numbers(found.preference), *_numbers(found.leniency), *_numbers(found.beyond)]
            others = ", ".join(one.others)
            yield (name, one.evaluator, one.source, others, found.own, found.others, *numbers, found.p, found.p_beyond)


def _numbers(found: Estimate) -> tuple[float, float, float, int]:
    return found.value, found.low, found.high, found.n


def _table(table: TextTable) -> str:
    rule = ["---" if place < table.names else "---:" for place in range(len(table.headings))]
    rows = [[_escaped(cell) for cell in row] for row in (table.headings, *table.rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:]))


def _escaped(text: str) -> str:
    """Text that stands for itself, on one line."""
    return " ".join(text.split()).translate(_SPECIAL)


def _is_ours(file: Path) -> bool:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT
