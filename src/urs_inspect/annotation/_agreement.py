"""Majorities of several people's votes, and agreement of the people."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from urs_inspect.annotation._votes import Vote
from urs_inspect.discrepancy._ballots import OUTCOMES
from urs_inspect.stats._bootstrap import Estimate, mean_interval


@dataclass(frozen=True)
class Majority:
    """What the voters of one ballot chose.

    `outcome` is 1 if model a is better, 0.5 for a tie, 0 if model b is (MAD paper, Eq. (3)); NaN
    without a choice. The option with the most votes counts; where several share the most votes,
    people see no difference together, and the outcome is 0.5. "Cannot tell" does not count.
    """

    ballot: str
    outcome: float
    counts: tuple[int, int, int]  # votes for a, tie, b
    cannot_tell: int
    shared: bool  # whether several options had the most votes


@dataclass(frozen=True)
class AnnotatorReport:
    """The votes of one person."""

    annotator: str
    votes: int
    left: int  # votes for the response on the left
    right: int
    ties: int
    cannot_tell: int
    unplaced: int  # votes for a response whose side is not known
    # left / (left + right); near 0.5 for somebody who ignores the side; NaN without either
    left_share: float
    left_p: float  # two-sided exact binomial p-value of `left_share` being 0.5; NaN without either
    # share of choices that equal the single most chosen option of the others; NaN without such
    with_others: float
    seconds: float  # median time in view per vote; NaN if not known


@dataclass(frozen=True)
class Agreement:
    """Agreement of several people.

    Attributes:
        ballots: Ballots with at least one vote.
        votes: Votes, "cannot tell" included.
        compared: Ballots with two choices or more, "cannot tell" aside; only they tell about
            agreement.
        most_chosen: Share of the votes of a ballot that went to its most chosen option, mean over
            the compared ballots with the Student-t interval (MAD paper, appendix E.4). 1 is full
            agreement; it is not corrected for chance.
        alpha: Krippendorff's alpha of the options as names; NaN with fewer than two compared
            ballots.
        ordered_alpha: The same with a, tie, b as places on a line, so that a and b disagree more
            than a and tie.
        shared: Ballots without a single most chosen option; they count as ties.
        annotators: The votes of each person, by name.
    """

    ballots: int
    votes: int
    compared: int
    most_chosen: Estimate
    alpha: float
    ordered_alpha: float
    shared: int
    annotators: tuple[AnnotatorReport, ...]


def majorities(votes: Iterable[Vote]) -> tuple[Majority, ...]:
    """The majority of each ballot.

    Args:
        votes: The votes, at most one per annotator and ballot.

    Returns:
        The majorities, in the order of the ballots' ids.
    """
    by_ballot = sorted(_by_ballot(votes).items())
    return tuple(_majority(ballot, cast) for ballot, cast in by_ballot)


def agreement(votes: Iterable[Vote]) -> Agreement:
    """Measure how far people agree.

    Args:
        votes: The votes, at most one per annotator and ballot.

    Returns:
        The agreement of all of them, and the votes of each person beside those of the others.

    Examples:
        >>> from urs_inspect.annotation import Vote, agreement
        >>> both = [Vote("q1", name, "a") for name in ("ann", "bob")]
        >>> split = [Vote("q2", "ann", "b"), Vote("q2", "bob", "tie")]
        >>> agreement([*both, *split]).most_chosen.value
        0.75
    """
    votes = list(votes)
    by_ballot = _by_ballot(votes)
    found = [_majority(ballot, cast) for ballot, cast in by_ballot.items()]
    tables = [majority.counts for majority in found if sum(majority.counts) >= 2]
    most_chosen = [max(counts) / sum(counts) for counts in tables]
    people = sorted({vote.annotator for vote in votes})
    return Agreement(
        ballots=len(by_ballot),
        votes=len(votes),
        compared=len(tables),
        most_chosen=mean_interval(most_chosen, scale=(0, 1)),
        alpha=krippendorff_alpha(tables),
        ordered_alpha=krippendorff_alpha(tables, tuple(OUTCOMES.values())),
        shared=sum(majority.shared for majority in found),
        annotators=tuple(_report(name, by_ballot) for name in people),
    )


def krippendorff_alpha(
    tables: Sequence[Sequence[int]], places: Sequence[float] | None = None
) -> float:
    """Krippendorff's alpha of any number of raters with gaps.

    With n values of which n_c are of class c, and n_uc of them in unit u of m_u values, alpha is 1
    less the ratio of observed to expected disagreement: `sum_u sum_ck n_uc n_uk d_ck / (m_u - 1)`
    over `sum_ck n_c n_k d_ck / (n - 1)` (Krippendorff, "Computing Krippendorff's
    Alpha-Reliability", 2011).

    Args:
        tables: Counts of classes, shape (units, classes); units with fewer than two choices do not
            count.
        places: Numbers of the classes, whose squared distances are the disagreements d_ck; without
            them d_ck is 1 between any two classes.

    Returns:
        1 for full agreement, 0 for chance, below 0 for systematic disagreement; NaN with fewer than
        two units. When only one class occurs, alpha is 1 by convention.

    Examples:
        >>> from urs_inspect.annotation import krippendorff_alpha
        >>> krippendorff_alpha([[2, 0], [0, 2], [2, 0]])
        1.0
    """
    comparable = [counts for counts in tables if sum(counts) >= 2]
    units = np.array(comparable, dtype=np.float64)
    if len(units) < 2:
        return math.nan
    if places is None:
        distances = 1 - np.eye(units.shape[1])
    else:
        distances = np.subtract.outer(places, places) ** 2
    totals = units.sum(axis=0)
    expected = totals @ distances @ totals / (totals.sum() - 1)
    if expected == 0:
        return 1.0
    within = (units @ distances * units).sum(axis=1)
    others = units.sum(axis=1) - 1
    observed = (within / others).sum()
    return float(1 - observed / expected)


def _by_ballot(votes: Iterable[Vote]) -> dict[str, list[Vote]]:
    by_ballot: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_ballot[vote.ballot].append(vote)
    return by_ballot


def _majority(ballot: str, cast: Sequence[Vote]) -> Majority:
    chosen = Counter(vote.choice for vote in cast)
    counts = (chosen["a"], chosen["tie"], chosen["b"])
    most = max(counts)
    top = []
    for outcome, count in zip(OUTCOMES.values(), counts, strict=True):
        if count == most:
            top.append(outcome)
    shared = most > 0 and len(top) > 1
    if not most:
        outcome = math.nan
    elif shared:
        outcome = 0.5
    else:
        outcome = top[0]
    return Majority(ballot, outcome, counts, chosen["cannot_tell"], shared)


def _report(annotator: str, by_ballot: Mapping[str, Sequence[Vote]]) -> AnnotatorReport:
    from scipy.stats import binomtest

    every_vote = chain(*by_ballot.values())
    own = [vote for vote in every_vote if vote.annotator == annotator]
    sided = [vote for vote in own if vote.choice in {"a", "b"}]
    left = sum(vote.choice == vote.left for vote in sided)
    unplaced = sum(vote.left is None for vote in sided)
    right = len(sided) - unplaced - left
    chosen = Counter(vote.choice for vote in own)
    times = [vote.seconds for vote in own if not math.isnan(vote.seconds)]
    placed = left + right
    left_share = math.nan
    left_p = math.nan
    if placed:
        left_share = left / placed
        left_p = float(binomtest(left, placed).pvalue)
    return AnnotatorReport(
        annotator=annotator,
        votes=len(own),
        left=left,
        right=right,
        ties=chosen["tie"],
        cannot_tell=chosen["cannot_tell"],
        unplaced=unplaced,
        left_share=left_share,
        left_p=left_p,
        with_others=_with_others(own, by_ballot),
        seconds=statistics.median(times) if times else math.nan,
    )


def _with_others(own: Sequence[Vote], by_ballot: Mapping[str, Sequence[Vote]]) -> float:
    equal = []
    for vote in own:
        votes = by_ballot[vote.ballot]
        by_others = [other for other in votes if other.annotator != vote.annotator]
        others = _majority(vote.ballot, by_others)
        is_clear = any(others.counts) and not others.shared
        if vote.choice in OUTCOMES and is_clear:
            equal.append(OUTCOMES[vote.choice] == others.outcome)
    if not equal:
        return math.nan
    return sum(equal) / len(equal)
