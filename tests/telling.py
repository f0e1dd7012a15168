"""What a message tells, whatever its wording: names, numbers and kinds, in their order."""

import re

_GAP = ".{0,250}?"


def tells(text: object, pattern: str) -> bool:
    """Whether a text has the parts of a pattern in their order; `...` stands for any words.

    Blanks and line breaks are one blank, and a number is not found within another number.
    """
    parts = [re.escape(" ".join(part.split())) for part in pattern.split("...")]
    wanted = _GAP.join(_whole(part) for part in parts if part)
    return re.search(wanted, " ".join(str(text).split())) is not None


def _whole(part: str) -> str:
    before = r"(?<![\d.,])" if part[0].isdigit() else ""
    after = r"(?!\d|[.,]\d)" if part[-1].isdigit() else ""
    return before + part + after


class Telling(str):
    """A pattern as `tells` takes it, equal to every text that tells it.

    For a sentence in a list or mapping.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether the other one is a text that tells the pattern."""
        return isinstance(other, str) and tells(other, str(self))

    def __ne__(self, other: object) -> bool:
        """Whether it is none."""
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the pattern, for the comparison of a test that fails."""
        return f"Telling({str(self)!r})"
