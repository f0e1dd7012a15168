"""Tables -> figures of a report, and figures -> SVG."""

from urs_inspect.reports.intent.page.figures.canvas import NARROW, WIDE
from urs_inspect.reports.intent.page.figures.forest import MeanRow, draw_forest
from urs_inspect.reports.intent.page.figures.lengths import LengthCurve, draw_lengths
from urs_inspect.reports.intent.page.figures.profiles import IntentMean, Profile, draw_profiles
from urs_inspect.reports.intent.page.figures.svg import inline_svg

__all__ = [
    "NARROW",
    "WIDE",
    "IntentMean",
    "LengthCurve",
    "MeanRow",
    "Profile",
    "draw_forest",
    "draw_lengths",
    "draw_profiles",
    "inline_svg",
]
