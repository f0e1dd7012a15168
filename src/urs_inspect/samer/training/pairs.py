"""Pairs of responses with a preference as a whole and on dimensions (SaMer paper, section 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from urs_inspect.errors import InputError, choices

Preference = Literal["a", "b", "tie"]
"""Which of two responses is better."""
PREFERENCES: tuple[Preference, ...] = get_args(Preference)

Codes = npt.NDArray[np.int8]

ABSENT = 2
"""Code of a preference that nobody stated; the others are those of Equation 2."""
_CODES: Mapping[Preference | None, int] = {"a": 1, "b": -1, "tie": 0, None: ABSENT}


@dataclass(frozen=True)
class TrainingPair:
    """Two responses to one prompt, as heads are trained on them.

    Attributes:
        id: Stable id.
        prompt: What the user asked.
        response_a: First response.
        response_b: Second response.
        winner: Which is better as a whole; None if nobody said.
        scenario: Scenario id of the taxonomy; empty if not known.
        dimensions: Dimension -> which is better on it; empty before annotation.
        source: Data set that it comes from.
    """

    id: str
    prompt: str
    response_a: str
    response_b: str
    winner: Preference | None = None
    scenario: str = ""
    dimensions: Mapping[str, Preference] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, eq=False)
class PairLabels:
    """Preferences of n pairs on D dimensions: 1 (a is better), -1 (b is), 0 (tie) or `ABSENT`.

    Attributes:
        overall: As a whole, shape (n,).
        dimensions: On each dimension, shape (n, D).
    """

    overall: Codes
    dimensions: Codes

    def __post_init__(self) -> None:
        if self.overall.ndim != 1 or self.dimensions.ndim != 2 or len(self.overall) != len(self.dimensions):
            raise ValueError(f"labels of shapes {self.overall.shape} and {self.dimensions.shape}; need (n,) and (n, D)")

    def __len__(self) -> int:
        return len(self.overall)

    def take(self, rows: npt.NDArray[np.intp]) -> "PairLabels":
        """The labels of some pairs, in that order."""
        return PairLabels(self.overall[rows], self.dimensions[rows])

    def swapped(self) -> "PairLabels":
        """The labels with the two responses of every pair exchanged."""
        return PairLabels(_swap(self.overall), _swap(self.dimensions))


def label_pairs(pairs: Sequence[TrainingPair], dimensions: Sequence[str]) -> PairLabels:
    """Turn preferences into codes.

    Args:
        pairs: The pairs, n.
        dimensions: Names of all dimensions in the order of the heads' outputs, D.

    Returns:
        Shapes (n,) and (n, D).

    Raises:
        InputError: If a pair has a dimension that is none of these.
    """
    place = {name: number for number, name in enumerate(dimensions)}
    overall = np.array([_CODES[pair.winner] for pair in pairs], np.int8)
    labels = np.full((len(pairs), len(dimensions)), ABSENT, np.int8)
    for row, pair in enumerate(pairs):
        for name, preference in pair.dimensions.items():
            if name not in place:
                raise InputError(f"pair '{pair.id}': unknown dimension '{name}'; allowed: {choices(dimensions)}")
            labels[row, place[name]] = _CODES[preference]
    return PairLabels(overall, labels)


def check_split(labels: PairLabels, fit: npt.NDArray[np.intp], held_out: npt.NDArray[np.intp] | None) -> None:
    """Refuse a split from which nothing could be learnt, or by which no epoch could be chosen.

    Args:
        labels: Of n pairs.
        fit: Rows of the pairs to learn from.
        held_out: Rows of the pairs by which the best epoch is chosen; None or empty if none shall be.

    Raises:
        InputError: If no pair to fit has a label on a dimension, or no held-out pair has any label but ties.
    """
    if not len(fit) or not bool((labels.take(fit).dimensions != ABSENT).any()):
        raise InputError("no pair to fit has a label on a dimension")
    if held_out is None or not len(held_out):
        return
    held = labels.take(held_out)
    if not bool((abs(held.overall) == 1).any() or (abs(held.dimensions) == 1).any()):
        raise InputError(
            f"none of the {len(held_out)} held-out pairs has a label that is no tie, and by these the best epoch is "
            "chosen; hold out more, or others by another seed, or none"
        )


def _swap(codes: Codes) -> Codes:
    return np.where(codes == ABSENT, codes, -codes).astype(np.int8)
