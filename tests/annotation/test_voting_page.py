"""The voting page in a real browser: votes, hostile answers, crashes, phones.

With URS_INSPECT_SCREENSHOTS set to a directory, the pictures of the documentation are written there.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.annotation.browsing import CONTRAST, LAPTOP, PHONE, Server, serving, visiting
from tests.annotation.samples import ballots, shown_ballots
from urs_inspect.annotation.votes import Vote
from urs_inspect.discrepancy.ballots import Ballot

pytestmark = pytest.mark.browser

_SETTLED = 400  # ms after which the page takes the next vote

HOSTILE = (
    "<script>window.ran = 1; alert(1)</script>\n\n<img src=http://evil.test/a onerror=alert(2)>\n\n"
    "![x](http://evil.test/b.png) ![y](data:image/svg+xml,<svg onload=alert(3)>)\n\n"
    "[click](javascript:alert(4)) [data](data:text/html,<script>alert(5)</script>) [out](http://evil.test/c)\n\n"
    "</script><script>window.ran = 2</script> <svg onload=alert(6)> <iframe src=http://evil.test/d></iframe>\n\n"
    '<link rel=prefetch href=http://evil.test/e> <meta http-equiv=refresh content="0;url=http://evil.test/f">\n\n'
    "<style>@import url(http://evil.test/g)</style> <form action=http://evil.test/h><button>1</button></form>\n\n"
    '| a |\n|--:|\n| <details ontoggle=alert(7) open> |\n\n```"><script>alert(8)</script>\n</code><b>x\n```\n'
    "{{7*7}} {% raw %} ${alert(9)} </div></main>"
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that several tests share, each as voters of its own."""
    arguments = [part for name in ("reader", "mei", "Mei") for part in ("--annotator", name)]
    with serving(tmp_path_factory.mktemp("shown"), shown_ballots(), *arguments) as server:
        yield server


def press(page: Page, key: str, done: int) -> None:
    """Press a key once the page takes it, and wait until so many are done."""
    page.wait_for_load_state()  # its script runs before; the address changes earlier than that
    page.wait_for_timeout(_SETTLED)
    page.keyboard.press(key)
    expect(page.locator("#pair")).to_have_attribute("data-done", str(done))


def test_hostile_answers_are_text(browser: Browser, tmp_path: Path) -> None:
    made = (
        Ballot.between("1", HOSTILE, {"a": HOSTILE, "b": f"# {HOSTILE}"}, reference=HOSTILE, language='en"><script>'),
        Ballot.between("2", "</script>", {"a": "</script><script>alert(1)</script>", "b": HOSTILE}),
    )
    with serving(tmp_path, made, "--annotator", "me") as server, visiting(browser, server) as (page, watch):
        for done in (1, 2):  # once as a page, once as a part that the script puts in
            if done == 1:
                page.get_by_text("Reference answer").click()
            expect(page.locator("body")).to_contain_text("alert(1)")
            inside = page.locator(".text")
            for forbidden in ("script", "img", "a", "iframe", "svg", "link", "meta", "style", "form", "button"):
                expect(inside.locator(forbidden)).to_have_count(0)
            for link in inside.locator(".link").all():
                link.click()
            assert page.evaluate("window.ran") is None
            press(page, "1", done)
        assert page.url.startswith(server.address)
        assert watch.problems == []
        # The watch sees what the policy stops, or this test could not fail.
        page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://evil.test/x'}))")
        page.wait_for_timeout(200)
        assert any("Content Security Policy" in problem for problem in watch.problems)


def test_keys_buttons_and_undo(browser: Browser, tmp_path: Path) -> None:
    made = ballots(6)
    with serving(tmp_path, made, "--annotator", "me") as server, visiting(browser, server) as (page, watch):
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        for done, key in enumerate("1230", start=1):
            press(page, key, done)
        page.wait_for_timeout(_SETTLED)
        page.get_by_role("button", name="B is better").click()
        expect(page.get_by_role("status")).to_have_text("Saved. 5 of 6 done.")
        found = {vote.ballot: vote for vote in server.votes()}
        sides = [_side(found[each.id]) for each in made[:5]]
        assert sides == ["left", "tie", "right", "cannot_tell", "right"]
        assert all(0 < vote.seconds < 60 for vote in found.values())

        press(page, "u", 4)
        expect(page.locator("#pair")).to_have_attribute("data-ballot", made[4].id)
        press(page, "1", 5)
        press(page, "2", 6)
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        press(page, "U", 5)
        expect(page.locator("#pair")).to_have_attribute("data-ballot", made[5].id)
        press(page, "3", 6)
        found = {vote.ballot: vote for vote in server.votes()}
        assert [_side(found[each.id]) for each in made[4:]] == ["left", "right"]
        assert watch.problems == []


def _side(vote: Vote) -> str:
    return vote.choice if vote.choice in {"tie", "cannot_tell"} else "left" if vote.choice == vote.left else "right"


def test_a_double_click_or_a_held_key_is_one_vote(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, ballots(4), "--annotator", "me") as server, visiting(browser, server) as (page, _):
        page.wait_for_timeout(_SETTLED)
        page.get_by_role("button", name="Equal").dblclick()
        page.wait_for_timeout(_SETTLED)
        page.keyboard.down("1")
        for _repeat in range(5):
            page.keyboard.down("1")
            page.wait_for_timeout(150)
        page.keyboard.up("1")
        expect(page.locator("#pair")).to_have_attribute("data-done", "2")
        for shortcut in ("Control+1", "Alt+3", "Meta+u"):
            page.keyboard.press(shortcut)
        page.wait_for_timeout(_SETTLED)
        assert len(server.votes()) == 2


def test_killed_between_ten_pairs_and_finished(browser: Browser, tmp_path: Path) -> None:
    made = ballots(10)
    with serving(tmp_path, made, "--annotator", "me") as server, visiting(browser, server) as (page, _):
        keys = "1231231230"
        for done, key in enumerate(keys[:5], start=1):
            press(page, key, done)
        server.kill()
        with (tmp_path / "votes" / "me.jsonl").open("ab") as file:
            file.write(b'{"ballot": "half a li')  # as if the machine had gone down in the middle of a line

        page.wait_for_timeout(_SETTLED)
        page.keyboard.press(keys[5])
        expect(page.get_by_role("alert")).to_contain_text("Not saved: the server does not answer")
        expect(page.locator("#pair")).to_have_attribute("data-done", "5")

        server.start()
        assert "was cut off" in server.told()
        assert "5 of 10 done" in server.told()
        press(page, keys[5], 6)  # the same page goes on
        expect(page.get_by_role("alert")).to_have_text("")
        server.kill()
        server.start()
        page.goto(server.address)  # and so does a new one
        expect(page.locator("#pair")).to_have_attribute("data-done", "6")
        for done, key in enumerate(keys[6:], start=7):
            press(page, key, done)
        expect(page.get_by_role("heading", name="All done")).to_be_visible()

        meant = {"1": "left", "2": "tie", "3": "right", "0": "cannot_tell"}
        votes = {vote.ballot: _side(vote) for vote in server.votes()}
        assert votes == {each.id: meant[key] for each, key in zip(made, keys, strict=True)}


def test_two_people_vote_at_once(browser: Browser, tmp_path: Path) -> None:
    made = ballots(5)
    with (
        serving(tmp_path, made) as server,
        visiting(browser, server) as (one, watch),
        visiting(browser, server) as (two, _),
    ):
        one.get_by_label("Your name").fill("../etc")
        one.get_by_role("button", name="Start").click()
        expect(one.get_by_role("alert")).to_contain_text("allowed are 1 to 40 letters")
        for page, name in ((one, "Ann B."), (two, "小明")):
            page.get_by_label("Your name").fill(name.strip("."))
            page.get_by_role("button", name="Start").click()
            expect(page.get_by_text(f"Voting as {name.strip('.')}")).to_be_visible()
        for done in range(1, 6):
            press(one, "1", done)
            press(two, "1", done)
        votes = server.votes()
        assert {vote.annotator for vote in votes} == {"Ann B", "小明"}
        assert len(votes) == 10
        sides = {name: [vote.left for vote in votes if vote.annotator == name] for name in ("Ann B", "小明")}
        assert sides["Ann B"] != sides["小明"]  # each has sides of their own
        one.get_by_role("link", name="Agreement").click()
        expect(one.get_by_role("rowheader")).to_have_text(["Ann B", "小明"])
        one.get_by_role("link", name="Back to voting").click()
        expect(one.get_by_role("heading", name="All done")).to_be_visible()
        # The refused name is the one failed request that the console tells of.
        assert [problem for problem in watch.problems if "409" not in problem] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_everything_without_scrolling_sideways(browser: Browser, tmp_path: Path, language: str) -> None:
    wide = "word" * 200
    made = (
        *shown_ballots()[:2],
        Ballot.between(
            "wide", wide, {"a": f"```\n{wide}\n```", "b": "| a |" * 40 + "\n" + "|--|" * 40 + f"\n| {wide} |"}
        ),
    )
    options = ("--annotator", "me", "--language", language)
    with serving(tmp_path, made, *options) as server, visiting(browser, server, **PHONE) as (page, watch):
        for done in range(1, 4):
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            for button in page.locator(".bar button").all():
                box = button.bounding_box()
                assert box is not None
                assert box["height"] >= 40
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= 390
                assert box["y"] + box["height"] <= 844
            page.wait_for_timeout(_SETTLED)
            page.locator("[data-choice=tie]").tap()
            expect(page.locator("#pair")).to_have_attribute("data-done", str(done))
        page.goto(f"{server.address}/report?language={language}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert watch.problems == []


def test_the_last_words_are_not_below_the_buttons(browser: Browser, shown: Server) -> None:
    for options in (LAPTOP, PHONE):
        with visiting(browser, shown, "/vote/mei", **options) as (page, _):
            page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
            answer, bar = page.locator(".answer").last.bounding_box(), page.locator(".bar").bounding_box()
            assert answer is not None
            assert bar is not None
            assert answer["y"] + answer["height"] <= bar["y"]


def test_a_token_is_asked_for_once(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "a token & more of it"
    monkeypatch.setenv("URS_INSPECT_TOKEN", token)
    with serving(tmp_path, ballots(2), "--annotator", "me") as server:
        with visiting(browser, server) as (page, _):
            page.get_by_label("Token").fill("wrong")
            page.get_by_role("button", name="Continue").click()
            expect(page.get_by_role("alert")).to_have_text("This token is not right.")
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Continue").click()
            expect(page).to_have_url(f"{server.address}/vote/me?language=en")
            press(page, "1", 1)
        with visiting(browser, server) as (page, _):
            # A link on a page of another site, with which the browser does not send a strict cookie at first.
            page.route(
                "http://mail.test/",
                lambda route: route.fulfill(
                    body=f'<a href="{_link(server, token)}">vote</a>', content_type="text/html"
                ),
            )
            page.goto("http://mail.test/")
            page.get_by_text("vote").click()
            expect(page).to_have_url(f"{server.address}/vote/me?language=en")
            press(page, "2", 2)
    assert [_side(vote) for vote in server.votes()] == ["left", "tie"]


def _link(server: Server, token: str) -> str:
    [found] = re.findall(r"http://\S+", server.told())
    assert quote(token) in found
    return str(found)


def test_it_can_be_used_with_the_keyboard_and_read_aloud(browser: Browser, shown: Server) -> None:
    with visiting(browser, shown, "/vote/reader") as (page, _):
        for heading in ("Question", "Answer A", "Answer B"):
            expect(page.get_by_role("region", name=heading)).to_be_visible()
        expect(page.get_by_role("progressbar", name="0 of 20 done")).to_be_visible()
        expect(page.get_by_role("group", name="Your vote")).to_be_visible()
        page.get_by_role("button", name="Equal").focus()
        page.wait_for_timeout(_SETTLED)
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_have_text("Saved. 1 of 20 done.")
        assert page.evaluate("document.activeElement.id") == "start"  # the reading goes on at the new question
        expect(page.locator("details.guide")).not_to_have_attribute("open", re.compile(".*"))


_TEXTS = (
    "h1, summary, .guide dd, .progress span, .card h2, .text p, pre code, .address, .link, .bar .main button, "
    ".bar .quiet:not(:disabled), nav a, nav .voter"
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser: Browser, shown: Server, scheme: str) -> None:
    """WCAG AA: 4.5 to 1 for text on what is behind it."""
    with visiting(browser, shown, "/vote/mei", **LAPTOP, color_scheme=scheme) as (page, _):
        for selector in _TEXTS.split(", "):
            assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector


@pytest.mark.parametrize(
    ("name", "options", "language"),
    [
        ("annotate_laptop", {**LAPTOP, "color_scheme": "light"}, "en"),
        ("annotate_laptop_dark", {**LAPTOP, "color_scheme": "dark"}, "en"),
        ("annotate_laptop_zh", {**LAPTOP, "color_scheme": "light"}, "zh"),
        ("annotate_phone", {**PHONE, "color_scheme": "light"}, "en"),
        ("annotate_phone_zh", {**PHONE, "color_scheme": "dark"}, "zh"),
    ],
)
def test_pictures(browser: Browser, shown: Server, name: str, options: dict[str, Any], language: str) -> None:
    path = f"/vote/{'mei' if language == 'en' else 'Mei'}?language={language}"
    with visiting(browser, shown, path, **options) as (page, watch):
        if language == "en":
            page.locator("details.guide summary").click()
        elif page.locator("#pair").get_attribute("data-done") == "0":
            press(page, "1", 1)
            page.reload()  # without the message
        directory = os.environ.get("URS_INSPECT_SCREENSHOTS")
        picture = page.screenshot(path=f"{directory}/{name}.png" if directory else None)
        assert len(picture) > 20_000
        assert watch.problems == []
