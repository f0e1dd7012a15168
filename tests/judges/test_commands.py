"""`urs-inspect judges`; what its tables hold is tested beside this file."""

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.tasks.scripted import Script, judged, record
from tests.telling import tells


@pytest.fixture
def folders(
    pair_folder: Path, joint_folder: Path, rating_folder: Path, rubric_folder: Path
) -> dict[str, Path]:
    return {
        "pairs": pair_folder,
        "dimensions": joint_folder,
        "ratings": rating_folder,
        "rubric": rubric_folder,
    }


def test_all_numbers_are_written_and_no_file_is_replaced(
    run: Run, folders: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "numbers.csv"
    result = run("judges", folders["ratings"], folders["pairs"], "--csv", path)
    assert result.exit_code == 0, result.output
    assert result.output.count("All numbers: ") == 1
    assert "All numbers" not in run("judges", folders["ratings"]).output
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    named = {row["judge"] for row in found}
    assert {"mockllm/good", "baseline/longest", "mockllm/same", "mockllm/coarse"} <= named
    [unparsed] = [
        row for row in found if (row["judge"], row["measure"]) == ("mockllm/coarse", "unread")
    ]
    assert float(unparsed["value"]) == pytest.approx(1 / 12)
    before = path.read_bytes()
    again = run("judges", folders["ratings"], "--csv", path)
    assert again.exit_code == 1 and "exists" in again.output
    assert path.read_bytes() == before


def test_pairs_and_ratings_are_shown_and_other_logs_named(
    run: Run, folders: dict[str, Path], tmp_path: Path
) -> None:
    judged(tmp_path / "foreign", Script(record(5)).model())
    both = (folders["pairs"], folders["ratings"])
    alone = run("judges", "--all", *both).output
    assert alone.count("Dataset:") == 2
    assert "Skipped" not in alone
    output = " ".join(run("judges", "--all", *both, tmp_path / "foreign").output.split())
    assert output.count("Dataset:") == 2
    assert tells(output, "no judged pairs ... 1 log of task")
    assert run("judges", "--all", tmp_path / "foreign").exit_code == 1
