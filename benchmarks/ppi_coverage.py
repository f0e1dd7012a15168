"""How often the intervals of means corrected by people hold the truth, and how wide they are beside
people alone.

Simulates four models whose quality a judge misjudges by up to 1.5 points, scores of 1 to 10 in
whole numbers, questions that are easy or hard for all models, and people who rate some answers: on
the same questions for all models, on questions drawn for each model, or on answers that a page
draws the more often the lower the judge's score is, with their weights. `agreement` is the
correlation of judge and people within a model, before rounding. In the rows "by the queue" people
rate the first answers, of three models together, that the queue of `annotate` gives them;
the judge has independent errors, or gives 10 % of the answers any score, or is useless. Then the
same with the pairs of MD-Eval (`URS_INSPECT_DATA_DIR`), the judge being "the longer answer wins":
pairs are drawn with replacement, so that the truth is the share of all pairs that the first answer
wins. The design "raters" is about equal models, rated by people of whom some are more lenient than
others: how often two models are called different, where raters are ignored and where their effects
are taken out. Prints tables in Markdown.

    python benchmarks/ppi_coverage.py [--simulations 1000] [--rounds 500] [--seed 0] [--design "by
    the queue"|raters]
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, replace

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np
from scipy.special import ndtr

from urs_inspect.annotation._ratings import Rating, inclusion_weights
from urs_inspect.datasets._benches import load_md_eval
from urs_inspect.rating._queue import Answer
from urs_inspect.rating._queue import draw as draw_queue
from urs_inspect.samer import load_taxonomy
from urs_inspect.stats import Estimate, mean_estimates
from urs_inspect.stats._adjusted_means import (
    ByRater,
    RatedScores,
    powered_means,
    ratings_by_same_raters,
)
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._means import contrast, p_values
from urs_inspect.stats._paired import all_pairs, holm

QUALITY = np.array([7.5, 7.0, 6.5, 6.0])
BIAS = np.array([-1.0, 0.5, 1.5, 0.0])
QUESTION = 1.2
ANSWER = 1.2
"""Standard deviations of what is common to the models of a question, and of single answers."""
GROSS = 0.1
"""Share of answers to which the judge with gross errors gives any score."""
INTENTS = 6


@dataclass(frozen=True)
class Setting:
    """A row of the table; `agreement` is that on questions and on single answers."""

    design: str
    questions: int
    rated: int
    agreement: tuple[float, float]
    coefficients: tuple[float, float] | None = None
    scale: float = 1.0  # how much of people's spread the judge has
    models: int = len(QUALITY)
    gross: bool = False  # whether the judge agrees perfectly, except for a share of gross errors

    @property
    def name(self) -> str:
        """The setting in words."""
        if self.design == "by the queue":
            useless = (
                "useless judge"
                if self.agreement[0] == 0
                else f"independent errors, {self.agreement[0]:g}"
            )
            text = f"{GROSS:.0%} gross errors" if self.gross else useless
            return f"{self.design} | {self.rated} of {self.models} x {self.questions} | {text}"
        same = self.agreement[0] == self.agreement[1]
        text = (
            f"{self.agreement[0]:g}"
            if same
            else f"{self.agreement[0]:g} on questions, {self.agreement[1]:g} on answers"
        )
        text += f", one coefficient {self.coefficients[0]:g}" if self.coefficients else ""
        text += f", spread of the judge {self.scale:g}" if self.scale != 1 else ""
        return f"{self.design} | {self.rated} of {self.questions:,} | {text}"


def settings() -> list[Setting]:
    """All rows."""
    levels = ((0.0, 0.0), (0.4, 0.4), (0.8, 0.8))
    rows = [Setting("same questions", 200, n, level) for n in (10, 20, 40, 100) for level in levels]
    rows += [Setting("same questions", 200, 200, (0.8, 0.8))]
    rows += [Setting("same questions", 1846, n, (0.8, 0.8)) for n in (10, 40, 400)]
    rows += [
        Setting("drawn for each model", 200, n, level) for n in (10, 20, 40) for level in levels
    ]
    rows += [Setting("drawn for each model", 1846, n, (0.8, 0.8)) for n in (40, 400)]
    rows += [Setting("weighted", 200, n, level) for n in (20, 40, 100) for level in levels]
    rows += [Setting("weighted", 1846, n, (0.8, 0.8)) for n in (40, 400)]
    rows += [Setting("same questions", 200, n, (0.8, 0.8), scale=0.4) for n in (10, 40)]
    rows += [
        Setting("by the queue", 200, n, (level, level), models=3, gross=gross)
        for n in (60, 180, 420)
        for level, gross in ((0.8, False), (1.0, True), (0.0, False))
    ]
    return rows + [
        Setting("same questions", 200, 40, (0.9, 0.0), fixed) for fixed in (None, (0.5, 0.5))
    ]


def draw(setting: Setting, generator: np.random.Generator) -> RatedScores:
    """One study."""
    shape = (setting.questions, setting.models)

    def pair(size: tuple[int, int], agreement: float) -> tuple[Floats, Floats]:
        people, other = generator.normal(size=(2, *size))
        return people, agreement * people + np.sqrt(1 - agreement**2) * other

    questions = pair((shape[0], 1), setting.agreement[0])
    answers = pair(shape, setting.agreement[1])
    people, judge = (
        np.clip(
            np.rint(
                (QUALITY + bias)[: setting.models] + scale * (QUESTION * common + ANSWER * own)
            ),
            1,
            10,
        )
        for bias, scale, common, own in zip(
            (0, BIAS), (1, setting.scale), questions, answers, strict=True
        )
    )
    if setting.gross:
        judge = np.where(generator.random(shape) < GROSS, generator.integers(1, 11, shape), judge)
    rated, weights = _chosen(setting, judge, generator)
    return RatedScores(
        judge, np.where(rated, people, np.nan), np.where(rated, judge, np.nan), weights
    )


def _chosen(
    setting: Setting, judge: Floats, generator: np.random.Generator
) -> tuple[np.ndarray, Floats]:
    rated = np.zeros(judge.shape, dtype=bool)
    weights = np.ones(judge.shape)
    if setting.design == "same questions":
        rated[generator.permutation(len(judge))[: setting.rated]] = True
        return rated, weights
    if setting.design == "by the queue":
        return _queued(setting, judge, generator)
    for model in range(judge.shape[1]):
        order = generator.permutation(len(judge))
        if setting.design != "weighted":
            rated[order[: setting.rated], model] = True
            continue
        # Systematic sampling in a random order: exactly as many answers, each with its own chance.
        wish = 12 - judge[order, model]
        chance = setting.rated * wish / wish.sum()
        while (chance > 1).any():
            sure = chance >= 1
            chance[sure] = 1
            chance[~sure] *= (setting.rated - sure.sum()) / chance[~sure].sum()
        places = np.floor(np.cumsum(chance) - generator.random() + 1e-9)
        rated[order, model] = np.diff(places, prepend=-1) > 0
        weights[order, model] = 1 / chance
    return rated, weights


def _queued(
    setting: Setting, judge: Floats, generator: np.random.Generator
) -> tuple[np.ndarray, Floats]:
    """What people rate who stop the queue of `annotate`, and its weights."""
    text = str(
        generator.integers(2**60)
    )  # the order is a hash of the answers: other texts, other chances
    usual = judge.mean(axis=0)
    queue = draw_queue(
        [
            Answer(
                str(place),
                str(model),
                1,
                str(place % INTENTS),
                "en",
                "",
                text,
                # As if a second judge gave every answer of a model the same score.
                disagreement=float(abs(judge[place, model] - usual[model])),
            )
            for place in range(len(judge))
            for model in range(judge.shape[1])
        ]
    )[: setting.rated]
    rated = np.zeros(judge.shape, dtype=bool)
    weights = np.ones(judge.shape)
    places = tuple(
        np.array([(int(drawn.answer.question), int(drawn.answer.model)) for drawn in queue]).T
    )
    rated[places] = True
    ratings = [
        Rating(
            item.question,
            item.model,
            1,
            "",
            item.text_digest,
            rate=drawn.rate,
            threshold=drawn.threshold,
        )
        for drawn in queue
        for item in [drawn.answer]
    ]
    stand_for = inclusion_weights(ratings)
    weights[places] = [stand_for[rating.answer_id] for rating in ratings]
    return rated, weights


def true_means() -> Floats:
    """Exact means of people's ratings."""
    spread = np.hypot(QUESTION, ANSWER)
    bounds = np.arange(1.5, 10)
    return np.asarray(
        1 + (1 - ndtr((bounds[:, None] - QUALITY) / spread)).sum(axis=0), dtype=np.float64
    )


# --- lenient and strict raters of equal models ---

RATED_QUESTIONS = 100
LENIENCY = 1.5
"""Number of questions, and standard deviation of raters' effects in points."""
Cells = list[tuple[int, int, int]]
"""Question, model and rater of each rating."""
RATERS = {
    "random answers": "6 raters, each of 20 random answers of 3 models",
    "the same questions": "4 raters of 3 models, each of the same 15 questions",
    "mostly one model each": "2 raters, each of 40 answers of one model and 12 of the other",
    "a chain": "2 raters, of the models a and b, and b and c, 20 answers each",
    "one model each": "2 raters, each of 40 answers of one model",
}
"""Who rates what, by its short name, in words."""
_NUMBERS = {
    "mostly one model each": {(0, 0): 40, (0, 1): 12, (1, 0): 12, (1, 1): 40},
    "a chain": {(0, 0): 20, (1, 0): 20, (1, 1): 20, (2, 1): 20},
    "one model each": {(0, 0): 40, (1, 1): 40},
}
"""Model and rater -> number of answers that are rated."""


def rated_cells(kind: str, generator: np.random.Generator) -> tuple[Cells, int, int]:
    """Ratings of a study, and its numbers of models and raters."""
    cells: Cells = []
    if kind == "random answers":
        for rater in range(6):
            chosen = generator.choice(3 * RATED_QUESTIONS, 20, replace=False).tolist()
            cells += [(answer // 3, answer % 3, rater) for answer in chosen]
        return cells, 3, 6
    if kind == "the same questions":
        for rater in range(4):
            chosen = generator.choice(RATED_QUESTIONS, 15, replace=False).tolist()
            for model in range(3):
                cells += [(question, model, rater) for question in chosen]
        return cells, 3, 4
    numbers = _NUMBERS[kind]
    for (model, rater), number in numbers.items():
        chosen = generator.choice(RATED_QUESTIONS, number, replace=False).tolist()
        cells += [(question, model, rater) for question in chosen]
    models = 1 + max(model for model, _ in numbers)
    return cells, models, 2


def draw_raters(kind: str, generator: np.random.Generator) -> RatedScores:
    """One study of equal models."""
    cells, models, raters = rated_cells(kind, generator)
    shape = (RATED_QUESTIONS, models)
    level = 6 + generator.normal(0, 1, (RATED_QUESTIONS, 1)) + generator.normal(0, 0.8, shape)
    judge = level + generator.normal(0, 0.8, shape)
    lenient = generator.normal(0, LENIENCY, raters)
    shares = np.zeros((*shape, raters))
    parts = np.zeros_like(shares)
    for question, model, rater in cells:
        shares[question, model, rater] = 1
        parts[question, model, rater] = (
            level[question, model] + lenient[rater] + generator.normal(0, 0.7)
        )
    number = np.maximum(shares.sum(axis=2, keepdims=True), 1)
    shares = shares / number
    parts = parts / number
    rated = shares.sum(axis=2) > 0
    people = np.where(rated, parts.sum(axis=2), np.nan)
    judge_of_rated = np.where(rated, judge, np.nan)
    return RatedScores(judge, people, judge_of_rated, np.ones(shape), ByRater(shares, parts))


def differences_of(
    study: RatedScores, rounds: int, seed: int
) -> tuple[tuple[Estimate, ...], float]:
    """Differences of all pairs of models, and the smallest of their p-values (Holm)."""
    questions, models = study.judge.shape
    means, _ = powered_means(study, {"all": np.arange(questions)}, rounds=rounds, seed=seed)
    first, second = np.array(all_pairs(models)).T
    own = np.eye(models)
    differences = contrast(means["all"].corrected, own[:, first] - own[:, second])
    return mean_estimates(differences), min(holm(p_values(differences).tolist()))


def raters_row(kind: str, options: argparse.Namespace) -> str:
    """Cells of a row: least link, false claims with raters ignored and taken out, coverage and
    widths.
    """
    generator = np.random.default_rng(options.seed)
    links: list[float] = []
    claims: dict[str, list[bool]] = {"ignored": [], "taken out": []}
    covered: list[bool] = []
    widths: dict[str, list[float]] = {"ignored": [], "taken out": []}
    for number in range(options.simulations):
        study = draw_raters(kind, generator)
        if study.raters is not None:
            links.append(float(ratings_by_same_raters(study.raters.shares.sum(axis=0)).min()))
        studies = {"ignored": replace(study, raters=None)}
        if kind != "one model each":
            studies["taken out"] = study
        for way, given in studies.items():
            estimates, smallest = differences_of(given, options.rounds, number)
            claims[way].append(smallest < 0.05)
            widths[way] += [estimate.high - estimate.low for estimate in estimates]
            if way == "taken out":
                covered += [estimate.low <= 0 <= estimate.high for estimate in estimates]
    cells = [f"{np.mean(links):.2g}", f"{np.mean(claims['ignored']):.1%}"]
    if not covered:
        return " | ".join([*cells, "none: confounded", "", ""])
    width = f"{np.mean(widths['taken out']):.2f} ({np.mean(widths['ignored']):.2f})"
    return " | ".join(
        [*cells, f"{np.mean(claims['taken out']):.1%}", f"{np.mean(covered):.1%}", width]
    )


def raters_table(options: argparse.Namespace) -> None:
    """Print false claims of equal models with lenient and strict raters."""
    print(f"\n{options.simulations:,} simulations, seed {options.seed}\n")
    print(
        "| raters | link | claims, raters ignored | raters taken out | coverage of differences |"
        " width (ignored) |"
    )
    print("|---|---|---|---|---|---|")
    for kind, title in RATERS.items():
        print(f"| {title} | {raters_row(kind, options)} |", flush=True)


@dataclass
class Tally:
    """Coverage and widths of intervals, with and without the judge, and squared errors."""

    held: list[list[bool]]
    widths: list[list[float]]
    errors: list[list[float]]

    def add(self, estimates: tuple[Estimate, ...], truths: Floats) -> None:
        """Count the intervals of one simulation."""
        pairs = list(zip(estimates, truths.tolist(), strict=True))
        self.held.append([estimate.low <= truth <= estimate.high for estimate, truth in pairs])
        self.widths.append([estimate.high - estimate.low for estimate in estimates])
        self.errors.append([(estimate.value - truth) ** 2 for estimate, truth in pairs])


def simulate(
    make: Callable[[np.random.Generator], RatedScores],
    truths: Floats,
    signs: Floats,
    options: argparse.Namespace,
    coefficients: tuple[float, float] | None = None,
) -> str:
    """Cells of a row: coverage of means and differences corrected and by people alone, widths, and
    ratings saved.
    """
    tallies = [Tally([], [], []) for _ in range(4)]
    generator = np.random.default_rng(options.seed)
    for number in range(options.simulations):
        study = make(generator)
        made, _ = powered_means(
            study,
            {"all": np.arange(len(study.judge))},
            rounds=options.rounds,
            seed=number,
            coefficients=coefficients,
        )
        for place, found in enumerate((made["all"].corrected, made["all"].people)):
            tallies[place].add(mean_estimates(found), truths)
            if signs.size:
                tallies[2 + place].add(mean_estimates(contrast(found, signs)), truths @ signs)
    cells = []
    for tally in tallies:
        if tally.held:
            each = np.mean(tally.held, axis=1)
            cells.append(f"{each.mean():.1%} ± {1.96 * each.std() / np.sqrt(len(each)):.1%}")
    for corrected, alone in (tallies[:2], tallies[2:]):
        if corrected.held:
            width = np.mean(corrected.widths) / np.mean(alone.widths)
            cells.append(f"{width:.2f}")
    cells.append(f"{1 - np.mean(tallies[0].errors) / np.mean(tallies[1].errors):+.0%}")
    return " | ".join(cells)


def md_eval(options: argparse.Namespace) -> None:
    """The same with real pairs and the judge "the longer answer wins"."""
    taxonomy = load_taxonomy()
    pairs = load_md_eval(taxonomy.dimension, tuple(taxonomy.scenarios)).cases
    winners = np.array([{"a": 1.0, "b": 0.0, "tie": 0.5}[pair.label] for pair in pairs])
    lengths = np.array([(len(pair.response_a), len(pair.response_b)) for pair in pairs])
    longer = (1 + np.sign(lengths[:, 0] - lengths[:, 1])) / 2
    correlation = np.corrcoef(winners, longer)[0, 1]
    print(
        f"\n{len(pairs)} pairs of MD-Eval, longer answer as judge; correlation {correlation:.3f}\n"
    )
    print("| rated | corrected | people alone | width | ratings saved |\n|---|---|---|---|---|")
    for rated, others in ((40, 349), (100, 349), (100, 1846)):

        def make(
            generator: np.random.Generator, rated: int = rated, others: int = others
        ) -> RatedScores:
            drawn = generator.integers(len(pairs), size=rated + others)
            people = winners[drawn][:, None].copy()
            judge = longer[drawn][:, None]
            people[rated:] = np.nan
            return RatedScores(
                judge, people, np.where(np.isnan(people), np.nan, judge), np.ones_like(judge)
            )

        row = simulate(make, winners.mean(keepdims=True), np.empty((1, 0)), options)
        print(f"| {rated} beside {others:,} | {row} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--design", help="only rows of this design, such as 'by the queue'")
    parser.add_argument(
        "--parts", type=int, default=1, help="processes among which the rows are divided"
    )
    parser.add_argument(
        "--part", type=int, default=0, help="number of this one, from 0; the first one has MD-Eval"
    )
    options = parser.parse_args()
    if options.design == "raters":
        raters_table(options)
        return
    chosen = [setting for setting in settings() if options.design in (None, setting.design)]
    rows = chosen[options.part :: options.parts]
    print("| rated answers | of each model | agreement | mean | people alone | difference"
        " | people alone | width, mean | width, difference | ratings saved |\n"
        "|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    for setting in rows:
        models = range(setting.models)
        signs = np.array(
            [[(model == a) - (model == b) for a, b in all_pairs(len(models))] for model in models],
            dtype=float,
        )
        truths = true_means()[: setting.models]
        row = simulate(
            lambda g, s=setting: draw(s, g),  # type: ignore[misc]
            truths,
            signs,
            options,
            setting.coefficients,
        )
        print(f"| {setting.name} | {row} |", flush=True)
    if options.part == 0 and options.design is None:
        md_eval(options)
        raters_table(options)


if __name__ == "__main__":
    main()
