"""A gate: whether a new run is not worse than a base, or equivalent to it, as a decision with a
report.
"""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.comparison._gate_statistics import (
    MeanBounds,
    mean_bounds,
    pass_power,
    passing_margin,
    questions_to_pass,
    verdicts,
)
from urs_inspect.comparison._samples import SampleScores, refuse_beyond
from urs_inspect.stats import Estimate
from urs_inspect.stats._bootstrap import Floats, Integers, Scale, number_clusters

_REASONS = {
    False: (
        "Pass: NEW is not worse than BASE by more than the margin of {margin:g}.",
        "Worse: NEW is significantly worse than BASE, {by} more than the margin of {margin:g}.",
        "Cannot tell: with {samples}, NEW may be better, or worse by more than {margin:g}.",
    ),
    True: (
        "Equivalent: NEW and BASE differ by less than the margin of {margin:g}.",
        "Different: NEW and BASE differ significantly, {by} more than the margin of {margin:g}.",
        "Cannot tell: with {samples}, NEW and BASE may be equal, or differ by more than"
        " {margin:g}.",
    ),
}  # whether `--equivalent` was asked for -> what each exit code says
CASES = ("Difference", "Missing scores all against NEW", "Missing scores all for NEW")


@dataclass(frozen=True)
class Rule:
    """What is to be shown: options of `urs-inspect gate`, the margin in the unit of the scores."""

    margin: float
    level: float = 0.95
    equivalent: bool = False
    sequential: bool = False


@dataclass(frozen=True)
class PairedScores:
    """Scores of the same samples, NaN where there is none, shape (N,), and numbers of the samples'
    clusters.

    Shares are of a sample's epochs that have a score, shape (N,) or one for all.
    """

    base: Floats
    new: Floats
    clusters: Integers
    scale: Scale
    scale_known: bool = True  # or the scores seen stand for it
    lower_is_better: bool = False
    base_share: Floats | float = 1.0
    new_share: Floats | float = 1.0

    @property
    def incomplete(self) -> bool:
        """Whether a sample lacks a score, or a score of an epoch."""
        shares = np.minimum(self.base_share, self.new_share)
        lacks_score = np.isnan(self.base + self.new)
        return bool(lacks_score.any() or (shares < 1).any())

    @property
    def differences(self) -> Floats:
        """New less base, above 0 where new is better, with missing scores as in `CASES`, shape (N,
        3).
        """
        sign = 1
        if self.lower_is_better:
            sign = -1
        worst, best = self.scale[::sign]
        unfilled = (math.nan, math.nan)
        fills = (unfilled, (worst, best), (best, worst))  # of new and base
        columns = []
        for fill_of_new, fill_of_base in fills:
            new = _filled(self.new, self.new_share, fill_of_new)
            base = _filled(self.base, self.base_share, fill_of_base)
            columns.append(new - base)
        return sign * np.stack(columns, axis=1)

    @property
    def scale_note(self) -> str:
        """Where the scale comes from."""
        low, high = self.scale
        if self.scale_known:
            return f"Possible scores: {low:g} to {high:g}."
        return (
            f"Assumed scale: {low:g} to {high:g}, the scores seen; --scale LOW,HIGH names the"
            " possible ones."
        )


@dataclass(frozen=True)
class Decision:
    """The exit code, and bounds of the mean difference: one-sided and of the two-sided interval,
    one per case.

    `low` and `high` are the one-sided bounds with missing scores at the worst for each.
    """

    rule: Rule
    code: int
    low: float
    high: float
    bounds: MeanBounds
    interval: MeanBounds

    @property
    def reason(self) -> str:
        """The decision as a sentence, with its name before a colon."""
        margin = self.rule.margin
        equivalent = self.rule.equivalent
        is_beyond = self.high < -margin or (equivalent and self.low > margin)
        return _REASONS[equivalent][self.code].format(
            margin=margin,
            by="by" if is_beyond else "possibly by",
            samples=counted(int(self.bounds.n[1]), "sample"),
        )

    def estimate(self, case: int = 0, *, two_sided: bool = False) -> Estimate:
        """The mean difference of a case with its bounds."""
        bounds = self.bounds
        if two_sided:
            bounds = self.interval
        return Estimate(
            value=float(bounds.values[case]),
            low=float(bounds.low[case]),
            high=float(bounds.high[case]),
            n=int(bounds.n[case]),
            clusters=int(bounds.clusters[case]),
            level=self.rule.level,
            rounds=0,
        )


@dataclass(frozen=True)
class Power:
    """How often equals would pass, and what it takes."""

    power: float  # share of comparisons of equals that would pass; NaN if not known
    samples_needed: int | None  # for a power of `POWER`; None if no number is enough
    margin_needed: float  # for a power of `POWER` with these samples


def _filled(values: Floats, share: Floats | float, score: float) -> Floats:
    """Values with this score for each missing one and each missing epoch; as they are if it is
    NaN.
    """
    if math.isnan(score):
        return values
    over_epochs = share * values + (1 - share) * score
    return np.where(np.isnan(values), score, over_epochs)


def of_model(side: SampleScores, what: str, model: str | None) -> SampleScores:
    """The scores of the side's only model, or of the one that is named."""
    there = sorted(side.table["model"].unique())
    kept = [name for name in there if model in (None, name)]
    if len(kept) != 1:
        problem = f"no model '{model}'"
        if model is None:
            problem = "several models, name one by --model"
        raise InputError(f"{what}: {problem}; there are: {choices(there)}")
    [name] = kept
    runs = tuple(run for run in side.runs if run.model == name)
    of_name = side.table["model"] == name
    return replace(side, table=side.table[of_name], runs=runs)


def refuse_other(fact: str, of_base: object, of_new: object, hint: str = "") -> None:
    """Refuse two sides of which a fact is not the same."""
    if of_base != of_new:
        raise InputError(
            f"BASE and NEW cannot be compared: the {fact} of BASE is {of_base}, that of NEW is"
            f" {of_new}{hint}"
        )


def refuse_different(base: SampleScores, new: SampleScores, *, equivalent: bool) -> None:
    """Refuse sides whose scores do not compare; other judges may be shown to be equivalent."""
    refuse_other("task", base.task, new.task)
    if not equivalent:
        hint = "; scores of two judges compare with --equivalent only"
        refuse_other("judge", base.judge or "not named", new.judge or "not named", hint)
        of_base = choices(sorted(base.scored_by)) or "no judge"
        of_new = choices(sorted(new.scored_by)) or "no judge"
        refuse_other("part of the panel of judges that gave scores", of_base, of_new)
    for fact in ("version", "dataset", "scorer", "higher_is_better"):
        of_base = getattr(base, fact)
        of_new = getattr(new, fact)
        if not {"", None} & {of_base, of_new}:
            refuse_other(fact.replace("_", " "), of_base, of_new)
    if base.runs == new.runs:
        raise InputError(f"BASE and NEW are the same: {choices(run.log for run in base.runs)}")


def common_samples(base: SampleScores, new: SampleScores) -> tuple[pd.DataFrame, list[str]]:
    """Samples of both sides, one per row, and a sentence on how many are of one side only, if any
    are.
    """
    rows = base.table.merge(
        new.table, on="sample", how="outer", suffixes=("_base", "_new"), indicator="side"
    )
    counts = rows["side"].value_counts()
    rows = rows[rows["side"] == "both"]
    one_sided = f"{counts['left_only']:,} only of BASE, {counts['right_only']:,} only of NEW"
    if len(rows) <= counts["left_only"] + counts["right_only"]:
        both = f"{counted(len(rows), 'sample')} of both"
        raise InputError(f"BASE and NEW: {both}, {one_sided}; more than half must be of both")
    for fact in ("input", "cluster"):
        sides = rows[[f"{fact}_base", f"{fact}_new"]].dropna()
        differs = sides.iloc[:, 0] != sides.iloc[:, 1]
        moved = int(differs.sum())
        if moved:
            raise InputError(
                f"NEW: {moved:,} of {counted(len(rows), 'sample')} have another {fact} than in BASE"
            )
    if len(rows) == counts.sum():
        return rows, []
    return rows, [f"Samples left out: {one_sided}."]


def paired_scores(
    rows: pd.DataFrame,
    base: SampleScores,
    new: SampleScores,
    scale: Scale | None,
    lower_is_better: bool,
) -> PairedScores:
    if scale is None and base.scale == new.scale:
        scale = base.scale
    values = pd.concat([rows["value_base"], rows["value_new"]])
    known = values.dropna()
    seen = (0.0, 0.0)
    if len(known):
        seen = (float(known.min()), float(known.max()))
    if scale:
        refuse_beyond(known, scale, "scale")
    return PairedScores(
        base=rows["value_base"].to_numpy(dtype=np.float64),
        new=rows["value_new"].to_numpy(dtype=np.float64),
        clusters=number_clusters(rows["cluster_base"].tolist()),
        scale=scale or seen,
        scale_known=scale is not None,
        lower_is_better=lower_is_better,
        base_share=rows["scored_base"].to_numpy() / rows["epochs_base"].to_numpy(),
        new_share=rows["scored_new"].to_numpy() / rows["epochs_new"].to_numpy(),
    )


def decide(scores: PairedScores, rule: Rule) -> Decision:
    """Decide by bounds that hold whatever the missing scores are."""
    differences = scores.differences
    reach = scores.scale[1] - scores.scale[0] or math.nan
    bounds_at = partial(
        mean_bounds, differences, scores.clusters, reach=reach, sequential=rule.sequential
    )
    bounds = bounds_at(level=rule.level)
    interval = bounds_at(level=(1 + rule.level) / 2)
    low = bounds.low[:2].min()
    high = bounds.high[::2].max()
    different = None
    if rule.equivalent:
        is_above = interval.low[:2].min() > 0
        is_below = interval.high[::2].max() < 0
        different = is_above | is_below
    code = int(verdicts(low, high, rule.margin, different))
    return Decision(rule, code, float(low), float(high), bounds, interval)


def power_of(decision: Decision, n: int) -> Power:
    """The power of a comparison over n samples."""
    rule = decision.rule
    bounds = decision.bounds
    # Missing scores may hide as much of the margin as the worst case shifts the mean.
    worst_cases = bounds.values[1 : 2 + rule.equivalent]
    shifts = np.abs(worst_cases - bounds.values[0])
    shift = float(shifts.max())
    error = float(bounds.errors[1])
    half = float(bounds.halves[1])
    clusters = int(bounds.clusters[1])
    equivalent = rule.equivalent
    margin = rule.margin - shift
    needed = questions_to_pass(
        margin,
        error,
        n,
        clusters,
        level=rule.level,
        sequential=rule.sequential,
        equivalent=equivalent,
        unseen=float(bounds.unseen[1]),
    )
    power = pass_power(margin, half, error, clusters, equivalent=equivalent)
    passing = passing_margin(half, error, clusters, equivalent=equivalent)
    return Power(power, needed, passing + shift)
