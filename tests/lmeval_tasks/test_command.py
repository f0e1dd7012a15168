import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lm_eval.loggers import EvaluationTracker

from tests.lmeval_tasks.runs import Scripted, run, settings
from tests.servers import ChatServer
from urs_inspect.lmeval_tasks import command, tasks_path
from urs_inspect.lmeval_tasks.rejudge import read_saved

FIELDS = ("intent", "intent_group", "language", "question", "reference")


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["urs-lm-eval", *words])
    try:
        command.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def saved(folder: Path, found: dict[str, Any]) -> Path:
    """Samples as lm-eval saves them."""
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.save_results_aggregated(results={**found, "samples": {}}, samples=found["samples"])
    tracker.save_results_samples(task_name="urs", samples=found["samples"]["urs"])
    [file] = folder.rglob("samples_urs_*.jsonl")
    return file


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


def test_saved_answers_are_judged_later_with_the_same_numbers(
    judge: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Scripted(lambda question: f"About {question[:30]}")
    file = saved(tmp_path / "plain", run("urs", model, settings(judge), limit=8, predict_only=True))
    direct = run("urs", model, settings(judge), limit=8)["results"]["urs"]
    told = json.dumps({key: value for key, value in settings(judge).items() if key.startswith("judge_")})
    assert call(monkeypatch, "rejudge", str(file), "--metadata", told) == 0
    [written] = file.parent.glob("results_*_rejudged.json")
    results = json.loads(written.read_text())["results"][file.stem]
    for name, value in results.items():
        assert direct[name] == pytest.approx(value), name
    assert "urs_final" in capsys.readouterr().out
    [lines] = file.parent.glob("*_rejudged.jsonl")
    assert [one.response for one in read_saved(lines)] == [one.response for one in read_saved(file)]
    assert all(one.record for one in read_saved(lines))


def test_only_what_failed_is_judged_again(judge: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run("urs", Scripted(lambda _: "An answer."), settings(judge), limit=6)
    for sample in found["samples"]["urs"][:2]:
        record = json.loads(sample["filtered_resps"][0])
        sample["filtered_resps"] = [json.dumps({**record, "scores": None, "outcome": "unscored_call_failed"})]
    file = saved(tmp_path / "half", found)
    calls = judge.count()
    told = json.dumps({key: value for key, value in settings(judge, judge_preflight=False).items() if "judge" in key})
    assert call(monkeypatch, "rejudge", "--failed-only", str(file), "--metadata", told) == 0
    assert judge.count() == calls + 2
    other = json.dumps({**json.loads(told), "judge_model": "another"})
    assert call(monkeypatch, "rejudge", "--failed-only", str(file), "--metadata", other) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no samples"),
        ("{", "line 1"),
        ("[]", "line 1"),
        ('{"doc": {}, "resps": [["x"]]}', "line 1"),
        (json.dumps({"doc": dict.fromkeys(FIELDS, "") | {"intent": 1}, "resps": [["x"]]}), "intent"),
    ],
)
def test_files_that_are_none_of_lm_eval_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    file = tmp_path / "samples_urs_1.jsonl"
    file.write_text(text, encoding="utf-8")
    assert call(monkeypatch, "rejudge", str(file), "--judge-model", "m") == 1
    error = capsys.readouterr().err
    assert said in error
    assert "samples_urs_1.jsonl" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("metadata", "said"), [("{", "no JSON"), ("[]", "JSON object"), ('{"judge_x": 1}', "unknown 'judge_x'")]
)
def test_faulty_metadata_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], metadata: str, said: str
) -> None:
    file = tmp_path / "samples_urs_1.jsonl"
    file.write_text("{}", encoding="utf-8")
    assert call(monkeypatch, "rejudge", str(file), "--metadata", metadata) == 1
    assert said in capsys.readouterr().err


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
