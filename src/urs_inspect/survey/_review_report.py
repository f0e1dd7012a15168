"""Reads a log of reviewed cases: which passed, and their rows in the data."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._cases import load_urs
from urs_inspect.datasets._rows import READABLE, SURPLUS, Fields, read_table
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.logs._files import read_log, short_name, sorted_headers
from urs_inspect.logs._scores import last_score
from urs_inspect.rubrics import load_rubric
from urs_inspect.survey._vocabulary import vocabulary_of

UNSEEN = "no review: the run did not reach it"
"""Fault of a case that the log does not have."""

_TASK = "urs_case_review"


@dataclass(frozen=True)
class ReviewedCase:
    """The reviews of one case."""

    id: str
    question: str
    passed: bool | None  # in most of its reviews; None if none succeeded
    faults: tuple[str, ...]  # why not, or why there is no review


@dataclass(frozen=True)
class CaseReviews:
    """A log of reviews; cases are in the order of the log."""

    dataset: str  # a name or a path
    sha256: str
    judges: tuple[str, ...]
    status: str  # of the run: `success` or another word
    cases: tuple[ReviewedCase, ...]

    @property
    def passed(self) -> set[str]:
        """Ids of the cases that passed."""
        return {case.id for case in self.cases if case.passed}


def read_case_reviews(name: str, skipped: list[str]) -> CaseReviews:
    """Read a log of `urs_case_review`, finished or not.

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
    file = headers[0].location
    log = read_log(file)
    samples: dict[str, list[EvalSample]] = defaultdict(list)
    judges: set[str] = set()
    for sample in log.samples or []:
        samples[str(sample.id)].append(sample)
        if score := last_score(sample, "case_review"):
            judges.add(str((score.metadata or {}).get("judge", "")))
    if not samples:
        raise InputError(f"'{file}' has no reviewed case; its status is '{log.status}'")
    facts = log.eval.metadata or {}
    return CaseReviews(
        dataset=str(facts.get("dataset", "")),
        sha256=str(facts.get("dataset_sha256", "")),
        judges=tuple(sorted(judges - {""})),
        status=log.status,
        cases=tuple(_case(case, epochs) for case, epochs in samples.items()),
    )


def _case(case: str, samples: Iterable[EvalSample]) -> ReviewedCase:
    verdicts: list[bool] = []
    faults: list[str] = []
    question = ""
    for sample in samples:
        question = sample.input if isinstance(sample.input, str) else ""
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
    return ReviewedCase(case, question, passed, tuple(dict.fromkeys(faults)))


def rows_of(reviews: CaseReviews) -> dict[str, dict[str, object]]:
    """The cases as they are in the data, by id, with all columns."""
    place = reviews.dataset
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
    if sha256_of(path) != reviews.sha256:
        old = reviews.sha256[:12]
        raise InputError(
            f"{place}: is not the file that was reviewed (sha256 {old}); put that there"
        )
    rows, _ = read_table(path, [])
    by_id: dict[str, dict[str, object]] = {}
    for position, row in enumerate(rows, start=1):
        name = Fields(row).identifier(f"{path.stem}_{position:04d}")
        by_id[name] = {
            "id": name,
            **{key: value for key, value in row.values.items() if key not in (SURPLUS, "id")},
        }
    return by_id
