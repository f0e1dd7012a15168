"""`urs_addition` through the harness."""

import re
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.tasks.scripted import Reply, Script, metric_values, output, run, samples_of
from urs_inspect.studies._addition_task import URS_ADDITION_VERSION, urs_addition


def answered(log_dir: Path, reply: "Script | Reply", **arguments: object) -> EvalLog:
    script = reply if isinstance(reply, Script) else Script(reply)
    log = run(urs_addition(**arguments), log_dir, model=script.model("subject"))  # type: ignore[arg-type]
    assert log.status == "success", log.error
    return log


def numbers_in(messages: list[ChatMessage]) -> list[int]:
    [chain] = re.findall(r"\d\d(?: \+ \d\d)+", messages[-1].text)
    return [int(number) for number in chain.split(" + ")]


def test_a_model_that_can_add_up_to_four_numbers(tmp_path: Path) -> None:
    def reply(messages: list[ChatMessage]) -> Reply:
        numbers = numbers_in(messages)
        return f"Adding...\n\n**Answer:** {sum(numbers[:4]):,}"

    log = answered(tmp_path, Script(reply), lengths="2-12", per_length=3)
    found = metric_values(log, "exact_sum")
    assert found["accuracy"] == pytest.approx(3 / 8)  # 2, 3 and 4 of 2 to 9
    assert found["2-10 accuracy"] == pytest.approx(3 / 9)
    assert found["all accuracy"] == pytest.approx(3 / 11)
    assert (found["longest"], found["longest unbroken"], found["no_number"]) == (4, 4, 0)
    assert list(found)[:3] == ["accuracy", "low", "high"] and len(found) <= 10
    assert log.results is not None and log.results.headline is not None
    assert (log.results.headline.scorer, log.results.headline.metric) == ("exact_sum", "accuracy")


@pytest.mark.parametrize("lengths", ["2-3", "12"])
def test_the_harness_always_finds_the_headline(
    lengths: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    abandoned: list[str] = []
    monkeypatch.setattr(
        "inspect_ai.log._headline._abandon",
        lambda label, value: abandoned.append(f"{label} {value}"),
    )
    log = answered(tmp_path, "Answer: 7", lengths=lengths, per_length=2)
    assert abandoned == []
    assert log.results is not None and log.results.headline is not None
    assert log.results.headline.metric == "accuracy"


def test_what_the_log_says_of_each_sample(tmp_path: Path) -> None:
    replies: list[Reply] = [
        "Answer: 7",
        "I would rather not.",
        " \n",
        output("Answer: 20", "max_tokens"),
    ]
    log = answered(tmp_path, Script(replies), lengths=2, per_length=4)
    scores = [(sample.scores or {})["exact_sum"] for sample in samples_of(log)]
    assert all(score.value == {"right": 0, "summands": 2} for score in scores)
    assert {
        ((score.metadata or {})["outcome"], score.reason, score.answer) for score in scores
    } == {
        ("wrong", None, "7"),
        ("wrong", None, "20"),
        ("no_number", "invalid_response_format", "no_number"),
        ("no_response", "no_response", "no_response"),
    }
    metrics = metric_values(log, "exact_sum")
    assert (metrics["no_number"], metrics["no_response"], metrics["accuracy"]) == (1, 1, 0)


def test_a_sample_without_an_answer_is_not_counted(tmp_path: Path) -> None:
    @solver
    def add_even() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            numbers = state.metadata["numbers"]
            if numbers[0] % 2 == 0:
                state.output = output(f"{sum(numbers)}")
            return state

        return solve

    task = urs_addition(lengths=2, per_length=10)
    task.solver = add_even()
    log = run(task, tmp_path, model=Script("-").model())
    even = sum(sample.metadata["numbers"][0] % 2 == 0 for sample in samples_of(log))
    assert 0 < even < 10
    assert metric_values(log, "exact_sum")["accuracy"] == 1
    assert log.results is not None
    assert {(one.scored_samples, one.unscored_samples) for one in log.results.scores} == {
        (even, 10 - even)
    }


def test_the_default_is_that_of_the_paper() -> None:
    task = urs_addition()
    assert (task.version, len(task.dataset)) == (URS_ADDITION_VERSION, 190)
    assert {len((sample.metadata or {})["numbers"]) for sample in task.dataset} == set(range(2, 21))
    assert task.metadata is not None
    assert (
        task.metadata["published in the URS paper, Table 7"]["GPT-4"] == "Max L 12, accuracy 100%"
    )


def test_chinese_is_asked_and_read(tmp_path: Path) -> None:
    log = answered(
        tmp_path,
        Script(
            lambda messages: (
                f"总和是{sum(numbers_in(messages))}。" if "相加" in messages[-1].text else "?"
            )
        ),
        lengths="3",
        per_length=2,
        language="zh",
    )
    assert metric_values(log, "exact_sum")["accuracy"] == 1


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [("2-4", {2, 3, 4}), ("2-3,7", {2, 3, 7}), (5, {5}), ([2, "4-5"], {2, 4, 5}), (" 3 , 3 ", {3})],
)
def test_lengths_as_the_command_line_gives_them(
    lengths: "str | int | list[str | int]", expected: set[int]
) -> None:
    task = urs_addition(lengths=lengths, per_length=1)
    assert {len((sample.metadata or {})["numbers"]) for sample in task.dataset} == expected
    assert len(task.dataset) == len(expected)
