"""Maximum discrepancy competition: where do two models differ most, and what to compare next?

What computes is imported when it is first used, so that importing this room costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.discrepancy._allocation import Allocator, register_allocation
    from urs_inspect.discrepancy._greedy import Selected
    from urs_inspect.discrepancy._matchmaking import AnswerFilter
    from urs_inspect.discrepancy._selection import Selection, Selector, select
    from urs_inspect.discrepancy._similarity import (
        load_similarity,
        parse_similarity,
        register_similarity,
        similarity_names,
    )

_MODULES = {
    "allocation": ("Allocator", "register_allocation"),
    "matchmaking": ("AnswerFilter",),
    "selection": ("Selected", "Selection", "Selector", "select"),
    "similarity": (
        "load_similarity",
        "parse_similarity",
        "register_similarity",
        "similarity_names",
    ),
}

__all__ = [
    "Allocator",
    "AnswerFilter",
    "Selected",
    "Selection",
    "Selector",
    "load_similarity",
    "parse_similarity",
    "register_allocation",
    "register_similarity",
    "select",
    "similarity_names",
]


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}._{module}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
