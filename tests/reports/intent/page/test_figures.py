"""Figures as SVG."""

import re
import sys
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.intent.page.factory import NAN, make_block, make_models
from urs_inspect._util import InputError
from urs_inspect.reports.intent.page import drawings
from urs_inspect.reports.intent.page.drawings import draw
from urs_inspect.reports.intent.page.figures import (
    NARROW,
    WIDE,
    IntentMean,
    LengthCurve,
    MeanRow,
    Profile,
    draw_forest,
    draw_lengths,
    draw_profiles,
    inline_svg,
)
from urs_inspect.reports.intent.page.figures.canvas import Scale, printable, shortened, text_width

BLOCK = make_block(make_models(6))
FIGURES: list[tuple[Callable[..., Any], Any]] = [
    (draw_forest, drawings.mean_rows(BLOCK)),
    (draw_profiles, drawings.profiles(BLOCK)),
    (draw_lengths, drawings.length_curves(BLOCK)),
]
UNKNOWN: list[tuple[Callable[..., Any], Any]] = [
    (draw_forest, ()),
    (draw_forest, (MeanRow("–", "a", NAN, NAN, NAN, False), MeanRow("1", "b", 7.0, NAN, NAN, True))),
    (draw_profiles, ()),
    (draw_profiles, (Profile("a", NAN, (IntentMean("x", NAN, NAN, NAN, NAN), IntentMean("y", 5, NAN, NAN, NAN))),)),
    (draw_lengths, (LengthCurve("a", "", ((0.0, 1.0),)),)),
    (draw_lengths, (LengthCurve("a", "", ((100.0, 5.0),)), LengthCurve("b", "", ((100.0, 5.0), (1e6, 5.0))))),
]


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize(("function", "table"), [*FIGURES, *UNKNOWN])
def test_a_figure_belongs_to_the_page(function: Callable[..., Any], table: Any, width: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg = inline_svg(function(table, width), "key", "A title", "What it <shows>")
    assert svg == inline_svg(function(table, width), "key", "A title", "What it <shows>")
    root = ElementTree.fromstring(svg)
    assert root.get("aria-labelledby") == "key-title"
    assert root.get("aria-describedby") == "key-description"
    texts = {element.get("id"): element.text for element in root if element.tag in ("title", "desc")}
    assert texts == {"key-title": "A title", "key-description": "What it <shows>"}
    # ## Nothing of matplotlib's own: its colours, fonts, addresses, styles, ids
    assert not re.search(r"#[0-9a-f]{6}", svg), "a colour that does not follow the scheme"
    assert "font-family" not in svg
    assert "http" not in svg
    assert {element.tag for element in root.iter()} <= {"svg", "title", "desc", "g", "path", "use", "defs", "text"}
    assert "nan" not in svg.lower()
    ids = [i for element in root.iter() if (i := element.get("id"))]
    assert len(ids) == len(set(ids))
    assert all(i.startswith("key-") for i in ids)
    used = {element.get("href", "")[1:] for element in root.iter("use")}
    assert used <= set(ids)


def test_two_figures_share_no_id() -> None:
    drawings = draw(BLOCK, "a", 0.95), draw(BLOCK, "b", 0.95)
    ids = [
        i
        for one in drawings
        for svg in (one.forest, one.profiles, one.lengths)
        for i in re.findall(r' id="([^"]+)"', svg or "")
    ]
    assert len(ids) > 30
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "name", ["通义千问", "$x_1$ & <b>", "a_{b}^c \\frac", "é" * 200, "a\x00b\nc", "\u202eevil", '"id=x"']
)
def test_any_name_is_drawn_as_it_is(name: str) -> None:
    rows = [MeanRow("1", name, 7.5, 7.0, 8.0, False)]
    for width in (WIDE, NARROW):
        root = ElementTree.fromstring(inline_svg(draw_forest(rows, width), "key", name, name))
        texts = [element.text for element in root.iter("text")]
        assert shortened(name, text_width(name)) in texts or any("…" in (text or "") for text in texts)
        assert root.find("title") is not None


def test_numbers_stand_where_they_belong() -> None:
    """Dots lie on one line with ticks: 7 is as far from the tick of 6 as from that of 8."""
    rows = [
        MeanRow("1–2", "a", 8.0, 7.5, 8.5, False),
        MeanRow("1–2", "b", 7.0, 6.5, 7.5, False),
        MeanRow("3", "c", 6.0, 5.5, 6.5, True),
    ]
    root = ElementTree.fromstring(inline_svg(draw_forest(rows, WIDE), "key", "", ""))
    first, second, third = (float(element.get("x", "")) for element in root.iter("use"))
    assert first - second == pytest.approx(second - third, abs=0.02)
    ticks = {element.text: float(element.get("x", "")) for element in root.iter("text")}
    assert second == pytest.approx(ticks["7.0"], abs=0.02)
    assert [float(element.get("y", "")) for element in root.iter("use")] == [25, 51, 77]
    hollow = ["--paper" in element.get("style", "") for element in root.iter("use")]
    assert hollow == [False, False, True]


@given(st.lists(st.floats(1, 10), min_size=1, max_size=5), st.integers(3, 7))
def test_scales_hold_what_they_are_for(values: list[float], ticks: int) -> None:
    scale = Scale(values, (100, 300), ticks)
    for value in values:
        assert 100 <= scale(value) <= 300
    assert 2 <= len(scale.ticks) <= ticks + 1
    assert all(100 <= scale(tick) <= 300 for tick in scale.ticks)
    labels = [scale.label(tick) for tick in scale.ticks]
    assert len(set(labels)) == len(labels)
    assert [float(label) for label in labels] == pytest.approx(scale.ticks)


@given(st.text(max_size=60), st.floats(30, 300))
def test_what_does_not_fit_is_shortened(text: str, width: float) -> None:
    short = shortened(text, width)
    assert text_width(short) <= max(width, text_width("字…字"))
    if text_width(printable(text)) <= width:
        assert short == printable(text)


def test_a_users_own_settings_change_nothing() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    [plain, changed] = [inline_svg(draw_forest(FIGURES[0][1], WIDE), "key", "", "")] * 2
    with matplotlib.rc_context({"lines.linestyle": "--", "font.size": 30, "svg.fonttype": "path", "figure.dpi": 30}):
        changed = inline_svg(draw_forest(FIGURES[0][1], WIDE), "key", "", "")
    assert changed == plain


def test_missing_matplotlib_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install 'urs-inspect\[viz\]'"):
        draw(BLOCK, "a", 0.95)
