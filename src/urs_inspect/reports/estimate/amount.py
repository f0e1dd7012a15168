"""A number of which only a range is known."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Amount:
    """A number with its range.

    Attributes:
        low: The least that is to be expected.
        expected: What is most likely.
        high: The most that is to be expected.
    """

    low: float
    expected: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> "Amount":
        """A number that is known."""
        return cls(value, value, value)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __mul__(self, other: "Amount | float") -> "Amount":
        factor = other if isinstance(other, Amount) else Amount.exactly(other)
        return Amount(self.low * factor.low, self.expected * factor.expected, self.high * factor.high)


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of amounts that move together: lows with lows, highs with highs."""
    parts = list(amounts)
    return Amount(*(math.fsum(getattr(part, name) for part in parts) for name in ("low", "expected", "high")))
