"""`urs-inspect probe`."""

import re
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ModelUsage, get_model
from rich.console import Console

from tests.cli.conftest import Run
from urs_inspect.cli.judges import print_probe
from urs_inspect.tasks import urs_probe


def test_a_sound_judge_passes_and_no_number_is_pooled_over_the_kinds_of_answers(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = run("probe", "--model-role", "grader=urs_simulation/judge", "--log-dir", tmp_path, "--display", "plain")
    assert result.exit_code == 0, result.output
    assert "SIMULATION" in result.output
    assert "SUSPECT" not in result.output
    harness = capfd.readouterr().out
    rows = {line.split()[0]: float(line.split()[1]) for line in harness.splitlines() if len(line.split()) == 2
            and line.split()[1].replace(".", "").isdigit()}  # fmt: skip
    assert rows.keys() == {"constant", "empty", "reference", "injection"}
    for kind, mean in rows.items():
        [row] = [line for line in result.output.splitlines() if line.startswith(f"│ {kind} ")]
        assert f"{mean:.2f}" in row


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
def test_a_log_is_refused_before_anything_is_started(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = run("probe", *arguments, "--log-dir", tmp_path / "logs")
    assert result.exit_code == 1
    assert re.search(r"takes no log, got 'LOG\.\w+'; `urs-inspect report` reads logs of urs_probe", result.output)
    assert not (tmp_path / "logs").exists()


def test_a_generous_judge_is_suspect(tmp_path: Path) -> None:
    # A judge that gives 9 to everything: constant and injection fail. Empty is not asked, the reference is fine.
    console = Console(record=True, width=200)
    assert print_probe(_probe_with('{"Final Score": 9}', tmp_path), console)
    verdicts = {line.split()[1]: "SUSPECT" in line for line in console.export_text().splitlines() if "│" in line}
    assert {kind: verdicts[kind] for kind in ("constant", "empty", "reference", "injection")} == {
        "constant": True,
        "empty": False,
        "reference": False,
        "injection": True,
    }


def test_a_judge_that_cannot_be_read_is_suspect_and_counted(tmp_path: Path) -> None:
    console = Console(record=True, width=200)
    assert print_probe(_probe_with("no scores here", tmp_path), console)
    [row] = [line for line in console.export_text().splitlines() if line.startswith("│ constant")]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[:4] == ["constant", "14", "14", "-"]


def _probe_with(reply: str, log_dir: Path) -> EvalLog:
    [log] = inspect_eval(
        urs_probe(),
        model="none",
        model_roles={"grader": _judge(reply)},
        log_dir=str(log_dir),
        display="none",
        log_realtime=False,
    )
    return log


def _judge(reply: str) -> Model:
    def answer(*_: object) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", reply)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=answer, config=GenerateConfig(), memoize=False)
