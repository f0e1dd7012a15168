"""Runs of lm-eval with a model that answers as scripted, alone or as one process of several."""

import sys
import threading
from collections.abc import Callable
from typing import Any

import lm_eval
import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from tests.servers import ChatServer
from urs_inspect.lmeval_tasks import _command as command
from urs_inspect.lmeval_tasks import tasks_path

Messages = list[dict[str, str]]
Answer = Callable[[Messages], str]
Chance = Callable[[Messages, str], float]


class Together:
    """What the processes of a run share: here threads."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size, timeout=60)
        self.given: dict[int, Any] = {}


class ScriptedLM(LM):  # type: ignore[misc]  # lm-eval has no types
    """Answers by functions of the messages, which it keeps."""

    tokenizer_name = "scripted"

    def __init__(
        self,
        answer: Answer | None = None,
        chance: Chance | None = None,
        rank: int = 0,
        together: Together | None = None,
    ) -> None:
        super().__init__()
        self._answer, self._chance, self._together = answer, chance, together or Together(1)
        self._rank, self._world_size = rank, self._together.size
        self._shown: dict[str, Messages] = {}
        self.seen: list[Messages] = []
        self.settings: list[dict[str, Any]] = []

    def apply_chat_template(
        self, chat_history: Messages, add_generation_prompt: bool = True
    ) -> str:
        """Write messages down as a text, from which they can be found again."""
        text = "\n".join(f"<{message['role']}>{message['content']}" for message in chat_history)
        self._shown[text] = chat_history
        return text

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Answer."""
        assert self._answer is not None
        found = []
        for request in requests:
            text, settings = request.args
            self.seen.append(self._shown.get(text, [{"role": "user", "content": text}]))
            self.settings.append(settings)
            found.append(self._answer(self.seen[-1]))
        return found

    def loglikelihood(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[tuple[float, bool]]:
        """Weigh a choice."""
        assert self._chance is not None
        found = []
        for request in requests:
            text, choice = request.args
            self.seen.append(self._shown.get(text, [{"role": "user", "content": text}]))
            found.append((self._chance(self.seen[-1], choice), False))
        return found

    def loglikelihood_rolling(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[float]:
        """Not used."""
        raise NotImplementedError

    device = "cpu"

    def all_gather(self, tensor: Any) -> Any:
        """Of numbers of requests."""
        import torch

        return torch.stack(self._exchange(tensor))

    def gather_object(self, obj: Any, dst: int = 0) -> Any:
        """What each process gives, for one of them."""
        found = self._exchange(obj)
        return found if self._rank == dst else None

    def barrier(self) -> None:
        """Wait for the others."""
        self._together.barrier.wait()

    def _exchange(self, given: Any) -> list[Any]:
        self._together.given[self._rank] = given
        self._together.barrier.wait()
        found = [self._together.given[rank] for rank in range(self._world_size)]
        self._together.barrier.wait()
        return found


def answering(answer: Callable[[str], str], **kwargs: Any) -> ScriptedLM:
    """A model that answers by a function of the last message."""
    return ScriptedLM(lambda messages: answer(messages[-1]["content"]), **kwargs)


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
    task: str,
    model: LM,
    metadata: dict[str, Any] | None = None,
    limit: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Run one task; results and samples as lm-eval gives them."""
    manager = TaskManager(include_path=tasks_path(), include_defaults=False, metadata=metadata)
    told = {"apply_chat_template": True, "bootstrap_iters": 100, **options}
    found: dict[str, Any] = lm_eval.simple_evaluate(
        model=model, tasks=[task], limit=limit, task_manager=manager, **told
    )
    return found


def run_in_two(
    task: str, model: Callable[..., ScriptedLM], *given: Any, **options: Any
) -> dict[str, Any]:
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
        name: value
        for name, value in found["results"][task].items()
        if "," in name and "_stderr_stderr" not in name
    }


def records(found: dict[str, Any], task: str) -> dict[str, dict[str, Any]]:
    """Judged answers by id of the case."""
    return {one["doc"]["id"]: one["doc"]["judgement"] for one in found["samples"][task]}


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Call `urs-lm-eval`; with what it ends."""
    monkeypatch.setattr(sys, "argv", ["urs-lm-eval", *words])
    try:
        command.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
