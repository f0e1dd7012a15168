"""How long bootstrapped ratings take, beside a loop over battles as the notebooks of arenas have it.

Rates the published votes of Chatbot Arena that the MAD paper used (URS_INSPECT_DATA_DIR/mad/chatbot_arena, 7,471 votes
of 7 models), or simulated ones of the same size without them. The loop shuffles a table of the votes and walks through
its rows; it is timed for a part of the rounds and scaled up.

    python benchmarks/elo_bootstrap.py [--rounds 1000] [--repeats 5] [--loop-rounds 50]
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
import pandas as pd

from urs_inspect.logs.battles import read_battles
from urs_inspect.stats import Battle, Battles, battles_of, rank
from urs_inspect.stats.bradley_terry import bootstrap_bradley_terry
from urs_inspect.stats.elo import bootstrap_elo, shuffle_elo

MODELS, VOTES = 7, 7471


def simulated() -> Battles:
    """Votes of models whose true ratings lie 60 points apart, a quarter of them ties, each on its own instruction."""
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
            first, second = ratings[str(row.model_a)], ratings[str(row.model_b)]
            expected = 1 / (1 + 10 ** ((second - first) / 400))
            change = 4 * ({"model_a": 1.0, "tie": 0.5, "model_b": 0.0}[str(row.winner)] - expected)
            ratings[str(row.model_a)] = first + change
            ratings[str(row.model_b)] = second - change
        results.append(dict(ratings))
    return pd.DataFrame(results)


def seconds(work: Callable[[], object], repeats: int) -> tuple[float, float, float]:
    """Median, shortest and longest time of some repeats."""
    times = []
    for _ in range(repeats):
        before = perf_counter()
        work()
        times.append(perf_counter() - before)
    return median(times), min(times), max(times)


def main() -> None:
    """Print what it takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--loop-rounds", type=int, default=50)
    options = parser.parse_args()
    directory = os.environ.get("URS_INSPECT_DATA_DIR")
    battles = read_battles([Path(directory) / "mad" / "chatbot_arena"]) if directory else simulated()
    source = "published votes of Chatbot Arena" if directory else "simulated votes"
    rounds, share = options.rounds, options.rounds / options.loop_rounds
    print(
        f"{len(battles):,} {source}, {len(battles.players)} models, {len(np.unique(battles.clusters)):,} instructions, "
        f"{rounds:,} rounds, one thread; median of {options.repeats} (shortest to longest)"
    )
    slow = seconds(lambda: loop(battles, options.loop_rounds), 1)[0] * share
    print(f"loop over rows of a table, order shuffled  {slow:8.2f} s  (from {options.loop_rounds} rounds)")
    works: dict[str, Callable[[], object]] = {
        "Elo, order shuffled": lambda: shuffle_elo(battles, rounds=rounds),
        "Elo, clustered bootstrap": lambda: bootstrap_elo(battles, rounds=rounds),
        "Bradley-Terry, clustered bootstrap": lambda: bootstrap_bradley_terry(battles, rounds=rounds),
        "ranking with all three": lambda: rank(battles, rounds=rounds),
    }
    for name, work in works.items():
        work()  # what is imported and allocated once
        middle, low, high = seconds(work, options.repeats)
        print(f"{name:42} {middle:8.2f} s  ({low:.2f} to {high:.2f}), {slow / middle:.0f} times as fast as the loop")


if __name__ == "__main__":
    main()
