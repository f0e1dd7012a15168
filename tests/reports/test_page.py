"""The page in a real browser: live and static figures, light and dark, a phone, paper, hostile
names, no request.

With URS_INSPECT_SCREENSHOTS set to a directory, pictures of every page are written there.
"""

import math
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from markupsafe import escape
from playwright.sync_api import Browser, Page, expect

from tests.reports.boards import HOSTILE, many_board, rich_board
from urs_inspect._util import InputError
from urs_inspect.reports._texts import number
from urs_inspect.reports.layout._page import further_pages, render_page
from urs_inspect.reports.layout._tables import (
    Card,
    Excerpt,
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.words._leaderboard import report_leaderboard
from urs_inspect.stats import Estimate

_DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
_PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
}
_MODES: dict[str, dict[str, Any]] = {
    "light": _DESK,
    "dark": _DESK | {"color_scheme": "dark"},
    "phone": _PHONE,
    "phone without scripts": _PHONE | {"java_script_enabled": False},
    "without scripts": _DESK | {"java_script_enabled": False},
}


@pytest.fixture(scope="module")
def report() -> Report:
    return report_leaderboard(rich_board())


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return render_page(report)


@pytest.fixture(scope="module")
def files(page: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("pages")
    pages = {"rich": page, "many": render_page(report_leaderboard(many_board()))}
    for name, text in pages.items():
        (directory / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: directory / f"{name}.html" for name in pages}


def test_the_same_report_gives_the_same_page(report: Report, page: str) -> None:
    assert render_page(report) == page


def test_the_page_names_nothing_to_fetch_and_every_id_once(page: str) -> None:
    own = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"<(link[^>]*href=.(?!data:)|img|iframe|object|embed|form|base)\b", own)
    assert not re.search(r"https?://(?!www\.w3\.org)", own) and "@import" not in own
    ids = re.findall(r'<[^>]* id="([^"]+)"', own)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]*)"', own)) <= set(ids)


def test_without_the_extra_the_page_has_no_figures_and_names_it(
    report: Report, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    text = render_page(report)
    assert "pip install 'urs-inspect[viz]'" in unescape(text)
    assert "<figure" in page and "<figure" not in text and "vegaEmbed = " not in text
    assert text.count("<script>") == text.count("sha256-") == 1  # tables still sort


def test_cells_are_linked_and_shaded_and_drawn_on_one_axis() -> None:
    means = [Estimate(value, value - 1, value + 1, 9, 9) for value in (8.0, 6.0, 7.0)]
    data = pd.DataFrame(
        {
            "Model": ["<a>", "b", "c"],
            "Mean": means,
            "Corrected": means[::-1],
            "Count": [5, 5, math.nan],
        }
    )
    formats = dict.fromkeys(("Mean", "Corrected", "Count"), number())
    links = {(0, "Mean"): "answers.html#a", (1, "Model"): "logs/b.html?log=a:1"}
    table = Table(data, formats, bars=["Mean", "Corrected"], relative=True, links=links)
    text = unescape(render_page(_report(table)))
    percent = dict.fromkeys(formats, number(percent=True))
    assert ">6</text>" in text and ">600%</text>" in render_page(
        _report(replace(table, formats=percent))
    )
    assert (
        '<a href="answers.html#a">8.00</a>' in text
        and '<a href="logs/b.html?log=a:1">b</a>' in text
    )
    assert re.findall(r"--place:([\d.]+)", text) == ["1.00", "0.50", "0.00", "0.00", "0.50", "1.00"]
    places = [float(x) for x in re.findall(r'class="mark" x="([\d.]+)%"', text)]
    assert places[::2] == places[1::2][::-1] and 0 < places[2] < places[4] < places[0] < 100
    assert places[0] + places[2] == pytest.approx(100) and text.count("<path") == 3


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://a.b",
        "javascript:alert(1)",
        "java\nscript:a",
        "//a.b",
        "/a",
        "\\\\a",
        " a",
        "data:,a",
        "a/\\b",
    ],
)
def test_only_relative_addresses_are_linked(address: str) -> None:
    _refused((0, "Model"), address)


@pytest.mark.parametrize("cell", [(1, "Model"), (-1, "Model"), (0, "Mean")])
def test_only_cells_that_are_shown_are_linked(cell: tuple[int, str]) -> None:
    _refused(cell, "a.html")


def _refused(cell: tuple[int, str], address: str) -> None:
    with pytest.raises(InputError, match=r"relative.*1 rows and the columns Model"):
        render_page(_report(Table(pd.DataFrame({"Model": ["a"]}), links={cell: address})))


def _report(table: Table, **facts: object) -> Report:
    sections = [*simulation_section(bool(facts)), Section("Means", ["Note."], [table])]
    return Report(ReportKind("format", 1, "command", "stem"), "Title", sections, facts)


def test_answers_of_cards_are_escaped_and_sections_have_pages_of_their_own() -> None:
    answer = Excerpt(
        "1.00",
        "Leisure",
        "<b>asked</b>",
        "<script>answered</script>",
        criteria="Clarity <2>",
        reason="<i>why</i>",
        link="a/b.html#c",
    )
    card = Card("<i>", "mean 2", {"Worst answers": [answer]}, "a/b.html")
    unlinked = Card("b", "mean 3", {}, hint="All of them: `<x>`.")
    own = Section("On its own", ["A note."], page="own.html")
    kind = ReportKind("format", 1, "command", "stem")
    report = Report(kind, "Title", [Section("Here", cards=[card, unlinked]), own])
    text = render_page(report)
    for part in (answer.question, answer.answer, answer.criteria, answer.reason, card.title):
        assert part not in text and str(escape(part)) in text
    assert 'href="a/b.html#c"' in text and 'href="own.html"' in text and "A note." not in text
    assert "<p>All of them: <code>&lt;x&gt;</code>.</p>" in text
    [(name, further)] = further_pages(report).items()
    assert name == "own.html" and "A note." in render_page(further)


def test_a_simulation_has_one_banner() -> None:
    text = render_page(_report(Table(pd.DataFrame({"Model": ["a"]})), simulated=True))
    own = text[: text.index("<script>")]
    assert (
        own.count("are simulated") == 1
        and own.index("banner") < own.index("<nav")
        and ">Simulation<" not in own
    )


_UNFOLD = "e => e.querySelectorAll('section > details').forEach(part => part.open = true)"


@dataclass
class Opened:
    """A page, unfolded unless told otherwise, and what it did beyond being there."""

    page: Page
    problems: list[str] = field(default_factory=list)


@contextmanager
def opened(
    browser: Browser, file: Path, *, unfold: bool = True, **options: Any
) -> Iterator[Opened]:
    context = browser.new_context(**options)
    found = Opened(context.new_page())
    address = file.as_uri()
    context.on(
        "request",
        lambda r: found.problems.append(r.url) if r.url.partition("#")[0] != address else None,
    )
    context.on("console", lambda message: found.problems.append(message.text))
    context.on("weberror", lambda error: found.problems.append(str(error.error)))
    found.page.goto(address)
    if unfold:
        found.page.locator("html").evaluate(_UNFOLD)
    if options.get("java_script_enabled", True):
        found.page.wait_for_function(
            "document.querySelectorAll('[data-chart]:not(:has(.vega-embed))').length === 0"
        )
    try:
        yield found
    finally:
        context.close()


@pytest.mark.browser
@pytest.mark.parametrize("mode", list(_MODES))
@pytest.mark.parametrize("name", ["rich", "many"])
def test_everything_fits_and_nothing_is_fetched(
    browser: Browser, files: dict[str, Path], name: str, mode: str
) -> None:
    options = _MODES[mode]
    with opened(browser, files[name], **options) as found:
        page, width = found.page, options["viewport"]["width"]
        assert page.locator("html").evaluate("e => e.scrollWidth") <= width
        assert page.locator("html").evaluate(_OUTSIDE, width) == []
        shown, hidden = (".narrow", ".wide") if "phone" in mode else (".wide", ".narrow")
        figure = page.locator("figure").first
        assert (
            figure.locator(f"{shown} svg text").first.is_visible()
            and not figure.locator(hidden).is_visible()
        )
        assert figure.locator(f"{shown} svg text").first.evaluate(_SIZE) >= 9
        for made in (".vega-embed", ".controls", "th button"):
            assert bool(page.locator(made).count()) == options.get("java_script_enabled", True)
        assert found.problems == []
        if directory := os.environ.get("URS_INSPECT_SCREENSHOTS"):
            page.screenshot(
                path=f"{directory}/report_{name}_{mode.replace(' ', '_')}.png", full_page=True
            )


@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", "phone", "phone without scripts"])
def test_the_answer_is_there_and_the_rest_unfolds(
    browser: Browser, files: dict[str, Path], mode: str
) -> None:
    with opened(browser, files["rich"], unfold=False, **_MODES[mode]) as found:
        page = found.page
        for title in ("In short", "Intents", "The judge"):
            assert page.locator(
                "section", has=page.get_by_text(title, exact=True)
            ).first.is_visible()
        best = page.get_by_role("heading", name="The best for each intent and language")
        assert best.is_visible()
        answers = page.get_by_role("heading", name="Worst answers")
        assert not answers.first.is_visible()
        page.locator(".card summary").first.click()
        assert answers.first.is_visible()
        folded = page.locator("section:has(> details > summary > h3)").first
        folded.locator("summary").first.click()
        assert folded.locator("table").first.is_visible()


@pytest.mark.browser
def test_a_link_to_a_folded_part_opens_it(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["rich"], unfold=False, **_DESK) as found:
        part = found.page.locator("section:has(> details)").last
        link = found.page.locator(f"nav a[href='#{part.get_attribute('id')}']")
        assert part.locator("> details").get_attribute("open") is None
        link.click()
        expect(part.locator("> details")).to_have_attribute("open", "")


@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", "without scripts", "phone", "phone without scripts"])
def test_every_part_is_reached_from_the_contents(
    browser: Browser, files: dict[str, Path], mode: str
) -> None:
    with opened(browser, files["rich"], unfold=False, **_MODES[mode]) as found:
        page = found.page
        menu = page.locator("nav summary")
        assert menu.is_visible() == ("phone" in mode)
        if "phone" in mode:
            assert not page.locator("nav a").first.is_visible()
            menu.click()
        links = page.locator("nav a")
        assert links.count() == links.filter(visible=True).count() > 10
        titles = page.locator("section > details h3").all_text_contents()
        assert titles and set(titles) <= set(links.all_text_contents())
        last = page.locator("nav a[href^='#']").last
        part = page.locator(f"main > {last.get_attribute('href')}")
        last.click()
        expect(part).to_be_in_viewport()


_TEXTS = """() => [...document.querySelectorAll(
    'main :is(h2, h3, h4, li, p, td, th, blockquote, figcaption), nav a')]
  .filter(e => e.checkVisibility() && !e.closest('.controls')).map(e => e.textContent.trim())"""


@pytest.mark.browser
@pytest.mark.parametrize("form", [_DESK, _PHONE])
def test_without_scripts_a_page_shows_all_that_it_shows_with_them(
    browser: Browser, files: dict[str, Path], form: dict[str, Any]
) -> None:
    shown = []
    for scripts in (True, False):
        options = form | {"java_script_enabled": scripts}
        with opened(browser, files["rich"], **options) as found:
            shown.append(found.page.evaluate(_TEXTS))
    assert len(shown[0]) > 500
    assert sorted(shown[0]) == sorted(shown[1])


@pytest.mark.browser
def test_fingers_find_what_they_press(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["rich"], **_PHONE) as found:
        found.page.locator("nav summary").click()
        pressed = found.page.locator("th button, summary, select, nav a").filter(visible=True)
        sizes = pressed.evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
        assert len(sizes) > 20 and min(sizes) >= 44


_OUTSIDE = """(html, width) => [...html.querySelectorAll('main *, header *, nav *')]
    .filter(e => !e.parentElement.closest('.scroll, svg') && !e.closest('.skip'))
    .filter(e => e.getBoundingClientRect().right > width + 1 || e.getBoundingClientRect().left < -1)
    .map(e => e.tagName + ': ' + e.textContent.trim().slice(0, 40))"""
_SIZE = "e => parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getScreenCTM().a"


@pytest.mark.browser
def test_columns_sort_by_their_values_and_unknown_ones_come_last(
    browser: Browser, files: dict[str, Path]
) -> None:
    with opened(browser, files["rich"], **_DESK) as found:
        table = found.page.locator("table:has(td.bar)").first
        first = table.locator("tbody th").all_text_contents()
        heading = table.locator("thead th", has_text=re.compile("^Mean"))
        orders = {}
        for step in ("descending", "ascending", None):
            heading.locator("button").focus()
            found.page.keyboard.press("Enter")
            assert heading.get_attribute("aria-sort") == step
            orders[step] = table.locator("tbody tr").evaluate_all(_MEANS)
        assert orders["descending"] == sorted(orders["descending"], reverse=True)
        assert orders["ascending"] == orders["descending"][::-1]
        assert table.locator("tbody th").all_text_contents() == first
        costs = found.page.locator(
            "table", has=found.page.locator("th", has_text="Working time")
        ).first
        costs.locator("thead button").nth(1).click()
        assert costs.locator("tbody tr").last.locator("td").first.text_content() == "not known"


_ROWS_OF = """name => [...document.querySelectorAll('table')]
    .filter(table => table.rows[0].cells[0].textContent === 'Model').flatMap(table => [...table.rows])
    .filter(row => row.offsetParent && row.cells[0].textContent.endsWith(name)).length"""
_MEANS = (
    "rows => rows.map(row => +(row.querySelector('.bar').previousElementSibling.dataset.value ??"
    " NaN)).filter(x => x)"
)


@pytest.mark.browser
def test_a_chosen_column_takes_the_place_of_the_means_and_hidden_models_are_nowhere(
    browser: Browser, files: dict[str, Path]
) -> None:
    with opened(browser, files["rich"], **_DESK) as found:
        page, all_rows = found.page, found.page.locator("table:has(td.bar)").first
        rows = all_rows.locator("tbody tr").count()
        source = page.locator("table", has=page.locator("th[data-key=Leisure]")).first
        title = source.locator("thead th").nth(1).text_content()
        page.locator(".controls select").first.select_option(label=title)
        chosen = page.locator("table.selection")
        assert all_rows.is_hidden() and chosen.locator("thead th").nth(1).text_content() == title
        means = source.locator("tbody tr").evaluate_all(
            "rows => rows.map(row => +row.cells[1].dataset.value).filter(x => x)"
        )
        shown = chosen.locator("tbody tr").evaluate_all(_MEANS)
        assert shown == sorted(means, reverse=True)
        places = chosen.locator(".mark").evaluate_all(
            "marks => marks.map(e => parseFloat(e.getAttribute('x')))"
        )
        assert places == sorted(places, reverse=True) and 0 < min(places) < max(places) < 100
        page.locator(".controls summary").click()
        page.get_by_role("checkbox", name="openai/gpt-large").uncheck()
        assert (
            page.evaluate(_ROWS_OF, "通义千问-max") > 6
            and page.evaluate(_ROWS_OF, "gpt-large") == 0
        )
        page.wait_for_function(
            "![...document.querySelectorAll('.wide svg text')].some(e => e.textContent ==="
            " 'gpt-large')"
        )
        page.locator(".controls select").first.select_option(label="All")
        assert all_rows.is_visible() and chosen.count() == 0 and found.problems == []
        assert all_rows.locator("tbody tr").filter(visible=True).count() == rows - 1


@pytest.mark.browser
def test_hostile_names_are_text_and_other_scripts_do_not_run(
    browser: Browser, files: dict[str, Path]
) -> None:
    with opened(browser, files["rich"], **_DESK) as found:
        page = found.page
        assert page.locator("tbody th", has_text=HOSTILE).count() > 3
        assert page.locator("img, [onerror], [onload]").count() == 0
        assert page.locator("script").count() == 3
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'ran ="
            " 1'}))"
        )
        page.evaluate(
            "document.body.append(Object.assign(new Image(), {src: 'http://evil.test/x'}))"
        )
        page.wait_for_function("document.images.length === 1 && document.images[0].complete")
        assert sum("Content Security Policy" in problem for problem in found.problems) == 2
        assert page.evaluate("typeof ran") == "undefined"


@pytest.mark.browser
def test_text_and_figures_follow_the_scheme_with_contrast(
    browser: Browser, files: dict[str, Path]
) -> None:
    """WCAG AA: 4.5 to 1 for text; 3 to 1 for marks."""
    colours = {}
    for mode in ("light", "dark", "without scripts"):
        with opened(browser, files["rich"], **_MODES[mode]) as found:
            html = found.page.locator("html")
            texts, marks = html.evaluate(
                _CONTRAST, "main li, td, th, h2, figcaption, .interval, figure svg text"
            )
            assert min(texts) >= 4.5 and min(marks) >= 3
            colours[mode] = html.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert colours["light"] == colours["without scripts"] == "rgb(255, 255, 255)" != colours["dark"]


_CONTRAST = """(html, selector) => {
    const channels = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
    const paper = channels(getComputedStyle(document.body).backgroundColor);
    const seen = e => getComputedStyle(e)[e.closest('svg') ? 'fill' : 'color'];
    const there = selector => [...html.querySelectorAll(selector)].filter(e => e.getBoundingClientRect().width);
    return [there(selector).map(e => ratio(channels(seen(e)), paper)),
        there('figure svg .mark-symbol path, .bar .mark *').map(e => getComputedStyle(e))
            .map(style => /none|, 0\\)/.test(style.fill) ? style.stroke : style.fill)
            .map(colour => ratio(channels(colour), paper))];
}"""


@pytest.mark.browser
def test_names_stay_in_sight_while_numbers_scroll_and_figures_are_named(
    browser: Browser, files: dict[str, Path]
) -> None:
    with opened(browser, files["rich"], **_PHONE) as found:
        box = found.page.locator(".scroll:has(td.bar)").first
        before: list[Any] = []
        after: list[Any] = []
        for boxes in (before, after):
            boxes += [
                box.locator(cell).first.bounding_box()
                for cell in ("tbody th", "tbody td:last-child")
            ]
            box.evaluate("e => e.scrollLeft = 60")
        assert before[0]["x"] == after[0]["x"] and after[1]["x"] < before[1]["x"]
        assert after[0]["width"] < 390 / 2
        figure = found.page.get_by_role(
            "img", name=re.compile("Mean final score of each model by language")
        )
        assert figure.count() == 1
        found.page.keyboard.press("Tab")
        found.page.keyboard.press("Enter")
        found.page.wait_for_url("**#content")
        found.page.get_by_role("img", name="qwen/通义千问-max: 8").locator("..").tap()
        found.page.wait_for_function(f"{_TOLD}.startsWith('8.')")


_TOLD = "JSON.parse(getComputedStyle(document.activeElement, '::after').content)"


@pytest.mark.browser
@pytest.mark.parametrize("name", ["rich", "many"])
def test_paper_is_white_and_nothing_is_cut(
    browser: Browser, files: dict[str, Path], name: str
) -> None:
    # As wide as what the margins leave of A4.
    with opened(
        browser, files[name], viewport={"width": 695, "height": 1000}, color_scheme="dark"
    ) as found:
        page = found.page
        page.emulate_media(media="print", color_scheme="dark")
        right = (
            "name => [...document.querySelectorAll(name)].map(e => e.getBoundingClientRect().right)"
        )
        assert max(page.evaluate(right, "main *:not(.across *)")) <= 695
        assert max(page.evaluate(right, ".across table"), default=0) <= 1017  # A4 turned
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert page.locator("nav").is_hidden() and page.locator("figure .wide").first.is_visible()
        titles = page.locator("main :is(h2, h3, h4), .card summary")
        assert titles.count() == titles.filter(visible=True).count() > 20
        paper = page.pdf(format="A4", prefer_css_page_size=True)
        assert paper.startswith(b"%PDF") and 4 <= paper.count(b"/Type /Page\n") <= 28
