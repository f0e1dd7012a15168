"""Pinned files and typed cases."""

from urs_inspect.datasets._benches import (
    PAIR_BENCHES,
    PREFERENCES,
    RATING_BENCHES,
    PairCase,
    PairData,
    Preference,
    RatingCase,
    RatingData,
    load_md_eval,
    load_pairs,
    load_ratings,
)
from urs_inspect.datasets._cases import (
    UrsCase,
    UrsData,
    Vocabulary,
    in_proportion,
    load_urs,
    read_cases,
    select,
)
from urs_inspect.datasets._sources import SOURCES, URS, PinnedFile

__all__ = [
    "PAIR_BENCHES",
    "PREFERENCES",
    "RATING_BENCHES",
    "SOURCES",
    "URS",
    "PairCase",
    "PairData",
    "PinnedFile",
    "Preference",
    "RatingCase",
    "RatingData",
    "UrsCase",
    "UrsData",
    "Vocabulary",
    "in_proportion",
    "load_md_eval",
    "load_pairs",
    "load_ratings",
    "load_urs",
    "read_cases",
    "select",
]
