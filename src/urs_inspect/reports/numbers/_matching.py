"""People's ratings of answers, matched with the answers of logs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from urs_inspect._util import InputError, choices
from urs_inspect.reports._unused_ratings import Lost, UnusedRatings, unused_notes
from urs_inspect.reports.numbers._conditions import BlockAnswers
from urs_inspect.reports.numbers._human_data import HumanRating, HumanRatings
from urs_inspect.reports.numbers._scores import clusters_of
from urs_inspect.rubrics import FINAL


@dataclass(frozen=True)
class Matched:
    """Ratings matched with answers, and what is not there of ratings that match none.

    Columns of answers: model, question, group (reported intent), score (final score of the judge,
    mean over epochs unless the file names one; NaN without), ratings (rater -> rating on the scale
    of the file), weight, epoch (0 unless the file names one) and cluster (that of the question,
    such as its user, or the question itself).
    """

    answers: pd.DataFrame
    lost: Mapping[HumanRating, Lost]
    without_epoch: int  # ratings that are compared with a mean over epochs


def match_ratings(answers: pd.DataFrame, names: Mapping[str, str], given: HumanRatings) -> Matched:
    """Match ratings with the answers of a block; `names` are those of `model_names`.

    A file that names no models is an error if the block has several.
    """
    by_answer = _answers(answers, given)
    ratings: dict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    weights: dict[tuple[str, str, int], float] = {}
    lost: dict[HumanRating, Lost] = {}
    for rating in given.ratings:
        model = _model(rating, names, given)
        key = (model, rating.question, rating.epoch or 0)
        if key in by_answer.index:
            ratings[key][rating.rater] = rating.rating
            weights[key] = rating.weight
        else:
            lost[rating] = "answer" if model else "model"
    rated = by_answer.loc[list(ratings)].reset_index()
    by_rater: list[Any] = list(ratings.values())
    rated["ratings"] = by_rater
    rated["weight"] = list(weights.values())
    rated["cluster"] = rated["question"].map(clusters_of(answers))
    is_vague = (rated["epoch"] == 0) & (rated.pop("epochs") > 1)
    without_epoch = int(rated.loc[is_vague, "ratings"].map(len).sum())
    return Matched(rated, lost, without_epoch)


def _answers(answers: pd.DataFrame, given: HumanRatings) -> pd.DataFrame:
    """Group and score of each answer to a rated question, by model, question and epoch.

    Under the epoch 0 the mean over epochs, and their number.
    """
    questions = {rating.question for rating in given.ratings}
    rated = answers[answers["question"].isin(questions)]
    table = rated[["model", "question", "epoch", "group"]].assign(score=rated[FINAL], epochs=1)
    means = table.groupby(["model", "question"], sort=False, as_index=False).agg(
        group=("group", "last"), score=("score", "mean"), epochs=("epoch", "nunique")
    )
    both = pd.concat([table, means.assign(epoch=0)])
    return both.drop_duplicates(["model", "question", "epoch"], keep="last").set_index(
        ["model", "question", "epoch"]
    )


def _model(rating: HumanRating, names: Mapping[str, str], given: HumanRatings) -> str:
    """The model that a rating is about; empty if the block does not have it."""
    if rating.model:
        return names.get(rating.model, "")
    models = sorted(set(names.values()))
    if len(models) > 1:
        raise InputError(
            f"{given.path}: {rating.place}: no model; the logs hold answers of {choices(models)}:"
            " say whose answers were rated in a column 'model'"
        )
    return models[0]


def match_blocks(
    answers: pd.DataFrame, blocks: Sequence[BlockAnswers], human: HumanRatings
) -> list[Matched]:
    """Match ratings with the answers of each block; that none is about an answer is an error."""
    whole = [attempted(answers, block) for block in blocks]
    matched = [match_ratings(rows, model_names(rows), human) for rows in whole]
    refuse_unmatched(answers, matched, human)
    return matched


def attempted(answers: pd.DataFrame, block: BlockAnswers) -> pd.DataFrame:
    """Answers of the logs of a block, to questions that not all of its models attempted as well."""
    logs = set(block.table["log"])
    return answers[answers["log"].isin(logs)]


def model_names(answers: pd.DataFrame) -> dict[str, str]:
    """Name that people may use -> name in the table of answers.

    A bare name will do if only one model has it.
    """
    pairs = answers[["model", "base_model"]].drop_duplicates().astype(str)
    single = pairs[~pairs["base_model"].duplicated(keep=False)]
    names = dict(zip(single["base_model"], single["model"], strict=True))
    for model in pairs["model"]:
        names[model] = model
    return names


def refuse_unmatched(
    answers: pd.DataFrame, matched: Sequence[Matched], human: HumanRatings
) -> None:
    """Refuse ratings of which none is about an answer, with examples of both."""
    if any(len(block.answers) for block in matched):
        return
    notes = " ".join(unused(human, matched))
    models = choices(sorted(set(answers["model"])))
    questions = sorted(set(answers["question"]))
    raise InputError(
        f"{human.path}: none of {len(human.ratings)} ratings is about an answer in the logs. "
        f"{notes} The logs have answers of {models} to {len(questions)} questions such as "
        f"{choices(questions[:3])}"
    )


def unused(given: HumanRatings, matched: Iterable[Matched]) -> list[str]:
    """What of a file of ratings no block used, with counts, a sentence each."""
    return unused_notes(given.path, unused_ratings(given, matched))


def unused_ratings(given: HumanRatings, matched: Iterable[Matched]) -> UnusedRatings:
    """What of a file of ratings no block used."""
    blocks = [block.lost for block in matched]
    lost: dict[Lost, list[str]] = defaultdict(list)
    for rating in given.ratings:
        if all(rating in block for block in blocks):
            # A block that knows the model says more.
            what: Lost = "answer" if "answer" in {block[rating] for block in blocks} else "model"
            lost[what].append(f"{rating.answer} ({rating.place})")
    return replace(given.unused, lost=lost)
