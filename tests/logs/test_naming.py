"""Names that distinguish the logs of one judge."""

from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from urs_inspect.logs._naming import distinct_names, facts_of, model_settings, short_names


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


def test_facts_of_a_log_are_arguments_and_settings_without_secrets(pair_folder: Path) -> None:
    logs = [read_eval_log(str(file)) for file in pair_folder.glob("*.eval")]
    [log] = [log for log in logs if log.eval.model == "mockllm/good"]
    log.eval.model_args = {"api_key": "hidden", "auth_token": "hidden", "quantization": "int8"}
    [event] = [event for event in (log.samples or [])[0].events if event.event == "model"]
    event.config.temperature, event.config.max_tokens = 0.3, 9
    facts = facts_of(log)
    assert (facts["orders"], facts["seed"], facts["quantization"]) == ("ab", "0", "int8")
    assert (facts["temperature"], facts["max_tokens"]) == (
        "0.3",
        "9",
    )  # of the call, not of the model or task
    assert "hidden" not in facts.values()
    assert "bench" not in facts  # its path is no fact about the judge
    assert facts["file"].endswith(".eval") and "/" not in facts["file"]


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
