"""Names that distinguish the logs of one judge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from tests.reports.judged_logs import answered, write_judged
from urs_inspect.logs._naming import (
    distinct_names,
    model_names,
    model_settings,
    public,
    short_names,
    sounds_secret,
    structured_of,
    whole_characters,
    with_whole_characters,
)


def test_one_log_a_judge_needs_no_more() -> None:
    assert distinct_names([("one", {"orders": "ab"}), ("other", {"orders": "ab"})]) == [
        "one",
        "other",
    ]


def test_names_say_what_differs_and_nothing_else() -> None:
    logs = [
        ("one", {"protocol": "joint", "orders": "ab", "temperature": "0.0", "created": "9:00"}),
        ("other", {"orders": "seeded"}),
        ("one", {"protocol": "joint", "orders": "both", "temperature": "0.7", "created": "9:01"}),
    ]
    assert distinct_names(logs) == [
        "one (ab, temperature=0.0)",
        "other",
        "one (both, temperature=0.7)",
    ]


def test_what_one_log_lacks_is_said() -> None:
    assert distinct_names([("one", {"top_p": "0.9"}), ("one", {})]) == [
        "one (top_p=0.9)",
        "one (no top_p)",
    ]


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        (
            [{"created": "9:00", "file": "x"}, {"created": "9:01", "file": "y"}],
            ["one (9:00)", "one (9:01)"],
        ),
        (
            [{"created": "9:00", "file": "x"}, {"created": "9:00", "file": "y"}],
            ["one (x)", "one (y)"],
        ),
        ([{"created": "9:00", "file": "x"}] * 2, ["one #1", "one #2"]),
    ],
)
def test_time_file_and_number_are_the_last_resort(
    facts: list[dict[str, str]], names: list[str]
) -> None:
    assert distinct_names([("one", each) for each in facts]) == names


def test_time_is_added_only_where_names_are_equal() -> None:
    logs = [
        {"orders": orders, "created": created}
        for orders, created in (("ab", "1"), ("ab", "2"), ("both", "3"))
    ]
    assert distinct_names([("one", each) for each in logs]) == [
        "one (ab, 1)",
        "one (ab, 2)",
        "one (both)",
    ]


def test_settings_of_a_model_are_without_secrets_and_what_changes_no_answer(
    pair_folder: Path,
) -> None:
    log = read_eval_log(str(next(pair_folder.glob("*.eval"))), header_only=True)
    log.eval.model_args = {"api_key": "hidden", "auth_token": "hidden", "quantization": "int8"}
    log.eval.model_generate_config.top_p = 0.5
    log.eval.model_generate_config.max_connections = 7
    settings = model_settings(log)
    assert (settings["quantization"], settings["top_p"]) == ("int8", 0.5)
    assert settings.keys().isdisjoint({"api_key", "auth_token", "max_connections"})


@pytest.mark.parametrize(
    "names",
    [
        {
            "open/x/one": "one",
            "open/x/two (temperature=1)": "two (temperature=1)",
            "bare": "bare",
            "open/": "open/",
        },
        {
            "open/x/one": "open/x/one",
            "other/one": "other/one",
            "open/two": "two",
        },  # two would be equal
        {"p/one (base=a/b)": "one (base=a/b)", "p/one": "one"},  # settings may hold slashes
    ],
)
def test_providers_are_left_out_where_names_stay_distinct(names: dict[str, str]) -> None:
    assert short_names(list(names)) == names


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([], None),
        ([{}, {"structured": None}], None),
        ([{"structured": False}], None),
        ([{"structured": True}], "true"),
        ([{"structured": True}, {}], "true"),
        ([{"structured": True}, {"structured": False}], "in part"),
        ([{"structured": [True, True]}], "true"),
        ([{"structured": [True, False]}], "in part"),
        ([{"structured": [False, 0]}], None),
        ([{"structured": 0}], None),
        ([{"structured": 1}], "true"),
        ([{"structured": 2, "judge_finals": [["a", 1], ["b", 2]]}], "true"),
        ([{"structured": 1, "judge_finals": [["a", 1], ["b", 2]]}], "in part"),
        ([{"structured": 0, "judge_finals": [["a", 1], ["b", 2]]}], None),
    ],
)
def test_judges_were_asked_by_a_schema_all_in_part_or_never(
    scores: list[dict[str, Any]], told: str | None
) -> None:
    assert structured_of(scores) == told


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api_key", True),
        ("AUTHORIZATION", True),
        ("client_secret", True),
        ("Password", True),
        ("aws_credentials", True),
        ("access_token", True),
        ("max_tokens", False),
        ("reasoning_tokens", False),
        ("temperature", False),
    ],
)
def test_what_sounds_like_a_secret(name: str, secret: bool) -> None:
    assert sounds_secret(name) == secret
    assert public({name: 1, "other": None}) == ({} if secret else {name: 1})


def test_settings_of_the_task_go_before_those_of_the_model(tmp_path: Path) -> None:
    log = read_eval_log(write_judged(tmp_path / "log.eval", answered("1")))
    log.eval.model_generate_config.temperature = 0.1
    log.eval.model_generate_config.top_p = 0.5
    log.eval.model_args = {"device": "cpu", "batch": 8}
    log.plan.config.temperature = 0.9
    log.plan.config.timeout = 30
    assert model_settings(log) == {"device": "cpu", "temperature": 0.9, "top_p": 0.5}


def test_equal_models_share_a_name_and_others_are_told_apart() -> None:
    cold: Mapping[str, str] = {"temperature": "0"}
    warm: Mapping[str, str] = {"temperature": "1"}
    given = [("m\ud800", cold), ("n", cold), ("m\ud800", warm), ("m\ud800", cold)]
    assert model_names(given) == [
        "m? (temperature=0)",
        "n",
        "m? (temperature=1)",
        "m? (temperature=0)",
    ]


def test_a_time_that_all_share_names_nothing_and_the_file_does() -> None:
    logs = [
        {"orders": orders, "created": "9:00", "file": file}
        for orders, file in (("ab", "x"), ("ab", "y"), ("both", "z"))
    ]
    names = distinct_names([("one", each) for each in logs])
    assert names == ["one (ab, x)", "one (ab, y)", "one (both)"]
    assert distinct_names([("one", logs[0]), ("other", logs[1]), ("one", logs[0])]) == [
        "one #1",
        "other",
        "one #2",
    ]


def test_half_characters_are_question_marks_wherever_they_are() -> None:
    half = "half \udc80"
    rows = [{"a": half, "b": {half: [1], "c": half}, "d": (half, 2), "e": 3, "f": "ganz ü"}]
    assert with_whole_characters(rows) == [
        {
            "a": "half ?",
            "b": {"half ?": [1], "c": "half ?"},
            "d": ("half ?", 2),
            "e": 3,
            "f": "ganz ü",
        }
    ]
    assert whole_characters(half) == "half ?"
