"""Logs of `judge_twins` -> what a judge pays for changes that add nothing, and for flaws."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from inspect_ai.log import EvalLog, EvalSample

from urs_inspect.judging._twins import KINDS, PADDED, Effect
from urs_inspect.logs._files import read_log
from urs_inspect.logs._scores import last_score, role_models, value_of
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.scorers._rating_agreement import RATING
from urs_inspect.scorers._twins import IN_LOGS, JUDGED_BY, SCALE, ScoredTwin, scored_twins, slope_of
from urs_inspect.stats import Estimate, mean_interval
from urs_inspect.stats._bootstrap import LEVEL, standard_error
from urs_inspect.stats._power import FEWEST, questions_needed, smallest_difference

SMALL = 0.25
"""Points within which a shift counts as none: a quarter of a step of the scale 1 to 10."""
_SCALE = (float(LOWEST), float(HIGHEST))
_FINALS = (("intent_judge", FINAL), ("judged_again", FINAL), ("rating_agreement", RATING))
"""Scorers of twins, and their final score."""
_UNUSED = frozenset({"events", "messages", "error_retries", "output", "store"})

Verdict = Literal[
    "adds nothing", "adds", "takes away", "cannot tell", "costs", "is not noticed", "too few"
]


@dataclass(frozen=True)
class KindShift:
    """Scores of one kind of twins less those of the answers that they are made of.

    Attributes:
        kind: Its name.
        title: What was changed.
        effect: What the change is for the user: `nothing`, or a `flaw`.
        shift: Mean shift in points, its interval clustered by question.
        gained: Share of the twins that scored higher than their answer.
        smallest: The smallest shift that so many twins show to be significant, with 80% power.
        equal: Answers in which the rule could change nothing.
        needed: So many answers show a shift of `small` points, with 80% power; None if that is not
            known.
        small: Points within which a shift counts as none.
    """

    kind: str
    title: str
    effect: Effect
    shift: Estimate
    gained: float
    smallest: float
    equal: int
    needed: int | None
    small: float = SMALL

    @property
    def verdict(self) -> Verdict:
        """What the shift says of the judge."""
        return verdict_on(self.shift, self.effect, self.small)

    @property
    def more(self) -> int | None:
        """Answers that would tell, where these are too few; None where they are not."""
        if self.verdict != "cannot tell" or not self.needed:
            return None
        answers = self.shift.n + self.equal
        if self.needed <= answers:
            return None
        return self.needed


@dataclass(frozen=True)
class Twins:
    """What a log of `judge_twins` shows.

    Attributes:
        judges: The judges, of whose scores the mean counts.
        log: Where it is.
        answers: Number of answers that were judged with their twins.
        kinds: The kinds of twins, in the order of the run.
        slope: Points for each doubling of the length by padding; None without padded twins.
        scale: Lowest and highest score.
        judged_by: The scorer that asked the judge, with its arguments.
        unscored: Texts, answers or twins, that have no score.
        reason: Why one of these has none, in the words of its scorer; empty if not known.
        left_out: Kind -> answers in which its rule could change nothing.
        in_logs: Answers that there were to draw from; None in logs that do not say it.
        same_prompts: Logs of answers that were judged with the same prompts.
    """

    judges: tuple[str, ...]
    log: EvalLog
    answers: int
    kinds: tuple[KindShift, ...]
    slope: Estimate | None
    scale: tuple[float, float] = _SCALE
    judged_by: str = ""
    unscored: int = 0
    reason: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    in_logs: int | None = None
    same_prompts: frozenset[str] = frozenset()


def verdict_on(shift: Estimate, effect: Effect, small: float = SMALL) -> Verdict:
    """What the mean shift of twins of one kind says of the judge.

    Args:
        shift: The mean shift, in points.
        effect: What the change is for the user.
        small: Points within which a shift counts as none.
    """
    if math.isnan(shift.low):
        return "too few"
    if effect == "flaw":
        if shift.high < 0:
            return "costs"
        if shift.low > -small:
            return "is not noticed"
        return "cannot tell"
    if shift.low > 0:
        return "adds"
    if shift.high < 0:
        return "takes away"
    if shift.high < small:
        return "adds nothing"
    return "cannot tell"


def read_twins(log: EvalLog) -> Twins:
    """Read a log of `judge_twins`; its samples are read if it is a header."""
    if log.samples is None:
        log = read_log(log.location, without=_UNUSED)
    judged = [(sample, _score(sample)) for sample in log.samples or []]
    scored = scored_twins((sample.metadata, final) for sample, (final, _) in judged)
    without = [reason for _, (final, reason) in judged if math.isnan(final)]
    reasons = Counter(filter(None, without))
    usual = max(reasons, key=reasons.__getitem__, default="")
    return replace(twins_of(log, scored), unscored=len(without), reason=usual)


def twins_of(log: EvalLog, scored: Sequence[ScoredTwin]) -> Twins:
    """What scored twins show; `log` is theirs."""
    about = log.eval.metadata or {}
    low, high = about.get(SCALE, _SCALE)
    left_out: Counter[str] = Counter()
    for key, count in about["equal_to_original"].items():
        left_out[key.partition("/")[0]] += count
    by_kind: dict[str, list[ScoredTwin]] = {kind: [] for kind in KINDS}
    for kind in left_out:
        by_kind.setdefault(kind, [])
    for twin in scored:
        by_kind.setdefault(twin.kind, []).append(twin)
    kinds = [_shift(own, left_out[kind], high - low) for kind, own in by_kind.items() if own]
    padded = [twin for twin in scored if twin.kind in PADDED]
    slope = None
    if padded:
        slope = _slope(padded, high - low)
    return Twins(
        judges=role_models(log).get("grader", (log.eval.model,)),
        log=log.model_copy(update={"samples": None}),
        answers=len({twin.answer for twin in scored}),
        kinds=tuple(kinds),
        slope=slope,
        scale=(float(low), float(high)),
        judged_by=str(about.get(JUDGED_BY, "")),
        left_out={kind: left_out[kind] for kind in by_kind if left_out[kind]},
        in_logs=about.get(IN_LOGS),
    )


def _score(sample: EvalSample) -> tuple[float, str]:
    """The score of a twin by the scorer of the run, or NaN and why there is none."""
    for scorer, key in _FINALS:
        score = last_score(sample, scorer)
        if score is not None:
            facts = score.metadata or {}
            judges = facts.get("judges", ())
            details = (str(judge.get("failure_detail") or "") for judge in judges)
            reason = next(filter(None, details), score.explanation or "")
            return value_of(score, key), reason
    if sample.error is None:
        return math.nan, ""
    return math.nan, sample.error.message


def _shift(scored: Sequence[ScoredTwin], equal: int, width: float) -> KindShift:
    """The mean shift of twins of one kind; `width` is that of the scale."""
    name = scored[0].kind
    shifts = [twin.shift for twin in scored]
    questions = [twin.question for twin in scored]
    shift = mean_interval(shifts, clusters=questions)
    n = shift.n
    clusters = shift.clusters
    small = SMALL * width / (_SCALE[1] - _SCALE[0])
    needed: float | None
    if len(set(shifts)) == 1 and clusters >= FEWEST:
        smallest = _unseen(clusters, width)
        shift = replace(shift, low=shift.value - smallest, high=shift.value + smallest)
        needed = math.log((1 - LEVEL) / 2) / math.log(1 - small / min(1.0, width)) * n / clusters
    else:
        error = math.nan
        if clusters > 1:
            error = standard_error(shifts, questions)
        smallest = smallest_difference(error, clusters, level=LEVEL)
        needed = questions_needed(small, error, n, clusters, level=LEVEL)
    known = KINDS.get(name)
    return KindShift(
        kind=name,
        title=known.title if known else name,
        effect=known.effect if known else "nothing",
        shift=shift,
        gained=sum(points > 0 for points in shifts) / len(shifts),
        smallest=smallest,
        equal=equal,
        needed=None if needed is None else math.ceil(needed * (n + equal) / n),
        small=small,
    )


def _slope(padded: Sequence[ScoredTwin], width: float) -> Estimate:
    slope = slope_of(padded)
    if not any(twin.shift for twin in padded) and slope.clusters >= FEWEST:
        doublings = np.array([twin.doublings for twin in padded])
        points = _unseen(slope.clusters, width)
        unseen = points * doublings.sum() / (doublings**2).sum()
        return replace(slope, low=-unseen, high=unseen)
    return slope


def _unseen(clusters: int, width: float) -> float:
    """Points that may have been missed where all twins shifted alike.

    Intervals are as wide as if the most questions that may differ, where none of these does,
    shifted by one step of the scale more or less. Source: Clopper and Pearson, 1934, with both
    tails.
    """
    tail = (1 - LEVEL) / 2
    share = 1 - math.pow(tail, 1 / clusters)
    return share * min(1.0, width)


def samples_of(log: EvalLog) -> int:
    """Number of samples that a run completed."""
    if log.results:
        return log.results.completed_samples
    return 0
