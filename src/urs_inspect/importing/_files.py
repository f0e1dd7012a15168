"""Files of answers and verdicts as people publish them: which column holds what, and their rows."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from urs_inspect._util import InputError, choices, did_you_mean, is_blank
from urs_inspect.datasets._columns import columns_of, plain_name
from urs_inspect.datasets._rows import FaultyRow, Fields, Row, read_table, refuse, told_once

Aliases = Mapping[str, tuple[str, ...]]
"""What is read, and the names that its column may have without a mapping, the first one first."""
ALIASES: Aliases = {
    "question": ("question", "prompt", "instruction", "input"),
    "answer": ("answer", "output", "response", "generation", "completion"),
    "model": ("model", "generator", "model_id"),
    "question_id": ("question_id", "id"),
    "answer_id": ("answer_id",),
    "reference": ("reference", "reference_answer", "references", "target"),
    "model_a": ("model_a", "model_1", "generator_1"),
    "model_b": ("model_b", "model_2", "generator_2"),
    "answer_a": ("answer_a", "response_a", "response_1", "output_1"),
    "answer_b": ("answer_b", "response_b", "response_2", "output_2"),
    "answer_a_id": ("answer_a_id", "answer1_id"),
    "answer_b_id": ("answer_b_id", "answer2_id"),
    "first": ("first", "first_shown", "order"),
    "verdict": ("verdict", "winner", "preference", "score"),
    "score": ("score", "rating", "verdict"),
    "judge": ("judge", "judge_model", "annotator", "reviewer"),
    "label": ("label",),
    "reason": ("reason", "explanation", "text"),
}
ANSWER_ALIASES: Aliases = {**ALIASES, "answer": (*ALIASES["answer"], "text")}
QUESTION_ALIASES: Aliases = {**ALIASES, "question": (*ALIASES["question"], "text")}
"""What a column `text` holds in files of answers and of questions."""

KEPT = ("intent", "language", "scenario", "category", "group")
"""Columns about a question that samples keep, for scorers, reports and `mad`."""
LAB = "lab"
"""Stands before models without a slash; no column holds it."""
_LAB_OF_ALL = "--set lab"
"""Where fields have it, as a judge may have a column `lab`."""
VALUES = (*ALIASES, *KEPT, LAB)
"""What may be the same for all rows of files."""
_ANY_NAME = re.compile("")

_From = TypeVar("_From")
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class ImportedFile:
    """A file whose rows are read under the names of its aliases, beside all columns of its own."""

    path: Path
    rows: Sequence[Row]
    aliases: Aliases
    names: Mapping[str, str]  # what is read -> its column, where there is one
    common: Mapping[str, str]  # what is read -> value of all rows

    @property
    def columns(self) -> list[str]:
        """Columns as the file has them."""
        return columns_of(self.rows)

    def has(self, *what: str) -> bool:
        """Whether the rows have a value, or a column, for each."""
        return {*self.common, *self.names} >= set(what)

    def require(self, *needed: str) -> None:
        """Refuse the file if it lacks what is needed, with the names that are read."""
        missing = [what for what in needed if not self.has(what)]
        if missing:
            names = "; ".join(f"{what}: {choices(self.aliases[what])}" for what in missing)
            raise InputError(
                f"{self.path}: no column for the {choices(missing)} (allowed: {names}); there are:"
                f" {choices(self.columns)}. --columns names others, --set gives all rows one value"
            )

    def read(self, build: Callable[[Fields], _Read | None]) -> list[_Read]:
        """What `build` makes of the rows, None left out.

        Raises:
            InputError: Once for the file, if `build` finds fault with any row.
        """
        made: list[_Read] = []
        faulty: list[FaultyRow] = []
        for row in self.rows:
            fields = Fields(row)
            read = {what: row.values.get(column) for what, column in self.names.items()}
            missing = dict.fromkeys(self.aliases)
            common = {**self.common, _LAB_OF_ALL: self.common.get(LAB)}
            fields.read_as({**row.values, **missing, **read, **common}, self.names)
            one = build(fields)
            if fields.faults:
                faulty.append(FaultyRow(row, fields.faults))
            elif one is not None:
                made.append(one)
        refuse(told_once(self.path, faulty))
        return made


@dataclass(frozen=True)
class Naming:
    """How the columns of files are named, and what their rows have in common."""

    columns: Mapping[str, str] = field(default_factory=dict)  # name in `ALIASES` -> column
    # name in `VALUES` -> value of all rows
    constants: Mapping[str, str] = field(default_factory=dict)
    file_name: re.Pattern[str] = _ANY_NAME  # its groups are the same for a file, by its name

    def __post_init__(self) -> None:
        """Refuse names that nothing reads."""
        refuse_unknown("columns", self.columns, ALIASES)
        refuse_unknown("set", self.constants, VALUES)
        refuse_unknown("file-name", self.file_name.groupindex, VALUES)

    def read(self, path: Path, aliases: Aliases = ALIASES) -> ImportedFile:
        """Read a .csv, .json or .jsonl file in UTF-8."""
        rows, errors = read_table(path, ())
        refuse(errors)
        if not rows:
            raise InputError(f"{path}: no rows")
        return self.of_rows(path, rows, aliases)

    def of_rows(self, path: Path, rows: Sequence[Row], aliases: Aliases = ALIASES) -> ImportedFile:
        """The rows of a file under the names of aliases, or what differs in case and signs only."""
        match = self.file_name.search(path.name)
        if match is None:
            raise InputError(f"file-name: '{self.file_name.pattern}' does not match '{path.name}'")
        common = {**self.constants, **match.groupdict()}
        present = columns_of(rows)
        names = dict(self.columns)
        refuse_unknown(f"{path}: columns", names.values(), present)
        free = {name: name for name in present if name not in names.values()}
        plain = {plain_name(name): name for name in free}
        for what, known in aliases.items():
            found = [*map(free.get, known), *map(plain.get, map(plain_name, known))]
            for name in filter(None, found):
                names.setdefault(what, name)
        return ImportedFile(path, rows, aliases, names, common)


def refuse_unknown(option: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise for the first name that is not allowed."""
    for name in names:
        if name not in allowed:
            near = did_you_mean(name, allowed)
            raise InputError(f"{option}: there is no '{name}'{near}; allowed: {choices(allowed)}")


def of_all(files: Iterable[_From], read: Callable[[_From], list[_Read]]) -> list[_Read]:
    """What is read from all files; refuse them together, each with its own faults."""
    found: list[_Read] = []
    faults: list[str] = []
    for file in files:
        try:
            found += read(file)
        except InputError as error:
            faults.append(error.message)
    if faults:
        raise InputError("\n".join(faults))
    return found


def needed_model(fields: Fields, what: str) -> str:
    """The name of a model, with the lab of all rows if it has none of its own."""
    model = needed_text(fields, what).strip()
    lab = fields.name(_LAB_OF_ALL)
    if lab and "/" not in model:
        return f"{lab}/{model}"
    return model


def needed_text(fields: Fields, what: str) -> str:
    """A text that must be there; one that shows nothing is a fault."""
    value = fields.values.get(what)
    if value is None or is_blank(str(value)):
        fields.note(what, f"empty; must be the {what}")
        return ""
    return fields.written(what)
