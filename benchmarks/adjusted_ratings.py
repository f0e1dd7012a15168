"""Ratings alone, corrected by a judge, and at equal length: coverage of intervals, the arena votes,
and time.

Tables `plain`, `corrected` and `controlled` simulate competitions with known strengths and count
how often the intervals hold them; `plain` compares percentiles as they are with expanded ones.
Table `arena` uses the published arena votes (mad/chatbot_arena below URS_INSPECT_DATA_DIR: 7
models, 7,471 votes) with judges of which all but `longest` are simulated: they copy the person's
vote with some chance, else they vote by Bradley-Terry with strengths that are shifted for each
model; they err around the very votes that define the truth, so that their rows are upper bounds.
Table `length` compares Bradley-Terry with and without the length of the answers, by 10-fold
cross-validation. Table `ranks` counts the intervals of ranks that hold the rank of their model, and
the tables of which all do. Prints tables in Markdown.

    python benchmarks/adjusted_ratings.py [plain ranks corrected controlled arena length speed]
    [--simulations 1000]
        [--seed 0]
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np

from urs_inspect.adjusting._adjusted import (
    JudgedBallots,
    design_of,
    rank_controlled,
    rank_corrected,
    style_differences,
)
from urs_inspect.discrepancy._allocation import Allocator
from urs_inspect.stats._battles import Battle, Battles, battles_of
from urs_inspect.stats._bootstrap import Estimate, Floats, Integers, Resampling, percentile_bounds
from urs_inspect.stats._bradley_terry import bootstrap_bradley_terry, fit_bradley_terry
from urs_inspect.stats._ranking import Places, place
from urs_inspect.stats._style import fit_design

POINTS = 400 / np.log(10)


def chances(gaps: Floats) -> Floats:
    """Chances of winning by differences of strength."""
    return np.asarray(1 / (1 + np.exp(-gaps)))


def votes_of(chance: Floats, draws: np.random.Generator) -> Floats:
    """Outcomes with these expectations, a quarter of those between equals ties."""
    tied = chance * (1 - chance)
    drawn = draws.random(len(chance))
    return np.where(drawn < chance - tied / 2, 1.0, np.where(drawn < chance + tied / 2, 0.5, 0.0))


def _header(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}"


@dataclass(frozen=True)
class Study:
    """A kind of competition with people and a judge."""

    models: int
    spread: float  # strengths from -spread to spread, natural units
    votes: int
    # random, uneven (gamma-distributed shares of the pairs), adaptive, extreme (largest verdicts
    # first)
    voting: str
    copied: float  # chance that the judge copies the vote
    bias: float  # standard deviation of its shift per model
    shared: int = 1  # ballots of one instruction, on which people's opinions are correlated
    ballots: int = 60  # per pair


STUDIES = (
    Study(7, 1.2, 60, "random", 0.5, 0.4),
    Study(7, 1.2, 60, "random", 0.0, 0.8),
    Study(7, 1.2, 60, "uneven", 0.5, 0.4),
    Study(7, 1.2, 120, "uneven", 0.5, 0.4),
    Study(7, 1.2, 210, "random", 0.5, 0.8),
    Study(7, 1.2, 210, "uneven", 0.7, 0.4),
    Study(7, 1.2, 500, "uneven", 0.5, 0.4),
    Study(4, 0.6, 60, "random", 0.5, 0.4),
    Study(20, 1.2, 200, "random", 0.5, 0.4),
    Study(20, 1.2, 500, "uneven", 0.5, 0.4),
    Study(7, 1.2, 210, "random", 0.5, 0.4, shared=3),
    Study(7, 1.2, 120, "adaptive", 0.5, 0.4),
    Study(7, 2.4, 60, "uneven", 0.5, 0.4),
    Study(7, 1.2, 210, "clearest first", 0.7, 0.4),
)


def simulate(study: Study, seed: int) -> tuple[JudgedBallots, Floats]:
    """A competition, and the true strengths."""
    draws = np.random.default_rng([1, seed])
    strengths = np.linspace(study.spread, -study.spread, study.models)
    i, j = np.triu_indices(study.models, 1)
    pair = np.repeat(np.arange(len(i)), study.ballots)
    clusters = draws.permutation(len(pair)) // study.shared
    # An instruction suits some models: normal shifts, and strengths enlarged by as much as these
    # blur the outcomes.
    shift = draws.normal(0, 0.5 if study.shared > 1 else 0, (clusters.max() + 1, study.models))
    larger = np.sqrt(1 + 2 * 0.25 / 1.7**2) if study.shared > 1 else 1.0
    gaps = (
        larger * (strengths[i] - strengths[j])[pair]
        + shift[clusters, i[pair]]
        - shift[clusters, j[pair]]
    )
    people = votes_of(chances(gaps), draws)
    biased = strengths + draws.normal(0, study.bias, study.models)
    own = votes_of(chances((biased[i] - biased[j])[pair]), draws)
    judge = np.where(draws.random(len(pair)) < study.copied, people, own)
    chosen = _voted(study, pair, people, judge, draws)
    voted = np.full(len(pair), np.nan)
    voted[chosen] = people[chosen]
    return (
        JudgedBallots(
            tuple(f"m{n:02}" for n in range(study.models)), i[pair], j[pair], clusters, voted, judge
        ),
        strengths,
    )


def _voted(
    study: Study, pair: Integers, people: Floats, judge: Floats, draws: np.random.Generator
) -> Integers:
    """The ballots that people vote on."""
    if study.voting == "uneven":
        shares = draws.gamma(0.5, size=pair.max() + 1)
        return np.argsort(draws.exponential(size=len(pair)) / shares[pair])[: study.votes]
    order = draws.permutation(len(pair))
    if (
        study.voting == "clearest first"
    ):  # within each pair the ballots on which judge and people agree
        order = order[np.argsort(people[order] != judge[order], kind="stable")]
        place = np.empty(len(pair), dtype=np.int64)
        for number in range(pair.max() + 1):
            mine = order[pair[order] == number]
            place[mine] = np.arange(len(mine))
        return np.argsort(place, kind="stable")[: study.votes]
    return (
        _adaptively(study, pair, people, order)
        if study.voting == "adaptive"
        else order[: study.votes]
    )


def _adaptively(study: Study, pair: Integers, people: Floats, order: Integers) -> Integers:
    names = [f"m{n:02}" for n in range(study.models)]
    left = {number: list(order[pair[order] == number]) for number in range(pair.max() + 1)}
    numbers = {
        (names[a], names[b]): n
        for n, (a, b) in enumerate(zip(*np.triu_indices(study.models, 1), strict=True))
    }
    allocator = Allocator(
        names, rule="adaptive", budget=study.votes, confidence=None, items=study.ballots
    )
    chosen: list[int] = []
    battles: list[Battle] = []
    while len(chosen) < study.votes:
        known = battles_of(battles, names) if battles else None
        asked = Counter((battle.first, battle.second) for battle in battles)
        for one in allocator.ask(known, asked, size=12).pairs:
            ballot = left[numbers[one]].pop()
            chosen.append(ballot)
            battles.append(Battle(*one, float(people[ballot]), str(ballot)))
    return np.array(chosen)


def held(estimates: Sequence[Estimate], truth: Sequence[float]) -> float:
    """Share of the intervals that hold the truth; models on too few instructions have none."""
    pairs = [
        (each, true) for each, true in zip(estimates, truth, strict=True) if not np.isnan(each.low)
    ]
    return (
        float(np.mean([each.low <= true <= each.high for each, true in pairs])) if pairs else np.nan
    )


def plain_table(simulations: int, seed: int) -> Iterator[str]:
    """Coverage of ratings and differences, mean width, significant neighbours: two rules over the
    same resamples.
    """
    rules = ("percentiles", "expanded")
    kinds = ("ratings", "neighbours", "width", "significant")
    yield _header(
        "models", "spread", "votes", *(f"{kind}: {rule}" for kind in kinds for rule in rules)
    )
    for models, spread, shared in (
        (4, 0.6, 1),
        (7, 1.2, 1),
        (4, 0.6, 3),
        (7, 1.2, 3),
        (7, 2.4, 1),
        (7, 0.0, 1),
    ):
        for votes in (30, 60, 210, 1000):
            pairs = models * (models - 1) // 2
            study = Study(models, spread, votes, "random", 0.0, 0.0, shared, -(-votes // pairs))
            rows = [_plain(study, seed * simulations + number) for number in range(simulations)]
            table = np.nanmean(rows, axis=0).reshape(2, 4).T
            table[[0, 1, 3]] *= 100
            figures = [
                f"{part:{'.0f' if kind == 'width' else '.1f'}}"
                for kind, row in zip(kinds, table, strict=True)
                for part in row
            ]
            each = f", {shared} on an instruction" if shared > 1 else ""
            yield f"| {models} | {POINTS * spread:.0f} | {votes:,}{each} | {' | '.join(figures)} |"


def _plain(study: Study, seed: int) -> list[float]:
    """By each rule: coverage of ratings and of true neighbours, mean width, share of significant
    neighbours.
    """
    ballots, strengths = simulate(study, seed)
    battles = ballots.battles(ballots.people)
    truth = dict(zip(battles.players, (1000 + POINTS * strengths).tolist(), strict=True))
    draws = bootstrap_bradley_terry(battles, rounds=1000, seed=seed)
    both = np.vstack([fit_bradley_terry(battles), draws])
    places = place(battles, both, both, Resampling(1000, 0.95, seed))
    found = list[float]()
    for each in (
        _not_expanded(places, draws[:, [battles.players.index(name) for name in places.players]]),
        places,
    ):
        true = [truth[name] for name in each.players]
        width = float(np.nanmean([rating.high - rating.low for rating in each.ratings]))
        significant = float(
            np.mean([gap.verdict == "significantly different" for gap in each.differences])
        )
        found += [held(each.ratings, true), _neighbours_held(each, truth), width, significant]
    return found


def _not_expanded(places: Places, draws: Floats) -> Places:
    """The same with percentiles as they are, from draws in the order of the places."""

    def bounded(estimates: Sequence[Estimate], columns: Floats) -> tuple[Estimate, ...]:
        bounds = zip(estimates, *percentile_bounds(columns), strict=True)
        return tuple(
            one if np.isnan(one.low) else replace(one, low=low, high=high)
            for one, low, high in bounds
        )

    gaps = bounded([gap.estimate for gap in places.differences], -np.diff(draws))
    differences = (
        replace(
            one,
            estimate=gap,
            verdict="significantly different" if gap.low > 0 else "cannot be distinguished",
        )
        for one, gap in zip(places.differences, gaps, strict=True)
    )
    return replace(places, ratings=bounded(places.ratings, draws), differences=tuple(differences))


@dataclass(frozen=True)
class RankStudy:
    """Models at even distances, and votes on an instruction each."""

    models: int
    distance: int  # points between the best and the worst model
    votes: int


RANK_STUDIES = (
    RankStudy(3, 0, 210),
    RankStudy(6, 0, 210),
    RankStudy(6, 0, 1000),
    RankStudy(12, 0, 1000),
    RankStudy(6, 100, 210),
    RankStudy(6, 100, 1000),
)
RANK_TIES = 0.2
RANK_ROUNDS = 300
"""Share of votes that are ties, and number of resamples of the instructions."""


def ranks_table(simulations: int, seed: int) -> Iterator[str]:
    """Share of the intervals of ranks that hold the rank of their model, and of the tables of which
    all do.
    """
    yield _header(
        "models", "distance", "votes", "intervals that hold the rank", "tables of which all do"
    )
    for study in RANK_STUDIES:
        held_ranks = np.array(
            [_ranks_held(study, seed * simulations + number) for number in range(simulations)]
        )
        intervals = held_ranks.mean()
        tables = held_ranks.all(axis=1).mean()
        yield (
            f"| {study.models} | {study.distance} | {study.votes:,} | {intervals:.1%} |"
            f" {tables:.1%} |"
        )


def _ranks_held(study: RankStudy, seed: int) -> list[bool]:
    """Whether the interval of each rank holds the place of its model.

    Equal models are in the order of their names.
    """
    draws = np.random.default_rng([5, seed, study.models, study.distance, study.votes])
    strengths = np.linspace(study.distance, -study.distance, study.models) / 2 / POINTS
    i = draws.integers(study.models, size=study.votes)
    j = (i + draws.integers(1, study.models, size=study.votes)) % study.models
    won = draws.random(study.votes) < chances(strengths[i] - strengths[j])
    outcome = np.where(draws.random(study.votes) < RANK_TIES, 0.5, won)
    names = [f"m{number:02}" for number in range(study.models)]
    battles = Battles(tuple(names), i, j, outcome, np.arange(study.votes))
    resampled = bootstrap_bradley_terry(battles, rounds=RANK_ROUNDS, seed=seed)
    both = np.vstack([fit_bradley_terry(battles), resampled])
    places = place(battles, both, both, Resampling(RANK_ROUNDS, 0.95, seed))
    return [
        rank.low <= names.index(name) + 1 <= rank.high
        for name, rank in zip(places.players, places.ranks, strict=True)
    ]


def corrected_table(simulations: int, seed: int) -> Iterator[str]:
    """Coverage of the ratings corrected by a judge."""
    yield _header(
        "models",
        "spread",
        "votes",
        "voting",
        "judge copies",
        "bias",
        "ratings",
        "differences of true neighbours",
        "error / votes alone",
        "lambda",
        "60 votes are worth",
    )
    for study in STUDIES:
        hits = []
        errors = []
        more = []
        for number in range(simulations):
            ballots, strengths = simulate(study, seed * simulations + number)
            truth = dict(zip(ballots.players, (1000 + POINTS * strengths).tolist(), strict=True))
            found = rank_corrected(ballots, rounds=500, seed=number)
            values = np.array([rating.value for rating in found.places.ratings])
            alone = values - [change.value for change in found.places.extra]
            true = np.array([truth[name] for name in found.places.players])
            hits.append(
                [held(found.places.ratings, true.tolist()), _neighbours_held(found.places, truth)]
            )
            errors.append([((values - true) ** 2).mean(), ((alone - true) ** 2).mean()])
            more.append([found.weight, 60 * found.worth / found.votes])
        (rating, gap), (error, alone), (weight, worth) = (
            np.nanmean(rows, axis=0) for rows in (hits, errors, more)
        )
        shared = f", {study.shared} ballots an instruction" if study.shared > 1 else ""
        yield (
            f"| {study.models} | {POINTS * study.spread:.0f} | {study.votes} |"
            f" {study.voting}{shared} | {study.copied:.0%} | {POINTS * study.bias:.0f} |"
            f" {rating:.1%} | {gap:.1%} | {np.sqrt(error / alone):.3f} | {weight:.2f} |"
            f" {worth:.0f} |"
        )


def _neighbours_held(places: Places, truth: dict[str, float]) -> float:
    """The same for differences of models that follow each other in the ranking and in truth."""
    order = list(truth)
    true = [
        gap
        for gap in places.differences
        if abs(order.index(gap.better) - order.index(gap.other)) == 1
    ]
    return held(
        [gap.estimate for gap in true], [truth[gap.better] - truth[gap.other] for gap in true]
    )


@dataclass(frozen=True)
class StyleStudy:
    """A kind of competition in which voters like long answers."""

    models: int
    votes: int
    liking: float  # log odds for a difference of 1
    shared: int = 1


STYLE_STUDIES = (
    StyleStudy(7, 210, 1.0),
    StyleStudy(7, 500, 0.8),
    StyleStudy(7, 2000, 0.8),
    StyleStudy(7, 2000, 0.0),
    StyleStudy(20, 2000, 1.5),
    StyleStudy(7, 2000, 0.8, shared=4),
)


def simulate_style(study: StyleStudy, seed: int, votes: int = 0) -> tuple[Battles, Floats, Floats]:
    """Votes, differences of length, and true strengths.

    Weak models write at length, so that length buys rank.
    """
    draws = np.random.default_rng([2, seed])
    size = votes or study.votes
    strengths = np.linspace(0.8, -0.8, study.models)
    habits = np.linspace(5.0, 6.2, study.models)
    i = draws.integers(study.models, size=size)
    j = (i + draws.integers(1, study.models, size=size)) % study.models
    clusters = np.arange(size) // study.shared
    wanted = draws.normal(0, 0.4, clusters.max() + 1)[clusters]
    lengths = [np.exp(habits[side] + wanted + draws.normal(0, 0.5, size)) for side in (i, j)]
    styles = (lengths[0] - lengths[1]) / (lengths[0] + lengths[1])
    outcome = votes_of(chances(strengths[i] - strengths[j] + study.liking * styles), draws)
    return (
        Battles(tuple(f"m{n:02}" for n in range(study.models)), i, j, outcome, clusters),
        styles[:, None],
        strengths,
    )


def controlled_table(simulations: int, seed: int) -> Iterator[str]:
    """Coverage of the ratings at equal length, and what is left of a planted liking."""
    yield _header(
        "models",
        "votes",
        "an answer e times as long gains",
        "ratings at equal length",
        "changes",
        "coefficient",
        "planted gain of the longest model",
        "found: without control",
        "at equal length",
    )
    for study in STYLE_STUDIES:
        big, styles, strengths = simulate_style(study, 10**6, 400_000)
        exact = rank_controlled(big, styles, ["length"], rounds=1)
        changes = {
            name: change.value
            for name, change in zip(exact.places.players, exact.places.extra, strict=True)
        }
        hits = []
        off = []
        for number in range(simulations):
            battles, styles, _ = simulate_style(study, seed * simulations + number)
            found = rank_controlled(battles, styles, ["length"], rounds=500, seed=number)
            truth = dict(zip(battles.players, (1000 + POINTS * strengths).tolist(), strict=True))
            places = found.places
            [effect] = found.effects
            rated = held(places.ratings, [truth[name] for name in places.players])
            moved = held(places.extra, [changes[name] for name in places.players])
            scale = found.coefficients["length"].scale
            coefficient = effect.low <= POINTS * study.liking * scale <= effect.high
            hits.append([rated, moved, coefficient])
            last = places.players.index(battles.players[-1])
            rating = places.ratings[last].value - truth[battles.players[-1]]
            off.append([rating - places.extra[last].value, rating])
        ratings, moves, coefficient = np.mean(hits, axis=0)
        before, after = np.mean(off, axis=0)
        shared = f", {study.shared} an instruction" if study.shared > 1 else ""
        gain = POINTS * study.liking * np.tanh(0.5)
        yield (
            f"| {study.models} | {study.votes:,}{shared} | {gain:.0f} | "
            f"{ratings:.1%} | {moves:.1%} | {coefficient:.1%} | "
            f"{-changes[battles.players[-1]]:+.0f} | {before:+.1f} | {after:+.1f} |"
        )


@dataclass(frozen=True)
class Arena:
    """The arena votes with the counts of their responses."""

    battles: Battles
    texts: list[tuple[str, str]]


def load_arena() -> Arena:
    """The votes, and the responses of both models."""
    battles = []
    texts = []
    for path in sorted(
        (Path(os.environ["URS_INSPECT_DATA_DIR"]) / "mad" / "chatbot_arena").glob("*-vs-*.jsonl")
    ):
        one, other = path.stem.split("-vs-")
        for line in filter(None, path.read_text("utf-8").split("\n")):
            row = json.loads(line)
            outcome = {one: 1.0, "tie": 0.5, other: 0.0}[row["output"]]
            battles.append(Battle(one, other, outcome, row["instruction"].strip()))
            texts.append((row["response_1"], row["response_2"]))
    return Arena(battles_of(battles), texts)


def arena_judges(arena: Arena, draws: np.random.Generator) -> dict[str, Floats]:
    """Verdicts of a real judge, the longer answer wins, and of simulated ones."""
    battles = arena.battles
    strengths = fit_bradley_terry(battles) / POINTS
    longest = np.array([0.5 + 0.5 * np.sign(len(a) - len(b)) for a, b in arena.texts])
    judges = {"longest (real)": longest}
    for copied, bias in ((0.3, 0.4), (0.3, 0.8), (0.5, 0.4), (0.7, 0.4), (0.0, 1.2)):
        biased = strengths + draws.normal(0, bias, len(strengths))
        own = votes_of(chances(biased[battles.first] - biased[battles.second]), draws)
        copies = draws.random(len(battles)) < copied
        judges[f"simulated, copies {copied:.0%}, bias {POINTS * bias:.0f}"] = np.where(
            copies, battles.outcome, own
        )
    judges["coin (simulated)"] = draws.integers(0, 2, len(battles)).astype(float)
    return judges


def kendall(ratings: Floats, truth: Floats) -> float:
    """Kendall's tau to an order without ties."""
    i, j = np.triu_indices(len(truth), 1)
    return float((np.sign(ratings[i] - ratings[j]) * np.sign(truth[i] - truth[j])).mean())


def arena_table(simulations: int, seed: int) -> Iterator[str]:
    """Order of the arena's models by few votes, with and without a judge."""
    yield _header(
        "judge",
        "agrees",
        "judge alone",
        "60 votes: people",
        "corrected",
        "gain ± s.e.",
        "lambda",
        "worth",
        "210 votes: people",
        "corrected",
        "gain ± s.e.",
        "lambda",
        "worth",
    )
    arena = load_arena()
    battles = arena.battles
    truth = fit_bradley_terry(battles)
    rows: dict[str, list[list[float]]] = {}
    for number in range(simulations):
        draws = np.random.default_rng([3, seed, number])
        order = draws.permutation(len(battles))
        for name, verdicts in arena_judges(arena, draws).items():
            row = [np.mean(verdicts == battles.outcome)]
            for votes in (60, 210):
                people = np.full(len(battles), np.nan)
                people[order[:votes]] = battles.outcome[order[:votes]]
                ballots = JudgedBallots(
                    battles.players,
                    battles.first,
                    battles.second,
                    battles.clusters,
                    people,
                    verdicts,
                )
                found = rank_corrected(ballots, rounds=1)
                true = np.array(
                    [truth[battles.players.index(name)] for name in found.places.players]
                )
                values = np.array([rating.value for rating in found.places.ratings])
                alone = values - [change.value for change in found.places.extra]
                if votes == 60:
                    row.append(kendall(np.array(found.judge), true))
                row += [kendall(alone, true), kendall(values, true), found.weight, found.worth]
            rows.setdefault(name, []).append(row)
    for name, found_rows in rows.items():
        table = np.array(found_rows)
        mean = table.mean(axis=0)
        cells = [f"{mean[0]:.0%}", f"{mean[1]:.2f}"]
        for at in (2, 6):
            gains = table[:, at + 1] - table[:, at]
            error = gains.std(ddof=1) / np.sqrt(len(gains))
            cells += [
                f"{mean[at]:.3f}",
                f"{mean[at + 1]:.3f}",
                f"{gains.mean():+.3f} ± {error:.3f}",
            ]
            cells += [f"{mean[at + 2]:.2f}", f"{mean[at + 3]:.0f}"]
        yield f"| {name} | {' | '.join(cells)} |"


def length_table(simulations: int, seed: int) -> Iterator[str]:
    """Log loss of held-out votes with covariates."""
    arena = load_arena()
    battles = arena.battles
    yield "| covariates | log loss, 10 folds, 5 splits | alpaca-13b |"
    yield "|---|---:|---:|"
    for features in ((), ("length",), ("length", "lists", "headings", "bold", "code")):
        styles = style_differences(arena.texts, features)
        losses = []
        for split in range(5):
            folds = np.random.default_rng([4, seed, split]).permutation(len(battles)) % 10
            losses.append(np.mean([_loss(battles, styles, folds == fold) for fold in range(10)]))
        moved = "-"
        if features:
            places = rank_controlled(battles, styles, features).places
            change = places.extra[places.players.index("alpaca-13b")]
            moved = f"{change.value:+.0f} ({change.low:+.0f} to {change.high:+.0f})"
        yield (
            f"| {', '.join(features) or 'none'} | {np.mean(losses):.4f} ± {np.std(losses):.4f} |"
            f" {moved} |"
        )


def _loss(battles: Battles, styles: Floats, held_out: np.ndarray) -> float:
    learnt = battles.take(~held_out)
    test = battles.take(held_out)
    size = len(battles.players)
    values = fit_design(
        design_of(learnt, styles[~held_out]), learnt.outcome, learnt.clusters
    ).values
    gaps = values[test.first] - values[test.second] + styles[held_out] @ values[size:]
    return float((np.logaddexp(0, gaps) - test.outcome * gaps).mean())


def speed_table(simulations: int, seed: int) -> Iterator[str]:
    """Seconds on one core."""
    yield "| what | seconds |"
    yield "|---|---:|"
    for features in (("length",), ("length", "lists", "headings", "bold", "code")):
        study = StyleStudy(20, 200_000, 0.8)
        battles, styles, _ = simulate_style(study, seed)
        styles = np.hstack(
            [styles, np.random.default_rng(seed).uniform(-1, 1, (len(battles), len(features) - 1))]
        )
        start = perf_counter()
        rank_controlled(battles, styles, features, rounds=1000)
        yield (
            f"| 200,000 votes, 20 models, {len(features)} covariates, 1,000 rounds |"
            f" {perf_counter() - start:.1f} |"
        )
    ballots, _ = simulate(Study(20, 1.2, 10_000, "random", 0.5, 0.4, ballots=1_050), seed)
    start = perf_counter()
    rank_corrected(ballots, rounds=1000)
    yield (
        f"| {len(ballots.first):,} ballots, 20 models, 10,000 votes, 1,000 rounds |"
        f" {perf_counter() - start:.1f} |"
    )


TABLES = {
    "plain": plain_table,
    "ranks": ranks_table,
    "corrected": corrected_table,
    "controlled": controlled_table,
    "arena": arena_table,
    "length": length_table,
    "speed": speed_table,
}


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.tables or TABLES:
        print(
            f"\n**{name}**, {arguments.simulations:,} simulations, seed {arguments.seed}\n",
            flush=True,
        )
        for line in TABLES[name](arguments.simulations, arguments.seed):
            print(line, flush=True)


if __name__ == "__main__":
    main()
