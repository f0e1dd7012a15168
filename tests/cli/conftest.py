"""Runs `urs-inspect` in this process."""

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from urs_inspect.cli import main

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call `urs-inspect` with arguments, on a terminal wide enough for every table."""
    monkeypatch.setenv("COLUMNS", "200")
    runner = CliRunner()
    return lambda *arguments: runner.invoke(main, [str(argument) for argument in arguments])
