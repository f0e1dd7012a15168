import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lmeval_tasks.runs import call, settings
from tests.servers import ChatServer
from urs_inspect.lmeval_tasks import tasks_path
from urs_inspect.lmeval_tasks.rejudge import read_saved


def test_path_is_a_folder_of_tasks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "path") == 0
    folder = Path(capsys.readouterr().out.strip())
    assert folder == Path(tasks_path())
    assert (folder / "urs.yaml").is_file()
    assert "/lm_eval/tasks/" not in str(folder)


def test_help_names_the_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((), ("--help",)):
        assert call(monkeypatch, *words) == 0
        said = capsys.readouterr().out
        assert all(f"urs-lm-eval {name}" in said for name in ("run", "ls", "rejudge", "path"))


def test_importing_the_package_does_not_import_lm_eval() -> None:
    said = "import sys, urs_inspect, urs_inspect.cli; print([m for m in sys.modules if m in ('lm_eval', 'datasets')])"
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


def test_a_run_as_a_user_types_it(judge: ChatServer, tmp_path: Path) -> None:
    metadata = settings(judge, judge_preflight=True)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "urs_inspect.lmeval_tasks", "run", "--tasks", "urs_zh", "--limit", "3"),
            *("--model", "local-chat-completions", "--apply_chat_template", "--log_samples"),
            *("--model_args", f"model=tested,base_url={judge.url}/chat/completions,num_concurrent=3"),
            *("--output_path", str(tmp_path), "--metadata", json.dumps(metadata)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "urs_final" in done.stdout
    assert "urs_intent_" in done.stdout
    [file] = tmp_path.rglob("samples_urs_zh_*.jsonl")
    assert len(read_saved(file)) == 3


def test_a_run_without_a_judge_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "urs_inspect.lmeval_tasks", "run", "--tasks", "urs", "--limit", "3"),
            *("--model", "dummy", "--metadata", '{"urs_dataset": "sample"}'),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1
    assert done.stderr.strip().split("\n")[-1].startswith("Error: no judge: give one with --metadata")
    assert "Traceback" not in done.stderr
