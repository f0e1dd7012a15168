"""`urs-inspect probe`."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log
from rich.console import Console

from tests.cli.conftest import Run, Said
from tests.reports.judged_logs import answered, judgement, unscored, write_judged
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


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """How a run that a probe starts ends; `command` is what was started."""
    ends: dict[str, Any] = {"code": 0, "logs": ["x.eval"], "suspect": False}

    def run(command: list[str], check: bool) -> SimpleNamespace:
        ends["command"] = command
        return SimpleNamespace(returncode=ends["code"])

    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr("inspect_ai.log.list_eval_logs", lambda folder: ends["logs"])
    ends["read"] = SimpleNamespace(location="x.eval", status="success")
    monkeypatch.setattr("inspect_ai.log.read_eval_log", lambda log: ends["read"])
    place = "urs_inspect.cli._probe.print_probe"
    monkeypatch.setattr(place, lambda log, console: ends["suspect"])
    return ends


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ({}, 0),
        ({"suspect": True}, 3),
        ({"suspect": True, "status": "error"}, 1),
        ({"status": "cancelled"}, 1),
        ({"code": 1}, 1),
        ({"code": 2, "logs": []}, 2),
        ({"code": 130}, 130),
        ({"logs": []}, 1),
    ],
)
def test_the_exit_code_of_a_probe_tells_how_its_run_ended(
    run: Run, started: dict[str, Any], end: dict[str, Any], code: int
) -> None:
    started.update(end)
    started["read"].status = end.get("status", "success")
    given = ("--model-role", "grader=mockllm/model", "-T", "per_kind=5")
    result = run("probe", *given)
    assert result.exit_code == code
    command = started["command"]
    assert command[-4:] == ["--model-role", "grader=mockllm/model", "-T", "per_kind=5"]
    # Arguments that `inspect eval` refused are explained.
    assert ("-T NAME=VALUE" in result.stderr) is (code == 2)
    assert ("status" in result.stderr) is (end.get("status") is not None)


def test_the_judge_of_a_probe_is_given_in_the_role_grader(refused: Said) -> None:
    assert tells(refused("probe", "--model-role", "judge=p/x"), "grader=<model>, got judge=p/x")


def test_a_model_that_lacks_its_key_is_left_to_the_run(
    run: Run, started: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(model: str) -> None:
        raise PrerequisiteError(f"no key for {model}")

    monkeypatch.setattr("inspect_ai.model.get_model", lacking)
    assert run("probe", "--model-role", "grader=lab/model").exit_code == 0
    assert "grader=lab/model" in started["command"]


def test_judgements_count_whatever_sample_lacks_one(tmp_path: Path) -> None:
    finals: dict[str, list[float | None]] = {
        "constant": [1.0, None, 2.0],
        "empty": [1.0],
        "reference": [9.0],
        "injection": [9.0],
    }
    samples = []
    for kind, given in finals.items():
        for place, final in enumerate(given):
            scores = [] if final is None else [judgement(final, f"p/{kind}")]
            metadata = {"null_answer": kind}
            samples.append(answered(f"{kind}{place}", *scores, metadata=metadata))
    samples.append(answered("late", unscored(), metadata={"null_answer": "constant"}))
    log = read_eval_log(write_judged(tmp_path / "x.eval", *samples))
    console = Console(record=True, width=200)
    assert print_probe(log, console)
    text = console.export_text()
    assert _probe_rows(text)["constant"][1:5] == ["3", "1", "1.50", "1 to 2"]
    assert tells(text, "SUSPECT ... injection ... Judge: ... p/constant")
    assert "SIMULATED" not in text
