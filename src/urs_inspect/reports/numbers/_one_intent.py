"""Leads of a ranking that rest on the questions of one intent."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from urs_inspect.reports.numbers._comparison import ComparedModels
from urs_inspect.reports.numbers._scores import (
    ALL,
    DIGITS,
    Columns,
    OrderedScores,
    Weights,
    compare_models,
)
from urs_inspect.stats._bootstrap import Floats, Resampling

if TYPE_CHECKING:
    pass


_FEW_ROUNDS = 100
"""Rounds of the bootstrap where only values and p-values are used that need none."""


@dataclass(frozen=True)
class LostLead:
    """A significant lead that is none without the questions of one intent."""

    difference: float  # without them
    p: float  # corrected
    clear: bool  # whether the lead within the intent differs significantly from that elsewhere


@dataclass(frozen=True)
class WithoutIntent:
    """A ranking without the questions of one intent."""

    intent: str
    questions: int  # that are left out
    leader: str  # model with the highest mean without them
    lost: Mapping[str, LostLead]  # model -> the lead of the first model over it


def without_intents(
    scores: OrderedScores, columns: Columns, compared: ComparedModels, resampling: Resampling
) -> tuple[WithoutIntent, ...]:
    """Leave out each intent in turn.

    Only those are returned without which a lead or the leader is another. Fewer questions alone
    take significance away: of uniform leads that are just significant, up to 15% lose it without
    exactly one intent. So a lead rests on an intent only if it is also clearly another there than
    elsewhere (Welch's test, corrected by Bonferroni over intents), which leaves 2%
    (docs/appendix/report_coverage.md, six intents).
    """
    if len(columns.groups) < 2 or scores.ranked < 2:
        return ()
    names = scores.table.models
    rounds = (
        resampling.rounds if scores.common_weights.reweight else min(resampling.rounds, _FEW_ROUNDS)
    )
    leads = {worse for better, worse in compared.leads if better == names[0]}
    found = []
    for group in columns.groups:
        rest = np.setdiff1d(columns.questions[ALL], columns.questions[group])
        left = np.isin(scores.common, rest)
        if not left.any():
            continue
        tested, _ = compare_models(scores, {ALL: rest}, replace(resampling, rounds=rounds))
        lost = {}
        for pair in tested[ALL]:
            worse = names[pair.second]
            kept = pair.significant and pair.difference.value > 0
            if pair.first == 0 and worse in leads and not kept:
                differences = scores.comparable[:, 0] - scores.comparable[:, pair.second]
                p = len(columns.groups) * _welch(differences[~left], differences[left])
                lost[worse] = LostLead(
                    pair.difference.value, max(pair.p_holm, pair.p_worst), p < 1 - resampling.level
                )
        means = Weights(None, scores.common_weights.values[left]).means(scores.comparable[left])
        best = int(np.nanargmax(np.round(means, DIGITS)))
        if lost or best != 0:
            found.append(WithoutIntent(group, int((~left).sum()), names[best], lost))
    return tuple(found)


def _welch(first: Floats, second: Floats) -> float:
    """Two-sided p-value of Welch's t-test for equal means; 1 where one group has fewer than two.

    Without any spread within the groups, means that differ are certain to: 0.
    """
    from scipy.special import stdtr

    if min(len(first), len(second)) < 2:
        return 1.0
    parts = np.array([first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)])
    if parts.sum() <= 0:
        return float(first.mean() == second.mean())
    t = (first.mean() - second.mean()) / math.sqrt(parts.sum())
    freedom = parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum()
    return float(2 * stdtr(freedom, -abs(t)))
