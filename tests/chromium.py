"""The browser of the tests: a Chromium that makes no requests of its own."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_COMMANDS = ("chromium-headless-shell", "chromium", "google-chrome")
"""The first that is there; the shell without windows needs half as much time as the browser."""
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser: the one that URS_INSPECT_CHROMIUM names, or one on the path."""
    found = [path for path in map(shutil.which, _COMMANDS) if path]
    command = os.environ.get("URS_INSPECT_CHROMIUM") or next(iter(found), None)
    assert command, "no Chromium: install it, or name one in URS_INSPECT_CHROMIUM"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=command, args=_QUIET)
        yield browser
        browser.close()
