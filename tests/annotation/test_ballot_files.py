"""Ballots out of logs and files."""

import json
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.annotation.samples import ballot, ballots
from urs_inspect._util import InputError
from urs_inspect.annotation.ballot_files import load_ballots
from urs_inspect.discrepancy.ballots import Ballot, write_ballots

LONG = Ballot.between("long", "q" * 5000, {"a": "long response " * 3000, "b": ""}, reference="r" * 5000)


@solver
def asks_nobody() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """A finished log in which some samples have ballots, one of them over two epochs."""
    samples = [
        Sample(input="q", id="answer", metadata={"model": "apple"}),
        *(Sample(input="q", id=each.id, metadata={"ballot": each.to_dict()}) for each in (*ballots(2), LONG)),
    ]
    [made] = inspect_eval(
        Task(dataset=samples, solver=asks_nobody(), epochs=2),
        model="mockllm/model",
        log_dir=str(tmp_path_factory.mktemp("logs")),
        display="none",
    )
    assert made.status == "success"
    return made


def test_a_log_gives_each_ballot_once_and_whole(log: EvalLog) -> None:
    found = load_ballots(Path(log.location))
    assert len(found) == 3
    assert set(found) == {*ballots(2), LONG}


def test_a_log_as_json_does_as_well(log: EvalLog, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    write_eval_log(log, str(path))
    assert load_ballots(path) == load_ballots(Path(log.location))


def test_a_file_gives_its_ballots(tmp_path: Path) -> None:
    write_ballots([ballot(3)], tmp_path / "ballots.jsonl")
    assert load_ballots(tmp_path / "ballots.jsonl") == (ballot(3),)


def test_a_run_that_did_not_finish_is_refused(log: EvalLog, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    write_eval_log(log.model_copy(update={"status": "cancelled"}), str(path))
    with pytest.raises(InputError, match=r"log\.eval: its status is 'cancelled'; finish it with"):
        load_ballots(path)


def test_a_log_without_ballots_is_refused(log: EvalLog, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    answers = [each for each in log.samples or [] if each.id == "answer"]
    write_eval_log(log.model_copy(update={"samples": answers}), str(path))
    with pytest.raises(InputError, match="no sample has a ballot; ballots are in logs of the task mad"):
        load_ballots(path)


def test_a_bad_ballot_names_its_sample(log: EvalLog, tmp_path: Path) -> None:
    samples = [each.model_copy(deep=True) for each in log.samples or []]
    bad = next(each for each in samples if "ballot" in each.metadata)
    bad.metadata["ballot"]["model_a"] = "zebra"
    path = tmp_path / "log.eval"
    write_eval_log(log.model_copy(update={"samples": samples}), str(path))
    with pytest.raises(InputError, match=rf"log\.eval: sample {bad.id}: model_a must be the one that sorts first"):
        load_ballots(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.eval", None, "no file '.*none.eval' with ballots"),
        ("votes.csv", "a,b\n", r"cannot read '\.csv' files; allowed: \.eval, \.json, \.jsonl"),
        ("broken.eval", "not a zip", "cannot read the log '.*broken.eval'"),
        ("other.json", json.dumps([1]), "cannot read the log '.*other.json'"),
        ("empty.jsonl", "", "no ballot; one JSON object a line"),
    ],
)
def test_what_is_no_source_of_ballots_is_one_line(tmp_path: Path, name: str, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(InputError, match=words):
        load_ballots(tmp_path / name)
