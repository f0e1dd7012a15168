"""The report of a gate."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, counted
from urs_inspect.comparison._gate import (
    CASES,
    Decision,
    PairedScores,
    Power,
    Rule,
    common_samples,
    decide,
    of_model,
    paired_scores,
    power_of,
    refuse_different,
)
from urs_inspect.comparison._gate_statistics import score_slope
from urs_inspect.comparison._report import with_notices
from urs_inspect.comparison._samples import SampleScores
from urs_inspect.reports import Report, ReportKind, Section, Table, number
from urs_inspect.reports._texts import level_text, p_value, share
from urs_inspect.stats import Estimate
from urs_inspect.stats._bootstrap import Flags, Scale
from urs_inspect.stats._power import FEWEST, POWER

_SIGNED = number(3, sign=True)
_PLAIN = number(3)
GATE = ReportKind("urs-inspect-gate", 1, "urs-inspect gate", "gate")


@dataclass(frozen=True)
class Gate:
    """A decision: 0, 1 or 2 the exit code, and the report that says why."""

    code: int
    report: Report


def make_gate(
    base: SampleScores,
    new: SampleScores,
    rule: Rule,
    *,
    model: str | None = None,
    series: Sequence[float] = (),
    scale: Scale | None = None,
    lower_is_better: bool = False,
) -> Gate:
    """Decide by a rule whether new is not worse than base by more than the margin, or equivalent to
    it, over their samples.

    Options are those of `urs-inspect gate`; `series` is in the unit of the scores.
    `lower_is_better` is for sides that do not say so.
    """
    if not 0.5 < rule.level < 1:
        raise InputError(f"level: must be above 0.5 and below 1, got {rule.level:g}")
    if series and not rule.equivalent:
        raise InputError("series: needs --equivalent")
    left_out = [f"BASE: {note}" for note in base.left_out]
    left_out += [f"NEW: {note}" for note in new.left_out]
    try:
        base = of_model(base, "BASE", model)
        new = of_model(new, "NEW", model)
        refuse_different(base, new, equivalent=rule.equivalent)
        rows, one_sided = common_samples(base, new)
    except InputError as error:
        raise InputError("\n".join([error.message, *left_out])) from error
    scores = paired_scores(
        rows,
        base,
        new,
        scale,
        lower_is_better or False in (base.higher_is_better, new.higher_is_better),
    )
    _refuse_margin(rule.margin, scores)
    decision = decide(scores, rule)
    power = power_of(decision, len(rows))
    sections = [
        _decision_section(base, new, scores, decision, power),
        _power_section(power, len(rows), decision),
    ]
    if rule.equivalent:
        sections.append(_anchor_section(scores, decision, series))
    if scores.incomplete:
        sections.append(_missing_section(scores))
    simulated = base.simulated or new.simulated
    sections = with_notices(sections, simulated, [*one_sided, *left_out])
    runs = [{"side": "BASE"} | asdict(run) for run in base.runs]
    runs += [{"side": "NEW"} | asdict(run) for run in new.runs]
    table = Table(pd.DataFrame(runs), {"samples": number(0)}, "runs")
    sections.append(Section("Runs", (), [table]))
    outcome = decision.reason.partition(":")[0].lower()
    difference = decision.estimate().value
    facts = {"code": decision.code, "decision": outcome, "difference": difference}
    facts |= {"low": decision.low, "high": decision.high}
    facts |= {"task": base.task, "scorer": base.scorer}
    facts |= asdict(decision.rule) | asdict(power)
    return Gate(decision.code, Report(GATE, f"Gate: {outcome}", sections, facts))


def _refuse_margin(margin: float, scores: PairedScores) -> None:
    """Refuse a margin that every change would pass."""
    low, high = scores.scale
    width = high - low
    if not scores.scale_known and width == 0:
        width = math.inf  # all scores are the same: nothing is known of the scale
    if not 0 < margin < width:
        seen = " seen; --scale LOW,HIGH names the possible ones"
        if scores.scale_known:
            seen = ""
        raise InputError(
            f"margin: must be above 0 and below {width:g}, as scores go from {low:g} to"
            f" {high:g}{seen}; got {margin:g}"
        )


def _decision_section(
    base: SampleScores,
    new: SampleScores,
    scores: PairedScores,
    decision: Decision,
    power: Power,
) -> Section:
    notes = [decision.reason]
    if decision.code == 2:
        notes += _settling(power, len(scores.base), decision)
    notes.append(
        f"Difference of the means, NEW less BASE: {_SIGNED(decision.estimate().value)}"
        f"{_bounds_text(decision, scores)}."
    )
    if decision.code == 0 and decision.high < 0:
        notes.append("NEW is significantly worse than BASE, but by less than the margin.")
    notes += _about_bounds(decision, scores)
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
        f"Task {base.task}, score {base.scorer}. {scores.scale_note}",
        *dict.fromkeys((*base.notes, *new.notes)),
    ]
    table = _means_table(base, new, scores, decision)
    warnings: Sequence[str] = ()
    if decision.code:
        warnings = notes[:1]
    return Section("Decision", notes, [table], warnings=warnings)


def _scored_by_both(scores: PairedScores) -> Flags:
    """Which samples have a score of both sides, shape (samples,)."""
    return ~np.isnan(scores.base + scores.new)


def _about_bounds(decision: Decision, scores: PairedScores) -> list[str]:
    """Why there are no bounds, or what they mean where all scores are equal; else nothing."""
    clusters = int(decision.bounds.clusters[0])
    if math.isnan(decision.low):
        if clusters >= FEWEST and scores.scale[0] == scores.scale[1]:
            return [
                "No bounds: all scores are the same and no scale is known; --scale LOW,HIGH gives"
                " one."
            ]
        return [f"No bounds: too few clusters with scores of both sides ({clusters})."]
    scored = int(_scored_by_both(scores).sum())
    if scored and not np.nan_to_num(scores.differences[:, 0]).any():
        return [
            f"All {counted(scored, 'score')} are equal; the bounds allow for differences in"
            " samples that were not drawn."
        ]
    return []


def _means_table(
    base: SampleScores, new: SampleScores, scores: PairedScores, decision: Decision
) -> Table:
    """The mean of each side, and their difference in each case of missing scores."""
    both = _scored_by_both(scores)
    scored = int(both.sum())
    sides = {f"BASE: {base.runs[0].model}": scores.base, f"NEW: {new.runs[0].model}": scores.new}
    data: list[tuple[str, float | Estimate]] = []
    for side, values in sides.items():
        mean_of_side = math.nan
        if scored:
            mean_of_side = float(values[both].mean())
        data.append((side, mean_of_side))
    cases = CASES if scores.incomplete else CASES[:1]
    data += [(case, decision.estimate(place)) for place, case in enumerate(cases)]
    title = f"Means over {counted(scored, 'sample')} with a score of both sides"
    clusters = int(decision.bounds.clusters[0])
    if clusters != scored:
        title += f" in {counted(clusters, 'cluster')}"
    if scores.incomplete:
        title += f", cases of missing scores over all {len(both):,}"
    title += f"; {level_text(decision.rule.level)} one-sided bounds"
    return Table(
        pd.DataFrame(data, columns=["what", "mean"]),
        {"mean": lambda mean: (_SIGNED if isinstance(mean, Estimate) else _PLAIN)(mean)},
        "gate",
        {"what": "", "mean": "mean (one-sided bounds)"},
        main="mean",
        title=title,
    )


def _bounds_text(decision: Decision, scores: PairedScores) -> str:
    """The two one-sided bounds, each with its confidence; empty without bounds."""
    if math.isnan(decision.low):
        return ""
    level = level_text(decision.rule.level)
    looks = ""
    if decision.rule.sequential:
        looks = ", valid at every look"
    worst = ""
    if scores.incomplete:
        worst = ", with missing scores at the worst for each"
    return (
        f"; above {_SIGNED(decision.low)} with {level} confidence, and below"
        f" {_SIGNED(decision.high)} with {level} (one-sided bounds{looks}{worst})"
    )


def _settling(power: Power, n: int, decision: Decision) -> list[str]:
    """What would show it if the two are equal; nothing if that is not known."""
    margin = decision.rule.margin
    unseen = float(decision.bounds.unseen[1])
    if decision.bounds.halves[1] == unseen > margin:  # no sample differs; bounds fall as 1 / n
        needed = math.floor(n * unseen / margin) + 1
        return [f"If all scores remain equal, {counted(needed, 'sample')} would show it."]
    if math.isnan(power.power) or power.power >= POWER:
        return []
    ways = f"a margin of {_PLAIN(power.margin_needed)} with these {n:,}"
    more = ["No number of samples would, while so many scores are missing."]
    if power.samples_needed is not None:
        ways = f"{counted(power.samples_needed, 'sample')}, or {ways},"
        more = []
    return [f"If the two are equal, {ways} would show it ({share(POWER)} power).", *more]


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
    if decision.code != 2:
        notes += _settling(power, n, decision)
    unseen = float(decision.bounds.unseen[1])
    if unseen >= decision.rule.margin:
        clusters = int(decision.bounds.clusters[1])
        notes.append(
            "So few do not pass this margin, whatever their scores: losses that are too rare to be"
            f" among {counted(clusters, 'cluster')} may be as large as the scale allows, a mean"
            f" loss of {_PLAIN(unseen)}."
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
    moved = []
    for mean in series:
        value = mean + shift.value
        low = mean + shift.low
        high = mean + shift.high
        moved.append(replace(shift, value=value, low=low, high=high))
    title = "Means of the series on the new scale; intervals are those of the shift alone"
    frame = pd.DataFrame({"old": list(series), "new": moved})
    formats = {"old": _PLAIN, "new": _PLAIN}
    table = Table(frame, formats, "series", main="new", title=title)
    tables = []
    if moved:
        tables = [table]
    return Section("Re-anchoring", [*notes, *warnings], tables, warnings=warnings)


def _missing_section(scores: PairedScores) -> Section:
    """How many samples lack scores, and what that means."""
    lacking = []
    for side in (scores.base, scores.new):
        without_score = np.isnan(side)
        lacking.append(int(without_score.sum()))
    shares = np.asarray(scores.base_share), np.asarray(scores.new_share)
    fewer = []
    for share_of_side, none in zip(shares, lacking, strict=True):
        incomplete = int((share_of_side < 1).sum())
        fewer.append(incomplete - none)
    missing = (
        f"Samples without a score: {lacking[0]:,} of BASE, {lacking[1]:,} of NEW; of some epochs"
        f" only: {fewer[0]:,} and {fewer[1]:,}. A claim must also hold with the missing scores at"
        f" the end of the scale that is worst for it. {scores.scale_note}"
    )
    return Section("Missing scores", [missing])
