"""Predictions of trained heads compared with labels, and with the dimensions of each scenario."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

from urs_inspect._util import InputError
from urs_inspect.samer.evaluation import WeightsAt, evaluate, raw_outputs
from urs_inspect.samer.heads import Heads
from urs_inspect.samer.taxonomy import Taxonomy
from urs_inspect.samer.training.pairs import Codes, PairLabels
from urs_inspect.samer.training.vectors import PairVectors

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_RELATED = Path(__file__).parents[1] / "related_scenarios.yaml"


@dataclass(frozen=True, eq=False)
class PairPredictions:
    """Evaluations of the two responses of n pairs on D dimensions."""

    overall: Floats  # of responses a and b, 0 to 1, shape (n, 2)
    scores: Floats  # on every dimension, selected or not, 0 to 1, shape (n, 2, D)
    selected: Flags  # dimensions that the predictor selects for the query, shape (n, D)
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


# ## Dimensions of scenarios (SaMer paper, Table A2)


@dataclass(frozen=True)
class SelectionQuality:
    """How well dimensions were selected, over some queries."""

    name: str  # scenario, or `all`
    queries: int
    hits: int  # selected dimensions that belong to the scenario
    selected: int
    expected: int  # dimensions that belong to the scenario

    @property
    def precision(self) -> float:
        """Share of the selected dimensions that belong to the scenario, 0 to 1; NaN if none was selected."""
        return self.hits / self.selected if self.selected else float("nan")

    @property
    def recall(self) -> float:
        """Share of the scenario's dimensions that were selected, 0 to 1; NaN if it has none."""
        return self.hits / self.expected if self.expected else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of both, 0 to 1; NaN if nothing was selected or expected."""
        return 2 * self.hits / (self.selected + self.expected) if self.selected + self.expected else float("nan")


@dataclass(frozen=True)
class ScenarioView:
    """Quality over all queries together (micro average), and by scenario in the order of the taxonomy."""

    total: SelectionQuality
    scenarios: tuple[SelectionQuality, ...]

    @property
    def macro_f1(self) -> float:
        """Mean of the scenarios' F1, 0 to 1."""
        return sum(quality.f1 for quality in self.scenarios) / len(self.scenarios)


def scenario_view(selected: Flags, scenarios: Sequence[str], taxonomy: Taxonomy) -> ScenarioView:
    """Compare the dimensions selected for n queries, shape (n, D), with those of the queries' scenarios (Table A2)."""
    if selected.shape != (len(scenarios), len(taxonomy.dimensions)) or not len(scenarios):
        raise InputError(
            f"selections of shape {selected.shape}; expected {(len(scenarios), len(taxonomy.dimensions))}, "
            "with at least one query"
        )
    expected = expected_dimensions(scenarios, taxonomy)
    hits = selected & expected
    given = np.array(scenarios)

    def quality(name: str, rows: Flags) -> SelectionQuality:
        sums = [int(flags[rows].sum()) for flags in (hits, selected, expected)]
        return SelectionQuality(name, int(rows.sum()), *sums)

    present = [name for name in taxonomy.scenarios if name in set(scenarios)]
    return ScenarioView(
        quality("all", np.ones(len(scenarios), bool)), tuple(quality(name, given == name) for name in present)
    )


def expected_dimensions(scenarios: Sequence[str], taxonomy: Taxonomy) -> Flags:
    """Dimensions of each query's scenario, shape (n, D)."""
    rows = {
        name: [dimension in taxonomy.scenario(name).dimensions for dimension in taxonomy.dimensions]
        for name in dict.fromkeys(scenarios)
    }
    return np.array([rows[name] for name in scenarios], bool).reshape(len(scenarios), len(taxonomy.dimensions))


@lru_cache(maxsize=1)
def related_scenarios() -> dict[str, str]:
    """Scenarios of the out-of-distribution rows -> the scenario of the taxonomy that stands for them."""
    found: dict[str, str] = yaml.safe_load(_RELATED.read_text(encoding="utf-8"))
    return found
