"""Details of judges: the numbers that headers of logs once held, against `rating` itself and by plain counting."""

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from inspect_ai.scorer import SampleScore

from tests.reports.ratings import judge_ratings, judge_with_rubric
from tests.scorers.test_pair_metrics import full_run, scored
from urs_inspect.judging import OVERALL
from urs_inspect.logs.files import finished_logs
from urs_inspect.reports.judge_details import Detail, details_csv, pair_details, rating_details
from urs_inspect.reports.judge_result import JudgeResult, computed_baselines, result_of
from urs_inspect.reports.judges import DatasetJudges, read_ratings
from urs_inspect.scorers.pair_metrics import baseline_of, judged_items
from urs_inspect.stats import BASELINES, Estimate, correlate, measure
from urs_inspect.stats.measures import accuracies, group_accuracies

Bounds = tuple[float, float, float]
Key = tuple[str, str, str, str]


def as_judge(scores: Sequence[SampleScore], orders: str) -> JudgeResult:
    return result_of("judge", {(str(one.sample_id), 1): one for one in scores}, orders=orders, seed=0)


def rows_of(details: Sequence[Detail]) -> dict[Key, Bounds]:
    return {(one.level, one.by, one.group, one.measure): (one.value, one.low, one.high) for one in details}


def former_rows(scores: Sequence[SampleScore]) -> dict[Key, Estimate]:
    """Every estimate that the header of a log once had, by the functions of `rating`."""
    rows: dict[Key, Estimate] = {}
    for level in ("overall", "dimensions"):
        items = judged_items(scores, dimensions=level == "dimensions")
        assert items is not None
        measures = measure(items.verdicts)
        rows |= {(level, "all", "", field.name): getattr(measures, field.name) for field in fields(measures)}
        for place, groups in items.places.items():
            if len(set(groups)) > 1:
                found = group_accuracies(items.verdicts, groups)
                rows |= {(level, place, str(group), "accuracy"): one for group, one in found.items()}
    return {key: one for key, one in rows.items() if not math.isnan(one.value)}


@pytest.mark.parametrize(("firsts", "orders"), [("a", "ab"), ("ab", "both")])
def test_details_are_the_numbers_that_headers_had(firsts: str, orders: str) -> None:
    scores = full_run(firsts)
    found, expected = rows_of(pair_details(as_judge(scores, orders))), former_rows(scores)
    assert len(expected) > 120
    assert found.keys() == expected.keys()
    without = 0
    for key, one in expected.items():
        value, low, high = found[key]
        assert value == one.value
        if math.isnan(low):
            without += 1
            assert one.clusters < 6 or one.high - one.low < 1e-9 or (one.low, one.high) == (0, 1), key
        else:
            assert (low, high) == (one.low, one.high), key
    assert without < len(expected) / 2


@pytest.mark.parametrize(("firsts", "orders"), [("a", "ab"), ("ab", "both")])
def test_baselines_are_the_numbers_that_headers_had(firsts: str, orders: str) -> None:
    scores = full_run(firsts)
    computed = {one.judge.removeprefix("baseline/"): one for one in computed_baselines([as_judge(scores, orders)])}
    for level in ("overall", "dimensions"):
        items = judged_items(scores, dimensions=level == "dimensions")
        assert items is not None
        kinds = [kind for kind in BASELINES if level == "dimensions" or kind != "copy_overall"]
        former = accuracies(
            items.verdicts.labels, [baseline_of(kind, items) for kind in kinds], items.verdicts.clusters
        )
        for kind, one in zip(kinds, former, strict=True):
            value, low, high = rows_of(pair_details(computed[kind]))[level, "all", "", "accuracy"]
            assert value == pytest.approx(one.value, abs=1e-12)
            assert (low, high) == pytest.approx((one.low, one.high), abs=1e-12) or math.isnan(low)


def test_accuracies_are_what_plain_counting_gives() -> None:
    scores = full_run()
    groups: dict[Key, list[bool]] = {}
    for score in scores:
        facts, sample = score.score.metadata or {}, score.sample_metadata or {}
        for name, label in facts["labels"].items():
            given = facts["verdicts"]["a"][name]
            if label == "tie" or given is None:
                continue
            level = "overall" if name == OVERALL else "dimensions"
            places = {"all": "", "scenario": sample["group"], "need": sample["need"]}
            places |= {"dimension": name} if level == "dimensions" else {}
            for by, group in places.items():
                groups.setdefault((level, by, group, "accuracy"), []).append(label == given)
    found = {key: one[0] for key, one in rows_of(pair_details(as_judge(scores, "ab"))).items() if key[3] == "accuracy"}
    assert found == pytest.approx({key: sum(right) / len(right) for key, right in groups.items()})


def test_failures_are_counted_by_mode() -> None:
    scores = [
        scored(1, {OVERALL: "a"}, {}, failures=["call_failed", "call_failed"]),
        scored(2, {OVERALL: "a"}, {}, failures=["truncated"], unknown_dimensions=["Charm"]),
    ]
    counted = {one.group: one.value for one in pair_details(as_judge(scores, "ab")) if one.by == "failure"}
    assert counted == {"call_failed": 2, "truncated": 1, "unknown dimensions": 1}


def test_few_pairs_and_equal_verdicts_have_no_interval() -> None:
    few = [scored(n, {OVERALL: "a"}, {"a": {OVERALL: "ab"[n % 2]}}) for n in range(5)]
    equal = [scored(n, {OVERALL: "a"}, {"a": {OVERALL: "a"}}) for n in range(50)]
    for scores in (few, equal):
        assert all(math.isnan(one.low) and math.isnan(one.high) for one in pair_details(as_judge(scores, "ab")))


def test_the_file_has_a_row_for_each_number_of_judges_and_baselines() -> None:
    scores = full_run()
    judge = as_judge(scores, "ab")
    baselines = tuple(computed_baselines([judge]))
    dataset = DatasetJudges("data", "0" * 64, (judge,), baselines, ())
    rows = list(csv.DictReader(io.StringIO(details_csv([dataset], []))))
    counted = Counter(row["judge"] for row in rows)
    assert counted == {one.name: len(pair_details(one)) for one in (judge, *baselines)}
    [row] = [row for row in rows if row["judge"] == "judge" and row["measure"] == "alpha" and row["level"] == "overall"]
    assert float(row["value"]) == rows_of(pair_details(judge))["overall", "all", "", "alpha"][0]
    assert (row["dataset"], row["orders"], int(row["n"])) == ("data", "ab", len(scores) - _unread(scores))


def _unread(scores: Sequence[SampleScore]) -> int:
    return sum((one.score.metadata or {})["verdicts"]["a"][OVERALL] is None for one in scores)


# --- judges that rate ---


def test_ratings_have_the_numbers_that_headers_had(tmp_path: Path) -> None:
    judge_with_rubric(tmp_path)
    [dataset] = read_ratings(list(finished_logs([str(tmp_path / "logs")], [])))
    for judge in dataset.judges:
        found = rows_of(rating_details(judge))
        items = list(judge.items.values())
        groups = {("all", ""): items}
        for field in ("intent", "language"):
            for place in {item.places[field] for item in items}:
                groups[field, place] = [item for item in items if item.places[field] == place]
        assert any(field == "intent" for field, _ in groups)
        for (field, place), members in groups.items():
            if field == "language" and len({item.places[field] for item in items}) < 2:
                continue
            expected = correlate(
                [item.label for item in members],
                [item.rating for item in members],
                [item.cluster for item in members],
            )
            for kind in ("pearson", "spearman", "kendall"):
                one: Estimate = getattr(expected, kind)
                if not math.isnan(one.value):
                    value, low, high = found["ratings", field, place, kind]
                    assert value == one.value
                    assert math.isnan(low) or (low, high) == (one.low, one.high)


def test_unread_ratings_are_counted_by_mode(tmp_path: Path) -> None:
    judge_ratings(tmp_path)
    [dataset] = read_ratings(list(finished_logs([str(tmp_path / "logs")], [])))
    unread = {
        judge.judge: {one.group: one.value for one in rating_details(judge) if one.by == "failure"}
        for judge in dataset.judges
    }
    assert sum(unread["mockllm/coarse"].values()) == 1
    assert unread["mockllm/same"] == {}
