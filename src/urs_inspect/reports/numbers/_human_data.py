"""What people rate: their ratings of answers, from files and as scores of a log."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from urs_inspect._util import InputError, choices, counted
from urs_inspect.annotation._ratings import (
    RaterReport,
    holds_ratings,
    rater_reports,
    read_ratings,
)
from urs_inspect.datasets._rows import (
    SURPLUS,
    FaultyRow,
    Fields,
    Row,
    first_errors,
    label_key,
    read_table,
    refuse,
    shown,
    told_once,
)
from urs_inspect.judging._scores import TEXTS, number
from urs_inspect.reports._unused_ratings import UnusedRatings
from urs_inspect.rubrics import HIGHEST, LOWEST
from urs_inspect.stats._bootstrap import Floats

Scale = tuple[float, float]
"""Lowest and highest value that a person could choose."""
RUBRIC_SCALE: Scale = (float(LOWEST), float(HIGHEST))
"""Scale of a rubric's final scores."""
_UNIT: Scale = (0.0, 1.0)
"""Scale of labels such as right and wrong."""
_LABELS = {text.lower(): number(text) for text in TEXTS}

_ENOUGH = 10
"""Fewest ratings by which the scale may be doubted."""
_USUAL = ((0.0, 1.0), (1.0, 3.0), (1.0, 5.0), (0.0, 5.0), (1.0, 7.0), (1.0, 10.0), (0.0, 10.0))
"""Usual scales, the narrowest first."""
_COUNT = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class HumanRating:
    """What one person gave one answer."""

    question: str
    model: str  # empty if the file does not name it
    epoch: int | None  # from 1; None if the file does not name it
    rater: str  # empty if the file does not name it
    rating: float  # on the scale of the file
    place: str  # in the file
    weight: float = 1.0  # how many answers the rated one stands for, up to a factor

    @property
    def answer(self) -> str:
        """The answer in words."""
        answer = f"'{self.question}'"
        if self.model:
            answer += f" of {self.model}"
        if self.epoch is not None:
            answer += f", epoch {self.epoch}"
        return answer


@dataclass(frozen=True)
class ScaleDoubt:
    """That no rating is in the upper half of the scale, as where another one was used."""

    highest: float
    ratings: int
    usual: Scale | None  # the narrowest usual scale that holds all ratings


@dataclass(frozen=True)
class HumanRatings:
    """A file of ratings, without rows that exactly repeat another one."""

    path: Path
    scale: Scale
    ratings: tuple[HumanRating, ...]
    # what of the file does not count
    unused: UnusedRatings = field(default_factory=UnusedRatings)
    weighted: bool = False  # whether the file says how many answers a rated one stands for
    repeats: tuple[RaterReport, ...] = ()  # of those who rated some answers twice
    doubt: ScaleDoubt | None = None


_COLUMNS = ("id", "rating", "model", "rater", "epoch", "weight")


def read_human_ratings(path: Path, scale: Scale | None) -> HumanRatings:
    """Read people's ratings of answers.

    The file is `.csv`, `.jsonl` or `.json` with the columns id (of the question) and rating, and
    optionally model, rater, epoch and weight (how many answers the rated one stands for, up to a
    common factor per model); or a directory or file as `annotate` writes them, of which the
    last rating of an answer by a person counts.

    Ratings may be letters (C, P, I, N), yes and no, true and false instead, which count 1, 0.5 or 0
    on a scale from 0 to 1, as in inspect-ai.

    Args:
        path: The file or directory.
        scale: Lowest and highest rating that a person could choose; None if it is not known, which
            only letters and words allow.

    Returns:
        The ratings on their scale, in the order of the file.

    Raises:
        InputError: Naming file and row of every error: a rating that is no number of the scale, two
            different ratings of one answer by one person, two ratings of one answer in a file
            without raters, a weight that is no number above 0, that some rows lack, or that differs
            between ratings of one answer.
    """
    if scale is not None:
        check_scale(scale, "human-scale")
    if holds_ratings(path):
        return _of_page(path, scale or RUBRIC_SCALE)
    rows, errors = read_table(path, (("id",), ("rating",)))
    if all(Fields(row).blank("rating") for row in rows):
        refuse(errors)
        raise InputError(f"no rating in {path}, which has {counted(len(rows), 'row')}")
    given = [row.values.get("rating") for row in rows]
    is_label = np.array([label_key(value) in _LABELS for value in given])
    is_number = np.isfinite([number(value) for value in given]) & ~is_label
    if is_label.all() or (scale is None and not is_number.all()):
        return _ratings_of_rows(path, rows, _UNIT, errors, labels=True)
    if scale is None:
        raise InputError(
            "human-scale: name the lowest and the highest rating that a person could give in"
            f" {path}, as 1,5; only {choices(TEXTS)} need none"
        )
    return _ratings_of_rows(path, rows, scale, errors, labels=False)


def _ratings_of_rows(
    path: Path, rows: Sequence[Row], scale: Scale, errors: list[str], *, labels: bool
) -> HumanRatings:
    """The ratings of the rows of a file; raise all errors, those of reading the rows first."""
    weighted = any(not Fields(row).blank("weight") for row in rows)
    read: list[HumanRating] = []
    faulty: list[FaultyRow] = []
    for row in rows:
        fields = Fields(row)
        value = fields.label("rating", _LABELS) if labels else fields.rating("rating", *scale)
        rating = HumanRating(
            question=fields.identifier(""),
            model=fields.name("model"),
            epoch=whole_number(fields, "epoch"),
            rater=fields.name("rater"),
            rating=value,
            place=row.place,
            weight=fields.above_zero("weight") if weighted else 1.0,
        )
        if not rating.question and not fields.faults:
            fields.note("id", "empty")
        if fields.faults:
            faulty.append(FaultyRow(row, fields.faults))
        else:
            read.append(rating)
    ratings, conflicts = _each_once(read)
    errors += [*told_once(path, faulty), *(f"{path}: {fault}" for fault in conflicts)]
    hint = "Numbers are read with --human-scale, where no rating is a letter or word."
    refuse(errors, hint if labels else "")
    if not ratings:
        raise InputError(f"{path}: no rating")
    unused = UnusedRatings(repeated=len(read) - len(ratings), columns=_unread_columns(rows))
    doubt = _doubt([rating.rating for rating in ratings], scale)
    return HumanRatings(path, scale, ratings, unused, weighted, doubt=doubt)


def _each_once(ratings: Iterable[HumanRating]) -> tuple[tuple[HumanRating, ...], list[str]]:
    """Ratings without those that repeat another one, and what contradicts another one."""
    first_by: dict[tuple[object, ...], HumanRating] = {}
    first_of: dict[tuple[object, ...], HumanRating] = {}
    conflicts: list[str] = []
    for rating in ratings:
        answer = (rating.question, rating.model, rating.epoch)
        other = first_of.setdefault(answer, rating)
        if other.weight != rating.weight:
            conflicts.append(
                f"{rating.place}: {rating.answer} has the weight {rating.weight:g} here and"
                f" {other.weight:g} on {other.place}; an answer has one weight"
            )
        first = first_by.setdefault((*answer, rating.rater), rating)
        is_repeated = bool(rating.rater) and first.rating == rating.rating
        if first is not rating and not is_repeated:
            conflicts.append(f"{rating.place}: {_conflict(first, rating)}")
    return tuple(first_by.values()), conflicts


def _unread_columns(rows: Iterable[Row]) -> tuple[str, ...]:
    """Which columns are not read."""
    named = set().union(*(row.values for row in rows))
    others = named - {*_COLUMNS, SURPLUS}
    return tuple(sorted(name for name in others if name.strip()))


def on_scale_of_judge(ratings: Floats, scale: Scale, judge: Scale = RUBRIC_SCALE) -> Floats:
    """Ratings mapped linearly from the scale of a file to that of the judge, any shape."""
    low, high = scale
    judge_low, judge_high = judge
    ratio = (judge_high - judge_low) / (high - low)
    return judge_low + (ratings - low) * ratio


def _doubt(ratings: Sequence[float], scale: Scale) -> ScaleDoubt | None:
    lowest = min(ratings)
    highest = max(ratings)
    if len(ratings) < _ENOUGH or highest > sum(scale) / 2:
        return None
    for usual in _USUAL:
        usual_low, usual_high = usual
        if usual_low <= lowest and highest <= usual_high < scale[1]:
            return ScaleDoubt(highest, len(ratings), usual)
    return ScaleDoubt(highest, len(ratings), None)


def _of_page(path: Path, scale: Scale) -> HumanRatings:
    """Ratings that the rating page saved."""
    if scale != RUBRIC_SCALE:
        raise InputError(
            f"{path}: the scale must be {LOWEST},{HIGHEST}, that of `annotate`, which saved these"
            f" ratings, got {scale[0]:g},{scale[1]:g}"
        )
    reading = read_ratings([path])
    if not reading.ratings:
        lines = [f"{path}: no rating", *first_errors(reading.errors)]
        raise InputError("\n".join(lines))
    ratings = tuple(
        HumanRating(
            rating.question,
            rating.model,
            rating.epoch,
            rating.annotator,
            rating.final,
            str(path),
            reading.weights[rating.answer_id],
        )
        for rating in reading.ratings
    )
    unused = UnusedRatings(
        cannot_tell=len(reading.cannot_tell),
        replaced=reading.replaced,
        undone=reading.undone,
        faults=reading.errors,
    )
    repeats = tuple(rater for rater in rater_reports(reading) if rater.checks)
    return HumanRatings(path, scale, ratings, unused, weighted=True, repeats=repeats)


def check_scale(scale: Scale, argument: str) -> None:
    low, high = scale
    if not low < high:
        raise InputError(
            f"{argument}: must have a lowest value below a highest, got {low:g} and {high:g}"
        )


def _conflict(first: HumanRating, second: HumanRating) -> str:
    if not second.rater:
        return (
            f"{second.answer} was rated on {first.place} already; if these are two people, "
            "name them in a column 'rater'"
        )
    return (
        f"'{second.rater}' rated {second.answer} {second.rating:g} here and {first.rating:g} on"
        f" {first.place}; keep one of the two"
    )


def whole_number(fields: Fields, column: str) -> int | None:
    """A whole number of at least 1 that may be omitted."""
    if fields.blank(column):
        return None
    value = fields.values[column]
    text = str(value).strip()
    if isinstance(value, bool) or not _COUNT.fullmatch(text):
        fields.note(column, f"must be a whole number of at least 1, is {shown(value)}")
        return None
    return int(text)
