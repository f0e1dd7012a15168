"""How long a chain of additions a model adds up right."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from urs_inspect.stats._agreement import wilson_interval
from urs_inspect.stats._bootstrap import Estimate

HEADLINE = (2, 9)
"""Summands of the chains that the headline is about, first and last (URS paper, caption of Table
7).
"""
TEXT = (2, 10)
"""The same as appendix D.5 has it."""
_ENOUGH = (4, 5)
"""80%, as a fraction, so that 8 of 10 does not depend on rounding."""


@dataclass(frozen=True)
class Trial:
    """One answer to one chain."""

    chain: str  # id
    summands: int
    right: bool


def accuracy(trials: Collection[Trial]) -> Estimate:
    """Share of right answers, with its 95% score interval over chains.

    Answers to one chain are averaged first.
    """
    by_chain: dict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        by_chain[trial.chain].append(trial.right)
    shares = [sum(answers) / len(answers) for answers in by_chain.values()]
    chains = len(shares)
    share = 0.0
    if chains:
        share = sum(shares) / chains
    return wilson_interval(share, chains)


def longest(trials: Collection[Trial]) -> tuple[int, int]:
    """How long the chains are that a model adds up right at least 80% of the time.

    Source: URS paper, Table 7, "Max L".

    Returns the longest length with 80% or more, also where shorter ones have less, and the longest
    such that no shorter one that was tried has less; 0 where there is none.
    """
    by_length: dict[int, list[bool]] = defaultdict(list)
    for trial in trials:
        by_length[trial.summands].append(trial.right)
    share, of = _ENOUGH
    farthest = 0
    unbroken = 0
    is_unbroken = True
    for length, answers in sorted(by_length.items()):
        if of * sum(answers) < share * len(answers):
            is_unbroken = False
            continue
        farthest = length
        if is_unbroken:
            unbroken = length
    return farthest, unbroken


def between(trials: Sequence[Trial], first: int, last: int) -> list[Trial]:
    """Answers to chains of `first` to `last` summands, both included."""
    return [trial for trial in trials if first <= trial.summands <= last]
