"""The page in a real browser: light, dark, on a phone, on paper.

With URS_INSPECT_SCREENSHOTS set to a directory, pictures of every part are written there.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.reports.intent.page.factory import make_block, make_models, make_report, odd_report, rich_report
from urs_inspect.reports.intent.page import render_page

pytestmark = pytest.mark.browser

_CHROMIUM = os.environ.get("URS_INSPECT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
_QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_DESK = {"viewport": {"width": 1280, "height": 900}}
_TABLET = {"viewport": {"width": 800, "height": 1000}}
_PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}
_PAPER = {"viewport": {"width": 695, "height": 1000}}
"""As wide as what the margins leave of A4."""
_MODES: dict[str, dict[str, Any]] = {
    "light": _DESK,
    "dark": _DESK | {"color_scheme": "dark"},
    "tablet": _TABLET,
    "phone": _PHONE,
    "phone_dark": _PHONE | {"color_scheme": "dark"},
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert _CHROMIUM, "no Chromium: install it, or name one in URS_INSPECT_CHROMIUM"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=_CHROMIUM, args=_QUIET)
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages by what is on them."""
    directory = tmp_path_factory.mktemp("pages")
    made = {"rich": rich_report(), "odd": odd_report(), "many": make_report(make_block(make_models(20)))}
    for name, report in made.items():
        (directory / f"{name}.html").write_text(render_page(report), encoding="utf-8")
    return {name: directory / f"{name}.html" for name in made}


@dataclass
class Seen:
    """A page, and what it did beyond being there."""

    page: Page
    problems: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Browser, file: Path, **options: Any) -> Iterator[Seen]:
    context = browser.new_context(**options)
    seen = Seen(context.new_page())
    address = file.as_uri()
    context.on("request", lambda r: seen.problems.append(r.url) if r.url.partition("#")[0] != address else None)
    context.on("console", lambda message: seen.problems.append(message.text))
    context.on("weberror", lambda error: seen.problems.append(str(error.error)))
    seen.page.goto(address)
    try:
        yield seen
    finally:
        context.close()


def keep(page: Page, name: str) -> None:
    if directory := os.environ.get("URS_INSPECT_SCREENSHOTS"):
        page.screenshot(path=f"{directory}/report_{name}.png", full_page=True)


@pytest.mark.parametrize("mode", list(_MODES))
@pytest.mark.parametrize("name", ["rich", "many", "odd"])
def test_everything_fits_and_nothing_is_fetched(browser: Browser, pages: dict[str, Path], name: str, mode: str) -> None:
    with opened(browser, pages[name], **_MODES[mode]) as seen:
        width = _MODES[mode]["viewport"]["width"]
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.page.evaluate(_OUTSIDE, width) == []
        assert seen.page.evaluate(_SPILT) == []
        keep(seen.page, f"{name}_{mode}")
        assert seen.problems == []


_OUTSIDE = """width => [...document.querySelectorAll('main *, header *, nav *')]
    .filter(e => !e.parentElement.closest('.scroll') && !e.closest('.hidden, .skip'))
    .filter(e => e.getBoundingClientRect().right > width + 1 || e.getBoundingClientRect().left < -1)
    .map(e => e.tagName + ': ' + e.textContent.trim().slice(0, 40))"""


_SPILT = """() => [...document.querySelectorAll('th, td')]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && !e.querySelector('.hidden'))
    .map(e => e.textContent.trim().slice(0, 40))"""
"""Cells whose text runs into their neighbours."""


def test_the_policy_holds(browser: Browser, pages: dict[str, Path]) -> None:
    """What the tests above would see if the page asked for something."""
    with opened(browser, pages["rich"], **_DESK) as seen:
        seen.page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://evil.test/x'}))")
        seen.page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'ran = 1'}))")
        seen.page.wait_for_timeout(200)
        assert sum("Content Security Policy" in problem for problem in seen.problems) == 2
        assert seen.page.evaluate("typeof ran") == "undefined"


@pytest.mark.parametrize("mode", ["light", "phone"])
def test_labels_of_figures_stay_inside_and_apart(browser: Browser, pages: dict[str, Path], mode: str) -> None:
    for name in pages:
        with opened(browser, pages[name], **_MODES[mode]) as seen:
            found = seen.page.evaluate(_LABELS)
            assert found["figures"] >= 3
            assert found["outside"] == []
            assert found["over"] == []


_LABELS = """() => {
    const shown = [...document.querySelectorAll('figure svg')].filter(svg => svg.getBoundingClientRect().width > 0);
    const outside = [], over = [];
    for (const svg of shown) {
        const frame = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
        for (const [text, box] of texts) {
            const inside = box.left > frame.left - 2 && box.right < frame.right + 2 && box.bottom < frame.bottom + 2;
            if (!inside) outside.push(text);
        }
        texts.forEach(([text, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 1 && high > 3) over.push(text + ' / ' + other);
        }));
    }
    return {figures: shown.length, outside, over};
}"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_contrast(browser: Browser, pages: dict[str, Path], mode: str) -> None:
    """WCAG AA: 4.5 to 1 for text on what is behind it, 3 to 1 for what is drawn."""
    with opened(browser, pages["rich"], **_MODES[mode]) as seen:
        low = seen.page.evaluate(_CONTRAST)
        assert low == []
        marks = seen.page.evaluate(_MARKS)
        assert min(marks) >= 3


_SHARED = """
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const channels = (colour, behind) => {
        canvas.fillStyle = behind; canvas.fillRect(0, 0, 1, 1);
        canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
    const paper = getComputedStyle(document.body).backgroundColor;
"""
_CONTRAST = (
    "() => {"
    + _SHARED
    + """
    const behind = element => {
        const layers = [];
        for (let e = element; e && e !== document.body; e = e.parentElement) {
            layers.unshift(getComputedStyle(e).backgroundColor);
        }
        return layers.reduce((under, over) => `rgb(${channels(over, under).join(' ')})`, paper);
    };
    const low = [];
    for (const element of document.querySelectorAll('body *')) {
        if (element.closest('.hidden, .skip, svg desc, svg title, style')) continue;
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!own || !element.getBoundingClientRect().width) continue;
        const style = getComputedStyle(element), under = channels(behind(element), paper);
        const full = channels(element.closest('svg') ? style.fill : style.color, behind(element));
        const seen = full.map((c, i) => c * style.opacity + under[i] * (1 - style.opacity));
        const found = ratio(seen, under);
        if (found < 4.5) low.push(`${found.toFixed(2)} ${element.outerHTML.slice(0, 80)}`);
    }
    return [...new Set(low)];
}"""
)
_MARKS = (
    "() => {"
    + _SHARED
    + """
    const marks = [...document.querySelectorAll('figure svg use')].filter(e => e.getBoundingClientRect().width);
    return marks.map(e => ratio(channels(getComputedStyle(e).stroke, paper), channels(paper, paper)));
}"""
)


def test_dark_is_dark_and_figures_follow(browser: Browser, pages: dict[str, Path]) -> None:
    colours = {}
    for mode in ("light", "dark"):
        with opened(browser, pages["rich"], **_MODES[mode]) as seen:
            colours[mode] = seen.page.evaluate(
                """() => [getComputedStyle(document.body).backgroundColor,
                    getComputedStyle(document.querySelector('figure svg text')).fill,
                    getComputedStyle(document.querySelector('figure svg use')).fill]"""
            )
    assert colours["light"][0] == "rgb(255, 255, 255)"
    assert all(a != b for a, b in zip(colours["light"], colours["dark"], strict=True))
    assert sum(int(c) for c in colours["dark"][0][4:-1].split(",")) < 120


@pytest.mark.parametrize(("mode", "wide"), [("light", True), ("tablet", True), ("phone", False)])
def test_one_drawing_of_each_figure_is_shown(browser: Browser, pages: dict[str, Path], mode: str, wide: bool) -> None:
    with opened(browser, pages["rich"], **_MODES[mode]) as seen:
        figures = seen.page.locator("figure")
        assert figures.count() >= 6
        for figure in figures.all():
            assert figure.locator(".wide").is_visible() == wide
            assert figure.locator(".narrow").is_visible() != wide
            size = figure.locator(".wide svg text" if wide else ".narrow svg text").first.evaluate(
                "e => parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getScreenCTM().a"
            )
            assert size >= 9


def test_names_stay_in_sight_while_numbers_scroll(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["rich"], **_PHONE) as seen:
        box = seen.page.locator("#r1-leaderboard .scroll")
        before = box.locator("tbody th").first.bounding_box()
        number = box.locator("tbody td").first.bounding_box()
        box.evaluate("e => e.scrollLeft = 150")
        after = box.locator("tbody th").first.bounding_box()
        moved = box.locator("tbody td").first.bounding_box()
        assert before is not None
        assert after is not None
        assert number is not None
        assert moved is not None
        assert after["x"] == before["x"] == 0
        assert moved["x"] == number["x"] - 150
        assert after["width"] < 390 / 2


def test_figures_and_tables_can_be_read_aloud(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["rich"], **_DESK) as seen:
        page = seen.page
        forest = page.get_by_role("img", name="Mean final score of each model", exact=True)
        assert forest.count() == 2  # one a ranking of several models; the one for phones is not there
        described = forest.first.evaluate(
            "e => document.getElementById(e.getAttribute('aria-describedby')).textContent"
        )
        assert "gpt-large 8.43 (8.37 to 8.49)" in described
        assert page.get_by_role("region", name="Leaderboard").first.locator("table").count() == 1
        assert page.get_by_role("navigation", name="Contents").is_visible()
        headings = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(e => +e.tagName[1])")
        assert headings[0] == 1
        assert all(b - a <= 1 for a, b in pairwise(headings))
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.url.endswith("#content")


@pytest.mark.parametrize("name", ["rich", "many", "odd"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper(browser: Browser, pages: dict[str, Path], name: str, scheme: str) -> None:
    with opened(browser, pages[name], **_PAPER, color_scheme=scheme) as seen:
        page = seen.page
        page.emulate_media(media="print", color_scheme=scheme)  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth") <= 695
        assert (
            page.evaluate(
                "[...document.querySelectorAll('table')].filter(e => e.getBoundingClientRect().right > 695).length"
            )
            == 0
        )
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator("nav").is_hidden()
        assert page.locator("figure .wide").first.is_visible()
        smallest = page.evaluate(
            """Math.min(...[...document.querySelectorAll('td, th, .interval')].filter(e => e.textContent.trim() &&
                !e.closest('.hidden')).map(e => parseFloat(getComputedStyle(e).fontSize) * 0.75))"""
        )
        assert smallest >= 5.5
        paper = page.pdf(format="A4", prefer_css_page_size=True)
        assert paper.startswith(b"%PDF")
        assert 4 <= paper.count(b"/Type /Page\n") <= 22
        assert seen.problems == []
