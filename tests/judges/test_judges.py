"""Tests of `urs_inspect.judges._judges`."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage
from inspect_ai.scorer import SampleScore, Score

from tests.reports.judged_logs import answered, judgement, write_judged
from tests.reports.pairs import Logs, change, is_baseline, judge_as, priced
from urs_inspect._util import InputError
from urs_inspect.judges._judges import (
    JudgeResult,
    JudgeTest,
    RatingJudge,
    _accuracy_of,
    _agrees,
    _common_orders,
    _compare_ratings,
    effort,
    log_facts,
    read_judge,
    read_judges,
    read_rating_judge,
    read_ratings,
)
from urs_inspect.judging._prompts import Orders
from urs_inspect.stats import BASELINES, Estimate, correlation_difference


def part(log: EvalLog, chosen: slice) -> EvalLog:
    """The log with some of its samples."""
    return log.model_copy(deep=True, update={"samples": (log.samples or [])[chosen]})


def edited(log: EvalLog, chosen: slice = slice(None), **facts: object) -> EvalLog:
    """The log as if the scores of some samples said something else."""
    made = log.model_copy(deep=True)
    for sample in (made.samples or [])[chosen]:
        for score in (sample.scores or {}).values():
            if score.metadata:
                score.metadata |= facts
    return made


def of_other_data(log: EvalLog) -> EvalLog:
    made = log.model_copy(deep=True)
    made.eval.metadata = {**(made.eval.metadata or {}), "dataset_sha256": "another"}
    return made


def unscored(log: EvalLog) -> EvalLog:
    made = log.model_copy(deep=True)
    for sample in made.samples or []:
        sample.scores = {}
    return made


def judged(log: EvalLog) -> JudgeResult:
    result = read_judge(log)
    assert result is not None
    return result


def rated(log: EvalLog) -> RatingJudge:
    result = read_rating_judge(log)
    assert result is not None
    return result


def call(cost: float | None = 0.002, seconds: float | None = 0.5, **facts: object) -> ModelEvent:
    output = ModelOutput.from_content("m", "so")
    output.usage, output.time = ModelUsage(total_cost=cost), seconds
    return ModelEvent.model_validate(
        {
            "model": "m",
            "input": [],
            "tools": [],
            "tool_choice": "none",
            "config": GenerateConfig(),
            "output": output,
        }
        | facts
    )


NAN = math.nan


@pytest.mark.parametrize(
    ("samples", "cost", "seconds", "counts"),
    [
        pytest.param(
            [[call(), call(0.004)], [call(0.003, 2)]], 0.009, 3, (3, 0, 0), id="all are added up"
        ),
        # The mean of the two that are known stands for the third: 3 * 0.003 dollars, 3 * 1.5
        # seconds.
        pytest.param(
            [[call(0.002, 1), call(0.004, 2), call(None, None, error="overloaded")]],
            0.009,
            4.5,
            (3, 1, 1),
            id="failed",
        ),
        pytest.param(
            [[call(0.002, 1), call(0.9, 0.0, cache="read")]], 0.004, 2, (2, 1, 1), id="from a cache"
        ),
        pytest.param(
            [[call(0.002, 1), call(0.004, 2, cache="write")]], 0.006, 3, (2, 0, 0), id="to a cache"
        ),
        pytest.param([[call(None, 1), call(None, 2)]], NAN, 3, (2, 2, 0), id="without a price"),
        pytest.param([[]], NAN, NAN, (0, 0, 0), id="no calls"),
    ],
)
def test_cost_and_time_of_calls(
    samples: list[list[ModelEvent]], cost: float, seconds: float, counts: tuple[int, int, int]
) -> None:
    found = effort(
        [EvalSample(id=1, epoch=1, input="", target="", events=list(calls)) for calls in samples]
    )
    assert (found.cost, found.seconds) == pytest.approx((cost, seconds), nan_ok=True)
    assert (found.calls, found.without_cost, found.without_seconds) == counts


@pytest.mark.parametrize(
    ("difference", "p", "better"),
    [
        (0.001, 0.0499, "first"),
        (-0.001, 0.0499, "second"),
        (0.9, 0.05, None),
        (-0.9, 0.05, None),
        (0.9, NAN, None),
    ],
)
def test_a_judge_is_better_where_the_corrected_test_is_significant(
    difference: float, p: float, better: str | None
) -> None:
    first: Any = "first"
    second: Any = "second"
    found = Estimate(difference, NAN, NAN, 9, 9)
    assert JudgeTest(first, second, "overall", found, 0.001, p).better == better


def test_a_judge_is_measured_on_its_pairs(logs: Logs) -> None:
    result = judged(logs["good"])
    assert (result.judge, len(result.items), result.judgements) == ("mockllm/good", 8, 8)
    assert result.overall is not None
    # `good` is right on all but the tie, which it cannot read.
    assert (result.overall.accuracy.value, result.overall.accuracy.n) == (1, 7)
    assert result.overall.unread.value == 1 / 8
    assert result.dimensions is None
    assert math.isnan(result.cost)  # the scripted model has no price
    assert result.seconds >= 0
    assert not result.is_baseline


@pytest.mark.parametrize(
    ("arguments", "judge"),
    [
        ({}, "mockllm/good"),
        ({"judge": "model"}, "mockllm/good"),
        ({"judge": "baseline/longest"}, "baseline/longest"),
        ({"judge": "samer", "samer": "/models/samer-7b/"}, "samer/samer-7b"),
        ({"judge": "samer", "samer": {"model": "http://host/own", "width": 9}}, "samer/own"),
        ({"judge": "reward_model", "samer": "rm"}, "reward_model/rm"),
    ],
)
def test_a_judge_is_called_by_what_judged(
    arguments: dict[str, Any], judge: str, logs: Logs
) -> None:
    log = logs["good"].model_copy(deep=True)
    log.eval.task_args = {**arguments, "orders": "seeded", "seed": 7, "protocol": "joint"}
    found = judged(log)
    assert (found.judge, found.is_baseline) == (judge, judge.startswith("baseline/"))
    assert (found.orders, found.seed, found.protocol) == ("seeded", 7, "joint")
    assert len(found.items) == 8
    log.eval.task_args = arguments
    usual = judged(log)
    assert (usual.orders, usual.seed, usual.protocol) == ("", 0, "overall")


def of_pair(verdict: str, label: str = "a") -> SampleScore:
    facts = {"labels": {"Overall": label}, "verdicts": {"a": {"Overall": verdict}}}
    return SampleScore(score=Score(value=1.0, metadata=facts))


@pytest.mark.parametrize(
    ("judge", "items", "agrees"),
    [
        ("baseline/first", {"x": of_pair("a"), "y": of_pair("b")}, True),
        ("baseline/first", {"x": of_pair("a"), "y": of_pair("b"), "z": of_pair("a")}, True),
        ("baseline/second", {"x": of_pair("a"), "y": of_pair("b")}, False),
        ("baseline/first", {"x": of_pair("a")}, False),
        ("baseline/first", {"x": of_pair("a"), "y": of_pair("a")}, False),
        ("baseline/first", {"x": of_pair("a"), "y": of_pair("b", "tie")}, False),
    ],
)
def test_the_log_of_a_rule_stands_for_it_where_every_verdict_is_the_same(
    judge: str, items: dict[str, SampleScore], agrees: bool
) -> None:
    logged: Any = SimpleNamespace(judge=judge, items=items)
    own = {"x": of_pair("a"), "y": of_pair("b")}
    computed: Any = SimpleNamespace(judge="baseline/first", items=own)
    assert _agrees(logged, computed) == agrees


def test_cost_and_seconds_are_per_1000_judgements(
    logs: Logs, joint: Logs, rating_logs: Logs
) -> None:
    # One call a verdict or rating: 1,000 times 0.002 dollars and 0.5 seconds. A joint call makes
    # three verdicts.
    for result in (
        judged(priced(logs["good"], 0.002, 0.5)),
        judged(priced(joint["sharp"], 0.006, 1.5)),
        rated(priced(rating_logs["same"], 0.002, 0.5)),
    ):
        assert (result.cost, result.seconds) == pytest.approx((2, 500))


# The same eight labels, on the whole and on the first dimension; on the second dimension all are
# ties.


def test_dimensions_are_measured_beside_the_whole(joint: Logs) -> None:
    sharp, halo = (judged(joint[name]) for name in ("sharp", "halo"))
    assert (sharp.protocol, sharp.orders, len(sharp.items), sharp.judgements) == (
        "joint",
        "ab",
        8,
        24,
    )
    assert sharp.dimensions is not None and halo.dimensions is not None and halo.overall is not None
    # Only the seven labels of the first dimension that are no ties count.
    assert (sharp.dimensions.accuracy.value, sharp.dimensions.accuracy.n) == (1, 7)
    assert (halo.dimensions.accuracy.value, halo.dimensions.accuracy.clusters) == (0, 7)
    assert halo.overall.accuracy.value == 1
    # Ties included: `halo` is right on the second dimension, 8 of 16.
    assert halo.dimensions.three_way.value == 0.5
    assert sharp.dimensions.halo.value == 1
    assert sharp.dimensions.label_halo.value == 1


ORDERS: dict[Orders, int] = {"ab": 0, "seeded": 3, "both": 3}
"""Orders and their seeds."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Logs]:
    """A judge and all baselines on dimensions, by the orders in which they were asked."""
    made = tmp_path_factory.mktemp("asked")
    return {
        orders: judge_as(made / orders, orders=orders, seed=seed) for orders, seed in ORDERS.items()
    }


# Eight pairs: a is better in six, b in one, one is a tie.


def test_every_two_judges_are_tested_on_the_same_pairs(logs: Logs) -> None:
    [dataset] = read_judges([logs["bad"], logs["good"]])
    assert [judge.judge for judge in dataset.judges] == ["mockllm/good", "mockllm/bad"]
    tests = {(test.first.judge, test.second.judge): test for test in dataset.tests}
    assert set(tests) == {
        ("mockllm/good", "mockllm/bad"),
        ("mockllm/good", "baseline/first"),
        ("mockllm/bad", "baseline/first"),
    }
    test = tests["mockllm/good", "mockllm/bad"]
    # Seven pairs on seven prompts, all right against all wrong: a fair coin does so with 2 / 2^7.
    # Of three tests the smallest p counts three times.
    assert test.only_one_right == (7, 0)
    assert test.difference.value == 1
    assert test.p == pytest.approx(2 / 128)
    assert test.adjusted_p == pytest.approx(6 / 128)
    assert test.better is dataset.judges[0]
    assert tests["mockllm/good", "baseline/first"].better is None  # they differ on one pair


def test_logs_of_baselines_change_no_test(logs: Logs, asked: dict[str, Logs]) -> None:
    models = [logs["good"], logs["bad"]]
    more = [
        change(logs["longest"], judge=f"baseline/{kind}")
        for kind in ("first", "shortest", "copy_overall")
    ]
    [alone], [beside] = (
        read_judges(models),
        read_judges([more[0], *models, logs["longest"], *more[1:]]),
    )
    assert len(beside.judges) == 6
    assert said(beside.tests) == said(alone.tests)
    # Of dimensions as well; and a coin of another seed, or a baseline asked in other orders, is no
    # rival either.
    sharp, others = asked["ab"]["sharp"], [log for logs in asked.values() for log in logs.values()]
    [alone], [beside] = (
        read_judges([sharp]),
        read_judges([sharp, *(log for log in others if is_baseline(log))]),
    )
    assert {test.level for test in alone.tests} == {"overall", "dimensions"}
    assert said(beside.tests) == said(alone.tests)


def test_baselines_are_not_tested_among_themselves(asked: dict[str, Logs]) -> None:
    [only] = read_judges([log for log in asked["ab"].values() if is_baseline(log)])
    assert len(only.judges) == 6
    assert only.tests == ()


def said(tests: tuple[JudgeTest[JudgeResult], ...]) -> list[tuple[object, ...]]:
    return [
        (t.first.judge, t.second.judge, t.level, repr(t.difference), t.adjusted_p) for t in tests
    ]


def test_only_pairs_of_both_are_compared(logs: Logs) -> None:
    [dataset] = read_judges([logs["good"], part(logs["bad"], slice(2, None, -1))])
    [test] = [test for test in dataset.tests if not test.second.is_baseline]
    assert test.difference.n == 3
    assert test.difference.value == 1


def test_labels_of_the_same_data_must_be_the_same(logs: Logs, rating_logs: Logs) -> None:
    with pytest.raises(InputError, match="different labels"):
        read_judges([logs["good"], edited(logs["bad"], labels={"Overall": "b"})])
    with pytest.raises(InputError, match="different labels"):
        read_ratings([rating_logs["same"], edited(rating_logs["other"], label=3)])


def test_judges_are_tested_on_dimensions_apart_from_the_whole(joint: Logs) -> None:
    [dataset] = read_judges([joint["sharp"], joint["halo"]])
    tests = {test.level: test for test in dataset.tests if not test.second.is_baseline}
    # Right overall, both: no difference. On dimensions seven prompts of seven: 2 / 2^7, thrice for
    # three tests.
    assert (tests["overall"].difference.value, tests["overall"].p) == (0, 1)
    found = tests["dimensions"]
    assert found.only_one_right in {(7, 0), (0, 7)}
    assert found.p == pytest.approx(2 / 128)
    assert found.better is not None and found.better.judge == "mockllm/sharp"


def test_baselines_are_computed_on_the_same_pairs(logs: Logs) -> None:
    [dataset] = read_judges([logs["good"]])
    found = by_judge(dataset.baselines)
    accuracy = {
        name: baseline.overall.accuracy.value
        for name, baseline in found.items()
        if baseline.overall
    }
    # Of seven labels that are no ties six are a; the longer response is better in five.
    assert accuracy["baseline/first"] == pytest.approx(6 / 7)
    assert accuracy["baseline/second"] == pytest.approx(1 / 7)
    assert accuracy["baseline/longest"] == pytest.approx(5 / 7)
    assert accuracy["baseline/shortest"] == pytest.approx(2 / 7)
    assert "baseline/copy_overall" not in accuracy  # nobody was asked about dimensions
    assert len(dataset.baselines) == 5
    assert {baseline.orders for baseline in dataset.baselines} == {"ab"}


@pytest.mark.parametrize("orders", ORDERS)
def test_a_logged_baseline_equals_the_computed_one_and_replaces_it(
    asked: dict[str, Logs], orders: str
) -> None:
    [alone], [beside] = (
        read_judges([asked[orders]["sharp"]]),
        read_judges(list(asked[orders].values())),
    )
    computed, logged = by_judge(alone.baselines), by_judge(beside.judges)
    assert set(computed) == {f"baseline/{kind}" for kind in BASELINES}
    for name, one in computed.items():
        other = logged[name]
        assert (repr(other.overall), repr(other.dimensions)) == (
            repr(one.overall),
            repr(one.dimensions),
        ), name
        assert (other.orders, other.seed, other.judgements) == (
            one.orders,
            one.seed,
            one.judgements,
        )
        assert other.items.keys() == one.items.keys()
        assert other.is_baseline and other.location and not one.location
        assert other.effort.calls == 0
    assert beside.baselines == ()


def test_asked_in_both_orders_a_baseline_by_place_flips_always(asked: dict[str, Logs]) -> None:
    [dataset] = read_judges([asked["both"]["sharp"]])
    found = by_judge(dataset.baselines)
    flips = {
        name: one.overall.flips.value for name, one in found.items() if one.overall is not None
    }
    assert (flips["baseline/first"], flips["baseline/second"], flips["baseline/longest"]) == (
        1,
        1,
        0,
    )
    assert 0 < flips["baseline/random"] < 1
    told = found["baseline/copy_overall"].dimensions
    # The labels on the first dimension are those of the pair, on the second they are ties, which do
    # not count.
    assert told is not None and told.accuracy.value == 1
    # What disagrees with itself is a tie, and no label that counts is one.
    first = found["baseline/first"].overall
    assert first is not None and first.accuracy.value == 0


def test_a_log_that_says_something_else_stands_beside_the_computed_one(logs: Logs) -> None:
    other = edited(logs["longest"], slice(1), verdicts={"a": {"Overall": "b"}})
    [dataset] = read_judges([logs["good"], other])
    assert "baseline/longest" in {judge.name for judge in dataset.judges}
    assert "baseline/longest (computed)" in {baseline.name for baseline in dataset.baselines}


def turned(log: EvalLog) -> EvalLog:
    """The log as if response b had been shown first."""
    made = change(log, orders="seeded")
    for sample in made.samples or []:
        for score in (sample.scores or {}).values():
            if score.metadata:
                score.metadata["verdicts"] = {"b": score.metadata["verdicts"]["a"]}
    return made


def test_judges_that_saw_different_orders_have_baselines_in_the_order_of_the_data(
    logs: Logs,
) -> None:
    [dataset] = read_judges([turned(logs["good"]), logs["bad"]])
    found = by_judge(dataset.baselines)["baseline/first"]
    assert found.orders == "ab"
    assert found.overall is not None and found.overall.accuracy.value == pytest.approx(6 / 7)
    # If all saw b first, the first response is right once.
    [dataset] = read_judges([turned(logs["good"])])
    found = by_judge(dataset.baselines)["baseline/first"]
    assert found.orders == "seeded"
    assert found.overall is not None and found.overall.accuracy.value == pytest.approx(1 / 7)


A, B = ("a",), ("b",)


@pytest.mark.parametrize(
    ("shown", "named", "orders", "firsts"),
    [
        ([[A], [A]], {"ab"}, "ab", [A, A]),
        ([[A, A], [A]], {"ab", "seeded"}, "ab", [A, A]),
        ([[A], [B]], {"ab"}, "seeded", [A, B]),
        ([[B], [A]], {"ab"}, "seeded", [B, A]),
        ([[B], [B]], set(), "seeded", [B, B]),
        ([[A], [A]], {"seeded"}, "seeded", [A, A]),
        ([[A], [A, B]], {"seeded"}, "ab", []),
        ([[A, B], [A, B]], {"ab", "seeded"}, "ab", []),
        ([[("a", "b"), ("b", "a")], [("b", "a")]], {"both"}, "both", [("a", "b"), ("b", "a")]),
        ([[("a", "b")], [A]], {"both", "ab"}, "ab", [A, A]),
        ([[("b", "a")], [A]], {"both", "ab"}, "seeded", [B, A]),
        ([], {"ab"}, "ab", []),
        ([], {"seeded"}, "seeded", []),
    ],
)
def test_the_orders_that_all_judges_saw_by_hand(
    shown: list[list[tuple[str, ...]]],
    named: set[str],
    orders: str,
    firsts: list[tuple[str, ...]],
) -> None:
    by_sample = {(f"p{number}", 1): seen for number, seen in enumerate(shown)}
    found, first_of = _common_orders(by_sample, named)
    assert found == orders
    assert list(first_of.values()) == firsts
    assert list(first_of) == list(by_sample)[: len(firsts)]


def rater(name: str, ratings: dict[int, float], labels: dict[int, float]) -> Any:
    items = {
        (f"r{number}", 1): SimpleNamespace(
            label=labels[number], rating=rating, cluster=f"p{number // 2}"
        )
        for number, rating in ratings.items()
    }
    return SimpleNamespace(name=name, items=items, location=f"{name}.eval")


def test_judges_that_rate_are_compared_on_what_both_have_rated() -> None:
    generator = np.random.default_rng(2)
    labels = {number: float(1 + number * 7 % 5) for number in range(24)}
    noisy = {number: label + float(generator.normal()) for number, label in labels.items()}
    coarse = {number: float(number * 3 % 4) for number in labels}
    one = rater("one", {number: noisy[number] for number in range(20)}, labels)
    other = rater("other", {number: coarse[number] for number in range(23, 5, -1)}, labels)
    both = range(6, 20)
    expected = correlation_difference(
        [labels[number] for number in both],
        [noisy[number] for number in both],
        [coarse[number] for number in both],
        [f"p{number // 2}" for number in both],
    )
    pearson, spearman = _compare_ratings(one, other)
    for test, kind in ((pearson, "pearson"), (spearman, "spearman")):
        known = getattr(expected, kind)
        assert (test.level, test.first, test.second) == (kind, one, other)
        assert test.difference.value == pytest.approx(known.value)
        assert (test.difference.n, test.difference.clusters) == (14, 7)
        assert test.p == pytest.approx(getattr(expected, f"p_{kind}"))
    assert _compare_ratings(one, rater("far", {22: 1.0, 23: 2.0}, labels)) == []
    changed = {**labels, 7: 9.0}
    with pytest.raises(InputError, match=r"one\.eval and odd\.eval"):
        _compare_ratings(one, rater("odd", coarse, changed))
    assert len(_compare_ratings(one, rater("new", {22: 1.0, 3: 2.0, 5: 1.0}, changed))) == 2


def test_judges_without_an_accuracy_come_last() -> None:
    def judge(name: str, value: float | None) -> Any:
        estimate = Estimate(math.nan if value is None else value, NAN, NAN, 9, 9)
        measures = None if value is None else SimpleNamespace(accuracy_all=estimate)
        return SimpleNamespace(name=name, overall=measures, dimensions=None)

    judges = [judge("none", None), judge("unknown", NAN), judge("bad", 0.0), judge("good", 0.7)]
    accuracies = [_accuracy_of(one, "overall") for one in judges]
    assert accuracies == [-math.inf, -math.inf, 0.0, 0.7]


def test_seeds_that_differ_leave_the_coin_with_seed_0(logs: Logs) -> None:
    for seed, expected in ((3, 3), (4, 0)):
        [dataset] = read_judges([change(logs["good"], seed=3), change(logs["bad"], seed=seed)])
        assert {baseline.seed for baseline in dataset.baselines} == {expected}


def by_judge(judges: tuple[JudgeResult, ...]) -> dict[str, JudgeResult]:
    return {judge.judge: judge for judge in judges}


# --- judges of a dataset, judges that rate ---


def test_other_data_are_separate_and_other_logs_are_skipped(logs: Logs, rating_logs: Logs) -> None:
    found = read_judges([logs["good"], of_other_data(logs["bad"]), unscored(logs["bad"])])
    assert [[judge.judge for judge in dataset.judges] for dataset in found] == [
        ["mockllm/good"],
        ["mockllm/bad"],
    ]
    same, other, coarse = (rating_logs[name] for name in ("same", "other", "coarse"))
    assert read_rating_judge(unscored(coarse)) is None
    rating = read_ratings([same, of_other_data(other), unscored(coarse)])
    assert [[judge.judge for judge in dataset.judges] for dataset in rating] == [
        ["mockllm/same"],
        ["mockllm/other"],
    ]
    assert [dataset.tests for dataset in rating] == [(), ()]


def test_judges_are_sorted_by_accuracy_over_all(logs: Logs) -> None:
    # `few` reads one pair of seven, and that one rightly; `longest` is right on five of seven.
    few = edited(logs["good"], slice(1, None), verdicts={"a": {"Overall": None}})
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


def test_a_log_of_some_samples_only_is_partial(logs: Logs, rating_logs: Logs) -> None:
    [dataset] = read_judges([logs["good"], part(logs["bad"], slice(3))])
    assert {judge.judge: dataset.is_partial(judge) for judge in dataset.judges} == {
        "mockllm/good": False,
        "mockllm/bad": True,
    }
    assert not any(dataset.is_partial(baseline) for baseline in dataset.baselines)
    [ratings] = read_ratings([rating_logs["same"], part(rating_logs["other"], slice(5))])
    assert [(len(judge.items), ratings.is_partial(judge)) for judge in ratings.judges] == [
        (12, False),
        (5, True),
    ]
    twice = logs["bad"].model_copy(deep=True)  # epochs do not make a log partial
    twice.samples = [
        one.model_copy(update={"epoch": epoch}) for epoch in (1, 2) for one in twice.samples or []
    ]
    [dataset] = read_judges([logs["good"], twice])
    assert [len(judge.items) for judge in dataset.judges] == [8, 16]
    assert not any(dataset.is_partial(judge) for judge in dataset.judges)


# Twelve labels 1 to 5 on six prompts. `same` rates as labelled, `other` six less that.


def test_a_judge_is_held_against_the_labels(rating_logs: Logs) -> None:
    same, other = (rated(rating_logs[name]) for name in ("same", "other"))
    assert (same.judge, same.rubric, len(same.items)) == ("mockllm/same", "", 12)
    for kind in ("pearson", "spearman", "kendall"):
        assert getattr(same.agreement.correlations, kind).value == pytest.approx(1)
        assert getattr(other.agreement.correlations, kind).value == pytest.approx(-1)
    assert same.agreement.difference.value == 0
    # Labels add up to 36 over 12, so their mean is 3 and that of six less them too.
    assert other.agreement.difference.value == pytest.approx(0)
    assert (
        same.agreement.n,
        same.agreement.unread,
        same.agreement.correlations.pearson.clusters,
    ) == (12, 0, 6)
    assert math.isnan(same.cost) and same.seconds >= 0


def test_unread_ratings_are_counted(rating_logs: Logs) -> None:
    coarse = rated(rating_logs["coarse"])
    assert (coarse.agreement.n, coarse.agreement.correlations.pearson.n) == (12, 11)
    assert coarse.agreement.unread == 1 / 12
    # Ratings 3 2 3 2 ... on r1 to r11 add up to 3 * 6 + 2 * 5 = 28, the labels to 35.
    assert coarse.agreement.difference.value == pytest.approx((28 - 35) / 11)


def test_every_two_judges_are_compared_on_the_responses_of_both(rating_logs: Logs) -> None:
    [dataset] = read_ratings([rating_logs["other"], rating_logs["coarse"], rating_logs["same"]])
    assert [judge.judge for judge in dataset.judges] == [
        "mockllm/same",
        "mockllm/coarse",
        "mockllm/other",
    ]
    assert len(dataset.tests) == 6
    tests = {(test.first.judge, test.second.judge, test.level): test for test in dataset.tests}
    for level in ("pearson", "spearman"):
        test = tests["mockllm/same", "mockllm/other", level]
        assert test.difference.value == pytest.approx(2)
        # Every round has a difference of 2, so p is the least of 2,000 rounds, 2 / 2001, times
        # three for three tests.
        assert (test.p, test.adjusted_p) == pytest.approx((2 / 2001, 6 / 2001))
        assert test.better is test.first
    assert (
        tests["mockllm/same", "mockllm/coarse", "pearson"].difference.n == 11
    )  # `coarse` rates eleven


def test_swapping_the_logs_changes_nothing(rating_logs: Logs) -> None:
    same, coarse = rating_logs["same"], rating_logs["coarse"]
    [one], [other] = read_ratings([same, coarse]), read_ratings([coarse, same])
    assert [test.difference for test in one.tests] == [test.difference for test in other.tests]


def test_judges_that_agree_equally_do_not_differ_significantly(rating_logs: Logs) -> None:
    twin = rating_logs["same"].model_copy(deep=True)
    [dataset] = read_ratings([rating_logs["same"], twin])
    assert [(test.difference.value, test.adjusted_p, test.better) for test in dataset.tests] == [
        (0, 1, None)
    ] * 2


def test_rating_judges_two_logs_of_a_judge_have_names_of_their_own(rating_logs: Logs) -> None:
    again = rating_logs["same"].model_copy(deep=True)
    again.eval.metadata = {**(again.eval.metadata or {}), "rubric": "mine 1"}
    [dataset] = read_ratings([rating_logs["same"], again, rating_logs["other"]])
    names = [judge.name for judge in dataset.judges]
    assert names == ["mockllm/same (no rubric)", "mockllm/same (mine 1)", "mockllm/other"]
    assert {test.first.name for test in dataset.tests} == set(names[:2])


# --- facts of logs ---


def test_facts_of_a_log_are_arguments_and_settings_without_secrets(pair_folder: Path) -> None:
    logs = [read_eval_log(str(file)) for file in pair_folder.glob("*.eval")]
    [log] = [log for log in logs if log.eval.model == "mockllm/good"]
    log.eval.model_args = {"api_key": "hidden", "auth_token": "hidden", "quantization": "int8"}
    [event] = [event for event in (log.samples or [])[0].events if event.event == "model"]
    event.config.temperature, event.config.max_tokens = 0.3, 9
    facts = log_facts(log)
    assert (facts["orders"], facts["seed"], facts["quantization"]) == ("ab", "0", "int8")
    assert (facts["temperature"], facts["max_tokens"]) == (
        "0.3",
        "9",
    )  # of the call, not of the model or task
    assert "hidden" not in facts.values()
    assert "bench" not in facts  # its path is no fact about the judge
    assert facts["file"].endswith(".eval") and "/" not in facts["file"]


def test_facts_of_a_log_have_its_version_prompts_and_options_of_a_reward_model(
    tmp_path: Path,
) -> None:
    path = write_judged(
        tmp_path / "log.eval",
        answered("1"),
        answered("2", judgement(5.0, structured=1)),
        task_args={
            "orders": ["ab", "ba"],
            "judge": "samer",
            "bench": "file",
            "samer": {"model": "folder", "engine": "vllm", "api_token": "hidden"},
            "none": None,
        },
        model_args={"dtype": "half", "nested": {"x": 1}, "max_tokens": 7, "token": "hidden"},
        created="2026-01-02T03:04:05+00:00",
    )
    assert log_facts(read_eval_log(path)) == {
        "dtype": "half",
        "max_tokens": "7",
        "orders": "ab, ba",
        "samer": "folder",
        "engine": "vllm",
        "rubric": "urs 1",
        "version": "1-A",
        "prompts": "urs 1",
        "structured": "true",
        "created": "2026-01-02 03:04:05",
        "file": "log.eval",
    }


def test_facts_of_scores_that_are_no_judgements_are_none(tmp_path: Path) -> None:
    sample = answered("1", scores={"other": Score(value=1)})
    facts = log_facts(read_eval_log(write_judged(tmp_path / "log.eval", sample)))
    assert facts.keys() == {"rubric", "version", "created", "file"}
