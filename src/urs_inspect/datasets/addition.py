"""Chains of two-digit numbers to add up (URS paper, appendix D.5)."""

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from urs_inspect._util import InputError, choices

SHORTEST, LONGEST = 2, 100
"""Numbers that a chain may have; the paper has 2 to 20."""
MOST = 1000
"""Chains of one length at most; two numbers make 8,100 different ones."""

_LOWEST, _HIGHEST = 10, 99
_PART = re.compile(r"([0-9]{1,4})(?:\s*-\s*([0-9]{1,4}))?")
_FILE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class AdditionChain:
    """Numbers to add up.

    Attributes:
        id: Stable id: number of summands, then number of the chain among those of its length.
        numbers: Two-digit numbers, 10 to 99.
    """

    id: str
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
    """How a chain is put to a model.

    Attributes:
        frame: The text, with `{chain}` in it.
        version: Its name and version.
    """

    frame: str
    version: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.frame.encode()).hexdigest()

    def fill(self, chain: AdditionChain) -> str:
        """Put in a chain."""
        return self.frame.replace("{chain}", chain.text)


def addition_chains(lengths: Sequence[int], per_length: int, seed: int) -> tuple[AdditionChain, ...]:
    """Draw chains; the numbers of a chain, uniform from 10 to 99, with replacement, chains of a length all different.

    Chains of a length depend on the seed and the length alone: more of them, or other lengths, leave the first ones as
    they are.

    Args:
        lengths: Numbers of summands, each from 2 to 100.
        per_length: Chains of each length, 1 to 1,000.
        seed: Seed of the draw, 0 or more.

    Returns:
        The chains: the first of each length, then the second of each, so that every beginning has all lengths.

    Raises:
        InputError: If an argument is out of its range.
    """
    if outside := [length for length in lengths if not SHORTEST <= length <= LONGEST]:
        raise InputError(f"lengths: must be from {SHORTEST} to {LONGEST}, got {outside[0]}")
    if not 1 <= per_length <= MOST:
        raise InputError(f"per_length: must be from 1 to {MOST}, got {per_length}")
    by_length = [_chains(length, per_length, seed) for length in dict.fromkeys(lengths)]
    return tuple(chain for place in zip(*by_length, strict=True) for chain in place)


def addition_lengths(value: object) -> list[int]:
    """Read lengths of chains.

    Args:
        value: A number, ranges and numbers separated by commas, or a list of either.

    Returns:
        The lengths, each once.

    Raises:
        InputError: If it is none of these.
    """
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    found: dict[int, None] = {}
    for part in parts:
        match = None if isinstance(part, bool) else _PART.fullmatch(str(part).strip())
        first = int(match[1]) if match else 0
        last = int(match[2] or first) if match else 0
        if match is None or first > last:
            raise InputError(f"lengths: must be numbers and ranges such as 2-20 or 2-9,15; got {value!r}")
        found.update(dict.fromkeys(range(first, last + 1)))
    if not found:
        raise InputError(f"lengths: must be numbers and ranges such as 2-20 or 2-9,15; got {value!r}")
    return list(found)


def _chains(length: int, count: int, seed: int) -> list[AdditionChain]:
    drawn = random.Random(f"{seed}/{length}")  # noqa: S311 - an exercise, not a secret
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        found.setdefault(tuple(drawn.randint(_LOWEST, _HIGHEST) for _ in range(length)))
    return [AdditionChain(f"add_{length:02d}_{place:02d}", chain) for place, chain in enumerate(found, start=1)]


def addition_languages() -> tuple[str, ...]:
    """Languages that chains can be put to a model in."""
    return tuple(_texts()[1])


def addition_prompt(language: str) -> AdditionPrompt:
    """How chains are put to a model in a language.

    Raises:
        InputError: If there is no such language; the message lists those there are.
    """
    version, texts = _texts()
    if language not in texts:
        raise InputError(f"language: unknown value {language!r}; allowed: {choices(texts)}")
    return AdditionPrompt(texts[language], version)


@lru_cache(maxsize=1)
def _texts() -> tuple[str, Mapping[str, str]]:
    read = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return str(read["version"]), read["text"]
