"""Which scores of judges need no person, by exact tests on labelled answers.

Source: Jung, Brahman and Choi, "Trust or Escalate", 2024: thresholds on a judge's confidence are
tested in a fixed order by exact binomial tests. `docs/fidelity.md` says what differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
    test that failed is about `tested` of them, and people agree with `agreed` of these. Both are 0
    if no test failed.
    """

    by: Integers
    at_least: float
    miss: float
    labels: int
    tested: int = 0
    agreed: int = 0

    def chance(self, labels: Integers | int) -> Floats:
        """How likely so many labels pass the test that failed, if people agree as often as seen.

        Two labels that agree as often as not are added to those seen, as few tell little.
        """
        from scipy.stats import binom

        share = (self.agreed + 1) / (self.tested + 2)
        tested = np.asarray(labels) * self.tested // max(1, self.labels)
        fewest = fewest_agreed(tested, self.at_least, self.miss)
        return np.asarray(binom.sf(fewest - 1, tested, share))

    @property
    def needed(self) -> int | None:
        """How many labels are likely to pass the test that failed; None if too many."""
        enough = np.flatnonzero(self.chance(np.arange(_MOST_LABELS)) >= _POWER)
        return int(enough[0]) if len(enough) else None


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
    labels = np.arange(len(places) + 1)
    fewest = fewest_agreed(labels, at_least, miss)
    shown = Shown(np.full(signs.shape[1], NOBODY), at_least, miss, len(places))
    for by in _rules(signs, labels - fewest):
        for judge in np.unique(by[by != NOBODY]):
            given = agrees[judge][by[places] == judge]
            agreed = int(given.sum())
            if agreed < fewest[len(given)]:
                return replace(shown, tested=len(given), agreed=agreed)
        shown = replace(shown, by=by)
    return shown


def _rules(signs: Floats, spare: Integers) -> Iterator[Integers]:
    """The judges of all answers, by one rule after the other.

    `spare` says how many of 0, 1, 2 and so on labels may disagree, so that they show the share.
    """
    by = np.full(signs.shape[1], NOBODY)
    with_scores = np.flatnonzero((signs > -np.inf).any(axis=1))
    for judge in reversed(with_scores):
        before = by
        scored = signs[judge][signs[judge] > -np.inf]
        labels = (len(spare) - 1) * len(scored) / len(by)
        spare_of_judge = spare[: int(labels) + 1]
        disagreements = min(spare_of_judge.max(), _DISAGREEMENTS)
        number = np.argmax(spare_of_judge >= disagreements)  # 0 if no number of labels is enough
        strictest = number / labels if number else 1.0
        shares = np.linspace(strictest, 1, _STEPS)
        thresholds = np.quantile(scored, 1 - shares, method="lower")
        for threshold in np.unique(thresholds)[::-1]:
            by = np.where(signs[judge] >= threshold, judge, before)
            yield by


def fewest_agreed(labelled: Integers | int, at_least: float, miss: float) -> Integers:
    """With how many scores people must agree to show the share; one more than all if none can.

    Where the share is just missed, so many agree with a probability of at most `miss`.
    """
    from scipy.stats import binom

    fewest = 1 + binom.isf(miss, labelled, at_least)
    return np.asarray(fewest, dtype=np.int64)
