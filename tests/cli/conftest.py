"""Runs `urs-inspect` in this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rich
from click.testing import CliRunner, Result

from urs_inspect.cli import main

Run = Callable[..., Result]
Said = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call `urs-inspect` with arguments, on a terminal wide enough for every table."""
    monkeypatch.setenv("COLUMNS", "200")
    # Earlier runs of the harness in this process decide whether it prints a task's warnings; a
    # command has none.
    monkeypatch.setattr(rich.get_console(), "quiet", True)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def said(run: Run) -> Said:
    """What a command prints that succeeds, with single blanks between words."""

    def words(*arguments: object) -> str:
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    return words


@pytest.fixture
def facts(run: Run) -> Callable[..., Any]:
    """What a command prints with --json, which is all that it prints."""

    def read(*arguments: object) -> Any:
        result = run(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return read


@pytest.fixture
def refused(run: Run) -> Said:
    """The error of a command that fails, which is no traceback."""

    def error(*arguments: object) -> str:
        result = run(*arguments)
        assert result.exit_code == 1, result.output
        assert result.output.startswith("Error: ")
        assert "Traceback" not in result.output
        return result.output

    return error


@pytest.fixture
def start(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which every kind of start was written."""
    monkeypatch.chdir(tmp_path)
    for kind in ("rubric", "cases", "pairs"):
        assert run("new", kind, kind).exit_code == 0
    return tmp_path


def cells_of(output: str) -> list[list[str]]:
    """The cells of the rows of all tables, headings aside."""
    return [
        [cell.strip() for cell in line.strip("│┃ ").split("│")]
        for line in output.splitlines()
        if "│" in line
    ]


def row(output: str, *cells: str) -> list[str]:
    """The cells of the one table row that begins with the given ones."""
    [found] = [each for each in cells_of(output) if tuple(each[: len(cells)]) == cells]
    return found
