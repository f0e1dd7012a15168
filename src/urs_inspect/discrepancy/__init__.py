"""Maximum discrepancy competition: where do two models differ most, and where to compare next?

What computes is imported when it is first used, so that importing this room costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.discrepancy.baselines import divergence, divergences, highest, random_choice
    from urs_inspect.discrepancy.matchmaking import REFERENCE_FILTER, AnswerFilter, count_words, word_counts
    from urs_inspect.discrepancy.selection import Selected, Selection
    from urs_inspect.discrepancy.selector import Selector, select
    from urs_inspect.discrepancy.similarity import (
        DEFAULT_SIMILARITY,
        embed,
        load_similarity,
        parse_similarity,
        register_similarity,
        similarity_names,
    )
    from urs_inspect.discrepancy.vector_cache import VectorCache, cached_vectors

_WHERE = {
    "baselines": ("divergence", "divergences", "highest", "random_choice"),
    "matchmaking": ("REFERENCE_FILTER", "AnswerFilter", "count_words", "word_counts"),
    "selection": ("Selected", "Selection"),
    "selector": ("Selector", "select"),
    "similarity": (
        "DEFAULT_SIMILARITY",
        "embed",
        "load_similarity",
        "parse_similarity",
        "register_similarity",
        "similarity_names",
    ),
    "vector_cache": ("VectorCache", "cached_vectors"),
}
_MODULES = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "DEFAULT_SIMILARITY",
    "REFERENCE_FILTER",
    "AnswerFilter",
    "Selected",
    "Selection",
    "Selector",
    "VectorCache",
    "cached_vectors",
    "count_words",
    "divergence",
    "divergences",
    "embed",
    "highest",
    "load_similarity",
    "parse_similarity",
    "random_choice",
    "register_similarity",
    "select",
    "similarity_names",
    "word_counts",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
