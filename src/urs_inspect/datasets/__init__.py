"""Pinned sources and typed cases."""

from urs_inspect.datasets.cases import UrsCase, UrsData, in_proportion, select
from urs_inspect.datasets.sources import SOURCES, URS, PinnedFile
from urs_inspect.datasets.tabular import Vocabulary, read_cases
from urs_inspect.datasets.urs import load_urs

__all__ = [
    "SOURCES",
    "URS",
    "PinnedFile",
    "UrsCase",
    "UrsData",
    "Vocabulary",
    "in_proportion",
    "load_urs",
    "read_cases",
    "select",
]
