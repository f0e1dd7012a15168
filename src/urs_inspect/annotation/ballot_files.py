"""Ballots out of a log of `mad`, or of a file with one ballot a line."""

from pathlib import Path

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy.ballots import Ballot, collect_ballots, read_ballots

LOG_SUFFIXES = (".eval", ".json")
"""Kinds of logs of the harness."""

KEY = "ballot"
"""Key of a sample's metadata that holds its ballot."""


def load_ballots(path: Path) -> tuple[Ballot, ...]:
    """Read the ballots that people are to vote on.

    Args:
        path: A log of the task `mad` (.eval, .json), or JSON Lines with one ballot a line (.jsonl).

    Returns:
        The ballots in their order, each once.

    Raises:
        InputError: If there is no such file, it cannot be read, its run did not finish, or it has no ballots.
    """
    if not path.is_file():
        raise InputError(f"no file '{path}' with ballots")
    if path.suffix.lower() == ".jsonl":
        return read_ballots(path)
    if path.suffix.lower() in LOG_SUFFIXES:
        return _from_log(path)
    raise InputError(f"{path}: cannot read '{path.suffix}' files; allowed: {choices((*LOG_SUFFIXES, '.jsonl'))}")


def _from_log(path: Path) -> tuple[Ballot, ...]:
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(path))
    except Exception as error:  # whatever a damaged or foreign file does to its reader
        raise InputError(f"cannot read the log '{path}': {type(error).__name__}: {error}") from error
    if log.status != "success":
        raise InputError(f"{path}: its status is '{log.status}'; finish it with `inspect eval-retry`")
    ballots = collect_ballots(
        (f"{path}: sample {sample.id}", sample.metadata[KEY])
        for sample in log.samples or []
        if sample.metadata.get(KEY) is not None
    )
    if not ballots:
        raise InputError(f"{path}: no sample has a ballot; ballots are in logs of the task mad")
    return ballots
