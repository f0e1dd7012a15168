"""Predictions of trained heads, compared with labels."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urs_inspect.samer.evaluation import WeightsAt, evaluate, raw_outputs
from urs_inspect.samer.heads import Heads
from urs_inspect.samer.training.pairs import Codes, PairLabels
from urs_inspect.samer.training.vectors import PairVectors

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairPredictions:
    """Evaluations of the two responses of n pairs on D dimensions."""

    overall: Floats  # of responses a and b, 0 to 1, shape (n, 2)
    scores: Floats  # on every dimension, selected or not, 0 to 1, shape (n, 2, D)
    selected: npt.NDArray[np.bool_]  # dimensions that the predictor selects for the query, shape (n, D)
    weights: Floats  # mean over both responses, shape (n, D)

    @property
    def winners(self) -> Codes:
        """Better response overall: 1 (a), -1 (b) or 0, shape (n,)."""
        return np.sign(self.overall[:, 0] - self.overall[:, 1]).astype(np.int8)

    @property
    def dimension_winners(self) -> Codes:
        """Better response on each dimension, selected or not, shape (n, D)."""
        return np.sign(self.scores[:, 0] - self.scores[:, 1]).astype(np.int8)


def predict_pairs(heads: Heads, vectors: PairVectors, weights_at: WeightsAt = "response") -> PairPredictions:
    """Evaluate both responses of each pair, by the same rules as every engine."""
    queries, *responses = vectors.gather()
    sides = [[evaluate(raw) for raw in raw_outputs(heads, queries, side, weights_at)] for side in responses]
    shape = (len(vectors), heads.dimensions)

    def by_pair(name: str) -> Floats:
        return np.array([[getattr(found, name) for found in side] for side in sides], float).reshape(2, *shape)

    return PairPredictions(
        overall=np.array([[found.overall for found in side] for side in sides], float).reshape(2, -1).T,
        scores=by_pair("scores").swapaxes(0, 1),
        selected=np.array([found.selected for found in sides[0]], bool).reshape(shape),
        weights=by_pair("weights").mean(axis=0),
    )


@dataclass(frozen=True)
class Accuracy:
    """How often predictions equal labels that are no ties (SaMer paper, Table 5); NaN without any."""

    overall: float  # share of pairs, 0 to 1
    dimensions: float  # share of labels on dimensions
    pairs: int
    labels: int  # on dimensions

    @property
    def mean(self) -> float:
        """Mean of both, or the one that is defined; NaN without any."""
        known = [value for value in (self.overall, self.dimensions) if not math.isnan(value)]
        return sum(known) / len(known) if known else math.nan


def accuracy(predictions: PairPredictions, labels: PairLabels) -> Accuracy:
    """Compare predictions with labels of the same pairs.

    A dimension counts where it has a label, whether it was selected or not; labels that are ties do not count, and an
    exactly equal score is wrong.
    """
    counted, counted_dimensions = (abs(codes) == 1 for codes in (labels.overall, labels.dimensions))
    right = (predictions.winners == labels.overall)[counted]
    right_dimensions = (predictions.dimension_winners == labels.dimensions)[counted_dimensions]
    return Accuracy(
        overall=float(right.mean()) if right.size else math.nan,
        dimensions=float(right_dimensions.mean()) if right_dimensions.size else math.nan,
        pairs=int(right.size),
        labels=int(right_dimensions.size),
    )


@dataclass(frozen=True)
class EpochRecord:
    """One epoch of training; losses are means over its steps."""

    epoch: int  # from 1; the predictor's own epochs are counted from 1 as well
    phase: str  # `predictor` or `joint`
    loss: float
    selection: float  # the predictor's loss
    dimensions: float = math.nan  # NaN in the predictor's phase, as is `overall`
    overall: float = math.nan
    held_out: Accuracy | None = None  # after the epoch; None without held-out pairs, or in the predictor's phase
