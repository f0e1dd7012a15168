"""Comparisons in logs of `mad`, with their outcomes."""

import math
from dataclasses import dataclass
from logging import getLogger
from typing import Any

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import Score

from urs_inspect._util import InputError, naming
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.judging._scores import last_score
from urs_inspect.logs._files import finished_headers, whole_logs
from urs_inspect.logs._scores import value_of

logger = getLogger(__name__)


@dataclass(frozen=True)
class Comparison:
    """One comparison of a finished competition."""

    ballot: Ballot
    outcome: float  # 1 if response a is better, 0.5 for a tie, 0 if b is; NaN if none was parsed
    facts: dict[str, Any]  # the metadata of its score


def read_comparisons(
    name: str, argument: str = "previous", *, people: bool = True
) -> tuple[Comparison, ...]:
    """Read the comparisons of one log of `mad`, or of all logs in a directory, each once.

    Of a comparison that was judged several times, the last judgement counts; in a log with people's
    choices, only these do, unless `people` is unset. `argument` is what messages begin with.
    """
    comparisons: dict[str, Comparison] = {}
    skipped: list[str] = []
    with naming(argument):
        headers = finished_headers([name], skipped, "mad")
    for log in whole_logs(headers, skipped):
        by_people = people and holds_choices(log, people=True)
        for sample in log.samples or []:
            if "ballot" not in sample.metadata:
                continue
            place = f"{log.location}: sample {sample.id}"
            ballot = Ballot.from_dict(sample.metadata["ballot"], place)
            score = choice_of(sample, by_people)
            outcome = value_of(score, "outcome")
            if not math.isnan(outcome) or ballot.id not in comparisons:
                facts = (score.metadata if score else None) or {}
                comparisons[ballot.id] = Comparison(ballot, outcome, facts)
    if not comparisons:
        what = f"{argument}: no comparison in '{name}'; name a finished log of the task mad"
        raise InputError("\n".join([what, *skipped]))
    for sentence in skipped:
        logger.warning(f"{argument}: {sentence}")
    return tuple(comparisons.values())


def holds_choices(log: EvalLog, people: bool) -> bool:
    """Whether a log holds choices of people, or of judges, with an outcome.

    Where it holds those of people, a judge's do not count.
    """
    chosen = (choice_of(sample, people) for sample in log.samples or [])
    return any(not math.isnan(value_of(choice, "outcome")) for choice in chosen)


def choice_of(sample: EvalSample, people: bool) -> Score | None:
    """The last score of a comparison that people, or judges, gave; None if there is none."""
    scorer = "pair_choice"
    if people:
        scorer = "human_choice"
    return last_score(sample, scorer)
