"""Details of judges: the numbers that headers of logs once held, against `rating` itself and by plain counting."""

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.scorer import SampleScore

from tests.reports.pairs import Logs, priced
from tests.scorers.test_pair_metrics import full_run, scored
from urs_inspect.judging.verdicts import OVERALL
from urs_inspect.reports.judge_details import NUMBERS, Detail, judges_report, pair_details, rating_details
from urs_inspect.reports.judges import (
    DatasetJudges,
    JudgeResult,
    computed_baselines,
    read_judges,
    read_ratings,
    result_of,
)
from urs_inspect.reports.tables import Report, csv_text
from urs_inspect.scorers.pair_metrics import baseline_of, judged_items
from urs_inspect.stats import BASELINES, Estimate, correlate, measure
from urs_inspect.stats.measures import accuracies, group_accuracies

Bounds = tuple[float, float, float]
Key = tuple[str, str, str, str]


def as_judge(scores: Sequence[SampleScore], orders: str) -> JudgeResult:
    return result_of("judge", {(str(one.sample_id), 1): one for one in scores}, orders=orders, seed=0)


def rows_of(details: Sequence[Detail]) -> dict[Key, Bounds]:
    return {(d.level, d.by, d.group, d.measure): (d.estimate.value, d.estimate.low, d.estimate.high) for d in details}


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
    counted = {one.group: one.estimate.value for one in pair_details(as_judge(scores, "ab")) if one.by == "failure"}
    assert counted == {"call_failed": 2, "truncated": 1, "unknown dimensions": 1}


def test_few_pairs_and_equal_verdicts_have_no_interval() -> None:
    few = [scored(n, {OVERALL: "a"}, {"a": {OVERALL: "ab"[n % 2]}}) for n in range(5)]
    equal = [scored(n, {OVERALL: "a"}, {"a": {OVERALL: "a"}}) for n in range(50)]
    for scores in (few, equal):
        assert all(math.isnan(detail.estimate.low) for detail in pair_details(as_judge(scores, "ab")))


def test_the_file_has_a_row_for_each_number_of_judges_and_baselines() -> None:
    scores = full_run()
    judge = as_judge(scores, "ab")
    baselines = tuple(computed_baselines([judge]))
    dataset = DatasetJudges("data", "0" * 64, (judge,), (), baselines)
    text = csv_text(judges_report([dataset], [], numbers=True).tables()[NUMBERS])
    rows = list(csv.DictReader(io.StringIO(text)))
    columns = "dataset,judge,orders,level,by,group,measure,value,low,high,n,clusters"
    assert text.partition("\n")[0] == columns
    counted = Counter(row["judge"] for row in rows)
    assert counted == {one.name: len(pair_details(one)) for one in (judge, *baselines)}
    [row] = [row for row in rows if row["judge"] == "judge" and row["measure"] == "alpha" and row["level"] == "overall"]
    assert float(row["value"]) == rows_of(pair_details(judge))["overall", "all", "", "alpha"][0]
    assert (row["dataset"], row["orders"], int(row["n"])) == ("data", "ab", len(scores) - _unread(scores))


def _unread(scores: Sequence[SampleScore]) -> int:
    return sum((one.score.metadata or {})["verdicts"]["a"][OVERALL] is None for one in scores)


# --- judges that rate ---


def test_ratings_have_the_numbers_that_headers_had(with_rubric: EvalLog) -> None:
    [dataset] = read_ratings([with_rubric])
    [judge] = dataset.judges
    found, items = rows_of(rating_details(judge)), list(judge.items.values())
    groups = {("all", ""): items}
    for intent in ("leisure", "factual_qa"):
        groups["intent", intent] = [item for item in items if item.places["intent"] == intent]
    # All are of one language, and without groups other than intents.
    assert {(by, group) for _, by, group, _ in found} == groups.keys()
    for (by, group), members in groups.items():
        expected = correlate(
            [item.label for item in members], [item.rating for item in members], [item.cluster for item in members]
        )
        for kind in ("pearson", "spearman", "kendall"):
            one: Estimate = getattr(expected, kind)
            value, low, high = found["ratings", by, group, kind]
            assert value == one.value
            assert math.isnan(low) or (low, high) == (one.low, one.high)


def test_unparsed_ratings_are_counted_by_mode(rating_logs: Logs) -> None:
    [dataset] = read_ratings(list(rating_logs.values()))
    failures = {
        judge.judge: [detail.estimate.value for detail in rating_details(judge) if detail.by == "failure"]
        for judge in dataset.judges
    }
    assert failures == {"mockllm/coarse": [1], "mockllm/same": [], "mockllm/other": []}


# --- the report ---


def texts(report: Report) -> dict[str, dict[str, list[str]]]:
    """The cells of each table by its section or title, and by the names of its rows."""
    tables: dict[str, dict[str, list[str]]] = {}
    for section in report.sections:
        for table in section.tables:
            text = table.text()
            tables[table.title or section.title.partition(" ")[0]] = {
                " ".join(row[: text.names]): list(row[text.names :]) for row in text.rows
            }
    return tables


def notes(report: Report) -> str:
    return " ".join(note for section in report.sections for note in section.notes)


def test_judges_of_pairs_and_baselines_are_rows(logs: Logs) -> None:
    report = judges_report(read_judges(list(logs.values())), [])
    found = texts(report)
    # pairs; overall accuracy over all with its interval, and over what was parsed; no columns of dimensions
    assert found["Accuracy"]["mockllm/good overall, ab"] == ["8", "100.0", "100.0"]  # without spread no interval
    assert found["Accuracy"]["baseline/longest overall, ab"][1].startswith("71.4 (")  # 5 / 7
    assert found["Accuracy"]["baseline/second ab"][1].startswith("14.3 (")  # 1 / 7
    # unparsed: the tie of eight; alpha; no flips without both orders; `good` prefers the longer response in 5 of 7 and
    # the first in 6 of 7; the scripted model has no price
    assert found["Habits"]["mockllm/good"][:6] == ["12.5", "1.00", "–", "71.4", "85.7", "–"]
    # Three tests: good and bad against each other and against the best baseline, `first`. 3 * 2 / 128 = 0.047.
    tests = found["verdicts as a whole"]
    assert tests["mockllm/good mockllm/bad mockllm/good is better"][1:] == ["7 : 0", "0.016", "0.047", "7"]
    assert "mockllm/good baseline/first not significant" in tests and len(tests) == 3
    assert found["verdicts on dimensions"] == {}
    said = notes(report)
    assert "The labels prefer the longer response in 71.4%." in said
    assert "Baselines without a log are computed in the order 'ab', random with seed 0." in said
    assert "No call has a known cost: mockllm/" in said
    assert "copy_overall" not in repr(found)  # no verdict on a dimension was asked for
    assert "n of m" not in said


def test_partial_logs_and_unknown_costs_are_reported(logs: Logs) -> None:
    good, bad = (priced(logs[name], 0.002, 0.5) for name in ("good", "bad"))
    [first, *_] = [event for sample in good.samples or [] for event in sample.events if event.event == "model"]
    first.output.usage = None
    bad.samples = (bad.samples or [])[:3]
    report = judges_report(read_judges([good, bad]), [])
    assert texts(report)["Accuracy"]["mockllm/bad overall, ab"][0] == "3 of 8"
    assert texts(report)["Habits"]["mockllm/good"][-2:] == ["2.00", "500"]  # 1,000 times 0.002 dollars and 0.5 seconds
    assert "'n of m': judged only some of the pairs" in notes(report)
    assert "Calls without a known cost are counted as the mean of the others: mockllm/good 1 of 8." in notes(report)


def test_dimensions_have_columns_and_tests_of_their_own(joint: Logs) -> None:
    found = texts(judges_report(read_judges(list(joint.values())), []))
    # pairs; accuracy overall and on the dimension that has no ties, over all and over parsed verdicts
    assert found["Accuracy"]["mockllm/sharp joint, ab"] == ["8", "100.0", "100.0", "100.0", "100.0"]
    assert found["Accuracy"]["mockllm/halo joint, ab"] == ["8", "100.0", "100.0", "0.0", "0.0"]
    assert found["Accuracy"]["baseline/copy_overall ab"][1:] == ["–", "–", "100.0", "100.0"]
    assert "mockllm/sharp is better" in " ".join(found["verdicts on dimensions"])
    assert "is better" not in " ".join(found["verdicts as a whole"])


def test_judges_that_rate_have_a_table_and_tests(rating_logs: Logs, with_rubric: EvalLog) -> None:
    found = texts(judges_report([], read_ratings(list(rating_logs.values()))))
    rows = {name.split()[0]: cells for name, cells in found["Correlation"].items()}
    assert rows["mockllm/same"][:6] == ["12", "1.000", "1.000", "1.000", "0.00", "0.0"]
    assert rows["mockllm/other"][1] == "−1.000"
    assert rows["mockllm/coarse"][5] == "8.3"  # 1 of 12 unparsed
    # 2 / 2001 = 0.0010, adjusted for three tests 0.0030; twelve responses of both
    for level in ("Pearson", "Spearman"):
        test = found[level]["mockllm/same mockllm/other mockllm/same is better"]
        assert test == ["+2.000", "<0.001", "0.003", "12"]
    intents = texts(judges_report([], read_ratings([with_rubric])))["By intent: mockllm/same"]
    assert intents["leisure"][:2] == ["6", "1.00"] and intents["factual_qa"][0] == "6"


def test_details_are_shown_by_group_measure_and_failure(joint: Logs, with_rubric: EvalLog) -> None:
    by = ("scenario", "measure", "failure", "intent")
    report = judges_report(read_judges(list(joint.values())), read_ratings([with_rubric]), by=by)
    sections = {section.title: section for section in report.sections[::-1]}  # the first of a title counts
    for table in sections["By measure"].tables:
        assert {"three_way", "accuracy_all"} <= {row[0] for row in table.text().rows}
        assert len(table.text().headings) == 3  # a column for each judge
    assert len(sections["By measure"].tables) == 2
    assert "no such groups" in sections["By intent"].notes[0]
    assert notes(report).count("no such groups") == 3  # pairs have no intent and a single scenario, ratings no scenario
    assert notes(report).count("Failures: none.") == 2


@pytest.mark.parametrize(("which", "tables"), [("all", 4), ("matching", 0), ("none", 0)])
def test_published_tables_are_marked_and_stand_as_printed(logs: Logs, which: str, tables: int) -> None:
    report = judges_report(read_judges([logs["good"]]), [], published=which)
    found = {title: rows for title, rows in texts(report).items() if title.startswith("Published, Table")}
    assert len(found) == tables
    assert any("PUBLISHED, NOT MEASURED HERE" in section.title for section in report.sections) == (tables > 0)
    if tables:
        rows = next(rows for title, rows in found.items() if "Table 5" in title)
        assert (rows["SaMer-8B"], rows["ArmoRM-8B"]) == (["75.67", "82.33"], ["–", "79.33"])
