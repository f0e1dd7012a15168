"""Finds questions that repeat others, exactly or nearly."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from urs_inspect.datasets.survey.personal import library

_SHINGLE = 3  # characters and not words, so that Chinese works
_PERMUTATIONS = 128
_MISSED = 1e-4  # highest probability that a pair at the threshold is not found
_SPACE = re.compile(r"\s+")
_BESIDE_HAN = re.compile("(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])")
_NUMBER = re.compile(r"\d+")
_EDGES = " \t.,;:!?…\"'“”‘’«»()[]{}<>。，、；：！？（）【】《》「」~～-—_*#"


@dataclass(frozen=True)
class Duplicate:
    """What a question repeats."""

    of: int  # position of the question that is kept
    similarity: float  # Jaccard similarity of the shingles, 0 to 1
    same_text: bool  # equal apart from case, width, white space, and punctuation at the edges


def normalise(text: str) -> str:
    """Fold a question: width, case, white space and punctuation at the edges do not matter; marks within do."""
    folded = _SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return _BESIDE_HAN.sub("", folded).strip(_EDGES) or folded


def shingles(text: str) -> frozenset[str]:
    """Runs of three characters of a normalised question; all of it if it is shorter."""
    return frozenset(text[i : i + _SHINGLE] for i in range(max(1, len(text) - _SHINGLE + 1)))


def find_duplicates(texts: Sequence[str], users: Sequence[str], near: float) -> dict[int, Duplicate]:
    """Find the questions that repeat an earlier one that is kept: position -> what it repeats.

    Candidates come from MinHash with locality-sensitive hashing (the library datasketch, 128 permutations; bands so
    that a pair at the threshold is missed with a probability below 0.0001); each is checked by its exact similarity.
    Questions with different numbers are no near-duplicates, for a number makes another question of the same words; one
    other word of a long question does not. Of several equally similar ones the user's own is reported (`users` is empty
    where the user is not known).
    """
    if not 0.5 <= near <= 1:
        raise ValueError(f"near must be from 0.5 to 1, got {near}")
    folded = [normalise(text) for text in texts]
    index = _Index(near)
    duplicates: dict[int, Duplicate] = {}
    for position, (text, user) in enumerate(zip(folded, users, strict=True)):
        candidates = index.like(text)
        if candidates:
            best = max(candidates, key=lambda pair: (pair[1], user != "" and users[pair[0]] == user, -pair[0]))
            duplicates[position] = Duplicate(best[0], best[1], folded[best[0]] == text)
        else:
            index.add(position, text)
    return duplicates


class _Index:
    """The questions kept so far."""

    def __init__(self, near: float) -> None:
        sketches = library("datasketch")
        self._near = near
        self._lsh = sketches.MinHashLSH(num_perm=_PERMUTATIONS, params=bands(near))
        self._empty = sketches.MinHash(num_perm=_PERMUTATIONS)
        self._shingles: dict[int, frozenset[str]] = {}
        self._numbers: dict[int, list[str]] = {}
        self._last: tuple[str, Any] = ("", None)

    def like(self, text: str) -> list[tuple[int, float]]:
        """Positions that a text nearly repeats, with the similarity."""
        own, numbers = shingles(text), sorted(_NUMBER.findall(text))
        similar = []
        for position in self._lsh.query(self._sketch(text)):
            other = self._shingles[position]
            similarity = len(own & other) / len(own | other)
            if similarity >= self._near and numbers == self._numbers[position]:
                similar.append((position, similarity))
        return similar

    def add(self, position: int, text: str) -> None:
        """Keep a text."""
        self._lsh.insert(position, self._sketch(text))
        self._shingles[position] = shingles(text)
        self._numbers[position] = sorted(_NUMBER.findall(text))

    def _sketch(self, text: str) -> Any:
        if self._last[1] is None or self._last[0] != text:
            sketch = self._empty.copy()
            sketch.update_batch([shingle.encode("utf-8", "surrogatepass") for shingle in shingles(text)])
            self._last = (text, sketch)
        return self._last[1]


def bands(near: float) -> tuple[int, int]:
    """Number of bands and rows per band: the longest bands that miss a pair at the threshold with less than 0.0001.

    A pair of similarity s shares no band of r rows with the probability `(1 - s^r)^b`.
    """
    sizes = [rows for rows in range(1, _PERMUTATIONS // 2 + 1) if (1 - near**rows) ** (_PERMUTATIONS // rows) < _MISSED]
    rows = max(sizes, default=1)
    return _PERMUTATIONS // rows, rows
