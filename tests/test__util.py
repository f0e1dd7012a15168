"""Tests of `urs_inspect._util`."""

import errno
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from urs_inspect._util import InputError, counted, escaped, is_blank, lock_file, read_yaml, visible

# Locks its argument, says so, and holds the lock until its input ends.
HOLD = (
    "import sys; from urs_inspect._util import lock_file\n"
    "with open(sys.argv[1], 'ab') as file:\n"
    "    lock_file(file.fileno()); print('held', flush=True); sys.stdin.read()"
)


@contextmanager
def another_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A second process that has the lock."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_file_is_locked_once_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with another_process(path), path.open("ab") as file, pytest.raises(BlockingIOError):
        lock_file(file.fileno())
    with path.open("ab") as one, path.open("ab") as other:
        lock_file(one.fileno())
        with pytest.raises(BlockingIOError):
            lock_file(other.fileno())
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


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (counted(1, "answer"), "1 answer"),
        (counted(0, "answer"), "0 answers"),
        (counted(1200, "answer"), "1,200 answers"),
        (counted(2, "country", "countries"), "2 countries"),
        (escaped("a|b"), r"a\|b"),
        (escaped("*x* _y_ `z`"), r"\*x\* \_y\_ \`z\`"),
        (escaped("[a](b) <c> #d"), r"\[a\](b) \<c\> \#d"),
        (escaped("a\n\n# b"), r"a \# b"),
        (visible("שלום مرحبا 你好 \u200d\n"), "שלום مرحبا 你好 \u200d\n"),
    ],
)
def test_numbers_have_their_noun_and_markdown_and_other_scripts_stay_as_they_are(
    given: str, shown: str
) -> None:
    assert given == shown


@pytest.mark.parametrize(
    ("text", "blank"), [("", True), (" \n\u200b\u00a0", True), ("\u0000", True), (".", False)]
)
def test_what_shows_nothing_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("character", DIRECTIONS)
def test_what_changes_the_direction_of_writing_is_spelt_out(character: str) -> None:
    assert visible(f"a{character}b") == f"a\\u{ord(character):04x}b"
    assert character not in str(InputError(f"unknown model 'a{character}b'"))


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\nb: 2\na: 3", 3), ("x:\n  - {k: 1, k: 1}", 2), ("'a': 1\na: 2", 2), ("1: x\n1: y", 2)],
)
def test_a_key_that_is_there_twice_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(yaml.YAMLError, match=rf"there twice \(line {line}: "):
        read_yaml(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: a\nlist: [1, 2\nkey: b: c", "line 3: key: b: c"),
        ("name: [", "line 1"),
        ("a: 1\n\tb: 2", "line 2"),
        ("a: 1\nb: \x00", "line 2"),
        ("a: 1\nb: !own x", "line 2: b: !own x"),
    ],
)
def test_a_fault_of_yaml_is_one_line_that_names_the_faulty_one(text: str, line: str) -> None:
    with pytest.raises(yaml.YAMLError) as caught:
        read_yaml(text)
    [message] = str(caught.value).splitlines()
    assert line in message and "^" not in message


def test_yaml_reads_as_before() -> None:
    text = (
        "base: &base {a: 1, b: 2}\nown:\n  <<: *base\n  a: 3\nlist: [{a: 1}, {a: 2}]\n1: x\n'1': y"
    )
    assert read_yaml(text) == yaml.safe_load(text)
    with pytest.raises(yaml.YAMLError):
        read_yaml("!!python/object/apply:os.getcwd []")
