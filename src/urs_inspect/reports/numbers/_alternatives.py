"""The models of a ranking by other means than the judge's, as by those that people correct."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs._naming import short_names
from urs_inspect.reports._texts import listed, number
from urs_inspect.reports.numbers._comparison import ComparedModels, verdict_of
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.stats import rank_intervals
from urs_inspect.stats._bootstrap import Resampling, Scale
from urs_inspect.stats._means import MeanDraws, contrast, p_values
from urs_inspect.stats._paired import Pair, all_pairs, mean_differences, worst_p_values

PAIRS = ["first", "second", "better_by_judge", "verdict", "difference", "p", "p_holm", "p_worst"]
"""Columns of `Alternative.pairs`."""


@dataclass(frozen=True)
class Alternative:
    """The models of a ranking by other means.

    `name` is the column of these means and the name of their table. `means` has at least the
    columns model, column (`all` or an intent), rank_from and rank_to (over all questions), mean (by
    the judge's scores) and `name`; nothing if there are no other means. `pairs` has one row per
    pair of models over all questions: first (with the higher mean), second, better_by_judge (which
    one is significantly better by the judge's scores, or empty), verdict, difference, p, p_holm and
    p_worst.
    """

    name: str
    title: str
    means: pd.DataFrame
    pairs: pd.DataFrame
    notes: tuple[str, ...]  # of the section about it
    start: tuple[str, ...] = ()  # what the report says of it at the start, warnings included
    warnings: tuple[str, ...] = ()
    # what the JSON file says beside the tables
    facts: Mapping[str, Any] = field(default_factory=dict)
    digits: int = 2  # decimals of means
    trusted: bool = True  # whether a report may begin with these means

    @property
    def over_all(self) -> pd.DataFrame:
        """The means over all questions, by model."""
        return self.means[self.means["column"] == ALL].set_index("model")


def headline_of(other: Alternative | None) -> Alternative | None:
    """The other means, if there are any with which a report may begin."""
    return other if other is not None and other.trusted else None


def compare(
    means: MeanDraws,
    worst: tuple[MeanDraws, MeanDraws],
    models: Sequence[str],
    judged: ComparedModels,
    resampling: Resampling,
    scale: Scale | None = None,
) -> tuple[pd.DataFrame, tuple[Pair, ...]]:
    """Compare models by other means.

    Returns `pairs` of an `Alternative` and the ranks that each model may have. `worst` are the
    means if each missing score were the lowest, and the highest.
    """
    pairs = [
        pair if means.values[pair[0]] >= means.values[pair[1]] else pair[::-1]
        for pair in all_pairs(len(models))
    ]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    own = np.eye(len(models))
    low, high = worst
    least = MeanDraws(
        low.values[first] - high.values[second],
        low.draws[:, first] - high.draws[:, second],
        np.minimum(low.n[first], high.n[second]),
        means.seed,
    )
    differences = contrast(means, own[:, first] - own[:, second])
    tested = mean_differences(
        differences,
        pairs,
        resampling.level,
        worst=worst_p_values(least.values, p_values(least)),
        scale=scale,
    )
    better = {frozenset(lead): lead[0] for lead in judged.leads}
    rows = []
    for pair in tested:
        names = (models[pair.first], models[pair.second])
        tests = (pair.difference, pair.p, pair.p_holm, pair.p_worst)
        rows.append((*names, better.get(frozenset(names), ""), verdict_of(pair), *tests))
    ranks = rank_intervals(
        len(models), [(pair.first, pair.second) for pair in tested if pair.significant]
    )
    return pd.DataFrame(rows, columns=PAIRS), ranks


def lost_leads(
    pairs: pd.DataFrame,
    leads: Sequence[tuple[str, str]],
    models: Sequence[str],
    what: str,
    digits: int = 2,
) -> list[str]:
    """A sentence if some of the leads by the judge's scores are not significant by other means."""
    short = short_names(models)
    signed = number(digits, sign=True)
    rows = {frozenset((row.first, row.second)): row for row in pairs.itertuples()}
    lost = []
    for better, worse in leads:
        row: Any = rows.get(frozenset((better, worse)))
        if row is None or (row.first == better and row.verdict == "significant"):
            continue
        kept = row.difference
        if row.first != better:
            kept = replace(kept, value=-kept.value, low=-kept.high, high=-kept.low)
        reverse = ", significantly reversed" if row.verdict == "significant" else ""
        lost.append(f"{short[better]} over {short[worse]}, {signed(kept)}{reverse}")
    if not lost:
        return []
    verb = "does" if len(lost) == 1 else "do"
    return [
        f"{counted(len(lost), 'lead')} that the judge's scores call significant {verb} not survive"
        f" {what}: {listed(lost, separator='; ')}."
    ]
