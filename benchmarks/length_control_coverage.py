"""How often the intervals of means at equal length hold the truth, and what length control can and
cannot remove.

Four models answer questions that are drawn anew in every simulation. A score is what the model is
worth, plus an effect of the question, plus points for each doubling of the length, plus noise;
lengths depend on the question, the model and chance. The settings:

- `no effect`, `effect`: 0 and 0.4 points for a doubling
- `by model`: one model's answers are eight times as long as the others', and lengths vary little
  else
- `unequal variance`: the noise of a score grows with its length
- `epochs`: three answers to each question, averaged
- `missing`: a tenth of the scores is missing at random, so that a third of the questions is
- `skewed lengths`: a tenth of the answers is very short
- `slopes`: doubling earns 0.1 to 0.7 points, by model, and scores are whole and cut to 1 to 10

The truth is the same computation over 400,000 questions. Printed is the share of intervals that
hold it; and how often two models of equal worth, of which one writes longer answers, differ
significantly by their means and at equal length. All settings share their random draws, so that
rows of one number of questions are not independent.

    python benchmarks/length_control_coverage.py [--simulations 1000] [--seed 0]

Exits with 1 if coverage is below 93% or above 97% by more than the error of the simulation itself.
"""

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np

from urs_inspect.stats._adjusted_means import LengthControl, control_length, length_column
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._means import MeanDraws, bootstrap_means, contrast, mean_estimates, p_values
from urs_inspect.stats._paired import all_pairs, difference_column

WORTH = np.array([6.0, 6.0, 5.5, 5.0])
LONGER = np.array([1.0, 0.0, 0.0, -0.5])
"""Doublings of each model's length beyond the usual."""
QUESTIONS = (20, 100, 1000)
TRUTH = 400_000
GOAL = (0.93, 0.97)
PAIRS = all_pairs(len(WORTH))
SIGNS = np.array([[(model == a) - (model == b) for a, b in PAIRS] for model in range(len(WORTH))])


@dataclass(frozen=True)
class Setting:
    """How lengths and scores come about.

    Attributes:
        slope: Points for a doubling, one for all models or one per model.
        longer: Doublings of each model's length beyond the usual.
        spread: Standard deviation of log lengths within a question and model, in doublings.
    """

    slope: float | tuple[float, ...] = 0.4
    longer: tuple[float, ...] = tuple(LONGER.tolist())
    spread: float = 0.6
    epochs: int = 1
    missing: float = 0.0
    short: float = 0.0
    growing: bool = False
    rounded: bool = False


SETTINGS = {
    "no effect": Setting(slope=0.0),
    "effect": Setting(),
    "by model": Setting(longer=(3.0, 0.0, 0.0, 0.0), spread=0.15),
    "unequal variance": Setting(growing=True),
    "epochs": Setting(epochs=3),
    "missing": Setting(missing=0.1),
    "skewed lengths": Setting(short=0.1),
    "slopes": Setting(slope=(0.1, 0.3, 0.5, 0.7), rounded=True),
}


def answers(
    setting: Setting, questions: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Scores and log lengths of questions for which every model has a score, epochs averaged;
    (questions, models).
    """
    shape = (questions, len(WORTH), setting.epochs)
    usual = 9 + 0.8 * generator.standard_normal((questions, 1, 1))
    lengths = (
        usual
        + np.array(setting.longer)[:, None]
        + setting.spread * generator.standard_normal(shape)
    )
    lengths = np.maximum(0.0, lengths - 5 * (generator.random(shape) < setting.short))
    noise = generator.standard_normal(shape)
    if setting.growing:
        noise *= np.exp2(0.7 * (lengths - 9))
    effect = np.broadcast_to(np.asarray(setting.slope), WORTH.shape)[:, None]
    scores = (
        WORTH[:, None]
        + generator.standard_normal((questions, 1, 1))
        + effect * (lengths - 9)
        + noise
    )
    if setting.rounded:
        scores = np.clip(np.rint(scores), 1, 10)
    kept = (generator.random(shape[:2]) >= setting.missing).all(axis=1)
    return scores.mean(axis=2)[kept], lengths.mean(axis=2)[kept]


def controlled(
    scores: Floats, lengths: Floats, rounds: int, seed: int
) -> tuple[LengthControl, MeanDraws, MeanDraws]:
    """Length control, and differences as they are and at equal length."""
    columns = [length_column(scores, lengths), difference_column(scores, PAIRS)]
    found, plain = bootstrap_means(columns, len(scores), rounds=rounds, seed=seed)
    control = control_length(found)
    return control, plain, contrast(control.means, SIGNS)


@cache
def truth_of(setting: Setting) -> tuple[LengthControl, MeanDraws, MeanDraws]:
    """What the computation gives over many questions."""
    return controlled(*answers(setting, TRUTH, np.random.default_rng(99)), 1, 0)


def simulate(
    setting: Setting, questions: int, simulations: int, seed: int, rounds: int
) -> tuple[Floats, Floats]:
    """Share of intervals that hold the truth (slope, means, differences).

    Share of claims about the equal pair.
    """
    generator = np.random.default_rng((seed, questions))
    true, _, true_differences = truth_of(setting)
    held = np.zeros((simulations, 3))
    claims = np.zeros((simulations, 2))
    for place in range(simulations):
        control, plain, differences = controlled(
            *answers(setting, questions, generator), rounds, place
        )
        parts = (
            (control.slope, true.slope),
            (control.means, true.means),
            (differences, true_differences),
        )
        for column, (found, truth) in enumerate(parts):
            estimates = mean_estimates(found)
            pairs = zip(estimates, truth.values, strict=True)
            held[place, column] = np.mean(
                [estimate.low <= value <= estimate.high for estimate, value in pairs]
            )
        claims[place] = [p_values(drawn)[0] < 0.05 for drawn in (plain, differences)]
    return held, claims


def planted(simulations: int, seed: int) -> None:
    """Print what is left of a judge's liking for length, and of quality that comes with length."""
    print(
        "\n"
        "| planted over 400 questions, two models of equal worth | by means | at equal"
        " length | slope |"
    )
    print("|---|---|---|---|")
    cases: dict[str, Callable[[Floats, Floats], Floats]] = {
        "judge gives 0.4 for a doubling; the first writes 3 times as much": (
            lambda _own, lengths: 0.4 * lengths
        ),
        "the first is 0.5 better, and writes 3 times as much; the judge ignores length": (
            lambda own, _: np.array([0.5, 0.0, 0.0, 0.0]) + 0 * own
        ),
        "a longer answer is better: 0.4 for a doubling is real": (
            lambda _own, lengths: 0.4 * lengths
        ),
        "a better answer is longer: quality moves length, and not the other way": (
            lambda own, _: own
        ),
    }
    for title, worth in cases.items():
        rows = []
        for number in range(simulations):
            generator = np.random.default_rng((seed, number))
            own = generator.standard_normal((400, 4))
            caused = 0.5 * own if title.startswith("a better") else 0.0
            lengths = (
                9
                + np.array([np.log2(3), 0, 0, 0])
                + 0.6 * generator.standard_normal((400, 4))
                + caused
            )
            scores = (
                6
                + worth(own, lengths)
                + generator.standard_normal((400, 1))
                + generator.standard_normal((400, 4))
            )
            control, plain, differences = controlled(scores, lengths, 1, 0)
            rows.append((plain.values[0], differences.values[0], control.slope.values[0]))
        means = np.mean(rows, axis=0)
        print(f"| {title} | {means[0]:+.2f} | {means[1]:+.2f} | {means[2]:+.2f} |")
    generator = np.random.default_rng((seed, 1))
    print(
        "\n"
        "| share of empty answers, score 1 | slope (truth: 0.40) | counting one as log(1"
        " + 0) |\n"
        "|---|---|---|"
    )
    for part in (0.0, 0.005, 0.01, 0.02):
        scores, lengths = answers(Setting(), 100_000, generator)
        empty = generator.random(scores.shape) < part
        scores[empty] = 1
        slopes = [
            controlled(scores, np.where(empty, by, lengths), 1, 0)[0].slope.values[0]
            for by in (np.nan, 0.0)
        ]
        print(f"| {part:.1%} | {slopes[0]:+.2f} | {slopes[1]:+.2f} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    met = True
    claimed = "equal worth called different by means | at equal length"
    print(
        "| setting | questions | slope | means at equal length | differences at equal length |"
        f" {claimed} |"
    )
    print("|---|---|---|---|---|---|---|")
    for title, setting in SETTINGS.items():
        for questions in QUESTIONS:
            held, claims = simulate(
                setting, questions, options.simulations, options.seed, options.rounds
            )
            errors = 1.96 * held.std(axis=0, ddof=1) / np.sqrt(len(held))
            shares = held.mean(axis=0)
            met &= bool(((shares + errors >= GOAL[0]) & (shares - errors <= GOAL[1])).all())
            cells = [
                f"{share:.1%} ± {error:.1%}" for share, error in zip(shares, errors, strict=True)
            ]
            equal = np.ndim(setting.slope) == 0  # else the two are not equal at equal length
            cells += [f"{share:.1%}" if equal else "-" for share in claims.mean(axis=0)]
            print(f"| {title} | {questions:,} | {' | '.join(cells)} |", flush=True)
    planted(max(10, options.simulations // 5), options.seed)
    print(f"\ngoals {'met' if met else 'MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
