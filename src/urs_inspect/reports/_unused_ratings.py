"""What of a file of people's ratings does not count, as a result and as sentences.

Reports show the sentences, and so does the error where no rating is about an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from urs_inspect._util import choices, counted
from urs_inspect.datasets._rows import first_errors
from urs_inspect.reports._texts import listed

Lost = Literal["model", "answer"]
"""What is not in the logs: the model that a rating is about, or only its answer."""

_SHOWN = 3
_ABOUT: dict[Lost, str] = {
    "model": "another model",
    "answer": "a question or epoch without an answer",
}


@dataclass(frozen=True)
class UnusedRatings:
    """What of a file of ratings does not count."""

    repeated: int = 0  # rows that exactly repeat another one
    columns: Sequence[str] = ()  # that are not read
    cannot_tell: int = 0  # answers that a person could not rate
    replaced: int = 0  # ratings that the same person replaced later
    undone: int = 0  # ratings that were taken back
    faults: Sequence[str] = ()  # lines that are no ratings, with their place
    lost: Mapping[Lost, Sequence[str]] = field(default_factory=dict)  # ratings with their place


def unused_notes(file: Path, unused: UnusedRatings) -> list[str]:
    """What of a file of ratings does not count, with counts, a sentence each."""
    notes = []
    for what, ratings in unused.lost.items():
        first = listed(ratings, separator="; ", most=_SHOWN)
        notes.append(
            f"{counted(len(ratings), 'rating')} of {file} about {_ABOUT[what]}, skipped: {first}."
        )
    if unused.repeated:
        notes.append(f"{counted(unused.repeated, 'repeated row')} of {file} skipped.")
    if unused.columns:
        notes.append(f"Columns of {file} that are not read: {choices(unused.columns)}.")
    if unused.cannot_tell:
        notes.append(
            "Without a rating, because the person could not tell:"
            f" {counted(unused.cannot_tell, 'answer')}."
        )
    if unused.replaced or unused.undone:
        notes.append(
            f"{counted(unused.replaced, 'rating')} replaced later by the same person,"
            f" {unused.undone} taken back."
        )
    return [*notes, *(f"Not a rating: {error}" for error in first_errors(unused.faults))]
