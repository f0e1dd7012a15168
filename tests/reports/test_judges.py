"""The judges of each dataset beside baselines, read from logs."""

import pytest

from tests.reports.pairs import Logs, change
from urs_inspect.reports import read_judges


def test_other_data_stand_apart_and_other_logs_are_passed_over(logs: Logs) -> None:
    other = logs["bad"].model_copy(deep=True)
    other.eval.metadata = {**(other.eval.metadata or {}), "dataset_sha256": "another"}
    foreign = logs["bad"].model_copy(deep=True)
    for sample in foreign.samples or []:
        sample.scores = {}
    found = read_judges([logs["good"], other, foreign])
    assert [[judge.judge for judge in dataset.judges] for dataset in found] == [["mockllm/good"], ["mockllm/bad"]]


def test_judges_are_sorted_by_accuracy_over_all(logs: Logs) -> None:
    # `few` reads one pair of seven, and that one rightly; `longest` is right on five of seven.
    few = logs["good"].model_copy(deep=True)
    for sample in (few.samples or [])[1:]:
        for score in (sample.scores or {}).values():
            if score.metadata:
                score.metadata["verdicts"] = {"a": {"Overall": None}}
    [dataset] = read_judges([few, logs["longest"]])
    assert [judge.judge for judge in dataset.judges] == ["baseline/longest", "mockllm/good"]
    found = dataset.judges[1].overall
    assert found is not None
    assert (found.accuracy.value, found.accuracy_all.value) == pytest.approx((1, 1 / 7))


def test_two_logs_of_a_judge_have_names_of_their_own(logs: Logs) -> None:
    again = change(logs["good"], seed=1)
    twin = again.model_copy(deep=True)
    twin.eval.created = "2030-01-02T03:04:05+00:00"
    [dataset] = read_judges([logs["good"], again, twin, logs["bad"]])
    assert {judge.judge: judge.name for judge in dataset.judges}["mockllm/bad"] == "mockllm/bad"
    names = [judge.name for judge in dataset.judges if judge.judge == "mockllm/good"]
    assert names[0] == "mockllm/good (seed=0)"
    assert names[1].startswith("mockllm/good (seed=1, 2")
    assert names[2] == "mockllm/good (seed=1, 2030-01-02 03:04:05)"
    assert {test.first.name for test in dataset.tests} == set(names) | {"mockllm/bad"}


def test_a_log_of_some_pairs_only_is_partial(logs: Logs) -> None:
    part = logs["bad"].model_copy(deep=True)
    part.samples = (part.samples or [])[:3]
    [dataset] = read_judges([logs["good"], part])
    assert {judge.judge: dataset.is_partial(judge) for judge in dataset.judges} == {
        "mockllm/good": False,
        "mockllm/bad": True,
    }
    assert not any(dataset.is_partial(baseline) for baseline in dataset.baselines)


def test_epochs_do_not_make_a_log_partial(logs: Logs) -> None:
    twice = logs["bad"].model_copy(deep=True)
    again = [sample.model_copy(update={"epoch": 2}) for sample in twice.samples or []]
    twice.samples = [*(twice.samples or []), *again]
    [dataset] = read_judges([logs["good"], twice])
    assert [judge.pairs for judge in dataset.judges] == [8, 16]
    assert not any(dataset.is_partial(judge) for judge in dataset.judges)
