"""A competition that is broken off is finished, and nobody is asked again who has answered."""

import re
from collections import Counter
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval_set
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.servers import Request, Response, fails, says, serving
from tests.tasks.contests import Field, answer, comparisons, compete, pool_file, rows, verdict
from tests.tasks.killed import kill_and_retry
from tests.tasks.test_mad_bad_input import answer_log
from urs_inspect.tasks import mad

SIZE, K = 6, 3
NAMES = ("ace", "good", "poor")
PAIRS = 3


def finish_set(task: Task, folder: Path, roles: dict[str, Any], **options: Any) -> EvalLog:
    """Run the harness's `eval_set()`, which leaves its models behind in the context of whoever
    calls it.
    """
    usual: dict[str, Any] = {
        "model": "none",
        "display": "log",
        "retry_wait": 0.01,
        "log_realtime": False,
    }
    success, [header] = copy_context().run(
        eval_set, task, str(folder), model_roles=roles, **usual, **options
    )
    assert success
    return read_eval_log(header.location)


def reply(request: Request) -> Response:
    """What a contestant answers, and what the judge says; the same whenever it is asked."""
    asked = request.messages[-1]["content"]
    if request.model in NAMES:
        return says(answer(request.model, asked))
    first, second = (int(found) for found in re.findall(r"of strength (\d+)", asked))
    return says(verdict("1" if first > second else "2"))


def about(request: Request) -> tuple[str, str]:
    """Who was asked, and everything that was said."""
    return request.model, str(request.messages)


@pytest.mark.usefixtures("no_preflight")  # its calls are repeated by every attempt
def test_killed_run_is_finished_without_asking_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed within a batch of comparisons that depends on outcomes of the one before."""
    logged = SIZE + 2
    found = kill_and_retry(
        *(
            "urs_inspect/mad",
            "-T",
            f"pool={pool_file(tmp_path, SIZE)}",
            "-T",
            f"k={K}",
            "--model",
            "none",
        ),
        *("-T", "allocation={rule: adaptive, batch: 3, confidence: 0.9999}"),
        *(
            "--model-role",
            f"contestant=[{', '.join(f'openai-api/local/{name}' for name in NAMES)}]",
        ),
        *("--model-role", "grader=openai-api/local/judge", "--max-connections", "2"),
        *("--max-samples", "2", "--log-buffer", "1"),
        reply=reply,
        answered=3 * SIZE + 6,
        logged=logged,
        tmp_path=tmp_path,
        monkeypatch=monkeypatch,
    )
    log, asked = found.log, [about(request) for request in found.requests]
    ids = [str(sample.id) for sample in log.samples or []]
    assert len(ids) == len(set(ids)) == SIZE + PAIRS * K
    assert len({one.metadata["ballot"]["id"] for one in comparisons(log)}) == PAIRS * K
    assert found.kept >= logged
    # Only calls of samples under way at the kill are repeated: two samples, of three contestants or
    # two orders.
    repeated = sum(times - 1 for times in Counter(asked).values())
    assert repeated <= 2 * 3
    assert len(asked) == SIZE * 3 + PAIRS * K * 2 + repeated
    assert found.before < len(asked)
    report = rows(log)
    assert [
        name for name in report if name.startswith("openai-api/local/") and " " not in name
    ] == [f"openai-api/local/{name}" for name in NAMES]
    assert (report["comparisons"], report["unread"]) == (PAIRS * K, 0)


def test_a_set_is_retried_within_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The harness drives the same source again, which has seen half a run: a sample fails in each
    phase.
    """
    broken = {"answers", "comparisons"}
    with serving(reply, monkeypatch) as server:
        roles: dict[str, Any] = {
            "contestant": [get_model(f"openai-api/local/{name}", memoize=False) for name in NAMES],
            "grader": get_model("openai-api/local/judge", memoize=False),
        }
        task = _failing(mad(str(pool_file(tmp_path, SIZE)), k=K), broken)
        log = finish_set(
            task, tmp_path / "set", roles, retry_attempts=2, max_samples=2
        )  # a retry for each failure
        asked = Counter(about(request) for request in server.requests)

    assert not broken
    assert len(log.samples or []) == SIZE + PAIRS * K
    assert rows(log)["comparisons"] == PAIRS * K
    assert [name for name in rows(log) if " " not in name and "local" in name] == [
        f"openai-api/local/{name}" for name in NAMES
    ]
    # Once for each attempt at most: the sample that failed, and the one beside it.
    assert sum(times - 1 for times in asked.values()) <= 2 * 2 * 3


def _failing(task: Task, broken: set[str]) -> Task:
    """The task with a solver that raises once in each phase, after the models were asked."""
    inner = task.solver
    assert isinstance(inner, Solver)

    @solver
    def breaking():
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state = await inner(state, generate)
            phase = {"answer": "answers", "compare": "comparisons"}[state.metadata["phase"]]
            if phase in broken and state.sample_id != "i0":
                broken.discard(phase)
                raise RuntimeError("the disk is full")
            return state

        return solve

    task.solver = breaking()
    return task


def test_a_set_over_logs_is_retried_within_one_process(tmp_path: Path) -> None:
    for name in NAMES:
        said = {f"i{n}": answer(name, str(n)) for n in range(4)}
        answer_log(tmp_path / "in" / f"{name}.eval", f"mockllm/{name}", said)
    judge = Field().judge
    task = _failing(mad(responses=str(tmp_path / "in"), k=2), {"comparisons"})
    log = finish_set(
        task, tmp_path / "set", {"grader": judge.model()}, retry_attempts=1, max_samples=1
    )
    assert rows(log)["comparisons"] == len(comparisons(log)) == PAIRS * 2
    assert len(judge.seen) <= PAIRS * 2 * 2 + 2


def test_a_set_that_is_finished_is_not_run_again(tmp_path: Path) -> None:
    field, file = Field(), pool_file(tmp_path, SIZE)
    for _ in range(2):
        log = finish_set(mad(str(file), k=K), tmp_path / "set", field.roles())
        assert len(field.asked("ace")) == SIZE
        assert len(field.judge.seen) == PAIRS * K * 2
    assert rows(log)["comparisons"] == PAIRS * K


def test_an_error_of_a_server_is_retried_by_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A contestant that is overloaded at first gets its answer in the end."""

    def script(request: Request) -> Response:
        return fails(503) if request.model == "good" and request.number == 0 else reply(request)

    with serving(script, monkeypatch):
        roles: dict[str, Any] = {
            "contestant": [get_model(f"openai-api/local/{name}", memoize=False) for name in NAMES],
            "grader": get_model("openai-api/local/judge", memoize=False),
        }
        log = compete(mad(str(pool_file(tmp_path, 3)), k=1), tmp_path / "logs", roles)
    assert log.status == "success"
    assert "openai-api/local/good missing answers" not in rows(log)
