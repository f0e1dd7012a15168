"""Pinned files and typed cases."""

from urs_inspect.datasets.benches import PAIR_BENCHES, RATING_BENCHES, load_pairs, load_ratings
from urs_inspect.datasets.cases import UrsCase, UrsData, in_proportion, select
from urs_inspect.datasets.judged import PREFERENCES, PairCase, PairData, Preference, RatingCase, RatingData
from urs_inspect.datasets.md_eval import load_md_eval
from urs_inspect.datasets.pinned import SOURCES, URS, PinnedFile
from urs_inspect.datasets.tabular import Vocabulary, read_cases
from urs_inspect.datasets.urs import load_urs

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
