"""Tests of `urs_inspect.reports.judge_result`."""

import math

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage

from tests.reports.pairs import Logs, change, is_baseline, judge_as, priced
from urs_inspect._util import InputError
from urs_inspect.reports.judge_result import JudgeResult, JudgeTest, effort, read_judge
from urs_inspect.reports.judges import read_judges
from urs_inspect.stats import BASELINES


def call(cost: float | None = 0.002, seconds: float | None = 0.5, **facts: object) -> ModelEvent:
    output = ModelOutput.from_content("m", "so")
    output.usage, output.time = ModelUsage(total_cost=cost), seconds
    return ModelEvent.model_validate(
        {"model": "m", "input": [], "tools": [], "tool_choice": "none", "config": GenerateConfig(), "output": output}
        | facts
    )


def sample(*calls: ModelEvent) -> EvalSample:
    return EvalSample(id=1, epoch=1, input="", target="", events=list(calls))


def test_all_calls_of_all_samples_are_added_up() -> None:
    found = effort([sample(call(), call(0.004)), sample(call(0.003, 2))])
    assert (found.cost, found.seconds) == pytest.approx((0.009, 3))
    assert (found.calls, found.without_cost, found.without_seconds) == (3, 0, 0)


def test_a_failed_call_is_counted_and_does_not_blank_the_run() -> None:
    failed = call(None, None, error="overloaded")
    found = effort([sample(call(0.002, 1), call(0.004, 2), failed)])
    # The mean of the two that are known stands for the third: 3 * 0.003 dollars, 3 * 1.5 seconds.
    assert (found.cost, found.seconds) == pytest.approx((0.009, 4.5))
    assert (found.calls, found.without_cost, found.without_seconds) == (3, 1, 1)


def test_a_call_from_a_cache_says_nothing_about_cost_and_time() -> None:
    found = effort([sample(call(0.002, 1), call(0.9, 0.0, cache="read"))])
    assert (found.cost, found.seconds) == pytest.approx((0.004, 2))
    assert (found.without_cost, found.without_seconds) == (1, 1)


def test_a_model_without_a_price_has_time_only() -> None:
    found = effort([sample(call(None, 1), call(None, 2))])
    assert math.isnan(found.cost)
    assert found.seconds == pytest.approx(3)
    assert (found.calls, found.without_cost, found.without_seconds) == (2, 2, 0)


def test_without_calls_nothing_is_known() -> None:
    found = effort([sample()])
    assert math.isnan(found.cost) and math.isnan(found.seconds)
    assert found.calls == 0


def test_a_judge_is_measured_on_its_pairs(logs: Logs) -> None:
    result = read_judge(logs["good"])
    assert result is not None
    assert (result.judge, len(result.items), result.judgements) == ("mockllm/good", 8, 8)
    assert result.overall is not None
    # `good` is right on all but the tie, which it cannot read.
    assert (result.overall.accuracy.value, result.overall.accuracy.n) == (1, 7)
    assert result.overall.unread.value == 1 / 8
    assert result.dimensions is None
    assert math.isnan(result.cost)  # the scripted model has no price
    assert result.seconds >= 0
    assert not result.is_baseline


def test_cost_and_seconds_are_per_1000_verdicts(logs: Logs) -> None:
    log = priced(logs["good"], 0.002, 0.5)
    result = read_judge(log)
    assert result is not None
    # One call a verdict: 1,000 times 0.002 dollars and 0.5 seconds.
    assert (result.cost, result.seconds) == pytest.approx((2, 500))
    # One call that failed leaves seven, whose mean stands for it.
    [event, *_] = [e for sample in log.samples or [] for e in sample.events if e.event == "model"]
    event.output.usage, event.output.time, event.error = None, None, "overloaded"
    failed = read_judge(log)
    assert failed is not None
    assert (failed.cost, failed.seconds) == pytest.approx((2, 500))
    assert (failed.effort.calls, failed.effort.without_cost, failed.effort.without_seconds) == (8, 1, 1)


# The same eight labels, on the whole and on the first dimension; on the second dimension all are ties.


def test_dimensions_are_measured_beside_the_whole(joint: Logs) -> None:
    sharp, halo = (read_judge(joint[name]) for name in ("sharp", "halo"))
    assert sharp is not None and halo is not None
    assert (sharp.protocol, sharp.orders, len(sharp.items), sharp.judgements) == ("joint", "ab", 8, 24)
    assert sharp.dimensions is not None and halo.dimensions is not None and halo.overall is not None
    # Only the seven labels of the first dimension that are no ties count.
    assert (sharp.dimensions.accuracy.value, sharp.dimensions.accuracy.n) == (1, 7)
    assert (halo.dimensions.accuracy.value, halo.dimensions.accuracy.clusters) == (0, 7)
    assert halo.overall.accuracy.value == 1
    # Ties included: `halo` is right on the second dimension, 8 of 16.
    assert halo.dimensions.three_way.value == 0.5
    assert sharp.dimensions.halo.value == 1
    assert sharp.dimensions.label_halo.value == 1


def test_cost_and_seconds_are_per_1000_verdicts_of_a_joint_reply(joint: Logs) -> None:
    result = read_judge(priced(joint["sharp"], 0.003, 1.5))
    # A call makes three verdicts: 1,000 of them take 1000 / 3 calls.
    assert result is not None
    assert (result.cost, result.seconds) == pytest.approx((1, 500))


ORDERS = {"ab": 0, "seeded": 3, "both": 3}
"""Orders and their seeds."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Logs]:
    """A judge and all baselines on dimensions, by the orders in which they were asked."""
    made = tmp_path_factory.mktemp("asked")
    return {orders: judge_as(made / orders, orders=orders, seed=seed) for orders, seed in ORDERS.items()}


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
    # Seven pairs on seven prompts, all right against all wrong: a fair coin does so with 2 / 2^7. Of three tests the
    # smallest p counts three times.
    assert test.only_one_right == (7, 0)
    assert test.difference.value == 1
    assert test.p == pytest.approx(2 / 128)
    assert test.adjusted_p == pytest.approx(6 / 128)
    assert test.better is dataset.judges[0]
    assert tests["mockllm/good", "baseline/first"].better is None  # they differ on one pair


def test_logs_of_baselines_change_no_test(logs: Logs, asked: dict[str, Logs]) -> None:
    models = [logs["good"], logs["bad"]]
    more = [change(logs["longest"], judge=f"baseline/{kind}") for kind in ("first", "shortest", "copy_overall")]
    [alone], [beside] = read_judges(models), read_judges([more[0], *models, logs["longest"], *more[1:]])
    assert len(beside.judges) == 6
    assert said(beside.tests) == said(alone.tests)
    # Of dimensions as well; and a coin of another seed, or a baseline asked in other orders, is no rival either.
    sharp, others = asked["ab"]["sharp"], [log for logs in asked.values() for log in logs.values()]
    [alone], [beside] = read_judges([sharp]), read_judges([sharp, *(log for log in others if is_baseline(log))])
    assert {test.level for test in alone.tests} == {"overall", "dimensions"}
    assert said(beside.tests) == said(alone.tests)


def test_baselines_are_not_tested_among_themselves(asked: dict[str, Logs]) -> None:
    [only] = read_judges([log for log in asked["ab"].values() if is_baseline(log)])
    assert len(only.judges) == 6
    assert only.tests == ()


def said(tests: tuple[JudgeTest[JudgeResult], ...]) -> list[tuple[object, ...]]:
    return [(t.first.judge, t.second.judge, t.level, repr(t.difference), t.adjusted_p) for t in tests]


def test_only_pairs_of_both_are_compared(logs: Logs) -> None:
    part = logs["bad"].model_copy(deep=True)
    assert part.samples is not None
    part.samples = list(reversed(part.samples[:3]))
    [dataset] = read_judges([logs["good"], part])
    [test] = [test for test in dataset.tests if not test.second.is_baseline]
    assert test.difference.n == 3
    assert test.difference.value == 1


def test_labels_of_the_same_data_must_be_the_same(logs: Logs) -> None:
    changed = logs["bad"].model_copy(deep=True)
    for sample in changed.samples or []:
        for score in (sample.scores or {}).values():
            if score.metadata:
                score.metadata["labels"] = {"Overall": "b"}
    with pytest.raises(InputError, match="different labels for the same samples"):
        read_judges([logs["good"], changed])


def test_judges_are_tested_on_dimensions_apart_from_the_whole(joint: Logs) -> None:
    [dataset] = read_judges([joint["sharp"], joint["halo"]])
    tests = {test.level: test for test in dataset.tests if not test.second.is_baseline}
    # Right overall, both: no difference. On dimensions seven prompts of seven: 2 / 2^7, thrice for three tests.
    assert (tests["overall"].difference.value, tests["overall"].p) == (0, 1)
    found = tests["dimensions"]
    assert found.only_one_right in {(7, 0), (0, 7)}
    assert found.p == pytest.approx(2 / 128)
    assert found.better is not None and found.better.judge == "mockllm/sharp"


def test_baselines_are_computed_on_the_same_pairs(logs: Logs) -> None:
    [dataset] = read_judges([logs["good"]])
    accuracy = {
        baseline.judge: baseline.overall.accuracy.value
        for baseline in dataset.baselines
        if baseline.overall is not None
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
def test_a_logged_baseline_equals_the_computed_one_and_replaces_it(asked: dict[str, Logs], orders: str) -> None:
    [alone], [beside] = read_judges([asked[orders]["sharp"]]), read_judges(list(asked[orders].values()))
    computed, logged = by_judge(alone.baselines), by_judge(beside.judges)
    assert set(computed) == {f"baseline/{kind}" for kind in BASELINES}
    for name, one in computed.items():
        other = logged[name]
        assert (repr(other.overall), repr(other.dimensions)) == (repr(one.overall), repr(one.dimensions)), name
        assert (other.orders, other.seed, other.judgements) == (one.orders, one.seed, one.judgements)
        assert other.items.keys() == one.items.keys()
        assert other.is_baseline and other.location and not one.location
        assert other.effort.calls == 0
    assert beside.baselines == ()


def test_asked_in_both_orders_a_baseline_by_place_flips_always(asked: dict[str, Logs]) -> None:
    [dataset] = read_judges([asked["both"]["sharp"]])
    found = by_judge(dataset.baselines)
    flips = {name: one.overall.flips.value for name, one in found.items() if one.overall is not None}
    assert (flips["baseline/first"], flips["baseline/second"], flips["baseline/longest"]) == (1, 1, 0)
    assert 0 < flips["baseline/random"] < 1
    told = found["baseline/copy_overall"].dimensions
    # The labels on the first dimension are those of the pair, on the second they are ties, which do not count.
    assert told is not None and told.accuracy.value == 1
    # What disagrees with itself is a tie, and no label that counts is one.
    first = found["baseline/first"].overall
    assert first is not None and first.accuracy.value == 0


def test_a_log_that_says_something_else_stands_beside_the_computed_one(logs: Logs) -> None:
    other = logs["longest"].model_copy(deep=True)
    for sample in (other.samples or [])[:1]:
        for score in (sample.scores or {}).values():
            if score.metadata:
                score.metadata["verdicts"] = {"a": {"Overall": "b"}}
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


def test_judges_that_saw_different_orders_have_baselines_in_the_order_of_the_data(logs: Logs) -> None:
    [dataset] = read_judges([turned(logs["good"]), logs["bad"]])
    found = by_judge(dataset.baselines)["baseline/first"]
    assert found.orders == "ab"
    assert found.overall is not None and found.overall.accuracy.value == pytest.approx(6 / 7)
    # If all saw b first, the first response is right once.
    [dataset] = read_judges([turned(logs["good"])])
    found = by_judge(dataset.baselines)["baseline/first"]
    assert found.orders == "seeded"
    assert found.overall is not None and found.overall.accuracy.value == pytest.approx(1 / 7)


def test_seeds_that_differ_leave_the_coin_with_seed_0(logs: Logs) -> None:
    [same], [different] = (
        read_judges([change(logs["good"], seed=3), change(logs["bad"], seed=seed)]) for seed in (3, 4)
    )
    assert {baseline.seed for baseline in same.baselines} == {3}
    assert {baseline.seed for baseline in different.baselines} == {0}


def by_judge(judges: tuple[JudgeResult, ...]) -> dict[str, JudgeResult]:
    return {judge.judge: judge for judge in judges}
