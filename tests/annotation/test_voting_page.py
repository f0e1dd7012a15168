"""The voting page in a real browser: votes, hostile answers, crashes, phones.

With URS_INSPECT_SCREENSHOTS set to a directory, the pictures of the documentation are written
there.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
    serving,
    take_picture,
    visiting,
)
from tests.annotation.samples import ballots, shown_ballots
from urs_inspect.annotation._votes import Vote
from urs_inspect.discrepancy._ballots import Ballot

pytestmark = pytest.mark.browser

HOSTILE_BALLOTS = (
    Ballot.between(
        "1",
        HOSTILE,
        {"a": HOSTILE, "b": f"# {HOSTILE}"},
        reference=HOSTILE,
        language='en"><script>',
    ),
    Ballot.between("2", "</script>", {"a": "</script><script>alert(1)</script>", "b": HOSTILE}),
)
WIDE_BALLOT = Ballot.between(
    "wide",
    WIDE,
    {"a": f"```\n{WIDE}\n```", "b": "| a |" * 40 + "\n" + "|--|" * 40 + f"\n| {WIDE} |"},
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that several tests share, each as voters of its own."""
    with serving(
        tmp_path_factory.mktemp("shown"), shown_ballots(), *named("reader", "mei", "Mei")
    ) as server:
        yield server


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Ballots that a page could be broken with."""
    made = (*HOSTILE_BALLOTS, *shown_ballots()[:2], WIDE_BALLOT)
    with serving(tmp_path_factory.mktemp("odd"), made, *named("me", "en", "zh")) as server:
        yield server


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Plain ballots, on which anybody may vote."""
    with serving(tmp_path_factory.mktemp("six"), ballots(6)) as server:
        yield server


def named(*people: str) -> list[str]:
    return [part for name in people for part in ("--annotator", name)]


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Start").click()


def press(page: Page, key: str, done: int) -> None:
    """Press a key once the page takes it, and wait until so many are done."""
    page.wait_for_load_state()  # its script runs before; the address changes earlier than that
    page.wait_for_timeout(SETTLED)
    page.keyboard.press(key)
    expect(page.locator("#pair")).to_have_attribute("data-done", str(done))


def side(vote: Vote) -> str:
    return (
        vote.choice
        if vote.choice in {"tie", "cannot_tell"}
        else "left"
        if vote.choice == vote.left
        else "right"
    )


def test_hostile_answers_are_text(browser: Browser, odd: Server) -> None:
    with visiting(browser, odd, "/vote/me?language=en") as (page, watch):
        for done in (1, 2):  # once as a page, once as a part that the script puts in
            if done == 1:
                page.get_by_text("Reference answer").click()
            expect(page.locator("body")).to_contain_text("alert(1)")
            expect_inert(page)
            for link in page.locator(".text .link").all():
                link.click()
            assert page.evaluate("window.ran") is None
            press(page, "1", done)
        assert page.url.startswith(odd.address)
        assert watch.problems == []
        # The watch sees what the policy stops, or this test could not fail.
        page.evaluate(
            "document.body.append(Object.assign(new Image(), {src: 'http://evil.test/x'}))"
        )
        page.wait_for_timeout(200)
        assert any("Content Security Policy" in problem for problem in watch.problems)


def test_keys_buttons_and_undo(browser: Browser, six: Server) -> None:
    made = ballots(6)
    with visiting(browser, six) as (page, watch):
        sign_in(page, "keys")
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        for done, key in enumerate("1230", start=1):
            press(page, key, done)
        page.wait_for_timeout(SETTLED)
        page.get_by_role("button", name="B is better").click()
        expect(page.get_by_role("status")).to_have_text("Saved. 5 of 6 done.")
        found = {vote.ballot: vote for vote in six.votes("keys")}
        assert [side(found[each.id]) for each in made[:5]] == [
            "left",
            "tie",
            "right",
            "cannot_tell",
            "right",
        ]
        assert all(0 < vote.seconds < 60 for vote in found.values())

        press(page, "u", 4)
        expect(page.locator("#pair")).to_have_attribute("data-ballot", made[4].id)
        press(page, "1", 5)
        press(page, "2", 6)
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        press(page, "U", 5)
        expect(page.locator("#pair")).to_have_attribute("data-ballot", made[5].id)
        press(page, "3", 6)
        found = {vote.ballot: vote for vote in six.votes("keys")}
        assert [side(found[each.id]) for each in made[4:]] == ["left", "right"]
        assert watch.problems == []


def test_a_double_click_or_a_held_key_is_one_vote(browser: Browser, six: Server) -> None:
    with visiting(browser, six) as (page, _):
        sign_in(page, "twice")
        expect(page.locator("#pair")).to_be_visible()
        page.wait_for_load_state()
        page.wait_for_timeout(SETTLED)
        page.get_by_role("button", name="Equal").dblclick()
        expect(page.locator("#pair")).to_have_attribute("data-done", "1")
        page.wait_for_timeout(SETTLED)
        page.keyboard.down("1")
        for _repeat in range(5):
            page.keyboard.down("1")
            page.wait_for_timeout(150)
        page.keyboard.up("1")
        expect(page.locator("#pair")).to_have_attribute("data-done", "2")
        for shortcut in ("Control+1", "Alt+3", "Meta+u"):
            page.keyboard.press(shortcut)
        page.wait_for_timeout(SETTLED)
        assert len(six.votes("twice")) == 2


def test_two_people_vote_at_once(browser: Browser, six: Server) -> None:
    with visiting(browser, six) as (one, watch), visiting(browser, six) as (two, _):
        sign_in(one, "../etc")
        expect(one.get_by_role("alert")).to_contain_text("allowed are 1 to 40 letters")
        for page, name in ((one, "Ann B"), (two, "小明")):
            sign_in(page, name)
            expect(page.get_by_text(f"Voting as {name}")).to_be_visible()
        for done in range(1, 7):
            one.wait_for_load_state()
            press(two, "1", done)  # meanwhile the other page takes a key as well
            one.keyboard.press("1")
            expect(one.locator("#pair")).to_have_attribute("data-done", str(done))
        sides = [[vote.left for vote in six.votes(name)] for name in ("Ann B", "小明")]
        assert [len(each) for each in sides] == [6, 6]
        assert sides[0] != sides[1]  # each has sides of their own
        one.get_by_role("link", name="Agreement").click()
        for name in ("Ann B", "小明"):
            expect(one.get_by_role("rowheader", name=name)).to_be_visible()
        one.get_by_role("link", name="Back to voting").click()
        expect(one.get_by_role("heading", name="All done")).to_be_visible()
        # The refused name is the one failed request that the console tells of.
        assert [problem for problem in watch.problems if "409" not in problem] == []


def test_killed_between_six_pairs_and_finished(browser: Browser, tmp_path: Path) -> None:
    made = ballots(6)
    with serving(tmp_path, made, *named("me")) as server, visiting(browser, server) as (page, _):
        keys = "123130"
        for done, key in enumerate(keys[:3], start=1):
            press(page, key, done)
        server.kill()  # SIGKILL
        with (tmp_path / "votes" / "me.jsonl").open("ab") as file:
            file.write(
                b'{"ballot": "half a li'
            )  # as if the machine had gone down in the middle of a line

        page.wait_for_timeout(SETTLED)
        page.keyboard.press(keys[3])
        expect(page.get_by_role("alert")).to_contain_text("Not saved: the server does not answer")
        expect(page.locator("#pair")).to_have_attribute("data-done", "3")

        server.start()
        assert "was cut off" in server.told()
        assert "3 of 6 done" in server.told()
        press(page, keys[3], 4)  # the same page goes on
        expect(page.get_by_role("alert")).to_have_text("")
        server.kill()
        server.start()
        page.goto(server.address)  # and so does a new one
        expect(page.locator("#pair")).to_have_attribute("data-done", "4")
        for done, key in enumerate(keys[4:], start=5):
            press(page, key, done)
        expect(page.get_by_role("heading", name="All done")).to_be_visible()

        meant = {"1": "left", "2": "tie", "3": "right", "0": "cannot_tell"}
        votes = {vote.ballot: side(vote) for vote in server.votes("me")}
        assert votes == {each.id: meant[key] for each, key in zip(made, keys, strict=True)}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_everything_without_scrolling_sideways(
    browser: Browser, odd: Server, language: str
) -> None:
    with visiting(browser, odd, f"/vote/{language}?language={language}", **PHONE) as (page, watch):
        expect(page.locator("html")).to_have_attribute("lang", language)
        for done in range(1, 6):
            expect_no_scrolling_sideways(page)
            for button in page.locator(".bar button").all():
                box = button.bounding_box()
                assert box is not None
                assert box["height"] >= 40
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= 390
                assert box["y"] + box["height"] <= 844
            page.wait_for_timeout(SETTLED)
            page.locator("[data-choice=tie]").tap()
            expect(page.locator("#pair")).to_have_attribute("data-done", str(done))
        page.goto(f"{odd.address}/report?language={language}")
        expect_no_scrolling_sideways(page)
        assert watch.problems == []


def test_the_last_words_are_not_below_the_buttons(browser: Browser, shown: Server) -> None:
    for options in (LAPTOP, PHONE):
        with visiting(browser, shown, "/vote/mei", **options) as (page, _):
            page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
            answer, bar = (
                page.locator(".answer").last.bounding_box(),
                page.locator(".bar").bounding_box(),
            )
            assert answer is not None
            assert bar is not None
            assert answer["y"] + answer["height"] <= bar["y"]


def test_a_token_is_asked_for_once(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "a token & more of it"
    monkeypatch.setenv("URS_INSPECT_TOKEN", token)
    with serving(tmp_path, ballots(2), *named("me")) as server:
        with visiting(browser, server) as (page, _):
            page.get_by_label("Token").fill("wrong")
            page.get_by_role("button", name="Continue").click()
            expect(page.get_by_role("alert")).to_have_text("This token is not right.")
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Continue").click()
            expect(page).to_have_url(f"{server.address}/vote/me?language=en")
            press(page, "1", 1)
        [link] = re.findall(r"http://\S+", server.told())
        assert quote(token) in link
        with visiting(browser, server) as (page, _):
            # A link on a page of another site, with which the browser does not send a strict cookie
            # at first.
            body = f'<a href="{link}">vote</a>'
            page.route(
                "http://mail.test/",
                lambda route: route.fulfill(body=body, content_type="text/html"),
            )
            page.goto("http://mail.test/")
            page.get_by_text("vote").click()
            expect(page).to_have_url(f"{server.address}/vote/me?language=en")
            press(page, "2", 2)
    assert [side(vote) for vote in server.votes("me")] == ["left", "tie"]


def test_it_can_be_used_with_the_keyboard_and_read_aloud(browser: Browser, shown: Server) -> None:
    with visiting(browser, shown, "/vote/reader") as (page, _):
        for heading in ("Question", "Answer A", "Answer B"):
            expect(page.get_by_role("region", name=heading)).to_be_visible()
        expect(page.get_by_role("progressbar", name="0 of 20 done")).to_be_visible()
        expect(page.get_by_role("group", name="Your vote")).to_be_visible()
        page.get_by_role("button", name="Equal").focus()
        page.wait_for_timeout(SETTLED)
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_have_text("Saved. 1 of 20 done.")
        # The reading goes on at the new question.
        expect(page.locator("#start")).to_be_focused()
        expect(page.locator("details.guide")).not_to_have_attribute("open", re.compile(".*"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser: Browser, shown: Server, scheme: str) -> None:
    with visiting(browser, shown, "/vote/mei", **LAPTOP, color_scheme=scheme) as (page, _):
        expect_contrast(
            page,
            "h1, summary, .guide dd, .progress span, .card h2, .text p, pre code, .address, .link,"
            " .bar .main button, .bar .quiet:not(:disabled), nav a, nav .voter",
        )


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
def test_pictures(
    browser: Browser, shown: Server, name: str, options: dict[str, Any], language: str
) -> None:
    path = f"/vote/{'mei' if language == 'en' else 'Mei'}?language={language}"
    with visiting(browser, shown, path, **options) as (page, watch):
        if language == "en":
            page.locator("details.guide summary").click()
        elif page.locator("#pair").get_attribute("data-done") == "0":
            press(page, "1", 1)
            page.reload()  # without the message
        take_picture(page, name)
        assert watch.problems == []
