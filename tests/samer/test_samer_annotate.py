"""`samer_annotate` with scripted judges, and what is collected from its log."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage

from tests.reports.json_files import write_rows
from tests.tasks.scripted import Reply, Script, metric_values, run, samples_of
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._annotate_task import samer_annotate
from urs_inspect.samer._pairs import read_training
from urs_inspect.samer._training_commands import annotate

CHITCHAT = tuple(load_taxonomy().scenarios["chitchat"].dimensions)


def judge(messages: list[ChatMessage]) -> Reply:
    """Names chitchat, and prefers the response with more exclamation marks, wherever it is shown;
    Style by place.
    """
    if "Name the kind" in messages[-1].text:
        return json.dumps({"reasons": "talk", "scenario": "chitchat"})
    first, second = (
        re.search(rf"<response_{n}>\n(.*?)\n</response_{n}>", messages[-1].text, re.DOTALL)  # type: ignore[union-attr]
        .group(1)
        .count("!")
        for n in (1, 2)
    )
    better = "1" if first > second else "2" if second > first else "tie"
    names = re.findall(r"^- (.+?): ", messages[0].text, re.MULTILINE)
    verdicts = {
        name: {"comparison": "x", "winner": "1" if name == "Style" else better}
        for name in [*names, "Overall"]
    }
    return json.dumps(verdicts)


def row(number: int, winner: str | None, **given: Any) -> dict[str, Any]:
    texts = {"prompt": f"Hello {number}?", "response_a": "Hi!", "response_b": "Go away."}
    return {"id": f"p{number}", **texts, "winner": winner, **given}


def annotated(
    tmp_path: Path, rows: list[dict[str, Any]], script: Script, **options: Any
) -> EvalLog:
    model = options.pop("model", "none/none")
    task = samer_annotate(str(write_rows(tmp_path / "in.jsonl", *rows)), **options)
    log = run(task, tmp_path / "logs", model=model, grader=script.model())
    assert log.status == "success", log.error
    return log


def values(log: EvalLog) -> dict[str, Any]:
    return {
        str(sample.id): (sample.scores or {})["annotated_pair"].value for sample in samples_of(log)
    }


def test_pairs_that_agree_are_kept_and_written(tmp_path: Path):
    rows = [row(1, "a"), row(2, "b"), row(3, None), row(4, "a", scenario="roleplay")]
    log = annotated(tmp_path, rows, Script(judge))
    found = values(log)
    assert (found["p1"]["agrees"], found["p1"]["kept"]) == (1, 1)
    assert (found["p2"]["agrees"], found["p2"]["kept"]) == (0, 0)
    assert found["p3"]["agrees"] != found["p3"]["agrees"] and found["p3"]["kept"] == 1
    metrics = metric_values(log, "annotated_pair")
    # Of the three pairs with a label, two agree.
    assert metrics["share kept"] == pytest.approx(2 / 3)
    assert (metrics["pairs"], metrics["annotated"], metrics["kept"], metrics["unlabelled"]) == (
        4,
        4,
        3,
        1,
    )
    assert (metrics["kept scenario=chitchat"], metrics["kept scenario=roleplay"]) == (2, 1)
    assert metrics["kept"] == 3

    out = tmp_path / "train" / "out.jsonl"
    result = CliRunner().invoke(
        annotate, [str(tmp_path / "logs"), str(out), "--per-scenario", "2,5"]
    )
    assert result.exit_code == 0, result.output
    assert "66.7%" in result.output and "Fewer than 2 pairs: roleplay." in result.output
    pairs = {pair.id: pair for pair in read_training(out, load_taxonomy())}
    assert set(pairs) == {"p1", "p3", "p4"}
    assert pairs["p1"].winner == pairs["p3"].winner == "a" and pairs["p1"].scenario == "chitchat"
    # Style went with the place, so that the two orders disagree; all else with the response.
    assert pairs["p1"].dimensions == {name: "tie" if name == "Style" else "a" for name in CHITCHAT}


def test_replies_without_the_key_are_counted_and_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    log = annotated(tmp_path, [row(1, "a"), row(2, "b")], Script(judge))
    assert metric_values(log, "annotated_pair")["unkeyed"] == 4  # both orders of two pairs
    assert [line.message for line in caplog.records if tells(line.message, "the key ... 4 of 4")]


def test_the_scenario_is_asked_for_only_where_it_is_missing(tmp_path: Path):
    script = Script(judge)
    annotated(tmp_path, [row(1, "a", scenario="chitchat"), row(2, "a")], script, orders="ab")
    assert len(script.seen) == 1 + 2


def test_a_scenario_that_turns_out_otherwise_is_not_kept(tmp_path: Path):
    log = annotated(tmp_path, [row(1, "a", scenario="roleplay")], Script(judge), scenario="verify")
    assert values(log)["p1"] == {"kept": 0, "agrees": 1}
    assert metric_values(log, "annotated_pair")["other scenario"] == 1


def test_a_classifier_names_scenarios_in_the_judges_place(tmp_path: Path):
    grader, classifier = Script(judge), Script('{"scenario": "roleplay"}')
    task = samer_annotate(str(write_rows(tmp_path / "in.jsonl", row(1, "a"))))
    roles = {"classifier": classifier.model("names")}
    log = run(task, tmp_path / "logs", model="none/none", grader=grader.model(), roles=roles)
    [sample] = samples_of(log)
    assert (sample.scores or {})["annotated_pair"].metadata["record"]["scenario"] == "roleplay"  # type: ignore[index]
    assert (len(classifier.seen), len(grader.seen)) == (1, 2)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        ("Nonsense.", "scenario_unparseable"),
        (RuntimeError("down"), "scenario_call_failed"),
        ('{"scenario": "party"}', "scenario_out_of_range"),
    ],
)
def test_a_failed_call_ends_neither_the_run_nor_becomes_a_score(
    reply: Reply, failure: str, tmp_path: Path
):
    log = annotated(tmp_path, [row(1, "a")], Script(reply))
    found = values(log)["p1"]
    assert found["kept"] != found["kept"] and found["agrees"] != found["agrees"]
    assert metric_values(log, "annotated_pair")[f"failures {failure}"] == 1


def test_a_judge_that_answers_in_one_order_only_leaves_the_pair_out(tmp_path: Path):
    first = json.dumps(
        {name: {"comparison": "x", "winner": "1"} for name in [*CHITCHAT, "Overall"]}
    )
    log = annotated(tmp_path, [row(1, "a", scenario="chitchat")], Script([first, "No."]))
    assert metric_values(log, "annotated_pair")["kept"] == 0
    assert metric_values(log, "annotated_pair")["annotated"] == 0


@pytest.mark.parametrize("reply", ["Oh hello!!", " "])
def test_a_second_response_is_written_where_there_is_one_only(reply: str, tmp_path: Path):
    talk = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hi!"}]
    writer = Script(reply)
    rows = [{"conversation": talk}]
    log = annotated(
        tmp_path, rows, Script(judge), source="lmsys_chat", model=writer.model("writer")
    )
    assert len(writer.seen) == 1
    if reply == " ":
        assert metric_values(log, "annotated_pair")["failures no_second_response"] == 1
        return
    [sample] = samples_of(log)
    record = (sample.scores or {})["annotated_pair"].metadata["record"]  # type: ignore[index]
    assert {record["response_a"], record["response_b"]} == {"Hi!", "Oh hello!!"}
    assert record[f"response_{record['winner']}"] == "Oh hello!!"
    assert record["source"] == "lmsys_chat"


def test_a_record_of_another_source_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="shp2: record 1: 'history'"):
        samer_annotate(str(write_rows(tmp_path / "in.jsonl", row(1, "a"))), source="shp2")


def test_records_that_cannot_be_used_are_counted_and_none_left_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    whole = {"prompt": "Hi?", "response_1": "a", "response_2": "b", "preference_strength": 1}
    blank = {**whole, "prompt": " "}
    file = str(write_rows(tmp_path / "in.jsonl", blank, whole, blank))
    task = samer_annotate(file, source="helpsteer2")
    assert len(task.dataset) == 1 and (task.metadata or {})["skipped"] == 2
    said = [line.message for line in caplog.records if "skipped" in line.message]
    assert [tells(line, "in.jsonl: record ... 'prompt' is blank") for line in said] == [True, True]
    file = str(write_rows(tmp_path / "none.jsonl", blank, blank, blank))
    with pytest.raises(InputError, match=r"none\.jsonl: no usable .*'helpsteer2'.*3 skipped"):
        samer_annotate(file, source="helpsteer2")


def test_a_file_that_is_there_is_kept(tmp_path: Path):
    log = annotated(tmp_path, [row(1, "a")], Script(judge))
    out = tmp_path / "[viz]" / "out.jsonl"
    command = [log.location, str(out), "--per-scenario", "0,5500"]
    result = CliRunner().invoke(annotate, command, env={"COLUMNS": "300"})
    assert result.exit_code == 0 and f"1 pairs written to {out}" in result.output
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1
    out.write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(annotate, command)
    assert result.exit_code == 1 and tells(result.output, "already there; ... another file")
    assert out.read_text(encoding="utf-8") == "mine"


def test_a_log_of_something_else_is_refused(tmp_path: Path):
    (tmp_path / "logs").mkdir()
    result = CliRunner().invoke(annotate, [str(tmp_path / "logs"), str(tmp_path / "out.jsonl")])
    assert result.exit_code != 0 and tells(result.output, "no log of samer_annotate")
