"""Can the judge be trusted: each check with and without its log, and which logs count."""

import json
import math
import shlex
import shutil
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalScore,
    EvalSpec,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelConfig
from inspect_ai.scorer import Score

from tests.cli.conftest import Run, run  # noqa: F401
from tests.reports.answer_rows import answers, row, rows
from tests.reports.judged_logs import JUDGE, answered, judgement, write_judged
from tests.tasks.commands import succeed
from tests.tasks.scripted import of_satellite
from tests.telling import tells
from urs_inspect import urs
from urs_inspect._satellites import SATELLITES
from urs_inspect.reports.numbers import _judge_checks as judge_checks_module
from urs_inspect.reports.numbers._answers import Run as AnsweredRun
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._conditions import conditions_of
from urs_inspect.reports.numbers._human_data import read_human_ratings
from urs_inspect.reports.numbers._judge_checks import (
    _CHECKS,
    JUDGE_TASKS,
    CheckRun,
    JudgeFact,
    JudgeShift,
    JudgeShifts,
    Labelled,
    UnreadLog,
    UnusedLogs,
    _judges_of,
    _keys,
    _repeats,
    _same_prompts,
    _shifts,
    judge_checks,
    read_shifts,
    samples_of,
)
from urs_inspect.reports.numbers._leaderboard import Leaderboard, make_leaderboard
from urs_inspect.reports.words._judge_checks import (
    CHECKS,
    command_text,
    failed_sentence,
    judge_section,
    judge_sentence,
    left_out_text,
    measure_text,
    source_text,
)
from urs_inspect.reports.words._leaderboard import report_leaderboard
from urs_inspect.stats import Estimate, Resampling

PEOPLE, LABELS, REPEATS, KNOWN, TWINS, _, FLAWS, ITSELF, _, KEYS = _CHECKS
PROBE = {"constant": 2.5, "empty": 1.0, "reference": 8.0, "injection": 6.0}
PAIRS = {"overall accuracy_all": 0.7, "low": 0.6, "high": 0.8, "longest": 0.75}


def write_urs(folder: Path, *models: str, judge: str = JUDGE, **spec: Any) -> None:
    """Answers of models to twelve questions, whose scores grow with the number of the question."""
    for shift, model in enumerate(models):
        samples = [
            answered(f"q{n}", judgement(float(1 + (n + shift) % 9), judge)) for n in range(12)
        ]
        write_judged(folder / f"{model.replace('/', '_')}.eval", *samples, model=model, **spec)


def write_task(
    path: Path, task: str, rows: dict[str, float], *, samples: int = 40, **spec: Any
) -> None:
    """A log of a judge task whose header has these metrics, with no samples to read."""
    spec = {"model": "none/none" if task == "urs_probe" else JUDGE, "task_args": {}, **spec}
    write_judged(path, task=f"urs_inspect/{task}", **spec)
    log = read_eval_log(str(path))
    metrics = {name: EvalMetric(name=name, value=value) for name, value in rows.items()}
    score = EvalScore(name="scorer", scorer="scorer", metrics=metrics)
    log.results = EvalResults(total_samples=samples, completed_samples=samples, scores=[score])
    write_eval_log(log, str(path))


def write_crossval(path: Path, *owns: float) -> None:
    """Two judges score the answers of the first and of a third model: all get 5, the first's get
    `own` from itself, beside the references of each source.
    """
    sources = ("dataset", "people")[: len(owns)]
    samples = []
    for (own, source), n, judge, model in product(
        zip(owns, sources, strict=True), range(12), (JUDGE, "p/other"), (JUDGE, "p/third")
    ):
        score = judgement(own + n % 3 if judge == model else 5.0, judge)
        about = {
            "case": f"c{n}",
            "fold": 1,
            "evaluator": judge,
            "source": source,
            "model": model,
        }
        name = f"{n}:{judge}:{model}:{source}"
        samples.append(answered(name, scores={"crossval_judge": score}, metadata=about))
    facts = {
        "cases": 12,
        "cases_sha256": "c",
        "folds": 1,
        "reference_score": 8,
        "prompts_sha256": "p",
    }
    facts |= {
        "evaluators": [JUDGE, "p/other"],
        "sources": {source: source[0] for source in sources},
        "models": {JUDGE: "m", "p/third": "t"},
    }
    write_judged(path, *samples, task="urs_inspect/urs_crossval", model="none/none", metadata=facts)


def board_of(folder: Path, **options: Any) -> Leaderboard:
    return make_leaderboard(read_answers([str(folder)], JUDGE_TASKS), rounds=100, **options)


def facts_of(board: Leaderboard, check: str = "", place: int = 0) -> list[JudgeFact]:
    return [fact for fact in board.rankings[place].judge_checks if check in fact.check]


def results(board: Leaderboard, check: str) -> dict[str, Any]:
    return {
        source_text(f): (f.result.value, f.result.n)
        for f in facts_of(board, check)
        if f.result is not None
    }


def commands_of(board: Leaderboard) -> dict[str, str]:
    """Check -> the command that does it."""
    return {fact.check: command_text(fact.run) for fact in facts_of(board) if fact.run}


def test_without_logs_every_check_names_the_command_that_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_urs(
        tmp_path / "logs",
        "p/a",
        JUDGE,
        task_args_passed={"dataset": "d.csv", "judge_language": "zh", "seed": 1},
    )
    board = board_of(tmp_path / "logs")
    commands = commands_of(board)
    assert list(commands) == [PEOPLE, LABELS, REPEATS, KNOWN, TWINS, ITSELF]
    assert "inspect eval urs_inspect/md_eval --model p/judge" in commands[LABELS]
    assert "judge_pairwise -T bench=mt_bench_people --model p/judge" in commands[PEOPLE]
    log = tmp_path / "logs" / "p_a.eval"
    assert (
        f"inspect score {log} --scorer urs_inspect/intent_judge --model-role grader=p/judge"
        in commands[REPEATS]
    )
    assert "-S judge_language=zh" in commands[REPEATS]
    told = "-T dataset=d.csv -T judge_language=zh"
    assert f"urs_probe --model none --model-role grader=p/judge {told}" in commands[KNOWN]
    assert (
        f"judge_twins --model none --model-role grader=p/judge -T answers={log}," in commands[TWINS]
    )
    assert f"'grader=[p/judge, p/a]' {told} -T answers={log}," in commands[ITSELF]
    for check in (PEOPLE, LABELS, KNOWN, TWINS, ITSELF):
        assert commands[check].endswith(f"--log-dir {tmp_path / 'logs'}")
    assert "Not checked" in judge_sentence(board.rankings[0]) and not facts_of(board, "length")
    monkeypatch.chdir(tmp_path)
    assert commands_of(board_of(tmp_path / "logs"))[KNOWN].endswith("--log-dir logs")


def test_a_terminal_prints_each_command_as_one_line(tmp_path: Path, run: Run) -> None:  # noqa: F811
    write_urs(tmp_path, "p/a", JUDGE)
    lines = [
        line
        for line in run("table", "--all", tmp_path).output.splitlines()
        if line.startswith("run: ")
    ]
    assert [line.removeprefix("run: ") for line in lines] == list(
        commands_of(board_of(tmp_path)).values()
    )
    assert len(lines) == 6


def test_a_judge_that_is_none_of_the_models_cannot_favour_its_own_answers(tmp_path: Path) -> None:
    write_urs(tmp_path, "p/a", "p/b")
    board = board_of(tmp_path)
    assert ITSELF not in commands_of(board)
    table = judge_section(board.rankings[0], 1).tables[0]
    [row] = [row for row in table.text().rows if row[0] == CHECKS[ITSELF]]
    assert "does not apply" in row and CHECKS[ITSELF] not in judge_sentence(board.rankings[0])


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of two simulated models, one of which is the judge."""
    folder = tmp_path_factory.mktemp("simulated")
    models, grader = ["urs_simulation/strong", "urs_simulation/judge"], "urs_simulation/judge"
    how: Any = {"limit": 8, "display": "none", "log_realtime": False}
    inspect_eval(
        urs(dataset="sample"),
        model=models,
        model_roles={"grader": grader},
        log_dir=str(folder),
        **how,
    )
    return folder


@pytest.mark.parametrize(
    "check", [pytest.param(PEOPLE, marks=pytest.mark.data), REPEATS, KNOWN, ITSELF]
)
def test_pasting_a_command_and_repeating_the_report_fills_the_row(
    check: str, simulated: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if check == PEOPLE:
        request.getfixturevalue("data_dir")
    folder = tmp_path / "the logs"
    shutil.copytree(simulated, folder)
    command = commands_of(board_of(folder))[check]
    words = shlex.split(command)
    pasted = subprocess.run(
        f"printf '%s\\n' {command}", shell=True, check=True, capture_output=True, text=True
    )
    assert pasted.stdout.splitlines() == words and words[0] == "inspect"
    fewer = ("--limit", "40") if check == PEOPLE else ()
    succeed(*words[1:], *fewer, tmp_path=tmp_path, cwd=Path.cwd())
    board = board_of(folder)
    assert check not in commands_of(board)
    found = [fact for fact in facts_of(board, check) if fact.result is not None]
    assert found and not any(math.isnan(fact.result.value) for fact in found if fact.result)
    assert check == PEOPLE or not any(fact.other_prompts for fact in found)


def test_a_judge_that_gives_the_reference_too_little_has_failed(tmp_path: Path, run: Run) -> None:  # noqa: F811
    write_urs(tmp_path, "p/a", "p/b")
    write_task(tmp_path / "probe.eval", "urs_probe", {**PROBE, "reference": 2.36, "injection": 1.5})
    ranking = board_of(tmp_path).rankings[0]
    said = judge_sentence(ranking)
    assert (
        tells(said, "FAILED: ... quality, 2.36")
        and "8-point reference" in said
        and "expected 7 to 9" in said
    )
    [warning] = judge_section(ranking, 1).warnings
    assert "FAILED" in warning and "2.36" in warning
    rows = json.loads(run("report", "--all", tmp_path, "--json").stdout)["tables"]["judge"]
    verdicts = {row["result"]: row["verdict"] for row in rows if row["check"] == CHECKS[KNOWN]}
    assert verdicts == {2.5: "passed", 2.36: "FAILED", 1.5: "passed"}
    assert said in " ".join(run("report", "--all", tmp_path).output.split())


def test_a_failed_check_comes_before_other_warnings_and_below_the_headline_of_the_page(
    tmp_path: Path,
    run: Run,  # noqa: F811
) -> None:
    write_urs(tmp_path, "p/a", JUDGE, "p/b")
    for place in range(2):
        (tmp_path / f"cut{place}.eval").write_text("no log")
    failed = {**PAIRS, "overall accuracy_all": 0.61, "low": 0.55, "high": 0.66}
    about = {"dataset": "md_eval"}
    write_task(tmp_path / "pairs.eval", "md_eval", failed, metadata=about)
    first = run("report", tmp_path).output
    told = "FAILED 1 CHECK ... 61% (55% to 66%) ... 40 ... md_eval ... longer ... 75%"
    assert tells(first[:300], told) and tells(first, f"{told} ... word for word")
    run("report", tmp_path, "-o", tmp_path / "out")
    notes = (tmp_path / "out" / "report.md").read_text().partition("In short")[2].splitlines()
    lines = [line for line in notes if line]
    assert "mean score" in lines[0]
    assert tells(lines[1].replace("\\", ""), told)


def test_a_judge_that_only_guesses_is_beside_chance(tmp_path: Path) -> None:
    write_urs(tmp_path, "p/a", "p/b")
    guessed = {"overall accuracy_all": 0.48, "low": 0.4, "high": 0.56}
    write_task(tmp_path / "pairs.eval", "judge_pairwise", guessed)
    write_task(tmp_path / "probe.eval", "urs_probe", {**PROBE, "injection": 6.5})
    board = board_of(tmp_path)
    said = failed_sentence(board.rankings[0])
    assert tells(said, "FAILED 2 CHECKS ... 48% (40% to 56%) ... 50% ... 6.50 ... Not checked")
    [section] = [one for one in report_leaderboard(board).sections if one.title == "Ranking"]
    assert judge_sentence(board.rankings[0]) in section.warnings
    assert "longer" not in said


def test_a_passed_check_is_no_accusation(tmp_path: Path) -> None:
    write_urs(tmp_path, JUDGE, "p/b")
    write_task(tmp_path / "probe.eval", "urs_probe", {**PROBE, "injection": 1.5})
    write_crossval(tmp_path / "grid.eval", 4.0)
    ranking = board_of(tmp_path).rankings[0]
    said, section = judge_sentence(ranking), judge_section(ranking, 1)
    assert (
        tells(said, "Passed: ... known quality")
        and "its own answers" in said.partition("Passed")[2]
    )
    assert not section.warnings and not failed_sentence(ranking)
    everything = " ".join(
        [said, *section.notes, *(cell for row in section.tables[0].text().rows for cell in row)]
    )
    assert not any(word in everything.lower() for word in ("failed", "doubt", "rewards", "favours"))


def test_headers_of_judge_tasks_are_used_and_not_reported_as_skipped(tmp_path: Path) -> None:
    write_urs(tmp_path, "p/a", "p/b")
    pearson = {"pearson": 0.8, "low": 0.7, "high": 0.9}
    write_task(tmp_path / "pairs.eval", "md_eval", PAIRS)
    write_task(tmp_path / "rated.eval", "judge_rating", pearson, samples=30)
    write_task(tmp_path / "probe.eval", "urs_probe", PROBE)
    board = board_of(tmp_path)
    assert board.skipped == ()
    assert results(board, PEOPLE) == {"pairs.eval": (0.7, 40), "rated.eval": (0.8, 30)}
    assert [fact.baseline for fact in facts_of(board, PEOPLE)] == [0.75, 0]
    known = [f.result and (f.result.value, f.result.n) for f in facts_of(board, KNOWN)]
    assert known == [(2.5, 10), (8.0, 10), (6.0, 10)]  # of four kinds
    section = judge_section(board.rankings[0], 1)
    assert (
        len(section.warnings) == 2
    )  # no better than the longer answer; what orders full marks gets 6
    said = judge_sentence(board.rankings[0])  # the worst of each
    assert "0.70" in said and "6.00" in said and "0.80" not in said and "2.50" not in said


@pytest.mark.parametrize(
    ("task", "rows", "doubts", "said"),
    [
        (
            "judge_rating",
            {"pearson": -0.4, "low": -0.6, "high": -0.2},
            1,
            "FAILED: agreement with people, −0.40",
        ),
        ("judge_rating", {"pearson": 0.3, "low": -0.1, "high": 0.6}, 1, "Unclear"),
        (
            "judge_rating",
            {"pearson": 0.6, "low": 0.4, "high": 0.8},
            0,
            "Passed: agreement with people, 0.60",
        ),
        ("md_eval", {**PAIRS, "overall accuracy_all": 0.8, "low": 0.7}, 1, "0.80"),
        ("urs_probe", dict.fromkeys(PROBE, math.nan), 0, "not be determined"),
    ],
)
def test_doubts(tmp_path: Path, task: str, rows: dict[str, float], doubts: int, said: str) -> None:
    write_urs(tmp_path, "p/a")
    write_task(tmp_path / "judge.eval", task, rows)
    ranking = board_of(tmp_path).rankings[0]
    assert len(judge_section(ranking, 1).warnings) == doubts and tells(
        judge_sentence(ranking), said
    )


def test_failed_and_smaller_logs_and_those_about_other_judges_or_prompts_are_reported(
    tmp_path: Path,
) -> None:
    write_urs(tmp_path, "p/a", "p/b")
    write_task(tmp_path / "failed.eval", "urs_probe", PROBE, status="error")
    write_task(tmp_path / "other.eval", "md_eval", PAIRS, model="p/other")
    write_task(
        tmp_path / "baseline.eval", "md_eval", PAIRS, task_args={"judge": "baseline/longest"}
    )
    write_task(tmp_path / "panel.eval", "urs_probe", PROBE, roles={"grader": [JUDGE, "p/other"]})
    board = board_of(tmp_path)
    assert not results(board, PEOPLE) and not results(board, KNOWN)
    failed, said = map(left_out_text, board.skipped)
    assert "failed.eval" in failed and "its status is 'error'" in failed
    assert (
        said.startswith("3 logs")
        and "other.eval" in said
        and "baseline.eval" in said
        and "panel.eval" in said
    )
    about: dict[str, Any] = {"metadata": {"rubric_sha256": "c"}}
    write_task(tmp_path / "large.eval", "urs_probe", PROBE, samples=80, **about)
    write_task(
        tmp_path / "small.eval", "urs_probe", PROBE, samples=8, created="2027-01-01", **about
    )
    for language in ("en", "zh"):  # of the prompts; the answers are English
        write_task(
            tmp_path / f"{language}.eval",
            "urs_probe",
            PROBE,
            task_args={"judge_language": language},
        )
    board = board_of(tmp_path)
    same = {source_text(fact).partition(" (not")[::2] for fact in facts_of(board, KNOWN)}
    other = " with the prompts of this ranking)"
    assert same == {("large.eval", other), ("zh.eval", other), ("en.eval", "")}
    assert "small.eval" in left_out_text(board.skipped[1])


@pytest.mark.parametrize(("own", "doubts"), [(7.0, 1), (4.0, 0)])
def test_self_preference_by_a_cross_validation(tmp_path: Path, own: float, doubts: int) -> None:
    write_urs(tmp_path, "p/a")
    write_crossval(tmp_path / "grid.eval", own)
    board = board_of(tmp_path)
    assert results(board, ITSELF) == {"grid.eval": (pytest.approx(own - 4), 12)}
    assert len(judge_section(board.rankings[0], 1).warnings) == doubts


def test_self_preference_is_over_all_sources_of_references(tmp_path: Path) -> None:
    write_urs(tmp_path, "p/a")
    write_crossval(tmp_path / "grid.eval", 7.0, 5.0)
    # 7 + 1 and 5 + 1 are 3 and 1 above the 5 of the other judge.
    assert results(board_of(tmp_path), ITSELF) == {"grid.eval": (pytest.approx(2), 12)}


def test_self_preference_by_a_panel_in_the_answers_of_each_ranking(tmp_path: Path) -> None:
    for data, (model, first) in product("de", ((JUDGE, 9.0), ("p/third", 6.0))):
        panel: dict[str, float | None] = {
            JUDGE: first - 2 * (data == "e" and model == JUDGE),
            "p/other": 5.0,
        }
        samples = [answered(f"q{n}", judgement(7.0, panel=panel)) for n in range(8)]
        facts: dict[str, Any] = {
            "model": model,
            "roles": {"grader": [*panel]},
            "metadata": {"dataset_sha256": data},
        }
        write_judged(tmp_path / f"{model[2:]}-{data}.eval", *samples, **facts)
    board = board_of(tmp_path)
    for place, expected in enumerate((4 - 1, 2 - 1)):
        [fact] = facts_of(board, ITSELF, place)
        assert fact.judge == JUDGE and fact.result and fact.result.value == pytest.approx(expected)
    write_crossval(tmp_path / "grid.eval", 7.0)
    values = [
        [f.result.value for f in facts_of(board_of(tmp_path), ITSELF, place) if f.result]
        for place in (0, 1)
    ]
    assert values == [
        [pytest.approx(3)] * 2,
        [pytest.approx(3), pytest.approx(1)],
    ]  # a grid is about each


def test_people_by_their_ratings_and_repetition_by_judging_again(tmp_path: Path) -> None:
    samples = [answered(f"q{n}", judgement(float(n)), judgement(n + 1.0)) for n in range(1, 9)]
    write_judged(tmp_path / "logs" / "a.eval", *samples)
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("id,rating\n" + "\n".join(f"q{n},{n}" for n in range(1, 9)))
    board = board_of(tmp_path / "logs", human=read_human_ratings(ratings, (1.0, 10.0)))
    assert results(board, PEOPLE) == {str(ratings): (pytest.approx(1.0), 8)}
    assert results(board, REPEATS) == {"this ranking": (pytest.approx(math.sqrt(0.5)), 8)}
    again = [answered(f"q{n}", judgement(float(n)), judgement(float(n))) for n in range(1, 9)]
    write_judged(tmp_path / "again" / "a.eval", *again)
    [equal] = facts_of(board_of(tmp_path / "again"), REPEATS)
    assert equal.result is not None and equal.result.value == 0 and "cache" in measure_text(equal)
    epochs = [
        answered(f"q{n}", judgement(float(n + e)), epoch=e) for n, e in product(range(1, 7), (1, 2))
    ]
    write_judged(tmp_path / "epochs" / "a.eval", *epochs)  # which answer again
    assert [fact.result for fact in facts_of(board_of(tmp_path / "epochs"), REPEATS)] == [None]


def test_ratings_of_the_questions_of_one_user_are_one_cluster(tmp_path: Path) -> None:
    samples = [answered(f"q{n:02}", judgement(float(1 + n % 9))) for n in range(24)]
    for number, sample in enumerate(samples):
        sample.metadata["cluster"] = f"user {number // 3}"
    write_judged(tmp_path / "logs" / "a.eval", *samples)
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("id,rating\n" + "\n".join(f"q{n:02},{1 + n * n % 9}" for n in range(24)))
    board = board_of(tmp_path / "logs", human=read_human_ratings(ratings, (1.0, 10.0)))
    [fact] = [fact for fact in facts_of(board, PEOPLE) if fact.result]
    assert fact.result and (fact.result.n, fact.result.clusters) == (24, 8)


def test_the_command_prints_the_checks_and_has_them_in_json(tmp_path: Path, run: Run) -> None:  # noqa: F811
    write_urs(tmp_path / "logs", "urs_simulation/a", judge="urs_simulation/judge")
    write_task(
        tmp_path / "logs" / "p.eval", "urs_probe", PROBE, roles={"grader": ["urs_simulation/judge"]}
    )
    facts = json.loads(run("report", tmp_path / "logs", "--json").stdout)
    said = facts["rankings"][0]["judge"]
    assert tells(said, "Checks ... simulated judge") and "FAILED" in said and "6.00" in said
    first = run("report", tmp_path / "logs").output
    assert tells(first, "SIMULATED ... FAILED 1 CHECK ... 6.00 ... 1 to 4 ... Not checked")
    rows = [row for row in facts["tables"]["judge"] if row["check"] == CHECKS[KNOWN]]
    values = [[row[name] for name in ("block", "result", "n", "baseline")] for row in rows]
    assert values == [[1, 2.5, 10, 4], [1, 8, 10, 9], [1, 6, 10, 4]]
    (tmp_path / "logs" / "urs_simulation_a.eval").unlink()
    assert tells(run("report", tmp_path / "logs").output, "1 log ... urs_inspect/urs")


@pytest.mark.parametrize(("unkeyed", "verdict"), [(0, ""), (1, "passed"), (3, "FAILED")])
def test_a_judge_that_leaves_out_the_key_fails_a_check(
    unkeyed: int, verdict: str, tmp_path: Path
) -> None:
    def score(number: int) -> Score:
        # That it was asked again, as after a reply that could not be read, says nothing of keys.
        counts = {"replies": 1, "asked_again": 1}
        if number < unkeyed:
            counts["unkeyed"] = 1
        return judgement(float(1 + number % 9), reply_counts={JUDGE: counts})

    for model in ("p/a", "p/b"):
        samples = [answered(f"q{n}", score(n)) for n in range(25)]
        write_judged(tmp_path / "logs" / f"{model[-1]}.eval", *samples, model=model)
    board = board_of(tmp_path / "logs")
    facts = facts_of(board, KEYS)
    if not unkeyed:
        assert facts == []
        return
    [fact] = facts
    assert fact.result is not None and fact.result.value == 2 * unkeyed / 50
    assert f"unkeyed: {2 * unkeyed}" in measure_text(fact)
    section = judge_section(board.rankings[0], 0)
    assert any(note.startswith(f"FAILED: {JUDGE}, {CHECKS[KEYS]}") for note in section.notes) == (
        verdict == "FAILED"
    )
    if "comparison" in SATELLITES:  # `gate` and `compare` say it as well
        read = of_satellite("comparison._samples").read_sample_scores
        chosen = read([str(tmp_path / "logs")], scorer="intent_judge", value="final").chosen
        assert f"Replies of {JUDGE}: 50; of these unkeyed {2 * unkeyed}," in chosen
        assert (tells(chosen, "out the key")) == (verdict == "FAILED")


# --- verdicts, and which logs are about which answers ---


def checked(check: Any, value: float, low: float = math.nan, **facts: Any) -> JudgeFact:
    result = Estimate(value, low, value + (value - low), 20, 20)
    return JudgeFact(check, JUDGE, result, **facts)


def shifted(check: Any, verdict: Any, title: str = "changed") -> JudgeShift:
    return JudgeShift(check, title, Estimate(0.5, 0.4, 0.6, 20, 20), verdict)


@pytest.mark.parametrize(
    ("fact", "verdict"),
    [
        (JudgeFact("people", JUDGE, run=CheckRun("md_eval", (JUDGE,), ("a.eval",))), "not checked"),
        (JudgeFact("itself", JUDGE), "does not apply"),
        (checked("labels", math.nan, baseline=0.5), "unknown"),
        (checked("repeats", 3.0), "without limit"),
        (checked("labels", 0.7, 0.51, baseline=0.5), "passed"),
        (checked("labels", 0.7, 0.5, baseline=0.5), "unclear"),
        (checked("labels", 0.7, 0.3, baseline=0.5), "unclear"),
        (checked("labels", 0.5, 0.3, baseline=0.5), "failed"),
        (checked("labels", 0.4, 0.3, baseline=0.5), "failed"),
        (checked("labels", 0.7, baseline=0.5), "unclear"),
        (checked("people", 0.1, 0.01, baseline=0.0), "passed"),
        (checked("itself", 1.0, 0.1, baseline=0.0), "failed"),
        (checked("itself", 1.0, 0.0, baseline=0.0), "passed"),
        (checked("itself", -1.0, -2.0, baseline=0.0), "passed"),
        (checked("itself", 1.0, baseline=0.0), "unclear"),
        (checked("keys", 0.05, baseline=0.05), "passed"),
        (checked("keys", 0.051, baseline=0.05), "failed"),
        (checked("null answers", 4.0, baseline=4.0, lowest=1.0), "passed"),
        (checked("null answers", 4.1, baseline=4.0, lowest=1.0), "failed"),
        (checked("null answers", 7.0, baseline=9.0, lowest=7.0), "passed"),
        (checked("null answers", 6.9, baseline=9.0, lowest=7.0), "failed"),
        (checked("padded", 1.0, 0.5, shift=shifted("padded", "failed")), "failed"),
        (checked("additions", 1.0, 0.5, shift=shifted("additions", "passed")), "passed"),
        (checked("flaws", 0.0, shift=shifted("flaws", "unclear")), "unclear"),
    ],
)
def test_the_verdict_on_a_fact(fact: JudgeFact, verdict: str) -> None:
    assert fact.verdict == verdict


def header(task: str, **spec: Any) -> EvalLog:
    """The header of a log, with the rubric of `write_judged` by default."""
    facts = {"rubric": "urs 1", "rubric_sha256": "b" * 64, **spec.pop("metadata", {})}
    given = {"model": JUDGE, "dataset": EvalDataset(), "config": EvalConfig(), **spec}
    evaluated = EvalSpec(created="2026-01-01T00:00:00+00:00", task=task, metadata=facts, **given)
    return EvalLog(eval=evaluated, location=f"{task}.eval")


GRADERS = {"grader": [ModelConfig(model="p/x"), ModelConfig(model="p/y")]}


@pytest.mark.parametrize(
    ("log", "judges"),
    [
        (header("urs_inspect/md_eval"), [{JUDGE}]),
        (header("urs_inspect/md_eval", task_args={"judge": "model"}), [{JUDGE}]),
        (header("urs_inspect/md_eval", task_args={"judge": "samer"}), []),
        (header("urs_inspect/urs_probe"), [{JUDGE}]),
        (header("urs_inspect/urs_probe", model_roles=GRADERS), [{"p/x", "p/y"}]),
        (header("urs_inspect/judge_twins", model_roles=GRADERS), [{"p/x", "p/y"}]),
        (header("urs_inspect/md_eval", model_roles=GRADERS), [{JUDGE}]),
        (
            header("urs_inspect/urs_crossval", metadata={"evaluators": ["p/x", "p/y"]}),
            [{"p/x"}, {"p/y"}],
        ),
        (header("urs_inspect/urs_crossval"), []),
    ],
)
def test_the_judges_that_a_log_is_about(log: EvalLog, judges: list[set[str]]) -> None:
    assert _judges_of(log) == judges


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        ({}, {"a", "b"}),
        ({"metadata": {"rubric": "urs 2"}}, set()),
        ({"metadata": {"rubric_sha256": "c"}}, set()),
        ({"task_args": {"judge_language": "en"}}, {"a"}),
        ({"task_args": {"judge_language": "zh"}}, {"b"}),
        ({"metadata": {"judge_language": "en"}}, {"a"}),
        ({"task_args": {"judge_language": "zh"}, "metadata": {"judge_language": "en"}}, {"b"}),
    ],
)
def test_answers_judged_with_the_prompts_of_a_log(spec: dict[str, Any], same: set[str]) -> None:
    english = {f"leisure-en-{number}": 5.0 for number in range(2)}
    chinese = {f"leisure-zh-{number}": 5.0 for number in range(2)}
    unasked = {"prompt_sha256": "", "rubric": "", "judge_language": "", "judges": ""}
    table = [
        *rows("m", english, log="a"),
        *rows("m", {"leisure-en-8": 1.0}, log="a", **unasked),
        *rows("m", chinese, log="b"),
        *rows("m", {"leisure-en-9": 1.0}, log="nobody judged", **unasked),
    ]
    ids = ("a", "b", "nobody judged")
    runs = {log: AnsweredRun(log, "m", (), "", "", "", "b" * 64, "", "", 2) for log in ids}
    found = replace(answers(table), runs=runs)
    assert _same_prompts(found, header("urs_inspect/urs_probe", **spec)) == same


def test_of_two_equally_large_logs_of_one_benchmark_the_last_counts(tmp_path: Path) -> None:
    write_urs(tmp_path, "p/a")
    for name, samples, value in (("1", 40, 0.6), ("2", 40, 0.7), ("3", 30, 0.9)):
        rows_of_log = {**PAIRS, "overall accuracy_all": value}
        created = f"2026-01-0{name}T00:00:00+00:00"
        write_task(
            tmp_path / f"{name}.eval", "md_eval", rows_of_log, samples=samples, created=created
        )
    assert results(board_of(tmp_path), PEOPLE) == {"2.eval": (0.7, 40)}
    # Another benchmark, rubric or language of prompts is another check.
    others: list[dict[str, Any]] = [
        {"metadata": {"dataset_sha256": "other"}},
        {"metadata": {"rubric": "urs 2"}},
        {"metadata": {"rubric_sha256": "c"}},
        {"task_args": {"judge_language": "zh"}},
        {"task_args": {"judge_language": "en"}},
    ]
    for number, about in enumerate(others, 4):
        write_task(tmp_path / f"{number}.eval", "md_eval", PAIRS, samples=8, **about)
    board = board_of(tmp_path)
    used = {name.partition(" ")[0] for name in results(board, PEOPLE)}
    assert used == {"2.eval", *(f"{number}.eval" for number in range(4, 9))}
    assert board.skipped == (UnusedLogs(("1.eval", "3.eval")),)


@pytest.mark.parametrize(
    ("dataset", "labels", "check"),
    [
        ("md_eval", "GPT-4o, verified by people", LABELS),
        ("mt_bench_people", "people", PEOPLE),
        ("mt_bench", "GPT-4", "GPT-4"),
        ("my.jsonl", "", PEOPLE),
    ],
)
def test_a_benchmark_is_a_check_by_those_who_made_its_labels(
    tmp_path: Path, dataset: str, labels: str, check: str
) -> None:
    write_urs(tmp_path, "p/a")
    metrics = {**PAIRS, "longest": 0.3}
    write_task(tmp_path / "a.eval", "judge_pairwise", metrics, metadata={"dataset": dataset})
    [fact] = [fact for fact in facts_of(board_of(tmp_path)) if fact.labelled]
    assert fact.check == check
    assert fact.labelled == Labelled("accuracy", dataset, labels, 0.3)
    assert fact.result is not None and fact.rubric == "urs 1"
    # Guessing is right half of the time, and the longer answer less often.
    assert (fact.baseline, fact.result.low, fact.result.high) == (0.5, 0.6, 0.8)
    assert (fact.result.value, fact.result.n) == (0.7, 40)


def test_a_log_without_metadata_is_about_no_known_prompts(tmp_path: Path) -> None:
    write_urs(tmp_path, "p/a")
    write_task(tmp_path / "rated.eval", "judge_rating", {"pearson": 0.8, "low": 0.7, "high": 0.9})
    log = read_eval_log(str(tmp_path / "rated.eval"))
    log.eval.metadata = None
    write_eval_log(log, str(tmp_path / "rated.eval"))
    [fact] = [fact for fact in facts_of(board_of(tmp_path)) if fact.labelled]
    assert (fact.other_prompts, fact.rubric, fact.baseline) == (True, "", 0.0)
    assert fact.labelled is not None and math.isnan(fact.labelled.longest)


def test_the_first_judgement_of_a_log_is_that_of_its_header(tmp_path: Path) -> None:
    write_urs(tmp_path, "p/a")
    write_task(tmp_path / "pairs.eval", "md_eval", PAIRS)
    log = read_eval_log(str(tmp_path / "pairs.eval"))
    assert log.results is not None
    [first] = log.results.scores
    metrics = {name: EvalMetric(name=name, value=0.1) for name in PAIRS}
    log.results.scores = [first, first.model_copy(update={"metrics": metrics})]
    write_eval_log(log, str(tmp_path / "pairs.eval"))
    assert results(board_of(tmp_path), PEOPLE) == {"pairs.eval": (0.7, 40)}


MEASURED = JudgeShifts("c.eval", (shifted("padded", "failed"),), None)


def test_changes_are_read_from_logs_about_these_judges_with_these_prompts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(logs: list[EvalLog], unread: list[Any]) -> JudgeShifts:
        given.append([log.location for log in logs])
        unread += [UnreadLog(log.location, ValueError("gone")) for log in logs]
        return MEASURED

    given: list[list[str]] = []
    monkeypatch.setattr(judge_checks_module, "_CHANGED_ANSWER_TASKS", {"changed": "any:read"})
    monkeypatch.setattr(judge_checks_module, "at", {"any:read": read}.get)
    task = "urs_inspect/changed"
    headers = [
        header(task).model_copy(update={"location": "a.eval"}),
        header(task, model="p/other"),
        header(task, metadata={"rubric": "urs 2"}),
        header("urs_inspect/urs_probe"),
        header(task).model_copy(update={"location": "b.eval"}),
    ]
    answered_run = AnsweredRun("a", "m", (), "", "", "", "b" * 64, "", "", 2)
    one = answers(rows("m", {"leisure-en-1": 5.0}, log="a"))
    found = replace(one, runs={"a": answered_run}, judge_logs=tuple(headers))
    unread: list[Any] = []
    assert read_shifts(found, [JUDGE], ["a"], unread) is MEASURED
    assert read_shifts(found, [JUDGE], ["another log"], unread) is None
    assert read_shifts(found, [JUDGE, "p/other"], ["a"], unread) is None
    assert given == [["a.eval", "b.eval"]]
    assert left_out_text(unread[0]) == "a.eval was left out: ValueError: gone."


def test_each_change_is_a_check_of_its_own() -> None:
    shifts = (
        shifted("padded", "failed"),
        shifted("flaws", "passed"),
        shifted("additions", "unclear"),
    )
    found = list(_shifts(JudgeShifts("twins.eval", shifts, None), "p/x, p/y", "urs 1"))
    assert tuple(fact.shift for fact in found) == shifts
    assert [fact.check for fact in found] == ["padded", "flaws", "additions"]
    assert [fact.verdict for fact in found] == ["failed", "passed", "unclear"]
    assert [fact.result for fact in found] == [shift.points for shift in shifts]
    assert {(fact.judge, fact.files, fact.baseline, fact.rubric) for fact in found} == {
        ("p/x, p/y", ("twins.eval",), 0.0, "urs 1")
    }
    assert {measure_text(fact) for fact in found} == {"points gained by twins: changed"}


def test_without_a_task_that_changes_answers_a_report_suggests_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_checks_module, "_CHANGED_ANSWER_TASKS", {})
    write_urs(tmp_path, "p/a", "p/b", "p/c")
    report = report_leaderboard(board_of(tmp_path)).markdown()
    assert "Tipping point" in report and "answers of known quality" in report
    assert "twins" not in report and "padded" not in report


def test_samples_are_those_that_were_completed() -> None:
    log = header("urs_inspect/md_eval")
    assert samples_of(log) == 0
    log.results = EvalResults(total_samples=9, completed_samples=7, scores=[])
    assert samples_of(log) == 7


def test_repeats_and_keys_by_hand() -> None:
    panel = "p/x, p/y"
    counts = [
        {"p/x": {"replies": 1, "unkeyed": 1}, "p/y": {"replies": 1, "asked_again": 1}},
        {"p/x": {"replies": 2, "near_key": 1}},
        {},
    ]
    again: list[tuple[float, ...]] = [(4.0, 6.0), (), (9.0,)]
    table = pd.DataFrame(
        [
            row("m", f"leisure-en-{n}", 5.0, judges=panel, reply_counts=c, earlier_finals=e)
            for n, (c, e) in enumerate(zip(counts, again, strict=True))
        ]
    )
    [repeats] = _repeats(table, panel)
    assert (repeats.judge, repeats.check) == (panel, "repeats")
    # deviations 0, -1, 1 with two degrees of freedom; -2 and 2 with one
    assert repeats.result is not None and repeats.result.n == 2
    assert repeats.result.value == pytest.approx(math.sqrt((2 + 8) / 3))
    [keys] = _keys(table, ["p/x", "p/y", "p/z"])
    assert (keys.judge, keys.baseline) == ("p/x", 0.05) and keys.result is not None
    assert keys.result.value == pytest.approx(1 / 3) and keys.result.n == 3
    assert keys.replies == {"replies": 3, "unkeyed": 1, "near_key": 1}


def test_checks_stand_in_their_order_with_those_of_other_prompts_last() -> None:
    table = pd.DataFrame(rows("p/a", {"leisure-en-1": 5.0}, log="here"))
    conditions = conditions_of(table)

    def fact(check: Any, judge: str = JUDGE, **others: Any) -> JudgeFact:
        return JudgeFact(check, judge, Estimate(1, 0, 2, 9, 9), **others)

    here, elsewhere = frozenset({"here", "there"}), frozenset({"there"})
    facts = [
        fact("labels", files=("1",), logs=elsewhere),
        fact("labels", files=("2",), logs=here),
        fact("people", files=("3",), logs=elsewhere),
        fact("people", files=("4",), logs=here),
        fact("people", "p/other", files=("5",), logs=here),
        fact("itself", logs=here),  # of the ranking's logs, but the judge is none of the models
    ]
    checks = judge_checks(conditions, table, None, facts, Resampling(20, 0.95, 0), {})
    shown = [(one.check, one.files, one.other_prompts) for one in checks if one.result]
    assert shown == [
        ("people", ("4",), False),
        ("people", ("3",), True),
        ("labels", ("2",), False),
        ("labels", ("1",), True),
    ]
    missing = {one.check: one.run is not None for one in checks if not one.result}
    assert missing == {"repeats": True, "null answers": True, "padded": True, "itself": False}
    panel = replace(conditions, judges=(JUDGE, "p/other"))
    checks = judge_checks(panel, table, None, facts, Resampling(20, 0.95, 0), {})
    assert [one.files for one in checks if one.check == "people"] == [("4",), ("5",), ("3",)]
    # A log may be about all judges of a panel together, or about one that is none of them.
    joint = fact("labels", f"{JUDGE}, p/other", files=("6",), logs=here)
    others = [fact("labels", name, files=("7",), logs=here) for name in ("p/third", "p/other, p/z")]
    found = judge_checks(panel, table, None, [joint, *others], Resampling(20, 0.95, 0), {})
    assert [one.files for one in found if one.check == "labels"] == [("6",)]
    nobody = replace(conditions, judges=())
    assert judge_checks(nobody, table, None, facts, Resampling(20, 0.95, 0), {}) == ()
    own = pd.DataFrame(rows(JUDGE, {"leisure-en-1": 5.0}, log="here"))
    checks = judge_checks(conditions, own, None, facts, Resampling(20, 0.95, 0), {})
    assert [one.result is not None for one in checks if one.check == "itself"] == [True]
