"""The rating page in a real browser: keys, undo, crashes, phones, Chinese.

With URS_INSPECT_SCREENSHOTS set to a directory, the pictures of the documentation are written there.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.annotation.browsing import CONTRAST, LAPTOP, PHONE, Server, running, visiting
from tests.annotation.rated import shown_logs
from tests.annotation.test_voting_page import HOSTILE
from urs_inspect.annotation.ratings import Rating, read_ratings

pytestmark = pytest.mark.browser

_SETTLED = 400  # ms after which the page takes the next rating


@contextmanager
def rating(directory: Path, *arguments: str, logs: Path | None = None) -> Iterator[Server]:
    logs = logs or shown_logs(directory / "logs")
    options = ("--rate", "--ratings", str(directory / "ratings"), *arguments)
    with running(directory, str(logs), *options) as server:
        yield server


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that several tests share, each as raters of its own."""
    people = [part for name in ("reader", "mei") for part in ("--annotator", name)]
    with rating(tmp_path_factory.mktemp("shown"), "--reference", "--raters", "9", *people) as server:
        yield server


def ratings(server: Server) -> tuple[Rating, ...]:
    reading = read_ratings([server.directory / "ratings"])
    assert reading.errors == ()
    return reading.ratings


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press({"!": "Enter", "^": "ArrowUp", "v": "ArrowDown", ">": "ArrowRight"}.get(key, key))


def rate(page: Page, keys: str, done: int) -> None:
    """Press keys once the page takes them, and wait until so many are done."""
    page.wait_for_load_state()  # its script runs before; the address changes earlier than that
    page.wait_for_timeout(_SETTLED)
    press(page, keys)
    expect(page.locator("#rated")).to_have_attribute("data-done", str(done))


def test_three_answers_with_keys_undo_and_reload(browser: Browser, tmp_path: Path) -> None:
    with rating(tmp_path, "--annotator", "me") as server, visiting(browser, server) as (page, watch):
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        rate(page, "123450!", 1)  # five criteria and the final score, 10
        rate(page, "777777^^3!", 2)  # back to the fourth criterion
        rate(page, "55555!", 2)
        expect(page.get_by_role("alert")).to_have_text("Not saved yet. Without a score: Final Score")
        press(page, "9!")
        expect(page.locator("#rated")).to_have_attribute("data-done", "3")
        found = ratings(server)
        assert [(list(each.criteria.values()), each.final) for each in found] == [
            ([1, 2, 3, 4, 5], 10),
            ([7, 7, 7, 3, 7], 7),
            ([5, 5, 5, 5, 5], 9),
        ]
        assert all(0 < each.seconds < 60 for each in found)

        rate(page, "u", 2)
        expect(page.locator("#rated")).to_have_attribute("data-answer", found[2].answer_id)
        expect(page.get_by_role("group", name="Final Score").get_by_role("radio", checked=True)).to_have_value("9")
        page.reload()
        expect(page.locator("#rated")).to_have_attribute("data-answer", found[2].answer_id)
        page.get_by_role("group", name="Final Score").get_by_role("radio", name="4").click()
        page.wait_for_timeout(_SETTLED)
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#rated")).to_have_attribute("data-done", "3")
        assert [each.final for each in ratings(server)] == [10, 7, 4]
        assert watch.problems == []


def test_the_page_can_be_used_with_the_keyboard_and_read_aloud(browser: Browser, shown: Server) -> None:
    with visiting(browser, shown, "/rate/reader") as (page, _):
        for heading in ("Question", "Answer", "Scores"):
            expect(page.get_by_role("region", name=heading, exact=True)).to_be_visible()
        page.get_by_role("radio", name="1", exact=True).first.focus()
        press(page, ">>")  # the browser's own keys of radio buttons
        expect(page.get_by_role("radio", checked=True)).to_have_value("3")
        page.keyboard.press("Tab")
        press(page, "8")
        values = [radio.input_value() for radio in page.get_by_role("radio", checked=True).all()]
        assert values == ["3", "8"]
        for shortcut in ("Control+1", "Alt+3", "Meta+u"):
            page.keyboard.press(shortcut)
        assert page.get_by_role("radio", checked=True).count() == 2
        page.locator("details.bands summary").click()
        rate(page, "6666v6!", 1)
        expect(page.locator("details.bands")).not_to_have_attribute("open", "")  # stays as the rater left it
        assert page.evaluate("document.activeElement.id") == "start"  # the reading goes on at the new question


def test_killed_between_ratings(browser: Browser, tmp_path: Path) -> None:
    with rating(tmp_path, "--annotator", "me", "--final-only") as server, visiting(browser, server) as (page, _):
        for done in range(1, 4):
            rate(page, f"{done}!", done)
        server.kill()  # SIGKILL
        with (tmp_path / "ratings" / "me.jsonl").open("ab") as file:
            file.write(b'{"id": "half a li')  # as if the machine had gone down in the middle of a line
        page.wait_for_timeout(_SETTLED)
        press(page, "4!")
        expect(page.get_by_role("alert")).to_contain_text("Not saved: the server does not answer")
        assert [each.final for each in read_ratings([tmp_path / "ratings"]).ratings] == [1, 2, 3]
        server.start()
        assert "was cut off" in server.told()
        assert "3 of 12 done" in server.told()
        page.wait_for_timeout(_SETTLED)
        press(page, "!")  # the same page goes on, with the score that was chosen
        expect(page.locator("#rated")).to_have_attribute("data-done", "4")
        assert [each.final for each in ratings(server)] == [1, 2, 3, 4]


def test_hostile_answers_are_text(browser: Browser, tmp_path: Path) -> None:
    logs = shown_logs(tmp_path / "logs", {"1": (HOSTILE, HOSTILE, f"# {HOSTILE}")})
    with (
        rating(tmp_path, "--annotator", "me", "--reference", "--final-only", logs=logs) as server,
        visiting(browser, server) as (page, watch),
    ):
        for done in (1, 2):
            expect(page.locator("body")).to_contain_text("alert(1)")
            inside = page.locator(".text")
            for forbidden in ("script", "img", "a", "iframe", "svg", "link", "meta", "style", "form", "button"):
                expect(inside.locator(forbidden)).to_have_count(0)
            assert page.evaluate("window.ran") is None
            rate(page, "1!", done)
        assert watch.problems == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_everything_without_scrolling_sideways(browser: Browser, tmp_path: Path, language: str) -> None:
    wide = "word" * 200
    logs = shown_logs(tmp_path / "logs", {"wide": (wide, f"```\n{wide}\n```", "| a |" * 40 + "\n" + "|--|" * 40)})
    options = ("--annotator", "me", "--language", language, "--reference")
    with rating(tmp_path, *options, logs=logs) as server, visiting(browser, server, **PHONE) as (page, watch):
        for done in (1, 2):
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            for scores in page.locator(".scale").all():
                for place, label in enumerate(scores.locator("label").all()):
                    box = label.bounding_box()
                    assert box is not None
                    assert box["width"] >= 24
                    assert box["height"] >= 36
                    if place == 4 + done:
                        label.tap()
            page.wait_for_timeout(_SETTLED)
            page.locator("[data-save]").tap()
            expect(page.locator("#rated")).to_have_attribute("data-done", str(done))
        page.goto(f"{server.address}/report?language={language}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert [set(each.criteria.values()) | {each.final} for each in ratings(server)] == [{6}, {7}]
        assert watch.problems == []


def test_two_people_at_once_get_different_answers(browser: Browser, tmp_path: Path) -> None:
    with (
        rating(tmp_path, "--final-only") as server,
        visiting(browser, server) as (one, watch),
        visiting(browser, server) as (two, _),
    ):
        for page, name in ((one, "Ann"), (two, "小明")):
            page.get_by_label("Your name").fill(name)
            page.get_by_role("button", name="Start").click()
            expect(page.get_by_role("group", name="Final Score")).to_be_visible()
        for done in (1, 2):
            rate(one, "3!", done)
            rate(two, "8!", done)
        found = ratings(server)
        assert len({each.answer_id for each in found}) == len(found) == 4
        one.get_by_role("link", name="Agreement").click()
        expect(one.get_by_role("rowheader")).to_have_text(["Ann", "小明"])
        one.get_by_role("link", name="Back to rating").click()
        expect(one.locator("#rated")).to_have_attribute("data-done", "2")
        assert watch.problems == []


_TEXTS = (
    "h1, summary, .progress span, .card h2, .note, .bands dt, .bands dd, legend, .definition, .scale span, "
    ".bar .keys, [data-save], nav a, nav .voter"
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser: Browser, shown: Server, scheme: str) -> None:
    """WCAG AA: 4.5 to 1 for text on what is behind it."""
    with visiting(browser, shown, "/rate/mei", **LAPTOP, color_scheme=scheme) as (page, _):
        press(page, "7")
        for selector in (*_TEXTS.split(", "), "input:checked + span", "fieldset.active .definition"):
            assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector


@pytest.mark.parametrize(
    ("name", "options", "language"),
    [
        ("rate_laptop", {**LAPTOP, "color_scheme": "light"}, "en"),
        ("rate_laptop_dark", {**LAPTOP, "color_scheme": "dark"}, "zh"),
        ("rate_phone_zh", {**PHONE, "color_scheme": "dark"}, "zh"),
    ],
)
def test_pictures(browser: Browser, shown: Server, name: str, options: dict[str, Any], language: str) -> None:
    with visiting(browser, shown, f"/rate/mei?language={language}", **options) as (page, watch):
        page.locator("details.guide summary").click()
        press(page, "78")
        page.wait_for_timeout(300)
        directory = os.environ.get("URS_INSPECT_SCREENSHOTS")
        picture = page.screenshot(path=f"{directory}/{name}.png" if directory else None)
        assert len(picture) > 20_000
        assert watch.problems == []
