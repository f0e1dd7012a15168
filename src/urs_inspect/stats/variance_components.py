"""Variance components of scores by question, answer, judge and judgement, and the interval of a mean in other designs.

A generalizability study (Cronbach, Gleser, Nanda and Rajaratnam, "The Dependability of Behavioral Measurements", 1972;
Brennan, "Generalizability Theory", 2001): questions are crossed with judges, answers are nested in questions, and
repeated judgements in answers and judges. Components are estimated by Henderson's method 1, which is the analysis of
variance for balanced data and unbiased for any other (Searle, Casella and McCulloch, "Variance Components", 1992,
chapter 5).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.stats.bootstrap import LEVEL, Floats, Integers, check_level

COMPONENTS = ("question", "judge", "question_judge", "answer", "answer_judge", "judgement")
"""Sources of variance, in which a later one that was measured is contained in none before it."""
_INDEXES: Mapping[str, frozenset[str]] = {
    "question": frozenset("q"),
    "judge": frozenset("j"),
    "question_judge": frozenset("qj"),
    "answer": frozenset("qe"),
    "answer_judge": frozenset("qej"),
}


@dataclass(frozen=True)
class Judgements:
    """Scores of one model, one per judgement, and the numbers of its question, answer and judge, shape (N,)."""

    question: Integers
    epoch: Integers
    judge: Integers
    score: Floats  # never NaN


@dataclass(frozen=True)
class VarianceComponents:
    """Variance components of a model's score or of the difference of two, and the design of their mean.

    A component that the data do not measure is NaN; its variance is contained in the measured ones before it: without
    epochs that of answering in `question`, without a second judge that of judges in `question` and `answer`, without
    repeated judgements that of judging again in the last one that was measured. Estimates may be negative, and count
    as 0 in every prediction.
    """

    questions: int
    epochs: float  # answers to each question, the harmonic mean
    judges: float  # judges of each answer, the harmonic mean
    question: float  # between questions, over all answers and judges
    judge: float  # between judges: how lenient they are or, of a difference, whom they favour
    question_judge: float  # judges differ about a question beyond that
    answer: float  # between answers to one question
    answer_judge: float  # judges differ about an answer beyond that
    judgement: float  # between judgements of one answer by one judge

    @property
    def negative(self) -> tuple[str, ...]:
        """The components whose estimates are negative."""
        return tuple(name for name in COMPONENTS if getattr(self, name) < 0)

    def parts(
        self,
        *,
        questions: float | None = None,
        epochs: float | None = None,
        judges: float | None = None,
        judgements: float = 1,
    ) -> dict[str, float]:
        """What each source adds to the variance of the mean, in this design or another one.

        Args:
            questions: Number of questions; by default, as for the others, that of the data.
            epochs: Answers to each question.
            judges: Judges of each answer.
            judgements: Judgements of each answer by each judge, of which the mean counts.

        Returns:
            `question`, `answering`, `judges` (they differ about questions and answers), `judging` (again) and `panel`
            (they differ on the whole), which counts only where the judges are a sample of all judges. NaN for a source
            that was not measured.
        """
        q = self.questions if questions is None else questions
        e, j = self.epochs if epochs is None else epochs, self.judges if judges is None else judges
        known = {name: max(0.0, value) if (value := getattr(self, name)) == value else value for name in COMPONENTS}
        about = [known["question_judge"] / (q * j), known["answer_judge"] / (q * e * j)]
        return {
            "question": known["question"] / q,
            "answering": known["answer"] / (q * e),
            "judges": sum(part for part in about if part == part) if known["judge"] == known["judge"] else math.nan,
            "judging": known["judgement"] / (q * e * j * judgements),
            "panel": known["judge"] / j,
        }

    def margin(self, level: float = LEVEL, *, any_judges: bool = False, **design: float) -> float:
        """Half the width of the interval of the mean, in this design or another one.

        Args:
            level: Confidence level, between 0 and 1.
            any_judges: Whether the interval is about all judges of which these are a random sample; else about the
                mean by these very judges, as a report's intervals are. What judges add then has a t of its own, with
                one degree of freedom less than judges (Howe, "Approximate Confidence Limits on the Mean of X + Y Where
                X and Y are Two Tabled Independent Random Variables", 1974).
            design: As for `parts`.

        Returns:
            Half-width by Student's t; NaN with fewer than two questions, or for `any_judges` with a single judge.
        """
        check_level(level)
        from scipy.special import stdtrit

        questions, judges = design.get("questions", self.questions), design.get("judges", self.judges)
        if questions < 2 or math.isnan(self.question) or (any_judges and (judges <= 1 or math.isnan(self.judge))):
            return math.nan
        parts = {name: part for name, part in self.parts(**design).items() if not math.isnan(part)}
        panel = parts.pop("panel", 0.0)
        of_judges = panel + parts.pop("judges", 0.0) + parts.pop("judging", 0.0) if any_judges else 0.0
        square = float(stdtrit(questions - 1, (1 + level) / 2)) ** 2 * sum(parts.values())
        square += float(stdtrit(judges - 1, (1 + level) / 2)) ** 2 * of_judges if any_judges else 0.0
        return math.sqrt(square)


def variance_components(judgements: Judgements) -> VarianceComponents:
    """Estimate the variance components of a model's scores by Henderson's method 1.

    Each sum of squares `sum over cells of total^2 / count`, less that of the grand mean, has an expectation that is
    linear in the components; as many equations are solved for them. Numbers of epochs and judges may differ from
    question to question.

    Args:
        judgements: The scores.

    Returns:
        The components; all NaN with fewer than two questions, or where the equations have no unique solution.
    """
    cells = _cells(judgements)
    epochs, judges = cells["answer"].size > cells["question"].size, cells["judge"].size > 1
    wanted = ["question", *(["judge", "question_judge"] if judges else []), *(["answer"] if epochs else [])]
    wanted += ["answer_judge"] if epochs and judges else []
    wanted += ["judgement"] if cells["answer_judge"].size < len(judgements.score) else []
    found = {**dict.fromkeys(COMPONENTS, math.nan), **_solve(judgements.score, cells, wanted)}
    per_question = np.bincount(cells["question"].of[cells["answer"].first])
    per_answer = np.bincount(cells["answer"].of[cells["answer_judge"].first])
    return VarianceComponents(cells["question"].size, _harmonic(per_question), _harmonic(per_answer), **found)


def _harmonic(counts: npt.NDArray[Any]) -> float:
    return round(float(len(counts) / (1 / counts).sum()), 9) if len(counts) else math.nan


@dataclass(frozen=True)
class _Cells:
    """Which cell each score is in, shape (N,), and of each cell the first score and the number of scores."""

    of: Integers
    first: Integers
    counts: Integers

    @property
    def size(self) -> int:
        return len(self.counts)


def _cells(judgements: Judgements) -> dict[str, _Cells]:
    def cells(*columns: Integers) -> _Cells:
        code = np.zeros(len(judgements.score), dtype=np.int64)
        for column in columns:
            code = code * (int(column.max(initial=0)) + 1) + column
        _, first, of, counts = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
        return _Cells(of.ravel(), first, counts)

    column = {"q": judgements.question, "e": judgements.epoch, "j": judgements.judge}
    return {name: cells(*(column[letter] for letter in sorted(letters))) for name, letters in _INDEXES.items()}


def _solve(scores: Floats, cells: Mapping[str, _Cells], wanted: list[str]) -> dict[str, float]:
    """The components of some sources, of which the last is the residual."""
    *effects, residual = wanted
    n, centred = len(scores), scores - (scores.mean() if len(scores) else 0.0)
    if cells["question"].size < 2:
        return {}
    by_indexes = {letters: cells[name] for name, letters in _INDEXES.items()}

    def coefficient(group: str, source: str) -> float:
        """Of a source's component in the expected sum of squares of a grouping."""
        both = by_indexes[_INDEXES[group] | _INDEXES[source]]
        totals = cells[group].counts[cells[group].of[both.first]]
        return float((both.counts**2 / totals).sum())

    grand = np.array([*((cells[source].counts ** 2).sum() / n for source in effects), 1.0])
    rows = [[*(coefficient(group, source) for source in effects), float(cells[group].size)] for group in effects]
    squares = [float((np.bincount(cells[g].of, centred) ** 2 / cells[g].counts).sum()) for g in effects]
    matrix = np.array([*rows, [float(n)] * len(wanted)]) - grand
    if np.linalg.matrix_rank(matrix) < len(wanted):
        return {}
    solved = np.linalg.solve(matrix, np.array([*squares, float((centred**2).sum())]))
    solved[np.abs(solved) < 1e-12 * float((centred**2).sum())] = 0  # rounding errors are no negative components
    return dict(zip([*effects, residual], map(float, solved), strict=True))


def difference_components(first: Judgements, second: Judgements) -> VarianceComponents:
    """Variance components of the difference between two models' scores on the same questions, by the same judges.

    Answers and judgements of two models are independent; effects of questions, of judges, and of judges on questions
    are shared. So each component is the sum of both models' less twice the covariance, a quarter of the difference
    between the components of the sum and of the difference of both models' means by question and judge.

    Args:
        first: Scores of one model.
        second: Scores of the other one, with the same numbers for the same questions and judges.

    Returns:
        The components, over the questions of both. Where only one of the models has several epochs or repeated
        judgements, all variance is in `question`, and the other components are NaN.
    """
    questions = np.intersect1d(first.question, second.question)
    one, other = (_only(judgements, np.isin(judgements.question, questions)) for judgements in (first, second))
    found, its = variance_components(one), variance_components(other)
    epochs, judges = (2 / (1 / getattr(found, n) + 1 / getattr(its, n)) for n in ("epochs", "judges"))
    measured = [[not math.isnan(getattr(part, name)) for name in COMPONENTS] for part in (found, its)]
    if measured[0] != measured[1]:
        a, b = (
            np.bincount(part.question, part.score) / np.maximum(1, np.bincount(part.question)) for part in (one, other)
        )
        whole = {"question": float((a - b)[questions].var(ddof=1)) if len(questions) > 1 else math.nan}
        return VarianceComponents(len(questions), epochs, judges, **{**dict.fromkeys(COMPONENTS, math.nan), **whole})
    rows, columns = (
        max(int(getattr(part, n).max(initial=0)) for part in (one, other)) + 1 for n in ("question", "judge")
    )
    codes = [part.question * columns + part.judge for part in (one, other)]
    counts = [np.bincount(code, minlength=rows * columns) for code in codes]
    cells = np.flatnonzero((counts[0] > 0) & (counts[1] > 0))
    x, y = (
        np.bincount(code, part.score, minlength=rows * columns)[cells] / count[cells]
        for code, part, count in zip(codes, (one, other), counts, strict=True)
    )
    plus, minus = (
        variance_components(Judgements(cells // columns, np.zeros_like(cells), cells % columns, z))
        for z in (x + y, x - y)
    )
    shared = {name: (getattr(plus, name) - getattr(minus, name)) / 4 for name in COMPONENTS[:3]}
    sums = {name: getattr(found, name) + getattr(its, name) - 2 * shared.get(name, 0.0) for name in COMPONENTS}
    return VarianceComponents(len(questions), epochs, judges, **sums)


def _only(judgements: Judgements, kept: npt.NDArray[Any]) -> Judgements:
    return Judgements(*(part[kept] for part in vars(judgements).values()))
