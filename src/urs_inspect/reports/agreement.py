"""Agreement of a judge with people: over answers, intents and models (URS paper, section 4.5)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.logs.naming import short_names
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.answers import Answers, read_answers
from urs_inspect.reports.blocks import Conditions, blocks_of
from urs_inspect.reports.human_data import (
    HumanRating,
    HumanRatings,
    Satisfaction,
    Scale,
    Votes,
    read_human_ratings,
    read_satisfaction,
    read_vote_ranking,
)
from urs_inspect.reports.scores import ScoreTable, score_table
from urs_inspect.reports.tables import DASH, Report, ReportKind, Section, Table, number
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, load_rubric
from urs_inspect.stats import Correlations, Estimate, MeanDraws, Resampling, clustered_mean, correlate, mean_estimates
from urs_inspect.stats.agreement import clustered_interval_alpha
from urs_inspect.stats.bootstrap import LEVEL, ROUNDS, SEED, Floats, fewest_clusters, reported_bounds
from urs_inspect.stats.mean_correlation import (
    FEWEST_POINTS,
    MeanCorrelation,
    correlate_means,
    derived_seed,
    fisher_interval,
    table_means,
)

AGREEMENT = ReportKind(
    "urs-inspect agreement", 2, "urs-inspect agreement", "agreement.json", ("agreement.csv", "agreement.md")
)
CORRELATIONS = (-1.0, 1.0)
"""Lowest and highest correlation."""

_SIMULATION = "SIMULATION: simulated models; the numbers mean nothing."
_MANY = 30  # points from which an interval over points needs no warning
_SHOWN = 3
_OTHER_MODEL = "another model"
_NO_ANSWER = "a question or epoch without an answer"
_FEWEST = 2  # answers that an agreement needs; a correlation needs one more
_QUESTIONS, _MODELS_QUESTIONS = 0, 2  # name the resamplings of questions among those of a seed; people have 1
_NUMBER, _SIGNED = number(2), number(2, sign=True)

Answer = tuple[str, str, int | None]
"""Model, question, and epoch where the file of ratings names it."""
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PublishedCorrelation:
    """A correlation that the URS paper prints, without an interval; `basis` is what people said."""

    pearson: float
    points: int
    place: str
    basis: str

    @property
    def over_points(self) -> tuple[float, float]:
        """Bounds by Fisher's z that follow from the printed r and the number of points; ours, not the paper's."""
        return fisher_interval(self.pearson, self.points)


PUBLISHED_INTENTS = PublishedCorrelation(
    0.95, 6, "section 4.5, Figure 5", "the satisfaction of 420 people on a five-point scale"
)
PUBLISHED_MODELS = PublishedCorrelation(
    0.94, 10, "section 4.5, appendix D.3, Figure 6", "350 decided of 400 comparisons by five annotators"
)


@dataclass(frozen=True)
class IntentPoint:
    """One reported intent (URS paper, Figure 5): mean score over questions, then models, and mean satisfaction."""

    group: str
    score: Estimate
    satisfaction: Estimate  # without bounds where it counts as exact
    questions: int  # with a score
    people: int | None  # None if the file does not name it


@dataclass(frozen=True)
class IntentLevel:
    """Mean score against mean satisfaction, over intents, those with most satisfaction first."""

    points: tuple[IntentPoint, ...]
    correlation: MeanCorrelation  # questions are resampled within intents, people where the file has single ones
    by_model: dict[str, MeanCorrelation]
    people_resampled: bool  # else satisfaction counts as exact
    why_no_interval: str  # what an interval would need and is missing, in words; empty if there is one
    scale: Scale
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ModelPoint:
    """One model (URS paper, Figure 6): mean score over questions, and Bradley-Terry rating by people's votes."""

    model: str
    score: Estimate
    rating: Estimate


@dataclass(frozen=True)
class ModelLevel:
    """Mean score against the rating by people's votes, over models, the best rated first."""

    points: tuple[ModelPoint, ...]
    correlation: MeanCorrelation  # instructions of votes and questions of scores are resampled independently
    comparisons: int
    instructions: int
    ties: int
    questions: int
    why_no_interval: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CaseAgreement:
    """The judge's final scores against people's ratings, answer by answer, with intervals clustered by question."""

    correlations: Correlations
    alpha: Estimate  # Krippendorff's alpha (interval) of judge and mean rating, both on the judge's scale
    difference: Estimate  # mean of score minus mean rating, on the judge's scale
    answers: int
    questions: int


@dataclass(frozen=True)
class PeopleAgreement:
    """How far people agree with each other: Krippendorff's alpha (interval), clustered by question."""

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
    """Agreement with one judge under one set of conditions; `notes` tell why a level is None that was asked for."""

    conditions: Conditions
    apart_because: tuple[str, ...]  # why it is not compared with the first block
    models: tuple[str, ...]
    simulated: bool
    intents: IntentLevel | None
    ratings: ModelLevel | None
    cases: CaseLevel | None
    notes: tuple[str, ...]


def reported(found: Estimate, scale: tuple[float, float], clusters: int | None = None) -> Estimate:
    """A number with its interval where one is reported; by fewest questions or people behind it, if they are given."""
    behind = found.clusters if clusters is None else clusters
    low, high = reported_bounds(found.low, found.high, behind, level=found.level, scale=scale)
    if math.isnan(low):
        return replace(found, low=math.nan, high=math.nan)
    return replace(found, low=float(low), high=float(high))


@dataclass(frozen=True)
class RatedAnswer:
    """An answer that people rated."""

    model: str
    question: str
    group: str  # reported intent of the question
    score: float  # the judge's final score, mean over epochs unless the file names one; NaN without
    ratings: Mapping[str, float]  # rater -> rating on the scale of the file


@dataclass(frozen=True)
class Matched:
    """Ratings matched with answers, and what ratings that match none are about, in words."""

    answers: tuple[RatedAnswer, ...]
    lost: Mapping[HumanRating, str]
    notes: tuple[str, ...]


def match_ratings(answers: pd.DataFrame, names: Mapping[str, str], given: HumanRatings) -> Matched:
    """Match ratings with the answers of a block; `names` are those of `model_names`.

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
            "several times: compared with the mean score over epochs."
        )
    return Matched(matched, lost, tuple(notes))


def unused(given: HumanRatings, matched: Iterable[Matched]) -> list[str]:
    """What of a file of ratings no block used, with counts, a sentence each."""
    blocks = [one.lost for one in matched]
    lost: dict[str, list[HumanRating]] = defaultdict(list)
    for one in given.ratings:
        if all(one in block for block in blocks):
            # A block that knows the model says more.
            whys = {block[one] for block in blocks}
            lost[_NO_ANSWER if _NO_ANSWER in whys else _OTHER_MODEL].append(one)
    notes = [_lost(what, several, given) for what, several in lost.items()]
    if given.repeated:
        notes.append(f"{counted(given.repeated, 'row')} of {given.path} repeat another one, skipped.")
    return notes


def case_level(matched: Matched, given: HumanRatings, resampling: Resampling) -> CaseLevel | str:
    """Compare the judge's scores with the mean of people's ratings; a sentence if that cannot be done."""
    scored = [one for one in matched.answers if not math.isnan(one.score)]
    notes = list(matched.notes)
    if unscored := len(matched.answers) - len(scored):
        notes.append(f"{counted(unscored, 'rated answer')} without a score of the judge, skipped.")
    if len(scored) < _FEWEST:
        why = " ".join(notes)
        were = "was" if len(scored) == 1 else "were"
        return f"No agreement on single answers: {len(scored)} {were} both rated and scored. {why}".strip()
    agreement = partial(_agreement, given=given, resampling=resampling)
    groups, models = sorted({answer.group for answer in scored}), sorted({answer.model for answer in scored})
    return CaseLevel(
        all=agreement(scored),
        by_group={name: agreement([answer for answer in scored if answer.group == name]) for name in groups},
        by_model={name: agreement([answer for answer in scored if answer.model == name]) for name in models},
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
    return f"{counted(len(several), 'rating')} of {given.path} about {what}, skipped: {first}{more}."


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


def intent_level(table: ScoreTable, satisfaction: Satisfaction, resampling: Resampling) -> IntentLevel | str:
    """Compare mean scores with mean satisfaction, intent by intent; a sentence if that cannot be done."""
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
        notes.append(f"Not in the mean over models, because they have no score on some intent: {', '.join(partial)}.")
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
        f"Intents without {what} were skipped: {', '.join(sorted(names))}." for what, names in lacking.items() if names
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


def model_names(answers: pd.DataFrame) -> dict[str, str]:
    """Name that people may use -> name in the table of answers: a bare name will do if only one model has it."""
    pairs = answers[["model", "base_model"]].drop_duplicates()
    bare = pairs["base_model"].value_counts()
    single = {str(base): str(model) for model, base in pairs.itertuples(index=False) if bare[base] == 1}
    return {**single, **{str(model): str(model) for model in pairs["model"]}}


def model_level(table: ScoreTable, names: Mapping[str, str], votes: Votes, resampling: Resampling) -> ModelLevel | str:
    """Compare mean scores with Bradley-Terry ratings, model by model; a sentence if that cannot be done.

    `table` is over the questions that all models of the block attempted; `names` are those of `model_names`.
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
        notes.append(f"Skipped, with votes but without a score: {', '.join(others)}.")
    if others := sorted(scored - models):
        notes.append(f"Skipped, with scores but without votes: {', '.join(others)}.")
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
) -> tuple[list[AgreementBlock], list[str]]:
    """Compare judges' scores with what people say, each judge and set of conditions by itself.

    Returns:
        The blocks, and notes on the files and what of them no block used.

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
    notes = [*(votes.notes if votes else ()), *(unused(human, matched) if human else ())]
    if human and not any(block.answers for block in matched):
        questions = sorted(set(answers.table["question"]))
        raise InputError(
            f"{human.path}: none of {len(human.ratings)} ratings is about an answer in the logs. "
            f"{' '.join(unused(human, matched))} The logs have answers of "
            f"{choices(sorted(set(answers.table['model'])))} to {len(questions)} questions such as "
            f"{choices(questions[:3])}"
        )
    found = []
    for place, block in enumerate(blocks):
        table = score_table(block.table, block.models)
        intents = intent_level(table, satisfaction, how) if satisfaction else None
        ratings = model_level(table, names[place], votes, how) if votes else None
        cases = case_level(matched[place], human, how) if human else None
        # Single answers are over questions of their own.
        if isinstance(intents, IntentLevel):
            intents = replace(intents, notes=(*intents.notes, *block.notes))
        if isinstance(ratings, ModelLevel):
            ratings = replace(ratings, notes=(*ratings.notes, *block.notes))
        found.append(
            AgreementBlock(
                conditions=block.conditions,
                apart_because=block.differs_from_first,
                models=tuple(sorted(block.models)),
                simulated=any(name.startswith(SIMULATED) for name in (*block.models, *block.conditions.judges)),
                intents=None if isinstance(intents, str) else intents,
                ratings=None if isinstance(ratings, str) else ratings,
                cases=None if isinstance(cases, str) else cases,
                notes=tuple(level for level in (intents, ratings, cases) if isinstance(level, str)),
            )
        )
    return found, notes


def report_agreement(
    logs: Iterable[str],
    *,
    human: Path | None = None,
    human_scale: Scale = (LOWEST, HIGHEST),
    satisfaction: Path | None = None,
    satisfaction_scale: Scale = (1, 5),
    votes: Sequence[str] = (),
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    command: str = "",
) -> Report:
    """Report how far a judge and people agree. At least one of `human`, `satisfaction` and `votes` must be given.

    Args:
        logs: Log files and directories of logs of `urs`.
        human: File of ratings of single answers, as for `read_human_ratings`.
        human_scale: Its lowest and highest rating.
        satisfaction: File of satisfaction by intent, as for `read_satisfaction`.
        satisfaction_scale: Its lowest and highest value.
        votes: Files, logs and directories of votes between models, as for `read_vote_ranking`.
        rounds: Rounds of the bootstrap.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report, with the table `agreement`, one row per number.

    Raises:
        InputError: If nothing was given, a file or log cannot be used, or no rating is about an answer in the logs.
    """
    how = Resampling(rounds, level, seed)
    # What people say is small and read first, so that its errors cost no waiting for the logs.
    ratings = read_human_ratings(human, human_scale) if human else None
    satisfied = read_satisfaction(satisfaction, satisfaction_scale, load_rubric()) if satisfaction else None
    ranked = read_vote_ranking(votes, how) if votes else None
    answers = read_answers(logs)
    blocks, notes = agreement_of(answers, human=ratings, satisfaction=satisfied, votes=ranked, resampling=how)
    given = {"ratings of answers": [human], "satisfaction": [satisfaction], "votes": votes}
    sources = {kind: [str(file) for file in files if file] for kind, files in given.items() if any(files)}
    return agreement_report(blocks, notes, how, sources, answers.left_out, command)


def agreement_report(
    blocks: Sequence[AgreementBlock],
    notes: Sequence[str],
    how: Resampling,
    sources: Mapping[str, Sequence[str]],
    skipped: Sequence[str] = (),
    command: str = "",
) -> Report:
    """The report of blocks as from `agreement_of`; `sources` is kind of what people say -> files."""
    files = [f"{kind}: {', '.join(names)}" for kind, names in sources.items()]
    about = f"Brackets: {how.level:.0%} bootstrap intervals over {how.rounds} rounds (seed {how.seed})."
    sections = [Section("What is compared", (*files, *notes, about))]
    for place, block in enumerate(blocks, start=1):
        sections += _sections(place, block)
    sections += [Section("Skipped", skipped)] if skipped else []
    published = {"intents": PUBLISHED_INTENTS, "models": PUBLISHED_MODELS}
    facts = {
        "blocks": blocks,
        **{"sources": sources, "notes": notes, "skipped": skipped, "command": command, **how.options},
        "published_in_the_urs_paper": {
            name: {**asdict(found), "over_points": found.over_points} for name, found in published.items()
        },
    }
    return Report(AGREEMENT, "Agreement of judges with people", sections, facts)


def _sections(place: int, block: AgreementBlock) -> list[Section]:
    facts = block.conditions
    sha256 = f" (sha256 {facts.dataset_sha256[:8]})" if facts.dataset_sha256 else ""
    title = (
        f"{place}. judge {', '.join(facts.judges) or 'not known'}; data {facts.dataset}{sha256}; rubric "
        f"{facts.rubric or 'not known'}; prompts {facts.prompts}; references "
        f"{facts.references or 'those of the data'}; models {', '.join(block.models)}"
    )
    numbers = pd.DataFrame(
        [(place, ", ".join(facts.judges), *names, found, found.clusters) for *names, found in _numbers(block)],
        columns=["block", "judge", "level", "scope", "statistic", "value", "clusters"],
    )
    simulation = [_SIMULATION] if block.simulated else []
    differs = [f"Not compared with the first block: {reason}" for reason in block.apart_because]
    short = short_names(block.models)
    return [
        Section(
            title,
            (*simulation, *differs, *block.notes),
            (Table(numbers, name="agreement", shown=(), main="value"),),
            warnings=simulation,
        ),
        *([_intents(block.intents, short)] if block.intents else []),
        *([_models(block.ratings, short)] if block.ratings else []),
        *([_cases(block.cases, short)] if block.cases else []),
    ]


def _numbers(block: AgreementBlock) -> Iterator[tuple[str, str, str, Estimate]]:
    """Level, scope and statistic of every number, with its interval where there is one."""
    if block.intents:
        for scope, found in {"all": block.intents.correlation, **block.intents.by_model}.items():
            yield from _correlation_numbers("intents", scope, found)
        for point in block.intents.points:
            yield "intents", point.group, "score", point.score
            yield "intents", point.group, "satisfaction", point.satisfaction
    if block.ratings:
        yield from _correlation_numbers("models", "all", block.ratings.correlation)
        for model in block.ratings.points:
            yield "models", model.model, "score", model.score
            yield "models", model.model, "bradley_terry", model.rating
    if block.cases:
        for scope, agreed in {"all": block.cases.all, **block.cases.by_group, **block.cases.by_model}.items():
            for statistic in ("spearman", "kendall", "pearson"):
                yield "answers", scope, statistic, getattr(agreed.correlations, statistic)
            yield "answers", scope, "alpha", agreed.alpha
            yield "answers", scope, "difference", agreed.difference
        if block.cases.people:
            yield "people", "all", "alpha", block.cases.people.alpha


def _correlation_numbers(level: str, scope: str, found: MeanCorrelation) -> Iterator[tuple[str, str, str, Estimate]]:
    yield level, scope, "pearson", found.pearson
    for statistic in ("without_noise", "spearman"):
        value = getattr(found, statistic)
        yield level, scope, statistic, replace(found.pearson, value=value, low=math.nan, high=math.nan)


def _intents(level: IntentLevel, short: Mapping[str, str]) -> Section:
    points = pd.DataFrame(list(map(vars, level.points)))[["group", "questions", "score", "people", "satisfaction"]]
    count, found = number(0), level.correlation
    formats = {"questions": count, "score": _NUMBER, "people": count, "satisfaction": _NUMBER}
    models = [
        (short[name], one.pearson.value, _without_noise(one), one.spearman) for name, one in level.by_model.items()
    ]
    by_model = pd.DataFrame(models, columns=["scores of", "Pearson", "without noise", "Spearman"])
    resampled = "questions and people" if level.people_resampled else "questions, satisfaction taken as exact"
    notes = (
        *_about_correlation(found, len(level.points), "intents", resampled, level.why_no_interval),
        _published(PUBLISHED_INTENTS, "intents"),
        *level.notes,
    )
    return Section(
        "Score and satisfaction by intent",
        notes,
        (
            Table(points, formats, headings={"group": "intent"}),
            Table(by_model, {"Pearson": _NUMBER, "without noise": str, "Spearman": _NUMBER}),
        ),
        3,
    )


def _models(level: ModelLevel, short: Mapping[str, str]) -> Section:
    points = pd.DataFrame([(short[point.model], point.score, point.rating) for point in level.points])
    points.columns = pd.Index(["model", "score", "Bradley-Terry"])
    notes = (
        f"{counted(level.comparisons, 'comparison')} on {counted(level.instructions, 'instruction')}, "
        f"{counted(level.ties, 'tie')}; scores over {counted(level.questions, 'question')}.",
        *_about_correlation(
            level.correlation, len(level.points), "models", "instructions and questions", level.why_no_interval
        ),
        _published(PUBLISHED_MODELS, "models"),
        *level.notes,
    )
    tables = (Table(points, {"score": _NUMBER, "Bradley-Terry": _rating}),)
    return Section("Score and votes by model", notes, tables, 3)


def _rating(found: Estimate) -> str:
    return number(0)(found).replace(",", "")  # a rating is no count


def _cases(level: CaseLevel, short: Mapping[str, str]) -> Section:
    named = {"all": level.all, **level.by_group, **{short[model]: found for model, found in level.by_model.items()}}
    rows = [
        (name, one.answers, r.spearman, r.kendall, r.pearson, one.alpha, one.difference)
        for name, one in named.items()
        for r in [one.correlations]
    ]
    formats = {"answers": number(0), **dict.fromkeys(("Spearman", "Kendall", "Pearson", "alpha"), _NUMBER)}
    formats["score less rating"] = _SIGNED
    people = level.people
    if people is None:
        among = "The file does not name raters, so that agreement among people is not known."
    else:
        alpha = (
            f"on {counted(people.answers, 'answer')} with several, Krippendorff's alpha among people is "
            f"{_NUMBER(people.alpha)}."
            if people.answers
            else "no answer has several, so that agreement among people is not known."
        )
        among = f"{counted(people.raters, 'person', 'people')} gave {counted(people.ratings, 'rating')}; {alpha}"
    notes = (
        f"{counted(level.all.answers, 'answer')} to {counted(level.all.questions, 'question')} were both rated and "
        "scored; brackets over resamples of questions, none over too few. Ratings are means over people; alpha and "
        "difference are on the judge's scale, 1 to 10.",
        among,
        *level.notes,
    )
    return Section(
        "Score and rating of single answers",
        notes,
        (Table(pd.DataFrame(rows, columns=["answers of", *formats]), formats),),
        3,
    )


def _without_noise(found: MeanCorrelation) -> str:
    """Pearson corrected for the noise of the means, with its interval; a dash where noise is not known."""
    if math.isnan(found.pearson.low):
        return DASH
    return _NUMBER(replace(found.pearson, value=found.without_noise))


def _about_correlation(found: MeanCorrelation, points: int, what: str, resampled: str, lacking: str) -> list[str]:
    """A correlation in words: what was measured, what noise makes of it, and how far few points carry."""
    pearson = found.pearson
    if math.isnan(pearson.value):
        return [f"There is no correlation: all {points} {what} have the same mean on one of the two sides."]
    measured = f"Over {points} {what}: Pearson {_NUMBER(pearson.value)}, Spearman {_NUMBER(found.spearman)}."
    how = f"over resamples of {resampled}, these {what} given."
    if math.isnan(pearson.low):
        why = (
            f"{lacking}. Too few to show how far such a mean would scatter"
            if lacking
            else f"the means of these {what} differ no more than noise would make them"
        )
        notes = [f"{measured} There is no interval, and no correction for noise: {why}."]
    elif math.isnan(found.without_noise):
        notes = [
            f"{measured} The means of these {what} differ no more than noise would make them: without it Pearson may "
            f"be anything from {_NUMBER(pearson.low)} to {_NUMBER(pearson.high)}, {how}"
        ]
    else:
        notes = [f"{measured} Without the noise of the means Pearson is about {_without_noise(found)}: brackets {how}"]
        if pearson.low <= 0 <= pearson.high:
            notes.append(
                f"The interval holds 0: beside the noise of their means, these {what} differ too little to show "
                "whether the two go together."
            )
    low, high = found.over_points
    if points < _MANY:
        notes.append(
            f"{points} points are too few for an interval over other {what}."
            if math.isnan(low)
            else f"Only {points} points: as a sample of other {what}, Pearson could be anywhere from {_NUMBER(low)} to "
            f"{_NUMBER(high)} (Fisher's z)."
        )
    return notes


def _published(found: PublishedCorrelation, what: str) -> str:
    """What the paper prints, labelled as such."""
    low, high = found.over_points
    return (
        f"Published (URS paper, {found.place}; another judge, other models and people): Pearson {found.pearson:.2f} "
        f"over {found.points} {what}, from {found.basis}; no interval is printed. Fisher's z puts it between "
        f"{_NUMBER(low)} and {_NUMBER(high)} over other {what}."
    )
