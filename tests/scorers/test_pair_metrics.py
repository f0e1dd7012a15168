"""`judge_report` from scores alone: rows by hand, by slow obvious counting, by their properties."""

import math
import random
from collections.abc import Sequence
from hashlib import sha256
from time import process_time
from typing import Any

import pytest
from inspect_ai.scorer import SampleScore, Score

from urs_inspect.judging import OVERALL
from urs_inspect.rating import UNREAD, A, B
from urs_inspect.samer import load_taxonomy
from urs_inspect.scorers import judge_report
from urs_inspect.scorers.pair_metrics import HEADLINE, items_of

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
    facts |= {key: metadata.pop(key) for key in ("failures", "unknown_dimensions") if key in metadata}
    sample = {
        "prompt": f"Prompt {number}" if prompt is None else prompt,
        "response_a": "long" if longer == "a" else "-",
        "response_b": "long" if longer == "b" else "-",
        **metadata,
    }
    return SampleScore(score=Score(value=1, metadata=facts), sample_id=f"s{number}", sample_metadata=sample)


def report(scores: Sequence[SampleScore]) -> dict[str, float]:
    metric: Any = judge_report()
    return dict(metric(list(scores)))


# Three pairs in the order of the data. On `Clarity` and as a whole the labels are a/a, b/a, tie/b and the verdicts
# a/a, a/unread, b/b.
THREE = [
    scored(1, {"Clarity": "a", OVERALL: "a"}, {"a": {"Clarity": "a", OVERALL: "a"}}, group="x", need="n1"),
    scored(2, {"Clarity": "b", OVERALL: "a"}, {"a": {"Clarity": "a", OVERALL: None}}, group="x", need="n1"),
    scored(
        3, {"Clarity": "tie", OVERALL: "b"}, {"a": {"Clarity": "b", OVERALL: "b"}}, group="y", need="n2", longer="b"
    ),
]


def test_rows_worked_out_by_hand() -> None:
    rows = report(THREE)
    # Overall: a-a and b-b right of two read, of three in all.
    assert (rows["overall accuracy"], rows["overall unread"]) == pytest.approx((1, 1 / 3))
    assert rows["overall accuracy_all"] == pytest.approx(2 / 3)
    # Dimension: a-a right, b-a wrong, tie-b out; three ways 1 of 3.
    assert (rows["dimension accuracy"], rows["dimension three_way"]) == pytest.approx((1 / 2, 1 / 3))
    # Halo: a with a, then the overall verdict is unread, b with b.
    assert rows["dimension halo"] == 1
    # Labels on Clarity a, b against overall a, a: 1 of 2.
    assert rows["dimension label_halo"] == pytest.approx(1 / 2)
    # All were shown a first: verdicts a, b as a whole, a, a, b on Clarity.
    assert (rows["overall first_preference"], rows["dimension first_preference"]) == pytest.approx((1 / 2, 2 / 3))
    assert rows["overall longer_preference"] == 1
    # By scenario: x has one read verdict, right; y one.
    assert (rows["overall accuracy group=x"], rows["overall accuracy group=y"]) == (1, 1)
    assert rows["dimension accuracy need=n1"] == pytest.approx(1 / 2)
    assert "dimension accuracy need=n2" not in rows  # its only label is a tie
    assert not any("name=" in name for name in rows)  # one dimension is no break-down


def test_baselines_worked_out_by_hand() -> None:
    rows = report(THREE)
    # Overall labels a, a, b; longer a, a, b; shown first a.
    assert rows["baseline longest overall accuracy"] == 1
    assert rows["baseline shortest overall accuracy"] == 0
    assert rows["baseline first overall accuracy"] == pytest.approx(2 / 3)
    # Labels on Clarity a, b; longer a, a; the overall labels a, a.
    assert rows["baseline longest dimension accuracy"] == pytest.approx(1 / 2)
    assert rows["baseline copy_overall dimension accuracy"] == pytest.approx(1 / 2)
    assert "baseline copy_overall overall accuracy" not in rows


def test_baselines_are_asked_in_both_orders_where_the_judge_was() -> None:
    both = [
        scored(n, {OVERALL: label}, {"a": {OVERALL: label}, "b": {OVERALL: label}}, longer="a")
        for n, label in enumerate("aab")
    ]
    rows = report(both)
    # Who prefers a place says a in one order and b in the other: a tie, which is never right.
    assert rows["baseline first overall accuracy"] == rows["baseline second overall accuracy"] == 0
    # Length does not change with the order: a, a, a against a, a, b.
    assert rows["baseline longest overall accuracy"] == pytest.approx(2 / 3)
    # A coin for each order: by plain tossing, a tie where the two differ.
    coins = [[sha256(f"0/{first}/s{n}/Overall".encode()).digest()[0] & 1 for first in "ab"] for n in range(3)]
    right = [one == other == "ab".index(label) for (one, other), label in zip(coins, "aab", strict=True)]
    assert rows["baseline random overall accuracy"] == pytest.approx(sum(right) / 3)


def test_what_a_reader_needs_comes_first(full: list[SampleScore]) -> None:
    assert list(report(full))[:8] == [
        "overall accuracy_all",
        "baseline longest overall accuracy",
        "overall unread",
        "dimension accuracy_all",
        "baseline longest dimension accuracy",
        "dimension unread",
        "overall accuracy",
        "dimension accuracy",
    ]


def test_the_headline_is_there_where_it_is_not_defined() -> None:
    # The harness warns of a headline that is missing; with labels that are ties there is no accuracy.
    rows = report([scored(1, {OVERALL: "tie"}, {"a": {OVERALL: "a"}})])
    assert math.isnan(rows[HEADLINE])
    assert "overall accuracy" not in rows


def test_both_orders_count_as_one_verdict_and_flips_are_seen() -> None:
    both = [
        scored(1, {OVERALL: "a"}, {"a": {OVERALL: "a"}, "b": {OVERALL: "a"}}),
        scored(2, {OVERALL: "a"}, {"a": {OVERALL: "a"}, "b": {OVERALL: "b"}}),
        scored(3, {OVERALL: "a"}, {"a": {OVERALL: "a"}, "b": {OVERALL: None}}),
    ]
    rows = report(both)
    # a with a is right, a with b a tie and wrong, the last unread.
    assert (rows["overall accuracy"], rows["overall unread"]) == pytest.approx((1 / 2, 1 / 3))
    assert (rows["overall flips"], rows["overall reversals"]) == (0.5, 0.5)
    # A judge asked in one order has none.
    assert "overall flips" not in report([*both, scored(4, {OVERALL: "a"}, {"a": {OVERALL: "a"}})])


def test_the_order_shown_is_that_of_each_pair() -> None:
    scores = [scored(1, {OVERALL: "a"}, {"b": {OVERALL: "b"}}), scored(2, {OVERALL: "a"}, {"a": {OVERALL: "b"}})]
    verdicts = items_of(scores)
    assert verdicts is not None
    assert (verdicts.first.tolist(), verdicts.verdicts.tolist()) == ([B, A], [B, B])
    assert report(scores)["overall first_preference"] == 0.5


def test_items_are_pairs_or_dimensions() -> None:
    overall, dimensions = items_of(THREE), items_of(THREE, None)
    assert overall is not None and dimensions is not None
    assert (overall.verdicts.tolist(), overall.overall) == ([A, UNREAD, B], None)
    assert dimensions.overall is not None
    assert (dimensions.verdicts.tolist(), dimensions.overall.tolist()) == ([A, A, B], [A, UNREAD, B])
    assert items_of([scored(1, {OVERALL: "a"}, {"a": {OVERALL: "a"}})], None) is None


def test_intervals_are_clustered_by_prompt() -> None:
    def of(prompts: Sequence[str]) -> float:
        answers = ["a", "a", "b", "b"] * 100
        scores = [
            scored(n, {OVERALL: "a"}, {"a": {OVERALL: answer}}, prompt=prompt)
            for n, (answer, prompt) in enumerate(zip(answers, prompts, strict=True))
        ]
        rows = report(scores)
        return rows["overall accuracy ci_upper"] - rows["overall accuracy ci_lower"]

    # 400 pairs, half of them right; as 200 pairs of equals on a prompt the interval is sqrt(2) as wide.
    assert of([f"p{n // 2}" for n in range(400)]) / of([f"p{n}" for n in range(400)]) == pytest.approx(2**0.5, rel=0.15)


def test_failures_and_unknown_dimensions_are_counted() -> None:
    scores = [
        scored(1, {OVERALL: "a"}, {}, failures=["call_failed", "call_failed"]),
        scored(2, {OVERALL: "a"}, {}, failures=["truncated"], unknown_dimensions=["Charm"]),
    ]
    rows = report(scores)
    assert {name: count for name, count in rows.items() if name.startswith("failures")} == {
        "failures call_failed": 2,
        "failures truncated": 1,
    }
    assert (rows["unknown dimensions"], rows["overall unread"]) == (1, 1)


def test_scores_of_anything_else_give_no_rows() -> None:
    assert report([SampleScore(score=Score(value=1), sample_id="s", sample_metadata={})]) == {}


# --- a run of the size of MD-Eval ---


def full_run(firsts: str = "a") -> list[SampleScore]:
    """349 made-up pairs over all scenarios, right on most; `firsts` names the response shown first in each order."""
    generator = random.Random(3)
    scenarios = list(load_taxonomy().scenarios.items())
    scores = []
    for number in range(349):
        name, scenario = scenarios[number % len(scenarios)]
        labels = {each: generator.choice(("a", "b", "tie")) for each in (*scenario.dimensions, OVERALL)}
        verdicts: Verdicts = {
            first: {
                each: generator.choice((label, label, "a", "b", None) if number % 7 == 0 else (label, label, "a", "b"))
                for each, label in labels.items()
            }
            for first in firsts
        }
        longer = generator.choice("ab")
        scores.append(scored(number, labels, verdicts, group=name, need=scenario.need, longer=longer))
    return scores


@pytest.fixture(scope="module")
def full() -> list[SampleScore]:
    return full_run()


def slow_accuracy(pairs: Sequence[tuple[str, str | None]]) -> float:
    counted = [(label, said) for label, said in pairs if label != "tie" and said is not None]
    return sum(label == said for label, said in counted) / len(counted) if counted else math.nan


def slow_groups(scores: Sequence[SampleScore]) -> dict[str, float]:
    groups: dict[str, list[tuple[str, str | None]]] = {}
    for score in scores:
        facts, sample = score.score.metadata or {}, score.sample_metadata or {}
        for name, label in facts["labels"].items():
            title = "overall" if name == OVERALL else "dimension"
            pair = label, facts["verdicts"]["a"][name]
            groups.setdefault(f"{title} accuracy", []).append(pair)
            groups.setdefault(f"{title} accuracy group={sample['group']}", []).append(pair)
            groups.setdefault(f"{title} accuracy need={sample['need']}", []).append(pair)
            if title == "dimension":
                groups.setdefault(f"dimension accuracy name={name}", []).append(pair)
    return {name: value for name, pairs in groups.items() if not math.isnan(value := slow_accuracy(pairs))}


def test_accuracies_are_what_plain_counting_gives(full: list[SampleScore]) -> None:
    rows = report(full)
    found = {
        name: value
        for name, value in rows.items()
        if name.startswith(("overall accuracy", "dimension accuracy")) and "ci_" not in name and "_all" not in name
    }
    expected = slow_groups(full)
    assert len(expected) > 100
    assert found == pytest.approx(expected)
    for name, value in found.items():
        low, high = rows[f"{name} ci_lower"], rows[f"{name} ci_upper"]
        assert (math.isnan(low) and math.isnan(high)) or 0 <= low <= value <= high <= 1


def test_the_order_of_scores_changes_no_row(full: list[SampleScore]) -> None:
    mixed = random.Random(1).sample(full, len(full))
    assert report(mixed) == pytest.approx(report(full), nan_ok=True)


def test_a_live_refresh_holds_the_same_rows_as_the_end(full: list[SampleScore]) -> None:
    # The harness calls a metric while samples come in and once more at the end, and does not say which.
    metric: Any = judge_report()
    for size in (1, 40, 200):
        metric(full[:size])
    assert metric(full) == pytest.approx(report(full), nan_ok=True)


def test_all_intervals_of_a_run_take_less_than_a_second() -> None:
    scores = full_run("ab")
    report(scores)
    before = process_time()
    report(scores)
    assert process_time() - before < 1


def test_before_the_first_sample_the_headline_is_there_without_a_value() -> None:
    metric: Any = judge_report()
    rows = metric([])
    assert list(rows) == [HEADLINE] and math.isnan(rows[HEADLINE])
