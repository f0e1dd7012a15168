"""What `annotate` prints on people and what they decided, about votes and ratings alike."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from urs_inspect._util import InputError, choices

if TYPE_CHECKING:
    from urs_inspect.annotation import VoteReading
    from urs_inspect.annotation._ratings import RatingReading


def check_language(wanted: str, there: Iterable[str]) -> None:
    """Refuse a language in which there is no question."""
    languages = sorted(set(there))
    if wanted not in languages:
        raise InputError(f"language: no question in '{wanted}'; there are: {choices(languages)}")


def print_people(columns: Mapping[str, str], people: Iterable[object]) -> None:
    """Print one row per person, whose name comes first; a dash for what is not known."""
    first, *others = columns
    table = Table(first, *(Column(heading, justify="right") for heading in others))
    for person in people:
        cells = []
        for column in columns.values():
            name, _, form = column.partition(":")
            cells.append(escape(number(getattr(person, name), form)))
        table.add_row(*cells)
    Console().print(table)


def print_uncounted(
    what: str,
    about: str,
    here: int,
    total: int,
    reading: "VoteReading | RatingReading",
) -> None:
    """Print what is in the files and does not count here, and why.

    It is about other answers, was replaced or taken back, or could not be read.
    """
    if not here:
        say(f"No {what} yet.")
    if others := total - here:
        say(
            f"{others} {what} are about other {about}; they stay in their files and do not count"
            " here."
        )
    if reading.replaced or reading.undone:
        say(f"{reading.replaced} {what} were replaced later, {reading.undone} taken back.")
    for error in reading.errors:
        say(f"[yellow]does not count:[/yellow] {escape(error)}")


def say(text: str, *, markup: bool = True) -> None:
    """Print a line, which a terminal may fold, but not shorten or colour."""
    Console(soft_wrap=True, highlight=False).print(text, markup=markup)


def number(value: float | str, form: str) -> str:
    """A value in a format of Python; a dash for NaN."""
    if isinstance(value, float) and math.isnan(value):
        return "-"
    return format(value, form)
