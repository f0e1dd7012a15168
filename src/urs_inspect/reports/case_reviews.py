"""A log of reviewed cases -> which cases passed, and the rows of the file that they came from."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score

from urs_inspect._util import InputError, choices
from urs_inspect.datasets import Vocabulary
from urs_inspect.datasets.cases import load_urs
from urs_inspect.datasets.rows import READABLE, SURPLUS, Fields, read_table
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.logs.files import read_log, short_name, sorted_headers

UNSEEN = "no review: the run did not reach it"
"""What is wrong with a case that the log does not have."""

_TASK = "urs_case_review"
_SCORE = re.compile(r"case_review(-?\d+)?")


@dataclass(frozen=True)
class ReviewedCase:
    """What became of one case.

    Attributes:
        id: Its id.
        question: Its question.
        passed: Whether it passed in most of its reviews; None if none succeeded.
        faults: Why not, or why there is no review.
    """

    id: str
    question: str
    passed: bool | None
    faults: tuple[str, ...]


@dataclass(frozen=True)
class CaseReviews:
    """A log of reviews.

    Attributes:
        dataset: What was reviewed: a name or a path.
        sha256: Its hash.
        judges: Who reviewed.
        status: How the run ended, `success` or another word.
        cases: The cases, in the order of the log.
    """

    dataset: str
    sha256: str
    judges: tuple[str, ...]
    status: str
    cases: tuple[ReviewedCase, ...]

    @property
    def passed(self) -> set[str]:
        """Ids of the cases that passed."""
        return {case.id for case in self.cases if case.passed}


def read_case_reviews(name: str, left_out: list[str]) -> CaseReviews:
    """Read a log of `urs_case_review`, finished or not; of several reviews by `inspect score` the last one counts.

    Args:
        name: The log, or a directory that holds one such run; of several attempts at it the one that counts is read.
        left_out: Gets a sentence about what is skipped, as from `sorted_headers`.

    Raises:
        InputError: If there is no such log, there are several runs, or none has a review.
    """
    finished, unfinished = sorted_headers([name], left_out, _TASK)
    found = finished or unfinished
    if not found:
        raise InputError("\n".join([f"no log of urs_inspect/{_TASK} in '{name}'", *left_out]))
    if len(found) > 1:
        logs = choices([short_name(log.location) for log in found])
        raise InputError(f"'{name}' has {len(found)} logs of urs_inspect/{_TASK}; name one of them: {logs}")
    file = found[0].location
    log = read_log(file)
    samples: dict[str, list[EvalSample]] = defaultdict(list)
    for sample in log.samples or []:
        samples[str(sample.id)].append(sample)
    if not samples:
        raise InputError(f"'{file}' has no reviewed case; its status is '{log.status}'")
    facts = log.eval.metadata or {}
    judges = {str((score.metadata or {}).get("judge", "")) for one in log.samples or [] if (score := _last(one))}
    return CaseReviews(
        dataset=str(facts.get("dataset", "")),
        sha256=str(facts.get("dataset_sha256", "")),
        judges=tuple(sorted(judges - {""})),
        status=log.status,
        cases=tuple(_case(case, several) for case, several in samples.items()),
    )


def _case(case: str, samples: Iterable[EvalSample]) -> ReviewedCase:
    verdicts: list[bool] = []
    faults: list[str] = []
    question = ""
    for sample in samples:
        question = sample.input if isinstance(sample.input, str) else ""
        score = _last(sample)
        value: Mapping[str, Any] = score.value if score is not None and isinstance(score.value, dict) else {}
        facts: Mapping[str, Any] = (score.metadata or {}) if score is not None else {}
        if value.get("outcome") == "reviewed":
            verdicts.append(value.get("passed") == 1)
            faults += facts.get("faults", [])
        else:
            faults.append(f"no review: {facts.get('failure_mode', 'the sample has an error')}")
    passed = sum(verdicts) * 2 > len(verdicts) if verdicts else None
    return ReviewedCase(case, question, passed, tuple(dict.fromkeys(faults)))


def _last(sample: EvalSample) -> Score | None:
    found = [score for name, score in (sample.scores or {}).items() if _SCORE.fullmatch(name)]
    return found[-1] if found else None


def rows_of(reviews: CaseReviews, dataset: str | None, vocabulary: Vocabulary) -> dict[str, dict[str, object]]:
    """The cases as they stand in the data, by id, all columns included.

    Args:
        reviews: The reviews.
        dataset: Where the data are now; None for where they were.
        vocabulary: How labels become ids.

    Raises:
        InputError: If the data cannot be had, or are not those that were reviewed.
    """
    place = reviews.dataset if dataset is None else dataset
    path = Path(place).expanduser()
    if not place.lower().endswith(READABLE):
        found = load_urs(place, vocabulary, need_references=False)
        return {
            case.id: {
                "id": case.id,
                "question": case.question,
                "reference_ans": case.reference,
                "user_intent": case.intent,
                "language": case.language,
            }
            for case in found.cases
        }
    if not path.is_file():
        raise InputError(f"no data file '{place}', which the log says was reviewed; name it with --cases")
    if sha256_of(path) != reviews.sha256:
        old = reviews.sha256[:12]
        raise InputError(f"{place}: is not the file that was reviewed (sha256 {old}); name that with --cases")
    rows, _ = read_table(path, [])
    by_id: dict[str, dict[str, object]] = {}
    for position, row in enumerate(rows, start=1):
        name = Fields(row).identifier(f"{path.stem}_{position:04d}")
        by_id[name] = {"id": name, **{key: value for key, value in row.values.items() if key not in (SURPLUS, "id")}}
    if lacking := sorted(reviews.passed - by_id.keys()):
        raise InputError(f"{place}: no case {choices(lacking[:5])}, which the log has")
    return by_id
