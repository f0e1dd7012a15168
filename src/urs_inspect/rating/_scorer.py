"""`human_rating`: what people gave an answer."""

import math
from collections import defaultdict
from statistics import fmean

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect._arguments import Paths, Text, as_list, checked
from urs_inspect._util import InputError, choices
from urs_inspect.annotation._ratings import Rating, read_ratings, text_digest
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import number_of

_WEIGHT = "weight"


@metric
def rated_mean() -> Metric:
    """Mean final score of all answers that could be rated.

    It is estimated from those that were rated, by their weights.
    """

    def compute(scores: list[SampleScore]) -> float:
        weights = [number_of(score, _WEIGHT) for score in scores]
        finals = [number_of(score, FINAL) for score in scores]
        if scores:
            return float(np.average(finals, weights=weights))
        return math.nan

    return compute


@scorer(metrics=[rated_mean()])
@checked
def human_rating(ratings: Paths, model: Text | None = None) -> Scorer:
    """Give the answers of a finished log of `urs` people's ratings.

    `inspect score LOG --scorer ...`.

    The value has `final` and the criteria, each the mean over people (1 to 10), and `weight`: how
    many answers this one stands for. A rating belongs to an answer if question, epoch, text and
    model are the same; the model's name may have its settings behind it. Calls no model.

    Args:
        ratings: Files of ratings, and directories of them, as `urs-inspect annotate` writes
            them.
        model: Whose answers the log has; by default the model of the log.

    Returns:
        The scorer; answers without a rating have no score.

    Raises:
        InputError: If there is no file, a file cannot be read, or there is no rating.
    """
    places = as_list(ratings)
    reading = read_ratings(places)
    given: dict[tuple[str, int, str], list[Rating]] = defaultdict(list)
    for rating in reading.ratings:
        given[rating.question, rating.epoch, rating.answer].append(rating)
    if not given:
        raise InputError(f"ratings: no rating in: {choices(places)}")

    async def score(state: TaskState, target: Target) -> Score | None:
        name = model or str(state.model)
        text = text_digest(state.output.completion)
        of_answer = (str(state.sample_id), state.epoch, text)
        rated = [
            rating
            for rating in given.get(of_answer, ())
            if rating.model == name or rating.model.startswith(f"{name} (")
        ]
        if not rated:
            return None
        by_rater = {}
        for rating in rated:
            by_rater[rating.annotator] = {FINAL: rating.final, **rating.criteria}
        values: dict[str, list[float]] = defaultdict(list)
        for scores in by_rater.values():
            for key, value in scores.items():
                values[key].append(value)
        means = {key: fmean(scores) for key, scores in values.items()}
        finals = [f"{rater}: {scores[FINAL]}" for rater, scores in by_rater.items()]
        return Score(
            value={**means, _WEIGHT: reading.weights[rated[0].answer_id]},
            explanation="; ".join(finals),
            metadata={"raters": by_rater},
        )

    return score
