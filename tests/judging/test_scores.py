"""Tests of `urs_inspect.judging._scores`."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from urs_inspect.judging._scores import (
    as_number,
    as_numbers,
    last_score,
    number,
    scores_named,
    scores_of_samples,
)

SCORES = {
    "intent_judge": 1,
    "intent_judge_outcome": 2,
    "other": 3,
    "intent_judge-1": 4,
    "intent_judge2": 5,
    "my_intent_judge": 6,
    "intent_judge-": 7,
    "intent_judge-12": 8,
}


def test_scores_of_a_scorer_are_those_of_its_name_with_a_number_or_none() -> None:
    assert scores_named(SCORES, "intent_judge") == [1, 4, 5, 8]
    assert scores_named(SCORES, "intent") == []
    assert scores_named(None, "intent_judge") == []
    samples = [SimpleNamespace(scores=SCORES), SimpleNamespace(scores=None)]
    assert scores_of_samples(samples, "intent_judge") == [[1, 4, 5, 8], []]
    assert [last_score(sample, "intent_judge") for sample in samples] == [8, None]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3.0),
        (0.5, 0.5),
        ("7.5", 7.5),
        (" 7 ", 7.0),
        ("C", 1.0),
        ("P", 0.5),
        ("I", 0.0),
        ("N", 0.0),
        ("c", math.inf),
        ("yes", 1.0),
        ("TRUE", 1.0),
        ("No", 0.0),
        ("false", 0.0),
        (True, 1.0),
        (None, math.nan),
        ("nan", math.nan),
        (-math.inf, math.inf),
        ("-inf", math.inf),
        ("good", math.inf),
        ("", math.inf),
        ([1.0], math.inf),
        (10**400, math.inf),
    ],
)
def test_a_score_is_a_number_none_or_unreadable(value: Any, expected: float) -> None:
    assert number(value) == pytest.approx(expected, nan_ok=True)


def test_only_numbers_are_numbers() -> None:
    assert [as_number(value) for value in (2, 0.5, True)] == [2.0, 0.5, 1.0]
    assert all(math.isnan(as_number(value)) for value in ("2", None, [1]))
    assert as_numbers({"a": 1, 2: "x"}) == pytest.approx({"a": 1.0, "2": math.nan}, nan_ok=True)
    assert as_numbers([1.0]) == as_numbers(None) == {}
