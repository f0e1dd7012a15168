"""Figures of a cross-validation (URS paper, Figures 4 and 10)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from urs_inspect.datasets.references import DATASET
from urs_inspect.reports.crossval.canvas import (
    INK,
    RULE,
    SOFT,
    WIDE,
    Canvas,
    Scale,
    load,
    shortened,
    text_width,
)
from urs_inspect.reports.crossval.report import Bias, Cell, CrossvalReport, Grid
from urs_inspect.reports.crossval.svg import svg_bytes
from urs_inspect.reports.intent.page.tables import level_text, mean_text, short_names, signed_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Colours that people who see few colours can tell apart (Okabe and Ito, "Color Universal Design", 2008). From the
seventh model on they come again, with hollow dots."""

_STEP, _PAD, _HEAD, _AXIS = 15.0, 9.0, 26.0, 40.0
_EDGE, _TOP, _TITLE, _LEGEND = 16.0, 16.0, 42.0, 20.0
_LONGEST_NAME, _GAP, _VALUE = 270.0, 14.0, 44.0


@dataclass(frozen=True)
class Mark:
    """One value of a row.

    Attributes:
        series: Number of its series, which has a colour.
        value: The value; NaN for none.
        low: Where its line begins; NaN for no line.
        high: Where it ends.
        parts: Values that are shown as strokes, such as those of folds.
    """

    series: int
    value: float
    low: float
    high: float
    parts: tuple[float, ...] = ()


@dataclass(frozen=True)
class MarkRow:
    """A row of a figure.

    Attributes:
        name: What stands beside it.
        marks: Its values, one below the other.
    """

    name: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Panel:
    """Rows over one axis.

    Attributes:
        groups: Heading -> rows.
        axis: What the axis shows.
        line: Where a line stands, and its name.
        signed: Whether values are differences.
    """

    groups: dict[str, tuple[MarkRow, ...]]
    axis: str
    line: tuple[float, str]
    signed: bool = False


def draw_panels(title: str, subtitle: str, series: Mapping[int, str], panels: Sequence[Panel]) -> "Figure":
    """Draw rows of dots over axes, one panel below the other.

    Args:
        title: What the figure shows.
        subtitle: What its marks are.
        series: Number of each series, which is that of its colour, and its name.
        panels: The panels.

    Returns:
        The figure.

    Raises:
        InputError: If matplotlib is missing.
    """
    legend = _legend_rows(series)
    height = _TOP + _TITLE + len(legend) * _LEGEND + sum(_height(panel) for panel in panels)
    canvas = Canvas(WIDE, height + _TOP)
    canvas.figure.patch.set_visible(True)
    canvas.figure.patch.set_facecolor("white")
    canvas.text((_EDGE, _TOP + 8), title, size=14, bold=True)
    canvas.text((_EDGE, _TOP + 26), subtitle, size=11, colour=SOFT)
    top = _TOP + _TITLE
    for row in legend:
        for left, number, name in row:
            _dot(canvas, (left + 5, top + 8), number)
            canvas.text((left + 16, top + 8), name)
        top += _LEGEND
    for panel in panels:
        _draw_panel(canvas, panel, top)
        top += _height(panel)
    return canvas.figure


def _draw_panel(canvas: Canvas, panel: Panel, top: float) -> None:
    names = [row.name for rows in panel.groups.values() for row in rows]
    left = _EDGE + min(max((text_width(name) for name in names), default=0), _LONGEST_NAME) + _GAP
    right = canvas.width - _EDGE - _VALUE
    marks = [mark for rows in panel.groups.values() for row in rows for mark in row.marks]
    values = [number for mark in marks for number in (mark.value, mark.low, mark.high, *mark.parts)]
    scale = Scale([*values, panel.line[0]], (left, right), ticks=7)
    foot = top + _height(panel) - _AXIS
    canvas.lines([[(scale(tick), top + 4), (scale(tick), foot)] for tick in scale.ticks])
    canvas.lines([[(scale(panel.line[0]), top + 4), (scale(panel.line[0]), foot)]], colour=RULE, width=1.6)
    for tick in scale.ticks:
        text = signed_text(tick) if panel.signed else scale.label(tick)
        canvas.text((scale(tick), foot + 10), text, size=11, colour=SOFT, anchor="middle")
    caption = f"{panel.axis}; the dark line: {panel.line[1]}"
    canvas.text(((left + right) / 2, foot + 27), caption, size=11, colour=SOFT, anchor="middle")
    y = top
    for heading, rows in panel.groups.items():
        if heading:
            canvas.text((_EDGE, y + _HEAD / 2 + 3), shortened(heading, WIDE / 2), bold=True)
            y += _HEAD
        for row in rows:
            _draw_row(canvas, row, scale, y, left, panel.signed)
            y += _row_height(row)


def _draw_row(canvas: Canvas, row: MarkRow, scale: Scale, top: float, left: float, signed: bool) -> None:
    canvas.text((_EDGE, top + _row_height(row) / 2), shortened(row.name, left - _GAP - _EDGE))
    for place, mark in enumerate(row.marks):
        y = top + _PAD / 2 + (place + 0.5) * _STEP
        if math.isnan(mark.value):
            canvas.text((scale(scale.ticks[0]), y), "no score", size=11, colour=SOFT)
            continue
        colour = _colour(mark.series)
        if not math.isnan(mark.low):
            canvas.lines([[(scale(mark.low), y), (scale(mark.high), y)]], colour=colour, width=2)
        strokes = [scale(part) for part in mark.parts if not math.isnan(part)]
        canvas.lines([[(x, y - 4), (x, y + 4)] for x in strokes], colour=colour, width=1.2)
        _dot(canvas, (scale(mark.value), y), mark.series)
        text = signed_text(mark.value) if signed else mean_text(mark.value)
        canvas.text((canvas.width - _EDGE, y), text, size=11, anchor="end")


def _legend_rows(series: Mapping[int, str]) -> list[list[tuple[float, int, str]]]:
    """Names of series with their places, in as many rows as they need."""
    rows: list[list[tuple[float, int, str]]] = [[]]
    left = _EDGE
    short = short_names(list(series.values()))
    for number, name in series.items():
        shown = shortened(short[name], _LONGEST_NAME)
        width = text_width(shown) + 40
        if rows[-1] and left + width > WIDE - _EDGE:
            rows.append([])
            left = _EDGE
        rows[-1].append((left, number, shown))
        left += width
    return rows


def _dot(canvas: Canvas, at: tuple[float, float], series: int) -> None:
    canvas.dots([at], colour=_colour(series), diameter=8, hollow=series >= len(COLOURS))


def _colour(series: int) -> str:
    return INK if series < 0 else COLOURS[series % len(COLOURS)]


def _row_height(row: MarkRow) -> float:
    return _PAD + _STEP * max(1, len(row.marks))


def _height(panel: Panel) -> float:
    rows = sum(_row_height(row) for several in panel.groups.values() for row in several)
    return rows + _HEAD * sum(bool(heading) for heading in panel.groups) + _AXIS


if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIMULATED = "SIMULATION: the scores mean nothing. "


def draw_crossval(report: CrossvalReport) -> dict[str, bytes]:
    """Draw Figures 4 and 10 of each grid.

    Returns:
        Name of the file -> SVG; `figure_4.svg` and `figure_10.svg` for the first grid, `figure_4_2.svg` for the second.

    Raises:
        InputError: If matplotlib is missing.
    """
    check_drawing()
    found: dict[str, bytes] = {}
    for number, grid in enumerate(report.grids, start=1):
        suffix = "" if number == 1 else f"_{number}"
        for name, figure in (("figure_4", draw_best_two(grid, report)), ("figure_10", draw_settings(grid, report))):
            found[f"{name}{suffix}.svg"] = svg_bytes(figure, f"{name}-{number}")
    return found


def check_drawing() -> None:
    """Refuse to draw without matplotlib.

    Raises:
        InputError: If it is missing.
    """
    load("matplotlib.figure")


def draw_best_two(grid: Grid, report: CrossvalReport) -> "Figure":
    """The two best models in every setting, over folds (Figure 4).

    Args:
        grid: The grid, whose best models come first.
        report: Its report.
    """
    chosen = dict(enumerate(grid.models[:2]))

    def mark(cell: Cell, series: int) -> Mark:
        low, high = cell.fold_mean - cell.fold_deviation, cell.fold_mean + cell.fold_deviation
        return Mark(series, cell.fold_mean, low, high, cell.folds)

    marks = f"Mean over {grid.conditions.folds} folds. Lines: ± their standard deviation. Strokes: folds."
    return draw_panels(
        "The two best models" if len(grid.models) > 2 else "Models",
        _simulated(report) + marks,
        chosen,
        [Panel(_groups(grid, chosen, mark), "mean score, 1 to 10", _reference(grid))],
    )


def draw_settings(grid: Grid, report: CrossvalReport) -> "Figure":
    """All models in every setting with intervals, and the rating bias of each evaluator (Figure 10).

    Args:
        grid: The grid.
        report: Its report.
    """

    def mark(cell: Cell, series: int) -> Mark:
        return Mark(series, cell.mean.value, cell.mean.low, cell.mean.high)

    models = dict(enumerate(grid.models))
    panels = [Panel(_groups(grid, models, mark), "mean score, 1 to 10", _reference(grid))]
    if grid.biases:
        panels.append(_bias_panel(grid.biases, grid.models))
    return draw_panels(
        "Evaluators and sources of references",
        f"{_simulated(report)}Lines: {level_text(report.level)} intervals over {grid.conditions.cases} cases.",
        models,
        panels,
    )


def _bias_panel(biases: Sequence[Bias], models: Sequence[str]) -> Panel:
    short = short_names([one.evaluator for one in biases])
    rows = []
    for one in biases:
        marks = [Mark(-1, one.bias.value, one.bias.low, one.bias.high)]
        marks += [Mark(models.index(m), e.value, e.low, e.high) for m, e in one.by_model.items()]
        rows.append(MarkRow(short[one.evaluator], tuple(marks)))
    axis = "black: Equation 1, over all models B; in colour: one model B"
    return Panel({"Rating bias by evaluator": tuple(rows)}, axis, (0.0, "no bias"), signed=True)


def _groups(grid: Grid, models: Mapping[int, str], mark: Callable[[Cell, int], Mark]) -> dict[str, tuple[MarkRow, ...]]:
    cells = {(cell.evaluator, cell.source, cell.model): cell for cell in grid.cells}
    judges, sources = short_names(grid.evaluators), short_names(grid.sources)
    groups: dict[str, tuple[MarkRow, ...]] = {}
    for evaluator in grid.evaluators:
        rows = []
        for source in grid.sources:
            found = [(number, cells.get((evaluator, source, model))) for number, model in models.items()]
            marks = tuple(mark(cell, number) for number, cell in found if cell is not None)
            if marks:
                name = "references of the data" if source == DATASET else f"references by {sources[source]}"
                rows.append(MarkRow(name, marks))
        groups[f"Evaluator {judges[evaluator]}"] = tuple(rows)
    return groups


def _reference(grid: Grid) -> tuple[float, str]:
    score = grid.conditions.reference_score
    return score, f"{score:g}, a reference"


def _simulated(report: CrossvalReport) -> str:
    return _SIMULATED if report.simulated else ""
