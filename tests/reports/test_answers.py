"""Tests of `urs_inspect.reports.numbers._answers`."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import (
    EvalConfig,
    EvalError,
    EvalResults,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.scorer import Score

from tests.reports.answer_rows import ranking_of, row
from tests.reports.judged_logs import JUDGE, answered, judgement, tokens, unscored, write_judged
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.logs._scores import judgements, scored_answers
from urs_inspect.reports.numbers._answers import (
    JudgedLog,
    _answer_digest,
    _references,
    answer_rows,
    read_answers,
    read_judged_log,
)
from urs_inspect.reports.numbers._conditions import blocks_of, digest_of
from urs_inspect.tasks import urs


def test_a_language_of_an_own_rubric_has_its_name_from_the_log(tmp_path: Path) -> None:
    sample = answered("x", judgement(7.0), metadata={"language": "ja"})
    log = write_judged(tmp_path / "a.eval", sample, metadata={"languages": {"ja": "Japanese"}})
    assert ranking_of(read_answers([log])).title("ja") == "Japanese"
    assert ranking_of(read_answers([write_judged(tmp_path / "b.eval", sample)])).title("ja") == "ja"


def rows(*logs: str) -> list[dict[str, Any]]:
    return [
        {str(key): value for key, value in row.items()}
        for row in read_answers(logs).table.to_dict("records")
    ]


def test_a_row_holds_what_the_log_says(tmp_path: Path) -> None:
    usage = {"p/model": tokens(100, 20, 0.5), JUDGE: tokens(900, 80, 0.25)}
    one = answered(
        "x",
        judgement(7.0),
        model_usage=usage,
        role_usage={"grader": usage[JUDGE]},
        metadata={"country": " Chile ", "cluster": "ann"},
    )
    log = write_judged(tmp_path / "a.eval", one)
    [found] = rows(log)
    found["criterion/factuality"] = found.pop(
        "criterion/creativity"
    )  # neither is a criterion of this intent
    used = {
        "input_tokens": 100.0,
        "output_tokens": 20.0,
        "judge_input_tokens": 900.0,
        "judge_output_tokens": 80.0,
    }
    used |= {"cost": 0.5, "judge_cost": 0.25, "answer_length": 10.0}
    used["answer_digest"] = found["answer_digest"]
    expected = row(
        "p/model", "x", 7.0, log=log, country="Chile", cluster="ann", prompt_sha256="e" * 64, **used
    )
    assert (
        repr(found) == repr({name: expected[name] for name in found})
        and found.keys() == expected.keys()
    )


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


def test_what_the_judge_could_not_see_is_in_the_table(tmp_path: Path) -> None:
    score = judgement(7.0, not_shown={"image": 2, "tool_result": 1})
    [one, other] = rows(
        write_judged(tmp_path / "a.eval", answered("x", score), answered("y", judgement(7.0)))
    )
    assert (one["not_shown"], other["not_shown"]) == ("image 2, tool result 1", "")


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
    [metrics] = [
        score.metrics
        for score in (log.results or EvalResults()).scores
        if score.name == "intent_judge"
    ]
    means = answers.table.groupby("question").mean(numeric_only=True)
    assert means["final"].mean() == pytest.approx(metrics["final"].value)
    lengths = {(str(s.id), s.epoch): len(s.output.completion) for s in log.samples or []}
    table = answers.table.set_index(["question", "epoch"])
    assert table["answer_length"].to_dict() == lengths
    assert (
        log.stats.model_usage["urs_simulation/weak"].output_tokens == table["output_tokens"].sum()
    )
    assert log.stats.role_usage["grader"].input_tokens == table["judge_input_tokens"].sum()
    [run] = answers.runs.values()
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
    table = read_answers([log]).table.set_index("question").loc[list("abcde")]
    assert list(table["outcome"]) == [
        "error",
        "unscored_refusal",
        "no_response",
        "not_judged",
        "judged",
    ]
    assert (
        list(table["final"].isna())
        == list(table["criterion/clarity"].isna())
        == [True, True, False, True, False]
    )
    assert table["error"]["a"] == "gone"
    numbers = ["final", "cost", "judge_cost", "seconds", "answer_length", "criterion/clarity"]
    assert all(pd.api.types.is_numeric_dtype(table[name]) for name in numbers)
    assert table["judge_output_tokens"]["c"] == 0.0  # no judge was asked


def test_a_run_of_empty_answers_stands_beside_those_with_the_same_judge(tmp_path: Path) -> None:
    empty = judgement(1.0, outcome="no_response", panel={}, judges_not_asked=[JUDGE])
    logs = [
        write_judged(tmp_path / "a.eval", answered("x", judgement(7.0))),
        write_judged(
            tmp_path / "b.eval",
            answered("x", empty, model_usage={"p/b": tokens(1, 0)}),
            model="p/b",
        ),
    ]
    table = read_answers(logs).table
    assert list(table["judges"]) == [JUDGE, JUDGE]
    assert [block.models for block in blocks_of(table)] == [("p/b", "p/model")]
    [tokens_of_judge] = table.loc[table["model"] == "p/b", "judge_output_tokens"]
    assert tokens_of_judge == 0


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
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
    assert (
        "&& inspect score LOG --scorer urs_inspect/intent_judge"
        in next(iter(read_answers([log]).runs.values())).command
    )


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
    assert found == {
        "again": (6.0, 7.0),
        "other judge": (),
        "other prompt": (),
        "failed": (),
        "once": (),
    }


@pytest.mark.parametrize("role", [False, True])
def test_a_model_that_judged_itself_is_told_apart_from_its_judgements(
    tmp_path: Path, role: bool
) -> None:
    output = ModelOutput.from_content("p/model", "the answer")
    output.usage = tokens(100, 20)
    own = judgement(7.0, "p/model", self_judged=True)
    used = {"role_usage": {"grader": tokens(900, 80)}} if role else {"output": output}
    one = answered("x", own, model_usage={"p/model": tokens(1000, 100)}, **used)
    [row] = rows(
        write_judged(tmp_path / "a.eval", one, roles={"grader": ["p/model"]} if role else {})
    )
    assert (row["input_tokens"], row["judge_input_tokens"], row["judge_output_tokens"]) == (
        100.0,
        900.0,
        80.0,
    )


def test_a_price_that_is_not_known_makes_no_cost(tmp_path: Path) -> None:
    panel: dict[str, float | None] = {"p/a": 4.0, "p/b": 6.0}
    usage = {"p/model": tokens(1, 1), "p/a": tokens(2, 2, 0.5), "p/b": tokens(3, 3)}
    one = answered(
        "x",
        judgement(5.0, panel=panel),
        model_usage=usage,
        role_usage={"grader": usage["p/a"] + usage["p/b"]},
    )
    [row] = rows(write_judged(tmp_path / "a.eval", one, roles={"grader": ["p/a", "p/b"]}))
    assert row["judges"] == "p/a, p/b"
    assert row["judge_input_tokens"] == 5.0
    assert math.isnan(row["cost"])
    assert math.isnan(row["judge_cost"])


def test_what_a_summary_lacks_is_read_from_the_sample(tmp_path: Path) -> None:
    score = judgement(5.0, panel={f"p/{'long' * 100}-{n}": 5.0 for n in range(4)})
    [row] = rows(write_judged(tmp_path / "a.eval", answered("x", score)))
    assert len(row["judge_finals"]) == 4


@pytest.mark.parametrize(
    ("early", "late", "counts", "said"),
    [
        (
            "01",
            ["0"],
            [9.0],
            (
                "early.eval of p/model was left out: late0.eval is a later run under the same"
                " conditions (1 question; 2 in the one left out)."
            ),
        ),
        (
            "01234",
            ["01"],
            [1.0] * 5,
            (
                "late0.eval of p/model was left out: it is a later run under the same conditions,"
                " but of only 2 questions; early.eval, which counts, has 5."
            ),
        ),
        (
            "012345",
            ["01", "23"],
            [9.0] * 4,
            (
                "early.eval of p/model was left out: late0.eval, late1.eval are later runs under"
                " the same conditions (4 questions; 6 in the one left out)."
            ),
        ),
    ],
)
def test_the_later_of_two_runs_counts_if_it_is_half_of_the_other(
    tmp_path: Path, early: str, late: list[str], counts: list[float], said: str
) -> None:
    logs = [
        write_judged(tmp_path / "early.eval", *[answered(name, judgement(1.0)) for name in early])
    ]
    for place, names in enumerate(late):
        samples = [answered(name, judgement(9.0)) for name in names]
        logs.append(
            write_judged(
                tmp_path / f"late{place}.eval", *samples, created="2026-02-01T00:00:00+00:00"
            )
        )
    for order in (logs, logs[::-1], [str(tmp_path)]):
        answers = read_answers(order)
        assert answers.table["final"].tolist() == counts
        assert answers.left_out == (said,)


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


def test_other_interfaces_of_a_task_and_settings_of_speed_are_no_other_conditions(
    tmp_path: Path,
) -> None:
    write_judged(tmp_path / "a.eval", answered("x", judgement(1.0)))
    write_judged(
        tmp_path / "b.eval",
        answered("x", judgement(2.0)),
        task_version="1-B",
        model_generate_config=GenerateConfig(max_connections=9),
        created="2026-02-01T00:00:00+00:00",
    )
    assert read_answers([str(tmp_path)]).table["final"].tolist() == [2.0]


def test_settings_tell_the_logs_of_one_model_apart(tmp_path: Path) -> None:
    for effort in ("low", "high"):
        config = GenerateConfig(reasoning_effort=effort)
        write_judged(
            tmp_path / f"{effort}.eval", answered("x", judgement(1.0)), model_generate_config=config
        )
    table = read_answers([str(tmp_path)]).table
    assert sorted(table["model"]) == [
        "p/model (reasoning_effort=high)",
        "p/model (reasoning_effort=low)",
    ]
    assert set(table["base_model"]) == {"p/model"}
    # So does a solver of one's own; the usual one is not named.
    write_judged(tmp_path / "own" / "a.eval", answered("x", judgement(1.0)), solver="own")
    write_judged(tmp_path / "own" / "b.eval", answered("x", judgement(1.0)))
    names = read_answers([str(tmp_path / "own")]).table["model"]
    [usual] = [name for name in names if "own" not in name]
    assert "None" not in usual
    assert [name for name in names if name != usual] == ["p/model (solver=own)"]


def test_what_cannot_be_used_is_said(tmp_path: Path) -> None:
    good = write_judged(tmp_path / "good.eval", answered("x", judgement(1.0)))
    write_judged(
        tmp_path / "half.eval", answered("x", judgement(1.0)), status="error", task_id="t1"
    )
    write_judged(
        tmp_path / "probe.eval", answered("x", judgement(1.0)), task="urs_inspect/urs_probe"
    )
    write_judged(tmp_path / "unjudged.eval", answered("x"), task="theirs/own")
    answers = read_answers([str(tmp_path), good])
    assert answers.table["question"].tolist() == ["x"]
    assert len(answers.left_out) == 3
    for name, said in (
        ("half.eval", "its status is 'error'.*`inspect eval-retry`"),
        ("1 log", "not being of urs_inspect/urs: 1 of urs_inspect/urs_probe"),
        ("unjudged.eval", "none of its 1 samples was scored by intent_judge"),
    ):
        assert any(re.search(f"^{name}.*{said}", sentence) for sentence in answers.left_out)


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
    assert tells(first, "1 of 4 answers of a.eval ... p/other ... p/judge")
    assert tells(second, "1 of 3 answers of a.eval ... another prompt")


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    half = write_judged(
        tmp_path / "logs" / "half.eval", answered("x", judgement(1.0)), status="started"
    )
    with pytest.raises(InputError, match=r"(?s)no finished log.*half\.eval.*'started'"):
        read_answers([half])


def test_the_table_joins_the_dataframes_of_the_harness_as_documented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[2] / "docs" / "extending.md"
    section = page.read_text(encoding="utf-8").partition("## A table of all answers")[2]
    code = section.partition("```python")[2].partition("```")[0]
    samples = [
        answered(name, judgement(7.0), epoch=epoch) for name in ("x", "y") for epoch in (1, 2)
    ]
    write_judged(
        tmp_path / "logs" / "urs" / "a.eval", *samples, config=EvalConfig(epochs=2), eval_id="one"
    )
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(code, found)
    assert len(found["both"]) == len(found["answers"]) == 4
    asked = zip(
        found["both"]["question"], found["both"]["epoch"], found["both"]["input"], strict=True
    )
    assert sorted((question, epoch, text.split()[-1]) for question, epoch, text in asked) == [
        (name, epoch, name) for name in ("x", "y") for epoch in (1, 2)
    ]


def test_halves_of_characters_do_not_stop_a_table(tmp_path: Path) -> None:
    path = write_judged(tmp_path / "a.eval", answered("x", judgement(7.0)))
    log = read_eval_log(path)
    assert log.samples
    half = log.samples[0].summary().model_copy(update={"error": "gone \ud83d", "id": "x \ud83d"})
    [row] = answer_rows(log, scored_answers(log, [half], judgements([half])))
    assert (row["question"], row["error"]) == ("x ?", "gone ?")
    pd.DataFrame([row]).to_json()


# --- single facts of rows, logs and commands ---


@pytest.mark.parametrize(
    ("one", "length", "other", "other_length", "are_equal"),
    [
        ("the answer", 10, " the answer\n", 12, True),
        ("the answer", 10, "The answer", 10, False),
        ("x" * 1024, 1024, "x" * 1024, 1025, False),
        ("x" * 1024, 2000, "x" * 1024, 2000, True),
        ("x" * 1023, 1023, "x" * 1023, 1022, True),
    ],
)
def test_equal_answers_have_one_digest(
    one: str, length: float, other: str, other_length: float, are_equal: bool
) -> None:
    first = _answer_digest(Score(value=1.0, answer=one), length)
    second = _answer_digest(Score(value=1.0, answer=other), other_length)
    assert (first == second) == are_equal
    assert len(first) == len(second) == 16


def test_without_text_or_its_length_there_is_no_digest() -> None:
    none = (Score(value=1.0), Score(value=1.0, answer=" \n"), None)
    assert [_answer_digest(score, 5.0) for score in none] == ["", "", ""]
    assert _answer_digest(Score(value=1.0, answer="x"), math.nan) == ""


def test_rows_of_unusual_answers_by_hand(tmp_path: Path) -> None:
    gone = EvalError(message="gone", traceback="", traceback_ansi="")
    partial = judgement(
        6.0,
        outcome="partial_panel",
        panel={"p/x": 6.0, "p/y": None},
        structured=1,
        self_judged=True,
        judge_language="zh",
        prompt_version="urs 2",
        reply_counts={"p/x": {"replies": 1}},
    )
    empty = judgement(1.0, outcome="no_response", panel={}, judges_not_asked=["p/x", "p/y"])
    bare = answered("bare")
    bare.metadata = {}
    log = write_judged(
        tmp_path / "a.eval",
        answered("partial", partial, epoch=2, metadata={"intent": "api"}),
        answered("empty", empty),
        answered("failed", judgement(7.0, panel={"p/x": 7.0, "p/y": 7.0}), error=gone),
        bare,
        roles={"grader": ["p/x", "p/y"]},
    )
    found = {row["question"]: row for row in rows(log)}
    names = ("epoch", "final", "outcome", "judges", "structured", "self_judged", "error")
    shown = {key: [repr(row[name]) for name in names] for key, row in found.items()}
    assert shown == {
        "partial": ["2", "6.0", "'partial_panel'", "'p/x, p/y'", "0.5", "True", "''"],
        "empty": ["1", "1.0", "'no_response'", "'p/x, p/y'", "nan", "False", "''"],
        "failed": ["1", "nan", "'error'", "'p/x, p/y'", "0.0", "False", "'gone'"],
        "bare": ["1", "nan", "'not_judged'", "''", "nan", "False", "''"],
    }
    assert repr(found["partial"]["judge_finals"]) == "{'p/x': 6.0, 'p/y': nan}"
    assert repr(found["empty"]["judge_finals"]) == "{'p/x': nan, 'p/y': nan}"
    kinds = [found["partial"][name] for name in ("judge_language", "rubric", "reply_counts")]
    assert kinds == ["zh", "urs 2", {"p/x": {"replies": 1}}]
    assert [found["bare"][name] for name in ("intent", "group", "language", "country")] == [
        "unknown",
        "unknown",
        "unknown",
        "",
    ]
    assert (found["failed"]["criterion/clarity"], found["partial"]["criterion/clarity"]) == (
        pytest.approx(math.nan, nan_ok=True),
        6.0,
    )
    assert (found["bare"]["answer_length"], found["bare"]["cut_off"]) == (
        pytest.approx(math.nan, nan_ok=True),
        False,
    )
    assert (found["bare"]["earlier_finals"], found["bare"]["judge_temperatures"]) == ((), "")


def test_earlier_judgements_count_with_the_same_language_and_temperature(tmp_path: Path) -> None:
    def at(final: float, requested: float | None, sent: Any, **facts: Any) -> Score:
        about = {"temperature_requested": requested, "temperature_sent": sent}
        return judgement(final, judges=[{"judge": JUDGE, "final": final, **about}], **facts)

    log = write_judged(
        tmp_path / "a.eval",
        answered("not sent", at(6.0, 0.0, None), at(8.0, 0.0, 0.0)),
        answered("warmer", at(6.0, 0.5, 0.5), at(8.0, 0.0, 0.0)),
        answered("default", at(6.0, None, None), at(8.0, 0.0, 0.0)),
        answered("Chinese", at(6.0, 0.0, 0.0, judge_language="zh"), at(8.0, 0.0, 0.0)),
        answered("two", at(5.0, 0.0, 0.0), at(6.0, 0.5, 0.5), at(7.0, 0.0, 0.0), at(8.0, 0.0, 0.0)),
    )
    found = {row["question"]: row for row in rows(log)}
    assert {name: row["earlier_finals"] for name, row in found.items()} == {
        "not sent": (6.0,),
        "warmer": (),
        "default": (),
        "Chinese": (),
        "two": (5.0, 7.0),
    }
    assert found["two"]["earlier_judge_finals"] == ({JUDGE: 5.0}, {JUDGE: 7.0})


def test_prompts_of_a_minority_are_those_of_their_kind_of_case(tmp_path: Path) -> None:
    kinds = [
        ("en", "a", "en"),
        ("en", "a", "en"),
        ("en", "b", "en"),  # another prompt
        ("zh", "b", "zh"),
        ("zh", "b", "zh"),
        ("zh", "b", "en"),  # the same in another language
    ]
    samples = [
        answered(
            f"q{place}",
            judgement(5.0, prompt=prompt * 64, judge_language=judge_language),
            metadata={"language": language},
        )
        for place, (language, prompt, judge_language) in enumerate(kinds)
    ]
    failed = answered("unjudged", metadata={"language": "en"})
    read = read_answers([write_judged(tmp_path / "a.eval", *samples, failed)])
    assert read.table["question"].tolist() == ["q0", "q1", "q3", "q4", "unjudged"]
    assert read.left_out == (Telling("2 of 7 answers of a.eval"),)
    assert read.table.index.tolist() == list(range(5))


def test_of_panels_the_one_of_most_answers_counts_with_what_nobody_judged(tmp_path: Path) -> None:
    judges = ["p/x", "p/y", "p/x", "p/z", "p/x"]
    samples = [answered(f"q{n}", judgement(5.0, judge)) for n, judge in enumerate(judges)]
    read = read_answers([write_judged(tmp_path / "a.eval", answered("none"), *samples)])
    assert read.table["question"].tolist() == ["none", "q0", "q2", "q4"]
    assert read.left_out == (Telling("2 of 6 answers of a.eval ... p/y, p/z ... p/x"),)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, ""),
        ("", ""),
        ("p/a (made)", "p/a (made)"),
        ({"source": "p/a", "name": "file", "sha256": "0123456789"}, "p/a 01234567"),
        ({"name": "file", "sha256": "0123456789"}, "file 01234567"),
        ({"sha256": "0123456789"}, "01234567"),
        ({"name": "file"}, "file"),
    ],
)
def test_references_are_named_with_their_hash(given: Any, shown: str) -> None:
    assert _references({"references": given}) == shown


def test_columns_and_facts_of_a_log_by_hand(tmp_path: Path) -> None:
    log = write_judged(
        tmp_path / "a.eval",
        answered("x", judgement(7.0, prompt="0" * 64)),
        answered("y", judgement(7.0, prompt="0" * 64)),
        metadata={"dataset": "mine", "dataset_sha256": "c" * 64, "rubric_sha256": "d" * 64},
        task_version="3-B",
        task_args_passed={"limit_to": ["a", "b"], "api_key": "hush"},
        packages={"inspect_ai": "0.3.1"},
    )
    read = read_answers([log])
    [run] = read.runs.values()
    assert (run.log, run.model, run.judges, run.samples) == ("a.eval", "p/model", (JUDGE,), 2)
    assert (run.dataset_sha256, run.rubric_sha256) == ("c" * 64, "d" * 64)
    assert (run.created, run.package) == ("2026-01-01T00:00:00+00:00", "0.3.1")
    assert (run.options, run.languages) == ({"limit_to": "a,b"}, {})
    assert run.prompts == digest_of({("leisure", "en"): f"en/{'0' * 64}"})
    columns = ("log", "model", "base_model", "task", "dataset", "dataset_sha256", "task_version")
    [values] = read.table[list(columns)].drop_duplicates().to_numpy().tolist()
    assert values == [log, *["p/model"] * 2, "urs_inspect/urs", "mine", "c" * 64, "3-B"]
    unnamed = write_judged(tmp_path / "b.eval", answered("x", judgement(7.0)))
    found = read_eval_log(unnamed)
    assert found.eval.metadata is not None
    del found.eval.metadata["dataset"]
    write_eval_log(found, unnamed)
    assert set(read_answers([unnamed]).table["dataset"]) == {"d"}  # that of the harness


@pytest.mark.parametrize(
    ("other", "replaces"),
    [
        ({}, True),
        ({"names": ("y", "z")}, True),
        ({"names": ("z",)}, False),
        ({"model": "p/other"}, False),
        ({"solver": "own"}, False),
        ({"model_generate_config": GenerateConfig(temperature=0.5)}, False),
        ({"metadata": {"dataset_sha256": "c"}}, False),
        ({"prompt": "f" * 64}, False),
        ({"judge": "p/other"}, False),
    ],
)
def test_what_a_later_log_replaces(tmp_path: Path, other: dict[str, Any], replaces: bool) -> None:
    def read(name: str, names: Sequence[str] = ("x", "y"), **spec: Any) -> JudgedLog:
        judge = spec.pop("judge", JUDGE)
        prompt = spec.pop("prompt", "e" * 64)
        samples = [answered(one, judgement(5.0, judge, prompt=prompt)) for one in names]
        path = write_judged(tmp_path / name, *samples, **spec)
        log = read_judged_log(read_eval_log(path, header_only=True), [])
        assert log is not None
        return log

    first = read("a.eval")
    second = read("b.eval", **other)
    assert second.replaces(first) == first.replaces(second) == replaces
