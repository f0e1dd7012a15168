"""Reference answers from another source than the data: reading them, and giving them to cases."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from urs_inspect._util import InputError, choices, is_blank
from urs_inspect.datasets._cases import UrsCase
from urs_inspect.datasets._rows import Fields, read_own

DATASET = "dataset"
"""The source that stands for the references of the data themselves."""

USABLE = "usable"
EMPTY = "empty"
CUT = "cut"
WITHHELD = "withheld"
NO_ANSWER = "no_answer"
"""What an answer can be as a reference: `cut` at a token limit, `withheld` by a filter, or it never
came.
"""

OUTCOMES = (USABLE, EMPTY, CUT, WITHHELD, NO_ANSWER)

_COLUMNS = ("id", "question_sha256", "reference", "source_model", "created")
_REASONS = {
    "missing": "without one",
    EMPTY: "empty",
    CUT: "cut off at the token limit",
    WITHHELD: "withheld by a filter",
    NO_ANSWER: "never answered",
    "question": "of another question than the case has now",
}
_MAX_NAMED = 5


@dataclass(frozen=True)
class Reference:
    """The reference answer of one model to one question."""

    id: str  # of the case
    question_sha256: str  # as from `question_sha256`
    text: str  # empty if there is none
    source: str  # the model
    created: str = ""  # when its run began, ISO 8601; empty if not known
    outcome: str = USABLE  # one of `OUTCOMES`


@dataclass(frozen=True)
class References:
    """Reference answers of one model, at most one per case, and where they were read."""

    source: str
    place: str
    items: tuple[Reference, ...]

    @property
    def usable(self) -> tuple[Reference, ...]:
        """Those that may be used."""
        return tuple(item for item in self.items if item.outcome == USABLE)

    @property
    def sha256(self) -> str:
        """Hash of the usable answers and their questions, the same for a log and its file."""
        rows = sorted((item.id, item.question_sha256, item.text) for item in self.usable)
        return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()

    @property
    def label(self) -> str:
        """Source and first digits of the hash, for logs."""
        return f"{self.source} (sha256 {self.sha256[:12]})"


def question_sha256(question: str) -> str:
    """Hash of a question as models are asked it, without edge whitespace, as hexadecimal digits."""
    return hashlib.sha256(question.strip().encode()).hexdigest()


def outcome_of_text(text: str) -> str:
    """Whether a text is `usable` or `empty`."""
    if is_blank(text):
        return EMPTY
    return USABLE


def gather(items: Iterable[Reference], place: str) -> References:
    """Combine references of one model; the last usable one of a case counts.

    No reference at all, several models, or different questions under one id raise `InputError`.
    """
    kept: dict[str, Reference] = {}
    sources: set[str] = set()
    for item in items:
        sources.add(item.source)
        known = kept.setdefault(item.id, item)
        if known.question_sha256 != item.question_sha256:
            raise InputError(
                f"references: {place} has two references of case '{item.id}', of different"
                " questions"
            )
        if item.outcome == USABLE or known.outcome != USABLE:
            kept[item.id] = item
    if not kept:
        raise InputError(f"references: no answer in {place}")
    if len(sources) > 1:
        raise InputError(
            f"references: {place} mixes those of several models: {choices(sorted(sources))};"
            " allowed: of one"
        )
    return References(sources.pop(), place, tuple(kept.values()))


def read_reference_file(path: Path) -> References:
    """Read references from a JSON Lines file as `urs-inspect references` writes it.

    A blank one is read as empty.
    """

    def build(fields: Fields, default_id: str) -> Reference:
        text = ""
        if not fields.blank("reference"):
            text = fields.text("reference")
        if fields.blank("id"):
            fields.note("id", "missing")
        return Reference(
            id=fields.identifier(default_id),
            question_sha256=fields.text("question_sha256").strip().lower(),
            text=text.strip(),
            source=fields.text("source_model").strip(),
            created=fields.optional("created"),
            outcome=outcome_of_text(text),
        )

    found = read_own(path, [(column,) for column in _COLUMNS[:-1]], build)
    return gather(found.cases, str(path))


def reference_lines(references: References) -> Iterable[str]:
    """The usable references as lines of a file that `read_reference_file` reads."""
    for item in references.usable:
        values = (item.id, item.question_sha256, item.text, item.source, item.created)
        yield json.dumps(dict(zip(_COLUMNS, values, strict=True)), ensure_ascii=False) + "\n"


def unusable(cases: Iterable[UrsCase], references: References) -> dict[str, list[str]]:
    """Ids of the cases without a usable reference, by reason: a key of `_REASONS`."""
    known = {item.id: item for item in references.items}
    ids: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        item = known.get(case.id)
        if item is None:
            ids["missing"].append(case.id)
        elif item.question_sha256 != question_sha256(case.question):
            ids["question"].append(case.id)
        elif item.outcome != USABLE:
            ids[item.outcome].append(case.id)
    return dict(ids)


def named(ids: Sequence[str]) -> str:
    """How many ids, and the first of them."""
    more = ""
    if len(ids) > _MAX_NAMED:
        more = f", and {len(ids) - _MAX_NAMED} more"
    return f"{len(ids)} ({', '.join(ids[:_MAX_NAMED])}{more})"


def with_references(cases: Sequence[UrsCase], references: References) -> list[UrsCase]:
    """Replace the reference of every case.

    `InputError` counts and names the cases without a usable one.
    """
    if errors := unusable(cases, references):
        reasons = "; ".join(f"{named(ids)} {_REASONS[reason]}" for reason, ids in errors.items())
        raise InputError(
            f"references: {references.place} (by {references.source}) does not serve"
            f" {sum(map(len, errors.values()))} of {len(cases)} cases: {reasons}. Ask the model"
            " again for these cases, with `inspect eval urs_inspect/urs_references --sample-id"
            " <ids>`, and combine both logs with `urs-inspect references`"
        )
    texts = {item.id: item.text for item in references.usable}
    return [replace(case, reference=texts[case.id]) for case in cases]
