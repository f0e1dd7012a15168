"""Means of a judge's scores that are adjusted.

They are corrected by people's ratings of some answers, or by a regression on length.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import ROUNDS, SEED, Flags, Floats, Integers, ratio
from urs_inspect.stats._correlation import derived_seed
from urs_inspect.stats._means import (
    MeanColumn,
    MeanDraws,
    Reweight,
    bootstrap_means,
    effective_number,
)

_NO_SPREAD = 1e-12
"""Sums of squared deviations of scores below this are rounding errors."""
_EQUAL_LENGTH = 1e-9
"""Lengths whose spread is a smaller share of what it was are equal except for rounding errors."""
FEWEST_BY_SAME_RATERS = 10
"""Fewest ratings of each of two models by the same raters that tell a better model from a more
lenient rater, as of `ratings_by_same_raters`.
"""
_UNSEEN = 0.75
"""Answers with a large error of the judge, beside those that were rated.

Chosen by coverage on verdicts of nine published judges; `docs/real_judges.md` has other draws.
"""
_USUAL = 2
"""Standard deviations of residuals beyond which one is a large error."""
_NO_ERROR = 1e-9
"""Residuals that differ by a smaller share of the scale are equal except for rounding errors."""
_RULE_OF_THREE = 3 / 1.96
"""Standard deviation, times n, with which 95% intervals reach 3 / n, what n answers can miss."""
_NOISE = 3
"""Number of the stream of random numbers for errors that were not seen."""
_STEPS = 200
"""Steps of coordinate descent over two coefficients.

Each shrinks the error by their squared correlation.
"""


@dataclass(frozen=True)
class ByRater:
    """Ratings of answers by R raters, arrays of shape (Q, M, R).

    0 where a rater did not rate an answer.
    """

    # share of each rater in the mean rating of an answer; they add up to 1 where it was rated
    shares: Floats
    parts: Floats  # what each rater adds to that mean


@dataclass(frozen=True)
class RatedScores:
    """Scores of a judge for all answers and ratings by people for some, on one scale.

    Arrays of shape (Q, M).
    """

    judge: Floats  # none is NaN
    people: Floats  # NaN where there is no rating
    # the judge's score of what people rated, such as one of several epochs; else NaN
    judge_of_rated: Floats
    # how many answers a rated one stands for, up to a factor; above 0 where there is a rating
    weights: Floats
    # where several raters are known: how lenient each one is, is then taken out
    raters: ByRater | None = None


@dataclass(frozen=True)
class PoweredMeans:
    """Means over one set of questions, with their values in the same rounds; one per model each."""

    # means of people's ratings, predicted by the judge and corrected by the ratings
    corrected: MeanDraws
    people: MeanDraws  # means of the ratings alone
    # the noise in `corrected` that more ratings of the same questions do not reduce
    predicted: MeanDraws


@dataclass(frozen=True)
class RaterEffects:
    """How lenient raters are, as far as ratings of the same models show it."""

    values: Floats  # points above the mean of all ratings, shape (R,)
    # what each question adds to them, to the first order; adds up to 0, shape (Q, R)
    influence: Floats


def rater_effects(shares: Floats, parts: Floats) -> RaterEffects:
    """Effects of raters by least squares of ratings on rater and model.

    Arguments are those of `ByRater`, weighted by answer. Only ratings of different models by one
    rater, or of one model by different raters, tell raters from models; of raters that nothing
    links, all effects are as small as possible.
    """
    counts = shares.sum(axis=0)
    totals = parts.sum(axis=0)
    models = len(counts)
    by_model = counts.sum(axis=1)
    by_rater = counts.sum(axis=0)
    of_models = [np.diag(by_model), counts]
    of_raters = [counts.T, np.diag(by_rater)]
    matrix = np.block([of_models, of_raters])
    inverse = np.linalg.pinv(matrix, hermitian=True)
    sums_of_models = totals.sum(axis=1)
    sums_of_raters = totals.sum(axis=0)
    sums = np.concatenate([sums_of_models, sums_of_raters])
    solved = inverse @ sums
    fitted = solved[:models, None] + solved[None, models:]
    residuals = parts - shares * fitted
    by_question_and_model = residuals.sum(axis=2)
    by_question_and_rater = residuals.sum(axis=1)
    by_question = np.concatenate([by_question_and_model, by_question_and_rater], axis=1)
    influence = by_question @ inverse
    effects = solved[models:]
    drift = influence[:, models:]
    usual = by_rater / by_rater.sum()
    usual_drift = drift @ usual
    return RaterEffects(
        values=effects - usual @ effects,
        influence=drift - usual_drift[:, None],
    )


def ratings_by_same_raters(counts: Floats) -> Floats:
    """How many ratings of each of two models by the same raters tell as much.

    What they tell is the difference of the two.

    `counts` are numbers of ratings by model and rater, shape (M, R); the result has shape (M, M).
    With unit variance of a rating, the difference of two models has the variance v by least squares
    on rater and model; n ratings of each by the same raters have 2 / n. It is 0 where no chain of
    raters links the models, and infinite for a model and itself.
    """
    by_rater = np.maximum(counts.sum(axis=0), _NO_SPREAD)
    by_model = np.diag(counts.sum(axis=1))
    shared = counts @ (counts / by_rater).T
    information = by_model - shared
    tiny = 1e-9 * max(float(counts.sum()), 1.0)
    identity = np.eye(len(counts))
    inverse = np.linalg.inv(information + tiny * identity)
    own = np.diagonal(inverse)
    variance = own[:, None] + own[None] - 2 * inverse
    is_known = variance > 0
    none = np.zeros_like(variance)
    ratings = np.divide(2, variance, where=is_known, out=none)
    rounded = np.round(ratings, 6)
    return np.where(is_known, rounded, np.inf)


def powered_means(
    scores: RatedScores,
    columns: Mapping[str, Integers],
    *,
    coefficients: tuple[float, float] | None = None,
    width: float = 1.0,
    reweight: Reweight | None = None,
    clusters: Integers | None = None,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[dict[str, PoweredMeans], tuple[float, float]]:
    """Estimate what people would give on average if they rated every answer.

    Prediction-powered inference with power tuning (Angelopoulos, Duchi and Zrnic, "PPI++: Efficient
    Prediction-Powered Inference", 2023, section 6), clustered by question. For each model the
    estimate is

        mean of L over all questions + mean of (rating - L) over the rated ones,

    where L predicts the rating from the judge: `c1 * a + c2 * (score - a)`, `a` being the judge's
    mean over the models of the question. It is unbiased for any fixed c1 and c2, whatever the judge
    does. One coefficient (c1 = c2, as in the paper) would have to serve means and differences
    alike: where models are rated on the same questions, what a judge says of a question as a whole
    cancels out of their differences, and what it says of single models may be noise. With two, a
    contrast of two means is tuned as well as each of them.

    Both are fitted by least squares over all models with an intercept per model; for the ratings of
    a question, without that question, so that the fit does not make intervals too narrow. Each lies
    between 0 and what it would be if judge and people agreed perfectly, the ratio of their standard
    deviations, so that the judge's scale does not matter. As the first mean is over all questions,
    rated ones included, c is the plain slope, N / (N - n) times the paper's lambda, which is over
    unrated ones; with all answers rated the estimate is the mean of the ratings.

    `columns` names sets of questions by their numbers; the means over each are estimated, by the
    same coefficients. `n` of a mean is the number of rated questions, where weights differ their
    effective number (Kish). Each round draws whole questions, or whole `clusters` of them;
    coefficients are fitted question by question all the same.

    A judge that is nearly always right makes few errors, which may not be among the rated answers;
    the rounds then say too little of them. Where some residual is more than two standard deviations
    from the mean, each corrected mean has noise in its rounds, as of `_UNSEEN` answers more with
    the part of it that is beyond them. Noise of two models is as correlated as their residuals on
    the same questions, and smaller by the root of the share of answers that were not rated. Where
    the judge errs on no rated answer, it is as large as the rule of three
    allows, 3 / n of `width`, the highest less the lowest possible rating.

    Where raters are known, how lenient each one is (`rater_effects` of rating less L) is taken out
    of the ratings, at the level of all of them together, and what the rounds change of it is a part
    of the intervals, to the first order. The fit of c takes it out as the ratings alone show it.
    `n` is then at most what the ratings tell of differences.
    """
    questions = len(scores.judge)
    everything = np.arange(questions)
    shares = np.ones(questions)
    if reweight is not None:
        [shares] = reweight(shares[None, :])
    share = shares[:, None]
    known = ~np.isnan(scores.people)
    weighted = scores.weights * share
    weights = np.where(known, weighted, 0.0)
    expected = _expected(scores, weights, shares, coefficients)
    predicted = np.where(known, expected.of_rated, 0.0)
    adjusted = _without_raters(scores, weights, predicted)
    residuals = expected.residuals(adjusted.people, everything, everything)
    residuals = np.where(known, residuals, np.nan)
    unseen = _unseen_errors(residuals, width, rounds, seed)
    wanted: list[MeanColumn] = []
    for chosen in columns.values():
        is_rated = known[chosen].any(axis=1)
        rated = chosen[is_rated]
        residual = expected.residuals(adjusted.people, rated, chosen)
        weight = np.where(known[rated], scores.weights[rated], np.nan)
        people = adjusted.people[rated]
        sums = np.hstack([residual * weight, people * weight, weight])
        predictions = expected.of_all(chosen)
        wanted.append(MeanColumn(chosen, predictions))
        wanted.append(MeanColumn(rated, sums))
    none = np.zeros_like(adjusted.influence)
    influence = np.divide(adjusted.influence, share, out=none, where=share > 0)
    wanted.append(MeanColumn(everything, influence * shares.sum()))
    *draws, moved = bootstrap_means(
        wanted,
        questions,
        reweight=reweight,
        clusters=clusters,
        rounds=rounds,
        seed=seed,
    )
    found = {}
    all_judged = draws[::2]
    all_sums = draws[1::2]
    parts = zip(columns.items(), all_judged, all_sums, strict=True)
    for (name, chosen), judged, sums_drawn in parts:
        numbers = [effective_number(column) for column in weights[chosen].T]
        whole = [int(number + _NO_SPREAD) for number in numbers]
        n = np.minimum(whole, adjusted.most)
        rated_by = adjusted.rated_by(weights, chosen)
        drift = moved.draws @ rated_by.T
        unrated = 1 - known[chosen].mean(axis=0)
        at_least_one = np.maximum(n, 1)
        noise = unseen * np.sqrt(unrated) / at_least_one
        found[name] = _joined(judged, sums_drawn, n, drift, noise)
    return found, expected.coefficients


@dataclass(frozen=True)
class _Expected:
    """What a judge's scores let expect of ratings, shape (Q, M) where nothing else is said."""

    common: Floats  # the judge's mean over the models, shape (Q, 1)
    own: Floats  # its scores less that
    own_of_rated: Floats  # the same of the scores of what people rated
    coefficients: tuple[float, float]  # of the two
    without: Floats  # the coefficients by all other questions, shape (Q, 2)
    shares: Floats  # weight of each question, shape (Q,)

    @property
    def of_rated(self) -> Floats:
        """Predicted ratings, up to a constant, NaN where nothing was rated."""
        by_common = self.without[:, :1] * self.common
        by_own = self.without[:, 1:] * self.own_of_rated
        return by_common + by_own

    def _centres(self, chosen: Integers) -> tuple[Floats, Floats]:
        shares = self.shares[chosen]
        common = np.average(self.common[chosen], axis=0, weights=shares)
        own = np.average(self.own[chosen], axis=0, weights=shares)
        return common, own

    def of_all(self, chosen: Integers) -> Floats:
        """Predictions of all answers to some questions, less their mean."""
        common, own = self._centres(chosen)
        first, second = self.coefficients
        by_common = first * (self.common[chosen] - common)
        by_own = second * (self.own[chosen] - own)
        return by_common + by_own

    def residuals(self, people: Floats, rated: Integers, chosen: Integers) -> Floats:
        """Ratings of some questions less predictions, which are centred on the chosen ones."""
        common, own = self._centres(chosen)
        first = self.without[rated, :1]
        second = self.without[rated, 1:]
        by_common = first * (self.common[rated] - common)
        by_own = second * (self.own_of_rated[rated] - own)
        return people[rated] - by_common - by_own


def _expected(
    scores: RatedScores,
    weights: Floats,
    shares: Floats,
    coefficients: tuple[float, float] | None,
) -> _Expected:
    """Fit the coefficients, unless they are given."""
    common = scores.judge.mean(axis=1, keepdims=True)
    own = scores.judge - common
    own_of_rated = scores.judge_of_rated - common
    if coefficients is not None:
        given = np.array(coefficients)
        without = np.broadcast_to(given, (len(own), 2))
        return _Expected(common, own, own_of_rated, coefficients, without, shares)
    known = ~np.isnan(scores.people)
    common_part = np.broadcast_to(common, own.shape)
    own_part = np.where(known, own_of_rated, 0.0)
    nothing = np.zeros_like(weights)
    people = _without_raters(scores, weights, nothing).people
    ratings = np.where(known, people, 0.0)
    parts = np.stack([common_part, own_part])
    fitted, without = _fit(parts, ratings, weights)
    return _Expected(common, own, own_of_rated, fitted, without, shares)


def _joined(
    judged: MeanDraws, sums: MeanDraws, n: Integers, drift: Floats, noise: Floats
) -> PoweredMeans:
    """Means of predictions, and of weighted residuals, ratings and weights, as `PoweredMeans`.

    `drift` is what raters add in each round, `noise` what errors that were not seen add.
    """
    residual, rating, weight = np.split(sums.values, 3, axis=-1)
    residual_drawn, rating_drawn, weight_drawn = np.split(sums.draws, 3, axis=-1)
    groups = np.minimum(n, sums.clusters[: len(n)])
    correction = ratio(residual_drawn, weight_drawn) - drift
    corrected = MeanDraws(
        values=ratio(residual, weight) + judged.values,
        draws=correction + judged.draws + noise,
        n=n,
        seed=sums.seed,
        clusters=groups,
    )
    people = MeanDraws(
        values=ratio(rating, weight),
        draws=ratio(rating_drawn, weight_drawn) - drift,
        n=n,
        seed=sums.seed,
        clusters=groups,
    )
    return PoweredMeans(corrected, people, judged)


def _unseen_errors(residuals: Floats, width: float, rounds: int, seed: int) -> Floats:
    """Noise in rounds, times the number of rated answers, for errors that no rated answer shows.

    Residuals have the shape (Q, M), NaN where an answer was not rated; noise (rounds, M).
    """
    known = ~np.isnan(residuals)
    sums = np.nansum(residuals, axis=0)
    counts = known.sum(axis=0)
    means = ratio(sums, counts)
    deviations = np.where(known, residuals - means, 0.0)
    squares = deviations**2
    largest = float(squares.max(initial=0.0))
    rated = max(int(known.sum()), 1)
    usual = _USUAL**2 * float(squares.sum()) / rated
    beyond = max(largest - usual, 0.0)
    deviation = math.sqrt(_UNSEEN * beyond)
    if math.sqrt(largest) < _NO_ERROR * width:
        deviation = _RULE_OF_THREE * width
    shared = _shared_part(deviations, known)
    generator = np.random.default_rng(derived_seed(seed, _NOISE))
    own = generator.standard_normal((rounds, residuals.shape[1]))
    common = generator.standard_normal((rounds, 1))
    own_part = math.sqrt(1 - shared) * own
    common_part = math.sqrt(shared) * common
    noise = own_part + common_part
    return deviation * noise


def _shared_part(deviations: Floats, known: Flags) -> float:
    """Correlation of the deviations of two models on one question, from 0 to 1, over all pairs."""
    squares = (deviations**2).sum(axis=1)
    products = deviations.sum(axis=1) ** 2 - squares
    rated = known.sum(axis=1)
    others = np.maximum(rated - 1, 0)
    total = float((others * squares).sum())
    if total <= 0:
        return 0.0
    correlation = float(products.sum()) / total
    return min(max(correlation, 0.0), 1.0)


@dataclass(frozen=True)
class _Adjusted:
    """Ratings at the level of all raters together."""

    people: Floats
    shares: Floats  # as of `ByRater`
    influence: Floats  # as of `RaterEffects`
    most: Floats  # most ratings that those of each model count for, shape (M,)

    def rated_by(self, weights: Floats, chosen: Integers) -> Floats:
        """Share of each rater in the weighted ratings of each model over some questions.

        Shape (M, R).
        """
        weighted = weights[chosen][:, :, None] * self.shares[chosen]
        sums = weighted.sum(axis=0)
        of_model = sums.sum(axis=1, keepdims=True)
        totals = np.broadcast_to(of_model, sums.shape)
        return np.nan_to_num(ratio(sums, totals))


def _without_raters(scores: RatedScores, weights: Floats, predictions: Floats) -> _Adjusted:
    """Take out of ratings how lenient each rater is beside the predictions, shape (Q, M)."""
    questions, models = weights.shape
    raters = scores.raters
    no_limit = np.full(models, np.inf)
    if raters is None:
        return _Adjusted(
            people=scores.people,
            shares=np.zeros((questions, models, 0)),
            influence=np.zeros((questions, 0)),
            most=no_limit,
        )
    weight = weights[:, :, None]
    shares = weight * raters.shares
    predicted = shares * predictions[:, :, None]
    effects = rater_effects(shares, weight * raters.parts - predicted)
    linked = ratings_by_same_raters(raters.shares.sum(axis=0))
    np.fill_diagonal(linked, 0.0)
    most = no_limit
    if models > 1:
        most = np.floor(linked.max(axis=1))
    leniency = raters.shares @ effects.values
    return _Adjusted(
        people=scores.people - leniency,
        shares=raters.shares,
        influence=effects.influence,
        most=most,
    )


def _fit(parts: Floats, people: Floats, weights: Floats) -> tuple[tuple[float, float], Floats]:
    """Coefficients of two parts, shape (2, Q, M), by all questions, and without each of them.

    The latter have shape (Q, 2).
    """
    # The variance of a weighted mean is the sum of squared weights times squared residuals.
    largest = weights.max(initial=1.0)
    squared = (weights / largest) ** 2
    total = squared.sum(axis=0)
    stacked = np.concatenate([parts, people[None]])
    sums = (squared * stacked).sum(axis=1)
    means = ratio(sums, np.tile(total, (3, 1)))
    means = np.nan_to_num(means)
    deviations = stacked - means[:, None, :]
    products = deviations[:, None] * deviations[None]  # shape (3, 3, Q, M)
    whole = (squared * products).sum(axis=(2, 3))
    # Taking one answer out of a weighted sum of squares about the mean takes out more than its own
    # square.
    left = total - squared
    none = np.zeros_like(squared)
    has_spread = left > _NO_SPREAD
    factors = np.divide(total, left, out=none, where=has_spread)
    taken = squared * factors
    by_question = (taken * products).sum(axis=3)
    without = whole[..., None] - by_question
    of_all = _least_squares(whole[..., None])
    [[first], [second]] = of_all.tolist()
    return (first, second), _least_squares(without).T


def _least_squares(sums: Floats) -> Floats:
    """Coefficients within bounds that minimise squares, by sums of products.

    Shape (3, 3, K) -> (2, K).
    """
    coefficients = np.zeros((2, sums.shape[2]))
    spread = sums[[0, 1], [0, 1]]
    none = np.zeros_like(spread)
    has_spread = spread > _NO_SPREAD
    inverse = np.divide(1, spread, out=none, where=has_spread)
    spread_of_people = np.maximum(sums[2, 2], 0)
    most = np.sqrt(spread_of_people * inverse)
    for _ in range(_STEPS):
        before = coefficients.copy()
        for part in (0, 1):
            other = 1 - part
            left = sums[part, 2] - sums[0, 1] * coefficients[other]
            unbounded = left * inverse[part]
            coefficients[part] = np.clip(unbounded, 0, most[part])
        change = np.abs(coefficients - before)
        if change.max(initial=0) < 1e-9:
            break
    return coefficients


# --- a regression on length ---


@dataclass(frozen=True)
class LengthControl:
    """What goes with the length of answers, in rounds of the bootstrap.

    `control_length` makes it.
    """

    # points that go with a doubling, within questions and models; NaN where lengths say nothing of
    # it
    slope: MeanDraws
    means: MeanDraws  # of the M models at the mean length of their answers to each question
    # mean doublings of each model's answers above those of all models to the same question
    lengths: MeanDraws
    # share of the variance of log length within questions that is between models; NaN if there is
    # none
    by_model: float


def length_column(scores: npt.ArrayLike, doublings: npt.ArrayLike) -> MeanColumn:
    """What `control_length` needs, as a column for `bootstrap_means`.

    Scores and lengths of M models have the shape (Q, M).

    `doublings` has the length of each answer as a binary logarithm, of characters or words; NaN for
    an empty answer, which has no logarithm and a score by rule: it keeps its score, counts as an
    answer of the usual length, and its question says nothing about the slope. The questions are
    numbered from 0.
    """
    y = np.asarray(scores, dtype=np.float64)
    x = np.asarray(doublings, dtype=np.float64)
    are_tables = y.shape == x.shape and y.ndim == 2
    if not are_tables or np.isnan(y).any():
        raise ValueError(
            f"need a score and a length per question and model, no score NaN: {y.shape} and"
            f" {x.shape}"
        )
    known = ~np.isnan(x)
    sums = np.where(known, x, 0.0).sum(axis=1)
    answers = known.sum(axis=1)
    usual = ratio(sums, answers)
    above_usual = x - usual[:, None]
    x = np.where(known, above_usual, 0.0)
    # Only what differs within a question takes part: its own effect, its language and its topic are
    # taken out.
    within = y - y.mean(axis=1, keepdims=True)
    squares = (x * x).sum(axis=1)
    products = (x * within).sum(axis=1)
    moments = np.column_stack([within, x, squares, products])
    is_complete = known.all(axis=1)
    moments[~is_complete] = np.nan
    questions = np.arange(len(y))
    return MeanColumn(questions, np.column_stack([y, x, moments]))


def control_length(found: MeanDraws) -> LengthControl:
    """Least squares of score on model and log length, in every round of a column.

    Each question has an effect of its own.

    Means at equal length are `mean - slope * (log length less that of all models)`. By Frisch,
    Waugh and Lovell ("Partial Time Regressions as Compared with Individual Trends", 1933), the
    slope is that of scores on log lengths after the means of questions and of models have been
    taken from both; as every model answers every question, sums over questions give it, so that a
    round costs as much as a few more means.

    Rounds draw whole questions, or clusters of them, so that intervals are clustered by these. The
    slope is one for all models: a judge that rewards length, and users whom more text serves
    better, look the same to it.
    """
    models = (found.values.size - 2) // 4
    rows = np.vstack([found.values, found.draws])
    of_models = rows[:, :-2]
    scores, lengths, y, x = np.split(of_models, 4, axis=1)
    total = rows[:, -2]
    product = rows[:, -1]
    within = total - (x * x).sum(axis=1)
    varies = within > _EQUAL_LENGTH * total
    above = product - (x * y).sum(axis=1)
    below = np.where(varies, within, 0.0)
    slope = ratio(above, below)[:, None]
    share_within = ratio(np.maximum(within, 0.0), total)

    def draws_of(table: Floats, columns: slice) -> MeanDraws:
        """The first row is of all questions; numbers are those of columns of `found`."""
        return MeanDraws(
            values=table[0],
            draws=table[1:],
            n=found.n[columns],
            seed=found.seed,
            clusters=found.clusters[columns],
        )

    by_model = slice(models)
    return LengthControl(
        slope=draws_of(slope, slice(-1, None)),
        means=draws_of(scores - slope * lengths, by_model),
        lengths=draws_of(lengths, by_model),
        by_model=float(1 - share_within[0]),
    )
