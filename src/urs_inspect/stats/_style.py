"""A regression of comparisons on strengths of models and on the style of their answers.

The log odds of a win are the difference of two strengths plus a coefficient for each covariate,
such as a difference of style. The prior is that of `bradley_terry`: each model gets ties with an
average one, and each coefficient ties between equal models that differ by one in its covariate.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from urs_inspect.stats._bootstrap import Floats, Integers
from urs_inspect.stats._bradley_terry import PRIOR, logistic

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_LISTS = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_HEADINGS = re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^\s*][^*\n]*\*\*|__[^\s_][^_\n]*__")
_CODE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)

FEATURES: Mapping[str, Callable[[str], int]] = {
    "length": len,
    "lists": lambda text: len(_LISTS.findall(text)),
    "headings": lambda text: len(_HEADINGS.findall(text)),
    "bold": lambda text: len(_BOLD.findall(text)),
    "code": lambda text: len(_CODE.findall(text)) // 2,
}
"""What is counted in an answer: characters, list items, headings, passages in bold, blocks of code
(in Markdown).
"""

_MOST_STEPS = 200
_TOLERANCE = 1e-9
INFINITE = 20.0
"""Strengths beyond (3,500 points from the mean) are those of a fit that does not converge."""


@dataclass(frozen=True)
class Fit:
    """Strengths and coefficients in natural units, (P + K,), what moves them there, and how far."""

    values: Floats
    influences: Floats  # of each instruction, (C, P + K)
    pull: Floats  # of the prior, to first order, (P + K,)
    covariance: Floats  # as if all outcomes were independent, (P + K, P + K)

    @property
    def variance(self) -> float:
        """Mean variance of the strengths, of which only differences are known."""
        of_all = self.influences.mean(axis=1, keepdims=True)
        centred = self.influences - of_all
        variances = centred.var(axis=0)
        return float(variances.mean())


def fit_design(
    design: "csr_array",
    outcome: Floats,
    clusters: Integers,
    *,
    weights: Floats | float = 1.0,
    offset: Floats | float = 0.0,
    shared: Floats | float = 0.0,
    prior: float = PRIOR,
) -> Fit:
    """Fit strengths and coefficients by Newton's method as in `fit_counts`, with influences.

    An influence is the score of an instruction's ballots times the inverse information. A score is
    a residual divided by 1 - leverage, as in the HC3 sandwich (MacKinnon and White, 1985), without
    which intervals of 60 votes are too narrow, plus what is `shared`. Outcomes may lie outside 0 to
    1; `weights` say how often a ballot counts, `offset` which log odds are known. All have shape
    (N,), and so have `clusters`, the numbers of the instructions, in whose order influences are.
    The design has shape (N, P + K), whatever its columns are.
    """
    from scipy.sparse import csr_array

    values: Floats = np.zeros(design.shape[1])
    for _ in range(_MOST_STEPS):
        chance = logistic(design @ values + offset)
        alone = logistic(values)
        excess = weights * (outcome - chance)
        spread = weights * chance * (1 - chance)
        weighted = design.multiply(spread[:, None])
        by_battles = (design.T @ weighted).toarray()
        by_prior = prior * alone * (1 - alone)
        information = by_battles + np.diag(by_prior)
        pulled = prior * (0.5 - alone)
        gradient = design.T @ excess + pulled
        step = np.linalg.solve(information, gradient)
        farthest = np.abs(design @ step).max()
        longest = np.abs(step).max()
        reach = float(max(farthest, longest))
        shortened = np.log1p(reach) / max(reach, 1e-300)
        values = values + step * shortened
        strongest = np.abs(values).max()
        if reach < _TOLERANCE or strongest > INFINITE:
            break
    inverse = np.linalg.inv(information)
    terms = design.multiply(design @ inverse)
    leverage = np.asarray(terms.sum(axis=1))
    scores = excess / (1 - spread * leverage) + shared
    _, numbers = np.unique(clusters, return_inverse=True)
    size = len(outcome)
    places = (numbers, np.arange(size))
    shape = (numbers.max() + 1, size)
    by_cluster = csr_array((scores, places), shape)
    summed = (by_cluster @ design).toarray()
    return Fit(
        values=values,
        influences=summed @ inverse,
        pull=inverse @ pulled,
        covariance=inverse,
    )
