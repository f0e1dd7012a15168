"""Rubrics as data: intents, criteria, bands and prompt frames, with a typed loader."""

from urs_inspect.rubrics._rubric import (
    FINAL,
    HIGHEST,
    LOWEST,
    Intent,
    Language,
    Rubric,
    Term,
    load_rubric,
    normalise_key,
)
from urs_inspect.rubrics._taxonomy import Scenario, Taxonomy, load_taxonomy

__all__ = [
    "FINAL",
    "HIGHEST",
    "LOWEST",
    "Intent",
    "Language",
    "Rubric",
    "Scenario",
    "Taxonomy",
    "Term",
    "load_rubric",
    "load_taxonomy",
    "normalise_key",
]
