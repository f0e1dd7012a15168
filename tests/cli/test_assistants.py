"""`urs-inspect assistants`, over logs of real runs and over broken ones."""

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval

from tests.cli.conftest import Run
from tests.reports.assistants.logs import NOTHING, SEARCH, write_assistant
from urs_inspect.tasks.urs_assistants import urs_assistants


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated model alone, with pages, and a search: two of four questions share no word with a page."""
    root = tmp_path_factory.mktemp("assistants")
    (root / "pages").mkdir()
    for name, model, arguments in (
        ("model", "urs_simulation/strong", {}),
        ("search", "none", {"assistant": "search", "search": f"folder:{root / 'pages'}"}),
        ("rag", "urs_simulation/strong", {"assistant": "rag", "search": f"folder:{root / 'pages'}"}),
    ):
        if name == "search":
            cases = [str(one.input) for one in urs_assistants(dataset="sample", count=4).dataset]
            (root / "pages" / "some.txt").write_text("\n".join(cases[:2]), encoding="utf-8")
        [log] = inspect_eval(
            urs_assistants(dataset="sample", count=4, **arguments),  # type: ignore[arg-type]
            model=model,
            model_roles={"grader": "urs_simulation/judge"},
            display="none",
            log_dir=str(root / "logs"),
        )
        assert log.status == "success"
    return root / "logs"


def test_real_runs_are_compared_on_common_questions(
    logs: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = run("assistants", logs, "-o", tmp_path / "out", "--rounds", "200")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("SIMULATION")
    flat = " ".join(done.output.split())
    assert "Means are over the" in flat and "that all 3 have a score for." in flat
    assert "found nothing" in flat and "cannot tell" in flat
    assert "Published in the paper with its judge (GPT-4); not comparable row by row" in flat
    assert "…" not in done.output
    assert max(map(len, done.output.split("\nWritten")[0].splitlines())) <= 80
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "assistants.csv",
        "assistants_differences.csv",
        "assistants.md",
        "assistants.json",
    }


def test_long_names_are_whole_at_80_columns(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = "provider/" + "a-very-long-name-of-a-model-" * 3
    write_assistant(tmp_path / "m.eval", {f"q{n}": 9.0 for n in range(8)}, model=long)
    write_assistant(tmp_path / "s.eval", {f"q{n}": 4.0 if n else NOTHING for n in range(8)}, SEARCH)
    done = run("assistants", tmp_path, "--rounds", "100")
    assert done.exit_code == 0, done.output
    letters = "".join(done.output.replace("│", "").split())
    assert "…" not in done.output and "+5.00" in letters and "7of8" in letters
    assert max(map(len, done.output.splitlines())) <= 80


def test_bad_input_is_said(tmp_path: Path, run: Run) -> None:
    (tmp_path / "empty").mkdir()
    done = run("assistants", tmp_path / "empty")
    assert done.exit_code == 1
    assert "no finished log of urs_assistants with scored answers in" in done.output
    assert "has no logs" in done.output
    assert run("assistants", tmp_path / "absent").exit_code == 1
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    assert "is a file; name a directory" in run("assistants", tmp_path / "absent", "-o", tmp_path / "mine").output
    assert run("assistants").exit_code == 2
