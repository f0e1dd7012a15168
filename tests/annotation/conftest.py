"""The server and the browser for the tests of the pages for votes and for ratings, shared by
both.
"""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect

from tests import processes
from tests.ballot_files import write_ballots
from tests.chromium import chromium
from urs_inspect.annotation._votes import Vote, read_votes
from urs_inspect.discrepancy._ballots import Ballot

LAPTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}


@pytest.fixture(scope="module")  # its event loop would be in the way of runs of other modules
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=15_000)
    with chromium() as found:
        yield found


@dataclass
class Server:
    """A running `urs-inspect annotate`, which can be killed and started again at the same
    address.
    """

    directory: Path
    arguments: tuple[str, ...]  # what is voted on or rated, and options
    port: int
    process: BaseProcess | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = ["urs-inspect", "annotate", *self.arguments, f"--address=127.0.0.1:{self.port}"]
        environment = {**os.environ, "NO_COLOR": "1"}
        self.process = processes.start(words, environment, self.directory / "told")
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self.process.is_alive(), self.told()
                assert time.monotonic() < deadline, "the page does not answer"
                time.sleep(0.1)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()

    def told(self) -> str:
        return (self.directory / "told").read_text("utf-8")

    def votes(self, *annotators: str) -> list[Vote]:
        reading = read_votes(sorted((self.directory / "votes").glob("*.jsonl")))
        assert reading.errors == ()
        return [vote for vote in reading.votes if vote.annotator in annotators]


@contextmanager
def serving(directory: Path, made: tuple[Ballot, ...], *arguments: str) -> Iterator[Server]:
    ballots = directory / "ballots.jsonl"
    write_ballots(made, ballots)
    with running(
        directory, str(ballots), "--votes", str(directory / "votes"), *arguments
    ) as server:
        yield server


@contextmanager
def running(directory: Path, *arguments: str) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server = Server(directory, arguments, probe.getsockname()[1])
    try:
        server.start()
        yield server
    finally:
        server.kill()


@dataclass
class Watch:
    """What a page did that it should not."""

    problems: list[str] = field(default_factory=list)

    def over(self, context: BrowserContext, address: str) -> None:
        context.on(
            "request", lambda request: self._note(not request.url.startswith(address), request.url)
        )
        context.on(
            "console",
            lambda message: self._note(message.type in {"error", "warning"}, message.text),
        )
        context.on("dialog", self._dismiss)
        context.on("weberror", lambda error: self._note(True, str(error.error)))
        context.on("page", lambda page: self._note(len(context.pages) > 1, f"a window: {page.url}"))

    def _dismiss(self, dialog: Dialog) -> None:
        self._note(True, "a dialog")
        dialog.dismiss()

    def _note(self, bad: bool, what: str) -> None:
        if bad:
            self.problems.append(what)


@contextmanager
def visiting(
    browser: Browser, server: Server, path: str = "", **options: Any
) -> Iterator[tuple[Page, Watch]]:
    """A page of a visitor of their own; whatever it does that it should not is collected."""
    context = browser.new_context(**(options or LAPTOP))
    context.set_default_timeout(15_000)
    watch = Watch()
    watch.over(context, server.address)
    page = context.new_page()
    page.goto(server.address + path)
    try:
        yield page, watch
    finally:
        context.close()


SETTLED = 400
"""Milliseconds after which a page takes the next vote or rating."""

HOSTILE = (
    "<script>window.ran = 1; alert(1)</script>\n\n<img src=http://evil.test/a"
    " onerror=alert(2)>\n\n![x](http://evil.test/b.png) ![y](data:image/svg+xml,<svg"
    " onload=alert(3)>)\n\n[click](javascript:alert(4))"
    " [data](data:text/html,<script>alert(5)</script>)"
    " [out](http://evil.test/c)\n\n</script><script>window.ran = 2</script> <svg onload=alert(6)>"
    " <iframe src=http://evil.test/d></iframe>\n\n<link rel=prefetch href=http://evil.test/e> <meta"
    ' http-equiv=refresh content="0;url=http://evil.test/f">\n\n<style>@import'
    " url(http://evil.test/g)</style> <form"
    " action=http://evil.test/h><button>1</button></form>\n\n| a |\n|--:|\n| <details"
    ' ontoggle=alert(7) open> |\n\n```"><script>alert(8)</script>\n</code><b>x\n```\n{{7*7}} {% raw'
    " %} ${alert(9)} </div></main>"
)
WIDE = "word" * 200


def expect_inert(page: Page) -> None:
    """Nothing of what people or models wrote is an element that runs, loads or links anything."""
    for forbidden in (
        "script",
        "img",
        "a",
        "iframe",
        "svg",
        "link",
        "meta",
        "style",
        "form",
        "button",
    ):
        expect(page.locator(".text").locator(forbidden)).to_have_count(0)
    assert page.evaluate("window.ran") is None


def expect_no_scrolling_sideways(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]


def expect_contrast(page: Page, selectors: str) -> None:
    """WCAG AA: 4.5 to 1 for text on what is behind it."""
    for selector in selectors.split(", "):
        assert page.locator(selector).first.evaluate(_CONTRAST) >= 4.5, selector


def take_picture(page: Page, name: str) -> None:
    """Take a picture, which is kept in the directory URS_INSPECT_SCREENSHOTS if that is set."""
    directory = os.environ.get("URS_INSPECT_SCREENSHOTS")
    assert len(page.screenshot(path=f"{directory}/{name}.png" if directory else None)) > 20_000


_CONTRAST = """element => {
    const channels = text => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    let behind = element;
    const colour = e => channels(getComputedStyle(e).backgroundColor);
    while (colour(behind).length > 3 && colour(behind)[3] === 0) behind = behind.parentElement;
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(colour(behind))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""
