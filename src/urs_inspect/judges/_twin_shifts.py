"""Logs of `judge_twins` -> what a judge pays for changes that add nothing, and for flaws."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample

from urs_inspect.judges._twins import KINDS, PADDED, Effect
from urs_inspect.judges._twins_scorer import (
    DOUBLINGS,
    FINALS,
    JUDGED_BY,
    SCALE,
    SHIFT,
    SLOPE,
    TWIN,
    scored_twins,
    slope_of,
)
from urs_inspect.judging._scores import last_score
from urs_inspect.logs._files import read_log, short_name
from urs_inspect.logs._scores import role_models, value_of
from urs_inspect.reports.numbers._judge_checks import (
    Check,
    JudgeShift,
    JudgeShifts,
    LeftOut,
    UnreadLog,
    Verdict,
    header_metrics,
    samples_of,
)
from urs_inspect.rubrics import HIGHEST, LOWEST
from urs_inspect.stats import Estimate, mean_interval
from urs_inspect.stats._bootstrap import LEVEL, error_of
from urs_inspect.stats._power import FEWEST, smallest_difference

SMALL = 0.25
"""Points within which a shift counts as none: a quarter of a step of the scale 1 to 10."""
_SCALE = (float(LOWEST), float(HIGHEST))
_UNUSED = frozenset({"events", "messages", "error_retries", "output", "store"})

Finding = Literal[
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
        small: Points within which a shift counts as none.
    """

    kind: str
    title: str
    effect: Effect
    shift: Estimate
    gained: float
    smallest: float
    small: float

    @property
    def verdict(self) -> Finding:
        """What the shift says of the judge."""
        low = self.shift.low
        high = self.shift.high
        if math.isnan(low):
            return "too few"
        if self.effect == "flaw":
            if high < 0:
                return "costs"
            if low > -self.small:
                return "is not noticed"
            return "cannot tell"
        if low > 0:
            return "adds"
        if high < 0:
            return "takes away"
        if high < self.small:
            return "adds nothing"
        return "cannot tell"


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
        left_out: Kind -> answers in which its rule could change nothing.
        unscored: Texts, answers or twins, that have no score.
    """

    judges: tuple[str, ...]
    log: EvalLog
    answers: int
    kinds: tuple[KindShift, ...]
    slope: Estimate | None
    scale: tuple[float, float]
    judged_by: str
    left_out: Mapping[str, int]
    unscored: int = 0


def read_twins(log: EvalLog) -> Twins:
    """Read a log of `judge_twins`; its samples are read if it is a header."""
    if log.samples is None:
        log = read_log(log.location, without=_UNUSED)
    judged = [(sample.metadata, _score(sample)) for sample in log.samples or []]
    unscored = sum(math.isnan(score) for _, score in judged)
    return replace(twins_of(log, scored_twins(judged)), unscored=unscored)


def twins_of(log: EvalLog, scored: pd.DataFrame) -> Twins:
    """What scored twins show; `log` is theirs."""
    about = log.eval.metadata or {}
    low, high = about.get(SCALE, _SCALE)
    left_out: Counter[str] = Counter()
    for key, count in about["equal_to_original"].items():
        left_out[key.partition("/")[0]] += count
    by_kind = {str(name): own for name, own in scored.groupby(TWIN)}
    names = dict.fromkeys([*KINDS, *left_out, *by_kind])
    kinds = [_shift(name, by_kind[name], high - low) for name in names if name in by_kind]
    padded = scored[scored[TWIN].isin(PADDED)]
    return Twins(
        judges=role_models(log).get("grader", (log.eval.model,)),
        log=log.model_copy(update={"samples": None}),
        answers=scored.groupby(["model", "question"]).ngroups,
        kinds=tuple(kinds),
        slope=_slope(padded, high - low) if len(padded) else None,
        scale=(float(low), float(high)),
        judged_by=str(about.get(JUDGED_BY, "intent_judge")),
        left_out={name: left_out[name] for name in names if left_out[name]},
    )


def _score(sample: EvalSample) -> float:
    """The score of a twin, or of its answer, by the scorer of the run; NaN without one."""
    for scorer, key in FINALS.items():
        score = last_score(sample, scorer)
        if score is not None:
            return value_of(score, key)
    return math.nan


def _shift(name: str, scored: pd.DataFrame, width: float) -> KindShift:
    """The mean shift of twins of one kind; `width` is that of the scale."""
    shift = mean_interval(scored[SHIFT].tolist(), clusters=scored["question"].tolist())
    all_alike = scored[SHIFT].nunique() == 1
    if all_alike and shift.clusters >= FEWEST:
        smallest = _unseen(shift.clusters, width)
        shift = replace(shift, low=shift.value - smallest, high=shift.value + smallest)
    else:
        smallest = smallest_difference(error_of(shift), shift.clusters)
    known = KINDS.get(name)
    return KindShift(
        kind=name,
        title=known.title if known else name,
        effect=known.effect if known else "nothing",
        shift=shift,
        gained=float((scored[SHIFT] > 0).mean()),
        smallest=smallest,
        small=SMALL * width / (HIGHEST - LOWEST),
    )


def _slope(padded: pd.DataFrame, width: float) -> Estimate:
    """Points for each doubling of the length."""
    slope = slope_of(padded)
    if slope.clusters < FEWEST or padded[SHIFT].any():
        return slope
    added = padded[DOUBLINGS]
    unseen = float(_unseen(slope.clusters, width) * added.sum() / (added**2).sum())
    return replace(slope, low=-unseen, high=unseen)


def _unseen(clusters: int, width: float) -> float:
    """Points that may have been missed where all twins shifted alike.

    Intervals are as wide as if the most questions that may differ, where none of these does,
    shifted by one step of the scale more or less. Source: Clopper and Pearson, 1934, with both
    tails.
    """
    share = 1 - math.pow((1 - LEVEL) / 2, 1 / clusters)
    return share * min(1.0, width)


_NOT_PASSED: dict[Finding, Verdict] = {
    "adds": "failed",
    "is not noticed": "failed",
    "cannot tell": "unclear",
    "too few": "unclear",
}
"""The verdict on the check, where it is not passed."""


def read_largest(headers: Iterable[EvalLog], unread: list[LeftOut]) -> JudgeShifts | None:
    """Read the log with the most twins, for a report of the answers; None if none can be read.

    One with padded twins comes before one without, as only padded twins correct leads. `unread`
    gets each that cannot be read.
    """

    def size(log: EvalLog) -> tuple[bool, int]:
        return SLOPE in header_metrics(log), samples_of(log)

    for log in sorted(headers, key=size, reverse=True):
        name = short_name(log.location)
        try:
            twins = read_twins(log)
        except Exception as error:  # a damaged file may raise anything
            unread.append(UnreadLog(name, error))
        else:
            return JudgeShifts(name, tuple(map(_as_check, twins.kinds)), twins.slope)
    return None


def _as_check(kind: KindShift) -> JudgeShift:
    """The check that a kind of twins is."""
    check: Check = "additions"
    if kind.kind in PADDED:
        check = "padded"
    elif kind.effect == "flaw":
        check = "flaws"
    return JudgeShift(check, kind.title, kind.shift, _NOT_PASSED.get(kind.verdict, "passed"))
