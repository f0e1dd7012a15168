"""How often `compare` claims what is not so, and how often its intervals hold the truth, in
simulations.

Two models answer the same questions. Questions are of differing difficulty; those of one cluster
share a part of it, and a part of how well each model does on them, so that differences within a
cluster are alike. Scores are right or wrong (1 or 0), or whole numbers from 1 to 10. In one half of
the simulations the models are equal, in the other one is better. What is computed is what `compare`
computes: the same functions on the same kind of table.

Run from the repository: python -m benchmarks.compare_coverage [--simulations 2000] [--seed 0]
[--rounds 1000] With --power it prints instead how often the smallest difference that is seen at 80%
is significant.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from urs_inspect.reports.numbers._scores import ALL, ScoreTable, compare_models, order_models
from urs_inspect.stats._bootstrap import Resampling
from urs_inspect.stats._paired import paired_p_values
from urs_inspect.stats._power import smallest_difference

QUESTIONS = (20, 100, 1000)
SIZES = ("1", "5", "30", "1 to 59")
BETTER = 0.35
"""How much better one model is where one is, in standard deviations of a latent score."""
_TRUTH = 400_000


def cluster_of(questions: int, size: str, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Number of each question's cluster."""
    if size == "1 to 59":
        sizes = generator.integers(1, 60, size=questions)
        return np.repeat(np.arange(questions), sizes)[:questions]
    return np.arange(questions) // int(size)


def draw(
    clusters: npt.NDArray[np.int64], kind: str, better: float, generator: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Scores of two models, shape (questions, 2)."""
    number = int(clusters.max()) + 1
    shared = 0.7 * generator.normal(size=(number, 1)) + 0.4 * generator.normal(size=(number, 2))
    latent = (
        shared[clusters]
        + 0.7 * generator.normal(size=(len(clusters), 1))
        + generator.normal(size=(len(clusters), 2))
    )
    latent[:, 0] += better
    if kind == "0 or 1":
        return (latent > -0.5).astype(float)
    return np.clip(np.round(7 + 2 * latent), 1, 10)


def table_of(
    scores: npt.NDArray[np.float64], clusters: npt.NDArray[np.int64], kind: str
) -> ScoreTable:
    """The scores as `compare` has them."""
    facts = pd.DataFrame({"cluster": [f"c{number:04}" for number in clusters]})
    nothing = np.zeros(scores.shape, dtype=np.int64)
    return ScoreTable(
        facts,
        ("a", "b"),
        scores,
        {},
        nothing + 1,
        nothing,
        (0.0, 1.0) if kind == "0 or 1" else (1.0, 10.0),
    )


def simulate(
    questions: int,
    size: str,
    kind: str,
    better: float,
    truth: float,
    simulations: int,
    rounds: int,
    seed: int,
) -> dict[str, float]:
    """Shares of simulations with a significant difference, with an interval, and with one that
    holds the truth.
    """
    claims = held = given = 0
    for number in range(simulations):
        generator = np.random.default_rng(
            [seed, number, questions, len(size), len(kind), int(better > 0)]
        )
        clusters = cluster_of(questions, size, generator)
        scores = draw(clusters, kind, better, generator)
        ordered = order_models(table_of(scores, clusters, kind))
        tested, _ = compare_models(
            ordered, {ALL: np.arange(questions)}, Resampling(rounds, 0.95, number)
        )
        [pair] = tested[ALL]
        sign = 1 if ordered.table.models[pair.first] == "a" else -1
        claims += pair.significant
        given += not np.isnan(pair.difference.low)
        held += bool(pair.difference.low <= sign * truth <= pair.difference.high)
    return {
        "claims": claims / simulations,
        "given": given / simulations,
        "coverage": held / given if given else np.nan,
    }


def rows(simulations: int, rounds: int, seed: int) -> Iterator[dict[str, Any]]:
    """One row per setting, the models equal and one of them better."""
    for kind in ("0 or 1", "1 to 10"):
        large = draw(np.arange(_TRUTH), kind, BETTER, np.random.default_rng(seed)).mean(axis=0)
        for size in SIZES:
            for questions in QUESTIONS:
                if size in ("30", "1 to 59") and questions < 100:
                    continue  # one cluster
                equal = simulate(questions, size, kind, 0.0, 0.0, simulations, rounds, seed)
                other = simulate(
                    questions, size, kind, BETTER, large[0] - large[1], simulations, rounds, seed
                )
                yield {
                    "Scores": kind,
                    "Questions of a cluster": size,
                    "Questions": f"{questions:,}",
                    "False claims, models equal": f"{equal['claims']:.1%}",
                    "Coverage, equal": _percent(equal["coverage"]),
                    "Coverage, one better": _percent(other["coverage"]),
                    "With an interval": f"{min(equal['given'], other['given']):.0%}",
                    "Found, one better": f"{other['claims']:.0%}",
                }


def power_rows(simulations: int, seed: int) -> Iterator[dict[str, str]]:
    """How often a true difference of `smallest_difference`, for the true standard error, is
    significant.

    Of scores of two values, the error is that of equal models; where the difference is above the
    share of samples that differ between these, so many differ, all to the same side.
    """
    generator = np.random.default_rng(seed)
    shapes: dict[str, Callable[[tuple[int, int]], Any]] = {
        "normal": generator.standard_normal,
        "even": lambda size: 12**0.5 * (generator.random(size) - 0.5),
        "exponential, tail to losses": lambda size: 1 - generator.exponential(size=size),
    }
    settings = [
        (name, clusters, 1.0) for name in shapes for clusters in (6, 7, 8, 10, 12, 13, 20, 50)
    ]
    settings += [
        (f"0 or 1, {q:.0%} differ", n, q) for n in (10, 20, 50, 200) for q in (0.1, 0.2, 0.4, 0.6)
    ]
    for name, clusters, share in settings:
        row = {"Differences": name, "Clusters": str(clusters)}
        for tests in (1, 3):
            size = smallest_difference((share / clusters) ** 0.5, clusters, tests=tests)
            shape = (clusters, simulations)
            none = np.isnan(size) or (size > 1 and name not in shapes)
            if name in shapes:
                drawn = shapes[name](shape) + size
            else:
                there = max(share, size)
                place = generator.random(shape)
                drawn = (place < (there + size) / 2).astype(float) - (
                    place > 1 - (there - size) / 2
                )
            power = (paired_p_values(drawn) * tests < 0.05).mean()
            row[f"Seen, k = {tests}"] = "none" if none else f"{size:.2f}"
            row[f"Power, k = {tests}"] = "–" if none else f"{power:.1%}"
        yield row


def _percent(share: float) -> str:
    return "none" if np.isnan(share) else f"{share:.1%}"


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--power", action="store_true")
    given = parser.parse_args()
    first = True
    seed = given.seed
    for row in (
        power_rows(given.simulations, seed)
        if given.power
        else rows(given.simulations, given.rounds, seed)
    ):
        if first:
            print(f"| {' | '.join(row)} |\n|{'---|' * len(row)}")
            first = False
        print(f"| {' | '.join(row.values())} |", flush=True)


if __name__ == "__main__":
    main()
