"""`urs-inspect probe`."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from rich.console import Console

from tests.cli.conftest import Run, Said
from tests.tasks.scripted import Script
from tests.telling import tells
from urs_inspect.cli._first_screen import LINES
from urs_inspect.cli._probe import print_probe
from urs_inspect.tasks import urs_probe


def test_a_sound_judge_passes_and_no_number_is_pooled_over_the_kinds_of_answers(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = run("probe", "--model-role", "grader=urs_simulation/judge", "--display", "plain")
    assert result.exit_code == 0, result.output
    [log] = (tmp_path / "logs" / "probe").rglob("*.eval")  # where INSPECT_LOG_DIR of tests says
    assert log.name in result.output
    assert "SIMULATED" in result.output
    assert "SUSPECT" not in result.output
    assert len(result.output.splitlines()) < LINES
    means = dict(
        re.findall(r"^ *(\w+) +([\d.]+) *$", capfd.readouterr().out, re.MULTILINE)
    )  # of the harness
    assert means.keys() == {"constant", "empty", "reference", "injection"}
    shown = {kind: cells[3] for kind, cells in _probe_rows(result.output).items()}
    assert {kind: f"{float(mean):.2f}" for kind, mean in means.items()} == {
        kind: shown[kind] for kind in means
    }


def test_a_judge_is_required(run: Run) -> None:
    result = run("probe")
    assert result.exit_code == 2
    assert "--model-role" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("LOG.eval",),
        ("LOG.eval", "--model-role", "grader=urs_simulation/judge"),
        ("--model-role", "grader=urs_simulation/judge", "--no-fail-on-error", "LOG.eval"),
        ("--max-connections", "2", "LOG.json"),
    ],
)
def test_a_log_is_refused_before_anything_is_started(
    refused: Said, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    error = refused("probe", *arguments)
    assert re.search(r"got 'LOG\.\w+'; `urs-inspect report`.*urs_probe", error)
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("given", [["--log-dir", "here"], ["--log-dir=here"]])
def test_the_variable_of_the_harness_says_where_the_log_goes(
    refused: Said, tmp_path: Path, given: list[str]
) -> None:
    error = refused("probe", "--model-role", "grader=urs_simulation/judge", *given)
    assert tells(error, "--log-dir ... INSPECT_LOG_DIR")
    assert not (tmp_path / "logs").exists()


def test_an_argument_of_the_task_is_named_as_one(refused: Said, tmp_path: Path) -> None:
    error = refused("probe", "--model-role", "grader=urs_simulation/judge", "--per-kind", "5")
    assert tells(error, "urs-inspect probe ... --per-kind ... -T per_kind=")
    assert not (tmp_path / "logs").exists()


def test_generous_judges_and_those_that_cannot_be_read_are_suspect(tmp_path: Path) -> None:
    # A judge that gives 9 to everything: constant and injection fail. Empty is not asked, the
    # reference is fine.
    rows = _probe('{"Final Score": 9}', tmp_path)
    suspect = {kind for kind, cells in rows.items() if "SUSPECT" in cells[-1]}
    assert suspect == {"constant", "injection"} and rows.keys() == {
        "constant",
        "empty",
        "reference",
        "injection",
    }
    assert _probe("no scores here", tmp_path)["constant"][:4] == ["constant", "14", "14", "-"]


def _probe(reply: str, log_dir: Path) -> dict[str, list[str]]:
    """The rows that are printed about a judge that is suspect."""
    [log] = inspect_eval(
        urs_probe(),
        model="none",
        model_roles={"grader": Script(reply).model()},
        log_dir=str(log_dir),
        display="none",
        log_realtime=False,
    )
    console = Console(record=True, width=200)
    assert print_probe(log, console)
    return _probe_rows(console.export_text())


def _probe_rows(output: str) -> dict[str, list[str]]:
    """The cells of the rows about each kind of answer."""
    rows = [re.split(r"  +", line.strip()) for line in output.splitlines()]
    return {cells[0]: cells for cells in rows if len(cells) > 2 and cells[0] != "answer"}


@pytest.mark.parametrize("model", ["nosuch/model", "nosuch/lab/model"])
def test_a_provider_that_does_not_exist_is_named_before_the_run(
    refused: Callable[..., str], tmp_path: Path, model: str
) -> None:
    error = refused("probe", "--model-role", f"grader={model}")
    assert tells(error, f"grader ... 'nosuch' ... {model}")
    assert not (tmp_path / "logs").exists()
