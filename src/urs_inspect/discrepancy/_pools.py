"""Pools of instructions: what they hold, and their files."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._rows import Fields, data_file, read_own
from urs_inspect.discrepancy._vectors import Mask, Pair
from urs_inspect.rubrics import load_rubric

MIN_CONTESTANTS = 2
_MAX_NAMED = 5


@dataclass(frozen=True)
class Instruction:
    """One instruction that contestants answer."""

    id: str
    text: str
    reference: str = ""  # a reference answer; empty for none
    language: str = ""  # code; empty if unknown
    scenario: str = ""  # kind of task, which chooses the judge's instructions; empty if unknown
    intent: str = ""  # of the user who asked; empty if unknown


@dataclass(frozen=True)
class Pool:
    """Instructions and the contestants' answers."""

    name: str
    sha256: str  # of the instructions' file; empty if unknown
    instructions: tuple[Instruction, ...]  # in a stable order
    responses: Mapping[str, Mapping[str, str]] = field(repr=False)
    """Contestant -> instruction id -> answer. A missing answer has no entry.

    One without content is an empty text.
    """
    notes: tuple[str, ...] = ()  # what was left out, in words
    probabilities: Mapping[str, Mapping[str, Sequence[float]]] = field(
        default_factory=dict, repr=False
    )
    """Contestant -> instruction id -> natural log probabilities of the answer's tokens, where it
    gives them.
    """
    earlier: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Log of a run with previous= -> logs whose answers it compared, which it does not hold."""

    @property
    def contestants(self) -> tuple[str, ...]:
        """Names of the contestants, in order."""
        return tuple(sorted(self.responses))

    def among(self, names: Iterable[str]) -> "Pool":
        """The pool with some of its contestants only; InputError if there are no answers of one."""
        kept = list(names)
        missing = [name for name in kept if name not in self.responses]
        if missing:
            raise InputError(
                f"responses: no answers of {choices(missing)}; there are some of"
                f" {choices(self.contestants)}. {self._where_earlier_answers_are()}"
            )
        return replace(self, responses={name: self.responses[name] for name in kept})

    def _where_earlier_answers_are(self) -> str:
        """What to name in `responses` as well."""
        only = "holds the answers of the models that joined only"
        for log, others in self.earlier.items():
            if others:
                logs = ", ".join([log, *others])
                return (
                    f"{log} {only}, since it ran with previous=. Name the logs with the earlier"
                    f" answers as well: responses='[{logs}]'"
                )
        return (
            f"A run with previous= {only}: name its log and the logs with the earlier answers, both"
            " in responses"
        )

    def answers(self, name: str) -> list[str]:
        """Answers of a contestant in the order of the instructions; empty where there is none."""
        return [self.responses[name].get(item.id, "") for item in self.instructions]

    def lacking(self) -> dict[str, dict[str, int]]:
        """How many answers each contestant lacks.

        `missing` ones never came, `empty` ones have no content.
        """
        counts = {}
        for name in self.contestants:
            responses = self.responses[name]
            answers = [responses.get(item.id) for item in self.instructions]
            missing = answers.count(None)
            counts[name] = {
                "missing": missing,
                "empty": sum(not (text or "").strip() for text in answers) - missing,
            }
        return counts


def usable_masks(pool: Pool, pairs: Iterable[Pair]) -> dict[Pair, Mask]:
    """On which instructions pairs of contestants can be compared.

    Both answered, with content, and not alike.

    An empty answer always differs most from any other, so that the selection would choose nothing
    else; that a model answers nothing is counted, not compared. Equal answers are a tie that needs
    no judge. Pair -> shape (n,), in the order of the instructions.
    """
    texts: dict[str, npt.NDArray[Any]] = {}
    masks: dict[Pair, Mask] = {}
    for pair in pairs:
        for name in pair:
            if name not in texts:
                stripped = [text.strip() for text in pool.answers(name)]
                texts[name] = np.array(stripped, dtype=object)
        mine, theirs = (texts[name] for name in pair)
        masks[pair] = (mine != "") & (theirs != "") & (mine != theirs)
    return masks


def check_contestants(names: Collection[str]) -> None:
    """Raise InputError for fewer than two contestants."""
    if len(names) < MIN_CONTESTANTS:
        raise InputError(
            f"contestants: at least {MIN_CONTESTANTS} are needed, got"
            f" {choices(sorted(names)) or 'none'}"
        )


def short_pairs(pool: Pool, k: int, masks: Mapping[Pair, Mask]) -> str:
    """In words, which pairs have fewer than `k` instructions to be compared on, and why.

    Empty if none has.
    """
    counts = {pair: int(mask.sum()) for pair, mask in masks.items()}
    short = [pair for pair, count in counts.items() if count < k]
    parts = [
        f"{one} and {other}: {counts[one, other]}{_why(pool, one, other)}"
        for one, other in short[:_MAX_NAMED]
    ]
    if len(short) > _MAX_NAMED:
        parts.append(f"and {len(short) - _MAX_NAMED} more pairs")
    return "; ".join(parts)


def check_pool(
    pool: Pool, k: int, masks: Mapping[Pair, Mask], hint: str = "Lower k, or take a larger pool"
) -> None:
    """Raise InputError for a pool that cannot give `k` comparisons to each pair.

    The error says what can be done about it.

    It names the pairs that have too few instructions, how many there are, and why others cannot be
    used. `masks` has on which instructions each pair can be compared, shape (n,).
    """
    short = short_pairs(pool, k, masks)
    if short:
        raise InputError(
            f"k={k} is more than the pool '{pool.name}' of {len(pool.instructions)} instructions"
            f" can give to {short}. {hint}"
        )


def _why(pool: Pool, one: str, other: str) -> str:
    lacking = pool.lacking()
    parts = []
    for name in (one, other):
        for kind, number in lacking[name].items():
            if number:
                parts.append(f"{number} {kind} of {name}")
    answers = zip(pool.answers(one), pool.answers(other), strict=True)
    same = 0
    for mine, theirs in answers:
        words = mine.strip()
        if words and words == theirs.strip():
            same += 1
    if same:
        parts.append(f"{same} answered with equal words")
    if parts:
        return f" ({', '.join(parts)})"
    return ""


TEXT_COLUMNS = ("instruction", "question")
REFERENCE_COLUMNS = ("reference_ans", "reference", "answer", "output")
INTENT_COLUMNS = ("user_intent", "intent")
HINT = "write it into the instruction itself"
"""Where the text of a column belongs that is not read and would change what is asked."""


def first_of(fields: Fields, columns: Sequence[str]) -> str:
    """The text of the first of some columns that is not blank; empty if there is none."""
    given = [column for column in columns if not fields.blank(column)]
    if given:
        return fields.text(given[0])
    return ""


def load_pool_file(
    path: str, *, scenarios: Collection[str] = ()
) -> tuple[str, str, tuple[Instruction, ...]]:
    """Read instructions from a `.csv` file with a header, or a `.jsonl` file, in their order.

    Columns: instruction or question, and optionally reference (also reference_ans, answer, output),
    id, language, user_intent (also intent), scenario (one of `scenarios`, any if there are none).
    `<name of the file>_0001` is the id of a first row without one.

    Returns the path as the name, the SHA-256 of the file, and the instructions.
    """

    def build(fields: Fields, default_id: str) -> Instruction:
        scenario = fields.optional("scenario").strip()
        if scenario and scenarios and scenario not in scenarios:
            fields.note("scenario", f"unknown scenario '{scenario}'; allowed: {choices(scenarios)}")
        return Instruction(
            id=fields.identifier(default_id),
            text=fields.text(*TEXT_COLUMNS).strip(),
            reference=first_of(fields, REFERENCE_COLUMNS).strip(),
            language=_language(fields.optional("language")),
            scenario=scenario,
            intent=first_of(fields, INTENT_COLUMNS).strip(),
        )

    found = read_own(data_file(path, "pool"), (TEXT_COLUMNS,), build, hint=HINT)
    return path, found.sha256, found.cases


def _language(label: str) -> str:
    try:
        return load_rubric().language_code(label)
    except InputError:  # a pool may be in any language
        return label.strip().lower()
