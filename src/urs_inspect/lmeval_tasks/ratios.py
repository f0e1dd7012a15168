"""Ratios of sums over cases, with intervals over clusters of cases."""

import math
from collections.abc import Sequence

import numpy as np

from urs_inspect.rating import bootstrap_counts, cluster_counts
from urs_inspect.rating.bootstrap import percentile_bounds

Part = Sequence[int]
"""What a case adds: hits, trials, and the number of its cluster."""


def ratio(parts: Sequence[Part]) -> float:
    """All hits by all trials; NaN without trials."""
    trials = sum(part[1] for part in parts)
    return sum(part[0] for part in parts) / trials if trials else math.nan


def ratio_low(parts: Sequence[Part]) -> float:
    """Lower bound of the 95% percentile interval of `ratio`, by the bootstrap over clusters."""
    return _bounds(parts)[0]


def ratio_high(parts: Sequence[Part]) -> float:
    """Upper bound, likewise."""
    return _bounds(parts)[1]


def _bounds(parts: Sequence[Part]) -> tuple[float, float]:
    sums = cluster_counts([part[2] for part in parts], np.array([part[:2] for part in parts]).reshape(-1, 2))
    if np.count_nonzero(sums[:, 1]) < 2:
        return math.nan, math.nan
    hits, trials = bootstrap_counts(sums).T
    rounds = np.divide(hits, trials, out=np.full(len(hits), np.nan), where=trials > 0)
    low, high = percentile_bounds(rounds[:, None])
    return float(low[0]), float(high[0])
