"""Run configurations must run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

_CONFIGS = Path(__file__).parent.parent / "configs"


@pytest.mark.parametrize("config", sorted(_CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_configuration_runs_with_other_models(config: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "inspect_ai", "eval", "--run-config", str(config), "--limit", "3"]
    command += ["--model", "urs_simulation/weak", "--model-role", "grader=urs_simulation/judge", "-T", "dataset=sample"]
    command += ["--log-dir", str(tmp_path), "--display", "none"]
    # The configuration names models of a provider that wants a key before it is overridden; none is called.
    done = subprocess.run(command, env={**os.environ, "OPENAI_API_KEY": "unused"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [info] = list_eval_logs(str(tmp_path))
    log = read_eval_log(info, header_only=True)
    assert log.status == "success"
    assert log.eval.task == "urs_inspect/urs"
    assert log.eval.model == "urs_simulation/weak"
