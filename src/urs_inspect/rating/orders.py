"""In which order models come, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from urs_inspect.rating.bootstrap import LEVEL, ROUNDS, SEED, Estimate
from urs_inspect.rating.mean_columns import MeanColumn, bootstrap_means, mean_estimates, p_values


@dataclass(frozen=True)
class Gap:
    """Two models in an order.

    Attributes:
        first: Place of the one with the higher mean among the columns.
        second: The other.
        difference: Mean of the paired differences, first less second, at least 0.
        p: Two-sided p-value of no difference, 0 to 1.
    """

    first: int
    second: int
    difference: Estimate
    p: float


@dataclass(frozen=True)
class Order:
    """An order of models by their means over the cases on which all of them have a score.

    Attributes:
        places: Places of the models among the columns, the best first; equal means in the order of the columns.
        means: Their means, in that order.
        share: Share of the resamples that give this order, 0 to 1; NaN over fewer than two cases.
        cases: Number of these cases.
        gaps: Every two models, in that order.
    """

    places: tuple[int, ...]
    means: tuple[float, ...]
    share: float
    cases: int
    gaps: tuple[Gap, ...]


def order_of(scores: npt.ArrayLike, *, rounds: int = ROUNDS, level: float = LEVEL, seed: int = SEED) -> Order:
    """Order models by their means.

    Args:
        scores: A row a case and a column a model, NaN where there is none, shape (N, M).
        rounds: Rounds of the bootstrap over cases.
        level: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        The order; the means are NaN without a case on which all models have a score.
    """
    table = np.asarray(scores, dtype=np.float64)
    complete = table[~np.isnan(table).any(axis=1)]
    cases, models = complete.shape
    columns = [complete] if cases else [np.full((0, models), np.nan)]
    [means] = bootstrap_means([MeanColumn(np.arange(cases), columns[0])], cases, rounds=rounds, seed=seed)
    places = sorted(range(models), key=lambda model: (-means.values[model] if cases else 0, model))
    pairs = [(one, other) for place, one in enumerate(places) for other in places[place + 1 :]]
    ordered = means.draws[:, places]
    share = float((ordered[:, :-1] >= ordered[:, 1:]).all(axis=1).mean()) if cases > 1 else float("nan")
    return Order(
        tuple(places),
        tuple(float(means.values[place]) for place in places),
        share,
        cases,
        _gaps(complete, pairs, rounds, level, seed),
    )


def _gaps(
    complete: npt.NDArray[np.float64], pairs: Sequence[tuple[int, int]], rounds: int, level: float, seed: int
) -> tuple[Gap, ...]:
    if not pairs:
        return ()
    differences = np.stack([complete[:, one] - complete[:, other] for one, other in pairs], axis=1)
    [found] = bootstrap_means(
        [MeanColumn(np.arange(len(complete)), differences)], len(complete), rounds=rounds, seed=seed
    )
    return tuple(
        Gap(one, other, estimate, float(p))
        for (one, other), estimate, p in zip(pairs, mean_estimates(found, level), p_values(found), strict=True)
    )
