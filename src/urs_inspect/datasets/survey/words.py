"""The lists of words that reading a survey goes by."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

_HERE = Path(__file__).parent


@lru_cache(maxsize=1)
def words() -> Mapping[str, Any]:
    """Names of speakers, roles of messages, greetings and courtesies, as in `words.yaml`."""
    return load("words.yaml")


def load(name: str) -> Mapping[str, Any]:
    """A file of this room's data."""
    found: Mapping[str, Any] = yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))
    return found


def names(*keys: str) -> Sequence[str]:
    """The words under several keys, the longest first, so that none hides a longer one."""
    found = {str(word).casefold() for key in keys for word in words()[key]}
    return sorted(found, key=lambda word: (-len(word), word))
