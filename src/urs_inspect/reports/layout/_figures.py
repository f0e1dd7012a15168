"""Figures: a data frame in, a Vega-Lite specification out, made by Altair; vl-convert makes SVG of
it.

Text and axes have the colour of the page around them (`currentColor`), so that figures follow light
and dark schemes.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError
from urs_inspect.datasets._sources import cache_dir

Specification = dict[str, Any]
WIDE = 780
NARROW = 350
"""Widths of a figure in CSS pixels: on a desk or on paper, and on a phone."""
MARK = "#2f7fc9"
LINE = "currentColor"
"""Colours that can be seen on white and on black: of marks, and of axes."""
VIZ = "pip install 'urs-inspect[viz]'"
_HUES = [MARK, "#d97a1e", "#8a63c9", "#3f8f5f", "#c2527f"]
_SHAPES = ["circle", "diamond", "square", "triangle-up"]
"""Of different numbers, so that only the twenty-first mark is as the first."""
_LONGEST_NAME = {WIDE: 260, NARROW: 120}
_FONT = "system-ui, sans-serif"
_ROWS = "rows"
_HEIGHT = 260
_TITLE = 18  # letters of the title of an axis that are as long as a panel of 90 pixels is high
_MOST_LINES = 8
"""More lines of other models behind each panel hide more than they show."""


@dataclass(frozen=True)
class Figure:
    """A figure of a page."""

    name: str  # its id on the page: letters, digits and hyphens
    title: str  # for screen readers
    caption: str  # what its marks mean
    draw: Callable[[int], Specification]  # in a width, `WIDE` or `NARROW`


def missing_viz() -> str:
    """Why figures cannot be drawn and how to change that, as a sentence; empty if they can."""
    try:
        import_module("altair")
        import_module("vl_convert")
    except ImportError as error:
        return f"The figures need altair and vl-convert, which cannot be imported ({error}): {VIZ}"
    return ""


def svg(specification: Specification) -> str:
    """A figure as an SVG element."""
    return str(_load("vl_convert").vegalite_to_svg(specification))


def scripts() -> str:
    """The scripts that make live figures of specifications, with `vegaEmbed`; about 0.9 MB, nothing
    is fetched.

    Bundling them takes longer than all figures of a page, so that they are kept in the cache
    directory.
    """
    bundle = _load("vl_convert").javascript_bundle
    kept = cache_dir() / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError):
        return kept.read_text(encoding="utf-8")
    text = str(bundle())
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        try:
            new.write_text(text, encoding="utf-8")
            new.replace(kept)  # another process may write at the same time
        finally:
            new.unlink(missing_ok=True)
    return text


def dumbbell_plot(
    means: pd.DataFrame, width: int, label: str = "mean final score"
) -> Specification:
    """Means of each model by language with their intervals, one row per model; a band joins the
    means of a model.

    The rows, in order, have the columns model, language, mean, low and high.
    """
    alt = _load("altair")
    means = means.dropna(subset="mean")
    languages = list(dict.fromkeys(means["language"]))
    legend = alt.Legend(
        title=None, orient="top", labelColor=LINE, labelLimit=width, symbolOpacity=1
    )
    x = {"title": label, "scale": alt.Scale(zero=False)}
    bands = alt.Scale(type="band", padding=0.25)
    models = alt.Y("model:N", sort=None, title=None, scale=bands)
    base = _chart().encode(y=models)
    hues = alt.Scale(domain=languages, range=_HUES)
    shapes = alt.Scale(domain=languages, range=_SHAPES)
    marks = base.encode(
        alt.Color("language:N", scale=hues, legend=legend),
        yOffset=alt.YOffset("language:N", sort=languages),
        tooltip=_tooltips("model", "language", "mean", "low", "high"),
    )
    shape = alt.Shape("language:N", scale=shapes, legend=legend)
    from_lowest_mean = alt.X("min(mean):Q", **x)
    from_low = alt.X("low:Q", **x)
    at_mean = alt.X("mean:Q", **x)
    broad_lines = base.mark_rule(color=LINE, opacity=0.15, strokeWidth=5)
    ranges = broad_lines.encode(x=from_lowest_mean, x2="max(mean):Q")
    thin_lines = marks.mark_rule(strokeWidth=2)
    intervals = thin_lines.encode(x=from_low, x2="high:Q")
    points = marks.mark_point(filled=True, size=55, opacity=1)
    dots = points.encode(shape, x=at_mean)
    layers = [ranges, dots]
    if means["low"].notna().any():
        layers.insert(1, intervals)
    height_of_row = 10 + 8 * len(languages)
    height = means["model"].nunique() * height_of_row
    room = _room(width, means["model"])
    chart = alt.layer(*layers).properties(width=room, height=height)
    return _specification(chart, means, width)


def cost_plot(rows: pd.DataFrame, width: int, label: str = "mean final score") -> Specification:
    """Means with their intervals against the cost of answers; a name that would overlap an earlier
    one is left out.

    The rows, in order, have the columns model, cost (US dollars per 1,000 answers), mean, low and
    high.
    """
    alt = _load("altair")
    rows = rows.dropna(subset=["cost", "mean"]).reset_index(drop=True)
    lowest_cost = rows["cost"].min()
    highest_cost = rows["cost"].max()
    all_above_zero = bool((rows["cost"] > 0).all())
    log = all_above_zero and bool(highest_cost > 10 * lowest_cost)
    kind = {"type": "log"} if log else {"zero": False}
    scale = alt.Scale(nice=False, padding=14, **kind)
    costs = alt.X("cost:Q", scale=scale)
    x = costs.axis(title="US dollars per 1,000 answers", tickCount=5, format="~g", grid=False)
    tooltip = _tooltips("model", "cost", "mean", "low", "high")
    base = _chart().encode(x=x, tooltip=tooltip)
    y = {"title": wrap(label, 2 * _TITLE), "scale": alt.Scale(zero=False)}
    from_low = alt.Y("low:Q", **y)
    at_mean = alt.Y("mean:Q", **y)
    lines = base.mark_rule(color=MARK, strokeWidth=1.5)
    rules = lines.encode(y=from_low, y2="high:Q")
    points = base.mark_point(color=MARK, filled=True, size=55, opacity=1)
    dots = points.encode(y=at_mean)
    layers = [dots]
    if rows["low"].notna().any():
        layers = [rules, dots]
    room = width - 90
    for side, named in _named(rows, room, log).groupby("side"):
        away = -8
        if side == "left":
            away = 8
        text = base.mark_text(align=side, dx=away, color=LINE, limit=room // 2)
        names = text.encode(y=at_mean, text="model:N")
        chosen = alt.FieldOneOfPredicate("model", list(named["model"]))
        layers.append(names.transform_filter(chosen))
    chart = alt.layer(*layers).properties(width=room, height=_HEIGHT)
    return _specification(chart, rows, width)


def _named(rows: pd.DataFrame, room: int, log: bool) -> pd.DataFrame:
    """The rows whose names fit, the first before others, and the side of a point on which the name
    begins.
    """
    costs = rows["cost"]
    if log:
        costs = np.log(costs)
    bounds = rows[["mean", "low", "high"]].stack()
    lowest_cost = costs.min()
    lowest_mean = bounds.min()
    span_of_costs = costs.max() - lowest_cost or 1
    span_of_means = bounds.max() - lowest_mean or 1
    across = room * (costs - lowest_cost) / span_of_costs
    up = _HEIGHT * (rows["mean"] - lowest_mean) / span_of_means
    taken = list[tuple[float, float, float]]()
    sides = dict[int, str]()
    for row, name in enumerate(rows["model"]):
        side = "left"
        start = across[row]
        end = start + _breadth(name)
        if across[row] >= room / 2:
            side = "right"
            start = across[row] - _breadth(name)
            end = across[row]
        fits = True
        for other, left, right in taken:
            above_or_below = abs(up[row] - other) > 13
            beside = end < left or start > right
            if not above_or_below and not beside:
                fits = False
        if fits:
            sides[row] = side
            taken.append((up[row], start, end))
    with_sides = rows.assign(side=pd.Series(sides))
    return with_sides.dropna(subset="side")


def length_plot(bins: pd.DataFrame, width: int, label: str = "mean final score") -> Specification:
    """Mean scores of answers of about one length, one panel per model; a few models have all lines
    behind each panel.

    The bins, in order, have the columns model, length (characters), score and answers (their
    number).
    """
    alt = _load("altair")
    doublings = alt.Scale(type="log", nice=False)
    lengths = alt.X("length:Q", scale=doublings, title="length in characters")
    not_from_zero = alt.Scale(zero=False)
    scores = alt.Y("score:Q", scale=not_from_zero, title=wrap(label, _TITLE))
    tooltip = _tooltips("model", "length", "score", "answers")
    base = _chart().encode(x=lengths.axis(tickCount=4), y=scores, tooltip=tooltip)
    line = base.mark_line(color=MARK)
    points = base.mark_point(color=MARK, fill=MARK, size=20, opacity=1)
    layered = alt.layer(line, points)
    models = list(dict.fromkeys(bins["model"]))
    most_columns = 1
    if width > NARROW:
        most_columns = 3
    columns = min(most_columns, len(models))
    gaps = 24 * (columns - 1)
    room = (_room(width, pd.Series(["4.5"])) - gaps) // columns
    header = alt.Header(labelAnchor="start", labelFontWeight="bold", labelLimit=room)
    facet = alt.Facet("model:N", sort=models, title=None, header=header)
    panel = layered.properties(width=room, height=90)
    drawn = _specification(panel.facet(facet, columns=columns), bins, width)
    if bins["model"].nunique() > _MOST_LINES:
        return drawn
    lines = base.mark_line(color=LINE, opacity=0.18, strokeWidth=1).encode(detail="model:N")
    behind = lines.to_dict(validate=False)
    # Rows that are not divided between the panels.
    undivided = {"mark": behind["mark"], "encoding": behind["encoding"], "data": {"name": "all"}}
    drawn["spec"]["layer"].insert(0, undivided)
    drawn["datasets"]["all"] = drawn["datasets"][_ROWS]
    return drawn


def _chart() -> Any:
    """A chart of rows that `_specification` adds, because Altair copies what a chart holds at every
    step.
    """
    alt = _load("altair")
    return alt.Chart(alt.NamedData(name=_ROWS))


def _specification(chart: Any, rows: pd.DataFrame, width: int) -> Specification:
    text = {
        "labelColor": LINE,
        "titleColor": LINE,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
    }
    axis = {
        **text,
        "labelLimit": _LONGEST_NAME[width],
        "gridColor": LINE,
        "gridOpacity": 0.15,
        "domain": False,
    }
    found: Specification = chart.to_dict(validate=False)  # the tests draw every kind
    del found["$schema"]  # an address, though nothing would be fetched from it
    known = rows.astype(object).where(rows.notna(), None)
    records = known.to_dict("records")
    return {
        **found,
        "datasets": {_ROWS: records},
        "config": {
            "aria": False,
            "background": "transparent",
            "font": _FONT,
            "padding": {"left": 12, "right": 30, "top": 4, "bottom": 4},
            "view": {"stroke": None},
            "axis": {**axis, "tickColor": LINE, "tickOpacity": 0.3},
            "header": {"labelColor": LINE, "labelFontSize": 12},
        },
    }


def _tooltips(*names: str) -> list[Any]:
    alt = _load("altair")
    numbers = dict.fromkeys(("mean", "low", "high", "score"), ".2f")
    numbers |= {"length": ",.0f", "cost": "$,.3~r", "answers": ","}
    tooltips = []
    for name in names:
        kind = "N"
        if name in numbers:
            kind = "Q"
        format_of_name = numbers.get(name, "")
        tooltips.append(alt.Tooltip(f"{name}:{kind}", title=name, format=format_of_name))
    return tooltips


def _room(width: int, names: "pd.Series[str]") -> int:
    """What names of rows leave of a width, about: a letter takes 6.5 pixels, a wide one 12."""
    longest = max(map(_breadth, names), default=0)
    return round(width - 90 - min(longest, _LONGEST_NAME[width]))


def _breadth(name: str) -> float:
    pixels = 0.0
    for letter in name:
        is_wide = ord(letter) > 0x2E80
        pixels += 12 if is_wide else 6.5
    return pixels


def _load(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(missing_viz() or f"{module} cannot be imported: {error}") from error
