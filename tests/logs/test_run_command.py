"""The command that repeats a run."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalConfig, EvalLog, read_eval_log
from inspect_ai.model import GenerateConfig, ModelConfig

from tests.reports.judged_logs import JUDGE, answered, judgement, write_judged
from urs_inspect.logs._run_command import _flags, argument_text, run_command


def header(path: Path, **spec: Any) -> EvalLog:
    return read_eval_log(
        write_judged(path / "a.eval", answered("x", judgement(1.0)), **spec), header_only=True
    )


def test_a_plain_run(tmp_path: Path) -> None:
    log = header(tmp_path, task_args_passed={"dataset": "sample"})
    assert (
        run_command(log, [JUDGE])
        == "inspect eval urs_inspect/urs --model p/model --model-role grader=p/judge -T"
        " dataset=sample"
    )


def test_everything_that_was_set(tmp_path: Path) -> None:
    given = {
        "intents": ["leisure", "api"],
        "lenient": True,
        "judge_temperature": None,
        "dataset": "a b.csv",
    }
    log = header(
        tmp_path,
        roles={"grader": ["p/a", "p/b"]},
        task_args_passed=given,
        model_args={"max_tokens": 5},
        solver="own",
        solver_args_passed={"n": 2},
        config=EvalConfig(epochs=3, limit=(10, 20), sample_id=["x", "y"]),
        model_generate_config=GenerateConfig(
            temperature=0.5, max_connections=9, reasoning_effort="high"
        ),
    )
    assert (
        run_command(log, ["p/a", "p/b"])
        == "inspect eval urs_inspect/urs --model p/model -M max_tokens=5 --model-role 'grader=[p/a,"
        " p/b]' -T intents=leisure,api -T lenient=true -T judge_temperature=null -T 'dataset=a"
        " b.csv' --solver own -S n=2 --limit 10-20 --epochs 3 --sample-id x,y --temperature 0.5"
        " --reasoning-effort high"
    )


def test_no_secret_is_shown(tmp_path: Path) -> None:
    log = header(
        tmp_path,
        model_args={"api_key": "hush", "extra": {"auth": "hush", "fine": 1}},
        task_args_passed={"password": "hush", "dataset": "https://me:hush@host/x.csv"},
        model_base_url="https://me:hush@host/v1",
        model_generate_config=GenerateConfig(extra_headers={"Authorization": "hush"}),
        model_roles={
            "grader": ModelConfig(
                model=JUDGE, args={"api_key": "hush"}, base_url="http://u:hush@h/"
            )
        },
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
    assert (
        second
        == "inspect score LOG --scorer urs_inspect/intent_judge --model-role 'grader=[p/other,"
        " p/third]' --action append --overwrite"
    )


def test_a_model_that_judged_itself_needs_no_second_command(tmp_path: Path) -> None:
    assert (
        run_command(header(tmp_path, roles={}), ["p/model"])
        == "inspect eval urs_inspect/urs --model p/model"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "text"),
        ("https://me:hush@host/x", "https://host/x"),
        ((10, 20), "10-20"),
        ([1, "a", 2.5], "1,a,2.5"),
        (["https://me:hush@host/x"], "https://host/x"),
        ([[1], "a"], '[[1], "a"]'),
        (True, "true"),
        (None, "null"),
        (0.5, "0.5"),
        ({"name": "é", "token": "hush", "in": [{"password": "hush"}]}, '{"name": "é", "in": [{}]}'),
    ],
)
def test_values_as_the_command_line_takes_them(value: Any, shown: str) -> None:
    assert argument_text(value) == shown


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"max_tokens": 5}, ["--max-tokens", "5"]),
        ({"lenient": True}, ["--lenient"]),
        ({"lenient": False, "limit": None}, []),
        ({"limit": 0}, ["--limit", "0"]),
        ({"headers": {"api_key": "hush"}}, []),
        ({"headers": {"api_key": "hush", "x": 1}}, ["--headers", '{"x": 1}']),
    ],
)
def test_flags_of_settings(values: dict[str, Any], words: list[str]) -> None:
    assert _flags(values) == words


def test_the_beginning_of_a_command(tmp_path: Path) -> None:
    log = header(tmp_path, task_file="my/urs.py", config=EvalConfig(epochs=1, message_limit=4))
    words = run_command(log, [JUDGE]).split()
    assert words[:5] == ["inspect", "eval", "my/urs.py", "--model", "p/model"]
    assert words[-2:] == ["--message-limit", "4"] and "--epochs" not in words
    none = header(tmp_path, model="none/none")
    assert "--model none " in run_command(none, [JUDGE])
