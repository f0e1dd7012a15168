"""A browser."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that makes no requests of its own."""
    chromium = (
        os.environ.get("URS_INSPECT_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("google-chrome")
    )
    assert chromium, "no Chromium: install it, or name one in URS_INSPECT_CHROMIUM"
    quiet = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
    ]
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=quiet)
        yield found
        found.close()
