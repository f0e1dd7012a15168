from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.servers import ChatServer, Request, Response, says, serving

RunTask = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True, scope="session")
def _machine_described_once() -> Iterator[None]:
    """At the end of every run lm-eval describes the machine, which takes a dozen commands; `pip
    list` is one.
    """
    from torch.utils import collect_env  # not before a test of lm-eval runs in this process

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(collect_env, "get_pretty_env_info", cache(collect_env.get_pretty_env_info))
        yield


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "datasets"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


def level_of(text: str) -> int:
    """A score that depends on what the judge is sent, so that answers differ in it."""
    return 1 + sum(map(ord, text)) % 10


def judging(request: Request) -> Response:
    """A judge that gives every criterion of the prompt's example the same score."""
    import json
    import re

    prompt = "\n".join(str(message["content"]) for message in request.messages)
    if "<1-10>" not in prompt:  # asked whether it is there, or the model under test
        return says("ready")
    [names] = [list(json.loads(found)) for found in re.findall(r"\{[^{}]*<1-10>[^{}]*\}", prompt)][
        -1:
    ]
    case = str(request.messages[-1]["content"])
    [key] = re.findall(r'"key": "([a-z]{8})"', case)[-1:]
    return says(
        "Reasons.\n"
        + json.dumps(dict.fromkeys(names, level_of(case)) | {"key": key}, ensure_ascii=False)
    )


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with serving(judging, monkeypatch) as server:
        yield server
