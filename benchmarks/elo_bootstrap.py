"""How long bootstrapped ratings take, beside a loop over battles as the notebooks of arenas have
it.

Rates the published votes of Chatbot Arena that the MAD paper used
(URS_INSPECT_DATA_DIR/mad/chatbot_arena, 7,471 votes of 7 models), or simulated ones of the same
size without them. The loop shuffles a table of the votes and walks through its rows; it is timed
for a part of the rounds and scaled up.

    python -m benchmarks elo_bootstrap
"""

import os
from collections import defaultdict
from pathlib import Path

from benchmarks import ONE_THREAD, Row, timed

os.environ.update(ONE_THREAD)

import numpy as np
import pandas as pd

from urs_inspect.logs._battles import read_battles
from urs_inspect.stats import Battle, Battles, battles_of, rank
from urs_inspect.stats._bradley_terry import bootstrap_bradley_terry
from urs_inspect.stats._elo import bootstrap_elo, shuffle_elo

MODELS = 7
VOTES = 7471


def simulated() -> Battles:
    """Votes of models whose true ratings lie 60 points apart, a quarter of them ties, each on its
    own instruction.
    """
    generator = np.random.default_rng(0)
    fought = []
    for number in range(VOTES):
        first, second = generator.choice(MODELS, size=2, replace=False)
        won = generator.random() < 1 / (1 + 10 ** ((first - second) * 60 / 400))
        outcome = 0.5 if generator.random() < 0.27 else float(won)
        fought.append(Battle(f"model {first}", f"model {second}", outcome, str(number)))
    return battles_of(fought)


def loop(battles: Battles, rounds: int) -> pd.DataFrame:
    """Elo of shuffled votes, one battle of one round at a time."""
    winner = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}
    table = pd.DataFrame(
        {
            "model_a": [battles.players[index] for index in battles.first],
            "model_b": [battles.players[index] for index in battles.second],
            "winner": [winner[outcome] for outcome in battles.outcome.tolist()],
        }
    )
    results = []
    for number in range(rounds):
        ratings: dict[str, float] = defaultdict(lambda: 1000.0)
        for row in table.sample(frac=1.0, random_state=number).itertuples():
            first = ratings[str(row.model_a)]
            second = ratings[str(row.model_b)]
            expected = 1 / (1 + 10 ** ((second - first) / 400))
            change = 4 * ({"model_a": 1.0, "tie": 0.5, "model_b": 0.0}[str(row.winner)] - expected)
            ratings[str(row.model_a)] = first + change
            ratings[str(row.model_b)] = second - change
        results.append(dict(ratings))
    return pd.DataFrame(results)


def votes() -> tuple[Battles, str]:
    """The votes, and what they are."""
    directory = os.environ.get("URS_INSPECT_DATA_DIR")
    if directory:
        return (
            read_battles([Path(directory) / "mad" / "chatbot_arena"]),
            "published votes of Chatbot Arena",
        )
    return simulated(), "simulated votes"


def measure(battles: Battles, rounds: int, repeats: int, loop_rounds: int) -> dict[str, float]:
    """Median CPU seconds of each way; the loop comes first and is scaled up."""
    works = {
        "loop over rows of a table, order shuffled": lambda: loop(battles, loop_rounds),
        "Elo, order shuffled": lambda: shuffle_elo(battles, rounds=rounds),
        "Elo, clustered bootstrap": lambda: bootstrap_elo(battles, rounds=rounds),
        "Bradley-Terry, clustered bootstrap": lambda: bootstrap_bradley_terry(
            battles, rounds=rounds
        ),
        "ranking with all three": lambda: rank(battles, rounds=rounds),
    }
    costs = timed(works, repeats)
    costs[next(iter(costs))] *= rounds / loop_rounds
    return costs


def ratios(*, quick: bool) -> list[Row]:
    """Ways to rate over the loop."""
    (battles, _), rounds = votes(), 200 if quick else 1000
    (_, slow), *ours = measure(battles, rounds, 1 if quick else 3, 2 if quick else 10).items()
    size = f"{len(battles):,} votes, {len(battles.players)} models, {rounds:,} rounds"
    return [
        Row(
            f"ratings: {name}",
            size,
            cost,
            slow,
            "a loop over rows of a table, scaled from a part of the rounds",
        )
        for name, cost in ours
    ]
