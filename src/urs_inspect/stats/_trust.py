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
_DISAGREEMENTS = 2
"""Disagreements that the strictest threshold may have, where there are labels enough."""
_STRICTEST = 1 / 3
"""Share of the labels that the strictest threshold takes at most for that."""
_LOOSEST_SHARE = 0.5
"""Share of the error kept for taking all, whatever stricter thresholds show."""
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

    agreed = np.arange(labelled + 1)
    by_chance = np.where(agreed == 0, 1.0, bdtrc(agreed - 1, labelled, at_least))
    return int(labelled + 1 - (by_chance <= miss).sum())


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
    order = np.argsort(-signs, kind="stable")
    thresholds = _thresholds(signs[order], at_least, miss)
    labelled = np.array([np.count_nonzero(signs >= least) for least in thresholds])
    agreed = np.cumsum(agrees[order])[labelled - 1]
    shares = np.zeros(len(thresholds))  # of the error, each joined by what reaches it
    shares[0] += 1 - _LOOSEST_SHARE
    shares[-1] += _LOOSEST_SHARE
    level = 0.0
    best = None
    for place, (count, right) in enumerate(zip(labelled, agreed, strict=True)):
        level += miss * shares[place]
        if level > 0 and right >= fewest_agreed(int(count), at_least, level):
            best = place
        else:
            level = 0.0
    chosen = len(thresholds) - 1 if best is None else best
    low = lower_bound(int(agreed[chosen]), int(labelled[chosen]), miss)
    counts = (int(labelled[chosen]), int(agreed[chosen]), low)
    if best is not None:
        return Trusted(float(thresholds[best]), *counts)
    needed = [
        labels_needed(int(right), int(count), at_least, miss * shares[-1]) * len(signs) / count
        for count, right in zip(labelled, agreed, strict=True)
    ]
    might = min(needed)
    return Trusted(None, *counts, None if might > _MOST_LABELS else int(np.ceil(might)))


def _thresholds(ordered: Floats, at_least: float, miss: float) -> Floats:
    """Signs to be tested, the strictest first; which depends on no label."""
    number = len(ordered)
    level = miss * (1 - _LOOSEST_SHARE)
    start = number
    for disagreements in range(_DISAGREEMENTS + 1):
        size = disagreements + 1
        while size <= number and size - disagreements < fewest_agreed(size, at_least, level):
            size += 1
        if size <= (number * _STRICTEST if disagreements else number):
            start = size
    places = np.linspace(start, number, min(_STEPS, number - start + 1)).astype(np.int64)
    return np.unique(ordered[places - 1])[::-1]


def labels_needed(agreed: int, labelled: int, at_least: float, miss: float) -> float:
    """How many labels show a share with 80% power, if people agree as seen; or infinity."""
    number = 1
    while number <= _MOST_LABELS:
        if chance_to_show(agreed, labelled, number, at_least, miss) >= _POWER:
            return float(number)
        number = max(number + 1, int(number * 1.02))
    return np.inf


def chance_to_show(agreed: int, labelled: int, number: int, at_least: float, miss: float) -> float:
    """How likely `number` labels show a share, if people agree as often as seen.

    Two labels that agree as often as not are added to those seen, as few tell little.
    """
    from scipy.special import bdtrc

    share = (agreed + 1) / (labelled + 2)
    if share <= at_least:
        return 0.0
    return float(bdtrc(fewest_agreed(number, at_least, miss) - 1, number, share))
