"""Columns and labels of a survey file."""

import csv
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from urs_inspect._util import InputError, choices, read_yaml

_LEAST = 0.6  # share of characters in common, as difflib counts them


class AmbiguousNameError(InputError):
    """A name that could be either of several things."""


class UnknownNameError(InputError):
    """A name that is not known.

    Attributes:
        nearest: What the nearest known name stands for; empty if none is near or it stands for several things.
    """

    def __init__(self, message: str, nearest: str) -> None:
        super().__init__(message)
        self.nearest = nearest


def did_you_mean(key: str, meanings: Mapping[str, Collection[str]]) -> str:
    """A question about the nearest known name.

    Args:
        key: The name, folded for comparison.
        meanings: Folded spelling -> what it stands for.

    Returns:
        ` (did you mean factual_qa?)`; empty if no name is near.
    """
    near = nearest(key, meanings)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def nearest(key: str, meanings: Mapping[str, Collection[str]]) -> list[str]:
    """What the nearest known name stands for, sorted; empty if no name is near."""
    near = get_close_matches(key, list(meanings), n=1, cutoff=_LEAST)
    return sorted(meanings[near[0]]) if near else []


CONVERSATION, INTENT = "conversation", "intent"

ALIASES: Mapping[str, tuple[str, ...]] = {
    CONVERSATION: ("conversation", "conversations", "messages", "dialogue", "dialog", "transcript", "question"),
    INTENT: ("intent", "user_intent"),
    "user": ("user", "user_id", "participant", "participant_id", "respondent"),
    "service": ("service", "llm_service", "llm", "source_llm"),
    "country": ("country",),
    "satisfaction": ("satisfaction",),
    "language": ("language",),
    "id": ("id", "case_id"),
    "reference": ("reference_ans", "reference"),
}
"""What is read, and the names that a column of it may have without being named."""

_NEEDED = (CONVERSATION, INTENT)
_KEYS = ("columns", "intents", "languages")


@dataclass(frozen=True)
class Mapped:
    """A file that says what a survey's columns and labels mean.

    Attributes:
        columns: What is read -> name of its column.
        intents: Label in the survey -> intent of the rubric.
        languages: Label in the survey -> language of the rubric.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    intents: Mapping[str, str] = field(default_factory=dict)
    languages: Mapping[str, str] = field(default_factory=dict)

    def names(self, what: str) -> tuple[str, ...]:
        """The names that a column may have."""
        return (self.columns[what],) if what in self.columns else ALIASES[what]

    @property
    def required(self) -> tuple[tuple[str, ...], ...]:
        """The columns that there must be."""
        return tuple(self.names(what) for what in ALIASES if what in _NEEDED or what in self.columns)


def read_mapping(path: Path) -> Mapped:
    """Read a YAML file with the keys `columns`, `intents` and `languages`, each optional.

    Raises:
        InputError: If it cannot be read, has other keys, or names something else than texts.
    """
    try:
        raw = read_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"columns: no file '{path}'") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"columns: cannot read '{path}' as YAML in UTF-8: {error}") from error
    if not isinstance(raw, dict):
        raise InputError(f"{path}: must hold a mapping with the keys {choices(_KEYS)}")
    if unknown := [key for key in raw if key not in _KEYS]:
        raise InputError(f"{path}: unknown key '{unknown[0]}'; allowed: {choices(_KEYS)}")
    columns = _texts(path, raw, "columns")
    for what in columns:
        if what not in ALIASES:
            near = did_you_mean(what.casefold(), {name: [name] for name in ALIASES})
            raise InputError(f"{path}: columns: unknown key '{what}'; allowed: {choices(ALIASES)}{near}")
    return Mapped(columns, _texts(path, raw, "intents"), _texts(path, raw, "languages"))


def header_hint(path: Path, needed: Iterable[Sequence[str]]) -> str:
    """What may be wrong with the header of a CSV file that lacks a column, for behind a message; empty if unknown.

    Args:
        path: The file.
        needed: Columns that there must be, each with the names that it may have.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), []) if path.suffix.lower() == ".csv" else []
    except (OSError, UnicodeDecodeError, csv.Error):
        return ""
    if len(header) < 2:  # the cells are separated by something else
        return ""
    folded = {name.strip().casefold(): [f"'{name}'"] for name in header}
    for names in needed:
        if not set(names) & set(header):
            near = next(filter(None, (did_you_mean(name.casefold(), folded) for name in names)), "")
            return f"{near}; a file for --columns can say what it is called" if names[0] in ALIASES else near
    return ""


def finder(labels: Mapping[str, str], find: Callable[[str], str]) -> Callable[[str], str]:
    """Turn a label into an id: by the survey's own list first, which forgives case and edge whitespace.

    Raises:
        InputError: If the list names an id that `find` does not know.
    """
    own = {label.strip().casefold(): find(meaning) for label, meaning in labels.items()}
    return lambda label: own.get(label.strip().casefold()) or find(label)


def _texts(path: Path, raw: Mapping[str, Any], key: str) -> dict[str, str]:
    found = raw.get(key) or {}
    if not isinstance(found, dict) or not all(isinstance(value, str) and value.strip() for value in found.values()):
        raise InputError(f"{path}: {key}: must be a mapping of names to texts")
    return {str(name): value.strip() for name, value in found.items()}
