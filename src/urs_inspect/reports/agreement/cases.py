"""The judge's scores and people's ratings, answer by answer."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from urs_inspect.errors import InputError, choices
from urs_inspect.rating import clustered_mean, correlate
from urs_inspect.rating.interval_agreement import clustered_interval_alpha
from urs_inspect.reports.agreement.rating_files import HumanRating, HumanRatings
from urs_inspect.reports.agreement.report import CaseAgreement, CaseLevel, PeopleAgreement
from urs_inspect.reports.agreement.resampling import CORRELATIONS, Resampling, reported
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.texts import counted

_SHOWN = 3
_OTHER_MODEL = "another model"
_NO_ANSWER = "a question or epoch without an answer"
_FEWEST = 2
"""Answers from which something can be said of agreement; a correlation needs one more."""

Answer = tuple[str, str, int | None]
"""Model, question, and epoch where the file of ratings names it."""


@dataclass(frozen=True)
class RatedAnswer:
    """An answer that people rated.

    Attributes:
        model: Who gave it.
        question: To which question.
        group: Reported intent of the question.
        score: The judge's final score, mean over epochs unless the file names one; NaN if it has none.
        ratings: People's ratings on their own scale, by person.
    """

    model: str
    question: str
    group: str
    score: float
    ratings: Mapping[str, float]


@dataclass(frozen=True)
class Matched:
    """Ratings laid beside answers.

    Attributes:
        answers: The rated answers.
        lost: Ratings that are about none of the answers -> what they are about instead, in words.
        notes: How ratings were laid beside answers, a sentence each.
    """

    answers: tuple[RatedAnswer, ...]
    lost: Mapping[HumanRating, str]
    notes: tuple[str, ...]


def match_ratings(answers: pd.DataFrame, names: Mapping[str, str], given: HumanRatings) -> Matched:
    """Find the answers that people rated.

    Args:
        answers: Rows of the table of answers of one block.
        names: As from `model_names`.
        given: The ratings.

    Returns:
        The answers, and the ratings of questions or models that the block has no answer of.

    Raises:
        InputError: If the file names no models and the block has several.
    """
    by_answer = _answers(answers, given)
    ratings: dict[Answer, dict[str, float]] = defaultdict(dict)
    lost: dict[HumanRating, str] = {}
    for one in given.ratings:
        model = _model(one, names, given)
        key = (model, one.question, one.epoch)
        if not model:
            lost[one] = _OTHER_MODEL
        elif key in by_answer:
            ratings[key][one.rater] = one.rating
        else:
            lost[one] = _NO_ANSWER
    matched = tuple(
        RatedAnswer(model, question, *by_answer[model, question, epoch], given)
        for (model, question, epoch), given in ratings.items()
    )
    notes = []
    answered = Counter((model, question) for model, question, epoch in by_answer if epoch is not None)
    vague = [len(one) for (model, name, epoch), one in ratings.items() if epoch is None and answered[model, name] > 1]
    if vague:
        notes.append(
            f"{counted(sum(vague), 'rating')} of {given.path} without an epoch, about questions that were answered "
            "several times: held against the mean score over epochs."
        )
    return Matched(matched, lost, tuple(notes))


def left_out(given: HumanRatings, matched: Iterable[Matched]) -> list[str]:
    """What of a file of ratings no block used, with counts, a sentence each.

    Args:
        given: The ratings.
        matched: The same laid beside the answers of each block.
    """
    blocks = [one.lost for one in matched]
    lost: dict[str, list[HumanRating]] = defaultdict(list)
    for one in given.ratings:
        if all(one in block for block in blocks):
            # A block that knows the model says more.
            whys = {block[one] for block in blocks}
            lost[_NO_ANSWER if _NO_ANSWER in whys else _OTHER_MODEL].append(one)
    notes = [_lost(what, several, given) for what, several in lost.items()]
    if given.repeated:
        notes.append(f"{counted(given.repeated, 'row')} of {given.path} repeat another one, left out.")
    return notes


def case_level(matched: Matched, given: HumanRatings, resampling: Resampling) -> CaseLevel | str:
    """Hold the judge's scores against the mean of people's ratings.

    Args:
        matched: Ratings laid beside the answers of a block.
        given: The file that they are from.
        resampling: How intervals come about.

    Returns:
        The agreement; a sentence that says why there is none.
    """
    scored = [one for one in matched.answers if not math.isnan(one.score)]
    notes = list(matched.notes)
    if unscored := len(matched.answers) - len(scored):
        notes.append(f"{counted(unscored, 'rated answer')} without a score of the judge, left out.")
    if len(scored) < _FEWEST:
        why = " ".join(notes)
        were = "was" if len(scored) == 1 else "were"
        return f"No agreement on single answers: {len(scored)} {were} both rated and scored. {why}".strip()
    groups = list(dict.fromkeys(sorted(one.group for one in scored)))
    models = list(dict.fromkeys(sorted(one.model for one in scored)))

    def agreement(chosen: Sequence[RatedAnswer]) -> CaseAgreement:
        return _agreement(chosen, given, resampling)

    return CaseLevel(
        all=agreement(scored),
        by_group={name: agreement([one for one in scored if one.group == name]) for name in groups},
        by_model={name: agreement([one for one in scored if one.model == name]) for name in models},
        people=_people(matched.answers, resampling),
        scale=given.scale,
        notes=tuple(notes),
    )


def _answers(answers: pd.DataFrame, given: HumanRatings) -> dict[Answer, tuple[str, float]]:
    """Reported intent and score of each answer to a rated question; under no epoch the mean over epochs."""
    rated = answers[answers["question"].isin({one.question for one in given.ratings})]
    found: dict[Answer, tuple[str, float]] = {}
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    columns = rated[["model", "question", "epoch", "group", FINAL]]
    for model, question, epoch, group, score in columns.itertuples(index=False):
        found[model, question, int(epoch)] = found[model, question, None] = group, float(score)
        scores[model, question].append(float(score))
    for (model, question), several in scores.items():
        known = [score for score in several if not math.isnan(score)]
        mean = math.fsum(known) / len(known) if known else math.nan
        found[model, question, None] = found[model, question, None][0], mean
    return found


def _model(one: HumanRating, names: Mapping[str, str], given: HumanRatings) -> str:
    """The model that a rating is about; empty if the block does not have it."""
    if one.model:
        return names.get(one.model, "")
    models = sorted(set(names.values()))
    if len(models) > 1:
        raise InputError(
            f"{given.path}: {one.place}: no model; the logs hold answers of {choices(models)}: say whose answers were "
            "rated in a column 'model'"
        )
    return models[0]


def _lost(what: str, several: Sequence[HumanRating], given: HumanRatings) -> str:
    first = "; ".join(f"{one.answer} ({one.place})" for one in several[:_SHOWN])
    more = f" and {len(several) - _SHOWN} more" if len(several) > _SHOWN else ""
    return f"{counted(len(several), 'rating')} of {given.path} about {what}, left out: {first}{more}."


def _agreement(answers: Sequence[RatedAnswer], given: HumanRatings, resampling: Resampling) -> CaseAgreement:
    low, high = given.scale
    scores = np.array([one.score for one in answers])
    means = np.array([math.fsum(one.ratings.values()) / len(one.ratings) for one in answers])
    rescaled = LOWEST + (means - low) * (HIGHEST - LOWEST) / (high - low)
    questions = [one.question for one in answers]
    found = correlate(means, scores, questions, **resampling.options)
    pearson, spearman, kendall = (
        # Two points always lie on a line.
        reported(one if len(answers) > _FEWEST else replace(one, value=math.nan), CORRELATIONS)
        for one in (found.pearson, found.spearman, found.kendall)
    )
    alpha = clustered_interval_alpha(np.stack([rescaled, scores]), questions, **resampling.options)
    difference = clustered_mean(scores - rescaled, questions, **resampling.options)
    return CaseAgreement(
        correlations=replace(found, pearson=pearson, spearman=spearman, kendall=kendall),
        alpha=reported(alpha, CORRELATIONS),
        difference=reported(difference, (LOWEST - HIGHEST, HIGHEST - LOWEST)),
        answers=len(answers),
        questions=len(set(questions)),
    )


def _people(answers: Sequence[RatedAnswer], resampling: Resampling) -> PeopleAgreement | None:
    raters = sorted({rater for one in answers for rater in one.ratings if rater})
    if not raters:
        return None
    table = np.array([[one.ratings.get(rater, math.nan) for one in answers] for rater in raters])
    alpha = clustered_interval_alpha(table, [one.question for one in answers], **resampling.options)
    given = (~np.isnan(table)).sum(axis=0)
    return PeopleAgreement(reported(alpha, CORRELATIONS), len(raters), int(given.sum()), int((given > 1).sum()))
