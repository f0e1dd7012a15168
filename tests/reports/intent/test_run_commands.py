"""The command that repeats a run, without secrets."""

import shlex
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalLog, read_eval_log
from inspect_ai.model import GenerateConfig, ModelConfig

from tests.reports.intent.judged_logs import JUDGE, answered, judgement, write_judged
from urs_inspect.reports.intent.run_commands import run_command


def header(path: Path, **spec: Any) -> EvalLog:
    return read_eval_log(write_judged(path / "a.eval", answered("x", judgement(1.0)), **spec), header_only=True)


def test_a_plain_run(tmp_path: Path) -> None:
    log = header(tmp_path, task_args_passed={"dataset": "sample"})
    assert run_command(log, [JUDGE]) == (
        "inspect eval urs_inspect/urs --model p/model --model-role grader=p/judge -T dataset=sample"
    )


def test_everything_that_was_set(tmp_path: Path) -> None:
    log = header(
        tmp_path,
        roles={"grader": ["p/a", "p/b"]},
        task_args_passed={
            "intents": ["leisure", "api"],
            "lenient": True,
            "judge_temperature": None,
            "dataset": "a b.csv",
        },
        model_args={"max_tokens": 5},
        solver="own",
        solver_args_passed={"n": 2},
        config=EvalConfig(epochs=3, limit=(10, 20), sample_id=["x", "y"]),
        model_generate_config=GenerateConfig(temperature=0.5, max_connections=9, reasoning_effort="high"),
    )
    words = shlex.split(run_command(log, ["p/a", "p/b"]))
    for flag, value in (
        ("--model-role", "grader=[p/a, p/b]"),
        ("-T", "intents=leisure,api"),
        ("-T", "lenient=true"),
        ("-T", "judge_temperature=null"),
        ("-T", "dataset=a b.csv"),
        ("-M", "max_tokens=5"),
        ("--solver", "own"),
        ("-S", "n=2"),
        ("--epochs", "3"),
        ("--limit", "10-20"),
        ("--sample-id", "x,y"),
        ("--temperature", "0.5"),
        ("--reasoning-effort", "high"),
    ):
        assert any(words[place : place + 2] == [flag, value] for place in range(len(words))), (flag, value)
    assert "--max-connections" not in words


def test_no_secret_is_shown(tmp_path: Path) -> None:
    log = header(
        tmp_path,
        model_args={"api_key": "hush", "extra": {"auth": "hush", "fine": 1}},
        task_args_passed={"password": "hush", "dataset": "https://me:hush@host/x.csv"},
        model_base_url="https://me:hush@host/v1",
        model_generate_config=GenerateConfig(extra_headers={"Authorization": "hush"}),
        model_roles={"grader": ModelConfig(model=JUDGE, args={"api_key": "hush"}, base_url="http://u:hush@h/")},
    )
    command = run_command(log, [JUDGE])
    assert "hush" not in command
    assert "https://host/v1" in command
    assert '"fine": 1' in command
    assert '"base_url": "http://h/"' in command


def test_judged_later(tmp_path: Path) -> None:
    log = header(tmp_path)
    first, second = run_command(log, ["p/other", "p/third"]).split(" && ")
    assert first == run_command(log, [JUDGE])
    assert second == (
        "inspect score LOG --scorer urs_inspect/intent_judge --model-role 'grader=[p/other, p/third]' --action append"
    )


def test_a_model_that_judged_itself_needs_no_second_command(tmp_path: Path) -> None:
    assert run_command(header(tmp_path, roles={}), ["p/model"]) == "inspect eval urs_inspect/urs --model p/model"
