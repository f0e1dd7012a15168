"""Finds questions that repeat others, exactly or nearly."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from urs_inspect.survey._personal import library

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
    """Fold a question: width, case, white space and punctuation at the edges do not matter."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    folded = _SPACE.sub(" ", plain).strip()
    return _BESIDE_HAN.sub("", folded).strip(_EDGES) or folded


def shingles(text: str) -> frozenset[str]:
    """Runs of three characters of a normalised question; all of it if it is shorter."""
    number = max(1, len(text) - _SHINGLE + 1)
    return frozenset(text[start : start + _SHINGLE] for start in range(number))


def find_duplicates(
    texts: Sequence[str], users: Sequence[str], near: float
) -> dict[int, Duplicate]:
    """Find the questions that repeat an earlier one that is kept: position -> what it repeats.

    Candidates come from MinHash with locality-sensitive hashing (the library datasketch, 128
    permutations; bands so that a pair at the threshold is missed with a probability below 0.0001);
    each is checked by its exact similarity. Questions with different numbers are no
    near-duplicates, for a number makes another question of the same words; one other word of a long
    question does not. Of several equally similar ones the user's own is reported (`users` is empty
    where the user is not known).
    """
    if not 0.5 <= near <= 1:
        raise ValueError(f"near must be from 0.5 to 1, got {near}")
    sketches = library("datasketch")
    index = sketches.MinHashLSH(num_perm=_PERMUTATIONS, params=bands(near))
    empty = sketches.MinHash(num_perm=_PERMUTATIONS)
    folded = [normalise(text) for text in texts]
    parts = [shingles(text) for text in folded]
    numbers = [sorted(_NUMBER.findall(text)) for text in folded]
    duplicates: dict[int, Duplicate] = {}
    for position, (own, user) in enumerate(zip(parts, users, strict=True)):
        sketch = empty.copy()
        sketch.update_batch([shingle.encode("utf-8", "surrogatepass") for shingle in own])
        similar = []
        for other in index.query(sketch):
            if numbers[other] != numbers[position]:
                continue
            common = len(own & parts[other])
            similarity = common / len(own | parts[other])
            same_user = user != "" and users[other] == user
            similar.append((similarity, same_user, -other))
        highest, _, minus_position = max(similar, default=(0.0, False, 0))
        if highest >= near:
            kept = -minus_position
            same_text = folded[kept] == folded[position]
            duplicates[position] = Duplicate(kept, highest, same_text)
        else:
            index.insert(position, sketch)
    return duplicates


def bands(near: float) -> tuple[int, int]:
    """Number of bands and rows per band.

    They are the longest bands that miss a pair at the threshold with less than 0.0001. A pair of
    similarity s shares no band of r rows with the probability `(1 - s^r)^b`.
    """
    longest = 1
    for rows in range(1, _PERMUTATIONS // 2 + 1):
        number = _PERMUTATIONS // rows
        missed = (1 - near**rows) ** number
        if missed < _MISSED:
            longest = rows
    return _PERMUTATIONS // longest, longest
