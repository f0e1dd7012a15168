"""Logs of `mad` -> the comparisons in them, with their outcomes."""

import math
import re
from dataclasses import dataclass
from logging import getLogger
from typing import Any

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import Score

from urs_inspect._util import InputError
from urs_inspect.discrepancy.ballots import Ballot
from urs_inspect.logs.files import finished_logs

logger = getLogger(__name__)

_CHOICE = re.compile(r"pair_choice(-?\d+)?")
_PEOPLE = re.compile(r"human_choice(-?\d+)?")
"""Names of the scores of a comparison, numbered if a log was judged several times."""


@dataclass(frozen=True)
class Comparison:
    """One comparison of a finished competition.

    Attributes:
        ballot: What was compared.
        outcome: 1 if response a is better, 0.5 for a tie, 0 if response b is; NaN if no verdict could be read.
        facts: The metadata of its score.
    """

    ballot: Ballot
    outcome: float
    facts: dict[str, Any]


def read_comparisons(name: str) -> tuple[Comparison, ...]:
    """Read the comparisons of one log of `mad`, or of all logs in a directory.

    Args:
        name: The log or directory. Of a comparison that was judged several times, the last judgement counts; in a log
            with people's choices, only these do.

    Returns:
        The comparisons, each once.

    Raises:
        InputError: If there is none.
    """
    found: dict[str, Comparison] = {}
    left_out: list[str] = []
    for log in finished_logs([name], left_out, "mad"):
        people = judged_by_people(log)
        for sample in log.samples or []:
            if "ballot" in sample.metadata:
                one = _comparison(sample, people, log.location)
                if not math.isnan(one.outcome) or one.ballot.id not in found:
                    found[one.ballot.id] = one
    if not found:
        what = f"previous: no comparison in '{name}'; name a finished log of the task mad"
        raise InputError("\n".join([what, *left_out]))
    for sentence in left_out:
        logger.warning(f"previous: {sentence}")
    return tuple(found.values())


def judged_by_people(log: EvalLog) -> bool:
    """Whether a log holds people's choices with an outcome; then a judge's verdicts in it do not count."""
    return any(
        not math.isnan(outcome_of(choice))
        for sample in log.samples or []
        if (choice := choice_of(sample, people=True)) is not None
    )


def choice_of(sample: EvalSample, people: bool) -> Score | None:
    """The last score of a comparison that people, or judges, gave; None if there is none."""
    name = _PEOPLE if people else _CHOICE
    scores = [score for key, score in (sample.scores or {}).items() if name.fullmatch(key)]
    return scores[-1] if scores else None


def outcome_of(score: Score | None) -> float:
    """The outcome that a score holds; NaN if it holds none."""
    value = score.value.get("outcome") if score is not None and isinstance(score.value, dict) else None
    return float(value) if isinstance(value, (int, float)) else math.nan


def _comparison(sample: EvalSample, people: bool, place: str) -> Comparison:
    ballot = Ballot.from_dict(sample.metadata["ballot"], f"{place}: sample {sample.id}")
    score = choice_of(sample, people)
    return Comparison(ballot, outcome_of(score), (score.metadata or {}) if score else {})
