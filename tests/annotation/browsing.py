"""The server and the browser for the tests of the pages for votes and for ratings."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Dialog, Page

from urs_inspect.annotation.votes import Vote, read_votes
from urs_inspect.discrepancy.ballots import Ballot, write_ballots

CHROMIUM = os.environ.get("URS_INSPECT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
LAPTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}


@dataclass
class Server:
    """A running `urs-inspect annotate`, which can be killed and started again at the same address."""

    directory: Path
    arguments: tuple[str, ...]  # what is voted on or rated, and options
    port: int = field(default_factory=lambda: _free_port())
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, "-c", "from urs_inspect.cli import main; main()", "annotate"]
        with (self.directory / "told").open("wb") as told:
            self.process = subprocess.Popen(
                [*command, *self.arguments, "--port", str(self.port)],
                stdout=told,
                stderr=told,
                env={**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"},
            )
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self.process.poll() is None, self.told()
                assert time.monotonic() < deadline, "the page does not answer"
                time.sleep(0.1)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def told(self) -> str:
        return (self.directory / "told").read_text("utf-8")

    def votes(self) -> tuple[Vote, ...]:
        reading = read_votes(sorted((self.directory / "votes").glob("*.jsonl")))
        assert reading.errors == ()
        return reading.votes


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(directory: Path, made: tuple[Ballot, ...], *arguments: str) -> Iterator[Server]:
    ballots = directory / "ballots.jsonl"
    write_ballots(made, ballots)
    with running(directory, str(ballots), "--votes", str(directory / "votes"), *arguments) as server:
        yield server


@contextmanager
def running(directory: Path, *arguments: str) -> Iterator[Server]:
    server = Server(directory, arguments)
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
        context.on("request", lambda request: self._note(not request.url.startswith(address), request.url))
        context.on("console", lambda message: self._note(message.type in {"error", "warning"}, message.text))
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
def visiting(browser: Browser, server: Server, path: str = "", **options: Any) -> Iterator[tuple[Page, Watch]]:
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


CONTRAST = """element => {
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
