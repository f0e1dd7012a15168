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

from urs_inspect._util import (
    InputError,
    check_folder,
    check_new_file,
    choices,
    counted,
    did_you_mean,
    escaped,
    file_kind,
    is_blank,
    lock_file,
    naming,
    read_yaml,
    read_yaml_file,
    read_yaml_or_file,
    visible,
    write_new_file,
)

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
        ("a: 1\nb: !own x", "line 2: b: !own x)"),
        ("a:\n   b: !own x   \nc: 1", "(line 2: b: !own x)"),
        ("a: [1, !own " + "x" * 90, "(line 1: a: [1, !own " + "x" * 48 + ")"),
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


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("qestion", " (did you mean question?)"),
        (" QUESTION ", " (did you mean question?)"),
        ("labels", " (did you mean label?)"),
        ("xyz", ""),
        ("", ""),
    ],
)
def test_near_names_are_asked_for_at_most_two_of_them(name: str, asked: str) -> None:
    assert did_you_mean(name, ["question", "label", "Table"]) == asked
    assert did_you_mean(name, []) == ""
    many = did_you_mean("labels", ["label", "labels_a", "labels_b", "labels_c"])
    assert many.count(" or ") == 1


def test_a_thousand_and_none_have_their_nouns() -> None:
    assert (counted(1000, "answer"), counted(0, "answer")) == ("1,000 answers", "0 answers")
    assert counted(1, "country", "countries") == "1 country"
    assert choices(["a", 2, None]) == "a, 2, None"
    assert file_kind(Path("a.b.txt")) == "'.txt' files"
    assert file_kind(Path("folder.x/README")) == "files without an ending"


def test_an_error_begins_once_with_its_argument() -> None:
    with pytest.raises(InputError) as once, naming("pool"), naming("pool"):
        raise InputError("no such file")
    assert str(once.value) == "pool: no such file"
    with pytest.raises(InputError) as twice, naming("answers"), naming("pool"):
        raise InputError("no such file")
    assert str(twice.value) == "answers: pool: no such file"
    with pytest.raises(ValueError, match=r"^other$"), naming("pool"):
        raise ValueError("other")


def test_what_an_option_says_is_yaml_or_the_path_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "names.yaml"
    file.write_bytes("\ufeffa: ü\n".encode())
    assert read_yaml_or_file(" {a: 1}", "columns") == {"a": 1}
    assert read_yaml_or_file(str(file), "columns") == read_yaml_file(file, "columns") == {"a": "ü"}
    file.write_bytes(b"a: \xff")
    for given, words in (
        ("{a: [", "columns: not valid YAML: "),
        (str(tmp_path / "none.yaml"), "columns: no file "),
        (str(file), "columns: cannot read .* as UTF-8"),
        (str(tmp_path), "columns: cannot read "),
    ):
        with pytest.raises(InputError, match=words):
            read_yaml_or_file(given, "columns")
    file.write_text("a: [", encoding="utf-8")
    with pytest.raises(InputError, match=r"columns: cannot read .*names\.yaml.*not valid YAML"):
        read_yaml_file(file, "columns")


def test_a_new_file_is_of_a_kind_not_there_yet_and_in_a_folder(tmp_path: Path) -> None:
    check_new_file(tmp_path / "a.EVAL", ".eval", ".json")
    there = tmp_path / "there.json"
    there.touch()
    dangling = tmp_path / "link.json"
    dangling.symlink_to(tmp_path / "nowhere")
    for path, words in (
        (tmp_path / "a.txt", r"output: must be the name of a \.eval or \.json file, got .*a\.txt"),
        (there, r"output: there is a file .*there\.json"),
        (dangling, r"output: there is a file .*link\.json"),
        (tmp_path / "none" / "a.eval", r"output: no folder .*none"),
    ):
        with pytest.raises(InputError, match=words):
            check_new_file(path, ".eval", ".json")
    with pytest.raises(InputError, match=r"^copy: "):
        check_new_file(there, ".json", option="copy")


def test_a_folder_that_is_made_later_needs_one_above_it(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "deeper", make=True)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"output: no folder .*deeper"):
        check_folder(tmp_path / "new" / "deeper")
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InputError, match=r"^to: no folder .*file"):
        check_folder(file, "to")
    with pytest.raises(InputError, match=r"^output: .*file"):
        check_folder(file / "below", make=True)


def test_a_new_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    write_new_file(path, "ü\n")
    assert path.read_bytes() == "ü\n".encode()
    with pytest.raises(InputError, match=r"output: cannot write to .*new\.txt"):
        write_new_file(path, "other")
    assert path.read_text(encoding="utf-8") == "ü\n"
    half = tmp_path / "half.txt"
    with pytest.raises(UnicodeEncodeError):
        write_new_file(half, "\ud800")
    assert not half.exists()
