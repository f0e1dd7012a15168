"""How two sets of means over a handful of things go together, such as over intents or models."""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import (
    LEVEL,
    ROUNDS,
    SEED,
    Estimate,
    Floats,
    Integers,
    Resampling,
    estimates,
    undefined,
)
from urs_inspect.stats._means import MeanDraws, bootstrap_table

FEWEST_POINTS = 3
"""Two points always lie on a line."""


_DIGITS = 9
"""Decimals used to compare means; beyond that, differences are rounding error."""


@dataclass(frozen=True)
class MeanCorrelation:
    """How two sets of means go together.

    Means of few questions or votes are noisy, and noise draws a correlation towards 0 (Spearman,
    "The Proof and Measurement of Association between Two Things", 1904). Resampled means are noisy
    twice over, so that the plain percentile interval lies too low: where the means truly correlate
    at 0.95 or more it may miss that nearly always. In each round the variance of both noises is
    therefore taken off the variance of either side. Where the means differ hardly more than their
    noise, the interval is from about -1 to 1, as it should be.

    The interval is about these very points: where their correlation without noise may lie. How far
    it would move with other points is what `over_points` reports.
    """

    pearson: Estimate
    """Pearson's r of the means as they are, -1 to 1, with the interval of r without noise, widened
    to hold r; NaN where one side does not vary.
    """
    without_noise: float
    """Pearson's r corrected for noise, at most 1 in size; NaN as `pearson`, and where a side's
    means differ by no more than noise.
    """
    spearman: float
    """Spearman's rho of the means as they are, ties sharing their mean rank; NaN as `pearson`."""
    over_points: tuple[float, float]
    """Bounds by Fisher's z, as if the points were a random sample of many; NaN with fewer than
    four.
    """


def exact_means(values: npt.ArrayLike) -> MeanDraws:
    """Means that count as exact, shape (K,): there is one round, which is the means."""
    means = np.asarray(values, dtype=np.float64)
    ones = np.ones(len(means), dtype=np.int64)
    return MeanDraws(means, draws=means[None, :], n=ones, seed=SEED, clusters=ones)


def table_means(
    table: npt.ArrayLike,
    *,
    clusters: Integers | None = None,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> MeanDraws:
    """Resample the rows (questions, respondents) of a table.

    Mean of each column over the values that are not NaN.

    Shape (N, K). In a round in which no value of a column was drawn, its mean is NaN. With
    `clusters`, the number of each row's cluster from 0 without gaps, whole clusters are resampled.
    """
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or not len(values):
        raise ValueError(f"need a table with rows, got shape {values.shape}")
    return bootstrap_table(values, clusters=clusters, rounds=rounds, seed=seed)


def correlate_means(
    first: MeanDraws,
    second: MeanDraws,
    *,
    clusters: int,
    level: float = LEVEL,
    seed: int = SEED,
) -> MeanCorrelation:
    """Correlate two sets of means over the same K points; NaN with fewer than three.

    Both have as many rounds unless either is exact. `clusters` is the smallest number of questions,
    people or instructions behind either set; `seed` is that of the draws, for the record.
    """
    if first.values.shape != second.values.shape:
        raise ValueError(
            f"need as many points on either side, got {first.values.shape} and"
            f" {second.values.shape}"
        )
    points = len(first.values)
    x = np.round(first.values[None, :], _DIGITS)
    y = np.round(second.values[None, :], _DIGITS)
    drawn_x, drawn_y = np.broadcast_arrays(first.draws, second.draws)
    how = Resampling(len(drawn_x), level, seed)
    if points < FEWEST_POINTS or not _varies(x) or not _varies(y):
        nothing = undefined(points, clusters, how)
        return MeanCorrelation(nothing, math.nan, math.nan, (math.nan, math.nan))
    noise_x = _noise(first.draws)
    noise_y = _noise(second.draws)
    [r] = _corrected(x, y).tolist()
    draws = _corrected(drawn_x, drawn_y, 2 * noise_x, 2 * noise_y)
    moved = 1
    if len(draws) > 1:
        moved = clusters
    column = draws[:, None]
    [pearson] = estimates([r], column, [points], [moved], how, expanded=False)
    if not math.isnan(pearson.low):
        low = min(pearson.low, r)
        high = max(pearson.high, r)
        pearson = replace(pearson, low=low, high=high)
    without = math.nan
    if _left(x, noise_x) > 0 and _left(y, noise_y) > 0:
        [without] = _corrected(x, y, noise_x, noise_y).tolist()
    [rho] = _corrected(_ranks(x), _ranks(y)).tolist()
    return MeanCorrelation(pearson, without, rho, fisher_interval(r, points, level))


def _varies(values: Floats) -> bool:
    """Whether all values are finite and not all are equal."""
    is_finite = np.isfinite(values).all()
    return bool(is_finite and np.ptp(values) > 0)


def fisher_interval(correlation: float, points: int, level: float = LEVEL) -> tuple[float, float]:
    """Interval of Pearson's r by Fisher's z: `tanh(artanh(r) ± z / sqrt(points - 3))`.

    The points count as a random sample of a bivariate normal population (Fisher, "On the 'Probable
    Error' of a Coefficient of Correlation", 1921). NaN with fewer than four points, or if r is NaN,
    -1 or 1.
    """
    if points < 4 or math.isnan(correlation) or abs(correlation) >= 1:
        return math.nan, math.nan
    from scipy.special import ndtri

    quantile = float(ndtri((1 + level) / 2))
    margin = quantile / math.sqrt(points - 3)
    z = math.atanh(correlation)
    return math.tanh(z - margin), math.tanh(z + margin)


def _noise(draws: Floats) -> float:
    """Variance over points that resampling alone makes, shape (R, K).

    0 for means that count as exact.
    """
    has_unknown = np.isnan(draws).any(axis=1)
    known = draws[~has_unknown]
    if len(known) < 2:
        return 0.0
    # Noise that all points share, as that of models on the same questions, does not spread them.
    deviations = known - known.mean(axis=0)
    variances = deviations.var(axis=1, ddof=1)
    return float(variances.mean())


def _corrected(x: Floats, y: Floats, noise_x: float = 0.0, noise_y: float = 0.0) -> Floats:
    """Pearson's r of each row without the variance of noise, shape (R, K) twice -> (R,).

    NaN where a row has a NaN.
    """
    dx = x - x.mean(axis=1, keepdims=True)
    dy = y - y.mean(axis=1, keepdims=True)
    freedom = x.shape[1] - 1
    above = (dx * dy).sum(axis=1) / freedom
    left = _left(x, noise_x) * _left(y, noise_y)
    # Where noise could be all of a side's variance, r could be anything; it is then 1 with the sign
    # that it has.
    scale = np.sqrt(left)
    signs = np.sign(above)
    shares = np.divide(above, scale, out=signs, where=left > 0)
    clipped = np.clip(shares, -1, 1)
    return np.asarray(clipped, dtype=np.float64)


def _left(rows: Floats, noise: float) -> Floats:
    """Variance of each row over points without that of noise, at least 0."""
    variances = rows.var(axis=1, ddof=1)
    left = np.maximum(variances - noise, 0)
    return np.asarray(left, dtype=np.float64)


def _ranks(rows: Floats) -> Floats:
    from scipy.stats import rankdata

    return np.asarray(rankdata(rows, axis=1), dtype=np.float64)
