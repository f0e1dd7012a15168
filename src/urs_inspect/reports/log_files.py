"""Finds logs and reads the finished ones."""

from collections.abc import Collection, Iterable, Iterator
from logging import getLogger
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlparse

from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from urs_inspect.errors import InputError

logger = getLogger(__name__)


def log_files(logs: Iterable[str]) -> list[str]:
    """The log files among the names, and those below the directories.

    Raises:
        InputError: If a name does not exist.
    """
    files: list[str] = []
    for name in logs:
        if not Path(name).exists():
            raise InputError(f"no log '{name}'")
        files += [info.name for info in list_eval_logs(name)] if Path(name).is_dir() else [name]
    return files


def short_name(file: str) -> str:
    """Name of a log file without its folder, for what goes to others."""
    return PurePosixPath(file).name


def local_path(file: str) -> str:
    """Path of a log, which the harness names by an address where it found it in a directory."""
    return unquote(urlparse(file).path) if file.startswith("file://") else str(Path(file).resolve())


def read_log(file: str, header_only: bool = False, without: Collection[str] | None = None) -> EvalLog:
    """Read a log.

    Args:
        file: The log.
        header_only: Whether samples are left out.
        without: Fields of samples that are left out, to read what is left with long texts in their place, which the
            harness keeps apart; None for everything as it is in the file.

    Raises:
        InputError: If the file is no log.
    """
    try:
        return read_eval_log(
            file,
            header_only=header_only,
            resolve_attachments=False if without is None else "core",
            exclude_fields=None if without is None else set(without),
        )
    except Exception as error:  # whatever a damaged or foreign file does to its reader
        raise InputError(
            f"cannot read the log '{file}', which is damaged, incomplete or no log at all "
            f"({type(error).__name__}: {error})"
        ) from error


def finished_logs(logs: Iterable[str]) -> Iterator[EvalLog]:
    """Read logs one after the other, leaving out those that did not finish, with a warning.

    Raises:
        InputError: If a name does not exist or a file is no log.
    """
    for file in log_files(logs):
        log = read_log(file)
        if log.status == "success":
            yield log
        else:
            # Half a run would stand beside whole ones as if it were one.
            logger.warning(f"left out {file}: its status is '{log.status}'; finish it with `inspect eval-retry`")
