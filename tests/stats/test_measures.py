"""Tests of `urs_inspect.stats._measures`."""

import math
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stats.fights import checked
from tests.stats.slow import expanded
from urs_inspect._util import InputError
from urs_inspect.datasets import PairCase, load_md_eval
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.stats import (
    Estimate,
    JudgeMeasures,
    Verdicts,
    baseline_verdicts,
    correctness,
    encode,
    longer_response,
    measure,
)
from urs_inspect.stats._bootstrap import bootstrap_counts, cluster_counts, number_clusters, resample
from urs_inspect.stats._measures import (
    TIE,
    UNREAD,
    A,
    B,
    _draws,
    accuracies,
    combine_orders,
    group_accuracies,
)

Item = tuple[int, int, int, int, int, int, int, int]
"""Label, verdict, prompt, longer response, response shown first, swapped verdict, overall verdict,
overall label.
"""

SIDES, LABELS, VERDICTS = (A, B), (A, B, TIE), (A, B, TIE, UNREAD)
NAMES = tuple(field.name for field in fields(JudgeMeasures))

label, verdict = st.sampled_from(LABELS), st.sampled_from(VERDICTS)
item = st.tuples(label, verdict, st.integers(0, 5), label, label, verdict, verdict, label)
item_lists = st.lists(item, min_size=1, max_size=20)


def judged(items: Iterable[Item], *, swapped: bool = True, dimensions: bool = True) -> Verdicts:
    columns = [np.array(column) for column in zip(*items, strict=True)]
    return Verdicts(
        labels=columns[0],
        verdicts=columns[1],
        clusters=columns[2],
        longer=columns[3],
        first=columns[4],
        swapped=columns[5] if swapped else None,
        overall=columns[6] if dimensions else None,
        overall_labels=columns[7] if dimensions else None,
    )


def verdicts_on(labels: str, verdicts: str, **others: Any) -> Verdicts:
    """From letters: a, b, t(ie), u(nread), one prompt an item."""
    letters = {"a": A, "b": B, "t": TIE, "u": UNREAD}
    given = {
        "labels": labels,
        "verdicts": verdicts,
        "longer": "t" * len(labels),
        "first": "a" * len(labels),
        **others,
    }
    coded = {name: np.array([letters[letter] for letter in text]) for name, text in given.items()}
    return Verdicts(clusters=np.arange(len(labels)), **coded)


def values(found: JudgeMeasures) -> dict[str, float]:
    return {name: getattr(found, name).value for name in NAMES}


def share(hits: Iterable[bool]) -> float:
    hits = list(hits)
    return sum(hits) / len(hits) if hits else math.nan


def slow_f1(pairs: list[tuple[int, int]]) -> float:
    """Harmonic mean of precision and recall of each class that occurs, averaged."""
    scores = []
    for each in LABELS:
        true = sum(truth == said == each for truth, said in pairs)
        labelled, claimed = (sum(pair[side] == each for pair in pairs) for side in (0, 1))
        if labelled or claimed:
            precision, recall = (
                true / labelled if labelled else 0,
                true / claimed if claimed else 0,
            )
            scores.append(2 * precision * recall / (precision + recall) if true else 0.0)
    return float(np.mean(scores)) if scores else math.nan


def slow_alpha(pairs: list[tuple[int, int]]) -> float:
    if len(pairs) < 2:
        return math.nan
    everything = [value for pair in pairs for value in pair]
    observed = np.mean([truth != said for truth, said in pairs])
    n = len(everything)
    expected = sum(one != other for one in everything for other in everything) / (n * (n - 1))
    return float(1 - observed / expected) if expected else 1.0


def slow(items: list[Item], swapped: bool) -> dict[str, float]:
    both = [tuple(combine_orders([i[1]], [i[5]]).tolist()) for i in items]
    final = [one[0] if swapped else i[1] for i, one in zip(items, both, strict=True)]
    rows = list(zip(items, final, strict=True))
    read = [(i[0], said) for i, said in rows if said != UNREAD]
    decided = [(i, said) for i, said in rows if i[0] != TIE]
    shown = [(i[1], i[4]) for i in items if i[4] != TIE]
    if swapped:
        shown += [(i[5], 1 - i[4]) for i in items if i[4] != TIE]
    twice = [(i[1], i[5]) for i in items if swapped and UNREAD not in (i[1], i[5])]
    return {
        "accuracy": share(said == i[0] for i, said in decided if said != UNREAD),
        "accuracy_all": share(said == i[0] for i, said in decided),
        "three_way": share(truth == said for truth, said in read),
        "three_way_all": share(said == i[0] for i, said in rows),
        "macro_f1": slow_f1(read),
        "alpha": slow_alpha(read),
        "first_preference": share(said == first for said, first in shown if said in SIDES),
        "longer_preference": share(said == i[3] for i, said in rows if said in SIDES),
        "label_longer_preference": share(i[0] == i[3] for i in items if i[0] in SIDES),
        "halo": share(said == i[6] for i, said in rows if said in SIDES and i[6] in SIDES),
        "label_halo": share(i[0] == i[7] for i in items if i[0] in SIDES and i[7] in SIDES),
        "flips": share(one != other for one, other in twice),
        "reversals": share({one, other} == {A, B} for one, other in twice),
        "unread": share(said == UNREAD for said in final),
    }


@pytest.mark.parametrize(
    ("labels", "verdicts", "others", "expected"),
    [
        # Labels a a a b b t t t, verdicts a b t b u t a u. Non-tie labels: a-a, b-b right, a-b and
        # a-t wrong, b-u unread: 2 of 4 read, 2 of 5 in all. All labels: a-a, b-b, t-t right of 6
        # read: 3 of 6, 3 of 8. Unread: 2 of 8. F1 = 2 tp / (labels + verdicts): a: 2 / (3 + 2), b:
        # 2 / (1 + 2), t: 2 / (2 + 2); mean 47/90. Alpha: of 12 values, 5 a, 3 b, 4 t, 6 disagree; 1
        # - 11 * 6 / (144 - 25 - 9 - 16) = 14/47. Without overall verdicts and a second order there
        # is no halo and no flip.
        pytest.param(
            "aaabbttt",
            "abtbutau",
            {},
            {
                "accuracy": (2 / 4, 4),
                "accuracy_all": (2 / 5, 5),
                "three_way": (3 / 6, 6),
                "three_way_all": (3 / 8, 8),
                "unread": (2 / 8, 8),
                "macro_f1": (47 / 90, 6),
                "alpha": (14 / 47, 6),
                **dict.fromkeys(("halo", "label_halo", "flips", "reversals"), (math.nan, 0)),
            },
            id="accuracies",
        ),
        # A class that nobody names does not lower the F1: a: 2 / (2 + 1), b: 4 / (2 + 3); mean
        # 11/15.
        pytest.param("aabb", "abbb", {}, {"macro_f1": (11 / 15, 4)}, id="no ties"),
        # A class that only the judge names does: a: 2 / (2 + 1), t: 0 / (0 + 1).
        pytest.param("aa", "at", {}, {"macro_f1": (1 / 3, 2)}, id="ties of the judge"),
        # Shown first a a b (not known) a: a-a yes, b-a no, a-b no. Longer a b (neither) a b: a-a
        # yes, b-b yes, a-neither no, b-a no. Labels a t b b t: a-a yes, b-neither no, b-a no.
        pytest.param(
            "atbbt",
            "ababt",
            {"first": "aabta", "longer": "abtab"},
            {
                "first_preference": (1 / 3, 3),
                "longer_preference": (2 / 4, 4),
                "label_longer_preference": (1 / 3, 3),
            },
            id="preferences",
        ),
        # Counted a-a and b-a of the verdicts; a-a, a-b, b-b of the labels.
        pytest.param(
            "aabtba",
            "abtuab",
            {"overall": "aaaatu", "overall_labels": "abbbtt"},
            {"halo": (1 / 2, 2), "label_halo": (2 / 3, 3)},
            id="halo",
        ),
        # Read twice 5; changed a-b, a-t; reversed a-b. Final a t t t u b against labels a a t t a
        # b: 2 of 3. Shown first a throughout, then b: verdicts a a a b: 3 of 4 for the first;
        # swapped a b a b: b, b of 4.
        pytest.param(
            "aattab",
            "aaatub",
            {"swapped": "abttab"},
            {
                "flips": (2 / 5, 5),
                "reversals": (1 / 5, 5),
                "accuracy": (2 / 3, 3),
                "unread": (1 / 6, 6),
                "first_preference": (5 / 8, 8),
            },
            id="both orders",
        ),
        pytest.param("", "", {}, dict.fromkeys(NAMES, (math.nan, 0)), id="nothing"),
    ],
)
def test_measures_worked_out_by_hand(
    labels: str, verdicts: str, others: dict[str, str], expected: dict[str, tuple[float, int]]
) -> None:
    found = measure(verdicts_on(labels, verdicts, **others))
    for name, (value, n) in expected.items():
        estimate = getattr(found, name)
        assert (estimate.value, estimate.n) == (pytest.approx(value, nan_ok=True), n), name


def test_an_interval_counts_the_prompts_that_the_number_is_about() -> None:
    # Three prompts, but only one has a label that is no tie: no interval for accuracy, one for
    # three ways.
    found = measure(verdicts_on("att", "aab"))
    assert (found.accuracy.value, found.accuracy.clusters) == (1, 1)
    assert math.isnan(found.accuracy.low)
    assert (found.three_way.clusters, math.isnan(found.three_way.low)) == (3, False)


@checked
@given(items=item_lists, swapped=st.booleans())
def test_measures_are_what_plain_counting_gives(items: list[Item], swapped: bool) -> None:
    found = measure(judged(items, swapped=swapped), rounds=2)
    assert values(found) == pytest.approx(slow(items, swapped), nan_ok=True)


@checked
@given(items=item_lists, seed=st.integers(0, 20))
def test_intervals_are_what_measuring_each_resample_gives(items: list[Item], seed: int) -> None:
    found = measure(judged(items), rounds=15, level=0.8, seed=seed)
    prompts = sorted({i[2] for i in items})
    rounds = [
        slow([i for i in items for _ in range(int(weights[prompts.index(i[2])]))], swapped=True)
        for block in resample(len(prompts), 15, seed)
        for weights in block
    ]
    for name in NAMES:
        estimate: Estimate = getattr(found, name)
        known = [one[name] for one in rounds if not math.isnan(one[name])]
        if estimate.clusters < 2 or math.isnan(estimate.value):
            assert math.isnan(estimate.low)
            assert math.isnan(estimate.high)
        else:
            assert (estimate.low, estimate.high) == pytest.approx(
                expanded(known, estimate.clusters, 0.8)
            )


def mirrored(one: Item) -> Item:
    """The same item with the two responses of the data exchanged."""
    other = {A: B, B: A, TIE: TIE, UNREAD: UNREAD}
    truth, said, prompt, *rest = one
    return (other[truth], other[said], prompt, *(other[code] for code in rest))  # type: ignore[return-value]


@checked
@given(items=item_lists, swapped=st.booleans())
def test_exchanging_the_names_of_the_responses_changes_nothing(
    items: list[Item], swapped: bool
) -> None:
    one = measure(judged(items, swapped=swapped), rounds=10)
    other = measure(judged([mirrored(i) for i in items], swapped=swapped), rounds=10)
    for name in NAMES:
        first, second = getattr(one, name), getattr(other, name)
        assert (first.n, first.clusters) == (second.n, second.clusters)
        assert (first.value, first.low, first.high) == pytest.approx(
            (second.value, second.low, second.high), abs=1e-12, nan_ok=True
        )


HABITS: list[tuple[Callable[[int, int], int], str, float]] = [
    (lambda first, longer: first, "first_preference", 1.0),
    (lambda first, longer: 1 - first, "first_preference", 0.0),
    (lambda first, longer: longer, "longer_preference", 1.0),
    (lambda first, longer: 1 - longer, "longer_preference", 0.0),
]


@pytest.mark.parametrize(("habit", "name", "expected"), HABITS)
def test_a_habit_shows_in_its_measure_and_in_no_other(
    habit: Callable[[int, int], int], name: str, expected: float
) -> None:
    # All eight combinations of label, order and length, each equally often.
    grid = [(truth, first, longer) for truth in SIDES for first in SIDES for longer in SIDES]
    items = [
        (truth, habit(first, longer), place, longer, first, habit(1 - first, longer), A, A)
        for place, (truth, first, longer) in enumerate(grid)
    ]
    found = measure(judged(items, swapped=False))
    other = {"first_preference": "longer_preference", "longer_preference": "first_preference"}[name]
    assert values(found)[name] == expected
    assert values(found)[other] == values(found)["accuracy"] == 0.5
    assert measure(judged(items)).flips.value == (name == "first_preference")


accuracies_item = st.tuples(
    st.sampled_from((A, B, TIE)), st.sampled_from((A, B, TIE, UNREAD)), st.integers(0, 5)
)
accuracies_item_lists = st.lists(accuracies_item, min_size=1, max_size=30)


def verdicts_of(items: list[tuple[int, int, int]]) -> Verdicts:
    labels, said, prompts = (
        np.array(column, dtype=np.int64) for column in zip(*items, strict=True)
    )
    sides = np.zeros(len(items), dtype=np.int64)
    return Verdicts(labels=labels, verdicts=said, clusters=prompts, longer=sides, first=sides)


def same(one: Estimate, other: Estimate) -> bool:
    return str(one) == str(other)  # NaN equals NaN


def test_accuracies_worked_out_by_hand() -> None:
    # Labels a a b b t. The first judge says a b b u a: right, wrong, right, unread, not counted: 2
    # of 3. The second says b b b b b: wrong, wrong, right, right: 2 of 4.
    found = accuracies(
        np.array([A, A, B, B, TIE]), [np.array([A, B, B, UNREAD, A]), np.full(5, B)], np.arange(5)
    )
    assert [(one.value, one.n, one.clusters) for one in found] == [
        pytest.approx((2 / 3, 3, 3)),
        (2 / 4, 4, 4),
    ]


def test_groups_worked_out_by_hand() -> None:
    # Group y: a-a and b-a, 1 of 2; group x: b-b, 1 of 1 and no interval; group z: a label that is a
    # tie.
    found = group_accuracies(
        verdicts_of([(A, A, 0), (B, B, 1), (B, A, 2), (TIE, A, 3)]), list("yxyz")
    )
    assert list(found) == ["y", "x", "z"]
    assert (found["y"].value, found["y"].low, found["y"].high) == (0.5, 0, 1)
    assert (found["x"].value, math.isnan(found["x"].low), found["x"].clusters) == (1, True, 1)
    assert (math.isnan(found["z"].value), found["z"].n) == (True, 0)
    # Asked in both orders: a, a tie as they disagree; b, and one that was not read.
    both = group_accuracies(verdicts_on("aabb", "aabb", swapped="abbu"), list("xxyy"))
    assert [(one.value, one.n) for one in both.values()] == [(0.5, 2), (1.0, 1)]


def test_nothing_has_no_accuracy() -> None:
    none = np.zeros(0, dtype=np.int8)
    assert accuracies(none, [], none.astype(np.int64)) == ()
    [found] = accuracies(none, [none], none.astype(np.int64))
    assert (math.isnan(found.value), found.n, found.clusters) == (True, 0, 0)
    assert group_accuracies(verdicts_on("", ""), []) == {}


@checked
@given(items=accuracies_item_lists, seed=st.integers(0, 20))
def test_several_judges_are_measured_as_each_alone(
    items: list[tuple[int, int, int]], seed: int
) -> None:
    verdicts = verdicts_of(items)
    constant = np.full(len(items), B, dtype=np.int8)
    found = accuracies(
        verdicts.labels, [verdicts.verdicts, constant], verdicts.clusters, rounds=25, seed=seed
    )
    for one, said in zip(found, (verdicts.verdicts, constant), strict=True):
        alone = Verdicts(verdicts.labels, said, verdicts.clusters, verdicts.longer, verdicts.first)
        assert same(one, measure(alone, rounds=25, seed=seed).accuracy)


@checked
@given(items=accuracies_item_lists, mix=st.randoms(use_true_random=False))
def test_groups_have_the_values_of_measure_and_no_order(
    items: list[tuple[int, int, int]], mix: Any
) -> None:
    named = [(one, "even" if place % 2 == 0 else "odd") for place, one in enumerate(items)]
    mixed = mix.sample(named, len(named))
    found = group_accuracies(verdicts_of(items), [name for _, name in named], rounds=25)
    again = group_accuracies(
        verdicts_of([one for one, _ in mixed]), [name for _, name in mixed], rounds=25
    )
    for name, estimate in found.items():
        alone = measure(
            verdicts_of([one for one, group in named if group == name]), rounds=25
        ).accuracy
        assert (estimate.n, estimate.clusters) == (alone.n, alone.clusters)
        assert estimate.value == pytest.approx(alone.value, nan_ok=True)
        assert math.isnan(estimate.low) == math.isnan(alone.low)
        assert same(estimate, again[name])


def test_a_group_has_the_rounds_of_its_seed() -> None:
    rng = np.random.default_rng(1)
    for size in (12, 200):  # few kinds of clusters among many, and hardly more clusters than kinds
        items = [(int(a), int(b), int(c)) for a, b, c in rng.integers(0, 2, (size, 3))]
        items = [(label, said, number // 2) for number, (label, said, _) in enumerate(items)]
        one, same_seed, other = (
            group_accuracies(verdicts_of(items), ["g"] * size, rounds=41, seed=seed)["g"]
            for seed in (3, 3, 4)
        )
        assert one == same_seed
        assert (one.low, one.high) != (other.low, other.high)
        assert (one.rounds, one.seed) == (41, 3)


def test_shares_are_reported_on_their_scale_and_alpha_on_its_own() -> None:
    rng = np.random.default_rng(2)
    items = [(int(a), int(b), number) for number, (a, b) in enumerate(rng.integers(0, 2, (30, 2)))]
    found = measure(verdicts_of(items), rounds=100)
    low = replace(found.alpha, value=-0.4, low=-0.9, high=0.2)
    wide = replace(found.alpha, value=0.5, low=-0.5, high=1.5)
    changed = replace(found, alpha=low, accuracy=wide, unread=replace(wide, low=0.1, high=1.2))
    reported = changed.reported()
    assert (reported.alpha.low, reported.alpha.high) == (-0.9, 0.2)
    assert math.isnan(reported.accuracy.low)  # all that a share can be
    assert (reported.unread.low, reported.unread.high) == (0.1, 1.0)
    beyond = replace(found, alpha=replace(wide, low=0.2)).reported()
    assert (beyond.alpha.low, beyond.alpha.high) == (0.2, 1.0)
    for name in NAMES:
        if name not in ("alpha", "accuracy", "unread"):
            assert same(getattr(reported, name), getattr(found, name).reported((0.0, 1.0)))


def test_drawing_kinds_is_drawing_clusters() -> None:
    # 60 clusters of three kinds: right, wrong, not counted. Both ways to draw must give the same
    # distribution: means within 4 standard errors of 20,000 rounds, and percentiles a hundredth
    # apart at most.
    sums = np.repeat([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]], [30, 18, 12], axis=0)
    kinds, clusters = _draws(sums, 20_000, 1), bootstrap_counts(sums, 20_000, 2)
    assert kinds.shape == clusters.shape == (20_000, 2)
    assert not np.array_equal(kinds, _draws(sums, 20_000, 3))
    for column in (0, 1):
        error = 4 * clusters[:, column].std() * math.sqrt(2 / 20_000)
        assert kinds[:, column].mean() == pytest.approx(clusters[:, column].mean(), abs=error)
        assert kinds[:, column].std() == pytest.approx(clusters[:, column].std(), rel=0.03)
    shares = [
        np.quantile(drawn[:, 0] / drawn[:, 1], (0.025, 0.5, 0.975)) for drawn in (kinds, clusters)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.011)


def test_many_kinds_are_drawn_as_clusters() -> None:
    sums = cluster_counts(np.arange(12), np.stack([np.arange(12.0), np.arange(1.0, 13)], axis=1))
    assert np.array_equal(_draws(sums, 50, 4), bootstrap_counts(sums, 50, 4))


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
    with pytest.raises(ValueError, match=r"item 1: 'Tie'.*allowed: a, b, tie, unread"):
        encode(["a", "Tie"])


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [(A, A, A), (B, B, B), (TIE, TIE, TIE), (A, B, TIE), (A, TIE, TIE), (TIE, B, TIE)]
    + [(UNREAD, code, UNREAD) for code in VERDICTS],
)
def test_both_orders_count_only_where_they_agree(one: int, other: int, both: int) -> None:
    assert (
        combine_orders([one], [other]).tolist() == combine_orders([other], [one]).tolist() == [both]
    )
    assert some(verdicts=np.full(3, one), swapped=np.full(3, other)).final.tolist() == [both] * 3


def test_the_longer_response_has_more_of_whatever_is_counted() -> None:
    assert longer_response([3, 3, 3, 0], [2, 4, 3, 0]).tolist() == [A, B, TIE, TIE]


def test_what_counts_as_right() -> None:
    labels, verdicts = [A, A, A, B, TIE, TIE, B], [A, B, TIE, UNREAD, TIE, A, B]
    expected = [1, 0, 0, 0, math.nan, math.nan, 1]
    assert correctness(labels, verdicts) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "highest"),
    [
        *((name, r"2 \(tie\)$") for name in ("labels", "longer", "first", "overall_labels")),
        *((name, r"3 \(unread\)$") for name in ("verdicts", "swapped", "overall")),
    ],
)
def test_every_field_has_one_code_an_item(name: str, highest: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} has shape \(2,\).*3 items"):
        some(**{name: np.array([A, B])})
    with pytest.raises(ValueError, match=rf"{name} has shape \(3, 1\).*3 items"):
        some(**{name: np.array([[A], [B], [A]])})
    for bad in ([0, 1, 4], [-1, 0, 1], [0.0, 1.0, math.nan], ["a", "b", "a"]):
        with pytest.raises(ValueError, match=rf"{name} must be codes .*{highest}"):
            some(**{name: np.array(bad)})
    unread = np.full(3, UNREAD)
    if "unread" in highest:
        assert getattr(some(**{name: unread}), name).tolist() == [UNREAD] * 3
    else:
        with pytest.raises(ValueError, match=rf"{name} must be codes .*{highest}"):
            some(**{name: unread})


def test_prompts_are_numbered() -> None:
    assert some().clusters.tolist() == [0, 1, 0]
    assert len(some()) == 3


@pytest.mark.parametrize(
    ("kind", "needed", "expected"),
    [
        ("longest", ("lengths_a", "lengths_b"), [A, B, TIE]),
        ("shortest", ("lengths_a", "lengths_b"), [B, A, TIE]),
        ("first", ("first",), [A, B, B]),
        ("second", ("first",), [B, A, A]),
        ("random", ("ids", "first"), None),
        ("copy_overall", ("overall_labels",), [B, TIE, A]),
    ],
)
def test_a_baseline_says_what_it_needs_and_needs_no_more(
    kind: str, needed: tuple[str, ...], expected: list[int] | None
) -> None:
    case: dict[str, Any] = {
        "lengths_a": [5, 2, 3],
        "lengths_b": [1, 9, 3],
        "first": [A, B, B],
        "overall_labels": [B, TIE, A],
        "ids": ["x", "y", "z"],
    }
    found = baseline_verdicts(kind, **case).tolist()
    assert expected is None or found == expected
    assert baseline_verdicts(kind, **{name: case[name] for name in needed}).tolist() == found
    for missing in needed:
        with pytest.raises(ValueError, match=f"baseline '{kind}' needs {missing}"):
            baseline_verdicts(kind, **{**case, missing: None})


def test_the_coin_is_fair_and_depends_on_the_seed_and_the_order() -> None:
    ids = [f"case {number}" for number in range(4000)]
    tossed = [
        baseline_verdicts("random", ids=ids, first=np.full(4000, side), seed=seed)
        for side, seed in ((A, 0), (A, 1), (B, 0))
    ]
    # 0.5 give or take four times sqrt(0.25 / 4000) = 0.008; for the response shown first as often
    # as for the other.
    for coins in tossed:
        assert set(coins.tolist()) == {A, B}
        assert coins.mean() == pytest.approx(0.5, abs=0.032)
    for other in tossed[1:]:
        assert np.mean(tossed[0] == other) == pytest.approx(0.5, abs=0.032)


def test_the_coin_of_an_item_does_not_depend_on_the_others() -> None:
    ids = [f"case {number}" for number in range(30)]
    coins = baseline_verdicts("random", ids=ids, first=[A] * 30, seed=3).tolist()
    assert (
        baseline_verdicts("random", ids=ids[::-2], first=[A] * 15, seed=3).tolist() == coins[::-2]
    )


def test_a_baseline_must_be_known_and_so_must_the_place() -> None:
    with pytest.raises(InputError, match=r"baseline 'best'; allowed: longest, .*, copy_overall"):
        baseline_verdicts("best")
    for kind in ("first", "second", "random"):
        with pytest.raises(ValueError, match="shown first"):
            baseline_verdicts(kind, first=[A, TIE], ids=["x", "y"])


def md_eval(fine: bool) -> list[tuple[PairCase, str, str]]:
    """Pairs of MD-Eval with their labels, or dimensions of the pairs with theirs."""
    taxonomy = load_taxonomy()
    cases = load_md_eval(taxonomy.dimension, taxonomy.scenarios).cases
    if fine:
        return [(case, name, label) for case in cases for name, label in case.dimensions.items()]
    return [(case, "", case.label) for case in cases]


def baseline_on(items: list[tuple[PairCase, str, str]], kind: str) -> Verdicts:
    """A trivial judge's verdicts; the first response of the data is shown first."""
    a, b = (
        [len(case.response_a) for case, _, _ in items],
        [len(case.response_b) for case, _, _ in items],
    )
    first, overall = np.full(len(items), A), encode(case.label for case, _, _ in items)
    return Verdicts(
        labels=encode(label for _, _, label in items),
        verdicts=baseline_verdicts(
            kind, lengths_a=a, lengths_b=b, first=first, overall_labels=overall
        ),
        clusters=number_clusters([case.prompt for case, _, _ in items]),
        longer=longer_response(a, b),
        first=first,
        overall=overall if items[0][1] else None,
        overall_labels=overall if items[0][1] else None,
    )


@pytest.mark.data
@pytest.mark.parametrize(
    ("kind", "right"), [("longest", 255), ("shortest", 86), ("first", 141), ("second", 201)]
)
def test_how_many_of_the_342_overall_labels_a_baseline_gets(
    kind: str, right: int, data_dir: Path
) -> None:
    # One pair is equally long: 342 - 255 - 1. 349 pairs are on 347 prompts.
    found = measure(baseline_on(md_eval(fine=False), kind))
    assert (found.accuracy.n, found.unread.n, found.unread.clusters) == (342, 349, 347)
    assert found.accuracy.value == pytest.approx(right / 342)
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high
    assert found.label_longer_preference.value == pytest.approx(255 / 342)
    assert found.longer_preference.value == {"longest": 1, "shortest": 0}.get(
        kind, found.longer_preference.value
    )


@pytest.mark.data
def test_the_longer_response_has_three_quarters_of_the_dimension_labels(data_dir: Path) -> None:
    items = md_eval(fine=True)
    judged = baseline_on(items, "longest")
    found = measure(judged)
    assert found.accuracy.n == 3248
    assert found.accuracy.value == found.label_longer_preference.value == pytest.approx(2396 / 3248)
    for groups, number in (
        ([case.group for case, _, _ in items], 36),
        ([name for _, name, _ in items], 42),
    ):
        parts = group_accuracies(judged, groups, rounds=100)
        assert len(parts) == number
        assert sum(part.n for part in parts.values()) == 3248
        assert sum(part.value * part.n for part in parts.values()) == pytest.approx(2396)


@pytest.mark.data
def test_copying_the_overall_label_shows_the_ceiling_of_the_halo(data_dir: Path) -> None:
    found = measure(baseline_on(md_eval(fine=True), "copy_overall"))
    # 3,248 dimension labels are no tie; 8 of these stand on pairs whose overall label is one. 2,955
    # are equal.
    assert (found.accuracy.n, found.label_halo.n) == (3248, 3240)
    assert found.accuracy.value == pytest.approx(2955 / 3248)
    assert found.label_halo.value == pytest.approx(2955 / 3240)
    assert found.halo.value == 1
