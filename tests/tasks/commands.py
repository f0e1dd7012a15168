"""The harness's command line, as a child process and within this one."""

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TIMEOUT = 120
"""Seconds after which a command is given up; it is no measure of speed."""


def inspect_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "inspect_ai", *arguments]


def child_environment(tmp_path: Path) -> dict[str, str]:
    """This environment, with the harness's own files below `tmp_path` and lines that are not broken."""
    return {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data"), "COLUMNS": "300", "NO_COLOR": "1"}


def run_inspect(*arguments: str, tmp_path: Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `inspect <arguments>` in a child process."""
    return subprocess.run(
        inspect_command(*arguments),
        cwd=cwd or tmp_path,
        env=child_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def succeed(*arguments: str, tmp_path: Path, cwd: Path | None = None) -> str:
    """Run `inspect <arguments>` in a child process, which must succeed; return what it printed."""
    done = run_inspect(*arguments, tmp_path=tmp_path, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Refusal:
    """How a command ended that could not be carried out."""

    status: object
    error: str


def refused(*arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refusal:
    """Run `inspect <arguments>`, which must fail, through the command's own entry point but within this process."""
    [command] = entry_points(group="console_scripts", name="inspect")
    monkeypatch.setattr(sys, "argv", ["inspect", *arguments])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # which the command replaces
    with pytest.raises(SystemExit) as ended:
        command.load()()
    return Refusal(ended.value.code, capsys.readouterr().err)
