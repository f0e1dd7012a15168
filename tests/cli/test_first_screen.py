"""What commands print by default fits on a screen of 80 x 24; `--all` and `--only` print the rest."""

import json
import math
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len
from rich.console import Console

from tests.reports.judged_logs import answered, judgement, unscored, write_judged
from tests.tasks.scripted import Script
from tests.tasks.test_urs_crossval import crossval, final, places  # noqa: F401 - a fixture
from tests.telling import tells
from urs_inspect.cli import main
from urs_inspect.cli._first_screen import LINES, Shown, print_shown, screen_lines
from urs_inspect.reports.layout._tables import FirstScreen, Report, ReportKind, Section, Table

_GROUPS = ("Ask for Advice", "Factual QA", "Leisure", "Seek Creativity", "Solve Problem")
Screen = Callable[..., Result]


def lines_of(result: Result) -> int:
    """Lines of a screen of 80 columns that an output takes."""
    return sum(max(1, math.ceil(cell_len(line) / 80)) for line in result.output.splitlines())


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Run a command that must succeed in a terminal of 80 x 24, and fit into it."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object, code: int = 0) -> Result:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.output
        assert lines_of(result) <= LINES, result.output
        return result

    return run


@pytest.fixture(scope="module")
def ten_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten models with long names, some answers without a score, and files that do not count."""
    folder = tmp_path_factory.mktemp("ten_models")
    for number in range(10):
        samples = [
            answered(
                f"{place}",
                unscored()
                if number == place == 3
                else judgement(float(4 + (place + number) % 4), self_judged=number == 2),
                metadata={"intent_group": group, "language": ("en", "zh")[place % 2]},
            )
            for place, group in enumerate(_GROUPS * 6)
        ]
        name = f"provider/a-model-with-a-rather-long-name-{number}"
        write_judged(folder / "logs" / f"{number}.eval", *samples, model=name)
    for place in range(5):
        (folder / "logs" / f"cut{place}.eval").write_text(f"no log {place}")
    return folder


@pytest.fixture
def logs(ten_models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The logs of ten models, named as from their folder; no test changes them."""
    monkeypatch.chdir(ten_models)
    return Path("logs")


@pytest.mark.satellites
@pytest.mark.parametrize("command", ["report", "table", "compare --scorer intent_judge:final"])
def test_ten_models_fit_and_nothing_is_left_out_in_silence(
    screen: Screen, logs: Path, command: str
) -> None:
    words = command.split()
    output = screen(*words, logs).output
    assert tells(output, "left out ... --only left")
    assert "--all" in output
    everything = CliRunner().invoke(main, [*words, "--all", str(logs)]).output
    assert len(everything) > 2 * len(output)
    part = CliRunner().invoke(main, [*words, "--only", "left", str(logs)]).output
    assert "cut0.eval" in part and "2 more" in part
    assert "rank" not in part.lower()


def test_a_part_that_is_not_there_is_refused_with_the_parts(logs: Path) -> None:
    result = CliRunner().invoke(main, ["table", "--only", "nothing", str(logs)])
    assert result.exit_code == 1
    assert tells(result.output, "nothing ... intents")


def test_one_model_fits(screen: Screen, logs: Path) -> None:
    assert "a-model-with" in screen("report", logs / "4.eval").output


@pytest.mark.satellites
def test_a_gate_fits(screen: Screen, logs: Path) -> None:
    sides = logs / "4.eval", logs / "5.eval"
    screen("gate", *sides, "--margin", "0.5", "--scorer", "intent_judge:final", code=2)


def test_demo_fits(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # A run of another test may have left its display to this process, which the command's replaces.
    monkeypatch.setattr("inspect_ai._display.core.active._active_display", None)
    output = screen("demo").output
    assert "SIMULATED" in output
    [shown] = [line for line in output.splitlines() if "table" in line]
    command = shown[shown.index("urs-inspect") :].split(".")[0].split()
    assert "Intents" in CliRunner().invoke(main, command[1:]).output


@pytest.mark.satellites
def test_judges_fit(screen: Screen, pair_folder: Path, rating_folder: Path) -> None:
    screen("judges", pair_folder, rating_folder)


def test_a_ranking_by_votes_fits(screen: Screen, tmp_path: Path) -> None:
    votes = tmp_path / "votes.jsonl"
    rows = [{"model_a": "a", "model_b": "b", "winner": "ab"[n % 3 == 0]} for n in range(20)]
    rows = [{**row, "winner": f"model_{row['winner']}"} for row in rows]
    votes.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    screen("rank", votes)


@pytest.mark.satellites
def test_agreement_fits(screen: Screen, logs: Path, tmp_path: Path) -> None:
    rows = [
        f"{place},provider/a-model-with-a-rather-long-name-{n},{5 + (place + n) % 3}"
        for place in range(30)
        for n in range(3)
    ]
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("\n".join(["id,model,rating", *rows]), encoding="utf-8")
    screen("agreement", logs, "--human", ratings)


def test_robustness_fits(
    screen: Screen,
    tmp_path: Path,
    places: dict[str, object],  # noqa: F811 - the fixture
) -> None:
    crossval(tmp_path, places, {"A": Script(final(8)), "C": Script(final(6))})
    screen("robustness", tmp_path / "crossval")


# --- layout ---


def test_what_does_not_fit_is_counted_and_commands_and_claims_stay() -> None:
    data = pd.DataFrame({"rank": map(str, range(40)), "model": [f"model {n}" for n in range(40)]})
    long = "A sentence of many words that takes two lines of the terminal, as it is this long, yes."
    screen = FirstScreen(
        claim="The claim.",
        warnings=[f"Warning {n}." for n in range(9)],
        basis=[long] * 20,
        table=Table(data),
        findings=[long] * 20,
        commands=[("Do it", "command " + "x" * 100)],
    )
    lines = screen_lines(screen, 80, ["The way on."])
    assert sum(max(1, math.ceil(len(line) / 80)) for line in lines) <= LINES
    assert "The claim." in lines and "The way on." in lines
    assert "  command " + "x" * 100 in lines
    assert any("4 more" in line for line in lines)  # warnings
    [more] = [line for line in lines if line.startswith("(and ")]
    shown = sum(line.strip().endswith(f"model {n}") for line in lines for n in range(40))
    assert int(more.split()[1]) + shown == 40


@pytest.mark.parametrize(
    ("rows", "shown", "counted"), [(2, 3, False), (8, 3, False), (9, 1, True), (10, 0, True)]
)
def test_findings_that_do_not_fit_are_counted_in_a_last_line(
    rows: int, shown: int, counted: bool
) -> None:
    screen = FirstScreen(
        claim="The claim.",
        warnings=["A warning."] * 5,
        table=Table(pd.DataFrame({"model": [f"model {n}" for n in range(rows)]})),
        findings=["First intents.", "Second intents.", "Third intents."],
    )
    lines = screen_lines(screen, 80, ["The way on."])
    assert len(lines) <= LINES
    assert [line for line in lines if "intents" in line] == list(screen.findings[:shown])
    left = [f"{3 - shown} more finding"] if counted else []
    assert [line[: len("3 more finding")] for line in lines if "more finding" in line] == left


def test_a_table_that_fits_is_whole() -> None:
    table = Table(pd.DataFrame({"model": [f"model {n}" for n in range(10)]}))
    lines = screen_lines(FirstScreen("Claim.", ["A warning."] * 5, table=table), 80, ["On."] * 2)
    assert sum("model " in line for line in lines) == 10
    assert len(lines) <= LINES


def test_the_kept_warnings_are_never_a_count() -> None:
    warnings = ["One, " + "long " * 60, "Two, " + "long " * 60, "Three.", "Four."]
    text = " ".join(screen_lines(FirstScreen("Claim", warnings, kept=2), 80, []))
    assert "One" in text and "Two" in text and "2 more" in text and "Three" not in text


def test_no_word_is_broken() -> None:
    text = "几个 中文 " * 20 + "and words, " * 20
    lines = screen_lines(FirstScreen(text), 40, [])
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    assert max(map(cell_len, lines)) <= 40


def test_parts_that_say_more_than_the_warnings_of_the_screen_are_named() -> None:
    sections = [
        Section("Runs", ("A warning.", "And more."), warnings=("A warning.",)),
        Section("Simulation", ("A warning.",), warnings=("A warning.",)),
    ]
    kind = ReportKind("format", 1, "command", "stem")
    report = Report(kind, "Title", sections, first=FirstScreen("Claim.", ["A warning."]))
    console = Console(record=True, file=StringIO(), width=80)
    print_shown(report, console, Shown())
    printed = console.export_text()
    assert "--only runs" in printed
    assert "simulation" not in printed
