"""The harness's command line, as a child process and within this one."""

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from unittest import mock

import pytest
from inspect_ai._display.core import active
from inspect_ai.model import _model

REPOSITORY = Path(__file__).parents[2]
TIMEOUT = 120
"""Seconds after which a command is given up; it is no measure of speed."""


def inspect_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "inspect_ai", *arguments]


def child_environment(tmp_path: Path) -> dict[str, str]:
    """This environment, with the harness's own files below `tmp_path` and lines that are not
    broken.
    """
    return {
        **os.environ,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "COLUMNS": "300",
        "NO_COLOR": "1",
    }


def run_inspect(
    *arguments: str, tmp_path: Path, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
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
    """Run `inspect <arguments>` within this process, which must succeed; return what it printed."""
    printed = io.StringIO()
    before = Path.cwd()
    with (
        pytest.MonkeyPatch.context() as patched,
        redirect_stdout(printed),
        redirect_stderr(printed),
        mock.patch.dict(
            os.environ, child_environment(tmp_path), INSPECT_EVAL_NO_LOG_REALTIME="true"
        ),
    ):
        patched.chdir(cwd or tmp_path)
        status = _main(patched, arguments)
    assert Path.cwd() == before
    assert status in (0, None), printed.getvalue()
    return printed.getvalue()


def _main(patched: pytest.MonkeyPatch, arguments: Sequence[str]) -> object:
    """The exit status of the command's own entry point."""
    [command] = entry_points(group="console_scripts", name="inspect")
    patched.setattr(sys, "argv", ["inspect", *arguments])
    patched.setattr(sys, "excepthook", sys.excepthook)  # which the command replaces
    patched.setattr(
        _model, "_models", {}
    )  # models are kept by name, and a name may be that of another test's server
    patched.setattr(active, "_active_display", None)  # what another test displays to
    with pytest.raises(SystemExit) as ended:
        command.load()()
    return ended.value.code


@dataclass(frozen=True)
class Refusal:
    """How a command ended that could not be carried out."""

    status: object
    error: str


def refused(
    *arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Refusal:
    """Run `inspect <arguments>`, which must fail, through the command's own entry point but within
    this process.
    """
    return Refusal(_main(monkeypatch, arguments), capsys.readouterr().err)
