"""Files that cannot be written: one line that names the place, before the work where possible, and
nothing is left.
"""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from tests.annotation.samples import rating, shown_logs
from tests.cli.conftest import Run
from tests.rating.samples import queue

COMMANDS = {
    "references": ("references {logs}/apple.eval -o {place}.jsonl", "output"),
    "import": ("cases import {logs}/survey.csv -o {place}.jsonl", "output"),
    "annotate": (
        "annotate {logs}/apple.eval --votes {logs}/ratings --output {place}.eval",
        "output",
    ),
    "report": ("report {logs} -o {place}", "output"),
    "judges": ("judges {pairs} --csv {place}.csv", "csv"),
}
SURVEY = "id,question,user_intent,language\n" + "".join(
    f"{n},Which tea number {n} tastes best in spring?,Leisure,en\n" for n in range(9)
)
FULL = 64  # bytes that a file may hold where the disk is to be full


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shown_logs(tmp_path_factory.mktemp("logs"))
    (folder / "survey.csv").write_text(SURVEY, encoding="utf-8")
    (folder / "ratings").mkdir()
    drawn = [item for item in queue(folder) if item.answer.model == "p/apple"]
    lines = [rating(item.answer, 7, "ann").to_line() + "\n" for item in drawn]
    (folder / "ratings" / "ann.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def words(name: str, place: Path, logs: Path, pairs: Path) -> list[str]:
    command, _ = COMMANDS[name]
    return [word.format(logs=logs, place=place, pairs=pairs) for word in command.split()]


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file can grow beyond so many bytes, as if the disk were full.

    Modules that are imported meanwhile are not compiled into files, which would be cut off as well
    and keep every later process from importing them.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    compiling = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = compiling


def check_error(result: Result, name: str) -> None:
    assert result.exit_code == 1, result.output
    errors = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert errors and errors[0].startswith(f"Error: {COMMANDS[name][1]}: "), result.output
    assert "Traceback" not in result.output


# The harness's file of a log closes itself once more when it is freed, in vain.
@pytest.mark.satellites
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fills_up_ends_in_one_line_and_leaves_nothing(
    name: str, run: Run, logs: Path, pair_folder: Path, tmp_path: Path
) -> None:
    with largest_file(FULL):
        result = run(*words(name, tmp_path / "out", logs, pair_folder))
    check_error(result, name)
    assert "cannot write to" in result.output
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not (tmp_path / "out").exists()


@pytest.mark.satellites
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("place", ["full", "missing", "file", "device"])
def test_a_bad_place_is_refused_before_the_work(
    place: str, name: str, run: Run, tmp_path: Path
) -> None:
    """Logs, ratings and surveys are absent, which would be the error if the work had begun."""
    (tmp_path / "file").touch()
    absent = tmp_path / "absent"
    folders = {
        "full": tmp_path,
        "missing": tmp_path / "none",
        "file": tmp_path / "file",
        "device": Path("/dev/full"),
    }
    if (place, name) == ("missing", "report"):
        pytest.skip("report makes its folder")
    if name == "annotate":
        absent.mkdir()
        (absent / "apple.eval").touch()
    with largest_file(0 if place == "full" else 10**9):
        result = run(*words(name, folders[place] / "out", absent, absent))
    check_error(result, name)
    assert str(folders[place]) in result.output
    assert not (tmp_path / "none").exists()


@pytest.mark.satellites
@pytest.mark.parametrize("name", ["references", "annotate", "judges"])
def test_a_directory_is_no_file_to_write(
    name: str, run: Run, logs: Path, pair_folder: Path, tmp_path: Path
) -> None:
    for suffix in (".jsonl", ".eval", ".csv"):
        (tmp_path / f"out{suffix}").mkdir()
    result = run(*words(name, tmp_path / "out", logs, pair_folder))
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.output
    assert "already" in result.output or "is a directory" in result.output
