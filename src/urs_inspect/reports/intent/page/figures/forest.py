"""Table of means -> forest plot."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from urs_inspect.reports.intent.page.figures.canvas import (
    ACCENT,
    INK,
    LINE,
    SOFT,
    STANDS_WIDE,
    Canvas,
    Scale,
    shortened,
    text_width,
)
from urs_inspect.reports.intent.page.tables import interval_text, mean_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW, _TALL_ROW, _TOP, _FOOT = 26.0, 42.0, 12.0, 44.0
_RANK, _GAP, _VALUE, _INTERVAL = 46.0, 16.0, 34.0, 82.0
_LONGEST_NAME = 270.0


@dataclass(frozen=True)
class MeanRow:
    """A row of a forest plot.

    Attributes:
        rank: The ranks that it may have, as text.
        model: Its name.
        mean: Its mean, 1 to 10; NaN if there is none, here and below.
        low: Lower bound of the interval.
        high: Upper bound.
        hollow: Whether its dot is hollow.
    """

    rank: str
    model: str
    mean: float
    low: float
    high: float
    hollow: bool


def draw_forest(table: Sequence[MeanRow], width: float, label: str = "mean final score") -> "Figure":
    """Draw means with their intervals, one row per model.

    Args:
        table: The models, the best first.
        width: In CSS pixels; below 600 names stand above their rows.
        label: What stands below the axis.

    Returns:
        The figure.

    Raises:
        InputError: If matplotlib is missing.
    """
    wide = width >= STANDS_WIDE
    step = _ROW if wide else _TALL_ROW
    foot = _TOP + step * len(table)
    canvas = Canvas(width, foot + _FOOT)
    name_width = min(max((text_width(row.model) for row in table), default=0), _LONGEST_NAME)
    left = _RANK + name_width + _GAP if wide else 8
    right = width - (_VALUE + _INTERVAL + _GAP if wide else 8)
    scale = Scale([n for row in table for n in (row.mean, row.low, row.high)], (left, right), ticks=7 if wide else 5)
    _axis(canvas, scale, foot)
    canvas.text(((left + right) / 2, foot + 32), label, colour=SOFT, size=11, anchor="middle")
    for place, row in enumerate(table):
        top = _TOP + place * step
        if wide:
            _labels(canvas, row, top + step / 2, name_width)
        else:
            _labels_above(canvas, row, top + 13)
        _mark(canvas, scale, row, top + (step / 2 if wide else 30))
    return canvas.figure


def _axis(canvas: Canvas, scale: Scale, foot: float) -> None:
    canvas.lines([[(scale(tick), _TOP), (scale(tick), foot)] for tick in scale.ticks], colour=LINE)
    for tick in scale.ticks:
        canvas.text((scale(tick), foot + 12), scale.label(tick), colour=SOFT, size=11, anchor="middle")


def _labels(canvas: Canvas, row: MeanRow, middle: float, name_width: float) -> None:
    canvas.text((_RANK - 8, middle), row.rank, colour=SOFT, anchor="end")
    canvas.text((_RANK, middle), shortened(row.model, name_width + 1))
    canvas.text((canvas.width - _INTERVAL, middle), mean_text(row.mean), anchor="end", bold=True)
    canvas.text((canvas.width, middle), interval_text(row.low, row.high), colour=SOFT, size=11, anchor="end")


def _labels_above(canvas: Canvas, row: MeanRow, middle: float) -> None:
    value = mean_text(row.mean)
    canvas.text((canvas.width, middle), value, anchor="end", bold=True)
    space = canvas.width - text_width(value) - _GAP
    canvas.text((0, middle), row.rank, colour=SOFT)
    canvas.text((_RANK - 8, middle), shortened(row.model, space - _RANK))


def _mark(canvas: Canvas, scale: Scale, row: MeanRow, middle: float) -> None:
    if math.isnan(row.mean):
        return
    if not math.isnan(row.low):
        canvas.lines([[(scale(row.low), middle), (scale(row.high), middle)]], colour=ACCENT, width=2.4)
    canvas.dots([(scale(row.mean), middle)], colour=INK if row.hollow else ACCENT, hollow=row.hollow)
