"""Takes prompt and response out of the instruction that the Prometheus evaluators are given.

Files of prometheus-eval do not hold the bare texts, but sections under these headings: task description, the
instruction to evaluate, the response to evaluate, in some files a reference answer, score rubrics, feedback.
"""

from typing import NamedTuple

from urs_inspect.datasets.benches.sides import assign_sides
from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import PairCase, RatingCase
from urs_inspect.errors import InputError

_PROMPT = "###The instruction to evaluate:"
_RESPONSE = "###Response to evaluate:"
_REFERENCE = "###Reference Answer (Score 5):"
_RUBRICS = "###Score Rubrics:"


class Bare(NamedTuple):
    """The texts that were wrapped."""

    prompt: str
    response: str


def unwrap(instruction: str) -> Bare:
    """Take prompt and response out of an instruction, without white space at their edges.

    The predictions that were published with SaMer show the texts stripped like this. Reference answer and score
    rubrics are left behind: the paper shows them to no judge (section 5.2). A response may be empty.

    Raises:
        InputError: If a heading is missing, there twice or in the wrong place, so that it is not certain where the
            response ends.
    """
    headings = [_PROMPT, _RESPONSE, *([_REFERENCE] if _REFERENCE in instruction else []), _RUBRICS]
    for heading in headings:
        if (count := instruction.count(heading)) != 1:
            raise InputError(f"has the heading '{heading}' {count} times, must have it once")
    places = [instruction.index(heading) for heading in headings]
    if places != sorted(places):
        raise InputError(f"must have the headings in the order: {', '.join(headings)}")
    prompt = instruction[places[0] + len(_PROMPT) : places[1]].strip()
    response = instruction[places[1] + len(_RESPONSE) : places[2]].strip()
    if not prompt:
        raise InputError(f"nothing stands under the heading '{_PROMPT}'")
    return Bare(prompt, response)


def unwrapped(fields: Fields, column: str) -> Bare:
    """Read a column that holds a wrapped instruction; what is wrong with it is noted."""
    if text := fields.text(column):
        try:
            return unwrap(text)
        except InputError as error:
            fields.note(column, str(error))
    return Bare("", "")


def wrapped_pair(fields: Fields, row_id: str, group: str, *, tie: bool = False) -> PairCase:
    """Read a row of a chosen and a rejected instruction; the id decides which response comes first.

    Args:
        fields: The row, with the columns `chosen_instruction` and `rejected_instruction`.
        row_id: Its id.
        group: Its group.
        tie: Whether neither was preferred.
    """
    chosen = unwrapped(fields, "chosen_instruction")
    rejected = unwrapped(fields, "rejected_instruction")
    if not fields.problems and chosen.prompt != rejected.prompt:
        fields.note("rejected_instruction", "has another prompt than 'chosen_instruction'")
    first, second, better = assign_sides(row_id, chosen.response, rejected.response)
    return PairCase(row_id, chosen.prompt, first, second, "tie" if tie else better, group)


def wrapped_rating(fields: Fields, row_id: str, column: str, scale: tuple[float, float], group: str) -> RatingCase:
    """Read a row of an `instruction` and its ratings.

    Args:
        fields: The row.
        row_id: Its id.
        column: The column of the rating, or of a list of ratings whose mean counts.
        scale: Lowest and highest possible rating.
        group: Its group.
    """
    bare = unwrapped(fields, "instruction")
    return RatingCase(row_id, bare.prompt, bare.response, fields.rating(column, *scale), group)
