"""Ratings of single answers by people: their files, their weights, and each rater's ratings."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from urs_inspect._util import InputError
from urs_inspect.annotation._votes import (
    A_VOTE,
    digest,
    event_line,
    event_seconds,
    event_text,
    event_values,
    parse_events,
    read_events,
    vote_files,
)
from urs_inspect.rubrics import HIGHEST, LOWEST

CHECK = "-check"
"""Follows the id of an answer that the same person rates again."""
_ID_DIGITS = 16


def text_digest(text: str) -> str:
    """The first digits of a hash of a text."""
    return digest(text).hex()[:_ID_DIGITS]


def answer_id(question: str, model: str, epoch: int, text: str) -> str:
    """Id of an answer with this digest of its text."""
    return text_digest(json.dumps([question, model, epoch, text]))


@dataclass(frozen=True)
class Rating:
    """What one person gave one answer, 1 to 10 each.

    With `cannot_tell` the person gave no score, and with `undone` took a decision back; the scores
    mean nothing then.
    """

    question: str  # id
    model: str
    epoch: int
    annotator: str
    answer: str  # digest of the text
    # whether the person rated this answer before, and is asked again without being told
    check: bool = False
    final: int = LOWEST
    # by id; empty where only the final score was asked
    criteria: Mapping[str, int] = field(default_factory=dict)
    rate: float = 1.0  # how often the answer was drawn, relative to others, while few are
    threshold: float | None = None  # key of the model's next answer; None for its last one
    seconds: float = math.nan  # how long the answer was in view; NaN if not known
    time: str = ""  # ISO 8601 in UTC; empty if not known
    undone: bool = False
    cannot_tell: bool = False
    questions: str = ""  # language of the questions, where only those of one were drawn

    @cached_property
    def answer_id(self) -> str:
        """Id of the answer."""
        return answer_id(self.question, self.model, self.epoch, self.answer)

    @property
    def about(self) -> str:
        """Id of what was to be rated: the answer, or the answer once more."""
        return self.answer_id + (CHECK if self.check else "")

    def to_line(self) -> str:
        """The rating as one line of a file, without the line break."""
        scores = {"rating": self.final, "criteria": dict(self.criteria)}
        drawn = {"weight": round(1 / self.rate, 6), "threshold": self.threshold}
        columns: dict[str, Any] = {
            "id": self.question,
            "model": self.model,
            "epoch": self.epoch,
            "rater": self.annotator,
            "answer": self.answer,
        }
        if self.check:
            columns["check"] = True
        if self.undone:
            columns["undo"] = True
        else:
            if self.cannot_tell:
                columns["cannot_tell"] = True
            else:
                columns |= scores
            columns |= drawn
            if self.questions:
                columns["questions"] = self.questions
            known = not math.isnan(self.seconds)
            columns["seconds"] = round(self.seconds, 2) if known else None
        columns["time"] = self.time
        return event_line(columns)


def parse_rating(line: bytes) -> Rating:
    """Read one line of a file of ratings; `ValueError` says why it is no rating."""
    values = event_values(line)
    if "ballot" in values:
        raise ValueError(A_VOTE)
    for name in ("check", "cannot_tell"):
        if not isinstance(values.get(name, False), bool):
            raise ValueError(f"{name} must be true or false")
    return Rating(
        question=event_text(values, "id"),
        model=event_text(values, "model"),
        epoch=_whole(values, "epoch", 1),
        annotator=event_text(values, "rater"),
        answer=event_text(values, "answer"),
        check=values.get("check", False),
        time=event_text(values, "time") if values.get("time") else "",
        **({"undone": True} if values.get("undo") else _given(values)),
    )


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    given = {"cannot_tell": True} if values.get("cannot_tell") else _scores(values)
    threshold = None
    if values.get("threshold") is not None:
        threshold = _positive(values["threshold"], "threshold")
    return {
        **given,
        "questions": event_text(values, "questions") if values.get("questions") else "",
        "rate": 1 / _positive(values.get("weight", 1), "weight"),
        "threshold": threshold,
        "seconds": event_seconds(values.get("seconds")),
    }


def _scores(values: Mapping[str, Any]) -> dict[str, Any]:
    criteria = values.get("criteria") or {}
    if not isinstance(criteria, dict):
        raise ValueError("criteria must be an object of scores")
    return {
        "final": _whole(values, "rating", LOWEST, HIGHEST),
        "criteria": {name: _whole(criteria, name, LOWEST, HIGHEST) for name in criteria},
    }


def _whole(values: Mapping[str, Any], key: str, low: int, high: int | None = None) -> int:
    value = values.get(key)
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or value < low
        or (high is not None and value > high)
    ):
        allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{key} must be a whole number {allowed}")
    return value


def _positive(value: object, key: str) -> float:
    number = event_seconds(value)
    if not 1e-12 < number < 1e12:
        raise ValueError(f"{key} must be a number above 0")
    return number


@dataclass(frozen=True)
class RatingReading:
    """Ratings of several files."""

    ratings: tuple[Rating, ...]  # that count, at most one per person and answer
    # id of an answer -> how many it stands for, up to a common factor per model
    weights: Mapping[str, float]
    # two of one answer by one person; the second counts for nothing else
    checks: tuple[tuple[Rating, Rating], ...]
    replaced: int  # ratings that the same person replaced later
    undone: int  # ratings that were taken back and not made again
    cannot_tell: tuple[Rating, ...]  # answers that a person could not rate, which are no ratings
    # lines that are no ratings, with their place; they stay in their files and do not count
    errors: tuple[str, ...]


def holds_ratings(path: Path) -> bool:
    """Whether a path is a directory, or a file with ratings as `annotate` writes them."""
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return path.is_dir()
    return bool(parse_events(path.read_bytes(), str(path), parse_rating)[0])


def read_ratings(paths: Iterable[str | Path]) -> RatingReading:
    """Read ratings from files and directories of files.

    Of the ratings of an answer by one person the last one counts, by `time` across files.

    Raises:
        InputError: If there is no file, one cannot be read, or they hold votes.
    """
    files = vote_files(paths, "ratings")
    final, replaced, undone, errors = read_events(files, parse_rating, "ratings")
    if not final and any(error.endswith(A_VOTE) for error in errors):
        raise InputError(
            f"{files[0]}: holds votes on comparisons, not ratings; `urs-inspect rank` reads them"
        )
    decisions = [rating for rating in final if not rating.undone]
    cannot_tell = tuple(rating for rating in decisions if rating.cannot_tell and not rating.check)
    given = [rating for rating in decisions if not rating.cannot_tell]
    first = {}
    for rating in given:
        if not rating.check:
            first[rating.annotator, rating.answer_id] = rating
    checks = []
    for rating in given:
        before = first.get((rating.annotator, rating.answer_id))
        if rating.check and before:
            checks.append((before, rating))
    ratings = tuple(first.values())
    weights = inclusion_weights([*ratings, *cannot_tell])
    return RatingReading(ratings, weights, tuple(checks), replaced, undone, cannot_tell, errors)


def inclusion_weights(ratings: Iterable[Rating]) -> dict[str, float]:
    """Inverse inclusion probabilities by answer, given how far each model's answers were drawn.

    An answer has a key `-log(u) / rate` with u uniform in (0, 1]; those of a model are drawn by
    increasing key. Those with a key below t are then a sample with inclusion probabilities `1 -
    exp(-rate * t)`. Where only questions of one language were drawn, these count by themselves.
    """
    reached: dict[tuple[str, str], float] = defaultdict(float)
    # where logs were added in between, so that an answer has one weight
    first: dict[str, Rating] = {}
    for rating in ratings:
        first.setdefault(rating.answer_id, rating)
        threshold = rating.threshold
        if threshold is None:
            threshold = math.inf
        drawn = (rating.model, rating.questions)
        reached[drawn] = max(reached[drawn], threshold)
    weights = {}
    for answer, rating in first.items():
        threshold = reached[rating.model, rating.questions]
        chance = -math.expm1(-rating.rate * threshold)
        weights[answer] = 1 / chance
    return weights


@dataclass(frozen=True)
class RaterReport:
    """The ratings of one person; NaN where something is not known."""

    rater: str
    ratings: int
    mean: float
    from_others: float  # mean distance from the mean of the others' ratings of the same answers
    checks: int  # answers rated twice
    from_own: float  # mean distance between the two ratings of these
    seconds: float  # median time in view per rating
    cannot_tell: int  # answers that the person could not rate


def rater_reports(reading: RatingReading) -> tuple[RaterReport, ...]:
    """The ratings of each person, by name."""
    table = final_scores(reading)
    return tuple(_rater(name, table, reading) for name in table.columns)


def final_scores(reading: RatingReading) -> pd.DataFrame:
    """The final scores of each answer, by its id, with a column per person; NaN where none."""
    decisions = [*reading.ratings, *reading.cannot_tell]
    raters = sorted({rating.annotator for rating in decisions})
    finals: dict[str, dict[str, int]] = defaultdict(dict)
    for rating in reading.ratings:
        finals[rating.answer_id][rating.annotator] = rating.final
    return pd.DataFrame(finals, index=raters, dtype=float).T


def _rater(name: str, finals: pd.DataFrame, reading: RatingReading) -> RaterReport:
    """The ratings of one person, given those of all."""
    own = finals[name]
    others = finals.drop(columns=name).mean(axis=1)
    checks = [pair for pair in reading.checks if pair[0].annotator == name]
    differences = [abs(before.final - again.final) for before, again in checks]
    from_own = pd.Series(differences, dtype=float)
    seconds = [rating.seconds for rating in reading.ratings if rating.annotator == name]
    times = pd.Series(seconds)
    return RaterReport(
        rater=name,
        ratings=int(own.count()),
        mean=float(own.mean()),
        from_others=float((own - others).abs().mean()),
        checks=len(checks),
        from_own=float(from_own.mean()),
        seconds=float(times.median()),
        cannot_tell=sum(rating.annotator == name for rating in reading.cannot_tell),
    )
