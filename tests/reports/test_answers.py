"""Tests of `urs_inspect.reports.answers`."""

import math
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalConfig, EvalError, EvalLog, EvalResults, read_eval_log
from inspect_ai.model import GenerateConfig, ModelConfig, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.reports.answer_rows import model_of, ranking_of, ranking_of_log
from tests.reports.judged_logs import JUDGE, SHA, answered, judgement, tokens, unscored, write_judged
from tests.tasks.scripted import Script, one_case, output, record, run
from urs_inspect._util import InputError
from urs_inspect.cli.reports import table
from urs_inspect.reports.answers import answer_row, read_answers, run_command
from urs_inspect.reports.blocks import blocks_of
from urs_inspect.scorers import intent_judge, judge_outcome
from urs_inspect.tasks import urs


def header(path: Path, **spec: Any) -> EvalLog:
    return read_eval_log(write_judged(path / "a.eval", answered("x", judgement(1.0)), **spec), header_only=True)


def test_a_plain_run(tmp_path: Path) -> None:
    log = header(tmp_path, task_args_passed={"dataset": "sample"})
    assert run_command(log, [JUDGE]) == (
        "inspect eval urs_inspect/urs --model p/model --model-role grader=p/judge -T dataset=sample"
    )


def test_everything_that_was_set(tmp_path: Path) -> None:
    log = header(
        tmp_path,
        roles={"grader": ["p/a", "p/b"]},
        task_args_passed={
            "intents": ["leisure", "api"],
            "lenient": True,
            "judge_temperature": None,
            "dataset": "a b.csv",
        },
        model_args={"max_tokens": 5},
        solver="own",
        solver_args_passed={"n": 2},
        config=EvalConfig(epochs=3, limit=(10, 20), sample_id=["x", "y"]),
        model_generate_config=GenerateConfig(temperature=0.5, max_connections=9, reasoning_effort="high"),
    )
    words = shlex.split(run_command(log, ["p/a", "p/b"]))
    for flag, value in (
        ("--model-role", "grader=[p/a, p/b]"),
        ("-T", "intents=leisure,api"),
        ("-T", "lenient=true"),
        ("-T", "judge_temperature=null"),
        ("-T", "dataset=a b.csv"),
        ("-M", "max_tokens=5"),
        ("--solver", "own"),
        ("-S", "n=2"),
        ("--epochs", "3"),
        ("--limit", "10-20"),
        ("--sample-id", "x,y"),
        ("--temperature", "0.5"),
        ("--reasoning-effort", "high"),
    ):
        assert any(words[place : place + 2] == [flag, value] for place in range(len(words))), (flag, value)
    assert "--max-connections" not in words


def test_no_secret_is_shown(tmp_path: Path) -> None:
    log = header(
        tmp_path,
        model_args={"api_key": "hush", "extra": {"auth": "hush", "fine": 1}},
        task_args_passed={"password": "hush", "dataset": "https://me:hush@host/x.csv"},
        model_base_url="https://me:hush@host/v1",
        model_generate_config=GenerateConfig(extra_headers={"Authorization": "hush"}),
        model_roles={"grader": ModelConfig(model=JUDGE, args={"api_key": "hush"}, base_url="http://u:hush@h/")},
    )
    command = run_command(log, [JUDGE])
    assert "hush" not in command
    assert "https://host/v1" in command
    assert '"fine": 1' in command
    assert '"base_url": "http://h/"' in command


def test_judged_later(tmp_path: Path) -> None:
    log = header(tmp_path)
    first, second = run_command(log, ["p/other", "p/third"]).split(" && ")
    assert first == run_command(log, [JUDGE])
    assert second == (
        "inspect score LOG --scorer urs_inspect/intent_judge --model-role 'grader=[p/other, p/third]' --action append "
        "--overwrite"
    )


def test_a_model_that_judged_itself_needs_no_second_command(tmp_path: Path) -> None:
    assert run_command(header(tmp_path, roles={}), ["p/model"]) == "inspect eval urs_inspect/urs --model p/model"


_FACTS = {"log", "model", "base_model", "task", "dataset", "dataset_sha256", "references", "task_version"}
_QUESTION = {"question", "epoch", "intent", "group", "language", "country"}
_SCORE = {"final", "criterion/clarity", "criterion/creativity", "outcome", "cut_off", "error", "answer_length"}
_JUDGE = {
    "judges",
    "judge_finals",
    "earlier_finals",
    "earlier_judge_finals",
    "judge_temperatures",
    "self_judged",
    "judge_language",
    "prompt_sha256",
    "rubric",
}
_TOOK = {"input_tokens", "output_tokens", "judge_input_tokens", "judge_output_tokens", "cost", "judge_cost", "seconds"}
COLUMNS = _FACTS | _QUESTION | _SCORE | _JUDGE | _TOOK


def rows(*logs: str) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in read_answers(logs).table.to_dict("records")]


def test_a_row_holds_what_the_log_says(tmp_path: Path) -> None:
    usage = {"p/model": tokens(100, 20, 0.5), JUDGE: tokens(900, 80, 0.25)}
    one = answered(
        "x", judgement(7.0), model_usage=usage, role_usage={"grader": usage[JUDGE]}, metadata={"country": " Chile "}
    )
    log = write_judged(tmp_path / "a.eval", one)
    [row] = rows(log)
    assert set(row) == COLUMNS
    assert {
        "log": log,
        "model": "p/model",
        "question": "x",
        "epoch": 1,
        "group": "Leisure",
        "country": "Chile",
        "final": 7.0,
        "criterion/clarity": 7.0,
        "outcome": "judged",
        "judges": JUDGE,
        "judge_finals": {JUDGE: 7.0},
        "earlier_finals": (),
        "dataset_sha256": SHA,
        "references": "",
        "task_version": "1-A",
        "answer_length": 10.0,
        "input_tokens": 100.0,
        "output_tokens": 20.0,
        "judge_input_tokens": 900.0,
        "judge_output_tokens": 80.0,
        "cost": 0.5,
        "judge_cost": 0.25,
        "seconds": 2.0,
        "error": "",
    }.items() <= row.items()
    assert math.isnan(row["criterion/creativity"])


@pytest.mark.parametrize(
    ("outcome", "facts", "expected"),
    [
        ("answer_cut_off", {}, True),  # as in logs of earlier versions
        ("no_response_cut_off", {}, True),
        ("partial_panel", {}, False),
        ("partial_panel", {"answer_stop_reason": "max_tokens"}, True),
        ("unscored_refusal", {"answer_stop_reason": "model_length"}, True),
        ("judged", {"answer_stop_reason": "stop"}, False),
    ],
)
def test_an_answer_that_was_cut_off_is_one_whatever_the_judging_led_to(
    outcome: str, facts: dict[str, Any], expected: bool, tmp_path: Path
) -> None:
    log = write_judged(tmp_path / "a.eval", answered("x", judgement(7.0, outcome=outcome, **facts)))
    [row] = rows(log)
    assert row["cut_off"] is expected and row["outcome"] == outcome


def test_cut_answers_are_counted_where_a_judge_of_a_panel_or_all_could_not_be_read(tmp_path: Path) -> None:
    readable, unreadable = Script(record(7)), Script("no scores")
    logs = []
    for name, panel in (("one", [readable, unreadable]), ("none", [unreadable])):
        task = Task(
            dataset=MemoryDataset([one_case()]),
            solver=cut("Watch"),
            scorer=[intent_judge(attempts=1), judge_outcome()],
            name=name,
        )
        grader = [script.model(f"judge{number}") for number, script in enumerate(panel)]
        logs.append(run(task, tmp_path / "logs" / name, model=f"mockllm/{name}", grader=grader))
    rankings = [ranking_of_log(log) for log in logs]
    assert [(model.cut_off, model.outcomes) for model in map(model_of, rankings)] == [
        (1, {"partial_panel": 1}),
        (1, {"unscored_unparseable": 1}),
    ]
    assert ["--max-tokens" in " ".join(ranking.notes) for ranking in rankings] == [True, True]
    found = CliRunner().invoke(table, [str(tmp_path / "logs" / "none")])
    assert "cut off" in found.output


@solver
def cut(answer: str) -> Solver:
    """Answer every sample with a text that ends at the token limit."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = output(answer, "max_tokens")
        return state

    return solve


def test_a_real_run_reads_as_its_result_does(tmp_path: Path) -> None:
    [header] = inspect_eval(
        urs(dataset="sample"),
        model="urs_simulation/weak",
        model_roles={"grader": "urs_simulation/judge"},
        log_dir=str(tmp_path),
        display="none",
        log_realtime=False,
        epochs=2,
        limit=9,
    )
    answers = read_answers([str(tmp_path)])
    log = read_eval_log(header.location)
    assert len(answers.table) == 18
    assert answers.left_out == ()
    [metrics] = [score.metrics for score in (log.results or EvalResults()).scores if score.name == "intent_judge"]
    means = answers.table.groupby("question").mean(numeric_only=True)
    for name in ("final", "criterion/clarity"):
        assert means[name].mean() == pytest.approx(metrics[name.removeprefix("criterion/")].value)
    lengths = {(str(s.id), s.epoch): len(s.output.completion) for s in log.samples or []}
    table = answers.table.set_index(["question", "epoch"])
    assert table["answer_length"].to_dict() == lengths
    assert log.stats.model_usage["urs_simulation/weak"].output_tokens == table["output_tokens"].sum()
    assert log.stats.role_usage["grader"].input_tokens == table["judge_input_tokens"].sum()
    [run] = answers.runs
    assert run.judges == ("urs_simulation/judge",)
    assert run.prompts == ranking_of(answers).conditions.prompts
    assert run.samples == 18


def test_answers_without_a_score_have_a_row_and_no_score(tmp_path: Path) -> None:
    failed = EvalError(message="gone", traceback="", traceback_ansi="")
    log = write_judged(
        tmp_path / "a.eval",
        answered("a", judgement(9.0), error=failed),
        answered("b", unscored()),
        answered("c", judgement(1.0, outcome="no_response", panel={})),
        answered("d"),
        answered("e", judgement(3.0)),
    )
    found = {row["question"]: (row["final"], row["outcome"], row["error"]) for row in rows(log)}
    assert [found[name][1] for name in "abcde"] == ["error", "unscored_refusal", "no_response", "not_judged", "judged"]
    assert [math.isnan(found[name][0]) for name in "abcde"] == [True, True, False, True, False]
    assert found["a"][2] == "gone"
    table = read_answers([log]).table.set_index("question")
    assert math.isnan(float(table["criterion/clarity"]["a"]))
    assert table["judge_output_tokens"]["c"] == 0.0  # no judge was asked


def test_a_run_of_empty_answers_stands_beside_those_with_the_same_judge(tmp_path: Path) -> None:
    empty = judgement(1.0, outcome="no_response", panel={}, judges_not_asked=[JUDGE])
    logs = [
        write_judged(tmp_path / "a.eval", answered("x", judgement(7.0))),
        write_judged(tmp_path / "b.eval", answered("x", empty, model_usage={"p/b": tokens(1, 0)}), model="p/b"),
    ]
    table = read_answers(logs).table
    assert list(table["judges"]) == [JUDGE, JUDGE]
    assert [block.models for block in blocks_of(table)] == [("p/b", "p/model")]
    [tokens_of_judge] = table.loc[table["model"] == "p/b", "judge_output_tokens"]
    assert tokens_of_judge == 0


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"temperature": 0.0}, "0"),  # of a log that does not know what was sent
        ({"temperature_requested": 0.7, "temperature_sent": 0.7}, "0.7"),
        ({"temperature_requested": 0.7, "temperature_sent": None}, "0.7 (not sent)"),
        ({"temperature_requested": 0.7, "temperature_sent": "unknown"}, "0.7"),
        ({"temperature_requested": None, "temperature_sent": None}, "default"),
    ],
)
def test_temperatures_of_a_judge_are_those_that_the_log_holds(
    facts: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    one = judgement(7.0, judges=[{"judge": JUDGE, "final": 7.0, **facts}])
    [row] = rows(write_judged(tmp_path / "a.eval", answered("x", one)))
    assert row["judge_temperatures"] == shown


def test_the_last_judgement_counts_and_its_tokens_are_not_known(tmp_path: Path) -> None:
    usage = {"p/model": tokens(1, 2), JUDGE: tokens(3, 4)}
    twice = answered(
        "x",
        judgement(2.0),
        judgement(8.0, "p/second"),
        model_usage=usage,
        role_usage={"grader": usage[JUDGE]},
    )
    log = write_judged(tmp_path / "a.eval", twice)
    [row] = rows(log)
    assert (row["final"], row["judges"], row["input_tokens"]) == (8.0, "p/second", 1.0)
    assert math.isnan(row["judge_input_tokens"])
    assert "&& inspect score LOG --scorer urs_inspect/intent_judge" in read_answers([log]).runs[0].command


def test_earlier_judgements_by_the_same_judge_are_kept(tmp_path: Path) -> None:
    log = write_judged(
        tmp_path / "a.eval",
        answered("again", judgement(6.0), judgement(7.0), judgement(8.0)),
        answered("other judge", judgement(6.0, "p/other"), judgement(8.0)),
        answered("other prompt", judgement(6.0, prompt="f" * 64), judgement(8.0)),
        answered("failed", unscored(), judgement(8.0)),
        answered("once", judgement(8.0)),
    )
    found = {row["question"]: row["earlier_finals"] for row in rows(log)}
    assert found == {"again": (6.0, 7.0), "other judge": (), "other prompt": (), "failed": (), "once": ()}


def test_a_model_that_judged_itself_is_told_apart_from_its_judgements(tmp_path: Path) -> None:
    output = ModelOutput.from_content("p/model", "the answer")
    output.usage = tokens(100, 20)
    alone = answered(
        "x",
        judgement(7.0, "p/model", self_judged=True),
        model_usage={"p/model": tokens(1000, 100)},
        output=output,
    )
    [row] = rows(write_judged(tmp_path / "a.eval", alone, roles={}))
    assert (row["input_tokens"], row["judge_input_tokens"], row["judge_output_tokens"]) == (100.0, 900.0, 80.0)
    in_role = answered(
        "x",
        judgement(7.0, "p/model", self_judged=True),
        model_usage={"p/model": tokens(1000, 100)},
        role_usage={"grader": tokens(900, 80)},
    )
    [row] = rows(write_judged(tmp_path / "b.eval", in_role, roles={"grader": ["p/model"]}))
    assert (row["input_tokens"], row["judge_input_tokens"], row["judge_output_tokens"]) == (100.0, 900.0, 80.0)


def test_a_price_that_is_not_known_makes_no_cost(tmp_path: Path) -> None:
    panel: dict[str, float | None] = {"p/a": 4.0, "p/b": 6.0}
    usage = {"p/model": tokens(1, 1), "p/a": tokens(2, 2, 0.5), "p/b": tokens(3, 3)}
    one = answered(
        "x", judgement(5.0, panel=panel), model_usage=usage, role_usage={"grader": usage["p/a"] + usage["p/b"]}
    )
    [row] = rows(write_judged(tmp_path / "a.eval", one, roles={"grader": ["p/a", "p/b"]}))
    assert row["judges"] == "p/a, p/b"
    assert row["judge_input_tokens"] == 5.0
    assert math.isnan(row["cost"])
    assert math.isnan(row["judge_cost"])


def test_what_a_summary_lacks_is_read_from_the_sample(tmp_path: Path) -> None:
    score = judgement(5.0, panel={f"p/{'long' * 100}-{n}": 5.0 for n in range(4)})
    assert score.metadata is not None
    del score.metadata["judge_finals"], score.metadata["answer_length"]
    one = answered("x", score, output=ModelOutput.from_content("p/model", "z" * 3000))
    [row] = rows(write_judged(tmp_path / "a.eval", one))
    assert row["answer_length"] == 3000.0
    assert len(row["judge_finals"]) == 4


def test_the_later_of_two_runs_counts_and_the_other_is_named(tmp_path: Path) -> None:
    early = write_judged(tmp_path / "early.eval", answered("x", judgement(1.0)), answered("y", judgement(1.0)))
    late = write_judged(tmp_path / "late.eval", answered("x", judgement(2.0)), created="2026-02-01T00:00:00+00:00")
    for order in ([early, late], [late, early], [str(tmp_path)]):
        answers = read_answers(order)
        assert answers.table["final"].tolist() == [2.0]
        [sentence] = answers.left_out
        assert sentence == (
            "early.eval of p/model was left out: late.eval is a later run under the same conditions "
            "(1 question; 2 in the one left out)."
        )


def test_a_trial_after_a_whole_run_does_not_replace_it(tmp_path: Path) -> None:
    whole = write_judged(tmp_path / "whole.eval", *[answered(str(n), judgement(1.0)) for n in range(5)])
    trial = write_judged(
        tmp_path / "trial.eval",
        *[answered(str(n), judgement(9.0)) for n in range(2)],
        created="2026-02-01T00:00:00+00:00",
    )
    for order in ([whole, trial], [trial, whole]):
        answers = read_answers(order)
        assert answers.table["final"].tolist() == [1.0] * 5
        assert answers.left_out == (
            "trial.eval of p/model was left out: it is a later run under the same conditions, but of only 2 questions; "
            "whole.eval, which counts, has 5.",
        )


def test_later_parts_replace_a_run_if_they_are_half_of_it_together(tmp_path: Path) -> None:
    write_judged(tmp_path / "whole.eval", *[answered(str(n), judgement(1.0)) for n in range(6)])
    for name, questions in (("first", (0, 1)), ("second", (2, 3))):
        samples = [answered(str(n), judgement(9.0)) for n in questions]
        write_judged(tmp_path / f"{name}.eval", *samples, created="2026-02-01T00:00:00+00:00")
    answers = read_answers([str(tmp_path)])
    assert answers.table["final"].tolist() == [9.0] * 4
    assert answers.left_out == (
        "whole.eval of p/model was left out: first.eval, second.eval are later runs under the same conditions "
        "(4 questions; 6 in the one left out).",
    )


def test_a_copy_of_a_log_counts_once(tmp_path: Path) -> None:
    first = write_judged(tmp_path / "a.eval", answered("x", judgement(1.0)), eval_id="same")
    second = tmp_path / "copies" / "a.eval"
    second.parent.mkdir()
    second.write_bytes(Path(first).read_bytes())
    answers = read_answers([first, str(second), str(tmp_path)])
    assert len(answers.table) == 1
    # No more folders than it takes: the page goes to others.
    assert answers.left_out == (f"copies/a.eval was left out: it is a copy of {tmp_path.name}/a.eval.",)


@pytest.mark.parametrize(
    "other",
    [
        {"roles": {"grader": ["p/other"]}},
        {"metadata": {"dataset_sha256": "c" * 64}},
        {"metadata": {"references": {"source": "p/ref", "sha256": "d" * 64}}},
        {"task_version": "2-A"},
        {"model_generate_config": GenerateConfig(temperature=0.7)},
    ],
)
def test_runs_under_other_conditions_are_kept_both(tmp_path: Path, other: dict[str, Any]) -> None:
    judge = "p/other" if "roles" in other else JUDGE
    write_judged(tmp_path / "a.eval", answered("x", judgement(1.0)))
    write_judged(tmp_path / "b.eval", answered("x", judgement(2.0, judge)), **other)
    answers = read_answers([str(tmp_path)])
    assert sorted(answers.table["final"]) == [1.0, 2.0]
    assert answers.left_out == ()


def test_other_interfaces_of_a_task_and_settings_of_speed_are_no_other_conditions(tmp_path: Path) -> None:
    write_judged(tmp_path / "a.eval", answered("x", judgement(1.0)))
    write_judged(
        tmp_path / "b.eval",
        answered("x", judgement(2.0)),
        task_version="1-B",
        model_generate_config=GenerateConfig(max_connections=9),
        created="2026-02-01T00:00:00+00:00",
    )
    assert read_answers([str(tmp_path)]).table["final"].tolist() == [2.0]


def test_parts_of_a_run_belong_together(tmp_path: Path) -> None:
    write_judged(tmp_path / "a.eval", answered("x", judgement(1.0)))
    write_judged(tmp_path / "b.eval", answered("y", judgement(2.0)))
    table = read_answers([str(tmp_path)]).table
    assert sorted(table["question"]) == ["x", "y"]
    assert set(table["model"]) == {"p/model"}


def test_settings_tell_the_logs_of_one_model_apart(tmp_path: Path) -> None:
    for effort in ("low", "high"):
        config = GenerateConfig(reasoning_effort=effort)
        write_judged(tmp_path / f"{effort}.eval", answered("x", judgement(1.0)), model_generate_config=config)
    table = read_answers([str(tmp_path)]).table
    assert sorted(table["model"]) == ["p/model (reasoning_effort=high)", "p/model (reasoning_effort=low)"]
    assert set(table["base_model"]) == {"p/model"}


def test_what_cannot_be_used_is_said(tmp_path: Path) -> None:
    good = write_judged(tmp_path / "good.eval", answered("x", judgement(1.0)))
    write_judged(tmp_path / "half.eval", answered("x", judgement(1.0)), status="error", task_id="t1")
    write_judged(tmp_path / "retried.eval", answered("x", judgement(1.0)), status="cancelled", task_id="t2")
    write_judged(tmp_path / "again.eval", answered("z", judgement(1.0)), task_id="t2")
    write_judged(tmp_path / "probe.eval", answered("x", judgement(1.0)), task="urs_inspect/urs_probe")
    write_judged(tmp_path / "unjudged.eval", answered("x"), task="theirs/own")
    (tmp_path / "damaged.eval").write_bytes(b"no zip")
    (tmp_path / "empty").mkdir()
    answers = read_answers([str(tmp_path), str(tmp_path / "empty"), good])
    assert sorted(answers.table["question"]) == ["x", "z"]
    said = "\n".join(answers.left_out)
    assert "half.eval of p/model was left out: its status is 'error'" in said
    assert "finish it with `inspect eval-retry`" in said
    assert "retried.eval was left out: retried by again.eval" in said
    assert "1 log was left out, not being of urs_inspect/urs: 1 of urs_inspect/urs_probe" in said
    assert "unjudged.eval was left out: none of its 1 samples was scored by intent_judge" in said
    assert "damaged.eval was left out" in said
    assert "empty has no logs" in said
    assert len(answers.left_out) == 6


def test_answers_of_a_minority_of_judges_or_prompts_are_left_out(tmp_path: Path) -> None:
    log = write_judged(
        tmp_path / "a.eval",
        answered("a", judgement(1.0)),
        answered("b", judgement(2.0)),
        answered("c", judgement(3.0, "p/other")),
        answered("d", judgement(4.0, prompt="f" * 64)),
    )
    answers = read_answers([log])
    assert answers.table["question"].tolist() == ["a", "b"]
    first, second = answers.left_out
    assert "1 of 4 answers of a.eval were left out: they were judged by p/other, the others by p/judge" in first
    assert "1 of 3 answers of a.eval were left out: they were judged with another prompt" in second


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    half = write_judged(tmp_path / "logs" / "half.eval", answered("x", judgement(1.0)), status="started")
    with pytest.raises(InputError, match=r"(?s)no finished log with answers.*half\.eval.*status is 'started'"):
        read_answers([half])
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="none has no logs"):
        read_answers([str(tmp_path / "none")])
    with pytest.raises(InputError, match="no log 'missing'"):
        read_answers(["missing"])


def test_numbers_have_the_types_of_numbers(tmp_path: Path) -> None:
    table = read_answers([write_judged(tmp_path / "a.eval", answered("x", judgement(7.0)))]).table
    numeric = [name for name in table.columns if pd.api.types.is_numeric_dtype(table[name])]
    assert {"final", "cost", "judge_cost", "seconds", "answer_length", "criterion/clarity"} <= set(numeric)


def test_the_table_joins_the_dataframes_of_the_harness_as_documented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[2] / "docs" / "extending.md"
    section = page.read_text(encoding="utf-8").partition("## A table of all answers")[2]
    code = section.partition("```python")[2].partition("```")[0]
    samples = [answered(name, judgement(7.0), epoch=epoch) for name in ("x", "y") for epoch in (1, 2)]
    write_judged(tmp_path / "logs" / "urs" / "a.eval", *samples, config=EvalConfig(epochs=2), eval_id="one")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(code, found)
    assert len(found["both"]) == len(found["answers"]) == 4
    asked = zip(found["both"]["question"], found["both"]["epoch"], found["both"]["input"], strict=True)
    assert sorted((question, epoch, text.split()[-1]) for question, epoch, text in asked) == [
        (name, epoch, name) for name in ("x", "y") for epoch in (1, 2)
    ]


def test_halves_of_characters_do_not_stop_a_table(tmp_path: Path) -> None:
    path = write_judged(tmp_path / "a.eval", answered("x", judgement(7.0)))
    log = read_eval_log(path)
    assert log.samples
    half = log.samples[0].summary().model_copy(update={"error": "gone \ud83d", "id": "x \ud83d"})
    row = answer_row(half, log)
    assert (row["question"], row["error"]) == ("x ?", "gone ?")
    pd.DataFrame([row]).to_json()
