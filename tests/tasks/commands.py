"""The harness's command line, as a child process and within this one."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CompletedProcess

import pytest

REPOSITORY = Path(__file__).parents[2]
TIMEOUT = 120
"""Seconds after which a command is given up; it is no measure of speed."""

# Every command runs in a process of its own. A new interpreter spends four seconds on imports, so that the process is
# a fork of one that has imported everything and has run nothing.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "pytest",
        "inspect_ai._cli.main",
        "inspect_ai.agent._acp.server",
        "inspect_ai.model._providers.anthropic",  # the harness's log imports it
        "inspect_ai.model._providers.openai_compatible",
        "urs_inspect._registry",
    ]
)


@dataclass(frozen=True)
class Running:
    """A command in its process, and the files that it prints to."""

    process: BaseProcess
    stdout: Path
    stderr: Path

    def done(self) -> CompletedProcess[str]:
        """Wait for its end."""
        self.process.join(TIMEOUT)
        assert self.process.exitcode is not None, f"no end after {TIMEOUT} seconds: {self.printed()}"
        out, err = (path.read_text(encoding="utf-8") for path in (self.stdout, self.stderr))
        return CompletedProcess([], self.process.exitcode, out, err)

    def printed(self) -> str:
        """What it has printed up to now."""
        return self.stdout.read_text(encoding="utf-8") + self.stderr.read_text(encoding="utf-8")

    def kill(self) -> None:
        """Kill it with every process that it started."""
        assert self.process.pid is not None and self.process.is_alive(), self.printed()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.join(TIMEOUT)


@contextmanager
def running(*arguments: str, tmp_path: Path, cwd: Path | None = None) -> Iterator[Running]:
    """Start `inspect <arguments>` in a child process, which does not outlive the context."""
    with forked(_inspect, *arguments, tmp_path=tmp_path, cwd=cwd) as command:
        yield command


@contextmanager
def forked(
    function: Callable[..., None], *arguments: str, tmp_path: Path, cwd: Path | None = None
) -> Iterator[Running]:
    """Call a function of a module in a process that has imported the harness and has run nothing."""
    stdout, stderr = (tmp_path / f"command.{name}" for name in ("out", "err"))
    place = (str(cwd or tmp_path), child_environment(tmp_path), str(stdout), str(stderr))
    process = _FORKS.Process(target=_call, args=(function, arguments, *place))
    process.start()
    try:
        yield Running(process, stdout, stderr)
    finally:
        process.kill()
        process.join()


def _call(
    function: Callable[..., None],
    arguments: tuple[str, ...],
    cwd: str,
    environment: Mapping[str, str],
    stdout: str,
    stderr: str,
) -> None:
    """What the child process does."""
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for path, number in ((stdout, 1), (stderr, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    try:
        function(*arguments)
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)  # which the harness and this package replace
        sys.exit(1)


def _inspect(*arguments: str) -> None:
    sys.argv = ["inspect", *arguments]
    import_module("inspect_ai._cli.main").main()


def child_environment(tmp_path: Path) -> dict[str, str]:
    """This environment, with the harness's own files below `tmp_path` and lines that are not broken."""
    return {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data"), "COLUMNS": "300", "NO_COLOR": "1"}


def run_inspect(*arguments: str, tmp_path: Path, cwd: Path | None = None) -> CompletedProcess[str]:
    """Run `inspect <arguments>` in a child process."""
    with running(*arguments, tmp_path=tmp_path, cwd=cwd) as command:
        return command.done()


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
