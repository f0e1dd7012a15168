"""Baselines computed beside judges, asked as these were."""

import pytest
from inspect_ai.log import EvalLog

from tests.reports.pairs import Logs, change, judge_as
from urs_inspect.rating import BASELINES
from urs_inspect.reports import JudgeResult, read_judges

# Eight pairs: a is better in six, b in one, one is a tie. Response a is the longer one in five, b in the others.


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


@pytest.fixture(
    scope="module",
    params=[("ab", 0), ("seeded", 0), ("seeded", 3), ("both", 0), ("both", 3)],
    ids=lambda p: f"{p[0]}-{p[1]}",
)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Logs:
    orders, seed = request.param
    return judge_as(tmp_path_factory.mktemp("asked"), orders=orders, seed=seed)


def test_a_logged_baseline_equals_the_computed_one_and_replaces_it(asked: Logs) -> None:
    [alone], [beside] = read_judges([asked["sharp"]]), read_judges(list(asked.values()))
    computed, logged = by_judge(alone.baselines), by_judge(beside.judges)
    assert set(computed) == {f"baseline/{kind}" for kind in BASELINES}
    for name, one in computed.items():
        other = logged[name]
        assert (repr(other.overall), repr(other.dimensions)) == (repr(one.overall), repr(one.dimensions)), name
        assert (other.orders, other.seed, other.pairs, other.verdicts) == (
            one.orders,
            one.seed,
            one.pairs,
            one.verdicts,
        )
        assert other.is_baseline and other.location and not one.location
        assert other.effort.calls == 0
    assert beside.baselines == ()


def test_asked_in_both_orders_a_baseline_by_place_flips_always(tmp_path_factory: pytest.TempPathFactory) -> None:
    asked = judge_as(tmp_path_factory.mktemp("both"), orders="both")
    [dataset] = read_judges([asked["sharp"]])
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
