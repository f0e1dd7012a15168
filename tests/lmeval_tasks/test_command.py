import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lm_eval.loggers import EvaluationTracker

from tests.lmeval_tasks.conftest import judging
from tests.lmeval_tasks.runs import run, settings
from tests.lmeval_tasks.scripted_lm import answering
from tests.servers import ChatServer, fails
from urs_inspect.lmeval_tasks import command, tasks_path
from urs_inspect.lmeval_tasks.saved_samples import read_saved

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
    model = answering(lambda question: f"About {question[:30]}")
    file = saved(tmp_path / "plain", run("urs", model, settings(judge), limit=8, predict_only=True))
    direct = run("urs", model, settings(judge), limit=8)["results"]["urs"]
    assert call(monkeypatch, "rejudge", str(file), "--metadata", told(judge, judge_preflight=True)) == 0
    [written] = file.parent.glob("rejudged_j_samples_urs_*.json")
    results = json.loads(written.read_text())["results"][file.stem]
    for name, value in results.items():
        assert direct[name] == pytest.approx(value), name
    said = capsys.readouterr().out
    assert "8 answers of samples_urs_" in said and "judged by j " in said and "|urs_final " in said
    [lines] = file.parent.glob("rejudged_j_*.jsonl")
    assert [one.response for one in read_saved(lines)] == [one.response for one in read_saved(file)]
    assert all(one.record for one in read_saved(lines))


def told(judge: ChatServer, **changed: Any) -> str:
    """Settings of a judge as a user types them."""
    given = settings(judge, **{"judge_preflight": False, **changed})
    return json.dumps({key: value for key, value in given.items() if key.startswith("judge_")})


def half_failed(folder: Path, judge: ChatServer) -> Path:
    """Six judged answers of which two have no score."""
    found = run("urs", answering(lambda _: "An answer."), settings(judge), limit=6)
    for sample in found["samples"]["urs"][:2]:
        record = json.loads(sample["filtered_resps"][0])
        sample["filtered_resps"] = [json.dumps({**record, "scores": None, "outcome": "unscored_call_failed"})]
    return saved(folder, found)


def test_only_what_failed_is_judged_again(judge: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = half_failed(tmp_path / "half", judge)
    calls = judge.count()
    assert call(monkeypatch, "rejudge", "--failed-only", str(file), "--metadata", told(judge)) == 0
    assert judge.count() == calls + 2


@pytest.mark.parametrize(
    ("changed", "said"), [({"judge_model": "another"}, "two judges"), ({"judge_language": "zh"}, "two prompts")]
)
def test_scores_that_do_not_go_together_are_not_mixed(
    judge: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    said: str,
) -> None:
    file = half_failed(tmp_path / "half", judge)
    calls = judge.count()
    assert call(monkeypatch, "rejudge", "--failed-only", str(file), "--metadata", told(judge, **changed)) == 1
    assert said in capsys.readouterr().err
    assert judge.count() == calls


def test_judging_is_finished_in_several_goes(
    judge: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path, run("urs", answering(lambda _: "An answer."), settings(judge), limit=6, predict_only=True))
    judge.script = lambda request: judging(request) if request.number < 4 else fails(500)
    given = ("--metadata", told(judge, judge_concurrency=1))
    assert call(monkeypatch, "rejudge", str(file), *given) == 0
    [written] = file.parent.glob("rejudged_*.jsonl")
    assert f"2 of 6 answers have no score; once more: --failed-only {written}" in capsys.readouterr().err
    judge.script = judging
    calls = judge.count()
    assert call(monkeypatch, "rejudge", "--failed-only", str(written), *given) == 0
    assert judge.count() == calls + 2
    assert list(file.parent.glob("rejudged_*.jsonl")) == [written]
    assert all(json.loads(one.record or "")["scores"] for one in read_saved(written))


def test_two_judges_stand_beside_each_other_and_beside_what_was_saved(
    judge: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path, run("urs", answering(lambda _: "An answer."), settings(judge), limit=2, predict_only=True))
    before = file.read_bytes()
    for name in ("first/model", "second"):
        assert call(monkeypatch, "rejudge", str(file), "--metadata", told(judge, judge_model=name)) == 0
    assert sorted(one.name.partition("_samples")[0] for one in file.parent.glob("*.jsonl")) == [
        "rejudged_first-model",
        "rejudged_second",
        file.name.partition("_samples")[0],
    ]
    assert list(file.parent.glob("samples_urs_*")) == [file] and file.read_bytes() == before
    # Both would become the second judge's file.
    both = [str(one) for one in file.parent.glob("rejudged_*.jsonl")]
    assert call(monkeypatch, "rejudge", *both, "--metadata", told(judge, judge_model="second")) == 1
    assert "would both be written to" in capsys.readouterr().err


def test_a_judge_that_cannot_be_had_is_one_line(
    tmp_path: Path, judge: ChatServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path, run("urs", answering(lambda _: "An answer."), settings(judge), limit=1, predict_only=True))
    capsys.readouterr()
    away = json.dumps({"judge_base_url": "http://127.0.0.1:9/v1", "judge_retries": 0})
    assert call(monkeypatch, "rejudge", str(file), "--judge-model", "m", "--metadata", away) == 1
    error = capsys.readouterr().err
    assert "the judge m cannot be had: APIConnectionError: Connection error. " in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("word", ["rejudge", "run"])
def test_without_lm_eval_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    for name in ("lm_eval", "lm_eval.__main__"):
        monkeypatch.setitem(sys.modules, name, None)
    assert call(monkeypatch, word, "--tasks", "urs") == 1
    error = capsys.readouterr().err
    assert "pip install 'urs-inspect[lm-eval]'" in error and error.count("\n") == 1


def test_a_file_that_is_no_text_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "samples_urs_1.jsonl"
    file.write_bytes(b"\xff\xfe{}")
    assert call(monkeypatch, "rejudge", str(file), "--judge-model", "m") == 1
    assert "samples_urs_1.jsonl: not in UTF-8" in capsys.readouterr().err


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
