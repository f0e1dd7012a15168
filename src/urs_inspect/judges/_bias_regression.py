"""What a judge of pairs prefers beside what people prefer in the same pairs.

One logistic regression of the verdicts: the log odds that the answer shown first wins are a
constant (its place), a coefficient for each doubling of its length beside the other's, one for each
doubling of (1 + its list items), and the difference of the strengths of the two models. A tie
counts as half a win of each. People's labels of the same pairs are fitted in the same way. Longer
answers may be better ones, and people prefer them as well: only what a judge's coefficient is above
people's is a bias.

Own models are no coefficient of their own, since a judge's taste for a model and the model's
strength are one thing in its verdicts. They are the mean strength of the judge's own models less
that of the others; what is above people's is what the judge adds to its own.

The prior is that of `rank_controlled`: each strength and each coefficient gets one tie, as if a
pair that differed in nothing else by one unit had been a tie. It keeps every value finite where a
judge always decides one way, and weighs as much as one verdict.

Intervals are Student's with C - 1 degrees of freedom over C questions and the clustered sandwich of
`fit_design` (residuals divided by 1 - leverage, as in HC3), times C / (C - 1). An error is at least
half of what it would be if all verdicts were independent: where a judge always decides one way,
nothing is left to vary, and the sandwich alone would be certain of a value that the prior set.
Intervals of differences from people use each question's influence on both fits. They hold jointly
for all biases of a judge (Bonferroni), so that at most 5% of data sets show any bias of a judge
that has none. That does not hold for a judge that has people's preferences but follows them more
strictly: its larger coefficients are taken for biases more often (`benchmarks/judge_bias.py`,
docs/appendix/judge_bias.md). Comparing with people's coefficients times the slope of the judge's
strengths on people's would prevent that, but the strengths of a few models say so little about the
slope that a third of planted tastes for length is no longer found.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.stats._battles import OUTCOMES
from urs_inspect.stats._bootstrap import (
    LEVEL,
    Estimate,
    Floats,
    check_level,
    number_clusters,
    student_estimate,
)
from urs_inspect.stats._style import FEATURES, Fit, fit_design

PLACE = "place"
LENGTH = "length"
LISTS = "lists"
OWN = "own"
BIASES = (PLACE, LENGTH, LISTS, OWN)
"""What a judge may prefer: the first place, longer answers, more list items, its own models."""

_COEFFICIENTS = (PLACE, LENGTH, LISTS)
_LEAST_UNEXPLAINED = 0.02
"""Share of a column's squares that the others must leave unexplained; with less, its coefficient
cannot be told from theirs.
"""
_LEAST_ERROR = 0.5
"""Share of the error of independent verdicts below which no error falls."""


@dataclass(frozen=True)
class ShownPair:
    """A verdict on two answers to one question, in the order in which they were shown.

    Attributes:
        pair: Id of the two answers, the same in any order and for every judge.
        question: Id of the question; verdicts on the same one are not independent.
        outcome: 1 if the answer that was shown first is better, 0.5 for a tie, 0 if the second is.
        length: Doublings of the length of the first beside the second.
        lists: Doublings of (1 + list items) of the first beside the second.
        first: Name of the model of the answer shown first; empty if it is not known.
        second: Name of the model of the other; empty if it is not known.
    """

    pair: str
    question: str
    outcome: float
    length: float
    lists: float
    first: str = ""
    second: str = ""


@dataclass(frozen=True)
class JudgeBias:
    """Coefficients of a judge and of people on the same pairs, by bias, in logits.

    A bias that cannot be estimated has the value NaN: answers that do not differ in it, or only as
    their models do; own models, where the judge has none or no others.

    Attributes:
        judge: What the judge prefers.
        people: What people prefer in the same pairs; empty without people's labels.
        beyond: The judge's less people's, with joint intervals; empty without people's labels.
        pairs: Number of pairs of answers that count.
        named: Whether the models of all answers are known, so that they are held equally strong.
    """

    judge: Mapping[str, Estimate]
    people: Mapping[str, Estimate]
    beyond: Mapping[str, Estimate]
    pairs: int
    named: bool

    @property
    def flagged(self) -> tuple[str, ...]:
        """Biases that are clearly above people's; the place also where it is clearly below.

        NaN bounds flag nothing.
        """
        above = set()
        for name, estimate in self.beyond.items():
            if estimate.low > 0:
                above.add(name)
        if PLACE in self.beyond and self.beyond[PLACE].high < 0:
            above.add(PLACE)
        return tuple(name for name in BIASES if name in above)


def answer_doublings(first: str, second: str) -> tuple[float, float]:
    """Binary logarithms of the ratios of lengths and of (1 + list items) of two answers.

    Lengths are in characters.

    Raises:
        ValueError: If an answer is empty.
    """
    if not first or not second:
        raise ValueError("an empty answer has no ratio of lengths")
    count_items = FEATURES[LISTS]
    lengths = len(first) / len(second)
    items = (1 + count_items(first)) / (1 + count_items(second))
    return math.log2(lengths), math.log2(items)


def judge_bias(
    judge: Sequence[ShownPair],
    people: Sequence[ShownPair] = (),
    own: Collection[str] = (),
    level: float = LEVEL,
) -> JudgeBias:
    """What a judge prefers, beside people on the same pairs.

    Args:
        judge: The judge's verdicts; a pair that was shown in both orders has two.
        people: People's labels, a row for each vote. Where it is not known what people saw first,
            they are in the order in which the judge saw them: the place is then what luck with
            orders gives to anyone. Only pairs that both have count.
        own: Names of the judge's own models.
        level: Confidence level, between 0 and 1.

    Returns:
        Coefficients in logits, with intervals clustered by question, by the rule of
        `reported_bounds`.

    Raises:
        InputError: If the judge has no verdict, people and judge have no pair in common, or an
            outcome is not 1, 0.5 or 0.
        ValueError: If `level` is not between 0 and 1.

    Examples:
        >>> from urs_inspect.judges import ShownPair, judge_bias
        >>> rows = [ShownPair(f"p{n}", f"q{n}", float(n > 0), 0.0, 0.0) for n in range(4)]
        >>> round(judge_bias(rows).judge["place"].value, 3)  # log of 3.5 to 1.5
        0.847
    """
    check_level(level)
    if people:
        judge, people = _with_common_pairs(judge, people)
    if not judge:
        raise InputError("a judge's biases need a verdict on a pair, with people's label if given")
    models = _models([*judge, *people])
    weights = _own_weights(models, own)
    by_judge = _fitted(judge, models, weights)
    of_judge = _estimates(by_judge, len(judge), level)
    pairs = len({row.pair for row in judge})
    if not people:
        return JudgeBias(of_judge, {}, {}, pairs, bool(models))
    by_people = _fitted(people, models, weights)
    differences = {name: by_judge[name].less(by_people[name]) for name in BIASES}
    known = sum(difference.known for difference in differences.values())
    joint = 1 - (1 - level) / max(1, known)
    return JudgeBias(
        judge=of_judge,
        people=_estimates(by_people, len(people), level),
        beyond=_estimates(differences, len(judge), joint),
        pairs=pairs,
        named=bool(models),
    )


def _with_common_pairs(
    judge: Sequence[ShownPair], people: Sequence[ShownPair]
) -> tuple[list[ShownPair], list[ShownPair]]:
    """The verdicts and the labels on pairs that both have."""
    of_judge = {row.pair for row in judge}
    of_people = {row.pair for row in people}
    common = of_judge & of_people
    verdicts = [row for row in judge if row.pair in common]
    labels = [row for row in people if row.pair in common]
    return verdicts, labels


@dataclass(frozen=True)
class _Found:
    """A coefficient, what each question moves it by, shape (C,), and its variance.

    The variance is as if all verdicts were independent.
    """

    value: float
    influences: Floats
    variance: float

    @property
    def known(self) -> bool:
        return not math.isnan(self.value)

    def less(self, other: "_Found") -> "_Found":
        return _Found(
            self.value - other.value,
            self.influences - other.influences,
            self.variance + other.variance,
        )


def _models(rows: Sequence[ShownPair]) -> tuple[str, ...]:
    """Names of the models; none where one of them is not known."""
    named = {row.first for row in rows}
    named |= {row.second for row in rows}
    if "" in named:
        return ()
    return tuple(sorted(named))


def _own_weights(models: Sequence[str], own: Collection[str]) -> Floats | None:
    """Weights of strengths: the mean of the own models less the mean of the others."""
    mine = np.array([name in own for name in models], dtype=bool)
    if not mine.any() or mine.all():
        return None
    of_own = 1 / mine.sum()
    of_others = -1 / (~mine).sum()
    weights: Floats = np.where(mine, of_own, of_others)
    return weights


def _fitted(
    rows: Sequence[ShownPair], models: Sequence[str], own: Floats | None
) -> dict[str, _Found]:
    """Coefficients by bias, of one judge or of people."""
    from scipy.sparse import csr_array

    outcomes = [row.outcome for row in rows]
    outcome = np.array(outcomes, dtype=np.float64)
    if not np.isin(outcome, OUTCOMES).all():
        raise InputError("the outcome of a verdict must be 1, 0.5 or 0")
    questions = number_clusters([row.question for row in rows])
    place = {name: number for number, name in enumerate(models)}
    size = len(models)
    design = np.zeros((len(rows), size + len(_COEFFICIENTS)))
    for number, row in enumerate(rows):
        if models:
            design[number, place[row.first]] += 1
            design[number, place[row.second]] -= 1
        design[number, size:] = [1.0, row.length, row.lists]
    fit = fit_design(csr_array(design), outcome, questions)
    unknown = np.full(design.shape[1], math.nan)
    single = np.eye(design.shape[1])
    weights = {}
    for number, name in enumerate(_COEFFICIENTS, start=size):
        weights[name] = unknown
        if _is_separate(design, number):
            weights[name] = single[number]
    weights[OWN] = unknown
    if own is not None:
        weights[OWN] = np.pad(own, (0, len(_COEFFICIENTS)))
    return {name: _of(fit, those) for name, those in weights.items()}


def _of(fit: Fit, weights: Floats) -> _Found:
    """A sum of strengths and coefficients, by their weights; NaN of those that are NaN."""
    return _Found(
        value=float(fit.values @ weights),
        influences=fit.influences @ weights,
        variance=float(weights @ fit.covariance @ weights),
    )


def _is_separate(design: Floats, column: int) -> bool:
    """Whether a column differs from every weighted sum of the others."""
    given = design[:, column]
    others = np.delete(design, column, axis=1)
    coefficients, *_ = np.linalg.lstsq(others, given, rcond=None)
    rest = given - others @ coefficients
    least = _LEAST_UNEXPLAINED * float(given @ given)
    return float(rest @ rest) > least > 0


def _estimates(found: Mapping[str, _Found], items: int, level: float) -> dict[str, Estimate]:
    """Estimates by bias."""
    return {name: _estimate(one, items, level) for name, one in found.items()}


def _estimate(found: _Found, items: int, level: float) -> Estimate:
    groups = len(found.influences)
    if not found.known or groups < 2:
        value = found.value if found.known else math.nan  # the NaN that equals itself
        return Estimate(value, math.nan, math.nan, items, groups, level, rounds=0)
    centred = found.influences - found.influences.mean()
    squares = float(centred @ centred)
    clustered = math.sqrt(squares * groups / (groups - 1))
    least = _LEAST_ERROR * math.sqrt(found.variance)
    error = max(clustered, least)
    estimate = student_estimate(found.value, error, items, groups, level)
    return estimate.reported()
