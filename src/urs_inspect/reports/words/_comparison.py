"""Compared models -> the report of `urs-inspect compare`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain, pairwise

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs._samples import SampleScores
from urs_inspect.reports._texts import (
    DASH,
    Format,
    level_text,
    listed,
    number,
    p_value,
    ranks_text,
    share,
)
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._comparison import ComparedModels, Comparison
from urs_inspect.reports.numbers._scores import ALL, DIGITS
from urs_inspect.stats import Estimate
from urs_inspect.stats._power import POWER

COMPARISON = ReportKind(
    "urs-inspect comparison",
    1,
    "urs-inspect compare",
    "comparison",
    ("models", "means", "differences"),
    ("comparison.html",),
)
UNSCORED_ALERT = 0.02
"""Share of answers without a score above which a report draws attention to it."""
ALERT = f"! More than {UNSCORED_ALERT:.0%} of the answers have no score."
_MOST_PAIRS = 45
"""Pairs of ten models: of more, only some are shown."""
_MOST_NAMED = 4
"""Most models that a cell with the best of a column names."""
_SMALL = 2
_MEDIUM = 50
"""Widths of scales up to which means have three decimals, and two."""


def report_comparison(
    compared: ComparedModels,
    scores: SampleScores,
    *,
    baseline: str | None = None,
    difference: float | None = None,
    command: str = "",
) -> Report:
    """The report of compared models, to print or to write.

    `baseline` is the model with which alone the others were compared, `difference` one for which
    the number of questions is given that it takes to see it, `command` the command that makes the
    report.
    """
    baseline = {short: name for name, short in compared.short.items()}.get(baseline or "", baseline)
    formats = _formats(compared, scores)
    first = _beside_baseline(compared, baseline) if baseline else best_sentence(compared, ALL)
    groups = [key for key in compared.means if key != ALL]
    runs = Table(pd.DataFrame(map(asdict, scores.runs)))
    sections = [
        *simulation_section(scores.simulated),
        _summary(compared, scores, first, formats[0], ranked=baseline is None),
        _differences(compared, formats[1], difference),
    ]
    if groups:
        sections.append(_groups(compared, groups, formats, baseline))
    if scores.left_out:
        sections.append(Section("Left out", scores.left_out))
    sections.append(
        Section(
            "Runs",
            [f"This report was made by: {command}"] if command else (),
            [runs],
            appendix=True,
        )
    )
    told = ("task", "scorer", "judge", "simulated", "chosen", "scale", "left_out", "runs")
    facts = {
        "headline": first,
        "baseline": baseline,
        "lower_is_better": compared.lower_is_better,
        "command": command,
        **{name: getattr(scores, name) for name in told},
        **{name: getattr(compared, name) for name in ("asked", "question_counts", "notes")},
    }
    return Report(COMPARISON, f"Comparison: {scores.task}", sections, facts)


def _formats(compared: ComparedModels, scores: SampleScores) -> tuple[Format, Format]:
    """Formats of means and of differences, with the decimals that fit the scale."""
    values = compared.models[["mean_lowest", "mean_highest"]].to_numpy(dtype=np.float64)
    widest = scores.scale[1] - scores.scale[0] if scores.scale else float(np.abs(values).max())
    digits = 1
    if widest <= _SMALL:
        digits = 3
    elif widest <= _MEDIUM:
        digits = 2
    return number(digits), number(digits, sign=True)


def _summary(
    compared: ComparedModels, scores: SampleScores, first: str, plain: Format, *, ranked: bool
) -> Section:
    models = compared.models
    means = compared.means[ALL]
    notes = [first, _about(compared, scores)]
    if scores.judge:
        notes.append(f"Judge: {scores.judge}.")
    if scores.chosen:
        notes.append(scores.chosen)
    notes += compared.notes
    if (models["unscored_share"] > UNSCORED_ALERT).any():
        notes.append(ALERT)
    data = pd.DataFrame({"Model": compared.names, "Rank": ranks_text(models), "Mean": means})
    if not ranked:
        del data["Rank"]
    data["Without a score"] = [unscored_text(part) for part in models["unscored_share"]]
    if (models["unscored"] > 0).any():
        bounds = zip(models["mean_lowest"], models["mean_highest"], strict=True)
        data["At worst and best"] = [f"{plain(low)} to {plain(high)}" for low, high in bounds]
    formats: dict[str, Format] = {"Mean": plain, "Without a score": str, "At worst and best": str}
    best = compared.marked(ALL)
    marked = [(row, "Mean") for row, name in enumerate(compared.names) if name in best]
    every = models.assign(mean=pd.Series(means, models.index)).reset_index(names="model")
    rows = list[tuple[str, str, Estimate]]()
    for key, column in compared.means.items():
        rows += ((key, *mean) for mean in zip(compared.names, column, strict=True))
    by_column = pd.DataFrame(rows, columns=["column", "model", "mean"])
    tables = [
        Table(data, formats, marked=marked, bars=["Mean"]),
        Table(every, name="models", main="mean", shown=()),
        Table(by_column, name="means", main="mean", shown=()),
    ]
    return Section("Comparison", notes, tables)


def _about(compared: ComparedModels, scores: SampleScores) -> str:
    """What means are over, and which are better."""
    mean = compared.means[ALL][0]
    over = f"{scores.task}, {scores.scorer}: {counted(compared.questions, compared.noun)}"
    if mean.clusters < compared.questions:
        over += f" in {counted(mean.clusters, 'cluster')}"
    direction = "Higher is better."
    if compared.lower_is_better:
        direction = "Lower is better."
    elif scores.higher_is_better is None:
        direction = "Higher is better, unless --lower-is-better is given."
    return (
        f"{over}. Means are over those for which all ranked models have a score, with"
        f" {level_text(mean.level)} intervals. {direction}"
    )


def _groups(
    compared: ComparedModels,
    groups: Sequence[str],
    formats: tuple[Format, Format],
    baseline: str | None,
) -> Section:
    headings = {key: f"{key} ({compared.question_counts[key]:,})" for key in groups}
    means = pd.DataFrame({"Model": compared.names} | {key: compared.means[key] for key in groups})
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
        kind = "not significantly different"
        if pair.significant:
            kind = "significantly worse" if pair.first == baseline else "significantly better"
        kinds[kind].append(short[pair.second if pair.first == baseline else pair.first])
    parts = [f"{kind}: {listed(names)}" for kind, names in kinds.items() if names]
    return f"Compared with {short[baseline]}, {'; '.join(parts)}."


def _differences(compared: ComparedModels, signed: Format, difference: float | None) -> Section:
    every = compared.comparisons[ALL]
    pairs = _shown(compared)
    smallest = [math.nan if pair.significant else compared.detectable(pair) for pair in pairs]
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
    tables = [pairs_table(compared, [("", pair) for pair in pairs], signed, more=more)]
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
    best, *_ = names = compared.names
    neighbours = set(pairwise(names))
    return [pair for pair in pairs if pair.first == best or (pair.first, pair.second) in neighbours]


# --- what the report of `urs-inspect report` shows as well ---

_SIGNIFICANT = {
    "significant": "yes",
    "depends on unscored answers": "depends",
    "not significant over all questions": "not over all",
    "not comparable": DASH,
}


def pairs_table(
    compared: ComparedModels,
    tests: Sequence[tuple[str, Comparison]],
    signed: Format,
    group: str = "",
    more: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """Comparisons, one row each, under a heading of what they are of."""
    short = compared.short
    more = more or {}
    rows = [
        {
            group: title,
            "First": short[pair.first],
            "Second": short[pair.second],
            "Significant": _SIGNIFICANT.get(pair.verdict, "no"),
            "Difference": pair.difference,
            "p (Holm)": pair.p_holm,
        }
        for title, pair in tests
    ]
    formats: dict[str, Format] = {"Significant": str, "Difference": signed, "p (Holm)": p_value}
    data = pd.DataFrame(rows).assign(**more)
    columns = [column for column in map(str, data) if column] if rows else []
    return Table(data, formats | dict.fromkeys(more, str), shown=columns)


def differences_table(compared: ComparedModels, block: int | None = None) -> Table:
    """Every comparison, for files: all pairs of models, or with the best model of a column."""
    columns = (
        "block",
        "column",
        "first",
        "second",
        "difference",
        "low",
        "high",
        "p",
        "p_holm",
        "p_worst",
        "verdict",
    )
    rows = []
    for key, pairs in compared.comparisons.items():
        for pair in pairs:
            rows.append(
                (
                    block,
                    key,
                    pair.first,
                    pair.second,
                    pair.difference.value,
                    pair.difference.low,
                    pair.difference.high,
                    pair.p,
                    pair.p_holm,
                    pair.p_worst,
                    pair.verdict,
                    "; ".join(f"{name} ({count})" for name, count in pair.depends_on.items()),
                    pair.difference.n,
                    pair.error,
                    compared.detectable(pair) if key == ALL else None,
                )
            )
    data = pd.DataFrame(
        rows, columns=[*columns, "depends_on", "n", "error", "detectable"], dtype=object
    )
    return Table(data if block else data.drop(columns="block"), name="differences", shown=())


MATRIX = (
    "Above the diagonal: the mean of the row's model less that of the column's, on the same"
    " questions, with its interval. Below it: the p-value after Holm's correction, and the number"
    " of questions. Bold: significant."
)
"""How to read a `difference_matrix`."""


def difference_matrix(compared: ComparedModels, signed: Format) -> Table:
    """Each pair once: the difference above the diagonal, p-value and number of questions below."""
    names = compared.names
    short = compared.short
    place = {name: place for place, name in enumerate(names)}
    cells = [[DASH] * len(place) for _ in place]
    marked = []
    for pair in compared.comparisons[ALL]:
        row, column = sorted((place[pair.first], place[pair.second]))
        difference = pair.difference if row == place[pair.first] else -pair.difference
        tested = f"p {p_value(pair.p_holm)}"
        if not pair.significant:
            tested = _SIGNIFICANT.get(pair.verdict, tested)
        if difference.n:
            cells[row][column] = signed(difference)
            cells[column][row] = f"{tested} ({difference.n:,})"
        if pair.significant:
            marked += [(row, names[column]), (column, names[row])]
    data = pd.DataFrame(cells, columns=names)
    data.insert(0, "Model", [short[name] for name in names])
    return Table(data, dict.fromkeys(names, str), headings=short, marked=marked)


def verdict_notes(compared: ComparedModels) -> list[str]:
    """What the verdicts that missing scores leave open mean, those that occur."""
    meanings = {
        "depends on unscored answers": (
            "Depends: significant only if the answers without a score are like the others."
        ),
        "not significant over all questions": (
            f"Not over all: significant over the {compared.noun}s that count, but not over all that"
            " the two answered."
        ),
    }
    pairs = chain.from_iterable(compared.comparisons.values())
    verdicts = {pair.verdict for pair in pairs}
    return [meaning for verdict, meaning in meanings.items() if verdict in verdicts]


def best_sentence(ranking: ComparedModels, key: str) -> str:
    """Which model is best in a column, and which ones cannot be distinguished from it."""
    pairs = ranking.beside_best(key)
    short = ranking.short
    if not any(pair.difference.n for pair in pairs):
        return f"No {ranking.noun} has a score of every ranked model."
    name = short[ranking.best(key)]
    others = len(pairs)
    better = [short[pair.second] for pair in pairs if pair.significant]
    if len(better) == others:
        return f"{name} is best, significantly better than {_all_of(better)}."
    equal = [short[pair.second] for pair in pairs if round(pair.difference.value, DIGITS) == 0]
    highest = "lowest" if ranking.lower_is_better else "highest"
    have = f"{listed([name, *equal])} share" if equal else f"{name} has"
    text = f"{have} the {highest} mean score"
    if ranking.testable(key):
        return f"{text}{_not_distinguished(ranking, pairs, equal)}."
    over = counted(pairs[0].difference.n, ranking.noun)
    return f"{text}; over {over} no difference between {others + 1} models can be significant."


def _all_of(others: Sequence[str]) -> str:
    if len(others) == 1:
        return others[0]
    return "both others" if len(others) == 2 else f"all {len(others)} others"


def _not_distinguished(
    ranking: ComparedModels, pairs: Sequence[Comparison], equal: Sequence[str]
) -> str:
    """What is not known of the best model beside the others, of which some are equal to it."""
    by_verdict: dict[str, list[str]] = {}
    for pair in pairs:
        by_verdict.setdefault(pair.verdict, []).append(ranking.short[pair.second])
    above = "below" if ranking.lower_is_better else "above"
    text = ""
    if better := by_verdict.get("significant"):
        text += f", significantly {above} {counted(len(better), 'other')}"
    unclear = [name for name in by_verdict.get("not distinguishable", []) if name not in equal]
    if len(unclear) == len(pairs) > 1:
        text += ", but cannot be distinguished from any other model"
    elif unclear:
        text += f", but cannot be distinguished from {listed(unclear, 'or')}"
    if partly := by_verdict.get("not significant over all questions"):
        text += (
            f"; it is significantly {above} {listed(partly)} only over the"
            f" {counted(pairs[0].difference.n, f'common {ranking.noun}')}, not over all that were"
            " asked"
        )
    if depends := by_verdict.get("depends on unscored answers"):
        lacking = dict.fromkeys(chain.from_iterable(pair.depends_on for pair in pairs))
        text += (
            f"; whether it is better than {listed(depends)} depends on unscored answers of"
            f" {listed([ranking.short[name] for name in lacking])}"
        )
    return text


def best_text(ranking: ComparedModels, key: str) -> str:
    """The best model of a column with its mean, and the models that are not significantly worse."""
    if not ranking.question_counts.get(key):
        return DASH
    name = ranking.best(key)
    pairs = ranking.beside_best(key)
    short = ranking.short
    text = f"{short[name]} {ranking.mean(name, key).value:.2f} ({ranking.question_counts[key]:,})"
    if not ranking.testable(key):
        return f"{text}: too few questions"
    better = [short[pair.second] for pair in pairs if pair.significant]
    if len(better) == len(pairs):
        largest = np.fmax([pair.p_holm for pair in pairs], [pair.p_worst for pair in pairs]).max()
        return f"{text}: significantly best, p {p_value(largest)}"
    unclear = [pair for pair in pairs if not pair.significant]
    others = [short[pair.second] + (" (depends)" if pair.depends_on else "") for pair in unclear]
    if len(others) == 1:
        return f"{text} or {others[0]}, p {p_value(unclear[0].p_holm)}"
    if not better:
        return f"{text} or any other"
    if len(others) > max(_MOST_NAMED, len(better)):
        return f"{text} or any other but {listed(better)}"
    return f"{text} or {listed(others, 'or')}"


def unscored_text(part: float) -> str:
    """Share of answers without a score, with a mark where it is large."""
    text = f"{part:.1%}" if 0 < part < 0.1 else share(part)
    return f"{text} !" if part > UNSCORED_ALERT else text
