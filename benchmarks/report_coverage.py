"""How often the report's intervals hold the truth, and how often its claims and rank intervals are right.

Simulated models of known quality answer questions that are drawn anew in every simulation: as many as the benchmark
has, each of an intent and language drawn from those of the real cases. A level is the quality of the model, plus what
is usual for the kind of question, plus an effect of the question that all models share, plus noise; the final score is
the level rounded and cut to 1 to 10, as `urs_simulation/quality-X` answers and is judged. The table of answers goes
through the very code of `urs-inspect report`. The truth is the exact mean of the scores over all questions that could
have been drawn.

    URS_INSPECT_DATA_DIR=DIR python benchmarks/report_coverage.py [--simulations 500] [--dataset urs|sample]

In a third setting, of equal models, one lacks its worst scores: 2, 5, 10 and 25% of them.

Exits with 1 if the intervals of a kind of column hold the truth in less than 93% or more than 97% of cases, by more
than the error of the simulation itself, or if a difference of equal models is called significant, over all questions or
within an intent or language, in more than 5%, likewise.
"""

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from time import perf_counter
from typing import Any

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.providers.simulated_judgement import expected_final
from urs_inspect.reports.answers import Answers
from urs_inspect.reports.leaderboard import Ranking, make_leaderboard
from urs_inspect.rubrics import load_rubric
from urs_inspect.stats import Estimate, MeanColumn, bootstrap_means, mean_estimates
from urs_inspect.stats.bootstrap import Floats, Integers, percentile_bounds

RANKED = (8.6, 8.2, 8.2, 7.5, 7.4, 6.5, 5.5, 5.5)
"""Qualities of the models that are ranked; two pairs are equal, and one differs by little."""
EQUAL = (7.4,) * 6
UNSCORED = [0.02]
"""Share of the scores of every model that are missing at random."""
LACKING = (0.02, 0.05, 0.1, 0.25)
"""Shares of the scores of one of several equal models that are missing, the worst ones."""
FALSE = "equal models differ significantly"
FALSE_IN_COLUMNS = "the best of equal models is significantly better, share of intents and languages"
KIND_SPREAD = 0.5
"""Standard deviation of what is usual for a kind of question, an intent in a language, in levels."""
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
        """Key of a column, as in the report's counts of questions -> mean score of a model of this quality."""
        if quality not in self.truths:
            table = self.facts.assign(final=[expected_final(quality + shift) for shift in self.shifts])
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
    usual = dict(zip(names, KIND_SPREAD * np.random.default_rng(0).standard_normal(len(names)), strict=True))
    return Population(facts, kinds.map(usual).to_numpy(dtype=np.float64))


def model_names(qualities: Sequence[float]) -> list[str]:
    """A name for each model; equal ones are told from each other by zeros at the end."""
    return [
        f"urs_simulation/quality-{quality}{'0' * qualities[:place].count(quality)}"
        for place, quality in enumerate(qualities)
    ]


def made_up_answers(
    drawn_from: Population, qualities: Sequence[float], generator: np.random.Generator, lacking: float | None = None
) -> Answers:
    """Answers of all models to questions drawn anew; with `lacking`, this share of the first one's scores is missing.

    These are its worst ones. Else a few scores of every model are missing at random.
    """
    total = len(drawn_from.facts)
    drawn: Integers = generator.integers(total, size=total)
    shared = drawn_from.shifts[drawn] + generator.standard_normal(total)
    facts = {str(name): values.to_numpy()[drawn] for name, values in drawn_from.facts.items()}
    judge = "urs_simulation/judge"
    unknown = ("input_tokens", "output_tokens", "judge_input_tokens", "judge_output_tokens", "cost", "judge_cost")
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
            **{"question": [f"question {number:05}" for number in range(total)], "epoch": 1, **facts, "country": ""},
            **{"final": finals, "outcome": np.where(np.isnan(finals), "unscored_unparseable", "judged")},
            **{"judges": judge, "judge_finals": [{judge: final} for final in finals], "judge_temperatures": "0"},
            "reply_counts": [{}] * total,
            **{
                "earlier_finals": [()] * total,
                "earlier_judge_finals": [()] * total,
                "cut_off": False,
                "not_shown": "",
                "cluster": "",
                "structured": 0.0,
            },
            **{"self_judged": False, "judge_language": "en", "prompt_sha256": "same", "rubric": "urs 1"},
            **{"dataset": "simulated", "dataset_sha256": "", "references": "", "task_version": "1-A"},
            **{"answer_length": np.floor(np.exp(generator.normal(6, 1, total))), "error": ""},
            **dict.fromkeys((*unknown, "seconds"), math.nan),
        }
        tables.append(pd.DataFrame(columns))
    return Answers(pd.concat(tables, ignore_index=True), (), ())


@dataclass
class Found:
    """What one simulation found.

    Attributes:
        columns: Column -> its intervals: whether each holds the truth, its width, and the number of questions.
        orders: Name of a property of tests and rank intervals -> whether it holds, or in which share of columns.
    """

    columns: dict[Column, list[tuple[bool, float, int]]] = field(default_factory=dict)
    orders: dict[str, float] = field(default_factory=dict)

    def add(self, column: Column, estimate: Estimate, truth: float) -> None:
        """Note an interval; one that does not exist is left out."""
        if not math.isnan(estimate.low):
            holds = estimate.low <= truth <= estimate.high
            self.columns.setdefault(column, []).append((holds, estimate.high - estimate.low, estimate.clusters))


def simulate(drawn_from: Population, qualities: Sequence[float], rounds: int, seed: int) -> Found:
    """Make a report of a simulation and hold it against the truth."""
    answers = made_up_answers(drawn_from, qualities, np.random.default_rng((seed, len(qualities))))
    [ranking] = make_leaderboard(answers, rounds=rounds, seed=seed).rankings
    quality = dict(zip(model_names(qualities), qualities, strict=True))
    found = Found()
    for name in ranking.names:
        truth = drawn_from.truth(quality[name])
        for column in _columns(ranking):
            found.add(column, ranking.mean(name, column[1]), truth[column[1]])
        found.add(("length", "length against score"), ranking.models["length_correlation"][name], 0.0)
        finals = answers.table.loc[answers.table["model"] == name, "final"].dropna()
        found.add(CONTROL, _textbook(finals.to_numpy(dtype=np.float64)), truth["all"])
    for pair in ranking.comparisons["all"]:
        truth_of_pair = [drawn_from.truth(quality[name])["all"] for name in (pair.first, pair.second)]
        found.add(("differences", "differences of two models"), pair.difference, truth_of_pair[0] - truth_of_pair[1])
    found.orders = _orders(ranking, quality)
    return found


def _textbook(finals: Floats) -> Estimate:
    """Student's interval of a mean, to see what is due to the draws of questions alone."""
    half = float(stdtrit(len(finals) - 1, 0.975) * finals.std(ddof=1) / math.sqrt(len(finals)))
    mean = float(finals.mean())
    return Estimate(mean, mean - half, mean + half, len(finals), len(finals))


def _columns(ranking: Ranking) -> Iterator[Column]:
    columns = ranking.columns
    kinds = {"intents": columns.groups, "parts": columns.parts, "languages": columns.languages, "cells": columns.cells}
    yield "all", "all"
    for kind, keys in kinds.items():
        yield from ((kind, key) for key in keys)


def _orders(ranking: Ranking, quality: dict[str, float]) -> dict[str, float]:
    """What is right about the tests and rank intervals of a report."""
    pairs = [(pair, abs(quality[pair.first] - quality[pair.second])) for pair in ranking.comparisons["all"]]
    far = [pair for pair, apart in pairs if apart > 0.25]
    near = [pair for pair, apart in pairs if 0 < apart <= 0.25]
    ranks = {
        name: (first or 1, last or len(quality))
        for name, first, last in ranking.models[["rank_from", "rank_to"]].itertuples(name=None)
    }
    # Equal models share the ranks that they take together.
    true = {
        name: (1 + sum(other > own for other in quality.values()), sum(other >= own for other in quality.values()))
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
    """Share of intents and languages in which the best model is called better than one that is not worse."""
    found = [
        any(pair.significant and quality[pair.first] <= quality[pair.second] for pair in pairs)
        for key, pairs in ranking.comparisons.items()
        if key != "all"
    ]
    return float(np.mean(found))


_POPULATION: list[Population] = []


def _job_lacking(job: tuple[float, int, int]) -> tuple[bool, float, float]:
    """Whether equal models differ, in which share of columns, and the share of questions that are common."""
    lacking, rounds, seed = job
    generator = np.random.default_rng((seed, len(EQUAL), int(1000 * lacking)))
    answers = made_up_answers(_POPULATION[0], EQUAL, generator, lacking)
    [ranking] = make_leaderboard(answers, rounds=rounds, seed=seed).rankings
    quality = dict(zip(model_names(EQUAL), EQUAL, strict=True))
    differ = any(pair.significant for pair in ranking.comparisons["all"])
    return differ, false_columns(ranking, quality), ranking.questions / ranking.asked


def _job(job: tuple[tuple[float, ...], int, int]) -> Found:
    qualities, rounds, seed = job
    return simulate(_POPULATION[0], qualities, rounds, seed)


def _share(values: Sequence[float]) -> tuple[float, float]:
    """Mean of one value a simulation, and 1.96 standard errors."""
    array = np.array(values, dtype=np.float64)
    return float(array.mean()), 1.96 * float(array.std(ddof=1)) / math.sqrt(len(array)) if len(array) > 1 else math.nan


def print_coverage(found: Sequence[Found]) -> bool:
    """Print how often intervals hold the truth, by kind and by column; whether the goal is met for every kind."""
    columns = {column: None for one in found for column in one.columns}
    kinds = list(dict.fromkeys(kind for kind, _ in columns))
    rows = [(kind, [column for column in columns if column[0] == kind]) for kind in kinds]
    shown = ("intents", "parts", "languages", "cells")
    rows += [(f"- {name}", [(kind, name)]) for kind, name in columns if kind in shown]
    met = True
    print("| intervals of | questions | coverage | mean width | intervals |\n|---|---|---|---|---|")
    for title, chosen in rows:
        held = [[one for column in chosen for one in result.columns.get(column, [])] for result in found]
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
    print("| questions | " + " | ".join(f"percentiles, {q} | report, {q}" for q in qualities) + " |")
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
                bounds = [percentile_bounds(found.draws), ([e.low for e in estimates], [e.high for e in estimates])]
                truth = expected_final(quality)
                held += [np.mean((np.array(low) <= truth) & (truth <= np.array(high))) for low, high in bounds]
            cells += [f"{share:.1%}" for share in held / _BATCHES]
        print(f"| {size} | {' | '.join(cells)} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--dataset", default="urs", help="as for the task urs")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--unscored", type=float, default=UNSCORED[0], help="share of scores missing at random")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    begun = perf_counter()
    UNSCORED[0] = options.unscored
    _POPULATION.append(population(options.dataset))
    print(f"{options.simulations} simulations of {len(_POPULATION[0].facts)} questions, {options.rounds:,} rounds each")
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
        print(f"\nEqual models, {', '.join(map(str, EQUAL))}, of which one lacks its worst scores\n")
        print(f"| missing | common questions | {FALSE} | {FALSE_IN_COLUMNS} |\n|---|---|---|---|")
        for lacking in LACKING:
            results = workers.map(
                _job_lacking, [(lacking, options.rounds, seed) for seed in range(options.simulations)], chunksize=5
            )
            shares = [_share([float(one[place]) for one in results]) for place in range(3)]
            met &= all(share <= FAMILY_ERROR + error for share, error in shares[:2])
            cells = [f"{share:.1%} ± {error:.1%}" for share, error in shares[:2]]
            print(f"| {lacking:.0%} | {shares[2][0]:.1%} | {' | '.join(cells)} |")
    print(f"\nMeans over few questions, {_BATCHES * options.simulations:,} simulations of one model\n")
    print_small((RANKED[0], EQUAL[0]), options.simulations, options.rounds)
    print(f"\n{perf_counter() - begun:.0f} s; goals {'met' if met else 'MISSED'}", flush=True)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
