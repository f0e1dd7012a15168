"""Compared models -> the report of `urs-inspect compare`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs.samples import SampleScores
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.alternatives import ranks_text
from urs_inspect.reports.comparison import ComparedModels, Comparison
from urs_inspect.reports.figures import Figure, difference_plot, forest_plot
from urs_inspect.reports.leaderboard_report import (
    best_sentence,
    forest_frame,
    matrix_frame,
    unscored_text,
)
from urs_inspect.reports.scores import ALL
from urs_inspect.reports.tables import (
    DASH,
    Format,
    Report,
    ReportKind,
    Section,
    Table,
    level_text,
    listed,
    number,
    p_value,
    share,
    simulation_section,
)
from urs_inspect.stats.power import POWER

COMPARISON = ReportKind(
    "urs-inspect comparison",
    1,
    "urs-inspect compare",
    "comparison",
    ("models", "means", "differences"),
    ("comparison.html",),
)
_SMALL, _MEDIUM = 2, 50
"""Widths of scales up to which means have three decimals, and two."""


def report_comparison(
    compared: ComparedModels,
    scores: SampleScores,
    *,
    baseline: str | None = None,
    difference: float | None = None,
    lower_is_better: bool = False,
    command: str = "",
) -> Report:
    """The report of a comparison, to print or to write.

    Args:
        compared: The models, as `compare` returns them for the table of the scores.
        scores: Where the scores come from.
        baseline: The model with which alone the others were compared.
        difference: A difference for which the number of questions is given that it takes to see it.
        lower_is_better: As for `compare`.
        command: The command that makes the report.
    """
    formats = _formats(compared, scores)
    simulated = any(name.startswith(SIMULATED) for name in compared.names)
    first = _beside_baseline(compared, baseline) if baseline else best_sentence(compared, ALL)
    groups = [key for key in compared.means if key != ALL]
    runs = Table(pd.DataFrame(map(asdict, scores.runs)))
    sections = [
        *simulation_section(simulated),
        _summary(compared, scores, first, formats[0], lower_is_better, ranked=baseline is None),
        _differences(compared, formats[1], difference),
        *([_groups(compared, groups, formats)] if groups else []),
        *([Section("Left out", scores.left_out)] if scores.left_out else []),
        Section("Runs", [f"This report was made by: {command}"] if command else (), [runs], appendix=True),
    ]
    told = ("task", "scorer", "chosen", "scale", "left_out", "runs")
    facts = {
        **{"headline": first, "baseline": baseline, "lower_is_better": lower_is_better},
        **{"simulated": simulated, "command": command},
        **{name: getattr(scores, name) for name in told},
        **{name: getattr(compared, name) for name in ("asked", "question_counts", "notes")},
    }
    return Report(COMPARISON, f"Comparison: {scores.task}", sections, facts)


def _formats(compared: ComparedModels, scores: SampleScores) -> tuple[Format, Format]:
    """Formats of means and of differences, with the decimals that fit the scale."""
    values = compared.models[["mean_lowest", "mean_highest"]].to_numpy(dtype=np.float64)
    widest = scores.scale[1] - scores.scale[0] if scores.scale else float(np.abs(values).max())
    digits = 3 if widest <= _SMALL else 2 if widest <= _MEDIUM else 1
    return number(digits), number(digits, sign=True)


def _summary(
    compared: ComparedModels, scores: SampleScores, first: str, plain: Format, lower_is_better: bool, *, ranked: bool
) -> Section:
    models, means = compared.models, compared.means[ALL]
    clusters, level = means[0].clusters, level_text(means[0].level)
    about = f"{scores.task}, {scores.scorer}: {counted(compared.questions, 'question')}"
    about += f" in {counted(clusters, 'cluster')}" if clusters < compared.questions else ""
    notes = [
        first,
        f"{about}. Means are over the questions for which all have a score, with {level} intervals."
        + (" Lower is better." if lower_is_better else " Higher is better, unless --lower-is-better is given."),
        *([scores.chosen] if scores.chosen else []),
        *compared.notes,
    ]
    data = pd.DataFrame({"Model": compared.names, "Rank": ranks_text(models), "Mean": means})
    data["Without a score"] = [unscored_text(part) for part in models["unscored_share"]]
    if (models["unscored"] > 0).any():
        data["At worst and best"] = [
            f"{plain(low)} to {plain(high)}"
            for low, high in zip(models["mean_lowest"], models["mean_highest"], strict=True)
        ]
    formats: dict[str, Format] = {"Mean": plain, "Without a score": str, "At worst and best": str}
    marked = [(row, "Mean") for row, name in enumerate(compared.names) if name in compared.marked(ALL)]
    every = models.assign(mean=pd.Series(means, models.index)).reset_index(names="model")
    rows = [
        [key, name, mean]
        for key in compared.means
        for name, mean in zip(compared.names, compared.means[key], strict=True)
    ]
    by_group = Table(pd.DataFrame(rows, columns=["column", "model", "mean"]), name="means", main="mean", shown=())
    caption = (
        f"Dots are means, lines their {level} intervals. The difference of two that overlap may still be significant, "
        "because the comparison goes question by question."
    )
    figure = Figure(
        "means", "Mean of each model", caption, lambda width: forest_plot(forest_frame(compared), width, scores.scorer)
    )
    shown = data if ranked else data.drop(columns="Rank")
    tables = [Table(shown, formats, marked=marked), Table(every, name="models", main="mean", shown=()), by_group]
    return Section("Comparison", notes, tables, figures=[figure])


def _groups(compared: ComparedModels, groups: Sequence[str], formats: tuple[Format, Format]) -> Section:
    headings = {key: f"{key} ({compared.question_counts[key]:,})" for key in groups}
    means = pd.DataFrame({"Model": compared.names, **{key: compared.means[key] for key in groups}})
    tests = [(key, pair) for key in groups for pair in compared.comparisons[key]]
    notes = [
        "The best model of each group is compared with the others; p-values are corrected over all groups together."
    ]
    tables = [
        Table(means, dict.fromkeys(groups, formats[0]), headings=headings),
        _pairs(compared, tests, formats[1], ["Group"]),
    ]
    return Section("Groups", notes, tables, 3)


def _beside_baseline(compared: ComparedModels, baseline: str) -> str:
    """Which models are significantly better or worse than the baseline."""
    short, pairs = compared.short, compared.comparisons[ALL]
    kinds = {
        "significantly better": [pair.first for pair in pairs if pair.significant and pair.first != baseline],
        "significantly worse": [pair.second for pair in pairs if pair.significant and pair.first == baseline],
        "not significantly different": [
            name for pair in pairs if not pair.significant for name in (pair.first, pair.second) if name != baseline
        ],
    }
    parts = [f"{kind}: {listed([short[name] for name in names])}" for kind, names in kinds.items() if names]
    return f"Compared with {short[baseline]}, {'; '.join(parts)}."


def _differences(compared: ComparedModels, signed: Format, difference: float | None) -> Section:
    pairs = compared.comparisons[ALL]
    smallest = [compared.detectable(pair) for pair in pairs]
    texts = [DASH if pair.significant else signed(seen).lstrip("+") for pair, seen in zip(pairs, smallest, strict=True)]
    more = {f"Seen at {share(POWER)}": texts}
    notes = []
    if any(text != DASH for text in texts):
        notes.append(
            f"Seen at {share(POWER)}: the smallest difference that would have been significant with {share(POWER)} "
            "power. That two models cannot be distinguished does not make them equal."
        )
    if difference is not None:
        counts = [compared.needed(pair, difference) for pair in pairs]
        more[f"Needed for {difference:g}"] = [DASH if count is None else f"{count:,}" for count in counts]
        notes.append(
            f"Needed for {difference:g}: questions for {share(POWER)} power at a difference of {difference:g}."
        )
    if any(pair.depends_on for tested in compared.comparisons.values() for pair in tested):
        notes.append("Depends: significant only if the answers without a score are like the others.")
    names = ("first", "second", "difference", "error", "p", "p_holm", "p_worst", "verdict")
    rows = [
        [key, *(getattr(pair, name) for name in names), compared.detectable(pair) if key == ALL else None]
        for key, tested in compared.comparisons.items()
        for pair in tested
    ]
    every = pd.DataFrame(rows, columns=["column", *names, "detectable"], dtype=object)
    figures = []
    if len(pairs) >= len(compared.names) > 2:
        caption = "The mean of the row's model less that of the column's; blue: significantly better, orange: worse."
        frame = matrix_frame(compared, signed)
        figures = [Figure("differences", "Differences", caption, lambda width: difference_plot(frame, width))]
    tables = [
        _pairs(compared, [("", pair) for pair in pairs], signed, (), more),
        Table(every, name="differences", main="difference", shown=()),
    ]
    return Section("Differences", notes, tables, 3, figures=figures)


def _pairs(
    compared: ComparedModels,
    tests: Sequence[tuple[str, Comparison]],
    signed: Format,
    group: Sequence[str],
    more: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """Comparisons, one row each, so that they fit a terminal; the CSV file has all numbers."""
    rows = [
        {
            **dict.fromkeys(group, key),
            "First": compared.short[pair.first],
            "Second": compared.short[pair.second],
            "Significant": _SIGNIFICANT.get(pair.verdict, "no"),
            "Difference": pair.difference,
            "p (Holm)": pair.p_holm,
        }
        for key, pair in tests
    ]
    shown = more or {}
    return Table(
        pd.DataFrame(rows).assign(**shown),
        {"Significant": str, "Difference": signed, "p (Holm)": p_value, **dict.fromkeys(shown, str)},
    )


_SIGNIFICANT = {"significant": "yes", "depends on unscored answers": "depends", "not comparable": DASH}
