"""Numbers and lines about scoring, annotating and training, without a model."""

import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import SampleScore, Score

from tests.reports.golden_files import check_golden
from tests.samer.stubs import DIMENSIONS, raw
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer import _partitions
from urs_inspect.samer._bulk import (
    BulkReport,
    BulkRow,
    check_output,
    check_rows,
    columns_of,
    read_rows,
    result_of,
)
from urs_inspect.samer._bulk_results import PartialResults, difference
from urs_inspect.samer._engines import EngineFailure, QueryResponse, Scored
from urs_inspect.samer._judgement import judged
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._partitions import find_partitions, settled
from urs_inspect.samer._report import read_annotations, read_dimensions, read_weights
from urs_inspect.samer._reward import REWARD
from urs_inspect.samer._scorer import samer_report
from urs_inspect.samer._scoring_commands import _print_summary, _ray
from urs_inspect.samer._training_commands import (
    _epoch_line,
    _least_and_most,
    _say_equal_weights,
)
from urs_inspect.samer._vectors import Accuracy, EpochRecord
from urs_inspect.stats._bootstrap import student_interval

NAN = math.nan

# --- the metric ---


def scored(
    sample: str, value: dict[str, float], facts: dict[str, Any] | None = None, **metadata: Any
) -> SampleScore:
    return SampleScore(
        score=Score(value=dict(value), metadata=facts or {}),
        sample_id=sample,
        sample_metadata=metadata,
    )


def rows_of(scores: Sequence[SampleScore], headline: str = "overall") -> dict[str, float]:
    metric: Any = samer_report(headline)
    return dict(metric(list(scores)))


def test_rewards_have_the_mean_of_each_output_and_no_selection() -> None:
    values = [(-4.0, 1.0), (2.0, 3.0), (8.0, 5.0)]
    scores = [
        scored("a", {REWARD: values[0][0], "good": values[0][1]}, language="en"),
        scored("a", {REWARD: values[1][0], "good": values[1][1]}, language="en"),
        scored("b", {REWARD: values[2][0], "good": values[2][1]}, language="zh"),
        scored("c", {REWARD: NAN, "good": NAN}, {"failure_mode": "too_long"}, language="zh"),
    ]
    rows = rows_of(scores, REWARD)
    # Epochs first: a has -1 and 2, b has 8 and 5.
    assert (rows[REWARD], rows["good"]) == (3.5, 3.5)
    assert (rows["reward language=en"], rows["reward language=zh"]) == (-1.0, 8.0)
    assert rows["failures too_long"] == 1
    assert "empty selection" not in rows and "shortened" in rows


def test_an_interval_of_rewards_may_leave_0_to_1() -> None:
    values = [-8.0, -3.0, 0.5, 4.0, 7.5, 9.0, -1.0]
    scores = [scored(str(place), {REWARD: value}) for place, value in enumerate(values)]
    rows = rows_of(scores, REWARD)
    plain = student_interval(values)
    assert (rows["low"], rows["high"]) == pytest.approx((plain.low, plain.high))
    assert rows["low"] < 0 and rows["high"] > 1
    # An overall score has a scale, which its interval does not leave.
    values = [0.01, 0.99, 1.0, 1.0, 0.98, 1.0, 0.99]
    rows = rows_of([scored(str(n), {"overall": value}) for n, value in enumerate(values)])
    assert rows["low"] >= 0 and rows["high"] <= 1


def test_samples_of_one_cluster_count_together() -> None:
    values = {f"{user}{n}": 0.1 * user + 0.01 * n for user in range(8) for n in range(2)}
    alone = rows_of([scored(name, {"overall": value}) for name, value in values.items()])
    together = rows_of(
        [scored(name, {"overall": value}, cluster=name[0]) for name, value in values.items()]
    )
    assert together["overall"] == pytest.approx(alone["overall"])
    assert together["stderr"] > 1.3 * alone["stderr"]


def test_a_group_is_reported_beside_others_only_and_epochs_are_averaged_in_it() -> None:
    scores = [
        scored("a", {"overall": 0.0}, intent_group="X", language="en"),
        scored("a", {"overall": 1.0}, intent_group="X", language="en"),
        scored("b", {"overall": 1.0}, intent_group="X", language="en"),
        scored("c", {"overall": 0.2}, intent_group="Y", language="en"),
        scored("d", {"overall": 0.4}, language="en"),
    ]
    rows = rows_of(scores)
    assert rows["overall intent_group=X"] == 0.75
    assert rows["overall intent_group=Y"] == 0.2
    assert not any("language" in name for name in rows)


@pytest.mark.parametrize(
    ("facts", "unseen"),
    [
        ({}, None),
        ({"turns_not_seen": 0}, None),
        ({"turns_not_seen": 2}, 1),
        ({"not_shown": {"image": 1}}, 1),
    ],
)
def test_what_was_not_seen_is_counted(facts: dict[str, Any], unseen: int | None) -> None:
    assert rows_of([scored("a", {"overall": 0.5}, facts)]).get("not all seen") == unseen


# --- logs ---


def log_of(*samples: EvalSample, run: str = "run") -> EvalLog:
    described: Any = SimpleNamespace(eval_id=run)
    return EvalLog.model_construct(samples=list(samples), eval=described)


def sample(
    name: str, *scores: dict[str, Any], epoch: int = 1, uuid: str | None = None, **metadata: Any
) -> EvalSample:
    """A sample with scores; `value` and metadata of each."""
    made = {}
    for place, facts in enumerate(scores):
        suffix = f"-{place}" if place else ""
        made[f"samer{suffix}"] = Score(value=facts.pop("value", 0.5), metadata=facts)
    return EvalSample(
        id=name, epoch=epoch, input="", target="", scores=made, metadata=metadata, uuid=uuid
    )


def test_dimensions_are_averaged_over_epochs_and_shared_among_evaluated_answers() -> None:
    log = log_of(
        sample("a", {"value": {"overall": 0.2, "Style": 0.4, "Depth": NAN}}),
        sample("a", {"value": {"overall": 0.4, "Style": 0.8, "Depth": 0.6}}, epoch=2),
        sample("b", {"value": {"overall": 0.9, "Style": 0.2, "Depth": NAN}}),
        sample("c", {"value": {"overall": NAN, "Style": NAN, "Depth": 0.1}}),
        sample("d", {"value": {"overall": 0.1}}, {"value": {"overall": 0.3, "Style": True}}),
    )
    found = read_dimensions(log)
    # Overall: a 0.3, b 0.9, d 0.3 by its last score. Style: a 0.6, b 0.2.
    assert found["overall"].mean.value == pytest.approx(0.5)
    assert found["Style"].mean.value == pytest.approx(0.4)
    assert found["Style"].selected == 3 / 4
    assert (found["Depth"].mean.value, found["Depth"].selected) == (0.6, 1 / 4)
    assert list(found) == ["overall", "Style", "Depth"]
    assert read_dimensions(log_of()) == {}


def weighed(**weights: Any) -> dict[str, Any]:
    return {"weights": weights, "samer": {"model": "m", "engine": "vllm"}}


def test_a_scenario_comes_before_an_intent_and_a_group() -> None:
    log = log_of(
        sample("a", weighed(Style=1.0), scenario="s", intent="i", group="g"),
        sample("b", weighed(Style=1.0), intent="i", group="g"),
        sample("c", weighed(Style=1.0), group="g"),
        sample("d", weighed(Style=1.0), scenario=""),
    )
    assert [one.scenario for one in read_weights([log])] == ["all", "g", "i", "s"]


def test_copies_of_a_sample_count_once_but_epochs_and_runs_do_not() -> None:
    copies = [log_of(sample("a", weighed(Style=1.0), uuid="u"), run=run) for run in "xy"]
    assert [one.responses for one in read_weights(copies)] == [1]
    epochs = log_of(*(sample("a", weighed(Style=1.0), epoch=n) for n in (1, 2)))
    for one in epochs.samples or []:
        one.uuid = None
    runs = [epochs, log_of(*(epochs.samples or []), run="other")]
    assert [one.responses for one in read_weights(runs)] == [4]


def test_weights_that_are_no_numbers_are_left_out_and_absent_ones_count_as_0() -> None:
    log = log_of(
        sample("a", weighed(Style=0.5, Depth=0.5)),
        sample("b", weighed(Style=0.5, Logic=0.5)),
        sample("c", weighed(Style=True)),
        sample("d", weighed(Style="much")),
        sample("e", {"weights": {}}),
        sample("f", {"weights": [{"Style": 1.0, "Vivid": 0.0}, {}, "no"], "samer": {"model": "m"}}),
    )
    [found] = read_weights([log])
    # Style: (0.5 + 0.5 + 1) / 3; Vivid never had any.
    assert found.responses == 3
    assert found.weights == pytest.approx({"Style": 2 / 3, "Depth": 1 / 6, "Logic": 1 / 6})
    assert list(found.weights) == ["Style", "Depth", "Logic"]
    assert found.samer == {"model": "m"}


def annotation(name: str, **facts: Any) -> EvalSample:
    made = Score(value=1.0, metadata=facts)
    return EvalSample(id=name, epoch=1, input="", target="", scores={"annotated_pair": made})


def test_annotations_are_counted_and_of_two_the_first_is_kept() -> None:
    record = {"prompt": "p", "response_a": "x", "response_b": "y"}
    done = {"annotated": True}
    log = log_of(
        annotation("a", **done, kept=True, label="a", agrees=True, record={**record, "id": "a"}),
        annotation("b", **done, kept=False, label="b", agrees=False, record={**record, "id": "b"}),
        annotation("c", **done, kept=True, label="", agrees=None, record={**record, "id": "c"}),
        annotation("d", annotated=False, kept=False, label="a", failures=["x"]),
        sample("e", weighed(Style=1.0)),
    )
    again = log_of(annotation("a", **done, kept=True, label="a", agrees=False, record=None))
    found = read_annotations([log, again])
    assert [one.id for one in found.kept] == ["a", "c"]
    assert (found.pairs, found.annotated, found.labelled, found.agreeing) == (4, 3, 2, 1)


# --- bulk scoring ---


@pytest.mark.parametrize(
    ("failures", "scored_rows", "mean"),
    [({}, 4, 0.5), ({"error": 1, "too_long": 2}, 1, 2.0), ({"error": 4}, 0, NAN)],
)
def test_a_mean_is_over_the_rows_with_a_score(
    failures: dict[str, int], scored_rows: int, mean: float
) -> None:
    report = BulkReport(4, 0, failures, 2.0, 0, 0, 0)
    assert report.scored == scored_rows
    assert report.mean_overall == pytest.approx(mean, nan_ok=True)


@pytest.mark.parametrize(
    ("row", "read"),
    [
        ('{"id": 0, "query": "q", "response": "r"}', ("0", "q", "r")),
        ('{"id": "", "query": "q", "response": "r"}', ("", "q", "r")),
        ('{"question": "c", "prompt": "b", "query": "a", "answer": "s", "response": "r"}',
         ("1", "a", "r")),
        ('{"question": "c", "prompt": "b", "answer": "s"}', ("1", "b", "s")),
        ('{"question": "c", "answer": ""}', ("1", "c", "")),
    ],
)  # fmt: skip
def test_a_row_has_an_id_a_query_and_a_response(
    tmp_path: Path, row: str, read: tuple[str, str, str]
) -> None:
    path = tmp_path / "rows.JSONL"
    path.write_text(row, encoding="utf-8")
    [found] = read_rows(path)
    assert (found.id, found.item.query, found.item.response) == read
    assert list(read_rows(path, 1)) == []


@pytest.mark.parametrize("wrong", ["true", "null", "[]", "1.5"])
def test_an_id_is_a_text_or_a_whole_number(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'\n{{"id": {wrong}, "query": "q", "response": "r"}}', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        check_rows(path)
    assert tells(str(caught.value), f"{path} ... 2 ... id")


def test_a_row_of_the_table_has_each_number_in_its_column() -> None:
    item = BulkRow("x", QueryResponse("q", "r"))
    outputs = raw({"Style": math.log(3), "Depth": -math.log(3)}, {"Style": 1.0, "Clarity": 1.0})
    found = judged(Scored(outputs, shortened=7))
    row = result_of(item, found)
    assert list(row) == columns_of()
    assert (row["id"], row["failure"], row["shortened"]) == ("x", None, 7)
    assert row["no_response"] is False and row["empty_selection"] is False
    assert row["selected"] == [name for name in DIMENSIONS if name in ("Style", "Clarity")]
    assert (row["score_style"], row["score_depth"], row["weight_style"]) == (0.75, 0.25, 0.5)
    assert (row["weight_depth"], row["overall"]) == (0, 0.625)
    failed = result_of(item, EngineFailure("too_long", "no room"))
    assert list(failed) == columns_of()
    assert failed.pop("failure") == "too_long: no room" and failed.pop("id") == "x"
    assert set(failed.values()) == {None}


FACTS = {"input": "abc", "rows": 3, "model": "m", "fingerprint": "f", "probe": [3.0, 4.0]}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, None),
        ({"probe": [3.0, 4.099]}, None),  # 0.1 is allowed of a length of 5
        ({"probe": [3.0, 4.101]}, "another model at m ... numbers"),
        ({"probe": [3.0, 4.0, 0.0]}, "another model at m"),
        ({"model": "other", "fingerprint": "g"}, "another model at other ... files"),
        ({"fingerprint": "g", "probe": [9.0, 9.0]}, "another model at m ... files ... numbers"),
        ({"input": "xyz"}, "another input"),
        ({"more": 1}, "another more"),
        ({"rows": None}, "another rows"),
    ],
)
def test_what_results_were_made_from_is_compared(changes: dict[str, Any], told: str | None) -> None:
    found = difference(FACTS, {**FACTS, **changes})
    assert found == "" if told is None else tells(found, told)


def test_results_come_in_the_order_of_rows_whatever_the_order_of_adding(tmp_path: Path) -> None:
    with PartialResults(tmp_path / "p.sqlite", {}) as partial:
        partial.add({1: {"n": 1}, 0: None, 2: {"n": 2}})
        partial.add({0: {"n": 0}, 3: {"n": 3}})
        assert [result["n"] for result in partial] == [0, 1, 2, 3]
        assert (partial.done, partial.begun, partial.gaps) == (4, 4, set())


@pytest.mark.parametrize("name", ["x.parquet", "x.JSONL", "x.Parquet", "x.csv", "x", "x.json"])
def test_endings_of_files_are_read_in_any_case(name: str) -> None:
    if name.lower().endswith((".parquet", ".jsonl")):
        check_output(Path(name))
        return
    with pytest.raises(InputError) as caught:
        check_output(Path(name))
    assert name in str(caught.value)


# --- many files ---


ROW = '{"query": "q", "response": "r"}'


def test_files_of_rows_are_found_in_order_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.JSONL", ".c.jsonl", "_d.jsonl", "e.txt"):
        (tmp_path / name).write_text(ROW, encoding="utf-8")
    out = tmp_path / "out"
    found = find_partitions(tmp_path, out)
    assert [(source.name, target.name) for source, target in found] == [
        ("a.JSONL", "a.parquet"),
        ("b.jsonl", "b.parquet"),
    ]
    assert {target.parent for _, target in found} == {out}
    assert find_partitions(tmp_path / "b*", out) == found[1:]
    out.touch()
    for folder in (out, tmp_path):
        with pytest.raises(InputError) as caught:
            find_partitions(tmp_path, folder)
        assert str(folder) in str(caught.value)
    (tmp_path / "more").mkdir()
    with pytest.raises(InputError):
        find_partitions(tmp_path / "more", tmp_path / "results")


def nodes(*counts: int, dead: int = 0) -> Any:
    """A stand-in for Ray with nodes of so many CPUs and GPUs."""
    given = [{"Alive": True, "Resources": {"CPU": count, "GPU": count}} for count in counts]
    given += [{"Alive": False, "Resources": {"CPU": dead, "GPU": dead}}]
    given += [{"Alive": True, "Resources": {}}]
    return SimpleNamespace(nodes=lambda: given)


@pytest.mark.parametrize(
    ("ray", "kind", "workers", "share"),
    [
        (nodes(8), "CPU", 1, {"num_cpus": 8}),
        (nodes(8), "CPU", 2, {"num_cpus": 4}),
        (nodes(8), "CPU", 3, {"num_cpus": 2}),
        (nodes(8, 4), "CPU", 3, {"num_cpus": 4}),
        (nodes(8), "CPU", 8, {"num_cpus": 1}),
        (nodes(8, dead=8), "CPU", 9, None),
        (nodes(2, 2), "GPU", 4, {"num_gpus": 1}),
        (nodes(2, 2), "GPU", 1, {"num_gpus": 1}),
        (nodes(2, 2, dead=2), "GPU", 5, None),
    ],
)
def test_workers_share_what_ray_has(
    ray: Any, kind: str, workers: int, share: dict[str, int] | None
) -> None:
    if share is not None:
        assert _partitions._share(ray, kind, workers) == share
        return
    with pytest.raises(InputError) as caught:
        _partitions._share(ray, kind, workers)
    assert tells(str(caught.value), f"{workers} workers ... {kind}")


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"model": "http://h"}, "server"),
        ({"model": "m", "engine_options": {"tensor_parallel_size": 2}}, "tensor_parallel_size"),
    ],
)
def test_what_workers_cannot_run_is_refused(given: dict[str, Any], refused: str) -> None:
    choice = SamerOptions.model_validate(given)
    assert settled(choice, on_ray=False) == (choice, {}, {})
    with pytest.raises(InputError) as caught:
        settled(choice, on_ray=True)
    assert tells(str(caught.value), refused)


@pytest.mark.parametrize(
    ("address", "workers", "ray"),
    [
        (None, 1, None),
        ("local", 1, (None, 1)),
        ("local", 3, (None, 3)),
        ("auto", 2, ("auto", 2)),
        ("ray://h:1", 1, ("ray://h:1", 1)),
    ],
)
def test_where_workers_run(address: str | None, workers: int, ray: Any) -> None:
    assert _ray(address, workers) == ray
    with pytest.raises(InputError):
        _ray(None, 2)


# --- what is printed ---


EPOCHS = (
    EpochRecord(1, "predictor", 0.12345, 0.5),
    EpochRecord(2, "joint", 1.0, 0.5, held_out=Accuracy(0.75, NAN, 4, 0)),
    EpochRecord(3, "joint", 1.0, 0.5, held_out=Accuracy(NAN, 0.0, 0, 4)),
)


def test_lines_of_scoring_and_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    reports = {
        "all is well": BulkReport(12_345, 0, {}, 6_172.5, 0, 0, 0),
        "all that is special": BulkReport(
            2_000, 1_500, {"error": 3, "timeout": 2}, 1995, 4, 1_001, 2
        ),
        "nothing": BulkReport(2, 0, {"error": 2}, 0, 0, 0, 0),
        "no row": BulkReport(0, 0, {}, 0, 0, 0, 0),
    }
    parts = []
    for name, report in reports.items():
        _print_summary(report, Path("out.jsonl"))
        parts += [f"# {name}", capsys.readouterr().err]
    parts += ["# epochs", *map(_epoch_line, EPOCHS), ""]
    for shares in ((0.8, 0.7), (0.7, 0.8), (0.7, 0.7), (NAN, NAN)):
        _say_equal_weights(*shares)
        parts += [f"# held out {shares}", capsys.readouterr().out]
    check_golden("samer_lines", "\n".join(parts))


@pytest.mark.parametrize(
    ("given", "read"),
    [("2000,5500", (2000, 5500)), (" 0 , 7 ", (0, 7)), ("5", None), ("a,5", None), ("-1,5", None),
     ("1,2,3", None), ("1,", None), ("1.5,2", None)],
)  # fmt: skip
def test_two_whole_numbers_are_least_and_most(given: str, read: tuple[int, int] | None) -> None:
    if read:
        assert _least_and_most(given) == read
        return
    with pytest.raises(InputError) as caught:
        _least_and_most(given)
    assert given in str(caught.value)
