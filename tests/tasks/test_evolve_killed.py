"""An evolution killed in its second round is finished by `inspect eval-retry`, with no answered call repeated."""

import hashlib
import json
import re
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import get_model

from tests.servers import HANGS, ChatServer, Request, Response, says, serving
from tests.tasks.commands import TIMEOUT, running, succeed
from tests.tasks.scripted import metric_values, samples_of
from urs_inspect.tasks import evolve

SEEDS, ROUNDS, CONNECTIONS = 6, 3, 2
ANSWERED = 9
"""Calls that are answered before the kill: the first round, and half of the second."""


def given(request: Request) -> str:
    found = re.search(r"<given_instruction>\n(.*?)\n</given_instruction>", request.messages[-1]["content"], re.DOTALL)
    assert found
    return found.group(1)


def answer(request: Request) -> Response:
    """What a generator makes of an instruction; the same whenever it is asked, so that two runs can be compared."""
    digest = hashlib.sha256(f"{request.model} {given(request)}".encode()).hexdigest()
    text = "Nothing." if digest[0] in "012" else json.dumps({"instruction": f"Explain {digest}.", "answer": digest})
    return says(text)


def evolve_command(tmp_path: Path, output: str, logs: Path) -> list[str]:
    return [
        *("eval", "urs_inspect/evolve", "-T", f"seeds={tmp_path / 'seeds.csv'}", "-T", "scenario=understanding"),
        *("-T", f"rounds={ROUNDS}", "-T", f"output={tmp_path / output}", "--model", "none"),
        *("--model-role", "generator=[openai-api/local/one, openai-api/local/two]"),
        *("--max-connections", str(CONNECTIONS), "--log-buffer", "1", "--log-dir", str(logs), "--display", "plain"),
    ]


def run_and_kill(command: list[str], tmp_path: Path, server: ChatServer) -> None:
    with running(*command, tmp_path=tmp_path) as process:
        server.wait_for(ANSWERED + 1, TIMEOUT)
        # The answered calls are in the log once their samples are; the log is written after every one of them.
        log_dir = Path(command[command.index("--log-dir") + 1])
        wait_until_logged(log_dir, ANSWERED)
        process.kill()


def run_whole(tmp_path: Path) -> None:
    """The same evolution without a kill, and within this process, which is quicker."""
    task = evolve(str(tmp_path / "seeds.csv"), "understanding", rounds=ROUNDS, output=str(tmp_path / "whole.jsonl"))
    generators = [get_model(f"openai-api/local/{name}", memoize=False) for name in ("one", "two")]
    options: dict[str, Any] = {"display": "log", "log_dir": str(tmp_path / "whole"), "log_realtime": False}
    [log] = eval(task, model="none/none", model_roles={"generator": generators}, **options)
    assert log.status == "success", log.error


def wait_until_logged(log_dir: Path, number: int) -> None:
    waited = threading.Event()
    for _ in range(TIMEOUT * 5):
        with suppress(Exception):  # read while it is being written
            if len(read_eval_log(list_eval_logs(str(log_dir))[0]).samples or []) >= number:
                return
        waited.wait(0.2)
    raise AssertionError("the samples were not logged")


def test_a_killed_evolution_is_finished_by_eval_retry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    seeds = "".join(f"seed{number},Why does thing {number} happen?\n" for number in range(SEEDS))
    (tmp_path / "seeds.csv").write_text(f"id,instruction\n{seeds}", encoding="utf-8")
    killed, lock = threading.Event(), threading.Lock()
    answered: list[tuple[str, str]] = []

    def script(request: Request) -> Response:
        with lock:
            if len(answered) == ANSWERED and not killed.is_set():
                return HANGS
            answered.append((request.model, given(request)))
        return answer(request)

    with serving(script, monkeypatch) as server:
        run_and_kill(evolve_command(tmp_path, "pool.jsonl", tmp_path / "logs"), tmp_path, server)
        assert not (tmp_path / "pool.jsonl").exists()
        [left_behind] = list_eval_logs(str(tmp_path / "logs"))
        assert read_eval_log(left_behind, header_only=True).status == "started"
        killed.set()
        retried = ("eval-retry", left_behind.name, "--log-dir", str(tmp_path / "logs"), "--display", "plain")
        succeed(*retried, tmp_path=tmp_path)
        in_two_parts = answered.copy()
        answered.clear()
        run_whole(tmp_path)

    # Together the two parts asked what a run asks that is never killed: nothing twice, and nothing was left out.
    assert len(in_two_parts) == SEEDS * ROUNDS
    assert Counter(in_two_parts) == Counter(answered)
    assert (tmp_path / "pool.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    [log] = [log for info in list_eval_logs(str(tmp_path / "logs")) if (log := read_eval_log(info)).status == "success"]
    assert len({sample.id for sample in samples_of(log)}) == len(samples_of(log)) == SEEDS * ROUNDS
    kept = len((tmp_path / "pool.jsonl").read_text(encoding="utf-8").splitlines())
    assert metric_values(log, "evolved")["kept"] == kept
    assert 0 < kept < SEEDS * ROUNDS
