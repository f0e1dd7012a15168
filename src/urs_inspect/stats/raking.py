"""Weights under which a sample has given shares of several kinds of things.

Iterative proportional fitting (Deming and Stephan, "On a Least Squares Adjustment of a Sampled Frequency Table When the
Expected Marginal Totals are Known", 1940), for all rounds of a bootstrap at once. Each round is raked by itself, as the
sample was, so that intervals know that the shares are given and not drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from urs_inspect.stats.bootstrap import Floats, Integers

_STEPS = 200
_CLOSE = 1e-8
"""Largest deviation of a share from what it should be."""


@dataclass(frozen=True)
class Margin:
    """Shares of one kind.

    Attributes:
        category: Number of each question's category, -1 for none, shape (Q,).
        shares: Wanted share of each category, adding up to 1, shape (C,).
    """

    category: Integers
    shares: Floats


def raking(margins: Sequence[Margin]) -> Callable[[Floats], Floats]:
    """Make a function that turns how often questions were drawn into weights with the wanted shares.

    Args:
        margins: One a kind, at least one; a question without a category in one of them has no weight.

    Returns:
        Function from counts to weights that add up to 1, shape (B, Q) both; rows in which the shares cannot be had,
        because no question of a wanted category was drawn, are NaN.
    """
    categories = np.stack([margin.category for margin in margins])
    used = (categories >= 0).all(axis=0)
    kinds, cell_of = np.unique(categories[:, used], axis=1, return_inverse=True)
    member = np.zeros((categories.shape[1], kinds.shape[1]))
    member[np.flatnonzero(used), cell_of.ravel()] = 1
    places = [kinds[number] for number in range(len(margins))]
    shares = [margin.shares for margin in margins]

    def weights(counts: Floats) -> Floats:
        drawn = counts @ member
        fitted = _fitted(drawn, places, shares)
        factors = np.divide(fitted, drawn, out=np.where(np.isnan(fitted), np.nan, 0.0), where=drawn > 0)
        weighted = np.zeros_like(counts)
        weighted[:, used] = counts[:, used] * factors[:, cell_of.ravel()]
        return weighted

    return weights


def effective_number(weights: Floats) -> float:
    """Kish's effective number of questions: how many of equal weight say as much (Kish 1965, section 11.7).

    Args:
        weights: Weights of the questions, at least 0, shape (Q,).

    Returns:
        `sum(w)^2 / sum(w^2)`, 1 to Q; 0 if all weights are 0.
    """
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def _fitted(drawn: Floats, places: Sequence[Integers], shares: Sequence[Floats]) -> Floats:
    """Share of each cell in each round, shape (B, cells); NaN in rounds that cannot have the wanted shares."""
    table = drawn.copy()
    members = [np.eye(len(wanted))[place] for place, wanted in zip(places, shares, strict=True)]
    off = np.full(len(table), np.inf)
    for _ in range(_STEPS):
        for member, wanted in zip(members, shares, strict=True):
            margin = table @ member
            factor = np.divide(wanted, margin, out=np.zeros_like(margin), where=margin > 0)
            table *= factor @ member.T
        off = np.max([np.abs(table @ m - w).max(axis=1) for m, w in zip(members, shares, strict=True)], axis=0)
        if (off < _CLOSE).all():
            break
    table[off >= np.sqrt(_CLOSE)] = np.nan
    return table
