"""Tests of `urs_inspect.stats.verdicts`."""

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stats.conftest import MdEval
from tests.stats.fights import checked
from urs_inspect._util import InputError
from urs_inspect.stats import Verdicts, baseline_verdicts, correctness, encode, longer_response, measure
from urs_inspect.stats.measures import TIE, UNREAD, A, B, combine_orders, group_accuracies

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


def test_names_become_codes() -> None:
    assert encode(["a", "b", "tie", None, "unread"]).tolist() == [A, B, TIE, UNREAD, UNREAD]
    assert encode([]).tolist() == []


@pytest.mark.parametrize("name", ["A", "model_a", "", "c", "Tie"])
def test_other_names_are_errors_that_name_the_place(name: str) -> None:
    with pytest.raises(ValueError, match=f"item 1: '{name}' is no verdict; allowed: a, b, tie, unread"):
        encode(["a", name])


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


def test_the_longer_response_has_more_of_whatever_is_counted() -> None:
    assert longer_response([3, 3, 3, 0], [2, 4, 3, 0]).tolist() == [A, B, TIE, TIE]


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


CASE: dict[str, Any] = {
    "lengths_a": [5, 2, 3],
    "lengths_b": [1, 9, 3],
    "first": [A, B, B],
    "overall_labels": [B, TIE, A],
    "ids": ["x", "y", "z"],
}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("longest", [A, B, TIE]),
        ("shortest", [B, A, TIE]),
        ("first", [A, B, B]),
        ("second", [B, A, A]),
        ("copy_overall", [B, TIE, A]),
    ],
)
def test_a_baseline_looks_at_one_thing_only(kind: str, expected: list[int]) -> None:
    assert baseline_verdicts(kind, **CASE).tolist() == expected


def test_the_coin_is_fair_and_depends_on_the_seed() -> None:
    ids = [f"case {number}" for number in range(4000)]
    first = np.full(4000, A)
    one, other = (baseline_verdicts("random", ids=ids, first=first, seed=seed) for seed in (0, 1))
    assert set(one.tolist()) == {A, B}
    # 0.5 give or take four times sqrt(0.25 / 4000) = 0.008
    assert one.mean() == pytest.approx(0.5, abs=0.032)
    assert np.mean(one == other) == pytest.approx(0.5, abs=0.032)


def test_the_coin_disagrees_with_itself_in_half_of_the_cases_when_the_order_changes() -> None:
    ids = [f"case {number}" for number in range(4000)]
    one, other = (baseline_verdicts("random", ids=ids, first=np.full(4000, side)) for side in (A, B))
    # Give or take 0.032, as above; for the response shown first as often as for the other.
    assert np.mean(one == other) == pytest.approx(0.5, abs=0.032)
    assert other.mean() == pytest.approx(0.5, abs=0.032)
    assert np.mean(combine_orders(one, other) == TIE) == np.mean(one != other)


@checked
@given(ids=st.lists(st.text(max_size=8), max_size=30), seed=st.integers(0, 50))
def test_the_coin_of_an_item_does_not_depend_on_the_others(ids: list[str], seed: int) -> None:
    mixed = random.Random(seed).sample(ids, len(ids))
    first = [A] * len(ids)
    coins = dict(zip(ids, baseline_verdicts("random", ids=ids, first=first, seed=seed).tolist(), strict=True))
    found = baseline_verdicts("random", ids=mixed, first=first, seed=seed)
    assert found.tolist() == [coins[item] for item in mixed]


def test_an_unknown_baseline_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(
        InputError, match="unknown baseline 'best'; allowed: longest, shortest, first, second, random, copy_overall"
    ):
        baseline_verdicts("best", **CASE)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("longest", "lengths_a"),
        ("shortest", "lengths_b"),
        ("first", "first"),
        ("second", "first"),
        ("random", "ids"),
        ("random", "first"),
        ("copy_overall", "overall_labels"),
    ],
)
def test_a_baseline_says_what_it_needs_and_needs_no_more(kind: str, missing: str) -> None:
    with pytest.raises(ValueError, match=f"baseline '{kind}' needs {missing}"):
        baseline_verdicts(kind, **{**CASE, missing: None})
    lengths = ("lengths_a", "lengths_b")
    needed = {"longest": lengths, "shortest": lengths, "random": ("ids", "first")}.get(kind, (missing,))
    only = {name: CASE[name] for name in needed}
    assert baseline_verdicts(kind, **only).tolist() == baseline_verdicts(kind, **CASE).tolist()


@pytest.mark.parametrize("kind", ["first", "second", "random"])
def test_a_place_must_be_known(kind: str) -> None:
    with pytest.raises(ValueError, match="needs to know which response was shown first"):
        baseline_verdicts(kind, first=[A, TIE], ids=["x", "y"])


@checked
@given(lengths=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))))
def test_opposite_baselines_never_agree_but_on_ties(lengths: list[tuple[int, int]]) -> None:
    a, b = np.array(lengths, dtype=int).reshape(-1, 2).T
    longest = baseline_verdicts("longest", lengths_a=a, lengths_b=b)
    shortest = baseline_verdicts("shortest", lengths_a=a, lengths_b=b)
    assert ((longest == shortest) == (a == b)).all()
    assert shortest.tolist() == baseline_verdicts("longest", lengths_a=b, lengths_b=a).tolist()


def verdicts_on(md_eval: MdEval, kind: str, *, fine: bool = False) -> Any:
    items = md_eval.fine if fine else md_eval.pairs
    return baseline_verdicts(
        kind,
        lengths_a=items.lengths_a,
        lengths_b=items.lengths_b,
        first=np.full(len(items.labels), A),
        overall_labels=items.overall,
        ids=[str(place) for place in range(len(items.labels))],
    )


@pytest.mark.data
@pytest.mark.parametrize(
    ("kind", "right"),
    [
        ("longest", 255),
        ("shortest", 86),  # one pair is equally long: 342 - 255 - 1
        ("first", 141),
        ("second", 201),
    ],
)
def test_how_many_of_the_342_overall_labels_a_baseline_gets(md_eval: MdEval, kind: str, right: int) -> None:
    found = measure(md_eval.pairs.judged(verdicts_on(md_eval, kind))).accuracy
    assert (found.n, round(found.value * found.n)) == (342, right)
    assert found.value == pytest.approx(right / 342)
    assert found.low < found.value < found.high


@pytest.mark.data
def test_the_second_response_wins_201_of_all_350_rows(md_eval: MdEval) -> None:
    # The row without responses is labelled a tie, so that leaving it out takes nothing from the 201.
    assert (md_eval.rows, len(md_eval.pairs.labels)) == (350, 349)
    assert int((verdicts_on(md_eval, "second") == md_eval.pairs.labels).sum()) == 201


@pytest.mark.data
def test_the_longer_response_has_three_quarters_of_the_dimension_labels(md_eval: MdEval) -> None:
    found = measure(md_eval.fine.judged(verdicts_on(md_eval, "longest", fine=True), dimensions=True))
    assert found.accuracy.n == 3248
    assert found.accuracy.value == pytest.approx(2396 / 3248)
    assert round(found.accuracy.value, 3) == 0.738
    assert found.label_longer_preference.value == found.accuracy.value


@pytest.mark.data
def test_copying_the_overall_label_shows_the_ceiling_of_the_halo(md_eval: MdEval) -> None:
    found = measure(md_eval.fine.judged(verdicts_on(md_eval, "copy_overall", fine=True), dimensions=True))
    # 3,248 dimension labels are no tie; 8 of these stand on pairs whose overall label is one. 2,955 are equal.
    assert (found.accuracy.n, found.label_halo.n) == (3248, 3240)
    assert found.accuracy.value == pytest.approx(2955 / 3248)
    assert found.label_halo.value == pytest.approx(2955 / 3240)
    assert round(found.label_halo.value, 3) == 0.912
    assert found.halo.value == 1


@pytest.mark.data
def test_groups_of_md_eval_add_up_to_the_whole(md_eval: MdEval) -> None:
    judged = md_eval.fine.judged(verdicts_on(md_eval, "longest", fine=True), dimensions=True)
    for groups, number in ((md_eval.fine.scenarios, 36), (md_eval.fine.dimensions, 42)):
        parts = group_accuracies(judged, groups, rounds=100)
        assert len(parts) == number
        assert sum(part.n for part in parts.values()) == 3248
        assert sum(part.value * part.n for part in parts.values()) == pytest.approx(2396)
