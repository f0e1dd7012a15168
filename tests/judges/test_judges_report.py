"""What the report of `judges` says, in every case, of judges made by hand."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec
from inspect_ai.scorer import SampleScore

from tests.reports.golden_files import check_golden
from tests.scorers.test_pair_metrics import scored
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.judges import JudgeBias
from urs_inspect.judges._bias_report import bias_section, bias_sentence, labelled_by
from urs_inspect.judges._biases import DatasetBiases, own_models, pair_biases
from urs_inspect.judges._judges import (
    DatasetJudges,
    Effort,
    JudgeResult,
    JudgeTest,
    RatingJudge,
    _pairs,
    _ratings,
    computed_baselines,
    result_of,
)
from urs_inspect.judges._report import (
    _accuracies_by,
    _accuracy_notes,
    _claim_on_pairs,
    _habits_notes,
    _unparsed,
    judge_numbers,
    judges_report,
    rating_details,
)
from urs_inspect.judges._twin_shifts import KindShift, Twins
from urs_inspect.judges._twins_report import padding_sentence, twins_sections
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.scorers._pair_metrics import judged_items
from urs_inspect.scorers._rating_agreement import RatedItem, agreement
from urs_inspect.stats import Estimate, correlation_difference

NAN = math.nan
NUMBER = 48
OTHER = {"a": "b", "b": "a", "tie": "tie"}
LABELS = [str(label) for label in np.random.default_rng(1).choice(["a", "b", "tie"], NUMBER)]
DIMENSIONS = ("Clarity", "Depth")
EFFORT = Effort(0.096, 24.0, 48, 0, 0)


def said(chance: float, seed: int, *, never: float = 0.0) -> list[str | None]:
    """Verdicts that are right with a chance, of which some cannot be read."""
    draws = np.random.default_rng(seed)
    verdicts: list[str | None] = []
    for label in LABELS:
        if draws.random() < never:
            verdicts.append(None)
        else:
            verdicts.append(label if draws.random() < chance else OTHER[label])
    return verdicts


def pair_judge(
    name: str,
    chance: float,
    seed: int,
    *,
    levels: Sequence[str] = (OVERALL,),
    orders: str = "ab",
    never: float = 0.0,
    pairs: Sequence[int] = range(NUMBER),
    replies: Mapping[str, int] | None = None,
    **logged: Any,
) -> JudgeResult:
    """A judge of some pairs, on the whole, on dimensions, or both."""
    verdicts = {
        level: said(chance, seed + place, never=never) for place, level in enumerate(levels)
    }
    turned = {level: said(chance, seed + 50, never=never) for level in levels}
    scores: dict[tuple[str, int], SampleScore] = {}
    for place in pairs:
        given = {"a": {level: verdicts[level][place] for level in levels}}
        if orders == "both":
            given["b"] = {level: turned[level][place] for level in levels}
        facts: dict[str, Any] = {}
        if place % 11 == 3 and never:
            facts = {"failures": ["truncated"], "unknown_dimensions": ["Charm"]}
        scores[f"s{place}", 1] = scored(
            place,
            dict.fromkeys(levels, LABELS[place]),
            given,
            longer="ab"[place % 2],
            group=("cook", "law")[place % 2],
            need=("one", "two", "")[place % 3],
            **facts,
        )
    known: dict[str, Any] = {
        "effort": EFFORT,
        "location": f"{name}.eval",
        "facts": {},
        "reply_counts": Counter(replies or {}),
    }
    return result_of(name, scores, orders=orders, seed=0, protocol="overall", **known | logged)


def dataset(*judges: JudgeResult, name: str = "/data/pairs.csv") -> DatasetJudges[JudgeResult]:
    return _pairs(name, "0123456789abcdef", list(judges))


@cache
def five_judges() -> DatasetJudges[JudgeResult]:
    """More judges than a sentence names; one of a part, one without a cost, one simulated."""
    some = Effort(0.048, 12.0, 48, 24, 12)
    none = Effort(NAN, NAN, 48, 48, 48)
    return dataset(
        pair_judge("p/good", 0.95, 1, replies={"replies": 48, "unkeyed": 1}),
        pair_judge("p/fair", 0.85, 2, effort=some, replies={"replies": 48, "unkeyed": 40}),
        pair_judge("p/weak", 0.6, 3, effort=none, never=0.2),
        pair_judge("p/bad", 0.05, 4, pairs=range(40)),
        pair_judge("urs_simulation/x", 0.5, 5),
    )


@cache
def both_levels() -> DatasetJudges[JudgeResult]:
    levels = (OVERALL, *DIMENSIONS)
    return dataset(
        pair_judge("p/good", 0.9, 1, levels=levels, orders="both"),
        pair_judge("p/weak", 0.5, 2, levels=levels, orders="both", never=0.1),
        pair_judge("p/whole", 0.6, 9, orders="both"),
        name="md_eval",
    )


@cache
def dimensions_alone() -> DatasetJudges[JudgeResult]:
    return dataset(
        pair_judge("p/good", 0.9, 1, levels=DIMENSIONS),
        pair_judge("p/weak", 0.6, 7, levels=DIMENSIONS),
    )


def three_judges() -> DatasetJudges[JudgeResult]:
    """As many as a sentence names, of which none is better than a rule; a log of a rule differs."""
    names = ("p/one", "p/two", "p/three")
    judges = [pair_judge(name, 0.5, seed) for seed, name in enumerate(names, 20)]
    return dataset(*judges, pair_judge("baseline/shortest", 0.5, 9))


def unread() -> DatasetJudges[JudgeResult]:
    return dataset(pair_judge("p/silent", 0.9, 1, never=1.0))


def rating_judge(name: str, noise: float, seed: int, **more: Any) -> RatingJudge:
    """A judge of ratings from 1 to 5, labelled from 1 to 5; higher for zh, and unread at times."""
    draws = np.random.default_rng(seed)
    count = more.pop("count", 40)
    unread_ones = more.pop("unread", 0)
    items = {}
    for place in range(count):
        label = float(place % 5 + 1)
        rating = float(np.clip(label + draws.normal(0, noise), 1, 5))
        places = {
            "intent": ("cook", "law")[place % 2],
            "group": ("x", "y", "z")[place % 3],
            "language": ("en", "zh")[place // 20],
        }
        failure = "" if place >= unread_ones else "no_rating"
        if failure:
            rating = NAN
        item = RatedItem(f"p{place // 2}", label, rating, rating, places, (1.0, 5.0), failure)
        items[f"r{place}", 1] = item
    known: dict[str, Any] = {
        "judgements": count,
        "effort": Effort(0.08, 20.0, count, 0, 0),
        "location": f"{name}.eval",
        "facts": {},
        "rubric": "",
    }
    return RatingJudge(
        judge=name,
        name=name,
        items=items,
        agreement=agreement(list(items.values())),
        **known | more,
    )


@cache
def raters() -> DatasetJudges[RatingJudge]:
    return _ratings(
        "ratings.csv",
        "fedcba9876543210",
        [
            rating_judge("p/noisy", 2.0, 2, unread=3, rubric="rubric.yaml"),
            rating_judge("p/sharp", 0.3, 1),
            rating_judge("p/part", 1.0, 3, count=30),
        ],
    )


def close_raters() -> DatasetJudges[RatingJudge]:
    """Two that agree about as well, and one of whom nothing could be read."""
    judges = [
        rating_judge("p/silent", 0.3, 4, unread=40),
        rating_judge("p/near", 1.3, 5),
        rating_judge("p/nearer", 1.0, 6),
    ]
    return _ratings("close.csv", "0" * 16, judges)


def test_judges_of_whom_nothing_can_be_read_are_last() -> None:
    judges = close_raters()
    values = [judge.agreement.correlations.pearson.value for judge in judges.judges]
    assert values[0] > values[1]
    assert judges.judges[-1].name == "p/silent"
    [pearson, spearman] = [test for test in judges.tests if "p/silent" not in test.second.name]
    first, second = (judge.items for judge in judges.judges[:2])
    rows = [(first[key], second[key]) for key in sorted(first)]
    expected = correlation_difference(
        [one.label for one, _ in rows],
        [one.rating for one, _ in rows],
        [other.rating for _, other in rows],
        [one.cluster for one, _ in rows],
    )
    assert (pearson.level, pearson.p) == ("pearson", expected.p_pearson)
    assert (spearman.level, spearman.p) == ("spearman", expected.p_spearman)
    assert pearson.p != spearman.p
    for test, value in ((pearson, expected.pearson), (spearman, expected.spearman)):
        assert test.difference.value == value.value


def test_the_report_of_every_kind_of_judges() -> None:
    by = ("measure", "scenario", "need", "dimension", "failure", "intent", "language")
    reports = {
        "five judges": judges_report([five_judges()], [], by=by[:3], skipped=["A log."]),
        "the whole and dimensions": judges_report([both_levels()], [], by=("dimension", "failure")),
        "dimensions alone": judges_report([dimensions_alone()], [], by=("failure",)),
        "nothing read": judges_report([unread()], []),
        "three judges": judges_report([three_judges()], []),
        "ratings": judges_report([], [raters()], by=by[1:]),
        "two data sets": judges_report([dimensions_alone()], [raters()]),
    }
    parts = [f"<!-- {name} -->\n\n{made.markdown()}" for name, made in reports.items()]
    check_golden("judges_cases", "\n".join(parts))


def test_all_numbers_have_a_row() -> None:
    pairs, ratings = both_levels(), raters()
    table = judge_numbers([pairs], [ratings])
    counted = Counter(table["judge"])
    for judge in (*pairs.judges, *pairs.baselines):
        assert counted[judge.name] > 0
    for rater in ratings.judges:
        assert counted[rater.name] == len(rating_details(rater))
    others = replace(ratings, dataset="other ratings.csv")
    whole_table = judge_numbers([pairs], [ratings, others])
    of_dataset = Counter(whole_table["dataset"])
    assert list(of_dataset) == [pairs.dataset, ratings.dataset, others.dataset]
    assert of_dataset[ratings.dataset] == of_dataset[others.dataset]
    assert set(judge_numbers([], [ratings])["dataset"]) == {ratings.dataset}
    unread = table[(table["measure"] == "unread") & (table["judge"] == "p/noisy")]
    [whole] = unread[unread["by"] == "all"]["value"]
    assert whole == 3 / 40
    assert set(unread["by"]) == {"all", "scenario", "intent", "language"}
    failures = table[(table["by"] == "failure") & (table["judge"] == "p/noisy")]
    assert failures[["group", "value"]].to_numpy().tolist() == [["no_rating", 3.0]]


@pytest.mark.parametrize(
    ("asked", "share"),
    [
        ({"overall": (0.5, 4), "dimensions": (0.25, 12)}, (2 + 3) / 16),
        ({"overall": (0.5, 4), "dimensions": None}, 0.5),
        ({"overall": None, "dimensions": (0.25, 12)}, 0.25),
        ({"overall": (NAN, 0), "dimensions": (0.25, 12)}, 0.25),
        ({"overall": (NAN, 0), "dimensions": None}, NAN),
        ({"overall": None, "dimensions": None}, NAN),
    ],
)
def test_the_share_of_unparsed_verdicts_is_of_all_that_were_asked_for(
    asked: dict[str, tuple[float, int] | None], share: float
) -> None:
    measures = {
        level: one and SimpleNamespace(unread=Estimate(one[0], NAN, NAN, one[1], one[1]))
        for level, one in asked.items()
    }
    judge: Any = SimpleNamespace(**measures)
    assert _unparsed(judge) == pytest.approx(share, nan_ok=True)


@pytest.mark.parametrize(
    ("orders", "said"), [("ab", "'ab'"), ("seeded", "'seeded'"), ("both", "both orders")]
)
def test_the_orders_of_computed_rules_are_named(orders: str, said: str) -> None:
    found = dataset(pair_judge("p/one", 0.8, 1))
    rules = tuple(replace(rule, orders=orders, seed=7) for rule in found.baselines)
    notes = " ".join(_accuracy_notes(replace(found, baselines=rules)))
    assert tells(notes, f"{said} ... seed 7")
    assert all(other not in notes for other in {"'ab'", "'seeded'", "both orders"} - {said})
    assert "seed 7" not in " ".join(_accuracy_notes(replace(found, baselines=())))


def test_what_labels_prefer_is_that_of_the_judge_of_most_pairs() -> None:
    few = pair_judge("p/few", 1.0, 1, pairs=range(0, NUMBER, 2))
    most = pair_judge("p/most", 0.2, 2)
    shares = []
    for judge in (few, most):
        assert judge.overall is not None
        shares.append(judge.overall.label_longer_preference.value)
    assert abs(shares[0] - shares[1]) > 0.01
    for judges in ((few, most), (most, few)):
        notes = _habits_notes(replace(dataset(few, most), judges=judges))
        assert any(f"longer response in {shares[1]:.1%}" in note for note in notes)


def test_the_first_claim_is_about_the_judges_that_are_right_most_often() -> None:
    five = five_judges()
    names = [judge.name for judge in five.judges]
    overall = {judge.name: judge.overall for judge in five.judges}
    found = _claim_on_pairs(five)
    said = []
    for name in names[:3]:
        one = overall[name]
        assert one is not None
        said.append(f"{name} ... {100 * one.accuracy_all.value:.1f}%")
    assert tells(found, f"pairs.csv: {' ... '.join(said)} ... 2 more judges")
    assert names[3] not in found.partition("more judges")[0]
    three = _claim_on_pairs(three_judges())
    assert "more judge" not in three and "of the pairs." in three
    of_rules = replace(five, judges=())
    assert tells(_claim_on_pairs(of_rules), "pairs.csv ... no judge")
    models = tuple(judge for judge in three_judges().judges if not judge.is_baseline)
    without_rules = replace(three_judges(), judges=models, baselines=())
    alone = _claim_on_pairs(without_rules)
    assert alone.endswith("of the pairs.") and three.startswith(alone)


# --- tests and baselines ---


def test_the_better_judge_is_the_one_with_the_higher_accuracy() -> None:
    one, other = pair_judge("p/one", 0.9, 1), pair_judge("p/two", 0.5, 2)
    nothing = Estimate(0.0, NAN, NAN, 10, 0)
    for value, p, better in (
        (0.2, 0.049, one),
        (-0.2, 0.049, other),
        (0.2, 0.05, None),
        (0.2, NAN, None),
    ):
        test = JudgeTest(one, other, "overall", replace(nothing, value=value), p, p)
        assert test.better is better


def right(judge: JudgeResult, key: tuple[str, int]) -> float:
    """Whether the verdict on the whole is right, a tie against a label being half right."""
    facts = judge.items[key].score.metadata or {}
    label, verdict = facts["labels"][OVERALL], facts["verdicts"]["a"][OVERALL]
    return float(label == verdict)


def test_pairs_that_only_one_judge_has_right_are_counted() -> None:
    judges = five_judges()
    for test in judges.tests:
        if test.level != "overall" or test.second.is_baseline:
            continue
        keys = sorted(test.first.items.keys() & test.second.items.keys())
        keys = [key for key in keys if LABELS[int(key[0][1:])] != "tie"]
        first = [right(test.first, key) for key in keys]
        second = [right(test.second, key) for key in keys]
        only = (
            sum(a > b for a, b in zip(first, second, strict=True)),
            sum(b > a for a, b in zip(first, second, strict=True)),
        )
        assert test.only_one_right == only
        assert test.difference.n == len(keys)
        gap = (sum(first) - sum(second)) / len(keys)
        assert test.difference.value == pytest.approx(gap)


def test_every_model_is_tested_against_the_best_rule_only() -> None:
    judges = five_judges()
    rules = {test.second.judge for test in judges.tests if test.second.is_baseline}
    computed = computed_baselines(judges.judges)
    by_accuracy = sorted(
        (judge for judge in computed if judge.overall is not None),
        key=lambda judge: judge.overall.accuracy_all.value if judge.overall else 0,
    )
    assert rules == {by_accuracy[-1].judge}
    assert len(judges.tests) == 5 * 4 // 2 + 5
    names = [judge.name for judge in judges.judges]
    assert set(names[:2]) == {"p/good", "p/fair"}
    assert names[-1] == "p/bad"


def test_judges_of_other_labels_are_refused_with_both_logs() -> None:
    one, other = pair_judge("p/one", 0.9, 1), pair_judge("p/two", 0.9, 2)
    key = ("s0", 1)
    facts = other.items[key].score.metadata
    assert facts is not None
    facts["labels"] = {OVERALL: "a" if LABELS[0] != "a" else "b"}
    with pytest.raises(InputError) as refused:
        dataset(one, other)
    for name in ("p/one.eval", "p/two.eval"):
        assert name in refused.value.message


@pytest.mark.parametrize(
    ("asked", "orders", "seed"),
    [
        ([("both", 3), ("both", 3)], "both", 3),
        ([("ab", 3), ("ab", 4)], "ab", 0),
        ([("ab", 3), ("both", 3)], "ab", 3),
    ],
)
def test_rules_are_asked_as_the_judges_were(
    asked: list[tuple[str, int]], orders: str, seed: int
) -> None:
    judges = []
    for place, (order, of_judge) in enumerate(asked):
        made = pair_judge(f"p/{place}", 0.9, place, orders=order)
        judges.append(replace(made, seed=of_judge))
    rules = computed_baselines(judges)
    assert {(rule.orders, rule.seed) for rule in rules} == {(orders, seed)}
    shown = ["a", "b"] if orders == "both" else ["a"]
    for rule in rules:
        facts = rule.items["s0", 1].score.metadata or {}
        assert sorted(facts["verdicts"]) == shown


def test_a_rule_follows_the_lengths_and_the_place() -> None:
    [*rules] = computed_baselines([pair_judge("p/one", 0.9, 1)])
    by_name = {rule.judge: rule for rule in rules}
    for place in range(6):
        verdicts = {}
        for name, rule in by_name.items():
            facts = rule.items[f"s{place}", 1].score.metadata or {}
            verdicts[name] = facts["verdicts"]["a"][OVERALL]
        longer = "ab"[place % 2]
        assert verdicts["baseline/longest"] == longer
        assert verdicts["baseline/shortest"] == OTHER[longer]
        assert (verdicts["baseline/first"], verdicts["baseline/second"]) == ("a", "b")


# --- biases ---

NONE = Estimate(0.0, -0.5, 0.5, 40, 40)
ABOVE = Estimate(0.6, 0.2, 1.0, 40, 40)
BELOW = Estimate(-0.6, -1.0, -0.2, 40, 40)
NO_OWN = Estimate(NAN, NAN, NAN, 0, 0)


def above_people(beyond: Estimate) -> Estimate:
    return replace(beyond, value=beyond.value + 1, low=beyond.low + 1, high=beyond.high + 1)


def bias(
    pairs: int = 40, *, named: bool = True, own: Estimate = NONE, **beyond: Estimate
) -> JudgeBias:
    every = {"place": NONE, "length": NONE, "lists": NONE, "own": own} | beyond
    return JudgeBias(
        judge={name: above_people(one) for name, one in every.items()},
        people={name: replace(NONE, value=0.25) for name in every},
        beyond=every,
        pairs=pairs,
        named=named,
    )


def biases(labels: str = "people", empty: int = 0, **judges: JudgeBias) -> DatasetBiases:
    return DatasetBiases("data", labels, judges, empty)


BIASES: dict[str, list[DatasetBiases]] = {
    "none": [biases(one=bias(), two=bias())],
    "one judge, two biases": [biases(one=bias(length=ABOVE, lists=ABOVE), two=bias())],
    "one judge below": [biases(one=bias(length=BELOW, place=BELOW))],
    "the first place": [biases(one=bias(place=ABOVE), two=bias(place=ABOVE))],
    "both places": [biases(one=bias(place=ABOVE), two=bias(place=BELOW))],
    "own models": [biases(one=bias(own=ABOVE), two=bias(own=NO_OWN, length=ABOVE))],
    "three and one": [
        biases(
            one=bias(length=ABOVE), two=bias(length=ABOVE, lists=ABOVE), three=bias(length=ABOVE)
        )
    ],
    "labels of nobody known": [biases("labels", one=bias(length=ABOVE), two=bias(length=ABOVE))],
    "labels of experts": [biases("of experts", empty=2, one=bias(60), two=bias(90, lists=ABOVE))],
    "people and others": [
        biases("people", one=bias(length=ABOVE)),
        biases("labels", empty=1, one=bias(length=ABOVE), two=bias(lists=ABOVE)),
    ],
    "no labels": [biases("", empty=1, one=bias(), two=bias(own=NO_OWN))],
    "models that are not known": [biases(one=bias(named=False, own=NO_OWN), two=bias())],
}


def test_the_biases_of_every_kind() -> None:
    parts = []
    for name, found in BIASES.items():
        parts.append(f"<!-- {name} -->\n\nFirst screen: {bias_sentence(found) or '-'}\n")
        made = judges_report([], [], battles=found)
        parts.append(made.markdown())
        parts.append(f"Labels: {', '.join(labelled_by(one) or '-' for one in found)}\n")
        for one in found:
            marked = [sorted(table.marked) for table in bias_section(one).tables]
            parts.append(f"Marked: {marked}\n")
    check_golden("judge_biases", "\n".join(parts))


def test_simulated_battles_are_called_so() -> None:
    found = DatasetBiases("data", "people", {"urs_simulation/x": bias()}, 0)
    assert found.simulated
    [section, _] = judges_report([], [], battles=[found]).sections
    assert section.warnings
    assert not biases(one=bias()).simulated


def test_what_a_judge_of_pairs_prefers_is_of_what_could_be_read() -> None:
    """Pairs without a label on the whole, and empty answers, do not count; verdicts do."""
    judges = dataset(
        pair_judge("p/one", 0.9, 1, orders="both"), pair_judge("p/none", 0.9, 2, never=1.0)
    )
    found = pair_biases(judges)
    assert found is not None
    assert set(found.judges) == {"p/one"}
    assert found.judges["p/one"].pairs == NUMBER
    assert (found.labels, found.empty) == ("labels", 0)
    for place in (0, 1, 2):
        sample = judges.judges[0].items[f"s{place}", 1].sample_metadata
        assert sample is not None
        sample["response_a"] = " "
    emptied = pair_biases(replace(judges, judges=judges.judges[:1]))
    assert emptied is not None
    assert (emptied.judges["p/one"].pairs, emptied.empty) == (NUMBER - 3, 3)
    assert pair_biases(dimensions_alone()) is None


def test_the_models_of_a_judge_are_those_of_its_maker() -> None:
    models = ["openai/gpt-5", "openrouter/openai/gpt-4", "meta/llama-5", "mine/unknown"]
    assert own_models("openai/gpt-5-judge", models) == set(models[:2])
    assert own_models("mine/unknown", models) == {"mine/unknown"}
    assert own_models("other/unknown", models) == set()


# --- twins ---


def log_of(name: str) -> EvalLog:
    return EvalLog(
        eval=EvalSpec(
            created="2026-01-01T00:00:00+00:00",
            task="judge_twins",
            dataset=EvalDataset(),
            model="none",
            config=EvalConfig(),
        ),
        location=f"/logs/{name}.eval",
    )


def kind(name: str, effect: Any, shift: Estimate, gained: float = 0.25) -> KindShift:
    return KindShift(name, f"What {name} is.", effect, shift, gained, 0.3, 0.25)


SHIFT = Estimate(0.4, 0.1, 0.7, 30, 30)
TWINS: dict[str, Twins] = {
    "several kinds": Twins(
        judges=("p/one", "p/two"),
        log=log_of("several"),
        answers=30,
        kinds=(
            kind("padded", "nothing", SHIFT),
            kind("order", "nothing", replace(SHIFT, value=0.0, low=-0.1, high=0.1)),
            kind("praise", "nothing", replace(SHIFT, value=-0.4, low=-0.7, high=-0.1)),
            kind("echo", "nothing", replace(SHIFT, low=-0.1)),
            kind("negated", "flaw", replace(SHIFT, value=-0.4, low=-0.7, high=-0.1)),
            kind("cut", "flaw", replace(SHIFT, value=0.0, low=-0.1, high=0.1)),
            kind("swap", "flaw", replace(SHIFT, value=-0.4, low=-0.7, high=0.1)),
            kind("few", "flaw", replace(SHIFT, low=NAN, high=NAN, n=2)),
        ),
        slope=Estimate(0.25, 0.1, 0.4, 60, 30),
        scale=(1.0, 10.0),
        judged_by="intent_judge()",
        left_out={"order": 2, "negated": 1200},
        unscored=2,
    ),
    "one kind of few": Twins(
        judges=("p/one",),
        log=log_of("few"),
        answers=3,
        kinds=(kind("padded", "nothing", replace(SHIFT, low=NAN, high=NAN, n=3)),),
        slope=Estimate(0.25, NAN, NAN, 6, 3),
        scale=(0.0, 1.0),
        judged_by="s" * 80,
        left_out={},
        unscored=1,
    ),
    "none": Twins(
        judges=("urs_simulation/x",),
        log=log_of("none"),
        answers=1,
        kinds=(),
        slope=None,
        scale=(1.0, 5.5),
        judged_by="s" * 81,
        left_out={"order": 1},
    ),
    "no interval of many": Twins(
        judges=("p/one",),
        log=log_of("equal"),
        answers=40,
        kinds=(kind("padded", "nothing", SHIFT),),
        slope=Estimate(0.0, NAN, NAN, 80, 40),
        scale=(1.0, 10.0),
        judged_by="intent_judge()",
        left_out={},
    ),
}


def test_the_report_of_every_kind_of_twins() -> None:
    check_golden("twins_cases", judges_report([], [], twins=list(TWINS.values())).markdown())
    assert [
        section.title.rpartition(" ")[2] for section in twins_sections(list(TWINS.values()))
    ] == [
        "p/one",
        "p/two",
        "p/one",
        "urs_simulation/x",
    ]
    assert not padding_sentence(TWINS["none"])
    alone = judges_report([], [], twins=[TWINS["one kind of few"]])
    assert [section.title for section in alone.sections if section.warnings] == []


@pytest.mark.parametrize(
    ("needs", "accuracy"),
    [
        (("n1", "n1", "n2"), {"n1": 1 / 2, "n2": 1.0}),
        (("n2", "n1", "n1"), {"n1": 1.0, "n2": 0.0}),
        (("", "n1", ""), {}),  # all that have one have the same
        (("n1", "n1", "n1"), {}),
        (("", "n1", "n2"), {"n1": 1.0, "n2": 1.0}),
    ],
)
def test_accuracy_is_divided_only_by_what_differs_and_is_named(
    needs: Sequence[str], accuracy: dict[str, float]
) -> None:
    verdicts = ("b", "a", "a")
    scores = [
        scored(number, {OVERALL: "a"}, {"a": {OVERALL: verdict}}, need=need)
        for number, (verdict, need) in enumerate(zip(verdicts, needs, strict=True))
    ]
    tie = scored(9, {OVERALL: "tie"}, {"a": {OVERALL: "a"}}, need="only ties")
    items = judged_items([*scores, *([tie] if accuracy else [])], dimensions=False)
    assert items is not None
    found = _accuracies_by(items, "need")
    assert {name: estimate.value for name, estimate in found.items()} == pytest.approx(accuracy)
    assert list(found) == sorted(accuracy)
