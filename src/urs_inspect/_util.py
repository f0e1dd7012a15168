"""Shared by all rooms: errors of users, blank and plural texts, locks of files."""

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import click

_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]|<>#"})
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """A text whose characters for the direction of writing, which could reorder what is shown, are
    spelt out.
    """
    return _DIRECTION.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def read_yaml(text: str) -> Any:
    """Read YAML that a user wrote.

    The message of a `yaml.YAMLError` is one line, with that of the fault.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen: set[tuple[str, str]] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if (key.tag, key.value) in seen:
                        problem = f"the key '{key.value}' is there twice"
                        raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                    seen.add((key.tag, key.value))
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)  # noqa: S506 - a kind of SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f" ({_line(text, mark.line)})"
        raise yaml.YAMLError(f"{error.problem or error.context}{where}") from error
    except yaml.reader.ReaderError as error:
        where = _line(text, text.count("\n", 0, error.position))
        raise yaml.YAMLError(f"a character that YAML does not allow ({where})") from error


def parse_yaml(text: str, what: str) -> Any:
    """What a text of an option says as YAML; `what` begins the error."""
    from yaml import YAMLError

    try:
        return read_yaml(text)
    except YAMLError as error:
        raise InputError(f"{what}: {error}") from error


def read_yaml_file(path: Path, what: str) -> Any:
    """What a YAML file of a user says; `what` is the option that names it, and begins the error."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{what}: no file '{path}'") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{what}: cannot read '{path}' as UTF-8 text: {error}") from error
    return parse_yaml(text, f"{what}: cannot read '{path}', which is not valid YAML")


def read_yaml_or_file(given: str, option: str) -> Any:
    """What an option says: YAML that begins with a brace, else the YAML file of this path."""
    if given.lstrip().startswith("{"):
        return parse_yaml(given, f"{option}: not valid YAML")
    return read_yaml_file(Path(given).expanduser(), option)


def _line(text: str, place: int) -> str:
    """Number and content of a line, cut short; `place` counts from 0."""
    lines = text.splitlines()
    content = ""
    if place < len(lines):
        content = lines[place].strip()
    if content.isprintable() and content:
        return f"line {place + 1}: {content[:60]}"
    return f"line {place + 1}"


def file_kind(path: Path) -> str:
    """What an error message calls files such as this one: `'.txt' files`, or `files without an
    ending`.
    """
    if path.suffix:
        return f"'{path.suffix}' files"
    return "files without an ending"


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: only blanks, control and format characters."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 answer`, `2 answers`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def escaped(text: str) -> str:
    """Text that stands for itself in Markdown, on one line."""
    return " ".join(text.split()).translate(_MARKDOWN)


class CallFailed(Exception):  # noqa: N818 - of a call; the program is in order
    """A call of something outside that gave nothing; the message is the reason, in one line."""


class InputError(click.ClickException):
    """Something the user gave cannot be used; raised before any model is called wherever that can
    be known.

    The message names the thing, the place (file, row, key) and what is allowed. It is a
    `click.ClickException`, so that `inspect eval` and `urs-inspect` print one line instead of a
    traceback and exit with 1. It is no `ValueError`, because `inspect score` takes every
    `ValueError` for a scorer that it does not know, and asks for a file in place of showing the
    words. What only a running task can find, as answers that are all equal, ends the task with the
    status `error`: the harness then shows the line in the task's panel (with `--display log`, below
    a traceback) and exits with 0, as for every error of a running task.
    """

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))

    def __str__(self) -> str:
        return self.message


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Have each `InputError` begin with the argument that it is about."""
    try:
        yield
    except InputError as error:
        if error.message.startswith(f"{argument}: "):
            raise
        raise InputError(f"{argument}: {error}") from error


def choices(allowed: Iterable[object]) -> str:
    """Format allowed values for an error message, in their given order."""
    return ", ".join(str(value) for value in allowed)


_LEAST_ALIKE = 0.6  # share of characters in common, as difflib counts them
_MOST_ALIKE = 2


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question about the nearest of known names, ` (did you mean question?)`; else empty."""
    folded = {each.strip().casefold(): each for each in known}
    near = get_close_matches(
        name.strip().casefold(), list(folded), n=_MOST_ALIKE, cutoff=_LEAST_ALIKE
    )
    if near:
        return f" (did you mean {' or '.join(folded[each] for each in near)}?)"
    return ""


if sys.platform == "win32":
    import errno
    import msvcrt

    # Far beyond any content, because Windows refuses reads of locked bytes.
    _BEYOND = 2**31 - 2
    _HELD = (errno.EACCES, errno.EDEADLK)

    def _lock(descriptor: int, wait: bool) -> None:
        while True:
            os.lseek(descriptor, _BEYOND, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                return
            except OSError as error:
                if error.errno not in _HELD:
                    raise
                if not wait:
                    raise BlockingIOError(error.errno, error.strerror) from None
                # LK_LOCK gives up after ten seconds.

else:
    import fcntl

    def _lock(descriptor: int, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def check_new_file(path: Path, *suffixes: str, option: str = "output") -> None:
    """Refuse a file of another suffix, one that exists, and one that cannot be written, before any
    work is done.
    """
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"{option}: must be the name of a {' or '.join(suffixes)} file, got '{path}'"
        )
    with writing(path, option):
        there = os.path.lexists(path)
    if there:
        raise InputError(
            f"{option}: there is a file '{path}' already; move it away, or name another"
        )
    check_folder(path.absolute().parent, option)


def check_folder(folder: Path, option: str = "output", *, make: bool = False) -> None:
    """Refuse a folder that is missing or cannot be written to, such as one on a full disk, before
    any work is done.

    With `make` it may be missing, as it is made later; then the nearest folder above it counts.
    """
    with writing(folder, option):
        while make and not os.path.lexists(folder):
            folder = folder.absolute().parent
        if not folder.is_dir():
            raise InputError(f"{option}: no folder '{folder}'")
        with TemporaryFile(dir=folder) as probe:
            probe.write(b" ")


@contextmanager
def writing(path: Path, option: str = "output") -> Iterator[None]:
    """Report what keeps a file or folder from being written as an `InputError` that names it."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{option}: cannot write to '{path}': {error.strerror or error}"
        ) from error


def write_new_file(path: Path, text: str, option: str = "output") -> None:
    """Write a file that is not there yet: all of it, or none, with an `InputError`."""
    with writing(path, option):
        file = path.open("x", encoding="utf-8", newline="\n")
        try:
            with file:
                file.write(text)
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def lock_file(descriptor: int, *, wait: bool = False) -> None:
    """Lock an open file against all others that lock it, in this process and in others.

    The lock ends when the descriptor is closed, also when the process dies. It binds only those who
    ask for it: everybody can read the file, and write to it. On Windows the position in the file
    moves, so that one who writes must have opened it to append. If another has the lock, either
    `wait`, for as long as it takes, or `BlockingIOError`; any other `OSError` says that the file
    cannot be locked at all, as on some network file systems.
    """
    _lock(descriptor, wait)
