"""Table of means by intent -> one small panel a model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from urs_inspect.reports.intent.page.figures.canvas import (
    ACCENT,
    LINE,
    SOFT,
    STANDS_WIDE,
    Canvas,
    Scale,
    shortened,
    text_width,
)
from urs_inspect.reports.intent.page.figures.panels import FOOT, Grid, Panel, name_panel
from urs_inspect.reports.intent.page.tables import mean_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW = 19.0
_LONGEST_LABEL = 130.0


@dataclass(frozen=True)
class IntentMean:
    """A model's mean on an intent.

    Attributes:
        intent: Name of the intent.
        mean: The mean, 1 to 10; NaN if there is none, here and below.
        low: Lower bound of its interval.
        high: Upper bound.
        field: Mean of all models on the intent.
    """

    intent: str
    mean: float
    low: float
    high: float
    field: float


@dataclass(frozen=True)
class Profile:
    """A model.

    Attributes:
        model: A short name.
        mean: Its mean over everything, 1 to 10; NaN if there is none.
        intents: Its means by intent; the same intents for each model.
    """

    model: str
    mean: float
    intents: tuple[IntentMean, ...]


def draw_profiles(table: Sequence[Profile], width: float, label: str = "mean final score") -> "Figure":
    """Draw for each model its means by intent over the mean of all models, which shows where it is strong.

    Args:
        table: The models.
        width: In CSS pixels.
        label: What stands below the axes.

    Returns:
        The figure.

    Raises:
        InputError: If matplotlib is missing.
    """
    wide = width >= STANDS_WIDE
    names = [intent.intent for intent in table[0].intents] if table else []
    margin = min(max((text_width(name, 11) for name in names), default=0), _LONGEST_LABEL) + 12
    grid = Grid(len(table), width, margin, _ROW * len(names) + 6)
    canvas = Canvas(width, grid.height)
    numbers = [n for model in table for i in model.intents for n in (i.mean, i.low, i.high, i.field)]
    for panel, model in zip(grid, table, strict=True):
        scale = Scale(numbers, (panel.left, panel.right), ticks=5 if wide else 3)
        name_panel(canvas, panel, model.model, f"all {mean_text(model.mean)}")
        _axis(canvas, scale, panel)
        _marks(canvas, scale, panel, model.intents)
        if panel.first:
            for place, name in enumerate(names):
                at = (margin - 12, _middle(panel, place))
                canvas.text(at, shortened(name, margin - 10, 11), size=11, anchor="end")
    middle = (margin + width) / 2
    canvas.text((middle, grid.height - FOOT + 36), label, colour=SOFT, size=11, anchor="middle")
    return canvas.figure


def _middle(panel: Panel, place: int) -> float:
    return panel.top + 3 + (place + 0.5) * _ROW


def _axis(canvas: Canvas, scale: Scale, panel: Panel) -> None:
    canvas.lines([[(scale(tick), panel.top), (scale(tick), panel.bottom)] for tick in scale.ticks], colour=LINE)
    if panel.lowest:
        for tick in scale.ticks:
            canvas.text((scale(tick), panel.bottom + 12), scale.label(tick), colour=SOFT, size=10, anchor="middle")


def _marks(canvas: Canvas, scale: Scale, panel: Panel, intents: Sequence[IntentMean]) -> None:
    rows = [(intent, _middle(panel, place)) for place, intent in enumerate(intents)]
    strokes = [[(scale(i.field), y - 7), (scale(i.field), y + 7)] for i, y in rows if not math.isnan(i.field)]
    spans = [[(scale(i.low), y), (scale(i.high), y)] for i, y in rows if not math.isnan(i.low)]
    canvas.lines(strokes, colour=SOFT, width=1.4)
    canvas.lines(spans, colour=ACCENT, width=2)
    canvas.dots([(scale(i.mean), y) for i, y in rows if not math.isnan(i.mean)], diameter=6.5)
