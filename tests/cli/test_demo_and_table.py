"""`urs-inspect demo` and `urs-inspect table`."""

import math
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval

from tests.cli.conftest import Run, Said
from tests.reports.judged_logs import answered, judgement, write_judged
from urs_inspect.cli.demo import _inspect
from urs_inspect.tasks import urs, urs_addition


def simulated(task: Task, directory: Path, **options: Any) -> None:
    """A log of a simulated model."""
    inspect_eval(
        task, model="urs_simulation/strong", log_dir=str(directory), display="none", log_realtime=False, **options
    )


@pytest.fixture(scope="module")
def two_judges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of one model judged by another and by itself."""
    directory = tmp_path_factory.mktemp("logs")
    for roles in ({"grader": "urs_simulation/judge"}, {}):
        simulated(urs(dataset="sample", intents="leisure"), directory, model_roles=dict(roles), limit=2)
    return directory


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


def test_different_judges_stand_in_different_rankings(run: Run, two_judges: Path) -> None:
    result = run("table", two_judges)
    assert result.exit_code == 0
    first, second = result.output.split("Ranking 2")
    # Two questions: an interval would be wider than the scale.
    assert "5 (" not in result.output
    [(other, known)] = re.findall(
        r"Other judges: urs_simulation/(\w+), not urs_simulation/(\w+)", " ".join(second.split())
    )
    assert {other, known} == {"strong", "judge"}  # the logs may be of the same second
    itself, judged = (second, first) if other == "strong" else (first, second)
    assert "100%" in itself and "100%" not in judged


def test_logs_that_another_command_reads_are_named(said: Said, refused: Said, two_judges: Path, tmp_path: Path) -> None:
    simulated(urs_addition(lengths="2", per_length=1), tmp_path)
    words = "not being of urs_inspect/urs: 1 of urs_inspect/urs_addition (`urs-inspect addition` reads it)."
    assert words in refused("table", tmp_path).replace("\n", " ")
    assert words in said("table", two_judges, tmp_path)


def test_ten_models_are_readable_at_80_columns(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = ("Ask for Advice", "Factual QA", "Leisure", "Seek Creativity", "Solve Problem", "Text Assistant")
    for number in range(10):
        samples = [
            answered(f"{place}", judgement(float(5 + (place + number) % 4)), metadata={"intent_group": group})
            for place, group in enumerate(groups * 7)
        ]
        name = f"provider/a-model-with-a-rather-long-name-{number}"
        write_judged(tmp_path / f"{number}.eval", *samples, model=name)
    monkeypatch.setenv("COLUMNS", "80")
    result = run("table", tmp_path)
    assert result.exit_code == 0 and max(map(len, result.output.splitlines())) <= 80
    assert "…" not in result.output


def test_no_interval_has_no_width_or_goes_beyond_the_scale(said: Said, tmp_path: Path) -> None:
    for model, first in (("equal", 8.0), ("low", 10.0)):
        rest = 8.0 if model == "equal" else 1.0
        samples = [answered(f"{n}", judgement(rest if n else first)) for n in range(20)]
        write_judged(tmp_path / f"{model}.eval", *samples, model=f"p/{model}")
    output = said("table", tmp_path)
    assert "8.00" in output and not re.search(r"8\.00 \([\d.]+ to", output)
    assert "1.45 (1.00 to " in output


def test_missing_scores_are_named_with_what_they_leave_open(said: Said, tmp_path: Path) -> None:
    # Two models with the same answers; the judge failed on the 80 worst of one.
    finals = [float(4 + number % 6) for number in range(300)]
    worst = set(sorted(range(300), key=finals.__getitem__)[:80])
    for model, lost in (("p/whole", set[int]()), ("p/lacking", worst)):
        samples = [
            answered(f"{n}", judgement(math.nan, outcome="unparsed") if n in lost else judgement(value))
            for n, value in enumerate(finals)
        ]
        write_judged(tmp_path / f"{model[2:]}.eval", *samples, model=model)
    output = said("table", tmp_path)
    kept = sum(value for n, value in enumerate(finals) if n not in worst)
    assert "80 of 600 answers have no score. Means, ranks and tests are over the 220 of 300 questions" in output
    assert f"27% ! │ {(kept + 80) / 300:.2f}–{(kept + 800) / 300:.2f}" in output
    (tmp_path / "lacking.eval").unlink()
    assert "no score" not in said("table", tmp_path)
