import json
import logging
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import requires, version
from pathlib import Path
from unittest import mock

import pytest
from packaging.requirements import Requirement

from tests.lmeval_tasks.runs import call, settings
from tests.servers import ChatServer
from urs_inspect._util import InputError
from urs_inspect.lmeval_tasks import tasks_path
from urs_inspect.lmeval_tasks._addition_task import AdditionTask
from urs_inspect.lmeval_tasks._md_eval_task import MdEvalTask
from urs_inspect.lmeval_tasks._rejudge import read_saved
from urs_inspect.lmeval_tasks._urs_task import UrsTask


def test_path_is_a_folder_of_tasks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "path") == 0
    folder = Path(capsys.readouterr().out.strip())
    assert folder == Path(tasks_path())
    assert (folder / "urs.yaml").is_file()
    assert "/lm_eval/tasks/" not in str(folder)


def test_the_readme_says_why_each_task_has_its_version() -> None:
    readme = (Path(tasks_path()) / "README.md").read_text(encoding="utf-8")
    _, _, changes = readme.partition("### Changelog")
    entries = [" ".join(entry.split()) for entry in changes.split("\n- ")]
    for name, task in (("urs", UrsTask), ("md_eval", MdEvalTask), ("urs_addition", AdditionTask)):
        [reason] = [
            entry for entry in entries if f"`{name}`" in entry and f"{task.VERSION}:" in entry
        ]
        assert len(reason) > 80


def test_help_names_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ((), ("--help",)):
        assert call(monkeypatch, *words) == 0
        said = capsys.readouterr().out
        assert all(f"urs-lm-eval {name}" in said for name in ("run", "ls", "rejudge", "path"))


def test_importing_the_package_does_not_import_lm_eval() -> None:
    said = (
        "import sys, urs_inspect, urs_inspect.cli; print([m for m in sys.modules if m in"
        " ('lm_eval', 'datasets')])"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("word", ["rejudge", "run"])
def test_without_lm_eval_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    for name in ("lm_eval", "lm_eval.__main__"):
        monkeypatch.setitem(sys.modules, name, None)
    assert call(monkeypatch, word, "--tasks", "urs") == 1
    error = capsys.readouterr().err
    assert "pip install 'urs-inspect[lm-eval]'" in error and error.count("\n") == 1


@pytest.fixture
def as_in_its_own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The command sets variables of the environment, and has lm-eval's messages go to the terminal
    only.
    """
    logger = logging.getLogger("lm_eval")
    level, propagate, handlers = logger.level, logger.propagate, [*logger.handlers]
    monkeypatch.setattr("lm_eval.utils._LOGGING_CONFIGURED", False)
    with mock.patch.dict(os.environ):
        yield
    logger.setLevel(level)
    logger.propagate, logger.handlers = propagate, handlers


@pytest.mark.usefixtures("as_in_its_own_process")
def test_a_run_as_a_user_types_it(
    judge: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    metadata = settings(judge, judge_preflight=True)
    words = [
        *("run", "--tasks", "urs_zh", "--limit", "3"),
        *("--model", "local-chat-completions", "--apply_chat_template", "--log_samples"),
        *("--model_args", f"model=tested,base_url={judge.url}/chat/completions,num_concurrent=3"),
        *("--output_path", str(tmp_path), "--metadata", json.dumps(metadata)),
    ]
    monkeypatch.setattr(sys, "argv", ["urs-lm-eval", *words])
    runpy.run_module("urs_inspect.lmeval_tasks", run_name="__main__")
    printed = capsys.readouterr().out
    assert "urs_final" in printed
    assert "urs_intent_" in printed
    [file] = tmp_path.rglob("samples_urs_zh_*.jsonl")
    assert len(read_saved(file)) == 3


def test_an_error_of_the_user_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[list[str]] = []

    def refused() -> None:
        seen.append(sys.argv[1:])
        raise InputError("no judge: give one")

    monkeypatch.setattr("lm_eval.__main__.cli_evaluate", refused)
    assert call(monkeypatch, "run", "--tasks", "urs") == 1
    assert capsys.readouterr().err == "Error: no judge: give one\n"
    assert call(monkeypatch, "run", "--include_path=mine") == 1
    assert seen == [
        ["run", "--tasks", "urs", "--include_path", tasks_path()],
        ["run", "--include_path=mine"],
    ]


def test_extras_allow_what_is_tested_and_nothing_from_0_5_on() -> None:
    stated = [Requirement(line) for line in requires("urs-inspect") or ()]
    ranges = [one.specifier for one in stated if one.name == "lm-eval"]
    assert ranges
    for allowed in ranges:
        assert version("lm_eval") in allowed and "0.4.13" in allowed
        assert "0.4.12" not in allowed and "0.5.0" not in allowed
