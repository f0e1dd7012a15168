"""What columns and labels of a file mean that somebody else published: `-T columns=`."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from urs_inspect._util import InputError, choices, counted, did_you_mean, read_yaml_or_file
from urs_inspect.datasets._conversations import MESSAGES
from urs_inspect.datasets._rows import (
    SURPLUS,
    Fields,
    Row,
    label_key,
    number_of,
    shown,
)

Preference = Literal["a", "b", "tie"]
"""Which of two responses is better."""

PREFERENCES: tuple[Preference, ...] = get_args(Preference)

PROMPT = "prompt"
LABEL = "label"
RATING = "rating"
PAIR_KEYS = (PROMPT, MESSAGES, "response_a", "response_b", LABEL, "id", "group", "dimensions")
RATING_KEYS = (
    PROMPT, MESSAGES, "response", RATING, "id", "group", "reference", "intent", "language"
)  # fmt: skip
"""What is read of a row, under the name that its column has without a mapping."""

LABELS = "labels"
_SEVERAL = (PROMPT, LABEL, RATING)
"""What may be in several columns: parts of a prompt, and a label or rating of each rater."""
_MAY_SHARE = ("id", "group")
_LEFT_OUT = "none"
_FORM = "a mapping such as {prompt: question, label: winner}, or the path of a YAML file with one"
_BOUND = re.compile(r"([<>])\s*(-?\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class ColumnMap:
    """What the columns and labels of a file mean."""

    # what is read -> its columns in the file; none if it is not read
    columns: Mapping[str, tuple[str, ...]]
    # label, or a bound such as `<1.5` -> its meaning; None leaves the row out. Empty: as usual
    labels: Mapping[str, Preference | None] = field(default_factory=dict)

    @property
    def used(self) -> frozenset[str]:
        """Columns of the file that it names."""
        return frozenset(chain.from_iterable(self.columns.values()))

    @property
    def digest(self) -> str:
        """Equal for mappings that mean the same."""
        parts = [sorted(self.columns.items()), sorted(self.labels.items(), key=str)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def apply(self, fields: Fields) -> None:
        """Have a row read under the names that are used without a mapping."""
        values = {name: value for name, value in fields.values.items() if name not in self.used}
        names: dict[str, str] = {}
        for key, columns in self.columns.items():
            values.pop(key, None)
            names[key] = choices(columns)
            there = [fields.values.get(name) for name in columns if name in fields.values]
            if there:
                values[key] = self._value(key, there, len(columns) > 1)
        fields.read_as(values, names)

    def _value(self, key: str, there: Sequence[Any], several: bool) -> Any:
        if key == PROMPT and several:
            return _joined(there)
        if key == LABEL:
            there = [self._named(value) for value in there]
        if several:
            return list(there)
        return there[0]

    def _named(self, value: Any) -> Any:
        """A label; a number that only a bound covers becomes the name of the bound."""
        number = number_of(value)
        if math.isnan(number) or label_key(value) in self.labels:
            return value
        for name in self.labels:
            bound = _BOUND.fullmatch(name)
            if bound is None:
                continue
            limit = float(bound[2])
            if number < limit if bound[1] == "<" else number > limit:
                return name
        return value

    def check_against(self, path: Path, rows: Sequence[Row]) -> None:
        """Refuse columns that no row has, once per file."""
        present = columns_of(rows)
        lacking: list[str] = []
        for key, columns in self.columns.items():
            lacking += [
                f"{path}: columns: {key}: none of {counted(len(rows), 'row')} has a column"
                f" '{name}'{did_you_mean(name, present)}"
                for name in columns
                if name not in present
            ]
        if rows and lacking:
            raise InputError("\n".join([*lacking, f"{path}: there are: {choices(present)}"]))


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Columns that any row has."""
    names = dict.fromkeys(chain.from_iterable(row.values for row in rows))
    names.pop(SURPLUS, None)
    return list(names)


def _joined(parts: Iterable[Any]) -> Any:
    """Parts of a prompt as one text, blank ones left out; a part that is no text instead of it."""
    texts: list[str] = []
    for part in parts:
        if part is not None and not isinstance(part, str):
            return part
        if part and part.strip():
            texts.append(part.strip())
    return "\n\n".join(texts)


# --- the argument ---


def read_column_map(given: str | Mapping[str, Any] | None, keys: Sequence[str]) -> ColumnMap | None:
    """Read the argument `columns`.

    Args:
        given: A mapping of what is read to columns, YAML text of one, or the path of a YAML file;
            None for a file whose columns have the usual names.
        keys: What can be read, `PAIR_KEYS` or `RATING_KEYS`.

    Returns:
        The checked mapping; None for None.

    Raises:
        InputError: Naming every key, column and label that cannot be, and what is allowed.
    """
    if given is None:
        return None
    raw = _mapping(given)
    has_labels = LABEL in keys
    allowed = [*keys, LABELS] if has_labels else list(keys)
    problems = [
        f"unknown key '{key}'{did_you_mean(str(key), allowed)}; allowed: {choices(allowed)}"
        for key in raw
        if key not in allowed
    ]
    columns: dict[str, tuple[str, ...]] = {}
    for key in keys:
        if key in raw:
            names = _names(raw[key], several=key in _SEVERAL)
            columns[key] = names or ()
            if names is None:
                problems.append(f"{key}: {_wanted(key)}, is {shown(raw[key])}")
    problems += _named_twice(columns)
    labels: dict[str, Preference | None] = {}
    if LABELS in raw and has_labels:
        labels, unknown = label_meanings(raw[LABELS], LABELS)
        problems += unknown
    if problems:
        raise InputError("\n".join(f"columns: {problem}" for problem in problems))
    return ColumnMap(columns, labels)


def _mapping(given: str | Mapping[str, Any]) -> Mapping[Any, Any]:
    raw: Any = given
    if isinstance(given, str):
        raw = read_yaml_or_file(given, "columns")
    if not isinstance(raw, Mapping) or not raw:
        raise InputError(f"columns: must be {_FORM}; got {shown(raw)}")
    return raw


def _names(value: Any, *, several: bool) -> tuple[str, ...] | None:
    """Names of columns; none for null, None for what is no name."""
    if value is None:
        return ()
    parts = [value]
    if isinstance(value, list) and several:
        parts = value
    names = [part if isinstance(part, str) else str(part) for part in parts if _is_name(part)]
    if len(names) < len(parts) or not names or len(set(names)) < len(names):
        return None
    return tuple(names)


def _is_name(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int) and not isinstance(value, bool)


def _wanted(key: str) -> str:
    if key in _SEVERAL:
        return "must be the name of a column, a list of different ones, or null"
    return "must be the name of a column, or null where none is read"


def _named_twice(columns: Mapping[str, tuple[str, ...]]) -> list[str]:
    keys_of: dict[str, list[str]] = {}
    for key, names in columns.items():
        for name in names:
            if key not in _MAY_SHARE:
                keys_of.setdefault(name, []).append(key)
    return [
        f"{choices(keys)} are all the column '{name}'"
        for name, keys in keys_of.items()
        if len(keys) > 1
    ]


def label_meanings(given: Any, place: str) -> tuple[dict[str, Preference | None], list[str]]:
    """Labels, as `label_key` has them, and their meanings; and what is wrong with others.

    `place` is where the labels were given, for messages; None as a meaning is no label.
    """
    meanings: dict[str, Preference | None] = {name: name for name in PREFERENCES}
    meanings[_LEFT_OUT] = None
    if not isinstance(given, dict) or not given:
        return {}, [f"{place}: must be a mapping of labels to {choices(meanings)}"]
    labels: dict[str, Preference | None] = {}
    problems: list[str] = []
    for label, meaning in given.items():
        key = label_key(label)
        name = _LEFT_OUT
        if meaning is not None:
            name = str(meaning).strip().lower()
        if name not in meanings:
            problems.append(
                f"{place}: {shown(label)}: unknown meaning {shown(meaning)}; allowed:"
                f" {choices(meanings)}"
            )
        elif not key or labels.get(key, meanings[name]) != meanings[name]:
            problems.append(f"{place}: {shown(label)}: is empty, or there with another meaning")
        else:
            labels[key] = meanings[name]
    return labels, problems


# --- raters ---


@dataclass(frozen=True)
class Agreed:
    """What several raters of a pair say together."""

    label: Preference
    agreement: str  # how many agree, in words; empty for a single label


def majority(labels: Sequence[Preference]) -> Agreed:
    """The label that most raters give; a tie where two labels have as many."""
    counts = Counter(labels)
    first, *others = counts.most_common(2)
    label, most = first
    if others and others[0][1] == most:
        return Agreed("tie", "no majority")
    if len(labels) == 1:
        return Agreed(label, "")
    return Agreed(label, f"all {most} agree" if not others else f"{most} of {len(labels)} agree")


def left_out_note(path: Path, reasons: Sequence[tuple[str, str]], rows: int) -> str:
    """How many rows make no case and why; `reasons` has place and reason of each."""
    by_reason: dict[str, list[str]] = {}
    for place, reason in reasons:
        by_reason.setdefault(reason, []).append(place)
    parts = [
        f"{reason}: {len(places)} ({first_few(places)})" for reason, places in by_reason.items()
    ]
    return f"{path}: left out {len(reasons)} of {counted(rows, 'row')}: {'; '.join(parts)}"


_FEW = 3


def first_few(names: Sequence[str]) -> str:
    """The first three of some names."""
    return choices([*names[:_FEW], *["..."][: len(names) - _FEW]])


# --- guesses ---

_A = ("a", "1", "first")
_B = ("b", "2", "second")
_TEXTS = ("response", "output", "answer", "completion", "model", "assistant")
_QUESTIONS = ("prompt", "question", "instruction", "query", "input", "user_prompt", "problem")
_ALIKE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "pairs": {
        PROMPT: _QUESTIONS,
        "response_a": tuple(f"{text}{side}" for text in _TEXTS for side in _A),
        "response_b": tuple(f"{text}{side}" for text in _TEXTS for side in _B),
        LABEL: ("label", "winner", "preference", "choice", "verdict", "better", "human_label"),
    },
    "ratings": {
        PROMPT: _QUESTIONS,
        "response": ("response", "output", "completion", "generation", "answer"),
        RATING: ("rating", "score", "human_rating", "human_score"),
    },
    "answers": {
        PROMPT: _QUESTIONS,
        "response": ("response", "output", "completion", "generation"),
    },
}
"""Kind of table -> what is read of a row -> names that its column often has."""
_RATERS = re.compile(r"(annotator|rater|human|label|vote|rating|score)\d+")
_UNKNOWN = "?"
_USUAL = ("a", "b", "tie", "model_a", "model_b", "1", "2")
_MOST_LABELS = 12
_BEFORE_SIDE = r"(.*[\s_-])?(response|output|model|answer|assistant)?"
_SIDES: Mapping[Preference, re.Pattern[str]] = {
    "tie": re.compile(r"(.*[\s_-])?(tie|equal|draw|same|both|neither)([\s_-].*)?|a=+b|c"),
    "a": re.compile(rf"a>+b|b<+a|{_BEFORE_SIDE}(a|1|first|left)"),
    "b": re.compile(rf"b>+a|a<+b|{_BEFORE_SIDE}(b|2|second|right)"),
}
"""What a label that is no number looks like, in lower case without blanks around signs."""


@dataclass(frozen=True)
class ColumnGuess:
    """What the columns of a table of texts with labels may be."""

    kind: str  # pairs, ratings or answers
    columns: Mapping[str, tuple[str, ...]]  # by what is read; `?` where none looks like it
    labels: Mapping[str, str]  # label -> meaning, or `?`; empty where they are read as they are

    @property
    def is_open(self) -> bool:
        """Whether a person has to fill in something."""
        return (_UNKNOWN,) in self.columns.values() or _UNKNOWN in self.labels.values()

    @property
    def is_needed(self) -> bool:
        """Whether anything has another name or label than the usual one."""
        renamed = [key for key, names in self.columns.items() if names not in ((key,), (_UNKNOWN,))]
        return bool(renamed or self.labels)

    @property
    def mapping(self) -> dict[str, Any]:
        """What `columns` needs to say, without columns that have the usual name."""
        said: dict[str, Any] = {}
        for key, names in self.columns.items():
            if names != (key,):
                said[key] = list(names) if len(names) > 1 else names[0]
        if self.labels:
            said[LABELS] = dict(self.labels)
        return said

    @property
    def argument(self) -> str:
        """The mapping as it is given to a task."""
        quoted = in_one_line(self.mapping).replace("'", "'\"'\"'")
        return f"-T columns='{quoted}'"


def guess_columns(kind: str, rows: Sequence[Row]) -> ColumnGuess:
    """Guess which columns of a table have what, by their nearest names."""
    present = columns_of(rows)
    columns = {key: _nearest(known, present) for key, known in _ALIKE[kind].items()}
    names = {plain_name(name): name for name in present}
    if "instruction" in names and columns[PROMPT] == (names["instruction"],) and "input" in names:
        columns[PROMPT] = (names["instruction"], names["input"])
    rated = {"pairs": LABEL, "ratings": RATING}.get(kind)
    if rated and columns[rated] == (_UNKNOWN,):
        raters = tuple(name for name in present if _RATERS.fullmatch(plain_name(name)))
        columns[rated] = raters or (_UNKNOWN,)
    labels = {}
    if kind == "pairs":
        labels = _guess_labels(columns[LABEL], rows)
    return ColumnGuess(kind, columns, labels)


def guess_kind(rows: Sequence[Row]) -> ColumnGuess | None:
    """Pairs, ratings or answers, whichever all columns are found of; pairs may lack a label."""
    for kind in _ALIKE:
        guess = guess_columns(kind, rows)
        lacking = [key for key, names in guess.columns.items() if names == (_UNKNOWN,)]
        if not lacking or (kind, lacking) == ("pairs", [LABEL]):
            return guess
    return None


def _nearest(known: Sequence[str], present: Sequence[str]) -> tuple[str, ...]:
    names = {plain_name(name): name for name in present}
    for name in known:
        if plain_name(name) in names:
            return (names[plain_name(name)],)
    return (_UNKNOWN,)


def plain_name(name: str) -> str:
    """A name of a column without what names of the same thing differ in."""
    return re.sub(r"[\W_]", "", name.lower())


def _guess_labels(columns: Sequence[str], rows: Sequence[Row]) -> dict[str, str]:
    """Meanings of labels; none where all are read as they are, or there are too many."""
    values = _values(columns, rows)
    numbers = [number for number in map(number_of, values) if not math.isnan(number)]
    if numbers and len(numbers) == len(values) and not all(map(float.is_integer, numbers)):
        return _guess_bounds(numbers)
    written = {label_key(value): _written(value) for value in values}
    if all(label in _USUAL for label in written) or len(written) > _MOST_LABELS:
        return {}
    are_numbers = all(label.isdigit() for label in written)
    meanings: dict[str, str] = {}
    for label in sorted(written):
        meaning = _UNKNOWN
        if not are_numbers:
            meaning = guess_meaning(label)
        meanings[written[label]] = meaning
    return meanings


def _guess_bounds(numbers: Collection[float]) -> dict[str, str]:
    """Meanings of weighted preferences: of AlpacaEval, from 1 (the first) to 2, or unknown."""
    if min(numbers) >= 1 and max(numbers) <= 2:
        return {"<1.5": "a", "1.5": "tie", ">1.5": "b"}
    return {"<0.5": _UNKNOWN, "0.5": "tie", ">0.5": _UNKNOWN}


def _values(columns: Sequence[str], rows: Sequence[Row]) -> list[Any]:
    found = [row.values.get(name) for row in rows for name in columns]
    return [value for value in found if value is not None and str(value).strip()]


def _written(label: object) -> str:
    if isinstance(label, str):
        return label.strip()
    return label_key(label)


def guess_meaning(label: str) -> str:
    """What a label looks like: a, b or tie; `?` if like none."""
    squeezed = re.sub(r"\s*([<>=]+)\s*", r"\1", label)
    for meaning, pattern in _SIDES.items():
        if pattern.fullmatch(squeezed):
            return meaning
    return _UNKNOWN


def in_one_line(value: Any) -> str:
    """YAML on one line, without single quotes around texts, which the command line has."""
    if isinstance(value, dict):
        parts = [f"{in_one_line(key)}: {in_one_line(part)}" for key, part in value.items()]
        return f"{{{choices(parts)}}}"
    if isinstance(value, list):
        return "[" + choices(map(in_one_line, value)) + "]"
    text = str(value)
    is_plain = re.fullmatch(r"\w[\w.-]*", text) and label_key(yaml.safe_load(text)) == text.lower()
    if is_plain:
        return text
    return json.dumps(text, ensure_ascii=False)
