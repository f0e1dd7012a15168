"""Measures of a judge's verdicts against labels."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from urs_inspect.stats.agreement import nominal_alpha
from urs_inspect.stats.bootstrap import (
    LEVEL,
    ROUNDS,
    SEED,
    Estimate,
    Floats,
    Integers,
    bootstrap_counts,
    cluster_counts,
    estimates,
    single_product,
)
from urs_inspect.stats.verdicts import TIE, UNREAD, A, B, Codes, Verdicts, combine_orders


@dataclass(frozen=True)
class JudgeMeasures:
    """What verdicts say about a judge, each number with an interval clustered by prompt.

    All are shares between 0 and 1 but for `alpha`; those that do not apply are NaN with n = 0.

    Attributes:
        accuracy: Verdicts equal to the label, over items whose label is no tie and whose verdict was read (SaMer
            paper, section 5.4 and Table 5). A tie is a wrong verdict here.
        accuracy_all: The same with unread verdicts counted as wrong.
        three_way: Verdicts equal to the label, ties included, over read verdicts.
        three_way_all: The same with unread verdicts counted as wrong.
        macro_f1: Mean F1 of a, b and tie over read verdicts; a class that neither labels nor verdicts hold is left out.
        alpha: Krippendorff's alpha (nominal) between judge and label over read verdicts: 1 agreement, 0 chance, below
            0 systematic disagreement; 1 by convention if there is only one class.
        first_preference: Non-tie verdicts for the response shown first; with both orders asked, of either order.
        longer_preference: Non-tie final verdicts for the longer response. A pair of equally long responses has none
            and counts against it, so that for labels this is the accuracy of the baseline `longest`.
        label_longer_preference: Non-tie labels for the longer response.
        halo: Dimension verdicts equal to the overall verdict, where neither is a tie or unread.
        label_halo: Dimension labels equal to the overall label, where neither is a tie.
        flips: Items whose verdict changes in any way when the responses swap places, where both were read.
        reversals: Items whose verdict goes from one response to the other when they swap places, likewise.
        unread: Items without a readable final verdict.
    """

    accuracy: Estimate
    accuracy_all: Estimate
    three_way: Estimate
    three_way_all: Estimate
    macro_f1: Estimate
    alpha: Estimate
    first_preference: Estimate
    longer_preference: Estimate
    label_longer_preference: Estimate
    halo: Estimate
    label_halo: Estimate
    flips: Estimate
    reversals: Estimate
    unread: Estimate

    def reported(self) -> "JudgeMeasures":
        """The same with the intervals that logs, tables and pages report, by the rule of `reported_bounds`."""
        scales = {field.name: (-1.0, 1.0) if field.name == "alpha" else (0.0, 1.0) for field in fields(self)}
        return JudgeMeasures(**{name: getattr(self, name).reported(scale) for name, scale in scales.items()})


# One row of counts an item: a one in the cell (label, verdict) of a 3 x 4 table, then hits and trials of the habits.
_LABELS, _VERDICTS = 3, 4
_CELLS = _LABELS * _VERDICTS
_HABITS = ("first_preference", "longer_preference", "label_longer_preference", "halo", "label_halo", "flips")
_COLUMNS = _CELLS + 2 * len(_HABITS) + 1


def measure(verdicts: Verdicts, *, rounds: int = ROUNDS, level: float = LEVEL, seed: int = SEED) -> JudgeMeasures:
    """Measure a judge.

    Args:
        verdicts: What it said about N items.
        rounds: Rounds of the bootstrap; without any there are no intervals.
        level: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        The measures.
    """
    return _measure(verdicts.clusters, _item_counts(verdicts), rounds, level, seed)


def _item_counts(verdicts: Verdicts) -> Floats:
    """The row of counts of each item, shape (N, columns)."""
    final = verdicts.final
    counts = np.zeros((len(verdicts), _COLUMNS))
    counts[np.arange(len(verdicts)), verdicts.labels.astype(np.int64) * _VERDICTS + final] = 1
    habits: dict[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]] = {
        "first_preference": _position(verdicts),
        "longer_preference": _matches(final, verdicts.longer),
        "label_longer_preference": _matches(verdicts.labels, verdicts.longer),
    }
    if verdicts.overall is not None:
        habits["halo"] = _matches(final, verdicts.overall, both=True)
    if verdicts.overall_labels is not None:
        habits["label_halo"] = _matches(verdicts.labels, verdicts.overall_labels, both=True)
    if verdicts.swapped is not None:
        read = combine_orders(verdicts.verdicts, verdicts.swapped) != UNREAD
        habits["flips"] = read & (verdicts.verdicts != verdicts.swapped), read
        counts[:, -1] = _sided(verdicts.verdicts) & _sided(verdicts.swapped) & (verdicts.verdicts != verdicts.swapped)
    for name, (hits, trials) in habits.items():
        column = _hits(name)
        counts[:, column], counts[:, column + 1] = hits, trials
    return counts


def _position(verdicts: Verdicts) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Non-tie verdicts for the response shown first, and all of known position; up to two an item."""
    known = _sided(verdicts.first)
    hits, trials = _matches(verdicts.verdicts, verdicts.first, both=True)
    if verdicts.swapped is None:
        return hits, trials
    swapped_first = np.where(known, B - verdicts.first, TIE)
    more_hits, more_trials = _matches(verdicts.swapped, swapped_first, both=True)
    return hits.astype(np.int64) + more_hits, trials.astype(np.int64) + more_trials


def _matches(
    codes: npt.NDArray[Any], others: npt.NDArray[Any], both: bool = False
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Where two codes name the same response, over the items where the first (or both) name one."""
    trials = _sided(codes) & _sided(others) if both else _sided(codes)
    return trials & (codes == others), trials


def _sided(codes: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.asarray(codes < TIE)


def _hits(habit: str) -> int:
    """Column of the hits of a habit; the trials follow it."""
    return _CELLS + 2 * _HABITS.index(habit)


def _cells(labels: Sequence[int], verdicts: Sequence[int]) -> list[int]:
    return [label * _VERDICTS + verdict for label in labels for verdict in verdicts]


_SIDES, _THREE, _ALL = (A, B), (A, B, TIE), (A, B, TIE, UNREAD)
_RIGHT = [label * _VERDICTS + label for label in _THREE]
_READ = _cells(_THREE, _THREE)

# Measure -> columns that are summed above and below the line; the column above is None if it is no ratio.
_PARTS: dict[str, tuple[list[int] | None, list[int]]] = {
    "accuracy": (_RIGHT[:TIE], _cells(_SIDES, _THREE)),
    "accuracy_all": (_RIGHT[:TIE], _cells(_SIDES, _ALL)),
    "three_way": (_RIGHT, _READ),
    "three_way_all": (_RIGHT, _cells(_THREE, _ALL)),
    "macro_f1": (None, _READ),
    "alpha": (None, _READ),
    **{habit: ([_hits(habit)], [_hits(habit) + 1]) for habit in _HABITS},
    "reversals": ([_COLUMNS - 1], [_hits("flips") + 1]),
    "unread": (_cells(_THREE, [UNREAD]), _cells(_THREE, _ALL)),
}


def _selection(columns: Sequence[list[int] | None]) -> Floats:
    """Matrix that sums the given columns of counts for each measure, shape (columns, measures)."""
    matrix = np.zeros((_COLUMNS, len(columns)))
    for place, chosen in enumerate(columns):
        matrix[chosen or [], place] = 1
    return matrix


_ABOVE = _selection([above for above, _ in _PARTS.values()])
_BELOW = _selection([below for _, below in _PARTS.values()])
_F1, _ALPHA = list(_PARTS).index("macro_f1"), list(_PARTS).index("alpha")


def _measure(clusters: npt.NDArray[Any], counts: Floats, rounds: int, level: float, seed: int) -> JudgeMeasures:
    sums = cluster_counts(clusters, counts)
    totals = sums.sum(axis=0, keepdims=True)
    draws = bootstrap_counts(sums, rounds, seed) if len(sums) and rounds else np.zeros((rounds, _COLUMNS))
    found = estimates(
        _statistics(totals)[0],
        _statistics(draws),
        n=(totals @ _BELOW)[0].astype(np.int64),
        clusters=np.count_nonzero(sums @ _BELOW, axis=0),
        level=level,
        seed=seed,
    )
    return JudgeMeasures(**dict(zip(_PARTS, found, strict=True)))


def _statistics(counts: Floats) -> Floats:
    """All measures of summed counts, shape (R, columns) -> (R, measures)."""
    values = _ratio(single_product(counts, _ABOVE), single_product(counts, _BELOW))
    table = counts[:, :_CELLS].reshape(-1, _LABELS, _VERDICTS)[:, :, : TIE + 1]
    values[:, _F1] = _macro_f1(table)
    values[:, _ALPHA] = nominal_alpha(table)
    return values


def _macro_f1(table: Floats) -> Floats:
    """Mean of 2 tp / (labels + verdicts) over the classes that occur, shape (R, 3, 3) -> (R,)."""
    sizes = table.sum(axis=1) + table.sum(axis=2)
    scores = _ratio(2 * np.diagonal(table, axis1=1, axis2=2), sizes)
    return _ratio(np.nansum(scores, axis=1), np.count_nonzero(sizes, axis=1))


def _ratio(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0), dtype=np.float64)


_FEW = 4
_SHARE = 8
"""Drawing kinds of clusters takes less time than drawing clusters if there are `_FEW`, or one for `_SHARE` clusters."""


def accuracies(
    labels: Codes,
    verdicts: Sequence[Codes],
    clusters: Integers,
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> tuple[Estimate, ...]:
    """Accuracy of several judges on the same items: `JudgeMeasures.accuracy` of each, with the same draws.

    Args:
        labels: Who is better by the label: `A`, `B` or `TIE`, shape (N,).
        verdicts: For each judge its final verdicts: `A`, `B`, `TIE` or `UNREAD`, shape (N,).
        clusters: Number of the prompt of each item, shape (N,).
        rounds: Rounds of the bootstrap.
        level: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        One estimate a judge, 0 to 1; NaN without a read verdict on an item whose label is no tie.
    """
    if not verdicts:
        return ()
    counts = np.concatenate([_hits_and_trials(labels, codes) for codes in verdicts], axis=1)
    sums = cluster_counts(clusters, counts)
    draws = bootstrap_counts(sums, rounds, seed) if len(sums) else np.zeros((rounds, counts.shape[1]))
    return _estimates(
        sums.sum(axis=0), draws, np.count_nonzero(sums[:, 1::2], axis=0).astype(np.int64), level=level, seed=seed
    )


def group_accuracies(
    verdicts: Verdicts,
    groups: Sequence[Hashable],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> dict[Hashable, Estimate]:
    """Accuracy of a judge on each group of items by itself, as by scenario, need or dimension.

    Args:
        verdicts: What it said about N items.
        groups: Group of each item, length N.
        rounds: Rounds of the bootstrap, drawn from the clusters of each group.
        level: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        Group -> accuracy as in `JudgeMeasures`, in the order in which groups first appear.
    """
    if len(groups) != len(verdicts):
        raise ValueError(f"need one group an item: {len(verdicts)} items, {len(groups)} groups")
    if not groups:
        return {}
    counts = _hits_and_trials(verdicts.labels, verdicts.final)
    places: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    sums = [cluster_counts(verdicts.clusters[members], counts[members]) for members in places.values()]
    found = _estimates(
        np.concatenate([one.sum(axis=0) for one in sums]),
        np.concatenate([_draws(one, rounds, seed) for one in sums], axis=1),
        np.array([np.count_nonzero(one[:, 1]) for one in sums]),
        level=level,
        seed=seed,
    )
    return dict(zip(places, found, strict=True))


def _hits_and_trials(labels: Codes, verdicts: Codes) -> Floats:
    """Whether each verdict is right, and whether it counts, shape (N, 2)."""
    counted = (labels != TIE) & (verdicts != UNREAD)
    return np.stack([counted & (labels == verdicts), counted], axis=1).astype(np.float64)


def _draws(sums: Floats, rounds: int, seed: int) -> Floats:
    """Hits and trials of each round, shape (C, 2) -> (R, 2).

    Clusters with the same counts are interchangeable. Where there are few kinds of them, how often each kind is drawn
    follows a multinomial distribution, and drawing from that is the same bootstrap in a fraction of the time.
    """
    kinds, sizes = np.unique(sums, axis=0, return_counts=True)
    if len(kinds) > max(_FEW, len(sums) // _SHARE):
        return bootstrap_counts(sums, rounds, seed)
    drawn = np.random.default_rng(seed).multinomial(len(sums), sizes / len(sums), size=rounds)
    return np.asarray(drawn @ kinds, dtype=np.float64)


def _estimates(
    totals: Floats, draws: Floats, clusters: npt.NDArray[np.int64], *, level: float, seed: int
) -> tuple[Estimate, ...]:
    """Ratios of the even columns, hits, to the odd ones, trials."""
    trials = totals[1::2]
    return estimates(
        _accuracies_ratio(totals[0::2], trials),
        _accuracies_ratio(draws[:, 0::2], draws[:, 1::2]),
        n=trials.astype(np.int64),
        clusters=clusters,
        level=level,
        seed=seed,
    )


def _accuracies_ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0), dtype=np.float64)
