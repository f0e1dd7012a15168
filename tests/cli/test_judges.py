"""`urs-inspect judges`."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.reports.pairs import judge_pairs


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("judges")
    judge_pairs(made)
    return made / "logs"


def row(output: str, *cells: str) -> list[str]:
    """The cells of the one table row that begins with the given ones."""
    rows = [[cell.strip() for cell in line.strip("│┃ ").split("│")] for line in output.splitlines() if "│" in line]
    [found] = [each for each in rows if tuple(each[: len(cells)]) == cells]
    return found


def test_judges_and_baselines_are_rows(run: Run, directory: Path) -> None:
    result = run("judges", directory)
    assert result.exit_code == 0, result.output
    assert result.output.count("Dataset:") == 1
    good, longest, second = (
        row(result.output, name, asked)
        for name, asked in (
            ("mockllm/good", "overall, ab"),
            ("baseline/longest", "overall, ab"),
            ("baseline/second", "-"),
        )
    )
    # pairs; overall accuracy with interval; dimension accuracy
    assert good[2:5] == ["8", "100.0 (100.0 to 100.0)", "-"]
    assert good[9] == "12.5"  # unread: the tie of eight
    assert longest[3].startswith("71.4 (")  # 5 / 7
    assert second[3].startswith("14.3 (")  # 1 / 7
    assert "The labels prefer the longer response in 71.4% of pairs." in " ".join(result.output.split())


def test_tests_are_put_in_words(run: Run, directory: Path) -> None:
    output = run("judges", directory, "--published", "none").output
    # Five tests on the level "overall": good, longest and bad among themselves are three, good and bad
    # against the best baseline, `first`, two. 5 * 2 / 128 = 0.078 is not below 0.05.
    assert row(output, "overall", "mockllm/good", "mockllm/bad")[-3:] == ["0.016", "0.078", "cannot tell apart"]
    assert "PUBLISHED" not in output


@pytest.mark.parametrize(("option", "tables"), [("all", 4), ("matching", 0), ("none", 0)])
def test_published_tables_are_marked(run: Run, directory: Path, option: str, tables: int) -> None:
    output = run("judges", directory, "--published", option).output
    assert output.count("Published, Table") == tables
    assert ("PUBLISHED, NOT MEASURED HERE" in output) == (tables > 0)


def test_published_numbers_stand_as_printed(run: Run, directory: Path) -> None:
    output = run("judges", directory).output
    assert row(output, "SaMer-8B", "75.67") == ["SaMer-8B", "75.67", "82.33"]
    assert row(output, "ArmoRM-8B", "-") == ["ArmoRM-8B", "-", "79.33"]
    assert row(output, "GPT-4o", "0.434")[1:4] == ["0.434", "0.306", "0.263"]


@pytest.mark.parametrize("argument", ["missing.eval", "."])
def test_without_a_log_there_is_one_line(
    run: Run, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("judges", argument)
    assert result.exit_code == 1
    assert result.output.startswith("Error: no log")
