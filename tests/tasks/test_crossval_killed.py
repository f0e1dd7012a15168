"""A cross-validation that is killed half-way is finished, and no judgement that was paid for is asked for again."""

import threading
from collections import Counter
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from tests.servers import HANGS, Request, Response, says, serving
from tests.tasks.commands import TIMEOUT, running, succeed
from tests.tasks.scripted import metric_values, samples_of
from tests.tasks.test_evolve_killed import wait_until_logged
from tests.tasks.test_killed import finished
from tests.tasks.test_urs_crossval import answer_log, cells, reference_log

CASES, CELLS = 10, 10 * 2 * 2 * 2
ANSWERED, LOGGED, CONNECTIONS = 30, 20, 2
JUDGES = ("openai-api/local/one", "openai-api/local/two")


def test_killed_grid_is_finished_with_every_cell_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "AB":
        answer_log(tmp_path, name)
    references = reference_log(tmp_path, "A").location
    logs = tmp_path / "logs"
    killed = threading.Event()
    lock, count = threading.Lock(), Counter[str]()

    def script(request: Request) -> Response:
        with lock:
            count["all"] += 1
            silent = count["all"] > ANSWERED and not killed.is_set()
        return HANGS if silent else says('{"Final Score": 7}')

    with serving(script, monkeypatch) as server:
        arguments = (
            *("eval", "urs_inspect/urs_crossval", "-T", "dataset=sample", "-T", f"answers={tmp_path / 'answers'}"),
            *("-T", f"references={references},dataset", "-T", f"cases={CASES}", "--model", "none"),
            *("-T", "preflight=false"),  # its calls are repeated by every attempt
            *("--model-role", f"grader=[{', '.join(JUDGES)}]", "--max-connections", str(CONNECTIONS)),
            *("--max-samples", "2", "--log-buffer", "1", "--log-dir", str(logs), "--display", "plain"),
        )
        with running(*arguments, tmp_path=tmp_path) as command:
            server.wait_for(ANSWERED + 1, TIMEOUT)
            wait_until_logged(logs, LOGGED)
            command.kill()
        assert f"{CELLS} judge calls in all" in command.printed()
        [left_behind] = list_eval_logs(str(logs))
        kept = len(read_eval_log(left_behind).samples or [])
        assert LOGGED <= kept < CELLS
        killed.set()
        succeed("eval-retry", left_behind.name, "--log-dir", str(logs), "--display", "plain", tmp_path=tmp_path)
        asked = Counter((request.model, str(request.messages)) for request in server.requests)

    log = finished(logs)
    found = cells(log)
    assert len(samples_of(log)) == CELLS == len(found) and set(found.values()) == {1}
    assert {key[1] for key in found} == set(JUDGES)
    assert metric_values(log, "crossval_cell") == {"judged": CELLS}
    # Only what was on its way at the kill is asked for again.
    repeated = sum(times - 1 for times in asked.values())
    assert len(asked) == CELLS and repeated <= ANSWERED + CONNECTIONS - kept
