"""Which annotated pairs become training data: those whose annotation agrees, balanced over scenarios."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from urs_inspect.errors import InputError
from urs_inspect.samer.training.pairs import TrainingPair


@dataclass(frozen=True)
class Balance:
    """Pairs balanced over scenarios (SaMer paper, Table 1: 2,000 to 5,500 a scenario).

    Attributes:
        pairs: What was kept, in the given order.
        found: Scenario -> pairs before.
        kept: Scenario -> pairs after.
        short: Scenarios with fewer pairs than `least`; they are kept whole, since no more can be made.
        least: Pairs that a scenario should have.
        most: Pairs that a scenario may have.
    """

    pairs: tuple[TrainingPair, ...]
    found: dict[str, int]
    kept: dict[str, int]
    short: tuple[str, ...]
    least: int
    most: int


def balance(pairs: Sequence[TrainingPair], *, least: int = 2000, most: int = 5500, seed: int = 0) -> Balance:
    """Keep at most so many pairs of each scenario, chosen by seed and id alone.

    Args:
        pairs: The pairs.
        least: Pairs that a scenario should have; scenarios below it are named in the result.
        most: Pairs that a scenario may have, at least 1.
        seed: Seed.

    Returns:
        What was kept.

    Raises:
        InputError: If `most` is below 1 or below `least`.
    """
    if most < 1 or least < 0 or least > most:
        raise InputError(f"balance of {least} to {most} pairs a scenario; allowed: 0 <= least <= most, most >= 1")
    by_scenario: dict[str, list[TrainingPair]] = {}
    for pair in pairs:
        by_scenario.setdefault(pair.scenario, []).append(pair)
    kept: set[str] = set()
    counts: dict[str, int] = {}
    for scenario, members in sorted(by_scenario.items()):
        ranked = sorted(members, key=lambda pair: sha256(f"{seed}/{pair.id}".encode()).digest())
        kept.update(pair.id for pair in ranked[:most])
        counts[scenario] = min(len(members), most)
    return Balance(
        pairs=tuple(pair for pair in pairs if pair.id in kept),
        found={scenario: len(members) for scenario, members in sorted(by_scenario.items())},
        kept=counts,
        short=tuple(scenario for scenario, count in counts.items() if count < least),
        least=least,
        most=most,
    )
