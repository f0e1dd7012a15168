"""A gate: whether a new run is not worse than a base, or equivalent to it, as a decision with a report."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.logs.samples import SampleScores
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.tables import (
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
from urs_inspect.stats.bootstrap import Floats, Integers, Scale, number_clusters
from urs_inspect.stats.paired import clustered_means
from urs_inspect.stats.power import POWER, MeanBounds, mean_bounds, pass_power, questions_to_pass, score_slope

GATE = ReportKind("urs-inspect-gate", 1, "urs-inspect gate", "gate", ("gate", "runs", "series"))
_DECISIONS = (
    ("Pass: NEW is not worse than BASE by the margin.", "Equivalent: NEW and BASE differ by less than the margin."),
    ("Worse: the mean of NEW is below that of BASE.", "Different: the means of NEW and BASE differ."),
    (
        "Cannot tell: it is not shown that NEW is worse, nor that it is not worse by the margin.",
        "Cannot tell: it is not shown that the means differ, nor that they differ by less than the margin.",
    ),
)  # exit code -> without and with `--equivalent`
_CASES = ("Difference", "Missing scores all against NEW", "Missing scores all for NEW")
_SIGNED, _PLAIN = number(3, sign=True), number(3)


@dataclass(frozen=True)
class Gate:
    """A decision: 0, 1 or 2 the exit code, and the report that says why."""

    code: int
    report: Report


def verdicts(low: Floats, high: Floats, margin: float, different: npt.NDArray[np.bool_] | None = None) -> Integers:
    """0 if new is shown to be not worse by the margin, else 1 if it is shown to be worse, else 2; any shape.

    `low` and `high` are one-sided bounds of new less base. For equivalence, `different` says where the two-sided
    interval leaves out 0: then 0 takes both bounds inside the margin, which is two one-sided tests (Schuirmann, "A
    Comparison of the Two One-Sided Tests Procedure and the Power Approach", 1987), and 1 says that the two differ.
    """
    if different is None:
        return np.where(low > -margin, 0, np.where(high < 0, 1, 2))
    return np.where((low > -margin) & (high < margin), 0, np.where(different, 1, 2))


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
    """Decide whether new is not worse than base by the margin, or equivalent to it, over the samples of both.

    Args:
        base: Scores of BASE.
        new: Scores of NEW, of the same task and scorer; its model may be another.
        margin: Largest loss, or for equivalence shift either way, that counts as none, in the unit of the scores.
        model: The model of both sides, where they have several.
        level: Confidence level of each one-sided bound.
        equivalent: Whether to show equivalence in place of no loss.
        sequential: Whether bounds hold at every look, for runs that grow.
        series: Means on the old scale, to be given on the new one.
        scale: Lowest and highest possible score, where scores do not tell.
        lower_is_better: Whether lower scores are better although the sides do not say so.

    Raises:
        InputError: If the two cannot be compared.
    """
    for fact in ("task", "version", "dataset", "scorer", "higher_is_better"):
        one, other = getattr(base, fact), getattr(new, fact)
        if one != other and "" not in (one, other):
            raise InputError(f"BASE and NEW cannot be compared: their {fact.replace('_', ' ')} is {one} and {other}")
    if base.runs == new.runs:
        raise InputError(f"BASE and NEW are the same: {choices(run.log for run in base.runs)}")
    (before, first), (after, second) = _of_model(base, "BASE", model), _of_model(new, "NEW", model)
    rows = first.merge(second, on="sample", how="outer", suffixes=("_base", "_new"), indicator="side")
    only = [int((rows["side"] == f"{side}_only").sum()) for side in ("left", "right")]
    rows = rows[rows["side"] == "both"]
    if len(rows) <= sum(only):
        counts = f"{counted(len(rows), 'sample')} of both, {only[0]:,} only of BASE, {only[1]:,} only of NEW"
        raise InputError(f"BASE and NEW: {counts}; more than half must be of both")
    for fact in ("input", "cluster"):
        known = rows[f"{fact}_base"].notna() & rows[f"{fact}_new"].notna()
        if moved := int((known & (rows[f"{fact}_base"] != rows[f"{fact}_new"])).sum()):
            raise InputError(f"NEW: {moved:,} of {counted(len(rows), 'sample')} have another {fact} than in BASE")
    old, fresh = (rows[f"value_{side}"].to_numpy(dtype=np.float64) for side in ("base", "new"))
    clusters, sign = (
        number_clusters(rows["cluster_base"].tolist()),
        -1 if lower_is_better or not base.higher_is_better else 1,
    )
    lowest, highest, scale_note = _scale(base, new, np.concatenate([old, fresh]), scale)
    worst, best = (lowest, highest)[::sign]
    fills = ((math.nan, math.nan), (worst, best), (best, worst))  # for missing scores of NEW and BASE, as in _CASES
    table = sign * np.stack(
        [np.where(np.isnan(fresh), to, fresh) - np.where(np.isnan(old), less, old) for to, less in fills], axis=1
    )
    reach, missing = highest - lowest or math.nan, int(np.isnan(table[:, 0]).sum())
    bounds = mean_bounds(table, clusters, reach=reach, level=level, sequential=sequential)
    wide = mean_bounds(table, clusters, reach=reach, level=(1 + level) / 2, sequential=sequential)
    low, high = bounds.low[:2].min(), bounds.high[::2].max()
    differ = np.asarray((wide.low[:2].min() > 0) | (wide.high[::2].max() < 0)) if equivalent else None
    same = np.nanmax(np.abs(table[:, 0]), initial=0) == 0 and missing < len(rows)
    code, groups = int(verdicts(low, high, margin, differ)), int(bounds.clusters[0])
    kind = f"{level_text(level)} one-sided bounds{' valid at every look' if sequential else ''}"
    decision = [
        f"{_DECISIONS[code][equivalent]} The difference of means, new less base, is {_SIGNED(bounds.values[0])}, its "
        f"{kind} {_SIGNED(low)} and {_SIGNED(high)}, the margin {margin:g}.",
        *(["The loss is significant, but smaller than the margin."] if code == 0 and high < 0 else []),
        *([f"No bounds: too few clusters with scores of both sides ({groups})."] if math.isnan(low) else []),
        *([f"No score changed; the bounds allow for changes in other samples. {scale_note}"] if same else []),
        f"Task {base.task}, score {base.scorer}{'' if sign > 0 else '; lower is better, so differences are reversed'}.",
        *dict.fromkeys(filter(None, (base.chosen, new.chosen))),
    ]
    means = clustered_means(np.stack([old, fresh], axis=1)).values.tolist()
    data: list[tuple[str, float | Estimate]] = [(f"BASE: {before}", means[0]), (f"NEW: {after}", means[1])]
    data += [(case, _estimate(bounds, k, table, level)) for k, case in enumerate(_CASES[: 3 if missing else 1])]
    among = "" if groups == len(rows) - missing else f" in {counted(groups, 'cluster')}"
    title = f"Means over {counted(len(rows), 'sample')} of both sides{among}; {kind}"
    shown = Table(
        pd.DataFrame(data, columns=["what", "mean"]),
        {"mean": lambda mean: (_SIGNED if isinstance(mean, Estimate) else _PLAIN)(mean)},
        "gate",
        {"what": ""},
        main="mean",
        title=title,
    )
    left_out = [f"Samples of one side only: {only[0]:,} of BASE, {only[1]:,} of NEW."] if sum(only) else []
    left_out += dict.fromkeys(base.left_out + new.left_out)
    lack = f"{np.isnan(old).sum():,} of BASE, {np.isnan(fresh).sum():,} of NEW"
    missing_notes = [
        f"Samples without a score: {lack}. A claim must also hold with these scores at the end of the scale that is "
        f"worst for it. {scale_note}"
    ]
    runs = [{"side": "BASE"} | asdict(run) for run in base.runs] + [{"side": "NEW"} | asdict(run) for run in new.runs]
    sections = [
        *simulation_section(any(name.startswith(SIMULATED) for name in (before, after))),
        Section("Decision", decision, [shown], warnings=decision[:1] if code else ()),
        Section("Power", _power(bounds, table, code, margin, level, sequential, equivalent)),
        *([_anchor(old, fresh, clusters, _estimate(wide, 0, table, level, sign), series)] if equivalent else []),
        *([Section("Missing scores", missing_notes)] if missing else []),
        *([Section("Left out", left_out)] if left_out else []),
        Section("Runs", (), [Table(pd.DataFrame(runs), {"samples": number(0)}, "runs")]),
    ]
    decided = {"code": code, "decision": _DECISIONS[code][equivalent].partition(":")[0].lower(), "margin": margin}
    facts = decided | {"level": level, "equivalent": equivalent, "sequential": sequential, "low": low, "high": high}
    return Gate(code, Report(GATE, "Gate", sections, facts))


def _estimate(bounds: MeanBounds, k: int, table: Floats, level: float, sign: int = 1) -> Estimate:
    low, high = sorted((sign * float(bounds.low[k]), sign * float(bounds.high[k])))
    size = int((~np.isnan(table[:, k])).sum())
    return Estimate(sign * float(bounds.values[k]), low, high, size, int(bounds.clusters[k]), level, 0)


def _of_model(side: SampleScores, what: str, model: str | None) -> tuple[str, pd.DataFrame]:
    there = sorted(side.table["model"].unique())
    kept = [name for name in there if model in (None, name)]
    if len(kept) != 1:
        raise InputError(f"{what}: need one model{f', {model}' if model else '; --model names it'}: {choices(there)}")
    return kept[0], side.table[side.table["model"] == kept[0]]


def _scale(base: SampleScores, new: SampleScores, scores: Floats, given: Scale | None) -> tuple[float, float, str]:
    """Lowest and highest score, and a sentence about where they come from."""
    if given is None and base.scale is not None and base.scale == new.scale:
        given = base.scale
    known = scores[~np.isnan(scores)]
    if given is not None:
        if len(known) and (known.min() < given[0] or known.max() > given[1]):
            raise InputError(
                f"scale: {given[0]:g} to {given[1]:g}, but scores go from {known.min():g} to {known.max():g}"
            )
        return *given, f"The scale is {given[0]:g} to {given[1]:g}."
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return low, high, f"No scale is known: the scores seen, {low:g} to {high:g}, stand for it; --scale names it."


def _power(
    bounds: MeanBounds, table: Floats, code: int, margin: float, level: float, sequential: bool, equivalent: bool
) -> list[str]:
    """What this comparison could have shown, and how many samples would."""
    from scipy.special import stdtrit

    # Missing scores may hide as much of the margin as the worst case shifts the mean.
    n, shift = len(table), float(np.abs(bounds.values[1 : 2 + equivalent] - bounds.values[0]).max())
    error, half, clusters = float(bounds.errors[1]), float(bounds.halves[1]), int(bounds.clusters[1])
    power = pass_power(margin - shift, half, error, clusters, equivalent=equivalent)
    if math.isnan(power):
        return ["Not known: all samples have the same difference, or there are no bounds."]
    notes = [f"If the two were equal, {share(power)} of comparisons over so many samples would pass."]
    if power < POWER:
        needed = questions_to_pass(
            margin - shift, error, n, clusters, level=level, sequential=sequential, equivalent=equivalent
        )
        enough = (
            "no number of samples is enough while so many lack a score"
            if needed is None
            else f"it takes {needed:,} samples"
        )
        notes.append(f"For {share(POWER)}, {enough}.")
    if code == 2:
        least = half + float(stdtrit(clusters - 1, (1 + POWER) / 2 if equivalent else POWER)) * error + shift
        notes.append(
            f"{share(POWER)} of comparisons of equals over so many samples would pass a margin of {_PLAIN(least)}."
        )
    return notes


def _anchor(old: Floats, fresh: Floats, clusters: Integers, shift: Estimate, series: Sequence[float]) -> Section:
    """The shift from old to new scores, whether it depends on the score, and a series on the new scale."""
    slope, p = score_slope(old, fresh, clusters)
    level = level_text(shift.level)
    notes, warnings = [f"New scores less old ones: {_SIGNED(shift)}, with a two-sided {level} interval."], list[str]()
    if p < 1 - shift.level:
        warnings = [
            f"The shift depends on the score: it changes by {_SIGNED(slope)} per point (p {p_value(p)}). No constant "
            "re-anchors a series: give the old answers to the new judge, or compare each range of scores by itself."
        ]
    elif not math.isnan(p):
        notes.append(f"No sign that the shift depends on the score: {_SIGNED(slope)} per point (p {p_value(p)}).")
    parts = [[mean + part for part in (shift.value, shift.low, shift.high)] for mean in series]
    moved = [replace(shift, value=value, low=low, high=high) for value, low, high in parts]
    title = "Means of the series on the new scale; intervals are those of the shift alone"
    frame, formats = pd.DataFrame({"old": list(series), "new": moved}), {"old": _PLAIN, "new": _PLAIN}
    table = Table(frame, formats, "series", main="new", title=title)
    return Section("Re-anchoring", [*notes, *warnings], [table] if moved else [], warnings=warnings)
