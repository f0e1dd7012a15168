"""Tests of `urs_inspect.reports.addition`."""

import csv
import io
import json
import math
from pathlib import Path

import pytest
from inspect_ai.log import EvalConfig
from inspect_ai.model import GenerateConfig

from tests.reports.addition.logs import chains, write_addition
from tests.reports.intent.judged_logs import answered, judgement, write_judged
from urs_inspect._util import InputError
from urs_inspect.reports.addition import AdditionResult, read_addition, sections_of, write_files
from urs_inspect.stats.agreement import wilson_interval


def only(folder: Path) -> AdditionResult:
    [table] = read_addition([str(folder)]).tables
    [model] = table.models
    return model


def test_table_7_of_one_model(tmp_path: Path) -> None:
    # 80% and more: 2, 4, 10. Accuracy over 2 to 9: (5 + 3 + 4) / 15; over 2 to 10: 16 / 20.
    write_addition(tmp_path / "a.eval", {2: "+++++", 3: "+++-?", 4: "++++0", 10: "++++-"})
    found = only(tmp_path)
    assert (found.longest, found.unbroken) == (10, 2)
    assert found.accuracy == wilson_interval(12 / 15, 15)
    assert found.accuracy_to_ten == wilson_interval(16 / 20, 20)
    assert found.at_longest == wilson_interval(4 / 5, 5)
    assert {length: one.value for length, one in found.by_length.items()} == {2: 1.0, 3: 0.6, 4: 0.8, 10: 0.8}
    assert found.outcomes == {"right": 16, "wrong": 2, "no_number": 1, "no_response": 1}
    assert found.unscored == 0


def test_unscored_answers_count_for_nothing_and_are_counted(tmp_path: Path) -> None:
    write_addition(tmp_path / "a.eval", {2: "++-!!"})
    found = only(tmp_path)
    assert found.accuracy == wilson_interval(2 / 3, 3)
    assert (found.unscored, found.outcomes["unscored_no_answer"]) == (2, 2)


def test_epochs_do_not_make_chains_more(tmp_path: Path) -> None:
    samples = chains(2, "++") + chains(2, "+-", epoch=2)
    write_addition(tmp_path / "a.eval", samples, config=EvalConfig(epochs=2))
    found = only(tmp_path)
    assert found.accuracy == wilson_interval(0.75, 2)  # (1 + 1/2) / 2
    assert (found.epochs, sum(found.outcomes.values())) == (2, 4)


def test_the_last_score_counts(tmp_path: Path) -> None:
    [sample] = chains(2, "-")
    [again] = chains(2, "+")
    assert sample.scores is not None and again.scores is not None
    sample.scores["exact_sum-1"] = again.scores["exact_sum"]
    write_addition(tmp_path / "a.eval", [sample])
    assert only(tmp_path).accuracy.value == 1


def test_without_short_chains_there_is_no_headline(tmp_path: Path) -> None:
    write_addition(tmp_path / "a.eval", {12: "+-"})
    found = only(tmp_path)
    assert math.isnan(found.accuracy.value) and (found.longest, found.unbroken) == (0, 0)


def test_the_longest_stands_first_and_other_chains_stand_apart(tmp_path: Path) -> None:
    write_addition(tmp_path / "1.eval", {2: "++", 3: "--"}, model="p/short")
    write_addition(tmp_path / "2.eval", {2: "+-", 3: "++"}, model="p/long")
    write_addition(tmp_path / "3.eval", {2: "++"}, model="p/few")
    zh = [*chains(2, "++", language="zh"), *chains(3, "--", language="zh")]
    write_addition(tmp_path / "4.eval", zh, model="p/zh")
    first, *others = read_addition([str(tmp_path)]).tables
    assert [one.model for one in first.models] == ["p/long", "p/short"]
    assert {one.models[0].model: one.apart_because for one in others} == {
        "p/zh": ("Asked in another language: zh, not en.",),
        "p/few": ("Other chains: 2, not 4.",),
    }


def test_runs_of_one_model_are_told_apart_by_their_settings_or_the_later_counts(tmp_path: Path) -> None:
    late = {"created": "2026-02-01T00:00:00+00:00"}
    write_addition(tmp_path / "1.eval", {2: "--"})
    write_addition(tmp_path / "2.eval", {2: "++"}, **late)
    write_addition(tmp_path / "3.eval", {2: "+-"}, model_generate_config=GenerateConfig(temperature=1.0))
    found = read_addition([str(tmp_path)])
    assert [(one.model, one.accuracy.value) for one in found.tables[0].models] == [
        ("p/model (no temperature)", 1.0),
        ("p/model (temperature=1.0)", 0.5),
    ]
    [said] = found.left_out
    assert said.startswith("1.eval of p/model was left out: 2.eval is a later run")


def test_what_is_left_out_is_said_with_counts(tmp_path: Path) -> None:
    write_addition(tmp_path / "good.eval", {2: "+"})
    write_addition(tmp_path / "none.eval", {2: "!!"}, model="p/none")
    write_addition(tmp_path / "half.eval", {2: "+"}, model="p/half", status="error")
    write_judged(tmp_path / "urs.eval", answered("x", judgement(1.0)))
    (tmp_path / "broken.eval").write_bytes(b"no log")
    found = read_addition([str(tmp_path)])
    assert [one.model for one in found.tables[0].models] == ["p/model"]
    said = "\n".join(found.left_out)
    assert "none.eval of p/none was left out: none of its 2 answers is scored (unscored_no_answer 2)." in said
    assert "half.eval of p/half was left out: its status is 'error'" in said
    assert "1 log was left out, not being of urs_inspect/urs_addition: 1 of urs_inspect/urs" in said
    assert "broken.eval was left out" in said


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no logs"):
        read_addition([str(tmp_path)])
    write_addition(tmp_path / "half.eval", {2: "+"}, status="error")
    with pytest.raises(InputError, match="its status is 'error'"):
        read_addition([str(tmp_path)])


def said(folder: Path) -> str:
    sections = sections_of(read_addition([str(folder)]))
    return "\n".join(line for section in sections for line in (section.title, *section.lines))


def cells(folder: Path, number: int) -> list[tuple[str, ...]]:
    return list(sections_of(read_addition([str(folder)]))[number].tables[0].rows)


def test_a_row_is_one_of_table_7(tmp_path: Path) -> None:
    write_addition(tmp_path / "a.eval", {2: "+++++", 3: "+++++", 4: "++++-", 5: "+----"})
    # 15 of 20: Wilson's interval from 0.531 to 0.888; 4 of 5: from 0.376 to 0.964.
    assert cells(tmp_path, 0) == [("p/model", "4", "80% (38–96)", "4", "75.0%", "53–89", "20")]
    assert cells(tmp_path, 1) == [("p/model", "2–3: 100%, 4: 80%, 5: 20%")]
    assert cells(tmp_path, 2) == [("p/model", "20", "15", "5", "0", "0")]
    text = said(tmp_path)
    assert "Published in the paper with its own chains; not comparable row by row" in text
    assert "80% right of 5 chains has a 95% interval of 38–96%." in text


def test_unscored_answers_and_epochs_are_said(tmp_path: Path) -> None:
    samples = chains(12, "+!") + chains(12, "-!", epoch=2)
    write_addition(tmp_path / "a.eval", samples, config=EvalConfig(epochs=2))
    text = said(tmp_path)
    assert "p/model: 2 of 4 answers not scored and not counted (no answer 2)." in text
    assert "p/model: each chain was asked in 2 epochs." in text
    assert "Without chains of 2 to 9 numbers there is no accuracy" in text
    assert cells(tmp_path, 0) == [("p/model", "–", "–", "–", "–", "–", "0")]
    assert cells(tmp_path, 2) == [("p/model", "4", "1", "1", "0", "0", "2")]


def test_numbers_are_whole_and_unknown_ones_are_empty(tmp_path: Path) -> None:
    write_addition(tmp_path / "a.eval", {12: "+-"}, model="urs_simulation/a|b")
    files = write_files(read_addition([str(tmp_path)]), tmp_path / "out")
    assert [file.name for file in files] == ["addition.csv", "addition_lengths.csv", "addition.md", "addition.json"]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    [row] = csv.DictReader(io.StringIO(texts["addition.csv"]))
    assert (row["longest"], row["accuracy"], row["right"], row["wrong"]) == ("0", "", "1", "1")
    [length] = csv.DictReader(io.StringIO(texts["addition_lengths.csv"]))
    assert (length["summands"], length["accuracy"], length["chains"]) == ("12", "0.5", "2")
    found = json.loads(texts["addition.json"])
    assert found["tables"][0]["models"][0]["accuracy"]["value"] is None
    assert "urs\\_simulation/a\\|b" in texts["addition.md"] and "SIMULATION" in texts["addition.md"]
