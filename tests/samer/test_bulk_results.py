"""The results of an unfinished evaluation under kills, gaps, other inputs and models, and two
processes.
"""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from urs_inspect._util import InputError
from urs_inspect.samer._bulk_results import PartialResults

HEADER = {"input": "abc", "rows": 3}
RESULTS = {0: {"id": "1", "text": "é"}, 1: {"id": "2"}, 2: {"id": "3"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.sqlite"


def some(*rows: int) -> dict[int, dict[str, str] | None]:
    return {row: RESULTS[row] for row in rows}


def state(partial: PartialResults) -> tuple[int, int, set[int]]:
    return partial.begun, partial.done, set(partial.gaps)


def test_gaps_are_filled_later_and_results_stay_in_order(tmp_path: Path) -> None:
    path = tmp_path / "new" / "p.sqlite"
    with PartialResults(path, HEADER) as partial:
        partial.add({2: None, **some(1), 0: None})
        assert state(partial) == (3, 1, {0, 2})
        assert list(partial) == [RESULTS[1]]
        partial.add({0: None, **some(2)})
        assert partial.gaps == {0}
    with PartialResults(path, HEADER) as partial:
        assert state(partial) == (3, 2, {0})
        partial.add({**some(0), 3: {"id": "4"}})
    with PartialResults(path, HEADER) as partial:
        assert state(partial) == (4, 4, set())
        assert list(partial) == [*RESULTS.values(), {"id": "4"}]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("rows", [(1,), (0, 2)])
def test_a_row_out_of_turn_is_a_fault_of_ours(rows: tuple[int, ...], path: Path) -> None:
    with PartialResults(path, HEADER) as partial:
        with pytest.raises(ValueError, match="row"):
            partial.add(some(*rows))
        partial.add(some(0))
        with pytest.raises(ValueError, match="row 0 after 1 rows"):
            partial.add(some(0))


KILLED = """
import os, sys
from pathlib import Path
from urs_inspect.samer._bulk_results import PartialResults

partial = PartialResults(Path(sys.argv[1]), {"input": "abc", "rows": 3})
row, last = partial.begun, partial.begun + 20
while row < last:
    partial.add({row: {"row": row, "text": "x" * 3000}, row + 1: None})
    print(row + 2, flush=True)
    row += 2
partial._database.execute("BEGIN")
partial._database.executemany("INSERT INTO results VALUES (?, ?)", [(row + n, "x" * 4000) for n in range(2000)])
assert os.path.getsize(sys.argv[1]) > 2_000_000  # some of it is in the file already

print("in a transaction", flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_kill_keeps_every_finished_block_and_nothing_of_the_next(path: Path) -> None:
    """Killed by itself in the middle of a transaction larger than SQLite's cache, twice."""
    for start in (1, 2):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert done.stdout.splitlines()[-1] == "in a transaction"
        with PartialResults(path, HEADER) as partial:
            assert partial.begun == 20 * start
            assert partial.gaps == set(range(1, 20 * start, 2))
            assert [result["row"] for result in partial] == list(range(0, 20 * start, 2))


OF_MODEL = {**HEADER, "model": "DIR", "fingerprint": "a", "served": "m"}


@pytest.mark.parametrize(
    ("begun", "other", "named"),
    [
        (HEADER, {"input": "xyz", "rows": 3}, "another input"),
        (HEADER, {**HEADER, "bos": "double"}, "another bos"),
        (HEADER, {}, "another in"),
        (
            OF_MODEL,
            {**OF_MODEL, "fingerprint": "b"},
            "another model at DIR: its files have changed;",
        ),
        (
            OF_MODEL,
            {**OF_MODEL, "served": "n"},
            "another model at DIR: the server has another name for it;",
        ),
    ],
)
def test_what_was_begun_with_something_else_is_refused(
    begun: dict[str, Any], other: dict[str, Any], named: str, path: Path
) -> None:
    with PartialResults(path, begun) as partial:
        partial.add(some(0, 1, 2))
    before = path.read_bytes()
    with pytest.raises(InputError, match=f"begun with {named}"):
        PartialResults(path, other)
    assert path.read_bytes() == before


def foreign_database(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text("x"),
        lambda path: path.write_text('{"input": "abc", "rows": 3}\n' * 100),
        foreign_database,
    ],
)
def test_another_file_is_left_alone(make: Any, path: Path) -> None:
    make(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"no unfinished.*another output"):
        PartialResults(path, HEADER)
    assert path.read_bytes() == before


def test_a_damaged_file_is_refused(path: Path) -> None:
    with PartialResults(path, HEADER) as partial:
        partial.add(some(0, 1, 2))
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(InputError, match=r"is damaged: .*delete"):
        PartialResults(path, HEADER)


def test_the_numbers_of_a_probe_may_be_rounded_but_not_others(path: Path) -> None:
    # 3, 4 has length 5, of which 0.02 is 0.1.
    header = {**HEADER, "model": "http://h"}
    PartialResults(path, {**header, "probe": [3.0, 4.0]}).close()
    PartialResults(path, {**header, "probe": [3.0, 4.09]}).close()
    for probe in ([3.0, 4.11], [3.1, 4.1], [3.0], [4.0, 3.0], None):
        with pytest.raises(InputError, match="another model at http://h:"):
            PartialResults(path, {**header, "probe": probe})


def test_two_may_not_write_the_same_output(path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from urs_inspect.samer._bulk_results import"
        " PartialResults\n"
        "try:\n"
        "    PartialResults(Path(sys.argv[1]), {'input': 'abc', 'rows': 3}).close()\n"
        "except Exception as error:\n"
        "    print(error)"
    )
    command = [sys.executable, "-c", script, str(path)]
    with PartialResults(path, HEADER) as partial:
        partial.add(some(0))
        assert (
            "is in use: another process"
            in subprocess.run(command, capture_output=True, text=True).stdout
        )
        with pytest.raises(InputError, match="in use"):
            PartialResults(path, HEADER)
    assert subprocess.run(command, capture_output=True, text=True).stdout == ""  # released


def test_a_full_disk_leaves_what_was_there(path: Path) -> None:
    with PartialResults(path, HEADER) as partial:
        partial.add(some(0))
        partial._database.execute(
            "PRAGMA max_page_count = 1"
        )  # as large as it is: no page may be added
        with pytest.raises(InputError, match=r"cannot write .*full"):
            partial.add({1: {"id": "x" * 100_000}, 2: None})
        assert state(partial) == (1, 1, set())
    with PartialResults(path, HEADER) as partial:
        assert list(partial) == [RESULTS[0]]


def test_a_folder_that_cannot_be_made_or_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        PartialResults(tmp_path / "file" / "j", HEADER)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot write"):
        PartialResults(tmp_path / "folder", HEADER)


def test_a_file_system_without_locks_is_not_called_another_process(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_LOCK

    def refuse(self: PartialResults, header: Any) -> None:
        raise error

    monkeypatch.setattr(PartialResults, "_open", refuse)
    with pytest.raises(InputError, match=r"'.*': disk I/O error"):
        PartialResults(path, HEADER)
