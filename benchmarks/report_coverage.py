"""How often the report's intervals hold the truth, and how often its claims and rank intervals are
right.

Simulated models of known quality answer questions that are drawn anew in every simulation: as many
as the benchmark has, each of an intent and language drawn from those of the real cases. A level is
the quality of the model, plus what is usual for the kind of question, plus an effect of the
question that all models share, plus noise; the final score is the level rounded and cut to 1 to 10,
as `urs_simulation/quality-X` answers and is judged. The table of answers goes through the very code
of `urs-inspect report`. The truth is the exact mean of the scores over all questions that could
have been drawn.

    URS_INSPECT_DATA_DIR=DIR python benchmarks/report_coverage.py [questions panels users intents]
        [--simulations 500] [--seed 0] [--dataset urs|sample]

In a third setting, of equal models, one lacks its worst scores: 2, 5, 10 and 25% of them. Without
names of tables all are printed; the others than `questions` need no data and are quick. `panels`:
equal models, judged by a lenient and a strict judge, of which the strict one fails. `users`: equal
models on the questions of few users, each of whom one or the other model suits better, where users
are clusters and where they are not. `intents`: how often a lead is said to rest on one intent,
where it is the same in all and where it is in one only.

Exits with 1 if the intervals of a kind of column hold the truth in less than 93% or more than 97%
of cases, by more than the error of the simulation itself, or if a difference of equal models is
called significant, over all questions or within an intent or language, in more than 5%, likewise.
"""

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from time import perf_counter
from typing import Any

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.providers._simulated_judgement import expected_final
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._comparison import compare_table, without_intents
from urs_inspect.reports.numbers._leaderboard import Ranking, make_leaderboard
from urs_inspect.reports.numbers._scores import (
    ALL,
    Columns,
    ScoreTable,
    columns_of_means,
    compare_models,
    order_models,
    score_table,
)
from urs_inspect.rubrics import load_rubric
from urs_inspect.stats import Estimate, MeanColumn, bootstrap_means, mean_estimates
from urs_inspect.stats._bootstrap import Flags, Floats, Integers, Resampling, percentile_bounds
from urs_inspect.stats._paired import MeanDifference, paired_p_values

RANKED = (8.6, 8.2, 8.2, 7.5, 7.4, 6.5, 5.5, 5.5)
"""Qualities of the models that are ranked; two pairs are equal, and one differs by little."""
EQUAL = (7.4,) * 6
UNSCORED = [0.02]
"""Share of the scores of every model that are missing at random."""
LACKING = (0.02, 0.05, 0.1, 0.25)
"""Shares of the scores of one of several equal models that are missing, the worst ones."""
FALSE = "equal models differ significantly"
FALSE_IN_COLUMNS = (
    "the best of equal models is significantly better, share of intents and languages"
)
KIND_SPREAD = 0.5
"""Standard deviation of what is usual for a kind of question, an intent in a language, in
levels.
"""
GOAL = (0.93, 0.97)
FAMILY_ERROR = 0.05
_BATCHES = 8
Column = tuple[str, str]
"""Kind of a column, and its name."""
CONTROL: Column = ("all, Student's interval in place of the bootstrap", "all")
SIZES = (6, 10, 14, 20, 28, 43, 80, 180)
"""Numbers of questions for which kinds of intervals are compared."""


@dataclass(frozen=True)
class Population:
    """All kinds of questions that can be drawn, each as often as the benchmark has it.

    Attributes:
        facts: One row a case, with the columns intent, group and language.
        shifts: What is usual for its kind, in levels, shape (cases,).
        truths: Quality -> what `truth` has found.
    """

    facts: pd.DataFrame
    shifts: Floats
    truths: dict[float, dict[str, float]] = field(default_factory=dict)

    def truth(self, quality: float) -> dict[str, float]:
        """Key of a column, as in the report's counts of questions -> mean score of a model of this
        quality.
        """
        if quality not in self.truths:
            table = self.facts.assign(
                final=[expected_final(quality + shift) for shift in self.shifts]
            )
            found = {"all": float(table["final"].mean())}
            for keys, between in (
                (["group"], ""),
                (["language"], ""),
                (["group", "language"], "/"),
                (["group", "intent"], ": "),
            ):
                for name, rows in table.groupby(keys):
                    found[between.join(map(str, name))] = float(rows["final"].mean())
            self.truths[quality] = found
        return self.truths[quality]


def population(dataset: str) -> Population:
    """The kinds of questions of a dataset; what is usual for each is drawn once and for all."""
    rubric = load_rubric()
    cases = load_urs(dataset, Vocabulary(rubric.intent_id, rubric.language_code)).cases
    facts = pd.DataFrame(
        {
            "intent": [case.intent for case in cases],
            "group": [rubric.intents[case.intent].group for case in cases],
            "language": [case.language for case in cases],
        }
    )
    kinds = facts["intent"] + "/" + facts["language"]
    names = sorted(set(kinds))
    usual = dict(
        zip(names, KIND_SPREAD * np.random.default_rng(0).standard_normal(len(names)), strict=True)
    )
    return Population(facts, kinds.map(usual).to_numpy(dtype=np.float64))


def model_names(qualities: Sequence[float]) -> list[str]:
    """A name for each model; equal ones are told from each other by zeros at the end."""
    return [
        f"urs_simulation/quality-{quality}{'0' * qualities[:place].count(quality)}"
        for place, quality in enumerate(qualities)
    ]


def made_up_answers(
    drawn_from: Population,
    qualities: Sequence[float],
    generator: np.random.Generator,
    lacking: float | None = None,
) -> Answers:
    """Answers of all models to questions drawn anew; with `lacking`, this share of the first one's
    scores is missing.

    These are its worst ones. Else a few scores of every model are missing at random.
    """
    total = len(drawn_from.facts)
    drawn: Integers = generator.integers(total, size=total)
    shared = drawn_from.shifts[drawn] + generator.standard_normal(total)
    facts = {str(name): values.to_numpy()[drawn] for name, values in drawn_from.facts.items()}
    judge = "urs_simulation/judge"
    unknown = (
        "input_tokens",
        "output_tokens",
        "judge_input_tokens",
        "judge_output_tokens",
        "cost",
        "judge_cost",
    )
    tables: list[pd.DataFrame] = []
    for name, quality in zip(model_names(qualities), qualities, strict=True):
        levels = quality + shared + generator.standard_normal(total)
        finals = np.clip(np.rint(levels), 1, 10)
        if lacking is None:
            finals[generator.random(total) < UNSCORED[0]] = np.nan
        elif not tables:
            finals[np.argsort(finals, kind="stable")[: round(lacking * total)]] = np.nan
        columns: dict[str, Any] = {
            **{"log": f"{name}.eval", "model": name, "base_model": name, "task": "urs_inspect/urs"},
            **{
                "question": [f"question {number:05}" for number in range(total)],
                "epoch": 1,
                **facts,
                "country": "",
            },
            **{
                "final": finals,
                "outcome": np.where(np.isnan(finals), "unscored_unparseable", "judged"),
            },
            **{
                "judges": judge,
                "judge_finals": [{judge: final} for final in finals],
                "judge_temperatures": "0",
            },
            "reply_counts": [{}] * total,
            **{
                "earlier_finals": [()] * total,
                "earlier_judge_finals": [()] * total,
                "cut_off": False,
                "not_shown": "",
                "answer_digest": "",
                "cluster": "",
                "structured": 0.0,
            },
            **{
                "self_judged": False,
                "judge_language": "en",
                "prompt_sha256": "same",
                "rubric": "urs 1",
            },
            **{
                "dataset": "simulated",
                "dataset_sha256": "",
                "references": "",
                "task_version": "1-A",
            },
            **{"answer_length": np.floor(np.exp(generator.normal(6, 1, total))), "error": ""},
            **dict.fromkeys((*unknown, "seconds"), math.nan),
        }
        tables.append(pd.DataFrame(columns))
    return Answers(pd.concat(tables, ignore_index=True), {}, ())


@dataclass
class Found:
    """What one simulation found.

    Attributes:
        columns: Column -> its intervals: whether each holds the truth, its width, and the number of
            questions.
        orders: Name of a property of tests and rank intervals -> whether it holds, or in which
            share of columns.
    """

    columns: dict[Column, list[tuple[bool, float, int]]] = field(default_factory=dict)
    orders: dict[str, float] = field(default_factory=dict)

    def add(self, column: Column, estimate: Estimate, truth: float) -> None:
        """Note an interval; one that does not exist is left out."""
        if not math.isnan(estimate.low):
            holds = estimate.low <= truth <= estimate.high
            self.columns.setdefault(column, []).append(
                (holds, estimate.high - estimate.low, estimate.clusters)
            )


def simulate(drawn_from: Population, qualities: Sequence[float], rounds: int, seed: int) -> Found:
    """Make a report of a simulation and hold it against the truth."""
    answers = made_up_answers(drawn_from, qualities, np.random.default_rng((seed, len(qualities))))
    [ranking] = make_leaderboard(answers, rounds=rounds, seed=seed).rankings
    quality = dict(zip(model_names(qualities), qualities, strict=True))
    found = Found()
    for name in ranking.compared.names:
        truth = drawn_from.truth(quality[name])
        for column in _columns(ranking):
            found.add(column, ranking.compared.mean(name, column[1]), truth[column[1]])
        found.add(
            ("length", "length against score"),
            ranking.compared.models["length_correlation"][name],
            0.0,
        )
        finals = answers.table.loc[answers.table["model"] == name, "final"].dropna()
        found.add(CONTROL, _textbook(finals.to_numpy(dtype=np.float64)), truth["all"])
    for pair in ranking.compared.comparisons["all"]:
        truth_of_pair = [
            drawn_from.truth(quality[name])["all"] for name in (pair.first, pair.second)
        ]
        found.add(
            ("differences", "differences of two models"),
            pair.difference,
            truth_of_pair[0] - truth_of_pair[1],
        )
    found.orders = _orders(ranking, quality)
    return found


def _textbook(finals: Floats) -> Estimate:
    """Student's interval of a mean, to see what is due to the draws of questions alone."""
    half = float(stdtrit(len(finals) - 1, 0.975) * finals.std(ddof=1) / math.sqrt(len(finals)))
    mean = float(finals.mean())
    return Estimate(mean, mean - half, mean + half, len(finals), len(finals))


def _columns(ranking: Ranking) -> Iterator[Column]:
    columns = ranking.columns
    kinds = {
        "intents": columns.groups,
        "parts": columns.parts,
        "languages": columns.languages,
        "cells": columns.cells,
    }
    yield "all", "all"
    for kind, keys in kinds.items():
        yield from ((kind, key) for key in keys)


def _orders(ranking: Ranking, quality: dict[str, float]) -> dict[str, float]:
    """What is right about the tests and rank intervals of a report."""
    pairs = [
        (pair, abs(quality[pair.first] - quality[pair.second]))
        for pair in ranking.compared.comparisons["all"]
    ]
    far = [pair for pair, apart in pairs if apart > 0.25]
    near = [pair for pair, apart in pairs if 0 < apart <= 0.25]
    ranks = {
        name: (first or 1, last or len(quality))
        for name, first, last in ranking.compared.models[["rank_from", "rank_to"]].itertuples(
            name=None
        )
    }
    # Equal models share the ranks that they take together.
    true = {
        name: (
            1 + sum(other > own for other in quality.values()),
            sum(other >= own for other in quality.values()),
        )
        for name, own in quality.items()
    }
    return {
        FALSE: any(pair.significant for pair, apart in pairs if not apart),
        FALSE_IN_COLUMNS: false_columns(ranking, quality),
        "models 0.3 apart or more differ significantly, all": all(pair.significant for pair in far),
        "models 0.1 apart differ significantly": all(pair.significant for pair in near),
        "a worse model called significantly better": any(
            pair.significant and quality[pair.first] < quality[pair.second] for pair, _ in pairs
        ),
        "rank intervals hold the true ranks of all models": all(
            ranks[name][0] <= true[name][0] and true[name][1] <= ranks[name][1] for name in quality
        ),
        "rank intervals are the true ranks of all models": ranks == true,
    }


def false_columns(ranking: Ranking, quality: dict[str, float]) -> float:
    """Share of intents and languages in which the best model is called better than one that is not
    worse.
    """
    found = [
        any(pair.significant and quality[pair.first] <= quality[pair.second] for pair in pairs)
        for key, pairs in ranking.compared.comparisons.items()
        if key != "all"
    ]
    return float(np.mean(found))


_POPULATION: list[Population] = []


def _job_lacking(job: tuple[float, int, int]) -> tuple[bool, float, float]:
    """Whether equal models differ, in which share of columns, and the share of questions that are
    common.
    """
    lacking, rounds, seed = job
    generator = np.random.default_rng((seed, len(EQUAL), int(1000 * lacking)))
    answers = made_up_answers(_POPULATION[0], EQUAL, generator, lacking)
    [ranking] = make_leaderboard(answers, rounds=rounds, seed=seed).rankings
    quality = dict(zip(model_names(EQUAL), EQUAL, strict=True))
    differ = any(pair.significant for pair in ranking.compared.comparisons["all"])
    return (
        differ,
        false_columns(ranking, quality),
        ranking.compared.questions / ranking.compared.asked,
    )


def _job(job: tuple[tuple[float, ...], int, int]) -> Found:
    qualities, rounds, seed = job
    return simulate(_POPULATION[0], qualities, rounds, seed)


def _share(values: Sequence[float]) -> tuple[float, float]:
    """Mean of one value a simulation, and 1.96 standard errors."""
    array = np.array(values, dtype=np.float64)
    return float(array.mean()), (
        1.96 * float(array.std(ddof=1)) / math.sqrt(len(array)) if len(array) > 1 else math.nan
    )


def print_coverage(found: Sequence[Found]) -> bool:
    """Print how often intervals hold the truth, by kind and by column.

    Whether the goal is met for every kind.
    """
    columns = {column: None for one in found for column in one.columns}
    kinds = list(dict.fromkeys(kind for kind, _ in columns))
    rows = [(kind, [column for column in columns if column[0] == kind]) for kind in kinds]
    shown = ("intents", "parts", "languages", "cells")
    rows += [(f"- {name}", [(kind, name)]) for kind, name in columns if kind in shown]
    met = True
    print("| intervals of | questions | coverage | mean width | intervals |\n|---|---|---|---|---|")
    for title, chosen in rows:
        held = [
            [one for column in chosen for one in result.columns.get(column, [])] for result in found
        ]
        held = [one for one in held if one]
        share, error = _share([float(np.mean([holds for holds, _, _ in one])) for one in held])
        every = [one for result in held for one in result]
        sizes = sorted(questions for _, _, questions in every)
        usual = f"{sizes[len(sizes) // 2]}" if len(chosen) == 1 else f"{sizes[0]} to {sizes[-1]}"
        width = float(np.mean([width for _, width, _ in every]))
        print(f"| {title} | {usual} | {share:.1%} ± {error:.1%} | {width:.2f} | {len(every):,} |")
        if not title.startswith("- "):
            met &= GOAL[0] - error <= share <= GOAL[1] + error
    return met


def print_orders(found: Sequence[Found], names: Sequence[str]) -> None:
    """Print how often what is said about tests and rank intervals holds."""
    print("| | share of simulations |\n|---|---|")
    for name in names:
        share, error = _share([float(one.orders[name]) for one in found])
        print(f"| {name} | {share:.1%} ± {error:.1%} |")


def print_small(qualities: Sequence[float], simulations: int, rounds: int) -> None:
    """Print the coverage of the report's intervals and of plain percentiles, over few questions."""
    print(
        "| questions | " + " | ".join(f"percentiles, {q} | report, {q}" for q in qualities) + " |"
    )
    print("|---|" + "---|---|" * len(qualities))
    for size in SIZES:
        cells = []
        for quality in qualities:
            held = np.zeros(2)
            for seed in range(_BATCHES):
                generator = np.random.default_rng((seed, size))
                levels = quality + math.sqrt(2) * generator.standard_normal((size, simulations))
                column = MeanColumn(np.arange(size), np.clip(np.rint(levels), 1, 10))
                [found] = bootstrap_means([column], size, rounds=rounds, seed=seed)
                estimates = mean_estimates(found)
                bounds = [
                    percentile_bounds(found.draws),
                    ([e.low for e in estimates], [e.high for e in estimates]),
                ]
                truth = expected_final(quality)
                held += [
                    np.mean((np.array(low) <= truth) & (truth <= np.array(high)))
                    for low, high in bounds
                ]
            cells += [f"{share:.1%}" for share in held / _BATCHES]
        print(f"| {size} | {' | '.join(cells)} |")


def print_questions(options: argparse.Namespace) -> bool:
    """Print coverage and claims of reports of the questions of a dataset.

    Whether the goals are met.
    """
    UNSCORED[0] = options.unscored
    _POPULATION.append(population(options.dataset))
    print(
        f"{options.simulations} simulations of {len(_POPULATION[0].facts)} questions,"
        f" {options.rounds:,} rounds each"
    )
    met = True
    with get_context("fork").Pool(options.processes) as workers:
        for title, qualities in (("Models of known quality", RANKED), ("Equal models", EQUAL)):
            jobs = [(qualities, options.rounds, seed) for seed in range(options.simulations)]
            found = workers.map(_job, jobs, chunksize=5)
            print(f"\n{title}: {', '.join(map(str, qualities))}\n")
            met &= print_coverage(found)
            print()
            if len(set(qualities)) > 1:
                print_orders(found, list(found[0].orders))
            else:
                print_orders(found, [FALSE, FALSE_IN_COLUMNS])
            for name in (FALSE, FALSE_IN_COLUMNS):
                share, error = _share([float(one.orders[name]) for one in found])
                met &= share <= FAMILY_ERROR + error
        print(
            f"\nEqual models, {', '.join(map(str, EQUAL))}, of which one lacks its worst scores\n"
        )
        print(f"| missing | common questions | {FALSE} | {FALSE_IN_COLUMNS} |\n|---|---|---|---|")
        for lacking in LACKING:
            results = workers.map(
                _job_lacking,
                [(lacking, options.rounds, seed) for seed in range(options.simulations)],
                chunksize=5,
            )
            shares = [_share([float(one[place]) for one in results]) for place in range(3)]
            met &= all(share <= FAMILY_ERROR + error for share, error in shares[:2])
            cells = [f"{share:.1%} ± {error:.1%}" for share, error in shares[:2]]
            print(f"| {lacking:.0%} | {shares[2][0]:.1%} | {' | '.join(cells)} |")
    print(
        f"\nMeans over few questions, {_BATCHES * options.simulations:,} simulations of one model\n"
    )
    print_small((RANKED[0], EQUAL[0]), options.simulations, options.rounds)
    return met


# --- panels of which a judge fails ---

PANEL_QUESTIONS = 100
PANEL_QUALITY = 6.0
PANEL_ROUNDS = 1000
LENIENCY = {"p/lenient": 1.2, "p/strict": -1.2}
"""Judge of the panel -> points that it gives more than the panel."""
FAILURES = {
    "a third of the first model's answers": "third",
    "5% of all answers": "all",
    "the fifth of the first model's answers that it likes least": "worst",
    "2% of the first model's answers": "few",
}
"""What the strict judge fails on, in words -> its name here."""


def failures_of(kind: str, finals: Floats, generator: np.random.Generator) -> Flags:
    """Which answers the strict judge fails on, shape (questions, models); `finals` are its
    scores.
    """
    failed: Flags = np.zeros(finals.shape, dtype=np.bool_)
    if kind == "third":
        failed[:, 0] = generator.random(len(finals)) < 1 / 3
    elif kind == "few":
        failed[:, 0] = generator.random(len(finals)) < 0.02
    elif kind == "all":
        failed = generator.random(finals.shape) < 0.05
    else:
        failed[np.argsort(finals[:, 0], kind="stable")[: len(finals) // 5], 0] = True
    return failed


def panel_table(finals: Floats) -> ScoreTable:
    """The scores of a panel as the report has them; `finals` are (questions, models, judges), NaN
    where one failed.
    """
    questions, models, _ = finals.shape
    means = np.nanmean(finals, axis=2)
    parts = [
        pd.DataFrame(
            {
                "model": f"m{model}",
                "question": [f"q{number:03}" for number in range(questions)],
                "final": means[:, model],
                "judge_finals": [
                    dict(zip(LENIENCY, given, strict=True)) for given in finals[:, model].tolist()
                ],
                "intent": "leisure",
                "group": "Leisure",
                "language": "en",
                "country": "",
                "cluster": "",
            }
        )
        for model in range(models)
    ]
    return score_table(
        pd.concat(parts, ignore_index=True), [f"m{model}" for model in range(models)]
    )


def panel_row(kind: str, models: int, simulations: int, seed: int) -> list[float]:
    """Shares of claims, of claims without the worst case of the missing scores, and of means'
    intervals that hold.

    Then shares of claims and of such intervals by the plain mean of the judges that did not fail.
    """
    generator = np.random.default_rng((seed, models, sorted(FAILURES.values()).index(kind)))
    claims = []
    without_worst = []
    covered = []
    plain_claims = []
    plain_covered = []
    for _ in range(simulations):
        level = PANEL_QUALITY + generator.normal(0, 1, (PANEL_QUESTIONS, 1))
        level = level + generator.normal(0, 0.8, (PANEL_QUESTIONS, models))
        noise = generator.normal(0, 0.5, (*level.shape, len(LENIENCY)))
        finals = np.clip(np.rint(level[:, :, None] + np.array([*LENIENCY.values()]) + noise), 1, 10)
        finals[..., 1][failures_of(kind, finals[..., 1], generator)] = np.nan
        table = panel_table(finals)
        tested, means = _compared(table)
        claims.append(any(pair.significant for pair in tested))
        without_worst.append(any(pair.p_holm < 0.05 for pair in tested))
        covered.append(np.mean([mean.low <= PANEL_QUALITY <= mean.high for mean in means]))
        tested, means = _compared(replace(table, finals=np.nanmean(finals, axis=2), panel=None))
        plain_claims.append(any(pair.significant for pair in tested))
        plain_covered.append(np.mean([mean.low <= PANEL_QUALITY <= mean.high for mean in means]))
    counted = (claims, without_worst, covered, plain_claims, plain_covered)
    return [float(np.mean(values)) for values in counted]


def _compared(table: ScoreTable) -> tuple[tuple[MeanDifference, ...], tuple[Estimate, ...]]:
    """Comparisons of all pairs of models, and their means."""
    every = {ALL: np.arange(len(table.facts))}
    scores = order_models(table)
    means_of = columns_of_means(scores, every)[ALL]
    tested, [means] = compare_models(scores, every, Resampling(PANEL_ROUNDS, 0.95, 0), [means_of])
    return tested[ALL], means


def print_panels(simulations: int, seed: int) -> bool:
    """Print false claims where a judge of a panel fails; whether they are few enough."""
    met = True
    headings = ["strict judge fails on", "models", "claims", "without the worst case", "coverage"]
    headings += ["claims by the mean of the judges left", "its coverage"]
    print(f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}")
    for title, kind in FAILURES.items():
        for models in (2, 4):
            shares = panel_row(kind, models, simulations, seed)
            met &= shares[0] <= FAMILY_ERROR + _chance(simulations)
            print(
                f"| {title} | {models} | {' | '.join(f'{share:.1%}' for share in shares)} |",
                flush=True,
            )
    return met


# --- questions of few users ---

USERS = ((6, 12), (8, 12), (12, 8), (20, 5), (40, 3))
"""Numbers of users, and of questions of each."""
OF_USERS = 0.43
"""Share of the variance of differences that is between users."""


def differences_of_users(
    users: int, questions: int, simulations: int, generator: np.random.Generator
) -> tuple[Floats, Integers]:
    """Differences of two equal models, shape (questions, simulations), and the user of each
    question.
    """
    user = np.repeat(np.arange(users), questions)
    of_user = generator.standard_normal((users, simulations))[user]
    own = generator.standard_normal((users * questions, simulations))
    return math.sqrt(OF_USERS) * of_user + math.sqrt(1 - OF_USERS) * own, user


def print_users(simulations: int, seed: int) -> bool:
    """Print false claims about the questions of few users.

    Whether they are few enough where users are clusters.
    """
    met = True
    print(
        '| users x questions of each | "significant", users not named | named | interval misses,'
        " not named | named |\n|---|---|---|---|---|"
    )
    for users, questions in USERS:
        generator = np.random.default_rng((seed, users, questions))
        differences, user = differences_of_users(users, questions, 8 * simulations, generator)
        claims = [
            np.mean(paired_p_values(differences, clusters) < 0.05) for clusters in (None, user)
        ]
        few = MeanColumn(np.arange(len(user)), differences[:, : 2 * simulations])
        misses = []
        for clusters in (None, user):
            [draws] = bootstrap_means([few], len(user), clusters=clusters, rounds=500, seed=seed)
            misses.append(
                np.mean([not each.low <= 0 <= each.high for each in mean_estimates(draws)])
            )
        met &= bool(claims[1] <= FAMILY_ERROR + _chance(8 * simulations))
        cells = [f"{share:.1%}" for share in (*claims, *misses)]
        print(f"| {users} x {questions} | {' | '.join(cells)} |", flush=True)
    return met


# --- leads that rest on one intent ---

INTENT_NAMES = tuple(f"intent {number}" for number in range(1, 7))
LEADS = ((42, 0.35), (42, 0.5), (42, 0.8), (210, 0.2), (210, 0.35))
"""Numbers of questions, and mean lead of the first of two models in standard deviations of a
difference.
"""


def intents_row(
    questions: int, lead: float, in_one: bool, simulations: int, seed: int
) -> tuple[float, float, float]:
    """Share of significant leads; of these, shares not significant without exactly one intent, and
    said to rest on it.

    With `in_one` the whole lead is in the questions of the first intent.
    """
    generator = np.random.default_rng((seed, questions, round(100 * lead), in_one))
    intents = np.repeat(INTENT_NAMES, questions // len(INTENT_NAMES))
    chosen = {name: np.flatnonzero(intents == name) for name in INTENT_NAMES}
    columns = Columns(INTENT_NAMES, (), (), (), (), {ALL: np.arange(questions), **chosen})
    facts = pd.DataFrame(
        {"group": intents, "cluster": [f"q{number}" for number in range(questions)]}
    )
    resampling = Resampling(20, 0.95, 0)
    one_lost = []
    one_named = []
    for _ in range(simulations):
        difference = generator.standard_normal(questions)
        if in_one:
            difference[chosen[INTENT_NAMES[0]]] += lead * len(INTENT_NAMES)
        else:
            difference += lead
        finals = 5 + np.stack([difference, -difference], axis=1) / 2
        counts = np.ones(finals.shape, dtype=np.int64)
        scores = order_models(
            ScoreTable(facts, ("first", "second"), finals, {}, counts, counts - 1)
        )
        compared = compare_table(scores, columns.questions, [ALL], resampling)
        if ("first", "second") not in compared.leads:
            continue
        lost = without_intents(scores, columns, compared, resampling)
        one_lost.append(len(lost) == 1)
        one_named.append(sum(lead.clear for lead in lost) == 1)
    if not one_lost:
        return 0.0, math.nan, math.nan
    return len(one_lost) / simulations, float(np.mean(one_lost)), float(np.mean(one_named))


def print_intents(simulations: int, seed: int) -> bool:
    """Print how often a lead is said to rest on one intent.

    Whether it rarely is where it is the same in all.
    """
    headings = (
        "questions",
        "lead",
        "it is",
        "significant",
        "lost without exactly one intent",
        "said to rest on one",
    )
    print(f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}")
    met = True
    for questions, lead in LEADS:
        for in_one in (False, True):
            significant, lost, named = intents_row(questions, lead, in_one, simulations, seed)
            where = "in one intent" if in_one else "the same in all"
            print(
                f"| {questions} | {lead} | {where} | {significant:.0%} | {lost:.1%} |"
                f" {named:.1%} |",
                flush=True,
            )
            if not in_one and significant > 0:
                met &= named <= FAMILY_ERROR + _chance(round(simulations * significant))
    return met


def _chance(simulations: int) -> float:
    """1.96 standard errors of a share that is truly `FAMILY_ERROR`."""
    return 1.96 * math.sqrt(FAMILY_ERROR * (1 - FAMILY_ERROR) / simulations)


TABLES: dict[str, tuple[str, Callable[[int, int], bool]]] = {
    "panels": ("Panels of which a judge fails", print_panels),
    "users": ("Questions of few users", print_users),
    "intents": ("Leads that rest on one intent", print_intents),
}
"""Tables that need no data: their title, and what prints them."""


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"questions, {', '.join(TABLES)}; by default all"
    )
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the other tables than questions")
    parser.add_argument("--dataset", default="urs", help="as for the task urs")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument(
        "--unscored", type=float, default=UNSCORED[0], help="share of scores missing at random"
    )
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(given)
    if unknown := sorted({*options.tables} - {"questions", *TABLES}):
        parser.error(f"no table {', '.join(unknown)}; there are questions, {', '.join(TABLES)}")
    begun = perf_counter()
    met = True
    if not options.tables or "questions" in options.tables:
        met &= print_questions(options)
    for name, (title, write) in TABLES.items():
        if not options.tables or name in options.tables:
            print(f"\n{title}, {options.simulations:,} simulations, seed {options.seed}\n")
            met &= write(options.simulations, options.seed)
    print(f"\n{perf_counter() - begun:.0f} s; goals {'met' if met else 'MISSED'}", flush=True)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
