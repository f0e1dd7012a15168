"""A running viewer and a page in a real browser, over the log that a module's own fixture
`log_file` makes.
"""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests import processes
from tests.chromium import chromium
from tests.viewer.browser import HEIGHT, WIDTH


@pytest.fixture(scope="module")
def address(log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a running viewer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["inspect", "view", "--log-dir", str(log_file.parent), "--port", str(port)]
    output = tmp_path_factory.mktemp("viewer") / "output"
    viewer = processes.start(words, os.environ, output)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert viewer.is_alive(), output.read_text("utf-8")
                assert time.monotonic() < deadline, "the viewer does not answer"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        viewer.kill()
        viewer.join()


@pytest.fixture(scope="module")
def page(log_file: Path) -> Iterator[Page]:
    """A page in Chromium; it comes after the log, because its event loop would be in the way of the
    run's.
    """
    with chromium() as browser:
        yield browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
