"""Grids of judgements -> means, rating bias, self-preference and orders."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from urs_inspect.rating import holm
from urs_inspect.rating.bootstrap import Estimate, Floats
from urs_inspect.rating.mean_columns import MeanColumn, bootstrap_means, mean_estimates
from urs_inspect.rating.orders import Order, order_of
from urs_inspect.rating.rating_bias import rating_bias
from urs_inspect.rating.self_preference import self_preference
from urs_inspect.reports.crossval.grid_logs import MISSING, CellScores, GridTable
from urs_inspect.reports.crossval.report import (
    ALL,
    Bias,
    Cell,
    Gap,
    Grid,
    Preference,
    Reversal,
    SettingOrder,
)
from urs_inspect.reports.intent.block_report import Bootstrap


@dataclass(frozen=True)
class Ratings:
    """Final scores as one array.

    Attributes:
        evaluators: The judges.
        sources: The settings in which they judged: sources of references.
        models: The models whose answers they judged.
        scores: Shape (cases, evaluators, sources, models); NaN where there is none. Epochs are averaged.
    """

    evaluators: tuple[str, ...]
    sources: tuple[str, ...]
    models: tuple[str, ...]
    scores: Floats


def report_grid(table: GridTable, how: Bootstrap) -> Grid:
    """Compute everything about one grid."""
    cases = sorted(table.folds)
    ratings = _ratings(table, cases)
    second = _without_copies(table, ratings, cases)
    orders = setting_orders(ratings, how)
    return Grid(
        conditions=table.conditions,
        apart_because=table.apart_because,
        evaluators=ratings.evaluators,
        sources=ratings.sources,
        models=ratings.models,
        cells=_cells(table, ratings, [table.folds[case] for case in cases], how),
        biases=rating_biases(second, table.conditions.reference_score, how),
        preferences=preferences(second, how),
        orders=orders,
        reversals=order_reversals(orders),
        copies={model: len(copied) for model, copied in table.copies.items()},
        notes=tuple(table.notes),
    )


def with_holm(parts: Sequence[Sequence[Preference]]) -> list[tuple[Preference, ...]]:
    """Correct the p-values of self-preference over all evaluators and sources: a report makes all these claims at once.

    Args:
        parts: The preferences of each grid, and of each set of ordinary runs.

    Returns:
        The same parts with corrected p-values.
    """
    everything = [one for part in parts for one in part]
    own, beyond = holm([one.result.p for one in everything]), holm([one.result.p_beyond for one in everything])
    corrected = iter(zip(own, beyond, strict=True))
    return [
        tuple(replace(one, p_holm=p, p_beyond_holm=q) for one, (p, q) in zip(part, corrected, strict=False))
        for part in parts
    ]


def rating_biases(ratings: Ratings, reference_score: float, how: Bootstrap) -> tuple[Bias, ...]:
    """Rating bias of each evaluator over the models that are both tested and a source of references."""
    both = [model for model in ratings.models if model in ratings.sources]
    if not both:
        return ()
    places = [(ratings.sources.index(model), ratings.models.index(model)) for model in both]
    found = []
    for number, evaluator in enumerate(ratings.evaluators):
        own = np.stack([ratings.scores[:, number, source, model] for source, model in places], axis=1)
        bias = rating_bias(own, reference_score, rounds=how.rounds, level=how.level, seed=how.seed)
        found.append(Bias(evaluator, bias.bias, dict(zip(both, bias.by_model, strict=True))))
    return tuple(found)


def preferences(ratings: Ratings, how: Bootstrap) -> tuple[Preference, ...]:
    """Self-preference of each evaluator that is also tested, by source of references and over all of them."""
    itself = [ratings.models.index(name) if name in ratings.models else None for name in ratings.evaluators]
    table = ratings.scores.transpose(0, 2, 1, 3)
    parts = [(name, [place]) for place, name in enumerate(ratings.sources)]
    parts += [(ALL, list(range(len(ratings.sources))))] if len(ratings.sources) > 1 else []
    found = []
    for judge, own in enumerate(itself):
        if own is None or len(ratings.evaluators) < 2:
            continue
        for source, places in parts:
            result = self_preference(
                table[:, places], judge, own, itself, rounds=how.rounds, level=how.level, seed=how.seed
            )
            others = tuple(name for name in ratings.evaluators if name != ratings.evaluators[judge])
            found.append(Preference(ratings.evaluators[judge], source, others, result))
    return tuple(found)


def setting_orders(ratings: Ratings, how: Bootstrap) -> tuple[SettingOrder, ...]:
    """The order of the models in each setting in which all have scores, with Holm's correction over all pairs."""
    orders: list[tuple[str, str, Order]] = []
    for (e, evaluator), (s, source) in product(enumerate(ratings.evaluators), enumerate(ratings.sources)):
        found = order_of(ratings.scores[:, e, s], rounds=how.rounds, level=how.level, seed=how.seed)
        if found.cases:
            orders.append((evaluator, source, found))
    corrected = iter(holm([gap.p for _, _, order in orders for gap in order.gaps]))
    return tuple(
        SettingOrder(
            evaluator,
            source,
            tuple(ratings.models[place] for place in order.places),
            order.means,
            order.share,
            order.cases,
            tuple(
                Gap(
                    ratings.models[gap.first],
                    ratings.models[gap.second],
                    gap.difference,
                    gap.p,
                    p := next(corrected),
                    p < 1 - how.level,
                )
                for gap in order.gaps
            ),
        )
        for evaluator, source, order in orders
    )


def order_reversals(orders: Sequence[SettingOrder]) -> tuple[Reversal, ...]:
    """Pairs of models of which one is better in some settings and worse in others; equal means are neither."""
    gaps: dict[frozenset[str], list[Gap]] = {}
    for order in orders:
        for gap in order.gaps:
            gaps.setdefault(frozenset((gap.first, gap.second)), []).append(gap)
    found = []
    for several in gaps.values():
        unequal = [gap for gap in several if gap.difference.value > 0]
        first, second = several[0].first, several[0].second
        ahead = [gap.apart for gap in unequal if gap.first == first]
        behind = [gap.apart for gap in unequal if gap.first == second]
        if ahead and behind:
            found.append(Reversal(first, second, len(ahead), sum(ahead), len(behind), sum(behind)))
    return tuple(found)


def _ratings(table: GridTable, cases: Sequence[str]) -> Ratings:
    evaluators, sources, models = tuple(table.evaluators), tuple(table.sources), tuple(table.models)
    scores = np.full((len(cases), len(evaluators), len(sources), len(models)), np.nan)
    for (e, evaluator), (s, source), (m, model) in product(*map(enumerate, (evaluators, sources, models))):
        cell = table.cells.get((evaluator, source, model))
        for place, case in enumerate(cases if cell else ()):
            finals = cell.finals.get(case) if cell else None
            if finals:
                scores[place, e, s, m] = math.fsum(finals) / len(finals)
    best = sorted(range(len(models)), key=lambda model: _worst_last(scores[..., model]))
    return Ratings(evaluators, sources, tuple(models[place] for place in best), scores[..., best])


def _without_copies(table: GridTable, ratings: Ratings, cases: Sequence[str]) -> Ratings:
    """Ratings without those of answers that are their own references.

    Whoever judges a text against itself gives the highest score, so that such a rating says neither how far a judge is
    from the score of a reference, nor how it rates itself beside others.
    """
    scores = ratings.scores.copy()
    for model, copied in table.copies.items():
        if model in ratings.sources and model in ratings.models:
            there = [place for place, case in enumerate(cases) if case in copied]
            scores[there, :, ratings.sources.index(model), ratings.models.index(model)] = np.nan
    return replace(ratings, scores=scores)


def _worst_last(scores: Floats) -> float:
    """What to sort models by: less the mean over settings, infinite without a score; shape (cases, ...)."""
    settings = scores.reshape(len(scores), -1).T
    means = [float(column[there].mean()) for column in settings if (there := ~np.isnan(column)).any()]
    return -math.fsum(means) / len(means) if means else math.inf


def _cells(table: GridTable, ratings: Ratings, folds: Sequence[int], how: Bootstrap) -> tuple[Cell, ...]:
    cases = len(folds)
    flat = ratings.scores.reshape(cases, -1)
    [found] = bootstrap_means([MeanColumn(np.arange(cases), flat)], cases, rounds=how.rounds, seed=how.seed)
    keys = product(ratings.evaluators, ratings.sources, ratings.models)
    return tuple(
        _cell(key, table.cells[key], estimate, column, folds, table.conditions.folds)
        for key, estimate, column in zip(keys, mean_estimates(found, how.level), flat.T, strict=True)
        if key in table.cells
    )


def _cell(
    key: tuple[str, str, str], cell: CellScores, mean: Estimate, column: Floats, folds: Sequence[int], parts: int
) -> Cell:
    by_fold = [column[np.array(folds) == fold] for fold in range(1, parts + 1)]
    means = [float(part[there].mean()) if (there := ~np.isnan(part)).any() else math.nan for part in by_fold]
    known = [value for value in means if not math.isnan(value)]
    missing = len(column) - len(cell.finals)
    return Cell(
        *key,
        mean=mean,
        folds=tuple(means),
        fold_mean=math.fsum(known) / len(known) if known else math.nan,
        fold_deviation=float(np.std(known, ddof=1)) if len(known) > 1 else math.nan,
        outcomes={**dict(sorted(cell.outcomes.items())), **({MISSING: missing} if missing else {})},
        unscored=int(np.isnan(column).sum()),
    )
