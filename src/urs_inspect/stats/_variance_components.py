"""Variance components of scores, and the interval of a mean in other designs.

They are by question, answer, judge and judgement.

A generalizability study (Cronbach, Gleser, Nanda and Rajaratnam, "The Dependability of Behavioral
Measurements", 1972; Brennan, "Generalizability Theory", 2001): questions are crossed with judges,
answers are nested in questions, and repeated judgements in answers and judges. Components are
estimated by Henderson's method 1, which is the analysis of variance for balanced data and unbiased
for any other (Searle, Casella and McCulloch, "Variance Components", 1992, chapter 5).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from urs_inspect.stats._bootstrap import LEVEL, check_level

_COLUMNS: Mapping[str, frozenset[str]] = {
    "question": frozenset({"question"}),
    "judge": frozenset({"judge"}),
    "question_judge": frozenset({"question", "judge"}),
    "answer": frozenset({"question", "answer"}),
    "answer_judge": frozenset({"question", "answer", "judge"}),
    "judgement": frozenset({"question", "answer", "judge", "judgement"}),
}
COMPONENTS = tuple(_COLUMNS)
"""Sources of variance: questions, judges over all questions, judges about single questions, answers
to one question, judges about single answers, and judgements of one answer by one judge.
"""


@dataclass(frozen=True)
class VarianceComponents:
    """Variance components of a score or a difference, and the design of their mean.

    The score is a model's, the difference that of two models.

    A component that the data do not measure is NaN; its variance is contained in the measured ones
    before it: without epochs that of answering in `question`, without a second judge that of judges
    in `question` and `answer`, without repeated judgements that of judging again in the last one
    that was measured. Estimates may be negative, and count as 0 in every prediction.
    """

    questions: int
    epochs: float  # answers to each question, the harmonic mean
    judges: float  # judges of each answer, the harmonic mean
    # by `COMPONENTS`; all NaN with fewer than two questions or without a solution
    components: Mapping[str, float]

    def parts(
        self,
        *,
        questions: float | None = None,
        epochs: float | None = None,
        judges: float | None = None,
        judgements: float = 1,
    ) -> dict[str, float]:
        """What each source adds to the variance of the mean by these very judges.

        It does so for this design or another one.

        The design has so many answers (epochs) to each question, judges of each answer, and
        judgements of each answer by each judge, of which the mean counts; by default those of the
        data, and one judgement. The result is `COMPONENTS` without `judge`, which is the same in
        every mean by the same judges; NaN where not measured.
        """
        questions = questions or self.questions
        judges = judges or self.judges
        answers = questions * (epochs or self.epochs)
        counts = {
            "question": questions,
            "question_judge": questions * judges,
            "answer": answers,
            "answer_judge": answers * judges,
            "judgement": answers * judges * judgements,
        }
        parts = {}
        for name, count in counts.items():
            variance = float(np.maximum(self.components[name], 0))
            parts[name] = variance / count
        return parts

    def margin(self, level: float = LEVEL, **design: float) -> float:
        """Half the width of the interval of the mean by t, NaN without components.

        `design` is as for `parts`.
        """
        check_level(level)
        from scipy.special import stdtrit

        if math.isnan(self.components["question"]):
            return math.nan
        questions = design.get("questions", self.questions)
        t = float(stdtrit(questions - 1, (1 + level) / 2))
        parts = self.parts(**design)
        variance = np.nansum(list(parts.values()))
        return t * math.sqrt(variance)


def variance_components(scores: pd.DataFrame) -> VarianceComponents:
    """Estimate the variance components of a model's scores by Henderson's method 1.

    The sum of squares of a source, `sum over cells of total^2 / count` less that of the grand mean,
    has an expectation that is linear in the components; as many equations are solved for them.
    Numbers of epochs and judges may differ from question to question. `scores` has a row per
    judgement: the numbers of its `question`, `answer` (to that question) and `judge`, from 0, and
    `score`, never NaN.
    """
    n = len(scores)
    centred = scores["score"] - scores["score"].mean()
    scores = scores.assign(judgement=np.arange(n), score=centred)
    number = {}
    sizes = {}  # of the group of each score
    squares = {}  # sum of squares of the groups' totals, each divided by the group's size
    for name, columns in _COLUMNS.items():
        cells = scores.groupby(sorted(columns))["score"]
        number[name] = cells.ngroups
        sizes[columns] = cells.transform("size").to_numpy()
        squares[name] = float((cells.sum() ** 2 / cells.size()).sum())
    epochs = number["answer"] > number["question"]
    judges = number["judge"] > 1
    again = number["answer_judge"] < n
    measured = (True, judges, judges, epochs, epochs and judges, again)
    pairs = zip(COMPONENTS, measured, strict=True)
    wanted = [name for name, is_measured in pairs if is_measured]
    components = dict.fromkeys(COMPONENTS, math.nan)

    def expected(group: str, source: str) -> float:
        """Coefficient of a source's component in the sum of squares of a grouping."""
        of_group = _COLUMNS[group]
        of_source = _COLUMNS[source]
        shares = sizes[of_group | of_source] / sizes[of_group] - sizes[of_source] / n
        return float(shares.sum())

    equations = []
    for group in wanted:
        equations.append([expected(group, source) for source in wanted])
    matrix = np.array(equations)
    if number["question"] > 1 and np.linalg.matrix_rank(matrix) == len(wanted):
        solved = np.linalg.solve(matrix, [squares[group] for group in wanted])
        sum_of_squares = (scores["score"] ** 2).sum()
        is_rounding = np.abs(solved) < 1e-12 * sum_of_squares
        solved[is_rounding] = 0  # rounding errors are no negative components
        components |= dict(zip(wanted, map(float, solved), strict=True))
    return VarianceComponents(
        questions=number["question"],
        epochs=_harmonic(scores.groupby("question")["answer"].nunique()),
        judges=_harmonic(scores.groupby(["question", "answer"])["judge"].nunique()),
        components=components,
    )


def _harmonic(counts: "pd.Series[int]") -> float:
    if counts.empty:
        return math.nan
    mean = len(counts) / (1 / counts).sum()
    return round(float(mean), 9)


def difference_components(first: pd.DataFrame, second: pd.DataFrame) -> VarianceComponents:
    """Variance components of the difference between two models' scores.

    Both are on the same questions, by the same judges.

    Answers and judgements of two models are independent; effects of questions, of judges, and of
    judges on questions are shared. So each component is the sum of both models' less twice the
    covariance, a quarter of the difference between the components of the sum and of the difference
    of both models' means by question and judge.

    Both have the same numbers for the same questions and judges; the questions of both count. Where
    only one of the models has several epochs or repeated judgements, answering and judging again
    are NaN and contained in the others.
    """
    common = np.intersect1d(first["question"], second["question"])
    first = first[first["question"].isin(common)]
    second = second[second["question"].isin(common)]
    one = variance_components(first)
    other = variance_components(second)
    mean = first.groupby(["question", "judge"])["score"].mean()
    other_mean = second.groupby(["question", "judge"])["score"].mean()
    plus = _components_of_means(mean + other_mean)
    minus = _components_of_means(mean - other_mean)
    components = {}
    for name in COMPONENTS:
        variance = one.components[name]
        other_variance = other.components[name]
        if math.isnan(variance) != math.isnan(other_variance):
            return minus
        components[name] = variance + other_variance
    for name in COMPONENTS[:3]:
        shared = (plus.components[name] - minus.components[name]) / 4
        components[name] -= 2 * shared
    return VarianceComponents(
        questions=len(common),
        epochs=2 / (1 / one.epochs + 1 / other.epochs),
        judges=2 / (1 / one.judges + 1 / other.judges),
        components=components,
    )


def _components_of_means(means: "pd.Series[float]") -> VarianceComponents:
    """Components of means by question and judge, of one answer each."""
    scores = means.dropna().rename("score").reset_index()
    return variance_components(scores.assign(answer=0))
