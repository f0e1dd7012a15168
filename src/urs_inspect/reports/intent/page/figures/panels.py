"""A grid of small panels, one a model."""

from collections.abc import Iterator
from dataclasses import dataclass

from urs_inspect.reports.intent.page.figures.canvas import SOFT, STANDS_WIDE, Canvas, shortened

TITLE = 58.0
"""Height that the name of a panel and the line below it take."""
FOOT = 48.0
"""Height that the axis below the last row takes."""
_FEW = 6
_END = 8.0  # half of a number may stand beyond an axis


@dataclass(frozen=True)
class Panel:
    """Where a panel lies, in CSS pixels.

    Attributes:
        number: Its number from 0.
        left: Left end of its axis.
        right: Right end of it.
        top: Upper edge, below its name.
        bottom: Lower edge.
        first: Whether it is the first of its row.
        lowest: Whether no panel stands below it.
    """

    number: int
    left: float
    right: float
    top: float
    bottom: float
    first: bool
    lowest: bool


@dataclass(frozen=True)
class Grid:
    """How panels are laid out.

    Attributes:
        panels: Number of panels.
        width: Width of all, in CSS pixels.
        margin: What the labels left of the first panel of a row need.
        body: Height of a panel without its name.
        gap: Between two panels of a row.
    """

    panels: int
    width: float
    margin: float
    body: float
    gap: float = 30.0

    @property
    def columns(self) -> int:
        """Panels in a row."""
        most = 2 if self.width < STANDS_WIDE else 3 if self.panels <= _FEW else 4
        return max(1, min(most, self.panels))

    @property
    def height(self) -> float:
        """Height of all, axis included."""
        return -(-self.panels // self.columns) * (TITLE + self.body) + FOOT

    def __iter__(self) -> Iterator[Panel]:
        """The panels, row by row."""
        across = (self.width - _END - self.margin - self.gap * (self.columns - 1)) / self.columns
        for number in range(self.panels):
            row, column = divmod(number, self.columns)
            left = self.margin + column * (across + self.gap)
            top = row * (TITLE + self.body) + TITLE
            lowest = number + self.columns >= self.panels
            yield Panel(number, left, left + across, top, top + self.body, column == 0, lowest)


def name_panel(canvas: Canvas, panel: Panel, name: str, below: str, size: float = 12) -> None:
    """Write the name of a panel and a line below it."""
    width = panel.right - panel.left + 12
    canvas.text((panel.left, panel.top - 33), shortened(name, width, size * 1.06), size=size, bold=True)
    canvas.text((panel.left, panel.top - 17), shortened(below, width, 11), colour=SOFT, size=11)
