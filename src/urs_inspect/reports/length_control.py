"""A ranking at equal length: means, ranks and significant differences less what goes with the length of answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.judging.failures import NO_RESPONSE
from urs_inspect.reports.scores import ALL, OrderedScores, Resampling
from urs_inspect.reports.tables import Format, Section, Table, number, p_value, share
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.stats import Estimate, MeanDifference, bootstrap_means, mean_estimates, rank_intervals
from urs_inspect.stats.bootstrap import Floats
from urs_inspect.stats.length_control import control_length, length_column
from urs_inspect.stats.means import MeanDraws
from urs_inspect.stats.paired import Pair, all_pairs, difference_column, mean_differences, worst_p_values

if TYPE_CHECKING:
    from urs_inspect.reports.leaderboard import Ranking

FEWEST = 10
"""Fewest questions over which anything is said at equal length."""
_COLLINEAR = 0.9
"""Share of the variance of log length between models above which a note says that intervals are wide because of it."""
_TITLE = "At equal length"
_MEAN, _SIGNED = number(2), number(2, sign=True)


@dataclass(frozen=True)
class EqualLength:
    """The ranked models at equal length, in the order of the ranking."""

    slope: Estimate  # points that go with a doubling of the length
    means: tuple[Estimate, ...]
    lengths: tuple[float, ...]  # how many times as long as the mean (geometric) of all models' answers to a question
    ranks: tuple[Pair, ...]  # ranks that each model may have
    differences: tuple[MeanDifference, ...]  # all pairs, the model with the higher mean at equal length first
    by_model: float  # share of the variance of log length within questions that lies between models
    empty: int  # questions with an empty answer

    def difference(self, pair: Pair) -> MeanDifference:
        """The comparison of two models, in either order."""
        return next(found for found in self.differences if {found.first, found.second} == set(pair))


def equal_length(scores: OrderedScores, answers: pd.DataFrame, resampling: Resampling) -> EqualLength | str:
    """Compare the ranked models at equal length over the common questions; or say why that cannot be done.

    Length is in characters, which logs have and every language defines. That a Chinese text has fewer than an English
    one of the same content changes nothing, because answers to the same question are compared.
    """
    if scores.ranked < 2:
        return "that takes two ranked models"
    doublings = _doublings(scores, answers)
    if isinstance(doublings, str):
        return doublings
    used = int((~np.isnan(doublings).any(axis=1)).sum())
    if used < FEWEST:
        return f"that takes {FEWEST} questions without an empty answer, and there are {used}"
    finals, pairs = scores.table.finals[scores.common, : scores.ranked], all_pairs(scores.ranked)
    found, drawn = bootstrap_means(
        [length_column(finals, doublings), difference_column(finals, pairs)],
        len(finals),
        reweight=scores.common_weights.reweight,
        rounds=resampling.rounds,
        seed=resampling.seed,
    )
    control = control_length(found)
    if math.isnan(control.slope.values[0]):
        factor = " but for the same factor at every question" if control.by_model > 0 else ""
        return f"the models' answers to a question are equally long{factor}"
    drawn = control.differences(drawn, pairs)
    sign = np.where(drawn.values < 0, -1.0, 1.0)
    pairs = [pair if kept > 0 else pair[::-1] for pair, kept in zip(pairs, sign, strict=True)]
    differences = mean_differences(
        MeanDraws(drawn.values * sign, drawn.draws * sign, drawn.n, drawn.seed),
        pairs,
        resampling.level,
        worst=_worst(scores, doublings, pairs, resampling),
    )
    [slope] = mean_estimates(control.slope, resampling.level)
    return EqualLength(
        slope=slope,
        means=mean_estimates(control.means, resampling.level),
        lengths=tuple(np.exp2(control.lengths.values).tolist()),
        ranks=rank_intervals(scores.ranked, [(pair.first, pair.second) for pair in differences if pair.significant]),
        differences=differences,
        by_model=control.by_model,
        empty=len(finals) - used,
    )


def _doublings(scores: OrderedScores, answers: pd.DataFrame) -> Floats | str:
    """Mean over epochs of the binary logarithm of the length, NaN where one is empty, shape (common, ranked)."""
    models, questions = scores.table.models[: scores.ranked], scores.table.facts.index[scores.common]
    scored = answers[answers[FINAL].notna() & answers["model"].isin(models) & answers["question"].isin(questions)]
    if unknown := int(scored["answer_length"].isna().sum()):
        return f"the length of {counted(unknown, 'answer')} is not known"
    with_text = ~scored["outcome"].isin(NO_RESPONSE) & (scored["answer_length"] > 0)
    cells = np.log2(scored["answer_length"].where(with_text)).groupby([scored["question"], scored["model"]])
    means: pd.Series[float] = cells.mean().where(cells.count() == cells.size())
    return means.unstack("model").reindex(index=questions, columns=list(models)).to_numpy(dtype=np.float64)


def _worst(scores: OrderedScores, doublings: Floats, pairs: Sequence[Pair], resampling: Resampling) -> Floats | None:
    """p-values in the worst case of the missing scores over all questions, lengths being as over the common ones."""
    table = scores.table
    if not table.unscored[:, : scores.ranked].any():
        return None
    found, drawn = bootstrap_means(
        [
            length_column(table.finals[scores.common, : scores.ranked], doublings, scores.common),
            difference_column(table.filled(LOWEST), pairs, table.filled(HIGHEST)),
        ],
        len(table.finals),
        reweight=scores.weights.reweight,
        rounds=resampling.rounds,
        seed=resampling.seed,
    )
    return worst_p_values(control_length(found).differences(drawn, pairs))


# --- in words and tables ---


def length_headline(ranking: "Ranking") -> list[str]:
    """What the start of a report says about length: a lead that is lost, and a slope that is significant."""
    control, lost = ranking.equal_length, lost_lead(ranking)
    if isinstance(control, str) or not (lost or control.slope.low > 0 or control.slope.high < 0):
        return []
    return [lost, *length_notes(ranking)]


def lost_lead(ranking: "Ranking") -> str:
    """A sentence if the best model is not significantly better at equal length than all that it beats; else empty."""
    control, names, short = ranking.equal_length, ranking.names, ranking.short
    if isinstance(control, str):
        return ""
    beaten = [names.index(pair.second) for pair in ranking.beside_best(ALL) if pair.significant]
    pairs = [(other, control.difference((0, other))) for other in beaten]
    lost = [(other, pair) for other, pair in pairs if not (pair.significant and pair.first == 0)]
    if not lost:
        return ""
    other, pair = lost[0]
    first, second = short[names[pair.first]], short[names[pair.second]]
    more = f", nor than {counted(len(lost) - 1, 'other')}" if len(lost) > 1 else ""
    return (
        f"At equal length, {short[names[0]]} is not significantly better than {short[names[other]]}{more}: "
        f"{first} less {second} is {_SIGNED(pair.difference)}{', significant' if pair.significant else ''}."
    )


def length_notes(ranking: "Ranking") -> list[str]:
    """What goes with length, a sentence each, the first one in points; empty where nothing is at equal length."""
    control = ranking.equal_length
    if isinstance(control, str):
        return []
    notes = [
        f"Doubling the length of an answer goes with {_SIGNED(control.slope)} points, question and model held fixed."
    ]
    if control.by_model > _COLLINEAR:
        notes.append(
            f"{share(control.by_model)} of the variance of log length lies between models: length and model can hardly "
            "be separated, so that intervals at equal length are wide."
        )
    if control.empty:
        notes.append(
            f"An empty answer has the lowest score by rule, so that {counted(control.empty, 'question')} with one take "
            "no part in this figure; the answer counts in its model's mean as it is."
        )
    return notes


def length_facts(ranking: "Ranking") -> dict[str, object]:
    """What the JSON file says beside the tables; `reason` where there is nothing at equal length."""
    control = ranking.equal_length
    if isinstance(control, str):
        return {"reason": control}
    kept = {name: getattr(control, name) for name in ("slope", "by_model", "empty")}
    return {**kept, "lost_lead": lost_lead(ranking) or None}


def length_section(ranking: "Ranking", place: int) -> Section:
    """The section of a page, with the tables `equal_length` and `equal_length_differences`, or why there are none."""
    control, names = ranking.equal_length, ranking.names
    if isinstance(control, str):
        return Section(_TITLE, [f"Nothing is computed at equal length: {control}."], level=3)
    plain = {frozenset((pair.first, pair.second)): pair.first for pair in ranking.comparisons[ALL] if pair.significant}
    models = [
        (place, name, *ranks, length, mean, equal)
        for name, ranks, length, mean, equal in zip(
            names, control.ranks, control.lengths, ranking.means[ALL], control.means, strict=False
        )
    ]
    differences = [
        (
            *(place, first, second, plain.get(frozenset((first, second)), ""), first if pair.significant else ""),
            *(pair.difference, pair.p, pair.p_holm, pair.p_worst),
        )
        for pair in control.differences
        for first, second in [(names[pair.first], names[pair.second])]
    ]
    notes = [
        *length_notes(ranking),
        "At equal length: the mean that a model would have by this slope if its answers were as long as those of all "
        "models to the same question. One slope for all models cannot tell a judge that likes length from users whom "
        "more text serves: what longer answers earn by being better is taken away as well.",
    ]
    tables = [
        _table("equal_length", models, ["block", "model", "rank_from", "rank_to", "length", "mean", "equal_length"]),
        _table(
            "equal_length_differences",
            differences,
            [
                "block",
                "first",
                "second",
                "better_by_means",
                "better_at_equal_length",
                "difference",
                "p",
                "p_holm",
                "p_worst",
            ],
        ),
    ]
    return Section(_TITLE, notes, tables, 3)


def _table(name: str, rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> Table:
    data = pd.DataFrame(rows, columns=list(columns), dtype=object)
    shown = [column for column in columns if column not in ("block", "p", "p_worst")]
    formats = {column: show for column, (_, show) in _COLUMNS.items() if column in columns}
    headings = {column: column.replace("_", " ").capitalize() for column in columns}
    headings |= {column: heading for column, (heading, _) in _COLUMNS.items()}
    return Table(data, formats, name, headings, shown, main="difference")


_COLUMNS: dict[str, tuple[str, Format]] = {
    "rank_from": ("Rank from", number(0)),
    "rank_to": ("to", number(0)),
    "length": ("Length (100% is the mean)", number(0, percent=True)),
    "mean": ("Mean", _MEAN),
    "equal_length": ("Mean at equal length", _MEAN),
    "difference": ("Difference at equal length", _SIGNED),
    "p_holm": ("p (Holm)", p_value),
}
