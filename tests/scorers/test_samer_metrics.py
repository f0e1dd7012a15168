"""`samer_report` by hand, against a slow computation, and under another order."""

import math
import random
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import SampleScore, Score

from urs_inspect.rating import student_interval
from urs_inspect.reports.samer_weights import DimensionScore, read_dimensions
from urs_inspect.samer.judgement import score_keys
from urs_inspect.scorers import samer_report

NAN = math.nan


def score(name: str, overall: float = NAN, facts: Any = None, **dimensions: float) -> SampleScore:
    value: dict[str, Any] = dict.fromkeys(score_keys(), NAN) | {"overall": overall, **dimensions}
    intent, _, _ = name.partition("-")
    return SampleScore(
        score=Score(value=value, metadata=facts or {}), sample_id=name, sample_metadata={"intent_group": intent}
    )


def dimensions(*scores: SampleScore) -> dict[str, DimensionScore]:
    """What `urs-inspect samer weights --scores` reads from a log with these scores."""
    samples = [
        EvalSample(id=str(one.sample_id), epoch=number, input="", target="", scores={"samer": one.score})
        for number, one in enumerate(scores)
    ]
    return read_dimensions(EvalLog.model_construct(samples=samples))  # type: ignore[call-arg]


def report(*scores: SampleScore) -> dict[str, float]:
    value = samer_report()(list(scores))  # type: ignore[arg-type]
    assert isinstance(value, dict)
    return {key: float(number) for key, number in value.items() if isinstance(number, (int, float))}


def test_means_and_shares_worked_by_hand() -> None:
    scores = (
        score("x-1", 0.2, Clarity=0.4),
        score("x-2", 0.4, Clarity=0.6, Depth=0.9),
        score("y-1", 0.9),
        score("y-2", NAN, {"failure_mode": "timeout"}),
    )
    rows = report(*scores)
    assert next(iter(rows)) == "overall" and rows["overall"] == pytest.approx(0.5)
    assert rows["overall intent_group=x"] == pytest.approx(0.3)
    assert rows["overall intent_group=y"] == pytest.approx(0.9)
    assert rows["failures timeout"] == 1
    assert "Clarity" not in rows
    # What left the header is read from the log. Clarity: (0.4 + 0.6) / 2, in 2 of 3 evaluated answers.
    found = dimensions(*scores)
    assert (found["Clarity"].mean.mean, found["Clarity"].selected) == pytest.approx((0.5, 2 / 3))
    assert (found["Depth"].mean.mean, found["Depth"].selected) == pytest.approx((0.9, 1 / 3))
    assert math.isnan(found["Clarity"].mean.low)  # two answers have no interval
    assert next(iter(found)) == "overall" and found["overall"].selected == 1


def test_everything_special_is_counted() -> None:
    rows = report(
        score("x-1", 0.0, {"no_response": True}),
        score("x-2", 0.5, {"shortened": 12, "empty_selection": True}),
        score("x-3", 0.5, {"shortened": 0, "empty_selection": False, "no_response": False}),
        score("x-4", NAN, {"failure_mode": "too_long"}),
        score("x-5", NAN, {"failure_mode": "too_long"}),
    )
    counted = {key: rows[key] for key in ("no response", "shortened", "empty selection", "failures too_long")}
    assert counted == {"no response": 1, "shortened": 1, "empty selection": 1, "failures too_long": 2}
    assert "overall intent_group=x" not in rows  # a single group is the whole


def test_epochs_are_averaged_before_intervals() -> None:
    values = (0.2, 0.4, 0.9, 0.5, 0.1, 0.3)
    twice = report(*[score(f"x-{n}", value) for n, value in enumerate(values) for _ in range(4)])
    once = report(*[score(f"x-{n}", value) for n, value in enumerate(values)])
    assert once["low"] < once["overall"] < once["high"]
    assert twice == pytest.approx(once)


def test_it_equals_the_obvious_computation_in_any_order() -> None:
    rng = random.Random(3)
    names = ("Clarity", "Depth", "Style")
    scores = [
        score(f"{rng.choice('xyz')}-{n}", rng.random(), **{name: rng.random() for name in names if rng.random() < 0.6})
        for n in range(60)
    ]
    rows, found = report(*scores), dimensions(*scores)
    rng.shuffle(scores)
    assert report(*scores) == pytest.approx(rows)
    for name in names:
        values = [float(one.score.as_dict()[name]) for one in scores]  # type: ignore[arg-type]
        given = [value for value in values if not math.isnan(value)]
        estimate = student_interval(given)
        one = found[name]
        assert (one.mean.mean, one.mean.low, one.mean.high) == pytest.approx(
            (estimate.mean, estimate.low, estimate.high)
        )
        assert one.selected == pytest.approx(len(given) / 60)
    whole = student_interval([float(one.score.as_dict()["overall"]) for one in scores])  # type: ignore[arg-type]
    assert (rows["overall"], rows["low"], rows["high"]) == pytest.approx((whole.mean, whole.low, whole.high))


def test_no_score_is_the_headline_without_a_value() -> None:
    rows = report()
    assert math.isnan(rows.pop("overall"))
    assert rows == {"no response": 0, "shortened": 0, "empty selection": 0}
