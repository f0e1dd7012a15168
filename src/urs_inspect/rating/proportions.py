"""Shares with intervals."""

import math

from urs_inspect.rating.intervals import MeanInterval


def wilson_interval(share: float, n: int, level: float = 0.95) -> MeanInterval:
    """A share and its two-sided score interval (Wilson, "Probable Inference", 1927), which has a width at 0 and 1 too.

    Args:
        share: Share of successes, 0 to 1. Over trials that come several from one question, the mean of the questions'
            shares; the interval is then no narrower than it should be, for a share within a question varies less than
            a single trial.
        n: Number of independent trials, or of questions.
        level: Confidence level, between 0 and 1.

    Returns:
        The share and its bounds; NaN without trials.

    Raises:
        ValueError: If an argument is out of its range.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    if n < 0 or (n and not 0 <= share <= 1):
        raise ValueError(f"a share lies from 0 to 1 over at least 0 trials, got {share} over {n}")
    if n == 0:
        return MeanInterval(math.nan, math.nan, math.nan, 0, level)
    from scipy.special import ndtri

    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    margin = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    # The share lies within by algebra; rounding may say otherwise at 0 and 1.
    low, high = max(0.0, min(share, centre - margin)), min(1.0, max(share, centre + margin))
    return MeanInterval(share, low, high, n, level)
