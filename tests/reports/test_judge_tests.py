"""Which of two judges is better, from their logs."""

import pytest

from tests.reports.pairs import Logs, change, is_baseline, judge_as
from urs_inspect.errors import InputError
from urs_inspect.reports import JudgePair, read_judges


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Logs]:
    """A judge and all baselines on dimensions, in one order and in both with another seed."""
    made = tmp_path_factory.mktemp("asked")
    return {"ab": judge_as(made / "ab", orders="ab"), "both": judge_as(made / "both", orders="both", seed=3)}


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
    assert (test.comparison.only_first, test.comparison.only_second) == (7, 0)
    assert test.comparison.difference.value == 1
    assert test.comparison.p == pytest.approx(2 / 128)
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


def said(tests: tuple[JudgePair, ...]) -> list[tuple[object, ...]]:
    return [(t.first.judge, t.second.judge, t.level, repr(t.comparison), t.adjusted_p) for t in tests]


def test_only_pairs_of_both_are_compared(logs: Logs) -> None:
    part = logs["bad"].model_copy(deep=True)
    assert part.samples is not None
    part.samples = list(reversed(part.samples[:3]))
    [dataset] = read_judges([logs["good"], part])
    [test] = [test for test in dataset.tests if not test.second.is_baseline]
    assert test.comparison.difference.n == 3
    assert test.comparison.difference.value == 1


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
    assert (tests["overall"].comparison.difference.value, tests["overall"].comparison.p) == (0, 1)
    found = tests["dimensions"]
    assert (found.comparison.only_first, found.comparison.only_second) in {(7, 0), (0, 7)}
    assert found.comparison.p == pytest.approx(2 / 128)
    assert found.better is not None and found.better.judge == "mockllm/sharp"
