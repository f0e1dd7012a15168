"""Ratings of single answers by people: their files, what they stand for, and how far the people agree."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.annotation.rating_queue import CHECK, answer_id
from urs_inspect.annotation.votes import (
    EventStore,
    OtherKindError,
    event_line,
    event_seconds,
    event_text,
    event_values,
    read_events,
    vote_files,
)
from urs_inspect.rubrics import HIGHEST, LOWEST
from urs_inspect.stats.agreement import clustered_interval_alpha
from urs_inspect.stats.bootstrap import Estimate


@dataclass(frozen=True)
class Rated:
    """What a rating, or an undo, is about."""

    question: str  # id
    model: str
    epoch: int
    annotator: str
    answer: str  # digest of the text
    check: bool = False  # whether the person rated this answer before, and is asked again without being told

    @cached_property
    def answer_id(self) -> str:
        """Id of the answer."""
        return answer_id(self.question, self.model, self.epoch, self.answer)

    @property
    def about(self) -> str:
        """Id of what was to be rated: the answer, or the answer once more."""
        return self.answer_id + (CHECK if self.check else "")

    def _values(self) -> dict[str, Any]:
        names = {"id": self.question, "model": self.model, "epoch": self.epoch, "rater": self.annotator}
        return {**names, "answer": self.answer, **({"check": True} if self.check else {})}


@dataclass(frozen=True)
class Rating(Rated):
    """What one person gave one answer, 1 to 10 each."""

    undone: ClassVar[bool] = False
    final: int = LOWEST
    criteria: Mapping[str, int] = field(default_factory=dict)  # by id; empty where only the final score was asked
    rate: float = 1.0  # as in `ToRate`
    threshold: float | None = None  # as in `ToRate`
    seconds: float = math.nan  # how long the answer was in view; NaN if not known
    time: str = ""  # ISO 8601 in UTC; empty if not known

    def to_line(self) -> str:
        """The rating as one line of a file, without the line break."""
        values = self._values()
        return event_line(
            {
                **{name: values.pop(name) for name in ("id", "model", "epoch", "rater")},
                "rating": self.final,
                "criteria": dict(self.criteria),
                "weight": round(1 / self.rate, 6),
                "threshold": self.threshold,
                **values,
                "seconds": None if math.isnan(self.seconds) else round(self.seconds, 2),
                "time": self.time,
            }
        )


@dataclass(frozen=True)
class RatingUndo(Rated):
    """Takes back what somebody gave an answer."""

    undone: ClassVar[bool] = True
    time: str = ""

    def to_line(self) -> str:
        """The undo as one line of a file, without the line break."""
        return event_line({**self._values(), "undo": True, "time": self.time})


def parse_rating(line: bytes) -> Rating | RatingUndo:
    """Read one line of a file of ratings; `ValueError` says why it is neither a rating nor an undo."""
    values = event_values(line)
    if "ballot" in values:
        raise OtherKindError("a vote about a ballot, not a rating")
    if not isinstance(values.get("check", False), bool):
        raise ValueError("check must be true or false")
    about: dict[str, Any] = {
        "question": event_text(values, "id"),
        "model": event_text(values, "model"),
        "epoch": _whole(values, "epoch", 1),
        "annotator": event_text(values, "rater"),
        "answer": event_text(values, "answer"),
        "check": values.get("check", False),
        "time": event_text(values, "time") if values.get("time") else "",
    }
    if values.get("undo"):
        return RatingUndo(**about)
    criteria = values.get("criteria") or {}
    if not isinstance(criteria, dict):
        raise ValueError("criteria must be an object of scores")
    return Rating(
        **about,
        final=_whole(values, "rating", LOWEST, HIGHEST),
        criteria={name: _whole(criteria, name, LOWEST, HIGHEST) for name in criteria},
        rate=1 / _positive(values.get("weight", 1), "weight"),
        threshold=None if (found := values.get("threshold")) is None else _positive(found, "threshold"),
        seconds=event_seconds(values.get("seconds")),
    )


def _whole(values: Mapping[str, Any], key: str, low: int, high: int | None = None) -> int:
    value = values.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < low or (high is not None and value > high):
        allowed = f"from {low} to {high}" if high is not None else f"of at least {low}"
        raise ValueError(f"{key} must be a whole number {allowed}")
    return value


def _positive(value: object, key: str) -> float:
    number = event_seconds(value)
    if not 1e-12 < number < 1e12:
        raise ValueError(f"{key} must be a number above 0")
    return number


class RatingStore(EventStore[Rating | RatingUndo]):
    """Appends ratings to the file of a person, as votes are."""

    what = "ratings"
    parse = staticmethod(parse_rating)


@dataclass(frozen=True)
class RatingReading:
    """Ratings of several files.

    Attributes:
        ratings: Those that count, at most one per person and answer.
        weights: How many answers each of them stands for, up to a common factor per model.
        checks: Pairs of ratings of one answer by one person, the second a check, which counts for nothing else.
        replaced: Ratings that the same person replaced later.
        undone: Ratings that were taken back and not made again.
        errors: Lines that are no ratings, with their place; they stay in their files and do not count.
    """

    ratings: tuple[Rating, ...]
    weights: tuple[float, ...]
    checks: tuple[tuple[Rating, Rating], ...]
    replaced: int
    undone: int
    errors: tuple[str, ...]

    def about(self, answers: Collection[str]) -> Self:
        """The reading without ratings of answers other than those of these ids."""
        kept = [rating.answer_id in answers for rating in self.ratings]
        return replace(
            self,
            ratings=tuple(compress(self.ratings, kept)),
            weights=tuple(compress(self.weights, kept)),
            checks=tuple(pair for pair in self.checks if pair[0].answer_id in answers),
        )


def holds_ratings(path: Path) -> bool:
    """Whether a path is a directory, or a file whose first readable line is a rating as `annotate --rate` writes it."""
    if path.is_dir():
        return True
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return False
    with path.open("rb") as file:
        for line in file:
            try:
                parse_rating(line)
            except ValueError:
                continue
            return True
    return False


def read_ratings(paths: Iterable[str | Path]) -> RatingReading:
    """Read ratings from files and directories of files.

    Of the ratings of an answer by one person the last one counts, by `time` across files.

    Raises:
        InputError: If there is no file, one cannot be read, or they hold votes.
    """
    files = list({path.resolve(): path for path in vote_files(paths, "ratings")}.values())
    found = read_events(files, parse_rating, "ratings")
    given = [event for event in found.final if isinstance(event, Rating)]
    if not given and any("a vote about a ballot" in error for error in found.errors):
        raise InputError(f"{files[0]}: holds votes about ballots, not ratings; `urs-inspect rank` reads them")
    ratings = tuple(rating for rating in given if not rating.check)
    first = {(rating.annotator, rating.answer_id): rating for rating in ratings}
    checks = [(first.get((rating.annotator, rating.answer_id)), rating) for rating in given if rating.check]
    return RatingReading(
        ratings,
        _weights(ratings),
        tuple((one, other) for one, other in checks if one is not None),
        found.replaced,
        found.undone,
        found.errors,
    )


def _weights(ratings: Sequence[Rating]) -> tuple[float, ...]:
    """Inverse inclusion probabilities, given how far each model's answers have been drawn (see `ToRate`)."""
    reached: dict[str, float] = {}
    rates: dict[str, float] = {}  # the first one where logs were added in between, so that an answer has one weight
    for rating in ratings:
        rates.setdefault(rating.answer_id, rating.rate)
        threshold = math.inf if rating.threshold is None else rating.threshold
        reached[rating.model] = max(threshold, reached.get(rating.model, 0.0))
    return tuple(1 / -math.expm1(-rates[rating.answer_id] * reached[rating.model]) for rating in ratings)


@dataclass(frozen=True)
class RaterReport:
    """The ratings of one person."""

    rater: str
    ratings: int
    mean: float
    from_others: float  # mean distance from the mean of the others' ratings of the same answers; NaN without such
    checks: int  # answers rated twice
    from_own: float  # mean distance between the two ratings of these; NaN without such
    seconds: float  # median time in view per rating; NaN if not known


@dataclass(frozen=True)
class RatingAgreement:
    """Agreement of several people about final scores."""

    ratings: int
    by_count: Mapping[int, int]  # number of ratings -> answers that have so many
    alpha: Estimate  # Krippendorff's, interval, clustered by question; NaN with fewer than two answers rated by several
    raters: tuple[RaterReport, ...]  # by name

    @property
    def answers(self) -> int:
        """Answers with at least one rating."""
        return sum(self.by_count.values())


def rating_agreement(reading: RatingReading) -> RatingAgreement:
    """Measure how far people agree with each other, and each with themselves."""
    by_answer: dict[str, dict[str, Rating]] = defaultdict(dict)
    for rating in reading.ratings:
        by_answer[rating.answer_id][rating.annotator] = rating
    raters = sorted({rating.annotator for rating in reading.ratings})
    given = list(by_answer.values())
    table = np.array([[float(each[name].final) if name in each else math.nan for each in given] for name in raters])
    questions = [next(iter(each.values())).question for each in given]
    return RatingAgreement(
        ratings=len(reading.ratings),
        by_count=dict(sorted(Counter(map(len, given)).items())),
        alpha=clustered_interval_alpha(table.reshape(len(raters), len(given)), questions).reported(),
        raters=tuple(_rater(name, by_answer, reading) for name in raters),
    )


def _rater(name: str, by_answer: Mapping[str, Mapping[str, Rating]], reading: RatingReading) -> RaterReport:
    own = [rating for rating in reading.ratings if rating.annotator == name]
    others = [
        abs(rating.final - statistics.fmean(each.final for who, each in given.items() if who != name))
        for rating in own
        if len(given := by_answer[rating.answer_id]) > 1
    ]
    twice = [abs(one.final - other.final) for one, other in reading.checks if one.annotator == name]
    times = [rating.seconds for rating in own if not math.isnan(rating.seconds)]
    return RaterReport(
        rater=name,
        ratings=len(own),
        mean=statistics.fmean(rating.final for rating in own),
        from_others=statistics.fmean(others) if others else math.nan,
        checks=len(twice),
        from_own=statistics.fmean(twice) if twice else math.nan,
        seconds=statistics.median(times) if times else math.nan,
    )
