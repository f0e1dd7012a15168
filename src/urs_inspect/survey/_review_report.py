"""Reads a log of reviewed cases: which passed, and their rows in the data."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._cases import load_urs
from urs_inspect.datasets._rows import READABLE, SURPLUS, Fields, read_table
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.judging._scores import last_score
from urs_inspect.logs._files import read_log, short_name, sorted_headers
from urs_inspect.rubrics import load_rubric
from urs_inspect.survey._vocabulary import vocabulary_of

UNSEEN = "no review: the run did not reach it"
"""Fault of a case that the log does not have."""

_TASK = "urs_case_review"


@dataclass(frozen=True)
class ReviewedCase:
    """The reviews of one case."""

    question: str
    passed: bool | None  # in most of its reviews; None if none succeeded
    faults: tuple[str, ...]  # why not, or why there is no review


def read_case_reviews(name: str, skipped: list[str]) -> tuple[EvalLog, dict[str, ReviewedCase]]:
    """Read a log of `urs_case_review`, finished or not, and its cases by id, in their order.

    Of several reviews by `inspect score` the last one counts. A directory holds one such run; of
    several attempts at it the one that counts is read. `skipped` gets a sentence about what is
    skipped, as from `sorted_headers`.
    """
    finished, unfinished = sorted_headers([name], skipped, _TASK)
    headers = finished or unfinished
    if not headers:
        raise InputError("\n".join([f"no log of urs_inspect/{_TASK} in '{name}'", *skipped]))
    if len(headers) > 1:
        logs = choices([short_name(log.location) for log in headers])
        raise InputError(
            f"'{name}' has {len(headers)} logs of urs_inspect/{_TASK}; name one of them: {logs}"
        )
    log = read_log(headers[0].location)
    samples: dict[str, list[EvalSample]] = defaultdict(list)
    for sample in log.samples or []:
        samples[str(sample.id)].append(sample)
    if not samples:
        raise InputError(f"'{log.location}' has no reviewed case; its status is '{log.status}'")
    return log, {case: _reviewed(epochs) for case, epochs in samples.items()}


def judges_of(log: EvalLog) -> list[str]:
    """The judges of a log of reviews."""
    scores = [last_score(sample, "case_review") for sample in log.samples or []]
    facts = [score.metadata or {} for score in scores if score]
    known = {str(of_score.get("judge", "")) for of_score in facts}
    return sorted(known - {""})


def _reviewed(samples: Iterable[EvalSample]) -> ReviewedCase:
    verdicts: list[bool] = []
    faults: list[str] = []
    question = ""
    for sample in samples:
        question = ""
        if isinstance(sample.input, str):
            question = sample.input
        score = last_score(sample, "case_review")
        facts: Mapping[str, Any] = {}
        if score is not None:
            facts = score.metadata or {}
        if "faults" in facts:
            verdicts.append(not facts["faults"])
            faults += facts["faults"]
        else:
            faults.append(f"no review: {facts.get('failure_mode', 'the sample has an error')}")
    passed = None
    if verdicts:
        passed = sum(verdicts) * 2 > len(verdicts)
    return ReviewedCase(question, passed, tuple(dict.fromkeys(faults)))


def rows_of(log: EvalLog) -> dict[str, dict[str, object]]:
    """The cases as they are in the data, by id, with all columns."""
    facts = log.eval.metadata or {}
    place = str(facts.get("dataset", ""))
    sha256 = str(facts.get("dataset_sha256", ""))
    path = Path(place).expanduser()
    if not place.lower().endswith(READABLE):
        data = load_urs(place, vocabulary_of(load_rubric()), need_references=False)
        return {
            case.id: {
                "id": case.id,
                "question": case.question,
                "reference_ans": case.reference,
                "user_intent": case.intent,
                "language": case.language,
            }
            for case in data.cases
        }
    if not path.is_file():
        raise InputError(f"no data file '{place}', which the log says was reviewed; put it there")
    if sha256_of(path) != sha256:
        raise InputError(
            f"{place}: is not the file that was reviewed (sha256 {sha256[:12]}); put that there"
        )
    rows, _ = read_table(path, [])
    by_id: dict[str, dict[str, object]] = {}
    for position, row in enumerate(rows, start=1):
        name = Fields(row).identifier(f"{path.stem}_{position:04d}")
        others = {key: value for key, value in row.values.items() if key not in (SURPLUS, "id")}
        by_id[name] = {"id": name, **others}
    return by_id
