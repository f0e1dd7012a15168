"""What several files about tasks share."""

from collections.abc import Iterator

import pytest

from tests.servers import ChatServer, says, serving


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    """Whoever could be asked, `openai-api/local/<name>`, which must not happen here."""
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        serving(lambda request: says("An answer."), monkeypatch) as server,
    ):
        yield server
