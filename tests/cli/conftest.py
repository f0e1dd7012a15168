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


def row(output: str, *cells: str) -> list[str]:
    """The cells of the one table row that begins with the given ones."""
    rows = [[cell.strip() for cell in line.strip("│┃ ").split("│")] for line in output.splitlines() if "│" in line]
    [found] = [each for each in rows if tuple(each[: len(cells)]) == cells]
    return found
