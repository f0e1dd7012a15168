"""Holds the number of a reply against the sum that was asked for."""

from decimal import Decimal
from typing import Literal

from urs_inspect.judging.number_reply import read_result
from urs_inspect.texts import is_blank

SumOutcome = Literal["right", "wrong", "no_number", "no_response"]


def sum_outcome(reply: str, total: Decimal) -> tuple[SumOutcome, Decimal | None]:
    """Read what a reply gives as the sum; it must be exact.

    Args:
        reply: The reply.
        total: The sum.

    Returns:
        How it ended, and the number that was read; None where there is none.
    """
    if is_blank(reply):
        return "no_response", None
    number = read_result(reply)
    if number is None:
        return "no_number", None
    return ("right" if number == total else "wrong"), number
