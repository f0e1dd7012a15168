"""Runs of lm-eval with answers of a script in place of a model."""

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import lm_eval
import pytest
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from tests.lmeval_tasks.scripted_lm import ScriptedLM, Together
from tests.servers import ChatServer
from urs_inspect.lmeval_tasks import command, tasks_path


def settings(server: ChatServer, **changed: Any) -> dict[str, Any]:
    """Metadata that names the server as judge."""
    return {
        "judge_model": "j",
        "judge_base_url": server.url,
        "judge_retries": 0,
        "judge_cache": False,
        "urs_dataset": "sample",
        **changed,
    }


def run(
    task: str, model: LM, metadata: dict[str, Any] | None = None, limit: int | None = None, **options: Any
) -> dict[str, Any]:
    """Run one task; results and samples as lm-eval gives them."""
    manager = TaskManager(include_path=tasks_path(), include_defaults=False, metadata=metadata)
    told = {"apply_chat_template": True, "bootstrap_iters": 100, **options}
    found: dict[str, Any] = lm_eval.simple_evaluate(
        model=model, tasks=[task], limit=limit, task_manager=manager, **told
    )
    return found


def run_in_two(task: str, model: Callable[..., ScriptedLM], *given: Any, **options: Any) -> dict[str, Any]:
    """Run one task with two processes that share the work, here threads; what the first one finds.

    Args:
        task: The task.
        model: Makes the model of a process.
        given: As for `run`.
        options: As for `run`.
    """
    together = Together(2)
    found: dict[int, Any] = {}
    faults: list[BaseException] = []

    def work(rank: int) -> None:
        try:
            found[rank] = run(task, model(rank=rank, together=together), *given, **options)
        except BaseException as error:  # shown by the test's thread
            faults.append(error)
            together.barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return dict(found[0])


def metric(found: dict[str, Any], task: str, name: str) -> Any:
    """One number of a run."""
    return found["results"][task][f"{name},none"]


def numbers(found: dict[str, Any], task: str) -> dict[str, Any]:
    """All metrics of a run and their standard errors."""
    return {
        name: value for name, value in found["results"][task].items() if "," in name and "_stderr_stderr" not in name
    }


def records(found: dict[str, Any], task: str) -> dict[str, dict[str, Any]]:
    """Judged answers by id of the case."""
    return {one["doc"]["id"]: json.loads(one["filtered_resps"][0]) for one in found["samples"][task]}


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Call `urs-lm-eval`; with what it ends."""
    monkeypatch.setattr(sys, "argv", ["urs-lm-eval", *words])
    try:
        command.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
