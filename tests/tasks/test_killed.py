"""A run that is killed half-way is finished by `inspect eval-retry`, without asking again what was answered."""

import re
import threading
from collections import Counter
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from tests.servers import HANGS, Request, Response, says, serving
from tests.tasks.commands import TIMEOUT, running, succeed
from tests.tasks.scripted import metric_values, samples_of

CASES = 42
ANSWERED = 25
CONNECTIONS = 2


def test_killed_run_is_finished_by_eval_retry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    logs = tmp_path / "logs"
    killed = threading.Event()

    def script(request: Request) -> Response:
        """Answer with the number of the request, and fall silent half-way, so that the run cannot end by itself."""
        return says(f"Answer {request.number}.") if request.number < ANSWERED or killed.is_set() else HANGS

    with serving(script, monkeypatch) as server:
        arguments = (
            *("eval", "urs_inspect/urs", "-T", "dataset=sample", "--max-connections", str(CONNECTIONS)),
            *("--model", "openai-api/local/subject", "--model-role", "grader=urs_simulation/judge"),
            *("--log-dir", str(logs), "--display", "plain"),
        )
        with running(*arguments, tmp_path=tmp_path) as command:
            server.wait_for(ANSWERED + CONNECTIONS, TIMEOUT)
            command.kill()
        killed.set()
        asked_before = server.count()
        [left_behind] = list_eval_logs(str(logs))
        assert read_eval_log(left_behind, header_only=True).status == "started"
        assert asked_before < CASES

        succeed("eval-retry", left_behind.name, "--log-dir", str(logs), "--display", "plain", tmp_path=tmp_path)
        asked = server.count()

    log = finished(logs)
    assert Counter(sample.id for sample in samples_of(log)) == Counter(expected_ids())
    assert {sample.epoch for sample in samples_of(log)} == {1}
    assert metric_values(log, "judge_outcome") == {"judged": CASES}
    # An answer with a number below the count at the kill was given before it. The harness writes samples to the log
    # ten at a time, so that at least twenty of the twenty-five are there to be reused, less those on their way.
    numbers = [int(re.findall(r"\d+", sample.output.completion)[0]) for sample in samples_of(log)]
    reused = sum(number < asked_before for number in numbers)
    assert reused >= 10
    assert asked - asked_before == CASES - reused


def finished(logs: Path) -> EvalLog:
    [log] = [log for info in list_eval_logs(str(logs)) if (log := read_eval_log(info)).status == "success"]
    return log


def expected_ids() -> list[str]:
    intents = (
        "factual_qa",
        "solve_professional_problem",
        "text_assistant",
        "api",
        "ask_for_advice",
        "seek_creativity",
        "leisure",
    )
    return [f"sample_{intent}_{language}_{n}" for intent in intents for language in ("en", "zh") for n in (1, 2, 3)]
