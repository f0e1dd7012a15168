"""A run that is killed half-way and finished by `inspect eval-retry`."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from tests import processes
from tests.servers import HANGS, Request, Response, serving
from tests.tasks.commands import TIMEOUT, child_environment, succeed


@dataclass(frozen=True)
class Killed:
    """How both parts of the run went."""

    log: EvalLog  # of the second part, which has the samples of both
    kept: int  # samples in the log that the first part left behind
    before: int  # requests before the kill
    requests: list[Request]
    answered: list[Request]  # those that did not hang
    output: str  # of the first part


def kill_and_retry(
    *arguments: str,
    reply: Callable[[Request], Response],
    answered: int,
    logged: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Killed:
    """Run `inspect eval <arguments>` until so many requests are answered, kill it, and finish it.

    The server falls silent at that number, so that the run cannot end by itself. The kill comes
    when so many samples are in the log.
    """
    logs, killed, lock = tmp_path / "logs", threading.Event(), threading.Lock()
    replied: list[Request] = []

    def script(request: Request) -> Response:
        with lock:
            if len(replied) >= answered and not killed.is_set():
                return HANGS
            replied.append(request)
        return reply(request)

    with serving(script, monkeypatch) as server:
        options = ("--log-dir", str(logs), "--display", "plain")
        words = ["inspect", "eval", *arguments, *options]
        environment = child_environment(tmp_path)
        process = processes.start(words, environment, tmp_path / "output")
        server.wait_for(answered + 1, TIMEOUT)
        _wait_until_logged(logs, logged)
        assert process.pid
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        [left_behind] = list_eval_logs(str(logs))
        first = read_eval_log(left_behind)
        assert first.status == "started"
        before = server.count()
        killed.set()
        succeed("eval-retry", left_behind.name, *options, tmp_path=tmp_path)
        requests = list(server.requests)
    [log] = [
        log
        for info in list_eval_logs(str(logs))
        if (log := read_eval_log(info)).status == "success"
    ]
    printed = (tmp_path / "output").read_text(encoding="utf-8")
    return Killed(log, len(first.samples or []), before, requests, replied, printed)


def _wait_until_logged(log_dir: Path, number: int) -> None:
    waited = threading.Event()
    for _ in range(TIMEOUT * 5):
        with suppress(Exception):  # read while it is being written
            if len(read_eval_log(list_eval_logs(str(log_dir))[0]).samples or []) >= number:
                return
        waited.wait(0.2)
    raise AssertionError("the samples were not logged")
