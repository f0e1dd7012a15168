"""A browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.chromium import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that makes no requests of its own."""
    with chromium() as found:
        yield found
