"""`inspect score` says what is wrong with a scorer's arguments, in one line and before any call."""

from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample

from tests.tasks.commands import refused
from tests.tasks.scripted import run, say
from tests.telling import tells


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    task = Task(dataset=MemoryDataset([Sample(id="case", input="Why?")]), solver=say("An answer."))
    return run(task, tmp_path_factory.mktemp("logs"), model="mockllm/answers", grader=None).location


@pytest.mark.parametrize(
    ("scorer", "argument", "said"),
    [
        ("intent_judge", "rubric=absent.yaml", "absent.yaml"),
        ("intent_judge", "judge_language=fr", "allowed: en, zh"),
        pytest.param(
            *("case_review", "judge_language=fr", "allowed: en, zh"), marks=pytest.mark.satellites
        ),
        ("samer", "model=absent", "samer 'absent': no such folder"),
        (
            "samer",
            "modl=absent",
            "samer: ... 'model'; arguments: model, engine,",
        ),
        ("human_choice", "votes=absent.jsonl", "absent.jsonl"),
        (
            "intent_judge",
            "rubrik=x",
            "intent_judge: ... 'rubrik'; arguments: rubric,",
        ),
    ],
)
def test_the_words_are_heard(
    scorer: str,
    argument: str,
    said: str,
    log: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    end = refused(
        *("score", log, "--scorer", f"urs_inspect/{scorer}", "-S", argument),
        *("--action", "append", "--output-file", "scored.eval", "--display", "plain"),
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    assert end.status == 1
    assert tells(end.error, said) and "Traceback" not in end.error
    assert not (tmp_path / "scored.eval").exists()
