"""Which scores of judges need no person, by exact tests on labelled answers.

Source: Jung, Brahman and Choi, "Trust or Escalate", 2024: thresholds on a judge's confidence are
tested in a fixed order by exact binomial tests. `docs/fidelity.md` says what differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from urs_inspect.stats._bootstrap import Flags, Floats, Integers

NOBODY = -1
"""In place of a judge, where no judge may give the score."""
_STEPS = 10
"""Thresholds of a judge."""
_DISAGREEMENTS = 3
"""Most disagreements with which the labels could show the strictest threshold."""
_POWER = 0.8
_MOST_LABELS = 20_000


@dataclass(frozen=True)
class Shown:
    """Who may give each answer its score, by the last rule that labels show, and what comes next.

    `by` is the number of the judge, or `NOBODY`, shape (N,). There are so many `labels`; the first
    test that failed is about `tested` of them, and people agree with `agreed` of these. `tested` is
    None if no test failed.
    """

    by: Integers
    at_least: float
    miss: float
    labels: int
    tested: int | None = None
    agreed: int = 0

    def chance(self, labels: int) -> float:
        """How likely so many labels pass the test that failed, if people agree as often as seen.

        Two labels that agree as often as not are added to those seen, as few tell little.
        """
        from scipy.special import bdtrc

        if not self.tested:
            return 0.0
        share = (self.agreed + 1) / (self.tested + 2)
        if share <= self.at_least:
            return 0.0
        tested = labels * self.tested // self.labels
        return float(bdtrc(fewest_agreed(tested, self.at_least, self.miss) - 1, tested, share))

    @property
    def needed(self) -> int | None:
        """How many labels are likely to pass the test that failed; None if too many."""
        labels = 1
        while self.chance(labels) < _POWER:
            labels = max(labels + 1, int(labels * 1.02))
            if labels > _MOST_LABELS:
                return None
        return labels


def find_shown(
    signs: Floats, places: Integers, agrees: Flags, *, at_least: float, miss: float
) -> Shown:
    """Find who may give each answer its score.

    `signs` say how sure each judge is of each answer, in any unit (minus infinity without a score),
    shape (J, N); `places` are the numbers of the labelled answers, shape (L,); `agrees` says with
    the score of which judge people agree in these, shape (J, L).

    With a probability of 1 - `miss`, people agree with at least the share `at_least` of the scores
    that each judge gives, and so of all that are given, if labelled answers are a random sample.

    Rules are tested in an order that depends on no label: the last judge takes all answers from a
    threshold on, which goes from strict to loose; then the judge before it takes such answers away
    from it, and so on. A rule is shown if each of its judges passes an exact binomial test of error
    `miss`; the first rule that is not shown is the last one tested.

    Proof: a rule is broken if people agree too seldom with what one of its judges gives, and the
    test of this judge passes with a probability of at most `miss`. A broken rule is used only if
    the first broken rule in the order is shown, as all rules up to the used one are. Which one that
    is depends on no label, so this has a probability of at most `miss`, whatever the signs mean and
    however the judges depend on each other.
    """
    shown = Shown(np.full(signs.shape[1], NOBODY), at_least, miss, len(places))
    for by in _rules(signs, len(places), at_least, miss):
        for judge in np.unique(by[by != NOBODY]):
            is_given = by[places] == judge
            given = agrees[judge][is_given]
            agreed = int(given.sum())
            if agreed < fewest_agreed(len(given), at_least, miss):
                return replace(shown, tested=len(given), agreed=agreed)
        shown = replace(shown, by=by)
    return shown


def _rules(signs: Floats, labels: int, at_least: float, miss: float) -> Iterator[Integers]:
    """The judges of all answers, by one rule after the other."""
    by = np.full(signs.shape[1], NOBODY)
    for judge in reversed(range(len(signs))):
        before = by
        scored = signs[judge][signs[judge] > -np.inf]
        if len(scored):
            labels_of_judge = labels * len(scored) / len(by)
            strictest = _strictest(labels_of_judge, at_least, miss)
            shares_below = 1 - np.linspace(strictest, 1, _STEPS)
            thresholds = np.quantile(scored, shares_below, method="lower")
            from_strict_to_loose = np.unique(thresholds)[::-1]
            for threshold in from_strict_to_loose:
                by = np.where(signs[judge] >= threshold, judge, before)
                yield by


def _strictest(labels: float, at_least: float, miss: float) -> float:
    """Share of a judge's scores that the strictest threshold takes."""
    for disagreements in range(_DISAGREEMENTS, -1, -1):
        for number in range(disagreements + 1, int(labels) + 1):
            if number - disagreements >= fewest_agreed(number, at_least, miss):
                return number / labels
    return 1.0


@lru_cache(maxsize=10_000)
def fewest_agreed(labelled: int, at_least: float, miss: float) -> int:
    """With how many scores people must agree to show the share; one more than all if none can.

    Where the share is just missed, so many agree with a probability of at most `miss`.
    """
    from scipy.special import bdtrc

    agreed = np.arange(labelled)
    is_too_likely = bdtrc(agreed, labelled, at_least) > miss
    return int(1 + is_too_likely.sum())
