"""Runs of lm-eval with answers of a script in place of a model."""

import json
from collections.abc import Callable
from typing import Any

import lm_eval
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from tests.servers import ChatServer
from urs_inspect.lmeval_tasks import tasks_path


class Scripted(LM):  # type: ignore[misc]  # lm-eval has no types
    """A model that answers by a function of the prompt.

    Args:
        answer: The function.
    """

    def __init__(self, answer: Callable[[str], str]) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[str] = []

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        self.asked += [request.args[0] for request in requests]
        return [self.answer(request.args[0]) for request in requests]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError


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


def run(task: str, model: LM, metadata: dict[str, Any], limit: int | None = None, **options: Any) -> dict[str, Any]:
    """Run one task; results and samples as lm-eval gives them."""
    manager = TaskManager(include_path=tasks_path(), include_defaults=False, metadata=metadata)
    found: dict[str, Any] = lm_eval.simple_evaluate(
        model=model, tasks=[task], limit=limit, task_manager=manager, bootstrap_iters=100, **options
    )
    return found


def metric(found: dict[str, Any], task: str, name: str) -> Any:
    """One number of a run."""
    return found["results"][task][f"{name},none"]


def records(found: dict[str, Any], task: str) -> dict[str, dict[str, Any]]:
    """Judged answers by id of the case."""
    return {one["doc"]["id"]: json.loads(one["filtered_resps"][0]) for one in found["samples"][task]}
