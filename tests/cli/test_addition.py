"""`urs-inspect addition`, over logs of real runs and over broken ones."""

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval

from tests.cli.conftest import Run
from urs_inspect.tasks.urs_addition import urs_addition


def test_real_runs_are_laid_out_as_table_7(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    logs = inspect_eval(
        urs_addition(lengths="2-5,12", per_length=3),
        model=["urs_simulation/strong", "urs_simulation/weak"],
        epochs=2,
        display="none",
        log_dir=str(tmp_path / "logs"),
    )
    assert {log.status for log in logs} == {"success"}
    done = run("addition", tmp_path / "logs", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("SIMULATION")
    assert "15 chains, asked in 'en'" in done.output
    assert "each chain was asked in 2 epochs" in done.output
    assert "Claude-3-opus" in done.output and "not comparable row by row" in done.output
    assert "…" not in done.output
    assert max(map(len, done.output.split("\nWritten")[0].splitlines())) <= 80
    assert (tmp_path / "out" / "addition.json").exists()


def test_bad_input_is_said(tmp_path: Path, run: Run) -> None:
    (tmp_path / "broken.eval").write_bytes(b"no log")
    done = run("addition", tmp_path)
    assert done.exit_code == 1
    assert "no finished log of urs_addition with scored answers in" in done.output
    assert "broken.eval was left out: cannot read the log" in done.output
    assert run("addition", tmp_path / "absent").exit_code == 1
    assert run("addition").exit_code == 2
