"""What somebody may have meant by a name that is not known."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from urs_inspect.errors import InputError

_LEAST = 0.6  # share of characters in common, as difflib counts them


class AmbiguousNameError(InputError):
    """A name that could be either of several things."""


class UnknownNameError(InputError):
    """A name that is not known.

    Attributes:
        nearest: What the nearest known name stands for; empty if none is near or it stands for several things.
    """

    def __init__(self, message: str, nearest: str) -> None:
        super().__init__(message)
        self.nearest = nearest


def did_you_mean(key: str, meanings: Mapping[str, Collection[str]]) -> str:
    """A question about the nearest known name.

    Args:
        key: The name, folded for comparison.
        meanings: Folded spelling -> what it stands for.

    Returns:
        ` (did you mean factual_qa?)`; empty if no name is near.
    """
    near = nearest(key, meanings)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def nearest(key: str, meanings: Mapping[str, Collection[str]]) -> list[str]:
    """What the nearest known name stands for, sorted; empty if no name is near."""
    near = get_close_matches(key, list(meanings), n=1, cutoff=_LEAST)
    return sorted(meanings[near[0]]) if near else []
