"""What a panel of judges is worth: independent votes, its error, and its best small part."""

import math
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.stats._bootstrap import (
    LEVEL,
    Clusters,
    Estimate,
    Floats,
    cluster_counts,
)


@dataclass(frozen=True)
class EffectiveJudges:
    """How many independent judges a panel is worth."""

    votes: Estimate  # 1 to the number of judges
    correlation: Estimate  # mean correlation of the errors of two judges
    # mean correlation of each judge's errors with those of the others, shape (J,)
    correlations: Floats


def effective_judges(errors: Floats, clusters: Clusters, level: float = LEVEL) -> EffectiveJudges:
    """Effective number of judges of a panel.

    That is `J / (1 + (J - 1) * r)` with the mean error correlation r.

    That is the design effect of a cluster of J (Kish, "Survey Sampling", 1965, section 5.4), which
    arXiv 2605.29800 applies to judges; a negative r counts as 0. Intervals are those of Student's t
    on the logarithm of the design effect, with the standard error of the jackknife of prompts, of
    which there are at least two.

    `errors` are 1 for a wrong verdict and 0 for a right one, or rating less label; never NaN, shape
    (judges, items). A judge whose errors do not vary correlates with none.
    """
    from scipy.special import stdtrit

    judges, items = errors.shape
    others = judges - 1
    centred = errors - errors.mean(axis=1, keepdims=True)
    by_judges = centred[:, None] * centred
    products = by_judges.reshape(judges**2, items)
    ones = np.ones((1, items))
    counts = np.concatenate([ones, centred, products])
    sums = cluster_counts(clusters, counts.T)
    total = sums.sum(axis=0, keepdims=True)
    prompts = len(sums)
    by_judge = _error_correlations(total, judges)[0]
    value = float(by_judge.mean())
    # The jackknife: the same without each prompt.
    without = _error_correlations(total - sums, judges).mean(axis=1)
    effects = np.log(np.maximum(1 + others * without, 1e-9))
    error = math.sqrt((prompts - 1) * effects.var())
    quantile = stdtrit(prompts - 1, (1 + level) / 2)
    margin = float(quantile * error)
    effect = max(1 + others * value, 1e-9)
    low = (effect * math.exp(-margin) - 1) / others
    high = (effect * math.exp(margin) - 1) / others

    def votes_of(correlation: float) -> float:
        effect = 1 + others * max(correlation, 0.0)
        return float(judges / effect)

    size = {"n": items, "clusters": prompts, "level": level, "rounds": 0}
    votes = Estimate(votes_of(value), votes_of(high), votes_of(low), **size)
    correlation = Estimate(value, low, min(high, 1.0), **size)
    return EffectiveJudges(votes, correlation, by_judge)


def _error_correlations(counts: Floats, judges: int) -> Floats:
    """Mean correlation of each judge's errors with those of the others, shape (R, J).

    `counts` are the number of items, sums of errors and sums of products, shape (R, 1 + J + J²).
    """
    shares = counts / counts[:, :1]
    means = shares[:, 1 : 1 + judges]
    of_products = shares[:, 1 + judges :]
    squares = of_products.reshape(-1, judges, judges)
    covariance = squares - means[:, :, None] * means[:, None]
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    deviation = np.sqrt(np.maximum(variance, 0))
    scale = deviation[:, :, None] * deviation[:, None]
    zeros = np.zeros_like(covariance)
    correlation = np.divide(covariance, scale, out=zeros, where=scale > 1e-12)
    of_others = correlation * (1 - np.eye(judges))
    of_judges = of_others.sum(axis=2)
    return np.asarray(of_judges / (judges - 1), dtype=np.float64)


def panel_error(values: Floats, labels: Floats | None) -> float:
    """How far the panel of some judges is from the labels.

    Without `labels`, `values` are 1 for a right and 0 for a wrong verdict, and the error is the
    share of items on which the majority is wrong, 0 to 1, a tie counting as a half. With labels,
    `values` are ratings, and it is the standard deviation of the labels from their line on the mean
    rating, in points of the labels: that of the labels where the mean says nothing about them.
    Shape of `values`: (judges, items).
    """
    mean = values.mean(axis=0)
    if labels is None:
        is_wrong = mean < 0.5
        is_even = mean == 0.5
        return float(np.mean(is_wrong + 0.5 * is_even))
    line = np.column_stack([np.ones(len(labels)), mean])
    coefficients, *_ = np.linalg.lstsq(line, labels)
    residuals = labels - line @ coefficients
    return float(np.std(residuals))


@dataclass(frozen=True)
class HeldOutPanel:
    """The best small panel: chosen on one half of the prompts, measured on the other."""

    panel: tuple[int, ...]  # that is best on all items
    chosen: float  # share of the halves on which it was the best
    apparent: float  # mean score of the best panel of a half on that half
    held_out: float  # on the other half
    single: float  # the same for the best single judge of a half, on the other half
    gain: tuple[float, float]  # 2.5% and 97.5% quantiles of `held_out` less `single` over splits


def best_panel(
    values: Floats,
    labels: Floats | None,
    clusters: Clusters,
    *,
    splits: int = 200,
    seed: int = 0,
) -> HeldOutPanel:
    """The best majority of three, or mean of two to four judges.

    The majority is the one that is most often right, the mean that with the highest Pearson's r.

    `values` are 1 for a right and 0 for a wrong verdict, without `labels`, or ratings, shape
    (judges, items). In each of the random splits either half chooses once; a prompt is never in
    both.
    """
    judges = range(len(values))
    sizes = (1, 3) if labels is None else (1, 2, 3, 4)
    panels = list(chain.from_iterable(combinations(judges, size) for size in sizes))
    of_panels = [values[list(panel)].mean(axis=0) for panel in panels]
    rated = np.array(of_panels)
    ones = np.ones((1, values.shape[1]))
    columns: list[npt.NDArray[Any]] = [ones]
    if labels is None:
        columns += [rated > 0.5]
        score = _accuracies
    else:
        x = rated - rated.mean(axis=1, keepdims=True)
        y = (labels - labels.mean())[None]
        columns += [y, y**2, x, x**2, x * y]
        score = _pearson_of_sums
    sums = cluster_counts(clusters, np.concatenate(columns).T)
    generator = np.random.default_rng(seed)
    once = np.arange(len(sums))
    prompts = np.tile(once, (splits, 1))
    half = generator.permuted(prompts, axis=1) < len(sums) // 2
    halves = np.concatenate([half, ~half])
    scores = score(halves @ sums)
    others = np.roll(scores, splits, axis=0)
    rows = np.arange(2 * splits)
    singles = len(values)
    best = scores[:, singles:].argmax(axis=1) + singles
    alone = scores[:, :singles].argmax(axis=1)
    of_all = score(sums.sum(axis=0, keepdims=True))[0]
    whole = int(of_all[singles:].argmax()) + singles
    held_out = others[rows, best]
    single = others[rows, alone]
    low, high = np.quantile(held_out - single, [0.025, 0.975])
    return HeldOutPanel(
        panel=panels[whole],
        chosen=float((best == whole).mean()),
        apparent=float(scores[rows, best].mean()),
        held_out=float(held_out.mean()),
        single=float(single.mean()),
        gain=(float(low), float(high)),
    )


def _accuracies(sums: Floats) -> Floats:
    """Accuracy of each panel, of the number of items and of right ones, shape (halves, panels)."""
    shares = sums[:, 1:] / sums[:, :1]
    return np.asarray(shares, dtype=np.float64)


def _pearson_of_sums(sums: Floats) -> Floats:
    """Pearson's r of each panel, shape (halves, panels); -1 where it is not defined.

    The sums are, of items: their number, y, y², and of each panel x, x² and xy.
    """
    means = sums[:, 1:] / sums[:, :1]
    y = means[:, :1]
    y2 = means[:, 1:2]
    of_panels = means[:, 2:]
    x, x2, xy = np.split(of_panels, 3, axis=1)
    covariance = xy - x * y
    variances = (x2 - x**2) * (y2 - y**2)
    scale = np.sqrt(np.maximum(variances, 0.0))
    undefined = np.full(x.shape, -1.0)
    r = np.divide(covariance, scale, out=undefined, where=scale > 1e-12)
    return np.asarray(r, dtype=np.float64)
