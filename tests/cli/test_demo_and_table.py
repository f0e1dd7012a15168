"""`urs-inspect demo` and `urs-inspect table`."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Said
from tests.reports.addition.logs import write_addition
from tests.reports.judged_logs import answered, judgement, write_judged
from urs_inspect.cli.start import _inspect


def test_demo_says_that_it_simulates_and_where_to_look(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    result = run("demo", "--log-dir", tmp_path / "a demo")
    assert result.exit_code == 0
    assert result.output.count("SIMULATION") >= 2
    assert "urs_simulation/strong" in result.output
    assert "urs_simulation/weak" in result.output
    for word in ("Ranking", "Intents", "Factual", "Languages", "Chinese", "Criteria", "Creativity", "judged"):
        assert word in result.output
    assert len(list((tmp_path / "a demo").glob("*.eval"))) == 2
    # The command that is printed runs in a shell in which no environment is activated.
    command = result.output.splitlines()[-1].partition("judgement:")[2]
    assert shlex.split(command)[1:] == ["view", "--log-dir", str(tmp_path / "a demo")]
    done = subprocess.run(f"{command} --help", shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Inspect log viewer" in done.stdout


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
    assert _inspect().endswith(" -m inspect_ai")


def test_logs_that_another_command_reads_are_named(said: Said, refused: Said, tmp_path: Path) -> None:
    other = write_addition(tmp_path / "addition.eval", {2: "+"})
    words = "not being of urs_inspect/urs: 1 of urs_inspect/urs_addition (`urs-inspect addition` reads it)."
    assert words in " ".join(refused("table", other).split())
    write_judged(tmp_path / "urs.eval", answered("q", judgement(5.0)))
    assert words in said("table", tmp_path)
