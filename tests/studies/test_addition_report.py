"""Tests of `urs_inspect.studies._addition_report`."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalConfig, EvalError
from inspect_ai.model import GenerateConfig

from tests.reports.golden_files import check_golden
from tests.reports.judged_logs import answered, judgement, write_judged
from tests.reports.task_logs import chains, write_addition
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.logs import _files as files
from urs_inspect.reports.layout._tables import Report
from urs_inspect.stats import Estimate
from urs_inspect.stats._agreement import wilson_interval
from urs_inspect.studies._addition_report import report_addition


def report(folder: Path) -> Report:
    return report_addition([str(folder)])


def only(folder: Path) -> dict[str, Any]:
    [model] = report(folder).tables()["addition"].to_dict("records")
    return {str(name): value for name, value in model.items()}


def interval(row: dict[str, Any], prefix: str = "") -> Estimate:
    """Mean and interval of a row of the table."""
    mean = row[prefix.removesuffix("_") or "accuracy"]
    chains = row[f"{prefix}chains"]
    return Estimate(mean, row[f"{prefix}low"], row[f"{prefix}high"], chains, chains, rounds=0)


def test_table_7_of_one_model(tmp_path: Path) -> None:
    # 80% and more: 2, 4, 10. Accuracy over 2 to 9: (5 + 3 + 4) / 15; over 2 to 10: 16 / 20.
    write_addition(tmp_path / "a.eval", {2: "+++++", 3: "+++-?", 4: "++++0", 10: "++++-"})
    row = only(tmp_path)
    assert (row["longest"], row["unbroken"]) == (10, 2)
    assert interval(row) == wilson_interval(12 / 15, 15)
    assert interval(row, "accuracy_to_ten_") == wilson_interval(16 / 20, 20)
    assert interval(row, "at_longest_") == wilson_interval(4 / 5, 5)
    lengths = report(tmp_path).tables()["addition_lengths"]
    assert dict(zip(lengths["summands"], lengths["accuracy"], strict=True)) == {
        2: 1.0,
        3: 0.6,
        4: 0.8,
        10: 0.8,
    }
    assert [row[name] for name in ("right", "wrong", "no_number", "no_response", "unscored")] == [
        16,
        2,
        1,
        1,
        0,
    ]


def test_unscored_answers_are_not_in_the_accuracy_and_are_counted(tmp_path: Path) -> None:
    write_addition(tmp_path / "a.eval", {2: "++-!!"})
    row = only(tmp_path)
    assert interval(row) == wilson_interval(2 / 3, 3)
    assert (row["unscored"], row["unscored_no_answer"]) == (2, 2)


def test_epochs_do_not_make_chains_more(tmp_path: Path) -> None:
    samples = chains(2, "++") + chains(2, "+-", epoch=2)
    write_addition(tmp_path / "a.eval", samples, config=EvalConfig(epochs=2))
    row = only(tmp_path)
    assert interval(row) == wilson_interval(0.75, 2)  # (1 + 1/2) / 2
    assert (row["epochs"], row["right"] + row["wrong"]) == (2, 4)


def test_the_last_score_counts(tmp_path: Path) -> None:
    [sample], [again] = chains(2, "-"), chains(2, "+")
    assert sample.scores is not None and again.scores is not None
    sample.scores["exact_sum-1"] = again.scores["exact_sum"]
    write_addition(tmp_path / "a.eval", [sample])
    assert only(tmp_path)["accuracy"] == 1


def test_without_short_chains_there_is_no_headline(tmp_path: Path) -> None:
    write_addition(tmp_path / "a.eval", {12: "+-"})
    row = only(tmp_path)
    assert math.isnan(row["accuracy"]) and (row["longest"], row["unbroken"]) == (0, 0)
    made = report(tmp_path)
    names = [file.name for file in made.write(tmp_path / "out")]
    assert names == ["addition.md", "addition.csv", "addition_lengths.csv", "addition.json"]
    found = made.as_dict()
    assert found["tables"]["addition"][0]["accuracy"] is None
    assert found["blocks"][0]["conditions"]["chains"] == 2


def test_the_longest_is_first_and_other_chains_have_another_table(tmp_path: Path) -> None:
    write_addition(tmp_path / "1.eval", {2: "++", 3: "--"}, model="p/short")
    write_addition(tmp_path / "2.eval", {2: "+-", 3: "++"}, model="p/long")
    write_addition(tmp_path / "3.eval", {2: "++"}, model="p/few")
    zh = [*chains(2, "++", language="zh"), *chains(3, "--", language="zh")]
    write_addition(tmp_path / "4.eval", zh, model="p/zh")
    made = report(tmp_path)
    table = made.tables()["addition"]
    assert list(zip(table["table"], table["model"], strict=True)) == [
        *[(1, "p/long"), (1, "p/short"), (2, "p/zh"), (3, "p/few")]
    ]
    notes = [
        note
        for section in made.sections
        for note in section.notes
        if note.startswith("Not compared")
    ]
    assert [note.partition(": ")[2] for note in notes] == [
        Telling("Asked ... language: zh, not en"),
        "Other chains: 2, not 4.",
    ]


def test_runs_of_one_model_are_named_by_their_settings_or_the_later_counts(tmp_path: Path) -> None:
    write_addition(tmp_path / "1.eval", {2: "--"})
    write_addition(tmp_path / "2.eval", {2: "++"}, created="2026-02-01T00:00:00+00:00")
    write_addition(
        tmp_path / "3.eval", {2: "+-"}, model_generate_config=GenerateConfig(temperature=1.0)
    )
    made = report(tmp_path)
    table = made.tables()["addition"]
    assert dict(zip(table["model"], table["accuracy"], strict=True)) == {
        "p/model (no temperature)": 1.0,
        "p/model (temperature=1.0)": 0.5,
    }
    [sentence] = made.facts["skipped"]
    assert tells(sentence, "1.eval of p/model ... 2.eval")


def test_what_is_skipped_is_reported_with_counts(tmp_path: Path) -> None:
    write_addition(tmp_path / "good.eval", {2: "+"})
    write_addition(tmp_path / "none.eval", {2: "!!"}, model="p/none")
    write_addition(tmp_path / "half.eval", {2: "+"}, model="p/half", status="error")
    write_judged(tmp_path / "urs.eval", answered("x", judgement(1.0)))
    (tmp_path / "broken.eval").write_bytes(b"no log")
    with pytest.raises(InputError, match=r"broken\.eval was left out"):
        report_addition([str(tmp_path / "broken.eval")])
    made = report(tmp_path)
    assert list(made.tables()["addition"]["model"]) == ["p/model"]
    skipped = "\n".join(made.facts["skipped"])
    for part in (
        "none.eval of p/none was left out: none of its 2 answers is scored (unscored_no_answer 2).",
        "half.eval of p/half was left out: its status is 'error'",
        "1 log was left out, not being of urs_inspect/urs_addition: 1 of urs_inspect/urs",
        "broken.eval was left out",
    ):
        assert part in skipped


def test_the_report_to_read(tmp_path: Path) -> None:
    # 15 of 20: Wilson's interval from 0.531 to 0.888; 4 of 5: from 0.376 to 0.964.
    write_addition(tmp_path / "a.eval", {2: "+++++", 3: "+++++", 4: "++++-", 5: "+----"})
    samples = chains(12, "+!") + chains(12, "-!", epoch=2)
    write_addition(
        tmp_path / "b.eval", samples, model="urs_simulation/b|c", config=EvalConfig(epochs=2)
    )
    check_golden("addition", report(tmp_path).markdown())


def test_a_later_run_replaces_only_one_that_was_asked_the_same(tmp_path: Path) -> None:
    later = "2026-02-01T00:00:00+00:00"
    write_addition(tmp_path / "en.eval", {2: "+-"})
    write_addition(tmp_path / "zh.eval", chains(2, "++", language="zh"), created=later)
    write_addition(tmp_path / "version.eval", {2: "--"}, task_version="9-A", created=later)
    made = report(tmp_path)
    assert sorted(made.tables()["addition"]["accuracy"]) == [0.0, 0.5, 1.0]
    assert made.facts["skipped"] == []


@pytest.mark.parametrize(
    ("first", "second", "tables"),
    [
        ({"task_version": "2-A"}, {"task_version": "2-B"}, 1),  # the letter is of arguments
        ({"task_version": "2-A"}, {"task_version": "3-A"}, 2),
        ({}, {"metadata": {"prompt_version": "addition 1", "prompt_sha256": "d" * 64}}, 2),
    ],
)
def test_who_was_asked_the_same_is_in_one_table(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], tables: int
) -> None:
    write_addition(tmp_path / "1.eval", {2: "+-"}, model="p/1", **first)
    write_addition(tmp_path / "2.eval", {2: "+-"}, model="p/2", **second)
    assert report(tmp_path).tables()["addition"]["table"].nunique() == tables


def test_chains_of_other_sums_have_another_table(tmp_path: Path) -> None:
    other = chains(2, "++")
    other[0].target = "7"
    write_addition(tmp_path / "1.eval", {2: "++"}, model="p/1")
    write_addition(tmp_path / "2.eval", other, model="p/2")
    assert report(tmp_path).tables()["addition"]["table"].nunique() == 2


def test_models_are_ranked_by_the_longest_then_by_accuracy_then_by_name(tmp_path: Path) -> None:
    signs: dict[str, Mapping[int, str]] = {
        "unbroken": {2: "++", 3: "++", 4: "--", 5: "--"},
        "longest": {2: "--", 3: "--", 4: "++", 5: "--"},
        "accurate": {2: "--", 3: "++", 4: "++", 5: "--"},
        "again": {2: "++", 3: "--", 4: "++", 5: "--"},
        "nothing": {2: "--", 3: "--", 4: "--", 5: "+-"},
    }
    for name, given in signs.items():
        write_addition(tmp_path / f"{name}.eval", given, model=f"p/{name}")
    ranked = report(tmp_path).tables()["addition"]
    assert list(ranked["model"]) == [
        "p/accurate",
        "p/again",
        "p/longest",
        "p/unbroken",
        "p/nothing",
    ]
    assert list(ranked["longest"]) == [4, 4, 4, 3, 0]
    assert list(ranked["unbroken"]) == [0, 2, 0, 3, 0]


def test_one_simulated_model_makes_the_report_one_of_a_simulation(tmp_path: Path) -> None:
    write_addition(tmp_path / "1.eval", {2: "++"}, model="p/1")
    assert not report(tmp_path).facts["simulated"]
    write_addition(tmp_path / "2.eval", {2: "++"}, model="urs_simulation/2")
    assert report(tmp_path).facts["simulated"]


def test_the_report_of_all_that_is_special(tmp_path: Path) -> None:
    # Max L is 7, but unbroken only 2; 3 and 4 have the same share, as has 7, behind a gap.
    lengths = {2: "+++++", 3: "+++--", 4: "+++--", 7: "++++-"}
    uneven = [one for pair in lengths.items() for one in chains(*pair)]
    broken, unjudged = chains(12, "++")
    broken.error = EvalError(message="boom", traceback="", traceback_ansi="")
    unjudged.scores = {}
    write_addition(tmp_path / "1.eval", [*uneven, broken, unjudged], model="p/uneven")
    ends = {2: "+??00", 3: "++!!!", 4: "-----", 7: "+++++", 12: "++"}
    write_addition(tmp_path / "2.eval", ends, model="p/ends")
    # Two tables of one model each: the one with more chains is first, whatever its name.
    write_addition(tmp_path / "3.eval", {12: "+-"}, model="p/a")
    mixed = [*chains(2, "+", language="zh"), *chains(3, "+-+")]
    write_addition(tmp_path / "4.eval", mixed, model="p/z", config=EvalConfig(epochs=None))
    made = report_addition([str(tmp_path)], command="cmd")
    check_golden("addition_special", made.markdown())
    table = made.tables()["addition"].set_index("model")
    assert list(table["unscored"]) == [3, 2, 0, 0]
    assert list(table["epochs"]) == [1, 1, 1, 1]
    assert [block["table"] for block in made.facts["blocks"]] == [1, 2, 3]
    assert [block["logs"] for block in made.facts["blocks"]] == [
        ["1.eval", "2.eval"],
        ["4.eval"],
        ["3.eval"],
    ]


def test_a_log_whose_samples_cannot_be_read_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in "ab":
        write_addition(tmp_path / f"{model}.eval", {2: "+"}, model=f"p/{model}")
    name = "read_eval_log_sample_summaries"
    read = getattr(files, name)

    def damaged(place: str) -> Any:
        if "b.eval" in place:
            raise EOFError("its end is missing")
        return read(place)

    monkeypatch.setattr(files, name, damaged)
    made = report(tmp_path)
    assert list(made.tables()["addition"]["model"]) == ["p/a"]
    [skipped] = [section for section in made.sections if section.title == "Skipped"]
    assert tells(" ".join(skipped.notes), "b.eval ... its end is missing")


def test_the_table_of_most_models_comes_first_and_then_that_of_most_chains(tmp_path: Path) -> None:
    for name, signs in (
        ("few", {2: "+"}),
        ("many", {2: "+++"}),
        ("x", {2: "++"}),
        ("y", {2: "++"}),
    ):
        write_addition(tmp_path / f"{name}.eval", signs, model=f"p/{name}")
    table = report(tmp_path).tables()["addition"]
    assert list(zip(table["table"], table["model"], strict=True)) == [
        (1, "p/x"),
        (1, "p/y"),
        (2, "p/many"),
        (3, "p/few"),
    ]
