"""Commands that make one report: `report`, `robustness`, `addition`, `assistants`."""

import csv
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import write_eval_log

from tests.cli.conftest import Run, Said
from tests.reports.judged_logs import answered, judgement, tokens, write_judged
from tests.reports.task_logs import write_addition
from tests.tasks.scripted import Script
from tests.tasks.test_urs_crossval import answer_log, crossval, final, places
from tests.telling import tells
from urs_inspect.cli._emit import reading
from urs_inspect.logs._files import finished_logs

_ = places  # a fixture


# --- what all have in common ---


@pytest.fixture
def addition(tmp_path: Path) -> str:
    return write_addition(
        tmp_path / "log" / "a.eval", {2: "++-", 3: "+--"}, model="urs_simulation/m"
    )


@pytest.mark.satellites
def test_a_report_is_printed_and_written(run: Run, addition: str, tmp_path: Path) -> None:
    done = run("paper", "addition", addition, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "SIMULATED" in done.output and "2 epochs" not in done.output
    names = {"addition.md", "addition.csv", "addition_lengths.csv", "addition.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert str(tmp_path / "out" / "addition.md") in done.output
    found = json.loads((tmp_path / "out" / "addition.json").read_text(encoding="utf-8"))
    assert found["command"] == f"urs-inspect paper addition {addition} -o {tmp_path / 'out'}"
    assert run("paper", "addition", addition, "-o", tmp_path / "out").exit_code == 0


@pytest.mark.satellites
def test_json_is_all_that_is_printed(facts: Any, addition: str) -> None:
    found = facts("paper", "addition", addition)
    assert (found["format"], found["schema_version"]) == ("urs-inspect addition", 2)


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("paper addition", "no finished log of urs_addition"),
        ("paper assistants", "no finished log of urs_assistants"),
        ("robustness", "no finished log of urs_crossval"),
        ("report", "no finished log with answers scored by intent_judge"),
        ("table", "no finished log with answers scored by intent_judge"),
        pytest.param(
            *("judges", "no log that is finished and has pairs scored by pair_verdict, responses"),
            marks=pytest.mark.satellites,
        ),
        pytest.param("compare", "no finished log", marks=pytest.mark.satellites),
    ],
)
def test_without_a_log_there_are_reasons(
    run: Run, refused: Said, tmp_path: Path, command: str, what: str
) -> None:
    broken, empty, absent = (tmp_path / name for name in ("broken", "empty", "absent"))
    broken.mkdir()
    empty.mkdir()
    (broken / "broken.eval").write_bytes(b"no log")
    for place, why in (
        (broken, "broken.eval was left out: cannot read the log"),
        (empty, f"{empty} has no logs"),
    ):
        error = refused(*command.split(), place)
        assert error.startswith(f"Error: {what}") and why in error
    assert refused(*command.split(), absent) == f"Error: no log '{absent}'\n"
    assert run(*command.split()).exit_code == 2


@pytest.mark.satellites
@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("paper addition", "addition.md"),
        ("paper assistants", "assistants.md"),
        ("robustness", "figure_4.svg"),
        ("agreement --votes=none", "agreement.json"),
        ("report", "report.html"),
    ],
)
def test_files_of_others_are_refused_before_logs_are_read(
    refused: Said, tmp_path: Path, command: str, file: str
) -> None:
    (tmp_path / file).write_text("mine", encoding="utf-8")
    words = [*command.split(), tmp_path / "absent", "-o", tmp_path]
    assert f"holds {file}" in refused(*words)
    assert (tmp_path / file).read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "answers", [(), pytest.param(("--answers", "pages"), marks=pytest.mark.satellites)]
)
def test_a_table_of_others_is_refused_before_anything_is_written(
    refused: Said, tmp_path: Path, answers: tuple[str, ...]
) -> None:
    write_judged(tmp_path / "logs" / "a.eval", answered("a1", judgement(5.0)), model="p/a")
    output = tmp_path / "out"
    output.mkdir()
    (output / "models.csv").write_text("mine", encoding="utf-8")
    assert "holds models.csv" in refused("report", tmp_path / "logs", "-o", output, *answers)
    assert [path.name for path in output.iterdir()] == ["models.csv"]


# --- robustness ---


def test_two_runs_with_other_evaluators_are_one_grid(
    tmp_path: Path, places: dict[str, Any], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    crossval(tmp_path, places, {"A": Script(final(8))})
    crossval(tmp_path, places, {"C": Script(final(6))})
    options = (tmp_path / "crossval", "--output", tmp_path / "out")
    done = run("robustness", "--all", *options)
    assert done.exit_code == 0, done.output
    assert "6 cases in 3 folds" in done.output
    assert "Grid 1" not in done.output
    # Equation 1: 8 and 6 minus 8. A gives itself 2 more than C does, and B's answers as well.
    for text in ("0.00", "−2.00", "+2.00"):
        assert text in done.output
    # No interval where all values are equal.
    assert "2.00 to" not in done.output
    assert "<svg" in (tmp_path / "out" / "figure_4.svg").read_text(encoding="utf-8")
    again = run("crossval", "--all", *options)
    assert again.exit_code == 0
    assert tells(again.output, "`urs-inspect crossval` ... `urs-inspect robustness`")
    monkeypatch.setitem(sys.modules, "altair", None)
    without = run("robustness", "--all", *options)
    assert without.exit_code == 0, without.output
    assert not (tmp_path / "out" / "figure_4.svg").exists()
    assert "altair" in without.output and "pip install 'urs-inspect[viz]'" in without.output


def test_unfinished_and_foreign_logs_are_skipped_with_reasons(
    tmp_path: Path, places: dict[str, Any], said: Said
) -> None:
    crossval(tmp_path, places, {"C": Script(final(6))}, {"cases": 2, "folds": 1})
    answer_log(tmp_path, "A", RuntimeError("down"), limit=2)
    (tmp_path / "crossval" / "broken.eval").write_bytes(b"no log")
    odd = crossval(tmp_path, places, {"D": Script(final(6))}, {"cases": 2, "folds": 1})
    odd.eval.metadata = {"dataset": "sample"}
    write_eval_log(odd)
    words = said("robustness", "--all", tmp_path / "crossval", tmp_path / "answers")
    assert "broken.eval was left out" in words
    assert tells(words, "cannot be read: KeyError")
    assert tells(words, "is 'error', 0 of 2 samples ... `inspect eval-retry`")


# --- report ---


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for model, finals in {"p/good": (9.0, 8.0, 9.0), "p/bad": (3.0, 2.0, 3.0)}.items():
        samples = [
            answered(f"{n}-{k}", judgement(value), metadata={"country": country})
            for k, (value, country) in enumerate(
                zip(finals, ("Chile", "Chile", "Peru"), strict=True)
            )
            for n in range(5)
        ]
        write_judged(tmp_path / "logs" / f"{model.replace('/', '-')}.eval", *samples, model=model)
    write_judged(tmp_path / "logs" / "half.eval", answered("x", judgement(1.0)), status="error")
    return tmp_path / "logs"


def test_the_report_of_urs_is_printed_and_written(logs: Path, tmp_path: Path, said: Said) -> None:
    out = tmp_path / "out"
    command = ("report", "--all", logs, "-o", out)
    output = said(*command)
    for words in (
        "8.67",
        "good is best, significantly better than bad: +6.00.",
        "good 8.67 (15): significantly best",
        "half.eval of p/model was left out: its status is 'error'",
        str(out / "report.html"),
    ):
        assert words in output
    found = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert found["rankings"][0]["models"] == ["p/good", "p/bad"]
    assert found["rounds"] == 10_000
    assert found["command"] == f"urs-inspect report {logs} -o {out}"
    assert found["runs"][0]["command"].startswith("inspect eval urs_inspect/urs --model")
    # The same again: an own report may be replaced, and is the same to the last byte.
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    said(*command)
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}


def test_traffic_and_countries_and_nothing_is_written_without_a_directory(
    logs: Path, tmp_path: Path, said: Said, refused: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    mix, out = tmp_path / "mix.yaml", tmp_path / "out"
    mix.write_text("countries: {chile: 0.1, Peru: 0.9}", encoding="utf-8")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    words = said("report", "--all", logs, "--traffic", mix)
    assert "8.95" in words
    assert tells(words, "countries: Chile 10%, Peru 90%); ... 15 questions")
    assert tells(said("report", logs, "--traffic", mix), "Every answer: ... inspect view --log-dir")
    assert list(Path.cwd().iterdir()) == []
    said("report", "--all", logs, "-o", out, "--traffic", mix)
    found = json.loads((out / "report.json").read_text(encoding="utf-8"))
    [ranking] = found["rankings"]
    assert found["tables"]["leaderboard"][0]["mean"] == pytest.approx(0.1 * 8.5 + 0.9 * 9)
    assert ranking["countries"] == ["Chile", "Peru"]
    assert ranking["traffic"]["shares"] == {"countries": {"Chile": 0.1, "Peru": 0.9}}
    mix.write_text("intents: {leisure: 0.5}", encoding="utf-8")
    error = refused("report", "--all", logs, "-o", tmp_path / "other", "--traffic", mix)
    assert tells(error, "intents: ... add up to 1, ... 0.5")
    assert not (tmp_path / "other").exists()


def test_a_model_that_judged_itself_is_marked(logs: Path, run: Run) -> None:
    own = [answered(f"{n}-0", judgement(7.0, self_judged=True)) for n in range(5)]
    write_judged(
        logs / "own.eval",
        *own,
        *[answered(f"{n}-1", judgement(7.0)) for n in range(5)],
        model="p/judge",
    )
    lines = run("report", "--only", "ranking", logs).output.splitlines()
    [marked] = [line for line in lines if "p/judge" in line and "%" in line]
    assert marked.split("│")[-2].strip() == "50%"


def test_questions_that_do_not_count_marks_and_other_conditions_are_explained(
    logs: Path, said: Said
) -> None:
    plain = said("report", "--all", logs)
    assert "asked" not in plain and "Ranking 2" not in plain
    samples = [
        answered(f"{n}-{k}", judgement(5.0 if n else math.nan)) for k in range(3) for n in range(5)
    ]
    write_judged(logs / "lacking.eval", *samples, model="p/lacking")
    other = answered("0-0", judgement(5.0, "p/other"))
    write_judged(logs / "other.eval", other, model="p/third", roles={"grader": ["p/other"]})
    words = said("report", "--all", logs)
    assert "12 of the 15 questions asked" in words
    # The three without a score leave open (12 * 5 + 3 * 1) / 15 to (12 * 5 + 3 * 10) / 15.
    assert "20% ! │ 4.20–6.00" in words
    assert tells(words, "! ... 2% of")
    assert "Ranking 2" in words and "Other judges: p/other, not p/judge." in words


def test_no_interval_has_no_width_or_goes_beyond_the_scale(said: Said, tmp_path: Path) -> None:
    for model, first in (("equal", 8.0), ("low", 10.0)):
        rest = 8.0 if model == "equal" else 1.0
        samples = [answered(f"{n}", judgement(rest if n else first)) for n in range(20)]
        write_judged(tmp_path / f"{model}.eval", *samples, model=f"p/{model}")
    output = said("report", "--all", tmp_path)
    assert "8.00" in output and not re.search(r"8\.00 \([\d.]+ to", output)
    assert "1.45 (1.00 to " in output


def test_ten_models_are_readable_at_80_columns(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = (
        "Ask for Advice",
        "Factual QA",
        "Leisure",
        "Seek Creativity",
        "Solve Problem",
        "Text Assistant",
    )
    for number in range(10):
        samples = [
            answered(
                f"{place}",
                judgement(float(5 + (place + number) % 4)),
                metadata={"intent_group": group},
            )
            for place, group in enumerate(groups * 7)
        ]
        name = f"provider/a-model-with-a-rather-long-name-{number}"
        write_judged(tmp_path / f"{number}.eval", *samples, model=name)
    monkeypatch.setenv("COLUMNS", "80")
    result = run("report", tmp_path)
    assert result.exit_code == 0
    sentences = [line for line in result.output.splitlines() if not line.startswith("  ")]
    assert max(map(len, sentences)) <= 80
    assert "…" not in result.output


def test_means_are_corrected_by_ratings(logs: Path, tmp_path: Path, said: Said) -> None:
    path, out = tmp_path / "ratings.csv", tmp_path / "out"
    # People see three points less in the model that the judge likes, and three more in the other
    # one.
    people = {"p/good": (6.0, 5.0, 6.0), "p/bad": (6.0, 5.0, 7.0)}
    rows = [
        f"{n}-{k},{model},{(rating - 1) / 9 * 4 + 1:.6f},ann"
        for model, ratings in people.items()
        for k, rating in enumerate(ratings)
        for n in range(5)
    ]
    path.write_text("\n".join(["id,model,rating,rater", *rows]), encoding="utf-8")
    words = said("report", logs, "--human", path, "--human-scale", "1,5", "-o", out)
    assert tells(words, "corrected ... 30 answers")
    found = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert f" --human {path} --human-scale 1,5" in found["command"]
    corrected = {
        row["model"]: row["corrected"]
        for row in found["tables"]["corrected"]
        if row["column"] == "all"
    }
    assert corrected == pytest.approx(
        {model: sum(ratings) / 3 for model, ratings in people.items()}, abs=1e-4
    )
    with (out / "corrected.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(found["tables"]["corrected"])
    assert (out / "corrected_differences.csv").is_file()
    assert "Corrected by people" in (out / "report.html").read_text(encoding="utf-8")


def test_wrong_ratings_stop_before_logs_are_read(tmp_path: Path, refused: Said) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("id,model,rating\nq,m,7\n", encoding="utf-8")
    error = refused("report", tmp_path / "nothing", "--human", path, "--human-scale", "1,5")
    assert tells(error, "line 2: column 'rating': ... 1 to 5")
    assert "--human-scale" in refused("report", tmp_path / "nothing", "--human-scale", "1,5")


def test_rubric_and_prices_of_files_are_used(said: Said, refused: Said, tmp_path: Path) -> None:
    used = {"p/model": tokens(2_000_000, 500_000), "p/judge": tokens(100, 10)}
    log = tmp_path / "a.eval"
    write_judged(log, *(answered(str(n), judgement(5.0), model_usage=used) for n in range(3)))
    prices = tmp_path / "prices.yaml"
    prices.write_text("p/model: {input: 1, output: 2, input_cache_write: 0, input_cache_read: 0}")
    # Three answers, each of two dollars sent and one received.
    assert "$9.00" in said("report", "--all", log, "--prices", prices)
    for option in ("--prices", "--rubric"):
        assert "nowhere.yaml" in refused("report", log, option, tmp_path / "nowhere.yaml")


def test_on_a_terminal_the_reading_of_logs_is_told_beside_the_output(
    logs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for colour in ("", "1"):
        monkeypatch.setenv("FORCE_COLOR", colour)
        with reading([str(logs)]):
            assert len(list(finished_logs([str(logs)], []))) == 2
        out, err = capsys.readouterr()
        assert out == ""
        told.append("Reading logs" in err)
    assert told == [False, True]
    with reading([str(logs / "nowhere.eval")]):  # the reader of the log reports the error
        pass
    assert "Reading" not in capsys.readouterr().err
