"""Whether people should rate some answers more often than others: measured on real verdicts.

TriviaQA answers of eight models, a judge's verdict on all, one person's on 30 of each model. Which
30 is drawn with equal rates, or more often where the judge's verdict is a surprise beside those of
the question and the model (the additive fit of `_surprises`), where a second judge disagrees with
it, or where a panel of small judges is not unanimous. Weights undo the rates, as those of `urs-inspect
annotate` do. Shown is the share of the squared error of corrected means that each way of
drawing saves beside equal rates, with its standard error over draws; `benchmarks/real_judges.py`
makes a table of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.real_means import Verdicts
from benchmarks.sample_efficiency import Workers
from urs_inspect.stats._adjusted_means import RatedScores, powered_means
from urs_inspect.stats._bootstrap import Floats

RATED = 30
QUESTIONS = 300
HIGHEST_RATE = 3.0
SMALL = ("Llama3-8B", "Llama-7B", "Mistral-7B")
PANELS = (
    ("GPT-4", "Llama3-70B"),
    ("GPT-4", "Llama-13B"),
    ("Llama-13B", "Mistral-7B"),
    ("Llama3-8B", "Mistral-7B"),
    SMALL,
    ("GPT-4", "Llama3-70B", "Llama-13B"),
)
_POINTS = 9  # between a wrong and a right answer, as on the scale of 1 to 10
_STEPS = 20


def _surprises(verdicts: Floats) -> Floats:
    """How far verdicts are from what question and model predict, in points of 1 to 10."""
    values = _POINTS * (verdicts - verdicts.mean())
    questions = np.zeros((len(values), 1))
    models = np.zeros((1, values.shape[1]))
    for _ in range(_STEPS):
        models = (values - questions).mean(axis=0, keepdims=True)
        questions = (values - models).sum(axis=1, keepdims=True) / (1 + values.shape[1])
    return np.asarray(np.abs(values - models - questions))


@dataclass(frozen=True)
class Way:
    """A judge, and how often each answer is drawn, relative to others; shape (Q, M)."""

    judge: str
    name: str
    verdicts: Floats
    rates: Floats


def ways(given: Verdicts) -> Iterator[Way]:
    """Ways of drawing."""
    panel = np.stack([given.judges[name] for name in SMALL])
    split = panel.std(axis=0) > 0
    for judge in ("GPT-4", "Llama3-70B", "Llama-13B", "Mistral-7B", "Llama3-8B"):
        verdicts = given.judges[judge]
        surprise = np.minimum(HIGHEST_RATE, 1 + _surprises(verdicts))
        yield Way(judge, "its verdict is a surprise", verdicts, surprise)
        second = "GPT-4" if judge != "GPT-4" else "Llama3-70B"
        disagree = given.judges[second] != verdicts
        rates = np.where(disagree, HIGHEST_RATE, 1.0)
        yield Way(judge, f"{second} disagrees", verdicts, rates)
        if judge not in SMALL:
            rates = np.where(split, HIGHEST_RATE, 1.0)
            yield Way(judge, "three small judges are not unanimous", verdicts, rates)
    for names in PANELS:
        scores = np.stack([given.judges[name] for name in names])
        rates = np.where(scores.std(axis=0) > 0, HIGHEST_RATE, 1.0)
        yield Way(f"mean of {', '.join(names)}", "they disagree", scores.mean(axis=0), rates)


def _weights(rates: Floats, generator: np.random.Generator) -> Floats:
    """How many answers each drawn one stands for, NaN for the others; shape (Q, M)."""
    keys = -np.log(1 - generator.random(rates.shape)) / rates
    ordered = np.sort(keys, axis=0)
    threshold = ordered[RATED]
    drawn = keys < threshold
    return np.where(drawn, 1 / (1 - np.exp(-rates * threshold)), np.nan)


def _error(way: Way, person: Floats, equal: bool, seed: int) -> float:
    """Mean squared error of corrected means of one draw."""
    generator = np.random.default_rng(seed)
    chosen = generator.integers(len(person), size=QUESTIONS)
    rates = np.ones((QUESTIONS, person.shape[1])) if equal else way.rates[chosen]
    weights = _weights(rates, generator)
    known = ~np.isnan(weights)
    verdicts = way.verdicts[chosen]
    scores = RatedScores(
        verdicts,
        np.where(known, person[chosen], np.nan),
        np.where(known, verdicts, np.nan),
        np.nan_to_num(weights),
    )
    found, _ = powered_means(scores, {"all": np.arange(QUESTIONS)}, rounds=2, seed=seed)
    # The draw's own questions are the truth: which of them are rated is what differs.
    truth = person[chosen].mean(axis=0)
    return float(((found["all"].corrected.values - truth) ** 2).mean())


def _errors(way: Way, person: Floats, seed: int) -> tuple[float, float]:
    return _error(way, person, True, seed), _error(way, person, False, seed)


def queue_table(given: Verdicts, draws: int, seed: int, workers: Workers) -> Iterator[str]:
    """What each way of drawing saves beside equal rates."""
    yield "| judge | drawn more often where | saved beside equal rates |"
    yield "|---" * 3 + "|"
    seeds = [seed * 100_000 + draw for draw in range(draws)]
    for way in ways(given):
        errors = np.array(workers(partial(_errors, way, given.person), seeds))
        equal, unequal = errors.mean(axis=0)
        ratio = unequal / equal
        spread = (errors[:, 1] - ratio * errors[:, 0]).std(ddof=1) / equal / np.sqrt(draws)
        yield f"| {way.judge} | {way.name} | {1 - ratio:+.0%} ± {spread:.0%} |"
