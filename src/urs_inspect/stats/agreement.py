"""Agreement among raters: kappa, Krippendorff's alpha, the score interval of a share, and panels of judges."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Unpack

import numpy as np
import numpy.typing as npt

from urs_inspect.stats.bootstrap import (
    LEVEL,
    Clusters,
    Estimate,
    Flags,
    Floats,
    Resampling,
    ResamplingOptions,
    bootstrap_counts,
    check_level,
    cluster_counts,
    counted_estimate,
    undefined,
)

_FEWEST_UNITS = 2
SPLITS = 200
"""Random halves of the prompts on which panels are chosen and measured."""


def interval_alpha(ratings: Sequence[Sequence[float]]) -> float:
    """Krippendorff's alpha with the interval distance (squared difference).

    Args:
        ratings: One row per rater, one column per unit, shape (raters, units); NaN where a rater gave no rating.

    Returns:
        1 for perfect agreement, 0 for agreement by chance, below 0 for systematic disagreement; NaN if fewer
        than two units have two ratings. When all ratings are equal, alpha is 1 by convention.
    """
    pairable = [
        values
        for column in zip(*ratings, strict=True)
        if len(values := [value for value in column if not math.isnan(value)]) >= 2
    ]
    if len(pairable) < _FEWEST_UNITS:
        return math.nan
    if len({value for values in pairable for value in values}) == 1:
        return 1.0
    import evalica
    import pandas as pd

    return float(evalica.alpha(pd.DataFrame(ratings), distance="interval").alpha)


def nominal_alpha(tables: Floats) -> Floats:
    """Krippendorff's alpha with the nominal distance, of two raters without gaps, for many tables at once.

    `tables` has how often the raters gave each pair of classes, shape (R, K, K) -> (R,). With 2N values, of which n_c
    are of class c, alpha is `1 - (2N - 1) * (values that disagree) / ((2N)^2 - sum of n_c^2)` (Krippendorff, "Computing
    Krippendorff's Alpha-Reliability", 2011); NaN with fewer than two units, 1 by convention for a single class.
    """
    classes = tables.sum(axis=1) + tables.sum(axis=2)
    values = classes.sum(axis=1)
    disagreeing = values - 2 * np.trace(tables, axis1=1, axis2=2)
    chance = values**2 - (classes**2).sum(axis=1)
    alpha = 1 - np.divide((values - 1) * disagreeing, chance, out=np.zeros(len(tables)), where=chance > 0)
    return np.where(values >= 4, alpha, np.nan)


def clustered_interval_alpha(
    ratings: npt.ArrayLike, clusters: Clusters, **options: Unpack[ResamplingOptions]
) -> Estimate:
    """`interval_alpha` with its bootstrap interval clustered by question; `clusters` has the question of each unit.

    With n values in units that have at least two, alpha is `1 - (n - 1) * sum over units of the squared differences
    within, each divided by the unit's number of values less one, / squared differences of all values` (Krippendorff,
    2011, as above). Each sum is one over units, so that all rounds are one matrix product.
    """
    how = Resampling(**options)
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(clusters):
        raise ValueError(f"need one column per cluster id: ratings of shape {table.shape}, {len(clusters)} clusters")
    known = ~np.isnan(table)
    paired = known.sum(axis=0) >= 2
    names = [name for name, kept in zip(clusters, paired, strict=True) if kept]
    if len(names) < _FEWEST_UNITS:
        return undefined(len(names), len(set(names)), how)
    sums = cluster_counts(names, _moments(table[:, paired], known[:, paired]))
    return counted_estimate(_alpha, sums, len(names), how)


def _moments(table: Floats, known: Flags) -> Floats:
    """Of each unit the number, sum and sum of squares of its values, and its differences, shape (units, 4)."""
    values = np.where(known, table - np.nanmean(table), 0.0)  # alpha does not depend on the origin, rounding does
    number, total, squares = known.sum(axis=0), values.sum(axis=0), (values**2).sum(axis=0)
    return np.stack([number, total, squares, 2 * (number * squares - total**2) / (number - 1)], axis=1)


def _alpha(sums: Floats) -> Floats:
    number, total, squares, within = sums.T
    every = 2 * (number * squares - total**2)
    varies = every > 1e-12 * np.maximum(1.0, number * squares)
    return np.asarray(
        1 - np.divide((number - 1) * within, every, out=np.zeros(len(sums)), where=varies), dtype=np.float64
    )


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa of two raters (Cohen, "A Coefficient of Agreement for Nominal Scales", 1960).

    `(p_o - p_e) / (1 - p_e)` with the share of agreement `p_o` and that expected by chance from each rater's own shares
    `p_e`: 1 for perfect agreement, 0 for agreement by chance. NaN without units, and where both raters only ever name
    the same one class.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} classes by one rater, {len(second)} by the other")
    n = len(first)
    counts, other_counts = Counter(first), Counter(second)
    chance = sum(counts[name] * other_counts[name] for name in counts)
    if n == 0 or chance == n * n:
        return math.nan
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    return (agreed * n - chance) / (n * n - chance)


def wilson_interval(share: float, n: int, level: float = LEVEL) -> Estimate:
    """A share (0 to 1) of n independent trials, and its two-sided score interval (Wilson, "Probable Inference", 1927).

    It has a width at 0 and 1 too; NaN without trials. For several trials per question, `share` is the mean of the
    questions' shares and `n` their number: the interval is then no narrower than it should be, because a share within a
    question varies less than a single trial.
    """
    check_level(level)
    if n < 0 or (n and not 0 <= share <= 1):
        raise ValueError(f"a share lies from 0 to 1 over at least 0 trials, got {share} over {n}")
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0, level, rounds=0)
    from scipy.special import ndtri

    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    margin = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    # The share lies within by algebra; rounding may put it outside at 0 and 1.
    low, high = max(0.0, min(share, centre - margin)), min(1.0, max(share, centre + margin))
    return Estimate(share, low, high, n, n, level, rounds=0)


@dataclass(frozen=True)
class EffectiveJudges:
    """How many independent judges a panel is worth."""

    votes: Estimate  # 1 to the number of judges
    correlation: Estimate  # mean correlation of the errors of two judges
    correlations: Floats  # mean correlation of each judge's errors with those of the others, shape (J,)


def effective_judges(
    errors: npt.ArrayLike, clusters: Clusters, **options: Unpack[ResamplingOptions]
) -> EffectiveJudges:
    """Effective number of judges of a panel, `n / (1 + (n - 1) * r)` with the mean error correlation r.

    That is the design effect of a cluster of n (Kish, "Survey Sampling", 1965, section 5.4), which arXiv 2605.29800
    applies to judges. A negative r counts as 0.

    Args:
        errors: 1 for a wrong verdict and 0 for a right one, or rating less label; never NaN, shape (judges, items).
        clusters: Prompt of each item.
        options: Rounds, level and seed of the bootstrap of prompts; see `Resampling`.

    Returns:
        The number with its interval; NaN where fewer than two judges have errors that vary.
    """
    how, table = Resampling(**options), np.asarray(errors, dtype=np.float64)
    judges, items = table.shape
    table = table - table.mean(axis=1, keepdims=True)
    first, second = np.triu_indices(judges)
    sums = cluster_counts(clusters, np.concatenate([np.ones((1, items)), table, table[first] * table[second]]).T)

    def statistics(counts: Floats) -> Floats:
        """The mean correlation, and that of each judge, shape (R, 1 + J)."""
        means = counts[:, 1:] / counts[:, :1]
        covariance = np.empty((len(counts), judges, judges))
        covariance[:, first, second] = means[:, judges:] - means[:, first] * means[:, second]
        covariance[:, second, first] = covariance[:, first, second]
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        scale = np.sqrt(np.where(variance > 1e-12, variance, np.nan))
        correlation = covariance / scale[:, :, None] / scale[:, None, :]
        known = ~np.isnan(correlation) & ~np.eye(judges, dtype=bool)
        total, pairs = np.where(known, correlation, 0.0).sum(axis=2), known.sum(axis=2)
        each = np.divide(total, pairs, out=np.full(total.shape, np.nan), where=pairs > 0)
        number, every = pairs.sum(axis=1), total.sum(axis=1)
        mean = np.divide(every, number, out=np.full(len(counts), np.nan), where=number > 0)
        return np.column_stack([mean, each])

    total = sums.sum(axis=0, keepdims=True)
    value, *each = map(float, statistics(total)[0])
    draws = statistics(bootstrap_counts(sums, how.rounds, how.seed))[:, 0]
    low, high = _bca_bounds(value, draws, statistics(total - sums)[:, 0], how.level) if items else (math.nan, math.nan)
    correlation = Estimate(value, low, high, items, len(sums), how.level, how.rounds, how.seed)
    few, many = (judges / (1 + (judges - 1) * max(r, 0.0)) if r == r else r for r in (high, low))
    votes = judges / (1 + (judges - 1) * max(value, 0.0)) if value == value else value
    return EffectiveJudges(replace(correlation, value=votes, low=few, high=many), correlation, np.array(each))


def _bca_bounds(value: float, draws: Floats, without: Floats, level: float) -> tuple[float, float]:
    """BCa interval (Efron, "Better Bootstrap Confidence Intervals", 1987), by rounds and without each cluster in turn.

    Tails are those of Student's t, as in `mean_estimates`. The mean of correlations is skewed: its percentiles missed
    the truth on one side twice as often as on the other.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    n, known, without = len(without), draws[~np.isnan(draws)], without[~np.isnan(without)]
    off = without.mean() - without if len(without) > 1 else np.zeros(1)
    if math.isnan(value) or not (off**2).sum() > 1e-18:
        return math.nan, math.nan
    pull = float((off**3).sum() / (6 * (off**2).sum() ** 1.5))
    below = (np.count_nonzero(known < value) + np.count_nonzero(known <= value) + 1) / (2 * len(known) + 2)
    size = float(stdtrit(n - 1, (1 + level) / 2)) * math.sqrt(n / (n - 1))
    moved = float(ndtri(below)) + np.array([-size, size])
    low, high = np.quantile(known, ndtr(float(ndtri(below)) + moved / (1 - pull * moved)))
    return float(low), float(high)


@dataclass(frozen=True)
class HeldOutPanel:
    """The best small panel: chosen on one half of the prompts, measured on the other."""

    panel: tuple[int, ...]  # that is best on all items
    chosen: float  # share of the halves on which it was the best
    apparent: float  # mean score of the best panel of a half on that half
    held_out: float  # on the other half
    single: float  # the same for the best single judge of a half, on the other half
    gain: Estimate  # `held_out` less `single`; the bounds are a range of splits, not a confidence interval


def best_majority(right: npt.ArrayLike, clusters: Clusters, *, splits: int = SPLITS, seed: int = 0) -> HeldOutPanel:
    """The majority of three judges that is most often right.

    Args:
        right: 1 for a right verdict, 0 for a wrong one, shape (judges, items).
        clusters: Prompt of each item; a prompt is never in both halves.
        splits: Number of random splits; in each, either half chooses once.
        seed: Seed of the splits.
    """
    table = np.asarray(right, dtype=np.float64)
    panels = _panels(len(table), (1, 3))
    votes = np.array([table[list(panel)].mean(axis=0) > 0.5 for panel in panels], dtype=np.float64)
    columns = np.concatenate([np.ones((1, votes.shape[1])), votes]).T
    return _held_out(columns, lambda sums: sums[:, 1:] / sums[:, :1], panels, clusters, splits, seed)


def best_mean(
    ratings: npt.ArrayLike, labels: npt.ArrayLike, clusters: Clusters, *, splits: int = SPLITS, seed: int = 0
) -> HeldOutPanel:
    """The mean of two to four judges' ratings, shape (judges, items), with the highest Pearson's r with the labels.

    Arguments are else those of `best_majority`.
    """
    table = np.vstack([np.asarray(ratings, dtype=np.float64), np.asarray(labels, dtype=np.float64)])
    table = table - table.mean(axis=1, keepdims=True)
    panels = _panels(len(table) - 1, (1, 2, 3, 4))
    rated = np.array([table[list(panel)].mean(axis=0) for panel in panels])
    label = np.broadcast_to(table[-1], rated.shape)
    columns = np.concatenate(
        [np.ones((1, table.shape[1])), table[-1:], table[-1:] ** 2, rated, rated**2, rated * label]
    ).T

    def pearson(sums: Floats) -> Floats:
        means = sums[:, 1:] / sums[:, :1]
        y, y2, (x, x2, xy) = means[:, :1], means[:, 1:2], np.split(means[:, 2:], 3, axis=1)
        scale = np.sqrt(np.maximum((x2 - x**2) * (y2 - y**2), 0.0))
        return np.asarray(
            np.divide(xy - x * y, scale, out=np.full(x.shape, -1.0), where=scale > 1e-12), dtype=np.float64
        )

    return _held_out(columns, pearson, panels, clusters, splits, seed)


def _panels(judges: int, sizes: Sequence[int]) -> list[tuple[int, ...]]:
    return [panel for size in sizes for panel in combinations(range(judges), size)]


def _held_out(
    columns: Floats,
    score: Callable[[Floats], Floats],
    panels: Sequence[tuple[int, ...]],
    clusters: Clusters,
    splits: int,
    seed: int,
) -> HeldOutPanel:
    """Choose on one half and measure on the other, both ways; scores are functions of sums over items."""
    sums = cluster_counts(clusters, columns)
    generator = np.random.default_rng(seed)
    order = generator.permuted(np.tile(np.arange(len(sums)), (splits, 1)), axis=1)
    half = (order < len(sums) // 2).astype(np.float64)
    halves = np.concatenate([half, 1 - half])
    scores = score(halves @ sums)
    others = np.roll(scores, splits, axis=0)
    singles = sum(len(panel) == 1 for panel in panels)
    rows = np.arange(len(scores))
    best, alone = scores[:, singles:].argmax(axis=1) + singles, scores[:, :singles].argmax(axis=1)
    whole = int(score(sums.sum(axis=0, keepdims=True))[0, singles:].argmax()) + singles
    held_out, single = others[rows, best], others[rows, alone]
    low, high = np.quantile(held_out - single, [0.025, 0.975])
    gain = Estimate(float((held_out - single).mean()), float(low), float(high), len(columns), len(sums), 0.95, 0, seed)
    apparent, chosen = float(scores[rows, best].mean()), float((best == whole).mean())
    return HeldOutPanel(panels[whole], chosen, apparent, float(held_out.mean()), float(single.mean()), gain)
