"""Columns and labels of a survey file."""

import csv
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import yaml

from urs_inspect._util import InputError, choices, read_yaml

_LEAST = 0.6  # share of characters in common, as difflib counts them


class AmbiguousNameError(InputError):
    """A name that could be either of several things."""


class UnknownNameError(InputError):
    """A name that is not known; `nearest` is what the nearest known name means, empty if that is not certain."""

    def __init__(self, message: str, nearest: str) -> None:
        super().__init__(message)
        self.nearest = nearest


def did_you_mean(key: str, meanings: Mapping[str, Collection[str]]) -> str:
    """A question about the nearest known name, ` (did you mean factual_qa?)`; empty if no name is near.

    `key` and the keys of `meanings` are folded for comparison.
    """
    near = nearest(key, meanings)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def nearest(key: str, meanings: Mapping[str, Collection[str]]) -> list[str]:
    """Meanings of the nearest known name, sorted; empty if no name is near."""
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
"""What is read, and the names that its column may have without a mapping."""

_NEEDED = (CONVERSATION, INTENT)
_KEYS = ("columns", "intents", "languages")


@dataclass(frozen=True)
class ColumnMap:
    """What a survey's columns and labels mean."""

    columns: Mapping[str, str] = field(default_factory=dict)  # key of `ALIASES` -> name of its column
    intents: Mapping[str, str] = field(default_factory=dict)  # label in the survey -> intent of the rubric
    languages: Mapping[str, str] = field(default_factory=dict)  # label in the survey -> language of the rubric

    def names(self, what: str) -> tuple[str, ...]:
        """The names that a column may have."""
        return (self.columns[what],) if what in self.columns else ALIASES[what]

    @property
    def required(self) -> tuple[tuple[str, ...], ...]:
        """The columns that the file must have, each with its alternative names."""
        return tuple(self.names(what) for what in ALIASES if what in _NEEDED or what in self.columns)


def read_mapping(path: Path) -> ColumnMap:
    """Read a YAML file with the keys `columns`, `intents` and `languages`, each optional."""
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
    texts: dict[str, dict[str, str]] = {}
    for key in _KEYS:
        value = raw.get(key) or {}
        if not isinstance(value, dict) or not all(isinstance(text, str) and text.strip() for text in value.values()):
            raise InputError(f"{path}: {key}: must be a mapping of names to texts")
        texts[key] = {str(name): text.strip() for name, text in value.items()}
    for what in texts["columns"]:
        if what not in ALIASES:
            near = did_you_mean(what.casefold(), {name: [name] for name in ALIASES})
            raise InputError(f"{path}: columns: unknown key '{what}'; allowed: {choices(ALIASES)}{near}")
    return ColumnMap(**texts)


def header_hint(path: Path, needed: Iterable[Sequence[str]]) -> str:
    """What may be wrong with the header of a CSV file that lacks a column, to append to a message; else empty."""
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
    """Turns a label into an id: by the survey's own list first, which ignores case and edge white space."""
    own = {label.strip().casefold(): find(meaning) for label, meaning in labels.items()}
    return lambda label: own.get(label.strip().casefold()) or find(label)
