"""How the intervals of a report come about."""

from dataclasses import dataclass
from typing import TypedDict

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED


class Options(TypedDict):
    """Arguments of the functions of `rating`."""

    rounds: int
    level: float
    seed: int


@dataclass(frozen=True)
class Resampling:
    """Parameters of the bootstrap.

    Attributes:
        rounds: Rounds.
        level: Confidence level, between 0 and 1.
        seed: Seed.
    """

    rounds: int = ROUNDS
    level: float = LEVEL
    seed: int = SEED

    @property
    def options(self) -> Options:
        """As arguments."""
        return Options(rounds=self.rounds, level=self.level, seed=self.seed)
