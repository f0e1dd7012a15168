"""How many comparisons a ranking needs: uniform, random, adaptive and MAD-selected comparisons.

Table 1 replays the published arena votes (mad/chatbot_arena below URS_INSPECT_DATA_DIR: 7 models,
7,471 votes). Truth is the Bradley-Terry order of all votes. Each run draws a random half of the
votes as its pool, spends comparisons by a rule, and ranks by Bradley-Terry what it has seen. A
ceiling stands below it: an agent that knows how often each model beats each other one, but not
which model is which. Tables 2 and 3 do the same as Table 1 with simulated players.

    python -m benchmarks.sample_efficiency [--arena-runs 400] [--runs 100] [--processes 2]
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from benchmarks import ONE_THREAD, Row

os.environ.update(ONE_THREAD)

import numpy as np

from urs_inspect.discrepancy._allocation import (
    Allocator,
    Standing,
    allocation_names,
    register_allocation,
)
from urs_inspect.discrepancy._lexical import LexicalSimilarity
from urs_inspect.discrepancy._matchmaking import AnswerFilter, word_counts
from urs_inspect.stats._battles import Battles
from urs_inspect.stats._bootstrap import Floats, Integers
from urs_inspect.stats._bradley_terry import fit_bradley_terry

MARKS = (21, 42, 60, 84, 105, 126, 168, 210, 315, 420)
LAMBDA = 1.0
REFERENCE_FILTER = AnswerFilter(max_length_ratio=4.0, min_words=20)
"""That of the MAD paper's reference code."""
OUTCOMES = np.array([0.0, 0.5, 1.0])
Pair = tuple[str, str]
Job = TypeVar("Job")
Found = TypeVar("Found")


def least_certain(standing: Standing) -> Floats:
    """The simple rule to beat: the pair whose order is least sure."""
    return -standing.posterior().certainty(standing.pairs)


@dataclass(frozen=True)
class Votes:
    """Votes on one pair: outcomes for its first model, and what MAD selects by."""

    outcomes: Floats
    response_similarity: Floats
    instruction_similarity: Floats
    kept: np.ndarray


def load_arena(folder: Path) -> dict[Pair, Votes]:
    """Read the arena votes and compare the texts."""
    similarity = LexicalSimilarity()
    arena = {}
    for path in sorted(folder.glob("*-vs-*.jsonl")):
        one, other = path.stem.split("-vs-")
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        outcomes = {one: 1.0, "tie": 0.5, other: 0.0}
        answers = [[row[key] or " " for row in rows] for key in ("response_1", "response_2")]
        vectors = [similarity.encode(texts).astype(np.float64) for texts in answers]
        asked = similarity.encode([row["instruction"] or " " for row in rows]).astype(np.float64)
        arena[one, other] = Votes(
            np.array([outcomes[row["output"]] for row in rows]),
            (vectors[0] * vectors[1]).sum(axis=1),
            asked @ asked.T,
            REFERENCE_FILTER.keeps(word_counts(answers[0]), word_counts(answers[1])),
        )
    return arena


def arena_folder() -> Path:
    """Where the arena votes are, which the package does not download."""
    if not (folder := os.environ.get("URS_INSPECT_DATA_DIR")):
        raise SystemExit(
            "Set URS_INSPECT_DATA_DIR to a folder that has"
            " mad/chatbot_arena/<model>-vs-<model>.jsonl."
        )
    return Path(folder) / "mad" / "chatbot_arena"


def all_votes(arena: dict[Pair, Votes]) -> Battles:
    """All votes, in the order of the files."""
    players = tuple(sorted({name for pair in arena for name in pair}))
    index = {name: place for place, name in enumerate(players)}
    rows = [
        (index[a], index[b], outcome)
        for (a, b), votes in arena.items()
        for outcome in votes.outcomes
    ]
    first, second, outcomes = (np.array(column) for column in zip(*rows, strict=True))
    return Battles(players, first, second, outcomes, np.arange(len(rows)))


def mad_order(votes: Votes, items: Integers) -> Integers:
    """Items in the order in which Eq. (2) chooses them."""
    left = votes.response_similarity[items]
    between = votes.instruction_similarity[np.ix_(items, items)]
    nearest = np.zeros(len(items))
    order = []
    for _ in items:
        order.append(int(np.argmin(left + LAMBDA * nearest)))
        left[order[-1]] = np.inf
        nearest = np.maximum(nearest, between[order[-1]])
    return items[order]


@dataclass(frozen=True)
class Method:
    """A rule for pairs and one for the items within a pair."""

    rule: str
    items: str = "random"

    def pool(self, arena: dict[Pair, Votes], draws: np.random.Generator) -> dict[Pair, Floats]:
        """Outcomes of a random half of the votes of each pair, in the order in which they are
        used.
        """
        half = np.split(
            draws.permutation(
                np.arange(total := sum(len(votes.outcomes) for votes in arena.values()))
                < total // 2
            ),
            np.cumsum([len(votes.outcomes) for votes in arena.values()])[:-1],
        )
        pool = {}
        for (pair, votes), drawn in zip(arena.items(), half, strict=True):
            items = draws.permutation(
                np.flatnonzero(drawn & (votes.kept | ("filter" not in self.items)))
            )
            pool[pair] = votes.outcomes[mad_order(votes, items) if "MAD" in self.items else items]
        return pool


METHODS = (
    Method("random"),
    Method("uniform"),
    Method("least certain"),
    Method("adaptive"),
    Method("uniform", "random, filter"),
    Method("adaptive", "random, filter"),
    Method("uniform", "MAD, filter"),
    Method("adaptive", "MAD, filter"),
    Method("uniform", "MAD"),
    Method("adaptive", "MAD"),
)
CONTRASTS = (
    (Method("adaptive"), Method("uniform")),
    (Method("adaptive"), Method("least certain")),
    (Method("adaptive", "random, filter"), Method("adaptive")),
    (Method("adaptive", "MAD"), Method("adaptive")),
    (Method("adaptive", "MAD, filter"), Method("adaptive", "random, filter")),
    (Method("uniform", "random, filter"), Method("uniform")),
    (Method("uniform", "MAD"), Method("uniform")),
    (Method("uniform", "MAD, filter"), Method("uniform", "random, filter")),
)


def replay(
    players: tuple[str, ...],
    rule: str,
    outcome: Callable[[Pair, int], float],
    marks: Sequence[int],
    seed: int,
    items: dict[Pair, int] | None = None,
    confidence: float | None = None,
    rate: Callable[[Battles], Floats] = fit_bradley_terry,
    **options: Any,
) -> Iterator[tuple[int, Floats]]:
    """Compare by a rule, and give ratings at each mark and where the rule stopped.

    Other options are those of `Allocator`.
    """
    allocator = Allocator(
        players,
        rule=rule,
        budget=marks[-1],
        confidence=confidence,
        items=items,
        seed=seed,
        **options,
    )
    index = {name: place for place, name in enumerate(players)}
    rows: list[tuple[int, int, float]] = []
    used: dict[Pair, int] = {}
    while True:
        table = np.array(rows).reshape(-1, 3)
        sides = table[:, :2].astype(np.int64).T
        numbers = np.arange(len(rows))
        battles = Battles(players, sides[0], sides[1], table[:, 2], numbers)
        # After 126 comparisons in batches, as a task does; one more or less does not matter there.
        until_mark = next((mark for mark in marks if mark > len(rows)), len(rows) + 1) - len(rows)
        size = min(until_mark, 1 if len(rows) < 126 else 6)
        allotment = allocator.ask(battles, used, size=size)
        if len(rows) in marks or allotment.stopped:
            yield len(rows), rate(battles)
        if allotment.stopped:
            return
        for pair in allotment.pairs:
            rows.append((index[pair[0]], index[pair[1]], outcome(pair, used.get(pair, 0))))
            used[pair] = used.get(pair, 0) + 1


def kendall(ratings: Floats, truth: Floats) -> float:
    """Kendall's tau to an order without ties; a pair rated equal counts as half right."""
    i, j = np.triu_indices(len(truth), 1)
    return float((np.sign(ratings[i] - ratings[j]) * np.sign(truth[i] - truth[j])).mean())


def arena_run(
    arena: dict[Pair, Votes], truth: Floats, players: tuple[str, ...], job: tuple[Method, int]
) -> list[float]:
    """Tau of one run at each mark."""
    method, seed = job
    pool = sorted_pool(method.pool(arena, np.random.default_rng([7, seed])), players)
    sizes = {pair: len(outcomes) for pair, outcomes in pool.items()}
    curve = replay(
        players, method.rule, lambda pair, place: float(pool[pair][place]), MARKS, seed, sizes
    )
    return [kendall(ratings, truth) for count, ratings in curve if count in MARKS][: len(MARKS)]


def sorted_pool(pool: dict[Pair, Floats], players: tuple[str, ...]) -> dict[Pair, Floats]:
    """The pool with the two models of each pair in the order of the players."""
    return {
        pair: pool[pair] if pair in pool else 1 - pool[pair[1], pair[0]]
        for pair in combinations(players, 2)
    }


class Insider:
    """Knows how often each model beats each other one, and looks for which model is which.

    It keeps the probability of each assignment of models to labels (n! of them, all equal at
    first), compares the pair of labels whose outcome is expected to say most about the assignment,
    and gives the order with the highest expected tau. It spares what every real rule has to spend
    on learning the win rates; its choice of pairs is greedy.

    Args:
        outcomes: How often the first model of a pair lost, tied and won, shape (n, n, 3); half an
            outcome is added to each, so that no outcome is impossible.
        truth: Strengths of the models, without ties, shape (n,).
    """

    def __init__(self, outcomes: Floats, truth: Floats) -> None:
        rates = (outcomes + 0.5) / (outcomes + 0.5).sum(axis=2, keepdims=True)
        assignments = np.array(list(permutations(range(len(truth)))))
        self._first, self._second = np.triu_indices(len(truth), 1)
        first = assignments[:, self._first]
        second = assignments[:, self._second]
        self._above = np.sign(truth[first] - truth[second])
        self._chances = rates[first, second]
        self._logs = np.log(self._chances)
        self._entropies = -(self._chances * self._logs).sum(axis=2)
        self._known = np.zeros(len(assignments))

    @property
    def probabilities(self) -> Floats:
        """Probability of each assignment, in the order of `itertools.permutations`."""
        unscaled = np.exp(self._known - self._known.max())
        return np.asarray(unscaled / unscaled.sum(), dtype=np.float64)

    def see(self, place: int, outcome: float) -> None:
        """Learn how a comparison of the pair at a place came out."""
        self._known = self._known + self._logs[:, place, np.searchsorted(OUTCOMES, outcome)]

    def information(self) -> Floats:
        """Expected information of a comparison of each pair about the assignment, in nats."""
        probabilities = self.probabilities
        expected = np.tensordot(probabilities, self._chances, axes=(0, 0))
        return np.asarray(
            -(expected * np.log(expected)).sum(axis=1) - probabilities @ self._entropies
        )

    def signs(self) -> Floats:
        """Order with the highest expected tau: 1 for each pair whose first label stands above the
        second, else -1.
        """
        return np.asarray(self._above[np.argmax(self._above @ (self.probabilities @ self._above))])


@dataclass(frozen=True)
class Ceiling:
    """What the insider reaches with items of a kind, when it knows the win rates among those that
    come first.
    """

    items: str
    known: int | None = None

    def outcomes(self, arena: dict[Pair, Votes], players: tuple[str, ...]) -> Floats:
        """Losses, ties and wins of each model against each other one in 100 halves that no run
        uses.
        """
        counts = np.zeros((len(players), len(players), len(OUTCOMES)))
        for half in range(100):
            pool = Method("", self.items).pool(arena, np.random.default_rng([13, half]))
            for (one, other), outcomes in sorted_pool(pool, players).items():
                i = players.index(one)
                j = players.index(other)
                found = (outcomes[: self.known, None] == OUTCOMES).sum(axis=0)
                counts[i, j] += found
                counts[j, i] += found[::-1]
        return counts


def ceiling_runs(
    arena: dict[Pair, Votes], truth: Floats, players: tuple[str, ...], job: tuple[Ceiling, range]
) -> list[list[float]]:
    """Tau of each run at each mark."""
    ceiling, seeds = job
    known = ceiling.outcomes(arena, players)
    first, second = np.triu_indices(len(players), 1)
    right = np.sign(truth[first] - truth[second])
    curves: list[list[float]] = []
    for seed in seeds:
        pool = list(
            sorted_pool(
                Method("", ceiling.items).pool(arena, np.random.default_rng([7, seed])), players
            ).values()
        )
        insider = Insider(known, truth)
        used = np.zeros(len(pool), dtype=np.int64)
        left = np.array([len(outcomes) for outcomes in pool])
        curves.append([])
        for count in range(1, MARKS[-1] + 1):
            place = int(np.where(used < left, insider.information(), -np.inf).argmax())
            insider.see(place, pool[place][used[place]])
            used[place] += 1
            if count in MARKS:
                curves[-1].append(float((insider.signs() * right).mean()))
    return curves


CEILINGS = (
    Ceiling("random"),
    Ceiling("random, filter"),
    *(Ceiling(items, known) for items in ("MAD, filter", "MAD") for known in (None, 60, 20)),
)


PROFILES: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "evenly spaced, 3 wide": lambda n, draws: np.linspace(-1.5, 1.5, n)[draws.permutation(n)],
    "normal, deviation 1": lambda n, draws: draws.standard_normal(n),
    "close, deviation 0.3": lambda n, draws: 0.3 * draws.standard_normal(n),
    "two groups, 2 apart": (
        lambda n, draws: np.where(np.arange(n) < n // 2, -1, 1) + 0.25 * draws.standard_normal(n)
    ),
    "wide, deviation 3": lambda n, draws: 3 * draws.standard_normal(n),
}


def names_of(players: int) -> tuple[str, ...]:
    """Names of simulated players."""
    return tuple(f"player {number:02}" for number in range(players))


def davidson(
    names: tuple[str, ...], strengths: Floats, ties: float, draws: np.random.Generator
) -> Callable[[Pair, int], float]:
    """Outcomes of Davidson (1970) players: ties as often as `ties` between equals, less often the
    further apart.
    """
    nu = 2 * ties / (1 - ties)  # a share t of ties between equals is nu / (2 + nu)

    def outcome(pair: Pair, place: int) -> float:
        gap = strengths[names.index(pair[0])] - strengths[names.index(pair[1])]
        chances = np.array([np.exp(gap / 2), nu, np.exp(-gap / 2)])
        return float(draws.choice([1.0, 0.5, 0.0], p=chances / chances.sum()))

    return outcome


@dataclass(frozen=True)
class Simulated:
    """Players as in `davidson`."""

    profile: str
    players: int
    ties: float
    budget: int
    confidence: float | None = None

    def run(self, rule: str, seed: int) -> tuple[float, float, float]:
        """Tau at the end, comparisons spent, and share of neighbours in the found order who stand
        right.
        """
        draws = np.random.default_rng([11, seed])
        strengths = PROFILES[self.profile](self.players, draws)
        names = names_of(self.players)
        outcome = davidson(names, strengths, self.ties, draws)
        *_, (spent, ratings) = replay(
            names, rule, outcome, (self.budget,), seed, confidence=self.confidence
        )
        found = strengths[np.argsort(-ratings, kind="stable")]
        return kendall(ratings, strengths), float(spent), float((np.diff(found) < 0).mean())


SIMULATED = [
    *(
        Simulated(profile, n, ties, budget)
        for n, budget in ((4, 36), (8, 112))
        for profile in PROFILES
        for ties in (0.0, 0.3)
    ),
    *(
        Simulated(profile, 20, 0.3, 380)
        for profile in ("normal, deviation 1", "two groups, 2 apart")
    ),
]
STOPPING = [
    Simulated(profile, n, ties, 600, confidence)
    for n in (4, 7)
    for profile in ("evenly spaced, 3 wide", "wide, deviation 3")
    for ties in (0.0, 0.3)
    for confidence in (0.9, 0.95)
]  # fmt: skip


def simulated_run(job: tuple[Simulated, str, int]) -> tuple[float, float, float]:
    """One run of simulated players."""
    setting, rule, seed = job
    return setting.run(rule, seed)


def mean_and_error(values: Sequence[float], form: str = ".3f") -> str:
    """Mean with its standard error."""
    return f"{np.mean(values):{form}} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def print_row(cells: Sequence[object]) -> None:
    """One row of a Markdown table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def print_header(cells: Sequence[object]) -> None:
    """First two rows of a Markdown table."""
    print_row(cells)
    print("|" + "---|" * len(cells))


def print_arena(seeds: range, workers: "Workers") -> None:
    """Table 1."""
    arena = load_arena(arena_folder())
    votes = all_votes(arena)
    players = votes.players
    truth = fit_bradley_terry(votes)
    order = [players[place] for place in np.argsort(-truth)]
    print(f"{len(votes)} votes, {len(arena)} pairs. Order of all votes: {', '.join(order)}.")
    kept = sum(int(votes.kept.sum()) for votes in arena.values())
    print(f"The filter (lengths below 4 to 1, more than 20 words) keeps {kept} votes.")
    print(f"{len(seeds)} runs, seeds {seeds[0]} to {seeds[-1]}.\n")
    jobs = [(method, seed) for method in METHODS for seed in seeds]
    found = workers(partial(arena_run, arena, truth, players), jobs)
    taus = np.array(found).reshape(len(METHODS), len(seeds), len(MARKS))
    for title, cell in (
        ("tau", mean_and_error),
        ("exact order, %", lambda values: f"{100 * np.mean(np.array(values) > 1 - 1e-9):.0f}"),
    ):
        print_header(["pairs", f"items ({title})", *MARKS])
        for method, curves in zip(METHODS, taus, strict=True):
            print_row([method.rule, method.items, *(cell(list(column)) for column in curves.T)])
        print()
    print_header(["tau of", "less tau of (same halves)", *MARKS])
    for one, other in CONTRASTS:
        gains = taus[METHODS.index(one)] - taus[METHODS.index(other)]
        names = [f"{method.rule}, {method.items}" for method in (one, other)]
        print_row([*names, *(mean_and_error(list(column), "+.3f") for column in gains.T)])
    print()
    print_header(["items (tau, win rates known)", "votes of a pair that the rates are of", *MARKS])
    parts = [
        range(seeds.start, seeds.stop)[place : place + 50] for place in range(0, len(seeds), 50)
    ]
    pieces = workers(
        partial(ceiling_runs, arena, truth, players),
        [(one, part) for one in CEILINGS for part in parts],
    )
    for place, ceiling in enumerate(CEILINGS):
        curves = np.concatenate(pieces[place * len(parts) : (place + 1) * len(parts)])
        known = f"first {ceiling.known}" if ceiling.known else "all"
        print_row([ceiling.items, known, *(mean_and_error(list(column)) for column in curves.T)])
    print()


def print_simulated(runs: int, workers: "Workers") -> None:
    """Table 2."""
    rules = ("uniform", "random", "least certain", "adaptive")
    print_header(["players", "strengths", "ties between equals", "comparisons", *rules])
    for setting in SIMULATED:
        count = runs if setting.players < 20 else max(2, runs // 5)
        found = workers(
            simulated_run, [(setting, rule, seed) for rule in rules for seed in range(count)]
        )
        taus = np.array([tau for tau, _, _ in found]).reshape(len(rules), count)
        cells = [mean_and_error(list(row)) for row in taus]
        print_row([setting.players, setting.profile, f"{setting.ties:.0%}", setting.budget, *cells])
    print()


def print_stopping(runs: int, workers: "Workers") -> None:
    """Table 3."""
    print_header(["players", "strengths", "ties between equals", "confidence", "spent (mean)", "hit the budget, %",
                  "neighbours right, % (± error)", "all right, %"])  # fmt: skip
    for setting in STOPPING:
        found = workers(simulated_run, [(setting, "adaptive", seed) for seed in range(runs)])
        spent = np.array([one[1] for one in found])
        right = np.array([one[2] for one in found])
        error = right.std(ddof=1) / np.sqrt(len(right))
        print_row([setting.players, setting.profile, f"{setting.ties:.0%}", setting.confidence, f"{spent.mean():.0f}",
                   f"{100 * (spent >= setting.budget).mean():.0f}", f"{100 * right.mean():.1f} ± {100 * error:.1f}",
                   f"{100 * (right == 1).mean():.0f}"])  # fmt: skip


def ratios(*, quick: bool) -> list[Row]:
    """Share of pairs of models left in the wrong order by adaptive allocation over those of uniform
    allocation.
    """
    simulation = Simulated("evenly spaced, 3 wide", 7, 0.3, 126)
    budgets = simulation.budget
    runs = 10 if quick else 60
    size = f"{budgets} comparisons of 7 {{}} players, {runs} runs"

    def wrong(taus: Sequence[float]) -> float:
        return float(50 * (1 - np.mean(taus)))

    def row(size: str, adaptive: Sequence[float], uniform: Sequence[float]) -> Row:
        costs = wrong(adaptive), wrong(uniform)
        return Row("sample efficiency: adaptive", size, *costs, "uniform allocation", "% wrong")

    adaptive, uniform = (
        [simulation.run(rule, seed)[0] for seed in range(runs)] for rule in ("adaptive", "uniform")
    )
    rows = [row(f"{size.format('simulated')}", adaptive, uniform)]
    if os.environ.get("URS_INSPECT_DATA_DIR"):
        arena = load_arena(arena_folder())
        votes = all_votes(arena)
        run = partial(arena_run, arena, fit_bradley_terry(votes), votes.players)
        at = MARKS.index(budgets)
        methods = (Method("adaptive"), Method("uniform"))
        found = [[run((method, 1000 + seed))[at] for seed in range(runs)] for method in methods]
        rows.append(row(f"{size.format('arena')}, published votes", *found))
    return rows


class Workers:
    """Runs jobs in several processes, results in order."""

    def __init__(self, processes: int) -> None:
        if "least certain" not in allocation_names():  # not when this file is imported, as tests do
            register_allocation("least certain", least_certain)
        self._pool = get_context("fork").Pool(processes)

    def __call__(self, work: Callable[[Job], Found], jobs: Sequence[Job]) -> list[Found]:
        """Results of all jobs."""
        return self._pool.map(work, jobs, chunksize=max(1, min(25, len(jobs) // 8)))

    def close(self) -> None:
        """End the processes."""
        self._pool.close()
        self._pool.join()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arena-runs", type=int, default=400, help="runs of each row of Table 1")
    parser.add_argument("--first-seed", type=int, default=1000, help="first seed of Table 1")
    parser.add_argument("--runs", type=int, default=100, help="runs of each row of Tables 2 and 3")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tables", default="123")
    options = parser.parse_args()
    workers = Workers(options.processes)
    seeds = range(options.first_seed, options.first_seed + options.arena_runs)
    tables = {
        "1": partial(print_arena, seeds),
        "2": partial(print_simulated, options.runs),
        "3": partial(print_stopping, options.runs),
    }
    print_tables(tables, options.tables, workers)


def print_tables(
    tables: Mapping[str, Callable[["Workers"], None]], wanted: str, workers: "Workers"
) -> None:
    """Print the wanted tables, and the time they took."""
    begun = perf_counter()
    for number in sorted(tables.keys() & set(wanted)):
        print(f"\nTable {number}\n")
        tables[number](workers)
    workers.close()
    spent = os.times()
    print(
        f"\n{perf_counter() - begun:.0f} s, {spent.user + spent.children_user:.0f} s of CPU",
        flush=True,
    )


if __name__ == "__main__":
    main()
