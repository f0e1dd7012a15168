"""Agreement of a judge with people: over answers, intents and models (URS paper, section 4.5)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._conditions import (
    BlockAnswers,
    Conditions,
    Reason,
    Unlike,
    blocks_of,
)
from urs_inspect.reports.numbers._human_data import (
    HumanRating,
    HumanRatings,
    Satisfaction,
    Scale,
    Votes,
    on_scale_of_judge,
)
from urs_inspect.reports.numbers._scores import ALL, ScoreTable, clusters_of, score_table
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.stats import (
    Correlations,
    Estimate,
    MeanDraws,
    Resampling,
    clustered_mean,
    correlate,
    mean_estimates,
)
from urs_inspect.stats._agreement import clustered_interval_alpha
from urs_inspect.stats._bootstrap import Flags, Floats, Integers, fewest_clusters
from urs_inspect.stats._correlation import (
    FEWEST_POINTS,
    MeanCorrelation,
    correlate_means,
    derived_seed,
    table_means,
)
from urs_inspect.stats._means import MeanColumn, bootstrap_means

CORRELATIONS = (-1.0, 1.0)
"""Lowest and highest correlation."""

_SHOWN = 3
_OTHER_MODEL = "another model"
_NO_ANSWER = "a question or epoch without an answer"
_FEWEST = 2  # answers that an agreement needs; a correlation needs one more
_QUESTIONS = 0
_MODELS_QUESTIONS = 2  # name the resamplings of questions among those of a seed; people have 1

Answer = tuple[str, str, int | None]
"""Model, question, and epoch where the file of ratings names it."""
Counted = Literal["questions", "people", "clusters", "instructions"]
Behind = Mapping[Counted, Mapping[str, int]]
"""What is counted -> intent or model -> how many are behind its mean; instructions for `ALL`."""
Point = Mapping[str, Any]


class Clustered(NamedTuple):
    """Questions, and the clusters that they come from, such as their users; 0 if none is named."""

    questions: int
    clusters: int


@dataclass(frozen=True)
class AboutIntents:
    """What does not count in an `IntentLevel`, and what its intervals are over."""

    without_satisfaction: Sequence[str]  # intents
    without_score: Sequence[str]  # intents
    partial: Sequence[str]  # models without a score on some intent
    clustered: Clustered
    means_of_several: str  # file whose satisfaction is in part that of several people; or empty


@dataclass(frozen=True)
class AboutModels:
    """What does not count in a `ModelLevel`, and what its intervals are over."""

    without_score: Sequence[str]  # models
    without_votes: Sequence[str]  # models
    clustered: Clustered
    apart: str  # which models cannot be compared by the votes; or empty


@dataclass(frozen=True)
class AboutCases:
    """What of the ratings does not count in a `CaseLevel`, and how they count."""

    file: str
    without_epoch: int  # ratings, as in `Matched`
    weighted: bool  # whether answers were drawn with unequal chances
    without_score: int  # rated answers


@dataclass(frozen=True)
class NoIntentLevel:
    """Why there is none: few intents have both, or no model has a score on each of these."""

    both: int  # intents with scores and satisfaction
    file: str  # of satisfaction


@dataclass(frozen=True)
class NoModelLevel:
    """Why there is none: few models have both."""

    both: int  # models with scores and votes
    with_votes: Sequence[str]
    with_score: Sequence[str]


@dataclass(frozen=True)
class NoCaseLevel:
    """Why there is none: few answers have both."""

    both: int  # answers with scores and ratings
    about: AboutCases


@dataclass(frozen=True)
class IntentLevel:
    """Mean score against mean satisfaction by intent, as in Figure 5 of the URS paper.

    Intents with most satisfaction come first.
    A point is a group (the reported intent), score (mean over questions, then models), satisfaction
    (without bounds where it counts as exact), questions (with a score) and people (None if the file
    does not name it).
    """

    points: tuple[Point, ...]
    # questions are resampled within intents, people where the file has single ones
    correlation: MeanCorrelation
    by_model: dict[str, MeanCorrelation]
    people_resampled: bool  # else satisfaction counts as exact
    too_few: Mapping[Counted, Sequence[str]]  # as of `_too_few`; empty if there is an interval
    scale: Scale
    about: AboutIntents


@dataclass(frozen=True)
class ModelLevel:
    """Mean score against the rating by people's votes, by model, as in Figure 6 of the URS paper.

    The best rated model comes first.
    A point is a model, score (mean over questions) and rating (Bradley-Terry).
    """

    points: tuple[Point, ...]
    # instructions of votes and questions of scores are resampled independently
    correlation: MeanCorrelation
    comparisons: int
    instructions: int
    ties: int
    questions: int
    too_few: Mapping[Counted, Sequence[str]]  # as of `_too_few`; empty if there is an interval
    about: AboutModels


@dataclass(frozen=True)
class CaseAgreement:
    """The judge's final scores against people's ratings, answer by answer.

    Intervals are clustered by question, or by what the logs name as clusters of questions, such as
    users.
    """

    correlations: Correlations
    # Krippendorff's alpha (interval) of judge and mean rating, both on the judge's scale
    alpha: Estimate
    difference: Estimate  # mean of score minus mean rating, on the judge's scale
    answers: int
    questions: int
    clusters: int


@dataclass(frozen=True)
class PeopleAgreement:
    """How far people agree with each other.

    Krippendorff's alpha (interval) is clustered as in `CaseAgreement`.
    """

    alpha: Estimate
    raters: int
    ratings: int
    answers: int  # rated by several people


@dataclass(frozen=True)
class CaseLevel:
    """Agreement on single answers, over all and by reported intent and model."""

    all: CaseAgreement
    by_group: dict[str, CaseAgreement]
    by_model: dict[str, CaseAgreement]
    people: PeopleAgreement | None  # None if the file does not name raters
    scale: Scale
    about: AboutCases


@dataclass(frozen=True)
class AgreementBlock:
    """Agreement with one judge under one set of conditions."""

    conditions: Conditions
    apart_because: tuple[Reason, ...]  # why it is not compared with the first block
    models: tuple[str, ...]
    simulated: bool
    intents: IntentLevel | None
    ratings: ModelLevel | None
    cases: CaseLevel | None
    unlike: Unlike  # of intents and models; single answers are over questions of their own
    lacking: tuple[NoIntentLevel | NoModelLevel | NoCaseLevel, ...]  # levels that were asked for


@dataclass(frozen=True)
class Matched:
    """Ratings matched with answers, and what ratings that match none are about, in words.

    Columns of answers: model, question, group (reported intent), score (final score of the judge,
    mean over epochs unless the file names one; NaN without), ratings (rater -> rating on the scale
    of the file), weight, epoch (0 unless the file names one) and cluster (that of the question,
    such as its user, or the question itself).
    """

    answers: pd.DataFrame
    lost: Mapping[HumanRating, str]
    without_epoch: int  # ratings that are compared with a mean over epochs


def match_ratings(answers: pd.DataFrame, names: Mapping[str, str], given: HumanRatings) -> Matched:
    """Match ratings with the answers of a block; `names` are those of `model_names`.

    A file that names no models is an error if the block has several.
    """
    by_answer = _answers(answers, given)
    ratings: dict[Answer, dict[str, float]] = defaultdict(dict)
    weights: dict[Answer, float] = {}
    lost: dict[HumanRating, str] = {}
    for rating in given.ratings:
        model = _model(rating, names, given)
        key = (model, rating.question, rating.epoch)
        if key in by_answer:
            ratings[key][rating.rater] = rating.rating
            weights[key] = rating.weight
        elif model:
            lost[rating] = _NO_ANSWER
        else:
            lost[rating] = _OTHER_MODEL
    rows = _rated_answers(answers, by_answer, ratings)
    rows["weight"] = [weights[answer] for answer in ratings]
    return Matched(rows, lost, _several_epochs(by_answer, ratings))


def _rated_answers(
    answers: pd.DataFrame,
    by_answer: Mapping[Answer, tuple[str, float]],
    ratings: Mapping[Answer, dict[str, float]],
) -> pd.DataFrame:
    """The answers that were rated, with the columns of `Matched` but their weights."""
    clusters = clusters_of(answers)
    rows = []
    for answer, by_rater in ratings.items():
        model, question, epoch = answer
        group, score = by_answer[answer]
        rows.append((model, question, group, score, by_rater, epoch or 0, clusters[question]))
    columns = ["model", "question", "group", "score", "ratings", "epoch", "cluster"]
    return pd.DataFrame(rows, columns=columns)


def _several_epochs(
    by_answer: Iterable[Answer], ratings: Mapping[Answer, Mapping[str, float]]
) -> int:
    """Number of ratings that could be about any of several answers to a question."""
    answered: Counter[tuple[str, str]] = Counter()
    for model, question, epoch in by_answer:
        if epoch is not None:
            answered[model, question] += 1
    vague = 0
    for (model, question, epoch), by_rater in ratings.items():
        if epoch is None and answered[model, question] > 1:
            vague += len(by_rater)
    return vague


def unused(given: HumanRatings, matched: Iterable[Matched]) -> list[str]:
    """What of a file of ratings no block used, with counts, a sentence each."""
    blocks = [block.lost for block in matched]
    lost: dict[str, list[HumanRating]] = defaultdict(list)
    for rating in given.ratings:
        if all(rating in block for block in blocks):
            # A block that knows the model says more.
            reasons = {block[rating] for block in blocks}
            reason = _NO_ANSWER if _NO_ANSWER in reasons else _OTHER_MODEL
            lost[reason].append(rating)
    notes = []
    for what, ratings in lost.items():
        first = "; ".join(f"{rating.answer} ({rating.place})" for rating in ratings[:_SHOWN])
        more = ""
        if len(ratings) > _SHOWN:
            more = f" and {len(ratings) - _SHOWN} more"
        notes.append(
            f"{counted(len(ratings), 'rating')} of {given.path} about {what}, skipped:"
            f" {first}{more}."
        )
    if given.repeated:
        notes.append(f"{counted(given.repeated, 'repeated row')} of {given.path} skipped.")
    return [*notes, *given.notes]


def match_blocks(
    answers: pd.DataFrame, blocks: Sequence[BlockAnswers], human: HumanRatings
) -> list[Matched]:
    """Match ratings with the answers of each block; that none is about an answer is an error."""
    whole = [_attempted(answers, block) for block in blocks]
    matched = [match_ratings(rows, model_names(rows), human) for rows in whole]
    refuse_unmatched(answers, matched, human)
    return matched


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


def _attempted(answers: pd.DataFrame, block: BlockAnswers) -> pd.DataFrame:
    """Answers of the logs of a block, to questions that not all of its models attempted as well."""
    logs = set(block.table["log"])
    return answers[answers["log"].isin(logs)]


def case_level(
    matched: Matched, given: HumanRatings, resampling: Resampling
) -> CaseLevel | NoCaseLevel:
    """Compare the judge's scores with the mean of people's ratings."""
    scored = matched.answers.dropna(subset="score")
    about = AboutCases(
        file=str(given.path),
        without_epoch=matched.without_epoch,
        weighted=given.weighted,
        without_score=len(matched.answers) - len(scored),
    )
    if len(scored) < _FEWEST:
        return NoCaseLevel(len(scored), about)
    return CaseLevel(
        _agreement(scored, given, resampling),
        _agreements(scored, "group", given, resampling),
        _agreements(scored, "model", given, resampling),
        _people(matched.answers, resampling),
        given.scale,
        about,
    )


def _answers(answers: pd.DataFrame, given: HumanRatings) -> dict[Answer, tuple[str, float]]:
    """Reported intent and score of each answer to a rated question.

    Under no epoch the mean over epochs.
    """
    questions = {rating.question for rating in given.ratings}
    rated = answers[answers["question"].isin(questions)]
    by_answer: dict[Answer, tuple[str, float]] = {}
    groups: dict[tuple[str, str], str] = {}
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    columns = rated[["model", "question", "epoch", "group", FINAL]]
    for model, question, epoch, group, score in columns.itertuples(index=False):
        by_answer[model, question, int(epoch)] = (group, float(score))
        groups[model, question] = group
        scores[model, question].append(float(score))
    for (model, question), several in scores.items():
        known = [score for score in several if not math.isnan(score)]
        mean = math.nan
        if known:
            mean = math.fsum(known) / len(known)
        by_answer[model, question, None] = (groups[model, question], mean)
    return by_answer


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


def _agreements(
    answers: pd.DataFrame, column: str, given: HumanRatings, resampling: Resampling
) -> dict[str, CaseAgreement]:
    parts = answers.groupby(column)
    return {str(name): _agreement(part, given, resampling) for name, part in parts}


def _agreement(answers: pd.DataFrame, given: HumanRatings, resampling: Resampling) -> CaseAgreement:
    scores = answers["score"].to_numpy(dtype=np.float64)
    clusters = list(answers["cluster"])
    means_of_answers = []
    for ratings in answers["ratings"]:
        mean = math.fsum(ratings.values()) / len(ratings)
        means_of_answers.append(mean)
    means = np.array(means_of_answers)
    rescaled = on_scale_of_judge(means, given.scale)
    correlations = correlate(means, scores, clusters, **resampling.options)
    reported = {}
    for kind in ("pearson", "spearman", "kendall"):
        correlation = getattr(correlations, kind)
        if len(answers) <= _FEWEST:  # two points always lie on a line
            correlation = replace(correlation, value=math.nan)
        reported[kind] = correlation.reported(CORRELATIONS)
    judge_and_people = np.stack([rescaled, scores])
    alpha = clustered_interval_alpha(judge_and_people, clusters, **resampling.options)
    difference = clustered_mean(scores - rescaled, clusters, **resampling.options)
    return CaseAgreement(
        replace(correlations, **reported),
        alpha.reported(CORRELATIONS),
        difference.reported((LOWEST - HIGHEST, HIGHEST - LOWEST)),
        len(answers),
        answers["question"].nunique(),
        len(set(clusters)),
    )


def _people(answers: pd.DataFrame, resampling: Resampling) -> PeopleAgreement | None:
    names = set().union(*answers["ratings"])
    raters = sorted(names - {""})
    if not raters:
        return None
    rows = list(answers["ratings"])
    by_rater = pd.DataFrame(rows, columns=raters, dtype=np.float64)
    ratings = by_rater.to_numpy().T
    clusters = list(answers["cluster"])
    alpha = clustered_interval_alpha(ratings, clusters, **resampling.options)
    is_rated = ~np.isnan(ratings)
    ratings_by_answer = is_rated.sum(axis=0)
    several = ratings_by_answer > 1
    return PeopleAgreement(
        alpha=alpha.reported(CORRELATIONS),
        raters=len(raters),
        ratings=int(ratings_by_answer.sum()),
        answers=int(several.sum()),
    )


def intent_level(
    table: ScoreTable, satisfaction: Satisfaction, resampling: Resampling
) -> IntentLevel | NoIntentLevel:
    """Compare mean scores with mean satisfaction, intent by intent."""
    finals = {}
    scored = set()
    for group in map(str, set(table.facts["group"])):
        finals[group] = _of(table, group)
        if not np.isnan(finals[group]).all():
            scored.add(group)
    groups = sorted(scored.intersection(satisfaction.groups))
    none = NoIntentLevel(len(groups), str(satisfaction.path))
    if len(groups) < FEWEST_POINTS:
        return none
    parts = _means_by_intent(table, groups, resampling)
    has_mean = [~np.isnan(part.values) for part in parts]
    whole: Flags = np.logical_and.reduce(has_mean)
    if not whole.any():
        return none
    questions = [_scored(finals[group][:, whole]) for group in groups]
    behind: dict[Counted, Mapping[str, int]] = {
        "questions": dict(zip(groups, questions, strict=True)),
        "people": _resampled_people(satisfaction, groups),
    }
    clusters = None
    if table.clusters is not None:
        fewest_of_intents = [part.clusters[whole].min() for part in parts]
        clusters = np.array(fewest_of_intents)
        clusters_by_intent = dict(zip(groups, clusters.tolist(), strict=True))
        behind["clusters"] = clusters_by_intent
    satisfied = satisfaction.means(groups, resampling.rounds, resampling.seed)

    def over_intents(models: Integers) -> MeanDraws:
        """Mean score of some models on each intent, shape (G,)."""
        means = [part.values[models].mean() for part in parts]
        values = np.array(means)
        draws = [part.draws[:, models].mean(axis=1) for part in parts]
        drawn = np.stack(draws, axis=1)
        return MeanDraws(values, drawn, np.array(questions), parts[0].seed, clusters)

    compared = np.flatnonzero(whole)
    scores = over_intents(compared)
    by_model = {}
    for model in compared:
        scores_of_model = over_intents(np.array([model]))
        correlation = _correlated(scores_of_model, satisfied, behind, resampling)
        by_model[table.models[model]] = correlation
    return IntentLevel(
        points=_intent_points(groups, scores, satisfied, satisfaction, resampling.level),
        correlation=_correlated(scores, satisfied, behind, resampling),
        by_model=by_model,
        people_resampled=satisfaction.by_respondent,
        too_few=_too_few(behind, resampling.level),
        scale=satisfaction.scale,
        about=_about_intents(table, scored, whole, satisfaction),
    )


def _intent_points(
    groups: Sequence[str],
    scores: MeanDraws,
    satisfied: MeanDraws,
    satisfaction: Satisfaction,
    level: float,
) -> tuple[Point, ...]:
    """The points of an `IntentLevel`, those with most satisfaction first."""
    mean_scores = mean_estimates(scores, level)
    mean_satisfaction = mean_estimates(satisfied, level)
    points = []
    for group, score, value in zip(groups, mean_scores, mean_satisfaction, strict=True):
        point = {
            "group": group,
            "score": score.reported((LOWEST, HIGHEST)),
            "satisfaction": value.reported(satisfaction.scale),
            "questions": score.n,
            "people": satisfaction.people(group),
        }
        points.append(point)
    return tuple(sorted(points, key=lambda point: -point["satisfaction"].value))


def _resampled_people(satisfaction: Satisfaction, groups: Iterable[str]) -> dict[str, int]:
    """How many people are behind each mean that is not exact, as that of one person is not."""
    resampled = {}
    for group in groups:
        people = satisfaction.people(group)
        if satisfaction.by_respondent or people == 1:
            resampled[group] = people or 0
    return resampled


def _about_intents(
    table: ScoreTable, scored: set[str], whole: Flags, satisfaction: Satisfaction
) -> AboutIntents:
    """What does not count; `whole` are the models with a score on each intent that does."""
    groups = set(satisfaction.groups)
    partial = [name for name, complete in zip(table.models, whole, strict=True) if not complete]
    return AboutIntents(
        without_satisfaction=sorted(scored - groups),
        without_score=sorted(groups - scored),
        partial=partial,
        clustered=_clustered(table),
        means_of_several=str(satisfaction.path) if satisfaction.mixed else "",
    )


def _means_by_intent(
    table: ScoreTable, groups: Sequence[str], resampling: Resampling
) -> list[MeanDraws]:
    """Means of the models on each intent.

    Questions are resampled within intents, clusters of them over all intents.
    """
    rounds = resampling.rounds
    if table.clusters is None:
        means = []
        for place, group in enumerate(groups):
            seed = derived_seed(resampling.seed, _QUESTIONS, place)
            means.append(table_means(_of(table, group), rounds=rounds, seed=seed))
        return means
    seed = derived_seed(resampling.seed, _QUESTIONS)
    columns = []
    for group in groups:
        in_group = (table.facts["group"] == group).to_numpy()
        chosen = np.flatnonzero(in_group)
        columns.append(MeanColumn(chosen, table.finals[chosen]))
    return bootstrap_means(
        columns, len(table.facts), clusters=table.clusters, rounds=rounds, seed=seed
    )


def _clustered(table: ScoreTable) -> Clustered:
    clusters = 0
    if table.clusters is not None:
        clusters = int(table.clusters.max()) + 1
    return Clustered(len(table.facts), clusters)


def _of(table: ScoreTable, group: str) -> Floats:
    """Final scores of an intent, shape (questions, models)."""
    in_group = (table.facts["group"] == group).to_numpy()
    return table.finals[in_group]


def _scored(finals: Floats) -> int:
    """Number of questions with a score."""
    has_score = (~np.isnan(finals)).any(axis=1)
    return int(has_score.sum())


def _too_few(behind: Behind, level: float) -> dict[Counted, list[str]]:
    """What is counted -> the means that are of too few to show how far they would scatter."""
    least = fewest_clusters(level)
    too_few: dict[Counted, list[str]] = {}
    for what, numbers in behind.items():
        few = [name for name, n in numbers.items() if n < least]
        if few:
            too_few[what] = few
    return too_few


def _correlated(
    scores: MeanDraws, said: MeanDraws, behind: Behind, resampling: Resampling
) -> MeanCorrelation:
    fewest = min(chain.from_iterable(numbers.values() for numbers in behind.values()))
    correlation = correlate_means(
        scores, said, clusters=fewest, level=resampling.level, seed=resampling.seed
    )
    pearson = correlation.pearson.reported(CORRELATIONS)
    if fewest > 1:
        return replace(correlation, pearson=pearson)
    # Where nothing says how much a mean scatters, its noise is not 0 but not known.
    return replace(correlation, pearson=pearson, without_noise=math.nan)


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


def model_level(
    table: ScoreTable, names: Mapping[str, str], votes: Votes, resampling: Resampling
) -> ModelLevel | NoModelLevel:
    """Compare mean scores with Bradley-Terry ratings, model by model.

    `table` is over the questions that all models of the block
    attempted; `names` are those of `model_names`.
    """
    ranking = votes.ranking
    has_score = ~np.isnan(table.finals).all(axis=0)
    scored = set(np.array(table.models)[has_score].tolist())
    shared = [place for place, name in enumerate(ranking.players) if names.get(name) in scored]
    models = [names[ranking.players[place]] for place in shared]
    if len(set(models)) < FEWEST_POINTS:
        return NoModelLevel(len(set(models)), ranking.players, sorted(scored))
    columns = [table.models.index(model) for model in models]
    scores = table_means(
        table.finals[:, columns],
        clusters=table.clusters,
        rounds=resampling.rounds,
        seed=derived_seed(resampling.seed, _MODELS_QUESTIONS),
    )
    rated = [ranking.bradley_terry[place] for place in shared]
    ratings = MeanDraws(
        np.array([rating.value for rating in rated]),
        ranking.draws[:, shared],
        np.array([rating.clusters for rating in rated]),
        ranking.seed,
    )
    behind: dict[Counted, Mapping[str, int]] = {
        "questions": dict(zip(models, scores.n.tolist(), strict=True)),
        "instructions": {ALL: ranking.clusters},
    }
    if table.clusters is not None:
        clusters_by_model = dict(zip(models, scores.clusters.tolist(), strict=True))
        behind["clusters"] = clusters_by_model
    without_score = [name for name in ranking.players if names.get(name) not in scored]
    about = AboutModels(
        without_score=without_score,
        without_votes=sorted(scored.difference(models)),
        clustered=_clustered(table),
        apart=ranking.connectivity.message,
    )
    means = mean_estimates(scores, resampling.level)
    points = []
    for model, mean, rating in zip(models, means, rated, strict=True):
        score = mean.reported((LOWEST, HIGHEST))
        points.append({"model": model, "score": score, "rating": rating})
    return ModelLevel(
        points=tuple(points),
        correlation=_correlated(scores, ratings, behind, resampling),
        comparisons=ranking.battles,
        instructions=ranking.clusters,
        ties=ranking.ties,
        questions=_scored(table.finals[:, columns]),
        too_few=_too_few(behind, resampling.level),
        about=about,
    )


def agreement_of(
    answers: Answers,
    *,
    human: HumanRatings | None = None,
    satisfaction: Satisfaction | None = None,
    votes: Votes | None = None,
    resampling: Resampling | None = None,
) -> tuple[list[AgreementBlock], list[str]]:
    """Compare judges' scores with what people say, each judge and set of conditions by itself.

    Returns the blocks, and notes on the file of ratings and what of it no block used.
    """
    if human is None and satisfaction is None and votes is None:
        raise InputError(
            "nothing to compare with; give at least one of: ratings, satisfaction, votes"
        )
    if resampling is None:
        resampling = Resampling()
    blocks = blocks_of(answers.table)
    matched: list[Matched] = []
    notes: list[str] = []
    if human:
        matched = match_blocks(answers.table, blocks, human)
        notes = [*unused(human, matched), *human.repeats]
    compared = []
    for place, block in enumerate(blocks):
        table = score_table(block.table, block.models)
        levels: dict[str, Any] = {}
        if satisfaction:
            levels["intents"] = intent_level(table, satisfaction, resampling)
        if votes:
            names = model_names(_attempted(answers.table, block))
            levels["ratings"] = model_level(table, names, votes, resampling)
        if human:
            levels["cases"] = case_level(matched[place], human, resampling)
        compared.append(_agreement_block(block, levels))
    return compared, notes


def _agreement_block(block: BlockAnswers, levels: Mapping[str, Any]) -> AgreementBlock:
    """The levels by name, each of them the reason where it could not be computed."""
    computed: dict[str, Any] = dict.fromkeys(("intents", "ratings", "cases"))
    lacking = []
    for name, level in levels.items():
        if isinstance(level, NoIntentLevel | NoModelLevel | NoCaseLevel):
            lacking.append(level)
        else:
            computed[name] = level
    models_and_judges = (*block.models, *block.conditions.judges)
    simulated = any(name.startswith(SIMULATED) for name in models_and_judges)
    return AgreementBlock(
        conditions=block.conditions,
        apart_because=block.differs_from_first,
        models=tuple(sorted(block.models)),
        simulated=simulated,
        **computed,
        unlike=block.unlike,
        lacking=tuple(lacking),
    )
