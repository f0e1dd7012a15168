"""Means of people's ratings with a judge as predictor: few ratings, many scores, one unbiased number."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from urs_inspect.stats.bootstrap import ROUNDS, SEED, Floats, Integers, ratio
from urs_inspect.stats.means import MeanColumn, MeanDraws, Reweight, bootstrap_means, effective_number

_NO_SPREAD = 1e-12
"""Sums of squared deviations of scores below this are rounding errors."""
_STEPS = 200
"""Steps of coordinate descent over two coefficients; each shrinks the error by their squared correlation."""


@dataclass(frozen=True)
class RatedScores:
    """Scores of a judge for all answers and ratings by people for some, on one scale; arrays of shape (Q, M).

    Attributes:
        judge: Score of each question and model; none is NaN.
        people: Rating, NaN where there is none.
        judge_of_rated: The judge's score of what people rated, such as one of several epochs; NaN where `people` is.
        weights: How many answers a rated one stands for, up to a factor; above 0 where there is a rating.
    """

    judge: Floats
    people: Floats
    judge_of_rated: Floats
    weights: Floats


@dataclass(frozen=True)
class PoweredMeans:
    """Means over one set of questions, with their values in the same rounds; one per model each.

    Attributes:
        corrected: Means of people's ratings, predicted by the judge and corrected by the ratings.
        people: Means of the ratings alone.
        predicted: The part of `corrected` that the judge's scores of all answers contribute, less its mean: the
            noise that more ratings of the same questions do not reduce.
    """

    corrected: MeanDraws
    people: MeanDraws
    predicted: MeanDraws


def powered_means(
    scores: RatedScores,
    columns: Mapping[str, Integers],
    *,
    coefficients: tuple[float, float] | None = None,
    shares: Floats | None = None,
    reweight: Reweight | None = None,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[dict[str, PoweredMeans], tuple[float, float]]:
    """Estimate what people would give on average if they rated every answer.

    Prediction-powered inference with power tuning (Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered
    Inference", 2023, section 6), clustered by question. For each model the estimate is

        mean of L over all questions + mean of (rating - L) over the rated ones,

    where L predicts the rating from the judge: `c1 * a + c2 * (score - a)`, `a` being the judge's mean over the models
    of the question. It is unbiased for any fixed c1 and c2, whatever the judge does. One coefficient (c1 = c2, as in
    the paper) would have to serve means and differences alike: where models are rated on the same questions, what a
    judge says of a question as a whole cancels out of their differences, and what it says of single models may be
    noise. With two, a contrast of two means is tuned as well as each of them.

    Both are fitted by least squares over all models with an intercept per model; for the ratings of a question, without
    that question, so that the fit does not make intervals too narrow. Each lies between 0 and what it would be if judge
    and people agreed perfectly, the ratio of their standard deviations, so that the judge's scale does not matter. As
    the first mean is over all questions, rated ones included, c is the plain slope, N / (N - n) times the paper's
    lambda, which is over unrated ones; with all answers rated the estimate is the mean of the ratings.

    Args:
        scores: Scores and ratings.
        columns: Name of a set of questions -> their numbers; the means over each are estimated, by the same
            coefficients.
        coefficients: Fixed c1 and c2, each any number; by default they are fitted.
        shares: Weights of the questions, shape (Q,); by default all weigh the same.
        reweight: As for `bootstrap_means`; `shares` are its weights where each question is drawn once.
        rounds: Rounds of the bootstrap, in which whole questions are drawn.
        seed: Seed of the bootstrap; the same seed gives the same rounds.

    Returns:
        Name of a set -> its means; and the coefficients. `n` of a mean is the number of rated questions, where weights
        differ their effective number (Kish).
    """
    common = scores.judge.mean(axis=1, keepdims=True)
    own, own_of_rated = scores.judge - common, scores.judge_of_rated - common
    there = np.ones(len(common)) if shares is None else shares
    known = ~np.isnan(scores.people)
    weights = np.where(known, scores.weights * there[:, None], 0.0)
    if coefficients is None:
        parts = np.stack([np.broadcast_to(common, own.shape), np.where(known, own_of_rated, 0.0)])
        coefficients, without = _fit(parts, np.where(known, scores.people, 0.0), weights)
    else:
        without = np.broadcast_to(np.array(coefficients), (len(common), 2))
    wanted: list[MeanColumn] = []
    for chosen in columns.values():
        rated = chosen[known[chosen].any(axis=1)]
        centre, own_centre = (np.average(part[chosen], axis=0, weights=there[chosen]) for part in (common, own))
        predicted = coefficients[0] * (common[chosen] - centre) + coefficients[1] * (own[chosen] - own_centre)
        residual = scores.people[rated] - without[rated, :1] * (common[rated] - centre)
        residual -= without[rated, 1:] * (own_of_rated[rated] - own_centre)
        weight = np.where(known[rated], scores.weights[rated], np.nan)
        wanted.append(MeanColumn(chosen, predicted))
        wanted += [MeanColumn(rated, values * weight) for values in (residual, scores.people[rated])]
        wanted.append(MeanColumn(rated, weight))
    draws = bootstrap_means(wanted, len(common), reweight=reweight, rounds=rounds, seed=seed)
    found = {}
    for place, (name, chosen) in enumerate(columns.items()):
        judged, residuals, people, weighed = draws[4 * place : 4 * place + 4]
        n = np.array([int(effective_number(part) + _NO_SPREAD) if part.any() else 0 for part in weights[chosen].T])
        corrected, alone = (_quotient(part, weighed, n) for part in (residuals, people))
        both = MeanDraws(corrected.values + judged.values, corrected.draws + judged.draws, n, seed)
        found[name] = PoweredMeans(both, alone, judged)
    return found, coefficients


def _quotient(above: MeanDraws, below: MeanDraws, n: Integers) -> MeanDraws:
    """Weighted means from means of value times weight and of weight."""
    return MeanDraws(ratio(above.values, below.values), ratio(above.draws, below.draws), n, above.seed)


def _fit(parts: Floats, people: Floats, weights: Floats) -> tuple[tuple[float, float], Floats]:
    """Coefficients of two parts, shape (2, Q, M), by all questions; and without each question, shape (Q, 2)."""
    # The variance of a weighted mean is the sum of squared weights times squared residuals.
    squared = (weights / weights.max(initial=1.0)) ** 2
    total = squared.sum(axis=0)
    stacked = np.concatenate([parts, people[None]])
    centre = np.divide((squared * stacked).sum(axis=1), total, out=np.zeros((3, len(total))), where=total > 0)
    deviations = stacked - centre[:, None, :]
    products = deviations[:, None] * deviations[None]  # shape (3, 3, Q, M)
    # Taking one answer out of a weighted sum of squares about the mean takes out more than its own square.
    left = total - squared
    taken = squared * np.divide(total, left, out=np.zeros_like(squared), where=left > _NO_SPREAD)
    whole = (squared * products).sum(axis=(2, 3))
    without = whole[..., None] - (taken * products).sum(axis=3)
    first, second = _least_squares(whole[..., None])[:, 0].tolist()
    return (first, second), _least_squares(without).T


def _least_squares(sums: Floats) -> Floats:
    """Coefficients within bounds that minimise squares, by sums of products, shape (3, 3, K) -> (2, K)."""
    found = np.zeros((2, sums.shape[2]))
    spread = sums[[0, 1], [0, 1]]
    inverse = np.divide(1, spread, out=np.zeros_like(spread), where=spread > _NO_SPREAD)
    most = np.sqrt(np.maximum(sums[2, 2], 0) * inverse)
    for _ in range(_STEPS):
        before = found.copy()
        for part, other in ((0, 1), (1, 0)):
            found[part] = np.clip((sums[part, 2] - sums[0, 1] * found[other]) * inverse[part], 0, most[part])
        if np.abs(found - before).max(initial=0) < 1e-9:
            break
    return found
