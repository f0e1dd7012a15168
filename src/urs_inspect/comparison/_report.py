"""Compared models -> the report of `urs-inspect compare`."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.comparison._samples import SampleScores
from urs_inspect.reports._texts import (
    DASH,
    Format,
    decimals,
    level_text,
    listed,
    number,
    ranks_text,
    share,
)
from urs_inspect.reports.layout._tables import (
    SIMULATED_SCREEN,
    FirstScreen,
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._comparison import ComparedModels, Comparison
from urs_inspect.reports.numbers._corrected import CorrectedMeans
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.reports.words._comparison import (
    ALERT,
    MATRIX,
    UNSCORED_ALERT,
    best_claim,
    best_sentence,
    difference_matrix,
    differences_table,
    missing_notes,
    pairs_table,
    screen_table,
    unscored_text,
    verdict_notes,
)
from urs_inspect.reports.words._corrected import (
    corrected_headline,
    corrected_screen_table,
    corrected_section,
    corrected_start,
    corrected_warnings,
)
from urs_inspect.stats import Estimate
from urs_inspect.stats._power import POWER

COMPARISON = ReportKind(
    "urs-inspect comparison",
    1,
    "urs-inspect compare",
    "comparison",
    more=("comparison.html",),
)
_MOST_PAIRS = 45
"""Pairs of ten models: of more, only some are shown."""


def report_comparison(
    compared: ComparedModels,
    scores: SampleScores,
    corrected: CorrectedMeans | None = None,
    *,
    baseline: str | None = None,
    difference: float | None = None,
    command: str = "",
) -> Report:
    """The report of compared models, to print or to write.

    Args:
        compared: The models.
        scores: Where their scores come from.
        corrected: Means that people's labels correct.
        baseline: The only model that the others were compared with.
        difference: A difference; the report says how many questions it takes to see it.
        command: The command that makes the report.
    """
    names = {short: name for name, short in compared.short.items()}
    formats = _formats(compared, scores)
    if baseline:
        baseline = names.get(baseline, baseline)
        first = _beside_baseline(compared, baseline)
        claim = first
    else:
        first = best_sentence(compared, ALL)
        claim = best_claim(compared, formats[1])
    headline = first
    if corrected is not None and corrected.trusted:
        claim = corrected_headline(corrected, compared.short)
        headline = claim
    basis = _basis(compared, scores)
    groups = [key for key in compared.means if key != ALL]
    sections = [
        _summary(compared, scores, [first, *basis], formats[0], ranked=baseline is None),
        _differences(compared, formats[1], difference),
    ]
    if corrected is not None:
        sections.append(_by_people(corrected, scores, compared))
    if groups:
        sections.append(_groups(compared, groups, formats, baseline))
    sections = with_notices(sections, scores.simulated, scores.left_out)
    facts = {
        "headline": headline,
        "baseline": baseline,
        "lower_is_better": compared.lower_is_better,
        "command": command,
        **{name: getattr(scores, name) for name in _FACTS},
        "asked": compared.asked,
        "question_counts": compared.question_counts,
        "notes": missing_samples(compared),
    }
    if corrected is not None:
        facts |= corrected.facts
    return Report(
        COMPARISON,
        f"Comparison: {scores.task}",
        sections,
        facts,
        first=_screen(compared, scores.simulated, claim, basis, formats, corrected, difference),
        appendix=lambda: [_runs(scores, command)],
    )


def with_notices(
    sections: Sequence[Section], simulated: bool, left_out: Sequence[str]
) -> list[Section]:
    """Sections, before them that models are simulated, and behind them what was left out, if so."""
    noticed = [*simulation_section(simulated), *sections]
    if left_out:
        noticed.append(Section("Left out", left_out))
    return noticed


def _runs(scores: SampleScores, command: str) -> Section:
    made_by = []
    if command:
        made_by = [f"This report was made by: {command}"]
    runs = pd.DataFrame(map(asdict, scores.runs))
    return Section("Runs", made_by, [Table(runs)])


_FACTS = ("task", "scorer", "judge", "simulated", "chosen", "scale", "left_out", "runs")
"""Attributes of scores that the JSON file has."""


def _screen(
    compared: ComparedModels,
    simulated: bool,
    claim: str,
    basis: Sequence[str],
    formats: tuple[Format, Format],
    corrected: CorrectedMeans | None,
    difference: float | None,
) -> FirstScreen:
    """The answer on one screen."""
    warnings = []
    if simulated:
        warnings = [SIMULATED_SCREEN]
    kept = 0
    if corrected is not None:
        if corrected.matched.lost:
            warnings.append(unmatched_ratings(corrected))
            kept = len(warnings) + 1  # it and the first warning about the means
        warnings += corrected_warnings(corrected, compared)
    if (compared.models["unscored_share"] > UNSCORED_ALERT).any():
        warnings.append(ALERT)
    every = compared.comparisons[ALL]
    seen = [compared.detectable(pair) for pair in every if not pair.significant]
    findings = []
    if seen and not np.isnan(seen).all():
        largest = formats[1](np.nanmax(seen)).lstrip("+")
        findings.append(
            f"With {_over(compared)}, only a true difference of {largest} or more would be detected"
            f" with {share(POWER)} power."
        )
    if difference is not None:
        findings.insert(0, _needed_sentence(compared, difference))
    table = screen_table(compared, *formats, {})
    if corrected is not None and corrected.trusted:
        findings = [f"By the scores alone: {best_sentence(compared, ALL)}"]
        table = corrected_screen_table(corrected, compared, "mean of the scores")
    return FirstScreen(claim, warnings, basis, table, findings, kept=kept)


def unmatched_ratings(corrected: CorrectedMeans) -> str:
    """How many ratings of the file are about none of the answers."""
    human = corrected.human
    lost = len(corrected.matched.lost)
    verb = "are"
    if lost == 1:
        verb = "is"
    return (
        f"{lost:,} of {counted(len(human.ratings), 'rating')} in {human.path} {verb} about none of"
        " these answers."
    )


def missing_samples(compared: ComparedModels) -> list[str]:
    """What missing samples and scores take away, one sentence each."""
    attempted = compared.missing.attempted
    notes = missing_notes(compared)
    if min(attempted.values()) < compared.asked:
        by_model = ", ".join(f"{name} {count:,}" for name, count in attempted.items())
        notes.insert(
            0,
            f"The models did not attempt the same samples ({by_model}): only those count that all"
            " have.",
        )
    return notes


def _over(compared: ComparedModels) -> str:
    """What means are over: samples, and their clusters where these are fewer."""
    samples = counted(compared.questions, compared.noun)
    clusters = compared.means[ALL][0].clusters
    if clusters < compared.questions:
        samples += f" in {counted(clusters, 'cluster')}"
    return samples


def _needed_sentence(compared: ComparedModels, difference: float) -> str:
    """How many samples it takes to detect a difference, for the pair that takes the most."""
    counts = [compared.needed(pair, difference) for pair in compared.comparisons[ALL]]
    known = [count for count in counts if count is not None]
    if not known:
        return f"How many samples a difference of {difference:g} takes is not known."
    return (
        f"To detect a difference of {difference:g} with {share(POWER)} power takes"
        f" {counted(max(known), compared.noun)}; there are {compared.questions:,}."
    )


def _by_people(
    corrected: CorrectedMeans, scores: SampleScores, compared: ComparedModels
) -> Section:
    """What people's labels say of the models."""
    section = corrected_section(corrected, compared, 1)
    judge = scores.judge or f"the scorer, {scores.scorer}"
    notes = [*corrected_start(corrected, compared), f"The judge here is {judge}.", *section.notes]
    return replace(section, notes=notes)


def _formats(compared: ComparedModels, scores: SampleScores) -> tuple[Format, Format]:
    """Formats of means and of differences, with the decimals that fit the scale."""
    values = compared.models[["mean_lowest", "mean_highest"]].to_numpy(dtype=np.float64)
    widest = float(np.abs(values).max())
    if scores.scale:
        low, high = scores.scale
        widest = high - low
    digits = decimals(widest)
    return number(digits), number(digits, sign=True)


def _summary(
    compared: ComparedModels, scores: SampleScores, start: list[str], plain: Format, *, ranked: bool
) -> Section:
    models = compared.models
    means = compared.means[ALL]
    notes = [*start, f"Means have {level_text(means[0].level)} intervals."]
    if scores.chosen:
        notes.append(scores.chosen)
    if (models["unscored_share"] > UNSCORED_ALERT).any():
        notes.append(ALERT)
    ranks = ranks_text(models)
    data = pd.DataFrame({"Model": compared.names, "Rank": ranks, "Mean": means})
    if not ranked:
        del data["Rank"]
    data["Without a score"] = [unscored_text(part) for part in models["unscored_share"]]
    if (models["unscored"] > 0).any():
        bounds = zip(models["mean_lowest"], models["mean_highest"], strict=True)
        data["At worst and best"] = [f"{plain(low)} to {plain(high)}" for low, high in bounds]
    formats: dict[str, Format] = {"Mean": plain, "Without a score": str, "At worst and best": str}
    best = compared.best_in[ALL].marked
    marked = []
    for row, name in enumerate(compared.names):
        if name in best:
            marked.append((row, "Mean"))
    mean_of_model = pd.Series(means, models.index)
    every = models.assign(mean=mean_of_model).reset_index(names="model")
    rows = list[tuple[str, str, Estimate]]()
    for key, column in compared.means.items():
        for model, mean in zip(compared.names, column, strict=True):
            rows.append((key, model, mean))
    by_column = pd.DataFrame(rows, columns=["column", "model", "mean"])
    tables = [
        Table(data, formats, marked=marked, bars=["Mean"]),
        Table(every, name="models", main="mean", shown=()),
        Table(by_column, name="means", main="mean", shown=()),
    ]
    return Section("Comparison", notes, tables)


def _basis(compared: ComparedModels, scores: SampleScores) -> list[str]:
    """Which scores of which samples are compared, which are better, and what is missing."""
    direction = "Higher is better."
    if compared.lower_is_better:
        direction = "Lower is better."
    elif scores.higher_is_better is None and scores.judge == "":
        direction = "Higher is better (else --lower-is-better)."
    basis = [
        f"Task {scores.task}, score {scores.scorer}, {_over(compared)} that every ranked model was"
        f" scored on. {direction}"
    ]
    if scores.judge:
        basis.append(f"Judge: {scores.judge}.")
    return basis + missing_samples(compared)


def _groups(
    compared: ComparedModels,
    groups: Sequence[str],
    formats: tuple[Format, Format],
    baseline: str | None,
) -> Section:
    headings = {key: f"{key} ({compared.question_counts[key]:,})" for key in groups}
    columns: dict[str, Sequence[object]] = {"Model": compared.names}
    columns |= {key: compared.means[key] for key in groups}
    means = pd.DataFrame(columns)
    tests: list[tuple[str, Comparison]] = []
    for key in groups:
        tests += ((key, pair) for pair in compared.comparisons[key])
    tested = "the best model is compared with each other one"
    if baseline:
        tested = f"{compared.short[baseline]} is compared with each other model"
    notes = [f"In each group {tested}; p-values are corrected over all groups together."]
    tables = [
        Table(means, dict.fromkeys(groups, formats[0]), headings=headings),
        pairs_table(compared, tests, formats[1], group="Group"),
    ]
    return Section("Groups", notes, tables, 3)


def _beside_baseline(compared: ComparedModels, baseline: str) -> str:
    """Which models are significantly better or worse than the baseline."""
    short = compared.short
    kinds: dict[str, list[str]] = {
        "significantly better": [],
        "significantly worse": [],
        "not significantly different": [],
    }
    for pair in compared.comparisons[ALL]:
        baseline_is_first = pair.first == baseline
        other = pair.first
        if baseline_is_first:
            other = pair.second
        if not pair.significant:
            kind = "not significantly different"
        elif baseline_is_first:
            kind = "significantly worse"
        else:
            kind = "significantly better"
        kinds[kind].append(short[other])
    parts = [f"{kind}: {listed(names)}" for kind, names in kinds.items() if names]
    return f"Compared with {short[baseline]}, {'; '.join(parts)}."


def _differences(compared: ComparedModels, signed: Format, difference: float | None) -> Section:
    every = compared.comparisons[ALL]
    pairs = _shown(compared)
    smallest = []
    for pair in pairs:
        detectable = math.nan
        if not pair.significant:
            detectable = compared.detectable(pair)
        smallest.append(detectable)
    more = dict[str, list[str]]()
    notes = list[str]()
    if not np.isnan(smallest).all():
        more[f"Seen at {share(POWER)}"] = [signed(seen).lstrip("+") for seen in smallest]
        notes.append(
            f"Seen at {share(POWER)}: the smallest difference that would have been significant with"
            f" {share(POWER)} power. That two models cannot be distinguished does not make them"
            " equal."
        )
    unclear = [not pair.significant for pair in pairs]
    if np.isnan(smallest)[unclear].any():
        notes.append(
            "What would have been seen is not given where nothing could be significant over so few"
            " clusters, for fewer than 50 samples with scores of two values, nor where all"
            " differences are equal."
        )
    if difference is not None:
        counts = [compared.needed(pair, difference) for pair in pairs]
        more[f"Needed for {difference:g}"] = [
            DASH if count is None else f"{count:,}" for count in counts
        ]
        notes.append(
            f"Needed for {difference:g}: samples for {share(POWER)} power at a difference of"
            f" {difference:g}."
        )
    notes += verdict_notes(compared)
    without_group = [("", pair) for pair in pairs]
    tables = [pairs_table(compared, without_group, signed, more=more)]
    if len(pairs) < len(every):
        notes += [
            "First table: pairs with the best model, and neighbours. Second table: all pairs.",
            MATRIX,
        ]
        tables.append(difference_matrix(compared, signed))
    tables.append(differences_table(compared))
    return Section("Differences", notes, tables, 3)


def _shown(compared: ComparedModels) -> list[Comparison]:
    """The pairs to be shown: of many, those with the best model and those of neighbours."""
    pairs = list(compared.comparisons[ALL])
    if len(pairs) <= _MOST_PAIRS:
        return pairs
    best = compared.names[0]
    neighbours = set(pairwise(compared.names))
    shown = []
    for pair in pairs:
        are_neighbours = (pair.first, pair.second) in neighbours
        if pair.first == best or are_neighbours:
            shown.append(pair)
    return shown
