"""Means at equal length: means of models, less what goes with the length of their answers to the same questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.stats.bootstrap import Floats, Integers, ratio
from urs_inspect.stats.means import MeanColumn, MeanDraws
from urs_inspect.stats.paired import Pair

_NO_SPREAD = 1e-9
"""Lengths whose spread is a smaller share of what it was are equal except for rounding errors."""


@dataclass(frozen=True)
class LengthControl:
    """Means at equal length, in rounds of the bootstrap, as `control_length` makes them.

    Attributes:
        slope: Points that go with a doubling of the length, within questions and models; one value. NaN where lengths
            differ in no question, or always by the same factor between two models.
        means: Means of the M models at the mean length of their answers to each question; their mean is that of the
            plain means.
        lengths: Mean doublings of each model's answers above those of all models to the same question, shape (M,).
        by_model: Share of the variance of log length within questions that lies between models, 0 to 1: how collinear
            length and model are. NaN if lengths do not differ.
    """

    slope: MeanDraws
    means: MeanDraws
    lengths: MeanDraws
    by_model: float

    def differences(self, found: MeanDraws, pairs: Sequence[Pair]) -> MeanDraws:
        """Differences at equal length, from plain ones of the same pairs in the same rounds.

        Args:
            found: Differences of P pairs, first less second, from the call of `bootstrap_means` that this comes from.
            pairs: Numbers of the models of each pair.
        """
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T

        def less(differences: Floats, slope: Any, lengths: Floats) -> Floats:
            return np.asarray(differences - slope * (lengths[..., first] - lengths[..., second]), dtype=np.float64)

        return MeanDraws(
            less(found.values, self.slope.values, self.lengths.values),
            less(found.draws, self.slope.draws, self.lengths.draws),
            found.n,
            found.seed,
        )


def length_column(scores: npt.ArrayLike, doublings: npt.ArrayLike, questions: Integers | None = None) -> MeanColumn:
    """What `control_length` needs, as a column for `bootstrap_means`.

    Args:
        scores: Score of each of M models for each question, shape (Q, M); none is NaN.
        doublings: Length of its answer as a binary logarithm, of characters or words, shape (Q, M). NaN for an empty
            answer, which has no logarithm and a score by rule: it keeps its score, and its question says nothing about
            the slope.
        questions: Numbers of the questions, shape (Q,); by default 0 to Q - 1.
    """
    y, x = np.asarray(scores, dtype=np.float64), np.asarray(doublings, dtype=np.float64)
    if y.shape != x.shape or y.ndim != 2 or np.isnan(y).any():
        raise ValueError(f"need a score and a length per question and model, no score NaN: {y.shape} and {x.shape}")
    known = ~np.isnan(x)
    usual = ratio(np.where(known, x, 0.0).sum(axis=1), known.sum(axis=1))[:, None]
    x = np.where(known, x - usual, 0.0)
    # Only what differs within a question takes part: its own effect, its language and its topic are taken out.
    within = y - y.mean(axis=1, keepdims=True)
    moments = np.column_stack([within, x, (x * x).sum(axis=1), (x * within).sum(axis=1)])
    moments[~known.all(axis=1)] = np.nan
    return MeanColumn(np.arange(len(y)) if questions is None else questions, np.column_stack([y, x, moments]))


def control_length(found: MeanDraws) -> LengthControl:
    """Least squares of score on model and log length with an effect of each question, in every round.

    Means at equal length are `mean - slope * (log length less that of all models)`. By Frisch, Waugh and Lovell
    ("Partial Time Regressions as Compared with Individual Trends", 1933), the slope is that of scores on log lengths
    after the means of questions and of models have been taken from both; as every model answers every question, sums
    over questions give it, so that a round costs as much as a few more means.

    Rounds draw whole questions, so that intervals are clustered by question. The slope is one for all models: a judge
    that rewards length, and users whom more text serves better, look the same to it.

    Args:
        found: Means of a `length_column`, from `bootstrap_means`.
    """
    models = (found.values.size - 2) // 4
    slope, means, lengths, _ = _fitted(found.draws, models)
    [point], [mean], [length], [by_model] = _fitted(found.values[None, :], models)
    asked, used = found.n[:models], found.n[-1:]
    return LengthControl(
        MeanDraws(np.array([point]), slope[:, None], used, found.seed),
        MeanDraws(mean, means, asked, found.seed),
        MeanDraws(length, lengths, asked, found.seed),
        float(by_model),
    )


def _fitted(rows: Floats, models: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Slope, means, lengths, and the share of the spread of lengths between models, of each row of means."""
    scores, lengths, y, x = (rows[:, models * place : models * (place + 1)] for place in range(4))
    total, product = rows[:, -2], rows[:, -1]
    within = total - (x * x).sum(axis=1)
    slope = ratio(product - (x * y).sum(axis=1), np.where(within > _NO_SPREAD * total, within, 0.0))
    return slope, scores - slope[:, None] * lengths, lengths, 1 - ratio(np.maximum(within, 0.0), total)
