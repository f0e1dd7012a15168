"""Agreement between raters."""

import math
from collections.abc import Sequence


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
