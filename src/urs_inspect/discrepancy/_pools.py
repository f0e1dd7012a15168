"""Pools of instructions: what they hold, their files, and how one grows from seeds."""

import json
import os
import random
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._rows import Fields, data_file, read_own
from urs_inspect.discrepancy._embeddings import LexicalSimilarity, normalised
from urs_inspect.discrepancy._vectors import Mask, Pair, Singles
from urs_inspect.rubrics import load_rubric

MIN_CONTESTANTS = 2
_MAX_NAMED = 5
_BLOCK = 128
"""Texts that are compared at once."""
_ROUNDING = 1e-6
"""What float32 may take from a cosine: equal vectors must reach a threshold of 1."""


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


@dataclass(frozen=True)
class PoolItem:
    """An instruction of a pool that evolves."""

    id: str  # `<seed>-r<round>` for an evolved one
    text: str
    reference: str  # its answer; empty for none
    intent: str  # as the rubric's data labels it
    language: str  # code
    seed: str  # id of the seed that it descends from; its own for a seed
    parent: str = ""  # id of the instruction that it was evolved from; empty for a seed
    generator: str = ""  # name of the model that wrote it; empty for a seed
    round: int = 0  # from 1; 0 for a seed


_TEXT_COLUMNS = ("instruction", "question")
_REFERENCE_COLUMNS = ("reference_ans", "reference", "answer", "output")
_HINT = "write it into the instruction itself"
_INTENT_COLUMNS = ("user_intent", "intent")
_CHINESE = re.compile("(?s)^(?!.*[\u3040-\u30ff]).*[\u4e00-\u9fff]")
"""Chinese characters and no kana."""


def load_seeds(path: Path, intent: str) -> tuple[PoolItem, ...]:
    """Read seeds from a `.csv` file with a header, or a `.jsonl` file, in their order.

    A `.jsonl` file has one object per line.

    Columns: instruction or question, and optionally reference (also reference_ans, answer, output),
    id, language, user_intent (also intent; `intent` for rows without one). `<name of the
    file>_0001` is the id of a first row without one. A row without a language counts as Chinese,
    `zh`, if it holds Chinese characters and no kana, else as `en`.
    """

    def build(fields: Fields, default_id: str) -> PoolItem:
        name = fields.identifier(default_id)
        text = fields.text(*_TEXT_COLUMNS)
        language = fields.optional("language").strip()
        if not language:
            language = "en"
            if _CHINESE.search(text):
                language = "zh"
        return PoolItem(
            id=name,
            text=text,
            reference=_first_of(fields, _REFERENCE_COLUMNS),
            intent=_first_of(fields, _INTENT_COLUMNS).strip() or intent,
            language=language,
            seed=name,
        )

    return read_own(path, (_TEXT_COLUMNS,), build, hint=_HINT).cases


def _first_of(fields: Fields, columns: Sequence[str]) -> str:
    """The text of the first of some columns that is not blank; empty if there is none."""
    given = [column for column in columns if not fields.blank(column)]
    if given:
        return fields.text(given[0])
    return ""


def draw_seeds(seeds: Sequence[PoolItem], limit: int | None, seed: int) -> list[PoolItem]:
    """Shuffle seeds, and take the first `limit`; all for None.

    The order also decides who writes first for which seed.
    """
    order = list(seeds)
    random.Random(f"evolve/{seed}").shuffle(order)  # noqa: S311 - an order, not a secret
    return order[:limit]


def load_pool_file(
    path: str, *, scenarios: Collection[str] = ()
) -> tuple[str, str, tuple[Instruction, ...]]:
    """Read instructions from a pool file, as `load_seeds` reads seeds.

    Any file that has such columns will do.

    Columns: instruction or question, and optionally reference (also reference_ans, answer, output),
    id, language, user_intent (also intent), scenario (one of `scenarios`, any if there are none).
    Returns the path as the
    name, the SHA-256 of the file, and the instructions.
    """

    def build(fields: Fields, default_id: str) -> Instruction:
        scenario = fields.optional("scenario").strip()
        if scenario and scenarios and scenario not in scenarios:
            fields.note("scenario", f"unknown scenario '{scenario}'; allowed: {choices(scenarios)}")
        return Instruction(
            id=fields.identifier(default_id),
            text=fields.text(*_TEXT_COLUMNS).strip(),
            reference=_first_of(fields, _REFERENCE_COLUMNS).strip(),
            language=_language(fields.optional("language")),
            scenario=scenario,
            intent=_first_of(fields, _INTENT_COLUMNS).strip(),
        )

    found = read_own(data_file(path, "pool"), (_TEXT_COLUMNS,), build, hint=_HINT)
    return path, found.sha256, found.cases


def write_pool_file(path: Path, items: Iterable[PoolItem], scenario: str) -> Path:
    """Write a pool, all of it or nothing, and never over another file; returns where it is.

    That is at `path`, or, if there is a file by now, beside it as `<name>-2.jsonl`,
    `<name>-3.jsonl`, ... The columns are those that the task `urs` reads for cases of one's own,
    then scenario, seed, parent, generator and round.
    """

    def line(item: PoolItem) -> str:
        row = {
            "id": item.id,
            "question": item.text,
            "reference_ans": item.reference,
            "user_intent": item.intent,
            "language": item.language,
            "scenario": scenario,
            "seed": item.seed,
            "parent": item.parent,
            "generator": item.generator,
            "round": item.round,
        }
        return json.dumps(row, ensure_ascii=False) + "\n"

    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(map(line, items))
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o644)
        return _publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> Path:
    for number in count(1):
        place = path
        if number > 1:
            place = path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            os.link(draft, place)  # fails where there is a file, other than a rename
        except FileExistsError:
            continue
        except OSError:  # a file system without links
            if place.exists():
                continue
            draft.replace(place)
        return place
    raise AssertionError("numbers do not end")


def _language(label: str) -> str:
    try:
        return load_rubric().language_code(label)
    except InputError:  # a pool may be in any language
        return label.strip().lower()


@dataclass(frozen=True)
class NearDuplicate:
    """Why a text was not added: the id of the text that it repeats."""

    of: str
    similarity: float  # cosine of the two, at most 1; 1 where the normalised texts are equal


class DistinctTexts:
    """A growing collection of texts, none of which nearly repeats an earlier one.

    A text repeats another from a cosine of character n-grams (see `LexicalSimilarity`) of
    `threshold`, above 0 and at most 1.
    """

    def __init__(self, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise InputError(
                f"duplicates: must be a number above 0 and at most 1, got {threshold!r}"
            )
        self.threshold = threshold
        self._similarity = LexicalSimilarity()
        self._ids: list[str] = []
        self._equal: dict[str, str] = {}
        self._vectors: Singles = np.empty((0, self._similarity.width), np.float32)

    def __len__(self) -> int:
        return len(self._ids)

    def take(self, texts: Mapping[str, str]) -> None:
        """Add texts by id as they are, even if they repeat each other."""
        vectors = self._similarity.encode(list(texts.values()))
        self._append(texts, vectors)

    def add(self, texts: Mapping[str, str]) -> dict[str, NearDuplicate]:
        """Add those texts (by id) that repeat no other text.

        Others are those of the collection, and earlier ones among themselves.

        They are looked at in the order of their ids, so that the result does not depend on the
        order in which they came. Returns the texts that were left out, with what they repeat: one
        that is equal except for case, width and white space, else the most similar one, at equal
        similarity the earliest.
        """
        refused: dict[str, NearDuplicate] = {}
        ids = sorted(texts)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            refused |= self._add_block(block, [texts[name] for name in block])
        return refused

    def _add_block(self, ids: Sequence[str], texts: Sequence[str]) -> dict[str, NearDuplicate]:
        vectors = self._similarity.encode(texts)
        known = vectors @ self._vectors.T
        among = vectors @ vectors.T
        refused: dict[str, NearDuplicate] = {}
        equal = dict(self._equal)
        taken: list[int] = []
        for row, (name, text) in enumerate(zip(ids, texts, strict=True)):
            similarity = -1.0
            nearest = ""
            if len(self):
                place = int(known[row].argmax())
                similarity = float(known[row, place])
                nearest = self._ids[place]
            for other in taken:
                if among[row, other] > similarity:
                    similarity = float(among[row, other])
                    nearest = ids[other]
            same = equal.get(normalised(text))
            if same is not None:
                refused[name] = NearDuplicate(same, 1.0)
            elif similarity >= self.threshold - _ROUNDING:
                refused[name] = NearDuplicate(nearest, min(1.0, similarity))
            else:
                equal[normalised(text)] = name
                taken.append(row)
        texts_taken = {ids[row]: texts[row] for row in taken}
        self._append(texts_taken, vectors[taken])
        return refused

    def _append(self, texts: Mapping[str, str], vectors: Singles) -> None:
        self._vectors = np.concatenate([self._vectors, vectors])
        self._ids.extend(texts)
        for name, text in texts.items():
            self._equal.setdefault(normalised(text), name)


def child_id(seed: str, number: int) -> str:
    """Id of what a seed became in a round."""
    return f"{seed}-r{number}"


class Evolution:
    """One line of descent for every seed.

    A round evolves the youngest instruction of every line. The result is kept unless it nearly
    repeats a seed or anything kept so far; then, or where there is nothing usable, the same
    instruction is evolved again in the next round. `duplicates` is the similarity from which an
    instruction repeats another; see `DistinctTexts`.
    """

    def __init__(self, seeds: Sequence[PoolItem], duplicates: float) -> None:
        # the youngest of every line, by seed, in order
        self.parents = {seed.id: seed for seed in seeds}
        self.kept: list[PoolItem] = []  # by round and then by id
        self._distinct = DistinctTexts(duplicates)
        self._distinct.take({seed.id: seed.text for seed in seeds})

    def settle(self, children: Iterable[PoolItem]) -> dict[str, NearDuplicate]:
        """End a round with its usable instructions, in any order.

        Returns those not kept, and what they repeat.
        """
        by_id = {child.id: child for child in children}
        texts = {child.id: child.text for child in by_id.values()}
        repeats = self._distinct.add(texts)
        for name in sorted(by_id.keys() - repeats.keys()):
            child = by_id[name]
            self.kept.append(child)
            self.parents[child.seed] = child
        return repeats
