"""Scores of a sample by the name of their scorer, in any harness that holds them so."""

import math
import re
from collections.abc import Mapping
from typing import Protocol, TypeVar

_ScoreT = TypeVar("_ScoreT")
_ScoreT_co = TypeVar("_ScoreT_co", covariant=True)


class _Scored(Protocol[_ScoreT_co]):
    """A sample with scores by the names of scorers."""

    @property
    def scores(self) -> Mapping[str, _ScoreT_co] | None: ...


def scores_named(scores: Mapping[str, _ScoreT] | None, scorer: str) -> list[_ScoreT]:
    """All scores of one scorer, among some by name, the first one first.

    A later one is numbered, as `intent_judge-1`.
    """
    numbered = re.compile(rf"{scorer}(-?\d+)?")
    return [score for name, score in (scores or {}).items() if numbered.fullmatch(name)]


def last_score(sample: _Scored[_ScoreT], scorer: str) -> _ScoreT | None:
    """The last score that a scorer gave a sample."""
    return next(reversed(scores_named(sample.scores, scorer)), None)


def as_number(value: object) -> float:
    """A number; NaN for anything else."""
    return float(value) if isinstance(value, (int, float)) else math.nan
