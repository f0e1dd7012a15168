"""The expanded percentile interval, computed as it is defined."""

import math

import numpy as np
import numpy.typing as npt
from scipy import stats


def expanded(draws: npt.ArrayLike, clusters: int, level: float = 0.95) -> tuple[float, float]:
    """Percentiles at the tails at which a normal mean of so many clusters has Student's interval
    (Hesterberg 2015).
    """
    wider = stats.t.ppf((1 + level) / 2, clusters - 1) * math.sqrt(clusters / (clusters - 1))
    tail = float(stats.norm.cdf(-wider))
    low, high = np.quantile(np.asarray(draws), [tail, 1 - tail])
    return float(low), float(high)
