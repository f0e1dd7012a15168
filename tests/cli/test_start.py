"""`urs-inspect demo` and `new`: what they print and write runs."""

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from inspect_ai import eval as inspect_eval

import urs_inspect
from tests.cli.conftest import Run
from tests.telling import tells
from urs_inspect.cli import main
from urs_inspect.cli._start import _inspect


def test_demo_says_that_it_simulates_and_where_to_look(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--all")
    assert result.exit_code == 0
    assert "SIMULATION" in result.output
    assert "urs_simulation/strong" in result.output
    assert "urs_simulation/weak" in result.output
    for word in (
        "Ranking",
        "Intents",
        "Factual",
        "Languages",
        "Chinese",
        "Criteria",
        "Creativity",
        "judged",
    ):
        assert word in result.output
    assert len(list((tmp_path / "logs" / "demo").glob("*.eval"))) == 2
    # The command that is printed runs in a shell in which no environment is activated.
    [line] = [line for line in result.output.splitlines() if line.startswith("Every answer:")]
    command = line.partition(":")[2]
    assert shlex.split(command)[1:] == ["view", "--log-dir", "logs/demo"]
    done = subprocess.run(
        f"{command} --help", shell=True, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Inspect log viewer" in done.stdout


def test_a_demo_that_failed_says_how_its_run_ended(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = [SimpleNamespace(status="success", location="a.eval", error=None)]
    ends += [SimpleNamespace(status=how, location="b", error=f"{how}!") for how in ("error", "no")]
    monkeypatch.setattr("inspect_ai.eval", lambda task, **options: ends)
    result = run("demo")
    assert result.exit_code == 1
    assert tells(result.output, "'error': error!") and "no!" not in result.output


def test_the_command_of_the_demo_is_as_short_as_the_shell_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect, other = (tmp_path / folder / "bin" / "inspect" for folder in ("my env", "other"))
    for path in (inspect, other):
        path.parent.mkdir(parents=True)
        path.touch(mode=0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(inspect.parent))
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.chdir(tmp_path)
    assert _inspect() == "'my env/bin/inspect'"
    monkeypatch.chdir(inspect.parent)
    assert _inspect() == f"'{inspect}'"
    monkeypatch.setenv("PATH", str(inspect.parent))
    assert _inspect() == "inspect"
    monkeypatch.setenv("PATH", str(other.parent))
    inspect.unlink()
    assert shlex.split(_inspect()) == [sys.executable, "-m", "inspect_ai"]


def test_the_help_ends_with_first_steps_in_their_order(run: Run) -> None:
    """A run without a key, a run of a model, and the report on its logs."""
    _, _, steps = run("--help").output.partition("Start with:\n")
    commands = [shlex.split(line) for line in steps.splitlines() if line.strip()]
    assert [command[:2] for command in commands] == [
        ["urs-inspect", "demo"],
        ["inspect", "eval"],
        ["urs-inspect", "report"],
    ]


@pytest.mark.parametrize(
    "command",
    [
        *("report", "robustness", "table"),
        pytest.param("agreement", marks=pytest.mark.satellites),
    ],
)
def test_the_help_of_a_report_names_its_own_options_before_those_of_all_reports(
    run: Run, command: str
) -> None:
    printed = run(command, "--help").output
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", printed, re.MULTILINE)
    common = [
        name for name in ("--output", "--json", "--only", "--all", "--help") if name in options
    ]
    assert sorted(options[-len(common) :]) == sorted(common)
    assert options[-1] == "--help"


@pytest.mark.satellites
@pytest.mark.parametrize("kind", ["rubric", "cases", "pairs"])
def test_what_is_written_is_right_and_the_printed_commands_run(
    kind: str, run: Run, start: Path
) -> None:
    folder = start / f"my {kind}"
    printed = [
        shlex.split(line)
        for line in run("new", kind, folder.name).output.splitlines()
        if line[:2] == "  "
    ]
    [check] = [words for words in printed if words[:2] == ["urs-inspect", "check"]]
    result = run(*check[1:])
    assert result.exit_code == 0, result.output
    assert result.output.count(", ok: ") == len(list(folder.iterdir()))
    runs = [
        words
        for words in printed
        if words[0] == "inspect" and any("simulation" in word for word in words)
    ]
    for words in runs:
        arguments = dict(value.split("=", 1) for option, value in pairwise(words) if option == "-T")
        [log] = inspect_eval(
            getattr(urs_inspect, words[2].removeprefix("urs_inspect/"))(**arguments),
            model=words[words.index("--model") + 1],
            model_roles={"grader": "urs_simulation/judge"},
            log_dir=words[words.index("--log-dir") + 1],
            display="none",
            log_realtime=False,
        )
        assert log.status == "success"
        assert log.results is not None
        assert log.results.scores[0].scored_samples == 4
    [show] = [words for words in printed if words[2].endswith("logs/simulated")]
    assert run(*show[1:]).exit_code == 0
    for words in printed:
        if words[0] == "echo":
            subprocess.run(
                f"echo {shlex.quote(words[1])} {words[2]} {shlex.quote(words[3])}",
                shell=True,
                check=True,
            )
    [estimate] = [words for words in printed if words[1] == "estimate"]
    assert re.search(r"^Together .* US dollars\.$", run(*estimate[1:]).output, re.MULTILINE)


def test_new_overwrites_nothing_and_names_the_file(run: Run, start: Path) -> None:
    (start / "rubric" / "rubric.yaml").write_text("mine")
    (start / "rubric" / "cases.csv").unlink()
    result = run("new", "rubric", "rubric")
    assert result.exit_code == 1
    assert "rubric.yaml" in result.output
    assert (start / "rubric" / "rubric.yaml").read_text() == "mine"
    assert not (start / "rubric" / "cases.csv").exists()
    (start / "dangling").symlink_to(start / "nowhere")
    for folder in ("rubric/rubric.yaml/below", "dangling"):
        assert f"cannot write to '{folder}'" in run("new", "cases", folder).output


def test_new_names_no_command_that_is_not_there(run: Run, start: Path) -> None:
    folders = ("rubric", "cases", "pairs")
    texts = [run("new", folder, f"my {folder}").output for folder in folders]
    texts += [file.read_text("utf-8") for folder in folders for file in (start / folder).iterdir()]
    named = {name for text in texts for name in re.findall(r"urs-inspect (\w+)", text)}
    assert named <= set(main.list_commands(click.Context(main)))
    assert "report" in named
    printed = "".join(texts)
    assert ("Check the file" in printed) == ("urs-inspect check" in printed)


def test_demo_and_new_import_no_satellite() -> None:
    code = (
        "import sys, urs_inspect.cli._start;"
        " print([name for name in sys.modules if name.startswith(('urs_inspect.survey._', 'urs_inspect.checking._'))"
        " and not name.endswith('_satellite')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
