"""A sheet to draw on in CSS pixels: matplotlib without its axes.

Whatever is drawn has colours of the palette and names in plain text, so that `inline_svg` can put it into a page in
which both schemes and every script are at home.
"""

import math
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from urs_inspect._util import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, SOFT, RULE, LINE = "#16191f", "#5a6170", "#949ba8", "#dfe2e8"
ACCENT, TINT, PAPER = "#0b5cad", "#b9d3ec", "#ffffff"
PALETTE = {
    INK: "--ink",
    SOFT: "--soft",
    RULE: "--rule",
    LINE: "--line",
    ACCENT: "--accent",
    TINT: "--tint",
    PAPER: "--paper",
}
"""Colour of the light scheme -> name of the page's CSS variable."""

WIDE, NARROW = 860.0, 350.0
"""Widths of a drawing in CSS pixels: on a desk or on paper, and on a phone."""

_INSTALL = "pip install 'urs-inspect[viz]'"
STANDS_WIDE = 600.0
"""Least width of a drawing that has room for names beside what is drawn."""

_LEAST_SPAN = 1.0
_FEWEST_LETTERS = 2
_INCH = 72
_FONT = "DejaVu Sans"  # comes with matplotlib; the page puts its own in its place
_WIDE_SCRIPTS = ("W", "F")
_HIDDEN = ("Cc", "Cs", "Cf", "Cn", "Co")

Anchor = Literal["start", "middle", "end"]
_ALIGNMENTS = {"start": "left", "middle": "center", "end": "right"}
Point = tuple[float, float]


class Canvas:
    """A sheet of which the upper left corner is (0, 0)."""

    def __init__(self, width: float, height: float) -> None:
        """Take an empty sheet.

        Args:
            width: In CSS pixels.
            height: Likewise.

        Raises:
            InputError: If matplotlib is missing.
        """
        self.width, self.height = width, height
        with settings():
            figure = load("matplotlib.figure").Figure(figsize=(width / _INCH, height / _INCH), dpi=_INCH)
            figure.patch.set_visible(False)
            self._axes = figure.add_axes((0, 0, 1, 1))
        self._axes.set_axis_off()
        self._axes.set(xlim=(0, width), ylim=(height, 0))
        self.figure: Figure = figure

    def text(
        self,
        at: Point,
        text: str,
        *,
        colour: str = INK,
        size: float = 12,
        anchor: Anchor = "start",
        bold: bool = False,
    ) -> None:
        """Write a line of text, the middle of its small letters at the height of the point."""
        self._axes.text(
            at[0],
            at[1] + 0.36 * size,
            printable(text),
            parse_math=False,
            color=colour,
            family=_FONT,
            size=size,
            weight="bold" if bold else "normal",
            ha=_ALIGNMENTS[anchor],
            va="baseline",
        )

    def lines(self, lines: Sequence[Sequence[Point]], *, colour: str = LINE, width: float = 1) -> None:
        """Draw lines through points."""
        collections = load("matplotlib.collections")
        drawn = collections.LineCollection(list(lines), colors=colour, linewidths=width, clip_on=False)
        drawn.set_capstyle("butt")
        self._axes.add_collection(drawn, autolim=False)

    def dots(self, points: Sequence[Point], *, colour: str = ACCENT, diameter: float = 8, hollow: bool = False) -> None:
        """Draw dots."""
        if points:
            xs, ys = zip(*points, strict=True)
            face = PAPER if hollow else colour
            style = {"color": colour, "markerfacecolor": face, "markeredgecolor": colour, "markeredgewidth": 1.6}
            self._axes.plot(xs, ys, linestyle="none", marker="o", markersize=diameter, clip_on=False, **style)


class Scale:
    """A linear scale from scores to pixels."""

    def __init__(self, values: Sequence[float], pixels: tuple[float, float], ticks: int = 5) -> None:
        """Span the scores, and never less than one point: what is finer than that is no difference to look at.

        Args:
            values: What must find room; NaN needs none.
            pixels: The ends of the axis.
            ticks: About how many.
        """
        known = [value for value in values if not math.isnan(value)] or [1, 10]
        middle = (min(known) + max(known)) / 2
        half = max(1.08 * (max(known) - min(known)), _LEAST_SPAN) / 2
        self._low, self._high, self._pixels = middle - half, middle + half, pixels
        locator = load("matplotlib.ticker").MaxNLocator(nbins=ticks, steps=[1, 2, 2.5, 5, 10])
        places = (float(tick) for tick in locator.tick_values(self._low, self._high))
        self.ticks: tuple[float, ...] = tuple(tick for tick in places if self._low <= tick <= self._high)

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        start, end = self._pixels
        return start + (value - self._low) / (self._high - self._low) * (end - start)

    def label(self, tick: float) -> str:
        """A tick as text, with as many decimals as all of them need."""
        digits = next(n for n in range(4) if n == 3 or all(abs(round(t, n) - t) < 1e-9 for t in self.ticks))
        return f"{tick:.{digits}f}"


def load(module: str) -> Any:
    """A part of matplotlib.

    Raises:
        InputError: If matplotlib is missing.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"the figures of a report need matplotlib, which cannot be imported ({error}): {_INSTALL}"
        ) from error


@contextmanager
def settings(salt: str = "urs_inspect") -> Iterator[None]:
    """Have matplotlib draw the same everywhere, whatever a user's own settings are."""
    matplotlib = load("matplotlib")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": salt, "svg.fonttype": "none"})
        yield


def printable(text: str) -> str:
    """Text on one line without characters that SVG cannot hold or that nobody can see."""
    return "".join("\ufffd" if unicodedata.category(c) in _HIDDEN else c for c in " ".join(text.split()))


def text_width(text: str, size: float = 12) -> float:
    """About how wide a text is, in CSS pixels, in any font that a browser may take."""
    return sum(size * (1.0 if unicodedata.east_asian_width(c) in _WIDE_SCRIPTS else 0.57) for c in text)


def shortened(text: str, width: float, size: float = 12) -> str:
    """A text that fits, its middle left out where it must be: both ends of a model's name say something."""
    text = printable(text)
    kept = len(text)
    while kept > _FEWEST_LETTERS and text_width(_cut(text, kept), size) > width:
        kept -= 1
    return _cut(text, kept)


def _cut(text: str, kept: int) -> str:
    if kept == len(text):
        return text
    return f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
