"""How much the ranked models write: ratios of lengths, scores by length, a regression on length."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from urs_inspect._util import counted
from urs_inspect.judging._failures import NO_RESPONSE
from urs_inspect.logs._naming import short_names
from urs_inspect.reports.layout._figures import Figure, length_plot
from urs_inspect.reports.layout._tables import DASH, Format, Section, Table, listed, number, share
from urs_inspect.reports.numbers._scores import OrderedScores
from urs_inspect.rubrics import FINAL
from urs_inspect.stats import Estimate, bootstrap_means, mean_estimates
from urs_inspect.stats._adjusted_means import control_length, length_column
from urs_inspect.stats._bootstrap import Resampling

if TYPE_CHECKING:
    from urs_inspect.reports.numbers._leaderboard import Ranking

FEWEST = 10
"""Fewest questions over which a regression on length is computed."""
_COLLINEAR = 0.9
"""Share of the variance of log length between models above which a note says that intervals are
wide because of it.
"""
_TASTE = (
    "These scores cannot tell taste from substance: whether the judge likes length, or more text"
    " serves users."
)
_MEAN = number(2)
_SIGNED = number(2, sign=True)
_COUNT = number(0)


# --- how much each model writes ---


def length_ratios(scores: OrderedScores, answers: pd.DataFrame) -> pd.DataFrame:
    """How much each model writes beside the first one, over the common questions.

    Returns:
        By model: `length_ratio`, the median over questions of how many times as long its answer is
        as that of the first model (NaN if no length is known); `length_questions`, over how many;
        and `length_overlap`, in how many of them the one of the two that usually writes less wrote
        as much or more. Lengths are in characters; questions with an empty answer do not count.
    """
    doublings = _doublings(scores, answers)
    rows = {}
    for place, model in enumerate(scores.table.models):
        differences = doublings[:, place] - doublings[:, 0]
        differences = differences[~np.isnan(differences)]
        usual = float(np.median(differences)) if len(differences) else math.nan
        overlap = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
        rows[model] = 2**usual, overlap, len(differences)
    return pd.DataFrame.from_dict(
        rows,
        orient="index",
        columns=["length_ratio", "length_overlap", "length_questions"],
        dtype=object,
    )


def _doublings(scores: OrderedScores, answers: pd.DataFrame) -> Any:
    """Binary logarithm of the length of each model's answer to each common question, shape (Q, M).

    Of several epochs the mean; NaN where an answer is empty or its length is not known.
    """
    questions = scores.table.facts.index[scores.common]
    scored = answers[answers[FINAL].notna() & answers["question"].isin(questions)]
    with_text = ~scored["outcome"].isin(NO_RESPONSE) & (scored["answer_length"] > 0)
    doublings: pd.Series[float] = np.log2(scored["answer_length"].where(with_text))
    cells = doublings.groupby([scored["question"], scored["model"]])
    means: pd.Series[float] = cells.mean().where(cells.count() == cells.size())
    return (
        means.unstack("model")
        .reindex(index=questions, columns=list(scores.table.models))
        .to_numpy(dtype=np.float64)
    )


def length_sentence(ranking: "Ranking") -> str:
    """How many times as much the first model writes as each other one.

    Empty where nothing is compared.
    """
    models = ranking.models[ranking.models["rank_from"].notna()]
    if len(models) < 2:
        return ""
    first, *others = models.index
    compared: list[str] = []
    for other in others:
        facts: Any = models.loc[other]
        ratio, overlap, questions = facts[["length_ratio", "length_overlap", "length_questions"]]
        if questions:
            over = f"{overlap:,} of {questions:,}"
            if not compared:
                over = f"lengths overlap in {overlap:,} of {counted(questions, 'question')}"
            compared.append(
                f"{times_text(1 / ratio)} times as much as {ranking.short[other]} ({over})"
            )
    if not compared:
        return f"How much each model writes is not known. {_TASTE}"
    return f"{ranking.short[first]} writes {listed(compared)}. {_TASTE}"


def times_text(ratio: float) -> str:
    """How many times as much: `12`, `2.1`, `0.48`, or a dash if it is not known."""
    if math.isnan(ratio):
        return DASH
    if ratio >= 10:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}" if ratio >= 0.95 else f"{ratio:.2f}"


def length_section(ranking: "Ranking", place: int, axis: str) -> list[Section]:
    """Lengths of the models' answers beside the first one's, and their scores by length."""
    if ranking.lengths.empty:
        return []
    first = ranking.short[ranking.names[0]]
    headings = {
        "model": "Model",
        "median_length": "Median length",
        "length_ratio": f"Times as long as {first}",
        "length_overlap": "Questions in which lengths overlap",
        "length_questions": "of",
        "length_correlation": "Spearman's rho",
    }
    formats: dict[str, Format] = {
        "median_length": _COUNT,
        "length_ratio": times_text,
        "length_overlap": _COUNT,
        "length_questions": _COUNT,
        "length_correlation": _SIGNED,
    }
    shown = list(headings)
    if len(ranking.names) == 1:
        shown = ["model", "median_length", "length_correlation"]
    table = Table(
        ranking.models.reset_index(names="model"), formats, headings=headings, shown=shown
    )
    bins = ranking.lengths.assign(block=place)[["block", "model", "length", "score", "answers"]]
    notes = [
        (
            "Rho of length in characters and score over questions. Above zero may mean that the"
            " judge likes length, or that longer answers are better."
        ),
    ]
    if len(ranking.names) > 1:
        notes.append(
            f"Times as long: the median over questions of the ratio to the answer of {first}."
            " Lengths overlap in a question if the one of the two models that usually writes less"
            " wrote as much there, or more."
        )
    caption = (
        "Does a longer answer score higher? Dots are about a tenth of a model's answers each, from"
        " the shortest to the longest; faint lines are all models."
    )
    figure = Figure(
        f"r{place}-lengths",
        "Mean final score of each model by length of the answer",
        caption,
        lambda width: length_plot(bins.assign(model=bins["model"].map(ranking.short)), width, axis),
    )
    tables = [table, Table(bins, name="lengths", shown=())]
    return [Section("Length and score", notes, tables, 3, figures=[figure])]


# --- a regression on length, on request ---


@dataclass(frozen=True)
class LengthRegression:
    """Means of the ranked models by a regression of scores on log length, or why there is none.

    `means` has the columns model, length (how many times as long as the geometric mean of all
    models), mean (by the judge's scores) and equal_length.
    """

    means: pd.DataFrame
    notes: tuple[str, ...]
    facts: Mapping[str, Any]  # what the JSON file says beside the table

    def section(self, place: int) -> Section:
        """The table and how to read it."""
        short = short_names(list(self.means["model"]))
        data = self.means.assign(block=place)[["block", *self.means]]
        headings = {
            "model": "Model",
            "length": "Length (100% is the geometric mean)",
            "mean": "Judge's mean",
            "equal_length": "By the regression",
        }
        formats: dict[str, Format] = {
            "length": number(0, percent=True),
            "mean": _MEAN,
            "equal_length": _MEAN,
        }
        shown = Table(
            data.assign(model=data["model"].map(short)),
            formats,
            headings=headings,
            shown=list(headings),
        )
        written = Table(
            data, name="equal_length", main="equal_length", shown=(), estimates=("mean",)
        )
        tables = [] if data.empty else [shown, written]
        return Section(
            "Regression on length",
            (REGRESSION_WARNING, *self.notes),
            tables,
            warnings=(REGRESSION_WARNING,),
        )


REGRESSION_WARNING = (
    "A regression on length does not measure a judge's taste: what longer answers earn by being"
    " better is taken away as well, and even where length has no effect its intervals are too wide"
    " to confirm most leads. Do not conclude from it which model is better."
)


def length_regression(
    scores: OrderedScores, answers: pd.DataFrame, judged: Sequence[Estimate], resampling: Resampling
) -> LengthRegression:
    """Regress the scores of ranked models on log length over the common questions.

    `judged` are their means. Length is in characters, which logs have and every language defines.
    That a Chinese text has fewer than an English one of the same content changes nothing, because
    answers to the same question are compared.
    """
    table = scores.table
    ranked = scores.ranked
    if ranked < 2:
        return _none("that takes two ranked models")
    doublings = _doublings(scores, answers)[:, :ranked]
    used = int((~np.isnan(doublings).any(axis=1)).sum())
    if used < FEWEST:
        return _none(
            f"that takes {FEWEST} questions without an empty answer or an unknown length, and there"
            f" are {used}"
        )
    finals = scores.comparable[:, :ranked]
    [draws] = bootstrap_means(
        [length_column(finals, doublings)],
        len(finals),
        reweight=scores.common_weights.reweight,
        clusters=scores.common_clusters,
        rounds=resampling.rounds,
        seed=resampling.seed,
    )
    control = control_length(draws)
    if math.isnan(control.slope.values[0]):
        factor = " but for the same factor at every question" if control.by_model > 0 else ""
        return _none(f"the models' answers to a question are equally long{factor}")
    names = list(table.models[:ranked])
    means = pd.DataFrame(
        {
            "model": names,
            "length": np.exp2(control.lengths.values),
            "mean": judged[:ranked],
            "equal_length": mean_estimates(control.means, resampling.level),
        }
    )
    [slope] = mean_estimates(control.slope, resampling.level)
    notes = [
        f"Doubling the length of an answer goes with {_SIGNED(slope)} points, question and model"
        " held fixed. By the regression: the mean less this slope times how much longer the"
        " model's answers are than those of all models to the same question."
    ]
    if control.by_model > _COLLINEAR:
        notes.append(
            f"{share(control.by_model)} of the variance of log length lies between models: length"
            " and model can hardly be separated, so that intervals are wide."
        )
    if left_out := len(finals) - used:
        notes.append(
            f"{counted(left_out, 'question')} with an empty answer or an unknown length take no"
            " part in the slope."
        )
    return LengthRegression(
        means, tuple(notes), {"slope": slope, "by_model": control.by_model, "left_out": left_out}
    )


def _none(reason: str) -> LengthRegression:
    columns = ["model", "length", "mean", "equal_length"]
    return LengthRegression(
        pd.DataFrame(columns=columns), (f"Nothing is computed: {reason}.",), {"reason": reason}
    )
