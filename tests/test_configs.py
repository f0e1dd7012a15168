"""Run configurations must run."""

from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from tests.tasks.commands import succeed

_CONFIGS = Path(__file__).parent.parent / "configs"


@pytest.mark.parametrize("config", sorted(_CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_configuration_runs_with_other_models(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The configuration names models of a provider that wants a key before it is overridden; none is
    # called.
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    succeed(
        *("eval", "--run-config", str(config), "--limit", "3", "-T", "dataset=sample"),
        *("--model", "urs_simulation/weak", "--model-role", "grader=urs_simulation/judge"),
        *("--log-dir", str(tmp_path / "logs"), "--display", "none"),
        tmp_path=tmp_path,
    )
    [info] = list_eval_logs(str(tmp_path / "logs"))
    log = read_eval_log(info, header_only=True)
    assert log.status == "success"
    assert log.eval.task == "urs_inspect/urs"
    assert log.eval.model == "urs_simulation/weak"
