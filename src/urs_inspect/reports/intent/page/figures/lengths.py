"""Table of lengths and scores -> one small panel a model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from urs_inspect.reports.intent.page.figures.canvas import ACCENT, LINE, SOFT, TINT, Canvas, Point, Scale
from urs_inspect.reports.intent.page.figures.panels import FOOT, Grid, Panel, name_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARGIN, _BODY = 34.0, 84.0
_SHORTEST = 1.0
_TICK = 36.0


@dataclass(frozen=True)
class LengthCurve:
    """A model's scores by length.

    Attributes:
        model: A short name.
        note: A line below it.
        points: Length in characters and mean score, 1 to 10, from the shortest; none is NaN.
    """

    model: str
    note: str
    points: tuple[tuple[float, float], ...]


class _LogScale:
    """A logarithmic scale from lengths to shares of an axis, with ticks at 1, 3, 10, 30 and so on."""

    def __init__(self, lengths: Sequence[float]) -> None:
        low, high = (math.log(max(length, _SHORTEST)) for length in (min(lengths), max(lengths)))
        margin = max(0.05 * (high - low), 0.6 if high - low < 1 else 0)
        self._low, self._span = low - margin, high - low + 2 * margin
        every = [factor * 10.0**power for power in range(8) for factor in (1, 3)]
        self.ticks = tuple(tick for tick in every if 0 <= self(tick) <= 1)

    def __call__(self, length: float) -> float:
        return (math.log(max(length, _SHORTEST)) - self._low) / self._span


def draw_lengths(table: Sequence[LengthCurve], width: float, label: str = "mean final score") -> "Figure":
    """Draw for each model the mean score of answers of about one length, over the lines of all other models.

    Args:
        table: The models, each with at least one point. Lengths are drawn on a logarithmic scale.
        width: In CSS pixels.
        label: What the vertical axes show.

    Returns:
        The figure.

    Raises:
        InputError: If matplotlib is missing.
    """
    grid = Grid(len(table), width, _MARGIN, _BODY)
    canvas = Canvas(width, grid.height)
    across = _LogScale([length for curve in table for length, _ in curve.points] or [1, 1000])
    scores = [score for curve in table for _, score in curve.points]
    for panel, model in zip(grid, table, strict=True):
        up = Scale(scores, (panel.bottom, panel.top), ticks=4)
        name_panel(canvas, panel, model.model, model.note)
        _axes(canvas, panel, up, across)
        canvas.lines([_line(curve, panel, up, across) for curve in table if curve is not model], colour=TINT)
        line = _line(model, panel, up, across)
        canvas.lines([line], colour=ACCENT, width=2)
        canvas.dots(line, diameter=5)
    middle = ((_MARGIN + width) / 2, grid.height - FOOT + 36)
    canvas.text(middle, f"{label} over length in characters", colour=SOFT, size=11, anchor="middle")
    return canvas.figure


def _place(length: float, panel: Panel, across: _LogScale) -> float:
    return panel.left + across(length) * (panel.right - panel.left)


def _line(curve: LengthCurve, panel: Panel, up: Scale, across: _LogScale) -> list[Point]:
    return [(_place(length, panel, across), up(score)) for length, score in curve.points]


def _axes(canvas: Canvas, panel: Panel, up: Scale, across: _LogScale) -> None:
    canvas.lines([[(panel.left, up(tick)), (panel.right, up(tick))] for tick in up.ticks], colour=LINE)
    if panel.first:
        for tick in up.ticks:
            canvas.text((panel.left - 8, up(tick)), up.label(tick), colour=SOFT, size=10, anchor="end")
    if panel.lowest:
        room = (panel.right - panel.left) / max(1, len(across.ticks))
        for place, tick in enumerate(across.ticks):
            if room > _TICK or place % 2 == 0:
                at = (_place(tick, panel, across), panel.bottom + 13)
                canvas.text(at, f"{tick:,.0f}", colour=SOFT, size=10, anchor="middle")
