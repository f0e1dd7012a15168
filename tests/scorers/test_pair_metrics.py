"""`judge_report` from scores alone: rows by hand, by slow obvious counting, by their properties."""

import math
import random
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from inspect_ai.scorer import SampleScore, Score

from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.scorers._pair_metrics import (
    HEADLINE,
    baseline_of,
    judge_report,
    judged_items,
)
from urs_inspect.stats import _measures as measures
from urs_inspect.stats import measure
from urs_inspect.stats._measures import TIE, UNREAD, A, B

Verdicts = dict[str, dict[str, str | None]]


def scored(
    number: int,
    labels: dict[str, str],
    verdicts: Verdicts,
    *,
    prompt: str | None = None,
    longer: str = "a",
    **metadata: Any,
) -> SampleScore:
    facts = {"labels": labels, "verdicts": verdicts}
    facts |= {
        key: metadata.pop(key) for key in ("failures", "unknown_dimensions") if key in metadata
    }
    sample = {
        "prompt": f"Prompt {number}" if prompt is None else prompt,
        "response_a": "long" if longer == "a" else "-",
        "response_b": "long" if longer == "b" else "-",
        **metadata,
    }
    return SampleScore(
        score=Score(value=1, metadata=facts), sample_id=f"s{number}", sample_metadata=sample
    )


def items_of(scores: Sequence[SampleScore], name: str | None = OVERALL) -> measures.Verdicts | None:
    """The verdicts on pairs as wholes, or on dimensions for None."""
    items = judged_items(scores, dimensions=name is None)
    if items is None:
        return None
    return items.verdicts


def report(scores: Sequence[SampleScore]) -> dict[str, float]:
    metric: Any = judge_report()
    return dict(metric(list(scores)))


# Three pairs in the order of the data. On `Clarity` and as a whole the labels are a/a, b/a, tie/b
# and the verdicts a/a, a/unread, b/b.
THREE = [
    scored(
        1,
        {"Clarity": "a", OVERALL: "a"},
        {"a": {"Clarity": "a", OVERALL: "a"}},
        group="x",
        need="n1",
    ),
    scored(
        2,
        {"Clarity": "b", OVERALL: "a"},
        {"a": {"Clarity": "a", OVERALL: None}},
        group="x",
        need="n1",
    ),
    scored(
        3,
        {"Clarity": "tie", OVERALL: "b"},
        {"a": {"Clarity": "b", OVERALL: "b"}},
        group="y",
        need="n2",
        longer="b",
    ),
]


def test_rows_worked_out_by_hand() -> None:
    rows = report(THREE)
    # Overall: a-a and b-b right of two read, of three in all.
    assert (rows["overall accuracy"], rows["unread"]) == pytest.approx((1, 1 / 3))
    assert rows["overall accuracy_all"] == pytest.approx(2 / 3)
    # Dimension: a-a right, b-a wrong, tie-b out; three ways 1 of 3.
    assert (rows["dimension accuracy"], rows["dimension three_way"]) == pytest.approx(
        (1 / 2, 1 / 3)
    )
    # Halo: a with a, then the overall verdict is unread, b with b.
    assert rows["dimension halo"] == 1
    # Labels on Clarity a, b against overall a, a: 1 of 2.
    assert rows["dimension label_halo"] == pytest.approx(1 / 2)
    # All were shown a first: verdicts a, b as a whole, a, a, b on Clarity.
    assert (rows["overall first_preference"], rows["dimension first_preference"]) == pytest.approx(
        (1 / 2, 2 / 3)
    )
    assert rows["overall longer_preference"] == 1
    # Overall labels a, a, b, the longer ones a, a, b; on Clarity a, b and a, a.
    assert (rows["longest"], rows["dimension longest"]) == pytest.approx((1, 1 / 2))
    # Three pairs are too few for bounds.
    assert rows.keys().isdisjoint(("low", "high", "dimension low", "dimension high"))


def test_baselines_worked_out_by_hand() -> None:
    items = judged_items(THREE, dimensions=False)
    assert items is not None
    # Overall labels a, a, b; longer a, a, b; shown first a.
    answers = {
        kind: baseline_of(kind, items).tolist()
        for kind in ("longest", "shortest", "first", "second")
    }
    assert answers == {
        "longest": [A, A, B],
        "shortest": [B, B, A],
        "first": [A, A, A],
        "second": [B, B, B],
    }
    dimensions = judged_items(THREE, dimensions=True)
    assert dimensions is not None
    assert baseline_of("copy_overall", dimensions).tolist() == [A, A, B]


def test_baselines_are_asked_in_both_orders_where_the_judge_was() -> None:
    both = [
        scored(n, {OVERALL: label}, {"a": {OVERALL: label}, "b": {OVERALL: label}}, longer="a")
        for n, label in enumerate("aab")
    ]
    items = judged_items(both, dimensions=False)
    assert items is not None
    # Who prefers a place says a in one order and b in the other: a tie, which is never right.
    assert (
        baseline_of("first", items).tolist() == baseline_of("second", items).tolist() == [TIE] * 3
    )
    # Length does not change with the order: a, a, a against a, a, b.
    assert report(both)["longest"] == pytest.approx(2 / 3)
    # A coin for each order: by plain tossing, a tie where the two differ.
    coins = [
        [sha256(f"0/{first}/s{n}/Overall".encode()).digest()[0] & 1 for first in "ab"]
        for n in range(3)
    ]
    assert baseline_of("random", items).tolist() == [
        one if one == other else TIE for one, other in coins
    ]


def test_what_a_reader_needs_comes_first_and_the_header_is_short(full: list[SampleScore]) -> None:
    rows = report(full)
    assert list(rows)[:7] == [
        HEADLINE,
        "low",
        "high",
        "longest",
        "unread",
        "dimension accuracy_all",
        "dimension low",
    ]
    assert len(report(full_run("ab"))) + len({"unknown dimensions"}) <= 30


def test_the_header_has_the_numbers_and_bounds_of_all_measures(full: list[SampleScore]) -> None:
    for scores in (full, full_run("ab")):
        rows = report(scores)
        for title, name in (("overall", OVERALL), ("dimension", None)):
            verdicts = items_of(scores, name)
            assert verdicts is not None
            measures = measure(verdicts)
            prefix = "" if name else "dimension "
            found = (rows[f"{title} accuracy_all"], rows[f"{prefix}low"], rows[f"{prefix}high"])
            expected = measures.accuracy_all
            assert found == pytest.approx((expected.value, expected.low, expected.high), abs=1e-12)
            assert rows[f"{prefix}unread"] == pytest.approx(measures.unread.value)
            for each in (
                "accuracy",
                "three_way",
                "alpha",
                "flips",
                "first_preference",
                "longer_preference",
            ):
                value = getattr(measures, each).value
                assert rows.get(f"{title} {each}", math.nan) == pytest.approx(value, nan_ok=True)


def test_a_refresh_resamples_the_headline_only(
    full: list[SampleScore], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_rounds(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        assert len(counts) <= 1, "all measures are resampled"
        return statistics(counts)

    statistics = measures._statistics
    monkeypatch.setattr(measures, "_statistics", without_rounds)
    assert report(full)["low"] < report(full)["high"]


def test_the_headline_is_there_where_it_is_not_defined() -> None:
    # The harness warns of a headline that is missing; with labels that are ties there is no
    # accuracy.
    rows = report([scored(1, {OVERALL: "tie"}, {"a": {OVERALL: "a"}})])
    assert math.isnan(rows[HEADLINE])
    assert "overall accuracy" not in rows
    # Nor is there one before the first sample.
    rows = report([])
    assert list(rows) == [HEADLINE] and math.isnan(rows[HEADLINE])


def test_both_orders_count_as_one_verdict_and_flips_are_seen() -> None:
    both = [
        scored(1, {OVERALL: "a"}, {"a": {OVERALL: "a"}, "b": {OVERALL: "a"}}),
        scored(2, {OVERALL: "a"}, {"a": {OVERALL: "a"}, "b": {OVERALL: "b"}}),
        scored(3, {OVERALL: "a"}, {"a": {OVERALL: "a"}, "b": {OVERALL: None}}),
    ]
    rows = report(both)
    # a with a is right, a with b a tie and wrong, the last unread.
    assert (rows["overall accuracy"], rows["unread"]) == pytest.approx((1 / 2, 1 / 3))
    assert rows["overall flips"] == 0.5
    # A judge asked in one order has none.
    assert "overall flips" not in report([*both, scored(4, {OVERALL: "a"}, {"a": {OVERALL: "a"}})])


def test_the_order_shown_is_that_of_each_pair() -> None:
    scores = [
        scored(1, {OVERALL: "a"}, {"b": {OVERALL: "b"}}),
        scored(2, {OVERALL: "a"}, {"a": {OVERALL: "b"}}),
    ]
    verdicts = items_of(scores)
    assert verdicts is not None
    assert (verdicts.first.tolist(), verdicts.verdicts.tolist()) == ([B, A], [B, B])
    assert report(scores)["overall first_preference"] == 0.5


def test_items_are_pairs_or_dimensions() -> None:
    overall, dimensions = items_of(THREE), items_of(THREE, None)
    assert overall is not None and dimensions is not None
    assert (overall.verdicts.tolist(), overall.overall) == ([A, UNREAD, B], None)
    assert dimensions.overall is not None
    assert (dimensions.verdicts.tolist(), dimensions.overall.tolist()) == (
        [A, A, B],
        [A, UNREAD, B],
    )
    assert items_of([scored(1, {OVERALL: "a"}, {"a": {OVERALL: "a"}})], None) is None


def test_dimensions_without_a_label_of_the_whole_pair_have_no_halo_of_labels() -> None:
    labels = {"Clarity": "a", "Depth": "a"}
    given = {"Clarity": "a", "Depth": "b", OVERALL: "a"}
    scores = [scored(number, labels, {"a": dict(given)}) for number in range(3)]
    rows = report(scores)
    assert "dimension label_halo" not in rows
    assert rows["dimension halo"] == pytest.approx(1 / 2)
    with_label = scored(9, {**labels, OVERALL: "a"}, {"a": dict(given)})
    assert report([*scores, with_label])["dimension label_halo"] == 1


def test_intervals_are_clustered_by_prompt() -> None:
    def of(prompts: Sequence[str]) -> float:
        answers = ["a", "a", "b", "b"] * 100
        scores = [
            scored(n, {OVERALL: "a"}, {"a": {OVERALL: answer}}, prompt=prompt)
            for n, (answer, prompt) in enumerate(zip(answers, prompts, strict=True))
        ]
        rows = report(scores)
        return rows["high"] - rows["low"]

    # 400 pairs, half of them right; as 200 pairs of equals on a prompt the interval is sqrt(2) as
    # wide.
    assert of([f"p{n // 2}" for n in range(400)]) / of(
        [f"p{n}" for n in range(400)]
    ) == pytest.approx(2**0.5, rel=0.15)


def test_failures_and_unknown_dimensions_are_counted() -> None:
    scores = [
        scored(1, {OVERALL: "a"}, {}, failures=["call_failed", "call_failed"]),
        scored(2, {OVERALL: "a"}, {}, failures=["truncated"], unknown_dimensions=["Charm", "Wit"]),
    ]
    rows = report(scores)
    assert (rows["failures"], rows["unknown dimensions"], rows["unread"]) == (3, 2, 1)


def test_scores_of_anything_else_give_no_rows() -> None:
    assert report([SampleScore(score=Score(value=1), sample_id="s", sample_metadata={})]) == {
        "failures": 0
    }


# --- a run of the size of MD-Eval ---


def full_run(firsts: str = "a") -> list[SampleScore]:
    """349 made-up pairs over all scenarios, right on most; `firsts` names the response shown first
    in each order.
    """
    generator = random.Random(3)
    scenarios = list(load_taxonomy().scenarios.items())
    scores = []
    for number in range(349):
        name, scenario = scenarios[number % len(scenarios)]
        labels = {
            each: generator.choice(("a", "b", "tie")) for each in (*scenario.dimensions, OVERALL)
        }
        verdicts: Verdicts = {
            first: {
                each: generator.choice(
                    (label, label, "a", "b", None) if number % 7 == 0 else (label, label, "a", "b")
                )
                for each, label in labels.items()
            }
            for first in firsts
        }
        longer = generator.choice("ab")
        scores.append(
            scored(number, labels, verdicts, group=name, need=scenario.need, longer=longer)
        )
    return scores


@pytest.fixture(scope="module")
def full() -> list[SampleScore]:
    return full_run()


def test_the_order_of_scores_changes_no_row(full: list[SampleScore]) -> None:
    mixed = random.Random(1).sample(full, len(full))
    assert report(mixed) == pytest.approx(report(full), nan_ok=True)
