"""Codes of verdicts, both orders as one, and what counts as right."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urs_inspect.rating import TIE, UNREAD, A, B, Verdicts, combine_orders, correctness, encode, longer_response

checked = settings(deadline=None, database=None)
codes = st.sampled_from([A, B, TIE, UNREAD])


def some(**changes: Any) -> Verdicts:
    items: dict[str, Any] = {
        "labels": np.array([A, B, TIE]),
        "verdicts": np.array([A, UNREAD, B]),
        "clusters": np.array([7, 9, 7]),
        "longer": np.array([A, B, TIE]),
        "first": np.array([A, B, TIE]),
    }
    return Verdicts(**{**items, **changes})


# --- codes ---


def test_names_become_codes() -> None:
    assert encode(["a", "b", "tie", None, "unread"]).tolist() == [A, B, TIE, UNREAD, UNREAD]
    assert encode([]).tolist() == []


@pytest.mark.parametrize("name", ["A", "model_a", "", "c", "Tie"])
def test_other_names_are_errors_that_name_the_place(name: str) -> None:
    with pytest.raises(ValueError, match=f"item 1: '{name}' is no verdict; allowed: a, b, tie, unread"):
        encode(["a", name])


# --- combine_orders ---


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (A, A, A),
        (B, B, B),
        (TIE, TIE, TIE),
        (A, B, TIE),
        (A, TIE, TIE),
        (TIE, B, TIE),
        (UNREAD, A, UNREAD),
        (B, UNREAD, UNREAD),
        (TIE, UNREAD, UNREAD),
        (UNREAD, UNREAD, UNREAD),
    ],
)
def test_both_orders_count_only_where_they_agree(one: int, other: int, both: int) -> None:
    assert combine_orders([one], [other]).tolist() == [both]
    assert combine_orders([other], [one]).tolist() == [both]


@checked
@given(pairs=st.lists(st.tuples(codes, codes)))
def test_the_final_verdict_is_that_of_both_orders(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs, dtype=int).reshape(-1, 2).T
    sides = np.zeros(len(pairs), dtype=int)
    verdicts = Verdicts(sides, one, np.arange(len(pairs)), sides, sides, swapped=other)
    assert verdicts.final.tolist() == combine_orders(one, other).tolist()
    assert Verdicts(sides, one, np.arange(len(pairs)), sides, sides).final.tolist() == one.tolist()


# --- longer_response ---


def test_the_longer_response_has_more_of_whatever_is_counted() -> None:
    assert longer_response([3, 3, 3, 0], [2, 4, 3, 0]).tolist() == [A, B, TIE, TIE]


# --- correctness ---


def test_what_counts_as_right() -> None:
    labels, verdicts = [A, A, A, B, TIE, TIE, B], [A, B, TIE, UNREAD, TIE, A, B]
    none = math.nan
    cases: list[tuple[dict[str, bool], list[float]]] = [
        ({}, [1, 0, 0, 0, none, none, 1]),
        ({"ties": True}, [1, 0, 0, 0, 1, 0, 1]),
        ({"unread_is_wrong": False}, [1, 0, 0, none, none, none, 1]),
        ({"ties": True, "unread_is_wrong": False}, [1, 0, 0, none, 1, 0, 1]),
    ]
    for options, expected in cases:
        assert correctness(labels, verdicts, **options) == pytest.approx(expected, nan_ok=True)


# --- what is refused ---


@pytest.mark.parametrize("name", ["labels", "verdicts", "longer", "first", "swapped", "overall", "overall_labels"])
def test_every_field_has_one_code_an_item(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} has shape \(2,\), but there are 3 items"):
        some(**{name: np.array([A, B])})


@pytest.mark.parametrize("name", ["labels", "longer", "first", "overall_labels"])
def test_only_a_verdict_can_be_unread(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be codes 0 \(a\), 1 \(b\), 2 \(tie\)$"):
        some(**{name: np.array([A, B, UNREAD])})


@pytest.mark.parametrize("name", ["verdicts", "swapped", "overall"])
@pytest.mark.parametrize("bad", [[0, 1, 4], [-1, 0, 1], [0.0, 1.0, math.nan], ["a", "b", "a"]])
def test_verdicts_are_codes(name: str, bad: list[Any]) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be codes .*3 \(unread\)$"):
        some(**{name: np.array(bad)})


def test_unread_is_a_verdict_in_every_field_of_verdicts() -> None:
    unread = np.full(3, UNREAD)
    assert some(verdicts=unread, swapped=unread, overall=unread).final.tolist() == [UNREAD] * 3


def test_prompts_are_numbered() -> None:
    assert some().clusters.tolist() == [0, 1, 0]
    assert len(some()) == 3
