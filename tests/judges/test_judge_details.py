"""Details of judges, against the statistics themselves and by plain counting, and the report of
them.
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.scorer import SampleScore

from tests.reports.golden_files import check_golden
from tests.reports.pairs import Logs, priced
from tests.scorers.test_pair_metrics import full_run, scored
from tests.telling import tells
from urs_inspect.judges._judges import (
    DatasetJudges,
    JudgeResult,
    computed_baselines,
    read_judges,
    read_ratings,
    result_of,
)
from urs_inspect.judges._report import (
    Detail,
    judge_numbers,
    judges_report,
    pair_details,
    rating_details,
)
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.reports.layout._tables import Report
from urs_inspect.scorers._pair_metrics import judged_items
from urs_inspect.stats import Estimate, correlate, measure

Bounds = tuple[float, float, float]
Key = tuple[str, str, str, str]


def as_judge(scores: Sequence[SampleScore], orders: str) -> JudgeResult:
    return result_of(
        "judge", {(str(one.sample_id), 1): one for one in scores}, orders=orders, seed=0
    )


def rows_of(details: Sequence[Detail]) -> dict[Key, Bounds]:
    return {
        (d.level, d.by, d.group, d.measure): (d.estimate.value, d.estimate.low, d.estimate.high)
        for d in details
    }


def test_measures_are_those_of_all_verdicts() -> None:
    scores = full_run("ab")
    found, expected = rows_of(pair_details(as_judge(scores, "both"))), dict[Key, float]()
    for level in ("overall", "dimensions"):
        items = judged_items(scores, dimensions=level == "dimensions")
        assert items is not None
        measures = measure(items.verdicts)
        values = {field.name: getattr(measures, field.name).value for field in fields(measures)}
        expected |= {
            (level, "all", "", name): value
            for name, value in values.items()
            if not math.isnan(value)
        }
    assert {key: one[0] for key, one in found.items() if key[1] == "all"} == expected


def test_accuracies_are_what_plain_counting_gives() -> None:
    scores = full_run()
    groups: dict[Key, list[bool]] = defaultdict(list)
    for score in scores:
        facts, sample = score.score.metadata or {}, score.sample_metadata or {}
        for name, label in facts["labels"].items():
            given = facts["verdicts"]["a"][name]
            level = "overall" if name == OVERALL else "dimensions"
            places = {"all": "", "scenario": sample["group"], "need": sample["need"]}
            places |= {"dimension": name} if level == "dimensions" else {}
            for by, group in places.items() if label != "tie" and given is not None else ():
                groups[level, by, group, "accuracy"].append(label == given)
    found = {
        key: one[0]
        for key, one in rows_of(pair_details(as_judge(scores, "ab"))).items()
        if key[3] == "accuracy"
    }
    assert found == pytest.approx({key: sum(right) / len(right) for key, right in groups.items()})


def test_pairs_of_no_known_need_are_no_group() -> None:
    scores = [
        scored(number, {OVERALL: "a"}, {"a": {OVERALL: "a"}}, need=need)
        for number, need in enumerate(["one", "two", "", ""])
    ]
    found = rows_of(pair_details(as_judge(scores, "ab")))
    assert {group for _, by, group, _ in found if by == "need"} == {"one", "two"}


def test_failures_are_counted_by_mode() -> None:
    scores = [
        scored(1, {OVERALL: "a"}, {}, failures=["call_failed", "call_failed"]),
        scored(2, {OVERALL: "a"}, {}, failures=["truncated"], unknown_dimensions=["Charm"]),
    ]
    counted = {
        one.group: one.estimate.value
        for one in pair_details(as_judge(scores, "ab"))
        if one.by == "failure"
    }
    assert counted == {"call_failed": 2, "truncated": 1, "unknown dimensions": 1}


def test_few_pairs_and_equal_verdicts_have_no_interval() -> None:
    few = [scored(n, {OVERALL: "a"}, {"a": {OVERALL: "ab"[n % 2]}}) for n in range(5)]
    equal = [scored(n, {OVERALL: "a"}, {"a": {OVERALL: "a"}}) for n in range(50)]
    for scores in (few, equal):
        assert all(
            math.isnan(detail.estimate.low) for detail in pair_details(as_judge(scores, "ab"))
        )


def test_the_file_has_a_row_for_each_number_of_judges_and_baselines() -> None:
    scores = full_run()
    judge = as_judge(scores, "ab")
    baselines = tuple(computed_baselines([judge]))
    dataset = DatasetJudges("data", "0" * 64, (judge,), (), baselines)
    table = judge_numbers([dataset], [])
    assert (
        ",".join(map(str, table))
        == "dataset,judge,orders,level,by,group,measure,value,low,high,n,clusters"
    )
    assert table["judge"].value_counts().to_dict() == {
        one.name: len(pair_details(one)) for one in (judge, *baselines)
    }
    [row] = table.query("judge == 'judge' and measure == 'alpha' and level == 'overall'").to_dict(
        "records"
    )
    assert row["value"] == rows_of(pair_details(judge))["overall", "all", "", "alpha"][0]
    unread = sum((one.score.metadata or {})["verdicts"]["a"][OVERALL] is None for one in scores)
    assert (row["dataset"], row["orders"], row["n"]) == ("data", "ab", len(scores) - unread)


# --- judges that rate ---


def test_ratings_have_the_numbers_that_headers_had(with_rubric: EvalLog) -> None:
    [dataset] = read_ratings([with_rubric])
    [judge] = dataset.judges
    found, items = rows_of(rating_details(judge)), list(judge.items.values())
    assert judge.rubric
    # Ratings 2 4 6 8 10 2 of 1 to 10 on the scale 1 to 5: 1 + 4 / 9 (x - 1), less the labels 1 2 3
    # 4 5 1. 6 + 4 / 9 * (32 - 6) - 16
    leisure = found["ratings", "intent", "leisure", "mean difference"][0]
    assert leisure == pytest.approx((6 + 4 / 9 * 26 - 16) / 6)
    groups = {("all", ""): items}
    for intent in ("leisure", "factual_qa"):
        groups["intent", intent] = [item for item in items if item.places["intent"] == intent]
    # All are of one language, and without groups other than intents.
    replies = {(by, group) for _, by, group, _ in found if by == "replies"}
    assert {(by, group) for _, by, group, _ in found} == groups.keys() | replies
    assert replies == {("replies", "unkeyed")}  # as many as there are
    for (by, group), members in groups.items():
        expected = correlate(
            [item.label for item in members],
            [item.rating for item in members],
            [item.cluster for item in members],
        )
        for kind in ("pearson", "spearman", "kendall"):
            one: Estimate = getattr(expected, kind)
            value, low, high = found["ratings", by, group, kind]
            assert value == one.value
            assert math.isnan(low) or (low, high) == (one.low, one.high)


def test_unparsed_ratings_are_counted_by_mode(rating_logs: Logs) -> None:
    [dataset] = read_ratings(list(rating_logs.values()))
    failures = {
        judge.judge: [
            detail.estimate.value for detail in rating_details(judge) if detail.by == "failure"
        ]
        for judge in dataset.judges
    }
    assert failures == {"mockllm/coarse": [1], "mockllm/same": [], "mockllm/other": []}


# --- the report ---


def report_of(
    pairs: Sequence[EvalLog] = (), ratings: Sequence[EvalLog] = (), **options: Any
) -> Report:
    """The report of logs as if each call had cost 0.002 dollars and taken half a second."""
    return judges_report(
        read_judges([priced(log, 0.002, 0.5) for log in pairs]),
        read_ratings([priced(log, 0.002, 0.5) for log in ratings]),
        **options,
    )


def test_the_report_as_markdown(
    logs: Logs, joint: Logs, rating_logs: Logs, with_rubric: EvalLog
) -> None:
    by = ("scenario", "measure", "failure", "intent")
    pairs = [
        *map(logs.__getitem__, ("good", "bad", "longest")),
        *map(joint.__getitem__, ("sharp", "halo")),
    ]
    ratings = [*map(rating_logs.__getitem__, ("same", "other", "coarse")), with_rubric]
    found = report_of(pairs, ratings, by=by, skipped=["c.eval was left out."]).markdown()
    check_golden("judges", re.sub("(?<=Dataset: )/.*/", "", found))
    # Right by hand: 5 of 7 labels are the longer response; 7 pairs only one has right, by three
    # tests 3 * 2 / 128; 2 / 2001 by three tests.
    for row in (
        r"\| baseline/longest \| overall, ab \| 8 \| 71\.4 \(",
        (
            r"\| mockllm/good \| mockllm/bad \| mockllm/good is better \|.*\| 7 : 0 \| 0\.016 \|"
            r" 0\.047 \| 7 \|"
        ),
        (
            r"\| mockllm/same \| mockllm/other \| mockllm/same is better \| \+2\.000 \| \\<0\.001"
            r" \| 0\.003 \| 12 \|"
        ),
    ):
        assert re.search(row, found), row


def test_each_data_set_has_a_claim_about_all_of_its_judges(logs: Logs, joint: Logs) -> None:
    one = report_of([logs["good"], logs["bad"]])
    both = report_of([logs["good"], logs["bad"], joint["sharp"]])
    assert one.first is not None and both.first is not None
    assert tells(one.first.claim, "pairs ... mockllm/good ... mockllm/bad ... %")
    assert tells(both.first.basis[0], "md_eval ... mockllm/sharp ... %")
    assert not any("data sets" in way for way in one.first.ways)
    assert any("data sets" in way for way in both.first.ways)


def test_a_judge_is_called_worse_than_a_rule_only_where_a_test_says_so(logs: Logs) -> None:
    [dataset] = read_judges([logs["bad"]])
    rule = next(judge for judge in dataset.baselines if judge.judge == "baseline/first")
    names = {"mockllm/bad", rule.name}
    [test] = [
        test
        for test in dataset.tests
        if test.level == "overall" and {test.first.name, test.second.name} == names
    ]
    for adjusted_p, level, worse in (
        (0.001, "overall", True),
        (0.5, "overall", False),
        (0.001, "dimensions", False),
    ):
        decided = replace(dataset, tests=(replace(test, adjusted_p=adjusted_p, level=level),))
        screen = judges_report([decided], []).first
        assert screen is not None
        assert tells(screen.claim, "worse") is worse


def test_partial_logs_and_unknown_costs_are_reported(logs: Logs) -> None:
    good, bad = (priced(logs[name], 0.002, 0.5) for name in ("good", "bad"))
    [first, *_] = [
        event for sample in good.samples or [] for event in sample.events if event.event == "model"
    ]
    first.output.usage = None
    bad.samples = (bad.samples or [])[:3]
    found = judges_report(read_judges([good, bad]), []).markdown()
    assert re.search(r"mockllm/bad \| overall, ab \| 3 of 8 ", found)
    assert re.search(
        r"mockllm/good .* 2\.00 \| 500 \|", found
    )  # 1,000 times 0.002 dollars and 0.5 seconds
    assert tells(found, "'n of m': judged only")
    assert tells(found, "cost ... mockllm/good 1 of 8")
    without = judges_report(read_judges([logs["good"]]), []).markdown()
    assert tells(without, "known cost: mockllm/good") and "n of m" not in without
    assert "PUBLISHED" not in report_of([logs["good"]]).markdown()
