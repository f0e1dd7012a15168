"""The commands that the documentation promises, as a user types them."""

import math
from collections import Counter
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from tests.reports.answer_rows import model_of, ranking_of_log
from tests.servers import ChatServer, Request, Response, says, serving
from tests.tasks.commands import REPOSITORY, refused, run_inspect, succeed
from tests.tasks.scripted import metric_values, number, run, samples_of
from tests.telling import tells
from urs_inspect import tasks, urs

SIMULATION = ["--model", "urs_simulation/weak", "--model-role", "grader=urs_simulation/judge"]
OTHER_TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes


@task
def greeting() -> Task:
    return Task(dataset=MemoryDataset([Sample(input="Say hello.", target="simulated")]), scorer=includes())
"""


def logs_in(tmp_path: Path) -> list[EvalLog]:
    return [read_eval_log(info) for info in list_eval_logs(str(tmp_path / "logs"))]


def quiet(tmp_path: Path) -> list[str]:
    return ["--log-dir", str(tmp_path / "logs"), "--display", "plain"]


def final_of(sample, scorer: str) -> float:
    value = (sample.scores or {})[scorer].value
    return number(value["final"]) if isinstance(value, dict) else math.nan


def test_run_without_a_grader_says_so_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def answer_or_judge(request: Request) -> Response:
        return says(
            '{"Final Score": 6}'
            if "<answer_to_rate>" in request.messages[-1]["content"]
            else "An answer."
        )

    with serving(answer_or_judge, monkeypatch) as server:
        model = ["--model", "openai-api/local/subject", "-T", "dataset=sample", "--limit", "3"]
        said = succeed("eval", "urs_inspect/urs", *model, *quiet(tmp_path), tmp_path=tmp_path)
        assert server.count("subject") == 6

    assert "openai-api/local/subject JUDGES ITS OWN ANSWERS" in " ".join(said.split())
    assert "--model-role grader=" in said
    [log] = logs_in(tmp_path)
    assert model_of(ranking_of_log(log)).self_judged == 1.0
    assert metric_values(log, "intent_judge")["final"] == 6


def test_another_judge_scores_a_log_without_asking_the_model_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def script(request: Request) -> Response:
        return says('{"Final Score": 3}' if request.model == "strict" else "An answer.")

    with serving(script, monkeypatch) as server:
        log = run(
            urs(dataset="sample"),
            tmp_path / "logs",
            model="openai-api/local/rescored",
            grader="urs_simulation/judge",
            limit=5,
        )
        assert Counter(request.model for request in server.requests) == {"rescored": 5}
        output = tmp_path / "again.eval"
        succeed(
            *("score", log.location, "--scorer", "urs_inspect/intent_judge"),
            *("--model-role", "grader=openai-api/local/strict"),
            *("--action", "append", "--output-file", str(output), "--display", "plain"),
            tmp_path=tmp_path,
        )
        assert Counter(request.model for request in server.requests) == {"rescored": 5, "strict": 5}

    again = read_eval_log(str(output))
    first = {sample.id: sample for sample in samples_of(log)}
    assert again.status == "success"
    for sample in samples_of(again):
        assert sample.output.completion == first[sample.id].output.completion
        [appended] = set(sample.scores or {}) - {"intent_judge", "judge_outcome"}
        judges = ((sample.scores or {})[appended].metadata or {})["judges"]
        assert [judge["judge"] for judge in judges] == ["openai-api/local/strict"]
        assert final_of(sample, appended) == 3
        assert final_of(sample, "intent_judge") == final_of(first[sample.id], "intent_judge")
    assert again.results is not None
    means = [
        result.metrics["final"].value
        for result in again.results.scores
        if result.name.startswith("intent_judge")
    ]
    assert means == pytest.approx([metric_values(log, "intent_judge")["final"], 3])


def test_chosen_cases_are_run_beside_another_task_of_which_urs_shares_the_command(tmp_path: Path):
    (tmp_path / "other.py").write_text(OTHER_TASK, encoding="utf-8")
    tasks = ["urs_inspect/urs", "other.py@greeting"]
    chosen = [
        "-T",
        "dataset=sample",
        "-T",
        "language=en",
        "-T",
        "intents=leisure,ask_for_advice",
        "--limit",
        "50",
    ]
    succeed("eval", *tasks, *SIMULATION, *chosen, *quiet(tmp_path), tmp_path=tmp_path)

    by_task = {log.eval.task.rpartition("/")[2]: log for log in logs_in(tmp_path)}
    assert {name: log.status for name, log in by_task.items()} == {
        "urs": "success",
        "greeting": "success",
    }
    kinds = Counter(
        (sample.metadata["intent"], sample.metadata["language"])
        for sample in samples_of(by_task["urs"])
    )
    assert kinds == {("leisure", "en"): 3, ("ask_for_advice", "en"): 3}
    assert metric_values(by_task["greeting"], "includes")["accuracy"] == 1


def test_tasks_are_listed_and_run_from_the_root_of_the_repository(tmp_path: Path):
    listed = succeed("list", "tasks", "tasks", tmp_path=tmp_path, cwd=REPOSITORY)
    assert set(listed.split()) == {f"tasks/{name}.py@{name}" for name in tasks.__all__}

    options = ["-T", "dataset=sample", "--limit", "2"]
    succeed(
        "eval",
        "tasks/urs.py",
        *SIMULATION,
        *options,
        *quiet(tmp_path),
        tmp_path=tmp_path,
        cwd=REPOSITORY,
    )
    [log] = logs_in(tmp_path)
    assert (log.status, len(samples_of(log))) == ("success", 2)


def test_panel_and_settings_of_judges_are_given_on_the_command_line(tmp_path: Path):
    panel = "grader=[{model: urs_simulation/judge, temperature: 0.5}, urs_simulation/strong]"
    options = ["-T", "dataset=sample", "--limit", "4", "--temperature", "0.9"]
    succeed(
        *("eval", "urs_inspect/urs", "--model", "urs_simulation/weak", "--model-role", panel),
        *(*options, *quiet(tmp_path)),
        tmp_path=tmp_path,
    )

    [log] = logs_in(tmp_path)
    assert metric_values(log, "judge_outcome") == {"judged": 4}
    # The simulated models judge alike, so that they agree in full.
    assert model_of(ranking_of_log(log)).judge_alpha == 1.0
    for sample in samples_of(log):
        judges = ((sample.scores or {})["intent_judge"].metadata or {})["judges"]
        assert [(judge["judge"], judge["temperature_requested"]) for judge in judges] == [
            ("urs_simulation/judge", 0.5),
            ("urs_simulation/strong", 0.0),
        ]


NEVER_ASKED = (
    *(
        "eval",
        "urs_inspect/urs",
        "--model",
        "openai-api/local/a",
        "--model-role",
        "grader=openai-api/local/b",
    ),
    *("--log-dir", "logs", "--display", "log", "--max-retries", "0"),
)


def test_published_data_that_is_nowhere_is_one_error_with_every_way_out(
    server: ChatServer, tmp_path: Path, monkeypatch, capsys
):
    def no_network(*args: object, **kwargs: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("inspect_ai.util.download", no_network)
    monkeypatch.chdir(tmp_path)
    refusal = refused(*NEVER_ASKED, monkeypatch=monkeypatch, capsys=capsys)

    assert refusal.status == 1
    assert "Traceback" not in refusal.error
    ways = [
        "https://raw.githubusercontent.com/Alice1998/URS/",
        "6041bb3b",
        "URS_INSPECT_DATA_DIR",
        "-T dataset=sample",
    ]
    assert [way for way in ways if way not in refusal.error] == []
    assert server.count() == 0 and not list(tmp_path.glob("logs/*"))


def test_child_process_exits_with_the_error_too(server: ChatServer, tmp_path: Path):
    done = run_inspect(*NEVER_ASKED, "-T", "dataset=sample", "-T", "language=fr", tmp_path=tmp_path)

    assert done.returncode == 1
    assert tells(done.stderr.strip(), "Error: language: ... 'fr'; allowed: en, zh (or 'all')")
    assert done.stdout.strip() == ""
    assert server.count() == 0 and not list(tmp_path.glob("logs/*"))
