"""Which verdicts of a judge may be taken without a person, by exact bounds on labelled ones.

Source: Jung, Brahman and Choi, "Trust or Escalate", 2024: thresholds on a judge's confidence are
tested in a fixed order by exact binomial bounds. `docs/fidelity.md` says what differs.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from urs_inspect.stats._bootstrap import Flags, Floats

_STEPS = 10
"""Most thresholds that are tested: each one more is one more chance to stop early."""
_STRICTEST = 1 / 3
"""Share of the labels that the strictest threshold takes at most, if up to two may disagree."""
_POWER = 0.8
_MOST_LABELS = 20_000


@dataclass(frozen=True)
class Trusted:
    """The verdicts that may be taken: those whose sign is at least `least`.

    `labelled` of the labelled items have such a sign, and people agree with `agreed` of these; they
    agree with at least the share `low` of all such items (one-sided exact bound). Where none may be
    taken, `least` is None, the counts are those of all labelled items, and `might` is how many
    labels might show it, from the agreement seen; None if that is too low.
    """

    least: float | None
    labelled: int
    agreed: int
    low: float
    might: int | None = None


def lower_bound(agreed: int, labelled: int, miss: float) -> float:
    """Exact one-sided lower bound of a share (0 to 1), wrong with probability `miss` at most.

    Source: Clopper and Pearson, "The use of confidence or fiducial limits", 1934.
    """
    from scipy.special import betaincinv

    return float(betaincinv(agreed, labelled - agreed + 1, miss)) if agreed else 0.0


@lru_cache(maxsize=10_000)
def fewest_agreed(labelled: int, at_least: float, miss: float) -> int:
    """How many of the labelled items must agree to show the share; one more than all if none can.

    Agreement in fewer items than these would be no rare event where the share is just missed.
    """
    from scipy.special import bdtrc

    agreed = np.arange(labelled)
    return int(1 + (bdtrc(agreed, labelled, at_least) > miss).sum())


def find_trusted(signs: Floats, agrees: Flags, *, at_least: float, miss: float) -> Trusted:
    """The loosest sign by which verdicts may be taken.

    With a probability of 1 - `miss`, people agree with at least the share `at_least` of the
    verdicts that have such a sign, if the labelled items are a random sample of all: thresholds go
    from strict to loose until one is not shown. Half of `miss` is for this sequence; the other half
    shows, or fails to show, that all verdicts may be taken, and joins the first where the
    sequence comes so far. With one sign for all, that is one exact test.

    Args:
        signs: How sure the judge is of each labelled item, in any unit, shape (N,); equal signs
            are taken or left together.
        agrees: Whether people agree with its verdict, shape (N,).
        at_least: Share of agreement to be shown, between 0 and 1.
        miss: Probability of a false promise, between 0 and 1.

    Returns:
        What may be taken.
    """
    if not len(signs):
        return Trusted(None, 0, 0, 0.0)
    thresholds = _thresholds(signs, at_least, miss)
    least = None
    labelled = len(signs)
    agreed = int(agrees.sum())
    needed = []
    for_all = miss if len(thresholds) == 1 else miss / 2
    level = miss - for_all
    for threshold in thresholds:
        count = int((signs >= threshold).sum())
        right = int(agrees[signs >= threshold].sum())
        if threshold == thresholds[-1]:
            level += for_all
        if level and right >= fewest_agreed(count, at_least, level):
            least = float(threshold)
            labelled = count
            agreed = right
        else:
            level = 0.0
            needed.append(labels_needed(right, count, at_least, for_all) * len(signs) / count)
    might = None
    if least is None and min(needed) <= _MOST_LABELS:
        might = int(np.ceil(min(needed)))
    return Trusted(least, labelled, agreed, lower_bound(agreed, labelled, miss), might)


def _thresholds(signs: Floats, at_least: float, miss: float) -> Floats:
    """Signs to be tested, the strictest first; which depends on no label."""
    number = len(signs)
    start = number
    for disagreements, most in enumerate((number, number * _STRICTEST, number * _STRICTEST)):
        for size in range(disagreements + 1, int(most) + 1):
            if size - disagreements >= fewest_agreed(size, at_least, miss / 2):
                start = size
                break
    places = np.linspace(start, number, min(_STEPS, number - start + 1)).astype(np.int64)
    return np.unique(np.sort(signs)[-places])[::-1]


def labels_needed(agreed: int, labelled: int, at_least: float, miss: float) -> float:
    """How many labels show a share with 80% power, if people agree as seen; or infinity."""
    number = 1
    while chance_to_show(agreed, labelled, number, at_least, miss) < _POWER:
        number = max(number + 1, int(number * 1.02))
        if number > _MOST_LABELS:
            return np.inf
    return float(number)


def chance_to_show(agreed: int, labelled: int, number: int, at_least: float, miss: float) -> float:
    """How likely `number` labels show a share, if people agree as often as seen.

    Two labels that agree as often as not are added to those seen, as few tell little.
    """
    from scipy.special import bdtrc

    share = (agreed + 1) / (labelled + 2)
    if share <= at_least:
        return 0.0
    return float(bdtrc(fewest_agreed(number, at_least, miss) - 1, number, share))
