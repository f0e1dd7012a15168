"""Predictions of trained heads, epoch by epoch, and the choice among epochs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError
from urs_inspect.samer.evaluation import WeightsAt, evaluate, raw_outputs
from urs_inspect.samer.heads import Heads
from urs_inspect.samer.training.pairs import ABSENT, Codes, PairLabels, TrainingPair
from urs_inspect.samer.training.vectors import PairVectors

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairPredictions:
    """Evaluations of the two responses of n pairs on D dimensions.

    Attributes:
        overall: Overall scores of responses a and b, 0 to 1, shape (n, 2).
        scores: Scores on every dimension, selected or not, 0 to 1, shape (n, 2, D).
        selected: Dimensions that the predictor selects for the query, shape (n, D).
        weights: Weights of the dimensions, mean over both responses, shape (n, D).
    """

    overall: Floats
    scores: Floats
    selected: npt.NDArray[np.bool_]
    weights: Floats

    @property
    def winners(self) -> Codes:
        """Better response as a whole: 1 (a), -1 (b) or 0, shape (n,)."""
        return np.sign(self.overall[:, 0] - self.overall[:, 1]).astype(np.int8)

    @property
    def dimension_winners(self) -> Codes:
        """Better response on each dimension, selected or not, shape (n, D)."""
        return np.sign(self.scores[:, 0] - self.scores[:, 1]).astype(np.int8)


@dataclass(frozen=True)
class Accuracy:
    """How often predictions equal labels that are no ties (SaMer paper, Table 5).

    Attributes:
        overall: Share of pairs, 0 to 1; NaN without any.
        dimensions: Share of labels on dimensions, likewise.
        pairs: Number of pairs that count.
        labels: Number of labels on dimensions that count.
    """

    overall: float
    dimensions: float
    pairs: int
    labels: int

    @property
    def mean(self) -> float:
        """Mean of both, or the one that is defined; NaN without any."""
        known = [value for value in (self.overall, self.dimensions) if not math.isnan(value)]
        return sum(known) / len(known) if known else math.nan


def predict_pairs(heads: Heads, vectors: PairVectors, weights_at: WeightsAt = "response") -> PairPredictions:
    """Evaluate both responses of each pair, by the same rules as every engine.

    Args:
        heads: The heads.
        vectors: Vectors of the n pairs.
        weights_at: Where the weighter reads.

    Returns:
        The evaluations.
    """
    queries, *responses = vectors.gather()
    found = [[evaluate(raw) for raw in raw_outputs(heads, queries, side, weights_at)] for side in responses]
    shape = (len(vectors), heads.dimensions)
    return PairPredictions(
        overall=np.array([[one.overall for one in side] for side in found], float).reshape(2, -1).T,
        scores=np.array([[one.scores for one in side] for side in found], float).reshape(2, *shape).swapaxes(0, 1),
        selected=np.array([one.selected for one in found[0]], bool).reshape(shape),
        weights=np.array([[one.weights for one in side] for side in found], float).reshape(2, *shape).mean(axis=0),
    )


def accuracy(predictions: PairPredictions, labels: PairLabels) -> Accuracy:
    """Hold predictions against labels.

    Args:
        predictions: Of n pairs.
        labels: Of the same pairs. A dimension counts where it has a label, whether it was selected or not.

    Returns:
        The accuracies; labels that are ties do not count, and an exactly equal score is wrong.
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


def labelled(labels: PairLabels) -> npt.NDArray[np.bool_]:
    """Dimensions on which a preference, or a tie, was stated, shape (n, D): those that the predictor learns."""
    return np.asarray(labels.dimensions != ABSENT, bool)


@dataclass(frozen=True)
class EpochRecord:
    """One epoch.

    Attributes:
        epoch: Its number from 1; of the predictor's own epochs, counted from 1 as well.
        phase: `predictor` or `joint`.
        loss: Mean loss over the steps.
        selection: Mean of the predictor's loss.
        dimensions: Mean of the loss on dimensions; NaN in the predictor's phase.
        overall: Mean of the overall loss, likewise.
        held_out: Accuracy on held-out pairs after the epoch; None if there are none, or in the predictor's phase.
    """

    epoch: int
    phase: str
    loss: float
    selection: float
    dimensions: float = math.nan
    overall: float = math.nan
    held_out: Accuracy | None = None


@dataclass(frozen=True)
class Balance:
    """Pairs balanced over scenarios (SaMer paper, Table 1: 2,000 to 5,500 a scenario).

    Attributes:
        pairs: What was kept, in the given order.
        found: Scenario -> pairs before.
        kept: Scenario -> pairs after.
        short: Scenarios with fewer pairs than `least`; they are kept whole, since no more can be made.
        least: Pairs that a scenario should have.
        most: Pairs that a scenario may have.
    """

    pairs: tuple[TrainingPair, ...]
    found: dict[str, int]
    kept: dict[str, int]
    short: tuple[str, ...]
    least: int
    most: int


def balance(pairs: Sequence[TrainingPair], *, least: int = 2000, most: int = 5500, seed: int = 0) -> Balance:
    """Keep at most so many pairs of each scenario, chosen by seed and id alone.

    Args:
        pairs: The pairs.
        least: Pairs that a scenario should have; scenarios below it are named in the result.
        most: Pairs that a scenario may have, at least 1.
        seed: Seed.

    Returns:
        What was kept.

    Raises:
        InputError: If `most` is below 1 or below `least`.
    """
    if most < 1 or least < 0 or least > most:
        raise InputError(f"balance of {least} to {most} pairs a scenario; allowed: 0 <= least <= most, most >= 1")
    by_scenario: dict[str, list[TrainingPair]] = {}
    for pair in pairs:
        by_scenario.setdefault(pair.scenario, []).append(pair)
    kept: set[str] = set()
    counts: dict[str, int] = {}
    for scenario, members in sorted(by_scenario.items()):
        ranked = sorted(members, key=lambda pair: sha256(f"{seed}/{pair.id}".encode()).digest())
        kept.update(pair.id for pair in ranked[:most])
        counts[scenario] = min(len(members), most)
    return Balance(
        pairs=tuple(pair for pair in pairs if pair.id in kept),
        found={scenario: len(members) for scenario, members in sorted(by_scenario.items())},
        kept=counts,
        short=tuple(scenario for scenario, count in counts.items() if count < least),
        least=least,
        most=most,
    )
