"""How much the ranked models write: ratios of lengths, scores by length, a regression on length."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from urs_inspect.judging._failures import NO_RESPONSE
from urs_inspect.reports.numbers._human_data import HumanRatings, on_scale_of_judge
from urs_inspect.reports.numbers._matching import Matched
from urs_inspect.reports.numbers._scores import OrderedScores
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.stats import Estimate, bootstrap_means, mean_estimates
from urs_inspect.stats._adjusted_means import control_length, length_column
from urs_inspect.stats._bootstrap import Resampling, error_of, fewest_clusters, student_estimate
from urs_inspect.stats._paired import ClusteredMeans, clustered_means
from urs_inspect.stats._slopes import slope_through_origin

FEWEST = 10
"""Fewest questions over which a regression on length is computed."""
_LEAST_SPREAD = 0.1
"""Doublings that lengths must differ by within a model, as a deviation, to price length by them."""
_NO_MEANS = pd.DataFrame(columns=["model", "length", "mean", "equal_length"])


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
    longer = pd.DataFrame(doublings - doublings[:, [0]], columns=list(scores.table.models))
    not_longer = (longer <= 0).sum()
    not_shorter = (longer >= 0).sum()
    columns = {
        "length_ratio": 2 ** longer.median(),
        "length_overlap": np.minimum(not_longer, not_shorter),
        "length_questions": longer.count(),
    }
    return pd.DataFrame(columns, dtype=object)


def _doublings(scores: OrderedScores, answers: pd.DataFrame) -> Any:
    """Binary logarithm of the length of each model's answer to each common question, shape (Q, M).

    Of several epochs the mean; NaN where an answer is empty or its length is not known.
    """
    questions = scores.table.facts.index[scores.common]
    is_common = answers["question"].isin(questions)
    scored = answers[answers[FINAL].notna() & is_common]
    is_response = ~scored["outcome"].isin(NO_RESPONSE)
    with_text = is_response & (scored["answer_length"] > 0)
    doublings: pd.Series[float] = np.log2(scored["answer_length"].where(with_text))
    cells = doublings.groupby([scored["question"], scored["model"]])
    every_epoch_known = cells.count() == cells.size()
    means: pd.Series[float] = cells.mean().where(every_epoch_known)
    table = means.unstack("model").reindex(index=questions, columns=list(scores.table.models))
    return table.to_numpy(dtype=np.float64)


# --- leads and what a judge pays for length ---


class LengthLead(NamedTuple):
    """A lead of the first model, and how far length may explain it.

    Attributes:
        second: The model that it is ahead of.
        lead: The difference of the means.
        doublings: How many times the first model doubles the length of the second's answer, the
            mean over questions; negative if it writes less.
        tipping: Points for each doubling, whatever is written, at which the lead would vanish; NaN
            if the first model does not write more, infinity if the scale has not so many.
        without: The lead less what the judge pays for the difference of lengths; None where that
            was not measured.
        verdict: `keeps`: the lead is above 0 without it as well. `lost`: it is not, and the judge
            pays for length. `uncertain`: neither. Empty where that was not measured.
    """

    second: str
    lead: float
    doublings: float
    tipping: float
    without: Estimate | None = None
    verdict: Literal["keeps", "lost", "uncertain", ""] = ""


def length_leads(
    scores: OrderedScores, answers: pd.DataFrame, level: float, slope: Estimate | None
) -> tuple[LengthLead, ...]:
    """Leads of the first model over each other ranked one, over questions with known lengths.

    Args:
        scores: The scores, in the order of the models.
        answers: The answers, with their lengths.
        level: Confidence level.
        slope: What this judge pays for each doubling of the length; None if not measured.
    """
    finals = scores.comparable
    doublings = _doublings(scores, answers)
    leads = []
    for place in range(1, scores.ranked):
        longer = doublings[:, [0]] - doublings[:, [place]]
        ahead = finals[:, [0]] - finals[:, [place]]
        points = np.where(np.isnan(longer), np.nan, ahead)
        if np.isnan(longer).all():
            continue
        lead = float(np.nanmean(points))
        gap = float(np.nanmean(longer))
        found = LengthLead(scores.table.models[place], lead, gap, _tipping(lead, gap))
        if slope is not None and not math.isnan(slope.low):
            rest = clustered_means(points - slope.value * longer, scores.common_clusters)
            found = _without_length(found, rest, slope, level)
        leads.append(found)
    return tuple(leads)


def _tipping(lead: float, doublings: float) -> float:
    """Points for each doubling at which a lead would vanish, as in `LengthLead`."""
    if lead <= 0 or doublings <= 0:
        return math.nan
    points = lead / doublings
    if points <= HIGHEST - LOWEST:
        return points
    return math.inf


def _without_length(
    lead: LengthLead, rest: ClusteredMeans, slope: Estimate, level: float
) -> LengthLead:
    """A lead with what is left of it without length; the slope's uncertainty is added."""
    [value] = rest.values.tolist()
    [clusters] = rest.clusters.tolist()
    if clusters < fewest_clusters(level):
        return lead
    error = math.hypot(rest.errors[0], lead.doublings * error_of(slope))
    fewest = min(clusters, slope.clusters)
    without = student_estimate(value, error, int(rest.n[0]), fewest, level)
    most = float(HIGHEST - LOWEST)
    low = max(-most, without.low)
    without = replace(without, low=low, high=min(most, without.high))
    verdict: Literal["keeps", "lost", "uncertain"] = "uncertain"
    if low > 0:
        verdict = "keeps"
    elif slope.low > 0 and lead.doublings > 0:
        verdict = "lost"
    return lead._replace(without=without, verdict=verdict)


def people_slope(answers: pd.DataFrame, human: HumanRatings, matched: Matched) -> Estimate | None:
    """What each doubling of the length adds to the judge's score beyond people's ratings.

    The slope, within models, of (score - people's mean rating on the judge's scale) on log length,
    over answers that people rated; None over fewer than `FEWEST` of them, or if their lengths
    hardly differ.
    """
    texts = answers[answers["answer_length"] > 0]
    answer = ["model", "question"]
    doublings = texts.assign(doublings=np.log2(texts["answer_length"]))
    means = doublings.groupby(answer)["doublings"].mean()
    rated = matched.answers.join(means, on=answer)
    people = np.array([np.mean(list(ratings.values())) for ratings in rated["ratings"]])
    rated["beyond"] = rated["score"] - on_scale_of_judge(people, human.scale)
    rated = rated.dropna(subset=["doublings", "beyond"])
    both = rated[["doublings", "beyond"]].astype(float)
    of_model = both.groupby(rated["model"]).transform("mean")
    within = both - of_model
    if len(within) < FEWEST or within["doublings"].std() < _LEAST_SPREAD:
        return None
    return slope_through_origin(within["doublings"], within["beyond"], list(rated["cluster"]))


# --- a regression on length, on request ---


@dataclass(frozen=True)
class LengthRegression:
    """Means of the ranked models by a regression of scores on log length.

    `means` has the columns model, length (how many times as long as the geometric mean of all
    models; an answer of unknown length counts as 1), mean (by the judge's scores) and equal_length;
    no rows where there is no regression.
    """

    means: pd.DataFrame
    questions: int  # of which the length of every ranked model's answer is known
    left_out: int  # the other questions
    by_model: float = 0.0  # share of the variance of log length that lies between models
    slope: Estimate | None = None  # points for a doubling of length; None where there is none


def length_regression(
    scores: OrderedScores, answers: pd.DataFrame, judged: Sequence[Estimate], resampling: Resampling
) -> LengthRegression:
    """Regress the scores of ranked models on log length over the common questions.

    `judged` are their means. Length is in characters, which logs have and every language defines.
    That a Chinese text has fewer than an English one of the same content changes nothing, because
    answers to the same question are compared.
    """
    ranked = scores.ranked
    finals = scores.comparable[:, :ranked]
    doublings = _doublings(scores, answers)[:, :ranked]
    is_known = ~np.isnan(doublings).any(axis=1)
    used = int(is_known.sum())
    nothing = LengthRegression(_NO_MEANS, used, len(finals) - used)
    if used < FEWEST:
        return nothing
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
        return nothing
    means = pd.DataFrame(
        {
            "model": scores.table.models[:ranked],
            "length": np.exp2(control.lengths.values),
            "mean": judged[:ranked],
            "equal_length": mean_estimates(control.means, resampling.level),
        }
    )
    [slope] = mean_estimates(control.slope, resampling.level)
    return replace(nothing, means=means, by_model=control.by_model, slope=slope)
