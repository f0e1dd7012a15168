"""Reads the cases of a file that must be without any fault: a published one, or the user's own."""

from collections.abc import Callable, Iterable, Sequence
from logging import getLogger
from pathlib import Path

from urs_inspect.datasets.fields import CaseT, Fields, build_cases, refuse
from urs_inspect.datasets.pinned import PinnedFile
from urs_inspect.datasets.rows import Row, read_records, read_table
from urs_inspect.datasets.sources import fetch, is_pinned, sha256_of
from urs_inspect.errors import InputError

logger = getLogger(__name__)


def read_published(
    source: PinnedFile, build: Callable[[Fields, str], CaseT | None], prefix: str
) -> tuple[tuple[CaseT, ...], str]:
    """Get a published file, with a download if it is not here, and read its cases.

    Args:
        source: The file.
        build: Makes a case out of a row and its id; None where the row makes no case on purpose.
        prefix: Prefix of the ids: `<prefix>_0001` for the first row.

    Returns:
        The cases in the order of the file, and the hash of the file.

    Raises:
        InputError: If the file cannot be had, or naming file and row of every fault in it.
    """
    path = fetch(source)
    if not is_pinned(source, path):
        logger.warning(f"{path}: another published form of the '{source.name}' data, which no hash can check")
    return _faultless(path, read_records(path), build, prefix)


def read_own(
    path: Path, required: Iterable[Sequence[str]], build: Callable[[Fields, str], CaseT | None]
) -> tuple[tuple[CaseT, ...], str]:
    """Read the cases of a user's file.

    Args:
        path: A `.csv` or `.jsonl` file.
        required: Columns that the header of a CSV file must have, each with the other names it may have.
        build: Makes a case out of a row and the id that it gets if it has none: `<name of the file>_0001`.

    Returns:
        The cases in the order of the file, and the hash of the file.

    Raises:
        InputError: If the file cannot be read, or naming row and column of every fault in it.
    """
    return _faultless(path, read_table(path, required), build, path.stem)


def _faultless(
    path: Path, read: tuple[list[Row], list[str]], build: Callable[[Fields, str], CaseT | None], prefix: str
) -> tuple[tuple[CaseT, ...], str]:
    rows, unreadable = read
    cases, faulty = build_cases(path, rows, build, prefix)
    refuse(unreadable + faulty)
    if not cases:
        raise InputError(f"{path}: no usable case")
    return tuple(cases), sha256_of(path)
