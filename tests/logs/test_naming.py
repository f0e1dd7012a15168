"""Names that tell the logs of one judge apart."""

from pathlib import Path

import pytest

from tests.reports.pairs import write_pairs
from tests.tasks.scripted import Script, run
from urs_inspect.logs.naming import distinct_names, facts_of
from urs_inspect.tasks import judge_pairwise


def test_one_log_a_judge_needs_no_more() -> None:
    assert distinct_names([("one", {"orders": "ab"}), ("other", {"orders": "ab"})]) == ["one", "other"]


def test_names_say_what_differs_and_nothing_else() -> None:
    logs = [
        ("one", {"protocol": "joint", "orders": "ab", "temperature": "0.0", "created": "9:00"}),
        ("other", {"orders": "seeded"}),
        ("one", {"protocol": "joint", "orders": "both", "temperature": "0.7", "created": "9:01"}),
    ]
    assert distinct_names(logs) == ["one (ab, temperature=0.0)", "other", "one (both, temperature=0.7)"]


def test_what_one_log_lacks_is_said() -> None:
    assert distinct_names([("one", {"top_p": "0.9"}), ("one", {})]) == ["one (top_p=0.9)", "one (no top_p)"]


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        ([{"created": "9:00", "file": "x"}, {"created": "9:01", "file": "y"}], ["one (9:00)", "one (9:01)"]),
        ([{"created": "9:00", "file": "x"}, {"created": "9:00", "file": "y"}], ["one (x)", "one (y)"]),
        ([{"created": "9:00", "file": "x"}] * 2, ["one #1", "one #2"]),
    ],
)
def test_time_file_and_number_are_the_last_resort(facts: list[dict[str, str]], names: list[str]) -> None:
    assert distinct_names([("one", each) for each in facts]) == names


def test_time_is_added_only_where_names_are_equal() -> None:
    logs = [{"orders": orders, "created": created} for orders, created in (("ab", "1"), ("ab", "2"), ("both", "3"))]
    assert distinct_names([("one", each) for each in logs]) == ["one (ab, 1)", "one (ab, 2)", "one (both)"]


def test_facts_of_a_log_are_arguments_and_settings_without_secrets(tmp_path: Path) -> None:
    task = judge_pairwise(str(write_pairs(tmp_path / "pairs.jsonl")), orders="ab", seed=3)
    log = run(task, tmp_path / "logs", model=Script("?").model("m", temperature=0.3, max_tokens=9), grader=None)
    log.eval.model_args = {"api_key": "hidden", "auth_token": "hidden", "quantization": "int8"}
    facts = facts_of(log)
    assert (facts["orders"], facts["seed"], facts["quantization"]) == ("ab", "3", "int8")
    [event] = [event for event in (log.samples or [])[0].events if event.event == "model"]
    # Whatever the harness made of the model's and the task's own temperature: what was sent counts.
    assert facts["temperature"] == str(event.config.temperature)
    assert facts["max_tokens"] == "9"
    assert "hidden" not in facts.values()
    assert "bench" not in facts  # its path is no fact about the judge
    assert facts["file"].endswith(".eval") and "/" not in facts["file"]
