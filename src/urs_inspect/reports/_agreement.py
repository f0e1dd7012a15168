"""Agreement of a judge with people: over answers, intents and models (URS paper, section 4.5)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports._answers import Answers
from urs_inspect.reports._conditions import BlockAnswers, Conditions, blocks_of
from urs_inspect.reports._human_data import (
    HumanRating,
    HumanRatings,
    Satisfaction,
    Scale,
    Votes,
    on_scale_of_judge,
)
from urs_inspect.reports._noise import FEWEST_JUDGES, panel_section
from urs_inspect.reports._scores import ScoreTable, clusters_of, score_table
from urs_inspect.reports._tables import Section
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
from urs_inspect.stats._bootstrap import Flags, Floats, fewest_clusters
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
Behind = Mapping[str, Mapping[str, int]]
"""What is counted, such as "people on" -> of what, such as an intent -> how many are behind a mean
of it.
"""
Point = Mapping[str, Any]


@dataclass(frozen=True)
class IntentLevel:
    """Mean score against mean satisfaction, over intents, those with most satisfaction first (URS
    paper, Figure 5).

    A point is a group (the reported intent), score (mean over questions, then models), satisfaction
    (without bounds where it counts as exact), questions (with a score) and people (None if the file
    does not name it).
    """

    points: tuple[Point, ...]
    # questions are resampled within intents, people where the file has single ones
    correlation: MeanCorrelation
    by_model: dict[str, MeanCorrelation]
    people_resampled: bool  # else satisfaction counts as exact
    why_no_interval: (
        str  # what an interval would need and is missing, in words; empty if there is one
    )
    scale: Scale
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ModelLevel:
    """Mean score against the rating by people's votes, over models, the best rated first (URS
    paper, Figure 6).

    A point is a model, score (mean over questions) and rating (Bradley-Terry).
    """

    points: tuple[Point, ...]
    correlation: (
        MeanCorrelation  # instructions of votes and questions of scores are resampled independently
    )
    comparisons: int
    instructions: int
    ties: int
    questions: int
    why_no_interval: str
    notes: tuple[str, ...]


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
    """How far people agree with each other: Krippendorff's alpha (interval), clustered as in
    `CaseAgreement`.
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
    notes: tuple[str, ...]


@dataclass(frozen=True)
class AgreementBlock:
    """Agreement with one judge under one set of conditions; `notes` tell why a level is None that
    was asked for.
    """

    conditions: Conditions
    apart_because: tuple[str, ...]  # why it is not compared with the first block
    models: tuple[str, ...]
    simulated: bool
    intents: IntentLevel | None
    ratings: ModelLevel | None
    cases: CaseLevel | None
    notes: tuple[str, ...]


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
    notes: tuple[str, ...]


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
        else:
            lost[rating] = _NO_ANSWER if model else _OTHER_MODEL
    clusters = clusters_of(answers)
    matched = [
        (*key[:2], *by_answer[key], rated, weights[key], key[2] or 0, clusters[key[1]])
        for key, rated in ratings.items()
    ]
    answered = Counter(key[:2] for key in by_answer if key[2] is not None)
    vague = [
        len(by_rater)
        for key, by_rater in ratings.items()
        if key[2] is None and answered[key[:2]] > 1
    ]
    note = (
        f"{counted(sum(vague), 'rating')} of {given.path} without an epoch, about questions that"
        " were answered several times: compared with the mean score over epochs."
    )
    columns = ["model", "question", "group", "score", "ratings", "weight", "epoch", "cluster"]
    return Matched(pd.DataFrame(matched, columns=columns), lost, (note,) if vague else ())


def unused(given: HumanRatings, matched: Iterable[Matched]) -> list[str]:
    """What of a file of ratings no block used, with counts, a sentence each."""
    blocks = [block.lost for block in matched]
    lost: dict[str, list[HumanRating]] = defaultdict(list)
    for rating in given.ratings:
        if all(rating in block for block in blocks):
            # A block that knows the model says more.
            whys = {block[rating] for block in blocks}
            lost[_NO_ANSWER if _NO_ANSWER in whys else _OTHER_MODEL].append(rating)
    notes = []
    for what, ratings in lost.items():
        first = "; ".join(f"{rating.answer} ({rating.place})" for rating in ratings[:_SHOWN])
        more = f" and {len(ratings) - _SHOWN} more" if len(ratings) > _SHOWN else ""
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
    if not any(len(block.answers) for block in matched):
        questions = sorted(set(answers["question"]))
        raise InputError(
            f"{human.path}: none of {len(human.ratings)} ratings is about an answer in the logs. "
            f"{' '.join(unused(human, matched))} The logs have answers of "
            f"{choices(sorted(set(answers['model'])))} to {len(questions)} questions such as "
            f"{choices(questions[:3])}"
        )
    return matched


def _attempted(answers: pd.DataFrame, block: BlockAnswers) -> pd.DataFrame:
    """Answers of the logs of a block, to questions that not all of its models attempted as well."""
    return answers[answers["log"].isin(set(block.table["log"]))]


def case_level(matched: Matched, given: HumanRatings, resampling: Resampling) -> CaseLevel | str:
    """Compare the judge's scores with the mean of people's ratings.

    A sentence if that cannot be done.
    """
    scored = matched.answers.dropna(subset="score")
    notes = list(matched.notes)
    if given.weighted:
        notes.append(
            "Answers were drawn with unequal chances: agreement is that over the rated answers,"
            " unweighted."
        )
    if unscored := len(matched.answers) - len(scored):
        notes.append(f"{counted(unscored, 'rated answer')} without a score of the judge, skipped.")
    if len(scored) < _FEWEST:
        were = "was" if len(scored) == 1 else "were"
        why = f"No agreement on single answers: {len(scored)} {were} both rated and scored."
        return " ".join([why, *notes])
    by_group, by_model = (
        {str(name): _agreement(part, given, resampling) for name, part in scored.groupby(column)}
        for column in ("group", "model")
    )
    people = _people(matched.answers, resampling)
    return CaseLevel(
        _agreement(scored, given, resampling), by_group, by_model, people, given.scale, tuple(notes)
    )


def _answers(answers: pd.DataFrame, given: HumanRatings) -> dict[Answer, tuple[str, float]]:
    """Reported intent and score of each answer to a rated question.

    Under no epoch the mean over epochs.
    """
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
            f"{given.path}: {one.place}: no model; the logs hold answers of {choices(models)}: say"
            " whose answers were rated in a column 'model'"
        )
    return models[0]


def _agreement(answers: pd.DataFrame, given: HumanRatings, resampling: Resampling) -> CaseAgreement:
    scores = answers["score"].to_numpy(dtype=np.float64)
    clusters = list(answers["cluster"])
    means = np.array([math.fsum(ratings.values()) / len(ratings) for ratings in answers["ratings"]])
    rescaled = on_scale_of_judge(means, given.scale)
    found = correlate(means, scores, clusters, **resampling.options)
    pearson, spearman, kendall = (
        # Two points always lie on a line.
        (known if len(answers) > _FEWEST else replace(known, value=math.nan)).reported(CORRELATIONS)
        for known in (found.pearson, found.spearman, found.kendall)
    )
    alpha = clustered_interval_alpha(np.stack([rescaled, scores]), clusters, **resampling.options)
    difference = clustered_mean(scores - rescaled, clusters, **resampling.options)
    return CaseAgreement(
        replace(found, pearson=pearson, spearman=spearman, kendall=kendall),
        alpha.reported(CORRELATIONS),
        difference.reported((LOWEST - HIGHEST, HIGHEST - LOWEST)),
        len(answers),
        answers["question"].nunique(),
        len(set(clusters)),
    )


def _people(answers: pd.DataFrame, resampling: Resampling) -> PeopleAgreement | None:
    raters = sorted({rater for ratings in answers["ratings"] for rater in ratings if rater})
    if not raters:
        return None
    table = np.array(
        [[ratings.get(rater, math.nan) for ratings in answers["ratings"]] for rater in raters]
    )
    alpha = clustered_interval_alpha(table, list(answers["cluster"]), **resampling.options)
    given = (~np.isnan(table)).sum(axis=0)
    return PeopleAgreement(
        alpha.reported(CORRELATIONS), len(raters), int(given.sum()), int((given > 1).sum())
    )


def intent_level(
    table: ScoreTable, satisfaction: Satisfaction, resampling: Resampling
) -> IntentLevel | str:
    """Compare mean scores with mean satisfaction, intent by intent.

    A sentence if that cannot be done.
    """
    groups, notes = _shared(table, satisfaction)
    if len(groups) < FEWEST_POINTS:
        return (
            f"No correlation over intents: {len(groups)} have both scores and satisfaction in"
            f" {satisfaction.path}, at least {FEWEST_POINTS} are needed."
        )
    parts = _means_by_intent(table, groups, resampling)
    whole: Flags = np.logical_and.reduce([~np.isnan(part.values) for part in parts])
    if not whole.any():
        return "No correlation over intents: no model has a score on each of them."
    if not whole.all():
        partial = [name for name, complete in zip(table.models, whole, strict=True) if not complete]
        notes.append(
            "Not in the mean over models, because they have no score on some intent:"
            f" {', '.join(partial)}."
        )
    questions = {group: _scored(_of(table, group)[:, whole]) for group in groups}
    drawn = (
        None if table.clusters is None else np.array([part.clusters[whole].min() for part in parts])
    )
    people = {group: satisfaction.people(group) for group in groups}
    # The mean of one person is not exact.
    resampled = {
        group: n or 0 for group, n in people.items() if satisfaction.by_respondent or n == 1
    }
    notes += _cluster_notes(table)
    behind: dict[str, Mapping[str, int]] = {
        "questions with a score on": questions,
        "people on": resampled,
    }
    if drawn is not None:
        behind["clusters of questions with a score on"] = dict(
            zip(groups, drawn.tolist(), strict=True)
        )
    if satisfaction.mixed:
        notes.append(
            f"Some rows of {satisfaction.path} are means of several people: satisfaction counts as"
            " exact."
        )
    said = satisfaction.means(groups, resampling.rounds, resampling.seed)

    def over_intents(models: Flags) -> MeanDraws:
        """Mean score of some models on each intent, shape (G,)."""
        values = np.array([part.values[models].mean() for part in parts])
        draws = np.stack([part.draws[:, models].mean(axis=1) for part in parts], axis=1)
        return MeanDraws(values, draws, np.array(list(questions.values())), parts[0].seed, drawn)

    scores = over_intents(whole)
    alone = {name: np.arange(len(whole)) == m for m, name in enumerate(table.models)}
    means = zip(
        groups,
        mean_estimates(scores, resampling.level),
        mean_estimates(said, resampling.level),
        strict=True,
    )
    points = [
        {
            "group": group,
            "score": score.reported((LOWEST, HIGHEST)),
            "satisfaction": value.reported(satisfaction.scale),
            "questions": score.n,
            "people": people[group],
        }
        for group, score, value in means
    ]
    return IntentLevel(
        points=tuple(sorted(points, key=lambda point: -point["satisfaction"].value)),
        correlation=_correlated(scores, said, behind, resampling),
        by_model={
            name: _correlated(over_intents(flags), said, behind, resampling)
            for name, flags in alone.items()
            if whole[flags]
        },
        people_resampled=satisfaction.by_respondent,
        why_no_interval=_why_no_interval(behind, resampling.level),
        scale=satisfaction.scale,
        notes=tuple(notes),
    )


def _means_by_intent(
    table: ScoreTable, groups: Sequence[str], resampling: Resampling
) -> list[MeanDraws]:
    """Means of the models on each intent.

    Questions are resampled within intents, clusters of them over all intents.
    """
    if table.clusters is None:
        return [
            table_means(
                _of(table, group),
                rounds=resampling.rounds,
                seed=derived_seed(resampling.seed, _QUESTIONS, place),
            )
            for place, group in enumerate(groups)
        ]
    seed = derived_seed(resampling.seed, _QUESTIONS)
    columns = []
    for group in groups:
        chosen = np.flatnonzero((table.facts["group"] == group).to_numpy())
        columns.append(MeanColumn(chosen, table.finals[chosen]))
    return bootstrap_means(
        columns, len(table.facts), clusters=table.clusters, rounds=resampling.rounds, seed=seed
    )


def _shared(table: ScoreTable, satisfaction: Satisfaction) -> tuple[list[str], list[str]]:
    """Intents with scores and satisfaction, in alphabetical order, and what is said of those with
    only one of them.
    """
    scored = {
        str(group)
        for group in set(table.facts["group"])
        if not np.isnan(_of(table, str(group))).all()
    }
    said = set(satisfaction.groups)
    lacking = {
        "satisfaction": scored - said,
        "a score": said - scored,
    }
    notes = [
        f"Intents without {what} were skipped: {', '.join(sorted(names))}."
        for what, names in lacking.items()
        if names
    ]
    return sorted(scored & said), notes


def _cluster_notes(table: ScoreTable) -> list[str]:
    """What is resampled in place of questions, where some are named as clusters."""
    if table.clusters is None:
        return []
    number = int(table.clusters.max()) + 1
    return [
        f"The {counted(len(table.facts), 'question')} come from {counted(number, 'cluster')}, such"
        " as their users: clusters are resampled in place of questions."
    ]


def _of(table: ScoreTable, group: str) -> Floats:
    """Final scores of an intent, shape (questions, models)."""
    return table.finals[(table.facts["group"] == group).to_numpy()]


def _scored(finals: Floats) -> int:
    """Number of questions with a score."""
    return int((~np.isnan(finals)).any(axis=1).sum())


def _why_no_interval(behind: Behind, level: float) -> str:
    """Which means are of so few questions or people that nothing says how far they would
    scatter.
    """
    least = fewest_clusters(level)
    few = {
        what: [name for name, n in numbers.items() if n < least] for what, numbers in behind.items()
    }
    return "; ".join(
        f"fewer than {least} {what} {', '.join(names)}" for what, names in few.items() if names
    )


def _correlated(
    scores: MeanDraws, said: MeanDraws, behind: Behind, resampling: Resampling
) -> MeanCorrelation:
    fewest = min(n for numbers in behind.values() for n in numbers.values())
    found = correlate_means(
        scores, said, clusters=fewest, level=resampling.level, seed=resampling.seed
    )
    found = replace(found, pearson=found.pearson.reported(CORRELATIONS))
    # Where nothing says how much a mean scatters, its noise is not 0 but not known.
    return found if fewest > 1 else replace(found, without_noise=math.nan)


def model_names(answers: pd.DataFrame) -> dict[str, str]:
    """Name that people may use -> name in the table of answers: a bare name will do if only one
    model has it.
    """
    pairs = answers[["model", "base_model"]].drop_duplicates()
    bare = pairs["base_model"].value_counts()
    single = {
        str(base): str(model) for model, base in pairs.itertuples(index=False) if bare[base] == 1
    }
    return {
        **single,
        **{str(model): str(model) for model in pairs["model"]},
    }


def model_level(
    table: ScoreTable, names: Mapping[str, str], votes: Votes, resampling: Resampling
) -> ModelLevel | str:
    """Compare mean scores with Bradley-Terry ratings, model by model; a sentence if that cannot be
    done.

    `table` is over the questions that all models of the block attempted; `names` are those of
    `model_names`.
    """
    ranking = votes.ranking
    scored = {
        name
        for place, name in enumerate(table.models)
        if not np.isnan(table.finals[:, place]).all()
    }
    shared = [place for place, name in enumerate(ranking.players) if names.get(name) in scored]
    models = [names[ranking.players[place]] for place in shared]
    if len(set(models)) < FEWEST_POINTS:
        return (
            f"No correlation over models: {len(set(models))} have both scores and votes, at least"
            f" {FEWEST_POINTS} are needed. Votes are about: {choices(ranking.players)}; scored"
            f" were: {choices(sorted(scored)) or 'none'}."
        )
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
    questions = dict(zip(models, scores.n.tolist(), strict=True))
    behind: dict[str, Mapping[str, int]] = {
        "questions with a score of": questions,
        "instructions": {
            "with votes": ranking.clusters,
        },
    }
    if table.clusters is not None:
        behind["clusters of questions with a score of"] = dict(
            zip(models, scores.clusters.tolist(), strict=True)
        )
    skipped = {
        "votes but without a score": [
            name for place, name in enumerate(ranking.players) if place not in shared
        ],
        "scores but without votes": sorted(scored - set(models)),
    }
    notes = [
        f"Skipped, with {what}: {', '.join(others)}." for what, others in skipped.items() if others
    ]
    notes += _cluster_notes(table)
    if message := ranking.connectivity.message:
        notes.append(f"NOT ALL MODELS COMPARE: {message}")
    means = zip(models, mean_estimates(scores, resampling.level), rated, strict=True)
    return ModelLevel(
        points=tuple(
            {
                "model": model,
                "score": score.reported((LOWEST, HIGHEST)),
                "rating": rating,
            }
            for model, score, rating in means
        ),
        correlation=_correlated(scores, ratings, behind, resampling),
        comparisons=ranking.battles,
        instructions=ranking.clusters,
        ties=ranking.ties,
        questions=_scored(table.finals[:, columns]),
        why_no_interval=_why_no_interval(behind, resampling.level),
        notes=tuple(notes),
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

    Returns the blocks, and notes on the files and what of them no block used.
    """
    if human is None and satisfaction is None and votes is None:
        raise InputError(
            "nothing to compare with; give at least one of: ratings, satisfaction, votes"
        )
    how = resampling or Resampling()
    blocks = blocks_of(answers.table)
    matched = match_blocks(answers.table, blocks, human) if human else []
    notes: list[str] = []
    if votes:
        notes += votes.notes
    if human:
        notes += [*unused(human, matched), *human.repeats]
    found = []
    for place, block in enumerate(blocks):
        table = score_table(block.table, block.models)
        levels: dict[str, Any] = {
            "intents": intent_level(table, satisfaction, how) if satisfaction else None,
            "ratings": (
                model_level(table, model_names(_attempted(answers.table, block)), votes, how)
                if votes
                else None
            ),
            "cases": case_level(matched[place], human, how) if human else None,
        }
        lacking = tuple(level for level in levels.values() if isinstance(level, str))
        levels = {name: None if isinstance(level, str) else level for name, level in levels.items()}
        for name in ("intents", "ratings"):  # single answers are over questions of their own
            if levels[name]:
                levels[name] = replace(levels[name], notes=(*levels[name].notes, *block.notes))
        simulated = any(
            name.startswith(SIMULATED) for name in (*block.models, *block.conditions.judges)
        )
        models = tuple(sorted(block.models))
        found.append(
            AgreementBlock(
                block.conditions,
                block.differs_from_first,
                models,
                simulated,
                **levels,
                notes=lacking,
            )
        )
    return found, notes


def panel_of(answers: pd.DataFrame, human: HumanRatings) -> list[Section]:
    """How many votes the judges of several blocks are worth, on the answers that people rated and
    all have scored.
    """
    blocks = blocks_of(answers)
    names = [
        f"{place}. {', '.join(block.conditions.judges)}"
        for place, block in enumerate(blocks, start=1)
    ]
    if len(blocks) < FEWEST_JUDGES:
        return []
    rated = [
        found.answers.set_index(["model", "question", "epoch"]).rename(
            columns={
                "score": name,
            }
        )
        for name, found in zip(names, match_blocks(answers, blocks, human), strict=True)
    ]
    scores = pd.concat([rows[name] for name, rows in zip(names, rated, strict=True)], axis=1)
    people = pd.concat([rows["ratings"] for rows in rated]).map(
        lambda given: math.fsum(given.values()) / len(given)
    )
    labels = people[~people.index.duplicated()].reindex(scores.index).to_numpy()
    clusters = clusters_of(answers)
    of_rows = [str(clusters[question]) for question in scores.index.get_level_values("question")]
    return [panel_section(scores, labels, of_rows)]
