"""Seeds, and the pool that grows from them: its lines of descent and its file."""

import json
import os
import random
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.datasets._rows import Fields, read_own
from urs_inspect.discrepancy._lexical import LexicalSimilarity, normalised
from urs_inspect.discrepancy._pools import (
    HINT,
    INTENT_COLUMNS,
    REFERENCE_COLUMNS,
    TEXT_COLUMNS,
    first_of,
)
from urs_inspect.discrepancy._vectors import Singles

_BLOCK = 128
"""Texts that are compared at once."""
_ROUNDING = 1e-6
"""What float32 may take from a cosine: equal vectors must reach a threshold of 1."""


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
        text = fields.text(*TEXT_COLUMNS)
        language = fields.optional("language").strip()
        if not language:
            language = "en"
            if _CHINESE.search(text):
                language = "zh"
        return PoolItem(
            id=name,
            text=text,
            reference=first_of(fields, REFERENCE_COLUMNS),
            intent=first_of(fields, INTENT_COLUMNS).strip() or intent,
            language=language,
            seed=name,
        )

    return read_own(path, (TEXT_COLUMNS,), build, hint=HINT).cases


def draw_seeds(seeds: Sequence[PoolItem], limit: int | None, seed: int) -> list[PoolItem]:
    """Shuffle seeds, and take the first `limit`; all for None.

    The order also decides who writes first for which seed.
    """
    order = list(seeds)
    random.Random(f"evolve/{seed}").shuffle(order)  # noqa: S311 - an order, not a secret
    return order[:limit]


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
