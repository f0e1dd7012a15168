"""How often the interval of a correlation of means holds the correlation without noise, beside
plain percentiles.

Simulates studies of the two kinds that `urs-inspect agreement` reports: mean score and mean
satisfaction over six intents (questions by intent as in the URS data, 420 people of whom each rates
most intents), and mean score and Bradley-Terry rating over ten models (1,024 questions that all
answer, 350 or 120 votes). Prints a table in Markdown.

    python benchmarks/agreement_coverage.py [--studies 500] [--rounds 500] [--seed 0]
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np

from urs_inspect.agreement._mean_correlation import correlate_means, table_means
from urs_inspect.stats import MeanDraws, rank
from urs_inspect.stats._battles import Battles
from urs_inspect.stats._bootstrap import Floats

QUESTIONS = (528, 573, 124, 269, 193, 159)
"""Cases of each reported intent in the published data."""
INTENTS = np.array([7.7, 7.6, 7.5, 7.1, 6.9, 6.7])
"""True mean scores, about as far apart as those of the paper's Table 4."""
MODELS = np.array([8.15, 7.5, 7.48, 7.35, 7.33, 7.31, 6.87, 6.56, 6.53, 6.29])
"""The column All of Table 4."""
OFF_INTENTS = np.array([0.05, -0.08, 0.06, -0.1, 0.02, 0.09])
OFF_MODELS = np.array([0.2, -0.2, 0.1, -0.1, 0.25, -0.2, 0.1, 0.15, -0.2, -0.1])
PEOPLE = 420
ANSWERED = 0.7
TIES = 0.15

Study = Callable[[np.random.Generator, int], tuple[MeanDraws, MeanDraws]]
"""Takes a generator and the number of rounds, and gives the means of both sides."""


@dataclass(frozen=True)
class Setting:
    """A kind of study.

    Attributes:
        name: What it is called in the table.
        truth: Correlation of the true means.
        study: Makes one study.
    """

    name: str
    truth: float
    study: Study


def of_intents(spread: float, off: float) -> Setting:
    """Six intents; the smaller the spread, the more their differences drown in noise."""
    scores = INTENTS.mean() + (INTENTS - INTENTS.mean()) * spread
    satisfaction = 4 + (scores - scores.mean()) * 0.8 + off * OFF_INTENTS * spread

    def study(generator: np.random.Generator, rounds: int) -> tuple[MeanDraws, MeanDraws]:
        parts = [
            table_means(
                generator.normal(mean, 1.4, (n, 1)),
                rounds=rounds,
                seed=int(generator.integers(1 << 32)),
            )
            for mean, n in zip(scores, QUESTIONS, strict=True)
        ]
        people = generator.normal(0, 0.6, (PEOPLE, 1)) + generator.normal(
            satisfaction, 0.9, (PEOPLE, 6)
        )
        people[generator.random(people.shape) > ANSWERED] = np.nan
        joined = MeanDraws(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.draws for part in parts], axis=1),
            np.array(QUESTIONS),
            0,
            np.array(QUESTIONS),
        )
        return joined, table_means(people, rounds=rounds, seed=int(generator.integers(1 << 32)))

    truth = float(np.corrcoef(scores, satisfaction)[0, 1])
    return Setting(f"6 intents, spread {spread:g}", truth, study)


def of_models(votes: int) -> Setting:
    """Ten models that answer the same questions, and votes between pairs of them."""
    strengths = (MODELS - 7) * 1.1 + OFF_MODELS

    def study(generator: np.random.Generator, rounds: int) -> tuple[MeanDraws, MeanDraws]:
        answers = MODELS + generator.normal(0, 1, (1024, 1)) + generator.normal(0, 1.2, (1024, 10))
        scores = table_means(answers, rounds=rounds, seed=int(generator.integers(1 << 32)))
        first = generator.integers(0, 10, votes)
        second = (first + generator.integers(1, 10, votes)) % 10
        won = generator.random(votes) < 1 / (1 + np.exp(strengths[second] - strengths[first]))
        outcome = np.where(generator.random(votes) < TIES, 0.5, won.astype(float))
        ranking = rank(
            Battles(tuple("abcdefghij"), first, second, outcome, np.arange(votes)),
            rounds=rounds,
            seed=int(generator.integers(1 << 32)),
        )
        order = np.argsort(ranking.players)
        ratings = np.array([one.value for one in ranking.bradley_terry])
        number = np.full(10, votes)
        return scores, MeanDraws(ratings[order], ranking.draws[:, order], number, 0, number)

    truth = float(np.corrcoef(MODELS, strengths)[0, 1])
    return Setting(f"10 models, {votes} votes", truth, study)


def percentiles(first: Floats, second: Floats) -> tuple[float, float]:
    """Plain percentile bounds of Pearson's r."""
    rows = zip(*np.broadcast_arrays(first, second), strict=True)
    low, high = np.quantile([np.corrcoef(x, y)[0, 1] for x, y in rows], [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    settings = [of_intents(spread, off) for spread in (1, 0.5, 0.25) for off in (1, 3.5)]
    print(
        "| study | true r | mean r | interval holds it | mean width | plain percentiles hold it |"
    )
    print("|---|---|---|---|---|---|")
    for setting in [*settings, of_models(350), of_models(120)]:
        generator = np.random.default_rng(asked.seed)
        values = []
        widths = []
        held = 0
        plain = 0
        for _ in range(asked.studies):
            first, second = setting.study(generator, asked.rounds)
            found = correlate_means(first, second, clusters=100).pearson
            low, high = percentiles(first.draws, second.draws)
            values.append(found.value)
            widths.append(found.high - found.low)
            held += found.low - 1e-9 <= setting.truth <= found.high + 1e-9
            plain += low <= setting.truth <= high
        shares = f"{held / asked.studies:.1%} | {np.mean(widths):.2f} | {plain / asked.studies:.1%}"
        print(
            f"| {setting.name} | {setting.truth:.2f} | {np.mean(values):.2f} | {shares} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
