"""Chains of two-digit numbers to add up (URS paper, appendix D.5)."""

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

import yaml

from urs_inspect._util import InputError, choices

SHORTEST = 2
LONGEST = 100  # numbers of a chain; the paper has 2 to 20
MOST = 1000  # chains of one length; two numbers make 8,100 different ones

_LOWEST = 10
_HIGHEST = 99
_PART = re.compile(r"([0-9]{1,4})(?:\s*-\s*([0-9]{1,4}))?")
_FILE = Path(__file__).parent / "addition.yaml"


@dataclass(frozen=True)
class AdditionChain:
    """Two-digit numbers, 10 to 99, to add up."""

    id: str  # number of summands, then number of the chain among those of its length
    numbers: tuple[int, ...]

    @property
    def total(self) -> int:
        """Their sum."""
        return sum(self.numbers)

    @property
    def text(self) -> str:
        """The chain as it is shown: 12 + 34."""
        return " + ".join(map(str, self.numbers))


@dataclass(frozen=True)
class AdditionPrompt:
    """A prompt that asks a model for the sum of a chain."""

    frame: str  # with `{chain}` in it
    version: str  # its name and version

    @property
    def sha256(self) -> str:
        """SHA-256 of the frame."""
        return hashlib.sha256(self.frame.encode()).hexdigest()

    def fill(self, shown: AdditionChain) -> str:
        """Insert a chain."""
        return self.frame.replace("{chain}", shown.text)


def addition_chains(
    lengths: Sequence[int], per_length: int, seed: int
) -> tuple[AdditionChain, ...]:
    """Draw chains of numbers, uniform from 10 to 99, with replacement; those of one length differ.

    Chains of a length depend on the seed and the length alone: more of them, or other lengths,
    leave the first ones unchanged. The first chain of each length comes first, then the second of
    each, so that every beginning of the result has all lengths. A number out of its range raises
    `InputError`.
    """
    if outside := [length for length in lengths if not SHORTEST <= length <= LONGEST]:
        raise InputError(f"lengths: must be from {SHORTEST} to {LONGEST}, got {outside[0]}")
    if not 1 <= per_length <= MOST:
        raise InputError(f"per_length: must be from 1 to {MOST}, got {per_length}")
    by_length = [_chains(length, per_length, seed) for length in dict.fromkeys(lengths)]
    return tuple(chain.from_iterable(zip(*by_length, strict=True)))


def addition_lengths(value: object) -> list[int]:
    """Read lengths of chains, each once.

    They are a number, ranges and numbers separated by commas, or a list of either.
    """
    parts: Sequence[object] = [value]
    if isinstance(value, str):
        parts = value.split(",")
    elif isinstance(value, (list, tuple)):
        parts = value
    lengths: dict[int, None] = {}
    for part in parts:
        written = "" if isinstance(part, bool) else str(part).strip()
        match = _PART.fullmatch(written)
        span = range(0)
        if match:
            span = range(int(match[1]), int(match[2] or match[1]) + 1)
        if not span:
            lengths.clear()
            break
        lengths.update(dict.fromkeys(span))
    if not lengths:
        raise InputError(
            f"lengths: must be numbers and ranges such as 2-20 or 2-9,15; got {value!r}"
        )
    return list(lengths)


def _chains(length: int, count: int, seed: int) -> list[AdditionChain]:
    drawn = random.Random(f"{seed}/{length}")  # noqa: S311 - an exercise, not a secret
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        found.setdefault(tuple(drawn.randint(_LOWEST, _HIGHEST) for _ in range(length)))
    return [
        AdditionChain(f"add_{length:02d}_{place:02d}", numbers)
        for place, numbers in enumerate(found, start=1)
    ]


def addition_languages() -> tuple[str, ...]:
    """Languages of the prompts."""
    return tuple(_texts()[1])


def addition_prompt(language: str) -> AdditionPrompt:
    """The prompt in a language; `InputError` if there is none."""
    version, texts = _texts()
    if language not in texts:
        raise InputError(f"language: unknown value {language!r}; allowed: {choices(texts)}")
    return AdditionPrompt(texts[language], version)


@lru_cache(maxsize=1)
def _texts() -> tuple[str, Mapping[str, str]]:
    read = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return str(read["version"]), read["text"]
