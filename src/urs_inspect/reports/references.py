"""Logs and files -> reference answers of one model."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample

from urs_inspect.datasets.references import NO_ANSWER, Reference, References, gather, question_sha256
from urs_inspect.datasets.references import read_reference_file as read_file
from urs_inspect.errors import InputError, choices
from urs_inspect.reports.log_files import local_path, log_files, read_log
from urs_inspect.reports.responses import ANSWERS_ONLY, NO_MODEL, text_of
from urs_inspect.scorers.reference_outcome import outcome_of

LOG_SUFFIXES = (".eval", ".json")


def read_references(place: str) -> References:
    """Read reference answers.

    Args:
        place: A `.jsonl` file as `urs-inspect references` writes it, or the log of a finished run, of `urs_references`
            or any other task whose samples have one answer.

    Raises:
        InputError: If there is no such file, or it cannot be read or used.
    """
    path = Path(place).expanduser()
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return read_file(path)
    if suffix not in LOG_SUFFIXES:
        raise InputError(
            f"references: cannot read '{place}'; allowed: a .jsonl file, or a log ({choices(LOG_SUFFIXES)})"
        )
    return read_reference_logs([str(path)])


def read_reference_logs(logs: Iterable[str]) -> References:
    """Read the answers in logs of one model as reference answers.

    The first epoch of a sample counts. Of several answers to one question the last usable one counts, so that a later
    run over some of the questions mends an earlier one.

    Args:
        logs: Log files and directories.

    Raises:
        InputError: If a log cannot be read, did not finish or has no model, or the logs are of several models.
    """
    files = [local_path(file) for file in log_files(logs)]
    headers = sorted(((file, _finished(file)) for file in files), key=lambda pair: pair[1].eval.created)
    return gather((item for file, log in headers for item in _items(file, log)), ", ".join(files) or "the logs given")


def _finished(file: str) -> EvalLog:
    log = read_log(file, header_only=True)
    if log.status != "success":
        raise InputError(
            f"references: the status of {file} is '{log.status}'; finish the run with `inspect eval-retry` first"
        )
    if log.eval.model == NO_MODEL:
        raise InputError(f"references: {file} has no answers of a model (its model is 'none')")
    return log


def _items(file: str, log: EvalLog) -> Iterator[Reference]:
    for sample in read_log(file, without=ANSWERS_ONLY).samples or []:
        if sample.epoch == 1:
            yield _reference(sample, log)


def _reference(sample: EvalSample, log: EvalLog) -> Reference:
    ended = sample.error is not None or sample.limit is not None
    return Reference(
        id=str(sample.id),
        question_sha256=question_sha256(text_of(sample)),
        text=sample.output.completion.strip(),
        source=log.eval.model,
        created=log.eval.created,
        outcome=NO_ANSWER if ended else outcome_of(sample.output),
    )
