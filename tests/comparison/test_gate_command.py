import json
import shutil

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.tasks.scripted import run as run_quietly
from urs_inspect.reports._texts import DASH

RIGHT = {"base": 56, "same": 55, "worse": 30}


@solver
def answer(right: int) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        place = state.metadata.get("place", 0)
        state.output = ModelOutput.from_content("none", "yes" if place < right else "no")
        return state

    return solve


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Directories of logs of a task of 80 samples, of which a model has so many right."""
    folder = tmp_path_factory.mktemp("gate")
    samples = [
        Sample(input=f"Question {i}?", target="yes", id=i, metadata={"place": i}) for i in range(80)
    ]
    for name, right in RIGHT.items():
        task = Task(
            MemoryDataset(samples, name="questions"),
            solver=answer(right),
            scorer=match(),
            name="quiz",
        )
        assert run_quietly(task, folder / name, model="none").status == "success"
    return folder


@pytest.mark.parametrize(
    ("new", "margin", "code"), [("same", 0.1, 0), ("worse", 0.1, 1), ("same", 0.01, 2)]
)
def test_the_exit_code_is_the_decision(run, logs, new, margin, code):
    result = run("gate", logs / "base", logs / new, "--margin", margin)
    assert result.exit_code == code, result.output
    found = json.loads(run("gate", logs / "base", logs / new, "--margin", margin, "--json").stdout)
    assert found["code"] == code
    difference = found["tables"]["gate"][2]
    assert difference["mean"] == pytest.approx((RIGHT[new] - RIGHT["base"]) / 80)
    assert difference["low"] < difference["mean"] < difference["high"]


def test_a_judge_in_place_of_another(run, logs):
    result = run(
        "gate",
        logs / "base",
        logs / "worse",
        "--margin",
        0.1,
        "--equivalent",
        "--series",
        "0.7,0.8",
    )
    assert result.exit_code == 1
    assert "0.375" in result.output  # 0.7 less 26 of 80


def test_two_tasks_are_refused_before_their_scores_are_read(run, logs, tmp_path):
    other = Task(MemoryDataset([Sample(input="?", target="yes")]), name="other", scorer=match())
    inspect_eval(other, model="none", solver=answer(1), log_dir=str(tmp_path), display="none")
    result = run("gate", logs / "base", tmp_path, "--margin", 0.1, "--scorer", "no")
    assert result.exit_code == 3
    assert all(word in result.stderr for word in ("quiz", "other"))


def test_of_folders_with_logs_of_several_tasks_one_is_named(run, logs, tmp_path):
    other = Task(MemoryDataset([Sample(input="?", target="yes")]), name="other", scorer=match())
    for side in ("base", "same"):
        shutil.copytree(logs / side, tmp_path / side)
        run_quietly(other, tmp_path / side, model="none", solver=answer(1))
    command = ("gate", tmp_path / "base", tmp_path / "same", "--margin", 0.1)
    refused = run(*command)
    assert refused.exit_code == 3
    assert all(word in refused.stderr for word in ("quiz", "other", "task"))
    assert run(*command, "--task", "quiz").exit_code == 0


@pytest.mark.parametrize(("base", "new", "code"), [("base", "worse", 0), ("worse", "base", 1)])
def test_where_a_lower_score_is_better_fewer_right_answers_pass(run, logs, base, new, code):
    command = ("gate", logs / base, logs / new, "--margin", 0.1, "--lower-is-better")
    assert run(*command).exit_code == code


def test_the_summary_is_appended_as_markdown(run, logs, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    for more in ((), ("--json",)):
        result = run(
            "gate",
            logs / "base",
            logs / "same",
            "--margin",
            0.1,
            "--sequential",
            "--summary",
            summary,
            *more,
        )
    assert json.loads(result.stdout)["code"] == result.exit_code
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.count("# Gate: ") == 2
    assert "| Difference | " in text
    assert DASH not in text


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("nowhere nowhere --margin 0.1", "nowhere"),
        ("base same", "margin"),
        ("base same --margin 1.5", "margin"),
        ("base same --margin 0.1 --scorer other", "scorer"),
        ("base same --margin 0.1 --series 1", "series"),
        ("base same --margin 0.1 --equivalent --series one", "series"),
        ("base same --margin 0.1 --equivalent --series nan", "series"),
        ("base same --margin 0.1 --summary missing/folder/file.md", "summary"),
        ("base same --margin 0.1 --unknown", "--unknown"),
        *((f"base same --margin {margin}", "margin") for margin in ("nan", "inf", 2, 0)),
        *(
            (f"base same --margin 0.1 --scale {scale}", "scale")
            for scale in ("nan,1", "1,0", "0,inf", "1")
        ),
        ("base", "NEW"),
    ],
)
def test_bad_input_is_no_decision(run, logs, monkeypatch, arguments, named):
    monkeypatch.chdir(logs)
    result = run("gate", *arguments.split())
    assert result.exit_code == 3
    assert "Error" in result.stderr
    assert "Traceback" not in result.stderr
    assert named in result.stderr


@pytest.mark.parametrize("scale", ["nan,1", "1,0", "0,0", "-inf,1"])
def test_compare_refuses_the_same_scales(run, logs, scale):
    result = run("compare", logs / "base", "--scale", scale)
    assert result.exit_code == 1
    assert "scale: must " in result.stderr


def test_an_error_of_the_program_is_no_decision(run, logs, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("broken")

    monkeypatch.setattr("urs_inspect.comparison._gate_report.make_gate", fail)
    result = run("gate", logs / "base", logs / "same", "--margin", 0.1)
    assert result.exit_code == 3
    assert "broken" in result.stderr


def test_the_help_names_all_exit_codes(run):
    result = run("gate", "--help")
    assert result.exit_code == 0
    assert all(f"{code} " in result.output for code in range(4))
