"""Pairs and responses with labels by people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Preference = Literal["a", "b", "tie"]
"""Which of two responses is better."""

PREFERENCES: tuple[Preference, ...] = get_args(Preference)


@dataclass(frozen=True)
class PairCase:
    """Two responses to one prompt, and which is better."""

    id: str
    prompt: str
    response_a: str  # the first one, in the order of the file
    response_b: str
    label: Preference  # which is better overall
    group: str  # subset or scenario that it is reported in
    dimensions: Mapping[str, Preference] = field(default_factory=dict)  # labels by dimension, where there are any


@dataclass(frozen=True)
class PairData:
    """A pairwise benchmark."""

    name: str  # or the path of a user's file
    sha256: str  # of the file or files
    cases: tuple[PairCase, ...]  # in the order of the file
    skipped: tuple[str, ...] = ()  # a line per row that is no case, with the reason

    @property
    def has_ties(self) -> bool:
        """Whether any label is a tie, so that a judge may answer with one."""
        return any(case.label == "tie" or "tie" in case.dimensions.values() for case in self.cases)


@dataclass(frozen=True)
class RatingCase:
    """One response and the rating that people, or a reference judge, gave it."""

    id: str
    prompt: str  # equal prompts form one cluster, unless `cluster` is given
    response: str
    rating: float
    group: str  # category that it is reported in
    reference: str = ""  # reference answer, where there is one that may be shown
    intent: str = ""  # URS intent id, for labels on URS-style answers
    language: str = ""  # its language code
    cluster: str = ""  # what cases on the same question share, where their prompts differ


@dataclass(frozen=True)
class RatingData:
    """A single-rating benchmark."""

    name: str  # or the path of a user's file
    sha256: str
    scale: tuple[float, float]  # lowest and highest possible rating
    cases: tuple[RatingCase, ...]  # in the order of the file
    skipped: tuple[str, ...] = ()  # a line per row that is no case, with the reason
