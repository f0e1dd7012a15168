"""The models of a ranking by other means than those of the judge's scores, such as at equal length of answers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.judging.failures import NO_RESPONSE
from urs_inspect.logs.naming import short_names
from urs_inspect.reports.comparison import ComparedModels, verdict_of
from urs_inspect.reports.scores import ALL, OrderedScores
from urs_inspect.reports.tables import DASH, Format, Section, Table, listed, number, p_value, share
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.stats import MeanColumn, bootstrap_means, mean_estimates, rank_intervals
from urs_inspect.stats.adjusted_means import control_length, length_column
from urs_inspect.stats.bootstrap import Resampling, Scale
from urs_inspect.stats.means import MeanDraws, contrast, p_values
from urs_inspect.stats.paired import Pair, all_pairs, mean_differences, worst_p_values

FEWEST = 10
"""Fewest questions over which means at equal length are reported."""
_COLLINEAR = 0.9
"""Share of the variance of log length between models above which a note says that intervals are wide because of it."""
PAIRS = ["first", "second", "better_by_judge", "verdict", "difference", "p", "p_holm", "p_worst"]
"""Columns of `Alternative.pairs`."""
_MEAN, _SIGNED, _COUNT = number(2), number(2, sign=True), number(0)


@dataclass(frozen=True)
class Alternative:
    """The models of a ranking by other means; `name` is the column of these means and the name of their table.

    `means` has at least the columns model, column (`all` or an intent), rank_from and rank_to (over all questions),
    mean (by the judge's scores) and `name`; nothing if there are no other means. `pairs` has one row per pair of models
    over all questions: first (with the higher mean), second, better_by_judge (which one is significantly better by the
    judge's scores, or empty), verdict, difference, p, p_holm and p_worst.
    """

    name: str
    title: str
    means: pd.DataFrame
    pairs: pd.DataFrame
    notes: tuple[str, ...]  # of the section about it
    start: tuple[str, ...] = ()  # what the report says of it at the start, warnings included
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)  # what the JSON file says beside the tables

    @property
    def over_all(self) -> pd.DataFrame:
        """The means over all questions, by model."""
        return self.means[self.means["column"] == ALL].set_index("model")

    def section(self, place: int, short: Mapping[str, str]) -> Section:
        """Means and differences, and how to read them; models by their short names, and in files in full."""
        tables = [
            Table(
                data.assign(block=place)[["block", *data]], name=name, main=main, shown=(), estimates=("mean", "people")
            )
            for data, name, main in (
                (self.means, self.name, self.name),
                (self.pairs, f"{self.name}_differences", "difference"),
            )
        ]
        if "rank_from" in self.means and self.means["rank_from"].notna().any():
            hidden = {"column"} if (self.means["column"] == ALL).all() else set()
            hidden |= set() if (self.pairs["p_worst"] > self.pairs["p_holm"]).any() else {"p_worst"}
            words, differences = {**short, **VERDICTS, "": DASH}, f"Differences {self.title.lower()}"
            for frame, title in ((self.means.assign(rank=ranks_text(self.means)), ""), (self.pairs, differences)):
                data = frame.map(lambda cell: words.get(cell, cell) if isinstance(cell, str) else cell)
                shown = [column for column in _HEADINGS if column in data and column not in hidden]
                tables.append(Table(data, _FORMATS, headings=_HEADINGS, shown=shown, title=title))
        return Section(self.title, self.notes, [] if self.means.empty else tables, 3)


VERDICTS = {"not distinguishable": "cannot be distinguished"}
"""Verdicts in files that reports show in other words."""
_HEADINGS = {  # of the columns that are shown, in order
    **{"model": "Model", "column": "Questions of", "rank": "Rank"},
    **{"first": "First", "second": "Second", "better_by_judge": "Better by the judge", "verdict": "Verdict"},
    **{"length": "Length (100% is the geometric mean)", "mean": "Judge's mean", "equal_length": "At equal length"},
    **{"corrected": "Corrected by people", "people": "People alone", "rated": "Rated answers", "worth": "Worth"},
    **{"more": "More to halve", "difference": "Difference", "p": "p", "p_holm": "p (Holm)", "p_worst": "p, worst case"},
}
_FORMATS: dict[str, Format] = {
    **dict.fromkeys(("mean", "equal_length", "corrected", "people"), _MEAN),
    **dict.fromkeys(("rated", "worth", "more"), _COUNT),
    **dict.fromkeys(("p", "p_holm", "p_worst"), p_value),
    **{"length": number(0, percent=True), "difference": _SIGNED},
}


def ranks_text(models: pd.DataFrame) -> list[str]:
    """The ranks that each model may have, `1–2`, or a dash."""
    pairs = zip(models["rank_from"], models["rank_to"], strict=True)
    return [DASH if pd.isna(low) else f"{low:g}" if low == high else f"{low:g}–{high:g}" for low, high in pairs]


def compare(
    means: MeanDraws,
    worst: tuple[MeanDraws, MeanDraws],
    models: Sequence[str],
    judged: ComparedModels,
    resampling: Resampling,
    scale: Scale | None = None,
) -> tuple[pd.DataFrame, tuple[Pair, ...]]:
    """Compare models by other means; returns `pairs` of an `Alternative` and the ranks that each model may have.

    `worst` are the means if each missing score were the lowest, and the highest.
    """
    pairs = [pair if means.values[pair[0]] >= means.values[pair[1]] else pair[::-1] for pair in all_pairs(len(models))]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    own = np.eye(len(models))
    low, high = worst
    least = MeanDraws(
        low.values[first] - high.values[second],
        low.draws[:, first] - high.draws[:, second],
        np.minimum(low.n[first], high.n[second]),
        means.seed,
    )
    differences = contrast(means, own[:, first] - own[:, second])
    tested = mean_differences(
        differences, pairs, resampling.level, worst=worst_p_values(least.values, p_values(least)), scale=scale
    )
    better = {frozenset(lead): lead[0] for lead in judged.leads}
    rows = [
        {
            **{"first": models[pair.first], "second": models[pair.second]},
            "better_by_judge": better.get(frozenset((models[pair.first], models[pair.second])), ""),
            "verdict": verdict_of(pair),
            **{part: getattr(pair, part) for part in ("difference", "p", "p_holm", "p_worst")},
        }
        for pair in tested
    ]
    ranks = rank_intervals(len(models), [(pair.first, pair.second) for pair in tested if pair.significant])
    return pd.DataFrame(rows, columns=PAIRS), ranks


def lost_leads(pairs: pd.DataFrame, leads: Sequence[tuple[str, str]], models: Sequence[str], what: str) -> list[str]:
    """A sentence if some of the leads by the judge's scores are not significant by other means."""
    short, rows = short_names(models), {frozenset((row.first, row.second)): row for row in pairs.itertuples()}
    lost = []
    for better, worse in leads:
        row: Any = rows.get(frozenset((better, worse)))
        if row is None or (row.first == better and row.verdict == "significant"):
            continue
        kept = row.difference
        if row.first != better:
            kept = replace(kept, value=-kept.value, low=-kept.high, high=-kept.low)
        reverse = ", significantly reversed" if row.verdict == "significant" else ""
        lost.append(f"{short[better]} over {short[worse]}, {_SIGNED(kept)}{reverse}")
    verb = "does" if len(lost) == 1 else "do"
    text = f"{counted(len(lost), 'lead')} that the judge's scores call significant {verb} not survive {what}"
    return [f"{text}: {listed(lost, separator='; ')}."] if lost else []


# --- at equal length ---


def equal_length(
    scores: OrderedScores, answers: pd.DataFrame, judged: ComparedModels, resampling: Resampling
) -> Alternative:
    """Compare the ranked models at equal length over the common questions, or say why that cannot be done.

    Length is in characters, which logs have and every language defines. That a Chinese text has fewer than an English
    one of the same content changes nothing, because answers to the same question are compared.
    """
    table, ranked = scores.table, scores.ranked
    names, questions = table.models[:ranked], table.facts.index[scores.common]
    if ranked < 2:
        return _none("that takes two ranked models")
    scored = answers[answers[FINAL].notna() & answers["model"].isin(names) & answers["question"].isin(questions)]
    if unknown := int(scored["answer_length"].isna().sum()):
        return _none(f"the length of {counted(unknown, 'answer')} is not known")
    doublings = _doublings(scored).reindex(index=questions, columns=list(names)).to_numpy(dtype=np.float64)
    used = int((~np.isnan(doublings).any(axis=1)).sum())
    if used < FEWEST:
        return _none(f"that takes {FEWEST} questions without an empty answer, and there are {used}")
    how: dict[str, Any] = {"rounds": resampling.rounds, "seed": resampling.seed}
    finals = scores.comparable[:, :ranked]
    [found] = bootstrap_means(
        [length_column(finals, doublings)], len(finals), reweight=scores.common_weights.reweight, **how
    )
    control = control_length(found)
    if math.isnan(control.slope.values[0]):
        factor = " but for the same factor at every question" if control.by_model > 0 else ""
        return _none(f"the models' answers to a question are equally long{factor}")
    worst = (control.means, control.means)
    if table.incomplete[:, :ranked].any():  # then over all questions, lengths being as over the common ones
        all_questions = np.arange(len(table.finals))
        wanted = [MeanColumn(all_questions, table.filled(score)[:, :ranked]) for score in (LOWEST, HIGHEST)]
        wanted.append(length_column(finals, doublings, scores.common))
        *filled, found = bootstrap_means(wanted, len(table.finals), reweight=scores.weights.reweight, **how)
        lowest, highest = map(control_length(found).at_equal_length, filled)
        worst = (lowest, highest)
    pairs, ranks = compare(control.means, worst, names, judged, resampling)
    estimates = mean_estimates(control.means, resampling.level)
    lengths = np.exp2(control.lengths.values).tolist()
    rows = [
        (name, ALL, *rank, length, mean, estimate)
        for name, rank, length, mean, estimate in zip(
            names, ranks, lengths, judged.means[ALL][:ranked], estimates, strict=True
        )
    ]
    means = pd.DataFrame(rows, columns=["model", "column", "rank_from", "rank_to", "length", "mean", "equal_length"])
    [slope] = mean_estimates(control.slope, resampling.level)
    notes = [f"Doubling the length of an answer goes with {_SIGNED(slope)} points, question and model held fixed."]
    if control.by_model > _COLLINEAR:
        notes.append(
            f"{share(control.by_model)} of the variance of log length lies between models: length and model can hardly "
            "be separated, so that intervals at equal length are wide."
        )
    if empty := len(finals) - used:
        notes.append(
            f"An empty answer has the lowest score by rule, so that {counted(empty, 'question')} with one take no part "
            "in this figure; the answer counts in its model's mean as it is."
        )
    lost = lost_leads(pairs, [lead for lead in judged.leads if lead[0] == names[0]], table.models, "at equal length")
    facts = {"slope": slope, "by_model": control.by_model, "empty": empty, "lost_lead": lost[0] if lost else None}
    explained = (
        "At equal length: the mean that a model would have by this slope if its answers were as long as those of all "
        "models to the same question. One slope for all models cannot tell a judge that likes length from users whom "
        "more text serves: what longer answers earn by being better is taken away as well."
    )
    start = (*lost, *notes) if lost or slope.low > 0 or slope.high < 0 else ()
    return Alternative("equal_length", "At equal length", means, pairs, (*notes, explained), start, tuple(lost), facts)


def _none(reason: str) -> Alternative:
    notes = (f"Nothing is computed at equal length: {reason}.",)
    means, pairs = pd.DataFrame(columns=["model", "column"]), pd.DataFrame(columns=PAIRS)
    return Alternative("equal_length", "At equal length", means, pairs, notes, facts={"reason": reason})


def _doublings(scored: pd.DataFrame) -> pd.DataFrame:
    """Mean over epochs of the binary logarithm of the length, NaN where one is empty; by question and model."""
    with_text = ~scored["outcome"].isin(NO_RESPONSE) & (scored["answer_length"] > 0)
    cells = np.log2(scored["answer_length"].where(with_text)).groupby([scored["question"], scored["model"]])
    means: pd.Series[float] = cells.mean().where(cells.count() == cells.size())
    return means.unstack("model")
