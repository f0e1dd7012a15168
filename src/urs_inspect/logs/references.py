"""Reference answers of one model, from logs and files."""

from collections.abc import Iterable
from logging import getLogger
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample

from urs_inspect._util import InputError, choices
from urs_inspect.datasets.references import NO_ANSWER, Reference, References, gather, question_sha256
from urs_inspect.datasets.references import read_reference_file as read_file
from urs_inspect.logs.files import finished_logs, nothing_left, short_name
from urs_inspect.logs.responses import ANSWERS_ONLY, NO_MODEL, text_of
from urs_inspect.scorers.reference_outcome import outcome_of

logger = getLogger(__name__)

LOG_SUFFIXES = (".eval", ".json")


def read_references(place: str) -> References:
    """Read reference answers."""
    path = Path(place).expanduser()
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return read_file(path)
    if suffix not in LOG_SUFFIXES and not path.is_dir():
        raise InputError(
            f"references: cannot read '{place}'; allowed: a .jsonl file, a log ({choices(LOG_SUFFIXES)}), or a folder "
            "of logs"
        )
    skipped: list[str] = []
    found = read_reference_logs([str(path)], skipped)
    for sentence in skipped:
        logger.warning(f"references: {sentence}")
    return found


def read_reference_logs(logs: Iterable[str], skipped: list[str]) -> References:
    """Read the answers in logs of one model as reference answers.

    The first epoch of a sample counts. Of several answers to one question the last usable one counts, so that a later
    run over some of the questions repairs an earlier one. `skipped` gets sentences as from `finished_headers`.
    """
    names, places = list(logs), list[str]()
    items: list[Reference] = []
    for log in finished_logs(names, skipped, without=ANSWERS_ONLY):
        if log.eval.model == NO_MODEL:
            skipped.append(
                f"{short_name(log.location)} was left out: it has no answers of a model (it ran with 'none')."
            )
            continue
        places.append(log.location)
        items += [_reference(sample, log) for sample in log.samples or [] if sample.epoch == 1]
    if not places:
        raise nothing_left("references: no finished log with answers", names, skipped)
    return gather(items, ", ".join(places))


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
