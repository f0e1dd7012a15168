"""Tests of `urs_inspect.reports.judges`."""

import math

import pytest
from inspect_ai.log import EvalLog

from tests.reports.pairs import Logs, change, priced
from urs_inspect._util import InputError
from urs_inspect.reports.judges import read_judges, read_rating_judge, read_ratings


def test_other_data_are_separate_and_other_logs_are_skipped(logs: Logs) -> None:
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
    assert [len(judge.items) for judge in dataset.judges] == [8, 16]
    assert not any(dataset.is_partial(judge) for judge in dataset.judges)


# Twelve labels 1 to 5 on six prompts. `same` rates as labelled, `other` six less that.


def test_a_judge_is_held_against_the_labels(rating_logs: Logs) -> None:
    same, other = (read_rating_judge(rating_logs[name]) for name in ("same", "other"))
    assert same is not None and other is not None
    assert (same.judge, same.rubric, len(same.items), same.by_intent) == ("mockllm/same", "", 12, {})
    for kind in ("pearson", "spearman", "kendall"):
        assert getattr(same.agreement.correlations, kind).value == pytest.approx(1)
        assert getattr(other.agreement.correlations, kind).value == pytest.approx(-1)
    assert same.agreement.difference.value == 0
    # Labels add up to 36 over 12, so their mean is 3 and that of six less them too.
    assert other.agreement.difference.value == pytest.approx(0)
    assert (same.agreement.n, same.agreement.unread, same.agreement.correlations.pearson.clusters) == (12, 0, 6)
    assert math.isnan(same.cost) and same.seconds >= 0


def test_unread_ratings_are_counted(rating_logs: Logs) -> None:
    coarse = read_rating_judge(rating_logs["coarse"])
    assert coarse is not None
    assert (coarse.agreement.n, coarse.agreement.correlations.pearson.n) == (12, 11)
    assert coarse.agreement.unread == 1 / 12
    # Ratings 3 2 3 2 ... on r1 to r11 add up to 3 * 6 + 2 * 5 = 28, the labels to 35.
    assert coarse.agreement.difference.value == pytest.approx((28 - 35) / 11)


def test_every_two_judges_are_compared_on_the_responses_of_both(rating_logs: Logs) -> None:
    [dataset] = read_ratings([rating_logs["other"], rating_logs["coarse"], rating_logs["same"]])
    assert [judge.judge for judge in dataset.judges] == ["mockllm/same", "mockllm/coarse", "mockllm/other"]
    assert len(dataset.tests) == 6
    tests = {(test.first.judge, test.second.judge, test.level): test for test in dataset.tests}
    for level in ("pearson", "spearman"):
        test = tests["mockllm/same", "mockllm/other", level]
        assert test.difference.value == pytest.approx(2)
        # Every round has a difference of 2, so p is the least of 2,000 rounds, 2 / 2001, times three for three tests.
        assert (test.p, test.adjusted_p) == pytest.approx((2 / 2001, 6 / 2001))
        assert test.better is test.first
    assert tests["mockllm/same", "mockllm/coarse", "pearson"].difference.n == 11  # `coarse` rates eleven


def test_swapping_the_logs_changes_nothing(rating_logs: Logs) -> None:
    same, coarse = rating_logs["same"], rating_logs["coarse"]
    [one], [other] = read_ratings([same, coarse]), read_ratings([coarse, same])
    assert [test.difference for test in one.tests] == [test.difference for test in other.tests]


def test_judges_that_agree_equally_do_not_differ_significantly(rating_logs: Logs) -> None:
    twin = rating_logs["same"].model_copy(deep=True)
    [dataset] = read_ratings([rating_logs["same"], twin])
    assert [(test.difference.value, test.adjusted_p, test.better) for test in dataset.tests] == [(0, 1, None)] * 2


def test_rating_judges_two_logs_of_a_judge_have_names_of_their_own(rating_logs: Logs) -> None:
    again = rating_logs["same"].model_copy(deep=True)
    again.eval.metadata = {**(again.eval.metadata or {}), "rubric": "mine 1"}
    [dataset] = read_ratings([rating_logs["same"], again, rating_logs["other"]])
    names = [judge.name for judge in dataset.judges]
    assert names == ["mockllm/same (no rubric)", "mockllm/same (mine 1)", "mockllm/other"]
    assert {test.first.name for test in dataset.tests} == set(names[:2])


def test_a_log_of_some_responses_only_is_partial(rating_logs: Logs) -> None:
    part = rating_logs["other"].model_copy(deep=True)
    part.samples = (part.samples or [])[:5]
    [dataset] = read_ratings([rating_logs["same"], part])
    assert [(len(judge.items), dataset.is_partial(judge)) for judge in dataset.judges] == [(12, False), (5, True)]


def test_with_a_rubric_intents_are_reported(with_rubric: EvalLog) -> None:
    judge = read_rating_judge(with_rubric)
    assert judge is not None
    assert judge.rubric
    assert {intent: found.n for intent, found in judge.by_intent.items()} == {"factual_qa": 6, "leisure": 6}
    assert judge.by_intent["leisure"].correlations.pearson.value == pytest.approx(1)
    # Ratings 2 4 6 8 10 2 of 1 to 10 on the scale 1 to 5: 1 + 4 / 9 (x - 1), less the labels 1 2 3 4 5 1.
    # 6 + 4 / 9 * (32 - 6) - 16
    assert judge.by_intent["leisure"].difference.value == pytest.approx((6 + 4 / 9 * 26 - 16) / 6)


def test_cost_and_seconds_are_per_1000_ratings(rating_logs: Logs) -> None:
    judge = read_rating_judge(priced(rating_logs["same"], 0.002, 0.5))
    assert judge is not None
    assert (judge.cost, judge.seconds) == pytest.approx((2, 500))


def test_rating_judges_other_data_are_separate_and_other_logs_are_skipped(rating_logs: Logs) -> None:
    other = rating_logs["other"].model_copy(deep=True)
    other.eval.metadata = {**(other.eval.metadata or {}), "dataset_sha256": "another"}
    foreign = rating_logs["coarse"].model_copy(deep=True)
    for sample in foreign.samples or []:
        sample.scores = {}
    assert read_rating_judge(foreign) is None
    found = read_ratings([rating_logs["same"], other, foreign])
    assert [[judge.judge for judge in dataset.judges] for dataset in found] == [["mockllm/same"], ["mockllm/other"]]
    assert [dataset.tests for dataset in found] == [(), ()]


def test_labels_of_the_same_data_must_be_the_same(rating_logs: Logs) -> None:
    changed = rating_logs["other"].model_copy(deep=True)
    for sample in changed.samples or []:
        for score in (sample.scores or {}).values():
            if score.metadata and "label" in score.metadata:
                score.metadata["label"] = 3
    with pytest.raises(InputError, match="different labels for the same samples"):
        read_ratings([rating_logs["same"], changed])
