"""Logs of `mad` become comparisons, once each."""

import math
from pathlib import Path

import pytest
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score

from tests.rating.fights import rows
from tests.reports.mad_logs import XY, XZ, YZ, judged, write_log
from urs_inspect.errors import InputError
from urs_inspect.reports import read_battles, read_comparisons


def also_by_people(sample: EvalSample, outcome: float, number: int = 0) -> EvalSample:
    name = "human_choice" if number == 0 else f"human_choice-{number}"
    facts = {"model_a": sample.metadata["ballot"]["model_a"], "model_b": sample.metadata["ballot"]["model_b"]}
    assert sample.scores is not None
    sample.scores[name] = Score(value={"outcome": outcome}, metadata=facts)
    return sample


def taken_over(sample: EvalSample) -> EvalSample:
    assert sample.scores is not None
    for score in sample.scores.values():
        score.metadata = {**(score.metadata or {}), "previous": True}
    return sample


def found(log: Path) -> dict[str, float]:
    return {one.ballot.id: one.outcome for one in read_comparisons(str(log))}


def wins(*logs: Path) -> list[tuple[str, str, float]]:
    return sorted((one, other, outcome) for one, other, outcome, _ in rows(read_battles(logs, lambda line: None)))


def test_the_last_judgement_counts_and_an_unread_one_is_kept(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", judged(XY, 1.0, 0.0), judged(XZ, math.nan), judged(YZ))
    outcomes = found(log)
    assert outcomes[XY.id] == 0
    assert math.isnan(outcomes[XZ.id]) and math.isnan(outcomes[YZ.id])


def test_a_verdict_of_one_epoch_stands_for_the_unread_one_of_another(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", judged(XY, 1.0), judged(XY, math.nan, epoch=2))
    assert found(log) == {XY.id: 1.0}


def test_people_s_choices_count_in_place_of_a_judge_s(tmp_path: Path) -> None:
    samples = [also_by_people(judged(XY, 1.0), 0.0), also_by_people(judged(XZ, 1.0), math.nan), judged(YZ, 1.0)]
    log = write_log(tmp_path / "log.eval", *samples)
    outcomes = found(log)
    assert outcomes[XY.id] == 0
    assert math.isnan(outcomes[XZ.id]) and math.isnan(outcomes[YZ.id])
    assert wins(log) == [("x", "y", 0.0)]


def test_people_who_decided_nothing_leave_the_judge_s_verdicts(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", also_by_people(judged(XY, 1.0), math.nan))
    assert found(log) == {XY.id: 1.0}
    assert wins(log) == [("x", "y", 1.0)]


def test_the_last_count_of_votes_counts(tmp_path: Path) -> None:
    sample = also_by_people(also_by_people(judged(XY, 1.0), 0.0), 0.5, number=1)
    assert wins(write_log(tmp_path / "log.eval", sample)) == [("x", "y", 0.5)]


def test_what_was_taken_over_counts_once(tmp_path: Path) -> None:
    first = write_log(tmp_path / "first.eval", judged(XY, 1.0))
    second = write_log(tmp_path / "second.eval", taken_over(judged(XY, 1.0)), judged(XZ, 0.0))
    third = write_log(
        tmp_path / "third.eval", taken_over(judged(XY, 1.0)), taken_over(judged(XZ, 0.0)), judged(YZ, 0.5)
    )
    everything = [("x", "y", 1.0), ("x", "z", 0.0), ("y", "z", 0.5)]
    for logs in ((third,), (second, third), (third, second, first), (first, second, third)):
        assert wins(*logs) == everything
    assert wins(first, second) == everything[:2]


def test_the_same_comparison_judged_in_two_runs_counts_twice(tmp_path: Path) -> None:
    logs = [write_log(tmp_path / f"{name}.eval", judged(XY, 1.0)) for name in "ab"]
    assert wins(*logs) == [("x", "y", 1.0)] * 2


def test_a_log_without_comparisons_is_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", EvalSample(id="a", epoch=1, input="?", target=""))
    with pytest.raises(
        InputError, match=r"previous: no comparison in '.*log.eval'; name a finished log of the task mad"
    ):
        read_comparisons(str(log))
