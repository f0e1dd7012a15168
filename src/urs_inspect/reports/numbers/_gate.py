"""A gate: whether a new run is not worse than a base, or equivalent to it, as a decision with a
report.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.logs._samples import SampleScores
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    level_text,
    number,
    p_value,
    share,
    simulation_section,
)
from urs_inspect.stats import Estimate
from urs_inspect.stats._bootstrap import Floats, Integers, Scale, number_clusters
from urs_inspect.stats._power import (
    FEWEST,
    POWER,
    MeanBounds,
    mean_bounds,
    pass_power,
    passing_margin,
    questions_to_pass,
    score_slope,
    verdicts,
)

GATE = ReportKind("urs-inspect-gate", 1, "urs-inspect gate", "gate", ("gate", "runs", "series"))
_REASONS = (
    (
        "Pass: NEW is not worse than BASE by more than the margin of {:g}.",
        (
            "Worse: NEW is significantly worse than BASE, and a loss of more than the margin of"
            " {:g} is not excluded."
        ),
        (
            "Cannot tell: it is not shown that NEW is worse, nor that it is not worse by more than"
            " the margin of {:g}."
        ),
    ),
    (
        "Equivalent: NEW and BASE differ by less than the margin of {:g}.",
        "Different: NEW and BASE differ significantly, possibly by more than the margin of {:g}.",
        (
            "Cannot tell: it is not shown that NEW and BASE differ, nor that they differ by less"
            " than the margin of {:g}."
        ),
    ),
)  # without and with `--equivalent`, by exit code
_CERTAIN = (
    "Worse: NEW is significantly worse than BASE, by more than the margin of {:g}.",
    "Different: NEW and BASE differ significantly, by more than the margin of {:g}.",
)  # in place of exit code 1 above, where the bounds lie beyond the margin
_CASES = ("Difference", "Missing scores all against NEW", "Missing scores all for NEW")
_SIGNED = number(3, sign=True)
_PLAIN = number(3)


@dataclass(frozen=True)
class Gate:
    """A decision: 0, 1 or 2 the exit code, and the report that says why."""

    code: int
    report: Report


@dataclass(frozen=True)
class Rule:
    """What is to be shown, as `make_gate` has it."""

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
        return bool(np.isnan(self.base + self.new).any() or (shares < 1).any())

    @property
    def differences(self) -> Floats:
        """New less base, above 0 where new is better, with missing scores as in `_CASES`, shape (N,
        3).
        """
        sign = -1 if self.lower_is_better else 1
        worst, best = self.scale[::sign]
        fills = ((math.nan, math.nan), (worst, best), (best, worst))  # of new and base
        columns = [
            _filled(self.new, self.new_share, new) - _filled(self.base, self.base_share, base)
            for new, base in fills
        ]
        return sign * np.stack(columns, axis=1)

    @property
    def scale_note(self) -> str:
        """Where the scale comes from."""
        low, high = self.scale
        if self.scale_known:
            return f"The scale is {low:g} to {high:g}."
        return (
            f"No scale is known: the scores seen, {low:g} to {high:g}, stand for it; --scale"
            " names it."
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
        beyond = self.high < -margin or (equivalent and self.low > margin)
        reason = (
            _CERTAIN[equivalent] if self.code == 1 and beyond else _REASONS[equivalent][self.code]
        )
        return reason.format(margin)

    def estimate(self, case: int = 0, *, two_sided: bool = False) -> Estimate:
        """The mean difference of a case with its bounds."""
        found = self.interval if two_sided else self.bounds
        value, low, high = (float(part[case]) for part in (found.values, found.low, found.high))
        return Estimate(
            value, low, high, int(found.n[case]), int(found.clusters[case]), self.rule.level, 0
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
    return (
        values
        if math.isnan(score)
        else np.where(np.isnan(values), score, share * values + (1 - share) * score)
    )


def make_gate(
    base: SampleScores,
    new: SampleScores,
    *,
    margin: float,
    model: str | None = None,
    level: float = 0.95,
    equivalent: bool = False,
    sequential: bool = False,
    series: Sequence[float] = (),
    scale: Scale | None = None,
    lower_is_better: bool = False,
) -> Gate:
    """Decide whether new is not worse than base by more than the margin, or equivalent to it, over
    their samples.

    Options are those of `urs-inspect gate`; `margin` and `series` are in the unit of the scores.
    `lower_is_better` is for sides that do not say so.
    """
    if not 0.5 < level < 1:
        raise InputError(f"level: must be above 0.5 and below 1, got {level:g}")
    if series and not equivalent:
        raise InputError("series: needs --equivalent")
    left_out = [
        f"{name}: {note}" for name, side in (("BASE", base), ("NEW", new)) for note in side.left_out
    ]
    try:
        base = _of_model(base, "BASE", model)
        new = _of_model(new, "NEW", model)
        _refuse_different(base, new, equivalent=equivalent)
        rows, one_sided = _common_samples(base, new)
    except InputError as error:
        raise InputError("\n".join([error.message, *left_out])) from error
    scores = _paired_scores(
        rows,
        base,
        new,
        scale,
        lower_is_better or False in (base.higher_is_better, new.higher_is_better),
    )
    width = scores.scale[1] - scores.scale[0] if scores.scale_known else math.inf
    if not 0 < margin < width:
        raise InputError(
            f"margin: must be above 0 and below {width:g}, the width of the scale; got {margin:g}"
        )
    decision = decide(scores, Rule(margin, level, equivalent, sequential))
    power = power_of(decision, len(rows))
    sections = [
        *simulation_section(base.simulated or new.simulated),
        _decision_section(base, new, scores, decision),
        _power_section(power, len(rows), decision),
    ]
    if equivalent:
        sections.append(_anchor_section(scores, decision, series))
    sections += _other_sections(base, new, scores, [*one_sided, *left_out])
    outcome = decision.reason.partition(":")[0].lower()
    facts = {"code": decision.code, "decision": outcome, "difference": decision.estimate().value}
    facts |= {"low": decision.low, "high": decision.high, "task": base.task, "scorer": base.scorer}
    facts |= asdict(decision.rule) | asdict(power)
    return Gate(decision.code, Report(GATE, f"Gate: {outcome}", sections, facts))


def _of_model(side: SampleScores, what: str, model: str | None) -> SampleScores:
    """The scores of the side's only model, or of the one that is named."""
    there = sorted(side.table["model"].unique())
    kept = [name for name in there if model in (None, name)]
    if len(kept) != 1:
        problem = "several models, name one by --model" if model is None else f"no model '{model}'"
        raise InputError(f"{what}: {problem}; there are: {choices(there)}")
    runs = tuple(run for run in side.runs if run.model == kept[0])
    return replace(side, table=side.table[side.table["model"] == kept[0]], runs=runs)


def _refuse_different(base: SampleScores, new: SampleScores, *, equivalent: bool) -> None:
    if base.judge != new.judge and not equivalent:
        judges = f"{base.judge or 'none named'} in BASE and {new.judge or 'none named'} in NEW"
        raise InputError(
            f"BASE and NEW: the judge is {judges}; scores of two judges compare with --equivalent"
            " only"
        )
    if base.scored_by != new.scored_by and not equivalent:
        gave = [choices(sorted(side.scored_by)) or "no judge" for side in (base, new)]
        raise InputError(
            f"BASE and NEW: of the panel of judges, {gave[0]} gave scores in BASE and {gave[1]} in"
            " NEW; scores of two panels do not compare"
        )
    for fact in ("task", "version", "dataset", "scorer", "higher_is_better"):
        facts = getattr(base, fact), getattr(new, fact)
        if facts[0] != facts[1] and not {"", None} & {*facts}:
            name = fact.replace("_", " ")
            raise InputError(
                f"BASE and NEW cannot be compared: {name} is {facts[0]} in BASE and {facts[1]}"
                " in NEW"
            )
    if base.runs == new.runs:
        raise InputError(f"BASE and NEW are the same: {choices(run.log for run in base.runs)}")


def _common_samples(base: SampleScores, new: SampleScores) -> tuple[pd.DataFrame, list[str]]:
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
        if moved := int((sides.iloc[:, 0] != sides.iloc[:, 1]).sum()):
            raise InputError(
                f"NEW: {moved:,} of {counted(len(rows), 'sample')} have another {fact} than in BASE"
            )
    return rows, [] if len(rows) == counts.sum() else [f"Samples left out: {one_sided}."]


def _paired_scores(
    rows: pd.DataFrame,
    base: SampleScores,
    new: SampleScores,
    scale: Scale | None,
    lower_is_better: bool,
) -> PairedScores:
    scale = scale or (base.scale if base.scale == new.scale else None)
    before, after = (
        rows[column].to_numpy(dtype=np.float64) for column in ("value_base", "value_new")
    )
    known = pd.concat([rows["value_base"], rows["value_new"]]).dropna()
    seen = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if scale and len(known) and (seen[0] < scale[0] or seen[1] > scale[1]):
        raise InputError(
            f"scale: {scale[0]:g} to {scale[1]:g}, but scores go from {seen[0]:g} to {seen[1]:g}"
        )
    clusters = number_clusters(rows["cluster_base"].tolist())
    shares = (
        rows[f"scored_{side}"].to_numpy() / rows[f"epochs_{side}"].to_numpy()
        for side in ("base", "new")
    )
    return PairedScores(
        before, after, clusters, scale or seen, scale is not None, lower_is_better, *shares
    )


def decide(scores: PairedScores, rule: Rule) -> Decision:
    """Decide by bounds that hold whatever the missing scores are."""
    differences = scores.differences
    reach = scores.scale[1] - scores.scale[0] or math.nan
    bounds, interval = (
        mean_bounds(
            differences, scores.clusters, reach=reach, level=level, sequential=rule.sequential
        )
        for level in (rule.level, (1 + rule.level) / 2)
    )
    low = bounds.low[:2].min()
    high = bounds.high[::2].max()
    different = (
        (interval.low[:2].min() > 0) | (interval.high[::2].max() < 0) if rule.equivalent else None
    )
    code = int(verdicts(low, high, rule.margin, different))
    return Decision(rule, code, float(low), float(high), bounds, interval)


def power_of(decision: Decision, n: int) -> Power:
    """The power of a comparison over n samples."""
    rule = decision.rule
    bounds = decision.bounds
    # Missing scores may hide as much of the margin as the worst case shifts the mean.
    shift = float(np.abs(bounds.values[1 : 2 + rule.equivalent] - bounds.values[0]).max())
    margin = rule.margin - shift
    error = bounds.errors[1]
    half = bounds.halves[1]
    clusters = int(bounds.clusters[1])
    level = rule.level
    always = rule.sequential
    equal = rule.equivalent
    needed = questions_to_pass(
        margin,
        error,
        n,
        clusters,
        level=level,
        sequential=always,
        equivalent=equal,
        unseen=float(bounds.unseen[1]),
    )
    power = pass_power(margin, half, error, clusters, equivalent=equal)
    return Power(power, needed, passing_margin(half, error, clusters, equivalent=equal) + shift)


def _decision_section(
    base: SampleScores, new: SampleScores, scores: PairedScores, decision: Decision
) -> Section:
    rule = decision.rule
    n = len(scores.base)
    clusters = int(decision.bounds.clusters[0])
    both = ~np.isnan(scores.base + scores.new)
    missing = n - int(both.sum())
    kind = (
        f"{level_text(rule.level)} one-sided"
        f" bounds{' valid at every look' if rule.sequential else ''}"
    )
    worst = ", with missing scores at the worst for each" if scores.incomplete else ""
    notes = [
        decision.reason,
        (
            f"Difference of the means, NEW less BASE: {_SIGNED(decision.estimate().value)}; its"
            f" {kind}{worst}: {_SIGNED(decision.low)} and {_SIGNED(decision.high)}."
        ),
    ]
    if decision.code == 0 and decision.high < 0:
        notes.append("NEW is significantly worse than BASE, but by less than the margin.")
    if math.isnan(decision.low) and clusters >= FEWEST and scores.scale[0] == scores.scale[1]:
        notes.append(
            "No bounds: all scores are the same and no scale is known; --scale LOW,HIGH gives one."
        )
    elif math.isnan(decision.low):
        notes.append(f"No bounds: too few clusters with scores of both sides ({clusters}).")
    elif missing < n and not np.nan_to_num(scores.differences[:, 0]).any():
        notes.append(
            f"No score changed; the bounds allow for changes in other samples. {scores.scale_note}"
        )
    if base.structured != new.structured:
        notes.append(
            f"Structured output of the judge: {base.structured} in BASE, {new.structured} in NEW."
            " The same judge may score otherwise with it than without."
        )
    if scores.lower_is_better:
        notes.append(
            "Lower scores are better: differences are reversed, so that NEW is better above 0."
        )
    notes += [
        f"Task {base.task}, score {base.scorer}.",
        *dict.fromkeys((*base.notes, *new.notes)),
    ]
    data: list[tuple[str, float | Estimate]] = [
        (f"{name}: {side.runs[0].model}", float(values[both].mean()) if both.any() else math.nan)
        for name, side, values in (("BASE", base, scores.base), ("NEW", new, scores.new))
    ]
    data += [
        (case, decision.estimate(k))
        for k, case in enumerate(_CASES[: 3 if scores.incomplete else 1])
    ]
    cases = f", cases of missing scores over all {n:,}" if scores.incomplete else ""
    among = "" if clusters == n - missing else f" in {counted(clusters, 'cluster')}"
    table = Table(
        pd.DataFrame(data, columns=["what", "mean"]),
        {"mean": lambda mean: (_SIGNED if isinstance(mean, Estimate) else _PLAIN)(mean)},
        "gate",
        {"what": ""},
        main="mean",
        title=(
            f"Means over {counted(n - missing, 'sample')} with a score of both sides{among}{cases};"
            f" {kind}"
        ),
    )
    return Section("Decision", notes, [table], warnings=notes[:1] if decision.code else ())


def _power_section(power: Power, n: int, decision: Decision) -> Section:
    """What this comparison could have shown, and how many samples would."""
    if math.isnan(power.power):
        return Section(
            "Power", ["Not known: all samples have the same difference, or there are no bounds."]
        )
    notes = [
        f"If NEW and BASE were equal, {share(power.power)} of comparisons over"
        f" {counted(n, 'sample')} would pass."
    ]
    if power.power < POWER and power.samples_needed is None:
        notes.append(
            f"No number of samples has a power of {share(POWER)} while so many scores are missing."
        )
    elif power.power < POWER:
        notes.append(f"A power of {share(POWER)} takes {power.samples_needed:,} samples.")
    unseen = float(decision.bounds.unseen[1])
    clusters = int(decision.bounds.clusters[1])
    if unseen >= decision.rule.margin:
        notes.append(
            "So few do not pass this margin, whatever their scores: losses that are too rare to be"
            f" among {counted(clusters, 'cluster')} may be as large as the scale allows, a mean"
            f" loss of {_PLAIN(unseen)}."
        )
    if decision.code == 2:
        notes.append(
            f"With {counted(n, 'sample')}, a margin of {_PLAIN(power.margin_needed)} has a power of"
            f" {share(POWER)}."
        )
    return Section("Power", notes)


def _anchor_section(scores: PairedScores, decision: Decision, series: Sequence[float]) -> Section:
    """The shift from old to new scores, whether it depends on the score, and a series on the new
    scale.
    """
    shift = decision.estimate(two_sided=True)
    shift = -shift if scores.lower_is_better else shift
    slope, p = score_slope(scores.base, scores.new, scores.clusters)
    notes = [f"NEW less BASE: {_SIGNED(shift)}, a two-sided {level_text(shift.level)} interval."]
    warnings = list[str]()
    if p < 1 - shift.level:
        warnings = [
            f"The shift depends on the score: it changes by {_SIGNED(slope)} per point (p"
            f" {p_value(p)}). No constant re-anchors a series: score the old logs with the new"
            " judge, or compare each range of scores by itself."
        ]
    elif not math.isnan(p):
        notes.append(
            f"No sign that the shift depends on the score: {_SIGNED(slope)} per point (p"
            f" {p_value(p)})."
        )
    moved = [
        replace(shift, value=mean + shift.value, low=mean + shift.low, high=mean + shift.high)
        for mean in series
    ]
    title = "Means of the series on the new scale; intervals are those of the shift alone"
    frame = pd.DataFrame({"old": list(series), "new": moved})
    formats = {"old": _PLAIN, "new": _PLAIN}
    table = Table(frame, formats, "series", main="new", title=title)
    return Section("Re-anchoring", [*notes, *warnings], [table] if moved else [], warnings=warnings)


def _other_sections(
    base: SampleScores, new: SampleScores, scores: PairedScores, left_out: list[str]
) -> list[Section]:
    lacking = [int(np.isnan(side).sum()) for side in (scores.base, scores.new)]
    shares = np.asarray(scores.base_share), np.asarray(scores.new_share)
    fewer = [int((share < 1).sum()) - none for share, none in zip(shares, lacking, strict=True)]
    missing = (
        f"Samples without a score: {lacking[0]:,} of BASE, {lacking[1]:,} of NEW; of some epochs"
        f" only: {fewer[0]:,} and {fewer[1]:,}. A claim must also hold with the missing scores at"
        f" the end of the scale that is worst for it. {scores.scale_note}"
    )
    runs = [
        {"side": name} | asdict(run)
        for name, side in (("BASE", base), ("NEW", new))
        for run in side.runs
    ]
    sections = []
    if scores.incomplete:
        sections.append(Section("Missing scores", [missing]))
    if left_out:
        sections.append(Section("Left out", left_out))
    sections.append(
        Section("Runs", (), [Table(pd.DataFrame(runs), {"samples": number(0)}, "runs")])
    )
    return sections
