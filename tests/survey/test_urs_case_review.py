"""Reviews of cases: judged, counted, and taken over into a file."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ChatMessage

from tests.cli.conftest import Run
from tests.cli.conftest import run as run_command
from tests.reports.json_files import write_rows
from tests.tasks.scripted import Reply, Script, between, metric_values, output, run, samples_of
from tests.telling import tells
from urs_inspect.providers._simulated_judgement import key_in
from urs_inspect.survey._case_review import case_review
from urs_inspect.survey._review_task import urs_case_review

command = run_command

CASES = [
    {
        "id": "a",
        "question": "Which film?",
        "user_intent": "leisure",
        "language": "en",
        "service": "X",
    },
    {
        "id": "b",
        "question": "推荐一首歌",
        "user_intent": "leisure",
        "language": "zh",
        "satisfaction": "4",
    },
    {"id": "c", "question": "What is bitcoin?", "user_intent": "factual_qa", "language": "en"},
    {"id": "d", "question": "Mail me", "user_intent": "api", "language": "en"},
]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "cases.jsonl", *CASES)


def record(**changes: object) -> str:
    good = {
        "understandable": "yes",
        "self_contained": "yes",
        "personal_data": "no",
        "harmful": "no",
        "intent": "leisure",
        "plausible_intents": ["leisure"],
    }
    return json.dumps({**good, **changes})


REPLIES = {
    "Which film?": record(),
    "推荐一首歌": record(self_contained="no", harmful="yes"),
    "What is bitcoin?": record(),
    "Mail me": record(intent="solve_professional_problem"),
}


def by_question(messages: list[ChatMessage]) -> str:
    return REPLIES[between(messages[1].text, "<question>", "</question>")]


def reviewed(
    cases: Path, tmp_path: Path, judge: Script | Callable[..., Reply] = by_question
) -> EvalLog:
    script = judge if isinstance(judge, Script) else Script(judge)
    return run(
        urs_case_review(dataset=str(cases)),
        tmp_path / "logs",
        model=None,
        grader=script.model(),
    )


def test_reviews_and_their_report(cases: Path, tmp_path: Path) -> None:
    log = reviewed(cases, tmp_path)
    assert log.status == "success"
    values = {
        str(sample.id): (sample.scores or {})["case_review"].value for sample in samples_of(log)
    }
    assert {case: value["passed"] for case, value in values.items()} == {  # type: ignore[call-overload, index]
        "a": 1,
        "b": 0,
        "c": 0,
        "d": 1,
    }
    assert {case: value["intent_agrees"] for case, value in values.items()} == {  # type: ignore[call-overload, index]
        "a": 1,
        "b": 1,
        "c": 0,
        "d": 1,
    }
    answers = {
        str(sample.id): (sample.scores or {})["case_review"].answer for sample in samples_of(log)
    }
    assert answers == {
        "a": "passed",
        "b": "not self contained, harmful",
        "c": "not plausible intent",
        "d": "passed",
    }
    found = metric_values(log, "case_review")
    assert log.results is not None and log.results.headline is not None
    assert (log.results.headline.scorer, log.results.headline.metric) == ("case_review", "passed")
    # User: Leisure, Leisure, Factual QA, Solve Problem; judge: Leisure three times, Solve Problem.
    # p_o = 3/4, p_e = (2 * 3 + 0 + 1) / 16 = 7/16; (12/16 - 7/16) / (9/16) = 5/9.
    assert found["intent kappa"] == pytest.approx(5 / 9)
    assert (found["cases"], found["reviewed"], found["passed"], found["intent_agrees"]) == (
        4,
        4,
        0.5,
        0.75,
    )
    assert (found["harmful"], found["self_contained"], found["plausible_intent"]) == (
        0.25,
        0.75,
        0.75,
    )
    assert found["passed language=en"] == pytest.approx(2 / 3)
    assert found["passed language=zh"] == 0
    assert found["passed low"] < 0.5 < found["passed high"]


def test_a_run_of_two_epochs_warns_of_nothing(
    cases: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    judge = Script(
        lambda messages: json.dumps(
            {**key_in(messages[1].text), **json.loads(by_question(messages))}
        )
    ).model()
    log = run(
        urs_case_review(dataset=str(cases)), tmp_path / "logs", model=None, grader=judge, epochs=2
    )
    assert log.status == "success"
    assert metric_values(log, "case_review")["passed"] == 0.5
    assert "WARNING" not in "".join(capfd.readouterr())


def test_the_judge_is_asked_in_the_language_of_the_case_and_not_told_the_intent(
    cases: Path, tmp_path: Path
) -> None:
    judge = Script(by_question)
    log = reviewed(cases, tmp_path, judge)
    asked = {
        between(seen[1].text, "<question>", "</question>"): seen[0].text for seen in judge.seen
    }
    assert asked["推荐一首歌"].startswith("人们") and asked["Which film?"].startswith("You review")
    assert len(judge.seen) == 4 and {config.temperature for config in judge.configs} == {0}
    judge = Script(by_question)
    again = score(
        log,
        case_review(judge_language="zh"),
        model_roles={"grader": judge.model()},
        action="overwrite",
        display="none",
    )
    assert len(judge.seen) == 4
    assert all(seen[0].text.startswith("人们") for seen in judge.seen)
    assert metric_values(again, "case_review")["passed"] == 0.5


def test_replies_without_the_key_are_counted_by_judge_and_warned_of(
    cases: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = reviewed(cases, tmp_path)
    assert metric_values(log, "case_review")["unkeyed"] == 4
    assert [line.message for line in caplog.records if tells(line.message, "the key ... 3 of 3")]


def test_failures_are_counted_and_never_a_verdict(cases: Path, tmp_path: Path) -> None:
    def judge(messages: list[ChatMessage]) -> Reply:
        if "What is bitcoin?" in messages[1].text:
            return RuntimeError("no endpoint")
        if "Which film?" in messages[1].text:
            return output(record(), "max_tokens")
        return "Hmm." if "Mail me" in messages[1].text else by_question(messages)

    script = Script(judge)
    log = reviewed(cases, tmp_path, script)
    assert log.status == "success"
    assert len(script.seen) == 6  # the unreadable replies are asked for once more
    found = metric_values(log, "case_review")
    assert (found["cases"], found["reviewed"], found["passed"]) == (4, 1, 0)
    assert [found[f"failures {mode}"] for mode in ("call_failed", "unparseable", "truncated")] == [
        1,
        1,
        1,
    ]
    values = {
        str(sample.id): (sample.scores or {})["case_review"].value for sample in samples_of(log)
    }
    assert math.isnan(values["c"]["passed"]) and values["c"]["outcome"] == "unreviewed_call_failed"  # type: ignore[index, call-overload, arg-type]


def test_what_passed_is_written_with_all_columns(cases: Path, tmp_path: Path, command: Run) -> None:
    log = reviewed(cases, tmp_path)
    kept, report = tmp_path / "kept.jsonl", tmp_path / "others.csv"
    done = command("cases", "review", log.location, "-o", kept, "--report", report)
    assert done.exit_code == 0, done.output
    assert tells(done.output, "2 of 4 reviewed") and "mockllm/judge" in done.output
    assert "not self contained, harmful" in done.output and "not plausible intent" in done.output
    assert [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] == [
        CASES[0],
        CASES[3],
    ]
    order = [str(sample.id) for sample in samples_of(log)]
    assert report.read_text(encoding="utf-8").splitlines() == [
        "id,faults",
        *sorted(
            ["b,not self contained; harmful", "c,not plausible intent"],
            key=lambda line: order.index(line[0]),
        ),
    ]
    again = command("cases", "review", log.location, "-o", kept)
    assert again.exit_code == 1 and "there is a file" in again.output


def test_cases_without_ids_are_written_by_their_rows(tmp_path: Path, command: Run) -> None:
    rows = [{key: value for key, value in case.items() if key != "id"} for case in CASES]
    log = reviewed(write_rows(tmp_path / "cases.jsonl", *rows), tmp_path)
    kept = tmp_path / "kept.jsonl"
    done = command("cases", "review", log.location, "-o", kept)
    assert done.exit_code == 0, done.output
    assert [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] == [
        {"id": "cases_0001", **rows[0]},
        {"id": "cases_0004", **rows[3]},
    ]


def test_the_datasheet_counts_what_import_and_review_took_out(
    cases: Path, tmp_path: Path, command: Run
) -> None:
    log = reviewed(cases, tmp_path)
    kept, faults, dropped = (
        tmp_path / name for name in ("kept.jsonl", "faults.csv", "dropped.csv")
    )
    assert command("cases", "review", log.location, "-o", kept, "--report", faults).exit_code == 0
    dropped.write_text("line,reason,column,detail,excerpt\n7,format,,x,\n", encoding="utf-8")
    text = command("cases", "datasheet", kept, "--report", dropped, "--report", faults).output
    turned = command("cases", "datasheet", kept, "--report", faults, "--report", dropped).output
    assert turned == text
    twice = ("--report", dropped, "--report", faults, "--report", dropped)
    assert command("cases", "datasheet", kept, *twice).output == text
    faults.write_text(f'"note",{faults.read_text(encoding="utf-8")}'.replace("\n", "\nx,")[:-2])
    assert command("cases", "datasheet", kept, *twice).output == text  # with a column of one's own
    for words in (
        "## Cases that the review took out",
        "| harmful | 1 |",
        "| not plausible intent | 1 |",
        "| not self contained | 1 |",
        "| all | 2 |",
        (
            "2 cases, 1 row dropped by the import, 2 cases taken out by the review: 5 rows of the"
            " survey are accounted"
        ),
    ):
        assert words in text
    assert "%" not in text
    alone = command("cases", "datasheet", kept, "--report", dropped).output
    assert tells(alone, "2 cases, 1 row dropped ... 3 rows")
    assert "accounted" not in command("cases", "datasheet", kept).output
    faults.write_text("id,why\n1,harmful\n", encoding="utf-8")
    wrong = command("cases", "datasheet", kept, "--report", faults)
    assert wrong.exit_code == 1
    assert tells(wrong.output, f"{faults} ... line, reason ... id, faults")


def test_a_long_question_ends_in_an_ellipsis_and_a_review_that_keeps_nothing_is_refused(
    tmp_path: Path, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = "Which " + "picture did Midjourney paint, and " * 3 + "why?"
    data = write_rows(tmp_path / "long.jsonl", CASES[0], {**CASES[2], "question": long})

    def judge(messages: list[ChatMessage]) -> str:
        return record(harmful="yes" if "Midjourney" in messages[1].text else "no")

    log = reviewed(data, tmp_path, judge)
    said = command("cases", "review", log.location, "-o", tmp_path / "k.jsonl").output
    assert "1 did not pass" in said and "│ c    │ harmful" in said
    shown = "".join(line.split("│")[3] for line in said.splitlines() if line.startswith("│"))
    assert shown.replace(" ", "") == f"{long[:59]}…".replace(" ", "")
    log = reviewed(
        write_rows(tmp_path / "one.jsonl", {**CASES[2], "question": long}), tmp_path / "none", judge
    )
    done = command("cases", "review", log.location, "-o", tmp_path / "none.jsonl")
    assert (
        done.exit_code == 1
        and "no case of" in done.output
        and not (tmp_path / "none.jsonl").exists()
    )


def test_a_run_that_was_broken_off_gives_what_it_reached(
    cases: Path, tmp_path: Path, command: Run
) -> None:
    log = reviewed(cases, tmp_path)
    log.status, log.samples = (
        "started",
        [sample for sample in samples_of(log) if str(sample.id) in "ab"],
    )
    write_eval_log(log, tmp_path / "broken.eval")
    report = tmp_path / "r.csv"
    done = command(
        "cases", "review", tmp_path / "broken.eval", "-o", tmp_path / "k.jsonl", "--report", report
    )
    assert (
        report.read_text(encoding="utf-8")
        .splitlines()[-1]
        .endswith(",no review: the run did not reach it")
    )
    assert len(report.read_text(encoding="utf-8").splitlines()) == 4
    assert tells(done.output, "'started': ... not written")
    assert "1 of 2 reviewed cases passed" in done.output
    assert tells(done.output, "2 cases without a review")
    assert [
        json.loads(line)["id"]
        for line in (tmp_path / "k.jsonl").read_text(encoding="utf-8").splitlines()
    ] == ["a"]


def test_data_that_changed_or_moved_and_no_such_log(
    cases: Path, tmp_path: Path, command: Run
) -> None:
    log = reviewed(cases, tmp_path)
    moved = cases.rename(tmp_path / "moved.jsonl")
    gone = command("cases", "review", log.location, "-o", tmp_path / "k.jsonl")
    assert gone.exit_code == 1 and tells(gone.output, "no data file ... put it there")
    moved.rename(cases)
    back = command("cases", "review", log.location, "-o", tmp_path / "k.jsonl")
    assert back.exit_code == 0
    cases.write_text(cases.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    changed = command("cases", "review", log.location, "-o", tmp_path / "l.jsonl")
    assert changed.exit_code == 1 and tells(changed.output, "not the file")
    absent = command("cases", "review", tmp_path / "none.eval", "-o", tmp_path / "l.jsonl")
    assert absent.exit_code == 1 and "no log" in absent.output
    assert not (tmp_path / "l.jsonl").exists()
