"""Intervals and fits, computed as they are defined."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from urs_inspect.stats._bootstrap import Floats


def expanded(draws: npt.ArrayLike, clusters: int, level: float = 0.95) -> tuple[float, float]:
    """Percentiles at the tails at which a normal mean of so many clusters has Student's interval
    (Hesterberg 2015).
    """
    wider = stats.t.ppf((1 + level) / 2, clusters - 1) * math.sqrt(clusters / (clusters - 1))
    tail = float(stats.norm.cdf(-wider))
    low, high = np.quantile(np.asarray(draws), [tail, 1 - tail])
    return float(low), float(high)


class SlowFit(NamedTuple):
    values: Floats
    influences: dict[int, Floats]  # by instruction
    pull: Floats
    covariance: Floats

    @property
    def variance(self) -> float:
        size = len(self.influences)
        moved = [one - one.mean() for one in self.influences.values()]
        centre = sum(moved) / size
        return float(sum((one - centre) ** 2 for one in moved).mean() / size)


def slow_fit(
    design: Floats,
    outcome: Floats,
    clusters: list[int],
    weights: Floats,
    offset: Floats,
    shared: Floats,
    prior: float = 1.0,
) -> SlowFit:
    """Newton's method with full steps, row by row, and influences with leverages."""
    size = design.shape[1]
    values = np.zeros(size)
    for _ in range(60):
        gradient = prior * (0.5 - 1 / (1 + np.exp(-values)))
        pull = gradient.copy()
        own = 1 / (1 + np.exp(-values))
        information = np.diag(prior * own * (1 - own))
        for row, won, weight, known in zip(design, outcome, weights, offset, strict=True):
            chance = 1 / (1 + math.exp(-(row @ values + known)))
            gradient = gradient + weight * (won - chance) * row
            information = information + weight * chance * (1 - chance) * np.outer(row, row)
        step = np.linalg.solve(information, gradient)
        values = values + step
        if np.abs(step).max() < 1e-12:
            break
        if not np.isfinite(values).all() or np.abs(values).max() > 50:
            return SlowFit(np.full(size, math.inf), {}, pull, information)
    inverse = np.linalg.inv(information)
    influences: dict[int, Floats] = {cluster: np.zeros(size) for cluster in sorted(set(clusters))}
    for number, row in enumerate(design):
        chance = 1 / (1 + math.exp(-(row @ values + offset[number])))
        leverage = weights[number] * chance * (1 - chance) * (row @ inverse @ row)
        score = weights[number] * (outcome[number] - chance) / (1 - leverage) + shared[number]
        influences[clusters[number]] += score * (row @ inverse)
    return SlowFit(values, influences, inverse @ pull, np.asarray(inverse, dtype=np.float64))
