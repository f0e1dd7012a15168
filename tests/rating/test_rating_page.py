"""The rating page in a real browser: keys, undo, crashes, phones, Chinese.

With URS_INSPECT_SCREENSHOTS set to a directory, the pictures of the documentation are written
there.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.annotation.conftest import (
    HOSTILE,
    LAPTOP,
    PHONE,
    SETTLED,
    WIDE,
    Server,
    expect_contrast,
    expect_inert,
    expect_no_scrolling_sideways,
    running,
    take_picture,
    visiting,
)
from tests.annotation.samples import shown_logs
from urs_inspect.annotation._ratings import Rating, read_ratings

pytestmark = pytest.mark.browser

_SHARED = ("--raters", "9")  # each test rates under names of its own


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("shown")
    people = [part for name in ("me", "reader", "mei") for part in ("--annotator", name)]
    with _serving(directory, shown_logs(directory / "logs"), *_SHARED, *people) as server:
        yield server


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Answers that a page could be broken with."""
    directory = tmp_path_factory.mktemp("odd")
    texts = {
        "hostile": (HOSTILE, HOSTILE, f"# {HOSTILE}"),
        "wide": (WIDE, f"```\n{WIDE}\n```", "| a |" * 40 + "\n" + "|--|" * 40),
    }
    people = [part for name in ("en", "zh") for part in ("--annotator", name)]
    with _serving(directory, shown_logs(directory / "logs", texts), *_SHARED, *people) as server:
        yield server


def _serving(directory: Path, logs: Path, *options: str) -> Any:
    return running(directory, str(logs), "--votes", str(directory / "ratings"), *options)


def ratings(server: Server, *raters: str) -> list[Rating]:
    reading = read_ratings([server.directory / "ratings"])
    assert reading.errors == ()
    return [rating for rating in reading.ratings if not raters or rating.annotator in raters]


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(
            {"!": "Enter", "^": "ArrowUp", "v": "ArrowDown", ">": "ArrowRight"}.get(key, key)
        )


def expect_done(page: Page, done: int) -> None:
    expect(page.locator("#rated")).to_have_attribute("data-done", str(done))


def rate(page: Page, keys: str, done: int) -> None:
    """Press keys once the page takes them, and wait until so many are done."""
    page.wait_for_load_state()  # its script runs before; the address changes earlier than that
    page.wait_for_timeout(SETTLED)
    press(page, keys)
    expect_done(page, done)


def test_three_answers_with_keys_undo_and_reload(browser: Browser, shown: Server) -> None:
    with visiting(browser, shown, "/rate/me") as (page, watch):
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        rate(page, "123450!", 1)  # five criteria and the final score, 10
        rate(page, "777777^^3!", 2)  # back to the fourth criterion
        rate(page, "55555!", 2)
        expect(page.get_by_role("alert")).to_have_text(
            "Not saved yet. Without a score: Final Score"
        )
        press(page, "9!")
        expect_done(page, 3)
        given = ratings(shown, "me")
        assert [(list(rating.criteria.values()), rating.final) for rating in given] == [
            ([1, 2, 3, 4, 5], 10),
            ([7, 7, 7, 3, 7], 7),
            ([5, 5, 5, 5, 5], 9),
        ]
        assert all(0 < rating.seconds < 60 for rating in given)

        press(page, "uu")  # at once; the second press of a double one takes nothing more back
        expect_done(page, 2)
        expect(page.locator("#rated")).to_have_attribute("data-answer", given[2].answer_id)
        expect(
            page.get_by_role("group", name="Final Score").get_by_role("radio", checked=True)
        ).to_have_value("9")
        page.reload()
        expect(page.locator("#rated")).to_have_attribute("data-answer", given[2].answer_id)
        page.get_by_role("group", name="Final Score").get_by_role("radio", name="4").click()
        page.wait_for_timeout(SETTLED)
        page.get_by_role("button", name="Save").click()
        expect_done(page, 3)
        assert [rating.final for rating in ratings(shown, "me")] == [10, 7, 4]
        assert watch.problems == []


def test_the_page_can_be_used_with_the_keyboard_and_read_aloud(
    browser: Browser, shown: Server
) -> None:
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
        expect(page.locator("details.bands")).not_to_have_attribute(
            "open", ""
        )  # stays as the rater left it
        # The reading goes on at the new question.
        expect(page.locator("#start")).to_be_focused()


def test_two_people_get_different_answers_and_go_on_after_a_crash(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        _serving(tmp_path, shown_logs(tmp_path / "logs"), "--hide=criteria") as server,
        visiting(browser, server) as (page, watch),
        visiting(browser, server) as (other, _),
    ):
        for visitor, name in ((page, "Ann"), (other, "小明")):
            visitor.get_by_label("Your name").fill(name)
            visitor.get_by_role("button", name="Start").click()
            expect(visitor.get_by_role("group", name="Final Score")).to_be_visible()
        for done in (1, 2):
            rate(page, "3!", done)
            rate(other, "8!", done)
        given = ratings(server)
        assert len({rating.answer_id for rating in given}) == len(given) == 4
        page.get_by_role("link", name="Agreement").click()
        expect(page.get_by_role("rowheader")).to_have_text(["Ann", "小明"])
        page.get_by_role("link", name="Back to rating").click()
        expect_done(page, 2)
        assert watch.problems == []

        page.wait_for_load_state()  # with its script, which the server cannot send once it is dead
        server.kill()  # SIGKILL
        with (tmp_path / "ratings" / "Ann.jsonl").open("ab") as file:
            file.write(
                b'{"id": "half a li'
            )  # as if the machine had gone down in the middle of a line
        page.wait_for_timeout(SETTLED)
        press(page, "4!")
        expect(page.get_by_role("alert")).to_contain_text("Not saved: the server does not answer")
        server.arguments += ("--annotator", "Ann")
        server.start()
        assert "was cut off" in server.told()
        assert "Ann.jsonl: 2 of 10 done" in server.told()
        page.wait_for_timeout(SETTLED)
        press(page, "!")  # the same page goes on, with the score that was chosen
        expect_done(page, 3)
        assert [rating.final for rating in ratings(server) if rating.annotator == "Ann"] == [
            3,
            3,
            4,
        ]


def test_the_reference_stands_beside_the_scale_that_speaks_of_it(
    browser: Browser, shown: Server
) -> None:
    light = {**LAPTOP, "color_scheme": "light"}
    with visiting(browser, shown, "/rate/reader", **light) as (page, watch):
        expect_reference(page, True)
        assert watch.problems == []


def expect_reference(page: Page, shown: bool) -> None:
    reference = page.get_by_text("The reference answer.", exact=True)
    spoken_of = page.locator(".bands dd").filter(has_text="reference answer")
    expect(reference).to_be_visible() if shown else expect(reference).to_have_count(0)
    expect(spoken_of).to_have_count(2 if shown else 0)


def test_who_cannot_tell_goes_on_without_a_score_and_without_a_reference(
    browser: Browser, tmp_path: Path
) -> None:
    options = ("--annotator", "me", "--language", "en", "--hide=reference")
    with (
        _serving(tmp_path, shown_logs(tmp_path / "logs"), *options) as server,
        visiting(browser, server, "/rate/me", **LAPTOP, color_scheme="light") as (page, watch),
    ):
        expect(page.locator("#rated")).to_have_attribute(
            "data-total", "10"
        )  # without the two to a Chinese question
        expect_reference(page, False)
        page.wait_for_timeout(SETTLED)
        page.get_by_role("button", name="Cannot tell").click()
        expect_done(page, 1)
        rate(page, "c", 2)
        take_picture(page, "rate_cannot_tell")
        rate(page, "666666!", 3)
        page.get_by_role("link", name="Agreement").click()
        cells = page.locator("tbody td")
        expect(cells.nth(0)).to_have_text("1")
        expect(cells.nth(5)).to_have_text("2")
        page.get_by_role("link", name="Back to rating").click()
        rate(page, "u", 2)
        assert watch.problems == []
    reading = read_ratings([tmp_path / "ratings"])
    assert (len(reading.ratings), len(reading.cannot_tell), reading.errors) == (0, 2, ())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_odd_answers_are_text_and_a_phone_shows_them_without_scrolling_sideways(
    browser: Browser, odd: Server, language: str
) -> None:
    with visiting(browser, odd, f"/rate/{language}?language={language}", **PHONE) as (page, watch):
        hostile = 0
        for done in range(1, 5):
            hostile += "alert(1)" in page.locator(".text").first.inner_text()
            expect_inert(page)
            expect_no_scrolling_sideways(page)
            for scores in page.locator(".scale").all():
                labels = scores.locator("label").all()
                boxes: list[Any] = [label.bounding_box() for label in labels] if done == 1 else []
                assert all(box["width"] >= 24 and box["height"] >= 36 for box in boxes)
                labels[4 + done].tap()
            page.wait_for_timeout(SETTLED)
            page.locator("[data-save]").tap()
            expect_done(page, done)
        assert hostile == 2
        page.goto(f"{odd.address}/report?language={language}")
        expect_no_scrolling_sideways(page)
        given = [
            set(rating.criteria.values()) | {rating.final} for rating in ratings(odd, language)
        ]
        assert given == [{6}, {7}, {8}, {9}]
        assert watch.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser: Browser, shown: Server, scheme: str) -> None:
    with visiting(browser, shown, "/rate/mei", **LAPTOP, color_scheme=scheme) as (page, _):
        press(page, "7")
        expect_contrast(
            page,
            "h1, summary, .progress span, .card h2, .note, .bands dt, .bands dd, legend,"
            " .definition, .scale span, .bar .keys, [data-save], nav a, nav .voter, input:checked +"
            " span, fieldset.active .definition",
        )


@pytest.mark.parametrize(
    ("name", "options", "language"),
    [
        ("rate_laptop", {**LAPTOP, "color_scheme": "light"}, "en"),
        ("rate_phone_zh", {**PHONE, "color_scheme": "dark"}, "zh"),
    ],
)
def test_pictures(
    browser: Browser, shown: Server, name: str, options: dict[str, Any], language: str
) -> None:
    with visiting(browser, shown, f"/rate/mei?language={language}", **options) as (page, watch):
        page.locator("details.guide summary").click()
        press(page, "78")
        page.wait_for_timeout(300)
        take_picture(page, name)
        assert watch.problems == []
