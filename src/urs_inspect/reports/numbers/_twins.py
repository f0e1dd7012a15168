"""Logs of `judge_twins` -> what a judge pays for changes that add nothing, and for flaws."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample

from urs_inspect.judging._twins import KINDS, PADDED, Effect
from urs_inspect.logs._files import PACKAGE, read_log
from urs_inspect.logs._scores import last_score, role_models, value_of
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.scorers._rating_agreement import RATING
from urs_inspect.scorers._twins import DOUBLINGS, JUDGED_BY, ORIGINAL, PAIR, SCALE, TWIN
from urs_inspect.stats import Estimate, mean_interval
from urs_inspect.stats._bootstrap import LEVEL, standard_error
from urs_inspect.stats._power import FEWEST, smallest_difference
from urs_inspect.stats._slopes import slope_through_origin

TWINS_TASK = PACKAGE + "judge_twins"
SMALL = 0.25
"""Points within which a shift counts as none: a quarter of a step of the scale 1 to 10."""
_SCALE = (float(LOWEST), float(HIGHEST))
_FINALS = (("intent_judge", FINAL), ("judged_again", FINAL), ("rating_agreement", RATING))
"""Scorers of twins, and their final score."""
_UNUSED = frozenset({"events", "messages", "error_retries", "output", "store"})

Verdict = Literal[
    "adds nothing", "adds", "takes away", "cannot tell", "costs", "costs nothing", "no interval"
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
        smallest: The smallest shift that would have been found significant with 80% power.
        equal: Twins that equalled their answer and were left out.
        small: Points within which a shift counts as none.
    """

    kind: str
    title: str
    effect: Effect
    shift: Estimate
    gained: float
    smallest: float
    equal: int
    small: float = SMALL

    @property
    def verdict(self) -> Verdict:
        """What the shift says of the judge."""
        return verdict_on(self.shift, self.effect, self.small)


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


def verdict_on(shift: Estimate, effect: Effect, small: float = SMALL) -> Verdict:
    """What the mean shift of twins of one kind says of the judge.

    Args:
        shift: The mean shift, in points.
        effect: What the change is for the user.
        small: Points within which a shift counts as none.
    """
    if math.isnan(shift.low):
        return "no interval"
    if effect == "flaw":
        if shift.high < 0:
            return "costs"
        return "costs nothing" if shift.low > -small else "cannot tell"
    if shift.low > 0:
        return "adds"
    if shift.high < 0:
        return "takes away"
    return "adds nothing" if shift.high < small else "cannot tell"


def read_twins(log: EvalLog) -> Twins:
    """Read a log of `judge_twins`; its samples are read if it is a header."""
    if log.samples is None:
        log = read_log(log.location, without=_UNUSED)
    found = twins_of_rows(log, _rows(log))
    without = [sample for sample in log.samples or [] if math.isnan(_final(sample))]
    reasons = Counter(filter(None, map(_reason, without)))
    usual = max(reasons, key=reasons.__getitem__, default="")
    return replace(found, unscored=len(without), reason=usual)


def twins_of_rows(log: EvalLog, rows: pd.DataFrame) -> Twins:
    """What the rows of scored twins show.

    Args:
        log: Their log.
        rows: One row per scored twin of a scored answer: kind, pair, question, model, shift (in
            points) and doublings (of the length).
    """
    about = log.eval.metadata or {}
    equal = {str(key): int(n) for key, n in about["equal_to_original"].items()}
    low, high = about.get(SCALE, _SCALE)
    small = SMALL * (high - low) / (_SCALE[1] - _SCALE[0])
    step = min(1.0, high - low)
    kinds = []
    for kind, own in rows.groupby("kind", sort=False):
        left_out = sum(n for key, n in equal.items() if key.partition("/")[0] == kind)
        kinds.append(_shift(str(kind), own, left_out, small, step))
    order = list(KINDS)
    kinds.sort(key=lambda each: order.index(each.kind) if each.kind in order else len(order))
    padded = rows[rows["kind"].isin(PADDED)]
    return Twins(
        judges=role_models(log).get("grader", (log.eval.model,)),
        log=log.model_copy(update={"samples": None}),
        answers=rows["pair"].nunique(),
        kinds=tuple(kinds),
        slope=_slope(padded, step) if len(padded) else None,
        scale=(float(low), float(high)),
        judged_by=str(about.get(JUDGED_BY, "")),
    )


def _rows(log: EvalLog) -> pd.DataFrame:
    """The rows of `twins_of_rows`."""
    finals: dict[tuple[object, str], float] = {}
    facts: dict[tuple[object, str], dict[str, Any]] = {}
    for sample in log.samples or []:
        about = sample.metadata or {}
        key = about.get(PAIR), str(about.get(TWIN))
        finals[key] = _final(sample)
        facts[key] = about
    rows = []
    for (pair, kind), final in finals.items():
        start = finals.get((pair, ORIGINAL), math.nan)
        if kind == ORIGINAL or math.isnan(final) or math.isnan(start):
            continue
        about = facts[pair, kind]
        rows.append(
            {
                "kind": kind,
                "pair": pair,
                "question": str(about.get("question")),
                "model": str(about.get("model")),
                "shift": final - start,
                "doublings": float(about.get(DOUBLINGS, 0.0)),
            }
        )
    columns = ["kind", "pair", "question", "model", "shift", "doublings"]
    return pd.DataFrame(rows, columns=columns)


def _reason(sample: EvalSample) -> str:
    """Why a sample has no score, in the words of its scorer or of its error."""
    if sample.error is not None:
        return sample.error.message
    scores = (last_score(sample, scorer) for scorer, _ in _FINALS)
    return next((score.explanation or "" for score in scores if score is not None), "")


def _final(sample: EvalSample) -> float:
    """The score of a twin, by the scorer of the run; NaN if there is none."""
    for scorer, key in _FINALS:
        score = last_score(sample, scorer)
        if score is not None:
            return value_of(score, key)
    return math.nan


def _shift(kind: str, rows: pd.DataFrame, equal: int, small: float, step: float) -> KindShift:
    shifts = list(rows["shift"])
    questions = list(rows["question"])
    shift = mean_interval(shifts, clusters=questions)
    clusters = len(set(questions))
    if len(set(shifts)) == 1 and clusters >= FEWEST:
        unseen = _unseen(clusters) * step
        shift = replace(shift, low=shift.value - unseen, high=shift.value + unseen)
        smallest = unseen
    else:
        error = standard_error(shifts, questions) if clusters > 1 else math.nan
        smallest = smallest_difference(error, clusters, level=LEVEL)
    known = KINDS.get(kind)
    return KindShift(
        kind=kind,
        title=known.title if known else kind,
        effect=known.effect if known else "nothing",
        shift=shift,
        gained=float((rows["shift"] > 0).mean()),
        smallest=smallest,
        equal=equal,
        small=small,
    )


def _slope(rows: pd.DataFrame, step: float) -> Estimate:
    doublings = rows["doublings"]
    slope = slope_through_origin(list(doublings), list(rows["shift"]), list(rows["question"]))
    if (rows["shift"] == 0).all() and slope.clusters >= FEWEST:
        unseen = _unseen(slope.clusters) * step * doublings.sum() / (doublings**2).sum()
        return replace(slope, low=-unseen, high=unseen)
    return slope


def _unseen(clusters: int) -> float:
    """Upper bound of the share of questions that would differ, where none of these does.

    Where all twins shifted alike, intervals are as wide as if so many shifted by one step of the
    scale more or less. Source: Clopper and Pearson, 1934, with both tails.
    """
    return 1 - math.pow((1 - LEVEL) / 2, 1 / clusters)


def largest_log(found: Sequence[Twins], judges: frozenset[str]) -> Twins | None:
    """Of logs about these judges the one with the most samples, as for other checks."""
    own = [twins for twins in found if frozenset(twins.judges) == judges]
    return max(own, key=lambda twins: samples_of(twins.log), default=None)


def samples_of(log: EvalLog) -> int:
    """Number of samples that a run completed."""
    return log.results.completed_samples if log.results else 0
