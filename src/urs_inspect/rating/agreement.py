"""Agreement between raters."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def interval_alpha(ratings: Sequence[Sequence[float]]) -> float:
    """Krippendorff's alpha with the interval distance (squared difference).

    Args:
        ratings: One row a rater, one column a unit, shape (raters, units); NaN where a rater gave no rating.

    Returns:
        1 for perfect agreement, 0 for agreement by chance, below 0 for systematic disagreement; NaN if fewer
        than two units have two ratings. When all ratings are equal, alpha is 1 by convention.
    """
    pairable = [
        values
        for column in zip(*ratings, strict=True)
        if len(values := [value for value in column if not math.isnan(value)]) >= 2
    ]
    if len(pairable) < 2:
        return math.nan
    if len({value for values in pairable for value in values}) == 1:
        return 1.0
    import evalica
    import pandas as pd

    return float(evalica.alpha(pd.DataFrame(ratings), distance="interval").alpha)


def nominal_alpha(tables: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Krippendorff's alpha with the nominal distance, of two raters without gaps, for many tables at once.

    With 2N values, of which n_c are of class c, alpha is
    `1 - (2N - 1) * (values that disagree) / ((2N)^2 - sum of n_c^2)` (Krippendorff, "Computing Krippendorff's
    Alpha-Reliability", 2011).

    Args:
        tables: How often the raters gave each pair of classes, shape (R, K, K).

    Returns:
        Shape (R,): 1 for perfect agreement, 0 for agreement by chance, below 0 for systematic disagreement; NaN with
        fewer than two units. When only one class occurs, alpha is 1 by convention.
    """
    classes = tables.sum(axis=1) + tables.sum(axis=2)
    values = classes.sum(axis=1)
    disagreeing = values - 2 * np.trace(tables, axis1=1, axis2=2)
    chance = values**2 - (classes**2).sum(axis=1)
    alpha = 1 - np.divide((values - 1) * disagreeing, chance, out=np.zeros(len(tables)), where=chance > 0)
    return np.where(values >= 4, alpha, np.nan)
