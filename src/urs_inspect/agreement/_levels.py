"""Agreement of a judge with people: over intents, models and answers (URS paper, section 4.5)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import Any, Literal

import numpy as np
import pandas as pd

from urs_inspect.agreement._mean_correlation import (
    FEWEST_POINTS,
    MeanCorrelation,
    correlate_means,
    table_means,
)
from urs_inspect.agreement._people import Satisfaction, Votes
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports._unused_ratings import UnusedRatings
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._conditions import (
    Conditions,
    Reason,
    Unlike,
    blocks_of,
)
from urs_inspect.reports.numbers._human_data import HumanRatings, on_scale_of_judge
from urs_inspect.reports.numbers._matching import (
    Matched,
    attempted,
    match_blocks,
    model_names,
    unused_ratings,
)
from urs_inspect.reports.numbers._panels import FEWEST_JUDGES, Panel, panel_of
from urs_inspect.reports.numbers._scores import ScoreTable, clusters_of, score_table
from urs_inspect.rubrics import HIGHEST, LOWEST
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
from urs_inspect.stats._bootstrap import Flags, Floats, Integers
from urs_inspect.stats._correlation import CORRELATIONS, derived_seed
from urs_inspect.stats._means import MeanColumn, bootstrap_means

_FEWEST = 2  # answers that an agreement needs; a correlation needs one more
_QUESTIONS = 0
_MODELS_QUESTIONS = 2  # name the resamplings of questions among those of a seed; people have 1

Skipped = Literal[
    "intents without satisfaction",
    "intents without a score",
    "models without a score on some intent",
    "models with votes but without a score",
    "models with scores but without votes",
]
"""Why intents or models do not count."""
Counted = Literal["questions", "people", "clusters", "instructions"]
Behind = Mapping[Counted, Mapping[str, int]]
"""What is counted -> intent or model -> how many are behind its mean."""
Point = Mapping[str, Any]


@dataclass(frozen=True)
class NoLevel:
    """Why there is none: few have both, or no model has a score on each intent."""

    over: Literal["intents", "models", "answers"]
    both: int  # with a judge's score and people's ratings or votes
    least: int  # of these
    said: Sequence[str] = ()  # intents or models that people rated or voted on
    scored: Sequence[str] = ()  # intents or models with a score


@dataclass(frozen=True, kw_only=True)
class MeanLevel:
    """Mean scores against what people say, and what does not count."""

    points: tuple[Point, ...]
    correlation: MeanCorrelation
    behind: Behind
    skipped: Mapping[Skipped, Sequence[str]]  # which intents or models do not count
    asked: int  # questions, with or without a score
    clusters: int  # that they come from, such as their users; 0 if none is named


@dataclass(frozen=True, kw_only=True)
class IntentLevel(MeanLevel):
    """Mean score against mean satisfaction by intent, as in Figure 5 of the URS paper.

    Intents with most satisfaction come first.
    A point is a group (the reported intent), score (mean over questions, then models), satisfaction
    (without bounds where it counts as exact), questions (with a score) and people (None if the file
    does not name it). Questions are resampled within intents, people where the file has single
    ones.
    """

    by_model: dict[str, MeanCorrelation]
    people_resampled: bool  # else satisfaction counts as exact
    means_of_several: str  # file whose satisfaction is in part that of several people; or empty


@dataclass(frozen=True, kw_only=True)
class ModelLevel(MeanLevel):
    """Mean score against the rating by people's votes, by model, as in Figure 6 of the URS paper.

    The best rated model comes first.
    A point is a model, score (mean over questions) and rating (Bradley-Terry). Instructions of
    votes and questions of scores are resampled independently.
    """

    comparisons: int
    instructions: int
    ties: int
    questions: int
    apart: str  # which models cannot be compared by the votes; or empty


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
    """Agreement on single answers."""

    scopes: Mapping[str, CaseAgreement]  # `all`, then by reported intent and by model
    people: PeopleAgreement | None  # None if the file does not name raters
    file: str  # of the ratings
    without_epoch: int  # ratings, as in `Matched`
    weighted: bool  # whether answers were drawn with unequal chances
    without_score: int  # rated answers

    @property
    def all(self) -> CaseAgreement:
        """Over all answers."""
        return self.scopes["all"]


@dataclass(frozen=True, kw_only=True)
class AgreementBlock:
    """Agreement with one judge under one set of conditions."""

    conditions: Conditions
    apart_because: tuple[Reason, ...]  # why it is not compared with the first block
    models: tuple[str, ...]
    simulated: bool
    unlike: Unlike  # of intents and models; single answers are over questions of their own
    lacking: tuple[NoLevel, ...]  # levels that were asked for
    intents: IntentLevel | None = None
    ratings: ModelLevel | None = None
    cases: CaseLevel | None = None


def case_level(
    matched: Matched, given: HumanRatings, resampling: Resampling
) -> CaseLevel | NoLevel:
    """Compare the judge's scores with the mean of people's ratings."""
    scored = matched.answers.dropna(subset="score")
    if len(scored) < _FEWEST:
        return NoLevel("answers", len(scored), _FEWEST)
    scopes = {"all": _agreement(scored, given, resampling)}
    for column in ("group", "model"):
        for name, part in scored.groupby(column):
            scopes[str(name)] = _agreement(part, given, resampling)
    return CaseLevel(
        scopes=scopes,
        people=_people(matched.answers, resampling),
        file=str(given.path),
        without_epoch=matched.without_epoch,
        weighted=given.weighted,
        without_score=len(matched.answers) - len(scored),
    )


def mean_ratings(ratings: Iterable[Mapping[str, float]]) -> Floats:
    """The mean over people of the ratings of each answer."""
    return np.array([math.fsum(given.values()) / len(given) for given in ratings])


def _agreement(answers: pd.DataFrame, given: HumanRatings, resampling: Resampling) -> CaseAgreement:
    scores = answers["score"].to_numpy(dtype=np.float64)
    clusters = list(answers["cluster"])
    means = mean_ratings(answers["ratings"])
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
    by_rater = pd.DataFrame(list(answers["ratings"]), dtype=np.float64)
    by_rater = by_rater.drop(columns="", errors="ignore").sort_index(axis=1)
    if by_rater.empty:
        return None
    ratings = by_rater.to_numpy().T
    clusters = list(answers["cluster"])
    alpha = clustered_interval_alpha(ratings, clusters, **resampling.options)
    ratings_by_answer = by_rater.notna().sum(axis=1)
    return PeopleAgreement(
        alpha=alpha.reported(CORRELATIONS),
        raters=len(ratings),
        ratings=int(ratings_by_answer.sum()),
        answers=int((ratings_by_answer > 1).sum()),
    )


def intent_level(
    table: ScoreTable, satisfaction: Satisfaction, resampling: Resampling
) -> IntentLevel | NoLevel:
    """Compare mean scores with mean satisfaction, intent by intent."""
    scored = set()
    for group in map(str, table.facts["group"].unique()):
        if not np.isnan(table.finals[_places(table, group)]).all():
            scored.add(group)
    groups = sorted(scored.intersection(satisfaction.groups))
    none = NoLevel("intents", len(groups), FEWEST_POINTS, satisfaction.groups, sorted(scored))
    if len(groups) < FEWEST_POINTS:
        return none
    parts = _means_by_intent(table, groups, resampling)
    has_mean = [~np.isnan(part.values) for part in parts]
    whole: Flags = np.logical_and.reduce(has_mean)
    if not whole.any():
        return none
    compared = np.flatnonzero(whole)
    questions = [_scored(table.finals[_places(table, group)][:, whole]) for group in groups]
    behind: dict[Counted, Mapping[str, int]] = {
        "questions": dict(zip(groups, questions, strict=True)),
        "people": _resampled_people(satisfaction, groups),
    }
    clusters = np.array(questions)
    if table.clusters is not None:
        clusters = np.array([part.clusters[whole].min() for part in parts])
        behind["clusters"] = dict(zip(groups, clusters.tolist(), strict=True))
    satisfied = satisfaction.means(groups, resampling.rounds, resampling.seed)

    def over_intents(models: Integers) -> MeanDraws:
        """Mean score of some models on each intent, shape (G,)."""
        values = np.array([part.values[models].mean() for part in parts])
        drawn = np.stack([part.draws[:, models].mean(axis=1) for part in parts], axis=1)
        return MeanDraws(values, drawn, np.array(questions), parts[0].seed, clusters)

    by_model = {}
    for model in compared:
        scores_of_model = over_intents(np.array([model]))
        correlation = _correlated(scores_of_model, satisfied, behind, resampling)
        by_model[table.models[model]] = correlation
    scores = over_intents(compared)
    return IntentLevel(
        points=_intent_points(groups, scores, satisfied, satisfaction, resampling.level),
        correlation=_correlated(scores, satisfied, behind, resampling),
        by_model=by_model,
        people_resampled=satisfaction.by_respondent,
        behind=behind,
        skipped={
            "intents without satisfaction": sorted(scored.difference(groups)),
            "intents without a score": sorted(set(satisfaction.groups).difference(groups)),
            "models without a score on some intent": list(compress(table.models, ~whole)),
        },
        asked=len(table.facts),
        clusters=_clusters(table),
        means_of_several=str(satisfaction.path) if satisfaction.mixed else "",
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
            finals = table.finals[_places(table, group)]
            means.append(table_means(finals, rounds=rounds, seed=seed))
        return means
    seed = derived_seed(resampling.seed, _QUESTIONS)
    columns = []
    for group in groups:
        chosen = _places(table, group)
        columns.append(MeanColumn(chosen, table.finals[chosen]))
    return bootstrap_means(
        columns, len(table.facts), clusters=table.clusters, rounds=rounds, seed=seed
    )


def _clusters(table: ScoreTable) -> int:
    if table.clusters is None:
        return 0
    return int(table.clusters.max()) + 1


def _places(table: ScoreTable, group: str) -> Integers:
    """Where the questions of an intent are."""
    return np.flatnonzero(table.facts["group"] == group)


def _scored(finals: Floats) -> int:
    """Number of questions with a score."""
    has_score = (~np.isnan(finals)).any(axis=1)
    return int(has_score.sum())


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


def model_level(
    table: ScoreTable, names: Mapping[str, str], votes: Votes, resampling: Resampling
) -> ModelLevel | NoLevel:
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
        both = len(set(models))
        return NoLevel("models", both, FEWEST_POINTS, ranking.players, sorted(scored))
    columns = [table.models.index(model) for model in models]
    scores = table_means(
        table.finals[:, columns],
        clusters=table.clusters,
        rounds=resampling.rounds,
        seed=derived_seed(resampling.seed, _MODELS_QUESTIONS),
    )
    rated = [ranking.bradley_terry[place] for place in shared]
    instructions = np.array([rating.clusters for rating in rated])
    ratings = MeanDraws(
        np.array([rating.value for rating in rated]),
        ranking.draws[:, shared],
        instructions,
        ranking.seed,
        instructions,
    )
    behind: dict[Counted, Mapping[str, int]] = {
        "questions": dict(zip(models, scores.n.tolist(), strict=True)),
        "instructions": {"the votes": ranking.clusters},
    }
    if table.clusters is not None:
        behind["clusters"] = dict(zip(models, scores.clusters.tolist(), strict=True))
    without_score = [name for name in ranking.players if names.get(name) not in scored]
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
        behind=behind,
        skipped={
            "models with votes but without a score": without_score,
            "models with scores but without votes": sorted(scored.difference(models)),
        },
        asked=len(table.facts),
        clusters=_clusters(table),
        apart=ranking.connectivity.message,
    )


def agreement_of(
    answers: Answers,
    *,
    human: HumanRatings | None = None,
    satisfaction: Satisfaction | None = None,
    votes: Votes | None = None,
    resampling: Resampling,
) -> tuple[list[AgreementBlock], UnusedRatings]:
    """Compare judges' scores with what people say, each judge and set of conditions by itself.

    Returns the blocks, and what of the file of ratings no block used.
    """
    blocks = blocks_of(answers.table)
    matched: list[Matched] = []
    unused = UnusedRatings()
    if human:
        matched = match_blocks(answers.table, blocks, human)
        unused = unused_ratings(human, matched)
    compared = []
    for place, block in enumerate(blocks):
        table = score_table(block.table, block.models)
        levels: dict[str, Any] = {}
        if satisfaction:
            levels["intents"] = intent_level(table, satisfaction, resampling)
        if votes:
            names = model_names(attempted(answers.table, block))
            levels["ratings"] = model_level(table, names, votes, resampling)
        if human:
            levels["cases"] = case_level(matched[place], human, resampling)
        lacking = [name for name, level in levels.items() if isinstance(level, NoLevel)]
        models_and_judges = (*block.models, *block.conditions.judges)
        of_block = AgreementBlock(
            conditions=block.conditions,
            apart_because=block.differs_from_first,
            models=tuple(sorted(block.models)),
            simulated=any(name.startswith(SIMULATED) for name in models_and_judges),
            unlike=block.unlike,
            lacking=tuple(levels.pop(name) for name in lacking),
            **levels,
        )
        compared.append(of_block)
    return compared, unused


def panel_of_blocks(answers: pd.DataFrame, human: HumanRatings) -> Panel | None:
    """What the judges of all blocks are worth on the answers that people rated.

    None with fewer judges than a panel has.
    """
    blocks = blocks_of(answers)
    scores = {}
    people = []
    matched = match_blocks(answers, blocks, human)
    for place, (block, rated) in enumerate(zip(blocks, matched, strict=True), start=1):
        if rated.answers.empty:
            continue
        rows = rated.answers.set_index(["model", "question", "epoch"])
        scores[f"{place}. {', '.join(block.conditions.judges)}"] = rows["score"]
        people.append(pd.Series(mean_ratings(rows["ratings"]), rows.index))
    if len(scores) < FEWEST_JUDGES:
        return None
    values = pd.concat(scores, axis=1)
    ratings = pd.concat(people)
    labels = np.asarray(ratings[~ratings.index.duplicated()].reindex(values.index), np.float64)
    questions = values.index.get_level_values("question")
    clusters = clusters_of(answers)[questions].map(str)
    return panel_of(values, labels, list(clusters))
