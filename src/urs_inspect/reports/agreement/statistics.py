"""Agreement of a judge with people: over answers, intents and models."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.agreement.people import (
    CORRELATIONS,
    HumanRating,
    HumanRatings,
    Resampling,
    Satisfaction,
    Votes,
    reported,
)
from urs_inspect.reports.agreement.report import (
    AgreementBlock,
    AgreementReport,
    CaseAgreement,
    CaseLevel,
    IntentLevel,
    IntentPoint,
    ModelLevel,
    ModelPoint,
    PeopleAgreement,
)
from urs_inspect.reports.intent.answers import Answers
from urs_inspect.reports.intent.blocks import BlockAnswers, blocks_of
from urs_inspect.reports.intent.scores import ScoreTable, score_table
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.stats import MeanDraws, clustered_mean, correlate, mean_estimates
from urs_inspect.stats.agreement import clustered_interval_alpha
from urs_inspect.stats.bootstrap import Floats, fewest_clusters
from urs_inspect.stats.mean_correlation import (
    FEWEST_POINTS,
    MeanCorrelation,
    correlate_means,
    derived_seed,
    table_means,
)

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


Flags = npt.NDArray[np.bool_]

_QUESTIONS = 0
"""Names the resampling of questions among those of a seed."""


def intent_level(table: ScoreTable, satisfaction: Satisfaction, resampling: Resampling) -> IntentLevel | str:
    """Hold mean scores against mean satisfaction, intent by intent.

    Args:
        table: Final scores of a block.
        satisfaction: What people said.
        resampling: How intervals come about.

    Returns:
        The agreement; a sentence that says why there is none.
    """
    groups, notes = _shared(table, satisfaction)
    if len(groups) < FEWEST_POINTS:
        return (
            f"No correlation over intents: {len(groups)} have both scores and satisfaction in {satisfaction.path}, at "
            f"least {FEWEST_POINTS} are needed."
        )
    parts = [
        table_means(_of(table, g), rounds=resampling.rounds, seed=derived_seed(resampling.seed, _QUESTIONS, place))
        for place, g in enumerate(groups)
    ]
    whole: Flags = np.logical_and.reduce([~np.isnan(part.values) for part in parts])
    if not whole.any():
        return "No correlation over intents: no model has a score on each of them."
    if not whole.all():
        partial = [name for name, complete in zip(table.models, whole, strict=True) if not complete]
        notes.append(f"Left out of the mean over models, for want of a score on some intent: {', '.join(partial)}.")
    counted = [int((~np.isnan(_of(table, group)[:, whole])).any(axis=1).sum()) for group in groups]
    if satisfaction.mixed:
        notes.append(f"Some rows of {satisfaction.path} are means of several people: satisfaction counts as exact.")
    said = satisfaction.means(groups, resampling.rounds, resampling.seed)
    fewest = _fewest(counted, groups, satisfaction)
    scores = _over_intents(parts, whole, counted)
    return IntentLevel(
        points=_points(groups, scores, said, satisfaction, resampling.level),
        correlation=_correlated(scores, said, fewest, resampling),
        by_model={
            name: _correlated(_over_intents(parts, np.arange(len(whole)) == m, counted), said, fewest, resampling)
            for m, name in enumerate(table.models)
            if whole[m]
        },
        people_resampled=satisfaction.by_respondent,
        why_no_interval=_why_no_interval(counted, groups, satisfaction, resampling.level),
        scale=satisfaction.scale,
        notes=tuple(notes),
    )


def _shared(table: ScoreTable, satisfaction: Satisfaction) -> tuple[list[str], list[str]]:
    """Intents with scores and satisfaction, in alphabetical order, and what is said of those with only one of them."""
    scored = {str(group) for group in set(table.facts["group"]) if not np.isnan(_of(table, str(group))).all()}
    said = set(satisfaction.groups)
    lacking = {"satisfaction": scored - said, "a score": said - scored}
    notes = [
        f"Intents without {what} were left out: {', '.join(sorted(names))}." for what, names in lacking.items() if names
    ]
    return sorted(scored & said), notes


def _of(table: ScoreTable, group: str) -> Floats:
    """Final scores of an intent, shape (questions, models)."""
    return table.finals[(table.facts["group"] == group).to_numpy()]


def _over_intents(parts: Sequence[MeanDraws], models: Flags, counted: list[int]) -> MeanDraws:
    """Mean score of some models on each intent, shape (G,)."""
    return MeanDraws(
        np.array([part.values[models].mean() for part in parts]),
        np.stack([part.draws[:, models].mean(axis=1) for part in parts], axis=1),
        np.array(counted),
        parts[0].seed,
    )


def _fewest(counted: Sequence[int], groups: Sequence[str], satisfaction: Satisfaction) -> int:
    """Fewest questions, or people if they are resampled, behind any mean; the mean of one person is not exact."""
    people = [satisfaction.people(group) or 0 for group in groups] if satisfaction.by_respondent else []
    alone = [1 for group in groups if satisfaction.people(group) == 1]
    return min(*counted, *people, *alone)


def _why_no_interval(counted: Sequence[int], groups: Sequence[str], satisfaction: Satisfaction, level: float) -> str:
    """Which means are of so few questions or people that nothing says how far they would scatter."""
    least = fewest_clusters(level)
    people = [satisfaction.people(group) or 0 if satisfaction.by_respondent else least for group in groups]
    few = {
        "questions with a score": [group for group, number in zip(groups, counted, strict=True) if number < least],
        "people": [
            group
            for group, number in zip(groups, people, strict=True)
            if number < least or satisfaction.people(group) == 1
        ],
    }
    return "; ".join(f"fewer than {least} {what} on {', '.join(found)}" for what, found in few.items() if found)


def _correlated(scores: MeanDraws, said: MeanDraws, fewest: int, resampling: Resampling) -> MeanCorrelation:
    found = correlate_means(scores, said, clusters=fewest, level=resampling.level, seed=resampling.seed)
    found = replace(found, pearson=reported(found.pearson, CORRELATIONS, fewest))
    # Where nothing says how much a mean scatters, its noise is not 0 but not known.
    return found if fewest > 1 else replace(found, without_noise=math.nan)


def _points(
    groups: Sequence[str], scores: MeanDraws, said: MeanDraws, satisfaction: Satisfaction, level: float
) -> tuple[IntentPoint, ...]:
    columns = zip(groups, mean_estimates(scores, level), mean_estimates(said, level), strict=True)
    points = [
        IntentPoint(
            group,
            reported(score, (LOWEST, HIGHEST)),
            reported(value, satisfaction.scale),
            score.n,
            satisfaction.people(group),
        )
        for group, score, value in columns
    ]
    return tuple(sorted(points, key=lambda point: -point.satisfaction.value))


_MODELS_QUESTIONS = 2
"""Names the resampling of questions among those of a seed."""


def model_names(answers: pd.DataFrame) -> dict[str, str]:
    """What people may call the models of a block: name -> name in the table of answers.

    A model may go by its name in the table, or by its bare name if only one model of the block has it.
    """
    pairs = answers[["model", "base_model"]].drop_duplicates()
    bare = pairs["base_model"].value_counts()
    single = {str(base): str(model) for model, base in pairs.itertuples(index=False) if bare[base] == 1}
    return {**single, **{str(model): str(model) for model in pairs["model"]}}


def model_level(table: ScoreTable, names: Mapping[str, str], votes: Votes, resampling: Resampling) -> ModelLevel | str:
    """Hold mean scores against Bradley-Terry ratings, model by model.

    Args:
        table: Final scores of a block, over the questions that all its models attempted.
        names: As from `model_names`.
        votes: What people said.
        resampling: How intervals come about.

    Returns:
        The agreement; a sentence that says why there is none.
    """
    ranking = votes.ranking
    scored = {name for place, name in enumerate(table.models) if not np.isnan(table.finals[:, place]).all()}
    shared = [place for place, name in enumerate(ranking.players) if names.get(name) in scored]
    models = [names[ranking.players[place]] for place in shared]
    if len(set(models)) < FEWEST_POINTS:
        return (
            f"No correlation over models: {len(set(models))} have both scores and votes, at least {FEWEST_POINTS} are "
            f"needed. Votes are about: {choices(ranking.players)}; scored were: {choices(sorted(scored)) or 'none'}."
        )
    columns = [table.models.index(model) for model in models]
    scores = table_means(
        table.finals[:, columns], rounds=resampling.rounds, seed=derived_seed(resampling.seed, _MODELS_QUESTIONS)
    )
    ratings = MeanDraws(
        np.array([ranking.bradley_terry[place].value for place in shared]),
        ranking.draws[:, shared],
        np.array([ranking.bradley_terry[place].clusters for place in shared]),
        ranking.seed,
    )
    fewest = int(min(scores.n.min(), ranking.clusters))
    correlation = correlate_means(scores, ratings, clusters=fewest, level=resampling.level, seed=resampling.seed)
    correlation = replace(correlation, pearson=reported(correlation.pearson, CORRELATIONS, fewest))
    return ModelLevel(
        points=tuple(
            ModelPoint(model, reported(score, (LOWEST, HIGHEST)), ranking.bradley_terry[place])
            for model, score, place in zip(models, mean_estimates(scores, resampling.level), shared, strict=True)
        ),
        # Where nothing says how much a mean scatters, its noise is not 0 but not known.
        correlation=correlation if fewest > 1 else replace(correlation, without_noise=math.nan),
        comparisons=ranking.battles,
        instructions=ranking.clusters,
        ties=ranking.ties,
        questions=int((~np.isnan(table.finals[:, columns])).any(axis=1).sum()),
        why_no_interval=_models_why_no_interval(
            dict(zip(models, scores.n.tolist(), strict=True)), ranking.clusters, resampling.level
        ),
        notes=tuple(_notes(votes, set(models), scored, [ranking.players[place] for place in shared])),
    )


def _models_why_no_interval(questions: Mapping[str, int], instructions: int, level: float) -> str:
    """What is there so rarely that nothing says how far it would scatter."""
    least = fewest_clusters(level)
    few = [model for model, number in questions.items() if number < least]
    reasons = [
        f"fewer than {least} questions with a score of {', '.join(few)}" if few else "",
        f"fewer than {least} instructions with votes" if instructions < least else "",
    ]
    return "; ".join(filter(None, reasons))


def _notes(votes: Votes, models: set[str], scored: set[str], voted: Sequence[str]) -> list[str]:
    notes = []
    if others := [name for name in votes.ranking.players if name not in voted]:
        notes.append(f"With votes but without a score, and left out: {', '.join(others)}.")
    if others := sorted(scored - models):
        notes.append(f"With scores but without votes, and left out: {', '.join(others)}.")
    if message := votes.ranking.connectivity.message:
        notes.append(f"NOT ALL MODELS COMPARE: {message}")
    return notes


def agreement_of(
    answers: Answers,
    *,
    human: HumanRatings | None = None,
    satisfaction: Satisfaction | None = None,
    votes: Votes | None = None,
    resampling: Resampling | None = None,
    sources: dict[str, tuple[str, ...]] | None = None,
) -> AgreementReport:
    """Hold judges' scores against what people said, each judge and set of conditions by itself.

    Args:
        answers: The answers, as from `read_answers`.
        human: Ratings of single answers.
        satisfaction: Satisfaction by intent.
        votes: A ranking of models by votes.
        resampling: How intervals come about.
        sources: Kind of what people said -> files, for the record.

    Returns:
        The report.

    Raises:
        InputError: If nothing was given, or no rating is about an answer in the logs.
    """
    if human is None and satisfaction is None and votes is None:
        raise InputError("nothing to compare with; give at least one of: ratings, satisfaction, votes")
    how = resampling or Resampling()
    blocks = blocks_of(answers.table)
    # Ratings may be about questions that not all models of a block attempted.
    whole = [answers.table[answers.table["log"].isin(set(block.table["log"]))] for block in blocks]
    names = [model_names(rows) for rows in whole]
    matched = [match_ratings(*pair, human) for pair in zip(whole, names, strict=True)] if human else []
    if human:
        _check_matched(human, matched, answers.table)
    return AgreementReport(
        blocks=tuple(
            _block(block, names[place], matched[place] if matched else None, human, satisfaction, votes, how)
            for place, block in enumerate(blocks)
        ),
        sources=sources or {},
        left_out=answers.left_out,
        notes=(*(votes.notes if votes else ()), *(left_out(human, matched) if human else ())),
        **how.options,
    )


def _check_matched(human: HumanRatings, matched: Sequence[Matched], table: pd.DataFrame) -> None:
    if any(one.answers for one in matched):
        return
    said = " ".join(left_out(human, matched))
    questions = sorted(set(table["question"]))
    raise InputError(
        f"{human.path}: none of {len(human.ratings)} ratings is about an answer in the logs. {said} The logs have "
        f"answers of {choices(sorted(set(table['model'])))} to {len(questions)} questions such as "
        f"{choices(questions[:3])}"
    )


def _block(
    found: BlockAnswers,
    names: dict[str, str],
    matched: Matched | None,
    human: HumanRatings | None,
    satisfaction: Satisfaction | None,
    votes: Votes | None,
    how: Resampling,
) -> AgreementBlock:
    table = score_table(found.table, found.models)
    intents = intent_level(table, satisfaction, how) if satisfaction else None
    ratings = model_level(table, names, votes, how) if votes else None
    cases = case_level(matched, human, how) if matched is not None and human else None
    reasons = [one for one in (intents, ratings, cases) if isinstance(one, str)]
    # Single answers are over questions of their own.
    if isinstance(intents, IntentLevel):
        intents = replace(intents, notes=(*intents.notes, *found.notes))
    if isinstance(ratings, ModelLevel):
        ratings = replace(ratings, notes=(*ratings.notes, *found.notes))
    return AgreementBlock(
        conditions=found.conditions,
        apart_because=found.differs_from_first,
        models=tuple(sorted(found.models)),
        simulated=any(name.startswith(SIMULATED) for name in (*found.models, *found.conditions.judges)),
        intents=None if isinstance(intents, str) else intents,
        ratings=None if isinstance(ratings, str) else ratings,
        cases=None if isinstance(cases, str) else cases,
        notes=tuple(reasons),
    )
