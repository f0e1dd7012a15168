"""A cross-validation as files: CSV for tables, Markdown for reading, JSON for programs, SVG for figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from urs_inspect.rating import Estimate
from urs_inspect.reports.crossval import sentences
from urs_inspect.reports.crossval.figures import draw_crossval
from urs_inspect.reports.crossval.report import ALL, CrossvalReport, Preference
from urs_inspect.reports.crossval.tables import sections_of
from urs_inspect.reports.output_directory import ReportKind, report_json, write_directory
from urs_inspect.reports.plain_files import csv_text
from urs_inspect.reports.sections import Section, sections_markdown

_FIGURES = ("figure_4.svg", "figure_10.svg", "figure_4_[0-9]*.svg", "figure_10_[0-9]*.svg")
_TABLES = ("means.csv", "rating_bias.csv", "orders.csv", "differences.csv", "self_preference.csv", "crossval.md")
CROSSVAL = ReportKind("urs-inspect cross-validation", 1, "urs-inspect crossval", "crossval.json", (*_TABLES, *_FIGURES))
"""How these reports are told from other files."""

_BOUNDS = ("low", "high", "n")


def write_files(report: CrossvalReport, directory: Path, *, figures: bool = True) -> tuple[Path, ...]:
    """Write the report; an earlier one is replaced.

    Args:
        report: The report.
        directory: Where to; made if it is not there.
        figures: Whether figures are drawn.

    Returns:
        The files.

    Raises:
        InputError: As from `write_directory`, or if matplotlib is missing, before anything is written.
    """
    # Everything is made before anything is written.
    contents: dict[str, str | bytes] = {**_texts(report)}
    return write_directory(directory, contents | (draw_crossval(report) if figures else {}), CROSSVAL)


def markdown(report: CrossvalReport) -> str:
    """The report to read, names from logs escaped."""
    simulation = (Section("Simulation", 2, (sentences.SIMULATION,)),) if report.simulated else ()
    return sections_markdown(
        "Cross-validation", (*simulation, *sections_of(report), Section("Logs", 2, tuple(report.logs)))
    )


def _texts(report: CrossvalReport) -> dict[str, str]:
    folds = max((grid.conditions.folds for grid in report.grids), default=0)
    by_fold = tuple(f"fold_{number}" for number in range(1, folds + 1))
    mean = ("mean", *_BOUNDS, "unscored", "fold_mean", "fold_deviation", *by_fold)
    result = [
        f"{name}{bound}" for name in ("preference", "leniency", "beyond") for bound in ("", "_low", "_high", "_n")
    ]
    p_values = ("p", "p_beyond", "p_holm", "p_beyond_holm")
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
            ("from", "evaluator", "source", "others", "own_mean", "others_mean", *result, *p_values),
            _preferences(report),
        ),
        "crossval.md": markdown(report),
        CROSSVAL.json: report_json(CROSSVAL, report),
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
            p_values = (found.p, found.p_beyond, one.p_holm, one.p_beyond_holm)
            yield (name, one.evaluator, one.source, others, found.own, found.others, *numbers, *p_values)


def _numbers(found: Estimate) -> tuple[float, float, float, int]:
    return found.value, found.low, found.high, found.n
