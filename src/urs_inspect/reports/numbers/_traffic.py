"""The user's own mix of requests: a file of shares, and what it makes of the questions."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, read_yaml_file
from urs_inspect.rubrics import Rubric, normalise_key
from urs_inspect.stats import Margin

_KINDS = {"intents": ("intent", "group"), "languages": ("language",), "countries": ("country",)}
"""Kind of shares -> columns of the questions whose values it may name."""
_CLOSE = 1e-6


@dataclass(frozen=True)
class TrafficMix:
    """Shares of kinds of requests, as read from a file."""

    source: str  # the file
    # Kind (`intents`, `languages`, `countries`) -> id -> share; those of a kind add up to 1. An id
    # of `intents` is an intent or a reported intent.
    shares: dict[str, dict[str, float]]

    def margins(self, questions: pd.DataFrame) -> list[Margin]:
        """Turn the shares into one margin per kind of some questions, which have the columns of
        `_KINDS`.

        A question outside all named categories, or in one without a share, has category -1.
        """
        return [self._margin(kind, shares, questions) for kind, shares in self.shares.items()]

    def _margin(self, kind: str, shares: Mapping[str, float], questions: pd.DataFrame) -> Margin:
        wanted = {name: share for name, share in shares.items() if share > 0}
        category = np.full(len(questions), -1, dtype=np.int64)
        named = questions[list(_KINDS[kind])]
        for number, name in enumerate(wanted):
            members = (named == name).any(axis=1).to_numpy()
            if not members.any():
                there = sorted({str(value) for value in named.to_numpy().ravel()} - {""})
                raise InputError(
                    f"{self.source}: {kind}: no question of '{name}' in the logs; allowed:"
                    f" {choices(there) or 'none'}"
                )
            category[members] = number
        return Margin(category, np.array(list(wanted.values()), dtype=np.float64))


def read_traffic(path: Path, rubric: Rubric, countries: Iterable[str] = ()) -> TrafficMix:
    """Read a mix: YAML with one or more of `intents`, `languages` and `countries`, each a mapping
    of names to shares.

    Intents may be named as in the data or by their reported names; what is not named has the share
    0. The rubric says what intents and languages are called; `countries` are those of the cases.
    """
    raw = _mapping(path)
    find: dict[str, Callable[[str], str]] = {
        "intents": lambda name: _intent(name, rubric),
        "languages": rubric.language_code,
        "countries": lambda name: _country(name, countries),
    }
    shares = {str(kind): _shares(path, str(kind), given, find) for kind, given in raw.items()}
    intents = shares.get("intents", {})
    for name in intents:
        group = name
        if name in rubric.intents:
            group = rubric.intents[name].group
        if group in intents and group != name:
            raise InputError(
                f"{path}: intents: '{name}' is a part of '{group}'; name one of the two"
            )
    return TrafficMix(str(path), shares)


def _mapping(path: Path) -> dict[Any, Any]:
    raw = read_yaml_file(path, "traffic")
    if not isinstance(raw, dict) or not raw:
        raise InputError(f"{path}: must hold a mapping with one or more of: {choices(_KINDS)}")
    return raw


def _shares(
    path: Path, kind: str, given: object, find: Mapping[str, Callable[[str], str]]
) -> dict[str, float]:
    if kind not in find:
        raise InputError(f"{path}: unknown key '{kind}'; allowed: {choices(_KINDS)}")
    if not isinstance(given, dict) or not given:
        raise InputError(
            f"{path}: {kind}: must be a mapping of names to shares, such as 'name: 0.5'"
        )
    found: dict[str, float] = {}
    for spelling, share in given.items():
        if isinstance(spelling, bool):  # what YAML makes of NO, the code of Norway
            raise InputError(
                f"{path}: {kind}: a name was read as {spelling}; put it into quotation marks, as in"
                " 'NO'"
            )
        try:
            name = find[kind](str(spelling))
        except InputError as error:
            raise InputError(f"{path}: {kind}: {error.message}") from error
        if name in found:
            raise InputError(f"{path}: {kind}: '{spelling}' names '{name}' a second time")
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise InputError(
                f"{path}: {kind}.{spelling}: must be a share from 0 to 1, is {share!r}"
            )
        found[name] = float(share)
    total = math.fsum(found.values())
    if abs(total - 1) > _CLOSE:
        raise InputError(f"{path}: {kind}: shares must add up to 1, they add up to {total:.6g}")
    return found


def _intent(name: str, rubric: Rubric) -> str:
    try:
        return rubric.intent_id(name)
    except InputError as error:
        groups = dict.fromkeys(intent.group for intent in rubric.intents.values())
        for group in groups:
            if normalise_key(group) == normalise_key(name):
                return group
        raise InputError(f"{error.message}, or the reported intents {choices(groups)}") from error


def _country(name: str, countries: Iterable[str]) -> str:
    known = list(dict.fromkeys(countries))
    for country in known:
        if country.casefold() == name.strip().casefold():
            return country
    raise InputError(
        f"unknown country '{name}'; allowed: {choices(known) or 'none, the cases have no country'}"
    )
