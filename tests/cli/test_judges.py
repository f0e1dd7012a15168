"""`urs-inspect judges`; what its tables hold is tested in `tests.reports.test_judge_details`."""

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.tasks.scripted import Script, judged, record

PLAIN = ("--published", "none")


@pytest.fixture
def folders(pair_folder: Path, joint_folder: Path, rating_folder: Path, rubric_folder: Path) -> dict[str, Path]:
    return {"pairs": pair_folder, "dimensions": joint_folder, "ratings": rating_folder, "rubric": rubric_folder}


@pytest.mark.parametrize("kind", ["pairs", "dimensions", "ratings", "rubric"])
@pytest.mark.parametrize("width", [110, 72])
def test_names_and_numbers_can_be_read_on_a_narrow_terminal(
    run: Run, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, kind: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = run("judges", folders[kind], *PLAIN, *(["--published", "all"] if kind == "pairs" else []))
    assert result.exit_code == 0, result.output
    assert max(len(line) for line in result.output.splitlines()) <= width
    assert "…" not in result.output
    numbers = {"pairs": ("71.4 (", "82.33"), "dimensions": ("100.0",), "ratings": ("−1.000",), "rubric": ("1.000",)}
    assert all(number in result.output for number in numbers[kind])


def test_all_numbers_are_written_and_no_file_is_replaced(run: Run, folders: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    result = run("judges", folders["ratings"], folders["pairs"], *PLAIN, "--csv", path)
    assert result.exit_code == 0, result.output
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    named = {row["judge"] for row in found}
    assert {"mockllm/good", "baseline/longest", "mockllm/same", "mockllm/coarse"} <= named
    [unparsed] = [row for row in found if (row["judge"], row["measure"]) == ("mockllm/coarse", "unread")]
    assert float(unparsed["value"]) == pytest.approx(1 / 12)
    before = path.read_bytes()
    again = run("judges", folders["ratings"], "--csv", path)
    assert again.exit_code == 1 and "exists" in again.output
    assert path.read_bytes() == before


def test_pairs_and_ratings_are_shown_and_other_logs_named(run: Run, folders: dict[str, Path], tmp_path: Path) -> None:
    judged(tmp_path / "foreign", Script(record(5)).model())
    both = (folders["pairs"], folders["ratings"])
    alone = run("judges", *both, *PLAIN).output
    assert alone.count("Dataset:") == 2
    assert "Skipped" not in alone
    output = " ".join(run("judges", *both, tmp_path / "foreign", *PLAIN).output.split())
    assert output.count("Dataset:") == 2
    assert "Skipped: 1 log has no pairs scored by pair_verdict and no responses scored by rating_agreement" in output
    refused = run("judges", tmp_path / "foreign")
    assert refused.exit_code == 1
    assert refused.output.startswith("Error: no log that is finished and has pairs scored by pair_verdict or responses")


@pytest.mark.parametrize("argument", ["missing.eval", "."])
def test_without_a_log_there_is_one_line(
    run: Run, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("judges", argument)
    assert result.exit_code == 1
    assert result.output.startswith("Error: no log")
