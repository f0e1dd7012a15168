"""A judge's ratings as a prior for people's votes: what they save, what a bad judge costs, and
coverage.

Table 1 replays the arena votes as Table 1 of sample_efficiency.py does (7 models, 7,471 votes;
pools are random halves in the order of Eq. 2; adaptive allocation). The judge has given a verdict
on the answers of every vote. `longest` is real: the longer answer wins. All others are simulated:
`fair` ones copy the vote with probability 0.3 and else follow Bradley-Terry with the strengths of
all votes, each model shifted by a normal draw of the stated deviation. They err independently of
the answers, and partly copy the very votes that define the truth, so their rows are upper bounds.
Table 2 does the same with simulated players. Table 3 has the coverage of the credible intervals of
`urs-inspect rank --prior`.

    URS_INSPECT_DATA_DIR=DIR python -m benchmarks.judge_prior [--tables 123] [--first-seed 2000]
    [--runs 400]
"""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.sample_efficiency import (
    PROFILES,
    Method,
    Pair,
    Votes,
    Workers,
    all_votes,
    arena_folder,
    davidson,
    kendall,
    load_arena,
    mean_and_error,
    names_of,
    print_header,
    print_row,
    print_tables,
    replay,
    sorted_pool,
)

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np

from urs_inspect.adjusting._judge_prior import JudgePrior, rank_with_prior
from urs_inspect.discrepancy._allocation import Standing, register_allocation
from urs_inspect.stats._battles import Battles
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._bradley_terry import fit_bradley_terry

MARKS = (15, 30, 60, 84, 126, 210)


@dataclass(frozen=True)
class Judge:
    """A judge of the arena votes."""

    name: str
    shift: float = 0.0  # deviation of its shifts of models
    copied: float = 0.0  # share of votes that it copies
    per_pair: int | None = None  # verdicts of each pair; None for all votes
    runs: float = 1.0  # share of the runs

    def verdicts(self, arena: "Arena", seed: int) -> Battles:
        """Its verdicts."""
        draws = np.random.default_rng([17, seed, round(100 * self.shift), round(100 * self.copied)])
        votes, size = arena.votes, len(arena.votes)
        if self.name == "longest":
            outcomes = arena.longest
        elif self.name == "coin":
            outcomes = draws.integers(0, 2, size).astype(np.float64)
        else:
            strengths = arena.strengths + draws.normal(0, self.shift, len(arena.strengths))
            chance = 1 / (1 + np.exp(strengths[votes.second] - strengths[votes.first]))
            own = (draws.random(size) < chance).astype(np.float64)
            outcomes = np.where(draws.random(size) < self.copied, votes.outcome, own)
            outcomes = 1 - outcomes if self.name == "reversed" else outcomes
        judged = Battles(votes.players, votes.first, votes.second, outcomes, votes.clusters)
        if self.per_pair is None:
            return judged
        kept = draws.permutation(size)
        pairs = np.minimum(votes.first, votes.second) * len(votes.players) + np.maximum(
            votes.first, votes.second
        )
        return judged.take(
            np.concatenate(
                [kept[pairs[kept] == pair][: self.per_pair] for pair in np.unique(pairs)]
            )
        )


JUDGES = (
    Judge("fair", 0.4, 0.3),
    Judge("fair", 0.8, 0.3),
    Judge("longest"),
    Judge("fair", 0.4, 0.3, per_pair=10, runs=0.25),
    Judge("fair", 0.8, 0.3, per_pair=10, runs=0.25),
    Judge("longest", per_pair=10, runs=0.25),
    Judge("fair", 1.2, runs=0.25),
    Judge("coin", runs=0.25),
    Judge("reversed", 0.4, 0.3, runs=0.25),
)


@dataclass(frozen=True)
class Arena:
    """The arena votes, and what longer answers would have won."""

    pools: dict[Pair, Votes]
    votes: Battles
    longest: Floats
    truth: Floats  # ratings by all votes
    strengths: Floats  # the same in natural units, of mean 0

    @classmethod
    def load(cls) -> "Arena":
        """Read the votes."""
        pools = load_arena(arena_folder())
        lines = [
            line
            for path in sorted(arena_folder().glob("*-vs-*.jsonl"))
            for line in path.open(encoding="utf-8")
        ]
        lengths = np.array(
            [[len(json.loads(line)[key]) for key in ("response_1", "response_2")] for line in lines]
        )
        votes = all_votes(pools)
        truth = fit_bradley_terry(votes)
        strengths = np.asarray((truth - truth.mean()) * np.log(10) / 400)
        return cls(
            pools, votes, 0.5 + 0.5 * np.sign(lengths[:, 0] - lengths[:, 1]), truth, strengths
        )


def with_prior(prior: JudgePrior, weights: list[float]) -> dict[str, Any]:
    """Options of `replay` with a judge as prior; its weights at the marks are collected."""

    def rate(battles: Battles) -> Floats:
        belief = prior.belief(battles)
        weights.append(belief.weight)
        return belief.expected

    return {"belief": prior.belief, "rate": rate}


def arena_run(arena: Arena, job: tuple[Judge | None, int]) -> list[list[float]]:
    """Tau at each mark, weights there, and agreement and tau of the judge itself."""
    judge, seed = job
    players = arena.votes.players
    weights = list[float]()
    own = list[float]()
    options = dict[str, Any]()
    pool = sorted_pool(
        Method("", "MAD").pool(arena.pools, np.random.default_rng([7, seed])), players
    )
    sizes = {pair: len(outcomes) for pair, outcomes in pool.items()}
    if judge is not None:
        verdicts = judge.verdicts(arena, seed)
        decided = arena.votes.outcome != 0.5
        prior = JudgePrior.of(verdicts)
        options = with_prior(prior, weights)
        agrees = (
            np.nan if judge.per_pair else (verdicts.outcome == arena.votes.outcome)[decided].mean()
        )
        own = [float(agrees), kendall(prior.strengths, arena.truth)]
    curve = replay(
        players, "adaptive", lambda pair, n: float(pool[pair][n]), MARKS, seed, sizes, **options
    )
    return [[kendall(ratings, arena.truth) for _, ratings in curve], weights, own]


def print_arena(seeds: range, workers: Workers) -> None:
    """Table 1."""
    arena = Arena.load()
    print(
        f"{len(seeds)} runs, seeds {seeds[0]} to {seeds[-1]}; a quarter of them for rows with"
        " 'quarter'.\n"
    )
    alone = np.array(
        [run[0] for run in workers(partial(arena_run, arena), [(None, seed) for seed in seeds])]
    )
    print_header(["judge", "verdicts", "agrees, %", "judge alone", *MARKS])
    print_row(["none", "", "", "", *(mean_and_error(list(column)) for column in alone.T)])
    for judge in JUDGES:
        count = round(judge.runs * len(seeds))
        runs = workers(partial(arena_run, arena), [(judge, seed) for seed in seeds[:count]])
        taus, weights, own = (np.array([run[part] for run in runs]) for part in range(3))
        name = f"{judge.name}, shifts {judge.shift}" if judge.shift else judge.name
        about = [
            f"{name}, quarter" if judge.runs < 1 else name,
            judge.per_pair or "all",
            f"{100 * own[:, 0].mean():.0f}",
        ]
        print_row(
            [
                *about,
                f"{own[:, 1].mean():.3f}",
                *(mean_and_error(list(column)) for column in taus.T),
            ]
        )
        gains = taus - alone[:count]
        print_row(
            [
                "",
                "",
                "",
                "less votes alone",
                *(mean_and_error(list(column), "+.3f") for column in gains.T),
            ]
        )
        print_row(
            [
                "",
                "",
                "",
                "weight of the judge",
                *(f"{weight:.2f}" for weight in weights.mean(axis=0)),
            ]
        )
    print()


@dataclass(frozen=True)
class Simulated:
    """Davidson players, a tie in 30% of comparisons between equals, and a judge with ten verdicts
    per pair.
    """

    profile: str
    players: int
    marks: tuple[int, ...]
    runs: float = 1.0


def simulated_run(job: tuple[Simulated, float | None, int]) -> list[float]:
    """Tau at each mark: votes alone if there is no shift, and with a judge of unrelated strengths
    if infinite.
    """
    setting, shift, seed = job
    draws = np.random.default_rng([19, seed])
    strengths = PROFILES[setting.profile](setting.players, draws)
    names = names_of(setting.players)
    options = (
        {} if shift is None else with_prior(simulated_prior(strengths, shift, names, draws), [])
    )
    outcome = davidson(names, strengths, 0.3, draws)
    curve = replay(names, "adaptive", outcome, setting.marks, seed, **options)
    return [kendall(ratings, strengths) for _, ratings in curve]


def simulated_prior(
    strengths: Floats,
    shift: float,
    names: tuple[str, ...],
    draws: np.random.Generator,
    per_pair: int = 10,
) -> JudgePrior:
    """A judge that sees the models with shifts of a deviation; if it is infinite, in an order of
    its own.
    """
    seen = (
        draws.permutation(strengths)
        if np.isinf(shift)
        else strengths + draws.normal(0, shift, len(strengths))
    )
    first, second = (np.repeat(side, per_pair) for side in np.triu_indices(len(names), 1))
    wins = (draws.random(len(first)) < 1 / (1 + np.exp(seen[second] - seen[first]))).astype(
        np.float64
    )
    return JudgePrior.of(Battles(names, first, second, wins, np.arange(len(first))))


SIMULATED = [
    Simulated(profile, n, (budget // 3, budget), share)
    for n, budget, share in ((4, 36, 1), (8, 112, 1), (20, 378, 0.2))
    for profile in (
        "close, deviation 0.3",
        "normal, deviation 1",
        "two groups, 2 apart",
        "wide, deviation 3",
    )
]
SHIFTS = (None, 0.4, 0.8, np.inf)


def print_simulated(runs: int, workers: Workers) -> None:
    """Table 2."""
    names = ["votes alone", "shifts 0.4", "shifts 0.8", "unrelated order"]
    print_header(["players", "strengths", "votes", *names])
    for setting in SIMULATED:
        count = max(2, round(setting.runs * runs))
        found = workers(
            simulated_run,
            [(setting, shift, seed) for shift in SHIFTS for seed in range(3000, 3000 + count)],
        )
        taus = np.array(found).reshape(len(SHIFTS), count, len(setting.marks))
        for place, mark in enumerate(setting.marks):
            cells = [mean_and_error(list(row[:, place])) for row in taus]
            print_row([setting.players, setting.profile, mark, *cells])
    print()


def in_turn(standing: Standing) -> Floats:
    """All pairs in turn, in the order of their names."""
    return -standing.asked - np.arange(len(standing.pairs)) / len(standing.pairs)


register_allocation("in turn", in_turn)


def coverage_run(job: tuple[int, int, float, str, int]) -> list[float]:
    """Shares of ratings and ranks inside their intervals, whether all are, and width of the
    interval of a rating.
    """
    players, votes, shift, rule, seed = job
    draws = np.random.default_rng([23, seed])
    strengths = draws.standard_normal(players)
    strengths -= strengths.mean()
    names = names_of(players)
    prior = simulated_prior(strengths, shift, names, draws)
    votes_cast: list[Battles] = []

    def outcome(pair: Pair, place: int) -> float:
        gap = strengths[names.index(pair[0])] - strengths[names.index(pair[1])]
        return float(draws.random() < 1 / (1 + np.exp(-gap)))

    def rate(battles: Battles) -> Floats:
        votes_cast.append(battles)
        return prior.strengths

    list(replay(names, rule, outcome, (votes,), seed, belief=prior.belief, rate=rate))
    ranked = rank_with_prior(votes_cast[-1], prior, rounds=1000, seed=seed)
    points = dict(zip(names, 1000 + strengths * 400 / np.log(10), strict=True))
    ordered = np.array([points[name] for name in ranked.players])
    ranks = 1 + (ordered[:, None] < ordered).sum(axis=1)
    held = [
        rating.low <= point <= rating.high
        for point, rating in zip(ordered, ranked.ratings, strict=True)
    ]
    places = [
        place.low <= true <= place.high for true, place in zip(ranks, ranked.ranks, strict=True)
    ]
    width = np.mean([rating.high - rating.low for rating in ranked.ratings])
    right = np.mean(np.diff(ordered) < 0)
    promised = np.mean(ranked.certainty)
    return [
        float(value)
        for value in (np.mean(held), np.mean(places), width, ranked.weight, right, promised)
    ]


COVERAGE = [
    *(
        (n, votes, shift, "in turn")
        for n, votes in ((4, 36), (7, 60), (7, 210))
        for shift in (0, 0.4, 0.7, 1, np.inf)
    ),
    *((7, 60, shift, "adaptive") for shift in (0.4, 0.7, np.inf)),
]


def print_coverage(runs: int, workers: Workers) -> None:
    """Table 3."""
    print_header(["players", "votes", "pairs", "shifts of the judge", "weight of the judge", "width, Elo points",
                  "ratings held, %", "ranks held, %", "neighbours right, %", "as promised, %"])  # fmt: skip
    for players, votes, shift, rule in COVERAGE:
        found = np.array(
            workers(
                coverage_run,
                [(players, votes, shift, rule, seed) for seed in range(4000, 4000 + runs)],
            )
        )
        held, ranks, width, weight, right, promised = found.mean(axis=0)
        error = 100 * found[:, 0].std(ddof=1) / np.sqrt(runs)
        print_row([players, votes, rule, "unrelated order" if np.isinf(shift) else shift, f"{weight:.2f}",
                   f"{width:.0f}", f"{100 * held:.1f} ± {error:.1f}", f"{100 * ranks:.1f}", f"{100 * right:.1f}",
                   f"{100 * promised:.1f}"])  # fmt: skip
    print()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400, help="runs of each row of Table 1")
    parser.add_argument("--first-seed", type=int, default=2000, help="first seed of Table 1")
    parser.add_argument(
        "--simulated-runs", type=int, default=50, help="runs of each row of Table 2"
    )
    parser.add_argument(
        "--simulations", type=int, default=1000, help="simulations of each row of Table 3"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tables", default="123")
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.runs)
    tables = {
        "1": partial(print_arena, seeds),
        "2": partial(print_simulated, options.simulated_runs),
        "3": partial(print_coverage, options.simulations),
    }
    print_tables(tables, options.tables, Workers(options.processes))


if __name__ == "__main__":
    main()
