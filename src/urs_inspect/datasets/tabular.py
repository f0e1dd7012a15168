"""Reads URS cases from CSV and JSON Lines."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from urs_inspect.datasets.cases import UrsCase, UrsData
from urs_inspect.datasets.fields import Fields, build_cases, first_faults, refuse
from urs_inspect.datasets.rows import read_table
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.errors import InputError

_QUESTION = ("question",)
_REFERENCE = ("reference_ans", "reference")
_INTENT = ("user_intent", "intent")
_LANGUAGE = ("language",)
"""What a case needs, and the column names that are taken for it."""


@dataclass(frozen=True)
class Vocabulary:
    """How labels in a file become ids of the rubric; both raise `InputError` for an unknown label."""

    intent: Callable[[str], str]
    language: Callable[[str], str]


def read_cases(
    path: Path,
    name: str,
    vocabulary: Vocabulary,
    *,
    id_prefix: str,
    lenient: bool = False,
    need_references: bool = True,
) -> UrsData:
    """Read a file of cases.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object a line; UTF-8, with or without BOM.
            Columns: question, reference_ans (or reference), user_intent (or intent), language, and optionally id and
            country, which may be blank.
        name: What the data is called in logs.
        vocabulary: How labels become ids.
        id_prefix: Prefix of the ids given to rows without one: `<prefix>_0001` for the first row of data.
        lenient: Leave faulty rows out and list them, instead of refusing the file.
        need_references: Whether every row needs a reference; else it may be blank, or the column missing.

    Returns:
        The cases in the order of the file.

    Raises:
        InputError: Naming file, row and column of every fault (of the first 20, if there are more).
    """

    def build(fields: Fields, default_id: str) -> UrsCase:
        without = not need_references and all(fields.blank(column) for column in _REFERENCE)
        return UrsCase(
            question=fields.text(*_QUESTION),
            reference="" if without else fields.text(*_REFERENCE),
            intent=fields.resolved(vocabulary.intent, *_INTENT),
            language=fields.resolved(vocabulary.language, *_LANGUAGE),
            country=fields.optional("country").strip(),
            id=fields.identifier(default_id),
        )

    required = (_QUESTION, *([_REFERENCE] if need_references else []), _INTENT, _LANGUAGE)
    rows, unreadable = read_table(path, required)
    cases, faulty = build_cases(path, rows, build, id_prefix)
    faults = unreadable + faulty
    if not lenient:
        refuse(faults, "Mend the file, or skip faulty rows with -T lenient=true.")
    if not cases:
        raise InputError("\n".join([f"{path}: no usable case", *first_faults(faults)]))
    return UrsData(name, sha256_of(path), tuple(cases), tuple(faults))
