"""One log of judged pairs -> how good its judge is."""

import math

import pytest

from tests.reports.pairs import Logs
from urs_inspect.reports import read_judge

# Eight pairs: a is better in six, b in one, one is a tie. Response a is the longer one in five, b in the others.


def test_a_judge_is_measured_on_its_pairs(logs: Logs) -> None:
    result = read_judge(logs["good"])
    assert result is not None
    assert (result.judge, result.pairs, result.verdicts) == ("mockllm/good", 8, 8)
    assert result.overall is not None
    # `good` is right on all but the tie, which it cannot read.
    assert (result.overall.accuracy.value, result.overall.accuracy.n) == (1, 7)
    assert result.overall.unread.value == 1 / 8
    assert result.dimensions is None
    assert math.isnan(result.cost)  # the scripted model has no price
    assert result.seconds >= 0
    assert not result.is_baseline


def test_cost_and_seconds_are_per_1000_verdicts(logs: Logs) -> None:
    priced = logs["good"].model_copy(deep=True)
    for sample in priced.samples or []:
        for event in sample.events:
            if event.event == "model":
                assert event.output.usage is not None
                event.output.usage.total_cost, event.output.time = 0.002, 0.5
    result = read_judge(priced)
    assert result is not None
    # One call a verdict: 1,000 times 0.002 dollars and 0.5 seconds.
    assert (result.cost, result.seconds) == pytest.approx((2, 500))
    # One call that failed leaves seven, whose mean stands for it.
    [event, *_] = [e for sample in priced.samples or [] for e in sample.events if e.event == "model"]
    event.output.usage, event.output.time, event.error = None, None, "overloaded"
    failed = read_judge(priced)
    assert failed is not None
    assert (failed.cost, failed.seconds) == pytest.approx((2, 500))
    assert (failed.effort.calls, failed.effort.without_cost, failed.effort.without_seconds) == (8, 1, 1)


# --- verdicts on dimensions ---


# The same eight labels, on the whole and on the first dimension; on the second dimension all are ties.


def test_dimensions_are_measured_beside_the_whole(joint: Logs) -> None:
    sharp, halo = (read_judge(joint[name]) for name in ("sharp", "halo"))
    assert sharp is not None and halo is not None
    assert (sharp.protocol, sharp.orders, sharp.pairs, sharp.verdicts) == ("joint", "ab", 8, 24)
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
    priced = joint["sharp"].model_copy(deep=True)
    for sample in priced.samples or []:
        for event in sample.events:
            if event.event == "model":
                assert event.output.usage is not None
                event.output.usage.total_cost, event.output.time = 0.003, 1.5
    result = read_judge(priced)
    # A call makes three verdicts: 1,000 of them take 1000 / 3 calls.
    assert result is not None
    assert (result.cost, result.seconds) == pytest.approx((1, 500))
