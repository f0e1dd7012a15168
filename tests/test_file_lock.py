"""Locks on files, held against a second process."""

import errno
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from urs_inspect.file_lock import lock_file

# Locks its argument, says so, and holds the lock until its input ends.
HOLD = (
    "import sys; from urs_inspect.file_lock import lock_file\n"
    "with open(sys.argv[1], 'ab') as file:\n"
    "    lock_file(file.fileno()); print('held', flush=True); sys.stdin.read()"
)


@contextmanager
def another_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A second process that has the lock."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_what_another_process_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with another_process(path), path.open("ab") as file, pytest.raises(BlockingIOError):
        lock_file(file.fileno())


def test_this_process_has_no_second_lock_either(tmp_path: Path) -> None:
    with (tmp_path / "file").open("ab") as one, (tmp_path / "file").open("ab") as other:
        lock_file(one.fileno())
        with pytest.raises(BlockingIOError):
            lock_file(other.fileno())


def test_closing_the_file_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("ab") as file:
        lock_file(file.fileno())
    with another_process(path):
        pass


@pytest.mark.parametrize("killed", [True, False])
def test_the_end_of_a_process_lets_go(tmp_path: Path, killed: bool) -> None:
    path = tmp_path / "file"
    with another_process(path) as process, path.open("ab") as file:
        if killed:
            process.kill()
        else:
            assert process.stdin is not None
            process.stdin.close()
        assert (process.wait() == 0) is not killed
        lock_file(file.fileno())


def test_waiting_lasts_until_the_other_process_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with another_process(path) as process, path.open("ab") as file:
        got = threading.Event()

        def wait() -> None:
            lock_file(file.fileno(), wait=True)
            got.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not got.wait(0.1)
        process.kill()
        waiting.join()
        assert got.is_set()
    with path.open("ab") as again:
        lock_file(again.fileno())


def test_a_locked_file_can_be_read_and_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    with path.open("ab", buffering=0) as file:
        lock_file(file.fileno())
        file.write(b"two\n")
        assert path.read_bytes() == b"one\ntwo\n"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_what_cannot_be_locked_is_not_said_to_be_in_use(tmp_path: Path) -> None:
    with (tmp_path / "file").open("ab") as file:
        closed = file.fileno()
    with pytest.raises(OSError) as caught:
        lock_file(closed)
    assert caught.value.errno == errno.EBADF
    assert not isinstance(caught.value, BlockingIOError)
