"""`give_rating`: a failed call is kept and ends nothing."""

from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage

from tests.tasks.scripted import Reply, Script, judge_numbers, output, run, samples_of
from urs_inspect.scorers import rating_agreement
from urs_inspect.solvers import give_rating
from urs_inspect.solvers.give_rating import INSTRUCTIONS

FACTS = {"rating": 3, "label_scale": [1, 5], INSTRUCTIONS: "Rate."}


def rated(log_dir: Path, script: Script, **options: object) -> EvalLog:
    samples = [Sample(id=f"r{n}", input=f"Answer {n}.", metadata={**FACTS, "prompt": str(n)}) for n in (1, 2, 3)]
    task = Task(dataset=MemoryDataset(samples), solver=give_rating(), scorer=rating_agreement())
    return run(task, log_dir, model=script.model(), grader=None, **options)


def failing(fault: Reply) -> Script:
    def answer(messages: list[ChatMessage]) -> Reply:
        return fault if "2" in messages[-1].text else '{"score": 4}'

    return Script(answer)


def test_instructions_come_first_and_the_input_last(tmp_path: Path) -> None:
    script = Script('{"score": 4}')
    log = rated(tmp_path, script)
    assert {tuple((m.role, m.text) for m in messages) for messages in script.seen} == {
        (("system", "Rate."), ("user", f"Answer {n}.")) for n in (1, 2, 3)
    }
    assert [m.role for m in samples_of(log)[0].messages] == ["system", "user", "assistant"]


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (RuntimeError("the endpoint is down"), "RuntimeError: the endpoint is down"),
        (output("", error="no such model"), "no such model"),
    ],
)
def test_a_failed_call_is_no_rating_and_costs_no_other(fault: Reply, detail: str, tmp_path: Path) -> None:
    log = rated(tmp_path, failing(fault))
    assert log.status == "success"
    scores = {sample.id: (sample.scores or {})["rating_agreement"] for sample in samples_of(log)}
    assert [score.answer for score in scores.values()] == ["4", "unread", "4"]
    metadata = scores["r2"].metadata or {}
    assert (metadata["failure_mode"], metadata["failure_detail"]) == ("call_failed", detail)
    assert detail in (scores["r2"].explanation or "")
    assert all(sample.error is None for sample in samples_of(log))
    assert judge_numbers(log)["failures call_failed"] == 1


def test_a_limit_is_the_harness_s_own_and_no_failed_call(tmp_path: Path) -> None:
    log = rated(tmp_path, Script('{"score": 4}'), token_limit=1)
    assert log.status == "success"
    assert {sample.limit.type for sample in samples_of(log) if sample.limit} == {"token"}
    found = judge_numbers(log)
    assert {name: count for name, count in found.items() if name.startswith("failures")} == {"failures no_answer": 3}
