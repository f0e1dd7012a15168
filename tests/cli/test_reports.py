"""Commands that make one report: `robustness`, `agreement`, `addition`, `assistants`."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import write_eval_log

from tests.cli.conftest import Run
from tests.reports.judged_logs import answered, judgement, unscored, write_judged
from tests.reports.mad_logs import ballot, cast, judged, write_log
from tests.reports.task_logs import NOTHING, SEARCH, write_addition, write_assistant
from tests.tasks.scripted import Script
from tests.tasks.test_urs_crossval import answer_log, crossval, final, places
from urs_inspect.tasks.urs_addition import urs_addition

_ = places  # a fixture


# --- what all have in common ---


@pytest.fixture
def addition(tmp_path: Path) -> str:
    return write_addition(tmp_path / "log" / "a.eval", {2: "++-", 3: "+--"}, model="urs_simulation/m")


def test_a_report_is_printed_and_written(run: Run, addition: str, tmp_path: Path) -> None:
    done = run("addition", addition, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "SIMULATION" in done.output and "2 epochs" not in done.output
    names = ["addition.md", "addition.csv", "addition_lengths.csv", "addition.json"]
    assert done.output.endswith(f"\nWritten: {', '.join(str(tmp_path / 'out' / name) for name in names)}\n")
    found = json.loads((tmp_path / "out" / "addition.json").read_text(encoding="utf-8"))
    assert found["command"] == f"urs-inspect addition {addition} -o {tmp_path / 'out'}"
    assert run("addition", addition, "-o", tmp_path / "out").exit_code == 0


def test_json_is_all_that_is_printed(run: Run, addition: str) -> None:
    found = json.loads(run("addition", addition, "--json").output)
    assert (found["format"], found["schema_version"]) == ("urs-inspect addition", 2)


@pytest.mark.parametrize("command", ["addition", "assistants", "robustness"])
def test_bad_input_is_an_error_with_reasons(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "broken.eval").write_bytes(b"no log")
    done = run(command, tmp_path)
    assert done.exit_code == 1
    assert re.search("no finished log of urs_(addition|assistants|crossval)", done.output)
    assert "broken.eval was left out: cannot read the log" in done.output
    assert run(command, tmp_path / "absent").exit_code == 1
    assert run(command).exit_code == 2


@pytest.mark.parametrize(
    ("command", "options", "file"),
    [
        ("addition", (), "addition.csv"),
        ("assistants", (), "assistants.csv"),
        ("robustness", (), "means.csv"),
        ("agreement", ("--votes", "none"), "agreement.csv"),
    ],
)
def test_files_of_others_are_refused_before_logs_are_read(
    run: Run, tmp_path: Path, command: str, options: tuple[str, ...], file: str
) -> None:
    (tmp_path / file).write_text("mine", encoding="utf-8")
    done = run(command, tmp_path / "absent", "-o", tmp_path, *options)
    assert done.exit_code == 1 and f"holds {file}" in done.output


def test_tables_fit_a_narrow_terminal_with_long_names(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = "provider/" + "a-very-long-name-of-a-model-" * 3
    write_assistant(tmp_path / "m.eval", {f"q{n}": 9.0 for n in range(8)}, model=long)
    write_assistant(tmp_path / "s.eval", {f"q{n}": 4.0 if n else NOTHING for n in range(8)}, SEARCH)
    done = run("assistants", tmp_path, "--rounds", "100")
    assert done.exit_code == 0, done.output
    letters = "".join(done.output.replace("│", "").split())
    assert "…" not in done.output and "+5.00" in letters and "7of8" in letters
    assert max(map(len, done.output.splitlines())) <= 80


# --- addition and assistants ---


def test_real_runs_are_laid_out_as_table_7(tmp_path: Path, run: Run) -> None:
    logs = inspect_eval(
        urs_addition(lengths="2-5,12", per_length=3),
        model=["urs_simulation/strong", "urs_simulation/weak"],
        epochs=2,
        display="none",
        log_realtime=False,
        log_dir=str(tmp_path / "logs"),
    )
    assert {log.status for log in logs} == {"success"}
    done = run("addition", tmp_path / "logs")
    assert done.exit_code == 0, done.output
    assert "15 chains, asked in 'en'" in done.output and "each chain was asked in 2 epochs" in done.output
    assert "Claude-3-opus" in done.output and "not comparable row by row" in done.output


# --- robustness ---


def test_two_runs_with_other_evaluators_are_one_grid(
    tmp_path: Path, places: dict[str, Any], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    crossval(tmp_path, places, {"A": Script(final(8))})
    crossval(tmp_path, places, {"C": Script(final(6))})
    options = (tmp_path / "crossval", "--output", tmp_path / "out", "--rounds", "200")
    done = run("robustness", *options)
    assert done.exit_code == 0, done.output
    assert "6 cases in 3 folds" in done.output
    assert "Grid 1" not in done.output
    # Equation 1: 8 and 6 minus 8. A gives itself 2 more than C does, and B's answers as well.
    for text in ("0.00", "−2.00", "+2.00"):
        assert text in done.output
    # No interval where all values are equal.
    assert "2.00 to" not in done.output
    assert "<svg" in (tmp_path / "out" / "figure_4.svg").read_text(encoding="utf-8")
    again = run("crossval", *options, "--no-figures")
    assert again.exit_code == 0 and "figure" not in again.output
    assert "`urs-inspect crossval` is now `urs-inspect robustness`" in again.output
    assert not (tmp_path / "out" / "figure_4.svg").exists()
    monkeypatch.setitem(sys.modules, "altair", None)
    without = run("robustness", *options)
    assert without.exit_code == 0, without.output
    assert "altair" in without.output and "pip install 'urs-inspect[viz]'" in without.output


def test_unfinished_and_foreign_logs_are_skipped_with_reasons(tmp_path: Path, places: dict[str, Any], run: Run) -> None:
    crossval(tmp_path, places, {"C": Script(final(6))}, {"cases": 2, "folds": 1})
    answer_log(tmp_path, "A", RuntimeError("down"), limit=2)
    (tmp_path / "crossval" / "broken.eval").write_bytes(b"no log")
    odd = crossval(tmp_path, places, {"D": Script(final(6))}, {"cases": 2, "folds": 1})
    odd.eval.metadata = {"dataset": "sample"}
    write_eval_log(odd)
    done = run("robustness", tmp_path / "crossval", tmp_path / "answers", "--rounds", "50")
    assert done.exit_code == 0, done.output
    assert "broken.eval was left out" in done.output
    assert "its judgements cannot be read: KeyError" in done.output
    words = " ".join(done.output.split())
    assert "its status is 'error', 0 of 2 samples are done; finish it with `inspect eval-retry`" in words


# --- agreement ---

INTENTS = {"leisure": "Leisure", "factual_qa": "Factual QA", "api": "Solve Problem", "text_assistant": "Text Assistant"}
MODELS = ("p/a", "p/b", "p/c")


def one_log(path: Path, model: str, add: float, judge: str = "p/judge") -> str:
    samples = [
        answered(
            f"{intent}{n}",
            judgement(min(10, 2 + add + n + place), judge),
            metadata={"intent": intent, "intent_group": group},
        )
        for place, (intent, group) in enumerate(INTENTS.items())
        for n in range(4)
    ]
    return write_judged(path, *samples, answered("leisure9", unscored()), model=model)


@pytest.fixture
def judged_logs(tmp_path: Path) -> Path:
    for place, model in enumerate(MODELS):
        one_log(tmp_path / "logs" / f"{place}.eval", model, 2 - place)
    return tmp_path / "logs"


@pytest.fixture
def human(tmp_path: Path) -> Path:
    lines = ["id,model,rating,rater"]
    lines += [f"{intent}{n},p/a,{3 + n},{who}" for intent in INTENTS for n in range(4) for who in ("ann", "bob")]
    lines += ["leisure9,p/a,5,ann", "gone,p/a,5,ann"]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def satisfaction(tmp_path: Path) -> Path:
    path = tmp_path / "satisfaction.csv"
    path.write_text("intent,satisfaction,n\nleisure,3,20\nfactual_qa,4,30\napi,4.2,9\n", encoding="utf-8")
    return path


def votes_of(path: Path) -> Path:
    pairs = [("p/a", "p/b"), ("p/b", "p/c"), ("p/a", "p/c")]
    lines = [{"model_a": a, "model_b": b, "winner": a if n % 4 else b} for n in range(12) for a, b in pairs]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_all_three_at_once(run: Run, judged_logs: Path, human: Path, satisfaction: Path, tmp_path: Path) -> None:
    votes = votes_of(tmp_path / "votes.jsonl")
    options = [
        "--human",
        human,
        "--satisfaction",
        satisfaction,
        "--votes",
        votes,
        "--rounds",
        50,
        "-o",
        tmp_path / "out",
    ]
    result = run("agreement", judged_logs, *options)
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "judge p/judge; data d (sha256 aaaaaaaa); rubric urs 1" in output
    assert "Score and satisfaction by intent" in output
    assert "Intents without satisfaction were skipped: Text Assistant." in output
    assert "Over 3 intents: Pearson 0.9" in output
    assert (
        "Published (URS paper, section 4.5, Figure 5; another judge, other models and people): Pearson 0.95" in output
    )
    assert "36 comparisons on 36 instructions, 0 ties; scores over 16 questions." in output
    assert "16 answers to 16 questions were both rated and scored" in output
    assert "2 people gave 33 ratings; on 16 answers with several, Krippendorff's alpha among people is 1.00" in output
    assert (
        f"1 rating of {human} about a question or epoch without an answer, skipped: 'gone' of p/a (line 35)." in output
    )
    assert "1 rated answer without a score of the judge, skipped." in output
    assert "SIMULATION" not in output
    assert (tmp_path / "out" / "agreement.md").is_file()


def test_judges_are_never_mixed(run: Run, judged_logs: Path, human: Path) -> None:
    one_log(judged_logs / "other.eval", "p/a", 0, judge="p/stern")
    output = " ".join(run("agreement", judged_logs, "--human", human, "--rounds", 20).output.split())
    assert output.count("Score and rating of single answers") == 2
    assert "Not compared with the first block: Other judges: p/stern, not p/judge" in output


def test_people_vote_about_ballots(run: Run, judged_logs: Path, tmp_path: Path) -> None:
    pairs = [("p/a", "p/b"), ("p/b", "p/c"), ("p/a", "p/c")]
    ballots = [ballot(f"Question {n}?", *pairs[n % 3]) for n in range(12)]
    log = write_log(tmp_path / "mad" / "log.eval", *[judged(one, 0.0) for one in ballots])
    people = cast(tmp_path / "people" / "ann.jsonl", *[("ann", one.id, "a") for one in ballots])
    result = run("agreement", judged_logs, "--votes", log, "--votes", people.parent, "--rounds", 30)
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "12 votes of 1 person on 12 of 12 ballots" in output
    assert "12 comparisons on 12 instructions, 0 ties" in output
    assert "Pearson 1.00" in output
    refused = run("agreement", judged_logs, "--votes", log)
    assert refused.exit_code == 1
    assert "has no people's choices" in refused.output


def test_names_are_shown_to_the_letter(run: Run, tmp_path: Path) -> None:
    log = one_log(tmp_path / "log.eval", "[bold]p/a[/bold]", 1)
    human = tmp_path / "r.csv"
    human.write_text("id,rating\nleisure1,3\nleisure2,4\n", encoding="utf-8")
    assert "[bold]p/a[/bold]" in run("agreement", log, "--human", human, "--rounds", 9).output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to compare with; give at least one of --human, --satisfaction, --votes"),
        (["--human", "none.csv"], "no data file 'none.csv'"),
        (["--human", "{human}", "--human-scale", "1,5"], "column 'rating': must be a number from 1 to 5, is \"6\""),
        (
            ["--human", "{human}", "--human-scale", "high"],
            "human-scale: must be its lowest and highest value, such as 1,5",
        ),
        (["--human", "{human}", "--human-scale", "9,2"], "human-scale: must have a lowest value below a highest"),
        (["--satisfaction", "{human}"], "column 'intent' is missing"),
        (["--votes", "none"], "votes: no file or directory 'none'"),
        (["--human", "{human}", "-o", "{human}"], "is a file; name a directory"),
    ],
)
def test_bad_input_is_said_in_words(run: Run, judged_logs: Path, human: Path, options: list[str], message: str) -> None:
    result = run("agreement", judged_logs, *[option.format(human=human) for option in options])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert message in result.output
    assert "Traceback" not in result.output


def test_no_log_is_said(run: Run, human: Path, tmp_path: Path) -> None:
    result = run("agreement", tmp_path / "none", "--human", human)
    assert (result.exit_code, result.output) == (1, f"Error: no log '{tmp_path / 'none'}'\n")


def test_a_forgotten_scale_is_warned_of(run: Run, judged_logs: Path, human: Path) -> None:
    output = " ".join(run("agreement", judged_logs, "--human", human, "--human-scale", "0,100").output.split())
    assert "No rating above" in output and "Is the scale 1,7?" in output
    assert "Is the scale" not in run("agreement", judged_logs, "--human", human).output
