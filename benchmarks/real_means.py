"""What corrected means promise, on published verdicts of real judges beside people's labels.

    URS_INSPECT_DATA_DIR=DIR python benchmarks/real_judges.py [--draws 400] [--seed 1]
        [--output docs/real_judges.md]

Data: TriviaQA answers of eight models to 400 questions, nine judges' verdicts on each, and one
person's verdict on each (Thakur et al., "Judging the Judges", 2024). A draw takes 300 questions
with replacement; of 20, 40 or 100 of them, the same for all models, people's labels are known. The
truth is the share of all 400 answers of a model that the person calls right. Corrected means are
those of `urs-inspect report --human` (prediction-powered inference). Printed for each judge, and
for a coin: how often it agrees with the person; the mean bias of its own means; the root mean
square error of the judge's means, of people's labels alone, and of corrected means; the share of
corrected 95% intervals that hold the truth, and how many have no bounds; their width beside people
alone; the share of labels saved, 1 less the ratio of the mean squared errors.

Every figure is of real verdicts and labels; only the draws are random.
"""

import argparse
import csv
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np

from urs_inspect.datasets._sources import fetch, find_source
from urs_inspect.stats._adjusted_means import RatedScores, powered_means
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._means import mean_estimates

QUESTIONS = 300
LABELS = (20, 40, 100)
ROUNDS = 400
PAGE = """\
# Real judges beside people

Nine published judges, and one person's verdict on each of 3,200 answers, show what `urs-inspect report --human` promises: means that people's labels of some answers correct. Every verdict and label here is
real; only the draws are random. The page is written by `{command}`.

- The intervals keep their promise with every judge from 40 labels of each model on. With 20 labels they hold the truth a little less often for judges that are nearly always right: their few errors may not be among the labels.
- With GPT-4 as the judge, 40 labels are as precise as people alone with about three times as many. A judge that is 20 points wrong in every mean still saves a quarter of the labels. A useless one costs up to 3%.
- Corrected means come closer to the truth than the judge's own, except GPT-4's below 100 labels and those of the next best judge at 20. Without labels nobody would know which judge this is.

Data: answers of eight models to 400 questions of TriviaQA with the verdicts of nine judges and of a person (Thakur et al., "Judging the Judges", 2024; `urs-inspect data fetch real_judges/triviaqa`). A draw takes {questions} questions with replacement;
of so many `labels` of them, the same for all models, the person's verdicts are known. The truth is the share of a model's 400 answers that the person calls right. `bias` is the mean error of the judge's own means; `error` the root mean square error of a mean, over {draws} draws and
eight models; `coverage` the share of 95% intervals that hold the truth (uncertain by about 1 point), `no bounds` the share that have none; `width` that of the corrected interval beside people alone; `saved` 1 less the ratio of the mean squared errors.

"""
_COIN = "a coin"
_NO_JUDGE = ("model", "response", "question", "references", "benchmark")
_PERSON = "Human-Eval"


@dataclass(frozen=True)
class Verdicts:
    """Verdicts on the answers of all models to all questions, 1 for right, shape (Q, M)."""

    models: tuple[str, ...]
    person: Floats
    judges: dict[str, Floats]


def read_triviaqa(path: Path) -> Verdicts:
    """Read the published table; rows without the person's verdict are left out."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row[_PERSON]]
    names = [name for name in rows[0] if name not in _NO_JUDGE and not name.startswith(_PERSON)]
    models = tuple(dict.fromkeys(row["model"] for row in rows))
    questions = list(dict.fromkeys(row["question"] for row in rows))
    cells = {(row["question"], row["model"]): row for row in rows}

    def table(name: str) -> Floats:
        return np.array(
            [
                [float(cells[question, model][name] == "True") for model in models]
                for question in questions
                if all((question, each) in cells for each in models)
            ]
        )

    return Verdicts(models, table(_PERSON), {name: table(name) for name in names})


@dataclass(frozen=True)
class Found:
    """What the draws show of one judge, with so many labels."""

    judge: str
    labels: int
    agrees: float
    bias: float
    errors: tuple[float, float, float]  # of the judge, people alone, and corrected means
    coverage: float
    unbounded: float
    width: float

    @property
    def saved(self) -> float:
        """Share of the labels that the judge saves."""
        _, alone, corrected = self.errors
        return 1 - (corrected / alone) ** 2

    def row(self) -> str:
        """A line of the table."""
        judge, alone, corrected = self.errors
        return (
            f"| {self.judge} | {self.labels} | {self.agrees:.3f} | {self.bias:+.3f} |"
            f" {judge:.3f} | {alone:.3f} | {corrected:.3f} | {self.coverage:.1%} |"
            f" {self.unbounded:.1%} | {self.width:.2f} | {self.saved:.0%} |"
        )


def try_judge(
    name: str, given: Verdicts, judge: Floats, labels: int, draws: int, seed: int
) -> Found:
    """Draw studies of one judge."""
    generator = np.random.default_rng((seed, labels))
    total, models = given.person.shape
    truth = given.person.mean(axis=0)
    columns = {"all": np.arange(QUESTIONS)}
    errors = np.zeros((draws, 3, models))
    held = np.zeros((draws, models))
    bounded = np.zeros((draws, models), dtype=bool)
    widths = np.full((draws, models), np.nan)
    for draw in range(draws):
        chosen = generator.integers(total, size=QUESTIONS)
        person = given.person[chosen]
        scores = judge[chosen]
        people = np.full_like(person, np.nan)
        people[:labels] = person[:labels]
        judge_of_rated = np.where(np.isnan(people), np.nan, scores)
        rated = RatedScores(scores, people, judge_of_rated, np.where(np.isnan(people), 0.0, 1.0))
        found, _ = powered_means(rated, columns, rounds=ROUNDS, seed=draw)
        corrected = mean_estimates(found["all"].corrected, 0.95)
        by_people = mean_estimates(found["all"].people, 0.95)
        errors[draw, 0] = scores.mean(axis=0) - truth
        errors[draw, 1] = [each.value for each in by_people] - truth
        errors[draw, 2] = [each.value for each in corrected] - truth
        low = np.array([each.low for each in corrected])
        high = np.array([each.high for each in corrected])
        bounded[draw] = ~np.isnan(low)
        held[draw] = (low <= truth) & (truth <= high)
        width = np.array([each.high - each.low for each in by_people])
        widths[draw] = np.where(width > 0, (high - low) / np.where(width > 0, width, 1.0), np.nan)
    squares = np.sqrt((errors**2).mean(axis=(0, 2)))
    return Found(
        judge=name,
        labels=labels,
        agrees=float((judge == given.person).mean()),
        bias=float((judge.mean(axis=0) - truth).mean()),
        errors=(float(squares[0]), float(squares[1]), float(squares[2])),
        coverage=float(held[bounded].mean()),
        unbounded=float(1 - bounded.mean()),
        width=float(np.nanmean(widths)),
    )


def corrected_means(given: Verdicts, draws: int, seed: int) -> Iterator[str]:
    """Lines of the table of corrected means."""
    yield (
        "| judge | labels | agrees | bias | error: judge | people alone | corrected |"
        " coverage | no bounds | width | saved |"
    )
    yield "|---" * 11 + "|"
    coin = np.random.default_rng(seed).integers(2, size=given.person.shape).astype(float)
    judges = {**given.judges, _COIN: coin}
    order = sorted(judges, key=lambda name: -(judges[name] == given.person).mean())
    for name in order:
        for labels in LABELS:
            yield try_judge(name, given, judges[name], labels, draws, seed).row()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    verdicts = read_triviaqa(fetch(find_source("real_judges/triviaqa")))
    lines = []
    for line in corrected_means(verdicts, options.draws, options.seed):
        print(line, flush=True)
        lines.append(line)
    if options.output:
        command = f"python benchmarks/real_judges.py --draws {options.draws} --seed {options.seed}"
        start = PAGE.format(command=command, questions=QUESTIONS, draws=options.draws)
        options.output.write_text(start + "\n".join(lines) + "\n", encoding="utf-8")
