"""Files of people's ratings of single answers."""

import re
from dataclasses import dataclass
from pathlib import Path

from urs_inspect.datasets.fields import Fields, refuse
from urs_inspect.datasets.rows import Row, read_table, shown
from urs_inspect.errors import InputError

_COUNT = re.compile(r"[1-9][0-9]{0,17}")

Scale = tuple[float, float]
"""Lowest and highest value that a person could choose."""


@dataclass(frozen=True)
class HumanRating:
    """What one person gave one answer.

    Attributes:
        question: Id of the question.
        model: Name of the model that answered; empty if the file does not say.
        epoch: Number of the answer, from 1, where a model answered repeatedly; None if the file does not say.
        rater: Who rated; empty if the file does not say.
        rating: The rating, on the scale of the file.
        place: Where it stands in the file.
    """

    question: str
    model: str
    epoch: int | None
    rater: str
    rating: float
    place: str

    @property
    def answer(self) -> str:
        """The answer in words."""
        model = f" of {self.model}" if self.model else ""
        epoch = f", epoch {self.epoch}" if self.epoch is not None else ""
        return f"'{self.question}'{model}{epoch}"


@dataclass(frozen=True)
class HumanRatings:
    """A file of ratings.

    Attributes:
        path: The file.
        scale: Its scale.
        ratings: The ratings, in the order of the file.
        repeated: Rows that repeat another one to the letter and were left out.
    """

    path: Path
    scale: Scale
    ratings: tuple[HumanRating, ...]
    repeated: int


def read_human_ratings(path: Path, scale: Scale) -> HumanRatings:
    """Read people's ratings of answers.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file, with the columns id (of the question) and rating, and
            optionally model, rater and epoch.
        scale: Lowest and highest rating that a person could choose.

    Returns:
        The ratings. A row that repeats a person's rating of an answer is left out and counted.

    Raises:
        InputError: Naming file and row of every fault: a rating that is no number of the scale, two different ratings
            of one answer by one person, two ratings of one answer in a file that does not say who rated.
    """
    _check(scale, "human-scale")
    rows, faults = read_table(path, (("id",), ("rating",)))
    seen: dict[tuple[object, ...], HumanRating] = {}
    repeated = 0
    for row in rows:
        found = _rating(row, scale)
        if isinstance(found, str):
            faults.append(f"{path}: {row.place}: {found}")
            continue
        first = seen.setdefault((found.question, found.model, found.epoch, found.rater), found)
        if first is found:
            continue
        if found.rater and first.rating == found.rating:
            repeated += 1
        else:
            faults.append(f"{path}: {row.place}: {_conflict(first, found)}")
    refuse(faults)
    if not seen:
        raise InputError(f"{path}: no rating")
    return HumanRatings(path, scale, tuple(seen.values()), repeated)


def whole_number(fields: Fields, column: str) -> int | None:
    """Read a whole number of at least 1 that may be left out."""
    if fields.blank(column):
        return None
    value = fields.values[column]
    text = str(value).strip()
    if isinstance(value, bool) or not _COUNT.fullmatch(text):
        fields.note(column, f"must be a whole number of at least 1, is {shown(value)}")
        return None
    return int(text)


def name(fields: Fields, column: str) -> str:
    """Read a name, a text or a whole number, that may be left out."""
    value = fields.values.get(column)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return fields.optional(column).strip()


def _check(scale: Scale, argument: str) -> None:
    if not scale[0] < scale[1]:
        raise InputError(f"{argument}: must have a lowest value below a highest, got {scale[0]:g} and {scale[1]:g}")


def _rating(row: Row, scale: Scale) -> HumanRating | str:
    fields = Fields(row)
    found = HumanRating(
        question=fields.identifier(""),
        model=name(fields, "model"),
        epoch=whole_number(fields, "epoch"),
        rater=name(fields, "rater"),
        rating=fields.rating("rating", *scale),
        place=row.place,
    )
    if not found.question and not fields.problems:
        fields.note("id", "empty")
    return "; ".join(fields.problems) or found


def _conflict(first: HumanRating, second: HumanRating) -> str:
    if not second.rater:
        return (
            f"{second.answer} was rated on {first.place} already; if these are two people, "
            "say who rated in a column 'rater'"
        )
    return (
        f"'{second.rater}' rated {second.answer} {second.rating:g} here and {first.rating:g} on {first.place}; "
        "keep one of the two"
    )
