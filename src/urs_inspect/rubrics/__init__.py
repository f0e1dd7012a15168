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

__all__ = [
    "FINAL",
    "HIGHEST",
    "LOWEST",
    "Intent",
    "Language",
    "Rubric",
    "Term",
    "load_rubric",
    "normalise_key",
]
