"""What becomes of SaMer's engines when a run ends, through the harness."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.samer.stubs import Opening
from tests.tasks.scripted import run, run_all, say
from urs_inspect.samer.engines import shared
from urs_inspect.scorers import pair_verdict, samer
from urs_inspect.solvers import compare_pair

StubEngine = Callable[..., Opening]


def scoring(folder: Path, how: Solver | None = None, **options: Any) -> Task:
    samples = MemoryDataset([Sample(id=number, input="Why?") for number in range(3)])
    return Task(dataset=samples, solver=how or say("So."), scorer=samer(str(folder), engine="stub", **options))


def judging(folder: Path) -> Task:
    facts = {"prompt": "Why?", "response_a": "So.", "response_b": "Because.", "label": "b"}
    return Task(
        dataset=MemoryDataset([Sample(id="p", input="Why?", metadata=facts)]),
        solver=compare_pair(protocol="overall", judge="samer", samer={"model": str(folder), "engine": "stub"}),
        scorer=pair_verdict(),
    )


@solver
def breaks() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == 2:
            raise RuntimeError("scripted")
        return state

    return solve


@pytest.mark.parametrize("make", [scoring, judging])
def test_an_engine_is_closed_when_its_run_ends(make: Any, tmp_path: Path, stub_engine: StubEngine) -> None:
    opening = stub_engine()
    for runs in (1, 2):
        log = run(make(tmp_path), tmp_path / "logs", model="none/none", grader=None)
        assert log.status == "success", log.error
        assert [engine.closed for engine in opening.made] == [1] * runs
        assert not shared._open


def test_tasks_of_one_run_share_an_engine(tmp_path: Path, stub_engine: StubEngine) -> None:
    opening = stub_engine()
    logs = run_all([scoring(tmp_path), judging(tmp_path)], tmp_path / "logs", model="none/none", grader=None)
    assert [log.status for log in logs] == ["success"] * 2
    assert [engine.closed for engine in opening.made] == [1]


def test_a_run_that_fails_closes_its_engine_too(tmp_path: Path, stub_engine: StubEngine) -> None:
    opening = stub_engine()
    task = scoring(tmp_path, breaks())
    log = run(task, tmp_path / "logs", model="none/none", grader=None, max_samples=1)
    assert log.status == "error"
    assert [engine.closed for engine in opening.made] == [1] * len(opening.made)
    assert not shared._open


def test_nobody_is_told_of_hooks(tmp_path: Path) -> None:
    """The harness lists hooks at its start; ours is there only once an engine is open, in this run and the next."""
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.samer.stubs import Opening\n"
        "from tests.scorers.test_samer_run_end import scoring\n"
        "from tests.tasks.scripted import run\n"
        "from urs_inspect.samer.engines import register_engine\n"
        "opening, folder = Opening(), Path(sys.argv[1])\n"
        "register_engine('stub', opening)\n"
        "for _ in range(2):\n"
        "    run(scoring(folder), folder / 'logs', model='none/none', grader=None)\n"
        "print('closed', [engine.closed for engine in opening.made])\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    repository = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, cwd=repository, timeout=120, check=False)
    assert "closed [1, 1]" in done.stdout, done.stderr
    assert "hooks" not in done.stdout + done.stderr
