"""Scores of a sample by the name of their scorer, in any harness that holds them so."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

_ScoreT = TypeVar("_ScoreT")
_ScoreT_co = TypeVar("_ScoreT_co", covariant=True)

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
TEXTS = _LETTERS | _WORDS
"""Letters and words that stand for numbers, as in inspect-ai."""


class _Scored(Protocol[_ScoreT_co]):
    """A sample with scores by the names of scorers."""

    @property
    def scores(self) -> Mapping[str, _ScoreT_co] | None: ...


def scores_named(scores: Mapping[str, _ScoreT] | None, scorer: str) -> list[_ScoreT]:
    """All scores of one scorer, among some by name, the first one first.

    A later one is numbered, as `intent_judge-1`.
    """
    numbered = re.compile(rf"{scorer}(-?\d+)?")
    if scores is None:
        return []
    return [score for name, score in scores.items() if numbered.fullmatch(name)]


def scores_of_samples(samples: Iterable[_Scored[_ScoreT]], scorer: str) -> list[list[_ScoreT]]:
    """All scores of one scorer for each sample, the first one first."""
    return [scores_named(sample.scores, scorer) for sample in samples]


def last_score(sample: _Scored[_ScoreT], scorer: str) -> _ScoreT | None:
    """The last score that a scorer gave a sample."""
    return next(reversed(scores_named(sample.scores, scorer)), None)


def as_number(value: object) -> float:
    """A number; NaN for anything else."""
    if isinstance(value, (int, float)):
        return float(value)
    return math.nan


def as_numbers(value: object) -> dict[str, float]:
    """The numbers of a score with several values, by key; NaN for what is no number."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): as_number(part) for key, part in value.items()}


def number(value: Any) -> float:
    """A score as a number, NaN if there is none; infinite if it cannot be read as by inspect-ai."""
    if isinstance(value, str):
        value = TEXTS.get(value if len(value) == 1 else value.lower(), value)
    if value is None:
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    if math.isinf(number):
        return abs(number)
    return number
