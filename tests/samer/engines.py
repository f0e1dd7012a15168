"""Fixtures of SaMer's engines, for tests of any room."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.samer.stubs import Opening
from urs_inspect.samer._engines import registry, shared


@pytest.fixture
def stub_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Opening]:
    """Registers the engine `stub` of SaMer, which answers as a test says; any folder is its
    model.
    """

    def register(*answers: Any, make: Any = None) -> Opening:
        opening = Opening(*answers)
        monkeypatch.setattr(registry, "_registered", {"stub": make or opening})
        return opening

    return register


@pytest.fixture(autouse=True)
def own_engines() -> Iterator[None]:
    """Leave no engine of SaMer open for the next test."""
    yield
    shared._open.clear()
    shared._failed.clear()
