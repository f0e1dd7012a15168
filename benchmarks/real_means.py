"""What corrected means promise, on published verdicts of real judges beside people's labels.

Data: TriviaQA answers of eight models to 400 questions, nine judges' verdicts on each, and one
person's verdict on each (Thakur et al., "Judging the Judges", 2024). A draw takes 300 questions
with replacement; of 20, 40 or 100 of them, the same for all models, people's labels are known. The
truth is the share of all 400 answers of a model that the person calls right. Corrected means are
those of `urs-inspect compare --human` and `report --human` (prediction-powered inference).
`benchmarks/real_judges.py` makes tables and the picture of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.sample_efficiency import Workers
from urs_inspect.importing._files import Naming
from urs_inspect.importing._scores import Scores, read_scores_file
from urs_inspect.stats._adjusted_means import RatedScores, powered_means
from urs_inspect.stats._bootstrap import Estimate, Floats
from urs_inspect.stats._means import contrast, mean_estimates
from urs_inspect.stats._paired import all_pairs

QUESTIONS = 300
LABELS = (20, 40, 100)
ROUNDS = 400
COIN = "a coin"
_NO_JUDGE = ("model", "response", "question", "references", "benchmark")
_PERSON = "Human-Eval"


@dataclass(frozen=True)
class Verdicts:
    """Verdicts on the answers of all models to all questions, 1 for right, shape (Q, M)."""

    models: tuple[str, ...]
    person: Floats
    judges: dict[str, Floats]


def read_triviaqa(path: Path) -> Verdicts:
    """Read the published table as `urs-inspect import verdicts` does.

    Questions are left out where the person's verdict on a model's answer is missing.
    """
    file = Naming().read(path)
    judges = [name for name in file.columns if name not in _NO_JUDGE and _PERSON not in name]
    scores: Scores = {}
    read_scores_file(file, judges, _PERSON, {}, scores, [])
    given = {key: float(value) for key, (_, value) in scores.items()}
    models = tuple(dict.fromkeys(model for _, model, _ in scores))
    asked = dict.fromkeys(question for question, _, _ in scores)
    questions = [
        question
        for question in asked
        if all((question, model, _PERSON) in given for model in models)
    ]

    def table(judge: str) -> Floats:
        rows = [[given[question, model, judge] for model in models] for question in questions]
        return np.array(rows)

    return Verdicts(models, table(_PERSON), {judge: table(judge) for judge in judges})


@dataclass(frozen=True)
class Study:
    """A judge, and how many labels there are of each model."""

    given: Verdicts
    judge: str
    labels: int

    @property
    def scores(self) -> Floats:
        """The judge's verdicts."""
        return self.given.judges[self.judge]

    @property
    def agrees(self) -> float:
        """Share of the person's verdicts that the judge gives as well."""
        return float((self.scores == self.given.person).mean())

    @property
    def bias(self) -> float:
        """Mean error of the judge's own means."""
        return float(self.scores.mean() - self.given.person.mean())


@dataclass(frozen=True)
class Draw:
    """What one draw shows."""

    errors: Floats  # of the judge's means, people alone and corrected means; shape (3, M)
    held: Floats  # whether intervals of means hold the truth, NaN where they have no bounds
    held_differences: Floats  # the same of all differences of two means
    widths: Floats  # of corrected means and people alone, shape (2, M)


def draw_study(study: Study, seed: int) -> Draw:
    """Label some answers, and correct the means of all."""
    generator = np.random.default_rng((seed, study.labels))
    truth = study.given.person.mean(axis=0)
    chosen = generator.integers(len(study.given.person), size=QUESTIONS)
    scores = study.scores[chosen]
    people = np.full_like(scores, np.nan)
    people[: study.labels] = study.given.person[chosen][: study.labels]
    known = ~np.isnan(people)
    rated = RatedScores(scores, people, np.where(known, scores, np.nan), known.astype(float))
    found, _ = powered_means(rated, {"all": np.arange(QUESTIONS)}, rounds=ROUNDS, seed=seed)
    corrected = mean_estimates(found["all"].corrected, 0.95)
    alone = mean_estimates(found["all"].people, 0.95)
    pairs = all_pairs(len(truth))
    signs = np.zeros((len(truth), len(pairs)))
    for column, (first, second) in enumerate(pairs):
        signs[first, column] = 1
        signs[second, column] = -1
    differences = mean_estimates(contrast(found["all"].corrected, signs), 0.95)
    return Draw(
        np.stack([scores.mean(axis=0), _values(alone), _values(corrected)]) - truth,
        _held(corrected, truth),
        _held(differences, truth @ signs),
        np.stack([_widths(corrected), _widths(alone)]),
    )


def _values(estimates: Sequence[Estimate]) -> Floats:
    return np.array([estimate.value for estimate in estimates])


def _widths(estimates: Sequence[Estimate]) -> Floats:
    return np.array([estimate.high - estimate.low for estimate in estimates])


def _held(estimates: Sequence[Estimate], truth: Floats) -> Floats:
    held = []
    for estimate, value in zip(estimates, truth, strict=True):
        if np.isnan(estimate.low):
            held.append(np.nan)
        else:
            held.append(float(estimate.low <= value <= estimate.high))
    return np.array(held)


@dataclass(frozen=True)
class Found:
    """What the draws of a study show."""

    study: Study
    errors: Floats  # root mean square error of the judge, people alone and corrected means
    coverage: float
    coverage_of_differences: float
    unbounded: float
    width: float

    @property
    def saved(self) -> float:
        """Share of the labels that the judge saves."""
        return float(1 - (self.errors[2] / self.errors[1]) ** 2)


def try_judge(study: Study, seeds: Sequence[int], workers: Workers) -> Found:
    """Draw the study with each seed."""
    draws = workers(partial(draw_study, study), seeds)
    held = np.array([draw.held for draw in draws])
    widths = np.array([draw.widths for draw in draws])
    narrower = widths[:, 0] / np.where(widths[:, 1] > 0, widths[:, 1], np.nan)
    errors = np.array([draw.errors for draw in draws])
    return Found(
        study,
        np.sqrt((errors**2).mean(axis=(0, 2))),
        float(np.nanmean(held)),
        float(np.nanmean([draw.held_differences for draw in draws])),
        float(np.isnan(held).mean()),
        float(np.nanmean(narrower)),
    )


def judges_by_agreement(given: Verdicts) -> list[str]:
    """The judges, the one that agrees most often with the person first."""
    return sorted(given.judges, key=lambda name: -Study(given, name, 0).agrees)


def with_coin(given: Verdicts, seed: int) -> Verdicts:
    """The same with a judge that knows nothing."""
    generator = np.random.default_rng(seed)
    coin = generator.integers(2, size=given.person.shape).astype(float)
    return Verdicts(given.models, given.person, {**given.judges, COIN: coin})


def means_table(found: Sequence[Found]) -> Iterator[str]:
    """Lines of the table of corrected means."""
    yield (
        "| judge | labels | agrees | bias | error: judge | people alone | corrected |"
        " coverage | of differences | no bounds | width | saved |"
    )
    yield "|---" * 12 + "|"
    for row in found:
        judge, alone, corrected = row.errors
        study = row.study
        yield (
            f"| {study.judge} | {study.labels} | {study.agrees:.3f} | {study.bias:+.3f} |"
            f" {judge:.3f} | {alone:.3f} | {corrected:.3f} | {row.coverage:.1%} |"
            f" {row.coverage_of_differences:.1%} | {row.unbounded:.1%} | {row.width:.2f} |"
            f" {row.saved:.0%} |"
        )
